"""Exact probabilities and moments, where at most one random number and finitely many cases decide.

That is so for finitely many cases (scales that are one of several values, scenarios) and one random number, the scale
of one key. Then each case is a question about one number (random_scale.py), answered in ball arithmetic, so that every
result is an enclosure: a proof, not a sample.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx
from jaxtyping import Float

from headwright import attention
from headwright.errors import InputError
from headwright.numerics.enclosure import Enclosure
from headwright.uncertainty.random_scale import (
    RandomScaleCase,
    ball,
    decimal,
    no_law,
    probability_in_ranges,
)
from headwright.uncertainty.uncertainty import Noise, Uncertainty, rows

MOST_CASES = 1024
MOST_NUMBERS = 2**22  # of the keys times the cases: a second or two in ball arithmetic


@dataclass(frozen=True)
class Exact:
    """What is true of the targets' weight in the pattern (the mean over the heads), each known from both sides.

    >>> from headwright.uncertainty import Normal
    >>> uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    >>> result = exact(np.eye(2), np.array([[3.0, 3.0]]), uncertainty, [0, 1], tolerance=0.05)
    >>> round(result.near_average.midpoint, 6), result.near_average.width < 1e-15
    (0.075365, True)
    """

    near_average: Enclosure
    means: tuple[Enclosure, ...]
    deviations: tuple[Enclosure, ...]


def why_not_exact(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
) -> str:
    """Why the exact route is closed, or '' where it is open.

    >>> from headwright.uncertainty import Isotropic, Normal
    >>> why_not_exact(np.eye(3), np.eye(3)[:2], Uncertainty({1: Noise(scale=Normal(1.0, 0.5))}))
    ''
    >>> why_not_exact(np.eye(3), np.eye(3)[:1], Uncertainty({1: Noise(spread=Isotropic(0.1))}))
    'key 1 is uncertain in more than its length (isotropic)'
    >>> why_not_exact(np.eye(3), np.eye(3)[:1], Uncertainty(others=Noise(scale=Normal(1.0, 0.5))))
    '3 keys are uncertain'
    """
    keys, queries = rows(keys, queries, uncertainty)
    n = len(keys)
    moving = _moving(uncertainty, n)
    if len(moving) > 1:
        return f"{len(moving)} keys are uncertain"
    for key in moving:
        noise = uncertainty.of(key)
        if noise.spread is not None:
            return (
                f"key {key} is uncertain in more than its length ({noise.spread.name})"
            )
        if noise.scale is not None and noise.scale.law() is None:
            return f"the law of the length of key {key} is not known exactly ({noise.scale.name})"
    cases = max(1, len(uncertainty.scenarios))
    for values in _choices(uncertainty, n).values():
        cases *= len(values)
    if cases > MOST_CASES:
        return f"there are {cases} cases, more than {MOST_CASES}"
    if cases * keys.size > MOST_NUMBERS:
        return f"the keys are {keys.size} numbers in {cases} cases, more than {MOST_NUMBERS} in all"
    return ""


def exact(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    targets: Sequence[int],
    *,
    tolerance: Fraction | float = 0.05,
    scale: Fraction | float = 1.0,
) -> Exact:
    """The probability that every target's weight is within the tolerance of 1/(number of targets), and moments.

    A tolerance, a scale or another number that is a float is read as the decimal it prints as. The values of a
    scale that is one of several are equally likely, and so are scenarios; a scale between two numbers is uniform.

    >>> from headwright.uncertainty import OneOf
    >>> uncertainty = Uncertainty({0: Noise(scale=OneOf((0.5, 1.5)))})
    >>> result = exact(np.eye(2), np.array([[3.0, 3.0]]), uncertainty, [0])
    >>> round(result.means[0].midpoint, 12)
    0.5
    """
    keys, queries = _open(keys, queries, uncertainty)
    with ctx.workprec(_bits(keys, queries, scale)):
        cases = list(_cases(keys, queries, uncertainty, scale))
        average = Fraction(1, len(targets))
        slack = decimal(tolerance)
        near = (ball(average - slack), ball(average + slack))
        near_average = probability_in_ranges(cases, targets, [near] * len(targets))
        means = []
        deviations = []
        for target in targets:
            first = _moment(cases, target, 1)
            second = _moment(cases, target, 2)
            deviation = (second - first**2).nonnegative_part().sqrt()
            means.append(Enclosure.of(first).clipped(0.0, 1.0))
            # No number between 0 and 1 deviates by more than 1/2.
            deviations.append(Enclosure.of(deviation).clipped(0.0, 0.5))
    return Exact(near_average, tuple(means), tuple(deviations))


def probability_met(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    least: Mapping[int, Fraction],
    *,
    scale: Fraction | float = 1.0,
) -> Enclosure:
    """The probability that every target gets its least weight.

    >>> from headwright.uncertainty import Normal
    >>> uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.01))})      # its score is N(10, 1), the other's is 0
    >>> print(probability_met(np.eye(2), np.array([[10.0, 0.0]]), uncertainty, {0: Fraction(100, 101)}))
    0.9999999657 .. 0.9999999658
    """
    keys, queries = _open(keys, queries, uncertainty)
    with ctx.workprec(_bits(keys, queries, scale)):
        ranges = [(ball(p), arb(2)) for p in least.values()]  # no weight is above 1
        cases = list(_cases(keys, queries, uncertainty, scale))
        return probability_in_ranges(cases, list(least), ranges)


def _moment(cases: Sequence[RandomScaleCase], target: int, power: int) -> arb:
    """The mean of a power of the target's weight over all cases, which are equally likely."""
    total = arb(0)
    for case in cases:
        total += case.mean_weight(target).moment(power, case.law)
    return total / len(cases)


def _cases(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    scale: Fraction | float,
) -> Iterator[RandomScaleCase]:
    """Every case, each as likely."""
    choices = _choices(uncertainty, len(keys))
    moving = None
    law = no_law()
    for key in _moving(uncertainty, len(keys)):
        moving = key
        of_key = uncertainty.of(key).scale
        if of_key is not None:
            law = of_key.law() or law
    Q = arb_mat(queries.tolist()).transpose()
    factor = ball(decimal(scale))
    for K in uncertainty.scenarios or (keys,):
        scores = ((arb_mat(K.tolist()) * Q) * factor).transpose().tolist()
        for values in itertools.product(*choices.values()):
            scaled = [list(row) for row in scores]
            for key, value in zip(choices, values, strict=True):
                for row in scaled:
                    row[key] = row[key] * ball(value)
            yield RandomScaleCase(scaled, moving, law)


def _moving(uncertainty: Uncertainty, n: int) -> list[int]:
    """The keys whose score is a continuous random number."""
    return [key for key in _keys_to_ask(uncertainty, n) if _moves(uncertainty.of(key))]


def _keys_to_ask(uncertainty: Uncertainty, n: int) -> Iterable[int]:
    """All keys, or those that are named where nothing is said of the others."""
    if not uncertainty.others.certain:
        return range(n)
    return sorted(key for key in uncertainty.noise if key < n)


def _moves(noise: Noise) -> bool:
    """It is more than a choice of finitely many scales."""
    if noise.spread is not None:
        return True
    return noise.scale is not None and noise.scale.values is None


def _choices(uncertainty: Uncertainty, n: int) -> dict[int, tuple[Fraction, ...]]:
    """The keys whose scale is one of finitely many."""
    choices = {}
    for key in _keys_to_ask(uncertainty, n):
        scale = uncertainty.of(key).scale
        if scale is not None and scale.values is not None:
            choices[key] = tuple(map(decimal, scale.values))
    return choices


def _open(
    keys: np.ndarray, queries: np.ndarray, uncertainty: Uncertainty
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "heads d"]]:
    """Keys and queries for which the exact route is open."""
    reason = why_not_exact(keys, queries, uncertainty)
    if reason:
        raise InputError(f"no exact answer: {reason}")
    return rows(keys, queries, uncertainty)


def _bits(keys: np.ndarray, queries: np.ndarray, scale: Fraction | float) -> int:
    """A precision at which scores still have their digits behind the point."""
    largest = float(np.abs(attention.scores(keys, queries, scale=float(scale))).max())
    return 192 + max(0, math.frexp(largest)[1])
