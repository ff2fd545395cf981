"""The closest two rounded rows, when no two coincide.

Their distance is no function of the difference alone, but nearly: rounding moves each row by less than R, so a
difference of exact distance D has rounded distances of at least D - 2R. Differences are scanned in the order of D
until D - 2R exceeds the smallest distance found. Where that would scan nearly all, comparing all pairs by
matrix products is cheaper.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from headwright.positions.blocks import Progress, between, over_blocks
from headwright.positions.differences import squared_separations
from headwright.positions.pairs import ClosestRows, closest_rows, difference_bounds, settle, shortlist
from headwright.positions.rounded import RoundedRows
from headwright.positions.schemes import Scheme, Waves
from headwright.positions.separation import separation
from headwright.positions.shortlist import Shortlist

BLOCK = 2**16  # numbers in a block: small enough that its arrays stay in the cache
BUDGET = 2**41  # multiplications that the search may cost: a minute or two
SCAN = 200  # what a number in a scan costs, in multiplications of a matrix product: sines are dear

Bounds = tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"], Int[np.ndarray, "k 2"]]


def closest_rounded(rows: RoundedRows, known: Int[np.ndarray, " k"], progress: Progress | None = None) -> ClosestRows:
    """The closest pair among the rounded rows at the known positions: those with finite rows, two at least.

    The index must be unrounded; and for sines, cosines and slopes the known positions are the first ones. If
    the search would cost more than a minute or two it stops; then `certain` is False, and the enclosure says
    what is known.

    >>> from headwright.positions import Precision, Sinusoidal
    >>> rows = RoundedRows(Sinusoidal(64), 1000, Precision(rows="bfloat16"))
    >>> closest_rounded(rows, np.arange(1000)).pair
    (359, 360)
    """
    length, moved = len(known), rows.moved(len(known) - 1)
    if moved is None:
        found = closest_rows(lambda at: rows(known[at]), length, rows.dim, progress)
        return replace(found, pair=(int(known[found.pair[0]]), int(known[found.pair[1]])))
    lower = _exact_distances(rows.scheme, length) - 2 * moved  # lower[k] is for the difference k + 1
    order = np.argsort(lower, kind="stable")
    few = shortlist(rows.dim)
    _scan(rows, length, int(order[0]) + 1, few, between(progress, 0.0, 0.5))
    best = math.sqrt(few.least) * (1 + 2**-50)
    left = order[1 : np.searchsorted(lower[order], best, side="right")]
    every_pair = length * length * rows.dim // 2
    if every_pair <= BUDGET and every_pair < SCAN * rows.dim * len(left) * length:
        return closest_rows(rows, length, rows.dim, between(progress, 0.5, 1.0))
    for k, candidate in enumerate(left):
        least = max(0.0, float(lower[candidate])) ** 2 * (1 - 2**-50)
        if least > few.least:
            break
        if SCAN * rows.dim * length * k > BUDGET:
            few.missed = min(few.missed, least)
            break
        at, then = 0.5 + k / len(left) / 2, 0.5 + (k + 1) / len(left) / 2
        _scan(rows, length, int(candidate) + 1, few, between(progress, at, then))
    return settle(rows, few, rows.dim)


def _exact_distances(scheme: Scheme, length: int) -> Float[np.ndarray, " differences"]:
    """Lower bounds of the exact distance, for the differences 1..length-1."""
    if isinstance(scheme, Waves):
        squares = np.concatenate([lower for _, lower, _ in squared_separations(scheme, length)])
        distances: Float[np.ndarray, " differences"] = np.sqrt(np.maximum(squares, 0.0))
    else:
        distances = np.arange(1, length, dtype=np.float64) * separation(scheme, 1).lower
    return distances * (1 - 2.0**-50)  # which pays for the roundings here, and of the subtraction above


def _scan(rows: RoundedRows, length: int, difference: int, few: Shortlist, progress: Progress | None) -> None:
    """Shortlist the closest of the pairs of 0..length-1 with this difference."""
    size = max(1, BLOCK // rows.dim)

    def work(start: int, stop: int) -> Bounds:
        if difference < stop - start:  # both sides are in one stretch of rows
            stretch = rows(np.arange(start, stop + difference))
            earlier, later = stretch[: stop - start], stretch[difference:]
        else:
            earlier, later = rows(np.arange(start, stop)), rows(np.arange(start, stop) + difference)
        lower, upper = difference_bounds(earlier, later)
        near = np.flatnonzero(lower <= upper.min())
        return lower[near], upper[near], np.stack((near + start, near + start + difference), axis=1)

    for bounds in over_blocks(length - difference, size, work, progress):
        few.add(*bounds)
