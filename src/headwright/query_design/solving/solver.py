"""Solve for the shortest query that meets attention targets, in floating point (untrusted).

A search finds it, on all keys or on few that stand for them (`search`). Then the query is made as long as it needs to
be, with a small margin, and called solved if no other can be shorter by more than a trifle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headwright.query_design.solving.bounds import (
    QueryUnit,
    dual_bound,
    program_of,
    shares_of_multipliers,
    state_bound,
    violation,
)
from headwright.query_design.solving.constraints import QueryProgram, QueryState
from headwright.query_design.solving.log_sum_exp import QUIET, Scenario, one_blas_thread
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.score_ranges import Vector
from headwright.query_design.solving.search import SearchResult, search

__all__ = ["dual_bound", "solve", "violation"]

USUAL_STEPS = 15  # of a search; progress slows down after these: the rest is unknown
CLOSE_ENOUGH = 1e-8  # a gap between length and bound above this is reported as stalled
MAX_STRETCHES = 6
LARGEST_STRETCH = 0.1  # what needs more is beyond repair
Basis = Float[np.ndarray, "d r"]


def solve(
    problem: QueryProblem,
    *,
    progress: Callable[[float], None] | None = None,
    tolerance: float = 1e-12,
) -> QuerySolution:
    """The shortest query that meets the targets, longer than need be by the tolerance at most (relative).

    `progress` is told a number that grows from 0 to 1.
    """
    steps = itertools.count(1)

    def report_step() -> None:
        if progress is not None:
            progress(1 - math.exp(-next(steps) / USUAL_STEPS))

    if problem.shape[0] - 1 <= float(problem.slacks.min()):
        # met where all keys weigh the same
        solution = _zero_query(problem)
    else:
        program, unit = program_of(problem)
        with one_blas_thread(), QUIET():
            # only what lies in the span of the keys can be part of the shortest query
            basis = _span(program)
            inside = program if basis is None else _in_coordinates(program, basis)
            result = search(inside, report_step, tolerance)
            solution = _as_solution(problem, program, unit, result, basis, tolerance)
    if progress is not None:
        progress(1.0)
    return solution


def _zero_query(problem: QueryProblem) -> QuerySolution:
    zero = np.zeros(problem.shape[1])
    shape = (len(problem.keys), len(problem.targets))
    even = np.full(shape, 1 / (shape[0] * shape[1]))
    return QuerySolution(zero, even, "solved", 0, witness=zero, best=zero)


def _span(program: QueryProgram) -> Basis | None:
    """An orthonormal basis of all that a query can be made of, where that is less than the whole space."""
    ranges = program.scenarios[0].ranges
    factors = () if ranges is None else ranges.factors
    n, d = program.scenarios[0].keys.shape
    columns = n * len(program.scenarios) + sum(factor.shape[1] for factor in factors)
    if columns >= d:
        return None
    vectors = []
    for scenario in program.scenarios:
        # of certain keys only differences matter
        origin = scenario.keys[0] if program.certain else 0.0
        vectors.append((scenario.keys - origin).T)
    basis: Basis = np.linalg.qr(np.hstack([*vectors, *factors]))[0]
    return basis


def _in_coordinates(program: QueryProgram, basis: Basis) -> QueryProgram:
    """The program with keys, and what is uncertain about them, in the coordinates of a basis."""
    target = program.targets[0]
    scenarios = []
    for scenario in program.scenarios:
        if scenario.ranges is None:  # only differences matter, and they may be small
            keys = (scenario.keys - scenario.keys[target]) @ basis
            scenarios.append(Scenario(keys))
        else:
            ranges = scenario.ranges.in_coordinates(basis)
            scenarios.append(Scenario(scenario.keys @ basis, ranges))
    extent = max(float(np.abs(scenario.keys).max()) for scenario in scenarios)
    return replace(program, scenarios=tuple(scenarios), extent=extent)


def _as_solution(
    problem: QueryProblem,
    program: QueryProgram,
    unit: QueryUnit,
    result: SearchResult,
    basis: Basis | None,
    tolerance: float,
) -> QuerySolution:
    last = result.last
    query = last.state.point
    witness = result.witness.state.point
    known_state = last.state if program.certain else None
    if basis is not None:
        query = basis @ query
        witness = basis @ witness
        known_state = None

    # as long as it needs to be
    state = None
    if last.status != "impossible":
        state = _stretch(program, query, known_state, tolerance)
        query = state.point
        witness = query if program.certain else witness

    smoothing = result.witness.state.smoothing
    shares = shares_of_multipliers(program, result.witness.multipliers)
    scales, own_scales = _scales(program, witness, smoothing)
    solution = QuerySolution(
        query=unit.outside(query),
        multipliers=shares.reshape(len(problem.keys), len(problem.targets)),
        status=last.status,
        iterations=last.iterations,
        witness=unit.outside(witness),
        best=unit.outside(query),
        scales=scales,
        own_scales=own_scales,
        smoothing=smoothing,
    )
    if state is None:
        return solution

    # solved if it meets the targets and is as long as the bound says
    in_floats = unit.inside(solution.query)
    if np.abs(in_floats - query).max() > 1e-14 * np.abs(query).max():
        # too large or too small for a float
        state = program.at(in_floats, curved=False)
    seen = state if program.certain else result.witness.state
    bound = unit.length(state_bound(program, seen, solution.multipliers.ravel()))
    is_met = float(state.values.max()) <= 0
    is_close = _length(solution.query) < (1 + CLOSE_ENOUGH) * bound
    return replace(solution, status="solved" if is_met and is_close else "stalled")


def _stretch(
    program: QueryProgram, query: Vector, state: QueryState | None, tolerance: float
) -> QueryState:
    """At the query, made longer if need be until all constraints hold with a small margin."""
    for _ in range(MAX_STRETCHES):
        if state is None:
            state = program.at(query, curved=False)
        # how fast each constraint falls as the query gets longer
        falls = -(state.slopes @ state.point)
        useful = falls > 0
        if not useful.any():
            return state
        stretch = float((state.values[useful] / falls[useful]).max())
        has_margin = -tolerance <= stretch <= -tolerance / 16
        if has_margin or not abs(stretch) <= LARGEST_STRETCH:
            return state
        is_met = float(state.values.max()) <= 0
        if len(state.values) > 1 and is_met and -16 * tolerance <= stretch <= 0:
            return state  # several constraints were given a margin already
        query = state.point * (1 + stretch + tolerance / 2)
        state = None
    return program.at(query, curved=False)


def _scales(
    program: QueryProgram, witness: Vector, smoothing: float
) -> tuple[
    tuple[Float[np.ndarray, " n"], ...] | None, Float[np.ndarray, "scenarios m"] | None
]:
    """The scales that the worst cases at the witness use: of keys as distractors, of targets as targets."""
    ranges = program.scenarios[0].ranges
    if ranges is None or not ranges.half.any():
        return None, None
    targets = program.targets
    scales = tuple(
        ranges.scales(scenario.keys @ witness, smoothing)
        for scenario in program.scenarios
    )
    # a target's own scale is as far on the other side of the middle
    own = [2 * ranges.middle[targets] - at_witness[targets] for at_witness in scales]
    return scales, np.array(own)


def _length(query: Vector) -> float:
    size = float(np.abs(query).max())  # squares may overflow
    return size * float(np.linalg.norm(query / size)) if size > 0 else math.inf
