"""The certified error is held against exact rational arithmetic, not against another SVD."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from headwright.errors import ContradictionError, HeadwrightError, InputError
from headwright.lowrank import (
    error_upper_bound,
    singular_values,
    spectral_norm_upper_bound,
    truncate,
)
from headwright.numerics import spectral_norm
from headwright.numerics.singular_values import SingularValues, decompose
from tests.lowrank.exactly import (
    bounds_norm,
    exact,
    nasty_matrices,
    ordinary_matrices,
    remainder,
    true_singular_values,
)

# The certificate is true.


@given(nasty_matrices(), st.data())
@settings(deadline=None, max_examples=150)
def test_the_certified_error_is_never_below_the_true_error(
    A: np.ndarray, data: st.DataObject
) -> None:
    result = truncate(A, rank=data.draw(st.integers(1, min(A.shape))))
    assert bounds_norm(
        result.error_upper_bound, remainder(A, result.left, result.right)
    )


@given(nasty_matrices())
@settings(deadline=None, max_examples=150)
def test_the_bound_of_a_spectral_norm_is_never_below_it(A: np.ndarray) -> None:
    assert bounds_norm(spectral_norm_upper_bound(A), exact(A))


@given(nasty_matrices(), st.data())
@settings(deadline=None, max_examples=60)
def test_factors_of_any_origin_and_size_are_certified(
    A: np.ndarray, data: st.DataObject
) -> None:
    r = data.draw(st.integers(1, 3))
    factors = st.floats(-1e160, 1e160, allow_subnormal=True)
    left = data.draw(hnp.arrays(np.float64, (A.shape[0], r), elements=factors))
    right = data.draw(hnp.arrays(np.float64, (r, A.shape[1]), elements=factors))
    try:
        bound = error_upper_bound(A, left, right)
    except InputError as error:
        assert "too large" in str(error)  # 1e160 * 1e160 is no double
        return
    assert bounds_norm(bound, remainder(A, left, right))


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_rounding_errors_alone_are_covered_when_the_rank_is_exact(
    shape: tuple[int, int],
) -> None:
    rng = np.random.default_rng(1)
    A = rng.integers(-9, 10, (shape[0], 3)) @ rng.integers(-9, 10, (3, shape[1])) / 7.0
    result = truncate(A, rank=3)
    assert bounds_norm(
        result.error_upper_bound, remainder(A, result.left, result.right)
    )
    assert 0.0 < result.error_upper_bound < 1e-12 * result.frobenius


def test_the_exact_judge_of_these_tests_can_say_no() -> None:
    assert bounds_norm(5.0, exact(np.array([[3.0], [4.0]])))
    assert not bounds_norm(np.nextafter(5.0, 0.0), exact(np.array([[3.0], [4.0]])))
    assert not bounds_norm(0.0, exact(np.array([[5e-324]])))
    assert not bounds_norm(1.0, exact(np.array([[1.0, 1e-200], [0.0, 1.0]])))


# The certificate does not rest on what it does not trust.

WRONG_SVDS: dict[
    str, Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any, Any]]
] = {
    "noise": lambda U, s, Vt: (np.cos(np.arange(U.size)).reshape(U.shape), s, Vt),
    "zeros": lambda U, s, Vt: (0 * U, 0 * s, 0 * Vt),
    "order reversed": lambda U, s, Vt: (
        U[:, ::-1].copy(),
        s[::-1].copy(),
        Vt[::-1].copy(),
    ),
    "values too small": lambda U, s, Vt: (U, s / 1e6, Vt),
    "a sign lost": lambda U, s, Vt: (np.abs(U), s, Vt),
}


@pytest.mark.parametrize("wrong", WRONG_SVDS)
def test_a_wrong_svd_still_gets_a_valid_bound(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    svd = np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda X, **kw: WRONG_SVDS[wrong](*svd(X, **kw))
    )
    A = np.random.default_rng(0).standard_normal((6, 5))
    result = truncate(A, rank=2)
    assert bounds_norm(
        result.error_upper_bound, remainder(A, result.left, result.right)
    )
    assert (
        result.error_upper_bound > 1.01 * true_singular_values(A)[2]
    )  # the guess was bad, and it shows


def test_singular_values_that_contradict_what_was_proved_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    svd = np.linalg.svd

    def larger(
        X: np.ndarray, **options: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, s, Vt = svd(X, **options)  # type: ignore[call-overload]
        return U, s * 1e50, Vt

    monkeypatch.setattr(np.linalg, "svd", larger)
    with pytest.raises(
        ContradictionError, match="the distance from A to rank 2: at most"
    ):
        truncate(np.random.default_rng(0).standard_normal((6, 5)), rank=2)


def test_a_bound_below_what_a_vector_is_stretched_by_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    A = np.random.default_rng(0).standard_normal((6, 5))
    found = decompose(A)
    values = found.values * 1.001  # as if that were proved
    wrong = replace(
        found,
        left=np.cos(np.arange(found.left.size)).reshape(found.left.shape),
        enclosed=SingularValues(values, values),
    )
    monkeypatch.setattr("headwright.lowrank.decompose", lambda _: wrong)
    with pytest.raises(ContradictionError, match="the norm of A - B: at most"):
        truncate(A, rank=2)


def test_a_tolerance_is_met_even_if_the_svd_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    svd = np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda X, **kw: WRONG_SVDS["noise"](*svd(X, **kw))
    )
    A = np.random.default_rng(0).standard_normal((6, 5))
    result = truncate(A, tolerance=0.5)
    assert result.error_upper_bound <= 0.5
    assert bounds_norm(0.5, remainder(A, result.left, result.right))


def half(X: np.ndarray) -> np.ndarray:
    return np.asarray(X / 2)


def refuse(X: np.ndarray) -> np.ndarray:
    raise np.linalg.LinAlgError("not positive definite")


@pytest.mark.parametrize(
    "wrong", [half, np.zeros_like, np.ones_like, lambda X: X * np.nan, refuse]
)
def test_a_wrong_cholesky_still_gets_a_valid_bound(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[np.ndarray], np.ndarray]
) -> None:
    monkeypatch.setattr(np.linalg, "cholesky", wrong)
    A = np.random.default_rng(0).standard_normal((6, 5))
    bound = spectral_norm_upper_bound(A)
    assert bounds_norm(bound, exact(A))
    assert bound <= np.linalg.norm(A) * (
        1 + 1e-12
    )  # never worse than the Frobenius norm


@pytest.mark.parametrize("guess", [-1.0, 0.0, 1e-9, 5.0, 1e9, np.inf, np.nan])
def test_a_wrong_eigenvalue_still_gets_a_valid_bound(
    monkeypatch: pytest.MonkeyPatch, guess: float
) -> None:
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda G: np.array([guess]))
    A = np.random.default_rng(0).standard_normal((6, 5))
    bound = spectral_norm_upper_bound(A)
    assert bounds_norm(bound, exact(A))
    assert bound <= np.linalg.norm(A) * (1 + 1e-12)


@pytest.mark.parametrize(
    "wrong", [half, np.zeros_like, np.ones_like, np.eye(5).__add__]
)
def test_a_wrong_cholesky_of_a_wrong_eigenvalue_still_gets_a_valid_bound(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[np.ndarray], np.ndarray]
) -> None:
    right = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda G: right(G) / 2)
    monkeypatch.setattr(np.linalg, "cholesky", wrong)
    A = np.random.default_rng(0).standard_normal((60, 5))
    assert bounds_norm(spectral_norm_upper_bound(A), exact(A))


def test_a_matrix_product_that_errs_as_far_as_it_may_is_covered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gram, calls = spectral_norm._gram, list[None]()

    def erring(blocks: Iterable[np.ndarray]) -> spectral_norm.GramBounds:
        calls.append(None)
        bounds = gram(blocks)
        # The Gram matrix of A; the second is the check of Cholesky's.
        if len(calls) == 1:
            G = bounds.computed
            missed = Fraction(float(np.linalg.norm(G))) / 999
            return bounds._replace(computed=G * (1 - 1e-3), error=missed)
        return bounds

    monkeypatch.setattr(spectral_norm, "_gram", erring)
    A = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 6.0)) + np.eye(8, 5)
    assert bounds_norm(spectral_norm_upper_bound(A), exact(A))


def test_a_cholesky_check_whose_product_errs_as_far_as_it_may_is_covered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    eigenvalues, gram, seen = (
        np.linalg.eigvalsh,
        spectral_norm._gram,
        list[np.ndarray](),
    )

    def nothing(M: np.ndarray) -> np.ndarray:
        seen.append(M.copy())
        return np.zeros_like(M)

    def erring(blocks: Iterable[np.ndarray]) -> spectral_norm.GramBounds:
        if not seen:
            return gram(blocks)
        # It says that 0 0^T is all of M.
        error = Fraction(float(np.linalg.norm(seen[-1]))) * 2
        return spectral_norm.GramBounds(seen[-1], Fraction(0), error)

    monkeypatch.setattr(np.linalg, "eigvalsh", lambda G: eigenvalues(G) / 2)
    monkeypatch.setattr(np.linalg, "cholesky", nothing)
    monkeypatch.setattr(spectral_norm, "_gram", erring)
    A = np.random.default_rng(0).standard_normal((60, 5))
    assert bounds_norm(spectral_norm_upper_bound(A), exact(A))


@pytest.mark.parametrize("shape", [(300, 4), (4, 300)])
def test_no_matrix_larger_than_the_smaller_side_is_factored(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    cholesky, seen = np.linalg.cholesky, list[tuple[int, ...]]()

    def watched(M: np.ndarray) -> np.ndarray:
        seen.append(M.shape)
        return np.asarray(cholesky(M))

    monkeypatch.setattr(np.linalg, "cholesky", watched)
    A = np.random.default_rng(0).standard_normal(shape)
    spectral_norm_upper_bound(A)
    error_upper_bound(A, A[:, :2], np.zeros((2, shape[1])))
    assert seen == [(4, 4), (4, 4)]


def test_an_eigenvalue_guessed_a_little_low_is_raised_until_it_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda G: right(G) * (1 - 1e-7))
    A = np.random.default_rng(0).standard_normal((6, 5))
    bound = spectral_norm_upper_bound(A)
    assert bounds_norm(bound, exact(A))
    assert bound < float(true_singular_values(A)[0]) * (1 + 1e-5)


def test_an_svd_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(X: np.ndarray, **kw: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", fail)
    with pytest.raises(HeadwrightError, match=r"shape \(3, 3\).*did not converge"):
        truncate(np.diag([1.0, 2.0, 3.0]), rank=1)
    with pytest.raises(HeadwrightError, match="did not converge"):
        singular_values(np.eye(2))


# The certificate is tight.


@given(ordinary_matrices(), st.data())
@settings(deadline=None, max_examples=40)
def test_the_bound_is_within_a_hundred_millionth_of_the_best_error(
    A: np.ndarray, data: st.DataObject
) -> None:
    rank = data.draw(st.integers(1, min(A.shape) - 1))
    result = truncate(A, rank=rank)
    best = true_singular_values(A)[rank]
    rounding = (
        1e-13 * result.frobenius
    )  # a remainder near 0 is known as well as A's last digits say
    assert best <= result.error_upper_bound <= best * (1 + 1e-8) + rounding


@pytest.mark.parametrize("exponent", [-1000, -300, -65, -3, 40, 65, 300, 1000])
def test_the_scale_of_the_matrix_changes_nothing_but_the_scale(exponent: int) -> None:
    A = np.random.default_rng(3).standard_normal((9, 7))
    here, there = truncate(A, rank=3), truncate(A * 2.0**exponent, rank=3)
    shift = 2.0**exponent
    assert there.error_upper_bound / shift == pytest.approx(
        here.error_upper_bound, rel=1e-12
    )
    assert there.guarantee / shift == pytest.approx(here.guarantee, rel=1e-14)
    assert there.singular_values / shift == pytest.approx(
        here.singular_values, rel=1e-12
    )
    assert there.energy == pytest.approx(here.energy, rel=1e-12)


def test_a_remainder_far_above_the_matrix_is_bounded_at_its_own_scale() -> None:
    column = np.full(
        (3, 1), 2.0**60
    )  # the product is 2^120 in every entry: 3 * 2^120 in norm
    assert (
        3 * 2.0**120 - 1
        <= error_upper_bound(np.eye(3), column, column.T)
        < 3.00000001 * 2.0**120
    )


def test_a_large_norm_bound_is_tight_and_its_work_is_cut_into_blocks() -> None:
    A = np.random.default_rng(0).standard_normal((3_000, 400))
    bound, true = spectral_norm_upper_bound(A), np.linalg.norm(A, 2)
    assert true * (1 - 1e-13) <= bound <= true * (1 + 1e-9)


# The scalars, which carry the proof from one line to the next.


@given(st.fractions(min_value=0), st.integers(-1200, 1200))
def test_roots_and_doubles_are_rounded_up_and_by_little(
    x: Fraction, shift: int
) -> None:
    y = x * Fraction(2) ** shift
    root = spectral_norm.sqrt_up(y)
    assert y <= root**2 <= y * (1 + Fraction(1, 2**60))
    if y < 2**1023:
        up = spectral_norm.float_up(y)
        assert up >= y
        assert up == 0.0 or Fraction(np.nextafter(up, 0.0)) < y


def test_a_root_that_is_a_whole_number_is_found_exactly() -> None:
    assert spectral_norm.sqrt_up(Fraction(49, 4)) == Fraction(7, 2)
    assert spectral_norm.sqrt_up(Fraction(0)) == 0
    with pytest.raises(InputError, match="too large"):
        spectral_norm.float_up(Fraction(2) ** 1024)
