"""A head run on tokens that may be elsewhere: bounds of its weights and of its outputs, in exact numbers.

Token x_i gives token x_j the score <W_K x_j, W_Q x_i + b_Q> + bias_ij, and has the value W_V x_i + b_V. (A bias of keys
would add the same to all scores of a query, and change nothing.) With M = W_K^T W_Q and beta = W_K^T b_Q this is
x_j^T (M x_i + beta) + bias_ij. A token may be any c x + e with c between low and high, which hold 1, and |e| <= ball.

No ball: scores are c_j (c_i s_j + t_j) + bias_ij, and for the token itself c_i^2 s_i + c_i t_i + bias_ii. Fix c = c_i.
The worst c_j is an end, since a score is linear in it; the highest score of each rival is then convex in c, and the
lowest of the target concave, but for c^2 s_i. On a piece of the range c^2 >= 2 m c - m^2 with the piece's middle m, and
that line takes its place where it bends the wrong way. Each exp(rival - target) is then convex in c, and so is their
sum: it is largest at an end of a piece. This is exact, but for |s_i| w^2 / 4 in one exponent where the line is used, w
the width of a piece. For upper bounds of weights exp(other - target) is not below the lower of its two ends.

With a ball a token is within some rho of x, and a score, less one number for all j, is off by at most
rho_j |M x_i + beta| + rho_i |M^T (x_j - centre)| + rho_i rho_j |M|_F. From lower bounds a_j of a pattern alpha,

    |sum_j alpha_j u_j| <= |sum_j a_j u_j| + (1 - sum_j a_j) max_j |u_j|,

which says how far an output is from what is wanted: u_j is the value less what is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from headwright.trusted.certificate import Vector
from headwright.trusted.heads.matrices import NONE, Rows, dot, length, product, turned
from headwright.trusted.numbers import exp_between, sqrt_above

FINE = 2**256  # weights are rounded down to so many parts
PIECES = 32  # of the range of a scale
FAR = Fraction(1000)  # scores further apart count as so far apart, where that is safe


@dataclass(frozen=True)
class Rule:
    """What one token does: weights of at least and at most so much, and an output (unless it is empty)."""

    sequence: int
    token: int
    head: int | None  # None: the sum of all heads
    attend: dict[int, Fraction]
    at_most: dict[int, Fraction]
    output: Vector
    tolerance: Fraction
    seen: tuple[int, ...]  # the tokens of its sequence that it sees

    def __str__(self) -> str:
        where = "the sum of all heads" if self.head is None else f"head {self.head}"
        return f"token {self.token} of sequence {self.sequence} in {where}"


@dataclass(frozen=True)
class World:
    """Any c x + e with low <= c <= high and |e| <= ball."""

    ball: Fraction
    low: Fraction
    high: Fraction

    @property
    def stretch(self) -> Fraction:
        """How much of its length a token may gain or lose."""
        return max(1 - self.low, self.high - 1)


CERTAIN = World(NONE, Fraction(1), Fraction(1))


@dataclass(frozen=True)
class Head:
    """Its weights; b_Q and b_V are empty, or as long as W_Q and W_V have rows; bias is empty, or has a row a place."""

    Q: Rows
    K: Rows
    V: Rows
    b_Q: Vector = ()  # noqa: N815  (their names in the mathematics)
    b_V: Vector = ()  # noqa: N815
    bias: Rows = ()


class Run:
    """A head applied to all tokens of some sequences in a world."""

    def __init__(self, sequences: Sequence[Rows], world: World, head: Head) -> None:
        """Queries (without b_Q), keys and values are computed once."""
        self.sequences, self.world, self.head = sequences, world, head
        self.queries, self.keys, self.values = ([product(X, W) for X in sequences] for W in (head.Q, head.K, head.V))

    def pattern_below(self, rule: Rule) -> list[Fraction]:
        """A lower bound of the weight of each token seen: its own score at the lowest, all others at the highest."""
        found = [Fraction(1)] * len(rule.seen)
        for low, high in (end for piece in self._pieces(rule) for end in piece):
            top = max(high)
            least = [_exp(x - top)[0] for x in low]
            most = [_exp(x - top)[1] for x in high]
            total = sum(most, NONE)
            exact = (a / (total - b + a) for a, b in zip(least, most, strict=True))
            found = [min(x, Fraction(int(FINE * a), FINE)) for x, a in zip(found, exact, strict=True)]
        return found

    def weight_above(self, rule: Rule, token: int) -> Fraction:
        """An upper bound of the weight of one token: its own score at the highest, others at the lowest."""
        at, found = rule.seen.index(token), NONE
        for ends in self._pieces(rule):
            others = zip(*([_exp(min(FAR, x - high[at]))[0] for x in low] for low, high in ends), strict=True)
            found = max(found, 1 / (1 + sum((min(pair) for j, pair in enumerate(others) if j != at), NONE)))
        return found

    def _pieces(self, rule: Rule) -> Iterator[list[tuple[list[Fraction], list[Fraction]]]]:
        """For each piece of the scale's range, at both of its ends: all scores at their lowest and at their highest."""
        query = self.queries[rule.sequence][rule.token]
        keys, bias = [self.keys[rule.sequence][j] for j in rule.seen], added_to(rule, self.head.bias)
        scores = product([query], keys)[0]
        added = product([self.head.b_Q], keys)[0] if self.head.b_Q else [NONE] * len(keys)
        if self.world.ball or self.world.low == self.world.high:
            off = self._off(rule, [x + y for x, y in zip_longest(query, self.head.b_Q, fillvalue=NONE)], keys)
            every = list(zip(scores, added, bias, off, strict=True))
            yield [([s + t + b - o for s, t, b, o in every], [s + t + b + o for s, t, b, o in every])]
            return
        own = dict(zip(rule.seen, scores, strict=True)).get(rule.token, NONE)
        bends = {a for a in rule.attend if (own > 0 if a == rule.token else own < 0)}  # the line is in their way
        parts = PIECES if rule.at_most or bends or (own and rule.output) else 1  # any number of pieces is safe
        step = (self.world.high - self.world.low) / parts
        for u in (self.world.low + k * step for k in range(parts)):
            yield [self._ends(rule, zip(scores, added, bias, strict=True), c, u + step / 2) for c in (u, u + step)]

    def _ends(
        self, rule: Rule, parts: Iterable[tuple[Fraction, ...]], c: Fraction, middle: Fraction
    ) -> tuple[list[Fraction], list[Fraction]]:
        line = 2 * middle * c - middle**2  # <= c^2
        low, high = [], []
        for j, (s, t, b) in zip(rule.seen, parts, strict=True):
            own, ends = (s * line + c * t, s * c**2 + c * t), (self.world.low, self.world.high)
            pair = own if j == rule.token else [end * (c * s + t) for end in ends]
            low.append(min(pair) + b)
            high.append(max(pair) + b)
        return low, high

    def _off(self, rule: Rule, query: Sequence[Fraction], keys: Rows) -> list[Fraction]:
        """How far each score may be from its place, once the same number is taken off all of them."""
        if not self.world.ball:
            return [NONE] * len(keys)
        rooms = [self.world.ball + self.world.stretch * length(x) for x in self.sequences[rule.sequence]]
        centre = [sum(column, NONE) / len(keys) for column in zip(*keys, strict=True)]
        along = length(product([query], turned(self.head.K))[0])  # |M x_i + beta|
        Q, K = self.head.Q, self.head.K
        size = sqrt_above(sum(map(dot, product(K, K), product(Q, Q)), NONE))  # |M|_F
        apart = [[x - y for x, y in zip(key, centre, strict=True)] for key in keys]
        back, own = map(length, product(apart, turned(Q))), rooms[rule.token]
        return [rooms[j] * along + own * b + own * rooms[j] * size for j, b in zip(rule.seen, back, strict=True)]

    def missed(self, rule: Rule, below: list[Fraction], wanted: Vector) -> tuple[list[Fraction], Fraction]:
        """The output's distance from a wanted one is at most the length of the first, plus the second."""
        values, V = [self.values[rule.sequence][j] for j in rule.seen], self.head.V
        wanted = tuple(w - b for w, b in zip_longest(wanted, self.head.b_V, fillvalue=NONE))
        u = [[v - w for v, w in zip(value, wanted, strict=True)] for value in values]
        moved = self.world.stretch * max(map(length, values))
        moved += self.world.ball * sqrt_above(sum(map(dot, V, V), NONE))  # |W_V e| <= |W_V|_F |e|
        return product([below], turned(u))[0], (1 - sum(below, NONE)) * max(map(length, u)) + moved


def added_to(rule: Rule, bias: Rows) -> list[Fraction]:
    """What a table of biases adds to the scores of the tokens that are seen."""
    return [bias[rule.token][j] if bias else NONE for j in rule.seen]


def error_above(rule: Rule, runs: Sequence[Run]) -> Fraction:
    """How far the output, or the sum of the outputs of several heads, is from what is wanted, at most."""
    share = tuple(x / len(runs) for x in rule.output)
    parts = [run.missed(rule, run.pattern_below(rule), share) for run in runs]
    return length([sum(column, NONE) for column in zip(*(mixed for mixed, _ in parts), strict=True)]) + sum(
        (rest for _, rest in parts), NONE
    )


def _exp(x: Fraction) -> tuple[Fraction, Fraction]:
    low, high = exp_between(x.numerator, x.denominator)
    return Fraction(low), Fraction(high)
