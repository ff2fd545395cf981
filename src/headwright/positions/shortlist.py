"""The few candidates for the smallest of many numbers, when floating point knows each only up to an error.

Floats filter, exact arithmetic decides: whatever might be the smallest is kept, never the float minimum alone.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int


class Shortlist:
    """Keeps every candidate whose lower bound does not exceed the least upper bound, at most `limit` of them.

    >>> import numpy as np
    >>> few = Shortlist(limit=10)
    >>> few.add(np.array([1.0, 2.0, 5.0]), np.array([2.5, 3.0, 6.0]), np.array([[7], [8], [9]]))
    >>> few.names.tolist(), few.least
    ([[7], [8]], 2.5)
    """

    def __init__(self, limit: int) -> None:
        """Start with nothing."""
        self.limit = limit
        self.least = np.inf  # the smallest upper bound so far: the smallest number is no larger
        self.missed = np.inf  # what was dropped for the limit's sake is no smaller than this
        self._lower: list[Float[np.ndarray, " k"]] = []
        self._names: list[Int[np.ndarray, "k width"]] = []
        self._count = 0

    def add(
        self,
        lower: Float[np.ndarray, " k"],
        upper: Float[np.ndarray, " k"],
        names: Int[np.ndarray, "k width"],
    ) -> None:
        """Consider more candidates, each known by a row of whole numbers."""
        self.least = min(self.least, float(upper.min(initial=np.inf)))
        keep = lower <= self.least
        self._lower.append(lower[keep])
        self._names.append(names[keep])
        self._count += int(keep.sum())
        if self._count > 2 * self.limit:
            self._tidy()

    @property
    def names(self) -> Int[np.ndarray, "k width"]:
        """The candidates that are left."""
        self._tidy()
        return self._names[0]

    def _tidy(self) -> None:
        lower, names = np.concatenate(self._lower), np.concatenate(self._names)
        keep = np.flatnonzero(lower <= self.least)
        if len(keep) > self.limit:
            order = keep[np.argsort(lower[keep], kind="stable")]
            keep = np.sort(order[: self.limit])
            self.missed = min(self.missed, float(lower[order[self.limit]]))
        self._lower, self._names, self._count = [lower[keep]], [names[keep]], len(keep)
