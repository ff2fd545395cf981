"""Newton's method: minima of convex functions, and slopes that cancel where constraints contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.optimisation.newton import minimise_maximum, minimise_smooth
from tests.optimisation.test_sqp import InAllBalls


@dataclass(frozen=True, eq=False)
class LogCosh:
    """sum_i ln cosh(x_i - c_i): its slope saturates, so that full Newton steps from afar diverge."""

    point: np.ndarray
    c: np.ndarray

    @property
    def value(self) -> float:
        z = np.abs(self.point - self.c)
        return float((z + np.log1p(np.exp(-2 * z))).sum())

    @property
    def slope(self) -> np.ndarray:
        return np.tanh(self.point - self.c)

    @property
    def hessian(self) -> np.ndarray:
        return np.diag(1 - self.slope**2)


@given(st.integers(0, 10**6), st.floats(0.1, 5))
def test_the_minimum_is_found_from_afar(seed: int, distance: float) -> None:
    c = np.random.default_rng(seed).normal(size=3)
    end = minimise_smooth(lambda x: LogCosh(x, c), c + distance * np.ones(3))
    assert end.point == pytest.approx(c, abs=1e-6)


def test_gradients_cancel_under_the_shares_at_the_least_maximum() -> None:
    centres = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 3.0]])
    program = InAllBalls(centres, np.array([1.0, 1.0, 1.0]))
    for sharpness in (1.0, 10.0, 100.0):
        lowest = minimise_maximum(program, np.array([5.0, 5.0]), sharpness)
        assert lowest.shares.sum() == pytest.approx(1)
        assert np.abs(lowest.shares @ lowest.state.slopes).max() < 1e-7
    # the smoothed maximum lies above the maximum, by ln 3 / sharpness at most
    largest = float(lowest.state.values.max())
    assert largest <= lowest.value <= largest + np.log(3) / 100


def test_a_ridge_pulls_towards_0() -> None:
    program = InAllBalls(np.array([[2.0]]), np.array([1.0]))
    lowest = minimise_maximum(program, np.zeros(1), 1.0, ridge=3.0)
    assert lowest.point == pytest.approx([0.5])
