"""The texts that attain extremes.

For a few query tokens, all heads are swept together. Where positions are learned, every place has its own vectors for
the whole vocabulary, and making them is most of the work: so the heads go through the places together, and share them.
What is kept is small (places x query tokens), and the texts that attain the extremes need no second pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import (
    Extreme,
    Numbers,
    PlaceExtremes,
    Rows,
    SweepResult,
    accumulate,
    place_extremes,
    scores_along,
)
from headwright.text_bounds.search.texts import TextFamily

SHARED_BYTES = 2**29  # of vectors that heads which go together may hold
BLOCK_SCORES = 2**24  # of a block of scores

Table = Float[np.ndarray, "places queries"]
Chosen = Int[np.ndarray, "places queries"]


def witness(
    head: FirstLayerHead,
    texts: TextFamily,
    query: int,
    places: Sequence[int],
    extreme: Extreme,
) -> Int[np.ndarray, " length"]:
    """Place by place the token of the largest or smallest score; places that are not seen hold the query token."""
    text = np.full(texts.length, query)
    for at, token in texts.held.items():
        text[at] = token
    free = set(texts.free)
    for at, scores in scores_along(head, texts, query):
        if at in free:
            choices = scores[: head.free]
            wants_smallest = (at in places) == (extreme == "least")
            text[at] = int(choices.argmin() if wants_smallest else choices.argmax())
    return text


@dataclass(frozen=True, eq=False)
class PlaceLine:
    """One head at one place, for each query token: the largest and smallest score, and the tokens that have them."""

    high: Numbers
    low: Numbers
    largest: Rows
    smallest: Rows
    slack: float


@dataclass(frozen=True, eq=False)
class Extremes:
    """One head: a line for each place that the query sees, a column for each query token."""

    head: FirstLayerHead
    texts: TextFamily
    rows: Rows
    high: Table
    low: Table
    largest: Chosen  # the token that has the largest score, or the only one of a place
    smallest: Chosen
    slack: float

    @classmethod
    def of(
        cls,
        head: FirstLayerHead,
        texts: TextFamily,
        rows: Rows,
        lines: Sequence[PlaceLine],
    ) -> Extremes:
        """Of the lines of all places."""
        return cls(
            head,
            texts,
            rows,
            np.array([line.high for line in lines]),
            np.array([line.low for line in lines]),
            np.array([line.largest for line in lines]),
            np.array([line.smallest for line in lines]),
            max(line.slack for line in lines),
        )

    def swept(self, sets: Mapping[str, Sequence[int]]) -> SweepResult:
        """What `sweep` finds, for these query tokens."""
        seen = self.texts.seen
        line_of = {at: line for line, at in enumerate(seen)}

        def extremes_at(place: int) -> PlaceExtremes:
            line = line_of[place]
            return self.high[line], self.low[line], self.slack

        return accumulate(self.texts, sets, self.rows, seen, extremes_at)

    def text(
        self, row: int, places: Sequence[int], extreme: Extreme
    ) -> Int[np.ndarray, " length"]:
        """The text that attains an extreme for the query token of a column, as `witness` finds it."""
        text = np.full(self.texts.length, self.rows[row])
        for at, token in self.texts.held.items():
            text[at] = token
        for line, at in enumerate(self.texts.seen):
            wants_smallest = (at in places) == (extreme == "least")
            chosen = self.smallest if wants_smallest else self.largest
            text[at] = chosen[line, row]
        return text


def extremes(
    layer: FirstLayer,
    numbers: Sequence[int],
    texts: TextFamily,
    rows: Rows,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Extremes]:
    """Of some heads of a layer, in their order, no more in memory than share their vectors."""
    at_once = 1  # rotary heads share no more than embeddings
    if layer.places is not None:
        bytes_each = 2 * len(layer.tokens) * layer.keys[0].weight.shape[1] * 8
        at_once = max(1, SHARED_BYTES // bytes_each)
    for start in range(0, len(numbers), at_once):
        chosen = numbers[start : start + at_once]
        heads = [head_of(layer, number, held=0) for number in chosen]
        for head in heads:
            # While the vectors of that place are at hand.
            head.queries(texts.place, texts.place, rows)
        lines: list[list[PlaceLine]] = [[] for _ in heads]
        for done, at in enumerate(texts.seen):
            for head, of_head in zip(heads, lines, strict=True):
                of_head.append(_line_at(head, texts, at, rows))
            if progress is not None:
                share = (done + 1) / len(texts.seen)
                progress((start + len(heads) * share) / len(numbers))
        for head, of_head in zip(heads, lines, strict=True):
            yield Extremes.of(head, texts, rows, of_head)


def _line_at(head: FirstLayerHead, texts: TextFamily, at: int, rows: Rows) -> PlaceLine:
    if at not in texts.free:
        high, low, slack = place_extremes(head, texts, at, rows)
        only = rows if at == texts.place else np.full(len(rows), texts.held[at])
        return PlaceLine(high, low, only, only, slack)
    queries = head.queries(texts.place, at, rows)
    keys = head.keys(at)
    largest = []
    smallest = []
    high_parts = []
    low_parts = []
    step = max(1, BLOCK_SCORES // head.free)
    for start in range(0, len(rows), step):
        scores = queries.rows[start : start + step] @ keys.rows[: head.free].T
        largest.append(scores.argmax(axis=1))
        smallest.append(scores.argmin(axis=1))
        row = np.arange(len(scores))
        high_parts.append(scores[row, largest[-1]])
        low_parts.append(scores[row, smallest[-1]])
    return PlaceLine(
        np.concatenate(high_parts),
        np.concatenate(low_parts),
        np.concatenate(largest),
        np.concatenate(smallest),
        queries.slack(keys),
    )
