"""What rounding does to positions, for people and programs: lines of text, JSON."""

from __future__ import annotations

import math
from typing import Any

from headwright.notebook import lines
from headwright.numerics.enclosure import shown_above
from headwright.positions.result import RoundedPositions


def report_as_json(report: RoundedPositions) -> dict[str, Any]:
    """All of it in JSON's own types."""
    known = math.isfinite(report.min_distance)  # JSON has no infinity
    enclosure = [report.distance.lower, report.distance.upper]
    return {
        "collisions": report.collisions,
        "first_pair": list(report.first_pair) if report.first_pair else None,
        "min_distance": report.min_distance if known else None,
        "min_distance_enclosure": enclosure if known else None,
        "min_difference": report.min_difference,
        "closest_pair": list(report.closest_pair),
        "overflow_from": report.overflow_from,
        "lost": report.lost,
        "how_collisions": report.how_collisions,
        "how_distance": report.how_distance,
        # how_distance says by what
        "kinds": {"min_distance": "proven", "min_distance_enclosure": "proven"},
    }


def report_lines(report: RoundedPositions) -> str:
    """How many coincide, and how close the closest two are."""
    facts = []
    if report.first_pair:
        earlier, later = report.first_pair
        facts.append(("first", f"position {later} is the same as {earlier}"))
    first, second = report.closest_pair
    apart = f"{shown_above(report.min_distance, 4)} apart ({report.how_distance})"
    facts.append(("closest", f"positions {first} and {second}, {apart}"))
    return lines(
        "positions",
        f"{report.collisions} coincide with an earlier one ({report.how_collisions})",
        facts,
    )
