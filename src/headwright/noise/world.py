"""Worlds: what the keys may be.

A key k_i = c mu_i + e has a scale c and a spread e around its given place mu_i; each may be certain. Scales and
spreads are either laws (normal, one of several, Gaussian) or mere sets (between two numbers, a ball). Where a
sample of a set is wanted it is drawn uniformly, and the result says so. A world may instead list whole scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.files import finite


@dataclass(frozen=True)
class Between:
    """c anywhere in [low, high]; sampled uniformly.

    >>> Between(0.5, 1.5)
    Between(low=0.5, high=1.5)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(f"scale between {self.low} and {self.high}: expected two numbers in order")


@dataclass(frozen=True)
class OneOf:
    """c is one of several values, each as likely.

    >>> OneOf((0.5, 1.5)).values
    (0.5, 1.5)
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values or not all(math.isfinite(value) for value in self.values):
            raise InputError(f"scale one of {list(self.values)}: expected at least one finite number")


@dataclass(frozen=True)
class Normal:
    """c ~ N(mean, variance).

    >>> Normal(1.0, 0.5).deviation ** 2
    0.5000000000000001
    """

    mean: float
    variance: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and 0 <= self.variance < math.inf):
            raise InputError(
                f"scale normal with mean {self.mean} and variance {self.variance}: "
                "expected finite numbers, and a variance of 0 or more"
            )

    @property
    def deviation(self) -> float:
        """The standard deviation, in floating point."""
        return math.sqrt(self.variance)


@dataclass(frozen=True)
class Isotropic:
    """e ~ N(0, variance I).

    >>> Isotropic(1e-6).variance
    1e-06
    """

    variance: float

    def __post_init__(self) -> None:
        if not 0 <= self.variance < math.inf:
            raise InputError(f"isotropic = {self.variance}: expected a variance of 0 or more")


@dataclass(frozen=True, eq=False)
class Covariance:
    """e ~ N(0, matrix).

    >>> Covariance(np.diag([1.0, 4.0])).matrix.shape
    (2, 2)
    """

    matrix: Float[np.ndarray, "d d"]

    def __post_init__(self) -> None:
        matrix = finite(self.matrix, "covariance", axes=2)
        if matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, matrix.T):
            raise InputError(f"covariance of shape {matrix.shape}: expected a symmetric square matrix")
        lowest, highest = np.linalg.eigvalsh(matrix)[[0, -1]]
        if lowest < -1e-12 * abs(highest):
            raise InputError(f"covariance has an eigenvalue of {lowest:.3g}: expected none below 0")


@dataclass(frozen=True)
class Ball:
    """|e| <= radius; sampled uniformly.

    >>> Ball(0.1).radius
    0.1
    """

    radius: float

    def __post_init__(self) -> None:
        if not 0 <= self.radius < math.inf:
            raise InputError(f"ball = {self.radius}: expected a radius of 0 or more")


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """e = matrix u with |u| <= 1; sampled with u uniform.

    >>> Ellipsoid(np.eye(3)[:, :2]).matrix.shape
    (3, 2)
    """

    matrix: Float[np.ndarray, "d m"]

    def __post_init__(self) -> None:
        finite(self.matrix, "ellipsoid", axes=2)


Scale = Between | OneOf | Normal
Spread = Isotropic | Covariance | Ball | Ellipsoid


@dataclass(frozen=True)
class Noise:
    """What is uncertain about one key: its scale, its spread, both, or nothing.

    >>> Noise(scale=Normal(1.0, 0.5), spread=Isotropic(1e-6)).certain
    False
    """

    scale: Scale | None = None
    spread: Spread | None = None

    @property
    def certain(self) -> bool:
        """The key is where it is given."""
        return self.scale is None and self.spread is None


@dataclass(frozen=True)
class World:
    """What all the keys may be: noise for keys by index, noise for all others, or a list of scenarios.

    >>> world = World({0: Noise(scale=Normal(1.0, 0.5))}, others=Noise(spread=Isotropic(1e-6)))
    >>> world.of(0).scale, world.of(7).spread
    (Normal(mean=1.0, variance=0.5), Isotropic(variance=1e-06))
    >>> World().fixed
    True
    """

    noise: Mapping[int, Noise] = field(default_factory=dict)
    others: Noise = Noise()
    scenarios: tuple[Float[np.ndarray, "n d"], ...] = ()

    def __post_init__(self) -> None:
        if self.scenarios and (self.noise or not self.others.certain):
            raise InputError("a world has scenarios or noise, not both: put the noise into the scenarios")
        if self.scenarios and len({s.shape for s in self.scenarios}) > 1:
            shapes = ", ".join(str(s.shape) for s in self.scenarios)
            raise InputError(f"the scenarios have shapes {shapes}: expected all the same")

    def of(self, key: int) -> Noise:
        """What is uncertain about this key."""
        return self.noise.get(key, self.others)

    @property
    def fixed(self) -> bool:
        """Nothing is uncertain."""
        return not self.scenarios and self.others.certain and all(n.certain for n in self.noise.values())

    @property
    def lists_scales(self) -> bool:
        """Some key has one of several scales: a list, which is less than the range from its least to its largest.

        >>> World({0: Noise(scale=OneOf((0.5, 1.5)))}).lists_scales
        True
        """
        noises = (*self.noise.values(), self.others)
        return any(isinstance(noise.scale, OneOf) and len(set(noise.scale.values)) > 1 for noise in noises)

    @property
    def sampled_sets(self) -> list[str]:
        """The sets (not laws) in this world, which a sample has to give a law of its own."""
        parts = [part for noise in (*self.noise.values(), self.others) for part in (noise.scale, noise.spread)]
        names = {type(part).__name__.lower() for part in parts if isinstance(part, Between | Ball | Ellipsoid)}
        return sorted(names | ({"scenarios"} if self.scenarios else set()))

    def check_fits(self, keys: Float[np.ndarray, "n d"]) -> None:
        """Refuse a world that is not about these keys."""
        n, d = keys.shape
        for key, noise in self.noise.items():
            if not 0 <= key < n:
                raise InputError(f"the world names key {key}, and there are {n} keys: expected 0 to {n - 1}")
            self._check_spread(noise, d, f"key {key}")
        self._check_spread(self.others, d, "the other keys")
        for scenario in self.scenarios:
            if scenario.shape != keys.shape:
                raise InputError(f"a scenario has shape {scenario.shape}, the keys have {keys.shape}")

    @staticmethod
    def _check_spread(noise: Noise, d: int, whose: str) -> None:
        if isinstance(noise.spread, Covariance | Ellipsoid) and noise.spread.matrix.shape[0] != d:
            kind = type(noise.spread).__name__.lower()
            raise InputError(
                f"the {kind} of {whose} has {noise.spread.matrix.shape[0]} rows, the keys have {d} numbers each"
            )
