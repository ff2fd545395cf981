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

from headwright.fast.balls import Array, gamma
from headwright.fast.exact_numbers import ImprecisionError

EXP_ERROR = 2.0**-47
EXP_RANGE = 700.0
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
TAYLOR = [1 / math.factorial(k) for k in range(14)]
CHUNK = 2**14  # numbers at once, so that they stay near the processor
ROW = 32  # numbers that are added in any order; the sums of these are added exactly and rounded once


def exp_near(x: Array) -> Array:
    """exp(x) with a relative error below 2^-47, for -700 <= x <= 700."""
    k = np.rint(x * (1 / math.log(2)))
    r = x - k * LN2_HIGH
    r -= k * LN2_LOW
    power = np.full_like(r, TAYLOR[-1])
    for coefficient in TAYLOR[-2::-1]:
        power *= r
        power += coefficient
    two = (k.astype(np.int64) + 1023) << 52  # the bits of 2^k
    power *= two.view(np.float64)
    return power


def exp_above(x: Array, reference: float) -> Array:
    """Not below exp(x - reference), for x <= reference; what is smaller than exp(-700) counts as that."""
    return _exp(x, reference, math.inf)


def exp_below(x: Array, reference: float) -> Array:
    """Not above exp(x - reference), for x <= reference; what is smaller than exp(-700) counts as 0."""
    return _exp(x, reference, -math.inf)


def _exp(x: Array, reference: float, side: float) -> Array:
    if not (math.isfinite(reference) and bool(np.all(x <= reference))):
        raise ImprecisionError("exponents beyond their reference")
    result = np.empty_like(x)
    factor = 1 + math.copysign(2 * EXP_ERROR, side)  # twice: the product with it is rounded, too
    for start in range(0, len(x), CHUNK):
        with np.errstate(all="ignore"):
            t = np.nextafter(x[start : start + CHUNK] - reference, side)  # one rounding, made good
        near = exp_near(np.clip(t, -EXP_RANGE, EXP_RANGE))
        near *= factor
        if side < 0:
            near[t < -EXP_RANGE] = 0.0
        result[start : start + CHUNK] = near
    return result


def total(numbers: Array) -> arb:
    """A ball around the sum of finite numbers: rows of 32 in any order, then their sums exactly."""
    middle, size = _sum(numbers), _sum(np.abs(numbers))
    # size is below the true sum of absolute values by gamma at most: twice the error covers that.
    return arb(middle, 2 * gamma(min(ROW, len(numbers)) + 1) * size + 2.0**-1000)


def total_above(numbers: Float[np.ndarray, " n"]) -> float:
    """Not below the sum of non-negative numbers."""
    return _sum(numbers) * (1 + 2 * gamma(ROW + 2)) + 2.0**-1000


def _sum(numbers: Array) -> float:
    whole = len(numbers) // ROW * ROW
    rows = numbers[:whole].reshape(-1, ROW).sum(axis=1).tolist()
    found = math.fsum([*rows, float(numbers[whole:].sum())])
    if not math.isfinite(found):
        raise ImprecisionError("a sum is not finite")
    return found
