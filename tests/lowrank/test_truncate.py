"""What a truncation says of itself; tolerances; large matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.lowrank import (
    energy,
    singular_values,
    spectral_norm_upper_bound,
    truncate,
)
from tests.lowrank.exactly import (
    bounds_norm,
    exact,
    nasty_matrices,
    ordinary_matrices,
    remainder,
    true_singular_values,
)


def decaying(n: int, d: int, power: float, seed: int = 0) -> np.ndarray:
    """Singular values 1, 2^-power, 3^-power, ... in random directions."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, d))).Q
    V = np.linalg.qr(rng.standard_normal((d, d))).Q
    return np.asarray((U * np.arange(1, d + 1) ** -power) @ V.T)


# What the fields say.


@given(ordinary_matrices())
@settings(deadline=None, max_examples=40)
def test_squared_singular_values_add_up_to_the_squared_frobenius_norm(
    A: np.ndarray,
) -> None:
    squared = float(sum(x * x for row in exact(A) for x in row))
    assert np.sum(singular_values(A) ** 2) == pytest.approx(squared, rel=1e-12)
    result = truncate(A, rank=1)
    assert squared <= Fraction(result.frobenius) ** 2 * (1 + Fraction(1, 2**50))
    assert result.frobenius**2 == pytest.approx(squared, rel=1e-12)


@given(nasty_matrices(), st.data())
@settings(deadline=None, max_examples=60)
def test_the_guarantee_is_never_below_the_next_singular_value(
    A: np.ndarray, data: st.DataObject
) -> None:
    rank = data.draw(st.integers(1, min(A.shape)))
    result = truncate(A, rank=rank)
    whole = sum(x * x for row in exact(A) for x in row)
    assert (
        Fraction(result.guarantee) ** 2 * (rank + 1) >= whole
    )  # the promise itself, exactly
    assert Fraction(result.frobenius) ** 2 >= whole
    assert result.next_singular_value <= result.guarantee * (1 + 1e-12)


@given(ordinary_matrices(), st.data())
@settings(deadline=None, max_examples=25)
def test_energy_is_the_share_of_the_squares_that_is_kept(
    A: np.ndarray, data: st.DataObject
) -> None:
    rank = data.draw(st.integers(1, min(A.shape)))
    result = truncate(A, rank=rank)
    missed = sum(x * x for row in remainder(A, result.left, result.right) for x in row)
    whole = sum(x * x for row in exact(A) for x in row)
    assert result.energy == pytest.approx(float(1 - missed / whole), abs=1e-12)
    assert energy(result.singular_values)[rank - 1] == result.energy


def test_energy_of_tiny_and_huge_values_does_not_overflow() -> None:
    for scale in (1e-320, 1e-200, 1.0, 1e200, 1e307):
        assert energy(np.array([2.0, 1.0]) * scale) == pytest.approx(
            [0.8, 1.0], rel=1e-3
        )
        assert energy(np.array([2.0]) * scale, frobenius=4 * scale) == pytest.approx(
            [0.25], rel=1e-3
        )


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (1, 1), (1, 5), (5, 1)])
def test_full_rank_is_the_matrix_itself_with_error_zero(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(0).standard_normal(shape)
    result = truncate(A, rank=min(shape))
    assert (result.error_upper_bound, result.method, result.energy) == (
        0.0,
        "exact",
        1.0,
    )
    assert np.array_equal(result.left @ result.right, A)
    assert result.left.shape == (shape[0], result.rank)
    assert not np.shares_memory(result.left, A)
    assert not np.shares_memory(result.right, A)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (1, 1), (1, 4)])
def test_the_zero_matrix_is_rank_one_with_error_zero(shape: tuple[int, int]) -> None:
    for result in (
        truncate(np.zeros(shape), rank=1),
        truncate(np.zeros(shape), tolerance=0),
    ):
        assert (
            result.rank,
            result.error_upper_bound,
            result.guarantee,
            result.energy,
        ) == (1, 0.0, 0.0, 1.0)
        assert np.array_equal(result.left @ result.right, np.zeros(shape))
    assert spectral_norm_upper_bound(np.zeros(shape)) == 0.0


def test_tied_singular_values_are_cut_with_the_error_of_the_tie() -> None:
    hadamard = np.array(
        [[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    )
    for rank in (1, 2, 3):
        result = truncate(hadamard, rank=rank)
        assert 2.0 <= result.error_upper_bound < 2.0 + 1e-8
        assert bounds_norm(
            result.error_upper_bound, remainder(hadamard, result.left, result.right)
        )


def test_the_input_is_left_alone() -> None:
    A = np.random.default_rng(0).standard_normal((6, 5)) * 1e200
    before = A.copy()
    truncate(A, rank=2)
    assert np.array_equal(A, before)


# Tolerance.


@given(nasty_matrices(), st.floats(0, 2))
@settings(deadline=None, max_examples=80)
def test_a_tolerance_is_met_certainly(A: np.ndarray, share: float) -> None:
    tolerance = share * float(np.max(np.abs(A)))
    result = truncate(A, tolerance=tolerance)
    assert result.error_upper_bound <= tolerance
    assert bounds_norm(tolerance, remainder(A, result.left, result.right))


@given(ordinary_matrices(), st.floats(0.01, 1.2))
@settings(deadline=None, max_examples=40)
def test_no_smaller_rank_could_meet_the_tolerance(A: np.ndarray, share: float) -> None:
    values = true_singular_values(A)
    tolerance = share * float(values[0])
    result = truncate(A, tolerance=tolerance)
    if result.rank > 1:
        assert values[result.rank - 1] * (1 + 1e-8) > tolerance


def test_a_tolerance_equal_to_tied_values_is_not_met_by_dropping_them() -> None:
    result = truncate(np.eye(200), tolerance=1.0)
    assert (result.rank, result.error_upper_bound) == (
        200,
        0.0,
    )  # 1 is not certified to be within 1
    assert truncate(np.eye(200), tolerance=1.0 + 1e-8).rank == 1


@pytest.mark.parametrize("shape", [(300, 80), (80, 300)])
def test_every_rank_has_an_error_hardly_above_the_best(shape: tuple[int, int]) -> None:
    A = decaying(300, 80, 1.0)
    A = A if shape == A.shape else A.T
    for rank in (1, 10, 79):
        result = truncate(A, rank=rank)
        true = float(np.linalg.norm(A - result.left @ result.right, 2))
        assert true * (1 - 1e-12) <= result.error_upper_bound
        assert result.error_upper_bound <= (1 + 1e-8) / (rank + 1)
