"""All singular values of a matrix, or of a product of two, enclosed; no decomposition is trusted.

Let A ~ U S V^T be any decomposition with S = diag(s), s_1 >= s_2 >= ... >= 0, and E = A - U S V^T.

1. *Weyl.* No singular value of A is further than |E|_2 from that of U S V^T of the same number.
2. *Ostrowski.* With eta_B >= |B^T B - I|_2 for B = U and B = V, the singular values of U S V^T lie between
   s_k sqrt((1 - eta_U)(1 - eta_V)) and s_k sqrt((1 + eta_U)(1 + eta_V)).
3. *Cutting off.* The first r terms miss A by at most |E|_2 + s_(r+1) sqrt((1 + eta_U)(1 + eta_V)): the upper bound
   of the next singular value is a bound of their error, too.

Norms are bounded by Frobenius norms. What is assumed of the arithmetic is said in `spectral_norm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.errors import HeadwrightError
from headwright.numerics.balls import gamma
from headwright.numerics.enclosure import float_below
from headwright.numerics.spectral_norm import (
    UNDERFLOW,
    UNIT,
    exponent,
    float_up,
    frobenius_squared,
    largest,
    scaled,
    sqrt_up,
)

ROUNDED = 1 + 2.0**-50  # makes the roundings of a bound good: four of them
LARGEST_VALUE = 2.0**200  # of a matrix at its scale: far above all that may be
SMALLEST = 2.0**-1022  # the smallest float with all its digits


@dataclass(frozen=True, eq=False)
class SingularValues:
    """sigma_1 >= sigma_2 >= ..., each between `lower` and `upper`: proven."""

    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A is about left right; the error of the first r columns and rows, as exact products, is at most upper[r]."""

    left: Float[np.ndarray, "n k"]  # U S, rounded
    right: Float[np.ndarray, "k d"]  # V^T
    values: Float[np.ndarray, " k"]  # S: floating-point
    enclosed: SingularValues


def decompose(A: Float[np.ndarray, "n d"]) -> Decomposition:
    """All singular values of a matrix, and its decomposition.

    >>> found = decompose(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> bool(found.enclosed.lower[0] <= 2 <= found.enclosed.upper[0] < 2 + 1e-13)
    True
    """
    e = exponent(largest(A))
    matrix = scaled(A, e)
    u, s, vt = guessed_svd(matrix)
    us = u * s
    with np.errstate(over="ignore"):  # said better below
        left = scaled(us, -e)
    lost = Fraction(0)
    if e < 0:
        # Numbers below the smallest float may lose digits when the scale is put back.
        missing = us - scaled(left, e)
        squares = frobenius_squared(missing) * frobenius_squared(vt)
        lost = (1 + UNIT) * sqrt_up(squares)
    enclosed = _at_scale(_enclosed(matrix, lost, u, s, vt), e)
    return Decomposition(left, vt, scaled(s, -e), enclosed)


def product_singular_values(
    left: Float[np.ndarray, "n d"], right: Float[np.ndarray, "d m"]
) -> SingularValues:
    """The singular values of the exact product left right, all but those that are 0 because it is thin.

    >>> round(float(product_singular_values(np.ones((4, 1)), np.ones((1, 9))).upper[0]), 6)
    6.0
    """
    e_left = exponent(largest(left))
    e_right = exponent(largest(right))
    L = scaled(left, e_left)
    R = scaled(right, e_right)
    # The guess: the SVD of the small product of the triangular factors.
    Q_left, T_left = np.linalg.qr(L)
    Q_right, T_right = np.linalg.qr(R.T)
    u, s, vt = guessed_svd(T_left @ T_right.T)
    sizes = sqrt_up(frobenius_squared(L) * frobenius_squared(R))
    lost = Fraction(gamma(L.shape[1])) * sizes
    enclosed = _enclosed(L @ R, lost, Q_left @ u, s, vt @ Q_right.T)
    return _at_scale(enclosed, e_left + e_right)


def guessed_svd(
    X: Float[np.ndarray, "n d"],
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, " k"], Float[np.ndarray, "k d"]]:
    """The singular value decomposition in floating point; zeros, if what comes is no decomposition at all."""
    try:
        u, s, vt = np.linalg.svd(X, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise _failure(X.shape, error) from error
    if not _is_plausible(u, s, vt):
        return np.zeros_like(u), np.zeros_like(s), np.zeros_like(vt)
    return u, s, vt


def guessed_values(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " k"]:
    """The singular values alone, in floating point."""
    try:
        values: Float[np.ndarray, " k"] = np.linalg.svd(X, compute_uv=False)
    except np.linalg.LinAlgError as error:
        raise _failure(X.shape, error) from error
    return values


def _failure(shape: tuple[int, ...], error: Exception) -> HeadwrightError:
    return HeadwrightError(
        f"no singular values of the matrix of shape {shape} were found: {error}"
    )


def _is_plausible(
    u: Float[np.ndarray, "n k"],
    s: Float[np.ndarray, " k"],
    vt: Float[np.ndarray, "k d"],
) -> bool:
    """Values that fall and are not negative, and no number whose square is too large."""
    falling = bool((np.diff(s) <= 0).all() and s[-1] >= 0 and s[0] <= LARGEST_VALUE)
    return falling and bool(np.abs(u).max() <= 2 and np.abs(vt).max() <= 2)


def _enclosed(
    A: Float[np.ndarray, "n d"],
    lost: Fraction,
    u: Float[np.ndarray, "n k"],
    s: Float[np.ndarray, " k"],
    vt: Float[np.ndarray, "k d"],
) -> SingularValues:
    """The singular values of a matrix that lies within `lost` of A in norm, by any guess at its decomposition."""
    # Step 1: |E|. The computed remainder errs by the rounding of U S, by that of its product with V^T, and by that
    # of the difference.
    us = u * s
    remainder = A - us @ vt
    of_remainder = (1 + UNIT) * sqrt_up(frobenius_squared(remainder))
    sizes = sqrt_up(frobenius_squared(us) * frobenius_squared(vt))
    of_product = Fraction(gamma(len(s) + 2)) * sizes
    underflow = 4 * A.size * len(s) * UNDERFLOW
    distance = float_up(lost + of_remainder + of_product + underflow)
    # Step 2: how far U and V are from having orthonormal columns.
    eta_u = _distance_from_orthonormal(u)
    eta_v = _distance_from_orthonormal(vt.T)
    most = float_up(sqrt_up((1 + eta_u) * (1 + eta_v)))
    # A root of a number below 1 is not below the number.
    least = float_below(max(Fraction(0), 1 - eta_u) * max(Fraction(0), 1 - eta_v))
    upper = (s * most + distance) * ROUNDED
    lower = np.maximum(0.0, s * least / ROUNDED - distance) / ROUNDED
    return SingularValues(lower, upper)


def _distance_from_orthonormal(B: Float[np.ndarray, "n k"]) -> Fraction:
    """|B^T B - I|_F from above: the computed difference, and what product and difference may have lost."""
    difference = B.T @ B - np.eye(B.shape[1])
    of_product = Fraction(gamma(len(B))) * frobenius_squared(B)
    underflow = B.size * B.shape[1] * UNDERFLOW
    of_difference = (1 + UNIT) * sqrt_up(frobenius_squared(difference))
    distance: Fraction = of_difference + of_product + underflow
    return distance


def _at_scale(enclosed: SingularValues, e: int) -> SingularValues:
    """The bounds times 2^e."""
    highest = Fraction(float(enclosed.upper.max(initial=0.0)))
    float_up(highest * Fraction(2) ** e)  # refuses what is no double
    lower = scaled(enclosed.lower, -e)
    upper = scaled(enclosed.upper, -e)
    if e < 0:
        # Only numbers below the smallest float may lose digits; the sum here is exact.
        lower = np.where(lower < 2 * SMALLEST, 0.0, lower)
        upper = np.where(upper < 2 * SMALLEST, upper + SMALLEST, upper)
    return SingularValues(lower, upper)
