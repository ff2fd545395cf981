"""What decides the queries, keys and values of a layer, as numbers.

A layer reads x = gain * u + bias, where u is what its norm returns, projects it to queries, keys and values, perhaps
norms those again, and rotates pairs of channels. Weights are float64 numbers that the model's own type has exactly.

In latent attention (MLA) queries, keys and values are projections of latent vectors, which are projections of x that
were normed; and a part of each key, which all heads share, is projected from x.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

Row = Float[np.ndarray, " channels"]
Matrix = Float[np.ndarray, "channels width"]


@dataclass(frozen=True, eq=False)
class NormWeights:
    """RMSNorm divides a vector by its root mean square; LayerNorm takes its mean away before that."""

    kind: Literal["rms", "layer"]
    gain: Row
    bias: Row | None = None
    # How many numbers it norms together, where these are some of them: a head of all heads.
    together: int | None = None

    @property
    def width(self) -> int:
        """How many numbers it norms together."""
        return len(self.gain) if self.together is None else self.together


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Queries, keys or values of each head: W x + b, perhaps normed again, or multiplied by a number."""

    weight: Float[np.ndarray, "heads channels width"]
    bias: Float[np.ndarray, "heads channels"] | None = None
    norms: tuple[NormWeights, ...] | None = None  # of each head
    factor: float = 1.0

    def of_head(self, head: int) -> tuple[Matrix, Row | None]:
        """The matrix of one head, and its bias."""
        bias = None if self.bias is None else self.bias[head]
        return self.weight[head], bias

    def norm_of(self, head: int) -> NormWeights | None:
        """The norm of one head."""
        return None if self.norms is None else self.norms[head]


@dataclass(frozen=True)
class RotaryPairs:
    """Which channels are rotated with each other, and by what rotated pairs are scaled.

    >>> RotaryPairs(4, "halves").pairs(6)
    [(0, 2), (1, 3)]
    >>> RotaryPairs(4, "neighbours", start=2).pairs(6)
    [(2, 3), (4, 5)]
    >>> RotaryPairs(4, "neighbours to halves").pairs(4), RotaryPairs(4, "neighbours to halves").places(4)
    ([(0, 1), (2, 3)], [(0, 2), (1, 3)])
    """

    channels: int  # so many of each head
    arrangement: Literal["halves", "neighbours", "neighbours to halves"]
    scaling: float = 1.0
    start: int = 0  # from this one on

    def pairs(self, head_dim: int) -> list[tuple[int, int]]:
        """Channels that are rotated with each other."""
        return self._channels(head_dim, self.arrangement == "halves")

    def places(self, head_dim: int) -> list[tuple[int, int]]:
        """The channels in which each of these pairs is written."""
        return self._channels(head_dim, self.arrangement != "neighbours")

    def _channels(self, head_dim: int, in_halves: bool) -> list[tuple[int, int]]:
        half = min(self.channels, head_dim - self.start) // 2
        channels = []
        for number in range(half):
            first, second = 2 * number, 2 * number + 1
            if in_halves:
                first, second = number, number + half
            channels.append((self.start + first, self.start + second))
        return channels


@dataclass(frozen=True, eq=False)
class LatentVector:
    """A latent vector: projected from what the layer reads, as if it were one head, then normed."""

    projection: HeadWeights
    norm: NormWeights

    @property
    def normed(self) -> HeadWeights:
        """Both in one."""
        return replace(self.projection, norms=(self.norm,))


@dataclass(frozen=True, eq=False)
class LatentWeights:
    """What latent attention has between the norm of a layer and its projections."""

    key: LatentVector  # of keys and values
    query: LatentVector | None  # None: queries are projected from what the layer reads
    # The part of keys that is rotated, and shared by all heads: projected from what the layer reads.
    rotated_key: HeadWeights
    rotary: RotaryPairs  # of that part alone


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """All of a layer that its ranges depend on."""

    index: int
    norm: (
        NormWeights | None
    )  # None where the attention reads the residual stream itself
    query: HeadWeights
    key: HeadWeights
    value: HeadWeights
    # ALBERT's first layer: a linear map stands between the norm and the projections.
    mapping: HeadWeights | None
    rotary: RotaryPairs | None
    scale: float
    # With latent attention: `query` and the others project from latent vectors.
    latent: LatentWeights | None = None
    # The gain of `norm` has this factor of the layer's input in it.
    input_factor: float = 1.0

    def key_head(self, head: int) -> int:
        """The key head that a query head meets: neighbouring query heads share one."""
        return head * len(self.key.weight) // len(self.query.weight)
