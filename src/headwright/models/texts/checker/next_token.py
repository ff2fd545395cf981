"""Verify margins of the next token, in every text of a group, from the weights of two layers of one head.

The first layer makes y_r = x_r + sum_m p_rm o_m of place r, with p_rm = e^(s_rm) / sum_m e^(s_rm), m <= r. Here x and o
depend on the place and its token, s_rm on the tokens at r and m. The second layer and the logits, seen from the end f:

    g_k = y_f M y_k,   p_k = e^(g_k) / sum_k e^(g_k),   logit of b less that of c:  y_f . d + sum_k p_k y_k . e.

Theorem 1 (a ratio). Each place has some choices of a weight w > 0 and a value h. For any number l let F be the sum over
the places of the largest w (h - l). Then sum w h / sum w <= l + F / W for every choice, with W the least sum of weights
if F > 0 and the largest if F < 0. Proof: sum w h - l sum w <= F; divide by sum w.

Theorem 2 (a margin). Let B and V_k be lower bounds of y_f . d and y_k . e, and U_k an upper bound of g_k - g_j; V_k and
U_k may depend on the tokens at k - 1 and k. If B + V_j - m + sum over k != j of min e^(U_k) min(0, B + V_k - m) >= 0,
the margin is at least m. Proof: the margin less m, times sum_k e^(g_k - g_j), is the sum over k of
e^(g_k - g_j) (y_f . d + y_k . e - m).

g_k - g_j is an average over m, with weights p_fm, of (x_f + o_m) M (y_k - y_j). For each m and token there this is
bounded by theorem 1, from above at k and from below at j; then theorem 1 once more, at f. V and B are from it, too.
A group may be cut into parts, by the token at a place; these are all its texts, and each part is bounded so.

Rounding, u = 2^-53. Tables of values carry their own errors (`Known`), of which `off` is the largest. A weight is known
relatively to h (`_Rows.off`). An average over weights that are off by factors from 1 - h to 1 + h changes by at most
2 h / (1 - h) < 3 h times the largest value. F has at most 2 n + 8 roundings of numbers that are no larger than the sum
of weights times H, the largest value plus the largest l, and W at most n. With R the ratio of the largest to the least
W, l + F / W errs by less than (8 n + 64) u R H. Each of these is added to what theorem 1 gives. Sums of few bounds are
widened by 2^-48 of the sizes of their terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from headwright.models.texts.checker.error_bounds import UNIT, Array, DoubtError, Known
from headwright.models.texts.next_token_statement import Margin, NextToken, Weights, weights_digest

Places = Sequence[Int[np.ndarray, " tokens"]]  # the tokens that each place may hold
EXP_RANGE, EXP_ERROR = 700.0, 2.0**-40  # of `_exp`
LN2, COEFFICIENTS = math.log(2), [1 / math.factorial(power) for power in range(14)]
FEW = 2.0**-48  # covers a few roundings, relatively
SUMMED = 2.0**-36  # and those of the last sum


def check_margins(statement: NextToken, weights: Weights, progress: Callable[[float], None] | None = None) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights."""
    if statement.weights != weights_digest(weights):
        raise DoubtError("it is about other weights")
    tokens, places = len(weights["embed"]), len(weights["place"])
    if statement.tokens != tokens or not 3 <= statement.length <= places:
        raise DoubtError(f"expected {tokens} tokens, and texts of 3 to {places}")
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise DoubtError("a weight is not finite")
    rows = _Rows(weights, statement.length)
    for number, one in enumerate(statement.margins):
        if one.a == one.b or max(one.a, one.b) >= tokens or not 1 <= one.j <= statement.length - 2:
            raise DoubtError(f"({one.a}, {one.b}, {one.j}) is not a group")
        others = np.array([token for token in range(tokens) if token != one.a])
        held = {one.j - 1: one.a, one.j: one.b, statement.length - 1: one.a}
        whole = [np.array([held[place]]) if place in held else others for place in range(statement.length)]
        _check_parts(rows, whole, one, one.cuts)
        if progress is not None:
            progress((number + 1) / len(statement.margins))


def _check_parts(rows: _Rows, places: Places, one: Margin, cuts: Any) -> None:
    """All texts whose places hold these tokens: at once, or cut by the token at a place."""
    if type(cuts) is int and cuts == 0:
        if not rows.has_margin(places, one):
            raise DoubtError(f"for ({one.a}, {one.b}, {one.j}) the margin may be less than {one.least}")
        return
    if type(cuts) is not list or len(cuts) != 2 or type(cuts[0]) is not int or type(cuts[1]) is not list:
        raise DoubtError(f"the cuts of ({one.a}, {one.b}, {one.j}) are not of the form [place, parts]")
    at, parts = cuts
    if not 0 <= at < len(places) or len(places[at]) < 2 or len(parts) != len(places[at]):
        raise DoubtError(f"({one.a}, {one.b}, {one.j}) is cut at a place that has not as many tokens")
    for token, part in zip(places[at], parts, strict=True):
        _check_parts(rows, [*places[:at], np.array([token]), *places[at + 1 :]], one, part)


class _Table:
    """Values by row, place and token, none of which is off by more than `off`."""

    def __init__(self, known: Known) -> None:
        self.mid, self.off = known.mid, float(known.off.max())


class _Rows:
    """The tables of a model for texts of one length, and bounds from them."""

    def __init__(self, weights: Weights, length: int) -> None:
        embed, place = weights["embed"], weights["place"][:length]
        self.length, self.tokens = length, len(embed)
        width, d = embed.shape[1], weights["query"].shape[2]
        x = Known.exactly(embed[None]).plus(Known.exactly(place[:, None]))
        x = Known(x.mid.reshape(-1, width), x.off.reshape(-1, width))  # place and token in one
        o = x.matmul(weights["value"][0]).matmul(weights["output"][0])
        scale = Known(np.array(d**-0.5), np.array(4 * UNIT))
        first = _products(x.matmul(weights["query"][0]), x.matmul(weights["key"][0])).times(scale)
        scores = first.mid.reshape(length, self.tokens, length, self.tokens)
        scores = scores - scores.max(axis=(2, 3), keepdims=True)  # a factor of the row; off by UNIT of it, see below
        off = float(first.off.max()) + 4 * UNIT * float(np.abs(first.mid).max())
        if not (scores.min() >= -EXP_RANGE and off <= 2.0**-20):
            raise DoubtError("scores of the first layer are too large")
        self.weights = _exp(scores)  # row, its token, place, token
        self.off = 2 * (off + EXP_ERROR)  # relatively: e^off - 1 <= 1.5 off
        self.end = np.arange(self.tokens) + (length - 1) * self.tokens
        self._x, self._o, self._scale = x, o, scale
        self._key, self._query, self._moved = (
            weights["key"][1],
            weights["query"][1],
            (weights["value"][1], weights["output"][1]),
        )
        self._unembed = weights["unembed"]
        self._asked: dict[int, tuple[_Table, _Table]] = {}

    def asked_from(self, a: int) -> tuple[_Table, _Table]:
        """(x_f + o_m) M o and (x_f + o_m) M x with a at the end: (m and token there, place, token)."""
        if a not in self._asked:
            asking = self._o.plus(self._x.rows(self.end[[a]])).matmul(self._query)
            on_o, on_x = (_products(asking, each.matmul(self._key)).times(self._scale) for each in (self._o, self._x))
            self._asked = {a: (self._table(on_o), self._table(on_x))}  # one is kept: groups come by a
        return self._asked[a]

    def logits(self, b: int, moved: bool) -> tuple[_Table, _Table]:
        """What o and x add to the logit of b less that of each other token: (other, place, token)."""
        found = []
        for each in (self._o, self._x):
            for matrix in self._moved if moved else ():
                each = each.matmul(matrix)
            each = each.matmul(self._unembed)
            mine = Known(each.mid[:, [b]], each.off[:, [b]])
            others = np.delete(np.arange(self.tokens), b)
            ahead = mine.plus(Known(each.mid[:, others], each.off[:, others]).negated())
            found.append(self._table(Known(ahead.mid.T, ahead.off.T)))
        return found[0], found[1]

    def _table(self, known: Known) -> _Table:
        shape = (-1, self.length, self.tokens)
        return _Table(Known(known.mid.reshape(shape), known.off.reshape(shape)))

    def has_margin(self, places: Places, one: Margin) -> bool:
        """Theorem 2 for all texts whose places hold these tokens."""
        a, b, j, end = one.a, one.b, one.j, self.length - 1
        at = np.concatenate([place * self.tokens + tokens for place, tokens in enumerate(places)])
        on_o, on_x = self.asked_from(a)
        values, own = on_o.mid[at], on_x.mid[at]
        from_j = own[:, j, b] - on_x.off - self.highest(places, j, -values, on_o.off)[:, 0, 0]
        (direct_o, direct_x), (moved_o, moved_x) = self.logits(b, moved=False), self.logits(b, moved=True)
        least = np.nextafter(float(one.least), np.inf)
        ahead = direct_x.mid[:, end, a] - direct_x.off - least
        ahead = ahead - self.highest(places, end, -direct_o.mid, direct_o.off).max(axis=(1, 2))  # B - m
        ahead = ahead - FEW * (np.abs(ahead) + np.abs(direct_x.mid[:, end, a]) + least)
        total, size = np.zeros(self.tokens - 1), np.zeros(self.tokens - 1)
        for k in range(self.length):
            add = moved_x.mid[:, k, places[k]][:, None] - moved_x.off
            add = add - self.highest(places, k, -moved_o.mid, moved_o.off)  # V_k
            more = ahead[:, None, None] + add
            more = more - FEW * (np.abs(more) + np.abs(ahead[:, None, None]) + np.abs(add) + np.abs(moved_x.mid).max())
            if k == j:
                term = more[:, 0, 0]
            else:
                gap = own[:, k, places[k]][:, None] + on_x.off + self.highest(places, k, values, on_o.off)
                gap = gap - from_j[:, None, None]
                gap = gap + FEW * (np.abs(gap) + 2 * np.abs(own).max() + np.abs(from_j).max())
                score = self._at_end(places, k, gap, a)  # U_k
                if not score.max() <= EXP_RANGE / 2:
                    return False
                power = _exp(np.maximum(score, -EXP_RANGE)) * (1 + 4 * EXP_ERROR)
                term = (power * np.minimum(0.0, more)).min(axis=(1, 2))
            total, size = total + term, size + np.abs(term)
        return bool((total - SUMMED * (size + 1.0) >= 0).all())

    def highest(self, places: Places, k: int, values: Array, off: float) -> Array:
        """Theorem 1 for row k: not below the average of the values there, by the tokens at k - 1 and k."""
        mine = places[k]
        before = places[k - 1] if k else np.array([0])
        weights = self.weights[k][mine]  # token at k, place, token
        total = np.zeros((len(before), len(mine)))
        known = np.zeros((len(values), *total.shape))
        own = weights[np.arange(len(mine)), k, mine]
        total, known = total + own, known + own * values[:, k, mine][:, None, :]
        if k:
            previous = weights[:, k - 1, before].T
            total, known = total + previous, known + previous * values[:, k - 1, before][:, :, None]
        free = [
            (weights[:, m, tokens].T[:, None, :], values[:, m, tokens].T[:, :, None, None])
            for m, tokens in enumerate(places[: max(k - 1, 0)])
        ]
        return self._bounded(known, total, free, float(np.abs(values).max()), off, 1)

    def _at_end(self, places: Places, k: int, gap: Array, a: int) -> Array:
        """Theorem 1 for the row of the end, of values that depend on the tokens u and v at k - 1 and k themselves."""
        weights, start, free = self.weights[-1, a], 0, []
        total = known = np.zeros(gap.shape[1:])
        for m, tokens in enumerate(places):
            w, value = weights[m, tokens], gap[start : start + len(tokens)]  # token, u, v
            start += len(tokens)
            if m == k:
                some = np.arange(len(tokens))
                total, known = total + w, known + w * value[some, :, some].T
            elif m == k - 1:
                some = np.arange(len(tokens))
                total, known = total + w[:, None], known + w[:, None] * value[some, some, :]
            else:
                free.append((w[:, None, None], value))
        return self._bounded(known, total, free, float(np.abs(gap).max()), 0.0, 4)

    def _bounded(
        self, known: Array, total: Array, free: Sequence[tuple[Array, Array]], size: float, off: float, steps: int
    ) -> Array:
        """Theorem 1, from l the average of what is known, and again from what it gives; with all that rounding does.

        No value is larger than `size`, and none is off by more than `off`.
        """
        least = total + sum(w.min(axis=0) for w, _ in free)
        most = total + sum(w.max(axis=0) for w, _ in free)
        found, start = known / total, 0.0
        for _ in range(steps if free else 0):
            above = known - found * total
            for weights, values in free:
                largest = np.full(found.shape, -np.inf)
                for w, value in zip(weights, values, strict=True):
                    np.maximum(largest, w * (value - found), out=largest)
                above = above + largest
            start = float(np.abs(found).max())
            found = found + np.where(above > 0, above / least, above / most)
        rounded = (8 * self.length + 64) * UNIT * float((most / least).max()) * (size + start)
        bound: Array = found + (off + 3 * self.off * size + rounded) * (1 + FEW)
        return bound


def _products(left: Known, right: Known) -> Known:
    """Of each row of one with each of the other: a sum of n products errs by n units of the sum of their sizes."""
    n = left.mid.shape[1]
    sizes = np.abs(left.mid), np.abs(right.mid)
    off = sizes[0] @ right.off.T + left.off @ (sizes[1] + right.off).T + (n + 1) * UNIT * (sizes[0] @ sizes[1].T)
    return Known(left.mid @ right.mid.T, off * (1 + 8 * n * UNIT) + 1e-290)


def _exp(x: Array) -> Array:
    """e^x for |x| <= 700, relatively to 2^-40: 2^k e^r, |r| < 0.35, by 14 terms of its series, which miss 2^-58 of it.

    k is at most 1010, so k ln 2 is off by 2^-43 from rounding it and by 2^-44 from rounding ln 2; the sum has 28
    roundings.
    """
    k = np.rint(x * (1 / LN2))
    r = x - k * LN2
    found = np.full_like(r, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        found = found * r + coefficient
    whole: Array = np.ldexp(found, k.astype(np.int64))
    return whole
