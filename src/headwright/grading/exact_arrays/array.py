"""Arrays of exact scalars; a number is an array of one entry, a vector a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from headwright.errors import InputError
from headwright.grading import scalars
from headwright.grading.scalars import Scalar

ZERO = scalars.number(0)
ONE = scalars.number(1)


class MisshapenError(InputError):
    """Two arrays whose shapes do not fit together."""


@dataclass(frozen=True)
class ExactArray:
    """Rows of exact scalars.

    >>> a = ExactArray.of_rows([[scalars.number(1), scalars.number(2)]])
    >>> a.times(a.transposed()).entries
    (<5>,)
    """

    rows: tuple[tuple[Scalar, ...], ...]

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Scalar]]) -> ExactArray:
        """From rows of one length."""
        return cls(tuple(tuple(row) for row in rows))

    @classmethod
    def number(cls, value: Scalar | scalars.forms.Number) -> ExactArray:
        """One entry."""
        return cls(((scalars.number(value),),))

    @classmethod
    def column(cls, entries: Sequence[Scalar]) -> ExactArray:
        """A vector."""
        return cls(tuple((entry,) for entry in entries))

    @classmethod
    def identity(cls, size: int) -> ExactArray:
        """The identity matrix."""
        return cls.of_rows(
            [[ONE if i == j else ZERO for j in range(size)] for i in range(size)]
        )

    @classmethod
    def filled(cls, shape: tuple[int, int], value: Scalar) -> ExactArray:
        """The same entry everywhere."""
        return cls(((value,) * shape[1],) * shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def entries(self) -> tuple[Scalar, ...]:
        """All entries, row by row."""
        return tuple(entry for row in self.rows for entry in row)

    @property
    def is_number(self) -> bool:
        """One entry."""
        return self.shape == (1, 1)

    @property
    def is_vector(self) -> bool:
        """One row or one column, of more than one entry."""
        return 1 in self.shape and not self.is_number

    def names(self) -> frozenset[str]:
        """The parameters in its entries."""
        return frozenset().union(*(entry.names() for entry in self.entries))

    def mapped(self, function: Callable[[Scalar], Scalar]) -> ExactArray:
        """A function of each entry."""
        return ExactArray(tuple(tuple(map(function, row)) for row in self.rows))

    def transposed(self) -> ExactArray:
        """Rows as columns."""
        return ExactArray(tuple(zip(*self.rows, strict=True)))

    def scaled(self, factor: Scalar) -> ExactArray:
        """A multiple."""
        return self.mapped(lambda entry: factor * entry)

    def combined(
        self, other: ExactArray, operation: Callable[[Scalar, Scalar], Scalar]
    ) -> ExactArray:
        """Entry by entry; both have one shape."""
        if self.shape != other.shape:
            raise MisshapenError(
                f"{in_words(self.shape)} and {in_words(other.shape)} do not fit together"
            )
        rows = [
            [operation(x, y) for x, y in zip(row, other_row, strict=True)]
            for row, other_row in zip(self.rows, other.rows, strict=True)
        ]
        return ExactArray.of_rows(rows)

    def plus(self, other: ExactArray) -> ExactArray:
        """The sum."""
        return self.combined(other, lambda x, y: x + y)

    def minus(self, other: ExactArray) -> ExactArray:
        """The difference."""
        return self.combined(other, lambda x, y: x - y)

    def times(self, other: ExactArray) -> ExactArray:
        """The product of matrices; a number multiplies every entry."""
        if self.is_number:
            return other.scaled(self.entries[0])
        if other.is_number:
            return self.scaled(other.entries[0])
        if self.shape[1] != other.shape[0]:
            raise MisshapenError(
                f"{in_words(self.shape)} times {in_words(other.shape)}: the inner sizes differ"
            )
        columns = other.transposed().rows
        return ExactArray.of_rows(
            [[dot(row, column) for column in columns] for row in self.rows]
        )

    def softmax(self) -> ExactArray:
        """Of each row; of a vector, over its entries."""
        if self.shape[1] == 1 and self.shape[0] > 1:
            return self.transposed().softmax().transposed()
        rows = []
        for row in self.rows:
            exponentials = [scalars.exp(entry) for entry in row]
            total = total_of(exponentials)
            rows.append([entry / total for entry in exponentials])
        return ExactArray.of_rows(rows)

    def causal_softmax(self) -> ExactArray:
        """Of each row over the entries up to the diagonal; those behind it are 0."""
        rows = []
        for place, row in enumerate(self.rows):
            seen = ExactArray((row[: place + 1],)).softmax().entries
            rows.append([*seen, *([ZERO] * (len(row) - len(seen)))])
        return ExactArray.of_rows(rows)

    def reversed(self) -> ExactArray:
        """Rows and columns from the last to the first."""
        return ExactArray(tuple(row[::-1] for row in self.rows[::-1]))

    def squared_length(self) -> Scalar:
        """The sum of the squares of all entries."""
        return dot(self.entries, self.entries)


def total_of(entries: Sequence[Scalar]) -> Scalar:
    """The sum."""
    return reduce(lambda x, y: x + y, entries, ZERO)


def dot(left: Sequence[Scalar], right: Sequence[Scalar]) -> Scalar:
    """The sum of products."""
    return total_of([x * y for x, y in zip(left, right, strict=True)])


def in_words(shape: tuple[int, int]) -> str:
    """'a 2 x 3 matrix'."""
    if shape == (1, 1):
        return "a number"
    if shape[1] == 1:
        return f"a vector of {shape[0]} entries"
    return f"a {shape[0]} x {shape[1]} matrix"
