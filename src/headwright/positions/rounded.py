"""The rows of a scheme after every rounding, and a proven bound of how far rounding moves them."""

from __future__ import annotations

import numpy as np
from flint import arb, ctx
from jaxtyping import Bool, Float, Int

from headwright.enclosure import Enclosure
from headwright.positions.balls import powers
from headwright.positions.rounding import DIGITS, LOST_NEAR_ZERO, Precision, round_to
from headwright.positions.schemes import Alibi, Scheme, Waves, waves
from headwright.positions.twins import Rows


class RoundedRows:
    """The rows at 0..length-1 with the roundings that a precision asks for, computed in float64 in between.

    >>> import numpy as np
    >>> from headwright.positions import Precision, Sinusoidal
    >>> rows = RoundedRows(Sinusoidal(2), 3, Precision(rows="bfloat16"))
    >>> rows(np.array([1])).tolist()
    [[0.83984375, 0.5390625]]
    """

    def __init__(self, scheme: Scheme, length: int, precision: Precision) -> None:
        """Round the index and the frequencies, once for all."""
        self.scheme, self.precision = scheme, precision
        self.index = round_to(np.arange(length, dtype=np.float64), precision.index)
        self.dim = scheme.rows(np.zeros(1)).shape[1]
        self.units = self.dim  # what `part` counts below
        self.unrounded = precision.rows == "exact"
        if isinstance(scheme, Waves):
            self.units = self.dim // 2
            self.unrounded &= precision.angle == "exact"
            self.frequencies = round_to(scheme.frequencies, precision.angle)

    def __len__(self) -> int:
        """How many positions there are."""
        return len(self.index)

    def __call__(self, positions: Int[np.ndarray, " k"], part: slice = slice(None)) -> Float[np.ndarray, "k columns"]:
        """The rows at these positions; `part` counts pairs of columns for waves, and columns otherwise."""
        if isinstance(self.scheme, Waves):
            return round_to(waves(self.angles(positions, part)), self.precision.rows)
        return round_to(self.scheme.rows(self.index[positions])[:, part], self.precision.rows)

    def angles(self, positions: Int[np.ndarray, " k"], part: slice = slice(None)) -> Float[np.ndarray, "k half"]:
        """The angles t w_i of waves at these positions, rounded."""
        return round_to(self.index[positions][:, None] * self.frequencies[part], self.precision.angle)

    def stages(self) -> list[Rows]:
        """What makes rows equal, from the cheap to the dear: equal angles do, and cost no sines."""
        rounded = self.precision.angle != "exact" and isinstance(self.scheme, Waves)
        return [self.angles, self] if rounded else [self]

    def lost(self) -> Bool[np.ndarray, " length"]:
        """Which positions have numbers that are not finite."""
        lost: Bool[np.ndarray, " length"] = ~np.isfinite(self.index)
        if isinstance(self.scheme, Waves):  # the largest angle is the index itself, since w_0 = 1
            lost |= ~np.isfinite(round_to(self.index, self.precision.angle))
            return lost
        known = np.flatnonzero(~lost)
        step = max(1, 2**20 // self.dim)
        for start in range(0, len(known), step):
            block = known[start : start + step]
            lost[block] = ~np.isfinite(self(block)).all(axis=1)
        return lost

    def moved(self, last: int) -> float | None:
        """A bound of |rounded row - exact row| for the index 0..last; None where none is known.

        An angle is off by last |w_i in use - w_i|, plus the rounding of its product (none when w_i is a power of
        two and the index has few digits); a pair moves by no more than its angle. Each sine and cosine is then
        off by 2^-45 for NumPy's, generously, and by half a unit below 1 for rounding.
        """
        if not isinstance(self.scheme, Waves | Alibi):
            return None
        if self.unrounded:
            return 0.0
        unit = 2.0 ** -DIGITS[self.precision.rows]  # relative, and the distance of numbers just below 1
        if isinstance(self.scheme, Waves):
            w, digits = self.frequencies, DIGITS[self.precision.angle]
            whole = (np.frexp(w)[0] == 0.5) & (last <= 2**digits)
            product = np.where(whole, 0.0, last * w * 2.0**-digits + LOST_NEAR_ZERO[self.precision.angle])
            angle = last * _deviation(w, self.scheme) + product
            moved = angle + 2**0.5 * (2.0**-45 + unit / 2)
        else:
            s = self.scheme.slopes
            moved = last * (_deviation(s, self.scheme) + s * (unit + 2.0**-52))
            moved += LOST_NEAR_ZERO[self.precision.rows]
        return float(np.sqrt(np.sum(moved**2))) * (1 + 2.0**-30)  # which pays for the roundings above


def _deviation(numbers: Float[np.ndarray, " k"], scheme: Waves | Alibi) -> Float[np.ndarray, " k"]:
    """How far the frequencies or slopes in use are from what they should be, at most."""
    with ctx.workprec(128):
        true = powers(2.0 if isinstance(scheme, Alibi) else scheme.base, scheme.exponents)
        gaps = [abs(arb(number) - x) for number, x in zip(numbers.tolist(), true, strict=True)]
        return np.array([Enclosure.of(gap).upper for gap in gaps])
