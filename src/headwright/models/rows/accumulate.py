"""Accumulate a block of scores: sums, and the two largest of each row.

As in an online softmax, sums are kept relative to the largest score so far, the row's reference. A block costs one
exponential a score and a few passes; the runner-up is looked for only in rows that have a new winner. What is kept for
a row: the mass sum e, the places sum e key and the energy sum e (s - reference), where e = exp(s - reference), and the
two or more largest scores.

A score of -inf is that of a key that is not seen. A score that is NaN or +inf makes the row's mass NaN for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from headwright.models.rows.products import Product, numpy_product

UNSEEN = -np.inf  # the score of a key that is not seen
LOWEST = -1e4  # what is this far below the reference has weight 0 in float64 too: finite, so that 0 times it is 0
Block = Float[np.ndarray, "rows keys"]


@dataclass(frozen=True, eq=False)
class State:
    """What is known of some rows so far; the arrays are written to."""

    reference: Float[np.ndarray, " rows"]  # what the sums are relative to: the largest score so far
    sums: Float[np.ndarray, "3 rows"]  # mass, places, energy
    best: Float[np.ndarray, "rows many"]  # the largest scores, in ascending order
    places: Int[np.ndarray, "rows many"]  # their keys, where more than two are kept
    winner: Int[np.ndarray, " rows"]

    @classmethod
    def start(cls, rows: int, many: int = 2, sink: float | None = None) -> State:
        """Before the first block. A sink is a score of no key, at place 0; one of -inf is none."""
        if sink is None:
            sink = UNSEEN
        sums = np.zeros((3, rows))
        sums[0] = 0.0 if sink == UNSEEN else 1.0
        reference = np.full(rows, sink)
        return cls(reference, sums, np.full((rows, many), -np.inf), np.full((rows, many), -1), np.full(rows, -1))

    def part(self, rows: slice) -> State:
        """Some of the rows; to write to them is to write to the whole."""
        return State(self.reference[rows], self.sums[:, rows], self.best[rows], self.places[rows], self.winner[rows])


def update(state: State, s: Block, start: int, spare: Block | None = None, product: Product = numpy_product) -> None:
    """Take a block in whose first column is that of key `start`; its scores, and what is `spare`, are overwritten."""
    high = s.max(axis=1).astype(np.float64)
    _keep_best(state, s, high, start)
    reference = np.maximum(state.reference, high)
    # Rows that have seen nothing have sums of 0, whatever these are multiplied by.
    began = state.reference != UNSEEN
    drop = np.subtract(state.reference, reference, out=np.zeros_like(reference), where=began)
    state.reference[:] = reference
    state.sums[2] += state.sums[0] * drop
    np.multiply(state.sums, np.exp(drop), out=state.sums)
    less = np.where(reference == UNSEEN, 0.0, reference)
    s -= less[:, None].astype(s.dtype)
    np.maximum(s, s.dtype.type(LOWEST), out=s)
    weights = np.exp(s, out=spare)
    both = np.empty((len(s), 2), dtype=s.dtype)
    product(weights, _ramp(s.shape[1], s.dtype), both)
    mass, places = both.T.astype(np.float64)
    state.sums[0] += mass
    state.sums[1] += places + start * mass
    state.sums[2] += np.vecdot(weights, s)


def _keep_best(state: State, s: Block, high: Float[np.ndarray, " rows"], start: int) -> None:
    best, many = state.best, state.best.shape[1]
    beaten = np.flatnonzero(high > best[:, 0 if many > 2 else 1])
    if many == 2:  # a block that has no winner can at most have the runner-up
        np.maximum(best[:, 0], np.minimum(high, best[:, 1]), out=best[:, 0])
    if not len(beaten):
        return
    all_of_them = len(beaten) == len(s)  # as in the first block of each row: then without a copy
    mine = s if all_of_them else s[beaten]
    at = np.arange(len(beaten)), mine.argmax(axis=1)
    top = high[beaten]
    ahead = top > best[beaten, -1]
    state.winner[beaten[ahead]] = start + at[1][ahead]
    if many == 2:
        mine[at] = -np.inf
        best[beaten, 0] = np.maximum(best[beaten, 1], mine.max(axis=1))
        best[beaten, 1] = top
        if all_of_them:
            s[at] = top
    else:
        few = np.argpartition(mine, max(0, mine.shape[1] - many), axis=1)[:, -many:]
        least = np.take_along_axis(mine, few, axis=1).min(axis=1, keepdims=True)
        tied = np.flatnonzero((mine >= least).sum(axis=1) > many)  # more keys than places: the first ones are kept
        few[tied] = np.argsort(-mine[tied], axis=1, kind="stable")[:, :many]
        scores = np.concatenate([best[beaten], np.take_along_axis(mine, few, axis=1)], axis=1)
        places = np.concatenate([state.places[beaten], few + start], axis=1)
        order = np.lexsort((-places, scores), axis=1)[:, -many:]  # of equal scores the one of the first key is largest
        best[beaten] = np.take_along_axis(scores, order, axis=1)
        state.places[beaten] = np.take_along_axis(places, order, axis=1)


@lru_cache(maxsize=8)
def _ramp(count: int, dtype: np.dtype) -> Float[np.ndarray, "2 keys"]:
    """Ones, and how far a key is from the first of its block: small numbers, which float32 holds exactly."""
    return np.stack([np.ones(count), np.arange(count)]).astype(dtype)
