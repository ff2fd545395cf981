"""The rows whose statistics are computed: queries, keys, and everything that scores depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from headwright.files import plain
from headwright.statistics.arrays import ArrayBackend
from headwright.statistics.attention_config import out_of_reach

Array = Any  # of NumPy or of torch, all of one library and on one device
# Those of them that may not be there.
ARRAYS = ("sinks", "mask", "bias", "key_mask", "counted", "padding", "first")
HIDDEN = -1e4  # what is added to a score and is not above this hides a key: the least number, or a large negative one


@dataclass(frozen=True, eq=False)
class AttentionRows:
    """Queries (batch, heads, rows, d) and keys (batch, key heads, keys, d), and what is made of them.

    A score is softcap tanh(scale q k / softcap), or scale q k, plus what masks add. A mask broadcasts to (batch, heads,
    rows, keys); it holds True where a key is seen, or what is added to a score. Rows also see no key outside of
    `key_mask`, `causal` and `window`; under the last two, the last row stands at the last key.
    """

    query: Array
    key: Array
    scale: float
    softcap: float | None = None
    sinks: Array | None = None  # one for each head
    mask: Array | None = None
    bias: Array | None = None  # added to scores, as the mask is
    causal: bool = False
    window: int | None = None
    key_mask: Array | None = None  # batch, keys
    counted: Array | None = None  # batch, rows: False for padding
    padding: Array | None = None  # batch, positions of keys: False for padding
    first: Array | None = None  # for each text, the position of its first token
    row_position: int = 0  # of the first row
    key_position: int = 0  # of the first key
    sets: dict[str, Array] = field(default_factory=dict)  # batch, keys
    cross: bool = False  # keys are of another text, and distances have no meaning

    @property
    def rows(self) -> int:
        """How many there are in each head."""
        return int(self.query.shape[2])

    @property
    def keys(self) -> int:
        """How many there are."""
        return int(self.key.shape[2])

    @property
    def heads_of_a_key(self) -> int:
        """How many heads share a key."""
        return int(self.query.shape[1] // self.key.shape[1])

    def in_numpy(self) -> AttentionRows:
        """The same in NumPy's arrays, which share the memory of a CPU's tensors of float32 and float64."""
        changed: dict[str, Any] = {}
        for name in ARRAYS:
            value = getattr(self, name)
            if value is not None and hasattr(value, "detach"):
                changed[name] = plain(value, name)
        changed["sets"] = {
            name: plain(members, name) for name, members in self.sets.items()
        }
        changed["query"], changed["key"] = (
            array.astype(np.result_type(np.float32, array.dtype), copy=False)
            for array in (plain(self.query, "queries"), plain(self.key, "keys"))
        )
        return replace(self, **changed)


@dataclass(frozen=True)
class BlockPlace:
    """Some rows of some heads of some texts, and the keys that they may see."""

    texts: slice
    heads: slice
    rows: slice
    keys: slice

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the block's scores."""
        return (
            self.texts.stop - self.texts.start,
            self.heads.stop - self.heads.start,
            self.rows.stop - self.rows.start,
            self.keys.stop - self.keys.start,
        )


def key_range(call: AttentionRows, rows: slice) -> slice:
    """The keys that the causal mask and the window leave to any of these rows; one at least, even if it is hidden."""
    shift = call.keys - call.rows
    start = 0
    stop = call.keys
    if call.window is not None:
        start = max(0, rows.start + shift - call.window + 1)
        stop = min(stop, rows.stop - 1 + shift + call.window)
    if call.causal:
        stop = min(stop, rows.stop + shift)
    start = min(start, call.keys - 1)
    return slice(start, max(stop, start + 1))


def hidden_parts(
    call: AttentionRows, place: BlockPlace, backend: ArrayBackend
) -> Iterator[tuple[slice, Array]]:
    """Which keys are hidden from which rows: columns of the block, and a mask that is broadcast over them."""
    everything = slice(0, place.shape[3])
    for added in (call.mask, call.bias):
        if added is not None:
            part = mask_part(added, place)
            yield everything, ~part if holds_booleans(part) else part <= HIDDEN
    if call.key_mask is not None:
        seen = call.key_mask[place.texts, None, None, place.keys]
        yield everything, ~seen
    if call.counted is not None:
        yield everything, ~call.counted[place.texts, None, place.rows, None]
    # Between two columns, every row sees every key that no mask hides.
    shift = call.keys - call.rows
    whole_start = place.keys.start
    whole_stop = place.keys.stop
    if call.window is not None:
        whole_start = place.rows.stop + shift - call.window
        whole_stop = min(whole_stop, place.rows.start + shift + call.window)
    if call.causal:
        whole_stop = min(whole_stop, place.rows.start + shift + 1)
    # What lies before them and behind them has an edge of the mask in it.
    for start, stop in (
        (place.keys.start, min(whole_start, place.keys.stop)),
        (max(whole_stop, whole_start, place.keys.start), place.keys.stop),
    ):
        if start < stop:
            columns = slice(start - place.keys.start, stop - place.keys.start)
            begin = start - shift - place.rows.start  # counted from the first row
            rows = place.rows.stop - place.rows.start
            yield (
                columns,
                _hidden_edge(
                    backend, rows, begin, stop - start, call.causal, call.window
                ),
            )


@lru_cache(maxsize=8)  # along a diagonal, blocks have one of few edges
def _hidden_edge(
    backend: ArrayBackend,
    rows: int,
    begin: int,
    keys: int,
    causal: bool,
    window: int | None,
) -> Array:
    row = backend.arange(0, rows)[:, None]
    return out_of_reach(row, backend.arange(begin, begin + keys), causal, window)


def hidden(call: AttentionRows, place: BlockPlace, backend: ArrayBackend) -> Array:
    """All of it as one mask (texts, heads, rows, keys)."""
    is_hidden = backend.full(place.shape, False)
    for columns, mask in hidden_parts(call, place, backend):
        is_hidden[..., columns] |= mask
    return is_hidden


def mask_part(mask: Array, place: BlockPlace) -> Array:
    """The part of a mask that is about a block; axes of length 1 are broadcast."""
    axes = (place.texts, place.heads, place.rows, place.keys)
    return mask[
        tuple(
            axis if length > 1 else slice(None)
            for axis, length in zip(axes, mask.shape, strict=True)
        )
    ]


def holds_booleans(mask: Array) -> bool:
    """Whether a mask says which keys are seen, and not what is added to scores."""
    return "bool" in str(mask.dtype)
