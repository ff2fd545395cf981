"""A result as people see it: a few lines of text in Python, a card in a notebook. Nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import html
import os
import re
import reprlib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any
from urllib.parse import quote

from headwright.theme import EITHER

KINDS = {
    "designed": "good", "proved": "good", "holds": "open", "undecided": "open", "refuted": "bad", "impossible": "bad",
    "no answer": "bad", "unreadable": "bad", "verified": "good", "rejected": "bad", "not confirmed": "open",
    "internal error": "bad",
}  # fmt: skip
MOST_LETTERS = 700  # of a sentence
MOST_FACTS = 8
LONGEST_LINKED = 100_000  # characters of a certificate in a link
LINE = 240  # letters of a line of text
LINES = 5
DIGEST = re.compile(r"(?<=sha256 |digest )([0-9a-f]{12})[0-9a-f]{4,52}\b(?:\.{3})?")  # whole, or its first 16 digits


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
    return short[: kept - kept // 4] + left_out + short[len(short) - kept // 4 :]


def lines(word: str, sentence: str, facts: Iterable[tuple[str, str]] = ()) -> str:
    """A result in one to five lines, for print and repr.

    >>> print(lines("designed", "For these keys ...", [("length", "4.61"), ("gap", "1e-9")]))
    designed: For these keys ...
      length: 4.61
      gap: 1e-9
    """
    told = [f"  {name}: {value}" for name, value in facts]
    if len(told) >= LINES:
        told = [*told[: LINES - 2], f"  and {len(told) - LINES + 2} more"]
    return "\n".join(brief(" ".join(line.split("\n")), LINE) for line in (f"{word}: {sentence}", *told))


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
    told = []
    for each in fields(thing):
        value = getattr(thing, each.name)
        shown = f"array of shape {tuple(value.shape)}" if hasattr(value, "shape") else reprlib.repr(value)
        told.append(f"{each.name}={' '.join(shown.split())}")
    return brief(f"{type(thing).__name__}({', '.join(told)})", LINE)


def verify_page() -> str:
    """The address of a page that verifies certificates in the browser, from HEADWRIGHT_PAGE; else nothing."""
    address = os.environ.get("HEADWRIGHT_PAGE", "")
    return f"{address.rstrip('/')}/verify.html" if address.startswith(("https://", "http://")) else ""


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
    colour = EITHER[KINDS.get(word, "quiet")]
    told = list(facts)
    rows = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:.75;padding:.1em 1.2em .1em 0">{_text(name)}</th>'
        f'<td style="text-align:left;padding:.1em 0">{_text(value)}</td></tr>'
        for name, value in told[:MOST_FACTS]
    )
    more = f"<p>and {len(told) - MOST_FACTS} more</p>" if len(told) > MOST_FACTS else ""
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"
    shown = f'<img style="max-width:100%" alt="{_text(name)}" src="{source}">' if drawing else ""
    linked = verify_page() if certificate and len(certificate) <= LONGEST_LINKED else ""
    address = html.escape(f"{linked}#certificate={quote(certificate or '', safe='')}")
    link = f'<p><a href="{address}" target="_blank" rel="noopener">Verify in a browser</a></p>' if linked else ""
    return (
        f'<div style="border-left:4px solid {colour};padding:.1em 0 .1em .9em;max-width:56em">'
        f'<p style="white-space:pre-wrap"><b style="color:{colour}">{_text(word)}</b> {_text(sentence)}</p>'
        f"{shown}{f'<table>{rows}</table>' if rows else ''}{more}{link}</div>"
    )


def bars(shares: Iterable[tuple[str, float]]) -> bytes:
    """Shares of one as bars (SVG), for results whose module draws no charts.

    >>> bars([("key 0", 0.25)]).count(b"<rect")
    1
    """
    told, drawn = list(shares), ""
    for i, (name, share) in enumerate(told):
        top, long = 22 * i, 300 * max(0.0, min(share, 1.0))
        drawn += f'<text x="0" y="{top + 15}">{html.escape(name)}</text><text x="{96 + long:.1f}" y="{top + 15}">'
        drawn += (
            f'{share:.4g}</text><rect x="90" y="{top + 3}" width="{long:.1f}" height="15" fill="{EITHER["good"]}"/>'
        )
    frame = f'width="480" height="{22 * len(told)}" font-family="sans-serif" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>{drawn}</svg>'.encode()


def _text(words: str) -> str:
    return html.escape(brief(words, MOST_LETTERS))
