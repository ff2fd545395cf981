"""The query with the smallest violation of a wish that no query meets, in floating point.

Minimised is (1/b) ln sum_c exp(b f_c(q)), which is smooth, convex and tends to the largest violation as b grows. At
its minimum the slopes cancel, weighted by exp(b f_c): so the shares there, in the worlds there, have V = 0 for every
b and every smoothing of the kinks, and prove that no query grants the wish as soon as their right side is positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.queries.solving.bounds import program_of
from headwright.queries.solving.constraints import Program, State, evaluate
from headwright.queries.solving.problem import Problem

MOST_STEPS, MOST_TRIES = 120, 25
FARTHEST = 1e8  # scores beyond this are told apart by rounding only
FLAT = 1e-16  # a mean slope this much smaller than the keys is rounding
Vector = Float[np.ndarray, " d"]


@dataclass(frozen=True, eq=False)
class Nearest:
    """The query, and the multipliers of ln(1 + sum) + ln p with which the slopes cancel there."""

    query: Vector
    multipliers: Float[np.ndarray, " constraints"]
    violation: float  # the largest of ln(sum / slack)
    smoothing: float


def nearest(problem: Problem, start: Vector, smoothing: float, sharpness: float) -> Nearest:
    """From a start to the minimum, by Newton's method with a trust in its steps that is earned."""
    program, unit = program_of(problem)
    state = evaluate(program, unit.inside(start), smoothing)
    damping = 1e-3
    for _ in range(MOST_STEPS):
        shares = _shares(state, sharpness)
        slope = shares @ state.slopes
        far = program.extent * float(np.abs(state.query).max()) > FARTHEST
        if far or float(np.abs(slope).max()) <= FLAT * program.extent:
            break
        spread = state.slopes - slope
        curvature = state.curvature(shares) + sharpness * (spread.T @ (shares[:, None] * spread))
        if not np.isfinite(curvature).all():  # sizes that floats cannot be computed with
            break
        better, damping = _stepped(program, state, slope, curvature, damping, sharpness)
        if better is None:
            break
        state = better
    shares = _shares(state, sharpness)
    log_sums = state.values + np.tile(program.log_slacks, len(program.scenarios))
    logs = np.log(np.maximum(shares, 1e-300)) + np.logaddexp(0.0, -log_sums)  # lambda (S / (1 + S)) = shares
    multipliers = np.where(shares > 0, np.exp(logs - logs.max()), 0.0)
    return Nearest(unit.outside(state.query), multipliers / multipliers.sum(), float(state.values.max()), smoothing)


def shrunk(problem: Problem, by: float) -> Problem:
    """The problem with every set smaller by a part of it, so that what is found leaves room in the sets as they are."""
    low, high = problem.scale_low, problem.scale_high
    if low is not None and high is not None:
        low, high = low + (high - low) * (by / 2), high - (high - low) * (by / 2)
    return replace(
        problem,
        scale_low=low,
        scale_high=high,
        ball=None if problem.ball is None else problem.ball * (1 - by),
        stretch=None if problem.stretch is None else problem.stretch * (1 - by),
        factors=tuple((which, E * (1 - by)) for which, E in problem.factors),
    )


def _shares(state: State, sharpness: float) -> Float[np.ndarray, " constraints"]:
    e = np.exp(np.maximum(sharpness * (state.values - state.values.max()), -700))
    shares: Float[np.ndarray, " constraints"] = e / e.sum()
    return shares


def _height(state: State, sharpness: float) -> float:
    top = float(state.values.max())
    return top + math.log(float(np.exp(np.maximum(sharpness * (state.values - top), -700)).sum())) / sharpness


def _stepped(
    program: Program, state: State, slope: Vector, curvature: Float[np.ndarray, "d d"], damping: float, sharpness: float
) -> tuple[State | None, float]:
    here = _height(state, sharpness)
    size = float(np.trace(curvature)) / len(slope) + 1e-300
    for _ in range(MOST_TRIES):
        step = np.linalg.lstsq(curvature + damping * size * np.eye(len(slope)), -slope, rcond=None)[0]
        there = evaluate(program, state.query + step, state.smoothing)
        gain = here - _height(there, sharpness) if np.all(np.isfinite(there.slopes)) else -math.inf
        if gain > 0 or (gain >= -1e-15 * (1 + abs(here)) and _flatter(there, state, sharpness)):
            return there, max(damping / 10, 1e-14)
        damping = max(10 * damping, 1e-12)
    return None, damping


def _flatter(there: State, here: State, sharpness: float) -> bool:
    """Where rounding hides what is gained, the slope still tells."""
    new, old = (float(np.abs(_shares(s, sharpness) @ s.slopes).max()) for s in (there, here))
    return new < old / 2
