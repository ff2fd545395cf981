"""How often a design grants its wish when keys are random: at least as often as proven, mostly more often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright import attention
from headwright.design.guard import ways_to_fail
from headwright.design.statement import Question
from headwright.noise import clopper_pearson, sample_scores

SAMPLES, NUMBERS = 100_000, 2 * 10**8  # draws; fewer if they would take more scores than this in all


@dataclass(frozen=True)
class Chance:
    """A sampled probability, with its 95% Clopper-Pearson interval.

    >>> Chance(0.96, (0.95, 0.97), 1000, conservative=True).probability
    0.96
    """

    probability: float
    interval: tuple[float, float]
    samples: int
    conservative: bool  # several ways to fail were counted as if they never coincided


def chance(question: Question, queries: Float[np.ndarray, "heads d"], seed: int = 0) -> Chance:
    """Draw the world many times and count how often the mean of the patterns grants the wish.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> world = World({0: Noise(spread=Isotropic(0.01))})
    >>> question = Question((np.eye(2),), copy(0), world, Fraction(1), Fraction(9, 10))
    >>> chance(question, np.array([[9.0, -9.0]])).interval[0] > 0.99
    True
    """
    keys, least = question.keys[0], question.wish.least
    samples = max(100, min(SAMPLES, NUMBERS // (len(keys) * len(queries))))
    blocks = sample_scores(keys, queries, question.world, samples, scale=float(question.scale), seed=seed)
    held = 0
    for block in blocks:
        pattern = attention.pattern(block).mean(axis=1)
        held += int(np.all([pattern[:, a] >= float(p) for a, p in least.items()], axis=0).sum())
    conservative = min(ways_to_fail(question, kind) for kind in ("keys", "pairs")) > 1
    return Chance(held / samples, clopper_pearson(held, samples), samples, conservative)
