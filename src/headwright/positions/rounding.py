"""Rounding to the number types of real models: float32, float16, bfloat16, to nearest with ties to even."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError

DType = Literal["exact", "float32", "float16", "bfloat16"]

# How many binary digits a number keeps; 'exact' is float64, where a computer has to write numbers down.
DIGITS: dict[DType, int] = {"exact": 53, "float32": 24, "float16": 11, "bfloat16": 8}
# Half of the smallest number: what is lost, at most, near zero.
LOST_NEAR_ZERO: dict[DType, float] = {
    "exact": 2.0**-1074,
    "float32": 2.0**-150,
    "float16": 2.0**-25,
    "bfloat16": 2.0**-134,
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
                raise InputError(f"{place} is {getattr(self, place)!r}: expected one of {known}")


def round_to(numbers: Float[np.ndarray, "*shape"], dtype: DType) -> Float[np.ndarray, "*shape"]:
    """float64 numbers rounded to nearest, ties to even, once; still held in float64.

    >>> import numpy as np
    >>> round_to(np.array([257.0, 259.0, 1e39]), "bfloat16").tolist()
    [256.0, 260.0, inf]
    """
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
        result = np.where(np.abs(result) >= 2.0**128, np.copysign(np.inf, numbers), result)
        result = np.where(np.isfinite(numbers), result, numbers)
    if not size.min(initial=1.0) >= 2.0**-126:  # below, bfloat16 has a fixed unit of 2^-133
        small = size < 2.0**-126
        result[small] = np.rint(numbers[small] * 2.0**133) * 2.0**-133
    return result
