"""Row statistics in blocks of rows and keys: one product, one exponential a score, and O(rows) memory.

What becomes of a block is the epilogue's: NumPy's, or the compiled one where that is installed and worth its start.
What stands at a known place (the first key, an offset) needs no block: its score is one inner product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError, typed_errors
from headwright.files import plain
from headwright.models.rows.accumulate import UNSEEN, Block, State, update
from headwright.models.rows.on_gpu import by_kernel, kernel_takes
from headwright.models.rows.products import Product, numpy_product, torch_product
from headwright.models.rows.scoring import RowStatistics, Scoring, check_ends, checked_mask

ROWS, KEYS = 256, 512
Numbered = tuple[Int[np.ndarray, " keys"], Int[np.ndarray, "rows 1"], Int[np.ndarray, "rows 1"]]
LARGEST_SCORE = 1e38  # just inside the range of float32
WORTH = 2**27  # scores: from here on, compiling takes less time than it saves in the layers of a model


@typed_errors
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
) -> RowStatistics:
    """Statistics of every row of every head, in blocks of Q K^T and in memory O(rows).

    Queries are (heads, rows, d) or (batch, heads, rows, d), keys (key heads, keys, d) or (batch, key heads, keys, d):
    NumPy arrays or torch tensors. Heads share keys in groups where there are fewer key heads. The scale is 1/sqrt(d)
    unless given. `sinks` has one number for each head; `key_mask` and each of `key_sets` hold booleans, one row for all
    texts of a batch, or one for each. Products are in the wider of float32 and the arrays' type, sums over blocks in
    float64. Each of `ends`, `key_sets` and `received` asks for a second pass.

    Tensors on a GPU are left there and a kernel computes in float32; `top`, `ends`, `key_sets` and float64 are computed
    on the CPU. What comes back is NumPy's in every case.

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
    _check_numbers(offsets, top, ends, last_rows)
    sets = {name: plain(mask, f"the set {name}") for name, mask in (key_sets or {}).items()}
    key_mask = None if key_mask is None else plain(key_mask, "key_mask")
    sinks = None if sinks is None else plain(sinks, "sinks")
    if not top and ends is None and not sets and kernel_takes(queries, keys):
        return by_kernel(
            queries, keys, scale=scale, causal=causal, window=window, softcap=softcap, sinks=sinks, key_mask=key_mask,
            offsets=offsets, received=received, last_rows=last_rows,
        )  # fmt: skip
    product = torch_product if hasattr(queries, "detach") else numpy_product
    queries, keys = real_numbers(queries, "queries"), real_numbers(keys, "keys")
    keys = keys.astype(np.result_type(queries, keys), copy=False)
    queries = queries.astype(keys.dtype, copy=False)
    batched = queries.ndim == 4
    if batched:
        texts = len(queries)
        if keys.ndim != 4 or len(keys) != texts or not texts:
            raise InputError(f"queries of shape {queries.shape} and keys of shape {keys.shape}: expected (batch, "
                             "heads, rows, d) of each, and one batch")  # fmt: skip
    else:
        texts = 1
        queries, keys = queries[None], keys[None]
    computed = []
    for text in range(texts):
        scoring = Scoring.of(
            queries[text].shape, keys[text].shape, scale=scale, causal=causal, window=window, softcap=softcap,
            sinks=sinks, key_mask=_of_text(key_mask, text, texts) if batched else key_mask,
        )  # fmt: skip
        marked = {}
        for name, mask in sets.items():
            marked[name] = checked_mask(_of_text(mask, text, texts) if batched else mask, scoring.keys, "keys")
        found = statistics(queries[text], keys[text], scoring, tuple(offsets), top, product=product)
        if received or ends is not None or marked:
            late = last_rows if received else None
            more = second_pass(queries[text], keys[text], scoring, found.lse, ends, marked, late, product=product)
            found = replace(found, **more)
        computed.append(found)
    return RowStatistics.stacked(computed) if batched else computed[0]


def _check_numbers(offsets: Sequence[int], top: int, ends: tuple[int, int] | None, last_rows: int) -> None:
    numbers = {"top": top, "last_rows": last_rows} | {f"offset {offset}": offset for offset in offsets}
    for name, number in numbers.items():
        if number < 0:
            raise InputError(f"{name} = {number}: expected a number from 0")
    if ends is not None:
        check_ends(ends)


def _of_text(mask: Any, text: int, texts: int) -> Any:
    """The mask of one text of a batch: its own row, or the one of all."""
    given = None if mask is None else np.asarray(mask)
    if given is None or given.ndim == 1:
        return given
    if given.ndim != 2 or len(given) != texts:
        raise InputError(f"a mask of shape {given.shape} for {texts} texts: expected (keys,) or (batch, keys)")
    return given[text]


def real_numbers(array: Any, name: str) -> Float[np.ndarray, ...]:
    """The array in float32 or wider; refused unless its numbers are real."""
    array = plain(array, name)
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise InputError(f"{name}: holds {array.dtype.name}, expected real numbers")
    wide = np.result_type(np.float32, array.dtype) if array.dtype.kind == "f" else np.dtype(np.float32)
    numbers: Float[np.ndarray, ...] = array.astype(wide)
    return numbers


def finite_numbers(array: Any, name: str) -> Float[np.ndarray, ...]:
    """The same; refused unless its numbers are finite too."""
    numbers = real_numbers(array, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: holds a number that is not finite")
    return numbers


@np.errstate(invalid="ignore", over="ignore")  # scores may overflow: their rows say so
def statistics(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    offsets: Sequence[int],
    top: int,
    fast: bool | None = None,
    product: Product = numpy_product,
) -> RowStatistics:
    """Statistics of all rows; with the compiled epilogue if `fast`, which is decided here unless given."""
    found = RowStatistics.empty(scoring.heads, scoring.rows, offsets, top=top)
    if fast is None:
        fast = scoring.heads * scoring.rows * scoring.keys >= WORTH
    fast = fast and not top and queries.dtype == np.float32 and can_compile() and _surely_finite(queries, keys, scoring)
    room, ranges = _room(queries.dtype), scoring.ranges() if fast else None
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        state = State.start(
            scoring.rows, max(3, top) if top else 2, None if scoring.sinks is None else float(scoring.sinks[head])
        )
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            seen = None if ranges is None else ranges[rows]
            _take_in(state.part(rows), scaled[rows], mine, scoring, rows, room, seen, product)
        _conclude(found, head, state, scoring, top)
        _places(found, head, scaled, mine, scoring)
    found.spoil(np.isnan(found.lse))
    return found


def _surely_finite(
    queries: Float[np.ndarray, "heads rows d"], keys: Float[np.ndarray, "key_heads keys d"], scoring: Scoring
) -> bool:
    """Whether no score, and no sum on the way to one, can be NaN or leave the range of float32."""
    longest_query = max(float(queries.max()), -float(queries.min()))
    longest_key = max(float(keys.max()), -float(keys.min()))
    largest_product = longest_query * longest_key * queries.shape[2] * max(1.0, abs(scoring.scale))
    sinks = scoring.sinks is None or bool((scoring.sinks < np.inf).all())
    return sinks and largest_product < LARGEST_SCORE  # a comparison with NaN is false


def can_compile() -> bool:
    """Whether the compiled epilogue can be had: Numba is installed, and is one for this NumPy."""
    try:
        from headwright.models.rows import numba_kernel
    except ImportError:
        return False
    return numba_kernel is not None


@np.errstate(invalid="ignore", over="ignore")
def second_pass(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    lse: Float[np.ndarray, "heads rows"],
    ends: tuple[int, int] | None,
    sets: Mapping[str, Bool[np.ndarray, " keys"]],
    last_rows: int | None,
    product: Product = numpy_product,
) -> dict[str, Any]:
    """What needs the weights themselves, and so the rows' lse; a row whose lse is infinite gives no weight.

    A row whose lse is NaN is NaN, and so is what the keys that it sees receive. The fields of `RowStatistics` that were
    asked for: of the ends, of sets of keys, and what each key receives.
    """
    shape, room = (scoring.heads, scoring.rows), _room(queries.dtype)
    total, most, last = (np.zeros((scoring.heads, scoring.keys)) for _ in range(3))
    start, recent, given = (np.zeros(shape) for _ in range(3))
    found = {name: np.zeros(shape) for name in sets}
    numbered = None if ends is None else _numbered(scoring)
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        for begin in range(0, scoring.rows, ROWS):
            rows = slice(begin, min(begin + ROWS, scoring.rows))
            nothing = np.isinf(lse[head, rows])
            less = np.where(nothing, 0.0, lse[head, rows])[:, None].astype(scaled.dtype)
            spoilt = bool(np.isnan(less).any())
            for columns, s in _blocks(scaled[rows], mine, scoring, rows, room, product=product):
                weights = np.exp(np.minimum(s - less, 0.0))
                weights[nothing] = 0.0
                if spoilt:  # a row that is NaN gives NaN to the keys that it sees
                    weights[s == UNSEEN] = 0.0
                if last_rows is not None:
                    total[head, columns] += weights.sum(axis=0)
                    np.maximum(most[head, columns], weights.max(axis=0), out=most[head, columns])
                    last[head, columns] += weights[max(0, scoring.rows - last_rows - begin) :].sum(axis=0)
                for name, mask in sets.items():
                    found[name][head, rows] += np.vecdot(weights, mask[columns].astype(weights.dtype))
                if ends is not None and numbered is not None:
                    first, latter = _at_ends(numbered, ends, rows, columns)
                    start[head, rows] += np.vecdot(weights, first)
                    recent[head, rows] += np.vecdot(weights, latter)
                    given[head, rows] += weights.sum(axis=1)
    for values in (start, recent, given, *found.values()):
        values[np.isnan(lse)] = np.nan
    more: dict[str, Any] = {"sets": found}
    if last_rows is not None:
        more |= {"received": total, "received_most": most, "received_last": last}
    if ends is not None:
        more |= {"start": start, "recent": recent, "middle": np.maximum(given - start - recent, 0.0)}
    return more


def _numbered(
    scoring: Scoring,
) -> tuple[Int[np.ndarray, " keys"], Int[np.ndarray, "rows 1"], Int[np.ndarray, "rows 1"]]:
    """How many unmasked keys come before each key; for each row, before the first it sees; and how many it sees."""
    seen = np.ones(scoring.keys, dtype=bool) if scoring.key_mask is None else scoring.key_mask
    before = np.concatenate([[0], np.cumsum(seen)])
    ranges = before[np.clip(scoring.ranges(), 0, scoring.keys)]
    return before[:-1], ranges[:, :1], np.maximum(ranges[:, 1:] - ranges[:, :1], 0)


def _at_ends(
    numbered: Numbered, ends: tuple[int, int], rows: slice, columns: slice
) -> tuple[Bool[np.ndarray, "rows keys"], Bool[np.ndarray, "rows keys"]]:
    """Which keys are among the first that a row sees, and which of the others among its last."""
    before, skipped, count = numbered
    number = before[columns] - skipped[rows]
    first = number < ends[0]
    return first, ~first & (number >= count[rows] - ends[1])


def _room(dtype: np.dtype) -> Float[np.ndarray, "2 rows keys"]:
    """Room for a block and its weights, asked for once: the system hands out new memory page by page, which shows."""
    return np.empty((2, ROWS, KEYS), dtype=dtype)


def _blocks(
    queries: Float[np.ndarray, "rows d"],
    keys: Float[np.ndarray, "keys d"],
    scoring: Scoring,
    rows: slice,
    room: Float[np.ndarray, "2 rows keys"],
    *,
    edges: bool = True,
    product: Product = numpy_product,
) -> Iterator[tuple[slice, Block]]:
    """The scores of these rows, block after block; UNSEEN where a key is not seen.

    Without `edges`, where a row ends is left to the one who asks, and only masked keys are UNSEEN.
    """
    first, last = scoring.seen(rows.start)[0], scoring.seen(rows.stop - 1)[1]
    inside = scoring.seen(rows.stop - 1)[0], scoring.seen(rows.start)[1]  # every row sees these, but for the key mask
    buffer = room[0, : len(queries)]
    for start in range(first, last, KEYS):
        columns = slice(start, min(start + KEYS, last))
        s = buffer[:, : columns.stop - columns.start]
        product(queries, keys[columns], s)
        if scoring.softcap is not None:
            s /= s.dtype.type(scoring.softcap)
            np.tanh(s, out=s)
            s *= s.dtype.type(scoring.softcap)
        if not edges:
            if scoring.key_mask is not None:
                s[:, ~scoring.key_mask[columns]] = UNSEEN
        elif inside[0] > columns.start or columns.stop > inside[1] or scoring.key_mask is not None:
            hidden = scoring.hidden(rows, columns)
            if hidden is not None:
                np.copyto(s, UNSEEN, where=hidden)
        yield columns, s


def score_blocks(
    queries: Float[np.ndarray, "heads rows d"], keys: Float[np.ndarray, "key_heads keys d"], scoring: Scoring
) -> Iterator[tuple[int, slice, slice, Block]]:
    """Head, rows, keys and scores of each block; a block is overwritten by the next."""
    room = _room(queries.dtype)
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            for columns, s in _blocks(scaled[rows], mine, scoring, rows, room):
                yield head, rows, columns, s


def _take_in(
    state: State, queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"], scoring: Scoring,
    rows: slice, room: Float[np.ndarray, "2 rows keys"], ranges: Int[np.ndarray, "rows 2"] | None, product: Product,
) -> None:  # fmt: skip
    """All blocks of some rows, one after the other; compiled code is told what each row sees."""
    if ranges is None:
        for columns, s in _blocks(queries, keys, scoring, rows, room, product=product):
            update(state, s, columns.start, room[1, : len(s), : s.shape[1]], product)
        return
    from headwright.models.rows import numba_kernel

    for columns, s in _blocks(queries, keys, scoring, rows, room, edges=False, product=product):
        numba_kernel.update(state, room[0], s.shape[1], columns.start, ranges)


def _conclude(found: RowStatistics, head: int, state: State, scoring: Scoring, top: int) -> None:
    """From sums to statistics."""
    best, runner = state.best[:, -1], state.best[:, -2]
    mass, places, energy = state.sums
    seen = best > UNSEEN
    some = mass != 0.0  # of a key or of the sink; True of NaN
    safe = np.where(some, mass, 1.0)
    reference = np.where(some, state.reference, 0.0)
    lse = reference + np.log(safe)
    largest = np.where(seen, np.exp(np.where(seen, best - lse, 0.0)), 0.0)
    found.lse[head], found.largest[head] = np.where(some, lse, -np.inf), largest
    found.winner[head] = np.where(seen, state.winner, -1)
    found.margin[head] = np.where(seen, np.where(runner > UNSEEN, best - runner, np.inf), 0.0)
    found.entropy[head] = np.where(some, np.log(safe) - energy / safe, 0.0)
    keys_mass = safe if scoring.sinks is None else safe - np.exp(np.where(seen, scoring.sinks[head] - reference, 0.0))
    position = np.arange(scoring.rows) + scoring.shift
    found.distance[head] = np.where(seen, (position * keys_mass - places) / safe, 0.0)
    found.sensitivity[head] = _sensitivity(largest, np.where(seen, best, 0.0), scoring)
    found.largest_score[head] = np.where(seen, best, -np.inf)
    if found.top is not None and found.top_keys is not None and found.top_weights is not None:
        high = state.best[:, : -top - 1 : -1]
        counts = high > UNSEEN
        found.top_keys[head] = np.where(counts, state.places[:, : -top - 1 : -1], -1)
        found.top_weights[head] = np.where(counts, np.exp(np.where(counts, high - lse[:, None], 0.0)), 0.0)
        found.top[head] = found.top_weights[head].sum(axis=1)


def _sensitivity(
    largest: Float[np.ndarray, " rows"], s: Float[np.ndarray, " rows"], scoring: Scoring
) -> Float[np.ndarray, " rows"]:
    slope = s
    if scoring.softcap is not None:
        t = np.clip(s / scoring.softcap, -1 + 1e-16, 1 - 1e-16)
        slope = scoring.softcap * np.arctanh(t) * (1 - t * t)
    result: Float[np.ndarray, " rows"] = largest * (1 - largest) * slope
    return result


def _places(
    found: RowStatistics, head: int, queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"],
    scoring: Scoring,
) -> None:  # fmt: skip
    """The weights at known places."""
    first = np.full(scoring.rows, scoring.first)
    found.first[head] = _weights(found.lse[head], np.vecdot(queries, keys[scoring.first]), scoring, 0, first)
    for offset, weight in found.offsets.items():
        start = max(0, offset - scoring.shift)  # the rows before have no key so far back
        key = np.arange(start, scoring.rows) + scoring.shift - offset
        if len(key):
            s = np.vecdot(queries[start:], keys[key[0] : key[-1] + 1])
            weight[head, start:] = _weights(found.lse[head, start:], s, scoring, start, key)


def _weights(
    lse: Float[np.ndarray, " rows"], s: Float[np.ndarray, " rows"], scoring: Scoring, start: int,
    key: Int[np.ndarray, " rows"],
) -> Float[np.ndarray, " rows"]:  # fmt: skip
    """The weight that each row from `start` on gives to one key of its own; 0 where it does not see it."""
    position = np.arange(start, start + len(key)) + scoring.shift
    seen = np.isfinite(lse) & scoring.sees(position, key)
    s = s.astype(np.float64)
    if scoring.softcap is not None:
        s = scoring.softcap * np.tanh(s / scoring.softcap)
    # Scores that were summed in another order may be above what lse was made of, and a weight is never above 1.
    logs = np.minimum(np.where(seen, s - np.where(seen, lse, 0.0), 0.0), 0.0)
    weights: Float[np.ndarray, " rows"] = np.where(seen, np.exp(logs), 0.0)
    return weights
