"""Pairs of a query token and a key token at a distance: what the key's place keeps, whatever else the text holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headwright.errors import InputError
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.agreement import Attained, attained
from headwright.models.texts.bands import pair_band
from headwright.models.texts.every_text import Progress, Sweeper, counted
from headwright.models.texts.first import head_of, texts_of
from headwright.models.texts.reading import first_layer
from headwright.models.texts.sweep import sweep
from headwright.models.texts.witness import Extreme, witness


@dataclass(frozen=True)
class Pair:
    """Token ids: the query's, at the end of a text, and that of a key so many places before it."""

    query: int
    key: int
    distance: int = 1


@dataclass(frozen=True, eq=False)
class KeptByPair:
    """The weight of one head on the key of a pair: least and most over every other token of the text."""

    head: int
    pair: Pair
    least: Attained
    most: Attained


def kept_by_pairs(
    model: Model,
    length: int,
    pairs: Sequence[Pair],
    *,
    heads: Sequence[int] | None = None,
    sweeper: Sweeper = sweep,
    progress: Progress | None = None,
) -> list[KeptByPair]:
    """For each head and pair, over every text of a length that ends so.

    >>> from headwright.models.loading import load_model
    >>> model = load_model("builtin:induction")
    >>> q, u = (int(token) for token in model.encode("qu")[1:])
    >>> found, _ = kept_by_pairs(model, 16, [Pair(u, q)])
    >>> bool(found.least.bound > 0.8)
    True
    """
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    if not pairs:
        raise InputError("no pair of tokens: expected at least one")
    for pair in pairs:
        if texts.place - pair.distance not in texts.free:
            raise InputError(f"distance {pair.distance}: expected 1 to {texts.place - min(texts.free, default=0)}, "
                             f"where a text of {length} tokens may hold any")  # fmt: skip
    found, chosen = [], range(len(layer.queries)) if heads is None else heads
    distances = sorted({pair.distance for pair in pairs})
    for turn, number in enumerate(chosen):
        head = head_of(layer, number)
        rows = np.unique(counted(layer, [pair.query for pair in pairs]))
        sets = {str(distance): [texts.place - distance] for distance in distances}
        swept = sweeper(head, texts, sets, rows, None)
        for pair in pairs:
            at, name = texts.place - pair.distance, str(pair.distance)
            query, key = counted(layer, [pair.query, pair.key])
            both = pair_band(head, swept, name, np.array([[query, key]]))
            held = replace(texts, held={**texts.held, at: int(key)})

            def shown(extreme: Extreme, bound: float) -> Attained:
                ids: Tokens = layer.tokens[witness(head, held, int(query), [at], extreme).text]  # noqa: B023
                return attained(model, number, ids, texts, [at], extreme, bound)  # noqa: B023

            found.append(KeptByPair(number, pair, shown("least", float(both.least.lower[0])),
                                    shown("most", float(both.most.upper[0]))))  # fmt: skip
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return found
