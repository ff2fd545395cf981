"""A design that was verified, tried out in floating point: its length, and what it does in draws of its world."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.enclosure import TOLERANCE, held_to
from headwright.noise.sampling import sample_weights
from headwright.queries.statement import Question

DRAWS = 8  # of a world that is not fixed; and four for each scenario


def try_out(question: Question, queries: Float[np.ndarray, "heads d"], norm: float, lower_bound: float) -> None:
    """Nothing, if queries that were verified do what was proved; else a ContradictionError.

    The longest is not shorter than the bound, and every target gets its least weight in every draw of the world. What
    is drawn where keys are random is held against the proof in `chance`.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> try_out(question, np.array([[1.0, 0.0]]), 1.0, 0.5)
    Traceback (most recent call last):
    headwright.errors.ContradictionError: the weight of key 0: at least 0.990099 was proved, and an instance gives ...
    """
    held_to(norm, "the longest query", least=lower_bound, tolerance=TOLERANCE * norm)
    if question.random:
        return
    ends = [abs(float(end)) for entry in question.entries for end in entry.ends]
    with np.errstate(over="ignore", invalid="ignore"):
        longest = max(float(np.linalg.norm(keys, axis=1).max()) for keys in question.keys) * max([1.0, *ends])
        room = TOLERANCE + 8 * question.d * 2.0**-53 * abs(float(question.scale)) * norm * longest
    if not room < 1:  # scores are so large that floating point says nothing of the pattern
        return
    least, scale = question.wish.least, float(question.scale)
    draws = 1 if question.world.fixed else max(DRAWS, 4 * len(question.keys))
    for block in sample_weights(question.keys[0], queries, question.world, list(least), draws, scale=scale):
        for target, weight in zip(least, block.min(axis=0).tolist(), strict=True):
            held_to(weight, f"the weight of key {target}", least=float(least[target]), tolerance=room)
