"""What a text shows beside what is proved: the model is run on it, and no number may exceed its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import ContradictionError, InputError
from headwright.models import LayerActivations, Model, load_model
from headwright.value_ranges.result import HeadRange, LayerRange, Ranges

ROWS_AT_ONCE = 512  # of scores
Rows = Float[np.ndarray, "tokens channels"]


@dataclass(frozen=True)
class ObservedHead:
    """Of one head: the largest number and the longest vector."""

    largest: float
    length: float


@dataclass(frozen=True)
class ObservedLayer:
    """Queries, keys (after rotation), values and scores of a layer on a text."""

    queries: tuple[ObservedHead, ...]
    keys: tuple[ObservedHead, ...]
    values: tuple[ObservedHead, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class ObservedRanges:
    """What a text of so many tokens shows, layer by layer."""

    tokens: int
    layers: tuple[ObservedLayer, ...]


def observe_text(proved: Ranges, model: Any, text: str | Sequence[int]) -> Ranges:
    """The same ranges, with what a text shows; a ContradictionError if something is larger than was proved."""
    loaded = _loaded(model, proved.number_type)
    if isinstance(text, str):
        tokens = loaded.encode(text)
    else:
        if any(token != int(token) for token in text):
            raise InputError(f"{proved.model}: tokens are whole numbers")
        tokens = np.asarray(text, dtype=np.int64)
    if loaded.max_length is not None and len(tokens) > loaded.max_length:
        tokens = tokens[: loaded.max_length]
    if not len(tokens):
        raise InputError(f"{proved.model}: the text has no tokens")
    layers: list[ObservedLayer] = []

    def visit(activations: LayerActivations) -> None:
        layer = proved.layers[len(layers)]
        layers.append(_observe_layer(layer, activations))

    loaded.visit_layers(tokens, visit)
    return replace(proved, observed=ObservedRanges(len(tokens), tuple(layers)))


def _loaded(model: Any, number_type: str) -> Model:
    """The model, running in the arithmetic of the statement."""
    if hasattr(model, "visit_layers"):
        return model  # type: ignore[no-any-return]
    if hasattr(model, "named_parameters"):
        return load_model(model)
    return load_model(str(model), dtype=number_type)


def _observe_layer(layer: LayerRange, activations: LayerActivations) -> ObservedLayer:
    queries = _as_numpy(activations.queries)
    keys = _as_numpy(activations.keys)
    values = _as_numpy(activations.values)
    place = f"layer {layer.index}"
    return ObservedLayer(
        queries=_observe_heads(layer.queries, queries, f"{place}, query head"),
        keys=_observe_heads(layer.keys, keys, f"{place}, key head"),
        values=_observe_heads(layer.values, values, f"{place}, value head"),
        scores=_observe_scores(layer, queries, keys, activations),
    )


def _observe_heads(
    heads: tuple[HeadRange, ...], vectors: list[Rows], place: str
) -> tuple[ObservedHead, ...]:
    """Each head's numbers; a model may hand out a key head once for each query head that shares it."""
    copies = len(vectors) // len(heads)
    observed = []
    for number, head in enumerate(heads):
        rows = vectors[number * copies]
        largest = np.abs(rows).max(axis=0)
        length = float(np.sqrt((rows * rows).sum(axis=1)).max())
        _check(largest, head.after.channels, f"{place} {number}")
        _check(length, head.after.length, f"{place} {number}")
        observed.append(ObservedHead(float(largest.max()), length))
    return tuple(observed)


def _observe_scores(
    layer: LayerRange,
    queries: list[Rows],
    keys: list[Rows],
    activations: LayerActivations,
) -> tuple[float, ...]:
    """The largest score of each head, of keys that are not after the query where the model is causal."""
    copies = len(queries) // len(keys)
    scale = abs(activations.scoring.scale)
    observed = []
    for head, rows in enumerate(queries):
        head_keys = keys[head // copies]
        largest = 0.0
        for start in range(0, len(rows), ROWS_AT_ONCE):
            sizes = np.abs(rows[start : start + ROWS_AT_ONCE] @ head_keys.T)
            if activations.scoring.causal:
                sizes = np.tril(sizes, start)
            largest = max(largest, float(sizes.max()) * scale)
        place = f"layer {layer.index}, score of head {head}"
        _check(largest, layer.scores[head].score, place)
        observed.append(largest)
    return tuple(observed)


def _check(value: Any, bound: Any, what: str) -> None:
    if not np.all(np.isfinite(value)):
        # A norm that reads infinity or NaN is outside of the theorem.
        raise InputError(
            f"{what}: on this text the model computes a number that is not finite, "
            "as when the residual stream overflows: run it in another type (dtype)"
        )
    if np.any(value > bound):
        worst = int(np.argmax(np.asarray(value) - np.asarray(bound)))
        number = np.ravel(value)[worst]
        proved = np.ravel(bound)[worst]
        raise ContradictionError(
            f"{what}: at most {proved:.6g} was proved, and a text gives {number:.6g}"
        )


def _as_numpy(vectors: Any) -> list[Rows]:
    """Of each head, in float64."""
    if hasattr(vectors, "detach"):
        vectors = vectors.detach().cpu().float().numpy()
    return list(np.asarray(vectors, dtype=np.float64))
