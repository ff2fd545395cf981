"""Scales: what the factor c of a key c mu + e may be.

A kind of scale answers the questions that are asked of these three, and stands in the union `Scale`; so it is read
from files and by the lab, sampled, proven with where its law is known, and designed for. What they are asked:

name, asks, count   its name in files; what its numbers are, and how many (None: any number of them)
random              Gaussian: a statement about such a key holds with a confidence
is_set              a mere set, without a law: a sample draws from it uniformly, and says so
draw                a sample
values              the finitely many it may be, each as likely; None where there are more
law                 the law of a continuum, for proofs; None for one of several values, or where it is not known
ends, variance      of the range a certificate speaks of; and around it, where the scale is random
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.uncertainty.random_scale import (
    ScaleLaw,
    ball,
    decimal,
    normal_law,
    uniform_law,
)


@dataclass(frozen=True)
class Normal:
    """c ~ N(mean, variance).

    >>> Normal(1.0, 0.25).deviation
    0.5
    """

    mean: float
    variance: float
    name: ClassVar = "normal"
    asks: ClassVar = "mean and variance"
    count: ClassVar = 2
    random: ClassVar = True
    is_set: ClassVar = False

    def __post_init__(self) -> None:
        check_argument("mean", self.mean, float)
        check_argument("variance", self.variance, float)
        if not (math.isfinite(self.mean) and 0 <= self.variance < math.inf):
            raise InputError(
                f"scale normal with mean {self.mean} and variance {self.variance}: "
                "expected finite numbers, and a variance of 0 or more"
            )

    @property
    def deviation(self) -> float:
        """The standard deviation, in floating point."""
        return math.sqrt(self.variance)

    @property
    def values(self) -> tuple[float, ...] | None:
        """The mean, if there is nothing around it."""
        return None if self.variance > 0 else (self.mean,)

    @property
    def ends(self) -> tuple[float, float]:
        """The mean, twice."""
        return self.mean, self.mean

    def law(self) -> ScaleLaw:
        """As it says."""
        return normal_law(ball(decimal(self.mean)), ball(decimal(self.variance)))

    def draw(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, " count"]:
        """As it says."""
        return rng.normal(self.mean, self.deviation, count)


@dataclass(frozen=True)
class Between:
    """c anywhere in [low, high]; sampled uniformly.

    >>> Between(0.5, 1.5).ends
    (0.5, 1.5)
    """

    low: float
    high: float
    name: ClassVar = "between"
    asks: ClassVar = "the two ends"
    count: ClassVar = 2
    random: ClassVar = False
    is_set: ClassVar = True
    variance: ClassVar = 0.0

    def __post_init__(self) -> None:
        check_argument("low", self.low, float)
        check_argument("high", self.high, float)
        if not (
            math.isfinite(self.low)
            and math.isfinite(self.high)
            and self.low <= self.high
        ):
            raise InputError(
                f"scale between {self.low} and {self.high}: expected two numbers in order"
            )

    @property
    def values(self) -> tuple[float, ...] | None:
        """Both ends, where they are one."""
        return (self.low,) if self.low == self.high else None

    @property
    def ends(self) -> tuple[float, float]:
        """As they are."""
        return self.low, self.high

    def law(self) -> ScaleLaw:
        """As it is sampled."""
        return uniform_law(ball(decimal(self.low)), ball(decimal(self.high)))

    def draw(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, " count"]:
        """Uniformly."""
        return rng.uniform(self.low, self.high, count)


@dataclass(frozen=True)
class OneOf:
    """c is one of several values, each as likely.

    >>> OneOf((0.5, 1.5)).values
    (0.5, 1.5)
    """

    values: tuple[float, ...]
    name: ClassVar = "one_of"
    asks: ClassVar = "the values"
    count: ClassVar = None
    random: ClassVar = False
    is_set: ClassVar = False
    variance: ClassVar = 0.0

    def __post_init__(self) -> None:
        check_argument("values", self.values, Sequence[float])
        if not self.values or not all(math.isfinite(value) for value in self.values):
            raise InputError(
                f"scale one of {list(self.values)}: expected at least one finite number"
            )

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest: where one head is met its targets at both, it is in between."""
        return min(self.values), max(self.values)

    def law(self) -> ScaleLaw | None:
        """None: its values are taken one by one."""
        return None

    def draw(self, count: int, rng: np.random.Generator) -> Float[np.ndarray, " count"]:
        """Each as likely."""
        return rng.choice(np.array(self.values), count)


Scale = Normal | Between | OneOf
SCALES: dict[str, type[Scale]] = {kind.name: kind for kind in get_args(Scale)}


def read_scale(name: str, numbers: Sequence[float]) -> Scale:
    """The scale of this kind that is made of these numbers."""
    kind = SCALES[name]
    if kind.count is None:
        return kind(tuple(numbers))
    if len(numbers) != kind.count:
        raise InputError(
            f"{name} = {list(numbers)}: expected {kind.asks}, {kind.count} numbers"
        )
    return kind(*numbers)
