"""A formula that can be read but does not fit the exercise."""

from __future__ import annotations

from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula.tree import Node


class MisfitError(InputError):
    """A name that the exercise does not know, a sum of a number and a vector; says where and how to mend it."""

    def __init__(self, message: str, node: Node, fix: str = "") -> None:
        """The node is where it was seen."""
        super().__init__(message)
        self.message, self.node, self.fix = message, node, fix

    def shown_in(self, source: str) -> FormulaError:
        """The same with the source and a caret."""
        return FormulaError(self.message, source, self.node.span, fix=self.fix)
