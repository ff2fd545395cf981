"""Confidence intervals for what was sampled, in floating point."""

from __future__ import annotations

import math

from headwright.errors import InputError


def clopper_pearson(successes: int, samples: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability: it covers the truth at least as often as it says.

    >>> low, high = clopper_pearson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    _check(samples, confidence)
    if not 0 <= successes <= samples:
        raise InputError(f"{successes} successes in {samples} samples: expected between 0 and {samples}")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, samples - successes + 1, tail))
    high = 1.0 if successes == samples else float(betaincinv(successes + 1, samples - successes, 1 - tail))
    return low, high


def mean_interval(mean: float, deviation: float, samples: int, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval of a mean, mean -+ t deviation / sqrt(samples): exact for normal draws, else for many.

    One draw says nothing about how far draws are apart, so its interval is the whole line.

    >>> low, high = mean_interval(0.5, 0.1, 10_000)
    >>> round(low, 5), round(high, 5)
    (0.49804, 0.50196)
    >>> mean_interval(0.5, 0.0, 1)
    (-inf, inf)
    """
    from scipy.special import stdtrit

    _check(samples, confidence)
    if samples == 1:
        return -math.inf, math.inf
    half = float(stdtrit(samples - 1, (1 + confidence) / 2)) * deviation / math.sqrt(samples)
    return mean - half, mean + half


def _check(samples: int, confidence: float) -> None:
    if samples < 1:
        raise InputError(f"{samples} samples: expected at least 1")
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: expected a number between 0 and 1")
