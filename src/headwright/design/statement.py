"""What is asked, written exactly: keys by digest, wish and world as rationals. The solver reads it as floats."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.design.wish import Wish, exact
from headwright.errors import InputError
from headwright.noise.world import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    World,
)

INLINE_NUMBERS = 4096  # keys up to this size are written into the certificate


@dataclass(frozen=True)
class Question:
    """A wish for given keys in a world, at a scale; where keys are random, with a confidence.

    >>> from headwright.design.wish import copy
    >>> Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(19, 20)).random
    False
    """

    keys: tuple[Float[np.ndarray, "n d"], ...]  # one matrix for each scenario
    wish: Wish
    world: World
    scale: Fraction
    confidence: Fraction
    heads: int = 1
    guard: Fraction | None = None  # standard deviations to guard against, where more is known than this question says

    @property
    def n(self) -> int:
        """How many keys."""
        return int(self.keys[0].shape[0])

    @property
    def random(self) -> bool:
        """Some key follows a Gaussian law, so that only a probability can be had."""
        return bool(self.random_sides)

    @property
    def random_sides(self) -> int:
        """How many one-sided failures there are: a random target must not sink, and what competes must not rise."""
        several = len(self.wish.least) > 1
        if self.world.scenarios or not (
            _is_random(self.world.others) or any(_is_random(noise) for noise in self.world.noise.values())
        ):
            return 0
        keys = [i for i in range(self.n) if _is_random(self.world.of(i))]
        return self.heads * sum(2 if several and i in self.wish.least else 1 for i in keys)

    @property
    def deviations(self) -> Fraction:
        """How many standard deviations to guard against, so that all failures together stay below 1 - confidence."""
        if not self.random:
            return Fraction(0)
        if self.guard is not None:
            return self.guard
        from scipy.special import ndtri

        tail = float(1 - self.confidence) / self.random_sides
        return Fraction(f"{-float(ndtri(tail)) * (1 + 1e-13):.15g}")


def statement(question: Question, claim: str, none_shorter: Fraction = Fraction(0)) -> dict[str, Any]:
    """The statement of a certificate.

    >>> from headwright.design.wish import copy
    >>> statement(Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1)), "designed")["wish"]
    {'0': '100/101'}
    """
    return {
        "claim": claim,
        "keys": [_name(keys) for keys in question.keys],
        "scale": str(question.scale),
        "wish": {str(key): str(question.wish.least[key]) for key in question.wish.targets},
        "world": [] if question.world.scenarios else _world(question.world, question.n),
        "deviations": str(question.deviations),
        "confidence": str(question.confidence if question.random else 1),
        "none_shorter": str(none_shorter),
    }


def hex_floats(numbers: Float[np.ndarray, " k"]) -> list[str]:
    """Floats written exactly.

    >>> hex_floats(np.array([1.5]))
    ['0x1.8000000000000p+0']
    """
    return [float(number).hex() for number in numbers]


def _name(keys: Float[np.ndarray, "n d"]) -> dict[str, Any]:
    content = np.ascontiguousarray(keys, dtype="<f8")
    rows = [hex_floats(row) for row in content] if keys.size <= INLINE_NUMBERS else None
    return {
        "n": keys.shape[0],
        "d": keys.shape[1],
        "dtype": "float64",
        "sha256": hashlib.sha256(content.tobytes()).hexdigest(),
        "rows": rows,
    }


def _world(world: World, n: int) -> list[dict[str, Any]]:
    """Every noise as the set that the checker knows, and nothing for keys that there are none of."""
    entries: list[dict[str, Any]] = []
    for key, noise in world.noise.items():
        entries.append(_spread(noise, [key]))
    if not world.others.certain and len(world.noise) < n:
        entries.append(_spread(world.others, "*"))
    return entries


def _spread(noise: Noise, keys: list[int] | str) -> dict[str, Any]:
    random = _is_random(noise)
    ends, stretch = ("1", "1"), "0"
    match noise.scale:
        case Between(low, high):
            ends = (_decimal(low), _decimal(high))
        case OneOf(values):
            ends = (_decimal(min(values)), _decimal(max(values)))
        case Normal(mean, variance):
            ends = (_decimal(mean),) * 2
            stretch = float(np.nextafter(np.sqrt(variance), np.inf)).hex() if variance else "0"
    if isinstance(noise.scale, Normal) and isinstance(noise.spread, Ball | Ellipsoid):
        raise InputError("a key of Gaussian scale inside a ball or ellipsoid: expected both random, or both sets")
    ball, factor = "0", []
    match noise.spread:
        case Ball(radius):
            ball = _decimal(radius)
        case Isotropic(variance):
            ball = float(np.nextafter(np.sqrt(variance), np.inf)).hex() if variance else "0"
        case Ellipsoid(matrix):
            factor = [hex_floats(column) for column in matrix.T]
        case Covariance(matrix):
            factor = [hex_floats(column) for column in covariance_factor(matrix).T]
    return {
        "keys": keys, "scale": list(ends), "ball": ball, "stretch": stretch, "factor": factor, "random": random,
    }  # fmt: skip


def _decimal(number: float) -> str:
    """A float in a world is read as the decimal it prints as, like every number in a statement."""
    return str(exact(number, "a number of the world"))


def covariance_factor(matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """E with E E^T = matrix up to rounding; a statement about such a key is a statement about E E^T.

    >>> covariance_factor(np.diag([4.0, 0.0])).round(6)
    array([[0., 2.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(matrix)
    factor: Float[np.ndarray, "d d"] = vectors * np.sqrt(np.clip(values, 0, None)) + 0.0
    return factor


def _is_random(noise: Noise) -> bool:
    return isinstance(noise.scale, Normal) or isinstance(noise.spread, Isotropic | Covariance)
