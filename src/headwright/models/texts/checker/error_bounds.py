"""Numbers with a bound on their distance from the exact ones, carried through every step entry by entry.

The search bounds whole vectors by their lengths instead. A rounded result z errs by at most 2^-53 |z|, and by less than
1e-300 where numbers are so small that some are lost; a sum of n numbers, in any order, by n times that of their sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError

UNIT = 2.0**-53
LOST = 1e-300

Array = Float[np.ndarray, "..."]
Indices = Int[np.ndarray, " tokens"]


class DoubtError(InputError):
    """Why the statement is not accepted."""


@dataclass(frozen=True, eq=False)
class Known:
    """Each exact number is within `off` of `mid`."""

    mid: Array
    off: Array

    @classmethod
    def exactly(cls, numbers: Array) -> Known:
        """Numbers that are what they are."""
        numbers = np.asarray(numbers, dtype=np.float64)
        return cls(numbers, np.zeros_like(numbers))

    def plus(self, other: Known) -> Known:
        """Entry by entry."""
        mid = self.mid + other.mid
        return Known(mid, (self.off + other.off + UNIT * np.abs(mid)) * (1 + 8 * UNIT) + LOST)

    def times(self, other: Known) -> Known:
        """Entry by entry."""
        mid = self.mid * other.mid
        off = np.abs(self.mid) * other.off + np.abs(other.mid) * self.off + self.off * other.off
        return Known(mid, (off + UNIT * np.abs(mid)) * (1 + 16 * UNIT) + LOST)

    def negated(self) -> Known:
        """Which is exact."""
        return Known(-self.mid, self.off)

    def mean(self) -> Known:
        """Over the last axis, kept: a sum of n numbers in any order errs by n units of the sum of their sizes."""
        n = self.mid.shape[-1]
        off = (self.off.sum(-1, keepdims=True) + (n + 1) * UNIT * np.abs(self.mid).sum(-1, keepdims=True)) / n
        return Known(self.mid.mean(-1, keepdims=True), off * (1 + 4 * n * UNIT) + LOST)

    def matmul(self, matrix: Array) -> Known:
        """With a matrix of exact numbers."""
        n = matrix.shape[0]
        size = np.abs(matrix)
        off = self.off @ size + (n + 1) * UNIT * ((np.abs(self.mid) + self.off) @ size)
        return Known(self.mid @ matrix, off * (1 + 4 * n * UNIT) + LOST)

    def along(self, other: Known) -> Known:
        """The product of each row with the other's."""
        n, product = self.mid.shape[1], self.times(other)
        off = (product.off.sum(1) + (n + 1) * UNIT * np.abs(product.mid).sum(1)) * (1 + 8 * n * UNIT) + LOST
        return Known(product.mid.sum(1), off)

    def one_over_root(self) -> Known:
        """1 / sqrt of numbers that are certainly above 0: its slope is largest at the lowest of them."""
        low = self.mid - self.off
        if not bool((low > 0).all()):
            raise DoubtError("a norm divides by next to nothing")
        mid = 1 / np.sqrt(self.mid)
        return Known(mid, (self.off / (2 * low * np.sqrt(low)) + 4 * UNIT * mid) * (1 + 16 * UNIT) + LOST)

    def rows(self, which: slice | Indices) -> Known:
        """Some of them."""
        return Known(self.mid[which], self.off[which])
