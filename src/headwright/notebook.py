"""A result as people see it: a few lines of text in Python, a card in a notebook. Nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import html
import os
import re
import reprlib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Protocol
from urllib.parse import quote

from headwright.theme import EITHER

COLOURS = {  # of verdicts, by their names in the theme
    "designed": "good",
    "proved": "good",
    "verified": "good",
    "holds": "open",
    "undecided": "open",
    "not confirmed": "open",
    "refuted": "bad",
    "impossible": "bad",
    "no answer": "bad",
    "unreadable": "bad",
    "rejected": "bad",
    "internal error": "bad",
}
MAX_SENTENCE = 700  # characters of a sentence on a card
MAX_FACTS = 8
MAX_LINKED_CERTIFICATE = 100_000  # characters in a link
MAX_LINE = 240  # characters of a line of text
MAX_LINES = 5
MAX_BARS = 12  # keys drawn
BAR_STEP = 22  # pixels from one bar to the next
BAR_WIDTH = 300  # pixels of a share of one
# A digest, whole or its first 16 digits.
DIGEST = re.compile(r"(?<=sha256 |digest )([0-9a-f]{12})[0-9a-f]{4,52}\b(?:\.{3})?")
CELL = "text-align:left;padding:.1em 0"
NAME_CELL = "text-align:left;font-weight:normal;opacity:.75;padding:.1em 1.2em .1em 0"


class AttentionArrays(Protocol):
    """The arrays of a result of attention: (*batch, heads, n) and (*batch, d)."""

    @property
    def pattern(self) -> Any:
        """A row of weights for each head."""

    @property
    def output(self) -> Any:
        """The mean of the heads' outputs."""


def brief(sentence: str, most: int = 1200) -> str:
    """A sentence for people: digests by their first 12 digits, and what is too long without its middle.

    >>> brief("sha256 " + "0123456789abcdef" * 4 + "."), len(brief("word " * 10**5)) <= 1200
    ('sha256 0123456789ab....', True)
    >>> brief("n = 1234567890123456789")
    'n = 1234567890123456789'
    """
    short = DIGEST.sub(r"\1...", sentence)
    if len(short) <= most:
        return short
    left_out = f" ... ({len(short) - most + 60} characters left out) ... "
    kept = most - len(left_out)
    tail = kept // 4
    return short[: kept - tail] + left_out + short[len(short) - tail :]


def lines(word: str, sentence: str, facts: Iterable[tuple[str, str]] = ()) -> str:
    """A result in one to five lines, for print and repr.

    >>> print(lines("designed", "For these keys ...", [("length", "4.61"), ("gap", "1e-9")]))
    designed: For these keys ...
      length: 4.61
      gap: 1e-9
    """
    fact_lines = [f"  {name}: {value}" for name, value in facts]
    if len(fact_lines) >= MAX_LINES:
        shown = MAX_LINES - 2
        fact_lines = [*fact_lines[:shown], f"  and {len(fact_lines) - shown} more"]
    every_line = [f"{word}: {sentence}", *fact_lines]
    return "\n".join(brief(line.replace("\n", " "), MAX_LINE) for line in every_line)


def outline(thing: Any) -> str:
    """A dataclass on one line, for repr: arrays by their shapes, other values cut short.

    >>> from dataclasses import dataclass
    >>> from types import SimpleNamespace
    >>> @dataclass
    ... class Pair:
    ...     first: Any
    ...     second: Any
    >>> outline(Pair(SimpleNamespace(shape=(2, 3)), "x" * 100))
    "Pair(first=array of shape (2, 3), second='xxxxxxxxxxxx...xxxxxxxxxxxxx')"
    """
    parts = []
    for field in fields(thing):
        value = getattr(thing, field.name)
        if hasattr(value, "shape"):
            shown = f"array of shape {tuple(value.shape)}"
        else:
            shown = " ".join(reprlib.repr(value).split())
        parts.append(f"{field.name}={shown}")
    return brief(f"{type(thing).__name__}({', '.join(parts)})", MAX_LINE)


def verify_page() -> str:
    """The address of a page that verifies certificates in the browser, from HEADWRIGHT_PAGE; else nothing."""
    address = os.environ.get("HEADWRIGHT_PAGE", "")
    if not address.startswith(("https://", "http://")):
        return ""
    return f"{address.rstrip('/')}/verify.html"


def card(
    word: str,
    sentence: str,
    facts: Iterable[tuple[str, str]] = (),
    drawing: bytes = b"",
    name: str = "",
    certificate: str | None = None,
) -> str:
    """HTML of a result, with a drawing (SVG) where there is one. Text is text: nothing given is read as markup.

    A certificate that a link can carry is linked to the page of HEADWRIGHT_PAGE.

    >>> card("proved", "a < b", [("n", "3")]).count("a &lt; b")
    1
    >>> len(card("designed", "x" * 10**6)) < 2000
    True
    """
    colour = EITHER[COLOURS.get(word, "quiet")]
    verdict = f'<b style="color:{colour}">{_text(word)}</b> {_text(sentence)}'
    return (
        f'<div style="border-left:4px solid {colour};padding:.1em 0 .1em .9em;max-width:56em">'
        f'<p style="white-space:pre-wrap">{verdict}</p>'
        f"{_image(drawing, name)}{_table(list(facts))}{_link(certificate or '')}</div>"
    )


def _image(drawing: bytes, name: str) -> str:
    if not drawing:
        return ""
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"
    return f'<img style="max-width:100%" alt="{_text(name)}" src="{source}">'


def _table(facts: list[tuple[str, str]]) -> str:
    if not facts:
        return ""
    rows = "".join(
        f'<tr><th style="{NAME_CELL}">{_text(name)}</th><td style="{CELL}">{_text(value)}</td></tr>'
        for name, value in facts[:MAX_FACTS]
    )
    more = len(facts) - MAX_FACTS
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table>{rows}</table>{rest}"


def _link(certificate: str) -> str:
    page = verify_page()
    if not page or not 0 < len(certificate) <= MAX_LINKED_CERTIFICATE:
        return ""
    address = html.escape(f"{page}#certificate={quote(certificate, safe='')}")
    return f'<p><a href="{address}" target="_blank" rel="noopener">Verify in a browser</a></p>'


def _text(words: str) -> str:
    return html.escape(brief(words, MAX_SENTENCE))


def attention_lines(result: AttentionArrays) -> str:
    """Attention in a few lines: the sizes, and the largest weights of each head."""
    return lines("attention", _sizes(result), _largest_weights(result))


def attention_card(result: AttentionArrays) -> str:
    """The same as a card, with the largest weights of the first head as bars."""
    sizes = _sizes(result)
    if result.pattern.ndim != 2:
        return card("attention", sizes)
    weights = result.pattern[0].tolist()
    top = sorted(_largest(weights, MAX_BARS))
    drawing = bars((f"key {key}", weights[key]) for key in top)
    name = "the largest weights of the first head"
    return card("attention", sizes, _largest_weights(result), drawing, name)


def _sizes(result: AttentionArrays) -> str:
    heads, n = result.pattern.shape[-2:]
    plural = "s" if heads > 1 else ""
    shape = tuple(int(axis) for axis in result.output.shape)
    return f"{heads} head{plural}, {n} keys, output of shape {shape} (floating-point)"


def _largest_weights(result: AttentionArrays) -> list[tuple[str, str]]:
    """The three largest weights of each head; nothing of a batch."""
    if result.pattern.ndim != 2:
        return []
    facts = []
    for head, weights in enumerate(result.pattern.tolist()):
        shown = [f"key {key} {weights[key]:.4g}" for key in _largest(weights, 3)]
        if len(weights) > 3:
            shown.append("...")
        facts.append((f"head {head}", ", ".join(shown)))
    return facts


def _largest(weights: list[float], count: int) -> list[int]:
    return sorted(range(len(weights)), key=lambda key: -weights[key])[:count]


def bars(shares: Iterable[tuple[str, float]]) -> bytes:
    """Shares of one as bars (SVG), for results whose module draws no charts.

    >>> bars([("key 0", 0.25)]).count(b"<rect")
    1
    """
    drawn = []
    for number, (name, share) in enumerate(shares):
        top = BAR_STEP * number
        length = BAR_WIDTH * max(0.0, min(share, 1.0))
        drawn.append(
            f'<text x="0" y="{top + 15}">{html.escape(name)}</text>'
            f'<text x="{96 + length:.1f}" y="{top + 15}">{share:.4g}</text>'
            f'<rect x="90" y="{top + 3}" width="{length:.1f}" height="15" fill="{EITHER["good"]}"/>'
        )
    frame = f'width="480" height="{BAR_STEP * len(drawn)}" font-family="sans-serif" font-size="13" fill="#777"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>{"".join(drawn)}</svg>'
    return svg.encode()
