"""Which tokens draw a head: those whose score is largest at a place, for most query tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headwright.models.texts.head import Head, Texts

MOST_ROWS = 256


@dataclass(frozen=True)
class Attractor:
    """A token (as the head counts them) and of how many couples of a query token and a place it has the top score."""

    token: int
    wins: int
    of: int


def attractors(
    head: Head, texts: Texts, rows: Int[np.ndarray, " queries"] | None = None, most: int = 5
) -> list[Attractor]:
    """Counted at the distances 1, 2, 4, ... where places are free; at most 256 query tokens, evenly spread.

    In floating point: where two tokens score alike, one of them is named.

    >>> from headwright.models.texts.head import Placed, Vectors
    >>> vectors = Vectors(np.array([[1.0], [2.0], [3.0]]), 0.0)
    >>> attractors(Placed(np.arange(3), lambda _: vectors, lambda _: vectors), Texts(4, 3))
    [Attractor(token=2, wins=6, of=6)]
    """
    rows = np.arange(head.free) if rows is None else np.asarray(rows)
    rows = rows[:: -(-len(rows) // MOST_ROWS)]
    places = [texts.place - 2**k for k in range(texts.place.bit_length()) if texts.place - 2**k in texts.free]
    winners = [
        (head.queries(texts.place, at, rows).rows @ head.keys(at).rows[: head.free].T).argmax(axis=1) for at in places
    ]
    return most_often(np.array(winners, dtype=np.int64), most)


def most_often(winners: Int[np.ndarray, "places queries"], most: int = 5) -> list[Attractor]:
    """The tokens that win most often; of those that win alike, the one counted first."""
    tokens, wins = np.unique(winners, return_counts=True)
    first = np.argsort(-wins, kind="stable")[:most]
    return [Attractor(int(tokens[index]), int(wins[index]), winners.size) for index in first]
