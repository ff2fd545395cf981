"""Damped Newton's method for a smooth convex function, and the least of a smoothed maximum of constraints by it.

Each step solves (H + damping * size * I) s = -slope, where size is the mean of the diagonal of H (Levenberg and
Marquardt). The damping falls tenfold after a step that lowers the function, and grows tenfold until one does: where the
function is nearly quadratic the steps are Newton's, elsewhere short ones along the slope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from jaxtyping import Float

from headwright.optimisation.convex_program import (
    ConvexProgram,
    S,
    SquareMatrix,
    Vector,
)

FIRST_DAMPING = 1e-3
LEAST_DAMPING = 1e-14
MAX_STEPS = 120
MAX_TRIES = 25  # of a damping
ROUNDING = 1e-15  # of a value


class SmoothValue(Protocol):
    """A smooth convex function at one point."""

    @property
    def point(self) -> Vector:
        """Where."""

    @property
    def value(self) -> float:
        """Of the function."""

    @property
    def slope(self) -> Vector:
        """Its gradient."""

    @property
    def hessian(self) -> SquareMatrix:
        """Its second derivatives."""


F = TypeVar("F", bound=SmoothValue)


def minimise_smooth(
    function: Callable[[Vector], F],
    start: Vector,
    is_done: Callable[[F], bool] = lambda _: False,
    max_steps: int = MAX_STEPS,
) -> F:
    """The function at its minimum: at a point that is done, or where no step lowers it."""
    current = function(start)
    damping = FIRST_DAMPING
    for _ in range(max_steps):
        if is_done(current) or not np.isfinite(current.hessian).all():
            break
        following, damping = _damped_step(function, current, damping)
        if following is None:
            break
        current = following
    return current


def _damped_step(
    function: Callable[[Vector], F], current: F, damping: float
) -> tuple[F | None, float]:
    """The next point, with the damping for the step after it; None where no damping leads to a better one."""
    hessian = current.hessian
    d = len(current.slope)
    size = float(np.trace(hessian)) / d + 1e-300
    for _ in range(MAX_TRIES):
        step = _solve(hessian + damping * size * np.eye(d), -current.slope)
        following = function(current.point + step)
        if _is_better(following, current):
            return following, max(damping / 10, LEAST_DAMPING)
        damping = max(10 * damping, 1e-12)
    return None, damping


def _solve(matrix: SquareMatrix, right: Vector) -> Vector:
    try:
        step: Vector = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return step


def _is_better(new: F, old: F) -> bool:
    """Lower; or, where rounding hides what is gained, flatter."""
    if not np.isfinite(new.slope).all():
        return False
    gain = old.value - new.value
    if gain > 0:
        return True
    hidden = gain >= -ROUNDING * (1 + abs(old.value))
    return bool(hidden and np.abs(new.slope).max() < np.abs(old.slope).max() / 2)


@dataclass(frozen=True, eq=False)
class SmoothedMaximum(Generic[S]):
    """(1/b) ln sum_c exp(b f_c(x)) + ridge |x|^2 / 2, for the sharpness b, at one point.

    It is convex, and tends to max_c f_c as b grows and the ridge falls. Its slope is sum_c shares_c grad f_c + ridge x
    with shares in proportion to exp(b f_c): at the minimum without a ridge the gradients cancel under the shares.
    """

    state: S
    sharpness: float
    ridge: float = 0.0

    @property
    def point(self) -> Vector:
        """Where."""
        return self.state.point

    @cached_property
    def shares(self) -> Float[np.ndarray, " m"]:
        """Of the constraints: they sum to 1."""
        top = self.state.values.max()
        if not np.isfinite(top):
            return np.full(len(self.state.values), 1 / len(self.state.values))
        excess = self.state.values - top
        e = np.exp(np.maximum(self.sharpness * excess, -700))
        shares: Float[np.ndarray, " m"] = e / e.sum()
        return shares

    @cached_property
    def value(self) -> float:
        """Of the smoothed maximum."""
        top = self.state.values.max()
        e = np.exp(np.maximum(self.sharpness * (self.state.values - top), -700))
        maximum = top + np.log(e.sum()) / self.sharpness
        return float(maximum + self.ridge * (self.point @ self.point) / 2)

    @cached_property
    def slope(self) -> Vector:
        """Its gradient."""
        slope: Vector = self.shares @ self.state.slopes + self.ridge * self.point
        return slope

    @cached_property
    def hessian(self) -> SquareMatrix:
        """sum_c shares_c f_c'', plus b times the covariance of the gradients under the shares, plus the ridge."""
        slopes = self.state.slopes
        spread = slopes - self.shares @ slopes
        covariance = spread.T @ (self.shares[:, None] * spread)
        hessian: SquareMatrix = self.state.curvature(self.shares)
        hessian = hessian + self.sharpness * covariance
        hessian[np.diag_indices_from(hessian)] += self.ridge
        return hessian


def minimise_maximum(
    program: ConvexProgram[S],
    start: Vector,
    sharpness: float,
    *,
    ridge: float = 0.0,
    is_done: Callable[[SmoothedMaximum[S]], bool] = lambda _: False,
    max_steps: int = MAX_STEPS,
) -> SmoothedMaximum[S]:
    """The smoothed maximum of the constraints of a program at its minimum."""

    def function(point: Vector) -> SmoothedMaximum[S]:
        return SmoothedMaximum(program.at(point), sharpness, ridge)

    return minimise_smooth(function, start, is_done, max_steps)
