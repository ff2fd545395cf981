"""Words in their order: brackets find their partners, and spaces and line breaks that mean nothing are passed over."""

from __future__ import annotations

import re

from headwright.formula.errors import DEEPEST, FormulaError
from headwright.formula.reading.lexer import Word
from headwright.formula.tree import Span

_CLOSER = {
    "(": ")", "[": "]", "{": "}", "\\{": "\\}", "<": "\\rangle", "|": "\\right|", "||": "\\right\\|", "matrix": "\\end",
    "cases": "\\end{cases}",
}  # fmt: skip
_EQUATION = re.compile(r"\((?:[0-9][a-z]?|\*)\)")
_INFIX = frozenset("+-*/.,;:^_")
_PAUSES = ("logic", "condition", "relation", "then", "line", "end", "quad", "reason")


def arranged(found: list[Word], source: str) -> list[Word]:
    """The words without the spaces that mean nothing."""
    pairs = partners(found, source)
    return _tidy(_lines(found, pairs), source)


def partners(found: list[Word], source: str) -> dict[int, int]:
    """The place of the closing word for that of each opening word."""
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for place, word in enumerate(found):
        if word.kind == "open":
            waiting.append(place)
            if len(waiting) > DEEPEST:
                message = f"brackets are nested more than {DEEPEST} deep"
                raise FormulaError(message, source, word.span, fix="give a part of the formula a name of its own")
        elif word.kind == "close":
            if not waiting:
                shown = source[word.span.start : word.span.stop]
                message = f"{shown} closes nothing: no bracket is open here"
                raise FormulaError(message, source, word.span, fix=f"remove {shown}, or open a bracket before it")
            opener = found[waiting[-1]]
            after = found[waiting[-1] - 1] if waiting[-1] else word
            half_open = (after.kind, after.text[-2:]) == ("relation", "in") and {opener.text, word.text} <= {"(", "["}
            if opener.text != word.text and not half_open:  # x in [0, 1)
                _refuse(opener, source, word)
            pairs[waiting.pop()] = place
    if waiting:
        _refuse(found[waiting[-1]], source, None)
    return pairs


def _refuse(opener: Word, source: str, other: Word | None) -> None:
    shown = source[opener.span.start : opener.span.stop]
    message = f"the bracket {shown} is never closed"
    if other is not None:
        message = f"the bracket {shown} meets {source[other.span.start : other.span.stop]} before it is closed"
    raise FormulaError(message, source, opener.span, fix=f"add {_CLOSER[opener.text]} where the bracket ends")


def _lines(found: list[Word], pairs: dict[int, int]) -> list[Word]:
    """Line breaks of the source become lines, or nothing."""
    hard = any(word.kind == "line" for word in found)
    kept: list[Word] = []
    until = -1  # inside a bracket up to here
    for place, word in enumerate(found):
        if place in pairs:
            until = max(until, pairs[place])
        if word.kind != "soft":
            kept.append(word)
        elif place > until and not hard and kept and _breaks(found, place, pairs, kept[-1]):
            kept.append(Word("line", "line", Span(word.span.start, word.span.start)))
    return kept


def _breaks(found: list[Word], place: int, pairs: dict[int, int], last: Word) -> bool:
    """Whether a new statement begins after this line break."""
    if last.kind in ("relation", "logic", "condition", "line", "then") or (last.kind == "sign" and last.text in _INFIX):
        return False
    start = place + 1
    if start >= len(found) or found[start].kind in ("soft", "end"):
        return start < len(found) and found[start].kind == "soft"  # an empty line ends a statement
    first = found[start]
    if first.kind in ("relation", "logic", "condition", "then", "close") or (
        first.kind == "sign" and first.text in _INFIX
    ):
        return False
    while start < len(found) and found[start].kind not in ("soft", "end"):
        if found[start].kind == "relation":
            return True
        start = pairs.get(start, start) + 1
    return False


def _tidy(found: list[Word], source: str) -> list[Word]:
    kept: list[Word] = []
    inside: list[str] = []
    passed = -1  # up to here it is the number of an equation
    for place, word in enumerate(found):
        if place <= passed:
            continue
        if word.kind == "quad" and not inside and (count := _numbered(found, place + 1)):
            passed = place + count
            continue
        if word.kind == "open":
            inside.append(word.text)
        elif word.kind == "close":
            inside.pop()
        in_matrix = bool(inside) and inside[-1] in ("matrix", "cases")
        if word.kind in ("line", "amp", "quad") and not _matters(word, inside, in_matrix):
            continue
        if word.kind == "quad" and (not kept or _is_pause(kept[-1]) or _is_pause(found[place + 1])):
            continue
        if word.kind == "stop" and in_matrix and found[place + 1].kind in ("line", "close", "amp"):
            continue
        if word.kind == "line" and not in_matrix:
            if _continues(found, place + 1):
                continue
            _trim(kept)
            if not kept or kept[-1].kind == "line":
                continue
        kept.append(word)
    end = kept.pop()
    _trim(kept)
    kept.append(end)
    for word in kept:
        if word.kind == "stop":
            raise FormulaError(
                "a full stop stands inside the formula", source, word.span, fix="remove it, or write \\cdot"
            )
    return kept


def _numbered(found: list[Word], place: int) -> int:
    """How many words the number of an equation at the end of a line has: \\quad (5)."""
    start = place
    while found[place].kind == "quad":
        place += 1
    kinds = "".join(
        "(" if w.kind == "open" else ")" if w.kind == "close" else w.text[:1] for w in found[place : place + 4]
    )
    label = _EQUATION.match(kinds)
    if label is None or not _ends(found[place + len(label.group())]):
        return 0
    return place - start + len(label.group())


def _ends(word: Word) -> bool:
    return word.kind in ("line", "end", "stop", "soft") or (word.kind == "sign" and word.text in ",;")


def _continues(found: list[Word], place: int) -> bool:
    """Whether a line goes on with the line before: it begins with + or *, or with - and has no relation."""
    first = found[place]
    if first.kind != "sign" or first.text not in "+-*/.":
        return False
    while first.text == "-" and found[place].kind not in ("line", "end"):
        if found[place].kind == "relation":
            return False
        place += 1
    return True


def _matters(word: Word, inside: list[str], in_matrix: bool) -> bool:
    if word.kind == "quad":
        return not inside
    if word.kind == "amp":
        return in_matrix
    return in_matrix or not inside


def _is_pause(word: Word) -> bool:
    return word.kind in _PAUSES or (word.kind == "sign" and word.text in _INFIX)


def _trim(kept: list[Word]) -> None:
    """Drop the full stop or comma at the end of a line."""
    while kept and (kept[-1].kind in ("stop", "quad", "line") or (kept[-1].kind == "sign" and kept[-1].text in ",;")):
        kept.pop()
