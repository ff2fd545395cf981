"""A result as a notebook shows it: a word, a sentence and a few facts. Short, and nothing is fetched from anywhere."""

from __future__ import annotations

import html
from collections.abc import Iterable

from headwright.theme import EITHER

KINDS = {
    "designed": "good", "proved": "good", "holds": "open", "undecided": "open", "refuted": "bad", "impossible": "bad",
    "no answer": "bad", "unreadable": "bad", "verified": "good", "rejected": "bad", "not confirmed": "open",
    "internal error": "bad",
}  # fmt: skip
MOST_LETTERS = 700  # of a sentence
MOST_FACTS = 8


def card(word: str, sentence: str, facts: Iterable[tuple[str, str]] = ()) -> str:
    """HTML of a result. Text is text: nothing given is read as markup.

    >>> card("proved", "a < b", [("n", "3")]).count("a &lt; b")
    1
    >>> len(card("designed", "x" * 10**6)) < 2000
    True
    """
    colour = EITHER[KINDS.get(word, "quiet")]
    told = list(facts)
    rows = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:.75;padding:.1em 1.2em .1em 0">{_text(name)}</th>'
        f'<td style="text-align:left;padding:.1em 0">{_text(value)}</td></tr>'
        for name, value in told[:MOST_FACTS]
    )
    more = f"<p>and {len(told) - MOST_FACTS} more</p>" if len(told) > MOST_FACTS else ""
    return (
        f'<div style="border-left:4px solid {colour};padding:.1em 0 .1em .9em;max-width:56em">'
        f'<p style="white-space:pre-wrap"><b style="color:{colour}">{_text(word)}</b> {_text(sentence)}</p>'
        f"{f'<table>{rows}</table>' if rows else ''}{more}</div>"
    )


def _text(words: str) -> str:
    return html.escape(words if len(words) <= MOST_LETTERS else words[: MOST_LETTERS - 1] + "…")
