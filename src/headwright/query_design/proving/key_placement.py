"""Where in its set each key stands in a bound: at the worst place for a query, or inside at a kink.

Smoothed by tau, a worst case |x| is sqrt(x^2 + tau^2), and its slope x / sqrt(x^2 + tau^2) is a place inside the set:
so are the scales c = middle + half m / sqrt(m^2 + tau^2) and the moves u = E^T q / sqrt(|E^T q|^2 + tau^2). Where the
shortest query leaves a key at a kink (m = 0 or E^T q = 0) the bound needs just such a place, and tau finds it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.query_design.certify import (
    BoundEvidence,
    Constraint,
    Exact,
    PartEvidence,
)
from headwright.query_design.statement import DesignQuestion, UncertaintyEntry

Table = Mapping[tuple[int, int], Exact]  # multipliers by scenario and target
INSIDE = 1 - 4e-16  # so that |u| <= 1 in spite of rounding


@dataclass(frozen=True, eq=False)
class WorstPlaces:
    """The scale of each key as a rival, of each target as itself, and each entry's move and lift."""

    scales: dict[int, float]
    own_scales: dict[int, float]
    moves: tuple[Float[np.ndarray, " width"], ...]
    lifts: tuple[float, ...]


def places(
    question: DesignQuestion,
    query: Float[np.ndarray, " d"],
    smoothing: float,
    shrink: float = 0.0,
) -> WorstPlaces:
    """Where the sets of the uncertainty stand at a query, or sets smaller by a part; random entries are not moved."""
    scale = float(question.scale)
    keys = question.keys[0]
    scales: dict[int, float] = {}
    own: dict[int, float] = {}
    moves = []
    lifts = []
    for entry in question.entries:
        if entry.scale[0] < entry.scale[1]:
            scales_of_entry = _scales(
                entry, scale * (keys[entry.keys] @ query), smoothing, shrink
            )
            scales |= scales_of_entry
            middle = (entry.scale[0] + entry.scale[1]) / 2
            own |= {
                i: _between(2 * middle - scales_of_entry[i], entry)
                for i in question.targets.indices
                if i in scales_of_entry
            }
        move, lift = _moved(entry, scale * query, smoothing, shrink)
        moves.append(move)
        lifts.append(lift)
    return WorstPlaces(scales, own, tuple(moves), tuple(lifts))


def bound_at(
    question: DesignQuestion,
    query: Float[np.ndarray, " d"],
    multipliers: Table,
    smoothing: float = 0.0,
) -> BoundEvidence:
    """The evidence that a query, multipliers and a smoothing name, for one head where nothing is random."""
    constraints = tuple(Constraint(w, a, x) for (w, a), x in multipliers.items())
    part = PartEvidence(query, constraints)
    if question.uncertainty.fixed or question.uncertainty.scenarios:
        return BoundEvidence((part,))
    stand = places(question, query, smoothing)
    part = replace(
        part, lifts=stand.lifts, moves=[move.tolist() for move in stand.moves]
    )
    return BoundEvidence(
        (part,),
        scales=_inside(question, stand.scales),
        own_scales=_inside(question, stand.own_scales),
    )


def _scales(
    entry: UncertaintyEntry,
    scores: Float[np.ndarray, " some"],
    smoothing: float,
    shrink: float,
) -> dict[int, float]:
    low, high = entry.scale
    root = np.hypot(scores, smoothing)
    lean = np.divide(scores, root, out=np.zeros_like(scores), where=root > 0)
    chosen = np.clip(
        (low + high) / 2 + (high - low) * (1 - shrink) / 2 * lean, low, high
    )
    return dict(zip(entry.keys.tolist(), chosen.tolist(), strict=True))


def _between(scale: float, entry: UncertaintyEntry) -> float:
    return min(max(scale, entry.scale[0]), entry.scale[1])


def _inside(question: DesignQuestion, scales: dict[int, float]) -> dict[int, float]:
    """The scales strictly inside their range; the checker takes an end of the range by itself."""
    inside: dict[int, float] = {}
    for entry in question.entries:
        hair = 1e-12 * (abs(entry.scale[0]) + abs(entry.scale[1]))
        low = entry.scale[0] + hair
        high = entry.scale[1] - hair
        inside |= {
            i: scales[i]
            for i in entry.keys.tolist()
            if i in scales and low < scales[i] < high
        }
    return inside


def _moved(
    entry: UncertaintyEntry,
    query: Float[np.ndarray, " d"],
    smoothing: float,
    shrink: float,
) -> tuple[Float[np.ndarray, " width"], float]:
    """u, and how much it adds to the score of a rival."""
    if entry.random:
        return np.zeros(0), 0.0
    size = float(np.abs(query).max(initial=0.0)) or 1.0  # squares may overflow
    image = entry.factor.T @ (query / size)
    length = math.hypot(
        math.sqrt(float(image @ image)) * (1 - shrink), smoothing / size
    )
    move = image * (INSIDE * (1 - shrink) ** 2 / length) if length > 0 else image
    reach = entry.ball * math.sqrt(float((query / size) @ (query / size))) + float(
        image @ move
    )
    return move, reach * size
