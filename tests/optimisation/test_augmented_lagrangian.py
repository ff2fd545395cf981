"""Local minima under constraints: the gradients balance, and hopeless starts end."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.optimisation.augmented_lagrangian import (
    ConstraintValues,
    minimise_by_lbfgs,
    minimise_locally,
    squared_violations,
)


class Product:
    """x y >= 1 (not convex), and an equality x = 2 y, or none."""

    def __init__(self, *, equality: bool) -> None:
        self.floors = np.array([0.0, -np.inf]) if equality else np.zeros(1)

    def at(self, point: np.ndarray) -> ConstraintValues:
        x, y = point
        values = np.array([1 - x * y, x - 2 * y])[: len(self.floors)]
        slopes = np.array([[-y, -x], [1.0, -2.0]])[: len(self.floors)]
        return ConstraintValues(values, lambda weights: weights @ slopes)


def half_square(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float(x @ x) / 2, x


@pytest.mark.parametrize(
    ("equality", "expected"),
    [(False, (1.0, 1.0)), (True, (2**0.5, 2**-0.5))],
)
def test_the_nearest_point_of_a_hyperbola(
    equality: bool, expected: tuple[float, float]
) -> None:
    constraints = Product(equality=equality)
    start = np.array([3.0, 0.2])
    end, multipliers = minimise_locally(half_square, constraints, start, 1.0, 1e-9)
    assert np.abs(end) == pytest.approx(expected, rel=1e-6)  # or its mirror image
    balance = end + constraints.at(end).weighted_slope(multipliers)
    assert np.abs(balance).max() < 1e-3


def test_squared_violations_are_0_where_all_constraints_hold() -> None:
    function = squared_violations(Product(equality=False))
    assert function(np.array([2.0, 2.0]))[0] == 0
    end = minimise_by_lbfgs(function, np.array([0.5, 0.4]))
    assert end[0] * end[1] >= 1 - 1e-4


class Never:
    """1 <= 0."""

    floors = np.zeros(1)

    def at(self, point: np.ndarray) -> ConstraintValues:
        return ConstraintValues(np.ones(1), lambda _: np.zeros_like(point))


def test_what_cannot_be_met_ends() -> None:
    end, multipliers = minimise_locally(
        half_square, Never(), np.array([1.0, 2.0]), 1.0, 1e-9
    )
    assert np.abs(end).max() < 1e-6
    assert multipliers[0] > 0
