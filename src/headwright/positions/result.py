"""What rounding does to positions, as data."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.numerics.enclosure import Enclosure


@dataclass(frozen=True)
class RoundedPositions:
    """The fields of a `Report`, about the positions 0..length-1."""

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
