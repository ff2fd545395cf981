"""What is counted, piece by piece, as exact numbers in the parameters of the exercise.

A piece is an array of numbers that is kept (a weight matrix, the keys of a cache), or a product of two matrices that is
computed. Of an array its entries are counted, of a product its multiply-adds, each as two operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pydantic import Field

from headwright.errors import InputError
from headwright.grading import scalars
from headwright.grading.exact_arrays import ArrayReader
from headwright.grading.fields import Ratio, Source, Strict, parsed
from headwright.grading.kinds.counting.units import Quantity
from headwright.grading.scalars import Scalar

OPERATIONS = 2  # of a multiply-add


class CountedPiece(Strict):
    """An array by its sizes; or a product of two matrices, rows x inner x columns."""

    title: str
    array: tuple[Source, ...] = ()
    product: tuple[Source, Source, Source] | None = None
    times: Source = "1"  # how many there are
    bytes: Source = "1"  # of one number


class Counting(Strict):
    """The table [counting]: what is counted, and how near a number that is written out must be."""

    unit: Quantity
    pieces: dict[str, CountedPiece] = Field(min_length=1)
    at: dict[str, dict[str, Source]] = Field(
        default_factory=dict
    )  # the total for other values of parameters
    mistakes: dict[str, Source] = Field(
        default_factory=dict
    )  # words for a wrong number, and the number
    includes: tuple[str, ...] = ()  # what 'with' may be said of: it is counted
    leaves_out: tuple[str, ...] = ()  # what 'without' may be said of: it is not
    within: Ratio | None = None  # relative
    large: tuple[str, ...] = ()  # parameters that grow: 'about' is about their limit
    one_term: bool = False  # an answer is a single term: which one dominates


@dataclass(frozen=True)
class Counts:
    """The pieces as numbers, and their sum."""

    titles: Mapping[str, str]
    pieces: Mapping[str, Scalar]

    @property
    def total(self) -> Scalar:
        """The sum of all pieces."""
        return reduce(lambda x, y: x + y, self.pieces.values())


def count_pieces(table: Counting, reader: ArrayReader) -> Counts:
    """Every piece as a number."""
    pieces = {
        name: count_piece(name, piece, table.unit, reader)
        for name, piece in table.pieces.items()
    }
    titles = {name: piece.title for name, piece in table.pieces.items()}
    return Counts(titles, pieces)


def count_piece(
    name: str, piece: CountedPiece, unit: Quantity, reader: ArrayReader
) -> Scalar:
    """One piece: sizes multiplied, times how many there are; a product counts twice its multiply-adds."""
    sizes = piece.array if piece.product is None else piece.product
    if not sizes or (piece.array and piece.product):
        raise InputError(
            f"counting.pieces.{name}: give the sizes of an array, or the rows, inner size and columns of a product"
        )
    if (piece.product is not None) != (unit == "FLOPs"):
        needed = "product" if unit == "FLOPs" else "array"
        raise InputError(
            f"counting.pieces.{name}: in {unit} count pieces with {needed} = [...]"
        )
    factors = [*sizes, piece.times, piece.bytes]
    count = scalars.number(1)
    for factor in factors:
        count = count * reader.scalar(parsed(factor))
    return count * OPERATIONS if piece.product is not None else count
