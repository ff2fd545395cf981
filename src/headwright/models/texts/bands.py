"""The least and most weight over every text, with proven bounds on both.

For a set W of places and the rest O, the weight on W is 1 / (1 + O/W) with O and W the sums of exp(score): least where
every place of O holds the token of the largest score and every place of W that of the smallest, most the other way
round. The tokens are free of one another, so such a text exists: the extremes are attained. A pair (a, b) is a query
token a with b at one place: the weight there is least where all others are largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from headwright.errors import InputError
from headwright.models.texts.head import Head
from headwright.models.texts.sweep import Numbers, Scaled, Sweep


@dataclass(frozen=True, eq=False)
class Between:
    """A number for each query token, from both sides: the exact one of the model's weights lies between.

    >>> Between(np.array([0.25]), np.array([0.5])).above(0.2).tolist()
    [True]
    """

    lower: Numbers
    upper: Numbers

    def above(self, bar: float) -> Bool[np.ndarray, " queries"]:
        """Certainly above."""
        return self.lower > bar

    def below(self, bar: float) -> Bool[np.ndarray, " queries"]:
        """Certainly below."""
        return self.upper < bar


@dataclass(frozen=True, eq=False)
class Band:
    """The least and the most weight on a set of places over every text, for each query token."""

    least: Between
    most: Between


def band(found: Sweep, name: str) -> Band:
    """The band of the weight on one of the sets that was swept.

    >>> from headwright.models.texts.head import Placed, Texts, Vectors
    >>> from headwright.models.texts.sweep import sweep
    >>> vectors = Vectors(np.array([[0.0], [1.0]]), 0.0)
    >>> found = sweep(Placed(np.arange(2), lambda _: vectors, lambda _: vectors), Texts(2, 1), {"previous": [0]})
    >>> np.round(band(found, "previous").least.lower, 4).tolist()  # token 1 meets 0 or 1 before itself
    [0.5, 0.2689]
    """
    sums = found.sums[name]
    return Band(
        share(sums.inside_low, sums.outside_high, found.doubt), share(sums.inside_high, sums.outside_low, found.doubt)
    )


def share(inside: Scaled, outside: Scaled, doubt: Numbers) -> Between:
    """inside / (inside + outside) from both sides, where each is known up to a factor of 1 + doubt, either way."""
    below, above = outside.over(inside, doubt)
    return Between((1 - 2.0**-50) / (1 + above), np.minimum(1.0, (1 + 2.0**-50) / (1 + below)))


def pair_band(head: Head, found: Sweep, name: str, pairs: Int[np.ndarray, "pairs 2"]) -> Band:
    """For pairs (query token, token at the one place of the set): the weight there, whatever the others are."""
    texts, places = found.texts, found.sets[name]
    if len(places) != 1 or places[0] not in texts.free:
        raise InputError(f"{name} is not one free place: expected one, such as the previous token's")
    row = {int(token): index for index, token in enumerate(found.rows)}
    missing = [int(a) for a in pairs[:, 0] if int(a) not in row]
    if missing:
        raise InputError(f"the query token {missing[0]} was not swept: expected one of the rows")
    chosen = np.array([row[int(a)] for a in pairs[:, 0]], dtype=int)
    queries, keys = head.queries(texts.place, places[0], pairs[:, 0]), head.keys(places[0])
    scores = (queries.rows * keys.rows[pairs[:, 1]]).sum(axis=1)
    inside, sums, doubt = Scaled(scores, np.ones(len(scores))), found.sums[name], found.doubt[chosen]
    return Band(share(inside, sums.outside_high[chosen], doubt), share(inside, sums.outside_low[chosen], doubt))
