"""The largest number of a head's keys and values: proved for every text, and on the measured ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.auditing.measures.summary import Summary
from headwright.errors import InputError
from headwright.models.model import LayerActivations, Model, numbers
from headwright.numerics.enclosure import fixed_above
from headwright.value_ranges import Ranges, ranges
from headwright.value_ranges.sentences import verdict_in_words
from headwright.value_ranges.verdicts import verdicts

KEY_RANGE, VALUE_RANGE = "key_range", "value_range"  # the names of the measures
DECIMALS = 2
WHAT = "largest keys and values on every text"


@dataclass(frozen=True)
class LargestSize:
    """No number of the head's keys (or values) is larger in size, on any text; and the largest on the measured ones."""

    bound: float
    shown: float | None

    @property
    def value(self) -> float | None:
        """The bound with two decimals, rounded up; None if there is none."""
        if not math.isfinite(self.bound):
            return None
        return float(fixed_above(self.bound, DECIMALS))


@dataclass(frozen=True, eq=False)
class ProvedSizes:
    """The bounds of all heads, with what they mean for a cache; or why there are none."""

    summary: Summary
    sentence: str | None = None
    missing: str | None = None

    @property
    def not_measured(self) -> dict[str, str]:
        """What is missing, and why."""
        return {} if self.missing is None else {WHAT: self.missing}


def prove_sizes(model: Model, layers: Sequence[int]) -> ProvedSizes:
    """Bounds from the weights alone, for these layers; `shown_sizes` looks at texts."""
    try:
        proved = ranges(model)
    except InputError as error:
        return ProvedSizes(Summary(), missing=str(error))
    if [layer.index for layer in proved.layers] != list(range(len(proved.layers))):
        return ProvedSizes(Summary(), missing="some of its layers have no attention")
    key_sizes = [_sizes_by_head(proved, layer, model.heads)[0] for layer in layers]
    value_sizes = [_sizes_by_head(proved, layer, model.heads)[1] for layer in layers]
    sums = {
        bound_of(KEY_RANGE): np.array(key_sizes),
        bound_of(VALUE_RANGE): np.array(value_sizes),
    }
    words = verdict_in_words(verdicts(proved)[0])
    return ProvedSizes(Summary(sums), sentence=f"For every text, {words}.")


def _sizes_by_head(
    proved: Ranges, layer: int, heads: int
) -> tuple[list[float], list[float]]:
    """Of each query head: the bounds of its key head."""
    of_layer = proved.layers[layer]
    key_heads = len(of_layer.keys)
    groups = [head * key_heads // heads for head in range(heads)]
    keys = [of_layer.keys[group].after.largest for group in groups]
    values = [of_layer.values[group].after.largest for group in groups]
    return keys, values


def bound_of(measure: str) -> str:
    """The entry of a summary that has the bounds."""
    return f"{measure} bound"


def shown_sizes(layer: LayerActivations, measure: str) -> Float[np.ndarray, " heads"]:
    """The largest number of each head's keys or values on a text."""
    vectors = numbers(layer.keys if measure == KEY_RANGE else layer.values)
    heads = layer.scoring.heads
    sizes = np.abs(vectors).max(axis=(1, 2), initial=0.0).astype(np.float64)
    groups = np.arange(heads) * len(sizes) // heads
    by_head: Float[np.ndarray, " heads"] = sizes[groups]
    return by_head
