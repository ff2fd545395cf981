"""Channels, length and pairs of a head: as they are computed, and after its rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Array, Balls
from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.checker.enclosed import (
    above,
    constant,
    exactly,
    lengths_of,
    root_of,
    sizes_of,
    squares,
)
from headwright.value_ranges.checker.lengths import bound_length, bound_pairs
from headwright.value_ranges.checker.projections import MappedBall
from headwright.value_ranges.layer import RotaryPairs


@dataclass(frozen=True, eq=False)
class HeadBounds:
    """Upper bounds on the channels, the length and the pairs of a head's vectors."""

    channels: Array
    length: float
    pairs: Array

    @property
    def largest(self) -> float:
        """No channel is larger."""
        return float(self.channels.max())

    def join(self, other: HeadBounds) -> HeadBounds:
        """The two as parts of one vector: the squares of their lengths add up."""
        lengths = Balls.of(np.array([self.length, other.length]))
        return HeadBounds(
            np.concatenate([self.channels, other.channels]),
            above(lengths_of(lengths)),
            np.concatenate([self.pairs, other.pairs]),
        )


UNKNOWN = HeadBounds(np.full(1, math.inf), math.inf, np.full(1, math.inf))


def bound_head(
    ball: MappedBall, rotary: RotaryPairs | None, allow: Allowances
) -> HeadBounds:
    """The bounds of A u + c' as it is computed, after rotation where there is one."""
    errors = Balls.of(ball.errors)

    # A channel is at most R |a_i| + |c'_i| + E_i.
    row_lengths = lengths_of(ball.matrix)
    exact_channels = row_lengths * ball.radius + sizes_of(ball.centre)
    channels = (exact_channels + errors).upper()

    # The length is at most that of A u + c' plus that of the E_i.
    exact_length = bound_length(ball.matrix, ball.centre, ball.radius)
    error_length = lengths_of(errors)
    length = above(exactly(exact_length) + error_length)
    unrotated = HeadBounds(channels, length, np.zeros(0))

    if rotary is None or not rotary.pairs(len(channels)):
        return unrotated

    # The length of a pair is at most that without rounding plus that of its two E_i.
    first, second = np.array(rotary.pairs(len(channels))).T
    exact_pairs = bound_pairs(ball, first, second)
    error_squares = squares(errors)
    pair_errors = (error_squares[first] + error_squares[second]).sqrt()
    pairs = (exact_pairs + pair_errors).upper()
    return _rotate(replace(unrotated, pairs=pairs), rotary, allow)


def _rotate(before: HeadBounds, rotary: RotaryPairs, allow: Allowances) -> HeadBounds:
    """After the rotation of pairs; single channels stay."""
    pairs = Balls.of(before.pairs)
    underflow = constant(4 * allow.tiny)

    # A channel of a pair is at most f times the length of the pair, and rounded.
    channels = before.channels.copy()
    first, second = np.array(rotary.places(len(channels))).T
    of_length = constant(allow.rotated_channel(rotary.scaling))
    rotated = (pairs * of_length + underflow).upper()
    channels[first] = rotated
    channels[second] = rotated

    # The length of the head grows as that of its pairs, if that grows; single channels do not.
    pair_growth = allow.rotated_pair(rotary.scaling)
    growth = constant(max(Fraction(1), pair_growth))
    all_underflow = underflow * root_of(len(channels))
    length = above(exactly(before.length) * growth + all_underflow)

    # The length of a pair is scaled by f, and rounded in two channels.
    rotated_pairs = pairs * constant(pair_growth) + underflow + underflow
    return HeadBounds(channels, length, rotated_pairs.upper())
