"""Exact matrices: rows of fractions, multiplied as whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from headwright.trusted.keys import Reject
from headwright.trusted.numbers import sqrt_above

NONE = Fraction(0)
Rows = Sequence[Sequence[Fraction]]


def whole_numbers(rows: Rows) -> tuple[list[list[int]], int]:
    """Whole numbers, and what to divide them by."""
    below = math.lcm(*(x.denominator for row in rows for x in row))
    return [[x.numerator * (below // x.denominator) for x in row] for row in rows], below


def product(A: Rows, B: Rows) -> list[list[Fraction]]:
    """A B^T."""
    (left, a), (right, b) = whole_numbers(A), whole_numbers(B)
    if len({len(row) for row in (*left, *right)}) > 1:
        raise Reject("matrices do not fit together")
    return [[Fraction(sum(map(mul, row, column)), a * b) for column in right] for row in left]


def turned(rows: Rows) -> Rows:
    """Rows as columns."""
    return list(zip(*rows, strict=True))


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """An inner product."""
    return product([x], [y])[0][0]


def length(x: Sequence[Fraction]) -> Fraction:
    """From above."""
    return sqrt_above(dot(x, x))
