"""Quantiles of the beta distribution and of Student's t, in floating point, for confidence intervals.

The distribution function of Beta(a, b) is the regularized incomplete beta function I_x(a, b), evaluated by its
continued fraction (DLMF 8.17.22) with the algorithm of Lentz. If T has Student's distribution with v degrees of
freedom, then T^2 / (v + T^2) is Beta(1/2, v/2), so that the quantiles of T follow from those of the beta distribution.
"""

from __future__ import annotations

import math
from functools import lru_cache

from headwright.argument_types import check_argument
from headwright.errors import InputError

TINY = 1e-300  # in place of a zero denominator in the algorithm of Lentz
MAX_TERMS = 100_000  # of the continued fraction, which needs about sqrt(max(a, b))
PRECISION = 1e-15  # the continued fraction ends at a factor this close to 1
MAX_HALVINGS = 1100  # of [0, 1]: enough to reach the smallest float


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the probability that a Beta(a, b) number is at most x.

    >>> round(incomplete_beta(1, 3, 0.5), 12)
    0.875
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    # The continued fraction converges quickly below the mean; above it, I_x(a, b) = 1 - I_{1-x}(b, a).
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_factor = (
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
    )
    return math.exp(log_factor) * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    """1 / (1 + d_1 / (1 + d_2 / (1 + ...))), with d_1, d_2, ... of DLMF 8.17.23."""
    value = 1.0
    numerator = 1.0  # the ratio of successive numerators of the convergents
    denominator = 0.0  # the same for denominators, inverted
    for term in range(1, MAX_TERMS):
        m = term // 2
        if term % 2 == 0:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        numerator = _without_zero(1 + d / numerator)
        denominator = 1 / _without_zero(1 + d * denominator)
        factor = numerator * denominator
        value *= factor
        if abs(factor - 1) < PRECISION:
            return 1 / value
    raise InputError(f"Beta({a}, {b}) has parameters too large for its quantiles")


def _without_zero(number: float) -> float:
    return number if abs(number) > TINY else TINY


@lru_cache(maxsize=1000)
def beta_quantile(a: float, b: float, probability: float) -> float:
    """The x with I_x(a, b) = probability, for a probability between 0 and 1.

    >>> round(beta_quantile(1, 100, 0.975), 6)
    0.036217
    """
    low = 0.0
    high = 1.0
    for _ in range(MAX_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):  # neighbouring floats
            break
        if incomplete_beta(a, b, middle) < probability:
            low = middle
        else:
            high = middle
    return low


def student_quantile(freedom: int, probability: float) -> float:
    """The t with P(T <= t) = probability, for a probability of at least 1/2.

    >>> round(student_quantile(9, 0.975), 6)
    2.262157
    """
    # P(|T| <= t) = 2 probability - 1, and T^2 / (freedom + T^2) is Beta(1/2, freedom/2).
    share = beta_quantile(0.5, freedom / 2, 2 * probability - 1)
    return math.sqrt(freedom * share / (1 - share))


def check_sample(samples: int, confidence: float) -> None:
    """Refuse a sample that is empty, and a confidence that is none."""
    check_argument("samples", samples, int)
    check_argument("confidence", confidence, float)
    if samples < 1:
        raise InputError(f"{samples} samples: expected at least 1", field="samples")
    if not 0 < confidence < 1:
        raise InputError(
            f"confidence {confidence}: expected a number between 0 and 1",
            field="confidence",
        )


def clopper_pearson(
    successes: int, samples: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability: it covers the truth at least as often as it says.

    >>> low, high = clopper_pearson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    check_argument("successes", successes, int)
    check_sample(samples, confidence)
    if not 0 <= successes <= samples:
        raise InputError(
            f"{successes} successes in {samples} samples: expected between 0 and {samples}"
        )
    tail = (1 - confidence) / 2
    low = (
        0.0
        if successes == 0
        else beta_quantile(successes, samples - successes + 1, tail)
    )
    high = (
        1.0
        if successes == samples
        else beta_quantile(successes + 1, samples - successes, 1 - tail)
    )
    return low, high
