"""What `row_statistics` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

Rows = Float[np.ndarray, "*batch heads rows"]
Keys = Float[np.ndarray, "*batch heads keys"]


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """All rows of all heads; of a batch, one array for all of its texts.

    Fields have the names of `statistics.table`, which says what they are; `extra` has those that were asked for beside
    the fields.

    >>> from headwright import row_statistics
    >>> row_statistics(np.zeros((1, 4, 2)), np.zeros((1, 4, 2)))
    RowStatistics(1 heads, 4 rows each, the largest weight of a row is 0.5208 on average)
    """

    lse: Rows
    largest: Rows
    winner: Int[np.ndarray, "heads rows"]
    margin: Rows
    entropy: Rows
    first: Rows
    distance: Rows
    sensitivity: Rows
    largest_score: Rows
    offsets: dict[int, Rows] = field(default_factory=dict)
    top: Rows | None = None
    received: Keys | None = None
    top_keys: Int[np.ndarray, "*batch heads rows k"] | None = None
    top_weights: Float[np.ndarray, "*batch heads rows k"] | None = None
    start: Rows | None = None
    middle: Rows | None = None
    recent: Rows | None = None
    sets: dict[str, Rows] = field(default_factory=dict)
    received_last: Keys | None = None
    received_most: Keys | None = None
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        """The sizes, and the mean of the largest weight: not the arrays."""
        heads, rows = self.lse.shape[-2:]
        mean = (
            f", the largest weight of a row is {self.largest.mean():.4g} on average"
            if self.largest.size
            else ""
        )
        return f"RowStatistics({heads} heads, {rows} rows each{mean})"
