"""Exact matrices: spectral norms at their borders, where elimination meets zeros."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.certificates.exact.heads.matrices import (
    inner_products,
    spectral_norm_at_most,
)
from headwright.certificates.exact.keys import Reject

HAIR = Fraction(1, 10**30)
EYE = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]


def matrix(*rows: tuple[int, ...]) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in rows]


@pytest.mark.parametrize(
    ("A", "B", "norm"),
    [
        (
            EYE,
            matrix((3, 3, 3), (3, 3, 3), (3, 3, 3)),
            3,
        ),  # G is 1 everywhere: 9 I - B is singular
        (
            matrix((1, 0), (0, 1)),
            matrix((0, 0), (0, 1)),
            1,
        ),  # what is left is 0 at its end
        (matrix((1, 0), (0, 1)), matrix((1, 0), (0, 0)), 1),
        (matrix((1, 0, 0), (0, 4, 0), (0, 0, 9)), EYE, 3),
        (matrix((1,)), matrix((4,)), 2),
        (EYE, EYE, 1),  # nothing is left
    ],
)
def test_a_norm_is_at_most_itself_and_not_at_most_less(
    A: list[list[Fraction]], B: list[list[Fraction]], norm: int
) -> None:
    assert spectral_norm_at_most(A, B, Fraction(norm))
    assert spectral_norm_at_most(A, B, norm + HAIR)
    assert not spectral_norm_at_most(A, B, norm - HAIR)


def test_nothing_is_at_most_anything() -> None:
    assert spectral_norm_at_most(matrix((1,)), matrix((0,)), Fraction(1))
    assert spectral_norm_at_most(matrix((0,)), matrix((1,)), Fraction(0))


@pytest.mark.parametrize(
    ("A", "B"), [([(1, 2)], [(1,)]), ([(1,)], [(1, 2)]), ([(1, 2), (1,)], [(1, 2)])]
)
def test_matrices_that_do_not_fit_together_are_refused(
    A: list[tuple[int, ...]], B: list[tuple[int, ...]]
) -> None:
    with pytest.raises(Reject, match="do not fit together"):
        inner_products(matrix(*A), matrix(*B))
