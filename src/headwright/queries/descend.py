"""Several queries improved together: heads may leave each other a little of the work.

    minimise the longest |q_h|   subject to   sum_h 1 / (1 + S_a(q_h)) >= h p_a   for every target a,

where S_a sums up what competes with a. That is not convex: a descent from a good start, in floating point.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.queries.guard import Guard
from headwright.queries.program import program
from headwright.queries.solving.bound import program_of
from headwright.queries.solving.constraints import evaluate
from headwright.queries.statement import Question

MOST_NUMBERS = 256  # in all queries; beyond, a step costs more than it is worth
MOST_KEYS = 20_000  # numbers in the keys
STARTS = 4
HAIR = 1e-10  # of what the wish leaves open: so that rounding does no harm
Queries = Float[np.ndarray, "heads d"]


def gathered(question: Question, guard: Guard | None) -> Queries | None:
    """Queries that grant the wish together though no way of sharing it out does, from several starts; None if none.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import average
    >>> from headwright.noise import World
    >>> question = Question((np.eye(5),), average([0, 1, 2]), World(), Fraction(1), Fraction(1), heads=2)
    >>> gathered(question, None).shape
    (2, 5)
    """
    rng, keys, targets = np.random.default_rng(0), question.keys[0], question.wish.targets
    away = keys[targets] - keys.mean(axis=0)
    size = float(np.square(away).sum(axis=1).max()) * abs(float(question.scale)) or 1.0
    found = []
    for number in range(STARTS):
        shares = rng.dirichlet(np.ones(len(targets)), size=question.heads)
        start = shares @ away * (3.0 * 2.0**number / size * np.sign(float(question.scale)))
        better = descended(question, guard, start, shorter=False)
        if better is not None:
            found.append(better)
    return min(found, key=lambda queries: float(np.linalg.norm(queries, axis=1).max()), default=None)


def descended(question: Question, guard: Guard | None, queries: Queries, *, shorter: bool = True) -> Queries | None:
    """Shorter queries that grant the wish together, or any, in floating point; None if none were found.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import average
    >>> from headwright.noise import World
    >>> question = Question((np.eye(8),), average([0, 1]), World(), Fraction(1), Fraction(1), heads=2)
    >>> start = np.array([[6.5, -0.3] + [-0.9] * 6, [-0.3, 6.5] + [-0.9] * 6])
    >>> bool(np.linalg.norm(descended(question, None, start), axis=1).max() < 6.6)
    True
    """
    from scipy.optimize import minimize

    problem = program(question, guard)
    if queries.size > MOST_NUMBERS or problem.keys[0].size > MOST_KEYS:
        return None
    heads, d = queries.shape
    scene, unit = program_of(problem)
    slacks = np.tile(scene.log_slacks, len(scene.scenarios))
    wanted = np.tile(problem.floors, len(scene.scenarios)) * heads
    smoothing = 0.0 if problem.certain else 1e-9

    def weights(x: Float[np.ndarray, " all"]) -> tuple[Float[np.ndarray, "heads c"], Float[np.ndarray, "heads c d"]]:
        given, slopes = [], []
        for query in x[1:].reshape(heads, d):
            state = evaluate(scene, query, smoothing, curved=False)
            log_sums = state.values + slacks
            given.append(np.exp(-np.logaddexp(0.0, log_sums)))
            slopes.append(-np.exp(log_sums - 2 * np.logaddexp(0.0, log_sums))[:, None] * state.slopes)
        return np.array(given), np.array(slopes)

    def spare(x: Float[np.ndarray, " all"]) -> Float[np.ndarray, " all"]:
        lengths = x[0] - np.square(x[1:].reshape(heads, d)).sum(axis=1)
        return np.concatenate([lengths, weights(x)[0].sum(axis=0) - wanted * (1 + HAIR)])

    def spare_slope(x: Float[np.ndarray, " all"]) -> Float[np.ndarray, "all all"]:
        table = np.zeros((heads + len(wanted), 1 + heads * d))
        table[:heads, 0] = 1.0
        slopes = weights(x)[1]
        for h, query in enumerate(x[1:].reshape(heads, d)):
            columns = slice(1 + h * d, 1 + (h + 1) * d)
            table[h, columns] = -2 * query
            table[heads:, columns] = slopes[h]
        return table

    inside = np.stack([unit.inside(query) for query in queries])
    start, longest = inside.ravel(), float(np.square(inside).sum(axis=1).max())
    objective = np.zeros(1 + heads * d)
    objective[0] = 1.0
    found = minimize(  # type: ignore[call-overload]
        lambda x: float(x[0]), np.concatenate([[longest], start]), jac=lambda _: objective, method="SLSQP",
        constraints={"type": "ineq", "fun": spare, "jac": spare_slope}, options={"maxiter": 100, "ftol": 1e-12},
    )  # fmt: skip
    x = np.asarray(found.x)
    if not np.all(np.isfinite(x)) or float(spare(x)[heads:].min()) < -HAIR:
        return None
    if shorter and float(np.square(x[1:].reshape(heads, d)).sum(axis=1).max()) >= longest:
        return None
    return np.stack([unit.outside(query) for query in x[1:].reshape(heads, d)])
