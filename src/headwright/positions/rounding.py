"""Rounding to float32, float16 and bfloat16 (to nearest, ties to even), and the rows of a scheme after rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from flint import arb, ctx
from jaxtyping import Bool, Float, Int

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.numerics.enclosure import Enclosure
from headwright.numerics.float_formats import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    FloatFormat,
)
from headwright.positions.schemes import Alibi, Scheme, Waves, exact_powers, waves

DType = Literal["exact", "float32", "float16", "bfloat16"]

# 'exact' is float64, where a computer has to write numbers down.
FORMATS: dict[DType, FloatFormat] = {
    "exact": FLOAT64,
    "float32": FLOAT32,
    "float16": FLOAT16,
    "bfloat16": BFLOAT16,
}


@dataclass(frozen=True)
class Precision:
    """Where the numbers of a position are rounded, and to which type.

    index: the position t itself. angle: the frequencies w_i and the products t w_i (sinusoids and rotary
    embeddings only). rows: the sines and cosines, or whatever numbers the position is known by.

    A model that keeps its positions in bfloat16, and one that computes the table in float32 and stores it in
    bfloat16:

    >>> Precision(index="bfloat16")
    Precision(index='bfloat16', angle='exact', rows='exact')
    >>> Precision(index="float32", angle="float32", rows="bfloat16").rows
    'bfloat16'
    """

    index: DType = "exact"
    angle: DType = "exact"
    rows: DType = "exact"

    def __post_init__(self) -> None:
        """Refuse types that are unknown."""
        for place in ("index", "angle", "rows"):
            if getattr(self, place) not in get_args(DType):
                known = ", ".join(get_args(DType))
                raise InputError(
                    f"{place} is {getattr(self, place)!r}: expected one of {known}"
                )


def round_to(
    numbers: Float[np.ndarray, "*shape"], dtype: DType
) -> Float[np.ndarray, "*shape"]:
    """float64 numbers rounded to nearest, ties to even, once; still held in float64.

    >>> import numpy as np
    >>> round_to(np.array([257.0, 259.0, 1e39]), "bfloat16").tolist()
    [256.0, 260.0, inf]
    """
    check_argument("dtype", dtype, DType)
    if dtype == "exact":
        return numbers
    if dtype == "bfloat16":
        return _bfloat16(numbers)
    with np.errstate(over="ignore"):  # infinity is the rounded number
        return numbers.astype(np.dtype(dtype)).astype(np.float64)


def _bfloat16(numbers: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    # By way of float32 some numbers would be rounded twice, and wrongly: so straight on the bits of float64,
    # of which bfloat16 drops the last 45. Adding just under half a unit (half a unit, if the last digit kept is
    # odd) carries into that digit exactly when rounding to nearest even asks for it.
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    rounded = bits >> np.uint64(45)
    rounded &= np.uint64(1)
    rounded += np.uint64(2**44 - 1)
    rounded += bits
    rounded &= np.uint64(2**64 - 2**45)
    result = rounded.view(np.float64)
    size = np.abs(numbers)
    if not size.max(initial=0.0) < 2.0**127:  # 'not <', so that nan comes here too
        result = np.where(
            np.abs(result) >= 2.0**128, np.copysign(np.inf, numbers), result
        )
        result = np.where(np.isfinite(numbers), result, numbers)
    if (
        not size.min(initial=1.0) >= 2.0**-126
    ):  # below, bfloat16 has a fixed unit of 2^-133
        small = size < 2.0**-126
        result[small] = np.rint(numbers[small] * 2.0**133) * 2.0**-133
    return result


class RoundedRows:
    """The rows at 0..length-1 with the roundings that a precision asks for, computed in float64 in between."""

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

    def __call__(
        self, positions: Int[np.ndarray, " k"], part: slice = slice(None)
    ) -> Float[np.ndarray, "k columns"]:
        """The rows at these positions; `part` counts pairs of columns for waves, and columns otherwise."""
        index = self.index[positions]
        if isinstance(self.scheme, Waves):
            products = index[:, None] * self.frequencies[part]
            angles = round_to(products, self.precision.angle)
            return round_to(waves(angles), self.precision.rows)
        return round_to(self.scheme.rows(index)[:, part], self.precision.rows)

    def lost(self) -> Bool[np.ndarray, " length"]:
        """Which positions have numbers that are not finite."""
        lost: Bool[np.ndarray, " length"] = ~np.isfinite(self.index)
        if isinstance(
            self.scheme, Waves
        ):  # the largest angle is the index itself, since w_0 = 1
            lost |= ~np.isfinite(round_to(self.index, self.precision.angle))
            return lost
        known = np.flatnonzero(~lost)
        step = max(1, 2**20 // self.dim)
        for start in range(0, len(known), step):
            block = known[start : start + step]
            lost[block] = ~np.isfinite(self(block)).all(axis=1)
        return lost

    def rounding_bound(self, last: int) -> float | None:
        """A bound of |rounded row - exact row| for the index 0..last; None where none is known.

        An angle is off by last |w_i in use - w_i|, plus the rounding of its product (none when w_i is a power of
        two and the index has few digits); a pair moves by no more than its angle. Each sine and cosine is then
        off by 2^-45 for NumPy's, generously, and by half a unit below 1 for rounding.
        """
        if not isinstance(self.scheme, Waves | Alibi):
            return None
        if self.unrounded:
            return 0.0
        row_format = FORMATS[self.precision.rows]
        # Relative, and the distance of numbers just below 1.
        unit = row_format.unit_roundoff
        if isinstance(self.scheme, Waves):
            w = self.frequencies
            angle_format = FORMATS[self.precision.angle]
            whole = (np.frexp(w)[0] == 0.5) & (last <= 2**angle_format.precision)
            rounding = last * w * angle_format.unit_roundoff + angle_format.tiny_error
            product = np.where(whole, 0.0, rounding)
            angle = last * _deviation(w, self.scheme) + product
            moved = angle + 2**0.5 * (2.0**-45 + unit / 2)
        else:
            s = self.scheme.slopes
            moved = last * (_deviation(s, self.scheme) + s * (unit + 2.0**-52))
            moved += row_format.tiny_error
        # The factor pays for the roundings above.
        return float(np.sqrt(np.sum(moved**2))) * (1 + 2.0**-30)


def _deviation(
    numbers: Float[np.ndarray, " k"], scheme: Waves | Alibi
) -> Float[np.ndarray, " k"]:
    """How far the frequencies or slopes in use are from what they should be, at most."""
    with ctx.workprec(128):
        true = exact_powers(
            2.0 if isinstance(scheme, Alibi) else scheme.base, scheme.exponents
        )
        gaps = [
            abs(arb(number) - x)
            for number, x in zip(numbers.tolist(), true, strict=True)
        ]
        return np.array([Enclosure.of(gap).upper for gap in gaps])
