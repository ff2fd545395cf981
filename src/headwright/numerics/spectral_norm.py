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
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.numerics.balls import gamma

Block = Float[np.ndarray, "rows d"]

UNIT = Fraction(1, 2**53)

# Numbers between 2^-64 and 2^64 can be squared twice over and summed a million times without leaving the
# range of doubles, so such matrices are used as they are, without a scaled copy.
MODEST_EXPONENT = 64

# Rows that are multiplied at once. A block product of 1024 rows runs at full speed (within a tenth of the whole
# at once, for 2,000 columns), and sums of blocks have a smaller error bound than one long sum.
BLOCK_ROWS = 1024

# What underflow can change in one operation. The numbers here are below 2^200 after scaling, so a lost 2^-1022
# (2^-1074 where subnormals are on) grows to far less than this; and this is far less than any bound below.
UNDERFLOW = Fraction(1, 2**800)

# How far above the guessed eigenvalue the Cholesky factorisation is tried. The first is what the bound loses
# in the usual case (half of it, after the square root); each of the others is a retry.
MARGINS = (2.0**-34, 2.0**-30, 2.0**-25, 2.0**-18, 2.0**-10)


def spectral_norm_above(matrix: Float[np.ndarray, "n d"]) -> float:
    """A number that |R|_2 of a finite matrix R certainly does not exceed, and mostly by less than a billionth of it.

    |R|_2^2 is the largest eigenvalue of G = R^T R (or R R^T, whichever is smaller). For any c and any L,
    c I - G = L L^T + E gives lambda_max(G) <= c + |E|_2, because L L^T has no negative eigenvalue. So c is taken
    a little above a floating-point guess, L from a floating-point Cholesky factorisation, and |E|_F is bounded
    from the computed remainder. If no c works the answer is |R|_F, which is always true.

    >>> 5.0 <= spectral_norm_above(np.array([[3.0, 0.0], [4.0, 0.0]])) < 5.000000001
    True
    """
    size = largest(matrix)
    if size == 0.0:
        return 0.0
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    e = exponent(size)
    blocks = (scaled(tall[rows], e) for rows in row_blocks(len(tall)))
    norm = _norms(blocks).spectral
    lost = matrix.size * UNDERFLOW
    return float_up((norm + lost) * Fraction(2) ** e)


def product_error_above(
    matrix: Float[np.ndarray, "n d"],
    left: Float[np.ndarray, "n r"],
    right: Float[np.ndarray, "r d"],
) -> float:
    """A number that |A - left right|_2 certainly does not exceed, for the exact product of finite matrices.

    With R' = fl(A - fl(left right)), |A - left right|_2 <= |R'|_2 + gamma_r |left|_F |right|_F + u |R'|_F; R' is
    computed block by block and never stored.
    """
    # The Gram matrix is the smaller one of the two: (L R)^T = R^T L^T.
    if matrix.shape[0] < matrix.shape[1]:
        matrix, left, right = matrix.T, right.T, left.T
    # All of it times 2^-e: then the matrix and the product are of modest size, and L R is the product times 2^-e.
    e_left = exponent(largest(left))
    e = max(exponent(largest(matrix)), e_left + exponent(largest(right)))
    L = scaled(left, e_left)
    R = scaled(right, e - e_left)

    def remainder() -> Iterable[Block]:
        for rows in row_blocks(len(matrix)):
            yield scaled(matrix[rows], e) - L[rows] @ R

    # The remainder may be far smaller than the matrix: its norms are taken at a scale of its own.
    e_rest = exponent(max(largest(block) for block in remainder()))
    norms = _norms(scaled(block, e_rest) for block in remainder())
    # gamma_r |left|_F |right|_F: what rounding can change in the product.
    sizes = sqrt_up(frobenius_squared(L) * frobenius_squared(R))
    of_product = Fraction(gamma(len(R))) * sizes
    lost = 2 * matrix.size * len(R) * UNDERFLOW
    # |R'| and the rounding of the difference, u |R'|_F; then the rounding of the product.
    rest = (norms.spectral + UNIT * norms.frobenius + lost) * Fraction(2) ** e_rest
    return float_up((rest + of_product + lost) * Fraction(2) ** e)


def frobenius_squared(X: Float[np.ndarray, "n d"]) -> Fraction:
    """An upper bound of |X|_F^2 for a matrix of modest entries."""
    by_row = math.fsum(np.einsum("ij,ij->i", X, X).tolist())
    roundings = X.shape[1] + 1  # fsum rounds once
    return (Fraction(by_row) + X.size * UNDERFLOW) / (1 - Fraction(gamma(roundings)))


def sqrt_up(x: Fraction) -> Fraction:
    """A root from above, to about 64 bits: its square is at least x, exactly."""
    if x == 0:
        return x
    shift = 64 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    square = math.ceil(x * Fraction(4) ** shift)
    # The smallest whole number whose square is at least this one.
    root = math.isqrt(square - 1) + 1
    return Fraction(root) / Fraction(2) ** shift


def float_up(x: Fraction) -> float:
    """The smallest double that is not below x; refused if there is none."""
    try:
        nearest = float(x)
    except OverflowError:
        nearest = math.inf
    # The last candidate is for processes in which subnormal numbers are off and the others may come out as 0.
    candidates = (nearest, math.nextafter(nearest, math.inf), sys.float_info.min)
    above = [double for double in candidates if double >= x]  # compared exactly
    if not above or above[0] == math.inf:
        raise InputError(
            "the matrix is too large: its norm is no double, expected one below 1.79e308"
        )
    return above[0]


class NormBounds(NamedTuple):
    """Upper bounds of two norms of one matrix."""

    spectral: Fraction
    frobenius: Fraction


def _norms(blocks: Iterable[Block]) -> NormBounds:
    """Of a matrix with at least as many rows as columns, by blocks of rows."""
    gram = _gram(blocks)
    frobenius = sqrt_up(gram.frobenius_squared)
    top = _largest_eigenvalue(gram.computed)
    if top is None:
        return NormBounds(frobenius, frobenius)
    return NormBounds(min(frobenius, sqrt_up(top + gram.error)), frobenius)


class GramBounds(NamedTuple):
    """G = fl(X^T X), and from above: |X|_F^2, |G - X^T X|_F."""

    computed: Float[np.ndarray, "d d"]
    frobenius_squared: Fraction
    error: Fraction


def _gram(blocks: Iterable[Block]) -> GramBounds:
    """The Gram matrix by row blocks of X.

    |G - X^T X| <= gamma |X|^T |X| entry by entry, and | |X|^T |X| |_F <= |X|_F^2. The diagonal of G adds up to
    |X|_F^2 within the same relative error, so that norm is free.
    """
    G = np.zeros((1, 1))
    count = 0
    longest = 0
    rows = 0
    for block in blocks:
        product = block.T @ block
        G = product if count == 0 else np.add(G, product, out=G)
        count += 1
        longest = max(longest, len(block))
        rows += len(block)
    # Each entry is a sum of at most `longest` products in a block, and of `count` blocks.
    relative = Fraction(gamma(longest + count))
    lost = rows * G.size * UNDERFLOW
    diagonal = sum(map(Fraction, G.diagonal().tolist()), Fraction(0))
    squared = (diagonal + lost) / (1 - relative)
    return GramBounds(G, squared, relative * squared + lost)


def _largest_eigenvalue(G: Float[np.ndarray, "d d"]) -> Fraction | None:
    """An upper bound of max x^T G x over unit vectors x, or None where no guess could be proved."""
    try:
        guess = float(np.linalg.eigvalsh(G)[-1])
    except np.linalg.LinAlgError:
        return None
    # No eigenvalue of a Gram matrix, whoever said so.
    if not 0.0 < guess <= 2 * float(G.trace()):
        return None
    for margin in MARGINS:
        bound = _shifted(G, guess * (1 + margin))
        if bound is not None:
            return bound
    return None


def _shifted(G: Float[np.ndarray, "d d"], c: float) -> Fraction | None:
    """c + |E|_F from above, where c I - G = L L^T + E with a computed L; None if there is no such L."""
    M = -G
    M[np.diag_indices_from(M)] += c
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    # The rows of L have squares m_ii <= c; nan ends here as well.
    if not largest(L) ** 2 <= 2 * c:
        return None
    product = _gram(L.T[rows] for rows in row_blocks(len(L)))
    diagonal = M.diagonal()[None, :].copy()
    E = np.subtract(M, product.computed, out=product.computed)
    # fl(c - g) errs by u |fl(c - g)| on the diagonal, fl(M - P) by u |fl(M - P)| everywhere.
    of_difference = (1 + UNIT) * sqrt_up(frobenius_squared(E))
    of_diagonal = UNIT * sqrt_up(frobenius_squared(diagonal))
    lost = 2 * G.size * UNDERFLOW
    return Fraction(c) + of_difference + of_diagonal + product.error + lost


def largest(X: Float[np.ndarray, "n d"]) -> float:
    """max |x_ij|; nan if there is a nan."""
    return float(np.maximum(X.max(), -X.min()))  # no |X|: that would be a second matrix


def exponent(size: float) -> int:
    """An even e with size * 2^-e near 1; 0 if the size is modest as it is."""
    e = math.frexp(size)[1]
    return 0 if abs(e) <= MODEST_EXPONENT else e + e % 2


def scaled(X: Float[np.ndarray, "*axes"], e: int) -> Float[np.ndarray, "*axes"]:
    """X * 2^-e for an even e: exact, but for entries that underflow."""
    if e == 0:
        return X
    half = 2.0 ** (-e // 2)  # 2^1070 is no double, its root is
    product: Float[np.ndarray, "*axes"] = X * half
    product *= half
    return product


def row_blocks(rows: int) -> Iterator[slice]:
    """Slices that cover the rows, BLOCK_ROWS at a time."""
    return (
        slice(start, min(start + BLOCK_ROWS, rows))
        for start in range(0, rows, BLOCK_ROWS)
    )
