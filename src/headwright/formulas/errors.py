"""What is said of a formula that cannot be read, and how large one may be."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import Final

from headwright.errors import InputError
from headwright.formulas import tree as t

LONGEST: Final = 20_000  # characters of a source
DEEPEST: Final = 60  # brackets, exponents, roots and signs inside one another
TALLEST: Final = DEEPEST  # levels of the tree: a/b/c/... grows by one with every stroke
LARGEST: Final = 5_000  # nodes of a tree
MOST_DIGITS: Final = 400  # digits of a number as written
LARGEST_EXPONENT: Final = 400  # numbers lie between 1e-400 and 1e401, or are 0


WIDEST = (
    100  # columns of a source line that are shown; a longer one is cut around the place
)


class FormulaError(InputError):
    r"""A formula that cannot be read. Its text shows the source, a caret under the place, and a likely remedy.

    >>> str(FormulaError("a term was expected", "q = k_a +", t.Span(8, 9))).splitlines()[0]
    'q = k_a +'
    """

    def __init__(
        self, message: str, source: str, span: t.Span, *, fix: str = ""
    ) -> None:
        """Say what was expected.

        A span that knows its source is shown in that one: the formula at fault may be another than the one asked about.
        """
        source = span.source or source
        self.message = message
        self.source = source
        self.span = span
        self.fix = fix
        lines = [*(caret(source, span) if source.strip() else ()), message]
        if fix:
            lines.append(f"fix: {fix}")
        super().__init__("\n".join(lines))

    def moved(self, span: t.Span) -> FormulaError:
        """The same at another place, that of the source as it was written."""
        return type(self)(self.message, span.source, span, fix=self.fix)

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross processes whole."""
        return partial(
            type(self), self.message, self.source, self.span, fix=self.fix
        ), ()


class ShapeError(FormulaError):
    """A formula that can be read, and whose sizes do not fit: such a statement is wrong, not unreadable."""


def caret(source: str, span: t.Span) -> tuple[str, str]:
    r"""The line of the source where the span starts, and carets under the span."""
    start = min(max(span.start, 0), len(source))
    begin = max(source.rfind(end, 0, start) for end in "\n\r") + 1
    stops = [stop for stop in (source.find(end, start) for end in "\n\r") if stop >= 0]
    finish = min(stops, default=len(source))
    line = "".join(
        c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}"
        for c in source[begin:finish]
    )
    first = start - begin
    last = max(first + 1, min(span.stop, finish) - begin)
    head, tail = "", ""
    if len(line) > WIDEST:  # the place, and as much around it as fits
        last = min(last, first + WIDEST // 2)
        left, right = max(0, first - WIDEST // 2), last + WIDEST // 2
        head, tail = "... " * (left > 0), " ..." * (right < len(line))
        line, first, last = line[left:right], first - left, last - left
    combining = [unicodedata.combining(c) > 0 for c in line]
    indent = len(head) + first - sum(combining[:first])
    return (head + line + tail).rstrip(), " " * indent + "^" * (
        last - first - sum(combining[first:last]) or 1
    )
