"""Deeper layers: the least weight on a key under any recombination of the keys of one text.

Above the first layer a key depends on all that came before, so no vocabulary holds every key there may be. But one text
shows many: the keys it has at this layer, each turned back from its place. Held fixed are the query of a row, its own
key, the key of the first place and those of special tokens, and the key at the place asked about. Every other place
that the row sees may hold any of the keys seen, turned to that place. As in the first layer the worst choice is found
place by place, and is attained. A head that keeps its weight is firm; one that has it on the text and not under
recombination owes it to what the text puts beside.

It is proved of these queries and keys as exact numbers: those that the model computed, turned back in float64. It says
nothing about keys that the text does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from headwright.enclosure import held_to
from headwright.errors import InputError
from headwright.models.findings.row_statistics import numbers
from headwright.models.loading.model import Layer, Model, Tokens
from headwright.models.texts.every_text import HALF
from headwright.models.texts.head import Rotary, Vectors
from headwright.models.texts.read_layer import turning
from headwright.models.texts.sweep import Progress, Scaled, doubt_of, share, summed

MOST_ROWS = 200  # of a text, evenly spread
SHORTEST = 4  # tokens: a query, the place before it, the first, and one that is free

Kind = Literal["firm", "by context", ""]
Rows = Float[np.ndarray, "places d"]


@dataclass(frozen=True)
class OnKeys:
    """The weight on one kind of place, over rows of the text: as it is there, and under every recombination."""

    name: str
    rows: int
    measured: float  # mean over the rows, in floating point
    floor: float  # the median over the rows of the proven least weight
    lowest: float  # the smallest of these
    half: int  # rows that have more than 1/2 on the text
    kept_half: int  # and that keep more than 1/2 whatever the recombination

    @property
    def kind(self) -> Kind:
        """Firm where most rows keep 1/2 whatever surrounds them, by context where most have it on the text only."""
        if 2 * self.kept_half > self.rows:
            return "firm"
        return "by context" if 2 * self.half > self.rows else ""


@dataclass(frozen=True, eq=False)
class HeadOnKeys:
    """One head of a layer on the keys of a text."""

    layer: int
    head: int
    tokens: int  # of the text
    keys: int  # that any place may hold
    held: tuple[int, ...]  # places whose key stays
    slack: float
    places: tuple[OnKeys, ...]


def recombined(
    model: Model,
    index: int,
    text: Tokens,
    *,
    heads: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[HeadOnKeys]:
    """The heads of a layer, whatever recombination of the text's keys surrounds the rows of the text."""
    if not 0 <= index < model.layers:
        raise InputError(f"layer {index} of {model.name}: expected 0 to {model.layers - 1}")
    if len(text) < SHORTEST:
        raise InputError(f"a text of {len(text)} tokens: expected {SHORTEST} or more to recombine their keys")
    angles = turning(model, index, len(text))
    layer = next(layer for layer in model.run(text) if layer.index == index)
    if layer.scoring.softcap is not None or layer.scoring.sinks is not None:
        raise InputError(f"{model.name}: scores with a softcap or a sink of their own are not covered here")
    ordinary = {int(token) for token in model.ordinary()}
    held = tuple(at for at, token in enumerate(text) if at == 0 or int(token) not in ordinary)
    found, chosen = [], range(model.heads) if heads is None else heads
    for done, number in enumerate(chosen):
        if not 0 <= number < model.heads:
            raise InputError(f"head {number}: expected 0 to {model.heads - 1}")
        found.append(_one(layer, number, held, angles))
        if progress is not None:
            progress((done + 1) / len(chosen))
    return found


def _one(layer: Layer, number: int, held: tuple[int, ...], angles: Float[np.ndarray, " half"] | None) -> HeadOnKeys:
    queries, keys = (numbers(array).astype(np.float64) for array in (layer.queries, layer.keys))
    if not (np.isfinite(queries).all() and np.isfinite(keys).all()):
        raise InputError(f"layer {layer.index} has queries or keys that are not finite: nothing is proved of them")
    query, key = queries[number] * layer.scoring.scale, keys[number * len(keys) // len(queries)]
    cos, sin = _turns(angles, len(query))
    there = np.arange(len(query))
    query, key = (_turned(vectors, cos[there], -sin[there]) for vectors in (query, key))
    free = np.array([at for at in range(len(key)) if at not in held])
    rows = free[free >= 2]
    rows = rows[:: -(-len(rows) // MOST_ROWS)] if len(rows) else rows
    if not len(rows):
        raise InputError("the text has no row with a free place before it: expected a longer text of ordinary tokens")
    bounds: dict[str, list[tuple[float, float]]] = {"self": [], "previous": [], "first": []}
    slack = 0.0
    own_query, own_key = queries[number] * layer.scoring.scale, keys[number * len(keys) // len(queries)]
    for row in rows:
        mine, wrong = _row(layer, query[row], key, int(row), free, held, cos, sin)
        _on_the_text(layer, own_query[row], own_key, int(row), mine, f"head {layer.index}.{number}")
        slack = max(slack, wrong)
        for name, both in mine.items():
            bounds[name].append(both)
    places = tuple(_told(name, np.array(both)) for name, both in bounds.items() if both)
    return HeadOnKeys(layer.index, number, len(query), len(free), held, slack, places)


def _row(
    layer: Layer, query: Float[np.ndarray, " d"], key: Rows, row: int, free: np.ndarray, held: Sequence[int], cos: Rows,
    sin: Rows,
) -> tuple[dict[str, tuple[float, float]], float]:  # fmt: skip
    """For each kind of place, the weight on the text and the proven least under recombination; and the slack."""
    reach, last = layer.scoring.window or len(key), row + 1 if layer.scoring.causal else len(key)
    seen = np.array([at for at in range(last) if abs(at - row) < reach])
    apart = row - seen
    size = np.abs(apart)
    turned = _turned(np.broadcast_to(query, (len(seen), len(query))), cos[size], np.sign(apart)[:, None] * sin[size])
    asking, vocabulary = Vectors(turned, float(np.linalg.norm(query)) * 2.0**-48), Vectors(key, 0.0)
    slack = asking.slack(vocabulary)
    own = (turned * key[seen]).sum(axis=1)  # each place with the key that it has
    largest = np.where(np.isin(seen, [row, *held]), own, (turned @ key[free].T).max(axis=1))
    doubt, found = doubt_of(np.array([slack]), len(seen)), {}
    for name, at in (("self", row), ("previous", row - 1), ("first", 0)):
        inside = seen == at
        if inside.any():
            kept = Scaled(own[inside], np.ones(1))
            least, there = (share(kept, summed(rest[~inside][:, None]), doubt).lower for rest in (largest, own))
            found[name] = (float(there[0]), float(least[0]))
    return found, slack


def _on_the_text(
    layer: Layer, query: Float[np.ndarray, " d"], key: Rows, row: int, bounds: dict[str, tuple[float, float]], head: str
) -> None:
    """Raise a ContradictionError if the weight on the text itself is below the least of all recombinations."""
    first, after = layer.scoring.seen(row)
    scores = key[first:after] @ query
    pattern = np.exp(scores - scores.max())
    pattern /= pattern.sum()
    for name, at in (("self", row), ("previous", row - 1), ("first", 0)):
        if name in bounds:
            held_to(float(pattern[at - first]), f"{head}, {name} of row {row}", least=bounds[name][1])


def _told(name: str, both: Float[np.ndarray, "rows 2"]) -> OnKeys:
    measured, floor = both.T
    return OnKeys(
        name, len(both), float(measured.mean()), float(np.median(floor)), float(floor.min()),
        int((measured > HALF).sum()), int((floor > HALF).sum()),
    )  # fmt: skip


def _turns(angles: Float[np.ndarray, " half"] | None, count: int) -> tuple[Rows, Rows]:
    """Cosines and sines of every distance, each off by less than 2^-52; of no angle where nothing turns."""
    one = Vectors(np.zeros((1, 0)), 0.0)
    head = Rotary(np.arange(1), one, one, np.zeros(0) if angles is None else angles)
    both = [head.turns(distance) for distance in range(count)]
    return np.array([cos for cos, _ in both]), np.array([sin for _, sin in both])


def _turned(vectors: Rows, cos: Rows, sin: Rows) -> Rows:
    half = cos.shape[1]
    first, second, rest = np.split(vectors, [half, 2 * half], axis=1)
    return np.hstack([first * cos - second * sin, first * sin + second * cos, rest])
