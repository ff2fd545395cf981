"""Exact rationals, and the few functions that are not exact, each from the side that is asked for.

decimal's exp and ln are correctly rounded to nearest, so the next number up or down is a bound. Everything else is
integers and fractions; the many exponentials of a large set of keys are products of four from tables of integers.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import cache

from headwright.trusted.keys import Reject
from headwright.trusted.words import shown

DIGITS = 36
LARGEST_EXPONENT = 5000  # x in exp(x); beyond it no wish is granted, and the work would be large
SMALLEST_DIGIT = 3000  # numbers below 10^-3000 are bounded by 0 and by about that
PI_BELOW = Fraction("3.14159265358979323846264338327950288419716939937510582")
PI_ABOVE = PI_BELOW + Fraction(1, 10**53)
POINT = 100  # binary digits after the point, of arguments and tables of exp_fixed

LARGEST_LOGARITHM = 10**6
_ONE, _LAST, _FINE = 2**POINT, 2 ** (POINT - 24) - 1, 2**400
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=-SMALLEST_DIGIT, Emax=SMALLEST_DIGIT, traps=_TRAPS)
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=-SMALLEST_DIGIT, Emax=SMALLEST_DIGIT, traps=_TRAPS)


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


@cache
def _tables() -> tuple[int, list[list[int]]]:
    """ln 2, and exp(i / 256), exp(i / 256^2), exp(i / 256^3) for i < 256: times 2^POINT, off by less than 1."""
    exact = Context(prec=2 * DIGITS)
    steps = ([exact.exp(exact.divide(Decimal(i), Decimal(256**k))) for i in range(256)] for k in (1, 2, 3))
    return int(exact.multiply(exact.ln(Decimal(2)), _ONE)), [
        [int(exact.multiply(x, _ONE)) for x in step] for step in steps
    ]


def exp_fixed(x: int, bits: int) -> tuple[int, int]:
    """Bounds of 2^bits exp(y), whole numbers, for every y from x to x + 1 in units of 2^-POINT.

    y = k ln 2 + i/2^8 + j/2^16 + l/2^24 + u, u < 2^-24. For |k| < 2^13 the relative errors are: |k| 2^-POINT from ln 2
    and 2^-POINT from y; three of 2^-POINT from the tables; u^4 from the last factor; and at most seven roundings.
    Together they are below 2^-86; bounds leave 2^-80.
    """
    ln2, (first, second, third) = _tables()
    if x > LARGEST_EXPONENT << POINT:
        raise Reject(
            f"a score difference of {x >> POINT} is beyond what is checked: expected {LARGEST_EXPONENT} at most"
        )
    if x < -(min(bits, LARGEST_EXPONENT) + 1) << POINT:
        return 0, max(1, 1 << max(0, bits - LARGEST_EXPONENT))  # exp(-b) < 2^-b
    k, r = divmod(x, ln2)
    u = r & _LAST
    square = u * u >> POINT
    last = _ONE + u + (square >> 1) + (square * u >> POINT) // 6
    e = first[r >> POINT - 8] * second[r >> POINT - 16 & 255] >> POINT
    e = (e * third[r >> POINT - 24 & 255] >> POINT) * last >> POINT
    e = e << bits + k - POINT if bits + k > POINT else e >> POINT - bits - k
    slack = (e >> 80) + 1
    return max(0, e - slack), e + slack + 1  # the shift cut off less than 1


def exp_above(x: Fraction, bits: int) -> int:
    """An upper bound of 2^bits exp(x), exact for 0."""
    return exp_fixed((x.numerator << POINT) // x.denominator, bits)[1] if x else 1 << bits


def ln_below(x: Fraction) -> Fraction:
    """A lower bound of ln(x), for x > 0: exact for 1, else good to 36 digits also near 1, where ln(x) is small."""
    if (off := abs(x - 1)) == 0:
        return Fraction(0)
    near = max(0, off.denominator.bit_length() - off.numerator.bit_length())
    context = Context(DIGITS + near // 3, ROUND_FLOOR, -LARGEST_LOGARITHM, LARGEST_LOGARITHM, traps=_TRAPS)
    return Fraction(context.ln(context.divide(Decimal(x.numerator), Decimal(x.denominator))).next_minus(context))


def sqrt_between(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of the square root of x >= 0, exact for squares, else near to 2^-128 relatively."""
    bits = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    whole, rest = divmod(x.numerator << 2 * bits, x.denominator)
    root = math.isqrt(whole)
    return Fraction(root, 1 << bits), Fraction(root + (rest > 0 or root * root < whole), 1 << bits)


def sqrt_above(x: Fraction) -> Fraction:
    """An upper bound of the square root of x >= 0."""
    return sqrt_between(x)[1]


def normal_tail(z: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of P(N(0, 1) > z), for 0 <= z <= 40: 1/2 less exp(-z^2/2) / sqrt(2 pi) (z + z^3/3 + z^5/(3*5) + ...).

    From k > 2 z^2 on each term is less than half of the one before, so what is left out is less than the last one.
    """
    if not 0 <= z <= 40:
        raise Reject(f"{shown(z)} deviations: expected between 0 and 40")
    square = z * z
    e_low, e_high = map(Fraction, exp_between(-square.numerator, 2 * square.denominator))
    low, high, k = math.floor(z * _FINE), math.ceil(z * _FINE), 1
    below, above = low, high
    while k <= 2 * square or high > 2**240:
        k += 2
        low, high = math.floor(low * square / k), math.ceil(high * square / k)
        below, above = below + low, above + high
    half, (_, root_above), (root_below, _) = Fraction(1, 2), sqrt_between(2 * PI_ABOVE), sqrt_between(2 * PI_BELOW)
    return half - e_high * (above + high) / root_below / _FINE, half - e_low * below / root_above / _FINE
