"""The search for what two attention layers do in every text of a group: the worst text, and how to bound the group.

It looks for the text on which the logit of b is least ahead of every other token's, or on which a head of the second
layer gives least to j; and for a lower bound: of the whole group, or of its parts by the token at a place, and of their
parts. What it hands on is a claim, for the checker to prove (`induction.checker`, which has the theorems). It computes
in float32 and proves nothing itself.

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

from headwright.models.model import Tokens
from headwright.text_bounds.induction.groups import InductionGoal, TextGroup
from headwright.text_bounds.induction.weights import Weights

Numbers = Float[np.ndarray, "..."]
Allowed = Sequence[Int[np.ndarray, " tokens"]]  # the tokens that each place may hold
# 0: bounded as it is; [place, tokens, parts]: a part for each of these alone, and one for the rest.
Cuts = int | list["int | list[int] | list[Cuts]"]
WHOLE = 0
GRID = 5  # numbers l at which F is computed
STARTS = 8  # random texts that the search for the worst text begins with
SWEEPS = 3  # over the places
STEPS = 16  # of the bisection for l
NEWTON_STEPS = 2
LARGEST_SCORE = 50.0  # scores above are not told apart


class SearchTables:
    """Products of what tokens are at places, for texts of one length."""

    def __init__(self, weights: Weights, length: int) -> None:
        """All numbers but the model's own run are float32."""
        self.length = length
        self.tokens = len(weights["embed"])
        query = weights["query"]
        self.heads = query.shape[1]
        self._scale = query.shape[-1] ** -0.5
        self._angles = weights["angles"]
        # Spot, token, width: one spot if all places are alike.
        self.x = weights["embed"][None]
        if len(weights["place"]):
            self.x = self.x + weights["place"][:length, None]
        # Head, spot, token, width.
        self.o = self._through(self.x, weights["value"][0], weights["output"][0])
        self._powers = self._first_layer_powers(query[0], weights["key"][0])
        self._query = query[1] * self._scale
        self._key = weights["key"][1]
        # Readers of y_f itself, then by head of the second layer.
        unembed = weights["unembed"]
        values = weights["value"][1]
        outputs = weights["output"][1]
        moved = [
            value @ output @ unembed
            for value, output in zip(values, outputs, strict=True)
        ]
        self._readers = np.stack([unembed, *moved])

    @staticmethod
    def _through(x: Numbers, values: Numbers, outputs: Numbers) -> Numbers:
        written = [
            x @ value @ output for value, output in zip(values, outputs, strict=True)
        ]
        return np.stack(written)

    def _first_layer_powers(
        self, query: Numbers, key: Numbers
    ) -> dict[tuple[int, int], Numbers]:
        """e^score by distance and spot: (head, token at m, token at k), up to a factor of the row."""
        queries = np.stack([self.x @ matrix for matrix in query * self._scale])
        keys = np.stack([self.x @ matrix for matrix in key])
        # (head, token at k, token at m), by distance and spot of k
        scores: dict[tuple[int, int], Numbers] = {}
        for k in range(self.length):
            for m in range(k + 1):
                name = (k - m, self.spot(k))
                if name in scores:
                    continue
                turned = self.turned(queries[:, self.spot(k)], k - m)
                scores[name] = turned @ keys[:, self.spot(m)].swapaxes(1, 2)
        # Over the largest score of the token at k, at any distance: a factor of the row, which no average sees.
        powers = {}
        for (back, spot), score in scores.items():
            row = [other for (_, at), other in scores.items() if at == spot]
            largest = np.max([other.max(axis=2) for other in row], axis=0)
            power = np.exp(score - largest[:, :, None])
            powers[back, spot] = power.swapaxes(1, 2).astype(np.float32)
        return powers

    def spot(self, place: int) -> int:
        """Of a place."""
        return min(place, len(self.x) - 1)

    def turned(self, rows: Numbers, back: int) -> Numbers:
        """Queries, as they meet keys so many places before them."""
        half = len(self._angles)
        cos = np.cos(back * self._angles)
        sin = np.sin(back * self._angles)
        first, second, rest = np.split(rows, [half, 2 * half], axis=-1)
        new_first = first * cos - second * sin
        new_second = first * sin + second * cos
        return np.concatenate([new_first, new_second, rest], axis=-1)

    def powers(self, k: int, m: int) -> Numbers:
        """e^score of row k in the first layer for place m: (head, token at m, token at k)."""
        powers: Numbers = self._powers[k - m, self.spot(k)]
        return powers

    def along(self, directions: Numbers) -> tuple[Numbers, Numbers]:
        """What x and o are along each: (direction, spot, token) and (direction, head, spot, token)."""
        x = np.moveaxis(self.x @ directions.T, -1, 0)
        o = np.moveaxis(self.o @ directions.T, -1, 0)
        return x.astype(np.float32), o.astype(np.float32)

    def asks(self, head: int, rows: Numbers, k: int) -> Numbers:
        """The directions along which y_k is read by a head of the second layer with such y at the end."""
        queries = self.turned(rows @ self._query[head], self.length - 1 - k)
        directions: Numbers = queries @ self._key[head].T
        return directions

    def leads(self, b: int) -> Numbers:
        """The directions of the logit of b less each other's: of y_f itself, then by head of the second layer."""
        others = np.delete(self._readers, b, axis=2)
        leads: Numbers = (self._readers[:, :, [b]] - others).swapaxes(1, 2)
        return leads

    def runs(
        self,
        texts: Int[np.ndarray, "texts length"],
        group: TextGroup,
        goal: InductionGoal,
    ) -> Numbers:
        """The margin of b, or the weight on j, for each text."""
        end = self.length - 1
        y = self._run_first_layer(texts)
        logits = y[:, end] @ self._readers[0]
        for head in range(self.heads):
            pattern = self._pattern(y, head)
            if goal.head == head:
                weight: Numbers = pattern[:, group.j]
                return weight
            logits += np.einsum("nk,nkw->nw", pattern, y) @ self._readers[1 + head]
        own = logits[:, group.b].copy()
        logits[:, group.b] = -np.inf
        margin: Numbers = own - logits.max(axis=1)
        return margin

    def _run_first_layer(self, texts: Int[np.ndarray, "texts length"]) -> Numbers:
        spots = np.array([self.spot(place) for place in range(self.length)])
        y: Numbers = self.x[spots, texts].astype(np.float32)
        o = self.o.astype(np.float32)
        for k in range(self.length):
            for head in range(self.heads):
                columns = [
                    self.powers(k, m)[head, texts[:, m], texts[:, k]]
                    for m in range(k + 1)
                ]
                w = np.stack(columns, axis=1)
                seen = o[head, spots[: k + 1], texts[:, : k + 1]]
                y[:, k] += (w[:, None] @ seen)[:, 0] / w.sum(axis=1)[:, None]
        return y

    def _pattern(self, y: Numbers, head: int) -> Numbers:
        """What a head of the second layer gives to each place, seen from the end: (text, place)."""
        end = self.length - 1
        asking = y[:, end] @ self._query[head]
        columns = []
        for k in range(self.length):
            turned = self.turned(asking, end - k)
            columns.append(np.einsum("nd,nd->n", turned, y[:, k] @ self._key[head]))
        scores = np.stack(columns, axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        pattern: Numbers = powers / powers.sum(axis=1, keepdims=True)
        return pattern


def largest_average(
    tables: SearchTables, allowed: Allowed, k: int, worth: Numbers
) -> Numbers:
    """The sum over heads of the first layer's averages at place k, of what tokens are worth: its largest, from above.

    `worth` is by direction, head, spot and token; the bound by direction and the tokens u at k - 1 and v at k.
    """
    u = allowed[k - 1] if k else np.array([0])
    v = allowed[k]
    sums = np.zeros((len(worth), len(u), len(v)), np.float32)
    for head in range(tables.heads):
        known = np.zeros_like(sums)
        total = np.zeros(sums.shape[1:], np.float32)
        free = []
        for m in range(k + 1):
            weights = tables.powers(k, m)[head][np.ix_(allowed[m], v)]  # token at m, v
            value = worth[:, head, tables.spot(m)][:, allowed[m]]
            if m == k:
                own = np.diag(weights)
                known = known + (own * value)[:, None]
                total = total + own
            elif m == k - 1 or len(allowed[m]) == 1:
                known = known + weights * value[:, :, None]
                total = total + weights
            else:
                free.append((weights, value))
        sums += _root(known, total, free) if free else known / total
    return sums


def _root(
    known: Numbers, total: Numbers, free: Sequence[tuple[Numbers, Numbers]]
) -> Numbers:
    """Not below the l with known - l total + F(l) = 0, F the sum over the free places, by chords."""
    # Numbers l for each direction, from the least to the largest value that an average may have.
    values = np.concatenate([value for _, value in free], axis=1)
    fixed_average = known / total
    low = np.minimum(values.min(axis=1), fixed_average.min(axis=(1, 2)))
    high = np.maximum(values.max(axis=1), fixed_average.max(axis=(1, 2)))
    parts = np.linspace(0, 1, GRID, dtype=np.float32)
    grid = low[:, None] + (high - low)[:, None] * parts
    # F by direction, number and v: at each place the token with the largest w (v - l).
    F = np.zeros((*grid.shape, known.shape[2]), np.float32)
    for weights, value in free:
        best = np.full_like(F, -np.inf)
        for token in range(len(weights)):
            gain = (value[:, token, None] - grid)[:, :, None]
            np.maximum(best, weights[token] * gain, out=best)
        F += best
    # Between two numbers F is below its chord: the root of the first chord that has one in its segment.
    root = np.broadcast_to(high[:, None, None], known.shape).copy()
    for left in range(GRID - 1):
        start = grid[:, left, None]
        end = grid[:, left + 1, None]
        fall = F[:, left] - F[:, left + 1]
        slope = fall / np.maximum(end - start, 1e-20)
        # The chord is F(start) - slope (l - start), so that known - l total + chord is 0 at this l.
        constant = known + (F[:, left] + slope * start)[:, None]
        chord_root = constant / (total + slope[:, None])
        clipped = np.maximum(chord_root, start[:, None])
        is_in_segment = chord_root <= end[:, None]
        root = np.minimum(root, np.where(is_in_segment, clipped, np.inf))
    return root


@dataclass(frozen=True)
class GroupBound:
    """A lower bound in some texts; and, if it is too low, the tokens at each place that are to blame, worst first."""

    least: float
    open: Mapping[int, Sequence[int]]


@dataclass(frozen=True, eq=False)
class HeadTerms:
    """What the sum that must not be negative is made of, for a head of the second layer."""

    powers: Sequence[Numbers]  # e^(U_k) by u and v, for each place k
    values: Sequence[Numbers]  # V_k by other token, u and v
    least: Numbers  # the largest l that was found, by other token

    def terms(self, number: Numbers, j: int) -> list[Numbers]:
        """Of the sum at l = number, by other token, u and v."""
        return _terms(self.powers, self.values, number, j)


def lower_bound(
    tables: SearchTables, allowed: Allowed, group: TextGroup, goal: InductionGoal
) -> GroupBound:
    """Of what is asked for, in all texts whose places hold allowed tokens."""
    total: Numbers = np.zeros(1)
    leads = tables.leads(group.b)
    if goal.head is None:
        behind = _highest(tables, allowed, tables.length - 1, leads[0], -1)
        total = -behind.max(axis=(1, 2))
    heads = []
    for head in range(tables.heads) if goal.head is None else (goal.head,):
        powers = _second_layer_powers(tables, allowed, group, head)
        values = []
        for k, power in enumerate(powers):
            if goal.head is None:
                values.append(-_highest(tables, allowed, k, leads[1 + head], -1))
            else:
                values.append(np.full((1, *power.shape), float(k == group.j)))
        least_value = _bisect(powers, values, group.j)
        heads.append(HeadTerms(powers, values, least_value))
        total = total + least_value
    enough = goal.target + 2 * goal.caution
    least = float(total.min())
    if least > enough:
        return GroupBound(least, {})
    missing = np.maximum(enough - total, 0) / len(heads)
    return GroupBound(least, _tokens_to_blame(allowed, heads, missing, group.j))


def _bisect(powers: Sequence[Numbers], values: Sequence[Numbers], j: int) -> Numbers:
    """The largest l for which the sum is not negative, by other token."""
    low: Numbers = np.min([value.min(axis=(1, 2)) for value in values], axis=0)
    high = values[j][:, 0, 0]
    for _ in range(STEPS):
        middle = (low + high) / 2
        fits = _chain(_terms(powers, values, middle, j))[-1].min(axis=1) >= 0
        low = np.where(fits, middle, low)
        high = np.where(fits, high, middle)
    return low


def _tokens_to_blame(
    allowed: Allowed, heads: Sequence[HeadTerms], missing: Numbers, j: int
) -> dict[int, list[int]]:
    """The tokens at each place that has a choice with which some sum is negative when so much more is asked."""
    sums = [_marginals(head.terms(head.least + missing, j)) for head in heads]
    blamed = {}
    for k, tokens in enumerate(allowed):
        if len(tokens) > 1:
            worst = np.min([marginal[k].min(axis=0) for marginal in sums], axis=0)
            count = max(1, int((worst < 0).sum()))
            blamed[k] = tokens[np.argsort(worst)][:count].tolist()
    return blamed


def _highest(
    tables: SearchTables, allowed: Allowed, k: int, directions: Numbers, sign: int
) -> Numbers:
    """The largest y_k along a sign times some directions, by u and v."""
    x, o = tables.along(sign * directions)
    own = x[:, tables.spot(k), allowed[k]][:, None]
    highest: Numbers = own + largest_average(tables, allowed, k, o)
    return highest


def _second_layer_powers(
    tables: SearchTables, allowed: Allowed, group: TextGroup, head: int
) -> list[Numbers]:
    """e^(U_k) by u and v, for each place k; 1 at j."""
    end = tables.length - 1
    j = group.j
    spots = [tables.spot(m) for m in range(tables.length)]
    # (head, token) for each place
    weights = [
        tables.powers(end, m)[:, tokens, group.a] for m, tokens in enumerate(allowed)
    ]
    rows = _end_rows(tables, allowed, group, weights)
    from_j = -_highest(tables, allowed, j, tables.asks(head, rows, j), -1)[:, 0, 0]
    powers = []
    for k in range(tables.length):
        if k == j:
            powers.append(np.ones((1, 1)))
            continue
        at_k = _highest(tables, allowed, k, tables.asks(head, rows, k), 1)
        gap = at_k - from_j[:, None, None]
        # head, spot, token, u, v
        gap = gap.reshape(*tables.o.shape[:3], *gap.shape[1:])
        score: Numbers = np.zeros((1, 1), np.float32)
        for h in range(tables.heads):
            terms = [
                (w[h], gap[h, spot, tokens])
                for w, spot, tokens in zip(weights, spots, allowed, strict=True)
            ]
            score = score + _largest_at_end(terms, k)
        powers.append(np.exp(np.minimum(score, LARGEST_SCORE)))
    return powers


def _end_rows(
    tables: SearchTables, allowed: Allowed, group: TextGroup, weights: Sequence[Numbers]
) -> Numbers:
    """q^h + o^h for each head, spot and token, where each head has an equal share of a middle y_f."""
    total: Numbers = np.zeros(1)
    total_weight: Numbers = np.zeros(1)
    for m, tokens in enumerate(allowed):
        vectors = tables.o[:, tables.spot(m), tokens]
        total = total + np.einsum("ht,htw->hw", weights[m], vectors) / len(tokens)
        total_weight = total_weight + weights[m].mean(axis=1)
    middle = total / total_weight[:, None]
    x_end = tables.x[tables.spot(tables.length - 1), group.a]
    # q^h: an equal share of the middle y_f, less what the head itself adds to it; they add up to x_end.
    share = (x_end + middle.sum(axis=0)) / tables.heads
    own = share - middle
    rows: Numbers = (tables.o + own[:, None, None]).reshape(-1, middle.shape[1])
    return rows


def _largest_at_end(terms: Sequence[tuple[Numbers, Numbers]], k: int) -> Numbers:
    """The largest average at the end of a number for each of its terms (its token, u, v), by u and v."""
    known: Numbers = np.zeros(terms[0][1].shape[1:], np.float32)
    total = known
    free = []
    for place, (weights, value) in enumerate(terms):
        own = np.arange(len(weights))
        if place == k:
            known = known + weights * value[own, :, own].T
            total = total + weights
        elif place == k - 1:
            known = known + weights[:, None] * value[own, own]
            total = total + weights[:, None]
        elif len(weights) == 1:
            known = known + weights * value[0]
            total = total + weights
        else:
            free.append((weights[:, None, None], value))
    number: Numbers = known / total
    if not free:
        return number
    # The largest average is the root of a convex F, which falls. Newton's steps come to it from below.
    for _ in range(NEWTON_STEPS):
        above = known - number * total
        slope = total
        for weights, value in free:
            gains = weights * (value - number)
            best = gains.argmax(axis=0)
            above = above + np.take_along_axis(gains, best[None], axis=0)[0]
            slope = slope + weights[best, 0, 0]
        number = number + above / slope
    # From below the root, a step with the least slope that F has goes to it or beyond.
    above = known - number * total
    least_slope = total
    for weights, value in free:
        above = above + (weights * (value - number)).max(axis=0)
        least_slope = least_slope + weights.min()
    bound: Numbers = number + np.maximum(above, 0) / least_slope
    return bound


def _terms(
    powers: Sequence[Numbers], values: Sequence[Numbers], number: Numbers, j: int
) -> list[Numbers]:
    """Of the sum that must not be negative, by other token, u and v."""
    terms = []
    for k, (power, value) in enumerate(zip(powers, values, strict=True)):
        above = value - number[:, None, None]
        terms.append(above if k == j else power * np.minimum(0, above))
    return terms


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
    return [
        first + second for first, second in zip(before, reversed(after), strict=True)
    ]


@dataclass(frozen=True)
class FoundClaim:
    """A lower bound above the target, and how to cut the group so that the checker finds it."""

    least: float
    cuts: Cuts


def find_claim(
    tables: SearchTables,
    group: TextGroup,
    goal: InductionGoal,
    most_bounds: int,
    opening: int | None = None,
) -> FoundClaim | None:
    """More than the target, with how to cut the group to bound it; None if so many bounds do not do."""
    search = _CutSearch(tables, group, goal, most_bounds)
    whole = group.allowed(tables.length, tables.tokens, opening)
    return search.cut(whole, search.bound(whole))


class _CutSearch:
    """Cuts a group where the worst token alone helps most, and its parts in the same way."""

    def __init__(
        self, tables: SearchTables, group: TextGroup, goal: InductionGoal, most: int
    ) -> None:
        self.tables = tables
        self.group = group
        self.goal = goal
        self.bounds_left = most
        self.enough = goal.target + 2 * goal.caution

    def bound(self, allowed: Allowed) -> GroupBound:
        """One more of the bounds."""
        self.bounds_left -= 1
        return lower_bound(self.tables, allowed, self.group, self.goal)

    def cut(self, allowed: Allowed, known: GroupBound) -> FoundClaim | None:
        """The claim of some texts of which a bound is known."""
        if not known.open:
            if known.least <= self.enough:
                return None
            return FoundClaim(known.least - self.goal.caution, WHOLE)
        if self.bounds_left <= 0:
            return None
        place, first_bound = self._best_place(allowed, known)
        tokens = list(known.open[place])
        least = np.inf
        cuts: list[Cuts] = []
        for part_tokens in _parts(allowed[place], tokens):
            part = _with(allowed, place, part_tokens)
            if part_tokens == tokens[:1]:
                part_bound = first_bound
            else:
                part_bound = self.bound(part)
            claim = self.cut(part, part_bound)
            if claim is None:
                return None
            least = min(least, claim.least)
            cuts.append(claim.cuts)
        return FoundClaim(least, [place, tokens, cuts])

    def _best_place(
        self, allowed: Allowed, known: GroupBound
    ) -> tuple[int, GroupBound]:
        """Where the worst token alone has the highest bound; of those where it is enough, where fewest are to blame."""
        bounds = {}
        for place, tokens in known.open.items():
            bounds[place] = self.bound(_with(allowed, place, tokens[:1]))

        def merit(place: int) -> tuple[float, int]:
            return min(bounds[place].least, self.enough), -len(known.open[place])

        best = max(bounds, key=merit)
        return best, bounds[best]


def _parts(
    choices: Int[np.ndarray, " tokens"], tokens: Sequence[int]
) -> Iterator[Sequence[int]]:
    """Each of the tokens alone, and the rest."""
    for token in tokens:
        yield [token]
    rest = [token for token in choices.tolist() if token not in tokens]
    if rest:
        yield rest


def _with(allowed: Allowed, place: int, tokens: Sequence[int]) -> Allowed:
    changed = list(allowed)
    changed[place] = np.array(tokens)
    return changed


def worst_text(
    tables: SearchTables,
    group: TextGroup,
    goal: InductionGoal,
    opening: int | None = None,
    seed: int = 0,
) -> Tokens:
    """The text of the group with the least that a descent finds, one token at a time, from random texts."""
    rng = np.random.default_rng([seed, group.a, group.b, group.j])
    allowed = group.allowed(tables.length, tables.tokens, opening)
    texts = np.stack([rng.choice(tokens, STARTS) for tokens in allowed], axis=1)
    for _ in range(SWEEPS):
        before = texts.copy()
        for place, tokens in enumerate(allowed):
            if len(tokens) == 1:
                continue
            tried = np.repeat(texts, len(tokens), axis=0)
            tried[:, place] = np.tile(tokens, STARTS)
            runs = tables.runs(tried, group, goal).reshape(STARTS, -1)
            texts[:, place] = tokens[runs.argmin(axis=1)]
        if (texts == before).all():
            break
    worst: Tokens = texts[tables.runs(texts, group, goal).argmin()]
    return worst
