"""Exact rationals, and the few functions that are not exact, each from the side that is asked for.

decimal's exp and ln are correctly rounded to nearest, so the next number up or down is a bound. Everything else is
integers and fractions.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import lru_cache

DIGITS = 36
LARGEST_EXPONENT = 5000  # x in exp(x); beyond it no wish is granted, and the work would be large
SMALLEST_DIGIT = 3000  # numbers below 10^-3000 are bounded by 0 and by about that
PI_ABOVE = Fraction("3.14159265358979323846264338327950288419716939937510583")

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=-SMALLEST_DIGIT, Emax=SMALLEST_DIGIT, traps=_TRAPS)
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=-SMALLEST_DIGIT, Emax=SMALLEST_DIGIT, traps=_TRAPS)
_RATIONAL = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400}|(\.[0-9]{1,400})?(e-?[0-9]{1,3})?)")
_HEX_RATIONAL = re.compile(r"(-?0x[0-9a-f]{1,20000})/(0x[1-9a-f][0-9a-f]{0,20000})")
_HEX_FLOAT = re.compile(r"(-?0x[01]\.?[0-9a-f]{0,13})p([+-]?[0-9]{1,4})")


class Reject(Exception):  # noqa: N818  (it is a verdict, not an accident)
    """The certificate is not accepted, and why."""


class Malformed(Reject):
    """It is not even of the format."""


def rational(text: object) -> Fraction:
    """An exact number: '3', '100/101', '0.05', '1e-30', or in hexadecimal a float '0x1.8p+1' or a ratio '0x3/0x2'."""
    if isinstance(text, str) and len(text) <= 50_000 and (number := _rational(text)) is not None:
        return number
    raise Malformed(f"{str(text)[:40]!r} is not a number of the format")


@lru_cache(2**10)  # matrices hold many zeros
def _rational(text: str) -> Fraction | None:
    if _RATIONAL.fullmatch(text):
        return Fraction(text)
    if parts := _HEX_FLOAT.fullmatch(text):  # in two parts: as one, what is too small for a float would be rounded
        return Fraction(float.fromhex(parts[1])) * Fraction(2) ** int(parts[2])
    if ratio := _HEX_RATIONAL.fullmatch(text):
        return Fraction(int(ratio[1], 16), int(ratio[2], 16))
    return None


@lru_cache(2**18)  # the bound often asks again for what granting the wish asked for
def exp_between(numerator: int, denominator: int) -> tuple[Decimal, Decimal]:
    """Bounds of exp(numerator / denominator), for a positive denominator."""
    if numerator == 0:
        return Decimal(1), Decimal(1)
    top, bottom = Decimal(numerator), Decimal(denominator)
    above, below = UP.divide(top, bottom), DOWN.divide(top, bottom)
    if not above <= LARGEST_EXPONENT:
        raise Reject(f"a score difference of {above:.3e} is beyond what is checked")
    nearest = UP.exp(above)  # 0 if it is too small; then the next number up is still above
    # exp(below) >= exp(above) (1 - (above - below)): one exponential serves both sides.
    shrink = DOWN.subtract(Decimal(1), UP.subtract(above, below))
    low, none = nearest.next_minus(DOWN), Decimal(0)  # both factors may be below 0, and their product above it
    return DOWN.multiply(max(none, low), max(none, shrink)), nearest.next_plus(UP)


def ln_below(x: Fraction) -> Fraction:
    """A lower bound of ln(x), for x > 0: good to 36 digits also for x near 1, where ln(x) is small."""
    off = abs(x - 1)
    near = max(0, off.denominator.bit_length() - off.numerator.bit_length()) if off else 0
    context = Context(DIGITS + near // 3, ROUND_FLOOR, -SMALLEST_DIGIT, SMALLEST_DIGIT, traps=_TRAPS)
    return Fraction(context.ln(context.divide(Decimal(x.numerator), Decimal(x.denominator))).next_minus(context))


def shown(x: Fraction) -> str:
    """For words: six digits, rounded down."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).divide(Decimal(x.numerator), Decimal(x.denominator)):g}"


def sqrt_above(x: Fraction) -> Fraction:
    """An upper bound of the square root of x >= 0, exact for squares, else near to 2^-128 relatively."""
    bits = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    scaled = x * 4**bits
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    return Fraction(floor if floor * floor == scaled else floor + 1, 2**bits)


def normal_tail_above(z: Fraction) -> Fraction:
    """An upper bound of P(N(0, 1) > z), for 0 <= z <= 40. All terms of P(0 < N < z) = exp(-z^2/2) / sqrt(2 pi)
    (z + z^3/3 + z^5/(3*5) + ...) are positive, so any part of the sum is a lower bound."""
    if not 0 <= z <= 40:
        raise Reject(f"{float(z):g} deviations: expected between 0 and 40")
    square = z * z
    low, _ = exp_between(-square.numerator, 2 * square.denominator)
    factor = Fraction(low) / sqrt_above(2 * PI_ABOVE)
    term, total, k = z, z, 3
    while term and (k < 2 * square or term * 2**160 > total):  # what is left out only loosens the bound
        term = Fraction(math.floor(term * square / k * 2**400), 2**400)  # kept short
        total, k = total + term, k + 2
    return Fraction(1, 2) - factor * total
