"""Quantiles: as ball arithmetic and SciPy give them, from one draw to a million."""

from __future__ import annotations

import pytest
from flint import arb
from scipy.special import betaincinv, stdtrit

from headwright.numerics.quantiles import (
    beta_quantile,
    incomplete_beta,
    student_quantile,
)

TAILS = (0.005, 0.025, 0.975, 0.9995)


@pytest.mark.parametrize(
    ("a", "b", "x"),
    [(1, 3, 0.5), (0.5, 0.5, 0.1), (3, 10, 0.2), (50, 2, 0.99), (400, 700, 0.37)],
)
def test_the_incomplete_beta_function_is_that_of_ball_arithmetic(
    a: float, b: float, x: float
) -> None:
    exact = float(arb(x).beta_lower(a, b, True))
    assert incomplete_beta(a, b, x) == pytest.approx(exact, rel=1e-12)


def test_it_is_a_distribution_function() -> None:
    assert incomplete_beta(2, 3, 0) == 0
    assert incomplete_beta(2, 3, 1) == 1
    values = [incomplete_beta(2, 3, step / 100) for step in range(101)]
    assert values == sorted(values)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize(
    ("a", "b"), [(1, 1), (1, 100), (3, 8), (68701, 31300), (1, 10**6), (5e5, 5e5)]
)
def test_quantiles_of_the_beta_distribution(a: float, b: float, tail: float) -> None:
    assert beta_quantile(a, b, tail) == pytest.approx(betaincinv(a, b, tail), rel=1e-9)


@pytest.mark.parametrize("probability", [0.75, 0.975, 0.9995])
@pytest.mark.parametrize("freedom", [1, 2, 7, 99, 99_999])
def test_quantiles_of_student(freedom: int, probability: float) -> None:
    expected = stdtrit(freedom, probability)
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


def test_the_median_of_student_is_zero() -> None:
    assert student_quantile(5, 0.5) == 0
