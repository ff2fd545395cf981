"""Row statistics in blocks of rows and keys: one product, one exponential a score, and O(rows) memory.

What becomes of a block is the epilogue's: NumPy's, or the compiled one where that is installed and worth its start.
What stands at a known place (the first key, an offset) needs no block: its score is one inner product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError, typed_errors
from headwright.files import plain
from headwright.models.rows.accumulate import UNSEEN, Block, State, update
from headwright.models.rows.scoring import RowStatistics, Scoring

ROWS, KEYS = 256, 512
WORTH = 2**27  # scores: from here on, compiling takes less time than it saves in the layers of a model


@typed_errors
def row_statistics(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    *,
    scale: float | None = None,
    causal: bool = True,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Float[np.ndarray, " heads"] | None = None,
    key_mask: Bool[np.ndarray, " keys"] | None = None,
    offsets: Sequence[int] = (0, 1),
    top: int = 0,
    received: bool = False,
    progress: Callable[[float], None] | None = None,
) -> RowStatistics:
    """Statistics of every row of every head, in one pass over blocks of Q K^T and in memory O(rows).

    Heads share keys in groups where there are fewer key heads. The scale is 1/sqrt(d) unless given. Products are in the
    wider of float32 and the arrays' type, sums over blocks in float64.

    >>> rng = np.random.default_rng(0)
    >>> q, k = rng.normal(size=(2, 50, 8)), rng.normal(size=(1, 50, 8))
    >>> found = row_statistics(q, k, top=3)
    >>> bool(found.winner[0, 0] == 0 and found.offsets[0][1, 0] == 1.0)
    True
    >>> bool((found.top >= found.largest).all())
    True
    """
    queries, keys = (_numbers(array, name) for array, name in ((queries, "queries"), (keys, "keys")))
    scoring = Scoring.of(
        queries.shape, keys.shape, scale=scale, causal=causal, window=window, softcap=softcap, sinks=sinks,
        key_mask=key_mask,
    )  # fmt: skip
    if top < 0 or any(offset < 0 for offset in offsets):
        raise InputError(f"top = {top}, offsets {list(offsets)}: expected numbers from 0")
    half = None if progress is None else (lambda done: progress(done / (2 if received else 1)))
    found = statistics(queries, keys, scoring, tuple(offsets), top, half)
    if not received:
        return found
    rest = None if progress is None else (lambda done: progress((1 + done) / 2))
    return RowStatistics(**{**vars(found), "received": _received_mass(queries, keys, scoring, found.lse, rest)})


def _numbers(array: Float[np.ndarray, ...], name: str) -> Float[np.ndarray, ...]:
    array = plain(array, name)
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise InputError(f"{name}: holds {array.dtype.name}, expected real numbers")
    numbers = array.astype(np.result_type(np.float32, array.dtype) if array.dtype.kind == "f" else np.float32)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: holds a number that is not finite")
    return numbers


def statistics(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    offsets: Sequence[int],
    top: int,
    progress: Callable[[float], None] | None = None,
    fast: bool | None = None,
) -> RowStatistics:
    """Statistics of all rows; with the compiled epilogue if `fast`, which is decided here unless given."""
    found = RowStatistics.empty(scoring.heads, scoring.rows, offsets, top=top > 0)
    if fast is None:
        large = scoring.heads * scoring.rows * scoring.keys >= WORTH
        fast = large and top <= 2 and queries.dtype == np.float32 and can_compile()
    room, ranges = _room(queries.dtype), scoring.ranges() if fast else None
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        state = State.start(scoring.rows, max(2, top), None if scoring.sinks is None else float(scoring.sinks[head]))
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            seen = None if ranges is None else ranges[rows]
            _take_in(state.part(rows), scaled[rows], mine, scoring, rows, room, seen)
            if progress is not None:
                progress((head + rows.stop / scoring.rows) / scoring.heads)
        _conclude(found, head, state, scoring, top)
        _places(found, head, scaled, mine, scoring)
    return found


def can_compile() -> bool:
    """Whether the compiled epilogue can be had: Numba is installed, and is one for this NumPy."""
    try:
        from headwright.models.rows import numba_kernel
    except ImportError:
        return False
    return numba_kernel is not None


def _received_mass(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    lse: Float[np.ndarray, "heads rows"],
    progress: Callable[[float], None] | None = None,
) -> Float[np.ndarray, "heads keys"]:
    """What each key gets from all rows: a second pass, since it needs the rows' lse."""
    total, room = np.zeros((scoring.heads, scoring.keys)), _room(queries.dtype)
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            less = np.where(np.isfinite(lse[head, rows]), lse[head, rows], 0.0)[:, None].astype(scaled.dtype)
            for columns, s in _blocks(scaled[rows], mine, scoring, rows, room):
                total[head, columns] += np.exp(np.minimum(s - less, 0.0)).sum(axis=0)
            if progress is not None:
                progress((head + rows.stop / scoring.rows) / scoring.heads)
    return total


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
) -> Iterator[tuple[slice, Block]]:
    """The scores of these rows, block after block; UNSEEN where a key is not seen.

    Without `edges`, where a row ends is left to the one who asks, and only masked keys are UNSEEN.
    """
    first, last = scoring.seen(rows.start)[0], scoring.seen(rows.stop - 1)[1]
    inside = scoring.seen(rows.stop - 1)[0], scoring.seen(rows.start)[1]  # every row sees these, but for the key mask
    buffer = room[0, : len(queries)]
    for start in range(first, last, KEYS):
        columns = slice(start, min(start + KEYS, last))
        s = np.matmul(queries, keys[columns].T, out=buffer[:, : columns.stop - columns.start])
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


def _take_in(
    state: State, queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"], scoring: Scoring,
    rows: slice, room: Float[np.ndarray, "2 rows keys"], ranges: Int[np.ndarray, "rows 2"] | None,
) -> None:  # fmt: skip
    """All blocks of some rows, one after the other; compiled code is told what each row sees."""
    if ranges is None:
        for columns, s in _blocks(queries, keys, scoring, rows, room):
            update(state, s, columns.start, room[1, : len(s), : s.shape[1]])
        return
    from headwright.models.rows import numba_kernel

    for columns, s in _blocks(queries, keys, scoring, rows, room, edges=False):
        numba_kernel.update(state, room[0], s.shape[1], columns.start, ranges)


def _conclude(found: RowStatistics, head: int, state: State, scoring: Scoring, top: int) -> None:
    """From sums to statistics."""
    best, runner = state.best[:, -1], state.best[:, -2]
    mass, places, energy = state.sums
    seen = best > UNSEEN / 2
    safe = np.where(seen, mass, 1.0)
    reference = np.where(seen, state.reference, 0.0)
    lse = reference + np.log(safe)
    largest = np.where(seen, np.exp(np.where(seen, best - lse, 0.0)), 0.0)
    found.lse[head], found.largest[head] = np.where(seen, lse, -np.inf), largest
    found.winner[head] = np.where(seen, state.winner, -1)
    with np.errstate(invalid="ignore"):
        found.margin[head] = np.where(seen, np.where(runner > UNSEEN / 2, best - runner, np.inf), 0.0)
    found.entropy[head] = np.where(seen, np.log(safe) - energy / safe, 0.0)
    keys_mass = safe if scoring.sinks is None else safe - np.exp(np.where(seen, scoring.sinks[head] - reference, 0.0))
    position = np.arange(scoring.rows) + scoring.shift
    found.distance[head] = np.where(seen, (position * keys_mass - places) / safe, 0.0)
    found.sensitivity[head] = _sensitivity(largest, np.where(seen, best, 0.0), scoring)
    if found.top is not None:
        found.top[head] = np.where(seen, np.exp(state.best[:, -top:] - lse[:, None]).sum(axis=1), 0.0)


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
    found.first[head] = _weights(found.lse[head], queries @ keys[scoring.first], scoring, 0, first)
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
    seen = np.isfinite(lse)
    if scoring.causal:
        seen &= key <= position
    if scoring.window is not None:
        seen &= abs(key - position) < scoring.window
    if scoring.key_mask is not None:
        seen &= scoring.key_mask[key]
    s = s.astype(np.float64)
    if scoring.softcap is not None:
        s = scoring.softcap * np.tanh(s / scoring.softcap)
    # Scores that were summed in another order may be above what lse was made of, and a weight is never above 1.
    logs = np.minimum(np.where(seen, s - np.where(seen, lse, 0.0), 0.0), 0.0)
    weights: Float[np.ndarray, " rows"] = np.where(seen, np.exp(logs), 0.0)
    return weights
