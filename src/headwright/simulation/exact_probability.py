"""Exact probabilities and moments, where at most one random number and finitely many cases decide.

That is so for finitely many cases (scales that are one of several values, scenarios) and one random number, the scale
of one key. Then each case is a question about one number (random_scale.py), answered in ball arithmetic, so that every
result is an enclosure: a proof, not a sample.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx
from jaxtyping import Float

from headwright import attention
from headwright.errors import InputError
from headwright.numerics.enclosure import Enclosure
from headwright.uncertainty.random_scale import (
    MeanWeight,
    ScaleLaw,
    no_law,
    probability_within,
)
from headwright.uncertainty.scales import ball, decimal
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
    moving = _moving(uncertainty, len(keys))
    if len(moving) > 1:
        return f"{len(moving)} keys are uncertain"
    for spread in (uncertainty.of(i).spread for i in moving):
        if spread is not None:
            return (
                f"key {moving[0]} is uncertain in more than its length ({spread.name})"
            )
    for i in moving:
        scale = uncertainty.of(i).scale
        if scale is not None and scale.law() is None:
            return (
                f"the law of the length of key {i} is not known exactly ({scale.name})"
            )
    cases = math.prod(map(len, _choices(uncertainty, len(keys)).values())) * max(
        1, len(uncertainty.scenarios)
    )
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
        situations = list(_situations(keys, queries, uncertainty, scale))
        goal, slack = Fraction(1, len(targets)), decimal(tolerance)
        near = _probability(
            situations,
            targets,
            [(ball(goal - slack), ball(goal + slack))] * len(targets),
        )
        means, deviations = [], []
        for target in targets:
            weights = [
                (MeanWeight.of(each.scores, each.moving, target), each.law)
                for each in situations
            ]
            first, second = (
                sum(
                    (weight.moment(power, law) for weight, law in weights), start=arb(0)
                )
                / len(weights)
                for power in (1, 2)
            )
            means.append(Enclosure.of(first).clipped(0.0, 1.0))
            deviations.append(
                Enclosure.of((second - first**2).nonnegative_part().sqrt()).clipped(
                    0.0, 0.5
                )
            )
    return Exact(near, tuple(means), tuple(deviations))


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
        return _probability(
            list(_situations(keys, queries, uncertainty, scale)), list(least), ranges
        )


@dataclass(frozen=True)
class _Situation:
    """One case: scores (rows are heads), of which one is multiplied by a number of this law."""

    scores: list[list[arb]]
    moving: int | None
    law: ScaleLaw


def _probability(
    situations: Sequence[_Situation],
    targets: Sequence[int],
    ranges: Sequence[tuple[arb, arb]],
) -> Enclosure:
    inside, undecided = arb(0), arb(0)
    for each in situations:
        weights = [
            MeanWeight.of(each.scores, each.moving, target) for target in targets
        ]
        sure, doubtful = probability_within(weights, ranges, each.law)
        inside, undecided = inside + sure, undecided + doubtful
    return Enclosure.of(
        (inside + undecided * arb(0).union(arb(1))) / len(situations)
    ).clipped(0.0, 1.0)


def _situations(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    scale: Fraction | float,
) -> Iterator[_Situation]:
    """Every case, each as likely."""
    Q, factor = arb_mat(queries.tolist()).transpose(), ball(decimal(scale))
    choices, moving = _choices(uncertainty, len(keys)), _moving(uncertainty, len(keys))
    for K in uncertainty.scenarios or (keys,):
        scores = ((arb_mat(K.tolist()) * Q) * factor).transpose().tolist()
        for values in itertools.product(*choices.values()):
            chosen = dict(zip(choices, map(ball, values), strict=True))
            case = [
                [s * chosen[i] if i in chosen else s for i, s in enumerate(row)]
                for row in scores
            ]
            scale_of = uncertainty.of(moving[0]).scale if moving else None
            law = None if scale_of is None else scale_of.law()
            yield _Situation(
                case, moving[0] if moving else None, no_law() if law is None else law
            )


def _moving(uncertainty: Uncertainty, n: int) -> list[int]:
    """The keys whose score is a continuous random number."""
    named = (
        [i for i in range(n) if i in uncertainty.noise]
        if _still(uncertainty.others)
        else range(n)
    )
    return [i for i in named if not _still(uncertainty.of(i))]


def _still(noise: Noise) -> bool:
    return noise.spread is None and (
        noise.scale is None or noise.scale.values is not None
    )


def _choices(uncertainty: Uncertainty, n: int) -> dict[int, tuple[Fraction, ...]]:
    """The keys whose scale is one of finitely many."""
    named = (
        range(n)
        if not uncertainty.others.certain
        else sorted(key for key in uncertainty.noise if key < n)
    )
    scales = (
        (i, scale) for i in named if (scale := uncertainty.of(i).scale) is not None
    )
    return {
        i: tuple(map(decimal, scale.values))
        for i, scale in scales
        if scale.values is not None
    }


def _open(
    keys: np.ndarray, queries: np.ndarray, uncertainty: Uncertainty
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "heads d"]]:
    """Keys and queries for which the exact route is open."""
    if reason := why_not_exact(keys, queries, uncertainty):
        raise InputError(f"no exact answer: {reason}")
    return rows(keys, queries, uncertainty)


def _bits(keys: np.ndarray, queries: np.ndarray, scale: Fraction | float) -> int:
    """A precision at which scores still have their digits behind the point."""
    largest = float(np.abs(attention.scores(keys, queries, scale=float(scale))).max())
    return 192 + max(0, math.frexp(largest)[1])
