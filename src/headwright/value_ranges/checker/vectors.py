"""The numbers of a head in ball arithmetic: every rounding of our own is inside a radius.

The length of A u + c over |u| <= R is bounded as in the theorem, by the largest eigenvalue of the Gram matrix G of
[A, c / s]. It is found by another way than the prover's: V holds eigenvectors of G as NumPy guesses them, and

    x^T G x = z^T (V^T G V) z <= max_i sum_j |(V^T G V)_ij| |z|^2,   z = V^-1 x,   |z|^2 <= |x|^2 / (1 - e),

by Gershgorin's theorem, with e the largest row sum of |V^T V - I|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Array, Balls, concatenate
from headwright.numerics.enclosure import float_above
from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.layer import HeadWeights, NormWeights, RotaryPairs

GAIN_ERROR = 2.0**-53  # a gain that is held less 1 was rounded when 1 was added
SEARCH_STEPS = 80
SMALL, LARGE = -46.0, 46.0  # logarithms of shifts, relative to R


@dataclass(frozen=True, eq=False)
class MappedBall:
    """A u + c with |u| <= radius, and upper bounds on the rounding errors and on the partial sums of each channel."""

    matrix: Balls
    centre: Balls
    radius: Balls
    errors: Array
    sums: Array


@dataclass(frozen=True, eq=False)
class HeadBounds:
    """Upper bounds on the channels, the length and the pairs of a head's vectors."""

    channels: Array
    length: float
    pairs: Array


def constant(number: Fraction) -> Balls:
    """A ball around a fraction."""
    nearest = float(number)
    return Balls(np.array(nearest), np.array(abs(nearest) * 2.0**-52 + 2.0**-1000))


def project(
    norm: NormWeights, weight: Array, bias: Array | None, allow: Allowances
) -> MappedBall:
    """A projection of what a norm returns: the theorem's A, c', S, T and E."""
    width = norm.width
    gain = Balls(norm.gain, GAIN_ERROR * np.abs(norm.gain))
    matrix = Balls.of(weight) * gain
    lengths = (matrix * matrix).sum().sqrt()
    size = Balls.of(np.abs(weight))
    nothing = Balls.of(np.zeros(len(weight)))
    centre = nothing
    norm_bias_size = nothing
    if norm.bias is not None:
        centre = (Balls.of(weight) * Balls.of(norm.bias)).sum()
        norm_bias_size = (size * Balls.of(np.abs(norm.bias))).sum()
    bias_size = nothing
    if bias is not None:
        centre = centre + Balls.of(bias)
        bias_size = Balls.of(np.abs(bias))
    radius = Balls.of(np.array(float(width))).sqrt()
    one = Balls.of(np.array(1.0))
    delta = constant(allow.delta(norm.kind, width))
    rho = constant(allow.rho)
    pi = constant(allow.pi(width))
    underflow = (one + Balls.of(np.abs(norm.gain))) * constant(2 * allow.tiny)
    lost_inputs = (size * underflow).sum()
    inputs = lengths * (one + delta) * radius + norm_bias_size
    read = (one + rho) * inputs + lost_inputs
    errors = delta * radius * lengths + rho * inputs + lost_inputs
    errors = errors + pi * (read + bias_size) + constant(allow.lost(width))
    sums = (read + bias_size) * (one + pi)
    if norm.kind == "layer":
        matrix = matrix - Balls.of(matrix.mid.mean(axis=1, keepdims=True))
    return MappedBall(matrix, centre, radius, errors.upper(), sums.upper())


def project_again(
    inner: MappedBall, weight: Array, bias: Array | None, allow: Allowances
) -> MappedBall:
    """A projection of what a linear map has made."""
    width = weight.shape[1]
    exact = Balls.of(weight)
    size = Balls.of(np.abs(weight))
    matrix = exact.products(inner.matrix.transposed)
    centre = (exact * inner.centre).sum()
    bias_size = Balls.of(np.zeros(len(weight)))
    if bias is not None:
        centre = centre + Balls.of(bias)
        bias_size = Balls.of(np.abs(bias))
    one = Balls.of(np.array(1.0))
    pi = constant(allow.pi(width))
    read = (size * Balls.of(inner.sums)).sum() + bias_size
    errors = (size * Balls.of(inner.errors)).sum() + pi * read
    errors = errors + constant(allow.lost(width))
    sums = read * (one + pi)
    return MappedBall(matrix, centre, inner.radius, errors.upper(), sums.upper())


def norm_again(norm: NormWeights, allow: Allowances) -> MappedBall:
    """What a norm of queries or keys returns, whatever it reads."""
    width = norm.width
    gain = Balls(norm.gain, GAIN_ERROR * np.abs(norm.gain))
    diagonal = Balls(np.diag(gain.mid), np.diag(gain.rad))
    size = Balls(np.abs(gain.mid), gain.rad)
    bias = np.zeros(width) if norm.bias is None else norm.bias
    radius = Balls.of(np.array(float(width))).sqrt()
    one = Balls.of(np.array(1.0))
    delta = constant(allow.delta(norm.kind, width))
    rho = constant(allow.rho)
    inputs = size * (one + delta) * radius + Balls.of(np.abs(bias))
    underflow = (one + size) * constant(2 * allow.tiny)
    errors = delta * radius * size + rho * inputs + underflow
    sums = inputs * (one + rho) + underflow
    if norm.kind == "layer":
        diagonal = diagonal - Balls.of(diagonal.mid.mean(axis=1, keepdims=True))
    return MappedBall(diagonal, Balls.of(bias), radius, errors.upper(), sums.upper())


def largest_input(norm: NormWeights, allow: Allowances) -> float:
    """The largest number that a norm returns, before or after its gain."""
    radius = Balls.of(np.array(float(norm.width))).sqrt()
    one = Balls.of(np.array(1.0))
    bias = np.zeros(norm.width) if norm.bias is None else np.abs(norm.bias)
    normed = radius * (one + constant(allow.delta(norm.kind, norm.width)))
    numbers = Balls.of(np.abs(norm.gain) * (1 + 2.0**-50)) * normed + Balls.of(bias)
    rounded = numbers * (one + constant(allow.rho))
    before_gain = normed * (one + constant(allow.u))
    return max(float(rounded.upper().max()), float(before_gain.upper()))


def bound_head(
    ball: MappedBall, rotary: RotaryPairs | None, allow: Allowances
) -> HeadBounds:
    """Channels, length and pairs, after rotation where there is one."""
    errors = Balls.of(ball.errors)
    centre_size = Balls(np.abs(ball.centre.mid), ball.centre.rad)
    lengths = (ball.matrix * ball.matrix).sum().sqrt()
    channels = (lengths * ball.radius + centre_size + errors).upper()
    of_error = (errors * errors).sum().sqrt()
    length = bound_length(ball.matrix, ball.centre, ball.radius)
    length_ball = Balls.of(np.array(length)) + of_error
    if rotary is None:
        return HeadBounds(channels, float(length_ball.upper()), np.zeros(0))
    pairs = rotary.pairs(len(channels))
    if not pairs:
        return HeadBounds(channels, float(length_ball.upper()), np.zeros(0))
    first, second = np.array(pairs).T
    pair_balls = bound_pairs(ball, first, second)
    pair_errors = errors[first] * errors[first] + errors[second] * errors[second]
    pair_lengths = Balls.of((pair_balls + pair_errors.sqrt()).upper())
    lost = constant(4 * allow.tiny)
    turned = pair_lengths * constant(allow.turned_channel(rotary.scaling)) + lost
    channels[first] = turned.upper()
    channels[second] = turned.upper()
    growth = max(Fraction(1), allow.turned_pair(rotary.scaling))
    all_lost = lost * Balls.of(np.array(float(len(channels)))).sqrt()
    length_ball = length_ball * constant(growth) + all_lost
    turned_pairs = pair_lengths * constant(allow.turned_pair(rotary.scaling))
    turned_pairs = turned_pairs + lost + lost
    return HeadBounds(channels, float(length_ball.upper()), turned_pairs.upper())


def bound_length(matrix: Balls, centre: Balls, radius: Balls) -> float:
    """Not below |A u + c| for any |u| <= R: by the largest eigenvalue of the Gram matrix of [A, c / s]."""
    gram = matrix.mid @ matrix.mid.T
    shift = _find_shift(gram, centre.mid, float(radius.mid))
    whole = matrix
    reach = radius
    if shift > 0:
        inverse = Balls(np.array(1 / shift), np.array(2.0**-52 / shift))
        column = centre * inverse
        column = Balls(column.mid[:, None], column.rad[:, None])
        whole = concatenate([matrix, column], axis=1)
        length = Balls.of(np.array(shift))
        reach = (radius * radius + length * length).sqrt()
    else:
        if np.any(centre.mid != 0) or np.any(centre.rad != 0):
            return math.inf
    largest = _largest_eigenvalue(whole.products(whole))
    return float((Balls.of(np.array(largest)).sqrt() * reach).upper())


def _largest_eigenvalue(gram: Balls) -> float:
    """By Gershgorin's theorem, in the basis that NumPy takes for that of eigenvectors."""
    _, vectors = np.linalg.eigh(gram.mid)
    basis = Balls.of(np.ascontiguousarray(vectors.T))
    turned = basis.products(gram.transposed).products(basis)
    orthogonality = basis.products(basis) - Balls.of(np.eye(len(vectors)))
    row_sums = Balls(np.abs(turned.mid), turned.rad).sum().upper()
    error = Balls(np.abs(orthogonality.mid), orthogonality.rad).sum().upper().max()
    if not error < 0.5:
        return math.inf
    return float_above(Fraction(float(row_sums.max())) / (1 - Fraction(float(error))))


def _find_shift(gram: Array, centre: Array, radius: float) -> float:
    """About the best s; 0 where there is no centre. A golden-section search: the bound has one minimum in log s."""
    if not centre.any():
        return 0.0

    def bound(logarithm: float) -> float:
        shift = math.exp(logarithm) * radius
        column = centre / shift
        top = float(np.linalg.eigvalsh(gram + np.outer(column, column))[-1])
        return max(top, 0.0) * (radius**2 + shift**2)

    low, high = SMALL, LARGE
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(SEARCH_STEPS):
        left = high - ratio * (high - low)
        right = low + ratio * (high - low)
        if bound(left) <= bound(right):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2) * radius


def bound_pairs(ball: MappedBall, first: Array, second: Array) -> Balls:
    """Upper bounds on the lengths of pairs before their rounding, by the formula for 2 by 2 matrices."""
    a = ball.matrix[first]
    b = ball.matrix[second]
    p = (a * a).sum()
    q = (b * b).sum()
    r = (a * b).sum()
    c = ball.centre[first]
    d = ball.centre[second]
    radius = float(ball.radius.mid)
    shift = _find_shifts(p.mid, q.mid, r.mid, c.mid, d.mid, radius)
    inverse = Balls(1 / shift, 2.0**-52 / shift)
    u = c * inverse
    v = d * inverse
    half = Balls.of(np.array(0.5))
    p = p + u * u
    q = q + v * v
    r = r + u * v
    difference = (p - q) * half
    largest = (p + q) * half + (difference * difference + r * r).sqrt()
    has_centre = (c.mid != 0) | (d.mid != 0) | (c.rad > 0) | (d.rad > 0)
    length = Balls.of(np.where(has_centre, shift, 0.0))
    reach = (ball.radius * ball.radius + length * length).sqrt()
    return Balls.of((largest.sqrt() * reach).upper())


def _find_shifts(
    p: Array, q: Array, r: Array, c: Array, d: Array, radius: float
) -> Array:
    """About the best s of each pair, by golden sections."""

    def bound(logarithm: Array) -> Array:
        shift = np.exp(logarithm) * radius
        u = c / shift
        v = d / shift
        half_sum = (p + u * u + q + v * v) / 2
        half_difference = (p + u * u - q - v * v) / 2
        root = np.sqrt(half_difference**2 + (r + u * v) ** 2)
        result: Array = (half_sum + root) * (radius**2 + shift**2)
        return result

    low = np.full_like(p, SMALL)
    high = np.full_like(p, LARGE)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(SEARCH_STEPS):
        left = high - ratio * (high - low)
        right = low + ratio * (high - low)
        is_left = bound(left) <= bound(right)
        high = np.where(is_left, right, high)
        low = np.where(is_left, low, left)
    shifts: Array = np.exp((low + high) / 2) * radius
    return shifts


def weights_of_head(part: HeadWeights, head: int) -> tuple[Array, Array | None]:
    """The matrix of one head, and its bias."""
    return part.weight[head], None if part.bias is None else part.bias[head]
