"""The interface of the solvers: convex constraints, and what is known of them at a point.

minimise |x|^2 / 2   subject to   f_c(x) <= 0   for c = 1..m,   all f_c convex and smooth
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " d"]
SquareMatrix = Float[np.ndarray, "d d"]
Multipliers = Float[np.ndarray, " m"]
Status = Literal["solved", "impossible", "stalled"]
StepHook = Callable[[], None]


class ConstraintState(Protocol):
    """All constraints at one point."""

    @property
    def point(self) -> Vector:
        """Where."""

    @property
    def values(self) -> Float[np.ndarray, " m"]:
        """f_c."""

    @property
    def slopes(self) -> Float[np.ndarray, "m d"]:
        """The gradients of the f_c, as rows."""

    @property
    def has_curvature(self) -> bool:
        """Second derivatives were computed."""

    def curvature(self, multipliers: Multipliers) -> SquareMatrix:
        """sum_c multipliers_c times the second derivatives of f_c."""


S_co = TypeVar("S_co", bound=ConstraintState, covariant=True)
S = TypeVar("S", bound=ConstraintState)


class ConvexProgram(Protocol[S_co]):
    """Constraints that can be evaluated."""

    @property
    def extent(self) -> float:
        """The largest number that a slope is made of: what is 1e-15 times as small is rounding."""

    @property
    def dimension(self) -> int:
        """The number of unknowns."""

    def at(self, point: Vector, *, curved: bool = True) -> S_co:
        """The constraints at a point; without second derivatives that may be much faster."""


@dataclass(frozen=True, eq=False)
class Iterate(Generic[S]):
    """A point on the way to the solution, and what a solver can resume from there.

    'solved': the KKT conditions hold up to rounding. 'impossible': the largest violation cannot be reduced: the
    gradients cancel under the multipliers. 'stalled': neither was reached.
    """

    state: S
    multipliers: Multipliers
    penalty: float  # rho of the exact penalty
    status: Status = "stalled"
    iterations: int = 0

    @property
    def violation(self) -> float:
        """The largest; 0 if all constraints hold."""
        return max(0.0, float(self.state.values.max()))


def slopes_cancel(iterate: Iterate[S], extent: float) -> float:
    """|sum_c lambda_c grad f_c| / (sum_c lambda_c * extent): about 0 where no point violates less."""
    total = float(iterate.multipliers.sum())
    if not (total > 0 and extent > 0):
        return float("inf")
    mean = iterate.multipliers @ iterate.state.slopes
    return float(np.sqrt(mean @ mean)) / total / extent
