"""Ranges as rows of a table, one for each layer: the largest of its heads."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headwright.value_ranges.observed import ObservedLayer
from headwright.value_ranges.result import LayerRange, Ranges
from headwright.value_ranges.sentences import bound_in_words


@dataclass(frozen=True)
class RangeRow:
    """The largest number of a layer's queries, keys (after rotation), values and scores; and what a text shows."""

    layer: int
    bounds: dict[str, float]
    shown: dict[str, float]
    centre: float  # of the keys, in spreads

    def cells(self) -> dict[str, str]:
        """A column each."""
        cells = {"layer": str(self.layer)}
        for name, bound in self.bounds.items():
            cells[f"{name} <="] = bound_in_words(bound)
            if name in self.shown:
                cells[f"{name} shown"] = f"{self.shown[name]:.4g}"
        cells["key centre/spread"] = f"{self.centre:.2g}"
        return cells

    def numbers(self) -> dict[str, float]:
        """For a picture; what is not bounded is left out."""
        numbers = {"layer": float(self.layer)}
        for name, bound in self.bounds.items():
            if math.isfinite(bound):
                numbers[f"{name} proved"] = bound
        for name, number in self.shown.items():
            numbers[f"{name} shown"] = number
        return numbers


def layer_rows(ranges: Ranges) -> list[RangeRow]:
    """All layers in order."""
    rows = []
    for number, layer in enumerate(ranges.layers):
        bounds = {
            "key": layer.largest_key,
            "value": layer.largest_value,
            "query": max(head.after.largest for head in layer.queries),
            "score": max(score.score for score in layer.scores),
        }
        shown = {}
        if ranges.observed is not None:
            shown = _shown(ranges.observed.layers[number])
        rows.append(RangeRow(layer.index, bounds, shown, _centre(layer)))
    return rows


def _shown(layer: ObservedLayer) -> dict[str, float]:
    return {
        "key": max(head.largest for head in layer.keys),
        "value": max(head.largest for head in layer.values),
        "query": max(head.largest for head in layer.queries),
        "score": max(layer.scores),
    }


def _centre(layer: LayerRange) -> float:
    return max(head.centre_in_spreads for head in layer.keys)
