"""Confidence intervals of sampled numbers, and samples held against what was proved."""

from __future__ import annotations

import math

from headwright.numerics.enclosure import TOLERANCE, Enclosure, assert_within
from headwright.numerics.quantiles import check_sample, student_quantile
from headwright.numerics.quantiles import clopper_pearson as clopper_pearson

NEVER = 1 - 1e-12  # of an interval that is wrong by chance as good as never


def mean_interval(
    mean: float, deviation: float, samples: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Student's interval of a mean, mean -+ t deviation / sqrt(samples): exact for normal draws, else for many.

    One draw says nothing about how far draws are apart, so its interval is the whole line.

    >>> low, high = mean_interval(0.5, 0.1, 10_000)
    >>> round(low, 5), round(high, 5)
    (0.49804, 0.50196)
    >>> mean_interval(0.5, 0.0, 1)
    (-inf, inf)
    """
    check_sample(samples, confidence)
    if samples == 1:
        return -math.inf, math.inf
    quantile = student_quantile(samples - 1, (1 + confidence) / 2)
    half = quantile * deviation / math.sqrt(samples)
    return mean - half, mean + half


def check_probability(
    nearly: int, clearly: int, samples: int, proven: Enclosure, what: str
) -> None:
    """Raise a ContradictionError unless so many draws can come from the proven probability.

    `nearly` are those in which it happened, or all but happened; `clearly` those in which it did beyond all rounding.
    An interval that holds but for one sample in 10^12 must meet the proven one.
    """
    assert_within(clopper_pearson(nearly, samples, NEVER)[1], what, least=proven.lower)
    assert_within(clopper_pearson(clearly, samples, NEVER)[0], what, most=proven.upper)


def check_mean(mean: float, samples: int, proven: Enclosure, what: str) -> None:
    """Raise a ContradictionError unless the mean of so many draws in [0, 1] can have the proven expectation."""
    # Hoeffding's inequality
    room = math.sqrt(math.log(2 / (1 - NEVER)) / (2 * samples)) + TOLERANCE
    assert_within(mean, what, least=proven.lower, most=proven.upper, tolerance=room)
