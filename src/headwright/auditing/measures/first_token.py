"""The rows of a layer, with the first token and without it.

In many heads the first token of a text is an attention sink, and whatever is measured on all of their attention then
mostly tells how often it is used. So each row is taken apart: the weight of the first token, f = alpha_0, and the
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
from headwright.models.model import LayerActivations, Tokens, numbers
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.results import RowStatistics
from headwright.statistics.rows import row_statistics

Rows = Float[np.ndarray, "heads rows"]
FROM = 2  # the first position whose row is measured: the key before it is not the first token
BLOCK = 256  # rows scored at a time


@dataclass(frozen=True, eq=False)
class AwayFromFirst:
    """The rows from position 2 on, behind padding. Fields of `away` are about the pattern away from the first token."""

    positions: Int[np.ndarray, " rows"]
    queries: Float[np.ndarray, "heads rows d"]
    keys: Float[np.ndarray, "key_heads keys d"]
    scoring: AttentionConfig
    away: RowStatistics
    first: Rows  # f
    rest: Rows  # 1 - f
    sink_wins: Bool[np.ndarray, "heads rows"]  # the first token has the largest weight
    best: Rows  # the largest score
    margin: Rows  # by how much it leads
    largest: Rows
    entropy: Rows

    @property
    def key_head(self) -> Int[np.ndarray, " heads"]:
        """The key head of each head."""
        return (
            np.arange(self.scoring.heads) * self.scoring.key_heads // self.scoring.heads
        )


def rows_away(layer: LayerActivations, offsets: Sequence[int]) -> AwayFromFirst:
    """The statistics of a layer's rows; `offsets` are those of `row_statistics`."""
    scoring = layer.scoring
    after = scoring.first + 1  # nothing before the first token is seen
    # The pattern away from the first token: queries and keys without key 0.
    start = max(0, scoring.first + FROM - scoring.shift)
    positions = np.arange(start, scoring.rows) + scoring.shift
    mask = None if scoring.key_mask is None else scoring.key_mask[after:]
    away = statistics(
        layer.queries[:, start:],
        layer.keys[:, after:],
        replace(scoring, key_mask=mask),
        offsets,
    )
    # The whole pattern follows from it and from the score of key 0.
    queries = numbers(layer.queries)[:, start:]
    keys = numbers(layer.keys)
    s0 = _first_scores(queries, keys, scoring, positions)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # f = sigmoid(s_0 - lse'). A row that sees no other key has f = 1; one that does not see the first has f = 0.
        gap = np.where(np.isfinite(away.lse), away.lse - s0, -np.inf)
        gap = np.where(np.isfinite(s0), gap, np.inf)
        first = 1 / (1 + np.exp(gap))
        rest = 1 / (1 + np.exp(-gap))
        # The best two among s_0, s'_(1) = top and s'_(2) = second.
        top = np.where(away.largest > 0, away.lse + np.log(away.largest), -np.inf)
        second = top - away.margin
        sink_wins = s0 > top  # an equal score is no win
        runner_up = np.where(sink_wins, top, np.maximum(s0, second))
        best = np.maximum(s0, top)
        margin = np.where(np.isfinite(runner_up), best - runner_up, np.inf)
        # The entropy of choosing between the first token and the rest, and then that of the rest.
        entropy_of_split = _entropy_term(first) + _entropy_term(rest)
    return AwayFromFirst(
        positions=positions,
        queries=queries,
        keys=keys,
        scoring=scoring,
        away=away,
        first=first,
        rest=rest,
        sink_wins=sink_wins,
        best=best,
        margin=margin,
        largest=np.maximum(first, rest * away.largest),
        entropy=entropy_of_split + rest * away.entropy,
    )


def _entropy_term(share: Rows) -> Rows:
    """-p log p, which is 0 at p = 0."""
    return np.where(share == 0, 0.0, -share * np.log(share))


def _first_scores(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    scoring: AttentionConfig,
    positions: Int[np.ndarray, " rows"],
) -> Rows:
    """The score of the first token in each row; -inf where it is not seen."""
    key_head = np.arange(scoring.heads) * scoring.key_heads // scoring.heads
    first_keys = keys[key_head, scoring.first]
    products = np.einsum("hid,hd->hi", queries, first_keys).astype(np.float64)
    s = capped(products * scoring.scale, scoring)
    seen = scoring.sees(positions, scoring.first)
    scores: Rows = np.where(seen, s, -np.inf)
    return scores


def capped(
    raw: Float[np.ndarray, "*shape"], scoring: AttentionConfig
) -> Float[np.ndarray, "*shape"]:
    """Scores after the softcap, if there is one."""
    if scoring.softcap is None:
        return raw
    result: Float[np.ndarray, "*shape"] = scoring.softcap * np.tanh(
        raw / scoring.softcap
    )
    return result


def duplicate_weight(rows: AwayFromFirst, tokens: Tokens, after: int = 0) -> Rows:
    """The weight that each row gives to earlier positions that hold its own token, away from the first.

    With `after`, to the keys so many positions after these instead. Only such keys are scored: for each token, its
    queries against its keys.
    """
    scoring = rows.scoring
    weights = np.zeros_like(rows.first)
    start = int(rows.positions[0])
    # Positions by the token that they hold, in order within each token.
    order = np.argsort(tokens, kind="stable")
    order = order[order + after > scoring.first]
    for positions in np.split(order, np.flatnonzero(np.diff(tokens[order])) + 1):
        for begin in range(0, len(positions), BLOCK):
            block = positions[begin : begin + BLOCK]
            measured = block[block >= start]
            earlier = positions[positions < block[-1]]
            if len(measured) and len(earlier):
                weights[:, measured - start] = _weight_on_keys(
                    rows, measured, earlier, after
                )
    return weights


def _weight_on_keys(
    rows: AwayFromFirst,
    measured: Int[np.ndarray, " rows"],
    earlier: Int[np.ndarray, " keys"],
    after: int,
) -> Rows:
    """The weight of the rows at these positions on the keys `after` behind those of `earlier` before each of them."""
    scoring = rows.scoring
    group = scoring.heads // scoring.key_heads
    count = len(measured)
    queries = rows.queries[:, measured - int(rows.positions[0])]
    q = queries.reshape(scoring.key_heads, group, count, -1)
    k = rows.keys[:, None, earlier + after]
    products = (q @ k.swapaxes(-1, -2)).reshape(scoring.heads, count, -1)
    s = capped(products.astype(np.float64) * scoring.scale, scoring)
    before = earlier < measured[:, None]
    seen = before & scoring.sees(measured[:, None], earlier + after)
    # exp(s - lse'): no weight is above 1, whatever rounding does, and a row that sees no key has none.
    lse = rows.away.lse[:, measured - int(rows.positions[0])]
    shift = np.where(np.isfinite(lse), lse, 0.0)[..., None]
    weight = np.where(seen, np.exp(np.minimum(s - shift, 0.0)), 0.0)
    total: Rows = weight.sum(axis=2)
    return total


def statistics(
    queries: Any, keys: Any, scoring: AttentionConfig, offsets: Sequence[int]
) -> RowStatistics:
    """`row_statistics` of arrays or tensors, with the scoring of their layer but for its shapes."""
    if not getattr(queries, "is_cuda", False):
        queries = numbers(queries)
        keys = numbers(keys)
    result = row_statistics(queries, keys, **scoring.options, offsets=tuple(offsets))
    if np.isnan(result.lse).any():
        raise InputError(
            "queries or keys of a layer hold a number that is not finite, or their scores overflow: "
            "nothing can be measured of them"
        )
    return result
