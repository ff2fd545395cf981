"""A head run on tokens that may be elsewhere: bounds of its weights and of its outputs.

Token x_i gives token x_j the score <W_K x_j, W_Q x_i + b_Q> + bias_ij, and has the value
W_V x_i + b_V. (A bias of keys would add the same to all scores of a query, and change nothing.)
With M = W_K^T W_Q and beta = W_K^T b_Q the score is x_j^T (M x_i + beta) + bias_ij, and
s_j = x_j^T M x_i, t_j = x_j^T beta. A token may be any c x + e with low <= c <= high, where
low <= 1 <= high, and |e| <= ball.

No ball: scores are c_j (c_i s_j + t_j) + bias_ij, and for the token itself
c_i^2 s_i + c_i t_i + bias_ii. Fix c = c_i. The worst c_j is an end, since a score is linear in it.
The highest score of each rival is then convex in c, and the lowest of the target concave, but for
c^2 s_i. On a piece of the range with the middle m, c^2 >= 2 m c - m^2; that line takes its place
where it bends the wrong way. Each exp(rival - target) is then convex in c, and so is their sum: it
is largest at an end of a piece. This is exact, but for |s_i| w^2 / 4 in one exponent where the line
is used, w the width of a piece. For upper bounds of weights, each score that is compared is linear
or bent to the safe side: exp(other - target) is not below the lower of its two ends.

With a ball a token is within some rho of x, and a score, less one number for all j, is off by at
most rho_j |M x_i + beta| + rho_i |M^T (x_j - centre)| + rho_i rho_j |M|_F.

From lower bounds a_j of a pattern alpha: |sum_j alpha_j u_j| <= |sum_j a_j u_j| + (1 - sum_j a_j)
max_j |u_j|, which says how far an output is from what is wanted: u_j is the value less that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.trusted.certificate import Vector
from headwright.trusted.heads.matrices import NONE, Rows, dot, length, mix, plus, product
from headwright.trusted.numbers import exp_between, sqrt_above

BITS, FINE = 512, 256  # binary digits after the point, of exponentials and of weights
PIECES = 32  # of the range of a scale
FAR = Fraction(1000)  # scores further apart count as so far apart, where that is safe
Ends = tuple[list[Fraction], list[Fraction]]  # the lowest and the highest score of each token
Parts = tuple[int, Fraction, Fraction, Fraction]  # a token j with s_j, t_j and bias_ij


@dataclass(frozen=True)
class Rule:
    """What one token does: weights of at least and at most so much, and an output unless empty."""

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

    def rho(self, x: Sequence[Fraction]) -> Fraction:
        """At least |c x + e - x|."""
        return self.ball + max(1 - self.low, self.high - 1) * length(x)


CERTAIN = World(NONE, Fraction(1), Fraction(1))


@dataclass(frozen=True)
class Head:
    """Weights; b_Q, b_V and bias may be empty. A table of biases has a row for each place."""

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
        everything = ([product(X, W) for X in sequences] for W in (head.Q, head.K, head.V))
        self.queries, self.keys, self.values = everything

    def pattern_below(self, rule: Rule) -> list[Fraction]:
        """a_j <= alpha_j for each token seen: exp(low_j) / (exp(low_j) + sum_l exp(high_l))."""
        found = [Fraction(1)] * len(rule.seen)
        for low, high in (end for piece in self.pieces(rule) for end in piece):
            top = max(high)
            least, most = [_exp(x - top)[0] for x in low], [_exp(x - top)[1] for x in high]
            total = sum(most)
            weights = ((a << FINE) // (total - b + a) for a, b in zip(least, most, strict=True))
            found = [min(x, Fraction(a, 1 << FINE)) for x, a in zip(found, weights, strict=True)]
        return found

    def weight_above(self, rule: Rule, token: int) -> Fraction:
        """alpha_j <= 1 / (1 + sum_l exp(low_l - high_j)), the largest of these over all pieces."""
        at, found, one = rule.seen.index(token), NONE, 1 << BITS
        for piece in self.pieces(rule):
            ends = ([_exp(min(FAR, x - high[at]))[0] for x in low] for low, high in piece)
            others = list(map(min, zip(*ends, strict=True)))
            found = max(found, Fraction(one, one + sum(others) - others[at]))
        return found

    def pieces(self, rule: Rule) -> Iterator[list[Ends]]:
        """For each piece of the scale's range, at its ends: the lowest and the highest scores."""
        query, world = self.queries[rule.sequence][rule.token], self.world
        keys, bias = [self.keys[rule.sequence][j] for j in rule.seen], added(rule, self.head.bias)
        s = product([query], keys)[0]
        t = product([self.head.b_Q], keys)[0] if self.head.b_Q else [NONE] * len(keys)
        if world.ball or world.low == world.high:
            place, off = plus(plus(s, 1, t), 1, bias), self.off(rule, query, keys)
            yield [(plus(place, -1, off), plus(place, 1, off))]
            return
        own = dict(zip(rule.seen, s, strict=True)).get(rule.token, NONE)
        bends = any(own > 0 if a == rule.token else own < 0 for a in rule.attend)
        count = PIECES if rule.at_most or bends or (own and rule.output) else 1  # any is safe
        step = (world.high - world.low) / count
        parts = list(zip(rule.seen, s, t, bias, strict=True))
        for u in (world.low + k * step for k in range(count)):
            yield [self.ends(rule.token, parts, c, u + step / 2) for c in (u, u + step)]

    def ends(self, token: int, parts: list[Parts], c: Fraction, middle: Fraction) -> Ends:
        """The lowest and the highest scores for c_i = c; of the token itself, with the line."""
        line, scores = 2 * middle * c - middle**2, []
        for j, s, t, bias in parts:
            own = [s * square + c * t for square in (line, c**2)]  # line <= c^2
            others = [end * (c * s + t) for end in (self.world.low, self.world.high)]
            scores.append(sorted(x + bias for x in (own if j == token else others)))
        return [low for low, _ in scores], [high for _, high in scores]

    def off(self, rule: Rule, query: Sequence[Fraction], keys: Rows) -> list[Fraction]:
        """How far each score may be from its place, once one number is taken off all of them."""
        Q, K, rho = self.head.Q, self.head.K, [*map(self.world.rho, self.sequences[rule.sequence])]
        asked = plus(query, 1, self.head.b_Q) if self.head.b_Q else query
        along, own = length(mix(asked, K)), rho[rule.token]  # |M x_i + beta|
        size = sqrt_above(sum(map(dot, product(K, K), product(Q, Q)), NONE))  # |M|_F
        centre = mix([Fraction(1, len(keys))] * len(keys), keys)
        back = [length(mix(plus(key, -1, centre), Q)) for key in keys]  # |M^T (x_j - centre)|
        each = zip(rule.seen, back, strict=True)
        return [rho[j] * along + own * b + own * rho[j] * size for j, b in each]

    def missed(self, rule: Rule, wanted: Vector) -> tuple[list[Fraction], Fraction]:
        """The output is off what is wanted by at most the length of the first, plus the second."""
        below, V = self.pattern_below(rule), self.head.V
        values = [self.values[rule.sequence][j] for j in rule.seen]
        by_value = plus(wanted, -1, self.head.b_V) if self.head.b_V else wanted
        u = [plus(value, -1, by_value) for value in values]
        moved = self.world.ball * sqrt_above(sum(map(dot, V, V), NONE))  # |W_V e| <= |W_V|_F |e|
        moved += max(map(self.world.rho, values)) - self.world.ball  # |(c - 1) W_V x|
        return mix(below, u), (1 - sum(below, NONE)) * max(map(length, u)) + moved


def added(rule: Rule, bias: Rows) -> Vector:
    """What a table of biases adds to the scores of the tokens that are seen."""
    return tuple(bias[rule.token][j] if bias else NONE for j in rule.seen)


def error_above(rule: Rule, runs: Sequence[Run]) -> Fraction:
    """At least the distance of the heads' summed outputs from what is wanted."""
    share = tuple(x / len(runs) for x in rule.output)
    parts = [run.missed(rule, share) for run in runs]
    total = [sum(column, NONE) for column in zip(*(u for u, _ in parts), strict=True)]
    return length(total) + sum((rest for _, rest in parts), NONE)


def _exp(x: Fraction) -> tuple[int, int]:
    """low <= 2^BITS exp(x) <= high."""
    return exp_between(x.numerator, x.denominator, BITS)
