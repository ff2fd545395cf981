"""The number formats that models are computed in, as far as rounding needs them."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.errors import InputError


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format.

    >>> BFLOAT16.unit_roundoff == 2.0**-8
    True
    """

    name: str
    precision: int  # binary digits of a significand, with the leading one
    least_exponent: int  # 2^least_exponent is the smallest normal number
    largest: float
    tiny_error: float  # how far off a number below 2^least_exponent may be rounded

    @property
    def unit_roundoff(self) -> float:
        """The largest relative error of rounding to nearest."""
        return 2.0**-self.precision

    @property
    def ulp(self) -> float:
        """The largest relative error of truncation, and of any faithful rounding."""
        return 2.0 ** (1 - self.precision)


# Below their smallest normal number, float32, bfloat16 and tf32 may be flushed to zero
# (CUDA's .ftz, and set_flush_denormal): the error is then the number itself. float16
# and float8 are rounded to a multiple of their smallest number on every machine.
FLOAT64 = FloatFormat("float64", 53, -1022, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022)
FLOAT32 = FloatFormat("float32", 24, -126, (2 - 2.0**-23) * 2.0**127, 2.0**-126)
TF32 = FloatFormat("tf32", 11, -126, (2 - 2.0**-10) * 2.0**127, 2.0**-126)
BFLOAT16 = FloatFormat("bfloat16", 8, -126, (2 - 2.0**-7) * 2.0**127, 2.0**-126)
FLOAT16 = FloatFormat("float16", 11, -14, 65504.0, 2.0**-25)
E4M3 = FloatFormat("float8_e4m3", 4, -6, 448.0, 2.0**-10)

# Those that tensors have.
INPUT_FORMATS = {
    number_format.name: number_format
    for number_format in (FLOAT64, FLOAT32, BFLOAT16, FLOAT16)
}


def input_format(dtype: object, what: str) -> FloatFormat:
    """The format of an array of this type.

    >>> input_format("torch.bfloat16", "q").name
    'bfloat16'
    """
    name = str(dtype).removeprefix("torch.")
    if name not in INPUT_FORMATS:
        expected = ", ".join(INPUT_FORMATS)
        raise InputError(f"{what} holds numbers of type {name}: expected {expected}")
    return INPUT_FORMATS[name]
