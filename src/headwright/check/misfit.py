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

    def shown(self) -> FormulaError:
        """The same with a caret under the place, in the formula where it was written."""
        return FormulaError(self.message, "", self.node.span, fix=self.fix)


class WrongKindError(MisfitError):
    """Vectors of two spaces are mixed: that is wrong, not unreadable."""


class MissingError(MisfitError):
    """What was asked for is used, and no formula defines it."""
