"""What rounding may change, in exact fractions: docs/explanation/ranges.md, section Rounding, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.errors import InputError

# Roundings to nearest of a type change a number by 2^-precision; below the normal numbers by `tiny`.
PRECISION = {"float32": 24, "bfloat16": 8, "float16": 11}
LARGEST = {
    "float32": Fraction((2**24 - 1) * 2**104),
    "bfloat16": Fraction((2**8 - 1) * 2**120),
    "float16": Fraction(65504),
}
TINY = {
    "float32": Fraction(1, 2**126),
    "bfloat16": Fraction(1, 2**126),
    "float16": Fraction(1, 2**25),
}
ULP32 = Fraction(1, 2**23)
TINY32 = Fraction(1, 2**126)


@dataclass(frozen=True)
class Allowances:
    """The relative errors of the steps of a layer, in one arithmetic."""

    arithmetic: str

    def __post_init__(self) -> None:
        if self.arithmetic not in PRECISION:
            raise InputError(f"arithmetic {self.arithmetic!r} is not known")

    @property
    def u(self) -> Fraction:
        """The unit roundoff of the type."""
        return Fraction(1, 2 ** PRECISION[self.arithmetic])

    @property
    def largest(self) -> Fraction:
        """The largest finite number of the type."""
        return LARGEST[self.arithmetic]

    @property
    def tiny(self) -> Fraction:
        """The error of rounding a number below the normal ones."""
        return TINY[self.arithmetic]

    def delta(self, kind: str, width: int) -> Fraction:
        """Of a norm: how much longer than sqrt(width) what it returns may be, or how far off."""
        if kind == "layer":
            return Fraction(1, 128)
        in_float32 = addition_error(width + 10)
        if self.arithmetic == "bfloat16":
            return (1 + in_float32) * (1 + 5 * self.u) - 1
        return in_float32

    @property
    def rho(self) -> Fraction:
        """Of gain and bias."""
        return (1 + self.u) ** 3 * (1 + 4 * ULP32) - 1

    def pi(self, terms: int) -> Fraction:
        """Of an inner product with a bias."""
        return (1 + self.u) ** 3 * (1 + addition_error(terms + 2)) - 1

    def lost(self, terms: int) -> Fraction:
        """What underflow may take away from an inner product."""
        return terms * TINY32 + 4 * self.tiny

    def turned_channel(self, scaling: float) -> Fraction:
        """A rotated channel, relative to the length of its pair."""
        return Fraction(scaling) * (1 + Fraction(1, 2**20)) * (1 + self.u) ** 3

    def turned_pair(self, scaling: float) -> Fraction:
        """The length of a rotated pair, relative to that before."""
        of_channel = (1 + self.u) ** 2 - 1
        turn = Fraction(scaling) * (1 + Fraction(1, 2**20)) * (1 + self.u)
        return turn * (1 + Fraction(142, 100) * of_channel)

    def product(self, terms: int) -> Fraction:
        """Of a product of a query with a key."""
        return (1 + self.u) ** 2 * (1 + addition_error(terms + 2))

    @property
    def scaled(self) -> Fraction:
        """Of the product with the scale."""
        return (1 + self.u) * (1 + 4 * ULP32)


def addition_error(terms: int) -> Fraction:
    """Of adding so many numbers in float32 in any order, perhaps in blocks of four that are cut off."""
    total = (Fraction(5, 4) * terms + 1) * ULP32
    return total / (1 - total)
