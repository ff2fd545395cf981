"""What a line begins with: a heading, labels such as '3 (b)', a mark such as 'Solution:'."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["", "digit", "letter", "roman"]
LONGEST_TITLE = 120
WORDED, TITLED, LISTED = 7, 8, 9  # ranks below the six levels of Markdown: 'Question 2', a bold line, '(a)'

_ONE = r"(?:\d{1,2}(?!\d)|[ivxIVX]{2,5}(?![A-Za-z0-9])|[a-zA-Z](?![A-Za-z0-9]))"
_FIRST = re.compile(rf"\(({_ONE})\)|({_ONE})")
_NEXT = re.compile(rf"\s?[.\-]?\s?\(({_ONE})\)|[.\-]?({_ONE})")
_AFTER = re.compile(r"\s?[:.)\]–—]+(?=\s|$|[A-Z$*\\])|\s*$|(?=\*\*|__|\})")
_WORD = re.compile(
    r"(?:(?:questions?|problem|exercise|task|sub-?part|part)(?![a-z])|(?:q|ex)(?=[.\s]?\s?[\d(]))\s*[.#]?\s*(?=[(\d]|[a-z]\b)",
    re.IGNORECASE,
)
ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def labels(text: str) -> tuple[tuple[str, ...], int]:
    """The labels that a text begins with, and how many characters they take: '3 (b)', 'Q1-2', '(ii)', '2a'.

    >>> labels("Question 3 (b): why"), labels("Q1-2. Copying"), labels("(ii) thus"), labels("i.e. this")
    ((('3', 'b'), 15), (('1', '2'), 5), (('ii',), 4), ((), 0))
    """
    word = _WORD.match(text)
    at = word.end() if word else 0
    first = _FIRST.match(text, at)
    if first is None or text[at:].startswith("i.e"):
        return (), 0
    found = [first[1] or first[2]]
    enclosed = first[1] is not None
    at = first.end()
    while len(found) < 4 and (further := _NEXT.match(text, at)):
        if further[2] is not None and not (further[0] != further[2] or found[-1].isdigit()):
            break
        found.append(further[1] or further[2])
        enclosed = enclosed or further[1] is not None
        at = further.end()
    after = _AFTER.match(text, at)
    if after is None and not (enclosed or word):
        return (), 0
    return tuple(label.lower() for label in found), after.end() if after and after[0].strip() else at


@dataclass(frozen=True)
class Heading:
    """What the beginning of a line says: its labels, a mark, a title, and the words that are left."""

    rank: int = 0
    labels: tuple[str, ...] = ()
    mark: str = ""
    title: str = ""
    rest: str = ""


_LEAD = re.compile(r"([\s>]*)((?:[-+*•]\s+)?)")
_ATX = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"(?:\*\*|__|\\(?:textbf|emph|underline|textit|textsc)\{)\s*")
_ALL_BOLD = re.compile(
    r"(?:\*\*|__)([^*$=]{1,120})(?:\*\*|__)[.:]?|\\(?:textbf|underline)\{([^{}$=]{1,120})\}[.:]?(?:\\\\)?"
)
_LEADING_BOLD = re.compile(r"(?:\*\*|__)?([^*$]{1,120}?)(?:\*\*|__)")
_POINTS = re.compile(r"([^$=]{2,70}?)[\s,:;(\[\-–—]+\d{1,3}\s*(?:pts?|points?|marks?)\b[.)\]]*\s*", re.IGNORECASE)
_POINTS_AWAY = re.compile(r"[(\[]\s*\d{1,3}\s*(?:pts?|points?|marks?)[.\s]*[)\]]", re.IGNORECASE)
_MARK = re.compile(
    r"(?:(?:my|our|the|your|model|sample|short|full)\s+)?(answers?|solutions?|ans|soln?|response|proof)\b"
    r"(?:\s+(?:sketch|steps|idea))?((?:\s+(?:to|of|for))?\s+(?:(?:question|problem|part|exercise|q)\s*)?(?=[(\d])|)",
    re.IGNORECASE,
)
_MARK_ENDS = re.compile(r"\s*(?:[:.–—](?:\*\*|__|\})?|(?:\*\*|__|\})\s*[:.]?)\s*|\s*$")
_ASKED = re.compile(r"(?:question|problem(?: statement)?|q)\s*:\s*(?:\*\*|__|\})?\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+([A-Z][^$=\\]{2,80}[^.,;:?!$=\\\s])\s*")
SIGNS = re.compile(r"[=<>$\\≈≤≥≠^]")


def heading(line: str) -> Heading:
    """What a line begins with; nothing, and the line itself as the rest, where it is no heading.

    >>> heading("### Part (b): An average of two")
    Heading(rank=3, labels=('b',), mark='', title='An average of two', rest='')
    >>> heading("Solution: take the sum").mark, heading("**Answer.**").mark, heading("The answer is no.").mark
    ('solution', 'solution', '')
    """
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    text = line[start:]
    atx = _ATX.match(text)
    rank, whole = (len(atx[1]), True) if atx else (0, False)
    if atx:
        text = atx[2]
    bold = _ALL_BOLD.fullmatch(text.strip())
    if bold is not None:
        text, whole = bold[1] or bold[2], True
        rank = rank or TITLED
    elif _BOLD.match(text) and not atx:
        text = _BOLD.sub("", text, count=1)
    mark, text = _marked(text.lstrip(), whole)
    given, end = labels(text)
    if given and _is_label(text, end, whole or bool(mark)):
        worded = bool(_WORD.match(text))
        rest = _POINTS_AWAY.sub("", text[end:]).strip().removeprefix("**").lstrip(" :.–—-")
        rank = rank if atx else WORDED if worded and given[0].isdigit() else LISTED
        if whole or (worded and len(rest) <= LONGEST_TITLE and not SIGNS.search(rest) and len(rest.split()) <= 12):
            return Heading(rank, given, mark, rest.strip("* }"), "")
        titled = _LEADING_BOLD.match(_POINTS_AWAY.sub("", text[end:]).strip()) if "**" in text or "__" in text else None
        title = titled[1] if titled else rest.split(". ")[0][:LONGEST_TITLE]
        return Heading(rank, given, mark, title.strip(), rest)
    if mark:
        return Heading(rank if atx else 0, (), mark, "", text)
    if whole:
        return Heading(rank, (), "", _POINTS_AWAY.sub("", text).strip(" .:"), "")
    numbered = _NUMBERED.fullmatch(line)
    if numbered is not None:
        return Heading(WORDED, tuple(numbered[1].split(".")), "", numbered[2], "")
    points = _POINTS.fullmatch(text.strip())
    if points is not None and not (lead and lead[2]):
        return Heading(WORDED, (), "", points[1].strip(), "")
    return Heading(rest=line)


def _is_label(text: str, end: int, whole: bool) -> bool:
    """Whether what looks like a label is one: '(a)', 'b)', '2.', 'Part a'; not the 'A' of 'A layer'."""
    if _WORD.match(text):
        return True
    if text[:1].isupper() and text[1:2] not in (".", ")"):
        return False
    return text[:1] == "(" or text[end - 1 : end] in (")", ".", ":", "]") or (whole and text[:1].isdigit())


def _marked(text: str, whole: bool) -> tuple[str, str]:
    """The mark at the beginning of a line, and what follows it."""
    asked = _ASKED.match(text)
    if asked:
        return "question", text[asked.end() :]
    if text[:2] in ("A:", "A."):
        return ("solution", text[2:].lstrip("* ")) if text[1] == ":" else ("", text)
    found = _MARK.match(text)
    if found is None:
        return "", text
    mark = "proof" if found[1].lower() == "proof" else "solution"
    if found[2].strip() or (found[2] and text[found.end() : found.end() + 1] in ("(",)):
        return mark, text[found.end() :]
    ends = _MARK_ENDS.match(text, found.end())
    if ends is not None and (ends[0].strip() or not text[ends.end() :]):
        return mark, text[ends.end() :]
    return (mark, "") if whole and len(text.split()) <= 6 else ("", text)


def ordinal(kind: Kind, label: str) -> int:
    """The number of a label.

    >>> ordinal("letter", "c"), ordinal("roman", "iv"), ordinal("digit", "7")
    (3, 4, 7)
    """
    if kind == "digit":
        return int(label)
    if kind == "roman":
        return ROMAN.index(label) + 1
    return ord(label) - ord("a") + 1


def written(kind: Kind, count: int) -> str:
    """The label with a number.

    >>> written("letter", 3), written("roman", 4)
    ('c', 'iv')
    """
    if kind == "roman" and count <= len(ROMAN):
        return ROMAN[count - 1]
    return chr(ord("a") + count - 1) if kind == "letter" and count <= 26 else str(count)


def is_atx(line: str) -> bool:
    """Whether a line is a heading of Markdown."""
    return _ATX.match(line.lstrip(" >")) is not None


def is_bulleted(line: str) -> bool:
    """Whether a line is an item of a list of Markdown."""
    lead = _LEAD.match(line)
    return lead is not None and bool(lead[2])


def is_numbered(line: str) -> bool:
    """Whether a line is a title after nothing but its number: '2.1 Permutations'."""
    return _NUMBERED.fullmatch(line) is not None


def is_worded(text: str) -> bool:
    """Whether a text begins as 'Question 3' does."""
    return _WORD.match(text) is not None
