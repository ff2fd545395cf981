"""The weight on every occurrence of one token, over every text: a ratio of sums.

Let b be the token, N the sum of exp(score) over the places that hold it and M the sum over the others. The weight is
N / (N + M). A place that holds b adds to N and any other token adds to M, so the weight is most where every free place
holds b. Without an occurrence it is 0; over the texts where b occurs somewhere before the query, it is least where b
stands at one place alone, every other place holds the token that is largest there among those that are not b, and that
place is the worst: O/w(b) is tried at each. Where the query's own token is b, its own place counts as an occurrence
and a further one would only add: then the least is over all texts. Places with a held token do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from headwright.errors import InputError
from headwright.models.model import Model
from headwright.text_bounds.compare_with_model import Attained, attained
from headwright.text_bounds.every_text import HALF
from headwright.text_bounds.first_layer import token_indices
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import (
    QUERIES_AT_ONCE,
    Numbers,
    RowBounds,
    Rows,
    ScaledNumbers,
    SweepResult,
    nothing,
    place_extremes,
    scores_along,
    share,
)
from headwright.text_bounds.search.texts import TextFamily, texts_of


@dataclass(frozen=True, eq=False)
class Occurrences:
    """For each query token: the least weight on all occurrences where there is one, and the most; and where it is."""

    rows: Rows
    least: RowBounds
    most: RowBounds
    # The place of the one occurrence; the query's own where it is the token itself.
    worst: Rows

    def text(
        self, head: FirstLayerHead, texts: TextFamily, row: int, token: int
    ) -> Int[np.ndarray, " length"]:
        """The text that attains the least of a query token (the one at `row`), in floating point."""
        query = int(self.rows[row])
        place = int(self.worst[row])
        text = np.full(texts.length, query)
        for at, held in texts.held.items():
            text[at] = held
        free = set(texts.free)
        for at, scores in scores_along(head, texts, query):
            if at == place and at in free:
                text[at] = token
            elif at in free:
                others = scores[: head.free].copy()
                others[token] = -np.inf
                text[at] = int(others.argmax())
        return text


def occurrences(
    head: FirstLayerHead, texts: TextFamily, token: int, rows: Rows | None = None
) -> Occurrences:
    """Over every text, for a token that any place may hold."""
    rows = np.arange(head.free) if rows is None else np.asarray(rows)
    if not 0 <= token < head.free or head.free < 2:
        raise InputError(
            f"token {token}: expected one of those that any place may hold, of which there are two"
        )
    if not texts.free:
        raise InputError(
            f"texts of {texts.length} tokens have no free place for the token"
        )
    parts = []
    for start in range(0, len(rows), QUERIES_AT_ONCE):
        some = rows[start : start + QUERIES_AT_ONCE]
        parts.append(_occurrences_of_rows(head, texts, token, some))
    return Occurrences(
        rows,
        _joined([part.least for part in parts]),
        _joined([part.most for part in parts]),
        np.concatenate([part.worst for part in parts]),
    )


def _joined(bounds: Sequence[RowBounds]) -> RowBounds:
    lower = np.concatenate([part.lower for part in bounds])
    upper = np.concatenate([part.upper for part in bounds])
    return RowBounds(lower, upper)


def _occurrences_of_rows(
    head: FirstLayerHead, texts: TextFamily, token: int, rows: Rows
) -> Occurrences:
    is_token = rows == token
    own = held = nothing(len(rows))
    # Scores at the free places.
    with_token = []
    without_token = []
    slack = 0.0
    for at in texts.seen:
        queries = head.queries(texts.place, at, rows)
        keys = head.keys(at)
        slack = max(slack, queries.slack(keys))
        if at in texts.free:
            scores = queries.rows @ keys.rows[: head.free].T
            with_token.append(scores[:, token].copy())
            scores[:, token] = -np.inf
            without_token.append(scores.max(axis=1))
        elif at == texts.place:
            own = own.plus(place_extremes(head, texts, at, rows)[0])
        else:
            held = held.plus(place_extremes(head, texts, at, rows)[0])
    slacks = np.full(len(rows), slack)
    doubt = SweepResult(texts, rows, {}, {}, slacks).doubt

    # The query's own place is an occurrence where its token is the one asked about, and one of the others elsewhere.
    own_occurrence = _emptied(own, ~is_token)
    others = held.merged(_emptied(own, is_token))

    # Most: the token at every free place.
    everywhere = own_occurrence
    for scores in with_token:
        everywhere = everywhere.plus(scores)
    most = share(everywhere, others, doubt)

    # Least, where the query is the token: no further occurrence.
    nowhere = others
    for scores in without_token:
        nowhere = nowhere.plus(scores)
    at_own = share(own_occurrence, nowhere, doubt)

    # Least, elsewhere: one occurrence, at each free place in turn.
    lower = at_own.lower
    upper = at_own.upper
    worst = np.full(len(rows), texts.place)
    rests = _all_but_one(others, without_token)
    for index, (scores, rest) in enumerate(zip(with_token, rests, strict=True)):
        alone = ScaledNumbers(scores, np.ones(len(rows)))
        here = share(alone, rest, doubt)
        is_first = index == 0
        is_lower = ~is_token & (is_first | (here.lower < lower))
        worst = np.where(is_lower, texts.free[index], worst)
        # The least of several is known from both sides by the least of their sides.
        least_lower = here.lower if is_first else np.minimum(lower, here.lower)
        least_upper = here.upper if is_first else np.minimum(upper, here.upper)
        lower = np.where(is_token, lower, least_lower)
        upper = np.where(is_token, upper, least_upper)
    return Occurrences(rows, RowBounds(lower, upper), most, worst)


def _emptied(sums: ScaledNumbers, empty: Bool[np.ndarray, " queries"]) -> ScaledNumbers:
    """Nothing for some of the queries."""
    reference = np.where(empty, -np.inf, sums.reference)
    return ScaledNumbers(reference, np.where(empty, 0.0, sums.factor))


def _all_but_one(start: ScaledNumbers, scores: list[Numbers]) -> list[ScaledNumbers]:
    """For each of the scores, the sum of `start` and all others: no difference is ever taken."""
    # Of each, the sum of those behind it: from the last on.
    behind = [nothing(len(start.factor))]
    for score in reversed(scores[1:]):
        behind.append(behind[-1].plus(score))
    behind.reverse()
    sums = []
    before = start  # and of those before it
    for score, rest in zip(scores, behind, strict=True):
        sums.append(before.merged(rest))
        before = before.plus(score)
    return sums


@dataclass(frozen=True, eq=False)
class OnToken:
    """A head's weight on all occurrences of a token, whatever the query token: least where there is one, and most."""

    head: int
    token: int
    least: Attained
    most: float
    # Query tokens for which the occurrences have more than 1/2 in every text with one,
    always_half: int
    # and for which no text gives them 1/2.
    never_half: int
    queries: int


def on_token(
    model: Model,
    length: int,
    token: int,
    *,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
) -> list[OnToken]:
    """For each head of the first layer, over every text of a length."""
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    key = int(token_indices(layer, [token])[0])
    rows = None if queries is None else token_indices(layer, queries)
    results = []
    for number in range(len(layer.queries)) if heads is None else heads:
        head = head_of(layer, number)
        bounds = occurrences(head, texts, key, rows)
        row = int(bounds.least.lower.argmin())
        lowest = float(bounds.least.lower[row])
        ids = layer.tokens[bounds.text(head, texts, row, key)]
        places = [at for at in (*texts.free, texts.place) if int(ids[at]) == token]
        results.append(
            OnToken(
                number,
                token,
                attained(model, number, ids, texts, places, "least", lowest),
                float(bounds.most.upper.max()),
                int(bounds.least.above(HALF).sum()),
                int(bounds.most.below(HALF).sum()),
                len(bounds.rows),
            )
        )
    return results
