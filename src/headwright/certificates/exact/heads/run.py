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

from headwright.certificates.exact.heads.matrices import (
    ZERO,
    Rows,
    add_multiple,
    inner_products,
    length_above,
    trace_of_product,
    weighted_sum,
)
from headwright.certificates.exact.numbers import (
    IntegerBounds,
    exp_between,
    sqrt_above,
)
from headwright.certificates.exact.values import Vector

BITS = 512  # binary digits after the point, of exponentials
FINE = 256  # and of weights
PIECES = 32  # of the range of a scale
FAR = Fraction(1000)  # scores further apart count as so far apart, where that is safe


@dataclass(frozen=True)
class HeadRule:
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
class TokenRange:
    """What a token x may be: any c x + e with low <= c <= high and |e| <= ball."""

    ball: Fraction
    low: Fraction
    high: Fraction

    def rho(self, x: Sequence[Fraction]) -> Fraction:
        """At least |c x + e - x|."""
        return self.ball + max(1 - self.low, self.high - 1) * length_above(x)


CERTAIN = TokenRange(ZERO, Fraction(1), Fraction(1))


@dataclass(frozen=True)
class ExactHead:
    """Weights; b_Q, b_V and bias may be empty. A table of biases has a row for each place."""

    Q: Rows
    K: Rows
    V: Rows
    b_Q: Vector = ()  # noqa: N815  (their names in the mathematics)
    b_V: Vector = ()  # noqa: N815
    bias: Rows = ()


@dataclass(frozen=True)
class ScoreEnds:
    """The lowest and the highest score of each token that is seen."""

    lowest: list[Fraction]
    highest: list[Fraction]


@dataclass(frozen=True)
class ScoreTerms:
    """Of a token j that is seen: s_j, t_j and bias_ij."""

    token: int
    s: Fraction
    t: Fraction
    bias: Fraction


@dataclass(frozen=True)
class OutputError:
    """An output is off what is wanted by at most |vector| + rest."""

    vector: list[Fraction]
    rest: Fraction


class HeadRun:
    """A head applied to all tokens of some sequences, each of which may be in a range."""

    def __init__(
        self, sequences: Sequence[Rows], uncertainty: TokenRange, head: ExactHead
    ) -> None:
        """Queries (without b_Q), keys and values are computed once."""
        self.sequences = sequences
        self.uncertainty = uncertainty
        self.head = head
        self.queries = [inner_products(X, head.Q) for X in sequences]
        self.keys = [inner_products(X, head.K) for X in sequences]
        self.values = [inner_products(X, head.V) for X in sequences]

    def pattern_below(self, rule: HeadRule) -> list[Fraction]:
        """a_j <= alpha_j for each token seen: exp(low_j) / (exp(low_j) + sum_l exp(high_l)).

        The sum is over l != j, and the weights are in units of 2^-FINE, rounded down.
        """
        least = [1 << FINE] * len(rule.seen)
        for piece in self.pieces(rule):
            # sum_l exp(high_l - low_j) is convex on a piece, so largest at one of its ends.
            for ends in piece:
                top = max(ends.highest)
                exp_lowest = [_exp(score - top).low for score in ends.lowest]
                exp_highest = [_exp(score - top).high for score in ends.highest]
                total = sum(exp_highest)
                # a / (a + others) grows with a and falls with the others: each from its side.
                for at in range(len(rule.seen)):
                    own = exp_lowest[at]
                    weight = (own << FINE) // (total - exp_highest[at] + own)
                    least[at] = min(least[at], weight)
        return [Fraction(weight, 1 << FINE) for weight in least]

    def weight_above(self, rule: HeadRule, token: int) -> Fraction:
        """alpha_j <= 1 / (1 + sum_l exp(low_l - high_j)), the largest of these over all pieces."""
        at = rule.seen.index(token)
        unit = 1 << BITS  # 1, in units of 2^-BITS
        largest = ZERO
        for piece in self.pieces(rule):
            # On a piece exp(low_l - high_j) is not below the lower of its two ends.
            exp_at_ends = []
            for ends in piece:
                own = ends.highest[at]
                # exp of less than the difference is on the safe side.
                differences = [min(FAR, score - own) for score in ends.lowest]
                exp_at_ends.append([_exp(x).low for x in differences])
            exp_below = list(map(min, zip(*exp_at_ends, strict=True)))
            rivals = sum(exp_below) - exp_below[at]
            largest = max(largest, Fraction(unit, unit + rivals))
        return largest

    def pieces(self, rule: HeadRule) -> Iterator[list[ScoreEnds]]:
        """For each piece of the scale's range, at its ends: the lowest and the highest scores."""
        uncertainty = self.uncertainty
        query = self.queries[rule.sequence][rule.token]
        keys = [self.keys[rule.sequence][j] for j in rule.seen]
        bias = added_bias(rule, self.head.bias)
        s = inner_products([query], keys)[0]
        t = [ZERO] * len(keys)
        if self.head.b_Q:
            t = inner_products([self.head.b_Q], keys)[0]
        if uncertainty.ball or uncertainty.low == uncertainty.high:
            # One piece, with one end: nominal scores, and how far each may be from there.
            nominal = add_multiple(add_multiple(s, 1, t), 1, bias)
            offsets = self._offsets(rule, query, keys)
            lowest = add_multiple(nominal, -1, offsets)
            highest = add_multiple(nominal, 1, offsets)
            yield [ScoreEnds(lowest, highest)]
            return
        # No ball, and a range of scales.
        terms = []
        for at, j in enumerate(rule.seen):
            terms.append(ScoreTerms(j, s[at], t[at], bias[at]))
        count = PIECES if _bends_the_wrong_way(rule, terms) else 1
        width = (uncertainty.high - uncertainty.low) / count
        for number in range(count):
            left = uncertainty.low + number * width
            middle = left + width / 2
            at_left = self._score_ends(rule.token, terms, left, middle)
            at_right = self._score_ends(rule.token, terms, left + width, middle)
            yield [at_left, at_right]

    def _score_ends(
        self, token: int, terms: list[ScoreTerms], c: Fraction, middle: Fraction
    ) -> ScoreEnds:
        """For c_i = c on the piece with this middle; for the token itself, with the line."""
        lowest = []
        highest = []
        for term in terms:
            if term.token == token:
                # The tangent of c^2 in the middle of the piece: line <= c^2.
                line = 2 * middle * c - middle**2
                ends = [
                    term.s * line + c * term.t + term.bias,
                    term.s * c**2 + c * term.t + term.bias,
                ]
            else:
                # Linear in c_j, so lowest and highest at the ends of its range.
                factor = c * term.s + term.t
                ends = [
                    self.uncertainty.low * factor + term.bias,
                    self.uncertainty.high * factor + term.bias,
                ]
            lowest.append(min(ends))
            highest.append(max(ends))
        return ScoreEnds(lowest, highest)

    def _offsets(
        self, rule: HeadRule, query: Sequence[Fraction], keys: Rows
    ) -> list[Fraction]:
        """How far each score may be from its place, once one number is taken off all of them.

        rho_j |M x_i + beta| + rho_i |M^T (x_j - centre)| + rho_i rho_j |M|_F, each rounded up.
        """
        Q = self.head.Q
        K = self.head.K
        rho = [self.uncertainty.rho(x) for x in self.sequences[rule.sequence]]
        own_rho = rho[rule.token]
        # M x_i + beta = K^T (Q x_i + b_Q)
        full_query = query
        if self.head.b_Q:
            full_query = add_multiple(query, 1, self.head.b_Q)
        query_length = length_above(weighted_sum(full_query, K))
        # |M|_F^2 = sum_ab (K K^T)_ab (Q Q^T)_ab for M = K^T Q
        size = sqrt_above(trace_of_product(inner_products(K, K), inner_products(Q, Q)))
        # Any centre will do, since it is taken off all scores alike: here the mean of the keys.
        centre = weighted_sum([Fraction(1, len(keys))] * len(keys), keys)
        offsets = []
        for j, key in zip(rule.seen, keys, strict=True):
            # M^T (x_j - centre) = Q^T (K x_j - K centre)
            key_length = length_above(weighted_sum(add_multiple(key, -1, centre), Q))
            # By Cauchy-Schwarz: x_j moves, x_i moves, and both do.
            of_key = rho[j] * query_length
            of_query = own_rho * key_length
            of_both = own_rho * rho[j] * size
            offsets.append(of_key + of_query + of_both)
        return offsets

    def output_error(self, rule: HeadRule, wanted: Vector) -> OutputError:
        """How far the output may be from what is wanted."""
        V = self.head.V
        weights_below = self.pattern_below(rule)
        values = [self.values[rule.sequence][j] for j in rule.seen]
        # b_V is in every value, so it is taken off what is wanted instead.
        without_bias: Sequence[Fraction] = wanted
        if self.head.b_V:
            without_bias = add_multiple(wanted, -1, self.head.b_V)
        u = [add_multiple(value, -1, without_bias) for value in values]
        # Moved tokens change values: |W_V e| <= |W_V|_F |e| (Cauchy-Schwarz), ...
        moved = self.uncertainty.ball * sqrt_above(trace_of_product(V, V))
        # ... and |(c - 1) W_V x| is at most max(1 - low, high - 1) |W_V x|, which is rho less the ball.
        moved += max(map(self.uncertainty.rho, values)) - self.uncertainty.ball
        # What the lower bounds leave of the pattern is at the value that is furthest off.
        open_weight = 1 - sum(weights_below, ZERO)
        furthest = max(map(length_above, u))
        vector = weighted_sum(weights_below, u)
        return OutputError(vector, open_weight * furthest + moved)


def _bends_the_wrong_way(rule: HeadRule, terms: list[ScoreTerms]) -> bool:
    """c^2 s_i is convex where a concave score is needed, or the other way round.

    Then the range is cut into pieces, so that lines are near to it. It is so if the token itself
    is a target and s_i > 0, or another is and s_i < 0; and with upper bounds or outputs, where
    both sides are needed. More pieces than needed are never wrong.
    """
    own = ZERO
    for term in terms:
        if term.token == rule.token:
            own = term.s
    if rule.at_most or (own and rule.output):
        return True
    for target in rule.attend:
        if (target == rule.token and own > 0) or (target != rule.token and own < 0):
            return True
    return False


def added_bias(rule: HeadRule, bias: Rows) -> Vector:
    """What a table of biases adds to the scores of the tokens that are seen."""
    if not bias:
        return (ZERO,) * len(rule.seen)
    return tuple(bias[rule.token][j] for j in rule.seen)


def error_above(rule: HeadRule, runs: Sequence[HeadRun]) -> Fraction:
    """At least the distance of the heads' summed outputs from what is wanted."""
    # Each head is held against an equal share: any shares that add up to the output would do.
    share = tuple(x / len(runs) for x in rule.output)
    total = [ZERO] * len(rule.output)
    rest = ZERO
    for run in runs:
        error = run.output_error(rule, share)
        total = add_multiple(total, 1, error.vector)
        rest += error.rest
    return length_above(total) + rest


def _exp(x: Fraction) -> IntegerBounds:
    """low <= 2^BITS exp(x) <= high."""
    return exp_between(x.numerator, x.denominator, BITS)
