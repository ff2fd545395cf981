"""A report on positions as JSON: what scripts read of the command line, and browsers of the lab."""

from __future__ import annotations

import math
from typing import Any

from headwright.positions.collisions import Report


def to_json(found: Report) -> dict[str, Any]:
    """What was found, in JSON's own types.

    >>> from headwright.positions import Precision, Sinusoidal, report
    >>> to_json(report(Sinusoidal(2), 10, Precision()))["closest_pair"]
    [0, 6]
    """
    known = math.isfinite(found.min_distance)  # JSON has no infinity
    return {
        "collisions": found.collisions,
        "first_pair": list(found.first_pair) if found.first_pair else None,
        "min_distance": found.min_distance if known else None,
        "min_distance_enclosure": [found.distance.lower, found.distance.upper] if known else None,
        "min_difference": found.min_difference,
        "closest_pair": list(found.closest_pair),
        "overflow_from": found.overflow_from,
        "lost": found.lost,
        "how_collisions": found.how_collisions,
        "how_distance": found.how_distance,
        "kinds": {"min_distance": "proven", "min_distance_enclosure": "proven"},  # by the means that how_distance says
    }
