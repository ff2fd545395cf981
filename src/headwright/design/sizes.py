"""Sizes that floats can be computed with: what is beyond them is refused, rather than left to overflow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.noise.world import Ball, Between, Covariance, Ellipsoid, Isotropic, Noise, Normal, OneOf, World

LARGEST, LARGEST_IN_WORLDS = 1e300, 1e100  # of the keys' largest number, or 1 over it; in worlds squares are taken
FARTHEST = 1e50  # times that: what keys may be off their places; and the largest scale


def check_sizes(keys: Sequence[Float[np.ndarray, "n d"]], world: World) -> None:
    """Refuse keys of the size of the largest and smallest floats, and worlds that dwarf the keys.

    >>> check_sizes([np.full((2, 1), 1e308)], World())
    Traceback (most recent call last):
    headwright.errors.InputError: the keys hold a number of size 1e+308: expected at most 1e+300; divide all of them ...
    """
    size = max(float(np.abs(matrix).max()) for matrix in keys)
    most = LARGEST if world.fixed or world.scenarios else LARGEST_IN_WORLDS
    if size > most:
        raise InputError(f"the keys hold a number of size {size:g}: expected at most {most:g}; divide all of them "
                         "by a common number")  # fmt: skip
    if 0 < size < 1 / most:
        raise InputError(f"the largest number of the keys is {size:g}: expected at least {1 / most:g}, or 0; multiply "
                         "all of them by a common number")  # fmt: skip
    for noise in (*world.noise.values(), world.others):
        for scale in _scales(noise):
            if abs(scale) > FARTHEST:
                raise InputError(f"the world has a scale of {scale:g}: expected at most {FARTHEST:g}")
        if (far := _spread(noise)) > FARTHEST * (size or 1.0):
            raise InputError(f"the world has keys {far:g} off their places, which are of size {size:g}: expected at "
                             f"most {FARTHEST:g} times as much")  # fmt: skip


def _scales(noise: Noise) -> Iterator[float]:
    match noise.scale:
        case Between(low, high):
            yield from (low, high)
        case OneOf(values):
            yield from values
        case Normal(mean, variance):
            yield from (mean, math.sqrt(variance))


def _spread(noise: Noise) -> float:
    match noise.spread:
        case Ball(radius):
            return radius
        case Isotropic(variance):
            return math.sqrt(variance)
        case Covariance(matrix):
            return math.sqrt(float(np.abs(matrix).max()))
        case Ellipsoid(matrix):
            return float(np.abs(matrix).max())
    return 0.0
