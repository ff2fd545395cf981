"""Spreads: what the offset e of a key c mu + e may be.

A kind of spread answers the questions that are asked of these four, and stands in the union `Spread`; so it is read
from files (and by the lab, if it is a number), sampled, proven with where it is Gaussian, and designed for. What they
are asked:

name, asks          its name in files, and what the number or matrix is
from_file           it is a matrix, which files name by its own file
random              Gaussian; otherwise a mere set: a sample draws from it uniformly, and says so
coordinates         how many the keys must have; None: as many as they like
reach               about how far it goes, in floating point
seen                what heads with these queries see of it: something that can be drawn
square, factor      e = r u + F v with r^2 = square, for certificates; u and v are of length 1 at most, or normal
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, get_args

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import finite
from headwright.uncertainty.random_scale import decimal


@dataclass(frozen=True, eq=False)
class Seen:
    """A spread as heads see it: deviations of the scores are `factor` times a few random coordinates."""

    factor: Float[np.ndarray, "heads r"]
    ball: int = 0  # coordinates of a uniform point of a ball of that dimension; of a standard normal if 0

    def draw(
        self, count: int, keys: int, rng: np.random.Generator
    ) -> Float[np.ndarray, "count heads keys"]:
        """Deviations of the scores of so many keys, each on its own."""
        r = self.factor.shape[1]
        z = rng.standard_normal((r, count, keys))
        if self.ball:
            # A uniform direction is a normal vector over its length; only r of its coordinates are needed.
            rest = rng.chisquare(self.ball - r, (count, keys)) if self.ball > r else 0.0
            length = rng.random((count, keys)) ** (1 / self.ball)
            z *= length / np.sqrt((z**2).sum(axis=0) + rest)
        if self.factor.shape == (1, 1):  # one head: no matrix product needed
            z *= self.factor[0, 0]
            return z.reshape(count, 1, keys)
        deviations: Float[np.ndarray, "count heads keys"] = np.einsum(
            "hr,rck->chk", self.factor, z
        )
        return deviations


@dataclass(frozen=True)
class Isotropic:
    """e ~ N(0, variance I).

    >>> Isotropic(1e-6).square
    Fraction(1, 1000000)
    """

    variance: float
    name: ClassVar = "isotropic"
    asks: ClassVar = "the variance a of N(0, a I)"
    from_file: ClassVar = False
    random: ClassVar = True
    coordinates: ClassVar = None

    def __post_init__(self) -> None:
        check_argument("variance", self.variance, float)
        if not 0 <= self.variance < math.inf:
            raise InputError(
                f"isotropic = {self.variance}: expected a variance of 0 or more"
            )

    @property
    def reach(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    @property
    def square(self) -> Fraction:
        """The variance."""
        return decimal(self.variance)

    def factor(self, d: int) -> Float[np.ndarray, "d width"]:
        """No columns."""
        return np.empty((d, 0))

    def seen(self, queries: Float[np.ndarray, "heads d"]) -> Seen:
        """Normal."""
        return Seen(self.reach * _short(queries))


@dataclass(frozen=True, eq=False)
class Covariance:
    """e ~ N(0, matrix).

    >>> Covariance(np.diag([1.0, 4.0])).reach
    2.0
    """

    matrix: Float[np.ndarray, "d d"]
    name: ClassVar = "covariance"
    asks: ClassVar = "the covariance S of N(0, S)"
    from_file: ClassVar = True
    random: ClassVar = True
    square: ClassVar = Fraction(0)

    def __post_init__(self) -> None:
        matrix = finite(self.matrix, "covariance", axes=2)
        if matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, matrix.T):
            raise InputError(
                f"covariance of shape {matrix.shape}: expected a symmetric square matrix"
            )
        lowest, highest = np.linalg.eigvalsh(matrix)[[0, -1]]
        if lowest < -1e-12 * abs(highest):
            raise InputError(
                f"covariance has an eigenvalue of {lowest:.3g}: expected none below 0"
            )
        object.__setattr__(self, "matrix", matrix)

    @property
    def coordinates(self) -> int | None:
        """Of the matrix."""
        return int(self.matrix.shape[0])

    @property
    def reach(self) -> float:
        """The largest standard deviation."""
        return math.sqrt(float(np.abs(self.matrix).max()))

    def factor(self, _d: int) -> Float[np.ndarray, "d width"]:
        """F with F F^T = matrix up to rounding; a statement about such a key is a statement about F F^T.

        >>> Covariance(np.diag([4.0, 0.0])).factor(2).round(6)
        array([[0., 2.],
               [0., 0.]])
        """
        values, vectors = np.linalg.eigh(self.matrix)
        factor: Float[np.ndarray, "d d"] = (
            vectors * np.sqrt(np.clip(values, 0, None)) + 0.0
        )
        return factor

    def seen(self, queries: Float[np.ndarray, "heads d"]) -> Seen:
        """Normal."""
        values, vectors = np.linalg.eigh(queries @ self.matrix @ queries.T)
        return Seen(vectors * np.sqrt(np.clip(values, 0, None)))


@dataclass(frozen=True)
class Ball:
    """|e| <= radius; sampled uniformly.

    >>> Ball(0.1).square
    Fraction(1, 100)
    """

    radius: float
    name: ClassVar = "ball"
    asks: ClassVar = "the radius"
    from_file: ClassVar = False
    random: ClassVar = False
    coordinates: ClassVar = None

    def __post_init__(self) -> None:
        check_argument("radius", self.radius, float)
        if not 0 <= self.radius < math.inf:
            raise InputError(f"ball = {self.radius}: expected a radius of 0 or more")

    @property
    def reach(self) -> float:
        """The radius."""
        return self.radius

    @property
    def square(self) -> Fraction:
        """Of the radius."""
        return decimal(self.radius) ** 2

    def factor(self, d: int) -> Float[np.ndarray, "d width"]:
        """No columns."""
        return np.empty((d, 0))

    def seen(self, queries: Float[np.ndarray, "heads d"]) -> Seen:
        """A uniform point of the ball, projected."""
        return Seen(self.radius * _short(queries), queries.shape[1])


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """e = matrix u with |u| <= 1; sampled with u uniform.

    >>> Ellipsoid(np.eye(3)[:, :2]).coordinates
    3
    """

    matrix: Float[np.ndarray, "d m"]
    name: ClassVar = "ellipsoid"
    asks: ClassVar = "the matrix E of e = E u, |u| <= 1"
    from_file: ClassVar = True
    random: ClassVar = False
    square: ClassVar = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", finite(self.matrix, "ellipsoid", axes=2))

    @property
    def coordinates(self) -> int | None:
        """Of the matrix."""
        return int(self.matrix.shape[0])

    @property
    def reach(self) -> float:
        """The largest number of the matrix."""
        return float(np.abs(self.matrix).max())

    def factor(self, _d: int) -> Float[np.ndarray, "d width"]:
        """The matrix."""
        return self.matrix

    def seen(self, queries: Float[np.ndarray, "heads d"]) -> Seen:
        """A uniform point of the ball, mapped and projected."""
        return Seen(_short(queries @ self.matrix), self.matrix.shape[1])


Spread = Isotropic | Covariance | Ball | Ellipsoid
SPREADS: dict[str, type[Spread]] = {kind.name: kind for kind in get_args(Spread)}


def _short(matrix: Float[np.ndarray, "heads d"]) -> Float[np.ndarray, "heads r"]:
    """A matrix F with F F^T = matrix matrix^T and as few columns as heads: a rotation of the unused rest."""
    U, s, _ = np.linalg.svd(matrix, full_matrices=False)
    short: Float[np.ndarray, "heads r"] = U * s
    return short
