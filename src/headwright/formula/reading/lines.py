"""Words in their order: brackets find their partners, and spaces and line breaks that mean nothing are passed over."""

from __future__ import annotations

import re

from headwright.formula.errors import DEEPEST, FormulaError
from headwright.formula.reading.lexer import Word
from headwright.formula.tree import Span

_CLOSER = {
    "(": ")", "[": "]", "{": "}", "\\{": "\\}", "<": "\\rangle", "|": "\\right|", "||": "\\right\\|", "matrix": "\\end",
    "cases": "\\end{cases}", "ceil": "\\rceil", "floor": "\\rfloor",
}  # fmt: skip
_EQUATION = re.compile(r"\((?:[0-9][a-z]?|\*)\)")
_INFIX = "+-*/.,;:^_"
_JOINS = ("relation", "logic", "condition", "then")
_PAUSES = (*_JOINS, "line", "end", "quad", "reason")


def arranged(found: list[Word], source: str) -> list[Word]:
    """The words without the spaces that mean nothing."""
    kept = _tidy(_lines(found, partners(found, source)))
    for word in kept:
        if word.kind == "stop":
            fix = "remove it, or write \\cdot"
            raise FormulaError("a full stop stands inside the formula", source, word.span, fix=fix)
    return kept


def partners(found: list[Word], source: str) -> dict[int, int]:
    """The place of the closing word for that of each opening word."""
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for place, word in enumerate(found):
        if word.kind == "open":
            waiting.append(place)
            if len(waiting) > DEEPEST:
                fix = "give a part of the formula a name of its own"
                raise FormulaError(f"brackets are nested more than {DEEPEST} deep", source, word.span, fix=fix)
        elif word.kind == "close":
            shown = source[word.span.start : word.span.stop]
            if not waiting:
                fix = f"remove {shown}, or open a bracket before it"
                raise FormulaError(f"{shown} closes nothing: no bracket is open here", source, word.span, fix=fix)
            opener = found[waiting[-1]]
            before = found[waiting[-1] - 1] if waiting[-1] else word
            half_open = (before.kind, before.text[-2:]) == ("relation", "in") and {opener.text, word.text} <= {"(", "["}
            if opener.text != word.text and not half_open:  # x in [0, 1)
                raise _unclosed(opener, source, f"meets {shown} before it is closed")
            pairs[waiting.pop()] = place
    if waiting:
        raise _unclosed(found[waiting[-1]], source, "is never closed")
    return pairs


def _unclosed(opener: Word, source: str, what: str) -> FormulaError:
    message = f"the bracket {source[opener.span.start : opener.span.stop]} {what}"
    return FormulaError(message, source, opener.span, fix=f"add {_CLOSER[opener.text]} where the bracket ends")


def _lines(found: list[Word], pairs: dict[int, int]) -> list[Word]:
    """Line breaks of the source become lines, or nothing."""
    hard = any(word.kind == "line" for word in found)
    kept: list[Word] = []
    until = -1  # inside a bracket up to here
    for place, word in enumerate(found):
        until = max(until, pairs.get(place, -1))
        if word.kind != "soft":
            kept.append(word)
        elif place > until and not hard and kept and _breaks(found, place + 1, pairs, kept[-1]):
            kept.append(Word("line", "line", Span(word.span.start, word.span.start)))
    return kept


def _breaks(found: list[Word], start: int, pairs: dict[int, int], last: Word) -> bool:
    """Whether a new statement begins after a line break."""
    first = found[start]
    if last.kind in (*_JOINS, "line") or last.is_sign(_INFIX):
        return False
    if first.kind in ("soft", "end"):
        return first.kind == "soft"  # an empty line ends a statement
    if first.kind in (*_JOINS, "close") or first.is_sign(_INFIX):
        return False
    while found[start].kind not in ("soft", "end", "relation"):
        start = pairs.get(start, start) + 1
    return found[start].kind == "relation"


def _tidy(found: list[Word]) -> list[Word]:
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
        matters = {"quad": not inside, "amp": in_matrix, "line": in_matrix or not inside}
        if not matters.get(word.kind, True):
            continue
        if word.kind == "quad" and (not kept or _is_pause(kept[-1]) or _is_pause(found[place + 1])):
            continue
        if word.kind == "stop" and in_matrix and found[place + 1].kind in ("line", "close", "amp"):
            continue
        if word.kind in ("line", "end") and not in_matrix:
            if word.kind == "line" and _continues(found, place + 1):
                continue
            while kept and (kept[-1].kind in ("stop", "quad", "line") or kept[-1].is_sign(",;")):
                kept.pop()  # the full stop or comma at the end of a line
            if word.kind == "line" and not kept:
                continue
        kept.append(word)
    return kept


def _numbered(found: list[Word], place: int) -> int:
    """How many words the number of an equation at the end of a line has: \\quad (5)."""
    start = place
    while found[place].kind == "quad":
        place += 1
    brackets = {"open": "(", "close": ")"}
    label = _EQUATION.match("".join(brackets.get(word.kind, word.text[:1]) for word in found[place : place + 4]))
    place += len(label.group()) if label else 0
    ends = found[place].kind in ("line", "end", "stop", "soft") or found[place].is_sign(",;")
    return place - start if label and ends else 0


def _continues(found: list[Word], place: int) -> bool:
    """Whether a line goes on with the line before: it begins with + or *, or with - and has no relation."""
    first = found[place]
    if not first.is_sign("+-*/."):
        return False
    while first.text == "-" and found[place].kind not in ("line", "end"):
        if found[place].kind == "relation":
            return False
        place += 1
    return True


def _is_pause(word: Word) -> bool:
    return word.kind in _PAUSES or word.is_sign(_INFIX)
