"""Two attention layers: what induction does in every text of a kind. The search.

A group (a, b, c, j) is all texts of n tokens in which a stands at j - 1 and at the end, f = n - 1, and nowhere else, b
at j, and c, if it is named, at f - 1. Where texts have an opening token, it stands at place 0; every other place holds
any token but a and the opening one. The search looks for the text on which the logit of b is least ahead of every other
token's, or on which a head of the second layer gives least to j; and for a lower bound: of the whole group, or of its
parts by the token at a place, and of their parts. What it hands on is a claim, for the checker to prove
(`checker.next_token`, which has the theorems). It computes in float32 and proves nothing itself.

The bound. Head h of the first layer adds to y_r the average of o^h_m with the weights e^(s_rm), m <= r; o^h_m depends
on the token at m, and s_rm on those at m and r. So a weight and what it weighs have the same token, and the largest
average along a direction, over all tokens, is that of a ratio of sums with one choice for each place: with F(l) = sum_m
max_t e^(s_m(t)) (phi_m(t) - l) it is at most the l with F(l) <= 0. F is convex, so between two numbers it is below its
chord; the part of F that does not depend on the token at k - 1 is computed at GRID numbers. For all pairs of tokens
(u, v) at k - 1 and k:

- U_k: the score of k less that of j in the second layer, y_f M_k y_k - y_f M_j y_j. y_f is the sum over the heads of
  the first layer of averages of q^h + o^h_m, where the q^h add up to x_f; they are chosen so that each head has an
  equal share of a middle y_f. Along each of these vectors, k is bounded from above and j from below; then the averages.
- V_k: what k adds to the logit of b less that of another token, from below; for a weight, 1 at j and 0 elsewhere.

A head of the second layer adds at least l if the sum over k of e^(U_k) min(0, V_k - l), with V_j - l at j, is not
negative in any text; the least sum is found along the chain of places. The margin is the sum over these heads and what
y_f adds itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.models.loading.model import Tokens
from headwright.models.texts.next_token_statement import Weights

Numbers = Float[np.ndarray, "..."]
Allowed = Sequence[Int[np.ndarray, " tokens"]]  # the tokens that each place may hold
Tree = int | list["int | list[int] | list[Tree]"]  # 0: bounded as it is; [place, tokens, parts]: these alone, the rest
WHOLE = 0
GRID = 5  # numbers l at which F is computed
STARTS, SWEEPS = 8, 3  # of the search for the worst text
STEPS = 16  # of the bisection for l
LARGEST = 50.0  # scores above are not told apart


@dataclass(frozen=True)
class Group:
    """The texts with a at j - 1 and at the end and nowhere else, b at j, and c before the end if it is named."""

    a: int
    b: int
    j: int
    c: int | None = None

    def allowed(self, length: int, tokens: int, opening: int | None = None) -> list[Int[np.ndarray, " tokens"]]:
        """What each place may hold."""
        others = np.array([token for token in range(tokens) if token not in (self.a, opening)])
        named = {0: opening, length - 2: self.c, self.j - 1: self.a, self.j: self.b, length - 1: self.a}
        held = {place: token for place, token in named.items() if token is not None}
        return [np.array([held[place]]) if place in held else others for place in range(length)]


def groups(length: int, tokens: int, opening: int | None = None) -> Iterator[Group]:
    """All in which no token before the end is named."""
    ordinary = [token for token in range(tokens) if token != opening]
    for a in ordinary:
        for b in ordinary:
            if a != b:
                yield from (Group(a, b, j) for j in range(1 if opening is None else 2, length - 1))


@dataclass(frozen=True)
class Goal:
    """What is bounded: the margin of b, or the weight on j in a head of the second layer; and how much is wanted."""

    head: int | None = None

    @property
    def wanted(self) -> float:
        """More than this."""
        return 0.0 if self.head is None else 0.5

    @property
    def less(self) -> float:
        """A claim is so much below the bound found in float32, which must be above what is wanted by twice that."""
        return 2.0**-7 if self.head is None else 2.0**-12


class Tables:
    """Products of what tokens are at places, for texts of one length."""

    def __init__(self, weights: Weights, length: int) -> None:
        """All numbers but the model's own run are float32."""
        self.length, self.tokens = length, len(weights["embed"])
        query, key, value, output = (weights[name] for name in ("query", "key", "value", "output"))
        self.heads, self._scale, self._angles = query.shape[1], query.shape[-1] ** -0.5, weights["angles"]
        places = weights["place"][:length, None] if len(weights["place"]) else 0.0
        self.x = weights["embed"][None] + places  # spot, token, width: one spot if all places are alike
        self.o = np.stack([self.x @ v @ o for v, o in zip(value[0], output[0], strict=True)])  # head first
        asking, asked = (np.stack([self.x @ each for each in matrix]) for matrix in (query[0] * self._scale, key[0]))
        scores = {
            (k - m, self.spot(k)): self.turned(asking[:, self.spot(k)], k - m) @ asked[:, self.spot(m)].swapaxes(1, 2)
            for k in range(length) for m in range(k + 1)
        }  # fmt: skip
        self._powers = {}
        for (back, spot), score in scores.items():  # head, token at k, token at m
            most = np.max([each.max(axis=2) for (_, at), each in scores.items() if at == spot], axis=0)
            self._powers[back, spot] = np.exp(score - most[:, :, None]).swapaxes(1, 2).astype(np.float32)
        self._query, self._key = query[1] * self._scale, key[1]
        moved = (v @ o @ weights["unembed"] for v, o in zip(value[1], output[1], strict=True))
        self._reads = np.stack([weights["unembed"], *moved])  # of y_f itself, then by head of the second layer

    def spot(self, place: int) -> int:
        """Of a place."""
        return min(place, len(self.x) - 1)

    def turned(self, rows: Numbers, back: int) -> Numbers:
        """Queries, as they meet keys so many places before them."""
        half = len(self._angles)
        cos, sin = np.cos(back * self._angles), np.sin(back * self._angles)
        first, second, rest = np.split(rows, [half, 2 * half], axis=-1)
        return np.concatenate([first * cos - second * sin, first * sin + second * cos, rest], axis=-1)

    def powers(self, k: int, m: int) -> Numbers:
        """e^score of row k in the first layer for place m: (head, token at m, token at k)."""
        found: Numbers = self._powers[k - m, self.spot(k)]
        return found

    def along(self, directions: Numbers) -> tuple[Numbers, Numbers]:
        """What x and o are along each: (direction, spot, token) and (direction, head, spot, token)."""
        return tuple(np.moveaxis(each @ directions.T, -1, 0).astype(np.float32) for each in (self.x, self.o))

    def asks(self, head: int, rows: Numbers, k: int) -> Numbers:
        """The directions along which y_k is read by a head of the second layer with such y at the end."""
        found: Numbers = self.turned(rows @ self._query[head], self.length - 1 - k) @ self._key[head].T
        return found

    def ahead(self, b: int) -> Numbers:
        """The directions of the logit of b less each other's: of y_f itself, then by head of the second layer."""
        found: Numbers = (self._reads[:, :, [b]] - np.delete(self._reads, b, axis=2)).swapaxes(1, 2)
        return found

    def runs(self, texts: Int[np.ndarray, "texts length"], group: Group, goal: Goal) -> Numbers:
        """The margin of b, or the weight on j, for each text."""
        n, end = self.length, self.length - 1
        spots = np.array([self.spot(place) for place in range(n)])
        y = self.x[spots, texts].astype(np.float32)
        o = self.o.astype(np.float32)
        for k in range(n):
            for head in range(self.heads):
                w = np.stack([self.powers(k, m)[head, texts[:, m], texts[:, k]] for m in range(k + 1)], axis=1)
                seen = o[head, spots[: k + 1], texts[:, : k + 1]]
                y[:, k] += (w[:, None] @ seen)[:, 0] / w.sum(axis=1)[:, None]
        logits = y[:, end] @ self._reads[0]
        for head in range(self.heads):
            asking = y[:, end] @ self._query[head]
            scores = np.stack(
                [np.einsum("nd,nd->n", self.turned(asking, end - k), y[:, k] @ self._key[head]) for k in range(n)], 1
            )
            pattern = np.exp(scores - scores.max(axis=1, keepdims=True))
            pattern /= pattern.sum(axis=1, keepdims=True)
            if goal.head == head:
                weight: Numbers = pattern[:, group.j]
                return weight
            logits += np.einsum("nk,nkw->nw", pattern, y) @ self._reads[1 + head]
        mine = logits[:, group.b].copy()
        logits[:, group.b] = -np.inf
        margin: Numbers = mine - logits.max(axis=1)
        return margin


def largest_average(tables: Tables, allowed: Allowed, k: int, worth: Numbers) -> Numbers:
    """The sum over heads of the first layer's averages at place k, of what tokens are worth: its largest, from above.

    `worth` is by direction, head, spot and token; the bound by direction and the tokens u at k - 1 and v at k.
    """
    u, v = allowed[k - 1] if k else np.array([0]), allowed[k]
    sums = np.zeros((len(worth), len(u), len(v)), np.float32)
    for head in range(tables.heads):
        known, total, free = np.zeros_like(sums), np.zeros(sums.shape[1:], np.float32), []
        for m in range(k + 1):
            weights = tables.powers(k, m)[head][np.ix_(allowed[m], v)]  # token at m, v
            value = worth[:, head, tables.spot(m)][:, allowed[m]]
            if m == k:
                known, total = known + (np.diag(weights) * value)[:, None], total + np.diag(weights)
            elif m == k - 1 or len(allowed[m]) == 1:
                known, total = known + weights * value[:, :, None], total + weights
            else:
                free.append((weights, value))
        sums += _root(known, total, free) if free else known / total
    return sums


def _root(known: Numbers, total: Numbers, free: Sequence[tuple[Numbers, Numbers]]) -> Numbers:
    """Not below the l with known - l total + F(l) = 0, F the sum over the free places, by chords."""
    values, around = np.concatenate([value for _, value in free], axis=1), known / total
    low = np.minimum(values.min(axis=1), around.min(axis=(1, 2)))
    high = np.maximum(values.max(axis=1), around.max(axis=(1, 2)))
    grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, GRID, dtype=np.float32)
    above = np.zeros((*grid.shape, known.shape[2]), np.float32)  # direction, number, v
    for weights, value in free:
        best = np.full_like(above, -np.inf)
        for token in range(len(weights)):
            np.maximum(best, weights[token] * (value[:, token, None] - grid)[:, :, None], out=best)
        above += best
    found = np.broadcast_to(high[:, None, None], known.shape).copy()
    for left, right in zip(range(GRID - 1), range(1, GRID), strict=True):
        start, end = grid[:, left, None], grid[:, right, None]
        slope = (above[:, left] - above[:, right]) / np.maximum(end - start, 1e-20)
        at = (known + (above[:, left] + slope * start)[:, None]) / (total + slope[:, None])
        np.minimum(found, np.where(at <= end[:, None], np.maximum(at, start[:, None]), np.inf), out=found)
    return found


@dataclass(frozen=True)
class Bound:
    """A lower bound in some texts; and, if it is too low, the tokens at each place that are to blame, worst first."""

    least: float
    open: Mapping[int, Sequence[int]]


def lower_bound(tables: Tables, allowed: Allowed, group: Group, goal: Goal) -> Bound:
    """Of what is asked for, in all texts whose places hold allowed tokens."""
    chains = []
    total: Numbers = np.zeros(1)
    if goal.head is None:
        ahead = tables.ahead(group.b)
        total = _from_x(tables, allowed, tables.length - 1, ahead[0], -1).max(axis=(1, 2)) * -1.0
    for head in range(tables.heads) if goal.head is None else (goal.head,):
        powers = _powers(tables, allowed, group, head)
        adds = {
            k: -_from_x(tables, allowed, k, ahead[1 + head], -1) if goal.head is None
            else np.full((1, *powers[k].shape), 1.0 if k == group.j else 0.0)
            for k in powers
        }  # fmt: skip
        low, high = np.min([add.min(axis=(1, 2)) for add in adds.values()], axis=0), adds[group.j][:, 0, 0]
        for _ in range(STEPS):
            middle = (low + high) / 2
            fits = _chain(_terms(powers, adds, middle, group.j))[-1].min(axis=1) >= 0
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        chains.append((powers, adds, low))
        total = total + low
    least = float(total.min())
    if least > goal.wanted + 2 * goal.less:
        return Bound(least, {})
    more = np.maximum(goal.wanted + 2 * goal.less - total, 0) / len(chains)
    sums = [_marginals(_terms(powers, adds, low + more, group.j)) for powers, adds, low in chains]
    worst = [np.min([each[k].min(axis=0) for each in sums], axis=0) for k in range(tables.length)]
    return Bound(least, {
        k: allowed[k][np.argsort(bad)][: max(1, int((bad < 0).sum()))].tolist()
        for k, bad in enumerate(worst) if len(allowed[k]) > 1
    })  # fmt: skip


def _from_x(tables: Tables, allowed: Allowed, k: int, directions: Numbers, sign: int) -> Numbers:
    """The largest y_k along a sign times some directions, by u and v."""
    x, o = tables.along(sign * directions)
    found: Numbers = x[:, tables.spot(k), allowed[k]][:, None] + largest_average(tables, allowed, k, o)
    return found


def _powers(tables: Tables, allowed: Allowed, group: Group, head: int) -> dict[int, Numbers]:
    """e^(U_k) by u and v, for each place k; 1 at j."""
    end, j = tables.length - 1, group.j
    weights = [tables.powers(end, m)[:, tokens, group.a] for m, tokens in enumerate(allowed)]  # head, token
    spots = [tables.spot(m) for m in range(tables.length)]
    middle = (
        sum(
            np.einsum("ht,htw->hw", w, tables.o[:, spot, tokens]) / len(tokens)
            for w, spot, tokens in zip(weights, spots, allowed, strict=True)
        )
        / sum(w.mean(axis=1) for w in weights)[:, None]
    )
    own = (tables.x[spots[end], group.a] + middle.sum(axis=0)) / tables.heads - middle  # by head: in all, x at the end
    rows = (tables.o + own[:, None, None]).reshape(-1, middle.shape[1])
    mine = -_from_x(tables, allowed, j, tables.asks(head, rows, j), -1)[:, 0, 0]
    found = {}
    for k in range(tables.length):
        gap = _from_x(tables, allowed, k, tables.asks(head, rows, k), 1) - mine[:, None, None]
        gap = gap.reshape(*tables.o.shape[:3], *gap.shape[1:])  # head, spot, token, u, v
        score = sum(
            _at_end([(w[h], gap[h, spot, tokens]) for w, spot, tokens in zip(weights, spots, allowed, strict=True)], k)
            for h in range(tables.heads)
        )
        found[k] = np.exp(np.minimum(score, LARGEST)) if k != j else np.ones((1, 1))
    return found


def _at_end(terms: Sequence[tuple[Numbers, Numbers]], k: int) -> Numbers:
    """The largest average at the end of a number for each of its terms (its token, u, v), by u and v."""
    known = total = np.zeros(terms[0][1].shape[1:], np.float32)
    free = []
    for place, (weights, value) in enumerate(terms):
        own = np.arange(len(weights))
        if place == k:
            known, total = known + weights * value[own, :, own].T, total + weights
        elif place == k - 1:
            known, total = known + weights[:, None] * value[own, own], total + weights[:, None]
        elif len(weights) == 1:
            known, total = known + weights * value[0], total + weights
        else:
            free.append((weights[:, None, None], value))
    low, high = (total + sum(extreme(w) for w, _ in free) for extreme in (np.min, np.max))
    found: Numbers = known / total
    for last in (False, False, True) if free else ():
        above, slope = known - found * total, total
        for w, value in free:
            gains = w * (value - found)
            best = gains.argmax(axis=0)
            above, slope = above + np.take_along_axis(gains, best[None], axis=0)[0], slope + w[best, 0, 0]
        found = found + above / (np.where(above > 0, low, high) if last else slope)  # Newton's steps, then a bound
    return found


def _terms(powers: Mapping[int, Numbers], adds: Mapping[int, Numbers], number: Numbers, j: int) -> list[Numbers]:
    """Of the sum that must not be negative, by other token, u and v."""
    more = [add - number[:, None, None] for _, add in sorted(adds.items())]
    return [each if k == j else powers[k] * np.minimum(0, each) for k, each in enumerate(more)]


def _chain(terms: Sequence[Numbers]) -> list[Numbers]:
    """The least sum of the terms up to each place, by other token and v."""
    sums = [terms[0][:, 0]]
    for term in terms[1:]:
        sums.append((sums[-1][:, :, None] + term).min(axis=1))
    return sums


def _marginals(terms: Sequence[Numbers]) -> list[Numbers]:
    """The least sum of all terms, by other token and the token at each place."""
    before = _chain(terms)
    after = [np.zeros_like(before[-1])]
    for term in reversed(terms[1:]):
        after.append((term + after[-1][:, None]).min(axis=2))
    return [first + second for first, second in zip(before, reversed(after), strict=True)]


def claim(tables: Tables, group: Group, goal: Goal, most: int, opening: int | None = None) -> tuple[float, Tree] | None:
    """More than what is wanted, with how to cut the group to bound it; None if so many bounds do not do."""
    left = most

    def bound(allowed: Allowed) -> Bound:
        nonlocal left
        left -= 1
        return lower_bound(tables, allowed, group, goal)

    def cut(allowed: Allowed, found: Bound) -> tuple[float, Tree] | None:
        if not found.open:
            return (found.least - goal.less, WHOLE) if found.least > goal.wanted + 2 * goal.less else None
        if left <= 0:
            return None
        tried = {}
        for place, tokens in found.open.items():  # where does the worst token alone help most?
            part = _with(allowed, place, tokens[:1])
            tried[place] = part, bound(part)
        enough = goal.wanted + 2 * goal.less
        place = max(tried, key=lambda at: (min(tried[at][1].least, enough), -len(found.open[at])))
        tokens = list(found.open[place])
        least, trees = np.inf, []
        rest = [token for token in allowed[place].tolist() if token not in tokens]
        for some in (*([token] for token in tokens), *([rest] if rest else [])):
            part = _with(allowed, place, some)
            done = cut(part, tried[place][1] if some == tokens[:1] else bound(part))
            if done is None:
                return None
            least = min(least, done[0])
            trees.append(done[1])
        return least, [place, tokens, trees]

    whole = group.allowed(tables.length, tables.tokens, opening)
    return cut(whole, bound(whole))


def _with(allowed: Allowed, place: int, tokens: Sequence[int]) -> Allowed:
    return [np.array(tokens) if at == place else each for at, each in enumerate(allowed)]


def worst_text(tables: Tables, group: Group, goal: Goal, opening: int | None = None, seed: int = 0) -> Tokens:
    """The text of the group with the least that a descent finds, one token at a time, from random texts."""
    rng = np.random.default_rng([seed, group.a, group.b, group.j])
    allowed = group.allowed(tables.length, tables.tokens, opening)
    texts = np.stack([rng.choice(tokens, STARTS) for tokens in allowed], axis=1)
    for _ in range(SWEEPS):
        before = texts.copy()
        for place, tokens in enumerate(allowed):
            if len(tokens) > 1:
                tried = np.repeat(texts, len(tokens), axis=0)
                tried[:, place] = np.tile(tokens, STARTS)
                best = tables.runs(tried, group, goal).reshape(STARTS, -1).argmin(axis=1)
                texts[:, place] = tokens[best]
        if (texts == before).all():
            break
    found: Tokens = texts[tables.runs(texts, group, goal).argmin()]
    return found
