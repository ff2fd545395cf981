"""What is known of a row of a pattern, without the pattern.

For one row with scores s over the keys it sees (and perhaps a sink), alpha = softmax(s):

    lse = ln sum exp(s)      largest = max alpha, of the key `winner`      margin = s_(1) - s_(2)
    entropy = -sum alpha ln alpha = lse - sum alpha s                      distance = sum alpha (position - key)
    offsets[o] = the weight of the key o places before the row             first = the weight of the first key
    top = the sum of the k largest weights                                 sensitivity = d alpha_w / d ln |k_w|

and received[j], the sum over the rows of the weight of key j. The first key is the first that is not masked: key 0, or
behind padding on the left the first token of the text. A row that sees nothing has lse -inf, winner -1 and
weights 0; one that sees a single key has a margin of inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

Rows = Float[np.ndarray, "heads rows"]


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """All rows of all heads.

    >>> RowStatistics.empty(1, 2, offsets=(0,)).lse.shape
    (1, 2)
    """

    lse: Rows
    largest: Rows
    winner: Int[np.ndarray, "heads rows"]
    margin: Rows
    entropy: Rows
    first: Rows
    distance: Rows
    sensitivity: Rows
    offsets: dict[int, Rows] = field(default_factory=dict)
    top: Rows | None = None
    received: Float[np.ndarray, "heads keys"] | None = None

    def __repr__(self) -> str:
        """The sizes, and the mean of the largest weight: not the arrays."""
        heads, rows = self.lse.shape
        mean = f", the largest weight of a row is {self.largest.mean():.4g} on average" if self.largest.size else ""
        return f"RowStatistics({heads} heads, {rows} rows each{mean})"

    @classmethod
    def empty(cls, heads: int, rows: int, offsets: Sequence[int] = (), *, top: bool = False) -> RowStatistics:
        """Arrays to be filled, as those of rows that see nothing."""
        lse, largest, margin, entropy, first, distance, sensitivity = np.zeros((7, heads, rows))
        lse[:] = -np.inf
        return cls(
            lse, largest, np.full((heads, rows), -1), margin, entropy, first, distance, sensitivity,
            {offset: np.zeros((heads, rows)) for offset in offsets}, np.zeros((heads, rows)) if top else None,
        )  # fmt: skip
