"""What attention is asked for: which keys a row sees, and what its scores are.

The queries are (batch, heads, rows, dim), the keys (batch, key heads, keys, dim). With
t = scale * q . k, the score of a key is softcap * tanh(t / softcap) + bias; a sink is
one more score in the softmax, with a value of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from headwright.conformance.arrays import (
    Array,
    device_of,
    like,
    namespace_of,
    numbers_like,
)
from headwright.errors import InputError

Corner = Literal["end", "start"]
Layout = Literal["bhtd", "bthd"]
UNLIMITED = -1  # in a window of two numbers, as flash-attention writes it


@dataclass(frozen=True, eq=False)
class AttentionSpec:
    """What is computed, for tensors of any shape that fits.

    Row i stands at key i + (keys - rows) if the corner is 'end' (a cache), at key i if
    it is 'start' (what PyTorch's is_causal means).
    """

    scale: float
    causal: bool = False
    corner: Corner = "end"
    # Keys before and after the row's own that it sees; None is all of them.
    keys_before: int | None = None
    keys_after: int | None = None
    softcap: float | None = None
    sinks: Array | None = None  # (heads,)
    bias: Array | None = None  # broadcasts to (batch, heads, rows, keys)
    alibi: Array | None = None  # slopes (heads,): -slope * distance is added
    key_padding: Array | None = None  # (batch, keys), True where a key is real
    documents: Array | None = None  # (batch or 1, keys), ids
    mask: Array | None = None  # broadcasts to (batch, heads, rows, keys), True: seen
    # What only hypotheses change:
    row_offset: int = 0  # rows stand so many keys later
    interleaved_heads: bool = False  # query head h reads key head h mod key heads


@dataclass(frozen=True)
class AttentionShape:
    """The sizes of one call."""

    batch: int
    heads: int
    key_heads: int
    rows: int
    keys: int
    dim: int
    value_dim: int

    @property
    def group(self) -> int:
        """How many query heads share a key head."""
        return self.heads // self.key_heads


def window_reach(
    window: int | Sequence[int] | None, *, causal: bool
) -> tuple[int | None, int | None]:
    """How many keys before and after its own a row sees.

    A number counts the keys that are seen with the row's own; two are
    flash-attention's (left, right), which do not count it.

    >>> window_reach(128, causal=True), window_reach((127, 0), causal=False)
    ((127, None), (127, 0))
    """
    if window is None:
        return None, None
    if not isinstance(window, int | Integral):
        if len(window) != 2:
            raise InputError(f"window has {len(window)} numbers: expected one or two")
        before, after = (_reach(int(distance)) for distance in window)
        return before, after
    window = int(window)
    if window < 1:
        raise InputError(f"window is {window}: expected at least 1 key")
    if causal:
        return window - 1, None
    return window - 1, window - 1


def _reach(distance: int) -> int | None:
    if distance == UNLIMITED:
        return None
    if distance < 0:
        raise InputError(
            f"window has {distance}: expected 0 or more, or -1 for no limit"
        )
    return distance


def document_ids(documents: Any, keys: int) -> np.ndarray:
    """Ids of the documents of keys, from ids or from cumulative lengths.

    >>> document_ids([0, 2, 5], keys=5)
    array([[0, 0, 1, 1, 1]])
    """
    ids = np.asarray(documents)
    if ids.dtype.kind not in "iu":
        raise InputError(f"documents holds {ids.dtype} numbers: expected whole numbers")
    if ids.ndim == 2 and ids.shape[1] == keys:
        return ids
    if ids.ndim == 1 and len(ids) == keys:
        return ids[None]
    cumulative = ids.ndim == 1 and len(ids) > 1 and ids[0] == 0 and ids[-1] == keys
    if cumulative and bool((np.diff(ids) >= 0).all()):
        return np.searchsorted(ids, np.arange(keys), side="right")[None] - 1
    raise InputError(
        f"documents has shape {ids.shape}: expected an id for each of {keys} keys, or "
        f"cumulative lengths from 0 to {keys}"
    )


def row_positions(
    spec: AttentionSpec, shape: AttentionShape, rows: np.ndarray
) -> np.ndarray:
    """At which key each row stands."""
    shift = spec.row_offset
    if spec.corner == "end":
        shift += shape.keys - shape.rows
    return rows + shift


def key_range(
    spec: AttentionSpec, shape: AttentionShape, rows: np.ndarray
) -> tuple[int, int]:
    """First and past-the-last key that any of these rows can see."""
    positions = row_positions(spec, shape, rows)
    first, stop = 0, shape.keys
    if spec.keys_before is not None:
        first = max(first, int(positions.min()) - spec.keys_before)
    if spec.keys_after is not None:
        stop = min(stop, int(positions.max()) + spec.keys_after + 1)
    if spec.causal:
        stop = min(stop, int(positions.max()) + 1)
    first = min(max(first, 0), shape.keys)
    # At least one key, so that a block of scores is never empty.
    stop = max(stop, first + 1)
    if stop > shape.keys:
        first, stop = shape.keys - 1, shape.keys
    return first, stop


def hides_by_position_only(spec: AttentionSpec) -> bool:
    """Whether nothing but the positions of row and key says what is seen."""
    return spec.documents is None and spec.key_padding is None and spec.mask is None


def keys_of_rows(
    spec: AttentionSpec, shape: AttentionShape, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first and past-the-last key that the position of each row lets it see."""
    positions = row_positions(spec, shape, rows)
    first = np.zeros_like(positions)
    stop = np.full_like(positions, shape.keys)
    if spec.keys_before is not None:
        first = np.maximum(first, positions - spec.keys_before)
    if spec.keys_after is not None:
        stop = np.minimum(stop, positions + spec.keys_after + 1)
    if spec.causal:
        stop = np.minimum(stop, positions + 1)
    first = np.minimum(first, shape.keys)
    return first, np.maximum(stop, first)


def visible_block(
    spec: AttentionSpec,
    shape: AttentionShape,
    pairs: np.ndarray,
    rows: np.ndarray,
    keys: slice,
    model: Array,
) -> Array:
    """Which keys are seen: (pairs, group or 1, rows, keys), in the library of `model`.

    A pair is a text of the batch with one of its key heads.
    """
    xp = namespace_of(model)
    positions = numbers_like(row_positions(spec, shape, rows), model)[:, None]
    key_numbers = xp.arange(keys.start, keys.stop, device=device_of(model))[None, :]
    distance = positions - key_numbers
    visible = distance == distance
    if spec.causal:
        visible = visible & (distance >= 0)
    if spec.keys_before is not None:
        visible = visible & (distance <= spec.keys_before)
    if spec.keys_after is not None:
        visible = visible & (distance >= -spec.keys_after)
    visible = visible[None, None]
    texts = pairs // shape.key_heads
    if spec.documents is not None:
        visible = visible & _same_document(spec, shape, texts, rows, keys, model)
    if spec.key_padding is not None:
        real = like(spec.key_padding, model)[texts.tolist(), keys]
        visible = visible & real[:, None, None, :]
    if spec.mask is not None:
        allowed = take_block(spec.mask, spec, shape, pairs, rows, keys, model)
        visible = visible & allowed
    return visible


def _same_document(
    spec: AttentionSpec,
    shape: AttentionShape,
    texts: np.ndarray,
    rows: np.ndarray,
    keys: slice,
    model: Array,
) -> Array:
    ids = np.asarray(spec.documents)
    if len(ids) == 1:
        texts = np.zeros_like(texts)
    positions = np.clip(row_positions(spec, shape, rows), 0, shape.keys - 1)
    row_ids = ids[texts][:, positions]
    key_ids = ids[texts][:, keys]
    return like(row_ids[:, None, :, None] == key_ids[:, None, None, :], model)


def take_block(
    full: Array,
    spec: AttentionSpec,
    shape: AttentionShape,
    pairs: np.ndarray,
    rows: np.ndarray,
    keys: slice,
    model: Array,
) -> Array:
    """The part of an array over (batch, heads, rows, keys) that some pairs have.

    Axes of size 1 are kept: they broadcast. The result is (pairs, group or 1, ...).
    """
    block = full
    if block.shape[2] > 1:
        block = block[:, :, rows.tolist(), :]
    if block.shape[3] > 1:
        block = block[:, :, :, keys]
    texts = pairs // shape.key_heads
    if block.shape[0] == 1:
        texts = np.zeros_like(texts)
    if block.shape[1] == 1:
        return like(block[texts.tolist()], model)
    heads = query_heads(spec, shape, pairs)
    return like(block[texts[:, None].tolist(), heads.tolist()], model)


def query_heads(
    spec: AttentionSpec, shape: AttentionShape, pairs: np.ndarray
) -> np.ndarray:
    """The query heads that read the key head of each pair: (pairs, group)."""
    key_head = (pairs % shape.key_heads)[:, None]
    member = np.arange(shape.group)[None, :]
    if spec.interleaved_heads:
        return np.asarray(member * shape.key_heads + key_head)
    return np.asarray(key_head * shape.group + member)


@dataclass(frozen=True, eq=False)
class AddedScores:
    """What is added to the scores of a block: a bias, ALiBi, or both.

    Arrays are (pairs, group or 1, rows or 1, keys).
    """

    total: Array
    # A bias of minus infinity is a mask: False there, where nothing is added.
    visible: Array | None
    magnitude: Array  # |bias| + |ALiBi|: the sum of both may cancel
    terms: int  # how many numbers are added to a score
    # |slope * position| of each row, (pairs, group, rows, 1): some kernels add the
    # slope times the number of the key, which is larger by this and the same for all
    # keys of a row.
    alibi_of_row: Array | None


def added_scores(
    spec: AttentionSpec,
    shape: AttentionShape,
    pairs: np.ndarray,
    rows: np.ndarray,
    keys: slice,
    model: Array,
) -> AddedScores | None:
    """Bias and ALiBi of a block; None where there is neither."""
    xp = namespace_of(model)
    bias = visible = None
    if spec.bias is not None:
        bias = take_block(spec.bias, spec, shape, pairs, rows, keys, model)
        bias = xp.astype(bias, xp.float64)
        visible = bias > -np.inf
        bias = xp.where(visible, bias, xp.zeros_like(bias))
    if spec.alibi is None:
        if bias is None:
            return None
        return AddedScores(bias, visible, xp.abs(bias), terms=1, alibi_of_row=None)

    slopes = _slopes(spec, shape, pairs, model)
    positions = numbers_like(row_positions(spec, shape, rows), model)[:, None]
    key_numbers = xp.arange(keys.start, keys.stop, device=device_of(model))
    distance = xp.astype(xp.abs(positions - key_numbers[None, :]), xp.float64)
    alibi = -slopes * distance
    of_row = alibi_of_rows(spec, shape, pairs, rows, model)
    if bias is None:
        return AddedScores(alibi, None, xp.abs(alibi), terms=1, alibi_of_row=of_row)
    magnitude = xp.abs(bias) + xp.abs(alibi)
    return AddedScores(bias + alibi, visible, magnitude, 2, alibi_of_row=of_row)


def alibi_of_rows(
    spec: AttentionSpec,
    shape: AttentionShape,
    pairs: np.ndarray,
    rows: np.ndarray,
    model: Array,
) -> Array | None:
    """|slope * position| of rows, (pairs, group, rows, 1): see `AddedScores`."""
    if spec.alibi is None:
        return None
    xp = namespace_of(model)
    positions = numbers_like(row_positions(spec, shape, rows), model)[:, None]
    slopes = _slopes(spec, shape, pairs, model)
    return xp.abs(slopes * xp.astype(positions, xp.float64))


def _slopes(
    spec: AttentionSpec, shape: AttentionShape, pairs: np.ndarray, model: Array
) -> Array:
    """Those of ALiBi, (pairs, group, 1, 1)."""
    of_heads = np.asarray(spec.alibi, dtype=np.float64)
    of_pairs = of_heads[query_heads(spec, shape, pairs)]
    return like(of_pairs, model)[:, :, None, None]
