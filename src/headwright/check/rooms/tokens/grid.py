"""Vectors and matrices over orthogonal directions, with exact entries.

All that is given lies in the span of the directions, so a matrix is its block on them, and a multiple of the identity
on whatever space is left: M = block + rest * (identity elsewhere). The dimension need not be known.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwright.check.scalars import Scalar, number

ZERO, ONE = number(0), number(1)


@dataclass(frozen=True)
class Grid:
    """rows x columns of scalars; each side is 1 or the number of directions. 1 x 1 is a number."""

    entries: tuple[tuple[Scalar, ...], ...]
    rest: Scalar = ZERO

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.entries), len(self.entries[0])

    @property
    def scalar(self) -> Scalar:
        """The only entry."""
        return self.entries[0][0]

    @property
    def flat(self) -> tuple[Scalar, ...]:
        """All entries in a row."""
        return tuple(x for row in self.entries for x in row)

    def turned(self) -> Grid:
        """The transpose."""
        return Grid(tuple(zip(*self.entries, strict=True)), self.rest)

    def times(self, factor: Scalar) -> Grid:
        """A multiple."""
        return Grid(tuple(tuple(factor * x for x in row) for row in self.entries), factor * self.rest)

    def plus(self, other: Grid) -> Grid:
        """The sum of two grids of one shape."""
        rows = zip(self.entries, other.entries, strict=True)
        summed = tuple(tuple(x + y for x, y in zip(mine, theirs, strict=True)) for mine, theirs in rows)
        return Grid(summed, self.rest + other.rest)

    def on(self, other: Grid) -> Grid:
        """The matrix product; vectors have nothing outside the directions, so the rest acts on matrices only."""
        columns = tuple(zip(*other.entries, strict=True))
        product = tuple(tuple(_dot(row, column) for column in columns) for row in self.entries)
        return Grid(product, self.rest * other.rest)


def number_grid(value: Scalar) -> Grid:
    """A number as a grid."""
    return Grid(((value,),))


def identity(size: int) -> Grid:
    """The identity, here and elsewhere."""
    return Grid(tuple(tuple(ONE if i == j else ZERO for j in range(size)) for i in range(size)), ONE)


def column(size: int, place: int, length: Scalar) -> Grid:
    """A multiple of one direction."""
    return Grid(tuple((length if i == place else ZERO,) for i in range(size)))


def _dot(row: tuple[Scalar, ...], column: tuple[Scalar, ...]) -> Scalar:
    total = ZERO
    for x, y in zip(row, column, strict=True):
        if x != ZERO and y != ZERO:
            total = total + x * y
    return total
