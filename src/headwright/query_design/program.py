"""The question as a convex program for the solver, and the solver's result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from headwright.query_design.certify import GuardEvidence
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.solver import solve
from headwright.query_design.statement import DesignQuestion


def program(
    question: DesignQuestion, guard: GuardEvidence | None = None
) -> QueryProblem:
    """The convex program whose solution is the shortest query, in floating point; random keys are guarded against."""
    n, targets = question.n, question.targets.indices
    floors = [question.targets.least[a] for a in targets]
    low, high, ball, stretch, random = (
        np.ones(n),
        np.ones(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, dtype=bool),
    )
    factors: dict[bytes, tuple[list[int], Float[np.ndarray, "d width"]]] = {}
    for entry in question.entries:
        z = (
            float(guard.deviations)
            if entry.random and guard is not None
            else 1.0 - entry.random
        )
        low[entry.keys], high[entry.keys] = entry.scale
        ball[entry.keys], stretch[entry.keys], random[entry.keys] = (
            z * entry.ball,
            z * entry.stretch,
            entry.random,
        )
        if entry.width:
            factors.setdefault((z * entry.factor).tobytes(), ([], z * entry.factor))[
                0
            ].extend(entry.keys.tolist())
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
        factors=tuple((np.array(which), E) for which, E in factors.values()),
        spare=np.array([float(left / p) for p in floors]),
        random=random if pairs else None,
        pairs=pairs,
    )


def ends(
    problem: QueryProblem,
    scenario: int,
    query: Float[np.ndarray, " d"],
    smoothing: float = 0.0,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The highest and the lowest score that each key can have, in floating point; kinks may be smoothed."""
    scores = problem.scale * (problem.keys[scenario] @ query)
    squared, moves = np.zeros_like(scores), np.zeros(len(scores), dtype=bool)
    if problem.ball is not None:
        squared += (problem.scale * problem.ball) ** 2 * (query @ query)
        moves |= problem.ball > 0
    if problem.stretch is not None:
        squared += (problem.stretch * scores) ** 2
        moves |= problem.stretch > 0
    for which, E in problem.factors:
        squared[which] += problem.scale**2 * ((E.T @ query) ** 2).sum()
        moves[which] = True
    reach = np.where(moves, np.hypot(np.sqrt(squared), smoothing), 0.0)
    if problem.scale_low is None or problem.scale_high is None:
        return scores + reach, scores - reach
    middle = (problem.scale_low + problem.scale_high) / 2 * scores
    reach = reach + (problem.scale_high - problem.scale_low) / 2 * np.hypot(
        scores, smoothing
    )
    return middle + reach, middle - reach


def solved(
    problem: QueryProblem, progress: Callable[[float], None] | None = None
) -> QuerySolution:
    """What the solver says; nothing where numbers are beyond what floats can tell."""
    try:
        return solve(problem, progress=progress)
    except (FloatingPointError, OverflowError, np.linalg.LinAlgError):
        zero, shape = (
            np.zeros(problem.shape[1]),
            (len(problem.keys), len(problem.targets)),
        )
        even = np.full(shape, 1 / (shape[0] * shape[1]))
        return QuerySolution(zero, even, "stalled", 0, witness=zero, best=zero)
