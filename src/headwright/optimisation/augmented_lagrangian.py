"""A local minimum of a smooth function under smooth constraints, from first derivatives: the augmented Lagrangian.

    minimise g(x)   subject to   h_c(x) <= 0  (or h_c(x) = 0)   for c = 1..m,   none of them convex

For multipliers lambda and a penalty rho, L-BFGS minimises

    g(x) + sum_c max(floor_c, lambda_c + rho h_c(x))^2 / (2 rho),      floor_c = 0, or -inf for an equality

and then lambda_c becomes max(floor_c, lambda_c + rho h_c(x)) (Nocedal and Wright, Numerical Optimization, 17.3). At the
end grad g + sum_c lambda_c grad h_c = 0. rho grows tenfold where the violation does not shrink to a quarter.

Stopping: when no constraint with a multiplier differs from 0 by the tolerance, and none without exceeds it; or after
rounds in which large violations hardly fall, since not every start leads to a solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float

from headwright.optimisation.convex_program import Multipliers, Vector

MAX_ROUNDS = 20
MAX_ITERATIONS = 400  # of L-BFGS, in each round
HOPELESS_ROUNDS = 6  # without a violation below LARGE, or one that halves
LARGE = 0.1
Function = Callable[[Vector], tuple[float, Vector]]  # its value and its gradient


class ConstraintValues(NamedTuple):
    """h at a point, and the function that makes sum_c w_c grad h_c of weights w."""

    values: Float[np.ndarray, " m"]
    weighted_slope: Callable[[Float[np.ndarray, " m"]], Vector]


class SmoothConstraints(Protocol):
    """Constraints that can be evaluated."""

    @property
    def floors(self) -> Float[np.ndarray, " m"]:
        """What multipliers are at least: 0, or -inf for an equality."""

    def at(self, point: Vector) -> ConstraintValues:
        """All constraints at a point."""


def minimise_locally(
    objective: Function,
    constraints: SmoothConstraints,
    start: Vector,
    penalty: float,
    tolerance: float,
) -> tuple[Vector, Multipliers]:
    """Where it ends from a start, with the multipliers there; whether the constraints hold is for the caller to see."""
    x = start
    floors = constraints.floors
    multipliers = np.zeros(len(floors))
    last_miss = np.inf
    hopeless_rounds = 0
    for _ in range(MAX_ROUNDS):
        function = _augmented(objective, constraints, multipliers, penalty)
        x = minimise_by_lbfgs(function, x)
        values = constraints.at(x).values
        miss = float(np.abs(np.maximum(values, (floors - multipliers) / penalty)).max())
        multipliers = np.maximum(floors, multipliers + penalty * values)
        if miss < tolerance:
            break
        is_hopeless = miss > LARGE and miss > last_miss / 2
        hopeless_rounds = hopeless_rounds + 1 if is_hopeless else 0
        if hopeless_rounds == HOPELESS_ROUNDS:
            break
        if miss > last_miss / 4:
            penalty *= 10
        last_miss = miss
    return x, multipliers


def squared_violations(constraints: SmoothConstraints) -> Function:
    """sum_c max(floor_c, h_c)^2 / 2: 0 where all constraints hold."""
    nothing = np.zeros(len(constraints.floors))
    return _augmented(lambda x: (0.0, np.zeros_like(x)), constraints, nothing, 1.0)


def _augmented(
    objective: Function,
    constraints: SmoothConstraints,
    multipliers: Multipliers,
    penalty: float,
) -> Function:
    def function(x: Vector) -> tuple[float, Vector]:
        value, slope = objective(x)
        values, weighted_slope = constraints.at(x)
        push = np.maximum(constraints.floors, multipliers + penalty * values)
        return value + float(push @ push) / (2 * penalty), slope + weighted_slope(push)

    return function


def minimise_by_lbfgs(function: Function, start: Vector) -> Vector:
    """Where the function is least, or what is found of that in so many iterations."""
    from scipy.optimize import minimize

    options: Any = {
        "maxiter": MAX_ITERATIONS,
        "maxfun": 2 * MAX_ITERATIONS,
        "ftol": 1e-13,
        "gtol": 1e-10,
        "maxcor": 20,
    }
    with np.errstate(over="ignore", invalid="ignore"):
        result = minimize(function, start, method="L-BFGS-B", jac=True, options=options)
    end: Vector = result.x
    return end
