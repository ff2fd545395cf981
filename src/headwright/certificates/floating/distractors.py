"""The keys of a bound that are not its targets, all at once and in floats.

Key j stands at c_j k_j and has the share e_j, a float with 0 <= e_j <= exp(x_j - top), where x_j is its score there
plus the lift of its entry, relative to the score of the centre. Any such e are a distribution after division by their
sum: so what is rounded in them costs a little of the bound, and never its truth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Bool

from headwright.certificates.floating.exact_numbers import (
    add_multiple,
    ball,
    dot,
    signs,
    to_balls,
)
from headwright.certificates.floating.key_products import Centred, weighted_sum
from headwright.certificates.floating.score_bounds import ONE, Rows, ScoreView
from headwright.numerics.balls import Array, Balls, ImprecisionError
from headwright.numerics.exponential import exp_below, total, total_above

SLACK = 1 + 2.0**-20  # covers the roundings of a radius


@dataclass(frozen=True, eq=False)
class KeyPlaces:
    """The scales that a bound gives the keys of one scenario; at one place for all they do not follow the scores."""

    view: ScoreView
    scales: Mapping[int, Fraction]
    own_scales: Mapping[int, Fraction]
    one_place: bool

    def of_rival(self, key: int) -> Fraction:
        """The scale of a key where another is the target."""
        if key in self.scales:
            return self.scales[key]
        return self._end(key, as_rival=True)

    def of_target(self, key: int) -> Fraction:
        """The scale of a target in its own constraint."""
        if self.one_place:
            return self.of_rival(key)
        if key in self.own_scales:
            return self.own_scales[key]
        return self._end(key, as_rival=False)

    def _end(self, key: int, *, as_rival: bool) -> Fraction:
        """Where no scale is named: the end that raises a rival's score, or lowers a target's."""
        spread = self.view.uncertainty.spread(key)
        if self.one_place or spread.low == spread.high:
            return min(max(ONE, spread.low), spread.high)
        is_above = bool(self._signs(np.array([key]))[0] > 0)
        return spread.high if is_above == as_rival else spread.low

    def _signs(self, rows: Rows) -> Rows:
        """The signs of scores, exactly."""
        products = signs(self.view.keys, rows, self.view.query)
        return products if self.view.statement.scale > 0 else -products

    @cached_property
    def stretched(self) -> bool:
        """Some scale is not 1."""
        return any(s.low != 1 or s.high != 1 for s in self.view.uncertainty.spreads)

    @cached_property
    def _above(self) -> Bool[np.ndarray, " n"]:
        """Whose scores are above 0; exactly, where it matters."""
        view = self.view
        above = np.zeros(len(view.keys), dtype=bool)
        if not view.query.any():
            return above
        has_range = np.array([s.low < s.high for s in view.uncertainty.spreads])
        doubtful = []
        for part in view.blocks():
            m = view.m(part)
            above[part] = m.mid > 0
            is_known = np.abs(m.mid) > m.rad
            doubtful.append(~is_known & has_range[view.uncertainty.entries(part)])
        rows = np.flatnonzero(np.concatenate(doubtful))
        above[rows] = self._signs(rows) > 0
        return above

    @cached_property
    def _ends_less_one(self) -> tuple[Balls, Balls]:
        """low - 1 and high - 1 of each entry; at one place for all, twice the scale nearest to 1."""
        spreads = self.view.uncertainty.spreads
        if self.one_place:
            nearest = [min(max(ONE, s.low), s.high) for s in spreads]
            balls = to_balls([ball(scale - 1) for scale in nearest])
            return balls, balls
        low = to_balls([ball(s.low - 1) for s in spreads])
        high = to_balls([ball(s.high - 1) for s in spreads])
        return low, high

    @cached_property
    def _named_less_one(self) -> tuple[Rows, Balls]:
        """The keys whose scale is named, in order, and these scales less 1."""
        rows = sorted(self.scales)
        balls = to_balls([ball(self.scales[i] - 1) for i in rows])
        return np.array(rows, dtype=np.intp), balls

    def less_one(self, part: slice) -> Balls:
        """c_j - 1 of some rivals."""
        entries = self.view.uncertainty.entries(part)
        size = len(self.view.products.balls.mid[part])
        above = np.zeros(size, dtype=bool) if self.one_place else self._above[part]
        low, high = self._ends_less_one
        mid = np.where(above, high.mid[entries], low.mid[entries])
        rad = np.where(above, high.rad[entries], low.rad[entries])
        rows, named = self._named_less_one
        first, last = np.searchsorted(rows, [part.start, part.start + size])
        here = rows[first:last] - part.start
        mid[here] = named.mid[first:last]
        rad[here] = named.rad[first:last]
        return Balls(mid, rad)


@dataclass(frozen=True, eq=False)
class KeySums:
    """Sums over the keys: by entry of the uncertainty sum e_j and sum e_j^2, and sum e_j (c_j k_j - centre).

    With t the stretch of random keys, `pulled` is sum e_j^2 t^2 <k_j, push> k_j and `used` sum e_j^2 t^2 <k_j, push>^2.
    """

    top: arb
    masses: list[arb]
    squares: list[arb]
    moment: list[arb]
    pulled: list[arb] = field(default_factory=list)
    used: arb = field(default_factory=lambda: arb(0))

    @property
    def mass(self) -> arb:
        """sum e_j."""
        return sum(self.masses, arb(0))


def key_sums(
    places: KeyPlaces,
    lifts: Sequence[Fraction],
    hidden: Collection[int],
    push: ScoreView | None,
) -> KeySums:
    """All keys but some at their places; the last is the view through the push, where keys are random in length."""
    view = places.view
    n = len(view.keys)
    spreads = view.uncertainty.spreads
    if len(hidden) == n:
        zeros = [arb(0)] * len(spreads)
        return KeySums(arb(0), zeros, zeros, [arb(0)] * len(view.q))
    # Exponents from below: x_j = m_j + (c_j - 1) m_j + lift, less the reference.
    exponents = np.empty(n)
    lift_balls = to_balls([arb(0), *map(ball, lifts)])
    for part in view.blocks():
        x = view.x(part)
        if places.stretched:
            x = x + places.less_one(part) * view.m(part)
        if any(lifts):
            x = x + lift_balls[view.uncertainty.entries(part)]
        exponents[part] = x.lower()
    exponents[list(hidden)] = -np.inf
    top = float(exponents.max())
    if not math.isfinite(top):
        raise ImprecisionError("scores are not known well enough")
    e = exp_below(exponents, top)
    squared = Balls.of(e) * Balls.of(e)
    masses = []
    squares = []
    for entry, spread in enumerate(spreads):
        rows = view.uncertainty.rows(entry, n)
        masses.append(total(e[rows]))
        squares.append(_total(squared[rows]) if spread.random else arb(0))
    sums = KeySums(arb(top), masses, squares, _moment(places, e))
    if push is None:
        return sums
    return _with_push(sums, push, squared)


def _moment(places: KeyPlaces, e: Array) -> list[arb]:
    """e_j (c_j k_j - centre) is e_j c_j (k_j - centre) and e_j (c_j - 1) centre."""
    if not places.stretched:
        return _sum_of_keys(places.view.centred, Balls.of(e))
    mid = np.empty_like(e)
    rad = np.empty_like(e)
    for part in places.view.blocks():
        product = Balls.of(e[part]) * places.less_one(part)
        mid[part] = product.mid
        rad[part] = product.rad
    more = Balls(mid, rad)  # e_j (c_j - 1)
    differences = _sum_of_keys(places.view.centred, Balls.of(e) + more)
    return add_multiple(differences, _total(more), places.view.centre)


def _with_push(sums: KeySums, push: ScoreView, squared: Balls) -> KeySums:
    """With what the push does to keys that are random in length; its view has scores <k_j, push>."""
    stretches = []
    for spread in push.uncertainty.spreads:
        stretches.append(ball(spread.stretch) ** 2 if spread.random else arb(0))
    stretch_balls = to_balls(stretches)
    unit = to_balls([arb(2) ** push.products.exponent])
    along = push.products.balls * unit + to_balls([dot(push.centre, push.q)])
    factors = squared * stretch_balls[push.uncertainty.index] * along
    differences = _sum_of_keys(push.centred, factors)
    pulled = add_multiple(differences, _total(factors), push.centre)
    return replace(sums, pulled=pulled, used=_total(factors * along))


def _sum_of_keys(centred: Centred, weights: Balls) -> list[arb]:
    """sum_j w_j (k_j - centre)."""
    if not np.isfinite(weights.mid).all():
        raise ImprecisionError("weights are beyond the range of doubles")
    sums, error = weighted_sum(centred, weights.mid)
    if weights.rad.any():
        error += total_above(weights.rad * centred.norms) * SLACK
    unit = arb(2) ** centred.exponent
    return [unit * arb(x, error * SLACK) for x in sums.tolist()]


def _total(numbers: Balls) -> arb:
    """A ball around the sum of balls."""
    return total(numbers.mid) + arb(0, total_above(numbers.rad))
