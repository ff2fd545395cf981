"""The point of smallest norm under convex constraints: sequential quadratic programming on an exact penalty.

    minimise |x|^2 / 2   subject to   f_c(x) <= 0   for c = 1..m

The KKT conditions, necessary and sufficient where some point has all f_c < 0:

    x + sum_c lambda_c grad f_c(x) = 0,     lambda_c >= 0,     f_c(x) <= 0,     lambda_c f_c(x) = 0

Minimised is the exact penalty function (Fletcher, Practical Methods of Optimization, 1987, chapter 14: S l-inf QP)

    P(x) = |x|^2 / 2 + rho * max(0, max_c f_c(x)),

which is convex, and whose minimum solves the program as soon as rho > sum_c lambda_c. rho starts small, and grows while
the multipliers press against it. Where no point meets the constraints it grows without end: P / rho tends to the
largest violation, and sum_c (lambda_c / rho) grad f_c = -x / rho to 0, which shows that no point violates less.

    One step:   minimise over s:   <x, s> + <s, W s>/2 + rho * max(0, max_c (f_c + <grad f_c, s>)),
                W = I + sum_c lambda_c (second derivatives of f_c)

followed by a line search on P. Second derivatives are the most expensive part of an evaluation: steps that are short
next to x keep those of the point before, as long as they converge fast.

Stopping: 'solved' when rho does not bind and the model predicts a decrease of P that is rounding; 'impossible' when rho
binds and the mean gradient is rounding next to the gradients themselves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Generic

import numpy as np

from headwright.optimisation.convex_program import (
    ConvexProgram,
    Iterate,
    S,
    SquareMatrix,
    Status,
    StepHook,
    Vector,
)
from headwright.optimisation.quadratic_program import (
    BINDING,
    QuadraticStep,
    minimise_model,
)

NOTHING = 1e-15  # a mean gradient so small next to the gradients is rounding
DOUBTFUL = 1e-10  # and so is one like this, where no step succeeds any more
PENALTY_FACTOR = 1.5  # rho over the sum of the multipliers: above 1; below 2, so that curvature spoils no full step
MAX_STEPS = 400
MAX_TRIES = 30  # of a line search
MAX_IDLE_STEPS = 8  # that gain no more than rounding
SUFFICIENT_DECREASE = 1e-4
SHORT_STEP = 0.1  # of |x|: second derivatives are kept for the next step
FAST = 0.1  # the predicted decrease shrinks like this, or second derivatives are computed anew


def start_at(program: ConvexProgram[S], point: Vector) -> Iterate[S]:
    """An iterate without multipliers; its penalty is of the size of the multiplier of the worst constraint."""
    state = program.at(point)
    worst = int(state.values.argmax())
    square = float(state.slopes[worst] @ state.slopes[worst])
    penalty = max(float(state.values[worst]), 1e-3) / square if square > 0 else 1.0
    return Iterate(state, np.zeros(len(state.values)), penalty)


def continue_at(
    program: ConvexProgram[S], point: Vector, known: Iterate[S]
) -> Iterate[S]:
    """An iterate of a similar program, with the multipliers and the penalty of another's."""
    return replace(known, state=program.at(point), status="stalled")


def minimise_norm(
    program: ConvexProgram[S],
    start: Iterate[S],
    *,
    margin: float = 0.0,
    nothing: float = NOTHING,
    max_steps: int = MAX_STEPS,
    on_step: StepHook = lambda: None,
) -> Iterate[S]:
    """From a start to the point of smallest norm with f_c <= -margin, or to the least violation if there is none."""
    return _Descent(program, start, margin, nothing, on_step).run(max_steps)


class _Descent(Generic[S]):
    """The loop above, with what it carries from step to step."""

    def __init__(
        self,
        program: ConvexProgram[S],
        start: Iterate[S],
        margin: float,
        nothing: float,
        on_step: StepHook,
    ) -> None:
        self.program = program
        self.state = start.state
        if not self.state.has_curvature:
            self.state = program.at(self.state.point)
        self.multipliers = start.multipliers
        self.penalty = start.penalty
        self.iterations = start.iterations
        self.margin = margin
        self.nothing = nothing
        self.on_step = on_step
        self.growth = 10.0  # of the penalty, where it binds
        self.unit_curvature: SquareMatrix | None = None  # the last, per multiplier

    def run(self, max_steps: int) -> Iterate[S]:
        """Until the KKT conditions hold up to rounding, or there is no point, or no progress."""
        status: Status = "stalled"
        idle = 0
        decrease = math.inf
        for _ in range(max_steps):
            self.on_step()
            self.iterations += 1
            try:
                step = self._next_step(decrease)
            except FloatingPointError:
                break
            decrease = step.decrease
            if not math.isfinite(decrease):
                break
            binds = float(step.multipliers.sum()) > BINDING * self.penalty
            if not binds and decrease <= self._rounding():
                self.multipliers = step.multipliers
                status = "solved"
                break
            mean_slope = (
                self._mean_slope(step) if binds and self._violation > 0 else math.inf
            )
            before = self._merit(self.state)
            length = 0.0
            if mean_slope > self.nothing and idle < MAX_IDLE_STEPS:
                length = self._search_line(step)
            if length == 0.0:
                self.multipliers = step.multipliers
                if mean_slope <= max(self.nothing, DOUBTFUL):
                    status = "impossible"
                elif not binds and decrease <= 1e-9 * before:
                    status = "solved"
                break
            gained = before - self._merit(self.state) > self._rounding()
            idle = 0 if gained else idle + 1
            self._update_penalty(step, binds, length)
        return Iterate(
            self.state, self.multipliers, self.penalty, status, self.iterations
        )

    @property
    def _violation(self) -> float:
        return max(0.0, float(self.state.values.max()) + self.margin)

    def _next_step(self, last_decrease: float) -> QuadraticStep:
        """The step of the model; with new second derivatives where the old ones no longer make it converge fast."""
        step = self._model_step()
        if not self.state.has_curvature and not step.decrease < FAST * last_decrease:
            self.state = self.program.at(self.state.point)
            step = self._model_step()
        return step

    def _model_step(self) -> QuadraticStep:
        total = float(self.multipliers.sum())
        if self.state.has_curvature or self.unit_curvature is None:
            hessian = self.state.curvature(self.multipliers)
            self.unit_curvature = hessian / total if total > 0 else None
        else:
            hessian = self.unit_curvature * total
        hessian[np.diag_indices_from(hessian)] += 1.0
        return minimise_model(
            self.state.point,
            hessian,
            self.state.values + self.margin,
            self.state.slopes,
            self.penalty,
            self.multipliers,
        )

    def _merit(self, state: S) -> float:
        """P at a state."""
        x = state.point
        violation = max(0.0, float(state.values.max()) + self.margin)
        return float(x @ x) / 2 + self.penalty * violation

    def _rounding(self) -> float:
        """What P may be wrong by."""
        return 1e-14 * self._merit(self.state) + 4e-15 * self.penalty

    def _mean_slope(self, step: QuadraticStep) -> float:
        """The mean gradient, next to the size of the gradients: rounding if no point violates less."""
        mean = step.multipliers @ self.state.slopes / self.penalty
        extent = self.program.extent
        return math.sqrt(float(mean @ mean)) / extent if extent > 0 else 0.0

    def _search_line(self, step: QuadraticStep) -> float:
        """Go along the step until P falls enough; returns the part of the step that was taken, 0 if none was."""
        x = self.state.point
        direction = step.direction
        here = self._merit(self.state)
        slope_here = self._directional_slope(self.state, direction)
        noise = 1e-15 * (here + self.penalty)
        short = float(direction @ direction) <= SHORT_STEP**2 * float(x @ x)
        keep_curvature = short and self.unit_curvature is not None
        length = 1.0
        for tries in range(MAX_TRIES):
            first = tries == 0
            point = x + length * direction
            state = self.program.at(point, curved=first and not keep_curvature)
            there = self._merit(state)
            if there <= here - SUFFICIENT_DECREASE * length * step.decrease + noise:
                self.state = state if first else self.program.at(point)
                change = step.multipliers - self.multipliers
                self.multipliers = self.multipliers + length * change
                return length
            if not math.isfinite(there):
                length /= 10
                continue
            slope_there = self._directional_slope(state, direction)
            length = _where_tangents_meet(here, slope_here, there, slope_there, length)
        return 0.0

    def _directional_slope(self, state: S, direction: Vector) -> float:
        """The derivative of P along a direction."""
        worst = int(state.values.argmax())
        slope = float(state.point @ direction)
        if state.values[worst] > -self.margin:
            slope += self.penalty * float(state.slopes[worst] @ direction)
        return slope

    def _update_penalty(self, step: QuadraticStep, binds: bool, length: float) -> None:
        x = self.state.point
        total = float(step.multipliers.sum())
        if not binds:
            if length == 1.0 or total * 1.1 > self.penalty:
                self.penalty = max(PENALTY_FACTOR * total, 1e-3 * self.penalty)
        elif length < 0.5:
            self.growth = 10.0
        elif step.decrease <= 0.2 * float(x @ x):
            # this penalty has given nearly all that it can; the multipliers will follow, and W needs their size
            self.penalty *= self.growth
            self.multipliers = self.multipliers * self.growth
            self.growth = min(2 * self.growth, 100.0)


def _where_tangents_meet(
    here: float, slope_here: float, there: float, slope_there: float, length: float
) -> float:
    """The lowest point of two tangents of a convex function: half way for a parabola, at the kink for a kink."""
    bend = slope_there - slope_here
    meet = (here - there + slope_there * length) / bend if bend > 0 else 0.0
    if not math.isfinite(meet):
        return length / 10
    return min(max(meet, 1e-3 * length), 0.7 * length)
