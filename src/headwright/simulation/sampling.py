"""Sample the scores of an uncertainty without drawing keys.

For a fixed query only scores matter. A key mu + e with e ~ N(0, S) has, over h heads with queries in the rows of
Q, scores Q mu + N(0, Q S Q^T): h numbers to draw instead of d, from exactly the same distribution. A uniform
point of a ball is projected the same way. So a sample costs O(n h), whatever the dimension of the keys.

Draws come in parts of a fixed size, each with a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright import attention
from headwright.errors import InputError
from headwright.files import indices
from headwright.uncertainty.scales import Scale
from headwright.uncertainty.spreads import Seen, Spread
from headwright.uncertainty.uncertainty import Uncertainty, rows

NUMBERS_AT_ONCE = 2**16  # scores drawn in one block: half a megabyte stays in the cache
PART = 2**17  # draws from one random stream


def sample_weights(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    targets: Sequence[int],
    samples: int,
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> Iterator[Float[np.ndarray, "block targets"]]:
    """The targets' weights (the mean over the heads) in `samples` independent draws of the uncertainty, block by block.

    >>> next(sample_weights(np.eye(2), np.zeros((1, 2)), Uncertainty(), [1], 3))
    array([[0.5],
           [0.5],
           [0.5]])
    """
    law = ScoreLaw.of(keys, queries, uncertainty, samples, scale=scale)
    watched = indices(targets, "targets")
    for part in range(-(-samples // PART)):
        for block in law.draw(seed, part, min(PART, samples - part * PART)):
            yield attention.pattern(block).mean(axis=1)[:, watched]


@dataclass(frozen=True)
class ScoreLaw:
    """All that draws of the scores depend on: a few numbers a key, however long keys are."""

    base: Float[np.ndarray, "heads n"]
    scaled: tuple[tuple[int, Scale], ...] = ()  # keys whose length is random
    spreads: tuple[tuple[Seen, list[int]], ...] = ()  # with the keys that have it
    table: Float[np.ndarray, "scenarios heads n"] | None = (
        None  # if the uncertainty is one of several
    )

    @classmethod
    def of(
        cls,
        keys: Float[np.ndarray, "n d"],
        queries: Float[np.ndarray, "heads d"],
        uncertainty: Uncertainty,
        samples: int,
        *,
        scale: float,
    ) -> ScoreLaw:
        """What these queries see of this uncertainty."""
        if samples < 1:
            raise InputError(f"{samples} samples: expected at least 1")
        keys, queries = rows(keys, queries, uncertainty)
        seen = queries * scale
        base = attention.scores(keys, seen)
        if uncertainty.scenarios:
            return cls(
                base,
                table=np.stack(
                    [
                        attention.scores(scenario, seen)
                        for scenario in uncertainty.scenarios
                    ]
                ),
            )
        return cls(
            base,
            tuple(
                (i, law)
                for i in range(len(keys))
                if (law := uncertainty.of(i).scale) is not None
            ),
            tuple(
                (spread.seen(seen), which)
                for spread, which in _shared_spreads(uncertainty, len(keys))
            ),
        )

    def draw(
        self, seed: int, part: int, count: int
    ) -> Iterator[Float[np.ndarray, "block heads n"]]:
        """The draws of one part, block by block."""
        rng = np.random.default_rng([seed, part] if part else seed)
        block = max(1, NUMBERS_AT_ONCE // self.base.size)
        for start in range(0, count, block):
            yield self._block(min(block, count - start), rng)

    def _block(
        self, count: int, rng: np.random.Generator
    ) -> Float[np.ndarray, "block heads n"]:
        if self.table is not None:
            chosen: Float[np.ndarray, "block heads n"] = self.table[
                rng.integers(len(self.table), size=count)
            ]
            return chosen
        s = np.empty((count, *self.base.shape))
        s[:] = self.base
        for i, law in self.scaled:
            s[:, :, i] *= law.draw(count, rng)[:, None]
        for spread, which in self.spreads:
            every = len(which) == s.shape[2]  # a slice, for speed
            s[:, :, slice(None) if every else which] += spread.draw(
                count, len(which), rng
            )
        return s


def _shared_spreads(
    uncertainty: Uncertainty, n: int
) -> Iterable[tuple[Spread, list[int]]]:
    """Each spread with the keys that have it, so that keys with the same spread are drawn together."""
    groups: dict[int, tuple[Spread, list[int]]] = {}
    for i in range(n):
        spread = uncertainty.of(i).spread
        if spread is not None:
            groups.setdefault(id(spread), (spread, []))[1].append(i)
    return groups.values()
