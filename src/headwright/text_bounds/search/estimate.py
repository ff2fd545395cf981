"""How long a question about every text will take: its sizes, at a pace that is measured on a small part of the work.

Nearly all of the work is products of queries with keys: for each head and each place that may hold any token, each
query token with every token of the vocabulary. Where positions are learned, the vectors of each place come to that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import Sweeper, place_extremes
from headwright.text_bounds.search.texts import TextFamily

SAMPLE = 512  # query tokens of the part that is timed
# A whole sweep is timed on these numbers of places.
FEW_PLACES = 3
MORE_PLACES = 35


@dataclass(frozen=True)
class Pace:
    """Seconds that one place takes, all heads together: whatever is asked, and for each query token."""

    place: float
    row: float

    def seconds(self, places: int, rows: int) -> float:
        """Of so many places and query tokens.

        >>> Pace(0.5, 0.01).seconds(10, 100)
        15.0
        """
        return places * (self.place + rows * self.row)


def pace_here(
    layer: FirstLayer, texts: TextFamily, heads: Sequence[int], rows: int
) -> Pace:
    """In NumPy on this machine: one place is timed with one query token, and one with some hundred."""
    if not texts.free or not heads:
        return Pace(0.0, 0.0)
    # Heads are alike. Where places are learned they share the vectors of a place, so that all of them are timed.
    timed = heads[:1] if layer.places is None else heads
    ready = [head_of(layer, number, held=0) for number in timed]
    count = min(rows, SAMPLE)
    first = texts.free[0]
    last = texts.free[-1]
    _seconds_at(ready, texts, last, 1)  # the first time takes longer
    alone = _seconds_at(ready, texts, first, 1)
    together = _seconds_at(ready, texts, last, count)
    times = len(heads) / len(timed)
    return Pace(alone * times, max(0.0, together - alone) / max(1, count - 1) * times)


def _seconds_at(
    heads: Sequence[FirstLayerHead], texts: TextFamily, at: int, count: int
) -> float:
    rows = np.arange(count)
    start = time.perf_counter()
    for head in heads:
        place_extremes(head, texts, at, rows)
    return time.perf_counter() - start


def pace_of_sweeper(
    sweeper: Sweeper,
    layer: FirstLayer,
    texts: TextFamily,
    heads: Sequence[int],
    rows: np.ndarray | None,
) -> Pace:
    """Of another sweeper, such as that of a GPU: one head is swept over a few places next to the query, and over more.

    The pace is for as many query tokens as are given here.
    """
    few, more = (_near(texts, places) for places in (FEW_PLACES, MORE_PLACES))
    further = len(more.free) - len(few.free)
    if not heads or further <= 0:
        return Pace(0.0, 0.0)
    head = head_of(layer, heads[0])
    sweeper(head, few, {}, rows)  # kernels are compiled the first time
    took = []
    for some in (few, more):
        start = time.perf_counter()
        sweeper(head, some, {}, rows)
        took.append(time.perf_counter() - start)
    return Pace(max(0.0, took[1] - took[0]) / further * len(heads), 0.0)


def _near(texts: TextFamily, places: int) -> TextFamily:
    """The same texts, of which the query sees no more than so many places back."""
    return replace(
        texts, window=places if texts.window is None else min(places, texts.window)
    )
