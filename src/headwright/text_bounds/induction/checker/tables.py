"""The first layer for texts of one length, and bounds of what it makes of a place.

A spot is a place; if no positions are added, all places have one spot. A vector is counted by its spot and token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from headwright.numerics.balls import Array, Balls, U
from headwright.numerics.exponential import EXP_ERROR, EXP_RANGE, exp_near
from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.checker.vectors import query_rotation
from headwright.text_bounds.induction.checker.averages import (
    FEW,
    Average,
    bound_by_chords,
)
from headwright.text_bounds.induction.weights import Weights

Indices = Int[np.ndarray, " tokens"]
Choices = Sequence[Indices]  # the tokens that each place may hold
MOST_SCORE_ERROR = 2.0**-20


class FirstLayerTables:
    """What tokens are at places (x), what they write to others (o), and the weights that they have there."""

    def __init__(self, weights: Weights, length: int) -> None:
        """A DoubtError where scores are too large."""
        embed = weights["embed"]
        place = weights["place"][:length]
        self.length = length
        self.tokens, width = embed.shape
        self.heads = weights["query"].shape[1]
        self.angles = weights["angles"]

        # x, by spot and token; and what each head's values and outputs make of it, o^h
        x = Balls.of(embed[None])
        if len(place):
            x = x + Balls.of(place[:, None])
        self.spots = np.minimum(np.arange(length), len(x.mid) - 1)
        self.x = Balls(x.mid.reshape(-1, width), x.rad.reshape(-1, width))
        self.o = []
        values = weights["value"][0]
        outputs = weights["output"][0]
        for value, output in zip(values, outputs, strict=True):
            self.o.append(self.x.matmul(value).matmul(output))
        # d^(-1/2): a power and a quotient, each rounded.
        scale = np.array(weights["query"].shape[-1] ** -0.5)
        self.scale = Balls(scale, 4 * U * scale)
        # By head: (places back, spot) -> (token there, own token), known relatively up to `weight_error`.
        self._weights: list[dict[tuple[int, int], Array]] = []
        score_error = 0.0
        for query, key in zip(weights["query"][0], weights["key"][0], strict=True):
            scores, error = self._scores(self.x.matmul(query), self.x.matmul(key))
            score_error = max(score_error, error)
            self._weights.append(self._exponentials(scores))
        if not score_error <= MOST_SCORE_ERROR:
            raise DoubtError("scores of the first layer are too large")
        # e^error - 1 <= 1.5 error for so small an error; exp errs by EXP_ERROR.
        self.weight_error = 2 * (score_error + EXP_ERROR)

    def index(self, place: int, tokens: Indices | int) -> Indices:
        """Of vectors of x and o."""
        indices: Indices = np.asarray(self.spots[place] * self.tokens + tokens)
        return indices

    def weight(self, head: int, row: int, place: int) -> Array:
        """The weights of a place in a row of a head, up to a factor of the row: (token there, own token)."""
        return self._weights[head][row - place, int(self.spots[row])]

    def rotated(self, queries: Balls, back: int) -> Balls:
        """Queries, as they meet keys so many places before them."""
        rotation = query_rotation(self.angles, back)
        return queries if rotation is None else rotation.rotate(queries)

    def _scores(
        self, queries: Balls, keys: Balls
    ) -> tuple[dict[tuple[int, int], Array], float]:
        """By how far back and from which spot: (token there, own token); and how far the largest is off."""
        everything = np.arange(self.tokens)
        scores: dict[tuple[int, int], Array] = {}
        error = 0.0
        for k in range(self.length):
            for m in range(k + 1):
                name = k - m, int(self.spots[k])
                if name in scores:
                    continue
                asking = self.rotated(queries[self.index(k, everything)], k - m)
                asked = keys[self.index(m, everything)]
                score = asked.products(asking) * self.scale
                scores[name] = score.mid
                # 4 u of the size: the rounding of the difference that is taken in `_exponentials`.
                rounding = 4 * U * float(np.abs(score.mid).max())
                error = max(error, float(score.rad.max()) + rounding)
        return scores, error

    def _exponentials(
        self, scores: dict[tuple[int, int], Array]
    ) -> dict[tuple[int, int], Array]:
        """e^score over the largest of the row's token: a factor of the row, which an average does not see."""
        weights = {}
        for spot in set(self.spots.tolist()):
            row = {name: score for name, score in scores.items() if name[1] == spot}
            largest = np.max([score.max(axis=0) for score in row.values()], axis=0)
            for name, score in row.items():
                less = score - largest
                if not float(less.min()) >= -EXP_RANGE:
                    raise DoubtError("scores of the first layer are too large")
                weights[name] = exp_near(less)
        return weights

    def highest(self, choices: Choices, k: int, x: Balls, o: Sequence[Balls]) -> Array:
        """Not below y_k along directions, by the tokens at k - 1 and k: (direction, u, v).

        `x` and each of `o` are the products of the directions with the vectors of x and o: (direction, vector).
        y_k is x plus, for each head, an average of o, which theorem 1 bounds.
        """
        own = choices[k]
        before = len(choices[k - 1]) if k else 1
        bound = x.upper()[:, self.index(k, own)][:, None] + np.zeros((before, 1))
        size = np.abs(bound)
        for head, values in enumerate(o):
            average = self._average(choices, k, head, values)
            value_error = float(values.rad.max())
            error = average.error(self.length, self.weight_error, value_error)
            more = bound_by_chords(average) + error
            bound = bound + more
            size = size + np.abs(more)
        return bound + FEW * size

    def _average(self, choices: Choices, k: int, head: int, values: Balls) -> Average:
        """What a head averages at place k, as `bound_by_chords` takes it."""
        own = choices[k]
        before = len(choices[k - 1]) if k else 1
        fixed_sum = np.zeros((len(values.mid), before, len(own)))
        average = Average(fixed_sum, np.zeros((before, len(own))))
        average.largest = float(np.abs(values.mid).max())
        for m, tokens in enumerate(choices[: k + 1]):
            weight = self.weight(head, k, m)[np.ix_(tokens, own)]  # (token at m, v)
            value = values.mid[:, self.index(m, tokens)]  # (direction, token at m)
            if m == k:
                # The token is v.
                average.add_fixed(np.diag(weight), value[:, None])
            elif m == k - 1 or len(tokens) == 1:
                # The token is u, or the only one: the axis of tokens is that of u, or is broadcast over it.
                average.add_fixed(weight, value[:, :, None])
            else:
                average.add_free(weight, value)
        return average
