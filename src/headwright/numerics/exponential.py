"""exp from +, * and rounding to whole numbers, and sums, each with a proven error.

exp(x) = 2^k exp(r), k = rint(x / ln 2), r = x - k h - k l, where h + l is ln 2 to 2^-86 and h has 32 bits, so that k h
is exact for |x| <= 700. In units of u = 2^-53: both subtractions together put r wrong by at most 1.01 (|r| < 0.347),
the product k l by far less, and l itself, 1011 times 2^-86, by 2^-23. The Taylor polynomial of degree 13 misses exp(r)
by less than 0.1. Horner's rule with rounded coefficients errs by gamma_27 exp(|r|) (Higham, section 5.1),
relatively at most 27 exp(0.694) < 54.3. Together less than 64 u = 2^-47 relatively; times 2^k is exact.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from jaxtyping import Float

from headwright.numerics.balls import Array, ImprecisionError, gamma

EXP_ERROR = 2.0**-47
EXP_RANGE = 700.0
LN2_HIGH = float.fromhex("0x1.62e42feep-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
TAYLOR = [1 / math.factorial(k) for k in range(14)]
CHUNK = 2**14  # numbers at once, so that they stay near the processor
ROW = 32  # numbers that are added in any order; the sums of these are added exactly and rounded once


def exp_near(x: Array) -> Array:
    """exp(x) with a relative error below 2^-47, for -700 <= x <= 700."""
    # exp(x) = 2^k exp(r)
    k = np.rint(x * (1 / math.log(2)))
    r = x - k * LN2_HIGH
    r -= k * LN2_LOW
    # exp(r) by Horner's rule
    power = np.full_like(r, TAYLOR[-1])
    for coefficient in TAYLOR[-2::-1]:
        power *= r
        power += coefficient
    # 2^k from its bits: |k| <= 1010, so that it is a normal number
    exponent_bits = (k.astype(np.int64) + 1023) << 52
    power *= exponent_bits.view(np.float64)
    return power


def exp_above(x: Array, reference: float) -> Array:
    """Not below exp(x - reference), for x <= reference; what is smaller than exp(-700) counts as that."""
    return _bound_exp(x, reference, math.inf)


def exp_below(x: Array, reference: float) -> Array:
    """Not above exp(x - reference), for x <= reference; what is smaller than exp(-700) counts as 0."""
    return _bound_exp(x, reference, -math.inf)


def _bound_exp(x: Array, reference: float, side: float) -> Array:
    if not (math.isfinite(reference) and bool(np.all(x <= reference))):
        raise ImprecisionError("exponents beyond their reference")
    result = np.empty_like(x)
    # Twice the error of exp_near: the product with this factor is rounded, too.
    factor = 1 + math.copysign(2 * EXP_ERROR, side)
    for start in range(0, len(x), CHUNK):
        chunk = slice(start, start + CHUNK)
        with np.errstate(all="ignore"):
            # nextafter makes the rounding of the difference good.
            exponent = np.nextafter(x[chunk] - reference, side)
        bound = exp_near(np.clip(exponent, -EXP_RANGE, EXP_RANGE))
        bound *= factor
        if side < 0:
            bound[exponent < -EXP_RANGE] = 0.0
        result[chunk] = bound
    return result


def total(numbers: Array) -> arb:
    """A ball around the sum of finite numbers: rows of 32 in any order, then their sums exactly."""
    middle = _sum_of_rows(numbers)
    size = _sum_of_rows(np.abs(numbers))
    # `size` is below the true sum of sizes by gamma at most: twice the error covers that.
    return arb(middle, 2 * gamma(min(ROW, len(numbers)) + 1) * size + 2.0**-1000)


def total_above(numbers: Float[np.ndarray, " n"]) -> float:
    """Not below the sum of non-negative numbers."""
    return _sum_of_rows(numbers) * (1 + 2 * gamma(ROW + 2)) + 2.0**-1000


def _sum_of_rows(numbers: Array) -> float:
    whole = len(numbers) // ROW * ROW
    rows = numbers[:whole].reshape(-1, ROW).sum(axis=1).tolist()
    rest = float(numbers[whole:].sum())
    result = math.fsum([*rows, rest])
    if not math.isfinite(result):
        raise ImprecisionError("a sum is not finite")
    return result
