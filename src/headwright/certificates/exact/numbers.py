"""Bounds of exp, ln, the square root and the normal tail. All else that is computed is exact.

docs/explanation/rigor.md, 'Numbers', derives the error of each.
"""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.words import six_digits

LARGEST_EXPONENT = 5000  # of exp: beyond it the work would be large
POINT = 160  # binary digits after the point, inside exp
# ln 2 in units of 2^-160, off by less than 2.
LN2 = int(Context(60).multiply(Context(60).ln(Decimal(2)), Decimal(2**POINT)))
HALVINGS = 16  # of the exponent, before the series; exp is squared as often afterwards
FINE = 2**400  # the normal tail's series is added in units of 1 / FINE, ...
LAST_TERM = 2**240  # ... up to a term of that many units, which is 2^-160
TAIL_BITS = 2000  # binary digits after the point, of the normal tail's exponential
PI_BELOW = Fraction("3.14159265358979323846264338327950288419716939937510582")
PI_ABOVE = PI_BELOW + Fraction(1, 10**53)


class IntegerBounds(NamedTuple):
    """low <= the number that is meant <= high."""

    low: int
    high: int


class Bounds(NamedTuple):
    """The same, of fractions."""

    low: Fraction
    high: Fraction


def exp_between(top: int, bottom: int, bits: int) -> IntegerBounds:
    """low <= 2^bits exp(y) <= high for y = top / bottom; equal for y = 0. bottom > 0, bits <= 5000.

    y = k ln 2 + r, |k| < 2^13; exp(r / 2^16) is a Taylor series, and is squared 16 times.
    In units of 2^-160: rounding y and k ln 2 moves the exponent by at most 1 + 2^14, and rounding
    r / 2^16 moves r by 2^16. The series has fewer than 16 terms; cutting them, and the rest, costs
    less than 64. Each squaring doubles a relative error and adds 1: less than 65 * 2^16 in all.
    Together this is a relative error below 2^-136. The bounds leave 2^-120, and 1 for the shift.
    """
    if top == 0:
        return IntegerBounds(1 << bits, 1 << bits)
    # From here on y, r and exp(r) are whole numbers in units of 2^-160.
    y = (top << POINT) // bottom
    if y > LARGEST_EXPONENT << POINT:
        difference = six_digits(Fraction(y >> POINT))
        raise Reject(
            f"a score difference of {difference} is beyond what is checked, which is 5000"
        )
    if y < (-(bits + 1)) << POINT:
        return IntegerBounds(0, 1)  # exp(y) > 0, and 2^bits exp(-bits) < 1
    # y = k ln 2 + r with 0 <= r < ln 2, so that exp(y) = 2^k exp(r).
    k, r = divmod(y, LN2)
    # exp(r / 2^16) by its Taylor series, until a term is less than one unit.
    small = r >> HALVINGS
    power = 1 << POINT
    term = 1 << POINT
    i = 0
    while term:
        i += 1
        term = ((term * small) >> POINT) // i
        power += term
    # exp(r) = exp(r / 2^16)^(2^16)
    for _ in range(HALVINGS):
        power = (power * power) >> POINT
    # 2^bits exp(y) = 2^(bits + k) exp(r), and exp(r) is power / 2^160.
    exponent = bits + k
    if exponent >= 0:
        value = (power << exponent) >> POINT
    else:
        value = power >> (POINT - exponent)
    # The relative error is below 2^-136, and the last shift cut off less than 1.
    slack = (value >> 120) + 2
    return IntegerBounds(max(0, value - slack), value + slack)


def ln_below(x: Fraction) -> Fraction:
    """At most ln(x), for x > 0: 0 for 1, else good to 36 digits, also as near to 1 as 2^-1500."""
    # ln(x) is about x - 1 where x is near to 1: as many more digits as that has zeros.
    distance = abs(x - 1)
    zeros = distance.denominator.bit_length() - distance.numerator.bit_length()
    leading_zeros = min(1500, max(0, zeros))
    # Three binary digits are nearly one decimal digit.
    context = Context(36 + leading_zeros // 3, ROUND_FLOOR)
    # Rounded down, so that ln of it is at most ln(x).
    below = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    if below == 1:
        return Fraction(0)  # x is at least 1
    # decimal rounds ln to nearest: the next number down is at most the true value.
    return Fraction(context.ln(below).next_minus(context))


def sqrt_between(x: Fraction) -> Bounds:
    """low <= sqrt(x) <= high, x >= 0: equal for squares of short numbers, else near to 2^-128."""
    # Where x is small its root is, too: as many more digits as x has zeros after the point.
    zeros = max(0, x.denominator.bit_length() - x.numerator.bit_length())
    bits = 128 + zeros
    # sqrt(x) 2^bits = sqrt(x 4^bits), and isqrt rounds the root of a whole number down.
    square, rest = divmod(x.numerator << (2 * bits), x.denominator)
    root = math.isqrt(square)
    is_exact = rest == 0 and root**2 == square
    next_root = root if is_exact else root + 1
    return Bounds(Fraction(root, 1 << bits), Fraction(next_root, 1 << bits))


def sqrt_above(x: Fraction) -> Fraction:
    """At least sqrt(x), for x >= 0."""
    return sqrt_between(x).high


def normal_tail(z: Fraction) -> Bounds:
    """low <= P(N(0, 1) > z) <= high, for 0 <= z <= 40 with a denominator below 2^2048.

    It is 1/2 less exp(-z^2/2) / sqrt(2 pi) times the sum z + z^3/3 + z^5/(3*5) + ...
    From k > 2 z^2 on each term is less than half of the one before, so that what is left out is
    less than the last one.
    """
    if not 0 <= z <= 40 or z.denominator >= 2**2048:
        raise Reject(
            f"{six_digits(z)} deviations: expected between 0 and 40, in at most 600 digits"
        )
    square = z * z
    # The sum z + z^3/3 + ...: each term is that before times z^2 / k. Terms and their sums are in
    # units of 1 / FINE, once rounded down and once rounded up.
    term_low = math.floor(z * FINE)
    term_high = math.ceil(z * FINE)
    sum_low = term_low
    sum_high = term_high
    k = 1
    while k <= 2 * square or term_high > LAST_TERM:
        k += 2
        term_low = math.floor(term_low * square / k)
        term_high = math.ceil(term_high * square / k)
        sum_low += term_low
        sum_high += term_high
    sum_high += term_high  # what is left out is less than the last term
    exp_low, exp_high = exp_between(
        -square.numerator, 2 * square.denominator, TAIL_BITS
    )
    # P(0 < N < z) = exp(-z^2/2) sum / sqrt(2 pi) from both sides: each factor is rounded to the
    # side of the product.
    unit = FINE << TAIL_BITS
    root_low = sqrt_between(2 * PI_BELOW).low
    root_high = sqrt_between(2 * PI_ABOVE).high
    least = Fraction(exp_low * sum_low, unit) / root_high
    most = Fraction(exp_high * sum_high, unit) / root_low
    # By symmetry P(N > z) = 1/2 - P(0 < N < z).
    half = Fraction(1, 2)
    return Bounds(half - most, half - least)
