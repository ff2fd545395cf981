"""What is said of a formula that cannot be read, and how large one may be."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import Final

from headwright.errors import InputError
from headwright.formula import tree as t

LONGEST: Final = 20_000  # characters of a source
DEEPEST: Final = 60  # brackets, exponents, roots and signs inside one another
TALLEST: Final = DEEPEST  # levels of the tree: a/b/c/... grows by one with every stroke
LARGEST: Final = 5_000  # nodes of a tree
MOST_DIGITS: Final = 400  # digits of a number as written
LARGEST_EXPONENT: Final = 400  # numbers lie between 1e-400 and 1e401, or are 0
MOST_PRIMES: Final = 9  # primes after a name


WIDEST = 100  # columns of a source line that are shown; a longer one is cut around the place


class FormulaError(InputError):
    r"""A formula that cannot be read. Its text shows the source, a caret under the place, and a likely remedy.

    >>> str(FormulaError("a term was expected", "q = k_a +", t.Span(8, 9))).splitlines()[0]
    'q = k_a +'
    """

    def __init__(self, message: str, source: str, span: t.Span, *, fix: str = "", understood: str = "") -> None:
        """Say what was expected; `understood` is the part before it, as it was read.

        A span that knows its source is shown in that one: the formula at fault may be another than the one asked about.
        """
        source = span.source or source
        self.message = message
        self.source = source
        self.span = span
        self.fix = fix
        self.understood = understood
        lines = [*(caret(source, span) if source.strip() else ()), message]
        if understood:
            lines.append(f"understood so far: {understood}")
        if fix:
            lines.append(f"fix: {fix}")
        super().__init__("\n".join(lines))

    def moved(self, span: t.Span, understood: str = "") -> FormulaError:
        """The same at another place, that of the source as it was written, with what was understood before it."""
        return type(self)(self.message, span.source, span, fix=self.fix, understood=understood)

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross processes whole."""
        again = partial(type(self), self.message, self.source, self.span, fix=self.fix, understood=self.understood)
        return again, ()


class ShapeError(FormulaError):
    """A formula that can be read, and whose sizes do not fit: such a statement is wrong, not unreadable."""


def caret(source: str, span: t.Span) -> tuple[str, str]:
    r"""The line of the source where the span starts, and carets under the span."""
    start = min(max(span.start, 0), len(source))
    begin = max(source.rfind(end, 0, start) for end in "\n\r") + 1
    stops = [stop for stop in (source.find(end, start) for end in "\n\r") if stop >= 0]
    finish = min(stops, default=len(source))
    cells = [_shown(c) for c in source[begin:finish]]
    first = start - begin
    last = max(first + 1, min(span.stop, finish) - begin)
    before, marked, after = cells[:first], cells[first:last], cells[last:]
    head, tail = "", ""
    if sum(_columns(c) for c in cells) > WIDEST:  # the place, and as much around it as fits
        half = WIDEST // 2
        kept = marked[:half]
        left = before[-half + len(kept) // 2 :]
        right = [] if len(kept) < len(marked) else after[: half - len(kept) // 2]
        head = "... " if len(left) < len(before) else ""
        tail = " ..." if len(kept) < len(marked) or len(right) < len(after) else ""
        before, marked, after = left, kept, right
    line = head + "".join(before + marked + after) + tail
    indent = len(head) + sum(_columns(c) for c in before)
    return line.rstrip(), " " * indent + "^" * max(1, sum(_columns(c) for c in marked))


def _shown(character: str) -> str:
    """What is printed for a character: tabs have a fixed width, and what cannot be printed has a sign."""
    if character == "\t":
        return "    "
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return character
    if not character.isprintable():
        return "\N{REPLACEMENT CHARACTER}"
    return character


def _columns(cell: str) -> int:
    """The columns a terminal gives to it."""
    if len(cell) > 1:
        return len(cell)
    if unicodedata.category(cell) in ("Mn", "Me") or unicodedata.combining(cell):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1
