"""The arithmetic that a statement about ranges holds for: what each step of a layer may round.

Numbers of the model are of a type T: float32, bfloat16 or float16, with unit roundoff u. What is assumed of a
kernel is listed here, step by step, as relative errors. `docs/explanation/ranges.md` has the theorem.

norm        RMSNorm: squares, their mean, the sum with eps, the inverse root and the product may each be rounded to T
            (to float32 where T is float16), the inverse root by up to 2 u; the sum of squares is added in float32, in
            any order. So the vector that comes out is longer than it should be by a factor of 1 + `norm` at most.
            LayerNorm: what comes out is within `norm` times sqrt(D) of the exact result. In float32 that holds unless
            the mean of the input is many times its deviation.
gain        the normed number, the gain and their product (and the sum with a bias) are rounded to T
projection  products and sums in float32, in any order, perhaps cut off as tensor cores do; the result, partial sums
            that are combined, and the sum with the bias are rounded to T
rotation    cos and sin are within 2^-21 of exact ones of some angle, times the scaling, rounded to T; both products
            and their sum are rounded to T
score       as a projection, without bias; then one product with the scale, which is rounded

Nothing is assumed of float16 accumulation or of TF32: a kernel that uses them is outside of the statement.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwright.errors import InputError
from headwright.numerics.float_formats import BFLOAT16, FLOAT16, FLOAT32, FloatFormat

FLOAT32_ULP = FLOAT32.ulp  # twice the unit roundoff: sums may be cut off
FLOAT32_TINY = FLOAT32.tiny_error
FLOAT32_LARGEST = FLOAT32.largest
LAYER_NORM_ERROR = 2.0**-7
LEAST_EPS = 2.0**-100  # far above what underflow can take away from a mean of squares
# Tensor cores add at least four products at once, and cut off the sum of each block.
OPERATIONS_PER_TERM = 1.25
LARGEST_WIDTH = 2**20


@dataclass(frozen=True)
class Arithmetic:
    """A type of numbers, and what computing in it may change.

    >>> bfloat16 = arithmetic_of("bfloat16")
    >>> round(bfloat16.norm_error("rms", 576), 5), round(bfloat16.rotation_of_channel(1.0), 5)
    (0.01962, 1.01177)
    """

    name: str
    unit: float  # the largest relative error of rounding to nearest
    tiny: float  # the largest error of rounding a number below the normal ones
    largest: float  # the largest finite number

    def norm_error(self, kind: str, width: int) -> float:
        """How far the vector that a norm returns may be from the ball of radius sqrt(width), relatively."""
        if kind == "layer":
            return LAYER_NORM_ERROR
        of_float32 = sum_error(width + 10)
        if self.name != "bfloat16":
            return of_float32
        # (1 - u)^-1.5 from three roundings under the root, 1 + 2 u from the inverse root, 1 + u from the product:
        # together less than 1 + 5 u.
        return of_float32 + 5 * self.unit * (1 + of_float32)

    @property
    def gain_error(self) -> float:
        """Relative error of the gain and the bias of a norm: three roundings to T, and four in float32."""
        return (1 + self.unit) ** 3 * (1 + 4 * FLOAT32_ULP) - 1

    def projection_error(self, terms: int) -> float:
        """Error of an inner product with so many terms and a bias, relative to the sum of the sizes of its terms."""
        return (1 + self.unit) ** 3 * (1 + sum_error(terms + 2)) - 1

    def projection_tiny(self, terms: int) -> float:
        """What underflow adds to that."""
        return terms * FLOAT32_TINY + 4 * self.tiny

    def rotation_of_channel(self, scaling: float) -> float:
        """A channel after rotation, divided by the length of its pair before, is at most this."""
        turn = scaling * (1 + 2.0**-20) * (1 + self.unit)
        return turn * (1 + self.unit) ** 2

    def rotation_of_pair(self, scaling: float) -> float:
        """The length of a pair after rotation, divided by that before, is at most this."""
        turn = scaling * (1 + 2.0**-20) * (1 + self.unit)
        # Each channel errs by (1 + u)^2 - 1 relative to the length of the pair: together by sqrt(2) times that.
        return turn * (1 + 1.42 * ((1 + self.unit) ** 2 - 1))

    @property
    def rotation_tiny(self) -> float:
        """What underflow adds to a channel that is rotated."""
        return 4 * self.tiny

    def product_error(self, terms: int) -> float:
        """A computed product of a query with a key may exceed the bound of the exact one by this factor."""
        return (1 + self.unit) ** 2 * (1 + sum_error(terms + 2))

    @property
    def scale_error(self) -> float:
        """And the product with the scale by this one."""
        return (1 + self.unit) * (1 + 4 * FLOAT32_ULP)


def sum_error(terms: int) -> float:
    """What adding so many numbers in float32, in any order, changes relative to the sum of their sizes.

    >>> sum_error(4096) < 7e-4
    True
    """
    total = (OPERATIONS_PER_TERM * terms + 1) * FLOAT32_ULP
    return total / (1 - total)


def _arithmetic_in(number_format: FloatFormat) -> Arithmetic:
    return Arithmetic(
        number_format.name,
        number_format.unit_roundoff,
        number_format.tiny_error,
        number_format.largest,
    )


ARITHMETICS = {
    number_format.name: _arithmetic_in(number_format)
    for number_format in (FLOAT32, BFLOAT16, FLOAT16)
}


def arithmetic_of(name: str) -> Arithmetic:
    """The arithmetic with numbers of this type."""
    if name not in ARITHMETICS:
        expected = ", ".join(ARITHMETICS)
        raise InputError(
            f"ranges are not known for numbers of type {name}: expected {expected}"
        )
    return ARITHMETICS[name]
