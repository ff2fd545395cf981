"""How likely queries meet targets where keys are random: exactly for one random key, else by drawing."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from tests.referee.numbers import as_float
from tests.referee.problem import Problem, ends, realizations

DRAWS, SURE = (
    4000,
    6.0,
)  # and by how many standard deviations of the estimate it must differ to count


def failing(
    problem: Problem, queries: list[np.ndarray], draws: int = DRAWS
) -> tuple[float, float]:
    """Bounds of the probability that the targets are not met: from below in one of some realizations, from above
    in all.

    What is not random is at its worst: for the bound from above, for each query and each target by itself.
    """
    K, s = problem.keys[0], as_float(problem.scale)
    parts = [ends(problem, K, q) for q in queries]
    up, low = [e.up for e in parts], [e.low for e in parts]
    lower, upper = _in_uncertainty(problem, queries, up, low, draws)
    if (
        any((a != b).any() for a, b in zip(up, low, strict=True))
        and len(queries) * len(problem.targets) > 1
    ):
        lower = 0.0
        for a in problem.targets:
            for placed in realizations(problem, K, queries, a):
                scores = [s * (placed @ q) for q in queries]
                lower = max(
                    lower, _in_uncertainty(problem, queries, scores, scores, draws)[0]
                )
    return lower, upper


def _in_uncertainty(
    problem: Problem,
    queries: list[np.ndarray],
    up: list[np.ndarray],
    low: list[np.ndarray],
    draws: int,
) -> tuple[float, float]:
    """Bounds of the probability of failing."""
    K = problem.keys[0]
    deviations = [ends(problem, K, q).deviation for q in queries]
    moving = [i for i in range(problem.n) if any(d[i] > 0 for d in deviations)]
    if len(queries) == 1 and len(moving) <= 1 and len(problem.targets) == 1:
        at = _one_moves(problem, up[0], low[0], deviations[0], moving)
        return at * (1 - 1e-9) - 1e-15, at * (1 + 1e-9) + 1e-15
    rng = np.random.default_rng(1)
    off = [np.zeros((draws, problem.n)) for _ in queries]
    entry_of = problem.entry_of()
    s = as_float(problem.scale)
    for i in moving:
        if len(queries) == 1:
            off[0][:, i] = deviations[0][i] * rng.standard_normal(draws)
            continue
        entry = entry_of[i]
        E = np.array(
            [[as_float(x) for x in column] for column in entry.factor]
        ).reshape(-1, problem.d)
        roots = np.vstack(
            [
                float(entry.ball) * np.eye(problem.d),
                float(entry.stretch) * K[i][None],
                E,
            ]
        )
        drawn = rng.standard_normal((draws, len(roots)))
        for head, q in enumerate(queries):
            off[head][:, i] = s * (drawn @ (roots @ q))
    kept = np.ones(draws, dtype=bool)
    with np.errstate(all="ignore"):
        for a, p in problem.targets.items():
            missing = np.zeros(draws)
            for head in range(len(queries)):
                x = (
                    np.delete(up[head] + off[head], a, axis=1)
                    - (low[head][a] + off[head][:, a])[:, None]
                )
                R = np.exp(np.minimum(x, 700.0)).sum(axis=1)
                missing += R / (1 + R) / len(queries)
            kept &= missing <= as_float(1 - p) * (1 + 1e-9)
    failed = 1 - float(kept.mean())
    width = (
        SURE * math.sqrt(max(failed * (1 - failed), 1 / draws) / draws)
        + 2 * SURE / draws
    )
    return max(failed - width, 0.0), min(failed + width, 1.0)


def _one_moves(
    problem: Problem,
    up: np.ndarray,
    low: np.ndarray,
    deviation: np.ndarray,
    moving: list[int],
) -> float:
    """One target and at most one random key: how likely it fails is a tail of the normal distribution."""
    ((a, p),) = problem.targets.items()
    with np.errstate(all="ignore"):
        x = up - low[a]
        room = as_float(1 - p) / as_float(p)
        others = np.array([i for i in range(problem.n) if i != a], dtype=int)
        if not moving:
            return float(np.exp(x[others]).sum() > room)
        i = moving[0]
        if i == a:  # sum exp(x - e) <= room
            return (
                float(
                    ndtr((float(logsumexp(x[others])) - math.log(room)) / deviation[a])
                )
                if room > 0
                else 1.0
            )
        left = room - float(np.exp(x[[j for j in others if j != i]]).sum())
        return (
            float(np.exp(log_ndtr(-(math.log(left) - x[i]) / deviation[i])))
            if left > 0
            else 1.0
        )
