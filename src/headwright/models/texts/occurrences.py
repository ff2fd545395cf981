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
from jaxtyping import Int

from headwright.errors import InputError
from headwright.models.loading.model import Model
from headwright.models.texts.check_against_model import Attained, attained
from headwright.models.texts.every_text import HALF, counted
from headwright.models.texts.first_layer import head_of, texts_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import (
    ROWS,
    Between,
    Numbers,
    Scaled,
    Sweep,
    nothing,
    place_extremes,
    scores_along,
    share,
)


@dataclass(frozen=True, eq=False)
class Occurrences:
    """For each query token: the least weight on all occurrences where there is one, and the most; and where it is."""

    rows: Int[np.ndarray, " queries"]
    least: Between
    most: Between
    worst: Int[np.ndarray, " queries"]  # the place of the one occurrence; the query's own where it is the token itself

    def text(self, head: Head, texts: Texts, row: int, token: int) -> Int[np.ndarray, " length"]:
        """The text that attains the least of a query token (the one at `row`), in floating point."""
        query, place = int(self.rows[row]), int(self.worst[row])
        text = np.full(texts.length, query)
        for at, held in texts.held.items():
            text[at] = held
        free = set(texts.free)
        for at, scores in scores_along(head, texts, query):
            if at in free:
                others = np.where(np.arange(head.free) == token, -np.inf, scores[: head.free])
                text[at] = token if at == place else int(others.argmax())
        return text


def occurrences(head: Head, texts: Texts, token: int, rows: Int[np.ndarray, " queries"] | None = None) -> Occurrences:
    """Over every text, for a token that any place may hold."""
    rows = np.arange(head.free) if rows is None else np.asarray(rows)
    if not 0 <= token < head.free or head.free < 2:
        raise InputError(f"token {token}: expected one of those that any place may hold, of which there are two")
    if not texts.free:
        raise InputError(f"texts of {texts.length} tokens have no free place for the token")
    parts = [_some(head, texts, token, rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)]
    return Occurrences(
        rows,
        Between(*(np.concatenate([getattr(part.least, side) for part in parts]) for side in ("lower", "upper"))),
        Between(*(np.concatenate([getattr(part.most, side) for part in parts]) for side in ("lower", "upper"))),
        np.concatenate([part.worst for part in parts]),
    )


def _some(head: Head, texts: Texts, token: int, rows: Int[np.ndarray, " queries"]) -> Occurrences:
    mine = rows == token
    fixed, alone, crowd, slack = nothing(len(rows)), [], [], 0.0
    own = nothing(len(rows))
    for at in texts.seen:
        queries, keys = head.queries(texts.place, at, rows), head.keys(at)
        slack = max(slack, queries.slack(keys))
        if at in texts.free:
            block = queries.rows @ keys.rows[: head.free].T
            alone.append(block[:, token].copy())
            block[:, token] = -np.inf
            crowd.append(block.max(axis=1))
        elif at == texts.place:
            own = own.plus(place_extremes(head, texts, at, rows)[0])
        else:
            fixed = fixed.plus(place_extremes(head, texts, at, rows)[0])
    doubt = Sweep(texts, rows, {}, {}, np.full(len(rows), slack)).doubt
    others = fixed.merged(_but(own, mine))  # places with one token, which is not the one asked about
    everywhere, nowhere = _but(own, ~mine), others
    for score, large in zip(alone, crowd, strict=True):
        everywhere, nowhere = everywhere.plus(score), nowhere.plus(large)
    most = share(everywhere, others, doubt)
    least, worst = share(_but(own, ~mine), nowhere, doubt), np.full(len(rows), texts.place)
    for index, rest in enumerate(_all_but_one(others, crowd)):
        here = share(Scaled(alone[index], np.ones(len(rows))), rest, doubt)
        better = ~mine & ((here.lower < least.lower) | (worst == texts.place))
        worst = np.where(better, texts.free[index], worst)
        # The least of several is known from both sides by the least of their sides.
        first = ~mine & (index == 0)
        lower = np.where(mine, least.lower, np.where(first, here.lower, np.minimum(least.lower, here.lower)))
        upper = np.where(mine, least.upper, np.where(first, here.upper, np.minimum(least.upper, here.upper)))
        least = Between(lower, upper)
    return Occurrences(rows, least, most, worst)


def _but(sums: Scaled, without: np.ndarray) -> Scaled:
    """Nothing for some of the queries."""
    return Scaled(np.where(without, -np.inf, sums.reference), np.where(without, 0.0, sums.factor))


def _all_but_one(start: Scaled, scores: list[Numbers]) -> list[Scaled]:
    """For each of the scores, the sum of `start` and all others: no difference is ever taken."""
    after = [nothing(len(start.factor))]
    for score in reversed(scores[1:]):
        after.append(after[-1].plus(score))
    found, before = [], start
    for score, rest in zip(scores, reversed(after), strict=True):
        found.append(before.merged(rest))
        before = before.plus(score)
    return found


@dataclass(frozen=True, eq=False)
class OnToken:
    """A head's weight on all occurrences of a token, whatever the query token: least where there is one, and most."""

    head: int
    token: int
    least: Attained
    most: float
    always_half: int  # query tokens for which the occurrences have more than 1/2 in every text with one
    never_half: int  # and for which no text gives them 1/2
    queries: int


def on_token(
    model: Model, length: int, token: int, *, heads: Sequence[int] | None = None, queries: Sequence[int] | None = None
) -> list[OnToken]:  # fmt: skip
    """For each head of the first layer, over every text of a length."""
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    key, rows = int(counted(layer, [token])[0]), None if queries is None else counted(layer, queries)
    result = []
    for number in range(len(layer.queries)) if heads is None else heads:
        head = head_of(layer, number)
        found = occurrences(head, texts, key, rows)
        row = int(found.least.lower.argmin())
        ids = layer.tokens[found.text(head, texts, row, key)]
        places = [at for at in (*texts.free, texts.place) if int(ids[at]) == token]
        least = attained(model, number, ids, texts, places, "least", float(found.least.lower[row]))
        result.append(
            OnToken(
                number, token, least, float(found.most.upper.max()), int(found.least.above(HALF).sum()),
                int(found.most.below(HALF).sum()), len(found.rows),
            )
        )  # fmt: skip
    return result
