"""Which positions have equal rows after rounding, and the closest two of the others.

Over the integers two positions never have the same sines and cosines: sin t = sin s and cos t = cos s make t - s
a multiple of 2 pi, and pi is irrational. In a computer they may: because the index t was rounded, or because
the angles or the rows were.

Where no two coincide, the closest two are found by their difference: rounding moves each row by less than R, so a
difference of exact distance D has rounded distances of at least D - 2R. Differences are scanned in the order of D
until D - 2R exceeds the smallest distance found. Where that would scan nearly all, all pairs are compared by matrix
products, which is cheaper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import ContradictionError, typed_errors
from headwright.notebook import lines
from headwright.numerics.enclosure import Enclosure, shown_above, shown_below
from headwright.positions.compare_rows import (
    BLOCK_NUMBERS,
    ClosestRows,
    Progress,
    Shortlist,
    between,
    closest_equal_pair,
    closest_of_shortlist,
    closest_rows,
    difference_bounds,
    empty_shortlist,
    first_equal,
    over_blocks,
)
from headwright.positions.rounding import Precision, RoundedRows
from headwright.positions.schemes import Scheme, Waves
from headwright.positions.separation import (
    Closest,
    check_against_floats,
    check_arguments,
    closest_pair,
    separation,
    squared_separations,
)

BUDGET = 2**41  # multiplications that the search may cost: a minute or two
SCAN = 200  # what a number in a scan costs, in multiplications of a matrix product: sines are expensive

Bounds = tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"], Int[np.ndarray, "k 2"]]
LARGEST_LENGTH = 2**27  # the arrays of this many positions still fit a laptop
EXACT = Precision()


def closest_rounded(
    rows: RoundedRows, known: Int[np.ndarray, " k"], progress: Progress | None = None
) -> ClosestRows:
    """The closest pair among the rounded rows at the known positions: those with finite rows, two at least.

    The index must be unrounded; and for sines, cosines and slopes the known positions are the first ones. If
    the search would cost more than a minute or two it stops; then `certain` is False, and the enclosure says
    what is known.
    """
    length, moved = len(known), rows.rounding_bound(len(known) - 1)
    if moved is None:
        found = closest_rows(lambda at: rows(known[at]), length, rows.dim, progress)
        return replace(
            found, pair=(int(known[found.pair[0]]), int(known[found.pair[1]]))
        )
    lower = (
        _exact_distances(rows.scheme, length) - 2 * moved
    )  # lower[k] is for the difference k + 1
    order = np.argsort(lower, kind="stable")
    few = empty_shortlist(rows.dim)
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
    return closest_of_shortlist(rows, few, rows.dim)


def _exact_distances(scheme: Scheme, length: int) -> Float[np.ndarray, " differences"]:
    """Lower bounds of the exact distance, for the differences 1..length-1."""
    if isinstance(scheme, Waves):
        squares = np.concatenate(
            [lower for _, lower, _ in squared_separations(scheme, length)]
        )
        distances: Float[np.ndarray, " differences"] = np.sqrt(np.maximum(squares, 0.0))
    else:
        distances = np.arange(1, length, dtype=np.float64) * separation(scheme, 1).lower
    return distances * (
        1 - 2.0**-50
    )  # which pays for the roundings here, and of the subtraction above


def _scan(
    rows: RoundedRows,
    length: int,
    difference: int,
    few: Shortlist,
    progress: Progress | None,
) -> None:
    """Shortlist the closest of the pairs of 0..length-1 with this difference."""
    size = max(1, BLOCK_NUMBERS // rows.dim)

    def work(start: int, stop: int) -> Bounds:
        if difference < stop - start:  # both sides are in one stretch of rows
            stretch = rows(np.arange(start, stop + difference))
            earlier, later = stretch[: stop - start], stretch[difference:]
        else:
            earlier, later = (
                rows(np.arange(start, stop)),
                rows(np.arange(start, stop) + difference),
            )
        lower, upper = difference_bounds(earlier, later)
        near = np.flatnonzero(lower <= upper.min())
        return (
            lower[near],
            upper[near],
            np.stack((near + start, near + start + difference), axis=1),
        )

    for bounds in over_blocks(length - difference, size, work, progress):
        few.add(*bounds)


@dataclass(frozen=True)
class Report:
    """What rounding does to the positions 0..length-1.

    >>> from headwright.positions import Precision, Sinusoidal
    >>> found = report(Sinusoidal(64), 4096, Precision(index="bfloat16"))
    >>> found.collisions, found.first_pair, found.min_difference
    (3327, (256, 257), 1)
    """

    collisions: int  # how many positions coincide with an earlier one
    first_pair: (
        tuple[int, int] | None
    )  # the first position that repeats another, after that other one
    overflow_from: int | None  # the first position whose numbers are not finite
    lost: int  # how many such positions there are: not all later ones, where a table is learned
    min_distance: float  # of the closest pair, rounded up; 0.0 if any coincide
    distance: Enclosure  # the smallest distance, from both sides
    min_difference: (
        int  # t' - t of the closest pair; if any coincide, the smallest among these
    )
    closest_pair: tuple[int, int]  # (t, t')
    how_collisions: str  # by what means their number is known
    how_distance: str  # by what means the distance is known

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types."""
        known = math.isfinite(self.min_distance)  # JSON has no infinity
        return {
            "collisions": self.collisions,
            "first_pair": list(self.first_pair) if self.first_pair else None,
            "min_distance": self.min_distance if known else None,
            "min_distance_enclosure": [self.distance.lower, self.distance.upper]
            if known
            else None,
            "min_difference": self.min_difference,
            "closest_pair": list(self.closest_pair),
            "overflow_from": self.overflow_from,
            "lost": self.lost,
            "how_collisions": self.how_collisions,
            "how_distance": self.how_distance,
            "kinds": {
                "min_distance": "proven",
                "min_distance_enclosure": "proven",
            },  # how_distance says by what
        }

    def __repr__(self) -> str:
        """How many coincide, and how close the closest two are."""
        facts = (
            [("first", "position {1} is the same as {0}".format(*self.first_pair))]
            if self.first_pair
            else []
        )
        apart = "positions {} and {}".format(*self.closest_pair)
        facts.append(
            (
                "closest",
                f"{apart}, {shown_above(self.min_distance, 4)} apart ({self.how_distance})",
            )
        )
        return lines(
            "positions",
            f"{self.collisions} coincide with an earlier one ({self.how_collisions})",
            facts,
        )


@typed_errors
def report(
    scheme: Scheme,
    length: int,
    precision: Precision = EXACT,
    *,
    progress: Progress | None = None,
) -> Report:
    """How many of the positions 0..length-1 coincide when rounded, and how far apart the closest are.

    Positions whose numbers are not finite (a float16 index from 65520 on) are lost: nothing tells one from
    another, so they count as coinciding with each other. `progress` is told the fraction done. One position has
    no pair, and is refused.

    That no two coincide is proven without looking at rows where the exact positions lie further apart than
    rounding can move them; otherwise the rounded rows are compared. For the closest pair of exact
    positions see `separation.closest_pair`.

    >>> from headwright.positions import Precision, Sinusoidal
    >>> found = report(Sinusoidal(64), 1000, Precision(rows="bfloat16"))
    >>> found.collisions, found.closest_pair, round(found.min_distance, 4)
    (0, (359, 360), 1.4683)
    """
    check_arguments(scheme, length, LARGEST_LENGTH)
    rows = RoundedRows(scheme, length, precision)
    lost = rows.lost()
    plain = (
        rows.unrounded and precision.index == "exact"
    )  # then one search answers both questions
    exact = (
        closest_pair(scheme, length, progress=between(progress, 0.0, 0.9))
        if plain
        else None
    )
    firsts, how = _firsts(
        rows,
        lost,
        exact,
        between(progress, 0.9 if exact else 0.0, 0.95 if exact else 0.2),
    )
    repeats = np.flatnonzero(firsts != np.arange(length))
    known = np.flatnonzero(~lost)
    distance, pair, how_distance = _closest(
        rows, known, closest_equal_pair(firsts), exact, between(progress, 0.2, 1.0)
    )
    if len(repeats):
        twins = rows(np.array([firsts[repeats[0]], repeats[0]]))
        if not (lost[repeats[0]] or np.array_equal(twins[0], twins[1])):
            raise ContradictionError(
                f"positions {firsts[repeats[0]]} and {repeats[0]}: that they coincide was found, "
                "and their rows differ"
            )
    elif len(known) > 1:
        check_against_floats(rows, length, pair, distance, certain=False, at=known)
    if progress:
        progress(1.0)
    return Report(
        collisions=len(repeats),
        first_pair=(int(firsts[repeats[0]]), int(repeats[0])) if len(repeats) else None,
        overflow_from=int(np.argmax(lost)) if lost.any() else None,
        lost=int(lost.sum()),
        min_distance=distance.upper,
        distance=distance,
        min_difference=pair[1] - pair[0],
        closest_pair=pair,
        how_collisions=how,
        how_distance=how_distance,
    )


def _firsts(
    rows: RoundedRows,
    lost: Bool[np.ndarray, " length"],
    exact: Closest | None,
    progress: Progress | None,
) -> tuple[Int[np.ndarray, " length"], str]:
    """For each position the first that coincides with it, and how that is known."""
    firsts = np.arange(len(rows))
    firsts[lost] = np.argmax(lost)
    # Rounding keeps the order, so positions with the same index stand side by side.
    known = np.flatnonzero(~lost)
    begins = np.ones(len(known), dtype=bool)
    begins[1:] = np.diff(rows.index[known]) != 0
    leaders = known[begins]  # one position for each index
    firsts[known] = leaders[np.cumsum(begins) - 1]
    proof = _apart(
        rows,
        int(rows.index[known].max(initial=0.0)),
        exact,
        between(progress, 0.0, 0.2),
    )
    if proof:
        return firsts, proof
    stages = rows.stages()
    part = 0.8 / len(stages)
    for k, stage in enumerate(stages):
        twins = first_equal(
            stage,
            leaders,
            rows.units,
            between(progress, 0.2 + k * part, 0.2 + (k + 1) * part),
        )
        firsts[known] = twins[np.searchsorted(leaders, firsts[known])]
        leaders = leaders[twins == leaders]
    return firsts, "the rounded rows were compared number by number"


def _apart(
    rows: RoundedRows, last: int, exact: Closest | None, progress: Progress | None
) -> str | None:
    """A proof that different indices up to the last have different rows, in words; None if there is none."""
    moved = rows.rounding_bound(last)
    if moved is None or last == 0:
        return None
    apart = (
        exact or closest_pair(rows.scheme, last + 1, progress=progress)
    ).distance.lower
    if not apart > 2 * moved:
        return None
    why = (
        f"rounding moves a row by at most {shown_above(moved, 3)}"
        if moved
        else "rows are not rounded"
    )
    return f"proven: rows of different index lie at least {shown_below(apart)} apart, and {why}"


def _closest(
    rows: RoundedRows,
    known: Int[np.ndarray, " k"],
    twins: tuple[int, int] | None,
    exact: Closest | None,
    progress: Progress | None,
) -> tuple[Enclosure, tuple[int, int], str]:
    """The smallest distance, the pair, and how they are known."""
    if twins:
        return Enclosure(0.0, 0.0), twins, "two positions coincide"
    # From here on the index is unrounded: the first whole number that a type lacks is rounded to the one before.
    if rows.unrounded:
        exact = exact or closest_pair(rows.scheme, len(rows), progress=progress)
        return (
            exact.distance,
            exact.pair,
            _known("a rigorous enclosure, nothing is rounded", exact.certain),
        )
    if len(known) < 2:  # one of two positions is lost
        return (
            Enclosure(math.inf, math.inf),
            (0, 1),
            "the numbers of one position are not finite",
        )
    found = closest_rounded(rows, known, progress)
    return (
        found.distance,
        found.pair,
        _known("exact for rows computed in float64, then rounded", found.certain),
    )


def _known(how: str, certain: bool) -> str:
    return (
        how
        if certain
        else "bounds only: there were too many candidates to decide which pair is closest"
    )
