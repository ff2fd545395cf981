"""Bounds of exp, ln, the square root and the normal tail. All else that is computed is exact."""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache

from headwright.trusted.keys import Reject
from headwright.trusted.words import shown

LARGEST_EXPONENT = 5000  # of exp: beyond it the work would be large
POINT = 160  # binary digits after the point, inside exp
LN2 = int(Context(60).multiply(Context(60).ln(Decimal(2)), Decimal(2**POINT)))  # off by less than 2
HALVINGS, FINE = 16, 2**400
PI_BELOW = Fraction("3.14159265358979323846264338327950288419716939937510582")
PI_ABOVE = PI_BELOW + Fraction(1, 10**53)


def exp_between(top: int, bottom: int, bits: int) -> tuple[int, int]:
    """low <= 2^bits exp(y) <= high for y = top / bottom; equal for y = 0. bottom > 0, bits <= 5000.

    y = k ln 2 + r, |k| < 2^13; exp(r / 2^16) is a Taylor series, and is squared 16 times.
    In units of 2^-160: rounding y and k ln 2 moves the exponent by at most 1 + 2^14, and rounding
    r / 2^16 moves r by 2^16. The series has fewer than 16 terms; cutting them, and the rest, costs
    less than 64. Each squaring doubles a relative error and adds 1: less than 65 * 2^16 in all.
    Together this is a relative error below 2^-136. The bounds leave 2^-120, and 1 for the shift.
    """
    if top == 0:
        return 1 << bits, 1 << bits
    y = (top << POINT) // bottom
    if y > LARGEST_EXPONENT << POINT:
        far = shown(Fraction(y >> POINT))
        raise Reject(f"a score difference of {far} is beyond what is checked, which is 5000")
    if y < -(bits + 1) << POINT:
        return 0, 1  # 2^bits exp(-bits) < 1
    k, r = divmod(y, LN2)
    r >>= HALVINGS
    e, term, i = 1 << POINT, 1 << POINT, 0
    while term:
        i += 1
        term = (term * r >> POINT) // i
        e += term
    for _ in range(HALVINGS):
        e = e * e >> POINT
    e = e << bits + k >> POINT if bits + k >= 0 else e >> POINT - bits - k
    slack = (e >> 120) + 2
    return max(0, e - slack), e + slack


def ln_below(x: Fraction) -> Fraction:
    """At most ln(x), for x > 0: 0 for 1, else good to 36 digits, also as near to 1 as 2^-1500.

    The quotient is rounded down; decimal rounds ln to nearest: the next number down is below it.
    Where the quotient becomes 1, x is at least 1, and 0 is a bound.
    """
    off = abs(x - 1)
    near = min(1500, max(0, off.denominator.bit_length() - off.numerator.bit_length()))
    context = Context(36 + near // 3, ROUND_FLOOR)
    below = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(context.ln(below).next_minus(context) if below != 1 else 0)


def sqrt_between(x: Fraction) -> tuple[Fraction, Fraction]:
    """low <= sqrt(x) <= high, x >= 0: equal for squares of short numbers, else near to 2^-128."""
    bits = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    whole, rest = divmod(x.numerator << 2 * bits, x.denominator)
    root = math.isqrt(whole)
    return Fraction(root, 1 << bits), Fraction(root + (rest > 0 or root**2 < whole), 1 << bits)


def sqrt_above(x: Fraction) -> Fraction:
    """At least sqrt(x), for x >= 0."""
    return sqrt_between(x)[1]


@cache
def normal_tail(z: Fraction) -> tuple[Fraction, Fraction]:
    """low <= P(N(0, 1) > z) <= high, for 0 <= z <= 40 with a denominator below 2^2048.

    It is 1/2 less exp(-z^2/2) / sqrt(2 pi) times the sum z + z^3/3 + z^5/(3*5) + ...
    From k > 2 z^2 on each term is less than half of the one before, so that what is left out is
    less than the last one.
    """
    if not 0 <= z <= 40 or z.denominator >= 2**2048:
        raise Reject(f"{shown(z)} deviations: expected between 0 and 40, in at most 600 digits")
    square = z * z
    e_low, e_high = exp_between(-square.numerator, 2 * square.denominator, 2000)
    low, high, k = math.floor(z * FINE), math.ceil(z * FINE), 1
    below, above = low, high
    while k <= 2 * square or high > 2**240:
        k += 2
        low, high = math.floor(low * square / k), math.ceil(high * square / k)
        below, above = below + low, above + high
    most = Fraction(e_high * (above + high), FINE << 2000) / sqrt_between(2 * PI_BELOW)[0]
    least = Fraction(e_low * below, FINE << 2000) / sqrt_above(2 * PI_ABOVE)
    return Fraction(1, 2) - most, Fraction(1, 2) - least
