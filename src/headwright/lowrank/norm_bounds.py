"""Upper bounds of spectral norms, proved with the sums and products of the matrix product alone.

What is assumed. Each entry of a matrix product of float64 arrays is computed from the IEEE double products of
its terms, added in any order and with or without fused multiply-adds, rounded to nearest (so: no Strassen, no
lower precision inside). Sums, differences and products of single doubles are IEEE as well. Where a library has
switched subnormal numbers off, the bounds still hold for matrices and factors without such numbers. Nothing is
assumed of any SVD, eigenvalue or Cholesky routine: what they return is a guess, and the guess is tested.

Notation: u = 2^-53, gamma_k = k u / (1 - k u). A computed product of k-term sums satisfies
|fl(X Y) - X Y| <= gamma_k |X| |Y| in every entry (Higham, Accuracy and Stability, section 3.5).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError, typed_errors
from headwright.files import finite
from headwright.lowrank.matrix import exponent, largest, row_blocks, scaled

Block = Float[np.ndarray, "rows d"]

U = Fraction(1, 2**53)

# What underflow can change in one operation. The numbers here are below 2^200 after scaling, so a lost 2^-1022
# (2^-1074 where subnormals are on) grows to far less than this; and this is far less than any bound below.
UNDERFLOW = Fraction(1, 2**800)

# How far above the guessed eigenvalue the Cholesky factorisation is tried. The first is what the bound loses
# in the usual case (half of it, after the square root); each of the others is a retry.
MARGINS = (2.0**-34, 2.0**-30, 2.0**-25, 2.0**-18, 2.0**-10)


@typed_errors
def spectral_norm_upper_bound(R: Float[Any, "n d"]) -> float:
    """A number that |R|_2 certainly does not exceed, and mostly by less than a billionth of itself.

    |R|_2^2 is the largest eigenvalue of G = R^T R (or R R^T, whichever is smaller). For any c and any L,
    c I - G = L L^T + E gives lambda_max(G) <= c + |E|_2, because L L^T has no negative eigenvalue. So c is taken
    a little above a floating-point guess, L from a floating-point Cholesky factorisation, and |E|_F is bounded
    from the computed remainder. If no c works the answer is |R|_F, which is always true.
    The module says what is assumed of the arithmetic.

    >>> import numpy as np
    >>> bound = spectral_norm_upper_bound(np.array([[3.0, 0.0], [4.0, 0.0]]))
    >>> 5.0 <= bound < 5.000000001
    True
    """
    matrix = finite(R, "the matrix", axes=2)
    size = largest(matrix)
    if size == 0.0:
        return 0.0
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    e = exponent(size)
    norm, _ = _norms(scaled(tall[rows], e) for rows in row_blocks(len(tall)))
    return float_up((norm + matrix.size * UNDERFLOW) * Fraction(2) ** e)


@typed_errors
def error_upper_bound(
    A: Float[Any, "n d"], left: Float[Any, "n r"], right: Float[Any, "r d"]
) -> float:
    """A number that |A - left right|_2 certainly does not exceed, whoever made the factors.

    left right is the exact product of the given numbers. With R' = fl(A - fl(left right)),
    |A - left right|_2 <= |R'|_2 + gamma_r |left|_F |right|_F + u |R'|_F; R' is computed block by block and
    never stored.

    >>> import numpy as np
    >>> column = np.ones((3, 1))
    >>> error_upper_bound(np.ones((3, 3)), column, column.T) < 1e-14
    True
    """
    matrix, left = finite(A, "the matrix", axes=2), finite(left, "left", axes=2)
    right = finite(right, "right", axes=2)
    if (len(left), right.shape[1]) != matrix.shape or left.shape[1] != len(right):
        raise InputError(
            f"the matrix has shape {matrix.shape}, left {left.shape} and right {right.shape}: "
            "expected (n, d), (n, r) and (r, d)"
        )
    if matrix.shape[0] < matrix.shape[1]:  # so that the Gram matrix is the smaller one
        matrix, left, right = matrix.T, right.T, left.T
    e_left = exponent(largest(left))
    e = max(exponent(largest(matrix)), e_left + exponent(largest(right)))
    L, R = scaled(left, e_left), scaled(right, e - e_left)

    def remainder() -> Iterable[Block]:
        return (
            scaled(matrix[rows], e) - L[rows] @ R for rows in row_blocks(len(matrix))
        )

    e_rest = exponent(max(largest(block) for block in remainder()))
    norm, frobenius = _norms(scaled(block, e_rest) for block in remainder())
    of_product = _gamma(len(R)) * sqrt_up(frobenius_squared(L) * frobenius_squared(R))
    lost = 2 * matrix.size * len(R) * UNDERFLOW
    rest = (norm + U * frobenius + lost) * Fraction(2) ** e_rest
    return float_up((rest + of_product + lost) * Fraction(2) ** e)


def frobenius_squared(X: Float[np.ndarray, "n d"]) -> Fraction:
    """An upper bound of |X|_F^2 for a matrix of modest entries."""
    by_row = math.fsum(np.einsum("ij,ij->i", X, X).tolist())
    return (Fraction(by_row) + X.size * UNDERFLOW) / (
        1 - _gamma(X.shape[1] + 1)
    )  # + 1: fsum rounds once


def _gamma(k: int) -> Fraction:
    """k u / (1 - k u): how much k roundings can change a product, relatively."""
    return k * U / (1 - k * U)


def sqrt_up(x: Fraction) -> Fraction:
    """A root from above, to about 64 bits: its square is at least x, exactly."""
    if x == 0:
        return x
    shift = 64 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    return (
        Fraction(math.isqrt(math.ceil(x * Fraction(4) ** shift) - 1) + 1)
        / Fraction(2) ** shift
    )


def float_up(x: Fraction) -> float:
    """The smallest double that is not below x; refused if there is none."""
    try:
        nearest = float(x)
    except OverflowError:
        nearest = math.inf
    # The last candidate is for processes in which subnormal numbers are off and the others may come out as 0.
    candidates = (nearest, math.nextafter(nearest, math.inf), sys.float_info.min)
    above = next(
        double for double in candidates if double >= x
    )  # compared exactly by Python
    if above == math.inf:
        raise InputError(
            "the matrix is too large: its norm is no double, expected one below 1.79e308"
        )
    return above


def _norms(blocks: Iterable[Block]) -> tuple[Fraction, Fraction]:
    """Upper bounds of the spectral and the Frobenius norm of a matrix with at least as many rows as columns."""
    G, squared, error = _gram(blocks)
    frobenius = sqrt_up(squared)
    top = _largest_eigenvalue(G)
    return (
        frobenius if top is None else min(frobenius, sqrt_up(top + error))
    ), frobenius


def _gram(
    blocks: Iterable[Block],
) -> tuple[Float[np.ndarray, "d d"], Fraction, Fraction]:
    """G = fl(X^T X) by row blocks of X, and from above: |X|_F^2, |G - X^T X|_F.

    |G - X^T X| <= gamma |X|^T |X| entry by entry, and | |X|^T |X| |_F <= |X|_F^2. The diagonal of G adds up to
    |X|_F^2 within the same relative error, so that norm is free.
    """
    G, count, longest, rows = np.zeros((1, 1)), 0, 0, 0
    for block in blocks:
        product = block.T @ block
        G = product if count == 0 else np.add(G, product, out=G)
        count, longest, rows = count + 1, max(longest, len(block)), rows + len(block)
    relative = _gamma(longest + count)
    lost = rows * G.size * UNDERFLOW
    squared = (sum(map(Fraction, G.diagonal().tolist()), Fraction(0)) + lost) / (
        1 - relative
    )
    return G, squared, relative * squared + lost


def _largest_eigenvalue(G: Float[np.ndarray, "d d"]) -> Fraction | None:
    """An upper bound of max x^T G x over unit vectors x, or None where no guess could be proved."""
    try:
        guess = float(np.linalg.eigvalsh(G)[-1])
    except np.linalg.LinAlgError:
        return None
    if (
        not 0.0 < guess <= 2 * float(G.trace())
    ):  # no eigenvalue of a Gram matrix, whoever said so
        return None
    tries = (_shifted(G, guess * (1 + margin)) for margin in MARGINS)
    return next((bound for bound in tries if bound is not None), None)


def _shifted(G: Float[np.ndarray, "d d"], c: float) -> Fraction | None:
    """c + |E|_F from above, where c I - G = L L^T + E with a computed L; None if there is no such L."""
    M = -G
    M[np.diag_indices_from(M)] += c
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    if (
        not largest(L) ** 2 <= 2 * c
    ):  # the rows of L have squares m_ii <= c; nan ends here as well
        return None
    P, _, error = _gram(L.T[rows] for rows in row_blocks(len(L)))
    diagonal = M.diagonal()[None, :].copy()
    E = np.subtract(M, P, out=P)
    # fl(c - g) errs by u |fl(c - g)| on the diagonal, fl(M - P) by u |fl(M - P)| everywhere.
    computed = (1 + U) * sqrt_up(frobenius_squared(E)) + U * sqrt_up(
        frobenius_squared(diagonal)
    )
    return Fraction(c) + computed + error + 2 * G.size * UNDERFLOW
