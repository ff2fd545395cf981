"""What the keys may be, and bounds on their scores for one query in one scenario.

Key i is c k + e with low <= c <= high. With m = scale <k, q>, and G = |E^T q|^2 + ball^2 |q|^2 of its entry of the
uncertainty, its scores reach from min(low m, high m) - reach to max(low m, high m) + reach, reach = |scale| sqrt(G);
where it is random there is no reach, and its score has the variance v = scale^2 G + stretch^2 m^2.

All keys are seen in floats, relative to one target; the few that decide are seen again, one by one, in Arb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from headwright.certificates.exact.certificate import KeyStatement, Spread
from headwright.certificates.floating.exact_numbers import (
    above_root,
    ball,
    dot,
    rational,
    to_balls,
    vector,
)
from headwright.certificates.floating.key_products import Centred, Products
from headwright.numerics.balls import Balls, ImprecisionError

ONE = Fraction(1)
NOTHING = Fraction(0)
CERTAIN = Spread(
    keys=None,
    low=ONE,
    high=ONE,
    ball=NOTHING,
    stretch=NOTHING,
    factor=(),
    random=False,
)
KEYS = 2**15  # at once, so that they stay near the processor
Rows = Int[np.ndarray, " some"]


@dataclass(frozen=True, eq=False)
class KeySpreads:
    """What each key may be: entry 0 are the certain keys, and entry e + 1 is entry e of the statement's uncertainty."""

    spreads: tuple[Spread, ...]
    index: Int[np.ndarray, " n"]  # the entry of each key; one number if all are in one

    @classmethod
    def of(cls, statement: KeyStatement) -> KeySpreads:
        """What the keys of a statement may be."""
        n = statement.keys[0].n if statement.uncertainty else 1
        index = np.zeros(n, dtype=np.intp)
        # First the entry for every other key, so that the keys that are named leave it.
        for number, spread in enumerate(statement.uncertainty, 1):
            if spread.keys is None:
                index[:] = number
        for number, spread in enumerate(statement.uncertainty, 1):
            if spread.keys is not None:
                index[_sorted_rows(spread.keys)] = number
        if (index == index[0]).all():
            index = index[:1]
        return cls((CERTAIN, *statement.uncertainty), index)

    @cached_property
    def chance(self) -> bool:
        """Some keys are random."""
        return any(spread.random for spread in self.spreads)

    def entry(self, key: int) -> int:
        """The entry that a key is in."""
        return int(self.index[key if len(self.index) > 1 else 0])

    def spread(self, key: int) -> Spread:
        """What a key may be."""
        return self.spreads[self.entry(key)]

    def entries(self, part: slice) -> Rows:
        """The entries of some keys; one number if all keys are in the same."""
        return self.index[part] if len(self.index) > 1 else self.index

    def rows(self, entry: int, n: int) -> Rows | slice:
        """The keys of an entry."""
        if len(self.index) == 1:
            return slice(0, n if self.index[0] == entry else 0)
        named = self.spreads[entry].keys
        if named is None:
            return np.flatnonzero(self.index == entry)
        return _sorted_rows(named)

    def random(self, n: int) -> Rows:
        """Which of the n keys are random."""
        chosen = np.array([spread.random for spread in self.spreads])[self.index]
        return np.flatnonzero(np.broadcast_to(chosen, n))


def _sorted_rows(keys: frozenset[int]) -> Rows:
    return np.array(sorted(keys), dtype=np.intp)


@dataclass(frozen=True)
class KeyScoreEnds:
    """Of one key: its score at its lowest and at its highest but for chance, less the reference; its variance."""

    lowest: arb
    highest: arb
    variance: arb


@dataclass(frozen=True)
class SpreadBalls:
    """What floats need to know of each entry, as balls: low - 1, high - 1, reach, base of the variance, stretch."""

    low: Balls
    high: Balls
    reach: Balls
    variance: Balls
    stretch: Balls


@dataclass(frozen=True, eq=False)
class ScoreView:
    """The keys of one scenario through one query; scores are relative to that of the centre at its given place."""

    statement: KeyStatement
    uncertainty: KeySpreads
    centred: Centred
    products: Products
    query: Float[np.ndarray, " d"]
    closely: bool = False  # every key is looked at in Arb

    @property
    def keys(self) -> Float[np.ndarray, "n d"]:
        """The keys at their given places."""
        return self.centred.keys

    @cached_property
    def q(self) -> list[arb]:
        """The query."""
        return vector(self.query)

    @cached_property
    def scale(self) -> arb:
        """The scale of scores."""
        return ball(self.statement.scale)

    @cached_property
    def centre(self) -> list[arb]:
        """The target that all is relative to."""
        return vector(self.keys[self.centred.row])

    @cached_property
    def reference(self) -> arb:
        """The score of the centre at its given place."""
        return self.scale * dot(self.centre, self.q)

    def score(self, key: int) -> arb:
        """The score of one key at its given place, less the reference."""
        pairs = zip(vector(self.keys[key]), self.centre, strict=True)
        return self.scale * dot([k - c for k, c in pairs], self.q)

    def blocks(self) -> Iterator[slice]:
        """The keys, some at once."""
        for start in range(0, len(self.keys), KEYS):
            yield slice(start, start + KEYS)

    @cached_property
    def _factor(self) -> Balls:
        """What products are multiplied by to be scores."""
        factor = self.scale * arb(2) ** self.products.exponent
        if not factor.abs_lower() > 2.0**-900:
            raise ImprecisionError("scores are beyond the range of doubles")
        return to_balls([factor])

    def x(self, part: slice) -> Balls:
        """Scores at the given places, less the reference."""
        return self.products.balls[part] * self._factor

    @cached_property
    def _reference(self) -> Balls:
        return to_balls([self.reference])

    def m(self, part: slice) -> Balls:
        """Scores at the given places."""
        return self.x(part) + self._reference

    @cached_property
    def reaches(self) -> list[arb]:
        """No less than each entry's deviation can change a score; 0 for random ones."""
        reaches = []
        for spread in self.uncertainty.spreads:
            if spread.random:
                reaches.append(arb(0))
            else:
                root = above_root(self._squared(spread))
                reaches.append(abs(self.scale) * root)
        return reaches

    @cached_property
    def variances(self) -> list[arb]:
        """The variance of scores that all keys of an entry have, whatever their own score is."""
        variances = []
        for spread in self.uncertainty.spreads:
            if spread.random:
                variances.append(self.scale**2 * self._squared(spread))
            else:
                variances.append(arb(0))
        return variances

    @cached_property
    def _spread_balls(self) -> SpreadBalls:
        spreads = self.uncertainty.spreads
        return SpreadBalls(
            low=to_balls([ball(spread.low - 1) for spread in spreads]),
            high=to_balls([ball(spread.high - 1) for spread in spreads]),
            reach=to_balls(self.reaches),
            variance=to_balls(self.variances),
            stretch=to_balls([ball(spread.stretch) for spread in spreads]),
        )

    def highest(self, part: slice) -> Balls:
        """Scores at their highest but for chance, less the reference."""
        if not self.statement.uncertainty:
            return self.x(part)
        entries = self.uncertainty.entries(part)
        balls = self._spread_balls
        # c m is largest at an end of the range of c; (c - 1) m is what that adds to m.
        m = self.m(part)
        at_low = balls.low[entries] * m
        at_high = balls.high[entries] * m
        return self.x(part) + at_low.max(at_high) + balls.reach[entries]

    def variance(self, part: slice) -> Balls:
        """The variances of scores."""
        entries = self.uncertainty.entries(part)
        base = self._spread_balls.variance[entries]
        if not any(spread.stretch for spread in self.uncertainty.spreads):
            return base
        pulled = self._spread_balls.stretch[entries] * self.m(part)
        return base + pulled * pulled

    def ends(self, key: int) -> KeyScoreEnds:
        """The same for one key, in Arb."""
        entry = self.uncertainty.entry(key)
        spread = self.uncertainty.spread(key)
        x = self.score(key)
        m = x + self.reference
        at_low = ball(spread.low - 1) * m
        at_high = ball(spread.high - 1) * m
        pulled = ball(spread.stretch) * m if spread.random else arb(0)
        reach = self.reaches[entry]
        return KeyScoreEnds(
            lowest=x + at_low.min(at_high) - reach,
            highest=x + at_low.max(at_high) + reach,
            variance=self.variances[entry] + pulled * pulled,
        )

    def _squared(self, spread: Spread) -> arb:
        """|E^T q|^2 + ball^2 |q|^2."""
        total = arb(0)
        for column in spread.factor:
            share = dot(map(rational, column), self.q)
            total += share * share
        if spread.ball:
            total += ball(spread.ball) ** 2 * dot(self.q, self.q)
        return total
