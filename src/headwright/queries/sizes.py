"""Sizes that floats can be computed with: what is beyond them is refused, rather than left to overflow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.noise.world import World

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
    for noise in world.noises:
        if noise.scale is not None:
            largest = max(*map(abs, noise.scale.ends), math.sqrt(noise.scale.variance))
            if largest > FARTHEST:
                raise InputError(f"the world has a scale of {largest:g}: expected at most {FARTHEST:g}")
        if noise.spread is not None and (far := noise.spread.reach) > FARTHEST * (size or 1.0):
            raise InputError(f"the world has keys {far:g} off their places, which are of size {size:g}: expected at "
                             f"most {FARTHEST:g} times as much")  # fmt: skip
