"""The distances of all differences at once, in floating point with a proven error bound.

With difference = aB + b and B about sqrt(length),

    cos(w difference) = cos(w aB) cos(w b) - sin(w aB) sin(w b),

so the sums over all frequencies are one matrix product, and only 2 sqrt(length) dim sines and cosines are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import arb, ctx
from jaxtyping import Float, Int

from headwright.positions.balls import exact, powers
from headwright.positions.schemes import Waves


def squared_separations(
    scheme: Waves, length: int
) -> Iterator[tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"], Float[np.ndarray, " k"]]]:
    """Blocks of (differences, lower, upper): proven bounds of the squared distance for 1..length-1, in order.

    The phase w_i n / 2 pi, modulo 1, is computed in 64-bit integers: n times round(2^64 w_i / 2 pi), where
    overflow is just what 'modulo' means. Its error is at most n units of 2^-64 turns, n 2^-61 in angle, and the
    sum of the two phases of aB and b is off by (aB + b) 2^-61. Converting a phase to a float angle in [-pi, pi]
    costs less than 2^-49, and NumPy's sine and cosine are taken to err by less than 2^-45 there (an ulp is
    2^-53): eta < 2^-44 for each factor, hence less than 2 sqrt(2) eta + 2 eta^2 < 2^-42 for
    cos cos - sin sin. The product sums dim terms; since |cos cos| + |sin sin| <= 1 it adds, in any order and
    with or without fused operations, gamma_dim dim/2 < (dim/2) dim 2^-52. Together, for the sum of cosines,

        E(difference) = dim/2 (difference 2^-61 + 2^-41 + dim 2^-52),

    where 2^-41 instead of 2^-42 also pays for the roundings of dim - 2 (sum -+ E).

    >>> from headwright.positions import Sinusoidal
    >>> differences, lower, upper = next(squared_separations(Sinusoidal(2), 3))
    >>> differences.tolist(), lower.round(6).tolist()
    ([1, 2], [0.919395, 2.832294])
    """
    turns = _turns(scheme)
    block = max(1, 2**20 // scheme.dim)  # numbers in a factor: 8 MB at most
    width = min(block, math.isqrt(length - 1) + 1)
    heads = -(-length // width)
    cos, sin = _cos_sin(np.arange(width, dtype=np.uint64), turns)
    right = np.concatenate((cos, sin), axis=1).T  # (dim, width)
    for start in range(0, heads, min(block, 2**20 // width)):
        stop = min(heads, start + min(block, 2**20 // width))
        cos, sin = _cos_sin(np.arange(start, stop, dtype=np.uint64) * np.uint64(width), turns)
        total = (np.concatenate((cos, -sin), axis=1) @ right).ravel()
        differences = np.arange(start * width, stop * width)
        inside = slice(1 if start == 0 else 0, length - start * width)
        differences, total = differences[inside], total[inside]
        error = scheme.dim / 2 * (differences * 2.0**-61 + 2.0**-41 + scheme.dim * 2.0**-52)
        yield differences, scheme.dim - 2 * (total + error), scheme.dim - 2 * (total - error)


def _turns(scheme: Waves) -> Int[np.ndarray, " half"]:
    with ctx.workprec(256):
        unit = arb(2) ** 64 / (2 * arb.pi())
        found = [round(exact((w * unit).mid())) for w in powers(scheme.base, scheme.exponents)]
    return np.array(found, dtype=np.uint64)


def _cos_sin(
    n: Int[np.ndarray, " k"], turns: Int[np.ndarray, " half"]
) -> tuple[Float[np.ndarray, "k half"], Float[np.ndarray, "k half"]]:
    angles = (n[:, None] * turns).view(np.int64) * (2 * np.pi / 2**64)
    return np.cos(angles), np.sin(angles)
