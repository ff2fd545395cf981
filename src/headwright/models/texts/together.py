"""A few query tokens, all heads at once: the largest and smallest score at each place, and the tokens that have them.

Where places are learned, every place has vectors of its own for the whole vocabulary, and making them is most of the
work: so the heads go through the places together, and share them. What is kept is small (places x query tokens), and
the texts that attain the extremes need no second pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.models.texts.attractors import Attractor, most_often
from headwright.models.texts.first import FirstLayer, head_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.sweep import Sums, Sweep, checked_sets, summed
from headwright.models.texts.witness import Extreme

SHARED = 2**29  # bytes of vectors that heads which go together may hold
MOST_NUMBERS = 2**24  # of a block of scores

Rows = Int[np.ndarray, " queries"]
Table = Float[np.ndarray, "places queries"]
Chosen = Int[np.ndarray, "places queries"]
Line = tuple[Float[np.ndarray, " queries"], Float[np.ndarray, " queries"], Rows, Rows, float]


@dataclass(frozen=True, eq=False)
class Extremes:
    """One head: a line for each place that the query sees, a column for each query token."""

    head: Head
    texts: Texts
    rows: Rows
    high: Table
    low: Table
    largest: Chosen  # the token that has the largest score; where a place has one token, that one
    smallest: Chosen
    slack: float

    def swept(self, sets: Mapping[str, Sequence[int]]) -> Sweep:
        """What `sweep` finds, for these query tokens."""
        kept, seen = checked_sets(self.texts, sets), np.array(self.texts.seen)
        sums = {}
        for name, places in kept.items():
            inside = np.isin(seen, places)
            sums[name] = Sums(*(summed(table[part]) for part in (inside, ~inside) for table in (self.high, self.low)))
        return Sweep(self.texts, self.rows, kept, sums, np.full(len(self.rows), self.slack))

    def text(self, row: int, places: Sequence[int], extreme: Extreme) -> Int[np.ndarray, " length"]:
        """The text that attains an extreme for the query token of a column, as `witness` finds it."""
        text = np.full(self.texts.length, self.rows[row])
        for at, token in self.texts.held.items():
            text[at] = token
        for line, at in enumerate(self.texts.seen):
            smallest = (at in places) == (extreme == "least")
            text[at] = (self.smallest if smallest else self.largest)[line, row]
        return text

    def attractors(self, most: int = 5) -> list[Attractor]:
        """As those of `attractors`, of these query tokens."""
        far = [self.texts.place - 2**k for k in range(self.texts.place.bit_length())]
        lines = [line for line, at in enumerate(self.texts.seen) if at in far and at in self.texts.free]
        return most_often(self.largest[lines], most)


def extremes(
    layer: FirstLayer, numbers: Sequence[int], texts: Texts, rows: Rows, progress: Callable[[float], None] | None = None
) -> Iterator[Extremes]:
    """Of some heads of a layer, in their order, no more in memory than share their vectors.

    >>> from headwright.models.texts.first import Projection
    >>> eye = np.eye(2)
    >>> layer = FirstLayer(np.arange(2), eye, (Projection(eye),), (Projection(eye),), scale=1.0)
    >>> found = next(extremes(layer, [0], Texts(3, 2), np.array([1])))
    >>> found.text(0, [1], "least").tolist()  # token 1 asks; it scores highest with itself
    [1, 0, 1]
    """
    bytes_each = 2 * len(layer.tokens) * layer.keys[0].weight.shape[1] * 8
    at_once = 1 if layer.places is None else max(1, SHARED // bytes_each)  # rotary heads share no more than embeddings
    for start in range(0, len(numbers), at_once):
        heads = [head_of(layer, number, held=0) for number in numbers[start : start + at_once]]
        for head in heads:
            head.queries(texts.place, texts.place, rows)  # while the vectors of that place are at hand
        lines: list[list[Line]] = [[] for _ in heads]
        for done, at in enumerate(texts.seen):
            for head, mine in zip(heads, lines, strict=True):
                mine.append(_at_place(head, texts, at, rows))
            if progress is not None:
                progress((start + len(heads) * (done + 1) / len(texts.seen)) / len(numbers))
        for head, mine in zip(heads, lines, strict=True):
            high, low, largest, smallest, slack = zip(*mine, strict=True)
            yield Extremes(
                head, texts, rows, np.array(high), np.array(low), np.array(largest), np.array(smallest), max(slack)
            )


def _at_place(head: Head, texts: Texts, at: int, rows: Rows) -> Line:
    """The largest and smallest score of each query token, the tokens that have them, and the slack."""
    queries, keys = head.queries(texts.place, at, rows), head.keys(at)
    slack = queries.slack(keys)
    if at == texts.place or at in texts.held:
        chosen = rows if at == texts.place else np.full(len(rows), texts.held[at])
        scores = (queries.rows * keys.rows[chosen]).sum(axis=1)
        return scores, scores, chosen, chosen, slack
    parts = []
    step = max(1, MOST_NUMBERS // head.free)
    for start in range(0, len(rows), step):
        block = queries.rows[start : start + step] @ keys.rows[: head.free].T
        both = [block.argmax(axis=1), block.argmin(axis=1)]
        parts.append((*(np.take_along_axis(block, each[:, None], axis=1)[:, 0] for each in both), *both))
    high, low, largest, smallest = (np.concatenate([part[index] for part in parts]) for index in range(4))
    return high, low, largest, smallest, slack
