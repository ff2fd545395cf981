"""Theorem 1: the largest weighted average over every text, from above.

**Theorem 1.** Each place m has some choices t of a weight w_m(t) > 0 and a value v_m(t). For any number l let F(l) be
the sum over the places of the largest w_m(t) (v_m(t) - l). Then, for every choice,

    sum w v / sum w <= l + F(l) / W,

with W the least sum of weights if F(l) > 0 and the largest if F(l) < 0. *Proof.* sum w v - l sum w <= F(l); divide by
sum w.

F may be replaced by anything that is not below it. It is convex (a sum of maxima of linear functions), so between two
numbers it is not above its chord there.

**Rounding**, u = 2^-53. Weights are known relatively up to h: an average over weights that are off by factors from
1 - h to 1 + h changes by at most 2 h / (1 - h) < 3 h times the largest value, as values are off by their radius. F has
at most 4 n + 24 roundings of numbers that are no larger than the sum of weights times H, the largest value plus the
largest l; that includes the place on a chord. W has at most n. With R the ratio of the largest to the least W, l +
F / W errs by less than (8 n + 64) u R H. As l is an average of values but for rounding, H is less than four times the
largest value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from headwright.numerics.balls import Array, U

CHORDS = 4  # of F
CHOICES = 2  # of tokens, in the search for l
FEW = 2.0**-48  # covers a few roundings, relatively


@dataclass(eq=False)
class Average:
    """An average over places: those whose token is given, summed, and those whose token is free.

    Arrays have the given tokens on their last axes: u at place k - 1 and v at place k. Free weights and values have
    the place's token before these.
    """

    fixed_sum: Array  # of weight times value, over the places whose token is given
    fixed_weight: Array
    free_weights: list[Array] = field(default_factory=list)
    free_values: list[Array] = field(default_factory=list)
    largest: float = 0.0  # not below the size of any value

    def add_fixed(self, weight: Array, value: Array) -> None:
        """A place with one token, which is u or v or the only one that may stand there."""
        self.fixed_sum = self.fixed_sum + weight * value
        self.fixed_weight = self.fixed_weight + weight

    def add_free(self, weights: Array, values: Array) -> None:
        """A place with several tokens."""
        self.free_weights.append(weights)
        self.free_values.append(values)

    @property
    def fixed_average(self) -> Array:
        """Of the places with one token; the place itself is always one of them."""
        average: Array = self.fixed_sum / self.fixed_weight
        return average

    def least_weight(self) -> Array:
        """The least W."""
        weight: Array = self.fixed_weight
        for free in self.free_weights:
            weight = weight + free.min(axis=0)
        return weight

    def largest_weight(self) -> Array:
        """The largest W."""
        weight: Array = self.fixed_weight
        for free in self.free_weights:
            weight = weight + free.max(axis=0)
        return weight

    def error(self, places: int, weight_error: float, value_error: float) -> float:
        """How far theorem 1 may be off, by the section on rounding."""
        ratio = float((self.largest_weight() / self.least_weight()).max())
        rounding = (8 * places + 64) * U * ratio * 4 * self.largest
        return (value_error + 3 * weight_error * self.largest + rounding) * (1 + FEW)


def bound_by_tangent(average: Average) -> Array:
    """Theorem 1 at one l for each (u, v); values may depend on u and v."""
    number = _largest_average_found(average)
    # F at this l
    excess = average.fixed_sum - number * average.fixed_weight
    for weights, values in _free_places(average):
        excess = excess + (weights * (values - number)).max(axis=0)
    weight = np.where(excess > 0, average.least_weight(), average.largest_weight())
    bound: Array = number + excess / weight
    return bound


def _largest_average_found(average: Average) -> Array:
    """A good l: any would do. The tokens that are best at one l have an average that is a better l (Dinkelbach)."""
    number = average.fixed_average
    if not average.free_weights:
        return number
    for _ in range(CHOICES):
        total = average.fixed_sum
        total_weight = average.fixed_weight
        for weights, values in _free_places(average):
            best = (weights * (values - number)).argmax(axis=0)
            weight = weights[best, 0, 0]
            value = np.take_along_axis(values, best[None], axis=0)[0]
            total = total + weight * value
            total_weight = total_weight + weight
        number = total / total_weight
    return number


def bound_by_chords(average: Average) -> Array:
    """Theorem 1 where free values do not depend on u: F of the free places is computed once for all u.

    Axes: (direction, u, v); free weights (token, v), free values (direction, token).
    """
    if not average.free_weights:
        return average.fixed_average
    grid = _grid(average)
    # F of the free places at each l of the grid: (direction, v)
    free_excess = [_free_excess(average, number) for number in grid]
    least_weight = average.least_weight()
    # Each segment gives a bound, by theorem 1 at one of its numbers: the least of them is taken.
    bound = np.full(average.fixed_sum.shape, np.inf)
    for segment in range(CHORDS):
        left = grid[segment][:, None, None]
        right = grid[segment + 1][:, None, None]
        at_left = free_excess[segment][:, None]
        at_right = free_excess[segment + 1][:, None]
        # All of F at both ends: its other part is linear, and is its own chord.
        excess_left = average.fixed_sum - left * average.fixed_weight + at_left
        excess_right = average.fixed_sum - right * average.fixed_weight + at_right
        # l where the chord is 0, or the nearer end: any l of the segment would do.
        drop = np.maximum(excess_left - excess_right, 1e-300)
        share = np.where(excess_left > excess_right, excess_left / drop, 0.0)
        share = np.clip(share, 0.0, 1.0)
        number = left + share * (right - left)
        # The chord of F at this l is not below F: theorem 1, with 0 in place of what is below 0.
        chord = (1 - share) * at_left + share * at_right
        excess = average.fixed_sum - number * average.fixed_weight + chord
        segment_bound = number + np.maximum(excess, 0.0) / least_weight
        bound = np.minimum(bound, segment_bound)
    return bound


def _grid(average: Average) -> list[Array]:
    """Numbers l for each direction, from the least to the largest value that an average may have."""
    values = np.concatenate(average.free_values, axis=1)
    fixed = average.fixed_average
    low = np.minimum(values.min(axis=1), fixed.min(axis=(1, 2)))
    high = np.maximum(values.max(axis=1), fixed.max(axis=(1, 2)))
    return [low + (high - low) * (part / CHORDS) for part in range(CHORDS + 1)]


def _free_excess(average: Average, number: Array) -> Array:
    """The sum over the free places of the largest w (v - l), by direction and v."""
    excess = np.zeros(1)
    for weights, values in _free_places(average):
        above = values - number[:, None]
        excess = excess + (weights * above[:, :, None]).max(axis=1)
    return excess


def _free_places(average: Average) -> Sequence[tuple[Array, Array]]:
    return list(zip(average.free_weights, average.free_values, strict=True))
