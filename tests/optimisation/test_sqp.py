"""The shortest point under convex constraints: the KKT conditions hold, and what has no point is said to have none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.optimisation.quadratic_program import minimise_model
from headwright.optimisation.sqp import continue_at, minimise_norm, start_at


@dataclass(frozen=True, eq=False)
class Balls:
    """f_c(x) = |x - centre_c|^2 / 2 - radius_c^2 / 2 at a point: x lies in every ball."""

    point: np.ndarray
    centres: np.ndarray
    radii: np.ndarray
    has_curvature: bool = True

    @cached_property
    def slopes(self) -> np.ndarray:
        return self.point - self.centres

    @cached_property
    def values(self) -> np.ndarray:
        return (np.square(self.slopes).sum(axis=1) - self.radii**2) / 2

    def curvature(self, multipliers: np.ndarray) -> np.ndarray:
        return float(multipliers.sum()) * np.eye(len(self.point))


@dataclass(frozen=True, eq=False)
class InAllBalls:
    centres: np.ndarray
    radii: np.ndarray

    @property
    def extent(self) -> float:
        return float(np.abs(self.centres).max())

    @property
    def dimension(self) -> int:
        return int(self.centres.shape[1])

    def at(self, point: np.ndarray, *, curved: bool = True) -> Balls:
        return Balls(point, self.centres, self.radii, curved)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5))
def test_the_conditions_of_karush_kuhn_and_tucker_hold(
    seed: int, m: int, d: int
) -> None:
    rng = np.random.default_rng(seed)
    inside = 3 * rng.normal(size=d)  # a point in every ball
    centres = inside + rng.normal(size=(m, d))
    radii = np.linalg.norm(inside - centres, axis=1) + rng.uniform(0.01, 1, m)
    program = InAllBalls(centres, radii)
    end = minimise_norm(program, start_at(program, np.zeros(d)))
    x, state = end.state.point, end.state
    assert end.status == "solved"
    assert (end.multipliers >= 0).all()
    assert state.values.max() <= 1e-12 * (1 + x @ x)
    stationary = x + end.multipliers @ state.slopes
    assert np.abs(stationary).max() <= 1e-9 * (1 + np.linalg.norm(x))
    assert abs(end.multipliers @ state.values) <= 1e-9 * (1 + x @ x)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_balls_that_do_not_meet_have_no_point(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    away = rng.normal(size=d)
    away *= 3 / np.linalg.norm(away)
    program = InAllBalls(np.array([away, -away]), np.array([1.0, 2.0]))
    end = minimise_norm(program, start_at(program, rng.normal(size=d)))
    assert end.status == "impossible"
    # the least largest violation: f_1 = f_2 on the line between the centres
    middle = away / 12
    least = program.at(middle).values
    assert least[0] == pytest.approx(least[1])
    assert end.violation == pytest.approx(least[0], rel=1e-6)
    shares = end.multipliers / end.multipliers.sum()
    np.testing.assert_allclose(shares @ end.state.slopes, 0, atol=1e-8)


def test_a_solution_is_resumed_where_it_was_left() -> None:
    rng = np.random.default_rng(0)
    centres = 3 + rng.normal(size=(3, 4))
    program = InAllBalls(centres, np.full(3, 4.0))
    end = minimise_norm(program, start_at(program, np.zeros(4)))
    again = minimise_norm(program, continue_at(program, end.state.point, end))
    assert again.iterations - end.iterations <= 2
    np.testing.assert_allclose(again.state.point, end.state.point, atol=1e-12)
    tighter = minimise_norm(program, end, margin=1e-3)
    assert tighter.state.values.max() == pytest.approx(-1e-3, rel=1e-6)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([0.1, 1.0, 1e3, 1e9]),
)
def test_no_direction_lowers_the_model_further(
    seed: int, m: int, d: int, penalty: float
) -> None:
    rng = np.random.default_rng(seed)
    gradient = rng.normal(size=d)
    values = rng.normal(size=m)
    slopes = rng.normal(size=(m, d))
    root = rng.normal(size=(d, d))
    hessian = np.eye(d) + root.T @ root

    def model(x: np.ndarray) -> float:
        violation = max(0.0, float((values + slopes @ x).max()))
        return float(gradient @ x + x @ hessian @ x / 2) + penalty * violation

    guess = np.maximum(0, rng.normal(size=m))
    step = minimise_model(gradient, hessian, values, slopes, penalty, guess)
    x = step.direction
    assert step.decrease == pytest.approx(
        model(0 * x) - model(x), rel=1e-6, abs=1e-9 * penalty
    )
    assert (step.multipliers >= 0).all()
    assert step.multipliers.sum() <= penalty * (1 + 1e-9)
    np.testing.assert_allclose(
        gradient + hessian @ x + step.multipliers @ slopes, 0, atol=1e-7 * (1 + penalty)
    )
    for move in 1e-4 * rng.normal(size=(20, d)):
        assert model(x + move) >= model(x) - 1e-10 * (1 + penalty)
