"""The weights of chosen rows, summed over named spans of keys: documents, an image, a system prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.watching.recorded import LayerSeen, RecordedStack

Span = Any  # (start, stop), a range, a slice, or positions in an array
FIRST = "first token"  # counted apart
ELSEWHERE = "elsewhere"  # keys in no span


@dataclass(frozen=True, eq=False)
class SpanWeights:
    """What chosen rows give to each span: axes are layers, batch, heads, rows and spans. NaN for rows of padding.

    The first token of each text is a span of its own, `first token`, and what is in no span is `elsewhere`; together
    they make the weight of a row on keys, which is below 1 where there are attention sinks.
    """

    names: tuple[str, ...]
    layers: tuple[int, ...]
    rows: np.ndarray  # batch, rows: positions
    weights: Float[np.ndarray, "layers batch heads rows spans"]

    def __getitem__(self, name: str) -> Float[np.ndarray, "layers batch heads rows"]:
        """The weight on one span."""
        if name not in self.names:
            raise InputError(
                f"there is no span {name}: expected one of {', '.join(self.names)}"
            )
        return self.weights[..., self.names.index(name)]

    def mean(self) -> dict[str, float]:
        """The weight on each span, over all layers, texts, heads and rows."""
        means = np.nanmean(self.weights, axis=(0, 1, 2, 3))
        return dict(zip(self.names, means.tolist(), strict=True))

    def shares(self) -> dict[str, float]:
        """The share of each span in the mean weight that is not on the first token."""
        means = self.mean()
        del means[FIRST]
        total = sum(means.values())
        return {name: mean / total for name, mean in means.items()}

    def __repr__(self) -> str:
        """The means."""
        phrases = [f"{name} {mean:.3g}" for name, mean in self.mean().items()]
        return f"SpanWeights({', '.join(phrases)})"


def sum_over_spans(
    part: RecordedStack,
    spans: Mapping[str, Span] | Sequence[Mapping[str, Span]],
    layers: Sequence[int | str] | None,
    run: int,
) -> SpanWeights:
    """What `Recording.attention_to` gives, for one part of a model."""
    numbers = _layer_numbers(part, layers, run)
    sums, rows = [], []
    names: tuple[str, ...] = ()
    for number in numbers:
        layer = part.layer(number, run)
        names, of_layer = _sums_of_layer(layer, spans)
        sums.append(of_layer)
        rows.append(layer.weight_rows)
    if len({of_layer.shape for of_layer in sums}) > 1:
        raise InputError(
            "the layers have different numbers of heads or rows: name some that are alike, layers=[...]"
        )
    return SpanWeights(names, numbers, rows[0], np.stack(sums))


def _layer_numbers(
    part: RecordedStack, layers: Sequence[int | str] | None, run: int
) -> tuple[int, ...]:
    """The layers that are asked for, or all whose weights were kept."""
    if layers is not None:
        return tuple(part.number_of_layer(layer) for layer in layers)
    numbers = []
    for number in sorted(part.layers):
        if "weights" in part.layer(number, run).names:
            numbers.append(number)
    if not numbers:
        raise InputError(
            "no weights were kept: expected watch(model, weights=rows(last=1)), or other rows"
        )
    return tuple(numbers)


def _sums_of_layer(
    layer: LayerSeen, spans: Mapping[str, Span] | Sequence[Mapping[str, Span]]
) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of spans, and (batch, heads, rows, spans)."""
    if "weights" not in layer.names:
        raise InputError(
            "weights of this layer were not kept: leave `layers` out of rows(...), or name it there"
        )
    weights = layer.weights
    batch, _, _, keys = weights.shape
    of_texts = [spans] * batch if isinstance(spans, Mapping) else list(spans)
    if len(of_texts) != batch:
        raise InputError(
            f"spans of {len(of_texts)} texts: expected one dictionary for all, or {batch}"
        )
    names = (FIRST, *of_texts[0], ELSEWHERE)
    if len(set(names)) < len(names):
        raise InputError(
            f"a span is called {FIRST} or {ELSEWHERE}: expected other names, since these are known"
        )
    sums = np.empty((*weights.shape[:3], len(names)), dtype=weights.dtype)
    for text, named in enumerate(of_texts):
        if tuple(named) != names[1:-1]:
            raise InputError(
                f"the spans of text {text} are {', '.join(named)}: expected the names of the first text's"
            )
        members = _members(named, keys, int(layer.first_tokens[text]))
        sums[text] = weights[text] @ members.astype(weights.dtype)
    return names, sums


def _members(named: Mapping[str, Span], keys: int, first: int) -> np.ndarray:
    """Which keys are in which span, (keys, spans): every key is in one."""
    members = np.zeros((keys, len(named) + 2), dtype=bool)
    for column, (name, span) in enumerate(named.items(), 1):
        members[_positions(name, span, keys), column] = True
    twice = np.flatnonzero(members.sum(1) > 1)
    if len(twice):
        raise InputError(
            f"position {twice[0]} is in two spans: expected spans that do not overlap"
        )
    members[first] = False
    members[first, 0] = True
    members[:, -1] = ~members.any(1)
    return members


def _positions(name: str, span: Span, keys: int) -> np.ndarray:
    """The positions of a span."""
    if isinstance(span, slice):
        span = range(keys)[span]
    elif isinstance(span, tuple) and len(span) == 2:
        span = range(*span)
    positions = np.asarray(span)
    is_list = positions.ndim == 1 and positions.dtype.kind in "iu"
    if not is_list or not len(positions):
        raise InputError(
            f"span {name} = {span!r}: expected (start, stop), or positions, and at least one"
        )
    if positions.min() < 0 or positions.max() >= keys:
        raise InputError(
            f"span {name} reaches from {positions.min()} to {positions.max()}: expected positions from 0 to {keys - 1}"
        )
    return positions
