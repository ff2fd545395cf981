"""A few rows and distances, for a picture."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.notebook import outline
from headwright.positions.rounding import Precision, RoundedRows
from headwright.positions.schemes import Scheme

WINDOW, MOST_COLUMNS, MOST_DIFFERENCES = 48, 128, 1024
MOST_POSITIONS, STRETCHES, NUMBERS = (
    16_384,
    32,
    1 << 22,
)  # of the overview; numbers in memory at a time


@dataclass(frozen=True, eq=False)
class Preview:
    """Rows from `start` on, how far apart neighbours are, how often they coincide further on, and distances from 0.

    >>> from headwright.positions import Sinusoidal
    >>> preview(Sinusoidal(4), 300, Precision(index="bfloat16"), 250).start
    250
    """

    start: int
    rows: Float[np.ndarray, "window columns"]  # from start on
    neighbours: Float[np.ndarray, " window"]  # of t and t + 1, for t from start on
    ends: tuple[int, ...]  # of stretches of positions, from 0 on: 0, 128, 256, ...
    coinciding: tuple[
        float, ...
    ]  # in each stretch, the share of positions with the row of the one before
    distances: Float[
        np.ndarray, " differences"
    ]  # of position k from position 0, from k = 1 on
    __repr__ = outline


def preview(
    scheme: Scheme, length: int, precision: Precision, start: int = 0
) -> Preview:
    """Rows from `start` on, distances of neighbours and from position 0, in floating point.

    >>> from headwright.positions import Sinusoidal
    >>> found = preview(Sinusoidal(4), 300, Precision(index="bfloat16"), 250)
    >>> found.neighbours[5:9].round(2).tolist(), found.ends[:3], found.coinciding[-1]
    ([0.96, 0.0, 1.68, 1.68], (0, 10, 20), 0.4)
    """
    check_argument("start", start, int)
    rows = RoundedRows(scheme, length, precision)
    start = max(0, min(start, length - 2))
    window = rows(np.arange(start, min(length, start + WINDOW + 1)))
    near = rows(np.arange(min(length, MOST_DIFFERENCES + 1)))
    distances: Float[np.ndarray, " differences"] = np.linalg.norm(
        near[1:] - near[0], axis=1
    )
    seen = min(length, MOST_POSITIONS)
    step = -(-seen // STRETCHES)
    ends = (*range(0, seen, step), seen)
    shares = tuple(_coinciding(rows, low, high) for low, high in pairwise(ends))
    return Preview(
        start, window[:, :MOST_COLUMNS], _apart(window), ends, shares, distances
    )


def _apart(
    table: Float[np.ndarray, "positions dim"],
) -> Float[np.ndarray, " neighbours"]:
    gaps: Float[np.ndarray, " neighbours"] = np.linalg.norm(
        table[1:] - table[:-1], axis=1
    )
    return gaps


def _coinciding(rows: RoundedRows, low: int, high: int) -> float:
    """The share of the positions from low to high with the row of the position before."""
    wide = max(1, rows(np.arange(low, low + 1)).shape[1])
    step, equal = max(1, NUMBERS // wide), 0
    for first in range(max(low, 1), high, step):
        block = rows(np.arange(first - 1, min(high, first + step)))
        equal += int((block[1:] == block[:-1]).all(axis=1).sum())
    return equal / max(1, high - low)
