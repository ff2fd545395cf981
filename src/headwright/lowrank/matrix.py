"""The scale of a matrix as a power of two, and its row blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

# Numbers between 2^-64 and 2^64 can be squared twice over and summed a million times without leaving the
# range of doubles, so such matrices are used as they are, without a scaled copy.
MODEST_EXPONENT = 64

# Rows that are multiplied at once. A block product of 1024 rows runs at full speed (within a tenth of the whole
# at once, for 2,000 columns), and sums of blocks have a smaller error bound than one long sum.
BLOCK_ROWS = 1024


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
