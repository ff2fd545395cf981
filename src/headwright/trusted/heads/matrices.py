"""Exact matrices: rows of fractions, multiplied as whole numbers."""

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import common_denominator
from headwright.trusted.keys import Reject, affordable
from headwright.trusted.numbers import sqrt_above

NONE = Fraction(0)
Rows = Sequence[Sequence[Fraction]]


def whole_numbers(rows: Rows) -> tuple[list[list[int]], int]:
    """Whole numbers, and what to divide them by."""
    below = common_denominator(x for row in rows for x in row)
    return [[x.numerator * (below // x.denominator) for x in row] for row in rows], below


def product(A: Rows, B: Rows) -> list[list[Fraction]]:
    """A B^T."""
    (left, a), (right, b) = whole_numbers(A), whole_numbers(B)
    if len({len(row) for row in (*left, *right)}) > 1:
        raise Reject("matrices do not fit together")
    return [[Fraction(sum(map(mul, row, column)), a * b) for column in right] for row in left]


def mix(factors: Sequence[Fraction], rows: Rows) -> list[Fraction]:
    """sum_j factors_j rows_j."""
    return product([factors], list(zip(*rows, strict=True)))[0]


def plus(x: Sequence[Fraction], factor: int, y: Sequence[Fraction]) -> list[Fraction]:
    """x + factor y."""
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """An inner product."""
    return product([x], [y])[0][0]


def length(x: Sequence[Fraction]) -> Fraction:
    """At least the length of a vector."""
    return sqrt_above(dot(x, x))


def spectral(A: Rows, B: Rows, most: Fraction) -> bool:
    """|G|_2 <= most for G = L^T R, A = L L^T, B = R R^T.

    With u = L^T c, |G^T u|^2 = c^T A B A c and |u|^2 = c^T A c: most^2 A - A B A must have no
    negative eigenvalue, which elimination in whole numbers tells (// is exact).
    """
    ABA = product(A, product(A, B))  # all of these are symmetric
    size = range(len(A))
    N, before = whole_numbers([[most**2 * A[i][j] - ABA[i][j] for j in size] for i in size])[0], 1
    affordable(len(N) ** 4 * max(x.bit_length() for row in N for x in row) >> 2)
    while N:
        at = max(range(len(N)), key=lambda i: N[i][i])
        top, others = N.pop(at), [j for j in range(len(N) + 1) if j != at]
        if top[at] <= 0:
            return not any(map(any, [top, *N]))  # with no diagonal entry above 0, it must be 0
        N = [[(top[at] * row[j] - row[at] * top[j]) // before for j in others] for row in N]
        before = top[at]
    return True
