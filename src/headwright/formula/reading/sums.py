"""Sums over an index, with what is written under and over the sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from headwright.formula.reading.grammar import Grammar
from headwright.formula.reading.numerals import value
from headwright.formula.reading.scanner import Word
from headwright.formula.reading.spellings import FUNCTIONS
from headwright.formula.tree import BigSum, Comparison, Name, Node, Number, Relation, Span, walk


class Sums(Grammar):
    """\\sum_{i=1}^{n} x_i."""

    def big_sum(self) -> Node:
        r"""\sum_{i=1}^{n} x_i: the body is the product that follows."""
        word = self.take()
        ranges: list[Node] | None = None
        top: Node | None = None
        while self.sees("_", "^", "**"):
            if self.sees("_") and ranges is None:
                self.take()
                ranges = self.ranges()
            elif not self.sees("_") and top is None:
                self.take()
                top = self.upper(Number(value("1")), None)
            else:
                self.fail("a second bound on the same sum", self.next.span, "write \\sum_{i=1}^{n}")
        self.deeper()
        body = self.term()
        self.shallower()
        span = self.since(word.span.start)
        if ranges is None:
            ranges = [Name(self.guessed(body, word))]
        return self.summed(ranges, top, body, span)

    def guessed(self, body: Node, word: Word) -> str:
        """The index of a sum that names none: that of the first name with a letter for an index."""
        for node in walk(body):
            index = node.index if isinstance(node, Name) else None
            if isinstance(index, Name) and index == Name(index.base) and index.base not in FUNCTIONS:
                return index.base
        return self.fail("a sum needs its index", word.span, "write \\sum_{i=1}^{n} x_i")

    def ranges(self) -> list[Node]:
        """What is written under the sign: i, i=1, i != j, or several with commas."""
        if self.next.kind != "open" or self.next.text != "{":
            return [self.index()]
        opener = self.at
        self.take()
        self.bars.append("")
        found = [self.chain()]
        while self.sees(","):
            self.take()
            further, last = self.chain(), found[-1]
            if isinstance(last, Relation) and last.comparisons == ("!=",) and not isinstance(further, Relation):
                further = self.new(Relation((last.terms[0], further), ("!=",), span=further.span))  # i != a, b
            found.append(further)
        self.bars.pop()
        self.close(opener)
        return found

    def chain(self) -> Node:
        """a <= b < c, under a sign."""
        terms = [self.expression()]
        signs: list[Comparison] = []
        while self.next.kind == "relation":
            signs.append(cast("Comparison", self.take().text))
            terms.append(self.expression())
        self.no_aside()
        if not signs:
            return terms[0]
        return self.new(Relation(tuple(terms), tuple(signs), span=terms[0].span.to(terms[-1].span)))

    def summed(self, ranges: list[Node], top: Node | None, body: Node, span: Span) -> Node:
        """The sum, or sums inside one another where several indices were written."""
        lower: Node | None = None
        indices: list[str] = []
        conditions: list[Relation] = []
        for part in ranges:
            if isinstance(part, Relation) and part.comparisons == ("=",) and _is_index(part.terms[0]):
                if lower is not None:
                    self.fail("two lower bounds on one sum", part.span, "write two sums")
                lower = part.terms[1]
            elif isinstance(part, Relation):
                conditions.append(part)
            found = next(candidates(part), None)
            if found is None:
                self.fail("a sum needs an index here", part.span, "write \\sum_{i=1}^{n} or \\sum_{i \\neq j}")
            if found not in indices and (not isinstance(part, Relation) or part.comparisons == ("=",) or not indices):
                indices.append(found)
        if (lower is None) != (top is None) or (lower is not None and len(indices) > 1):
            self.fail("a sum with one bound only", span, "write \\sum_{i=1}^{n}, or \\sum_i for all values")
        for place, index in reversed(list(enumerate(indices))):
            own = tuple(conditions) if place == len(indices) - 1 else ()
            body = self.new(BigSum(index, body, lower, top, own, span=span))
        return body


def _is_index(node: Node) -> bool:
    return isinstance(node, Name) and node.index is None


def candidates(part: Node) -> Iterator[str]:
    """The names that can be the index of a sum; in 1 <= i <= n, the one in the middle first."""
    terms: tuple[Node, ...] = (part,)
    if isinstance(part, Relation):
        terms = (part.terms[1], *part.terms) if len(part.terms) == 3 else part.terms
    for term in terms:
        if isinstance(term, Name) and term.index is None and term.base not in FUNCTIONS:
            yield term.base + "'" * term.primes
