"""Which positions have equal rows after rounding, and the closest two of the others.

Over the integers two positions never have the same sines and cosines: sin t = sin s and cos t = cos s make t - s
a multiple of 2 pi, and pi is irrational. In a computer they may: because the index t was rounded, or because
the angles or the rows were.

Where no two coincide, all pairs of rounded rows are compared, if there are not too many. Otherwise the closest two are
known by bounds: rounding moves each row by less than R, so if no two exact rows are closer than D, then no two rounded
rows are closer than D - 2R.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from headwright.errors import ContradictionError
from headwright.numerics.enclosure import Enclosure, shown_above, shown_below
from headwright.positions.distances import (
    Closest,
    check_against_floats,
    check_arguments,
    closest_pair,
    closest_rows,
    exact_root,
    exact_square,
)
from headwright.positions.equal_rows import (
    Progress,
    between,
    closest_equal_pair,
    first_equal,
)
from headwright.positions.rendering import report_as_json, report_lines
from headwright.positions.result import RoundedPositions
from headwright.positions.rounding import Precision, RoundedRows
from headwright.positions.schemes import Scheme

# Of a comparison of all pairs, about a minute on one core; a pair costs as much as its multiplications and some more.
MOST_MULTIPLICATIONS = 2**38
COST_OF_PAIR = 32
LARGEST_LENGTH = 2**27  # the arrays of this many positions still fit a laptop
EXACT = Precision()


class Report(RoundedPositions):
    """What rounding does to the positions 0..length-1.

    >>> from headwright.positions import Precision, Sinusoidal
    >>> found = report(Sinusoidal(64), 4096, Precision(index="bfloat16"))
    >>> found.collisions, found.first_pair, found.min_difference
    (3327, (256, 257), 1)
    """

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types."""
        return report_as_json(self)

    def __repr__(self) -> str:
        """How many coincide, and how close the closest two are."""
        return report_lines(self)


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
        between(progress, 0.9 if exact else 0.0, 0.95 if exact else 0.4),
    )
    repeats = np.flatnonzero(firsts != np.arange(length))
    known = np.flatnonzero(~lost)
    distance, pair, how_distance = _closest(
        rows, known, closest_equal_pair(firsts), exact, between(progress, 0.4, 1.0)
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
    last = int(rows.index[known].max(initial=0.0))
    proof = _apart(rows, last, exact, between(progress, 0.0, 0.5))
    if proof:
        return firsts, proof
    twins = first_equal(rows, leaders, rows.units, between(progress, 0.5, 1.0))
    firsts[known] = twins[np.searchsorted(leaders, firsts[known])]
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
    moved = rows.rounding_bound(len(known) - 1)
    multiplications = len(known) ** 2 // 2 * (rows.dim + COST_OF_PAIR)
    if moved is not None and multiplications > MOST_MULTIPLICATIONS:
        return _bounds(rows, len(known), moved, progress)
    closest = closest_rows(rows, known, rows.dim, progress)
    how = "exact for rows computed in float64, then rounded"
    return closest.distance, closest.pair, _known(how, closest.certain)


def _bounds(
    rows: RoundedRows, length: int, moved: float, progress: Progress | None
) -> tuple[Enclosure, tuple[int, int], str]:
    """What is known of the first `length` rows without comparing all pairs.

    From below by the closest exact rows, each of which moves by `moved` at most; from above by how far these two
    are apart after rounding.
    """
    exact = closest_pair(rows.scheme, length, progress=progress)
    # The two steps below round by less than the factor.
    lower = (exact.distance.lower - 2 * moved) * (1 - 2.0**-50)
    pair_rows = rows(np.array(exact.pair))
    upper = exact_root(exact_square(pair_rows[0], pair_rows[1])).upper
    how = "bounds only: there are too many pairs to compare all of them after rounding"
    return Enclosure(max(0.0, lower), upper), exact.pair, how


def _known(how: str, certain: bool) -> str:
    if certain:
        return how
    return "bounds only: there were too many candidates to decide which pair is closest"
