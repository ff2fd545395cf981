"""The rows of a layer, with the first token and without it.

Many heads rest on the first token of a text when they have nothing to do, and whatever is measured on all of their
attention then mostly tells how often. So each row is taken apart: the weight of the first token, f = alpha_0, and the
pattern away from it, alpha'_j = alpha_j / (1 - f) for j > 0. Tokens are counted behind padding, if there is any. A mean
'away from the first token' weighs each row by 1 - f: it is about a unit of attention that is not on the first token.

The statistics of alpha' come first, from queries and keys without key 0, and those of alpha follow from them and from
the score s_0 alone. The other way round, 1 - f would lose all its digits where f is nearly 1:

    f = sigmoid(s_0 - lse')     entropy = h(f) + (1 - f) entropy'     margin: of the best two among s_0, s'_(1), s'_(2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError
from headwright.models.loading.model import Layer, Tokens, numbers
from headwright.models.rows.blocked import row_statistics
from headwright.models.rows.scoring import RowStatistics, Scoring

Rows = Float[np.ndarray, "heads rows"]
FROM = 2  # the first position whose row is measured: the key before it is not the first token


@dataclass(frozen=True, eq=False)
class AwayFromFirst:
    """The rows from position 2 on, behind padding. Fields of `away` are about the pattern away from the first token."""

    positions: Int[np.ndarray, " rows"]
    queries: Float[np.ndarray, "heads rows d"]
    keys: Float[np.ndarray, "key_heads keys d"]
    scoring: Scoring
    away: RowStatistics
    first: Rows  # f
    rest: Rows  # 1 - f
    resting: Bool[np.ndarray, "heads rows"]  # the first token wins the row
    best: Rows  # the largest score
    margin: Rows  # by how much it leads
    largest: Rows
    entropy: Rows

    @property
    def key_head(self) -> Int[np.ndarray, " heads"]:
        """The key head of each head."""
        return np.arange(self.scoring.heads) * self.scoring.key_heads // self.scoring.heads


def rows_away(layer: Layer, offsets: Sequence[int]) -> AwayFromFirst:
    """The statistics of a layer's rows; `offsets` are those of `row_statistics`."""
    from scipy.special import entr, expit

    scoring = layer.scoring
    after = scoring.first + 1  # nothing before the first token is seen
    start = max(0, scoring.first + FROM - scoring.shift)
    positions = np.arange(start, scoring.rows) + scoring.shift
    mask = None if scoring.key_mask is None else scoring.key_mask[after:]
    away = statistics(layer.queries[:, start:], layer.keys[:, after:], replace(scoring, key_mask=mask), offsets)
    queries, keys = numbers(layer.queries)[:, start:], numbers(layer.keys)
    s0 = _first_scores(queries, keys, scoring, positions)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.where(np.isfinite(away.lse), away.lse - s0, -np.inf)
        gap = np.where(np.isfinite(s0), gap, np.inf)  # a row that sees neither counts as one that does not rest
        first, rest = expit(-gap), expit(gap)
        top = np.where(away.largest > 0, away.lse + np.log(away.largest), -np.inf)
        resting = s0 > top  # an equal score is no win
        second = top - away.margin
        rival = np.where(resting, top, np.maximum(s0, second))
        best = np.maximum(s0, top)
        margin = np.where(np.isfinite(rival), best - rival, np.inf)
    h = entr(first) + entr(rest)
    return AwayFromFirst(
        positions, queries, keys, scoring, away, first, rest, resting, best, margin,
        np.maximum(first, rest * away.largest), h + rest * away.entropy,
    )  # fmt: skip


def _first_scores(
    queries: Float[np.ndarray, "heads rows d"], keys: Float[np.ndarray, "key_heads keys d"], scoring: Scoring,
    positions: Int[np.ndarray, " rows"],
) -> Rows:  # fmt: skip
    """The score of the first token in each row; -inf where it is not seen."""
    mine = keys[np.arange(scoring.heads) * scoring.key_heads // scoring.heads, scoring.first]
    s = capped(np.einsum("hid,hd->hi", queries, mine).astype(np.float64) * scoring.scale, scoring)
    seen = scoring.sees(positions, scoring.first)
    found: Rows = np.where(seen, s, -np.inf)
    return found


def capped(raw: Float[np.ndarray, "*shape"], scoring: Scoring) -> Float[np.ndarray, "*shape"]:
    """Scores after the softcap, if there is one."""
    if scoring.softcap is None:
        return raw
    result: Float[np.ndarray, "*shape"] = scoring.softcap * np.tanh(raw / scoring.softcap)
    return result


def duplicate_weight(rows: AwayFromFirst, tokens: Tokens, after: int = 0) -> Rows:
    """The weight that each row gives to earlier places that hold its own token, away from the first.

    With `after`, to the keys so many places after these instead. Only such places are scored: for each token, its
    queries against its keys.
    """
    scoring, found = rows.scoring, np.zeros_like(rows.first)
    start, group = int(rows.positions[0]), scoring.heads // scoring.key_heads
    order = np.argsort(tokens, kind="stable")
    order = order[order + after > scoring.first]
    for places in np.split(order, np.flatnonzero(np.diff(tokens[order])) + 1):
        for part in (places[k : k + PART] for k in range(0, len(places), PART)):
            mine = part[part >= start]
            earlier = places[places < part[-1]]
            if not len(mine) or not len(earlier):
                continue
            q = rows.queries[:, mine - start].reshape(scoring.key_heads, group, len(mine), -1)
            raw = (q @ rows.keys[:, None, earlier + after].swapaxes(-1, -2)).reshape(scoring.heads, len(mine), -1)
            seen = (earlier < mine[:, None]) & scoring.sees(mine[:, None], earlier + after)
            s = capped(raw.astype(np.float64) * scoring.scale, scoring)
            lse = rows.away.lse[:, mine - start]
            less = np.where(np.isfinite(lse), lse, 0.0)[..., None]
            found[:, mine - start] = np.where(seen, np.exp(np.minimum(s - less, 0.0)), 0.0).sum(axis=2)
    return found


PART = 256  # rows scored at a time


def statistics(queries: Any, keys: Any, scoring: Scoring, offsets: Sequence[int]) -> RowStatistics:
    """`row_statistics` of arrays or tensors, with the scoring of their layer but for its shapes."""
    if not getattr(queries, "is_cuda", False):
        queries, keys = numbers(queries), numbers(keys)
    found = row_statistics(queries, keys, **scoring.options, offsets=tuple(offsets))
    if np.isnan(found.lse).any():
        raise InputError("queries or keys of a layer hold a number that is not finite, or their scores overflow: "
                         "nothing can be measured of them")  # fmt: skip
    return found
