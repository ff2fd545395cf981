"""What least weights say of M = W_K^T W_Q: an inequality about a matrix G.

For multipliers lambda_c >= 0 of targets in rules, and any distributions pi, every M that gives
these their least weights p has <M, G> <= -right,

    G = sum_c lambda_c (sum_l pi^c_l x_l - x_a) x_i^T,
    right = sum_c lambda_c (H(pi^c) + ln p_c + sum_l pi^c_l bias_il - bias_ia),

by Gibbs' inequality as in `bound`, with <M, x_l x_i^T> + bias_il for the score. So by
Cauchy-Schwarz |M|_F |G|_F >= right, and |M|_* |G|_2 >= right for the sum |M|_* of the singular
values. If G is exactly 0 and right > 0, there is no such M at all. Where heads have biases b_Q and
b_V, all this holds for M = W_K^T (W_Q | b_Q), with (x_i, 1) for x_i.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.certificates.exact.heads.head_statement import HeadStatement
from headwright.certificates.exact.heads.matrices import (
    ZERO,
    Rows,
    dot,
    inner_products,
    spectral_norm_at_most,
    trace_of_product,
    weighted_sum,
)
from headwright.certificates.exact.heads.run import HeadRule, added_bias
from headwright.certificates.exact.numbers import ln_below


@dataclass(frozen=True)
class GramTerm:
    """What one rule adds to G = sum left x^T, and to the right side."""

    left: Sequence[Fraction]
    token: Sequence[Fraction]
    right: Fraction


@dataclass(frozen=True)
class GramInequality:
    """<M, G> <= -right, G known by the inner products of all `left`, and of all `token`."""

    lefts: Rows
    tokens: Rows
    right: Fraction

    def is_zero(self) -> bool:
        """G = 0."""
        return self.frobenius_squared() == 0

    def frobenius_squared(self) -> Fraction:
        """|G|_F^2."""
        return trace_of_product(self.lefts, self.tokens)

    def spectral_norm_at_most(self, most: Fraction) -> bool:
        """|G|_2 <= most."""
        return spectral_norm_at_most(self.lefts, self.tokens, most)


def gram_term(
    rule: HeadRule,
    statement: HeadStatement,
    distribution: Mapping[int, Fraction],
    multipliers: Mapping[int, Fraction],
) -> GramTerm:
    """The targets of one rule, with one distribution over what its token sees."""
    X = statement.sequences[rule.sequence]
    mass = sum(multipliers.values(), ZERO)
    # sum_a lambda_a (pi_l - [l = a]) for each token l
    weights = []
    for j in rule.seen:
        share = distribution.get(j, ZERO)
        weights.append(mass * share - multipliers.get(j, ZERO))
    left = weighted_sum(weights, [X[j] for j in rule.seen])
    # H(pi) = sum_l pi_l ln(1 / pi_l), each logarithm from below: right stays a lower bound.
    entropy_below = ZERO
    for share in distribution.values():
        if share:
            entropy_below += share * ln_below(1 / share)
    right = dot(weights, added_bias(rule, statement.bias_of(rule.head or 0)))
    for target, multiplier in multipliers.items():
        right += multiplier * (entropy_below + ln_below(rule.attend[target]))
    return GramTerm(left, statement.query_token(rule), right)


def gram_inequality(terms: Sequence[GramTerm]) -> GramInequality:
    """The sum of what rules add."""
    lefts = [term.left for term in terms]
    tokens = [term.token for term in terms]
    right = sum((term.right for term in terms), ZERO)
    return GramInequality(
        inner_products(lefts, lefts), inner_products(tokens, tokens), right
    )
