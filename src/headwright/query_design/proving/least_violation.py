"""The query with the smallest violation of a target that no query meets, in floating point.

Minimised is (1/b) ln sum_c exp(b f_c(q)), which is smooth, convex and tends to the largest violation as b grows. At
its minimum the slopes cancel, weighted by exp(b f_c): so the shares there have V = 0 for every b and every smoothing of
the kinks, and prove that no query meets the targets as soon as their right side is positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.optimisation.newton import SmoothedMaximum, minimise_maximum
from headwright.query_design.solving.bounds import program_of
from headwright.query_design.solving.constraints import QueryProgram, QueryState
from headwright.query_design.solving.problem import QueryProblem

MAX_STEPS = 120
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


def nearest(
    problem: QueryProblem, start: Vector, smoothing: float, sharpness: float
) -> Nearest:
    """The minimum, from a start."""
    program, unit = program_of(problem)
    program = replace(program, smoothing=smoothing)

    def is_done(maximum: SmoothedMaximum[QueryState]) -> bool:
        is_far = program.extent * float(np.abs(maximum.point).max()) > FARTHEST
        return is_far or float(np.abs(maximum.slope).max()) <= FLAT * program.extent

    lowest = minimise_maximum(
        program, unit.inside(start), sharpness, is_done=is_done, max_steps=MAX_STEPS
    )
    return Nearest(
        unit.outside(lowest.point),
        _multipliers_of_shares(program, lowest),
        float(lowest.state.values.max()),
        smoothing,
    )


def _multipliers_of_shares(
    program: QueryProgram, maximum: SmoothedMaximum[QueryState]
) -> Float[np.ndarray, " constraints"]:
    """lambda_c with lambda_c S_c / (1 + S_c) in proportion to the shares, for the sums S_c; they sum to 1."""
    shares = maximum.shares
    log_slacks = np.tile(program.log_slacks, len(program.scenarios))
    log_sums = maximum.state.values + log_slacks
    if not np.isfinite(log_sums).all():  # nothing competes with a target
        return shares
    logs = np.log(np.maximum(shares, 1e-300)) + np.logaddexp(0.0, -log_sums)
    multipliers = np.where(shares > 0, np.exp(logs - logs.max()), 0.0)
    total: Float[np.ndarray, " constraints"] = multipliers / multipliers.sum()
    return total


def shrunk(problem: QueryProblem, by: float) -> QueryProblem:
    """The problem with every set smaller by a part of it, so that what is found leaves room in the sets as they are."""
    low = problem.scale_low
    high = problem.scale_high
    if low is not None and high is not None:
        margin = (high - low) * (by / 2)
        low = low + margin
        high = high - margin
    return replace(
        problem,
        scale_low=low,
        scale_high=high,
        ball=None if problem.ball is None else problem.ball * (1 - by),
        stretch=None if problem.stretch is None else problem.stretch * (1 - by),
        factors=tuple((which, E * (1 - by)) for which, E in problem.factors),
    )
