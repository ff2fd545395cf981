"""The largest values of an affine map on a ball, from above: y = A u + c with |u| <= R.

*A channel.* |<a, u> + c| <= |a| R + |c|, which u = R a / |a| or its negative attains.

*The length of several channels.* For every s > 0, A u + c is the matrix [A, c / s] times the vector (u, s), whose
length is at most sqrt(R^2 + s^2). So |A u + c| <= sigma sqrt(R^2 + s^2), with sigma the largest singular value of
[A, c / s]. Whatever s is, the bound holds; with the best s it is attained: s^2 = c^T (l I - A A^T)^-1 c turns it into
the Lagrangian dual of maximising a quadratic over a ball, which has no gap. So s is a guess, and only sigma is proved.

Rounding. Entries of A are rounded twice, relatively by 2^-53 each, and a row less its mean once more: A is off by
2^-50 |A|_F at most, which is added. All else here are sums, products and roots of numbers that are not negative, with
fewer than 2^21 roundings on the way to a result: together less than 2^-31, relatively. OUTWARD makes that good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headwright.numerics.spectral_norm import spectral_norm_above

Rows = Float[np.ndarray, "channels width"]
Column = Float[np.ndarray, " channels"]

OUTWARD = 1 + 2.0**-30
# Of a pair, the difference under the root is off by 2^-31 of the sum before it: four times that, and as much again.
PAIR_OUTWARD = 1 + 2.0**-28
ENTRY_ERROR = 2.0**-50
# Of the guess for s: multipliers above the least possible one, as factors of it.
SHIFT_FACTORS = np.logspace(-4, 4, 321)
LARGE_SHIFT = 2.0**30
EXCESSES = np.concatenate([np.logspace(-14, 0, 141), np.logspace(0, 14, 141)[1:]])


def row_lengths(matrix: Rows) -> Column:
    """|a| of each row, before OUTWARD."""
    squares = np.einsum("ij,ij->i", matrix, matrix)
    lengths: Column = np.sqrt(squares)
    return lengths


def largest_length(matrix: Rows, centre: Column, radius: float, spare: float) -> float:
    """Not below |A u + c| for all |u| <= radius, where A is within `spare` of the matrix in the Frobenius norm.

    >>> largest_length(np.eye(2), np.array([1.0, 0.0]), 2.0, 0.0) < 3.0001
    True
    """
    shift = _guess_shift(matrix, centre, radius)
    if shift is None:
        return (spectral_norm_above(matrix) + spare) * radius * OUTWARD
    column = (centre / shift)[:, None]
    augmented = np.concatenate([matrix, column], axis=1)
    # The column is rounded by 2^-53, relatively.
    error = spare + ENTRY_ERROR * float(np.linalg.norm(column))
    sigma = spectral_norm_above(augmented) + error
    return sigma * math.sqrt(radius**2 + shift**2) * OUTWARD


def largest_pairs(
    matrix: Rows,
    centre: Column,
    radius: float,
    spare: Column,
    pairs: Sequence[tuple[int, int]],
) -> Column:
    """The same for each pair of channels; `spare` is by how much each row may be off."""
    if not pairs:
        return np.zeros(0)
    first, second = np.array(pairs).T
    a = matrix[first]
    b = matrix[second]
    length_a = np.einsum("ij,ij->i", a, a)
    length_b = np.einsum("ij,ij->i", b, b)
    inner = np.einsum("ij,ij->i", a, b)
    centre_a = centre[first]
    centre_b = centre[second]
    least = np.full(len(pairs), np.inf)
    # Shifts relative to |c| R / |A|: any is right, and the best of them is taken.
    size = np.sqrt(length_a + length_b)
    offset = np.sqrt(centre_a**2 + centre_b**2)
    has_centre = offset > 0
    for factor in SHIFT_FACTORS if has_centre.any() else SHIFT_FACTORS[:1]:
        with np.errstate(all="ignore"):
            shift = factor * np.sqrt(offset * radius / size)
        # Where rows are 0, the larger the better; without a centre there is nothing to weigh.
        shift = np.where(np.isfinite(shift) & (shift > 0), shift, LARGE_SHIFT * radius)
        u = centre_a / shift
        v = centre_b / shift
        half_sum = (length_a + u * u + length_b + v * v) / 2
        half_difference = (length_a + u * u - length_b - v * v) / 2
        product = inner + u * v
        root = np.sqrt(half_difference**2 + product**2)
        sigma = np.sqrt(half_sum + root)
        error = np.sqrt(spare[first] ** 2 + spare[second] ** 2)
        reach = np.sqrt(radius**2 + np.where(has_centre, shift, 0.0) ** 2)
        least = np.minimum(least, (sigma + error) * reach)
    return least * PAIR_OUTWARD


def _guess_shift(matrix: Rows, centre: Column, radius: float) -> float | None:
    """The s for which the bound is about least; None where there is no centre."""
    if not centre.any():
        return None
    values, vectors = np.linalg.eigh(matrix @ matrix.T)
    parts = (vectors.T @ centre) ** 2
    top = max(float(values[-1]), 0.0)
    size = math.sqrt(float(parts.sum()))
    # Multipliers l above the largest eigenvalue: relative to it, or to |c|^2 / R^2 where that is larger. The second
    # time they lie between the neighbours of the best.
    unit = max(top, (size / radius) ** 2)
    excesses = EXCESSES
    for _ in range(2):
        multipliers = top + unit * excesses
        gaps = multipliers[:, None] - values[None, :]
        squares = (parts / gaps).sum(axis=1)
        least = int(np.argmin(multipliers * (radius**2 + squares)))
        best = float(squares[least])
        low = excesses[max(least - 1, 0)]
        high = excesses[min(least + 1, len(excesses) - 1)]
        excesses = np.geomspace(low, high, 101)
    return math.sqrt(best) if best > 0 else radius
