"""The words under a finger: what comes next, what was expected, and how deep we are."""

from __future__ import annotations

from typing import NoReturn, TypeVar

from headwright.formula.bounds import DEEPEST, LARGEST
from headwright.formula.errors import FormulaError
from headwright.formula.reading.layout import partners
from headwright.formula.reading.scanner import Word
from headwright.formula.tree import Node, Span

Made = TypeVar("Made", bound=Node)


class Reader:
    """A place among the words, with the bounds kept."""

    def __init__(self, found: list[Word], source: str) -> None:
        """Begin at the first word."""
        self.found = found
        self.source = source
        self.at = 0
        self.depth = 0
        self.made = 0
        self.pairs = partners(found, source)
        self.bars: list[str] = []  # the bars that are open; "" for a bracket, inside which they cannot close

    @property
    def next(self) -> Word:
        """The word under the finger."""
        return self.found[self.at]

    @property
    def last(self) -> Word:
        """The word before it."""
        return self.found[self.at - 1] if self.at else Word("start", "", Span(0, 0))

    def take(self) -> Word:
        """The word under the finger, which moves on."""
        word = self.found[self.at]
        if word.kind != "end":
            self.at += 1
        return word

    def sees(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        word = self.found[self.at]
        return word.kind == "sign" and word.text in signs

    def new(self, node: Made) -> Made:
        """Count a node."""
        self.made += 1
        if self.made > LARGEST:
            self.fail(f"the formula has more than {LARGEST} parts", node.span, "split it into several statements")
        return node

    def deeper(self) -> None:
        """One level down; `shallower` comes back up."""
        self.depth += 1
        if self.depth > DEEPEST + 1:
            message = f"the formula is nested more than {DEEPEST} deep"
            self.fail(message, self.next.span, "give a part of it a name of its own")

    def shallower(self) -> None:
        """One level up."""
        self.depth -= 1

    def since(self, start: int) -> Span:
        """From a place of the source to the end of the last word."""
        return Span(start, max(start, self.last.span.stop))

    def shown(self, word: Word) -> str:
        """A word as it was written."""
        return self.source[word.span.start : word.span.stop] or "the end of the formula"

    def fail(self, message: str, span: Span, fix: str = "") -> NoReturn:
        """Say what is wrong, and where."""
        raise FormulaError(message, self.source, span, fix=fix)

    def missing(self) -> NoReturn:
        """A number or a name was expected, and something else came."""
        word, last = self.next, self.last
        if word.kind == "dots":
            self.fail("dots leave open what is meant", word.span, "write the sum with \\sum, or list every term")
        if word.kind == "top":
            self.fail(f"{self.shown(word)} stands only in an exponent, as in K^\\top", word.span, "write ^ before it")
        if self.sees("_", "^", "**"):
            before = "an index" if word.text == "_" else "an exponent"
            self.fail(f"{before} needs something to stand on", word.span, "write a name before it")
        after = f" after {self.shown(last)}" if last.kind != "start" else ""
        if word.kind == "end":
            place = last.span if last.kind != "start" else word.span
            self.fail(
                f"the formula ends{after}, where a number, a name or a bracket was expected", place, _remedy(last)
            )
        message = f"{self.shown(word)} came{after}, where a number, a name or a bracket was expected"
        self.fail(message, word.span, _remedy(last))


def _remedy(last: Word) -> str:
    if last.kind == "sign" and last.text in "+-*/.":
        return "add what comes after the sign, or remove the sign"
    if last.kind == "relation":
        return "add the other side"
    if last.kind == "function":
        return "add the argument in brackets"
    return "add what is missing, or remove what comes before it"
