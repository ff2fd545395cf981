"""Two layers of one head: does the model predict b after the second a, in every text of a length? The search.

A group (a, b, j) is all texts of n tokens in which a stands at j - 1 and at the end, f = n - 1, and nowhere else, and b
at j; every other place holds any token but a. The search looks for the text on which the logit of b is least ahead of
every other token's, and for a lower bound on that margin: of the whole group, or of its parts by the token at a place,
and of their parts. What it hands on is a claim, for the checker to prove (`checker.next_token`, which has the theorem).
It computes in float32 and proves nothing itself.

The bound. The first layer makes y_r = x_r + sum_m w_rm o_m at place r, with w_rm = e^(s_rm) / sum_m e^(s_rm); o_m
depends on the token at m, and s_rm on those at m and r. So a weight and what it weighs have the same token, and the
largest sum_m w_rm phi_m over all tokens is the maximum of a ratio of sums with one choice for each place, which
Dinkelbach's iteration finds. From any number l: with F(l) = sum_m max_t e^(s_m(t)) (phi_m(t) - l) the ratio is at most
l + F(l) / W, W the least sum of the e^(s) if F(l) > 0, the largest else. For all pairs of tokens (u, v) at k - 1 and k:

- U_k: the second layer's score of k less that of j, y_f M (y_k - y_j). For y_f one term x_f + o_m of its average at a
  time, the ratio of row k from above and that of row j from below; then the ratio of row f over these.
- V_k(c): what k adds to the logit of b less that of c, the ratio of row k from below. With B(c) what y_f adds itself,

the margin over c is at least m if B + V_j - m + sum_k min_(u, v) e^(U_k) min(0, B + V_k - m) >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.models.loading.induction16 import Induction16
from headwright.models.loading.model import Tokens

Numbers = Float[np.ndarray, "..."]
Allowed = Sequence[Int[np.ndarray, " tokens"]]  # the tokens that each place may hold
Tree = int | list["int | list[Tree]"]  # 0: bounded as it is; [place, parts]: by the token there, in rising order
WHOLE = 0
STARTS, SWEEPS = 8, 3  # of the search for the worst text
LOWEST = -1e4  # margins below are not told apart
LESS = 2.0**-7  # a claim is so much below the bound found in float32


@dataclass(frozen=True)
class Group:
    """The texts with a at j - 1 and at the end and nowhere else, and b at j."""

    a: int
    b: int
    j: int

    def allowed(self, length: int, tokens: int) -> list[Int[np.ndarray, " tokens"]]:
        """What each place may hold."""
        others = np.delete(np.arange(tokens), self.a)
        named = {self.j - 1: self.a, self.j: self.b, length - 1: self.a}
        return [np.array([named[place]]) if place in named else others for place in range(length)]


def groups(length: int, tokens: int) -> Iterator[Group]:
    """All of them."""
    for a in range(tokens):
        for b in range(tokens):
            if a != b:
                yield from (Group(a, b, j) for j in range(1, length - 1))


class Tables:
    """Products of what tokens are at places, for texts of one length."""

    def __init__(self, model: Induction16, length: int) -> None:
        """All numbers but the model's own run are float32."""
        self.length, self.tokens = length, len(model.embed)
        scale = model.query.shape[-1] ** -0.5
        x = model.embed[None] + model.place[:length, None]  # place, token, width
        o = x @ model.value[0] @ model.output[0]
        self._x, self._o = x, o
        first = np.einsum("rud,mtd->rmtu", x @ model.query[0], x @ model.key[0]) * scale  # row, place, its token, own
        largest = np.where(np.tri(length, dtype=bool)[:, :, None, None], first, -np.inf).max(axis=(1, 2), keepdims=True)
        self.weights = np.exp(np.minimum(first - largest, 0)).astype(np.float32)
        asking = (x[-1][:, None, None] + o) @ (model.query[1] @ model.key[1].T * scale)  # a, m, t, width
        self.on_output = np.einsum("amtd,ksd->amtks", asking, o).astype(np.float32)
        self.on_input = np.einsum("amtd,ksd->amtks", asking, x).astype(np.float32)
        self._moved, self._read = model.value[1] @ model.output[1] @ model.unembed, model.unembed
        self._scores = model.query[1] @ model.key[1].T * scale

    def ahead(self, b: int, others: Sequence[int], moved: bool) -> tuple[Numbers, Numbers]:
        """The logit of b less that of each other token: from o and from x (other, place, token)."""
        read = self._moved if moved else self._read
        along = (read[:, [b]] - read[:, others]).T
        o, x = (np.einsum("cd,mtd->cmt", along, each).astype(np.float32) for each in (self._o, self._x))
        return o, x

    def margins(self, texts: Int[np.ndarray, "texts length"], b: int) -> Numbers:
        """The logit of b at the end less the largest other, for each text."""
        places, rows = np.arange(self.length), np.arange(self.length)[:, None]
        weights = self.weights[rows, places, texts[:, None, :], texts[:, :, None]] * np.tri(self.length)
        y = self._x[places, texts] + (weights / weights.sum(-1, keepdims=True)) @ self._o[places, texts]
        scores = np.einsum("nd,nkd->nk", y[:, -1] @ self._scores, y)
        pattern = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed = np.einsum("nk,nkd->nd", pattern / pattern.sum(axis=1, keepdims=True), y)
        logits = y[:, -1] @ self._read + mixed @ self._moved
        mine = logits[:, b].copy()
        logits[:, b] = -np.inf
        found: Numbers = mine - logits.max(axis=1)
        return found


def largest_average(tables: Tables, allowed: Allowed, k: int, worth: Numbers) -> Numbers:
    """The first layer's average at place k of what tokens are worth (row, place, token): its largest, from above.

    By the tokens u at k - 1 and v at k: (row, u, v).
    """
    v, weights = allowed[k], tables.weights[k][:, :, allowed[k]]  # place, token, v
    u = allowed[k - 1] if k else np.array([0])
    own = weights[k, v, np.arange(len(v))]
    known, total = own * worth[:, None, k, v], np.broadcast_to(own, (len(u), len(v)))
    if k:
        known = known + weights[k - 1, u] * worth[:, k - 1, u, None]
        total = total + weights[k - 1, u]
    choices = []
    for place in range(k - 1):
        each, their = weights[place, allowed[place]], worth[:, place, allowed[place]].T[:, :, None, None]
        choices.append((each, their * each[:, None, None]))
    return _ratio(known, total, choices, 1)


def _ratio(known: Numbers, total: Numbers, choices: list[tuple[Numbers, Numbers]], steps: int) -> Numbers:
    """An upper bound on (known + sum of weighed) / (total + sum of weights), one (weight, weighed) for each place."""
    low, high = (total + sum(extreme(w, axis=0) for w, _ in choices) for extreme in (np.min, np.max))
    found: Numbers = known / total
    for _ in range(steps if choices else 0):
        above = known - found * total
        for weights, weighed in choices:
            best = weighed[0] - weights[0] * found
            for w, more in zip(weights[1:], weighed[1:], strict=True):
                np.maximum(best, more - w * found, out=best)
            above += best
        found = found + above / np.where(above > 0, low, high)
    return found


@dataclass(frozen=True)
class Bound:
    """A lower bound on the margin in some texts; and where these may be cut, if it is too low and a place is left."""

    margin: float
    places: tuple[int, ...]


def lower_bound(tables: Tables, allowed: Allowed, group: Group) -> Bound:
    """Of the margin in all texts whose places hold allowed tokens."""
    a, b, j, end = group.a, group.b, group.j, tables.length - 1
    places = np.repeat(np.arange(tables.length), [len(tokens) for tokens in allowed])
    atoms = places, np.concatenate(allowed)  # the terms of the average at the end
    on_output, on_input = tables.on_output[a][atoms], tables.on_input[a][atoms]
    mine = on_input[:, j, b] - largest_average(tables, allowed, j, -on_output)[:, 0, 0]
    others = [token for token in range(tables.tokens) if token != b]
    direct, own = tables.ahead(b, others, moved=False)
    moved, moved_own = tables.ahead(b, others, moved=True)
    direct = own[:, end, a] - largest_average(tables, allowed, end, -direct).max(axis=(1, 2))
    at_j = moved_own[:, j, b] - largest_average(tables, allowed, j, -moved)[:, 0, 0]
    powers, adds, spreads = {}, {}, {}
    for k in range(tables.length):
        if k != j:
            gap = on_input[:, k, allowed[k]][:, None] + largest_average(tables, allowed, k, on_output)
            score, spreads[k] = _at_end(tables, allowed, k, gap - mine[:, None, None], places, a)
            powers[k] = np.exp(np.minimum(score.astype(np.float64), 50.0))
            adds[k] = moved_own[:, k, allowed[k]][:, None] - largest_average(tables, allowed, k, -moved)
    margin = _margin(direct, at_j, powers, adds)
    free = [place for place, tokens in enumerate(allowed) if len(tokens) > 1]
    if margin > 2 * LESS or not free:
        return Bound(margin, ())
    terms = {k: powers[k] * np.minimum(0, adds[k] + direct[:, None, None]) for k in powers}
    fewest = min(free, key=lambda place: _left_open(direct + at_j, terms, place) / len(allowed[place]))
    spread = spreads[max(powers, key=lambda k: powers[k].max())]
    widest = max(spread, key=lambda place: spread[place], default=fewest)
    return Bound(margin, tuple(dict.fromkeys(place for place in (widest, fewest) if place in free)))


def _left_open(alone: Numbers, terms: dict[int, Numbers], place: int) -> int:
    """For how many tokens at a place the sum for the margin 0 would be negative, if they changed its own terms only."""
    total = alone + sum(term.min(axis=(1, 2)) for k, term in terms.items() if k not in (place, place + 1))
    tokens = total[:, None] + (terms[place].min(axis=1) if place in terms else 0.0)
    if place + 1 in terms:
        tokens = tokens + terms[place + 1].min(axis=2)
    return int((tokens < 0).any(axis=0).sum())


def _at_end(
    tables: Tables, allowed: Allowed, k: int, gap: Numbers, places: Numbers, a: int
) -> tuple[Numbers, dict[int, float]]:
    """The largest average at the end of a number for each of its terms, by u and v; and how far each token moves it."""
    weights, count = tables.weights[-1][:, :, a], gap.shape[1:]
    known, total, choices, free = np.zeros(count, np.float32), np.zeros(count, np.float32), [], []
    for place, tokens in enumerate(allowed):
        each, their = weights[place, tokens], gap[places == place]
        if place == k:
            known, total = known + (each[:, None] * np.einsum("vuv->vu", their)).T, total + each
        elif place == k - 1:
            known, total = known + each[:, None] * np.einsum("uuv->uv", their), total + each[:, None]
        else:
            choices.append((each[:, None, None], each[:, None, None] * their))
            free.append(place)
    found = _ratio(known, total, choices, 4)
    worst = np.unravel_index(int(found.argmax()), count)
    at = [weighed[:, *worst] - weights[:, 0, 0] * found[worst] for weights, weighed in choices]
    return found, {place: float(each.max() - each.min()) for place, each in zip(free, at, strict=True)}


def _margin(direct: Numbers, at_j: Numbers, powers: dict[int, Numbers], adds: dict[int, Numbers]) -> float:
    """The largest m for which the sum is not negative, for every other token; found by bisection."""
    low, high = np.full(len(direct), LOWEST), (direct + at_j).astype(np.float64)
    for _ in range(32):
        middle = (low + high) / 2
        total = direct + at_j - middle
        for k, power in powers.items():
            total = total + (power * np.minimum(0, adds[k] + (direct - middle)[:, None, None])).min(axis=(1, 2))
        low, high = np.where(total >= 0, middle, low), np.where(total >= 0, high, middle)
    return float(low.min())


def claim(tables: Tables, group: Group, most: int) -> tuple[float, Tree] | None:
    """A margin above 0 with how to cut the group to bound it, from at most so many bounds; None if they do not do."""
    left = most

    def cut(allowed: Allowed, found: Bound) -> tuple[float, Tree] | None:
        nonlocal left
        if found.margin > 2 * LESS:
            return found.margin - LESS, WHOLE
        best: tuple[int, list[tuple[Allowed, Bound]], int] | None = None
        for place in found.places:  # the cut that leaves the fewest parts open
            parts: list[tuple[Allowed, Bound]] = []
            for token in allowed[place]:
                part: Allowed = [np.array([token]) if at == place else each for at, each in enumerate(allowed)]
                parts.append((part, lower_bound(tables, part, group)))
            left -= len(parts)
            still = sum(bound.margin <= 2 * LESS for _, bound in parts)
            if best is None or still < best[2]:
                best = place, parts, still
            if not still:
                break
        if best is None:
            return None
        margin, trees = np.inf, []
        for texts, bound in best[1]:
            done = cut(texts, bound) if left > 0 or bound.margin > 2 * LESS else None
            if done is None:
                return None
            margin = min(margin, done[0])
            trees.append(done[1])
        return margin, [best[0], trees]

    whole = group.allowed(tables.length, tables.tokens)
    return cut(whole, lower_bound(tables, whole, group))


def worst_text(tables: Tables, group: Group, seed: int = 0) -> Tokens:
    """The text of the group with the least margin that a descent finds, one token at a time, from random texts."""
    rng, allowed = np.random.default_rng([seed, group.a, group.b, group.j]), group.allowed(tables.length, tables.tokens)
    texts = np.stack([rng.choice(tokens, STARTS) for tokens in allowed], axis=1)
    for _ in range(SWEEPS):
        before = texts.copy()
        for place, tokens in enumerate(allowed):
            if len(tokens) > 1:
                tried = np.repeat(texts, len(tokens), axis=0)
                tried[:, place] = np.tile(tokens, STARTS)
                best = tables.margins(tried, group.b).reshape(STARTS, -1).argmin(axis=1)
                texts[:, place] = tokens[best]
        if (texts == before).all():
            break
    found: Tokens = texts[tables.margins(texts, group.b).argmin()]
    return found
