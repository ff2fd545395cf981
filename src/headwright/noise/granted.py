"""How often queries grant a wish in a world: sampled with its interval, and from both sides where that can be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.enclosure import TOLERANCE, Enclosure, held_to
from headwright.errors import InputError
from headwright.files import indices
from headwright.noise.intervals import clopper_pearson
from headwright.noise.proven import probability_granted, why_not_exact
from headwright.noise.sampling import sample_weights
from headwright.noise.world import World, rows

NEVER = 1 - 1e-12  # of an interval that is wrong by chance as good as never


@dataclass(frozen=True)
class Held:
    """In how many draws every target had its least weight; and a little less than it, and a little more.

    >>> Held().plus(np.array([[0.5, 0.4], [0.7, 0.25]]), [(1, Fraction(1, 4))])
    Held(times=2, nearly=2, clearly=1)
    """

    times: int = 0
    nearly: int = 0
    clearly: int = 0

    def plus(self, weights: Float[np.ndarray, "draws targets"], least: Sequence[tuple[int, Fraction]]) -> Held:
        """With more draws."""
        counts = (
            int(np.all([weights[:, k] >= float(p) + by for k, p in least], axis=0).sum())
            for by in (0.0, -TOLERANCE, TOLERANCE)
        )
        return Held(*(old + new for old, new in zip((self.times, self.nearly, self.clearly), counts, strict=True)))


@dataclass(frozen=True)
class Granted:
    """The probability that every target gets its least weight (of the mean pattern over the heads).

    >>> found = granted(np.eye(2), np.array([[9.0, 0.0]]), World(), {0: Fraction(1, 2)}, samples=10)
    >>> found.probability, found.exact.lower
    (1.0, 1.0)
    """

    least: dict[int, Fraction]
    probability: float  # sampled
    interval: tuple[float, float]  # Clopper-Pearson
    exact: Enclosure | None  # proven
    why_not_exact: str
    samples: int
    seed: int
    confidence: float  # of the interval
    held: Held


def granted(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    world: World,
    least: Mapping[int, Fraction],
    *,
    samples: int = 100_000,
    scale: Fraction | float = 1.0,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[float], None] | None = None,
    executor: Executor | None = None,
) -> Granted:
    """Draw the world many times and count how often the wish is granted; prove it where one random number decides.

    >>> from headwright.noise import Isotropic, Noise
    >>> world = World({0: Noise(spread=Isotropic(0.01))})
    >>> found = granted(np.eye(2), np.array([[9.0, -9.0]]), world, {0: Fraction(100, 101)})
    >>> print(found.exact)
    0.9999999999 .. 1
    """
    keys, queries = rows(keys, queries, world)
    check_targets(list(least), len(keys))
    held, done = Held(), 0
    for block in sample_weights(
        keys, queries, world, list(least), samples, scale=float(scale), seed=seed, executor=executor
    ):
        held = held.plus(block, list(enumerate(least.values())))
        done += len(block)
        if progress is not None:
            progress(done / samples)
    return summed_up(
        held, keys, queries, world, least, samples=samples, scale=scale, seed=seed, confidence=confidence
    )  # fmt: skip


def not_by_chance(nearly: int, clearly: int, samples: int, proven: Enclosure, what: str) -> None:
    """Nothing, if so many draws may come from a probability that was proved; else a ContradictionError.

    `nearly` are those in which it happened, or all but happened; `clearly` those in which it did beyond all rounding.
    An interval that holds but for one sample in 10^12 must meet the proven one.

    >>> not_by_chance(90, 90, 100, Enclosure(0.1, 0.2), "a wish")
    Traceback (most recent call last):
    headwright.errors.ContradictionError: a wish: at most 0.2 was proved, and an instance gives 0.570...
    """
    held_to(clopper_pearson(nearly, samples, NEVER)[1], what, least=proven.lower)
    held_to(clopper_pearson(clearly, samples, NEVER)[0], what, most=proven.upper)


def summed_up(
    held: Held,
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    world: World,
    least: Mapping[int, Fraction],
    *,
    samples: int,
    scale: Fraction | float,
    seed: int,
    confidence: float,
) -> Granted:
    """What so many draws in which the wish was granted say, beside what can be proven.

    >>> World().fixed and summed_up(
    ...     Held(9, 9, 9), np.eye(2), np.zeros((1, 2)), World(), {0: Fraction(2, 5)}, samples=9, scale=1, seed=0,
    ...     confidence=0.95,
    ... ).exact
    Enclosure(lower=1.0, upper=1.0)
    """
    reason = why_not_exact(keys, queries, world)
    proven = None if reason else probability_granted(keys, queries, world, least, scale=scale)
    if proven is not None:
        not_by_chance(held.nearly, held.clearly, samples, proven, "how often the wish is granted")
    return Granted(
        least=dict(least),
        probability=held.times / samples,
        interval=clopper_pearson(held.times, samples, confidence),
        exact=proven,
        why_not_exact=reason,
        samples=samples,
        seed=seed,
        confidence=confidence,
        held=held,
    )


def check_targets(targets: Sequence[int], n: int) -> None:
    """Refuse targets that are not different keys.

    >>> check_targets([0, 0], 2)
    Traceback (most recent call last):
    headwright.errors.InputError: targets [0, 0]: expected each key once
    """
    if not indices(targets, "targets"):
        raise InputError("no targets: expected at least one key to watch")
    for target in targets:
        if not 0 <= target < n:
            raise InputError(f"target {target}, and there are {n} keys: expected 0 to {n - 1}")
    if len(set(targets)) < len(targets):
        raise InputError(f"targets {list(targets)}: expected each key once")
