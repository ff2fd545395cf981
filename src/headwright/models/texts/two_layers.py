"""Models of two attention layers: bounds on the weight of an induction head in every text of a stated kind.

The kind: a text of T tokens that begins with the opening token, in which a token a stands at the places j - 1 and
p = T - 1 and nowhere else, b stands at j and c at p - 1; every other place holds any token but a. An induction head of
the second layer, asked from p, should look at j. How much does it give to j at least, whatever the other tokens are?

In the first layer the weights of place m are known but for one number. Let A be the sum of exp(score) over the places
whose token is known (its own, the previous one, the opening, those named above) and S over the rest, which lies between
the sums of the smallest and largest scores. A head's output there is (1 - r) K + r R with K the known tokens' average,
r = S / (A + S) in an interval, and R an average of values of tokens that are not known. Beside the embedding that is
all of the vector x_m that enters the second layer. A score of the second layer is bilinear in x_p and x_m:

- for one x_p it is linear in x_m, and largest with R at the best token and r at one of its ends;
- x_p lies in the hull of (1 - r) K + r v(t), so the score less that of j is at most what it is at a middle one, and for
  each head the largest change on the way to a corner, each of these maximised over x_m and x_j on its own.

So U_m(t_(m-1), t_m) bounds the score of m less that of j by the two tokens at and before m, and the weight on j is at
least 1 / (1 + sum_m exp U_m), where the largest sum over all texts is found along the chain of places. It is a bound:
the text that the chain finds is run in the model beside it, and need not come down to it.

Rounding, for H heads in the first layer. Count the mass (the sum of sizes of coefficients) with which products G of two
token vectors enter U_m. At p it is 1 + H in the middle (the embedding, and an average for each head) and at most 2 for
each head's way to a corner: 1 + 3 H. At m and at j it is 1 + H each. So if products are known to D, U is off by at most
(1 + 3 H) 2 (1 + H) D: 42 D for two heads. Sums of exp in the first layer are known up to a factor of 1 + m either way
(scores are off by a little, exp and each addition round), so shares of K are known to 2 m + m^2 relatively and r, which
is S / (A + S), to a quarter of that; the average is then off by at most 1.5 (2 m + m^2) <= 4.5 m in total if m <= 1,
and never by more than 2. With e = 4.5 m and g no less than any |G|: averages enter 3 H times at p, each against
2 (1 + H), and H times at m and at j, against 1 + 3 H; products of two such errors at most double it where e <= 2. So
that is 2 (6 H (1 + H) + 2 H (1 + 3 H)) e g, and where e > 2 it is more than all there is. What is left is rounding in
the last sums: n = (1 + H) tokens + 64 operations a term, of terms that are at most 4 times what their mass says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.fast.balls import gamma
from headwright.fast.exponential import EXP_RANGE, exp_near
from headwright.models.loading.induction import FREQUENCIES, InductionModel
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.check_against_model import Attained, not_beyond
from headwright.models.texts.every_text import HALF
from headwright.models.texts.head import Rotary, Vectors
from headwright.models.texts.sweep import STEP, Progress

Numbers = Float[np.ndarray, "..."]
SHORTEST = 5  # the opening token, a, b, and c before the last a; or a b a


@dataclass(frozen=True, eq=False)
class TwoLayers:
    """The numbers of such a model; tokens are counted, the opening one last."""

    tokens: Int[np.ndarray, " tokens"]  # ids
    embed: Float[np.ndarray, "tokens width"]
    query: Float[np.ndarray, "layers heads width d"]
    key: Float[np.ndarray, "layers heads width d"]
    value: Float[np.ndarray, "layers heads width d"]
    output: Float[np.ndarray, "layers heads d width"]
    angles: Float[np.ndarray, " half"]

    @property
    def opening(self) -> int:
        """The token that every text begins with."""
        return len(self.tokens) - 1

    @property
    def scale(self) -> float:
        """Of scores."""
        return float(self.query.shape[-1] ** -0.5)


@dataclass(frozen=True)
class Named:
    """A kind of texts, tokens as they are counted: a at j - 1 and at the end, b at j, c before the end."""

    length: int
    at: int
    a: int
    b: int
    c: int

    @property
    def known(self) -> dict[int, int]:
        """The token of each place that is named, but for the opening."""
        return {self.at - 1: self.a, self.at: self.b, self.length - 2: self.c, self.length - 1: self.a}


@dataclass(frozen=True, eq=False)
class Floor:
    """Proved: the weight on the place of b is not less. And the text that the bound is worst for, as tokens counted."""

    least: float
    text: Int[np.ndarray, " length"]


class Bounds:
    """One head of the second layer, texts of one length: all that does not depend on which tokens are named."""

    def __init__(self, layers: TwoLayers, head: int, length: int) -> None:
        """Products of token vectors at every distance, and first-layer weights; with how far each may be wrong."""
        self._layers, self._length = layers, length
        self._count = len(layers.tokens)
        ways = layers.value[0] @ layers.output[0]  # heads, width, width
        vectors = np.stack([layers.embed, *(layers.embed @ way for way in ways)])
        longest = _longest(layers.embed)
        size = longest * max(
            1.0, *(_size(v) * _size(o) for v, o in zip(layers.value[0], layers.output[0], strict=True))
        )
        width = layers.embed.shape[1]
        roundings = gamma(4 * (width + layers.query.shape[-1]) + 64)
        self._products: dict[int, Numbers] = {}
        self._first: dict[int, list[Numbers]] = {}  # by distance and head: query token x key token
        self._wrong = 4 * roundings * size**2 * _size(layers.query[1, head]) * _size(layers.key[1, head]) * layers.scale
        turns = Rotary(layers.tokens, Vectors(layers.embed, 0.0), Vectors(layers.embed, 0.0), layers.angles)
        asking, asked = vectors @ layers.query[1, head] * layers.scale, vectors @ layers.key[1, head]
        off = 0.0
        for distance in range(length):
            turned = _turned(asking, *turns.turns(distance))
            self._products[distance] = np.einsum("rxd,syd->rxsy", turned, asked).reshape(2 * [vectors[..., 0].size])
            self._first[distance] = []
            for query, key in zip(layers.query[0], layers.key[0], strict=True):
                scores = _turned(layers.embed @ query, *turns.turns(distance)) @ (layers.embed @ key).T * layers.scale
                off = max(off, 4 * roundings * longest**2 * _size(query) * _size(key) * layers.scale)
                if np.abs(scores).max() > EXP_RANGE / 4:
                    raise InputError(f"first-layer scores up to {np.abs(scores).max():.0f}: too large to be added up")
                self._first[distance].append(exp_near(scores))
        self.slack = self._slack(off, max(float(np.abs(each).max()) for each in self._products.values()))

    def _slack(self, off: float, largest: float) -> float:
        """How far a bound may be off (see above); `off` is for first-layer scores, `largest` of the products found."""
        heads = len(self._first[0])
        at_p, at_m = 1 + 3 * heads, 1 + heads
        g, m = largest + self._wrong, float(np.expm1(off)) * (1 + 2.0**-40) + (self._length + 8) * STEP
        averages = 2 * (3 * heads * 2 * at_m + 2 * heads * at_p) * 4.5 * m * g
        sums = 4 * at_p * 2 * at_m * gamma(at_m * self._count + 64) * g
        return (at_p * 2 * at_m * self._wrong + averages + sums) * (1 + 2.0**-40)

    def floor(self, named: Named) -> Floor:
        """The least weight on the place of b in every text of the kind."""
        may = self._may_hold(named)
        at_end = [self._average(named, named.length - 1, head, may) for head in range(len(self._first[0]))]
        middle, changes = _corners(at_end, named, self._count, may.others)
        rows = np.concatenate([middle[None], *changes])
        mine = -self._largest(named, named.at, -rows, may)[:, 0, 0]
        bounds = {}
        for place in range(named.length):
            if place != named.at:
                found = self._largest(named, place, rows, may) - mine[:, None, None]
                start, total = 1, found[0]
                for change in changes:
                    if len(change):
                        total = total + found[start : start + len(change)].max(axis=0)
                    start += len(change)
                bounds[place] = total + self.slack
        return _chain(named, bounds, may)

    def _may_hold(self, named: Named) -> _MayHold:
        others = np.array([token for token in range(self._count - 1) if token != named.a])
        known = {0: self._layers.opening} | named.known
        return _MayHold(tuple(np.array([known[at]]) if at in known else others for at in range(named.length)), others)

    def _average(self, named: Named, place: int, head: int, may: _MayHold) -> _Average:
        """What a head of the first layer makes of a place: by the tokens before it and at it, of those there may be."""
        weights, opening = self._first, self._layers.opening
        earlier, here = may.before(place), may.at[place]
        shape = len(earlier), len(here)
        known = {at: token for at, token in named.known.items() if at < place - 1}
        before = weights[1][head][np.ix_(here, earlier)].T if place > 1 else np.zeros(shape)
        own = np.broadcast_to(weights[0][head][here, here], shape) if place else np.zeros(shape)  # place 0: the opening
        shares = dict.fromkeys((*known.values(), opening), np.zeros(shape))
        for at, token in (*known.items(), (0, opening)):
            shares[token] = shares[token] + weights[place - at][head][here, token]
        total = before + own + sum(shares.values())
        rest = [at for at in range(1, place - 1) if at not in known]
        low, high = (
            sum(
                (extreme(weights[place - at][head][np.ix_(here, may.others)], axis=1) for at in rest),
                np.zeros(len(here)),
            )
            for extreme in (np.min, np.max)
        )
        return _Average(
            before / total, own / total, {token: share / total for token, share in shares.items()}, low / (total + low),
            high / (total + high),
        )  # fmt: skip

    def _largest(self, named: Named, place: int, rows: Numbers, may: _MayHold) -> Numbers:
        """For each query of the second layer: the largest score of a place, by the tokens before it and at it."""
        along = (rows @ self._products[named.length - 1 - place]).reshape(len(rows), -1, self._count)
        found: Numbers = along[:, 0][:, None, may.at[place]] + sum(
            self._average(named, place, head, may).largest(
                along[:, 1 + head], may.before(place), may.at[place], may.others
            )
            for head in range(len(self._first[0]))
        )
        return found


@dataclass(frozen=True, eq=False)
class _MayHold:
    """The tokens that each place may hold in a kind of texts, and those that a place may whose token is not named."""

    at: tuple[np.ndarray, ...]
    others: np.ndarray

    def before(self, place: int) -> np.ndarray:
        """At the place before; before the first there is none, and the opening stands for it."""
        return self.at[max(place - 1, 0)]


@dataclass(frozen=True, eq=False)
class _Average:
    """(1 - r) K + r R at a place, by the token before it and the token at it: K's shares, and the ends of r."""

    before: Numbers
    own: Numbers
    shares: Mapping[int, Numbers]
    low: Numbers
    high: Numbers

    def largest(self, worth: Numbers, before: np.ndarray, here: np.ndarray, others: np.ndarray) -> Numbers:
        """Of the average of what tokens are worth (rows x tokens)."""
        known = self.before * worth[:, before, None] + self.own * worth[:, None, here]
        for token, share in self.shares.items():
            known = known + share * worth[:, token, None, None]
        gain = worth[:, others].max(axis=1)[:, None, None] - known
        found: Numbers = known + np.where(gain > 0, self.high, self.low) * gain
        return found


def _corners(at_end: list[_Average], named: Named, count: int, others: np.ndarray) -> tuple[Numbers, list[Numbers]]:
    """A middle query of the last place, as averages of tokens; and for each head the ways to its corners."""
    middle, ways = np.zeros((1 + len(at_end), count)), []
    middle[0, named.a] = 1.0
    for head, average in enumerate(at_end, start=1):
        known = np.zeros(count)
        known[named.c] += average.before[0, 0]
        known[named.a] += average.own[0, 0]
        for token, share in average.shares.items():
            known[token] += share[0, 0]
        low, high = float(average.low[0, 0]), float(average.high[0, 0])
        middle[head] = (1 - (low + high) / 2) * known
        middle[head, others] += (low + high) / 2 / len(others)
        rates = np.array([low, high] if high > 0 else [])
        way = np.zeros((len(rates), len(others), 1 + len(at_end), count))
        way[:, :, head] = (1 - rates)[:, None, None] * known - middle[head]
        way[:, np.arange(len(others)), head, others] += rates[:, None]
        ways.append(way.reshape(-1, middle.size))
    return middle.reshape(-1), ways


def _chain(named: Named, bounds: Mapping[int, Numbers], may: _MayHold) -> Floor:
    """The largest sum of exp of the bounds over all texts of the kind, place by place, and the text that has it."""
    top = max(float(each.max()) for each in bounds.values())
    sums, steps = _powers(bounds[0] - top).reshape(1), []
    for place in range(1, named.length):
        more = 0.0 if place == named.at else _powers(bounds[place] - top)
        table = sums[:, None] + more + np.zeros((1, len(may.at[place])))
        steps.append(table.argmax(axis=0))
        sums = table.max(axis=0)
    text, token = np.zeros(named.length, dtype=int), int(sums.argmax())
    for place in range(named.length - 1, -1, -1):
        text[place] = may.at[place][token]
        if place:
            token = int(steps[place - 1][token])
    # 1 / (1 + sum e^top): the sum is off by less than 2^-40 of itself and by what was below e^-700 of the largest.
    sum_above = float(sums.max()) * (1 + 2.0**-40) + 1e-290
    if top > EXP_RANGE:
        return Floor(0.0, text)
    whole = 1 + sum_above * float(exp_near(np.array([max(top, -EXP_RANGE)]))[0]) * (1 + 2.0**-40)
    return Floor((1 - 2.0**-40) / whole, text)


def _powers(below: Numbers) -> Numbers:
    """exp of numbers not above 0, or e^-700 where it is less."""
    found: Numbers = exp_near(np.maximum(below, -EXP_RANGE))
    return found


def _turned(x: Numbers, cos: Numbers, sin: Numbers) -> Numbers:
    first, second, rest = np.split(x, [len(cos), 2 * len(cos)], axis=-1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos, rest], axis=-1)


def _size(matrix: Numbers) -> float:
    return float(np.sqrt((matrix**2).sum())) * (1 + 1e-9)


def _longest(rows: Numbers) -> float:
    return float(np.sqrt((rows**2).sum(axis=1).max())) * (1 + 1e-9)


def two_layers(model: Model) -> TwoLayers:
    """The numbers of a model of two attention layers; others are refused."""
    if not isinstance(model, InductionModel):
        raise InputError(f"{model.name}: statements about two layers are for models of two attention layers and "
                         "nothing else, such as builtin:induction")  # fmt: skip
    tokens = np.concatenate([model.ordinary(), model.opening()])
    return TwoLayers(
        tokens, model.embed[tokens], model.query, model.key, model.value, model.output, np.array(FREQUENCIES)
    )


@dataclass(frozen=True, eq=False)
class Repeated:
    """A pair a b at one place of a text that ends in a: what a head of the second layer gives to b at least."""

    head: int
    place: int  # of b
    pair: tuple[int, int]  # ids
    least: Attained  # over every token before the last a, too; its text is run, and may have more
    before: int  # tokens c that were looked at before the last a
    kept: tuple[int, ...]  # those for which b keeps more than 1/2 in every text


def repeated_pair(
    model: Model,
    length: int,
    pair: tuple[int, int],
    *,
    heads: Sequence[int] | None = None,
    places: Sequence[int] | None = None,
    before: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[Repeated]:
    """For each head of the second layer and each place of b; `before` are the tokens c: all but a unless given."""
    layers = two_layers(model)
    count = {int(token): index for index, token in enumerate(layers.tokens[:-1])}
    for token in (*pair, *(before or ())):
        if token not in count:
            raise InputError(f"token {token} is not one that a text may hold")
    a, b = (count[token] for token in pair)
    if a == b:
        raise InputError("the pair repeats one token: expected two different ones")
    longest = model.longest or length
    if not SHORTEST - 1 <= length <= longest:
        raise InputError(f"texts of {length} tokens: expected {SHORTEST - 1} to {longest} for a pair that repeats")
    where = range(2, length - 1) if places is None else places
    if any(not 2 <= place <= length - 2 for place in where):
        raise InputError(f"places {list(where)} of the pair's second token: expected 2 to {length - 2}")
    asked = range(layers.query.shape[1]) if heads is None else heads
    if any(not 0 <= head < layers.query.shape[1] for head in asked):
        raise InputError(f"heads {list(asked)}: expected 0 to {layers.query.shape[1] - 1}")
    befores = [count[token] for token in before] if before is not None else [c for c in count.values() if c != a]
    if a in befores:
        raise InputError("the token before the last one is the repeated one: expected another")
    found, done, total = [], 0, len(asked) * len(where)
    for head in asked:
        bounds = Bounds(layers, head, length)
        for place in where:
            part = None if progress is None else (lambda here, n=done: progress((n + here) / total))
            found.append(_one(model, layers, bounds, head, Named(length, place, a, b, b), befores, part))
            done += 1
    return found


def _one(
    model: Model, layers: TwoLayers, bounds: Bounds, head: int, named: Named, befores: Sequence[int],
    progress: Progress | None,
) -> Repeated:  # fmt: skip
    choices = [named.b] if named.at == named.length - 2 else befores  # a b a: what is before the last a is b
    floors = []
    for c in choices:
        floors.append(bounds.floor(Named(named.length, named.at, named.a, named.b, c)))
        if progress is not None:
            progress(len(floors) / len(choices))
    worst = min(floors, key=lambda floor: floor.least)
    text = layers.tokens[worst.text]
    run = _run(model, head, text, named.at)
    not_beyond(run, worst.least, "least", f"head 1.{head}, place {named.at} of {named.length}")
    kept = tuple(int(layers.tokens[c]) for c, floor in zip(choices, floors, strict=True) if floor.least > HALF)
    pair = int(layers.tokens[named.a]), int(layers.tokens[named.b])
    return Repeated(head, named.at, pair, Attained(int(text[-1]), worst.least, text, run), len(choices), kept)


def _run(model: Model, head: int, text: Tokens, place: int) -> float:
    layer = list(model.run(text))[1]
    scores = layer.keys[head] @ layer.queries[head, -1] * layer.scoring.scale
    pattern = np.exp(scores - scores.max())
    return float(pattern[place] / pattern.sum())
