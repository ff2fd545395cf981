"""Lower bounds for the matrix of scores: nearly the best evidence, in floating point, for the checker to judge."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.weights.certify import Bound
from headwright.weights.deploy import factors
from headwright.weights.plan import Space, Task
from headwright.weights.rank import cut, factored
from headwright.weights.smallest import Aim, Found, smallest

MOST_NUCLEAR = 16  # rules; of more, the checker's elimination in exact numbers would take longer than all else


def lower_bound(
    space: Space,
    tasks: tuple[Task, ...],
    places: Sequence[int],
    head: int,
    norm: str,
    near: Float[np.ndarray, "D D"] | None = None,
) -> Bound | None:
    """The bound for the floors of these tasks, whose rules have these numbers; None where there is nothing to bound.

    The witness is the smallest matrix of scores for the floors, without any room, and where tokens are certain. It is
    found sooner where a matrix is given that is nearly that.
    """
    if not tasks:
        return None
    aims = space.aims(tasks, 0.0)
    if norm == "nuclear" and len(tasks) > MOST_NUCLEAR:
        return None
    found = smallest(aims, None if near is None else space.inside(near))
    if norm == "nuclear" and found.granted and found.matrix.any():
        rows = min(*found.matrix.shape, sum(len(aim.targets) for aim in aims))
        found = factored(aims, [cut(found.matrix, rows)]) or found
    if not found.multipliers or not found.matrix.any() or not np.isfinite(found.violation):
        return None
    least = value(aims, found, norm)
    if not least > 0:
        return None
    shares = _shares(aims, found)
    multipliers = {
        (place, a): float(x)
        for place, task, mine in zip(places, tasks, shares, strict=True)
        for a, x in zip(task.floors, mine, strict=True)
    }
    return Bound(head, norm, Fraction(f"{least:.15g}"), factors(space.lifted(found.matrix)), multipliers)


def value(aims: Sequence[Aim], found: Found, norm: str) -> float:
    """The bound that these multipliers and the patterns at this matrix give, in floating point.

    >>> aims = [Aim(np.eye(2), np.ones(1), (0,), np.array([0.01]))]
    >>> found = smallest(aims)
    >>> bool(abs(value(aims, found, "frobenius") - np.linalg.norm(found.matrix)) < 1e-9)
    True
    """
    G, right = np.zeros(found.matrix.shape), 0.0
    for aim, mine in zip(aims, _shares(aims, found), strict=True):
        for a, slack, x in zip(aim.targets, aim.slacks, mine, strict=True):
            others = np.delete(aim.keys, a, axis=0) - aim.keys[a]  # differences: all of this may nearly cancel
            scores = others @ found.matrix @ aim.query
            e = np.exp(np.minimum(scores + np.delete(aim.shifts, a) - aim.shifts[a], 700.0))
            pi = e / (1 + e.sum())
            G += x * np.outer(pi @ others, aim.query)
            right += x * float(np.log1p(e.sum()) - np.log1p(slack) - pi @ scores)
    size = float(np.linalg.norm(G, "fro" if norm == "frobenius" else 2))
    return right / size if size > 0 else 0.0


def _shares(aims: Sequence[Aim], found: Found) -> list[Float[np.ndarray, " m"]]:
    """Multipliers of the constraint ln(1 + sum) <= ln(1 + slack) instead of ln sum <= ln slack."""
    shares = [m * (1 + aim.slacks) / aim.slacks for m, aim in zip(found.multipliers, aims, strict=True)]
    most = max((float(x.max(initial=0.0)) for x in shares), default=0.0)
    return [np.where(x > 1e-12 * most, x, 0.0) / (most or 1.0) for x in shares]
