"""What rounding may change, in exact fractions: docs/explanation/ranges.md, section Rounding, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.errors import InputError

# Roundings to nearest of a type change a number by 2^-precision.
PRECISION = {"float32": 24, "bfloat16": 8, "float16": 11}
LARGEST = {
    "float32": Fraction((2**24 - 1) * 2**104),
    "bfloat16": Fraction((2**8 - 1) * 2**120),
    "float16": Fraction(65504),
}
# Below the normal numbers, roundings change a number by this.
TINY = {
    "float32": Fraction(1, 2**126),
    "bfloat16": Fraction(1, 2**126),
    "float16": Fraction(1, 2**25),
}
# The distance of neighbours in float32, relatively: sums may be cut off, and not rounded to nearest.
ULP32 = Fraction(1, 2**23)
TINY32 = Fraction(1, 2**126)

# A LayerNorm returns a vector within this share of sqrt(D) of the exact one.
LAYER_NORM_ERROR = Fraction(1, 128)
# cos and sin are off by 2^-21 each: relative to the length of a pair, by less than this.
ANGLE_ERROR = Fraction(1, 2**20)
# Above the root of 2.
ROOT_OF_TWO = Fraction(142, 100)


@dataclass(frozen=True)
class Allowances:
    """The errors of the steps of a layer, in one arithmetic. In parentheses: the letter in the theorem."""

    arithmetic: str

    def __post_init__(self) -> None:
        if self.arithmetic not in PRECISION:
            raise InputError(f"arithmetic {self.arithmetic!r} is not known")

    @property
    def unit_roundoff(self) -> Fraction:
        """Of the type (u_T)."""
        return Fraction(1, 2 ** PRECISION[self.arithmetic])

    @property
    def largest(self) -> Fraction:
        """The largest finite number of the type."""
        return LARGEST[self.arithmetic]

    @property
    def tiny(self) -> Fraction:
        """The error of rounding a number below the normal ones."""
        return TINY[self.arithmetic]

    def norm_error(self, kind: str, width: int) -> Fraction:
        """How much longer than sqrt(D) what a norm returns may be, or how far off, relatively (delta)."""
        if kind == "layer":
            return LAYER_NORM_ERROR
        # 1 + delta = 1 + gamma in float32: the sum of squares, and ten roundings around it.
        sum_error = addition_error(width + 10)
        if self.arithmetic != "bfloat16":
            return sum_error
        # 1 + delta = (1 + gamma) (1 + 5 u_T).
        return (1 + sum_error) * (1 + 5 * self.unit_roundoff) - 1

    @property
    def gain_error(self) -> Fraction:
        """Of gain and bias (rho): three roundings to T, and four in float32."""
        return (1 + self.unit_roundoff) ** 3 * (1 + 4 * ULP32) - 1

    def product_error(self, terms: int) -> Fraction:
        """Of an inner product with a bias, relative to the sum of the sizes of its terms (pi)."""
        in_float32 = 1 + addition_error(terms + 2)
        return (1 + self.unit_roundoff) ** 3 * in_float32 - 1

    def product_underflow(self, terms: int) -> Fraction:
        """What underflow may take away from an inner product (t)."""
        return terms * TINY32 + 4 * self.tiny

    @property
    def factor_error(self) -> Fraction:
        """Of a product with a number of the configuration: the number in float32, the product rounded to T."""
        return (1 + self.unit_roundoff) * (1 + 4 * ULP32) - 1

    def rotated_channel(self, scaling: float) -> Fraction:
        """A rotated channel is at most this times the length of its pair: f (1 + 2^-20) (1 + u_T)^3."""
        turn = Fraction(scaling) * (1 + ANGLE_ERROR)
        return turn * (1 + self.unit_roundoff) ** 3

    def rotated_pair(self, scaling: float) -> Fraction:
        """The length of a rotated pair is at most this times that before."""
        turn = Fraction(scaling) * (1 + ANGLE_ERROR) * (1 + self.unit_roundoff)
        # Each of two channels errs by so much of the length of the pair: both by the root of 2 times that.
        of_channel = (1 + self.unit_roundoff) ** 2 - 1
        return turn * (1 + ROOT_OF_TWO * of_channel)

    def score_product(self, terms: int) -> Fraction:
        """A computed product of a query with a key may exceed the exact bound by this factor."""
        return (1 + self.unit_roundoff) ** 2 * (1 + addition_error(terms + 2))

    @property
    def scaled_product(self) -> Fraction:
        """And the product with the scale by this one."""
        return (1 + self.unit_roundoff) * (1 + 4 * ULP32)


def addition_error(terms: int) -> Fraction:
    """Of adding so many numbers in float32 in any order, perhaps in blocks of four that are cut off (gamma)."""
    operations = Fraction(5, 4) * terms + 1
    total = operations * ULP32
    return total / (1 - total)
