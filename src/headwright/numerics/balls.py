"""Arrays of numbers that are known up to a radius, with the rounding of every operation inside the radius.

Numbers are float64, u = 2^-53, gamma_k = k u / (1 - k u). Three facts are used (Higham, Accuracy and Stability of
Numerical Algorithms, sections 2.2, 3.1 and 4.2):

1. *One rounding.* A rounded sum, product, quotient or root z is within u |z| of the exact one. Where results below
   2^-1022 lose bits or are flushed to 0, it is within u |z| + 2^-1022.
2. *A sum in any order.* A computed sum of n numbers is within gamma_(n-1) sum |x_i| of the exact one, and an inner
   product of n terms within gamma_n sum |x_i y_i|, in whatever order the terms are added, with or without fused steps.
3. *A radius.* A radius is itself computed, by k roundings of numbers that are not negative. So it is too small by a
   factor of (1 - u)^k >= 1 - k u at most, and a factor of 1 + 2 gamma_k makes that good while gamma_k <= 1/2:
   (1 - k u) (1 + 2 gamma_k) >= (1 - k u) (1 + 2 k u) = 1 + k u (1 - 2 k u) >= 1.

TINY = 2^-1000 is added to each radius: that covers 2^20 results of which each lost 2^-1022.

A radius that is infinite or nan says nothing. Each radius has a term u |mid|, so that a middle beyond all floats has
such a radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

U = 2.0**-53
UP = 1 + 2.0**-49  # makes eight roundings of a radius good
TINY = 2.0**-1000
MOST_ROUNDINGS = 2**24
SMALLEST_SQUARE = 2.0**-600  # its power of 3/2 is a normal number

Array = Float[np.ndarray, "..."]


class ImprecisionError(ArithmeticError):
    """Not certain from the numbers as they are known; if they are known better, it may be."""


def gamma(k: int) -> float:
    """k u / (1 - k u) from above, for k up to 2^24: what k roundings can change, relatively."""
    if not 0 <= k <= MOST_ROUNDINGS:
        raise ValueError(f"{k} roundings")
    # 1 / (1 - k u) <= 1 + 2^-28 for such k. Both products are exact: k has 25 bits, and the factor 21.
    return k * U * (1 + 2.0**-20)


@dataclass(frozen=True, eq=False)
class Balls:
    """Each true number lies within `rad` of `mid`; each operation's result holds the operation's result for them.

    >>> third = Balls(np.array([1 / 3]), np.array([2.0**-54]))
    >>> bool((third + third + third).lower()[0] < 1 < (third + third + third).upper()[0])
    True
    """

    mid: Array
    rad: Array

    @classmethod
    def of(cls, exact: Array) -> Balls:
        """Exact numbers."""
        numbers = np.asarray(exact, dtype=np.float64)
        return cls(numbers, np.zeros_like(numbers))

    def __getitem__(self, chosen: Any) -> Balls:
        return Balls(self.mid[chosen], self.rad[chosen])

    @property
    def transposed(self) -> Balls:
        """Rows as columns."""
        return Balls(self.mid.T, self.rad.T)

    def __neg__(self) -> Balls:
        """Exact: a sign is not rounded."""
        return Balls(-self.mid, self.rad)

    def __add__(self, other: Balls) -> Balls:
        """|(x + y) - fl(a + b)| <= |x - a| + |y - b| + u |fl(a + b)|."""
        with np.errstate(all="ignore"):
            mid = self.mid + other.mid
            rad = self.rad + other.rad + U * np.abs(mid)
            return Balls(mid, _covered(rad, 8))

    def __sub__(self, other: Balls) -> Balls:
        """The sum with the other's negative."""
        return self + -other

    def __mul__(self, other: Balls) -> Balls:
        """x y - a b = a (y - b) + (b + (y - b)) (x - a), and fl(a b) is within u |fl(a b)| of a b."""
        with np.errstate(all="ignore"):
            mid = self.mid * other.mid
            from_other = np.abs(self.mid) * other.rad
            from_self = (np.abs(other.mid) + other.rad) * self.rad
            return Balls(mid, _covered(from_other + from_self + U * np.abs(mid), 8))

    def max(self, other: Balls) -> Balls:
        """The larger of the two: it moves no further than the further moved of them."""
        return Balls(np.maximum(self.mid, other.mid), np.maximum(self.rad, other.rad))

    def sqrt(self) -> Balls:
        """The root of a number that is certainly not negative, though its ball may reach below 0.

        |sqrt(t) - sqrt(m)| is at most |t - m| / sqrt(m), and at most sqrt(|t - m|); for m < 0 <= t it is sqrt(t) with
        t <= |t - m|.
        """
        with np.errstate(all="ignore"):
            mid = np.sqrt(np.maximum(self.mid, 0.0))
            by_slope = np.where(mid > 0, self.rad / mid, np.inf)
            # fmin passes over what is no number (0/0, inf/inf): the other of the two bounds holds by itself.
            rad = np.fmin(by_slope, np.sqrt(self.rad)) + U * mid + 2.0**-500
            return Balls(mid, _covered(rad, 8))

    def inverse_sqrt(self) -> Balls:
        """1 / sqrt(t); nothing is said where t may be below SMALLEST_SQUARE.

        The slope of 1 / sqrt is 1 / (2 t^(3/2)) in size, largest at the lowest t. fl(1 / fl(sqrt(m))) is within
        3 u of itself, relatively: one rounding of the root, one of the quotient.
        """
        with np.errstate(all="ignore"):
            low = self.lower()
            mid = 1 / np.sqrt(self.mid)
            from_slope = self.rad / (2 * low * np.sqrt(low))
            rad = _covered(from_slope + 3 * U * np.abs(mid), 8)
            return Balls(mid, np.where(low > SMALLEST_SQUARE, rad, np.inf))

    def sum(self, axis: int = -1, *, keepdims: bool = False) -> Balls:
        """Over an axis: the computed sum errs by fact 2."""
        n = self.mid.shape[axis]
        with np.errstate(all="ignore"):
            mid = self.mid.sum(axis=axis, keepdims=keepdims)
            sizes = np.abs(self.mid).sum(axis=axis, keepdims=keepdims)
            radii = self.rad.sum(axis=axis, keepdims=keepdims)
            rad = radii + gamma(n) * sizes + U * np.abs(mid)
            return Balls(mid, _covered(rad, n + 4))

    def mean(self) -> Balls:
        """Over the last axis, which is kept: the sum times 1 / n, and 1 / n is rounded once."""
        share = np.array(1 / self.mid.shape[-1])
        return self.sum(keepdims=True) * Balls(share, U * share)

    def row_products(self, other: Balls) -> Balls:
        """<x_i, y_i> of each row with the other's row of the same number."""
        return (self * other).sum()

    def products(self, other: Balls) -> Balls:
        """<x_i, y_j> of each row with each of the other's rows.

        Entry by entry, x y - a b = a (y - b) + (x - a) (b + (y - b)); the sum of the a b errs by fact 2.
        """
        n = self.mid.shape[-1]
        with np.errstate(all="ignore"):
            mid = self.mid @ other.mid.T
            size = np.abs(self.mid)
            other_size = np.abs(other.mid)
            from_other = size @ other.rad.T
            from_self = self.rad @ (other_size + other.rad).T
            rounding = gamma(n) * (size @ other_size.T) + U * np.abs(mid)
            return Balls(mid, _covered(from_other + from_self + rounding, n + 6))

    def matmul(self, matrix: Array) -> Balls:
        """Each row times a matrix of exact numbers: sum_i x_i W_i, of which sum_i a_i W_i errs by fact 2."""
        n = matrix.shape[0]
        with np.errstate(all="ignore"):
            mid = self.mid @ matrix
            size = np.abs(matrix)
            from_self = self.rad @ size
            rounding = gamma(n) * (np.abs(self.mid) @ size) + U * np.abs(mid)
            return Balls(mid, _covered(from_self + rounding, n + 5))

    def upper(self) -> Array:
        """Not below the true numbers; infinity where nothing is known."""
        with np.errstate(all="ignore"):
            above = np.nextafter(self.mid + self.rad, np.inf)
        return np.where(np.isnan(above), np.inf, above)

    def lower(self) -> Array:
        """Not above the true numbers; minus infinity where nothing is known."""
        with np.errstate(all="ignore"):
            below = np.nextafter(self.mid - self.rad, -np.inf)
        return np.where(np.isnan(below), -np.inf, below)


def concatenate(parts: list[Balls], axis: int = 0) -> Balls:
    """One array after the other."""
    mids = [part.mid for part in parts]
    rads = [part.rad for part in parts]
    return Balls(np.concatenate(mids, axis=axis), np.concatenate(rads, axis=axis))


def _covered(radius: Array, roundings: int) -> Array:
    """Fact 3: not below the radius that was computed with so many roundings.

    The factor, the product with it and the sum with TINY are rounded, too: three more, and one to spare.
    """
    covered: Array = radius * (1 + 2 * gamma(roundings + 4)) + TINY
    return covered
