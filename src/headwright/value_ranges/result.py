"""Ranges as data. Their sentences are made in `sentences`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from headwright.value_ranges.observed import ObservedRanges

Column = Float[np.ndarray, " channels"]


@dataclass(frozen=True, eq=False)
class VectorRange:
    """What the vectors of a head can be: no channel exceeds its bound, and no vector the length.

    Without rounding, the exact bounds hold.
    """

    channels: Column
    length: float
    exact_channels: Column
    exact_length: float

    @property
    def largest(self) -> float:
        """No number of these vectors is larger in size."""
        return float(self.channels.max())

    def unknown(self) -> VectorRange:
        """Where a number may be infinite: nothing is known."""
        channels = np.full_like(self.channels, math.inf)
        return replace(self, channels=channels, length=math.inf)

    def limited(self, largest: float) -> VectorRange:
        """The same, or nothing where a number may exceed the largest finite one."""
        return self if self.largest <= largest else self.unknown()


@dataclass(frozen=True, eq=False)
class HeadRange:
    """Queries, keys or values of one head, before and after rotation; values are not rotated."""

    before: VectorRange
    after: VectorRange
    pair_lengths: Column  # of each pair, after rotation
    centre: float  # the length of what does not depend on the input (floating-point)
    spread: (
        float  # the root mean square distance from it, over inputs in all directions
    )

    @property
    def centre_in_spreads(self) -> float:
        """How far the centre is from 0, compared with the spread around it."""
        if self.spread == 0:
            return math.inf if self.centre > 0 else 0.0
        return self.centre / self.spread


@dataclass(frozen=True)
class ScoreRange:
    """Products of queries with keys, and scores: products times the scale."""

    product: float
    score: float


@dataclass(frozen=True, eq=False)
class LayerRange:
    """Ranges of each head of a layer; several query heads may share a key head."""

    index: int
    queries: tuple[HeadRange, ...]
    keys: tuple[HeadRange, ...]
    values: tuple[HeadRange, ...]
    scores: tuple[ScoreRange, ...]
    # With latent attention, what a cache may keep instead: the latent vector, and the rotated part of keys.
    latents: tuple[HeadRange, ...] = ()

    @property
    def largest_key(self) -> float:
        """No number in the cache of keys is larger in size."""
        return max(head.after.largest for head in self.keys)

    @property
    def largest_value(self) -> float:
        """No number in the cache of values is larger in size."""
        return max(head.after.largest for head in self.values)

    @property
    def largest_latent(self) -> float:
        """No number in a cache of latent vectors is larger in size; 0 without latent attention."""
        return max((head.after.largest for head in self.latents), default=0.0)


@dataclass(frozen=True)
class CloseText:
    """How close the largest key comes to its bound: on a text, on embeddings of no text, for an input of the norm.

    All but the bound are floating-point.
    """

    layer: int
    head: int
    bound: float
    by_text: float
    by_embeddings: float
    by_input: float
    tokens: tuple[int, ...]  # of the text


@dataclass(frozen=True, eq=False)
class Ranges:
    """What queries, keys, values and scores of a model can be, on every text.

    >>> Ranges("a model", "llama", "", "bfloat16", (), ())
    <ranges of a model: 0 layers>
    """

    model: str
    family: str
    digest: str  # of the weights that the ranges depend on, as numbers of the type
    number_type: str
    layers: tuple[LayerRange, ...]
    tensor_names: tuple[str, ...]  # of each layer, what runtimes call its attention
    observed: ObservedRanges | None = None
    close_text: CloseText | None = None

    def __str__(self) -> str:
        from headwright.value_ranges.sentences import summarise

        return summarise(self)

    def __repr__(self) -> str:
        return f"<ranges of {self.model}: {len(self.layers)} layers>"

    @property
    def largest_key(self) -> float:
        """No number of any key is larger in size."""
        return max(layer.largest_key for layer in self.layers)

    @property
    def largest_value(self) -> float:
        """No number of any value is larger in size."""
        return max(layer.largest_value for layer in self.layers)

    @property
    def largest_query(self) -> float:
        """No number of any query is larger in size."""
        sizes: list[float] = []
        for layer in self.layers:
            sizes.extend(head.after.largest for head in layer.queries)
        return max(sizes)

    @property
    def largest_score(self) -> ScoreRange:
        """Over all heads: the largest product and the largest score."""
        scores = [score for layer in self.layers for score in layer.scores]
        product = max(score.product for score in scores)
        return ScoreRange(product, max(score.score for score in scores))

    @property
    def largest_latent(self) -> float:
        """No number in a cache of latent vectors is larger in size; 0 without latent attention."""
        return max(layer.largest_latent for layer in self.layers)

    @property
    def largest_cached(self) -> float:
        """No number of a cache is larger in size, whether it keeps keys and values or latent vectors."""
        return max(self.largest_key, self.largest_value, self.largest_latent)

    def never_clips(self, largest: float) -> bool:
        """Whether a cache whose largest number this is, at scale 1, holds every key and value."""
        return self.largest_cached <= largest

    @property
    def certificate(self) -> str:
        """The bounds of every head as a document, which `verify` checks against the weights."""
        from headwright.value_ranges.make_statement import state_ranges
        from headwright.value_ranges.statement import write_statement

        return write_statement(state_ranges(self))

    def to_json(self) -> dict[str, Any]:
        """What scripts read; a bound that is infinite is null."""
        from headwright.value_ranges.as_json import ranges_to_json

        return ranges_to_json(self)
