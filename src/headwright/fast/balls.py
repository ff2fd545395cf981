"""Arrays of numbers that are known up to a radius, with the rounding of every operation inside the radius.

u = 2^-53. A rounded sum, product or root z has an error of at most u |z|, and of 2^-1022 where numbers that small are
lost. The radius is itself computed with at most eight roundings of non-negative numbers, so it is too small by a factor
of at most (1 - u)^8, which (1 + 2^-49) makes good; TINY makes good what underflow loses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

U = 2.0**-53
UP = 1 + 2.0**-49
TINY = 2.0**-1000

Array = Float[np.ndarray, " n"]


def gamma(k: int) -> float:
    """k u / (1 - k u) from above, for k up to 2^24: what k roundings can change, relatively."""
    if not 0 <= k <= 2**24:
        raise ValueError(f"{k} roundings")
    return k * U * (1 + 2.0**-20)


@dataclass(frozen=True, eq=False)
class Balls:
    """Each true number lies within rad of mid. A radius that is infinite or nan says nothing."""

    mid: Array
    rad: Array

    @classmethod
    def of(cls, exact: Array) -> Balls:
        """Exact numbers."""
        return cls(exact, np.zeros_like(exact))

    def __add__(self, other: Balls) -> Balls:
        with np.errstate(all="ignore"):
            mid = self.mid + other.mid
            return Balls(mid, (self.rad + other.rad + U * np.abs(mid) + TINY) * UP)

    def __mul__(self, other: Balls) -> Balls:
        with np.errstate(all="ignore"):
            mid = self.mid * other.mid
            rad = np.abs(self.mid) * other.rad + (np.abs(other.mid) + other.rad) * self.rad
            return Balls(mid, (rad + U * np.abs(mid) + TINY) * UP)

    def __getitem__(self, chosen: slice | np.ndarray) -> Balls:
        return Balls(self.mid[chosen], self.rad[chosen])

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
            near = np.where(mid > 0, self.rad / mid, np.inf)  # fmin below: no number (0/0, inf/inf) is no bound
            return Balls(mid, (np.fmin(near, np.sqrt(self.rad)) + U * mid + 2.0**-500) * UP)

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
