"""What a factor begins with: a number, a name, a function, a bracket, a sign."""

from __future__ import annotations

from headwright.formula.reading.applied import Applied
from headwright.formula.reading.brackets import Brackets
from headwright.formula.reading.numerals import value
from headwright.formula.reading.sums import Sums
from headwright.formula.tree import Name, Node, Number


class Atoms(Brackets, Applied, Sums):
    """All of them together."""

    def primary(self) -> Node:
        """What stands at the beginning of a factor."""
        word = self.next
        if word.kind == "number":
            self.take()
            return self.new(Number(value(word.text), span=word.span))
        if word.kind == "name":
            self.take()
            return self.new(Name(word.text, span=word.span))
        if word.kind == "function":
            return self.call()
        if word.kind == "command" and word.text == "frac":
            return self.fraction()
        if word.kind == "command" and word.text == "sum":
            return self.big_sum()
        if word.kind == "command":
            self.fail("a limit stands at the beginning of a side only", word.span, "write \\lim_{x \\to a} y = z")
        if word.kind == "open":
            return self.bracket()
        if word.kind == "bar":
            return self.norm()
        if word.kind == "relation" and word.text == "<":
            return self.angle()
        return self.missing()
