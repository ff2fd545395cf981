"""What the keys may be, and bounds on their scores for one query in one scenario.

Key i is c k + e with low <= c <= high. With m = scale <k, q>, and G = |E^T q|^2 + ball^2 |q|^2 of its entry of the
world, its scores reach from min(low m, high m) - reach to max(low m, high m) + reach, reach = |scale| sqrt(G); where it
is random there is no reach, and its score has the variance v = scale^2 G + stretch^2 m^2.

All keys are seen in floats, relative to one target; the few that decide are seen again, one by one, in Arb.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from headwright.fast.balls import Balls
from headwright.fast.exact_numbers import ImprecisionError, above_root, ball, dot, rational, to_balls, vector
from headwright.fast.key_products import Centred, Products
from headwright.trusted.certificate import Spread, Statement

ONE, NOTHING = Fraction(1), Fraction(0)
CERTAIN = Spread(None, ONE, ONE, NOTHING, NOTHING, (), random=False)
KEYS = 2**15  # at once, so that they stay near the processor


@dataclass(frozen=True, eq=False)
class World:
    """What each key may be: entry 0 are the certain keys, and entry e + 1 is entry e of the statement's world."""

    spreads: tuple[Spread, ...]
    index: Int[np.ndarray, " n"]  # which entry a key is in; one number if all are in the same

    @classmethod
    def of(cls, statement: Statement) -> World:
        """The world of a statement."""
        n = statement.keys[0].n
        index = np.zeros(n if statement.world else 1, dtype=np.intp)
        order = sorted(enumerate(statement.world, 1), key=lambda entry: entry[1].keys is not None)  # '*' first
        for number, spread in order:
            index[slice(None) if spread.keys is None else np.array(sorted(spread.keys), dtype=np.intp)] = number
        return cls((CERTAIN, *statement.world), index[:1] if bool((index == index[0]).all()) else index)

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

    def entries(self, part: slice) -> Int[np.ndarray, " some"]:
        """The entries of some keys; one number if all keys are in the same."""
        return self.index[part] if len(self.index) > 1 else self.index

    def rows(self, entry: int, n: int) -> Int[np.ndarray, " some"] | slice:
        """The keys of an entry."""
        if len(self.index) == 1:
            return slice(0, n if self.index[0] == entry else 0)
        named = self.spreads[entry].keys
        return np.flatnonzero(self.index == entry) if named is None else np.array(sorted(named), dtype=np.intp)

    def random(self, n: int) -> Int[np.ndarray, " some"]:
        """Which of the n keys are random."""
        chosen = np.array([spread.random for spread in self.spreads])[self.index]
        return np.flatnonzero(np.broadcast_to(chosen, n))


@dataclass(frozen=True, eq=False)
class View:
    """The keys of one scenario through one query; scores are relative to that of the centre at its given place."""

    statement: Statement
    world: World
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
        return self.scale * dot([k - c for k, c in zip(vector(self.keys[key]), self.centre, strict=True)], self.q)

    def blocks(self) -> Iterator[slice]:
        """The keys, some at once."""
        for start in range(0, len(self.keys), KEYS):
            yield slice(start, start + KEYS)

    @cached_property
    def _factor(self) -> Balls:
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
        return [arb(0) if s.random else abs(self.scale) * above_root(self._squared(s)) for s in self.world.spreads]

    @cached_property
    def variances(self) -> list[arb]:
        """The variance of scores that all keys of an entry have, whatever their own score is."""
        return [self.scale**2 * self._squared(s) if s.random else arb(0) for s in self.world.spreads]

    @cached_property
    def _constants(self) -> tuple[Balls, ...]:
        spreads = self.world.spreads
        columns: Sequence[Sequence[arb]] = (
            [ball(s.low - 1) for s in spreads],
            [ball(s.high - 1) for s in spreads],
            self.reaches,
            self.variances,
            [ball(s.stretch) for s in spreads],
        )
        return tuple(to_balls(column) for column in columns)

    def highest(self, part: slice) -> Balls:
        """Scores at their highest but for chance, less the reference."""
        if not self.statement.world:
            return self.x(part)
        which, (low, high, reach, _, _) = self.world.entries(part), self._constants
        m = self.m(part)
        return self.x(part) + (low[which] * m).max(high[which] * m) + reach[which]

    def variance(self, part: slice) -> Balls:
        """The variances of scores."""
        which, (_, _, _, base, stretch) = self.world.entries(part), self._constants
        if not any(s.stretch for s in self.world.spreads):
            return base[which]
        pulled = stretch[which] * self.m(part)
        return base[which] + pulled * pulled

    def ends(self, key: int) -> tuple[arb, arb, arb]:
        """For one key: its score at its lowest and at its highest but for chance, less the reference; its variance."""
        entry, spread, x = self.world.entry(key), self.world.spread(key), self.score(key)
        m = x + self.reference
        low, high = ball(spread.low - 1) * m, ball(spread.high - 1) * m
        pulled = ball(spread.stretch) * m if spread.random else arb(0)
        reach = self.reaches[entry]
        return x + low.min(high) - reach, x + low.max(high) + reach, self.variances[entry] + pulled * pulled

    def _squared(self, spread: Spread) -> arb:
        """|E^T q|^2 + ball^2 |q|^2."""
        columns = (dot(map(rational, column), self.q) for column in spread.factor)
        total = sum((share * share for share in columns), arb(0))
        return total + (ball(spread.ball) ** 2 * dot(self.q, self.q) if spread.ball else 0)
