"""`row_statistics`: statistics of every row of every head, of NumPy's arrays and of torch's tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import plain
from headwright.statistics.attention_config import (
    AttentionConfig,
    check_ends,
    checked_mask,
)
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import (
    ON_A_CPU,
    compute_in_blocks,
    compute_on_gpu,
    cpu_backend,
    is_on_gpu,
)
from headwright.statistics.request import StatisticsRequest, check_names
from headwright.statistics.results import RowStatistics
from headwright.statistics.table import (
    ENDS,
    RECEIVED,
    SETS,
    TABLE,
    TOP,
    PerWhat,
    offset_name,
)

ALWAYS = (
    "lse",
    "largest",
    "winner",
    "margin",
    "entropy",
    "first",
    "distance",
    "sensitivity",
    "largest_score",
)


def row_statistics(
    queries: Any,
    keys: Any,
    *,
    scale: float | None = None,
    causal: bool = True,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Any = None,
    key_mask: Any = None,
    offsets: Sequence[int] = (0, 1),
    top: int = 0,
    ends: tuple[int, int] | None = None,
    key_sets: Mapping[str, Any] | None = None,
    received: bool = False,
    last_rows: int = 64,
    extra: Sequence[str] = (),
) -> RowStatistics:
    """Statistics of every row of every head, in blocks of Q K^T and in memory O(rows).

    Queries are (heads, rows, d) or (batch, heads, rows, d), keys (key heads, keys, d) or (batch, key heads, keys, d):
    NumPy arrays or torch tensors. Heads share keys in groups where there are fewer key heads. The scale is 1/sqrt(d)
    unless given. `sinks` has one number for each head; `key_mask` and each of `key_sets` hold booleans, one row for all
    texts of a batch, or one for each. Products are in the wider of float32 and the arrays' type, and what is known of
    a row is in float64. `extra` has names of further statistics in the table.

    Tensors on a GPU are left there: a kernel computes in float32, and torch what the kernel does not know. What comes
    back is NumPy's in every case.

    A row whose scores hold NaN or +inf is NaN in every statistic, and its winner is -1. A score of -inf is that of a
    masked key.

    >>> rng = np.random.default_rng(0)
    >>> q, k = rng.normal(size=(2, 50, 8)), rng.normal(size=(1, 50, 8))
    >>> found = row_statistics(q, k, top=3)
    >>> bool(found.winner[0, 0] == 0 and np.isclose(found.offsets[0][1, 0], 1))
    True
    >>> bool((found.top >= found.largest).all())
    True
    """
    check_argument("offsets", offsets, Sequence[int])
    check_argument("top", top, int)
    check_argument("last_rows", last_rows, int)
    check_argument("extra", extra, Sequence[str])
    _check_numbers(offsets, top, ends, last_rows)
    _check_extra(extra, top)
    # Where it is computed depends on what was given, before it becomes NumPy's.
    on_gpu = is_on_gpu(queries)
    backend = cpu_backend(queries)
    if on_gpu:
        _check_on_gpu(queries, keys)
    else:
        queries, keys = _as_numbers(queries, keys)
    batched = queries.ndim == 4
    _check_batch(queries, keys)
    config = AttentionConfig.of(
        tuple(queries.shape[-3:]),
        tuple(keys.shape[1:] if batched else keys.shape),
        scale=scale,
        causal=causal,
        window=window,
        softcap=softcap,
        sinks=None if sinks is None else plain(sinks, "sinks"),
    )
    # Masks and sets: one row for each text.
    texts = len(queries) if batched else None
    mask = None
    if key_mask is not None:
        mask = _masks_of_texts(plain(key_mask, "key_mask"), texts, config.keys)
    sets = {
        name: _masks_of_texts(plain(members, f"the set {name}"), texts, config.keys)
        for name, members in (key_sets or {}).items()
    }
    call = AttentionRows(
        queries if batched else queries[None],
        keys if batched else keys[None],
        config.scale,
        softcap=softcap,
        sinks=config.sinks,
        causal=causal,
        window=window,
        key_mask=mask,
        first=None if mask is None else mask.argmax(axis=1),
        row_position=config.shift,
        sets=sets,
    )
    # What is computed: always the same few, and what arguments ask for.
    names = [*ALWAYS, *extra]
    if top:
        names += TOP
    if ends is not None:
        names += ENDS
    if received:
        names += RECEIVED
    request = StatisticsRequest(
        top=top,
        ends=ends or (0, 0),
        last_rows=last_rows,
        names=tuple(dict.fromkeys(names)),
        offsets=tuple(offsets),
        sets=tuple(sets),
    )
    if on_gpu:
        values = compute_on_gpu(call, request).values
    else:
        values = compute_in_blocks(call, request, backend, ON_A_CPU).values
    return _as_arrays(values, request, extra, batched)


def _as_numbers(queries: Any, keys: Any) -> tuple[np.ndarray, np.ndarray]:
    """NumPy's arrays of one type, float32 or wider."""
    queries = real_numbers(queries, "queries")
    keys = real_numbers(keys, "keys")
    wide = np.result_type(queries, keys)
    return queries.astype(wide, copy=False), keys.astype(wide, copy=False)


def _check_batch(queries: Any, keys: Any) -> None:
    if queries.ndim != 4:
        return
    if keys.ndim != 4 or len(keys) != len(queries) or not len(queries):
        raise InputError(
            f"queries of shape {tuple(queries.shape)} and keys of shape {tuple(keys.shape)}: expected "
            "(batch, heads, rows, d) of each, and one batch"
        )


def _as_arrays(
    values: Mapping[str, Any],
    request: StatisticsRequest,
    extra: Sequence[str],
    batched: bool,
) -> RowStatistics:
    """In float64, and in whole numbers where these are positions; without the axis of a batch that there was not."""
    arrays: dict[str, Any] = {}
    for entry in request.entries:
        array = plain(values[entry.name], entry.name)
        array = array.astype(np.int64 if entry.is_position else np.float64, copy=False)
        arrays[entry.name] = array if batched else array[0]
    offsets = {offset: arrays.pop(offset_name(offset)) for offset in request.offsets}
    sets = {name: arrays.pop(f"set {name}") for name in request.sets}
    more = {name: arrays.pop(name) for name in extra if name not in ALWAYS}
    return RowStatistics(**arrays, offsets=offsets, sets=sets, extra=more)


def _check_numbers(
    offsets: Sequence[int], top: int, ends: tuple[int, int] | None, last_rows: int
) -> None:
    numbers = {"top": top, "last_rows": last_rows}
    numbers |= {f"offset {offset}": offset for offset in offsets}
    for name, number in numbers.items():
        if number < 0:
            raise InputError(f"{name} = {number}: expected a number from 0")
    if ends is not None:
        check_ends(ends)


def _check_extra(extra: Sequence[str], top: int) -> None:
    """Refuse names that are none of the table's, and those that arguments of their own ask for."""
    check_names(extra)
    for name in extra:
        if name in (*TOP, *ENDS, *SETS, *RECEIVED):
            raise InputError(
                f"extra = {name}: expected a statistic that needs nothing else; top, ends, key_sets and "
                "received ask for others"
            )
        if TABLE[name].per is PerWhat.TOP_KEYS and not top:
            raise InputError(
                f"extra = {name}: it is about the top keys of a row; say how many, with top"
            )


def _check_on_gpu(queries: Any, keys: Any) -> None:
    if getattr(keys, "device", None) != queries.device or not is_on_gpu(keys):
        raise InputError(
            "queries are on a GPU and keys are not on the same one: expected both on one device"
        )
    for name, tensor in (("queries", queries), ("keys", keys)):
        if tensor.dtype.is_complex or "bool" in str(tensor.dtype):
            raise InputError(f"{name}: holds {tensor.dtype}, expected real numbers")


def _masks_of_texts(
    mask: Any, texts: int | None, keys: int
) -> Bool[np.ndarray, "batch keys"]:
    """A mask for each text: its own, or one for all."""
    masks = np.asarray(mask)
    if texts is None:
        return checked_mask(masks, keys, "keys")[None]
    if masks.ndim == 1:
        return np.repeat(checked_mask(masks, keys, "keys")[None], texts, axis=0)
    if masks.ndim != 2 or len(masks) != texts:
        raise InputError(
            f"a mask of shape {masks.shape} for {texts} texts: expected (keys,) or (batch, keys)"
        )
    return np.stack([checked_mask(row, keys, "keys") for row in masks])


def real_numbers(array: Any, name: str) -> Float[np.ndarray, ...]:
    """The array in float32 or wider; refused unless its numbers are real."""
    array = plain(array, name)
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise InputError(f"{name}: holds {array.dtype.name}, expected real numbers")
    wide = np.dtype(np.float32)
    if array.dtype.kind == "f":
        wide = np.result_type(np.float32, array.dtype)
    numbers: Float[np.ndarray, ...] = array.astype(wide, copy=False)
    return numbers


def finite_numbers(array: Any, name: str) -> Float[np.ndarray, ...]:
    """The same; refused unless its numbers are finite too."""
    numbers = real_numbers(array, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: holds a number that is not finite")
    return numbers
