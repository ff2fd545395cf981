"""Exact probabilities and moments, where the randomness is small enough to be followed.

That is so when it consists of finitely many cases (scales that are one of several values, scenarios) and at most
one key of continuous scale. Then each case is a question about one number (onescale.py), answered in ball
arithmetic, so that every result is an enclosure: a proof, not a sample.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq
from jaxtyping import Float

from headwright import attention
from headwright.enclosure import Enclosure
from headwright.errors import InputError
from headwright.noise.onescale import MeanWeight, law_of, probability_near
from headwright.noise.world import Between, Normal, OneOf, Scale, World

MOST_CASES = 1024


@dataclass(frozen=True)
class Exact:
    """What is true of the targets' weight in the pattern (the mean over the heads), each known from both sides.

    >>> from headwright.noise import Noise
    >>> world = World({0: Noise(scale=Normal(1.0, 0.5))})
    >>> result = exact(np.eye(2), np.array([[3.0, 3.0]]), world, [0, 1], tolerance=0.05)
    >>> round(result.near_average.midpoint, 6), result.near_average.width < 1e-15
    (0.075365, True)
    """

    near_average: Enclosure
    means: tuple[Enclosure, ...]
    deviations: tuple[Enclosure, ...]


def why_not_exact(world: World, n: int) -> str:
    """Why the exact route is closed, or '' where it is open.

    >>> from headwright.noise import Noise, Isotropic
    >>> why_not_exact(World({0: Noise(scale=Normal(1.0, 0.5))}), 3)
    ''
    >>> why_not_exact(World({1: Noise(spread=Isotropic(0.1))}), 3)
    'key 1 is spread in more than its length'
    """
    moving = []
    for i in range(n):
        noise = world.of(i)
        if noise.spread is not None:
            return f"key {i} is spread in more than its length"
        if _continuous(noise.scale):
            moving.append(i)
    if len(moving) > 1:
        return f"{len(moving)} keys have a continuous scale"
    cases = math.prod(len(choices) for choices in _choices(world, n))
    return f"there are {cases} cases, more than {MOST_CASES}" if cases > MOST_CASES else ""


def exact(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    world: World,
    targets: Sequence[int],
    *,
    tolerance: Fraction | float = 0.05,
    scale: float = 1.0,
) -> Exact:
    """The probability that every target's weight is within the tolerance of 1/(number of targets), and moments.

    A tolerance given as a float is read as the decimal it prints as. The values of a scale that is one of several
    are equally likely, and so are scenarios; a scale between two numbers is uniform.

    >>> from headwright.noise import Noise
    >>> world = World({0: Noise(scale=OneOf((0.5, 1.5)))})
    >>> result = exact(np.eye(2), np.array([[3.0, 3.0]]), world, [0])
    >>> round(result.means[0].midpoint, 12)
    0.5
    """
    world.check_fits(keys)
    n = len(keys)
    if reason := why_not_exact(world, n):
        raise InputError(f"no exact answer: {reason}")
    goal = arb(_rational(Fraction(1, len(targets))))
    slack = arb(_rational(Fraction(str(tolerance)) if isinstance(tolerance, float) else tolerance))
    moving = next((i for i in range(n) if _continuous(world.of(i).scale)), None)
    largest = float(np.abs(attention.scores(keys, queries, scale=scale)).max())
    with ctx.workprec(192 + max(0, math.frexp(largest)[1])):
        law = law_of(world.of(moving).scale if moving is not None else None)
        inside, undecided = arb(0), arb(0)
        first, second = [arb(0)] * len(targets), [arb(0)] * len(targets)
        cases = list(_cases(keys, queries, world, scale))
        for scores in cases:
            found = [MeanWeight.of(scores, moving, target) for target in targets]
            sure, doubtful = probability_near(found, goal, slack, law)
            inside, undecided = inside + sure, undecided + doubtful
            first = [total + weight.moment(1, law) for total, weight in zip(first, found, strict=True)]
            second = [total + weight.moment(2, law) for total, weight in zip(second, found, strict=True)]
        means = [total / len(cases) for total in first]
        variances = [total / len(cases) - mean**2 for total, mean in zip(second, means, strict=True)]
        near = (inside + undecided * arb(0).union(arb(1))) / len(cases)
        return Exact(
            near_average=Enclosure.of(near).clipped(0.0, 1.0),
            means=tuple(Enclosure.of(mean).clipped(0.0, 1.0) for mean in means),
            deviations=tuple(
                Enclosure.of(variance.nonnegative_part().sqrt()).clipped(0.0, 0.5) for variance in variances
            ),
        )


def _cases(
    keys: Float[np.ndarray, "n d"], queries: Float[np.ndarray, "heads d"], world: World, scale: float
) -> Iterator[list[list[arb]]]:
    """The scores of every case: rows are heads; the moving key's score is at scale 1."""
    Q = arb_mat(queries.tolist()).transpose()
    for K in world.scenarios or (keys,):
        scores = ((arb_mat(K.tolist()) * Q) * arb(scale)).transpose().tolist()
        for factors in itertools.product(*_choices(world, len(keys))):
            yield [[s * c for s, c in zip(row, factors, strict=True)] for row in scores]


def _choices(world: World, n: int) -> list[tuple[float, ...]]:
    """The scales that each key may have, case by case."""
    choices: list[tuple[float, ...]] = []
    for i in range(n):
        match world.of(i).scale:
            case OneOf(values):
                choices.append(values)
            case Normal(mean, variance) if variance == 0:
                choices.append((mean,))
            case Between(low, high) if low == high:
                choices.append((low,))
            case _:
                choices.append((1.0,))
    return choices


def _continuous(scale: Scale | None) -> bool:
    match scale:
        case Normal(_, variance):
            return variance > 0
        case Between(low, high):
            return low < high
        case _:
            return False


def _rational(value: Fraction | int) -> fmpq:
    value = Fraction(value)
    return fmpq(value.numerator, value.denominator)
