"""How often a design grants its wish when keys are random: at least as often as proven, mostly more often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.enclosure import Enclosure
from headwright.noise.granted import granted, not_by_chance
from headwright.queries.guard import ways_to_fail
from headwright.queries.statement import Question

SAMPLES, NUMBERS = 100_000, 2 * 10**8  # draws; fewer if they would take more scores than this in all


@dataclass(frozen=True)
class Chance:
    """A sampled probability with its 95% Clopper-Pearson interval, and its exact value where that can be had.

    >>> Chance(0.96, (0.95, 0.97), 1000, conservative=True).probability
    0.96
    """

    probability: float
    interval: tuple[float, float]
    samples: int
    conservative: bool  # several ways to fail were counted as if they never coincided
    exact: Enclosure | None = None
    evenly: bool = False  # what may be any of several things was drawn as if each were as likely


def chance(question: Question, queries: Float[np.ndarray, "heads d"], seed: int = 0) -> Chance:
    """Draw the world many times and count how often the mean of the patterns grants the wish.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> world = World({0: Noise(spread=Isotropic(0.01))})
    >>> question = Question((np.eye(2),), copy(0), world, Fraction(1), Fraction(9, 10))
    >>> chance(question, np.array([[9.0, -9.0]])).interval[0] > 0.99
    True
    """
    keys, world = question.keys[0], question.world
    samples = max(100, min(SAMPLES, NUMBERS // (len(keys) * len(queries))))
    found = granted(keys, queries, world, question.wish.least, samples=samples, scale=question.scale, seed=seed)
    # However what is not random is drawn, the wish is granted as often as was proved.
    not_by_chance(found.held.nearly, 0, samples, Enclosure(float(question.confidence), 1.0), "how often it is granted")
    evenly = bool(world.sampled_sets) or world.lists_scales
    return Chance(
        found.probability, found.interval, samples,
        conservative=min(ways_to_fail(question, kind) for kind in ("keys", "pairs")) > 1,
        exact=None if evenly else found.exact, evenly=evenly,
    )  # fmt: skip
