"""Theorem 2: what a head of the second layer gives, in every text whose places hold some choices of tokens.

**Theorem 2.** Let V_k be lower bounds of values v_k and U_k upper bounds of g_k - g_j; both may depend on the tokens at
k - 1 and k. If V_j - l + sum over k != j of e^(U_k) min(0, V_k - l) >= 0 in every text, then sum_k p_k v_k >= l.
*Proof.* (sum_k p_k v_k - l) sum_k e^(g_k - g_j) is the sum over k of e^(g_k - g_j) (v_k - l), where e^(g_j - g_j) = 1,
and each other term is not below e^(U_k) min(0, V_k - l).

The least sum over all texts is at least the least along chains of pairs of tokens that agree, place by place.

With values 1 at j and 0 elsewhere theorem 2 is about the weight on j. A margin is at least the lower bound of y_f . d
and, for each head, the l of theorem 2.

The scores. y_f is the sum over the heads of the first layer of averages of q^h + o^h_m, whatever vectors q^h with the
sum x_f. So g_k - g_j is the sum over h of averages of (q^h + o^h_m) (M_k y_k - M_j y_j). For each m and token there
these are bounded by theorem 1, from above at k and from below at j; then theorem 1 once more, at f.

Sums of few bounds are widened by 2^-48 of the sizes of their terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from headwright.numerics.balls import Array, Balls, concatenate
from headwright.numerics.exponential import EXP_ERROR, EXP_RANGE, exp_near
from headwright.text_bounds.induction.checker.averages import (
    FEW,
    Average,
    bound_by_tangent,
)
from headwright.text_bounds.induction.checker.tables import Choices, FirstLayerTables
from headwright.text_bounds.induction.statement import InductionClaim
from headwright.text_bounds.induction.weights import Weights

SUMMED = 2.0**-40  # covers the roundings of a sum over places, relatively
HALVINGS = 24  # in the search for l


class ClaimChecker:
    """Bounds of claims about texts of one length."""

    def __init__(self, weights: Weights, length: int) -> None:
        """The first layer is bounded once for all claims."""
        self.first_layer = FirstLayerTables(weights, length)
        self.heads = self.first_layer.heads
        self.length = length
        self.end = length - 1
        self.unembed = weights["unembed"]
        self.query = weights["query"][1]
        self.key = weights["key"][1]
        self.value = weights["value"][1]
        self.output = weights["output"][1]

    def holds(self, choices: Choices, claim: InductionClaim) -> bool:
        """Whether the claim is certainly true of all texts whose places hold these tokens."""
        if claim.head is None:
            bound = self._margin_bound(choices, claim)
        else:
            bound = self._weight_bound(choices, claim, claim.head)
        if bound is None:
            return False
        # float() may round the decimal down.
        return bool(bound >= np.nextafter(float(claim.least), np.inf))

    def _weight_bound(
        self, choices: Choices, claim: InductionClaim, head: int
    ) -> float | None:
        """Not above the weight that a head gives to j; None if scores are too large."""
        exponentials = self._exponentials(choices, claim, head)
        if exponentials is None:
            return None
        values = []
        for k, exponential in enumerate(exponentials):
            values.append(np.full((1, *exponential.shape), float(k == claim.j)))
        return float(_theorem_2(exponentials, values, claim.j).min())

    def _margin_bound(self, choices: Choices, claim: InductionClaim) -> float | None:
        """Not above the margin of b over each other token; None if scores are too large."""
        tables = self.first_layer
        # y_f . d, by other token
        leads = self._leads(claim.b, (self.unembed,))
        margin = -tables.highest(choices, self.end, *leads).max(axis=(1, 2))
        size = np.abs(margin)
        for head in range(self.heads):
            exponentials = self._exponentials(choices, claim, head)
            if exponentials is None:
                return None
            # y_k . e_i from below, by other token and the tokens at k - 1 and k
            to_logits = (self.value[head], self.output[head], self.unembed)
            leads = self._leads(claim.b, to_logits)
            values = [-tables.highest(choices, k, *leads) for k in range(self.length)]
            least = _theorem_2(exponentials, values, claim.j)
            margin = margin + least
            size = size + np.abs(least)
        return float((margin - FEW * size).min())

    def _leads(self, b: int, matrices: Iterable[Array]) -> tuple[Balls, list[Balls]]:
        """Through matrices, of x and each head's o: each other token's logit less that of b, (token, vector)."""
        others = np.delete(np.arange(self.first_layer.tokens), b)
        leads = []
        for vectors in (self.first_layer.x, *self.first_layer.o):
            logits = vectors
            for matrix in matrices:
                logits = logits.matmul(matrix)
            lead = logits[:, others] - logits[:, [b]]
            leads.append(lead.transposed)
        return leads[0], leads[1:]

    def _exponentials(
        self, choices: Choices, claim: InductionClaim, head: int
    ) -> list[Array] | None:
        """e^(U_k) from above, by the tokens at k - 1 and k; None if they are too large."""
        tables = self.first_layer
        asking = self._end_rows(choices, claim).matmul(self.query[head])
        asked = [vectors.matmul(self.key[head]) for vectors in (tables.x, *tables.o)]
        from_j = self._highest_scores(choices, claim.j, -asking, asked)
        exponentials = []
        for k in range(self.length):
            if k == claim.j:
                exponentials.append(np.ones((1, 1)))
                continue
            at_k = self._highest_scores(choices, k, asking, asked)
            # (q^h + o^h_m) (M_k y_k - M_j y_j), from above: both sides by theorem 1
            difference = at_k + from_j + FEW * (np.abs(at_k) + np.abs(from_j))
            score = self._score_at_end(choices, claim, k, difference)
            if not score.max() <= EXP_RANGE / 2:
                return None
            power = exp_near(np.maximum(score, -EXP_RANGE))
            exponentials.append(power * (1 + 4 * EXP_ERROR))
        return exponentials

    def _end_rows(self, choices: Choices, claim: InductionClaim) -> Balls:
        """q^h + o^h for each head of the first layer, spot and token; the q^h add up to x_f.

        Any q^h would do. They are such that each head has an equal share of a middle y_f.
        """
        tables = self.first_layer
        middles = []
        for head in range(self.heads):
            total = np.zeros(tables.x.mid.shape[1])
            total_weight = 0.0
            for m, tokens in enumerate(choices):
                weight = tables.weight(head, self.end, m)[tokens, claim.a]
                vectors = tables.o[head].mid[tables.index(m, tokens)]
                total = total + weight @ vectors / len(tokens)
                total_weight += float(weight.mean())
            middles.append(total / total_weight)
        remainder = tables.x[tables.index(self.end, choices[self.end])]
        share = (remainder.mid + np.sum(middles, axis=0)) / self.heads
        # The first head has what the others leave of x_f.
        rows = []
        for head in range(1, self.heads):
            own = Balls.of(share - middles[head])
            rows.append(tables.o[head] + own)
            remainder = remainder - own
        return concatenate([tables.o[0] + remainder, *rows])

    def _highest_scores(
        self, choices: Choices, k: int, asking: Balls, asked: Sequence[Balls]
    ) -> Array:
        """Not below the score of each row that asks with y_k: (row, u, v)."""
        tables = self.first_layer
        rotated = tables.rotated(asking, self.end - k)
        scores = [rotated.products(vectors) * tables.scale for vectors in asked]
        return tables.highest(choices, k, scores[0], scores[1:])

    def _score_at_end(
        self, choices: Choices, claim: InductionClaim, k: int, difference: Array
    ) -> Array:
        """U_k: the sum over heads of the first layer of averages of the difference at the end, from above: (u, v)."""
        tables = self.first_layer
        vectors = len(tables.x.mid)
        score = np.zeros((1, 1))
        size = np.zeros((1, 1))
        for head in range(self.heads):
            average = Average(np.zeros(difference.shape[1:]), np.zeros((1, 1)))
            average.largest = float(np.abs(difference).max())
            for m, tokens in enumerate(choices):
                weight = tables.weight(head, self.end, m)[tokens, claim.a]  # (token)
                rows = head * vectors + tables.index(m, tokens)
                value = difference[rows]  # (token, u, v)
                own = np.arange(len(tokens))
                if m == k:
                    # The token is v.
                    average.add_fixed(weight, value[own, :, own].T)
                elif m == k - 1:
                    # The token is u.
                    average.add_fixed(weight[:, None], value[own, own])
                elif len(tokens) == 1:
                    average.add_fixed(weight, value[0])
                else:
                    average.add_free(weight[:, None, None], value)
            more = bound_by_tangent(average)
            more = more + average.error(self.length, tables.weight_error, 0.0)
            score = score + more
            size = size + np.abs(more)
        bound: Array = score + FEW * size
        return bound


def _theorem_2(exponentials: Sequence[Array], values: Sequence[Array], j: int) -> Array:
    """The largest l found for which theorem 2 holds, for each row of values: (row, u, v) for each place.

    The least value always is such an l: every average is at least that.
    """
    low: Array = np.min([value.min(axis=(1, 2)) for value in values], axis=0)
    high = values[j][:, 0, 0]
    # `low` is always such an l; where to try next is free, since each is tested.
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        holds = _is_sum_positive(exponentials, values, j, middle)
        low = np.where(holds, middle, low)
        high = np.where(holds, high, middle)
    return low


def _is_sum_positive(
    exponentials: Sequence[Array], values: Sequence[Array], j: int, number: Array
) -> Array:
    """Whether the sum of theorem 2 is certainly not negative in any text, for a number l of each row."""
    threshold = number[:, None, None]
    # The sum along a chain of tokens, place by place: of all chains that end with a token, the least.
    least = np.zeros((len(number), 1))  # of the sum up to a place, by its token
    size = np.zeros(len(number))
    for k, (exponential, value) in enumerate(zip(exponentials, values, strict=True)):
        above = value - threshold
        above = above - FEW * (np.abs(value) + np.abs(threshold))
        term = above if k == j else exponential * np.minimum(0.0, above)
        # A term is by the tokens u at k - 1 and v at k: the least over u, of chains that end with this u.
        least = (least[:, :, None] + term).min(axis=1)
        size = size + np.abs(term).max(axis=(1, 2))
    holds: Array = least.min(axis=1) - SUMMED * size >= 0
    return holds
