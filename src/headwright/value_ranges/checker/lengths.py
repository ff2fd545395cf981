"""The largest length of A u + c' over |u| <= R, for a head and for each pair of channels.

For every s > 0, A u + c' is the matrix [A, c'/s] times the vector (u, s), whose length is at most sqrt(R^2 + s^2). So

    |A u + c'|^2 <= lambda (R^2 + s^2),

lambda the largest eigenvalue of the Gram matrix G of [A, c'/s]. Any s gives a bound: a good one is searched for, in
floating point, and need not be trusted. The eigenvalue is found by another way than the prover's: V holds eigenvectors
of G as NumPy guesses them, and

    x^T G x = z^T (V^T G V) z <= max_i sum_j |(V^T G V)_ij| |z|^2,   z = V^-1 x,   |z|^2 <= |x|^2 / (1 - e),

by Gershgorin's theorem, with e the largest row sum of |V^T V - I|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Array, Balls, concatenate
from headwright.numerics.enclosure import float_above
from headwright.value_ranges.checker.enclosed import (
    HALF,
    above,
    exactly,
    inner_products,
    lengths_of,
    quotient,
    sizes_of,
    squares,
)
from headwright.value_ranges.checker.projections import MappedBall

# The search for s is by golden sections, between these logarithms of s / R.
SMALL, LARGE = -46.0, 46.0
SEARCH_STEPS = 80
GOLDEN = (math.sqrt(5) - 1) / 2


def bound_length(matrix: Balls, centre: Balls, radius: Balls) -> float:
    """Not below |A u + c'| for any |u| <= R."""
    shift = _find_shift(matrix.mid, centre.mid, float(radius.mid))
    if shift == 0:
        # Without a centre, |A u| <= sigma R; a centre within its radii of 0 adds no more than these.
        gram = matrix.products(matrix)
        sigma = exactly(_largest_eigenvalue(gram)).sqrt()
        rest = lengths_of(Balls.of(centre.rad))
        return above(sigma * radius + rest)

    # [A, c'/s]
    last = quotient(centre, np.array(shift))
    column = Balls(last.mid[:, None], last.rad[:, None])
    with_column = concatenate([matrix, column], axis=1)
    gram = with_column.products(with_column)

    # sqrt(lambda) sqrt(R^2 + s^2)
    sigma = exactly(_largest_eigenvalue(gram)).sqrt()
    reach = (squares(radius) + squares(exactly(shift))).sqrt()
    return above(sigma * reach)


def _largest_eigenvalue(gram: Balls) -> float:
    """By Gershgorin's theorem, in the basis that NumPy takes for that of eigenvectors."""
    _, vectors = np.linalg.eigh(gram.mid)
    basis = Balls.of(np.ascontiguousarray(vectors.T))

    # max_i sum_j |(V^T G V)_ij|
    in_basis = basis.products(gram.transposed).products(basis)
    row_sums = sizes_of(in_basis).sum().upper()

    # e, the largest row sum of |V^T V - I|
    identity = Balls.of(np.eye(len(vectors)))
    defect = basis.products(basis) - identity
    error = sizes_of(defect).sum().upper().max()
    if not error < 0.5:
        return math.inf

    # G is V^-T (V^T G V) V^-1: its largest eigenvalue is at most the row sum over 1 - e.
    row_sum = Fraction(float(row_sums.max()))
    remainder = 1 - Fraction(float(error))
    return float_above(row_sum / remainder)


def bound_pairs(ball: MappedBall, first: Array, second: Array) -> Balls:
    """Upper bounds on the lengths of pairs before their rounding, by the formula for 2 by 2 matrices."""
    a = ball.matrix[first]
    b = ball.matrix[second]
    c = ball.centre[first]
    d = ball.centre[second]

    # The Gram matrix of two rows is [p r; r q].
    p = inner_products(a, a)
    q = inner_products(b, b)
    r = inner_products(a, b)

    # With the column (c, d) / s.
    radius = float(ball.radius.mid)
    shift = _find_shifts(p.mid, q.mid, r.mid, c.mid, d.mid, radius)
    u = quotient(c, shift)
    v = quotient(d, shift)
    p = p + squares(u)
    q = q + squares(v)
    r = r + u * v

    # lambda = (p + q) / 2 + sqrt(((p - q) / 2)^2 + r^2)
    half_difference = (p - q) * HALF
    root = (squares(half_difference) + squares(r)).sqrt()
    largest = (p + q) * HALF + root

    # sqrt(lambda) sqrt(R^2 + s^2), and without a centre sqrt(lambda) R
    has_centre = _is_not_zero(c) | _is_not_zero(d)
    used_shift = Balls.of(np.where(has_centre, shift, 0.0))
    reach = (squares(ball.radius) + squares(used_shift)).sqrt()
    lengths = largest.sqrt() * reach
    return Balls.of(lengths.upper())


def _is_not_zero(numbers: Balls) -> Array:
    """Whether each may be another number than 0."""
    is_not_zero: Array = (numbers.mid != 0) | (numbers.rad > 0)
    return is_not_zero


def _find_shift(matrix: Array, centre: Array, radius: float) -> float:
    """About the best s; 0 where there is no centre."""
    if not centre.any():
        return 0.0
    gram = matrix @ matrix.T

    def bound(logarithms: Array) -> Array:
        shift = math.exp(float(logarithms[0])) * radius
        column = centre / shift
        with_column = gram + np.outer(column, column)
        top = float(np.linalg.eigvalsh(with_column)[-1])
        return np.array([max(top, 0.0) * (radius**2 + shift**2)])

    logarithm = _search(bound, 1)
    return math.exp(float(logarithm[0])) * radius


def _find_shifts(
    p: Array, q: Array, r: Array, c: Array, d: Array, radius: float
) -> Array:
    """About the best s of each pair."""

    def bound(logarithms: Array) -> Array:
        shift = np.exp(logarithms) * radius
        u = c / shift
        v = d / shift
        p_with = p + u * u
        q_with = q + v * v
        r_with = r + u * v
        half_difference = (p_with - q_with) / 2
        root = np.sqrt(half_difference**2 + r_with**2)
        largest = (p_with + q_with) / 2 + root
        result: Array = largest * (radius**2 + shift**2)
        return result

    shifts: Array = np.exp(_search(bound, len(p))) * radius
    return shifts


def _search(bound: Callable[[Array], Array], count: int) -> Array:
    """Logarithms with a small bound, by golden sections: each bound has one minimum."""
    low = np.full(count, SMALL)
    high = np.full(count, LARGE)
    for _ in range(SEARCH_STEPS):
        left = high - GOLDEN * (high - low)
        right = low + GOLDEN * (high - low)
        left_is_better = bound(left) <= bound(right)
        high = np.where(left_is_better, right, high)
        low = np.where(left_is_better, low, left)
    middle: Array = (low + high) / 2
    return middle
