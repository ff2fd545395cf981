"""The question as a convex program for the solver, and the solver's result."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from headwright.query_design.certify import GuardEvidence
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.solver import solve
from headwright.query_design.statement import DesignQuestion, UncertaintyEntry


def program(
    question: DesignQuestion, guard: GuardEvidence | None = None
) -> QueryProblem:
    """The convex program whose solution is the shortest query, in floating point; random keys are guarded against."""
    n = question.n
    targets = question.targets.indices
    floors = [question.targets.least[target] for target in targets]
    low = np.ones(n)
    high = np.ones(n)
    ball = np.zeros(n)
    stretch = np.zeros(n)
    random = np.zeros(n, dtype=bool)
    for entry in question.entries:
        size = _size_guarded_against(entry, guard)
        low[entry.keys], high[entry.keys] = entry.scale
        ball[entry.keys] = size * entry.ball
        stretch[entry.keys] = size * entry.stretch
        random[entry.keys] = entry.random
    pairs = guard is not None and guard.kind == "pairs"
    left = 1 - sum(floors)
    scaled = bool((low != 1).any() or (high != 1).any())
    return QueryProblem(
        question.keys,
        targets=np.array(targets),
        floors=np.array([float(p) for p in floors]),
        slacks=np.array([float(1 / p - 1) for p in floors]),
        scale=float(question.scale),
        scale_low=low if scaled else None,
        scale_high=high if scaled else None,
        ball=ball if ball.any() else None,
        stretch=stretch if stretch.any() else None,
        factors=_factors(question, guard),
        spare=np.array([float(left / p) for p in floors]),
        random=random if pairs else None,
        pairs=pairs,
    )


def _size_guarded_against(
    entry: UncertaintyEntry, guard: GuardEvidence | None
) -> float:
    """Random keys count up to the guard's deviations, or not at all; others all over their sets."""
    if not entry.random:
        return 1.0
    return float(guard.deviations) if guard is not None else 0.0


def _factors(
    question: DesignQuestion, guard: GuardEvidence | None
) -> tuple[tuple[Int[np.ndarray, " k"], Float[np.ndarray, "d width"]], ...]:
    """Each factor once, with the keys that have it."""
    keys_of_factor: dict[bytes, list[int]] = {}
    factors: dict[bytes, Float[np.ndarray, "d width"]] = {}
    for entry in question.entries:
        if entry.width:
            E = _size_guarded_against(entry, guard) * entry.factor
            factors[E.tobytes()] = E
            keys = keys_of_factor.setdefault(E.tobytes(), [])
            keys.extend(entry.keys.tolist())
    return tuple((np.array(keys_of_factor[name]), E) for name, E in factors.items())


def ends(
    problem: QueryProblem,
    scenario: int,
    query: Float[np.ndarray, " d"],
    smoothing: float = 0.0,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The highest and the lowest score that each key can have, in floating point; kinks may be smoothed."""
    scores = problem.scale * (problem.keys[scenario] @ query)
    squared = np.zeros_like(scores)
    moves = np.zeros(len(scores), dtype=bool)
    if problem.ball is not None:
        squared += (problem.scale * problem.ball) ** 2 * (query @ query)
        moves |= problem.ball > 0
    if problem.stretch is not None:
        squared += (problem.stretch * scores) ** 2
        moves |= problem.stretch > 0
    for keys, E in problem.factors:
        squared[keys] += problem.scale**2 * ((E.T @ query) ** 2).sum()
        moves[keys] = True
    reach = np.where(moves, np.hypot(np.sqrt(squared), smoothing), 0.0)
    if problem.scale_low is None or problem.scale_high is None:
        return scores + reach, scores - reach
    middle = (problem.scale_low + problem.scale_high) / 2 * scores
    half_range = (problem.scale_high - problem.scale_low) / 2
    reach = reach + half_range * np.hypot(scores, smoothing)
    return middle + reach, middle - reach


def solved(
    problem: QueryProblem, progress: Callable[[float], None] | None = None
) -> QuerySolution:
    """What the solver says; nothing where numbers are beyond what floats can tell."""
    try:
        return solve(problem, progress=progress)
    except (FloatingPointError, OverflowError, np.linalg.LinAlgError):
        zero = np.zeros(problem.shape[1])
        constraints = (len(problem.keys), len(problem.targets))
        even = np.full(constraints, 1 / math.prod(constraints))
        return QuerySolution(zero, even, "stalled", 0, witness=zero, best=zero)
