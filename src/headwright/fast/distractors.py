"""The keys of a bound that are not its targets, all at once and in floats.

Key j stands at c_j k_j and has the share e_j, a float with 0 <= e_j <= exp(x_j - top), where x_j is its score there
plus the lift of its entry, relative to the score of the centre. Any such e are a distribution after division by their
sum: so what is rounded in them costs a little of the bound, and never its truth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Bool, Int

from headwright.fast.balls import Array, Balls
from headwright.fast.exact_numbers import ImprecisionError, ball, dot, signs, to_balls
from headwright.fast.exponential import exp_below, total, total_above
from headwright.fast.key_products import Centred, weighted_sum
from headwright.fast.score_bounds import ONE, View

Rows = Int[np.ndarray, " some"]


@dataclass(frozen=True, eq=False)
class Places:
    """The scales that a bound gives the keys of one scenario; in one world they do not follow the scores."""

    view: View
    scales: Mapping[int, Fraction]
    own_scales: Mapping[int, Fraction]
    one: bool

    def of_rival(self, key: int) -> Fraction:
        """The scale of a key where another is the target."""
        return self.scales.get(key, self._end(key, 1))

    def of_target(self, key: int) -> Fraction:
        """The scale of a target in its own constraint."""
        return self.of_rival(key) if self.one else self.own_scales.get(key, self._end(key, -1))

    def _end(self, key: int, side: int) -> Fraction:
        spread = self.view.world.spread(key)
        if self.one or spread.low == spread.high:
            return min(max(ONE, spread.low), spread.high)
        above = self._signs(np.array([key]))[0] > 0
        return spread.high if above == (side > 0) else spread.low

    def _signs(self, rows: Rows) -> Rows:
        return signs(self.view.keys, rows, self.view.query) * (1 if self.view.statement.scale > 0 else -1)

    @cached_property
    def stretched(self) -> bool:
        """Some scale is not 1."""
        return any(s.low != 1 or s.high != 1 for s in self.view.world.spreads)

    @cached_property
    def _above(self) -> Bool[np.ndarray, " n"]:
        """Whose scores are above 0; exactly, where it matters."""
        view, found = self.view, np.zeros(len(self.view.keys), dtype=bool)
        if not view.query.any():
            return found
        ranged, doubtful = np.array([s.low < s.high for s in view.world.spreads]), []
        for part in view.blocks():
            m = view.m(part)
            found[part] = m.mid > 0
            doubtful.append(~(np.abs(m.mid) > m.rad) & ranged[view.world.entries(part)])
        rows = np.flatnonzero(np.concatenate(doubtful))
        found[rows] = self._signs(rows) > 0
        return found

    @cached_property
    def _ends(self) -> tuple[Balls, Balls]:
        spreads = self.view.world.spreads
        if self.one:
            nearest = to_balls([ball(min(max(ONE, s.low), s.high) - 1) for s in spreads])
            return nearest, nearest
        return to_balls([ball(s.low - 1) for s in spreads]), to_balls([ball(s.high - 1) for s in spreads])

    @cached_property
    def _given(self) -> tuple[Rows, Balls]:
        rows = sorted(self.scales)
        return np.array(rows, dtype=np.intp), to_balls([ball(self.scales[i] - 1) for i in rows])

    def less_one(self, part: slice) -> Balls:
        """c_j - 1 of some rivals."""
        which, (low, high) = self.view.world.entries(part), self._ends
        size = len(self.view.products.balls.mid[part])
        above = np.zeros(size, dtype=bool) if self.one else self._above[part]
        mid, rad = (np.where(above, h[which], x[which]) for x, h in ((low.mid, high.mid), (low.rad, high.rad)))
        rows, given = self._given
        first, last = np.searchsorted(rows, [part.start, part.start + size])
        here = rows[first:last] - part.start
        mid[here], rad[here] = given.mid[first:last], given.rad[first:last]
        return Balls(mid, rad)


@dataclass(frozen=True, eq=False)
class KeySums:
    """Sums over the keys: by entry of the world sum e_j and sum e_j^2, and sum e_j (c_j k_j - centre)."""

    top: arb
    masses: list[arb]
    squares: list[arb]
    moment: list[arb]
    pulled: list[arb] = field(default_factory=list)  # sum e_j^2 stretch^2 <k_j, push> k_j
    used: arb = field(default_factory=lambda: arb(0))  # sum e_j^2 stretch^2 <k_j, push>^2

    @property
    def mass(self) -> arb:
        """sum e_j."""
        return sum(self.masses, arb(0))


def key_sums(places: Places, lifts: Sequence[Fraction], hidden: Collection[int], push: View | None) -> KeySums:
    """All keys but some at their places; the last is the view through the push, where keys are random in length."""
    view, world, n = places.view, places.view.world, len(places.view.keys)
    if len(hidden) == n:
        none = [arb(0)] * len(world.spreads)
        return KeySums(arb(0), none, none, [arb(0)] * len(view.q))
    below = np.empty(n)
    raised = to_balls([arb(0), *map(ball, lifts)])
    for part in view.blocks():
        x = view.x(part)
        if places.stretched:
            x = x + places.less_one(part) * view.m(part)
        below[part] = (x + raised[world.entries(part)] if any(lifts) else x).lower()
    below[list(hidden)] = -np.inf
    top = float(below.max())
    if not math.isfinite(top):
        raise ImprecisionError("scores are not known well enough")
    e = exp_below(below, top)
    masses = [total(e[world.rows(entry, n)]) for entry in range(len(world.spreads))]
    squared = Balls.of(e) * Balls.of(e)
    squares = [
        _total(squared[world.rows(entry, n)]) if spread.random else arb(0) for entry, spread in enumerate(world.spreads)
    ]
    found = KeySums(arb(top), masses, squares, _moment(places, e))
    return found if push is None else _pulled(found, push, squared)


def _moment(places: Places, e: Array) -> list[arb]:
    """e_j (c_j k_j - centre) is e_j c_j (k_j - centre) and e_j (c_j - 1) centre."""
    if not places.stretched:
        return _sum_of_keys(places.view.centred, Balls.of(e))
    mid, rad = np.empty_like(e), np.empty_like(e)
    for part in places.view.blocks():
        more = Balls.of(e[part]) * places.less_one(part)
        mid[part], rad[part] = more.mid, more.rad
    more = Balls(mid, rad)
    share = _total(more)
    scaled = _sum_of_keys(places.view.centred, Balls.of(e) + more)
    return [x + share * c for x, c in zip(scaled, places.view.centre, strict=True)]


def _pulled(found: KeySums, push: View, squared: Balls) -> KeySums:
    """With what the push does to keys that are random in length; its view has scores <k_j, push>."""
    world, centre = push.world, push.centre
    stretch = to_balls([ball(s.stretch) ** 2 if s.random else arb(0) for s in world.spreads])
    along = push.products.balls * to_balls([arb(2) ** push.products.exponent]) + to_balls([dot(centre, push.q)])
    factors = squared * stretch[world.index] * along
    share = _total(factors)
    moved = [x + share * c for x, c in zip(_sum_of_keys(push.centred, factors), centre, strict=True)]
    return KeySums(found.top, found.masses, found.squares, found.moment, moved, _total(factors * along))


def _sum_of_keys(centred: Centred, weights: Balls) -> list[arb]:
    """sum_j w_j (k_j - centre)."""
    if not np.isfinite(weights.mid).all():
        raise ImprecisionError("weights are beyond the range of doubles")
    sums, error = weighted_sum(centred, weights.mid)
    if weights.rad.any():
        error += total_above(weights.rad * centred.norms) * (1 + 2.0**-20)
    unit = arb(2) ** centred.exponent
    return [unit * arb(x, error * (1 + 2.0**-20)) for x in sums.tolist()]


def _total(numbers: Balls) -> arb:
    """A ball around the sum of balls."""
    return total(numbers.mid) + arb(0, total_above(numbers.rad))
