"""Verify what induction does in every text of a group, from the weights of two attention layers.

Head h of the first layer adds to x_r, at place r, the average of o^h_m, m <= r, with weights e^(s_rm). The result is
y_r. Here x and o depend on the place and its token, s_rm on the tokens at r and m and, where vectors are turned, on
r - m. Head i of the second layer, seen from the end f, has the scores g_k = y_f M_k y_k and the pattern p_k; the logit
of b less that of another token is y_f . d + the sum over i and k of p_k y_k . e_i.

Theorem 1 (a ratio). Each place has some choices of a weight w > 0 and a value v. For any number l let F(l) be the sum
over the places of the largest w (v - l). Then sum w v / sum w <= l + F / W for every choice, with W the least sum of
weights if F > 0 and the largest if F < 0. Proof: sum w v - l sum w <= F; divide by sum w. F is convex: between two
numbers l it is at most what its chord is there, which serves as well.

Theorem 2 (a head). Let V_k be lower bounds of values v_k and U_k upper bounds of g_k - g_j; both may depend on the
tokens at k - 1 and k. If V_j - l + sum over k != j of e^(U_k) min(0, V_k - l) >= 0 in every text, sum_k p_k v_k >= l.
Proof: (sum_k p_k v_k - l) sum_k e^(g_k - g_j) is the sum over k of e^(g_k - g_j) (v_k - l).
The least sum over all texts is at least the least along chains of pairs of tokens that agree, place by place.

With values 1 at j and 0 elsewhere theorem 2 is about the weight on j. A margin is at least the lower bound of y_f . d
and, for each head, the l of theorem 2. y_f is the sum over the heads of the first layer of averages of q^h + o^h_m,
whatever vectors q^h with the sum x_f. So g_k - g_j is the sum over h of averages of (q^h + o^h_m) (M_k y_k - M_j y_j).
For each m and token there these are bounded by theorem 1, from above at k and from below at j, for each head of the
first layer; then theorem 1 once more, at f. The lower bounds V and of y_f . d are from it, too.
A group may be cut into parts, by the token at a place; these are all its texts, and each part is bounded so.

Rounding, u = 2^-53. Tables of values carry their own errors (`Known`), of which `off` is the largest. A weight is known
relatively to h (`_Rows.off`). An average over weights that are off by factors from 1 - h to 1 + h changes by at most
2 h / (1 - h) < 3 h times the largest value. F has at most 4 n + 24 roundings of numbers that are no larger than the sum
of weights times H, the largest value plus the largest l; that includes the place on a chord. W has at most n. With R
the ratio of the largest to the least W, l + F / W errs by less than (8 n + 64) u R H. Each of these is added to what
theorem 1 gives. Sums of few bounds are widened by 2^-48 of the sizes of their terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from headwright.models.texts.checker.error_bounds import UNIT, Array, DoubtError, Known
from headwright.models.texts.checker.vectors import turns
from headwright.models.texts.next_token_statement import Claim, NextToken, Weights, weights_digest

Places = Sequence[Int[np.ndarray, " tokens"]]  # the tokens that each place may hold
EXP_RANGE, EXP_ERROR = 700.0, 2.0**-40  # of `_exp`
LN2, COEFFICIENTS = math.log(2), [1 / math.factorial(power) for power in range(14)]
FEW = 2.0**-48  # covers a few roundings, relatively
SUMMED = 2.0**-40  # and those of the last sum
CHORDS = 4  # of F
HALVED = 24  # times, in the search for l
LONGEST = 256  # texts: tables grow with them


def check_claims(statement: NextToken, weights: Weights, progress: Callable[[float], None] | None = None) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights."""
    _check_shapes(weights)
    if statement.weights != weights_digest(weights):
        raise DoubtError("it is about other weights")
    tokens, n, opening = len(weights["embed"]), statement.length, statement.opening
    longest = min(LONGEST, len(weights["place"]) or LONGEST)
    if statement.tokens != tokens or not 3 <= n <= longest:
        raise DoubtError(f"expected {tokens} tokens, and texts of 3 to {longest}")
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise DoubtError("a weight is not finite")
    rows = _Rows(weights, n)
    for number, one in enumerate(statement.claims):
        ordinary = [token for token in range(tokens) if token not in (one.a, opening)]
        first = 1 if opening is None else 2
        if one.a in (opening, one.b) or one.a >= tokens or one.b not in ordinary or not first <= one.j <= n - 2:
            raise DoubtError(f"{one} is not a group")
        if one.c is not None and (one.c not in ordinary or one.j == n - 2):
            raise DoubtError(f"{one}: another token stands before the end")
        if (one.head or 0) >= rows.heads or (opening or 0) >= tokens:
            raise DoubtError(f"{one}: there is no such head, or no such opening token")
        held = {0: opening, n - 2: one.c} | {one.j - 1: one.a, one.j: one.b, n - 1: one.a}
        named = {place: np.array([token]) for place, token in held.items() if token is not None}
        _check_parts(rows, [named.get(place, np.array(ordinary)) for place in range(n)], one, one.cuts)
        if progress is not None:
            progress((number + 1) / len(statement.claims))


def _check_shapes(weights: Weights) -> None:
    """The matrices go together, each token has a logit, and there are no others."""
    if any(array.dtype.kind not in "fiu" for array in weights.values()) or [
        weights[name].ndim for name in ("embed", "query", "value", "place", "angles")
    ] != [2, 4, 4, 2, 1]:
        raise DoubtError("weights are arrays of real numbers, matrices by layer and head")
    tokens, width = weights["embed"].shape
    heads, d, inner = weights["query"].shape[1], weights["query"].shape[-1], weights["value"].shape[-1]
    if 2 * len(weights["angles"]) not in (0, d) or not d:
        raise DoubtError(f"{len(weights['angles'])} angles for queries of {d} numbers: expected none, or half as many")
    expected = {
        "query": (2, heads, width, d), "key": (2, heads, width, d), "value": (2, heads, width, inner),
        "output": (2, heads, inner, width), "unembed": (width, tokens), "place": (len(weights["place"]), width),
        "angles": (len(weights["angles"]),),
    }  # fmt: skip
    for name, shape in expected.items():
        if weights[name].shape != shape:
            raise DoubtError(f"{name} is of shape {weights[name].shape}: expected {shape}")


def _check_parts(rows: _Rows, places: Places, one: Claim, cuts: Any) -> None:
    """All texts whose places hold these tokens: at once, or cut by the token at a place."""
    if type(cuts) is int and cuts == 0:
        if not rows.holds(places, one):
            raise DoubtError(f"for {one} it may be less")
        return
    if type(cuts) is not list or len(cuts) != 3 or type(cuts[1]) is not list or type(cuts[2]) is not list:
        raise DoubtError(f"the cuts of {one} are not of the form [place, tokens, parts]")
    at, tokens, parts = cuts
    if any(type(number) is not int for number in (at, *tokens)) or not 0 <= at < len(places) or len(places[at]) < 2:
        raise DoubtError(f"{one} is cut at a place that has no choice of tokens")
    rest = [token for token in places[at].tolist() if token not in tokens]
    each = [[token] for token in tokens] + ([rest] if rest else [])
    if not tokens or len(tokens) + len(rest) != len(places[at]) or len(each) != len(parts):
        raise DoubtError(f"{one} is cut at place {at} into parts that are not all there is")
    for some, part in zip(each, parts, strict=True):
        _check_parts(rows, [*places[:at], np.array(some), *places[at + 1 :]], one, part)


class _Rows:
    """The tables of a model for texts of one length, and bounds from them.

    A spot is a place; if no positions are added, all places have one spot. Spot and token are one index of vectors.
    """

    def __init__(self, weights: Weights, length: int) -> None:
        embed, place = weights["embed"], weights["place"][:length]
        self.length, self.tokens, self.heads = length, len(embed), weights["query"].shape[1]
        self._weights, width = weights, embed.shape[1]
        x = Known.exactly(embed[None])
        if len(place):
            x = x.plus(Known.exactly(place[:, None]))
        self.spots = np.minimum(np.arange(length), len(x.mid) - 1)
        self.x = Known(x.mid.reshape(-1, width), x.off.reshape(-1, width))
        self.o = [self.x.matmul(v).matmul(o) for v, o in zip(weights["value"][0], weights["output"][0], strict=True)]
        self._scale = Known(np.array(weights["query"].shape[-1] ** -0.5), np.array(4 * UNIT))
        self.powers, self.off = self._first_layer()

    def index(self, place: int, tokens: Int[np.ndarray, " tokens"] | int) -> Any:
        """Of vectors of x and o."""
        return self.spots[place] * self.tokens + tokens

    def _turned(self, queries: Known, back: int) -> Known:
        by = turns(self._weights["angles"], back)
        return queries if by is None else by.turned(queries)

    def _first_layer(self) -> tuple[list[dict[tuple[int, int], Array]], float]:
        """By head, and by how far back and from which spot: (token there, own token); relatively off by so much."""
        found, off = [], 0.0
        everything = np.arange(self.tokens)
        for query, key in zip(self._weights["query"][0], self._weights["key"][0], strict=True):
            asking, asked = self.x.matmul(query), self.x.matmul(key)
            scores: dict[tuple[int, int], Array] = {}
            for k in range(self.length):
                for m in range(k + 1):
                    if (k - m, self.spots[k]) not in scores:
                        mine = self._turned(asking.rows(self.index(k, everything)), k - m)
                        both = _products(asked.rows(self.index(m, everything)), mine).times(self._scale)
                        scores[k - m, self.spots[k]] = both.mid
                        off = max(off, float(both.off.max()) + 4 * UNIT * float(np.abs(both.mid).max()))
            for spot in set(self.spots.tolist()):  # a factor of the row; the difference is off by UNIT of it, see above
                row = {back: each for (back, at), each in scores.items() if at == spot}
                most = np.max([each.max(axis=0) for each in row.values()], axis=0)
                scores |= {(back, spot): each - most for back, each in row.items()}
            if not (min(float(each.min()) for each in scores.values()) >= -EXP_RANGE and off <= 2.0**-20):
                raise DoubtError("scores of the first layer are too large")
            found.append({which: _exp(each) for which, each in scores.items()})
        return found, 2 * (off + EXP_ERROR)  # e^off - 1 <= 1.5 off

    def holds(self, places: Places, one: Claim) -> bool:
        """Theorem 2 for all texts whose places hold these tokens."""
        total, size = np.zeros(1), np.zeros(1)
        unembed = self._weights["unembed"]
        if one.head is None:
            total = -self._ahead(places, self.length - 1, one.b, (unembed,)).max(axis=(1, 2))
            size = np.abs(total)
        for head in range(self.heads) if one.head is None else (one.head,):
            powers = self._second_layer(places, one, head)
            if powers is None:
                return False
            adds = [np.full((1, *power.shape), float(k == one.j)) for k, power in enumerate(powers)]
            if one.head is None:
                moved = self._weights["value"][1, head], self._weights["output"][1, head], unembed
                adds = [-self._ahead(places, k, one.b, moved) for k in range(self.length)]
            least = _of_head(powers, adds, one.j)
            total, size = total + least, size + np.abs(least)
        return bool((total - FEW * size >= np.nextafter(float(one.least), np.inf)).all())

    def _ahead(self, places: Places, k: int, b: int, matrices: Iterable[Array]) -> Array:
        """Not below what y_k adds to the logit of each other token less that of b, by the tokens at k - 1 and k."""
        found = []
        for each in (self.x, *self.o):
            for matrix in matrices:
                each = each.matmul(matrix)
            others = np.delete(np.arange(self.tokens), b)
            ahead = Known(each.mid[:, others], each.off[:, others]).plus(Known(-each.mid[:, [b]], each.off[:, [b]]))
            found.append(Known(ahead.mid.T, ahead.off.T))
        return self._highest(places, k, found[0], found[1:])

    def _second_layer(self, places: Places, one: Claim, head: int) -> list[Array] | None:
        """e^(U_k) from above, by the tokens at k - 1 and k; None if they are too large."""
        end, (query, key) = self.length - 1, (self._weights[name][1, head] for name in ("query", "key"))
        at = [self.index(m, tokens) for m, tokens in enumerate(places)]
        rest, weights, middles = self.x.rows(self.index(end, places[end])), [], []
        for power, o in zip(self.powers, self.o, strict=True):
            weights.append([power[end - m, self.spots[end]][tokens, one.a] for m, tokens in enumerate(places)])
            middle = sum(w @ o.mid[which] / len(w) for w, which in zip(weights[-1], at, strict=True))
            middles.append(middle / sum(w.mean() for w in weights[-1]))
        share, own = (rest.mid + sum(middles)) / self.heads, []
        for middle in middles[1:]:
            own.append(Known.exactly(share - middle))
            rest = rest.plus(own[-1].negated())
        rows = [o.plus(q) for o, q in zip(self.o, (rest, *own), strict=True)]
        asking = Known(np.concatenate([r.mid for r in rows]), np.concatenate([r.off for r in rows])).matmul(query)
        asked = [each.matmul(key) for each in (self.x, *self.o)]

        def along(k: int, sign: int) -> Array:
            mine = self._turned(asking, end - k)
            values = [_products(Known(sign * mine.mid, mine.off), each).times(self._scale) for each in asked]
            return self._highest(places, k, values[0], values[1:])

        from_j, found = along(one.j, -1), []
        for k in range(self.length):
            if k == one.j:
                found.append(np.ones((1, 1)))
                continue
            gap = along(k, 1)
            gap = gap + from_j + FEW * (np.abs(gap) + np.abs(from_j))
            score, size, n = np.zeros(1), np.zeros(1), len(self.x.mid)
            for h in range(self.heads):
                values = [gap[h * n + which] for which in at]
                more = self._at_end(weights[h], values, k)
                score, size = score + more, size + np.abs(more)
            score = score + FEW * size
            if not score.max() <= EXP_RANGE / 2:
                return None
            found.append(_exp(np.maximum(score, -EXP_RANGE)) * (1 + 4 * EXP_ERROR))
        return found

    def _highest(self, places: Places, k: int, x: Known, o: Sequence[Known]) -> Array:
        """Theorem 1 for row k: not below y_k along directions (rows of x and o), by the tokens at k - 1 and k."""
        mine = places[k]
        found = (x.mid + x.off)[:, self.index(k, mine)][:, None] + np.zeros((len(places[k - 1]) if k else 1, 1))
        size = np.abs(found)
        for powers, values in zip(self.powers, o, strict=True):
            known, total, free = np.zeros_like(found), np.zeros(found.shape[1:]), []
            for m, tokens in enumerate(places[: k + 1]):
                weights = powers[k - m, self.spots[k]][np.ix_(tokens, mine)]
                value = values.mid[:, self.index(m, tokens)]
                if m == k:
                    known, total = known + (np.diag(weights) * value)[:, None], total + np.diag(weights)
                elif m == k - 1 or len(tokens) == 1:
                    known, total = known + weights * value[:, :, None], total + weights
                else:
                    free.append((weights, value))
            more = _by_chords(known, total, free) if free else known / total
            largest = float(np.abs(values.mid).max())
            more = more + self._wrong(total, [w for w, _ in free], largest, float(values.off.max()))
            found, size = found + more, size + np.abs(more)
        bound: Array = found + FEW * size
        return bound

    def _at_end(self, weights: Sequence[Array], values: Sequence[Array], k: int) -> Array:
        """Theorem 1 for the row of the end, of values (token, u, v) that depend on those at k - 1 and k as well."""
        known = total = np.zeros(values[0].shape[1:])
        free = []
        for m, (w, value) in enumerate(zip(weights, values, strict=True)):
            own = np.arange(len(w))
            if m == k:
                known, total = known + w * value[own, :, own].T, total + w
            elif m == k - 1:
                known, total = known + w[:, None] * value[own, own], total + w[:, None]
            elif len(w) == 1:
                known, total = known + w * value[0], total + w
            else:
                free.append((w[:, None, None], value))
        least, most = (total + sum(extreme(w) for w, _ in free) for extreme in (np.min, np.max))
        found, largest = known / total, max(float(np.abs(value).max()) for value in values)
        for last in (False, False, True) if free else ():  # any l would do; Newton's steps, from the tokens chosen
            above, slope = known - found * total, total
            for w, value in free:
                gains = w * (value - found)
                best = gains.argmax(axis=0)
                above, slope = above + np.take_along_axis(gains, best[None], axis=0)[0], slope + w[best, 0, 0]
            largest = max(largest, float(np.abs(found).max()))
            found = found + above / (np.where(above > 0, least, most) if last else slope)
        return found + self._wrong(total, [w for w, _ in free], largest, 0.0)

    def _wrong(self, total: Array, free: Sequence[Array], largest: float, off: float) -> float:
        """By how much theorem 1 may be off: values and l are at most `largest`, and values are off by `off`."""
        least, most = (total + sum(extreme(w, axis=0) for w in free) for extreme in (np.min, np.max))
        rounded = (8 * self.length + 64) * UNIT * float((most / least).max()) * 4 * largest
        return (off + 3 * self.off * largest + rounded) * (1 + FEW)


def _by_chords(known: Array, total: Array, free: Sequence[tuple[Array, Array]]) -> Array:
    """Theorem 1 where values do not depend on the token at k - 1: F of the free places on a few numbers l."""
    values = np.concatenate([value for _, value in free], axis=1)
    around = known / total
    low = np.minimum(values.min(axis=1), around.min(axis=(1, 2)))
    high = np.maximum(values.max(axis=1), around.max(axis=(1, 2)))
    grid = [low + (high - low) * (part / CHORDS) for part in range(CHORDS + 1)]
    least = total + sum(w.min(axis=0) for w, _ in free)
    above = []
    for number in grid:  # direction, v
        above.append(sum((w * (value - number[:, None])[:, :, None]).max(axis=1) for w, value in free))
    found = np.full(known.shape, np.inf)
    for start, end, left, right in zip(grid, grid[1:], above, above[1:], strict=False):
        start, end, left, right = start[:, None, None], end[:, None, None], left[:, None], right[:, None]
        first, last = known - start * total + left, known - end * total + right  # the chord of all of F
        share = np.clip(np.where(first > last, first / np.maximum(first - last, 1e-300), 0.0), 0.0, 1.0)
        at = start + share * (end - start)
        chord = known - at * total + ((1 - share) * left + share * right)
        found = np.minimum(found, at + np.maximum(chord, 0.0) / least)
    return found


def _of_head(powers: Sequence[Array], adds: Sequence[Array], j: int) -> Array:
    """The largest l found for which theorem 2 holds, for each row of values; the least value always does."""
    low = np.min([add.min(axis=(1, 2)) for add in adds], axis=0)
    high = adds[j][:, 0, 0]
    for _ in range(HALVED):
        middle = (low + high) / 2
        total = size = np.zeros((len(middle), 1))
        for k, (power, add) in enumerate(zip(powers, adds, strict=True)):
            more = add - middle[:, None, None]
            more = more - FEW * (np.abs(add) + np.abs(middle)[:, None, None])
            term = more if k == j else power * np.minimum(0.0, more)
            total = (total[:, :, None] + term).min(axis=1)
            size = size + np.abs(term).max(axis=(1, 2))[:, None]
        fits = total.min(axis=1) - SUMMED * size[:, 0] >= 0
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    found: Array = low
    return found


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
