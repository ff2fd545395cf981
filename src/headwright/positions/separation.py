"""How far apart are two positions, and which two are closest?

For sines and cosines the distance depends on the difference of the positions alone:

    |Phi_t - Phi_s|^2 = sum_i 2 - 2 cos(w_i (t - s)) = sum_i 4 sin^2(w_i (t - s) / 2).

So the closest pair among T positions is a minimum over T - 1 differences. Floating point narrows them down (its
error bound is proven in `differences`), and arb's enclosures decide among those left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from jaxtyping import Float, Int

from headwright.enclosure import TOLERANCE, Enclosure, held_to
from headwright.errors import InputError
from headwright.positions.balls import powers
from headwright.positions.blocks import Progress
from headwright.positions.differences import squared_separations
from headwright.positions.pairs import closest_rows
from headwright.positions.schemes import Alibi, Scheme, Waves
from headwright.positions.shortlist import Shortlist
from headwright.positions.twins import first_twins, nearest_twins

LARGEST_LENGTH = 2**32  # beyond it 64-bit phases lose the digits that make them a filter
EFFORT = 2**20  # how many sines in enclosures deciding a closest pair may cost: about a second
TRIED = 64  # random pairs
FEWEST_BITS, MOST_BITS = 128, 2**16  # where the precision starts; and stops growing, which no known case meets


@dataclass(frozen=True)
class Closest:
    """The closest pair of positions.

    >>> from headwright.positions import Sinusoidal
    >>> closest_pair(Sinusoidal(2), 1000).difference
    710
    """

    pair: tuple[int, int]  # (t, t'), the earlier first; for waves every pair with this difference is as close
    difference: int  # t' - t
    distance: Enclosure  # of the smallest distance: this holds whether or not the pair is certain
    compared: int  # how many candidates floating point left to exact arithmetic or enclosures
    certain: bool  # proven that no other pair is closer


def separation(scheme: Scheme, difference: int) -> Enclosure:
    """The distance between two positions that differ by `difference`, enclosed from both sides.

    For waves sqrt(sum_i 4 sin^2(w_i difference / 2)), with w_i = base^(-2i/dim) enclosed too; for Alibi
    |difference| |slopes|. A learned table has no such distance, and is refused.

    >>> from headwright.positions import Sinusoidal
    >>> near = separation(Sinusoidal(2), 710)  # 710 is almost 113 turns
    >>> near.lower, near.upper
    (6.0288706718976894e-05, 6.02887067189769e-05)
    """
    if isinstance(difference, bool) or not isinstance(difference, int):
        raise InputError(f"difference is {difference!r}: expected a whole number")
    square = _square_of(scheme)
    bits = FEWEST_BITS + difference.bit_length()
    while True:
        with ctx.workprec(bits):
            ball = square(abs(difference))
            if ball.rel_accuracy_bits() > 64 or bits > MOST_BITS + difference.bit_length():
                return Enclosure.of(ball.nonnegative_part().sqrt())
        bits *= 2


def closest_pair(scheme: Scheme, length: int, *, progress: Progress | None = None) -> Closest:
    """The closest pair among the positions 0..length-1, in O(length dim) for waves.

    With difference = aB + b and B about sqrt(length), cos(w difference) = cos(w aB) cos(w b) - sin(w aB) sin(w b):
    all differences are one matrix product, with about 2 sqrt(length) dim sines and cosines. A learned table is
    compared pair by pair, O(length^2 dim). `progress` is told the fraction done.

    >>> from headwright.positions import Sinusoidal
    >>> found = closest_pair(Sinusoidal(512), 1_000_000)
    >>> found.difference, round(found.distance.lower, 6), found.certain
    (1, 3.71427, True)
    """
    check_asked(scheme, length, LARGEST_LENGTH)
    if isinstance(scheme, Waves):
        found = _closest_waves(scheme, length, progress)
    elif isinstance(scheme, Alibi):  # |difference| |slopes| grows with the difference
        found = Closest((0, 1), 1, separation(scheme, 1), 1, certain=True)
    else:
        found = _closest_by_pairs(scheme, length, progress)
    agree(lambda at: scheme.rows(at.astype(np.float64)), length, found.pair, found.distance, certain=found.certain)
    return found


def agree(
    rows: Callable[[Int[np.ndarray, " k"]], Float[np.ndarray, "k dim"]], length: int, pair: tuple[int, int],
    distance: Enclosure, *, certain: bool, at: Int[np.ndarray, " k"] | None = None,
) -> None:  # fmt: skip
    """Nothing, if rows in float64 are as far apart as was proved; else a ContradictionError.

    The pair itself is looked at, which lies at the smallest distance where it is certain, and random pairs, at no less;
    these are of the positions `at`, if given.
    """
    rng = np.random.default_rng(0)
    two = rng.integers(length if at is None else len(at), size=(TRIED, 2))
    two = np.concatenate([[pair], (two if at is None else at[two])[two[:, 0] != two[:, 1]]])
    first, second = rows(two[:, 0]), rows(two[:, 1])
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = first - second
        large = np.abs(gaps).max(axis=1, keepdims=True)
        apart = large[:, 0] * np.linalg.norm(gaps / np.where(large > 0, large, 1.0), axis=1)  # squares may be nothing
        size = np.maximum(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    for number, ((a, b), found) in enumerate(zip(two.tolist(), apart.tolist(), strict=True)):
        if not math.isfinite(found):
            continue
        room = TOLERANCE * found + (length * 2.0**-48 + 1e-12) * float(size[number])  # sines of large angles
        most = distance.upper if number == 0 and certain else math.inf
        held_to(found, f"the distance of positions {a} and {b}", least=distance.lower, most=most, tolerance=room)


def check_asked(scheme: Scheme, length: int, most: int) -> None:
    """Refuse what is no scheme, and a length that has no pair, or too many positions.

    >>> from headwright.positions import Sinusoidal
    >>> check_asked(Sinusoidal(2), 1, 10)
    Traceback (most recent call last):
    headwright.errors.InputError: length is 1: expected a whole number from 2 (a pair takes two) to 10
    """
    if not isinstance(scheme, Scheme):
        raise InputError(f"the scheme is {scheme!r}: expected one such as Sinusoidal(64)")
    if isinstance(length, bool) or not isinstance(length, int) or not 2 <= length <= most:
        raise InputError(f"length is {length!r}: expected a whole number from 2 (a pair takes two) to {most}")


def _square_of(scheme: Scheme) -> Callable[[int], arb]:
    """difference -> the squared distance, enclosed in the precision at the time of the call."""
    if isinstance(scheme, Waves):
        return lambda difference: _wave_square(powers(scheme.base, scheme.exponents), difference)
    if isinstance(scheme, Alibi):
        return lambda difference: sum(((slope * difference) ** 2 for slope in powers(2.0, scheme.exponents)), arb(0))
    raise InputError(
        f"the scheme is {type(scheme).__name__}: its distances do not depend on the difference alone, "
        "expected Sinusoidal, Rotary or Alibi"
    )


def _wave_square(frequencies: list[arb], difference: int) -> arb:
    return sum((4 * (w * difference / 2).sin() ** 2 for w in frequencies), arb(0))


def _closest_waves(scheme: Waves, length: int, progress: Progress | None) -> Closest:
    few = Shortlist(max(1, EFFORT // scheme.dim))
    for differences, lower, upper in squared_separations(scheme, length):
        few.add(lower, upper, differences[:, None])
        if progress:
            progress(float(differences[-1]) / length)
    candidates = [int(difference) for (difference,) in few.names]
    left, nearest = _decide(scheme, candidates)
    distance = separation(scheme, nearest)
    certain = len(left) == 1 and few.missed > distance.upper**2 * (1 + 2**-50)
    if not certain:
        floor = min([few.missed] + [separation(scheme, rival).lower ** 2 for rival in left])
        distance = Enclosure(min(distance.lower, math.sqrt(max(0.0, floor)) * (1 - 2**-50)), distance.upper)
    if progress:
        progress(1.0)
    return Closest((0, nearest), nearest, distance, len(candidates), certain)


def _decide(scheme: Waves, candidates: list[int]) -> tuple[list[int], int]:
    """Raise the precision until one candidate is certainly the nearest.

    That happens: equal distances would be a linear relation between exponentials of distinct algebraic numbers,
    which Lindemann and Weierstrass excluded. The cap on the precision is for the impatient only.
    """
    nearest = candidates[0]
    bits = FEWEST_BITS
    while len(candidates) > 1 and bits <= MOST_BITS:
        with ctx.workprec(bits):
            frequencies = powers(scheme.base, scheme.exponents)
            squares = [_wave_square(frequencies, difference) for difference in candidates]
            best = min(range(len(squares)), key=lambda k: Enclosure.of(squares[k]).upper)
            nearest = candidates[best]
            candidates = [d for d, square in zip(candidates, squares, strict=True) if not square > squares[best]]
        bits *= 2
    return candidates, nearest


def _closest_by_pairs(scheme: Scheme, length: int, progress: Progress | None) -> Closest:
    def rows(at: Int[np.ndarray, " k"], part: slice = slice(None)) -> Float[np.ndarray, "k columns"]:
        return scheme.rows(at.astype(np.float64))[:, part]

    dim = rows(np.zeros(1)).shape[1]
    # Rows that coincide first: there may be so many that comparing pairs of them would never end.
    twins = nearest_twins(first_twins(rows, np.arange(length), dim))
    if twins:
        return Closest(twins, twins[1] - twins[0], Enclosure(0.0, 0.0), 1, certain=True)
    found = closest_rows(rows, length, dim, progress)
    return Closest(found.pair, found.pair[1] - found.pair[0], found.distance, found.compared, found.certain)
