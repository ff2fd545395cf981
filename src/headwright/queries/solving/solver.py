"""Solve for the shortest query of a wish in a world, in floating point (untrusted).

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

from headwright.queries.solving.bounds import (
    Unit,
    dual_bound,
    program_of,
    shares_of_multipliers,
    state_bound,
    violation,
)
from headwright.queries.solving.constraints import Program, State, evaluate
from headwright.queries.solving.log_sum_exp import QUIET, Scenario, one_blas_thread
from headwright.queries.solving.problem import Problem, Solution
from headwright.queries.solving.score_ranges import Vector
from headwright.queries.solving.search import Found, search
from headwright.queries.solving.sqp import Tick

__all__ = ["dual_bound", "solve", "violation"]

USUAL_STEPS = 15  # of a search; progress slows down after these, since the rest is unknown
CLOSE_ENOUGH = 1e-8  # a gap between length and bound above this is reported as stalled


def solve(problem: Problem, *, progress: Callable[[float], None] | None = None, tolerance: float = 1e-12) -> Solution:
    """The shortest query that grants the wish, longer than need be by the tolerance at most (relative).

    `progress` is told a number that grows from 0 to 1.
    """
    steps = itertools.count(1)

    def tick() -> None:
        if progress is not None:
            progress(1 - math.exp(-next(steps) / USUAL_STEPS))

    if problem.shape[0] - 1 <= float(problem.slacks.min()):  # where all keys weigh the same
        solution = _nothing_to_do(problem)
    else:
        program, unit = program_of(problem)
        with one_blas_thread(), QUIET():
            solution = _solve(problem, program, unit, tick, tolerance)
    if progress is not None:
        progress(1.0)
    return solution


def _solve(problem: Problem, program: Program, unit: Unit, tick: Tick, tolerance: float) -> Solution:
    basis = _span(program)
    return _solution(problem, program, unit, search(_turned(program, basis), tick, tolerance), basis, tolerance)


def _nothing_to_do(problem: Problem) -> Solution:
    zero = np.zeros(problem.shape[1])
    shape = (len(problem.keys), len(problem.targets))
    return Solution(zero, np.full(shape, 1 / (shape[0] * shape[1])), "solved", 0, witness=zero, best=zero)


def _span(program: Program) -> Float[np.ndarray, "d r"] | None:
    """An orthonormal basis of all that a query can be made of, where that is less than the whole space."""
    uncertainty = program.scenarios[0].uncertainty
    factors = () if uncertainty is None else uncertainty.factors
    n, d = program.scenarios[0].keys.shape
    if n * len(program.scenarios) + sum(matrix.shape[1] for matrix in factors) >= d:
        return None
    keys = [scenario.keys - scenario.keys[0] if program.certain else scenario.keys for scenario in program.scenarios]
    columns = [matrix.T for matrix in keys] + list(factors)
    basis: Float[np.ndarray, "d r"] = np.linalg.qr(np.hstack(columns))[0]
    return basis


def _turned(program: Program, basis: Float[np.ndarray, "d r"] | None) -> Program:
    if basis is None:
        return program
    first = program.targets[0]

    def turned(scenario: Scenario) -> Scenario:
        if scenario.uncertainty is None:  # only differences matter, and they may be small
            return Scenario((scenario.keys - scenario.keys[first]) @ basis)
        return Scenario(scenario.keys @ basis, scenario.uncertainty.turned(basis))

    scenarios = tuple(turned(scenario) for scenario in program.scenarios)
    extent = max(float(np.abs(scenario.keys).max()) for scenario in scenarios)
    return replace(program, scenarios=scenarios, extent=extent)


def _solution(
    problem: Problem,
    program: Program,
    unit: Unit,
    found: Found,
    basis: Float[np.ndarray, "d r"] | None,
    tolerance: float,
) -> Solution:
    last, witness = found.last, found.witness
    query, at = (q if basis is None else basis @ q for q in (last.state.query, witness.state.query))
    state = None
    if last.status != "impossible":
        state = _settled(program, query, last.state if program.certain and basis is None else None, tolerance)
        query = state.query
        at = query if program.certain else at
    shape = (len(problem.keys), len(problem.targets))
    scales, own_scales = _scales(program, at, witness.smoothing)
    solution = Solution(
        query=unit.outside(query),
        multipliers=shares_of_multipliers(program, witness.multipliers).reshape(shape),
        status=last.status,
        iterations=last.iterations,
        witness=unit.outside(at),
        best=unit.outside(query),
        scales=scales,
        own_scales=own_scales,
        smoothing=witness.smoothing,
    )
    if state is None:
        return solution
    there = unit.inside(solution.query)
    if np.abs(there - query).max() > 1e-14 * np.abs(query).max():  # too large or too small for a float
        state = evaluate(program, there, curved=False)
    seen = state if program.certain else witness.state
    bound = unit.length(state_bound(program, seen, solution.multipliers.ravel()))
    granted = float(state.values.max()) <= 0
    close = granted and _length(solution.query) < (1 + CLOSE_ENOUGH) * bound
    return replace(solution, status="solved" if close else "stalled")


def _settled(program: Program, query: Vector, state: State | None, tolerance: float) -> State:
    """At the query, made longer if need be until the wish holds with a small margin."""
    for _ in range(6):
        state = evaluate(program, query, curved=False) if state is None else state
        falls = -(state.slopes @ state.query)  # how fast each constraint falls as the query gets longer
        useful = falls > 0
        if not useful.any():
            return state
        longer = float((state.values[useful] / falls[useful]).max())
        if -tolerance <= longer <= -tolerance / 16 or not abs(longer) <= 0.1:  # done, or beyond repair
            return state
        if len(state.values) > 1 and -16 * tolerance <= longer <= 0 >= float(state.values.max()):
            return state  # several constraints were given room already
        query, state = state.query * (1 + longer + tolerance / 2), None
    return evaluate(program, query, curved=False)


def _scales(
    program: Program, witness: Vector, smoothing: float
) -> tuple[tuple[Float[np.ndarray, " n"], ...] | None, Float[np.ndarray, "scenarios m"] | None]:
    """The scales that the worst cases at the witness use: of keys as distractors, of targets as targets."""
    uncertainty = program.scenarios[0].uncertainty
    if uncertainty is None or not uncertainty.half.any():
        return None, None
    scales = tuple(uncertainty.scales(scenario.keys @ witness, smoothing) for scenario in program.scenarios)
    own = [2 * uncertainty.middle[program.targets] - mine[program.targets] for mine in scales]
    return scales, np.array(own)


def _length(query: Vector) -> float:
    size = float(np.abs(query).max())  # squares may overflow
    return size * float(np.linalg.norm(query / size)) if size > 0 else math.inf
