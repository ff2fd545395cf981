"""Shapes, and sizes that become known only from their surroundings: the I of I - B B^T."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwright.formula.errors import FormulaError, ShapeError
from headwright.formula.tree import Name, Node, Span

Size = int | str  # 3, or the name of a dimension: "d"


@dataclass(frozen=True)
class Shape:
    """Rows and columns. Vectors are columns; numbers are 1 x 1; a size may be a name.

    >>> str(Shape("T", "d")), Shape(1, 1) == SCALAR
    ('T x d', True)
    """

    rows: Size
    columns: Size

    def __str__(self) -> str:
        """As said aloud."""
        return f"{self.rows} x {self.columns}"


SCALAR = Shape(1, 1)
ShapeOf = Callable[[Name], Shape | None]


@dataclass(frozen=True)
class Hole(Node):
    """The size of one I, as long as it is not known. Stands as the index of that I."""

    number: int


@dataclass
class Sizes:
    """What has been found out about holes; two sizes are made the same, or cannot be.

    >>> sizes = Sizes()
    >>> hole = sizes.hole()
    >>> sizes.same(hole, "d"), sizes.same("d", hole), sizes.same(hole, "n"), sizes.known(hole)
    (True, True, False, 'd')
    """

    _found: dict[int, Size | Hole] = field(default_factory=dict)
    _count: int = 0

    def hole(self) -> Hole:
        """A size that nothing is known about, but that it is not 1: an I is not a number."""
        self._count += 1
        return Hole(self._count)

    def known(self, size: Size | Hole) -> Size | Hole:
        """The size that a hole has turned out to be, or the hole that now speaks for it."""
        while isinstance(size, Hole) and size.number in self._found:
            size = self._found[size.number]
        return size

    def same(self, left: Size | Hole, right: Size | Hole) -> bool:
        """Make two sizes the same; False, with nothing changed, if they are not and cannot be."""
        left, right = self.known(left), self.known(right)
        if left == right:
            return True
        if not isinstance(left, Hole):
            left, right = right, left
        if not isinstance(left, Hole) or right == 1:
            return False
        self._found[left.number] = right
        return True

    def saved(self) -> dict[int, Size | Hole]:
        """What has been found out so far, to come back to with restore."""
        return dict(self._found)

    def restore(self, saved: dict[int, Size | Hole]) -> None:
        """Forget what was found out since."""
        self._found = saved


@dataclass(frozen=True)
class Term:
    """A typed node and its sizes, as far as they are known."""

    node: Node
    rows: Size | Hole
    columns: Size | Hole


def misfit(message: str, *, span: Span, fix: str = "") -> FormulaError:
    """What is wrong and where; shapes.typed adds the source."""
    return FormulaError(message, "", span, fix=fix)


def unfit(message: str, *, span: Span, fix: str = "") -> ShapeError:
    """Sizes that contradict each other, whatever the matrices are."""
    return ShapeError(message, "", span, fix=fix)
