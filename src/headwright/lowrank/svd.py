"""Singular value decompositions in floating point, used as untrusted guesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import HeadwrightError, InputError, typed_errors
from headwright.files import finite
from headwright.lowrank.matrix import exponent, largest, scaled

# A full SVD takes about 0.2 ns times n d min(n, d) on two cores (1,000 x 1,000: 0.23 s; 20,000 x 2,000: 11 s).
# Up to this size it is a matter of half a second, and its singular values are all there and accurate.
FULL_SVD_WORK = 2 * 10**9

# Beyond it, a sketch with at most this share of min(n, d) columns takes a third to two thirds of the time of the
# full SVD; one of a quarter takes as long.
SKETCH_SHARE = 1 / 8

# Columns sketched beyond the rank that is asked for, and how often A A^T is applied. Measured for ranks 5, 20 and
# 80 of a 4,000 x 1,500 matrix: the error is within 1 % of the best for singular values that fall like i^-1/2 or
# faster (mostly far closer), and within 4 % for pure noise.
OVERSAMPLING = 16
POWER_ITERATIONS = 6


@dataclass(frozen=True, eq=False)
class Factors:
    """A is about left right, with left = U sqrt(S) and right = sqrt(S) V^T; the first r columns and rows are
    about the best matrix of rank r.

    The root is shared, so that neither factor leaves the range of doubles when A almost does.
    """

    left: Float[np.ndarray, "n k"]
    right: Float[np.ndarray, "k d"]
    singular_values: Float[np.ndarray, " k"]
    randomised: bool


@typed_errors
def singular_values(A: Float[Any, "n d"]) -> Float[np.ndarray, " k"]:
    """sigma_1 >= sigma_2 >= ... >= 0, all min(n, d) of them, in floating point: a guess, not a bound.

    Their squares add up to |A|_F^2. sigma_1 is |A|_2, and sigma_{r+1} is the distance, in that norm, from A to
    the nearest matrix of rank r.

    >>> import numpy as np
    >>> singular_values(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    array([2., 1.])
    """
    matrix = finite(A, "the matrix", axes=2)
    e = exponent(largest(matrix))
    try:
        values = np.linalg.svd(scaled(matrix, e), compute_uv=False)
    except np.linalg.LinAlgError as error:
        raise _failure(matrix.shape, error) from error
    with np.errstate(over="ignore"):  # said better below
        values = scaled(values, -e)
    if np.isinf(values).any():
        raise InputError(
            "the matrix is too large: its norm is no double, expected one below 1.79e308"
        )
    return values


def full_svd(A: Float[np.ndarray, "n d"]) -> Factors:
    """All of the factors."""
    e = exponent(largest(A))
    return _factors(*_svd(scaled(A, e)), e, randomised=False)


def sketch_fits(shape: tuple[int, ...], columns: int) -> bool:
    """Is a sketch of so many columns the faster way?"""
    large = shape[0] * shape[1] * min(shape) > FULL_SVD_WORK
    return large and columns <= SKETCH_SHARE * min(shape)


def randomised_svd(A: Float[np.ndarray, "n d"], columns: int, seed: int) -> Factors:
    """About the leading factors: A projected on the range of (A A^T)^q A times a Gaussian matrix, q = 6.

    Reference: Halko, Martinsson and Tropp, 'Finding structure with randomness', 2011, algorithms 4.4 and 5.1.
    """
    e = exponent(largest(A))
    X = scaled(A, e)
    sample = np.random.default_rng(seed).standard_normal((X.shape[1], columns))
    Q = np.linalg.qr(X @ sample).Q
    for _ in range(POWER_ITERATIONS):
        Q = np.linalg.qr(
            X.T @ Q
        ).Q  # without the QR all columns would turn into the first one
        Q = np.linalg.qr(X @ Q).Q
    U, values, Vt = _svd(Q.T @ X)
    return _factors(Q @ U, values, Vt, e, randomised=True)


def _svd(
    X: Float[np.ndarray, "n d"],
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, " k"], Float[np.ndarray, "k d"]]:
    try:
        U, values, Vt = np.linalg.svd(X, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise _failure(X.shape, error) from error
    return U, values, Vt


def _failure(shape: tuple[int, ...], error: Exception) -> HeadwrightError:
    return HeadwrightError(
        f"no singular values of the matrix of shape {shape} were found: {error}"
    )


def _factors(
    U: Float[np.ndarray, "n k"],
    values: Float[np.ndarray, " k"],
    Vt: Float[np.ndarray, "k d"],
    e: int,
    *,
    randomised: bool,
) -> Factors:
    root = np.sqrt(values) * 2.0 ** (e // 2)
    U *= root
    return Factors(U, root[:, None] * Vt, scaled(values, -e), randomised)
