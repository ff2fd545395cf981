"""Row statistics one row after the other, in float64: slow and short, for the other paths to be held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.results import RowStatistics


def reference(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: AttentionConfig,
    offsets: Sequence[int] = (0, 1),
    top: int = 0,
    ends: tuple[int, int] = (2, 3),
    key_set: np.ndarray | None = None,
    last_rows: int = 4,
) -> RowStatistics:
    """Each statistic by its definition.

    >>> scoring = AttentionConfig.of((1, 1, 2), (1, 2, 2), scale=1.0)
    >>> reference(np.array([[[np.log(3.0), 0.0]]]), np.eye(2)[None], scoring).largest
    array([[0.75]])
    """
    queries, keys = (np.asarray(array, dtype=np.float64) for array in (queries, keys))
    found = _of_rows_that_see_nothing(scoring.heads, scoring.rows, offsets, top)
    alpha = np.zeros((scoring.heads, scoring.rows, scoring.keys))
    start, middle, recent, chosen = np.zeros((4, scoring.heads, scoring.rows))
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        for row in range(scoring.rows):
            seen = np.arange(*scoring.seen(row))
            if scoring.key_mask is not None:
                seen = seen[scoring.key_mask[seen]]
            if not len(seen):
                found.lse[head, row] = (
                    -np.inf if scoring.sinks is None else scoring.sinks[head]
                )
                continue
            weights = _one(found, scoring, mine, queries, head, row, seen, top)
            alpha[head, row, seen] = weights
            last = max(ends[0], len(seen) - ends[1])
            start[head, row], middle[head, row] = (
                weights[: ends[0]].sum(),
                weights[ends[0] : last].sum(),
            )
            recent[head, row] = weights[last:].sum()
            chosen[head, row] = 0.0 if key_set is None else weights[key_set[seen]].sum()
    return replace(
        found,
        received=alpha.sum(axis=1),
        received_most=alpha.max(axis=1),
        start=start,
        middle=middle,
        recent=recent,
        received_last=alpha[:, max(0, scoring.rows - last_rows) :].sum(axis=1),
        sets={"chosen": chosen},
    )


def _of_rows_that_see_nothing(
    heads: int, rows: int, offsets: Sequence[int], top: int
) -> RowStatistics:
    """Arrays to be filled."""

    shape = (heads, rows)
    return RowStatistics(
        lse=np.full(shape, -np.inf),
        largest=np.zeros(shape),
        winner=np.full(shape, -1),
        margin=np.zeros(shape),
        entropy=np.zeros(shape),
        first=np.zeros(shape),
        distance=np.zeros(shape),
        sensitivity=np.zeros(shape),
        largest_score=np.full(shape, -np.inf),
        offsets={offset: np.zeros(shape) for offset in offsets},
        top=np.zeros(shape) if top else None,
        top_keys=np.full((*shape, top), -1) if top else None,
        top_weights=np.zeros((*shape, top)) if top else None,
    )


def _one(
    found: RowStatistics,
    scoring: AttentionConfig,
    keys: Float[np.ndarray, "keys d"],
    queries: Float[np.ndarray, "heads rows d"],
    head: int,
    row: int,
    seen: np.ndarray,
    top: int,
) -> Float[np.ndarray, " seen"]:
    raw = keys[seen] @ queries[head, row] * scoring.scale
    s = (
        raw
        if scoring.softcap is None
        else scoring.softcap * np.tanh(raw / scoring.softcap)
    )
    everything = s if scoring.sinks is None else np.append(s, scoring.sinks[head])
    lse = everything.max() + np.log(np.exp(everything - everything.max()).sum())
    alpha: Float[np.ndarray, " seen"] = np.exp(s - lse)
    position, order = row + scoring.shift, np.argsort(-s, kind="stable")
    steep = 1.0 if scoring.softcap is None else 1 - (s[order[0]] / scoring.softcap) ** 2
    at = head, row
    found.lse[at] = lse
    found.largest[at], found.winner[at] = alpha[order[0]], seen[order[0]]
    found.margin[at] = s[order[0]] - s[order[1]] if len(s) > 1 else np.inf
    found.largest_score[at] = s[order[0]]
    found.entropy[at] = lse - np.exp(everything - lse) @ everything
    found.distance[at] = alpha @ (position - seen)
    found.sensitivity[at] = (
        found.largest[at] * (1 - found.largest[at]) * raw[order[0]] * steep
    )
    found.first[at] = alpha[seen == scoring.first].sum()
    for offset, weight in found.offsets.items():
        weight[at] = alpha[seen == position - offset].sum()
    if (
        found.top is not None
        and found.top_keys is not None
        and found.top_weights is not None
    ):
        found.top[at] = alpha[order[:top]].sum()
        found.top_keys[at][: len(s)] = seen[order[:top]]
        found.top_weights[at][: len(s)] = alpha[order[:top]]
    return alpha
