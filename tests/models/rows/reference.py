"""Row statistics one row after the other, in float64: slow and short, for the other paths to be held against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headwright.models.rows.scoring import RowStatistics, Scoring


def reference(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: Scoring,
    offsets: Sequence[int] = (0, 1),
    top: int = 0,
) -> RowStatistics:
    """Each statistic by its definition.

    >>> scoring = Scoring.of((1, 1, 2), (1, 2, 2), scale=1.0)
    >>> reference(np.array([[[np.log(3.0), 0.0]]]), np.eye(2)[None], scoring).largest
    array([[0.75]])
    """
    queries, keys = (np.asarray(array, dtype=np.float64) for array in (queries, keys))
    found = RowStatistics.empty(scoring.heads, scoring.rows, offsets, top=top > 0)
    received = np.zeros((scoring.heads, scoring.keys))
    for head in range(scoring.heads):
        mine = keys[head * scoring.key_heads // scoring.heads]
        for row in range(scoring.rows):
            seen = np.arange(*scoring.seen(row))
            if scoring.key_mask is not None:
                seen = seen[scoring.key_mask[seen]]
            if len(seen):
                received[head, seen] = received[head, seen] + _one(found, scoring, mine, queries, head, row, seen, top)
    return RowStatistics(**{**vars(found), "received": received})


def _one(
    found: RowStatistics, scoring: Scoring, keys: Float[np.ndarray, "keys d"],
    queries: Float[np.ndarray, "heads rows d"], head: int, row: int, seen: np.ndarray, top: int,
) -> Float[np.ndarray, " seen"]:  # fmt: skip
    raw = keys[seen] @ queries[head, row] * scoring.scale
    s = raw if scoring.softcap is None else scoring.softcap * np.tanh(raw / scoring.softcap)
    everything = s if scoring.sinks is None else np.append(s, scoring.sinks[head])
    lse = everything.max() + np.log(np.exp(everything - everything.max()).sum())
    alpha: Float[np.ndarray, " seen"] = np.exp(s - lse)
    position, order = row + scoring.shift, np.argsort(-s, kind="stable")
    steep = 1.0 if scoring.softcap is None else 1 - (s[order[0]] / scoring.softcap) ** 2
    at = head, row
    found.lse[at] = lse
    found.largest[at], found.winner[at] = alpha[order[0]], seen[order[0]]
    found.margin[at] = s[order[0]] - s[order[1]] if len(s) > 1 else np.inf
    found.entropy[at] = lse - np.exp(everything - lse) @ everything
    found.distance[at] = alpha @ (position - seen)
    found.sensitivity[at] = found.largest[at] * (1 - found.largest[at]) * raw[order[0]] * steep
    found.first[at] = alpha[seen == scoring.first].sum()
    for offset, weight in found.offsets.items():
        weight[at] = alpha[seen == position - offset].sum()
    if found.top is not None:
        found.top[at] = alpha[order[:top]].sum()
    return alpha
