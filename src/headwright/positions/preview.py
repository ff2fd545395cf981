"""A few rows and distances, for a picture."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.positions.rounded import RoundedRows
from headwright.positions.rounding import Precision
from headwright.positions.schemes import Scheme

MOST_POSITIONS, MOST_COLUMNS, MOST_DIFFERENCES = 64, 128, 1024


def preview(
    scheme: Scheme, length: int, precision: Precision, start: int = 0
) -> tuple[Float[np.ndarray, "positions columns"], Float[np.ndarray, " differences"]]:
    """64 rows from `start` on, and the distance of each position from position 0, in floating point.

    >>> from headwright.positions import Sinusoidal
    >>> rows, distances = preview(Sinusoidal(4), 100, Precision())
    >>> rows.shape, distances.shape, distances[0].round(4)
    ((64, 4), (99,), np.float64(0.9589))
    """
    rows = RoundedRows(scheme, length, precision)
    window = np.arange(start, min(length, start + MOST_POSITIONS))
    near = rows(np.arange(min(length, MOST_DIFFERENCES + 1)))
    distances: Float[np.ndarray, " differences"] = np.linalg.norm(near[1:] - near[0], axis=1)
    return rows(window)[:, :MOST_COLUMNS], distances
