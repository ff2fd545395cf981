"""What a head is of the vector that a norm returns: the A, c', S, T and E of the theorem, in ball arithmetic.

A norm returns u with |u| <= R = sqrt(D), and a projection makes y = A u + c' of it. Every rounding of our own is inside
the radius of a ball. Vectors here have one number for each channel i.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Array, Balls
from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.checker.enclosed import (
    ONE,
    above,
    constant,
    exact_sizes,
    exactly,
    inner_products,
    lengths_of,
    root_of,
    sizes_of,
)
from headwright.value_ranges.layer import NormWeights

# A gain that is held less 1, or has a factor, was rounded when that was made good.
GAIN_ERROR = 2.0**-53


@dataclass(frozen=True, eq=False)
class MappedBall:
    """A u + c' with |u| <= R, as the model computes it."""

    matrix: Balls  # A, one row a channel
    centre: Balls  # c'
    radius: Balls  # R
    errors: Array  # E: no channel is off by more
    sums: Array  # no partial sum of a channel is larger

    def is_finite(self, allow: Allowances) -> bool:
        """Whether no number on the way to a channel exceeds the largest finite one."""
        return bool(np.all(self.sums <= allow.largest))


def gain_of(norm: NormWeights) -> Balls:
    """The gain g of a norm."""
    return Balls(norm.gain, GAIN_ERROR * np.abs(norm.gain))


def less_mean(norm: NormWeights, matrix: Balls) -> Balls:
    """After LayerNorm, u is orthogonal to the ones: any number may be taken from a row of A."""
    if norm.kind != "layer":
        return matrix
    row_means = matrix.mid.mean(axis=1, keepdims=True)
    return matrix - Balls.of(row_means)


def project(
    norm: NormWeights, weight: Array, bias: Array | None, allow: Allowances
) -> MappedBall:
    """A projection W x + c of what a norm returns, x = g u + beta."""
    width = norm.width
    radius = root_of(width)
    delta = constant(allow.norm_error(norm.kind, width))
    rho = constant(allow.gain_error)
    pi = constant(allow.product_error(width))
    exact_weight = Balls.of(weight)
    weight_sizes = exact_sizes(weight)
    nothing = Balls.of(np.zeros(len(weight)))

    # a_ij = w_ij g_j
    matrix = exact_weight * gain_of(norm)
    row_lengths = lengths_of(matrix)

    # c'_i = c_i + sum_j w_ij beta_j
    centre = nothing
    beta_sizes = nothing  # sum_j |w_ij beta_j|
    if norm.bias is not None:
        beta = Balls.of(norm.bias)
        centre = inner_products(exact_weight, beta)
        beta_sizes = inner_products(weight_sizes, sizes_of(beta))
    bias_sizes = nothing  # |c_i|
    if bias is not None:
        centre = centre + Balls.of(bias)
        bias_sizes = exact_sizes(bias)

    # S_i = |a_i| (1 + delta) R + sum_j |w_ij beta_j|: the sum of the sizes of all terms, by Cauchy and Schwarz
    term_sizes = row_lengths * (ONE + delta) * radius + beta_sizes

    # T_i = sum_j |w_ij| t_j: what underflow adds to the numbers that are read
    lost = constant(2 * allow.tiny)
    underflow = (ONE + exact_sizes(norm.gain)) * lost
    read_underflow = inner_products(weight_sizes, underflow)

    # (1 + rho) S_i + T_i: the sum of the sizes of the terms as they are computed
    computed_sizes = (ONE + rho) * term_sizes + read_underflow

    # E_i = delta R |a_i| + rho S_i + T_i + pi ((1 + rho) S_i + T_i + |c_i|) + t
    of_norm = delta * radius * row_lengths
    of_gain = rho * term_sizes + read_underflow
    of_product = pi * (computed_sizes + bias_sizes)
    underflow_of_product = constant(allow.product_underflow(width))
    errors = of_norm + of_gain + of_product + underflow_of_product

    sums = (computed_sizes + bias_sizes) * (ONE + pi)
    matrix = less_mean(norm, matrix)
    return MappedBall(matrix, centre, radius, errors.upper(), sums.upper())


def project_again(
    inner: MappedBall, weight: Array, bias: Array | None, allow: Allowances
) -> MappedBall:
    """A projection W y + b of what a linear map has made, y = A u + c."""
    width = weight.shape[1]
    pi = constant(allow.product_error(width))
    exact_weight = Balls.of(weight)
    weight_sizes = exact_sizes(weight)

    # W A u + (W c + b) is affine in u, too.
    matrix = exact_weight.products(inner.matrix.transposed)
    centre = inner_products(exact_weight, inner.centre)
    bias_sizes = Balls.of(np.zeros(len(weight)))
    if bias is not None:
        centre = centre + Balls.of(bias)
        bias_sizes = exact_sizes(bias)

    # The errors of y pass through |W|, and the product adds pi times the sizes of its terms.
    inner_sums = Balls.of(inner.sums)
    inner_errors = Balls.of(inner.errors)
    computed_sizes = inner_products(weight_sizes, inner_sums) + bias_sizes
    passed_on = inner_products(weight_sizes, inner_errors)
    of_product = pi * computed_sizes
    underflow_of_product = constant(allow.product_underflow(width))
    errors = passed_on + of_product + underflow_of_product

    sums = computed_sizes * (ONE + pi)
    return MappedBall(matrix, centre, inner.radius, errors.upper(), sums.upper())


def multiply(ball: MappedBall, factor: float, allow: Allowances) -> MappedBall:
    """A projection times a number of the configuration."""
    exact_factor = exactly(factor)
    size = exactly(abs(factor))
    once_more = constant(allow.factor_error)
    underflow = constant(2 * allow.tiny)

    # Errors are multiplied, and the product is rounded once more.
    sums = Balls.of(ball.sums)
    errors = size * Balls.of(ball.errors)
    errors = errors + once_more * size * sums + underflow

    # No number on the way is larger than a partial sum before the product, or the product.
    growth = exactly(max(1.0, abs(factor)))
    all_sums = sums * growth * (ONE + once_more) + underflow
    return MappedBall(
        ball.matrix * exact_factor,
        ball.centre * exact_factor,
        ball.radius,
        errors.upper(),
        all_sums.upper(),
    )


def norm_again(norm: NormWeights, allow: Allowances) -> MappedBall:
    """What a norm of queries or keys returns, whatever it reads: g u + beta, the identity in place of W.

    Where it norms all heads together, u is a part of a vector with |u| <= sqrt(D), and not longer than that.
    """
    width = norm.width
    channels = len(norm.gain)
    radius = root_of(width)
    delta = constant(allow.norm_error(norm.kind, width))
    rho = constant(allow.gain_error)
    gain = gain_of(norm)
    gain_sizes = sizes_of(gain)
    beta = np.zeros(channels) if norm.bias is None else norm.bias

    # A has the gains on its diagonal, and nothing else.
    matrix = Balls(np.diag(gain.mid), np.diag(gain.rad))

    # S_i = |g_i| (1 + delta) R + |beta_i|
    term_sizes = gain_sizes * (ONE + delta) * radius + exact_sizes(beta)

    # E_i = delta R |g_i| + rho S_i + t_i
    underflow = (ONE + gain_sizes) * constant(2 * allow.tiny)
    errors = delta * radius * gain_sizes + rho * term_sizes + underflow

    sums = term_sizes * (ONE + rho) + underflow
    matrix = less_mean(norm, matrix)
    return MappedBall(matrix, Balls.of(beta), radius, errors.upper(), sums.upper())


def largest_input(norm: NormWeights, allow: Allowances, factor: float = 1.0) -> float:
    """The largest number that a norm returns, before or after its gain.

    The gain has a factor in it; before that is multiplied, a number may be larger.
    """
    delta = constant(allow.norm_error(norm.kind, norm.width))
    rho = constant(allow.gain_error)

    # |u_j| <= (1 + delta) R
    normed = root_of(norm.width) * (ONE + delta)
    before_gain = normed * (ONE + constant(allow.unit_roundoff))

    # |g_j u_j + beta_j| (1 + rho)
    gain_sizes = Balls.of(np.abs(norm.gain) * (1 + 2.0**-50))
    beta = np.zeros(len(norm.gain)) if norm.bias is None else norm.bias
    numbers = gain_sizes * normed + exact_sizes(beta)
    after_gain = numbers * (ONE + rho)

    divided = 1 / abs(Fraction(factor))
    after_gain = after_gain * constant(max(Fraction(1), divided))
    largest_after = float(after_gain.upper().max())
    return max(largest_after, above(before_gain))
