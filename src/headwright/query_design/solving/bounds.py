"""How far a query misses a target, and a dual bound on how much shorter another could be; in floating point.

For any multipliers lambda_c >= 0 with sum 1 over the constraints, any distributions pi^c over the keys and any
admissible differences D^c_i = k_i - k_a, every query that meets the targets have

    |q| * |s| * |sum_c lambda_c sum_i pi^c_i D^c_i|  >=  sum_c lambda_c (H(pi^c) + ln p_c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.query_design.solving.constraints import QueryProgram, QueryState
from headwright.query_design.solving.log_sum_exp import Scenario
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.score_ranges import ScoreRanges, Vector


def violation(problem: QueryProblem, query: Vector) -> float:
    """The largest of ln(sum_{i != a} exp(up_i - low_a) / slack_a): at most 0 if the query meets the targets."""
    program, unit = program_of(problem)
    worst = float(program.at(unit.inside(query), curved=False).values.max())
    return worst if not math.isnan(worst) else math.inf


def dual_bound(problem: QueryProblem, solution: QuerySolution) -> float:
    """No query that meets the targets are shorter, up to rounding; inf if the bound says that there is none.

    It uses the witness, the multipliers and the realizations (scales, smoothing) of the solution; not its query.
    """
    program, unit = program_of(problem)
    scales = solution.scales
    own = solution.own_scales
    scenarios = tuple(
        replace(
            scenario,
            scales=None if scales is None else scales[w],
            own_scales=None if own is None else own[w],
        )
        for w, scenario in enumerate(program.scenarios)
    )
    witness = unit.inside(solution.witness)
    program = replace(program, scenarios=scenarios, smoothing=solution.smoothing)
    state = program.at(witness, curved=False)
    return unit.length(state_bound(program, state, solution.multipliers.ravel()))


@dataclass(frozen=True)
class QueryUnit:
    """What queries of the program are counted in: factor times 2^exponent, which a float may be too small to hold."""

    factor: float  # 1 <= |factor| < 2
    exponent: int

    @classmethod
    def of(cls, scale: float, exponent: int) -> QueryUnit:
        """scale * 2^exponent, the scale not 0."""
        factor, more = math.frexp(scale)
        return cls(factor * 2, exponent + more - 1)

    def inside(self, query: Vector) -> Vector:
        """A query of the problem as one of the program; the largest floats where they overflow."""
        return _times_power(np.nan_to_num(query) / 2 * self.factor, self.exponent + 1)

    def outside(self, query: Vector) -> Vector:
        """A query of the program as one of the problem; the largest floats where they overflow."""
        return _times_power(
            np.nan_to_num(query) / abs(self.factor) * math.copysign(1.0, self.factor),
            -self.exponent,
        )

    def length(self, bound: float) -> float:
        """The length of a query outside, from that inside."""
        return (
            abs(float(self.outside(np.array([bound]))[0]))
            if bound < math.inf
            else bound
        )


def _times_power(x: Vector, exponent: int) -> Vector:
    """x * 2^exponent; the exponent may be beyond what a float holds."""
    with np.errstate(over="ignore", under="ignore"):
        first = max(-2000, min(2000, exponent))
        x = np.ldexp(np.ldexp(x, first), exponent - first)
        result: Vector = np.nan_to_num(x)
    return result


def program_of(problem: QueryProblem) -> tuple[QueryProgram, QueryUnit]:
    """The program of a problem in other units: scale 1, keys of moderate size. Its queries are these times the unit."""
    keys = [np.asarray(matrix, dtype=np.float64) for matrix in problem.keys]
    ranges = ScoreRanges.of(problem)
    size = max(max(float(matrix.max()), -float(matrix.min())) for matrix in keys)
    exponent = math.frexp(size)[1] if ranges is None else ranges.exponent(size)
    if abs(exponent) <= 60:
        exponent = 0
    else:  # squares would overflow, or vanish; a power of two costs no precision
        keys = [_times_power(matrix, -exponent) for matrix in keys]
    if ranges is not None:
        ranges = ranges.in_units(exponent)
    scenarios = tuple(Scenario(matrix, ranges) for matrix in keys)
    extent = float(_times_power(np.array([size]), -exponent)[0])
    program = QueryProgram(
        scenarios,
        problem.targets,
        np.log(problem.slacks),
        extent,
        problem.floors,
        problem.spare,
        keys[0].size,
    )
    return program, QueryUnit.of(problem.scale, exponent)


def shares_of_multipliers(
    program: QueryProgram, multipliers: Float[np.ndarray, " constraints"]
) -> Float[np.ndarray, " constraints"]:
    """The multipliers of ln(1 + sum) <= -ln p for those of ln sum <= ln slack, with sum 1."""
    log_slacks = np.tile(program.log_slacks, len(program.scenarios))
    # at the boundary, d ln(1 + S) = S / (1 + S) d ln S; the slack may be as small as 1e-300, so in logarithms
    with np.errstate(divide="ignore"):
        logs = np.log(multipliers) + np.logaddexp(0.0, -log_slacks)
    top = float(logs.max())
    if not math.isfinite(top):
        return np.full(len(logs), 1.0 / len(logs))
    shares = np.exp(logs - top)
    result: Float[np.ndarray, " constraints"] = shares / shares.sum()
    return result


def state_bound(
    program: QueryProgram,
    state: QueryState,
    multipliers: Float[np.ndarray, " constraints"],
) -> float:
    """No query of the program that meets the targets are shorter; the state is at the witness."""
    log_slacks = np.tile(program.log_slacks, len(program.scenarios))
    log_sums = state.values + log_slacks
    if not np.all(np.isfinite(log_sums)):
        return 0.0
    # S / (1 + S): the mass of all but the target.
    others = np.exp(-np.logaddexp(0.0, -log_sums))
    masses = multipliers * others
    # Masses may be as small as 1e-300, and are squared below.
    unit = float(masses.max())
    if unit == 0:
        return 0.0
    excess = np.logaddexp(0.0, log_sums) - np.logaddexp(0.0, log_slacks)
    right = float(
        np.sum(multipliers * (excess / unit) - (masses / unit) * state.scores)
    )
    left = float(np.linalg.norm((masses / unit) @ state.slopes))
    if not right > 0 or math.isnan(left):
        return 0.0
    return right / left if left > 0 else math.inf
