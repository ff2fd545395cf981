"""Row statistics in blocks of rows and keys: one product, one exponential a score, and O(rows) memory.

As in an online softmax, sums are kept relative to the largest score so far. The few largest scores of a row are looked
for only in blocks whose maximum beats one of them, which soon hardly happens any more. What stands at a known place
(the first key, an offset) needs no block: its score is one inner product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int

from headwright.audit.rows.scoring import Scoring
from headwright.audit.rows.statistics import RowStatistics

ROWS, KEYS = 256, 512
UNSEEN = -1e30  # the score of a key that is not seen: finite, so that 0 times it is 0
Block = Float[np.ndarray, "rows keys"]


def statistics(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    offsets: Sequence[int],
    top: int,
    progress: Callable[[float], None] | None = None,
) -> RowStatistics:
    """Statistics of all rows.

    >>> scoring = Scoring.of((1, 1, 2), (1, 2, 2), scale=1.0)
    >>> statistics(np.array([[[np.log(3.0), 0.0]]]), np.eye(2)[None], scoring, (0,), 0).offsets[0].round(12)
    array([[0.25]])
    """
    found = RowStatistics.empty(scoring.heads, scoring.rows, offsets, top=top > 0)
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            _rows(found, head, rows, scaled[rows], mine, scoring, max(2, top), top)
            if progress is not None:
                progress((head + rows.stop / scoring.rows) / scoring.heads)
        _places(found, head, scaled, mine, scoring)
    return found


def received_mass(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    lse: Float[np.ndarray, "heads rows"],
    progress: Callable[[float], None] | None = None,
) -> Float[np.ndarray, "heads keys"]:
    """What each key gets from all rows: a second pass, since it needs the rows' lse.

    >>> scoring = Scoring.of((1, 2, 1), (1, 2, 1))
    >>> received_mass(np.zeros((1, 2, 1)), np.zeros((1, 2, 1)), scoring, np.log([[1.0, 2.0]]))
    array([[1.5, 0.5]])
    """
    total = np.zeros((scoring.heads, scoring.keys))
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        scaled = queries[head] * queries.dtype.type(scoring.scale)
        for start in range(0, scoring.rows, ROWS):
            rows = slice(start, min(start + ROWS, scoring.rows))
            less = np.where(np.isfinite(lse[head, rows]), lse[head, rows], 0.0)[:, None].astype(scaled.dtype)
            for columns, s in _blocks(scaled[rows], mine, scoring, rows):
                total[head, columns] += np.exp(s - less).sum(axis=0)
            if progress is not None:
                progress((head + rows.stop / scoring.rows) / scoring.heads)
    return total


def _blocks(
    queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"], scoring: Scoring, rows: slice
) -> Iterator[tuple[slice, Block]]:
    """The scores of these rows, block after block; UNSEEN where a key is not seen."""
    first, last = scoring.seen(rows.start)[0], scoring.seen(rows.stop - 1)[1]
    inside = scoring.seen(rows.stop - 1)[0], scoring.seen(rows.start)[1]  # every row sees these, but for the key mask
    buffer = np.empty((len(queries), KEYS), dtype=queries.dtype)
    for start in range(first, last, KEYS):
        columns = slice(start, min(start + KEYS, last))
        s = np.matmul(queries, keys[columns].T, out=buffer[:, : columns.stop - columns.start])
        if scoring.softcap is not None:
            s /= s.dtype.type(scoring.softcap)
            np.tanh(s, out=s)
            s *= s.dtype.type(scoring.softcap)
        whole = inside[0] <= columns.start and columns.stop <= inside[1] and scoring.key_mask is None
        hidden = None if whole else scoring.hidden(rows, columns)
        if hidden is not None:
            np.copyto(s, UNSEEN, where=hidden)
        yield columns, s


def _rows(
    found: RowStatistics, head: int, rows: slice, queries: Float[np.ndarray, "rows d"],
    keys: Float[np.ndarray, "keys d"], scoring: Scoring, many: int, top: int,
) -> None:  # fmt: skip
    count, at = len(queries), (head, rows)
    sink = -np.inf if scoring.sinks is None else float(scoring.sinks[head])
    reference = np.full(count, sink)  # what the sums are relative to: the largest score so far
    mass = np.full(count, 0.0 if scoring.sinks is None else 1.0)
    energy, places = np.zeros(count), np.zeros(count)  # sum e (s - reference), sum e (key - first of the block's rows)
    best = np.full((count, many), -np.inf)  # the largest scores, in ascending order
    winner = np.full(count, -1)
    buffer = np.empty((count, KEYS), dtype=queries.dtype)
    for columns, s in _blocks(queries, keys, scoring, rows):
        high = s.max(axis=1).astype(np.float64)
        _keep_best(best, winner, s, high, columns)
        old, reference = reference, np.maximum(reference, high)
        shrink = np.exp(old - reference)
        # how far below the reference: sum e (s - reference) for the old sums, where mass 0 has no say
        drop = np.where(mass > 0, old - reference, 0.0)
        s -= reference[:, None].astype(s.dtype)
        weights = np.exp(s, out=buffer[:, : s.shape[1]])
        sums = weights @ _ramp(columns, weights.dtype)
        energy = shrink * (energy + mass * drop) + np.vecdot(weights, s)
        mass = shrink * mass + sums[:, 0]
        places = shrink * places + sums[:, 1] + columns.start * sums[:, 0].astype(np.float64)
    seen = best[:, -1] > UNSEEN / 2
    safe = np.where(seen, mass, 1.0)
    lse = np.where(seen, reference + np.log(safe), -np.inf)
    largest = np.where(seen, np.exp(np.where(seen, best[:, -1] - np.where(seen, lse, 0.0), 0.0)), 0.0)
    found.lse[at], found.largest[at], found.winner[at] = lse, largest, np.where(seen, winner, -1)
    with np.errstate(invalid="ignore"):
        found.margin[at] = np.where(seen, np.where(best[:, -2] > UNSEEN / 2, best[:, -1] - best[:, -2], np.inf), 0.0)
    found.entropy[at] = np.where(seen, np.log(safe) - energy / safe, 0.0)
    keys_mass = safe if scoring.sinks is None else safe - np.exp(np.where(seen, sink - reference, 0.0))
    position = np.arange(rows.start, rows.stop) + scoring.shift
    found.distance[at] = np.where(seen, (position * keys_mass - places) / safe, 0.0)
    found.sensitivity[at] = _sensitivity(largest, np.where(seen, best[:, -1], 0.0), scoring)
    if found.top is not None:
        found.top[at] = np.where(seen, np.exp(best[:, -top:] - np.where(seen, lse, 0.0)[:, None]).sum(axis=1), 0.0)


def _keep_best(
    best: Float[np.ndarray, "rows many"], winner: Int[np.ndarray, " rows"], s: Block,
    high: Float[np.ndarray, " rows"], columns: slice,
) -> None:  # fmt: skip
    beaten = np.flatnonzero(high > best[:, 0])
    if not len(beaten):
        return
    all_of_them = len(beaten) == len(s)  # as in the first block of each row: then without a copy
    mine = s if all_of_them else s[beaten]
    at = np.arange(len(beaten)), mine.argmax(axis=1)
    ahead = high[beaten] > best[beaten, -1]
    winner[beaten[ahead]] = columns.start + at[1][ahead]
    if best.shape[1] == 2:
        mine[at] = -np.inf
        few = np.stack([mine.max(axis=1), high[beaten]], axis=1)
        if all_of_them:
            s[at] = high
    else:
        few = np.partition(mine, max(0, mine.shape[1] - best.shape[1]), axis=1)[:, -best.shape[1] :]
    best[beaten] = np.sort(np.concatenate([best[beaten], few], axis=1), axis=1)[:, -best.shape[1] :]


def _ramp(columns: slice, dtype: np.dtype) -> Float[np.ndarray, "keys 2"]:
    """Ones, and how far a key is from the first of its block: small numbers, which float32 holds exactly."""
    count = columns.stop - columns.start
    return np.stack([np.ones(count), np.arange(count)], axis=1).astype(dtype)


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
    position = np.arange(scoring.rows) + scoring.shift
    found.first[head] = _at(found.lse[head], queries, keys, scoring, np.zeros_like(position))
    for offset, weight in found.offsets.items():
        weight[head] = _at(found.lse[head], queries, keys, scoring, position - offset)


def _at(
    lse: Float[np.ndarray, " rows"], queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"],
    scoring: Scoring, key: Int[np.ndarray, " rows"],
) -> Float[np.ndarray, " rows"]:  # fmt: skip
    """The weight that each row gives to one key of its own; 0 where it does not see it."""
    position = np.arange(scoring.rows) + scoring.shift
    seen = (key >= 0) & np.isfinite(lse)
    if scoring.causal:
        seen &= key <= position
    if scoring.window is not None:
        seen &= abs(key - position) < scoring.window
    there = np.where(seen, key, 0)
    if scoring.key_mask is not None:
        seen &= scoring.key_mask[there]
    s = np.einsum("id,id->i", queries, keys[there]).astype(np.float64)
    if scoring.softcap is not None:
        s = scoring.softcap * np.tanh(s / scoring.softcap)
    weights: Float[np.ndarray, " rows"] = np.where(seen, np.exp(np.where(seen, s - np.where(seen, lse, 0.0), 0.0)), 0.0)
    return weights
