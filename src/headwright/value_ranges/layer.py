"""What decides the queries, keys and values of a layer, as numbers.

A layer reads x = gain * u + bias, where u is what its norm returns, projects it to queries, keys and values, perhaps
norms those again, and rotates pairs of channels. Weights are float64 numbers that the model's own type has exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

Row = Float[np.ndarray, " channels"]


@dataclass(frozen=True, eq=False)
class NormWeights:
    """RMSNorm divides a vector by its root mean square; LayerNorm takes its mean away before that."""

    kind: Literal["rms", "layer"]
    gain: Row
    bias: Row | None = None

    @property
    def width(self) -> int:
        """How many numbers it reads."""
        return len(self.gain)


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Queries, keys or values of each head: W x + b, perhaps normed again."""

    weight: Float[np.ndarray, "heads channels width"]
    bias: Float[np.ndarray, "heads channels"] | None = None
    norm: NormWeights | None = None


@dataclass(frozen=True)
class RotaryPairs:
    """Which channels are rotated with each other, and by what rotated pairs are scaled.

    >>> RotaryPairs(4, "halves").pairs(6)
    [(0, 2), (1, 3)]
    >>> RotaryPairs(4, "neighbours").pairs(6)
    [(0, 1), (2, 3)]
    """

    channels: int  # the first so many of each head
    arrangement: Literal["halves", "neighbours"]
    scaling: float = 1.0

    def pairs(self, head_dim: int) -> list[tuple[int, int]]:
        """Channels that are rotated with each other."""
        half = min(self.channels, head_dim) // 2
        if self.arrangement == "halves":
            return [(i, i + half) for i in range(half)]
        return [(2 * i, 2 * i + 1) for i in range(half)]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """All of a layer that its ranges depend on."""

    index: int
    norm: NormWeights
    query: HeadWeights
    key: HeadWeights
    value: HeadWeights
    # ALBERT's first layer: a linear map stands between the norm and the projections.
    mapping: HeadWeights | None
    rotary: RotaryPairs | None
    scale: float

    def key_head(self, head: int) -> int:
        """The key head that a query head meets: neighbouring query heads share one."""
        return head * len(self.key.weight) // len(self.query.weight)
