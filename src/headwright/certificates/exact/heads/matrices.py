"""Exact matrices: rows of fractions, multiplied as whole numbers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from operator import mul

from headwright.certificates.exact.keys import Reject, require_affordable
from headwright.certificates.exact.numbers import sqrt_above
from headwright.certificates.exact.values import common_denominator

ZERO = Fraction(0)
Rows = Sequence[Sequence[Fraction]]


def whole_numbers(rows: Rows) -> tuple[list[list[int]], int]:
    """Whole numbers, and what to divide them by."""
    denominator = common_denominator(chain.from_iterable(rows))
    whole_rows = []
    for row in rows:
        whole_rows.append([x.numerator * (denominator // x.denominator) for x in row])
    return whole_rows, denominator


def inner_products(A: Rows, B: Rows) -> list[list[Fraction]]:
    """A B^T: of each row of A with each row of B."""
    whole_A, denominator_A = whole_numbers(A)
    whole_B, denominator_B = whole_numbers(B)
    if len({len(row) for row in (*whole_A, *whole_B)}) > 1:
        raise Reject("matrices do not fit together")
    denominator = denominator_A * denominator_B
    products = []
    for a in whole_A:
        products.append([Fraction(sum(map(mul, a, b)), denominator) for b in whole_B])
    return products


def weighted_sum(weights: Sequence[Fraction], rows: Rows) -> list[Fraction]:
    """sum_j weights_j rows_j."""
    columns = list(zip(*rows, strict=True))
    return inner_products([weights], columns)[0]


def add_multiple(
    x: Sequence[Fraction], factor: int, y: Sequence[Fraction]
) -> list[Fraction]:
    """x + factor y."""
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """An inner product."""
    return inner_products([x], [y])[0][0]


def length_above(x: Sequence[Fraction]) -> Fraction:
    """At least the length of a vector."""
    return sqrt_above(dot(x, x))


def trace_of_product(A: Rows, B: Rows) -> Fraction:
    """sum_ij A_ij B_ij: the squared Frobenius norm of L^T R for A = L L^T, B = R R^T.

    |L^T R|_F^2 = trace(R^T L L^T R) = trace(L L^T R R^T), and both are symmetric.
    """
    return sum(map(dot, A, B), ZERO)


def spectral_norm_at_most(A: Rows, B: Rows, most: Fraction) -> bool:
    """|G|_2 <= most for G = L^T R, A = L L^T, B = R R^T.

    With u = L^T c, |G^T u|^2 = c^T A B A c and |u|^2 = c^T A c: most^2 A - A B A must have no
    negative eigenvalue.
    """
    # inner_products(X, Y) is X Y^T, and A, B and A B A are symmetric: A (A B)^T = A B A.
    AB = inner_products(A, B)
    ABA = inner_products(A, AB)
    difference = []
    for row_A, row_ABA in zip(A, ABA, strict=True):
        difference.append(
            [most**2 * a - b for a, b in zip(row_A, row_ABA, strict=True)]
        )
    # A denominator above 0 changes no sign.
    whole_difference, _ = whole_numbers(difference)
    return _is_positive_semidefinite(whole_difference)


def _is_positive_semidefinite(N: list[list[int]]) -> bool:
    """Fraction-free elimination of a symmetric matrix: every division is exact (Bareiss)."""
    # About n^3 / 3 products, of numbers that grow to n times as many digits: n^4 longest / 4 in all.
    longest = max(x.bit_length() for x in chain.from_iterable(N))
    require_affordable(len(N) ** 4 * longest >> 2)
    pivot_before = 1
    while N:
        # A positive semidefinite matrix has its largest entry on the diagonal; eliminating it leaves
        # one that is positive semidefinite if and only if this one is (Schur complement).
        diagonal = [N[i][i] for i in range(len(N))]
        pivot = max(diagonal)
        at = diagonal.index(pivot)
        pivot_row = N[at]
        if pivot <= 0:
            # Without a diagonal entry above 0 it is positive semidefinite only if it is 0.
            return not any(map(any, N))
        # Row i less its multiple of the pivot's row, times the pivot; over the pivot before, by which
        # every entry can be divided (each is a minor of the first matrix).
        rest = [i for i in range(len(N)) if i != at]
        smaller = []
        for i in rest:
            row = N[i]
            smaller.append(
                [
                    (pivot * row[j] - row[at] * pivot_row[j]) // pivot_before
                    for j in rest
                ]
            )
        N = smaller
        pivot_before = pivot
    return True
