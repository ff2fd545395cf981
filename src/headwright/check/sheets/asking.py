"""Which of the lines of a part ask, and which answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwright.check.sheets.outline import Line, Part

_ORDERS = (
    "find|show|prove|describe|explain|design|construct|give|derive|compute|calculate|determine|state|justify|discuss"
    "|verify|summari[sz]e|argue|write down|briefly|think about|identify|name|propose|suggest|provide"
    "|demonstrate|compare"
)
_ORDER = re.compile(
    rf"^\W{{0,20}}(?:(?:then|now|please|next|finally|also|again|hence|and)\b,?\s*)?(?:\([^)]{{0,60}}\)\s*)?\W{{0,20}}(?:{_ORDERS})\b"
    rf"|^\W{{0,20}}(?:using|based on|under|given|with|for|in|as|assuming)\b.{{0,400}}?,\W{{0,20}}(?:{_ORDERS})\b",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"\?\W{0,20}$|\b(?:we want to (?:find|show|prove|choose)|to (?:show|prove):|(?:justify|explain) your"
    r"|do you (?:think|expect)|you (?:can|may|should) (?:ignore|assume)|should have different)\b"
    r"|^\W{0,20}(?:to (?:show|prove)|claim|want)\W*:",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^\W{0,20}(?:yes|no)\b\W|\b(?:therefore|thus|hence|consequently|it follows|this implies)\b"
    r"|\b(?:set|choose|take|pick|let|try|use|define|put)\s+(?:the \w+ \w* ?)?\$*\s*(?:q|M|B|V|K|Q)(?:_\{?\w+\}?)?\s*"
    r"(?::?=|\\propto)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\W{0,20}(?:sup>)?\d?\W{0,20}(?:hint|note|figure|fig|recall|remark|see|here|where|footnote|source|due|points?)\b",
    re.IGNORECASE,
)
LONGEST = 5000  # characters of a paragraph that are looked at
_SENTENCE = re.compile(r"(?<=[.?!:])[*_)\]'\"”]*\s+")
_STATES = re.compile(r"[=<>≤≥≠≈≪≫]|\\(?:approx|to|g|l|n)\w*")
_WORDS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Spoken:
    """The lines of a part that ask, and those that answer.

    >>> from headwright.check.sheets.outline import outline
    >>> found = spoken(outline("Why is it so?\\n\\nBecause $a = b$, and thus $b = a$."))
    >>> [line.text for line in found.asked], [line.number for line in found.said if line.text]
    (['Why is it so?'], [3])
    """

    asked: tuple[Line, ...] = ()
    said: tuple[Line, ...] = ()


def spoken(part: Part, *, marks: bool = False) -> Spoken:
    """What the lines of a part do; `marks` tells that answers are marked in this document, so that others are none."""
    if part.marked_at:
        before = [line for line in part.lines if line.number < part.marked_at]
        after = [line for line in part.lines if line.number >= part.marked_at]
        asked, said = _split(before)
        if asked or (said and not any(_SAYS.search(_text(each)) for each in paragraphs(said))):
            proof = part.mark == "proof" and not asked
            return Spoken((), (*said, *after)) if proof else Spoken(tuple(before), tuple(after))
        return Spoken((), (*said, *after))
    plain = [line for line in part.lines if not line.mark]
    below = [line for line in part.lines if line.mark]
    asked, said = _split(plain)
    if part.parts or (marks and (asked or not any(_SAYS.search(_text(each)) for each in paragraphs(said)))):
        asked, said = plain, []
    more, answered = _split(below)
    return Spoken(tuple(asked + more), tuple(said + answered)) if _has_words(part.lines) else Spoken()


def paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that stand together; a bullet begins anew."""
    found: list[list[Line]] = [[]]
    for line in lines:
        if not line.text.strip() or re.match(r"\s*[-*+•]\s", line.text):
            found.append([])
        if line.text.strip():
            found[-1].append(line)
    return [each for each in found if each]


def asks(text: str) -> bool:
    """Whether a paragraph asks: it has a question, or an order such as 'Find'.

    >>> asks("Find an expression for $q$."), asks("Since $q$ is long, we find that it works.")
    (True, False)
    """
    return any(_ORDER.search(sentence) or _ASKS.search(sentence) for sentence in _SENTENCE.split(text))


def _split(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """What is asked first, and what is said then."""
    last = 0
    for paragraph in paragraphs(lines):
        text = _text(paragraph)
        if asks(text):
            last = paragraph[-1].number
        elif _SAYS.search(text):
            break
    asked = [line for line in lines if line.number <= last]
    said = [line for line in lines if line.number > last]
    if asked and not _says(said):
        return _within(list(lines), last)
    return asked, said


def _within(lines: list[Line], last: int) -> tuple[list[Line], list[Line]]:
    """'Can it be? No, since ...' in one line: the answer is what follows the last question mark."""
    for place, line in enumerate(lines):
        cut = line.text.rfind("?") + 1
        if (
            line.number == last
            and cut
            and re.match(r"\W*(?:yes|no|because|since|it is|take|set|choose)\b", line.text[cut:], re.I)
        ):
            first = replace(line, text=" " * cut + line.text[cut:])
            return [*lines[:place], replace(line, text=line.text[:cut])], [first, *lines[place + 1 :]]
    return lines, []


def _says(lines: Sequence[Line]) -> bool:
    """Whether there is an answer in these lines: not only hints, footnotes and captions."""
    return any(
        not _BESIDE.match(text) and (_SAYS.search(text) or _STATES.search(text) or len(_WORDS.findall(text)) > 3)
        for text in (_text(each) for each in paragraphs(lines))
    )


def _has_words(lines: Sequence[Line]) -> bool:
    return any(re.search(r"\w", line.text) for line in lines)


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text[:LONGEST] for line in lines)[:LONGEST]
