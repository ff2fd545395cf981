"""Sampling scores, never keys.

For a fixed query only scores matter. A key mu + e with e ~ N(0, S) has, over h heads with queries in the rows of
Q, scores Q mu + N(0, Q S Q^T): h numbers to draw instead of d, from exactly the same distribution. A uniform
point of a ball is projected the same way. So a sample costs O(n h), whatever the dimension of the keys.

Draws come in parts of a fixed size, each with a random stream of its own: so it does not matter who draws them, and
an executor (of concurrent.futures, such as `headwright.workers.executor`) draws the very same numbers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright import attention
from headwright.errors import InputError
from headwright.noise.world import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Normal,
    OneOf,
    Scale,
    Spread,
    World,
)
from headwright.workers import checked

NUMBERS_AT_ONCE = 2**16  # scores drawn in one block: half a megabyte stays in the cache
PART = 2**17  # draws from one random stream
AHEAD = 64  # parts that an executor has to do at a time


def sample_scores(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    world: World,
    samples: int,
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> Iterator[Float[np.ndarray, "block heads n"]]:
    """Scores of all heads in `samples` independent draws of the world, block by block.

    >>> from headwright.noise import Noise, Isotropic
    >>> noisy = World(others=Noise(spread=Isotropic(0.01)))
    >>> blocks = sample_scores(np.eye(3), np.array([[1.0, 0.0, 0.0]]), noisy, 50_000)
    >>> scores = np.concatenate(list(blocks))
    >>> scores.shape, scores[:, 0, 0].mean().round(2), scores[:, 0, 0].std().round(2)
    ((50000, 1, 3), np.float64(1.0), np.float64(0.1))
    """
    law = Law.of(keys, queries, world, samples, scale=scale)
    for part in range(_parts(samples)):
        yield from law.draw(seed, part, min(PART, samples - part * PART))


def sample_weights(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    world: World,
    targets: Sequence[int],
    samples: int,
    *,
    scale: float = 1.0,
    seed: int = 0,
    executor: Executor | None = None,
) -> Iterator[Float[np.ndarray, "block targets"]]:
    """The targets' weights (the mean over the heads) in `samples` independent draws of the world, block by block.

    An executor draws part by part; the numbers and their order are the same.

    >>> next(sample_weights(np.eye(2), np.zeros((1, 2)), World(), [1], 3))
    array([[0.5],
           [0.5],
           [0.5]])
    """
    law = Law.of(keys, queries, world, samples, scale=scale)
    parts = [(law, list(targets), seed, part, min(PART, samples - part * PART)) for part in range(_parts(samples))]
    if executor is None:
        for part in parts:
            yield from _weights(*part)
        return
    out: deque[Future[Float[np.ndarray, "block targets"]]] = deque()
    for part in parts:
        out.append(executor.submit(checked(_whole_part), *part))
        if len(out) >= AHEAD:
            yield out.popleft().result()
    while out:
        yield out.popleft().result()


def _parts(samples: int) -> int:
    return -(-samples // PART)


@dataclass(frozen=True)
class Law:
    """All that draws of the scores depend on: a few numbers a key, however long keys are."""

    base: Float[np.ndarray, "heads n"]
    scaled: tuple[tuple[int, Scale | None], ...] = ()  # keys whose length is random
    spreads: tuple[_Projection, ...] = ()
    table: Float[np.ndarray, "scenarios heads n"] | None = None  # if the world is one of several

    @classmethod
    def of(
        cls,
        keys: Float[np.ndarray, "n d"],
        queries: Float[np.ndarray, "heads d"],
        world: World,
        samples: int,
        *,
        scale: float,
    ) -> Law:
        """What these queries see of this world."""
        if samples < 1:
            raise InputError(f"{samples} samples: expected at least 1")
        world.check_fits(keys)
        seen = queries * scale
        base = attention.scores(keys, seen)
        if world.scenarios:
            return cls(base, table=np.stack([attention.scores(scenario, seen) for scenario in world.scenarios]))
        return cls(
            base,
            tuple((i, noise.scale) for i in range(len(keys)) if (noise := world.of(i)).scale is not None),
            tuple(_Projection.of(spread, which, seen) for spread, which in _shared_spreads(world, len(keys))),
        )

    def draw(self, seed: int, part: int, count: int) -> Iterator[Float[np.ndarray, "block heads n"]]:
        """The draws of one part, block by block."""
        rng = np.random.default_rng([seed, part] if part else seed)
        block = max(1, NUMBERS_AT_ONCE // self.base.size)
        for start in range(0, count, block):
            yield self._block(min(block, count - start), rng)

    def _block(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, "block heads n"]:
        if self.table is not None:
            chosen: Float[np.ndarray, "block heads n"] = self.table[rng.integers(len(self.table), size=count)]
            return chosen
        s = np.empty((count, *self.base.shape))
        s[:] = self.base
        for i, law in self.scaled:
            s[:, :, i] *= _draw_factor(law, count, rng)[:, None]
        for spread in self.spreads:
            s[:, :, spread.which] += spread.draw(count, rng)
        return s


def _weights(
    law: Law, targets: list[int], seed: int, part: int, count: int
) -> Iterator[Float[np.ndarray, "block targets"]]:
    for block in law.draw(seed, part, count):
        yield attention.pattern(block).mean(axis=1)[:, targets]


def _whole_part(law: Law, targets: list[int], seed: int, part: int, count: int) -> Float[np.ndarray, "draws targets"]:
    return np.concatenate(list(_weights(law, targets, seed, part, count)))


@dataclass(frozen=True)
class _Projection:
    """A spread as the heads see it: deviations of the scores are `factor` times a few coordinates."""

    which: slice | list[int]  # the keys that have this spread
    keys: int
    factor: Float[np.ndarray, "heads r"]
    ball_dim: int  # coordinates of a uniform point of a ball of that dimension, or of a standard normal if 0

    @classmethod
    def of(cls, spread: Spread, which: slice | list[int], queries: Float[np.ndarray, "heads d"]) -> _Projection:
        keys = which.stop if isinstance(which, slice) else len(which)
        match spread:
            case Isotropic(variance):
                return cls(which, keys, math.sqrt(variance) * _short(queries), 0)
            case Covariance(matrix):
                values, vectors = np.linalg.eigh(queries @ matrix @ queries.T)
                return cls(which, keys, vectors * np.sqrt(np.clip(values, 0, None)), 0)
            case Ball(radius):
                return cls(which, keys, radius * _short(queries), queries.shape[1])
            case Ellipsoid(matrix):
                return cls(which, keys, _short(queries @ matrix), matrix.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, "block heads keys"]:
        r = self.factor.shape[1]
        z = rng.standard_normal((r, count, self.keys))
        if self.ball_dim:
            # A uniform direction is a normal vector over its length; only r of its coordinates are needed.
            rest = rng.chisquare(self.ball_dim - r, (count, self.keys)) if self.ball_dim > r else 0.0
            length = rng.random((count, self.keys)) ** (1 / self.ball_dim)
            z *= length / np.sqrt((z**2).sum(axis=0) + rest)
        if self.factor.shape == (1, 1):  # one head: no matrix product needed
            z *= self.factor[0, 0]
            return z.reshape(count, 1, self.keys)
        deviations: Float[np.ndarray, "block heads keys"] = np.einsum("hr,rck->chk", self.factor, z)
        return deviations


def _short(matrix: Float[np.ndarray, "heads d"]) -> Float[np.ndarray, "heads r"]:
    """A matrix F with F F^T = matrix matrix^T and as few columns as heads: a rotation of the unused rest."""
    U, s, _ = np.linalg.svd(matrix, full_matrices=False)
    short: Float[np.ndarray, "heads r"] = U * s
    return short


def _shared_spreads(world: World, n: int) -> Iterator[tuple[Spread, slice | list[int]]]:
    """Each spread with the keys that have it, so that keys with the same spread are drawn together."""
    groups: dict[int, tuple[Spread, list[int]]] = {}
    for i in range(n):
        spread = world.of(i).spread
        if spread is not None:
            groups.setdefault(id(spread), (spread, []))[1].append(i)
    for spread, which in groups.values():
        yield spread, slice(0, n) if len(which) == n else which


def _draw_factor(law: Scale | None, count: int, rng: np.random.Generator) -> Float[np.ndarray, " block"]:
    match law:
        case Normal(mean, _):
            return rng.normal(mean, law.deviation, count)
        case Between(low, high):
            return rng.uniform(low, high, count)
        case OneOf(values):
            return rng.choice(np.array(values), count)
        case None:
            return np.ones(count)
