"""Check that no shorter query is possible, or none at all. Each part of a bound combines constraints c by lambda_c,

    |s| |q| (|V| - room) >= right = sum_c lambda_c (H(pi^c) + ln p_c),
    V = sum_c lambda_c sum_j w^c_j k_j + moved + pushed

for every query q that grants the wish; w^c_j = pi^c_j - [j = a]. A distribution that is written out makes everything
but the logarithms exact. Otherwise pi_j = e_j / Z with 0 <= e_j <= exp(x_j), x_j the score at the part's query q' plus
a lift, so that H(pi) >= ln Z - sum_j pi_j x_j. Targets are computed in Arb and the other keys in floats, all of them
relative to one target: at the optimum nearly all weight is on the targets, and what is left must not get lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import cast

from flint import arb, fmpq

from headwright.fast.distractors import KeySums, Places, key_sums
from headwright.fast.exact_numbers import (
    NONE,
    ImprecisionError,
    Number,
    above_root,
    ball,
    below_root,
    combination,
    dot,
    rational,
    rounded,
    vector,
)
from headwright.fast.granted import tail
from headwright.fast.score_bounds import View, World
from headwright.trusted.certificate import Bound, Constraint, Part, Statement, Vector
from headwright.trusted.keys import Reject
from headwright.trusted.words import shown


@dataclass(frozen=True, eq=False)
class Sums:
    """What the constraints of a part come to in one scenario; with exact distributions all but `right` is exact."""

    V: list[Number]
    right: arb
    masses: list[Number]  # by entry of the world: sum_c lambda_c sum_j |w^c_j|
    squares: list[Number]  # and, where it is random: sum_j W_j^2
    pulled: list[Number]  # sum_j W_j^2 stretch^2 <k_j, push> k_j
    used: Number  # sum_j W_j^2 stretch^2 <k_j, push>^2

    def plus(self, other: Sums) -> Sums:
        """Two scenarios together."""
        V, masses, squares, pulled = (
            [x + y for x, y in zip(mine, its, strict=True)]
            for mine, its in (
                (self.V, other.V),
                (self.masses, other.masses),
                (self.squares, other.squares),
                (self.pulled, other.pulled),
            )
        )
        return Sums(V, self.right + other.right, masses, squares, pulled, self.used + other.used)


Shares = Mapping[int, Number]


class PartOfBound:
    """One part of a bound: whether it is admissible, what it comes to in each scenario, and what that proves."""

    def __init__(self, statement: Statement, world: World, bound: Bound, part: Part) -> None:
        """Refuse what the world does not allow. Any queries are evidence: they become doubles, and only these count."""
        self.statement, self.world, self.bound, self.part = statement, world, bound, part
        push = rounded(part.push) if part.push is not None and self._seen_pushed else part.push
        self.part = replace(part, query=rounded(part.query), push=push)
        self.several = statement.heads > 1
        self.one = self.several or (world.chance and len(part.constraints) > 1)  # all is said about one world
        self.whole = sum((c.multiplier for c in part.constraints), Fraction(0))
        if self.whole == 0:
            raise Reject("no constraint has a positive multiplier")
        self._check_places()
        for c in part.constraints:
            self._check_distribution(c)

    @property
    def scenarios(self) -> set[int]:
        """The scenarios that this part is about."""
        return {c.scenario for c in self.part.constraints if c.multiplier > 0}

    @property
    def _seen_pushed(self) -> bool:
        """Keys that are random in length are looked at through the push, too, unless their shares are written out."""
        by_scores = self.part.constraints[0].distribution is None
        return self.part.push is not None and by_scores and any(s.random and s.stretch for s in self.world.spreads)

    @property
    def queries(self) -> list[Vector]:
        """The queries that it looks at the keys through: its own, and the push where keys are random in length."""
        return [self.part.query, self.part.push or ()] if self._seen_pushed else [self.part.query]

    def _check_places(self) -> None:
        for key, scale in (*self.bound.scales.items(), *self.bound.own_scales.items()):
            spread = self.world.spread(key)
            if not spread.low <= scale <= spread.high:
                raise Reject(f"the bound scales key {key} by {shown(scale)}, which its world does not allow")
        if any(sum(x * x for x in move) > 1 for move in self.part.moves):
            raise Reject("the bound moves keys further than their world allows")
        if self.one and (self.bound.own_scales or any(map(any, self.part.moves))):
            raise Reject("the bound is about more than one world")
        if self.several and any(self.world.spread(a).random for a in self.bound.among or ()):
            raise Reject("with several heads the bound is about keys that are not random")

    def _check_distribution(self, c: Constraint) -> None:
        if c.distribution is None:
            return
        if not any(c.distribution.values()):
            raise Reject("a distribution has no mass")
        shares = [key for key, x in c.distribution.items() if x]
        others = set(self.bound.among or ()) - {c.target}
        if self.several and any(key in others or self.world.spread(key).random for key in shares):
            raise Reject("with several heads neither random keys nor other targets have a share")

    def least(self, target: int) -> Fraction:
        """p_c: the least weight that a constraint is about."""
        if not self.bound.among:
            return self.statement.wish[target]
        together = sum((self.statement.wish[a] for a in self.bound.among), Fraction(0))
        below = together + len(self.bound.among) * (1 - together)
        if below <= 0:
            raise Reject("the least weights are above 1 together: no bound says more")
        return together / below

    def sums(self, number: int, view: View, push: View | None = None) -> Sums:
        """What the constraints come to in one scenario, through the part's query; and the push, where one is needed."""
        places = Places(view, self.bound.scales, self.bound.own_scales, self.one)
        constraints = [c for c in self.part.constraints if c.scenario == number and c.multiplier > 0]
        if constraints[0].distribution is not None:
            return self._written(places, constraints)
        if self.statement.claim == "impossible" and not any(self.part.query) and not any(self.part.lifts):
            return self._written(places, constraints)  # an even share for all: exactly
        return self._softmax(places, constraints, push)

    def _table(self, c: Constraint) -> dict[int, Fraction]:
        if c.distribution is not None:
            return {key: x for key, x in c.distribution.items() if x}
        absent = self._absent() - {c.target}
        return dict.fromkeys((key for key in range(self.statement.keys[0].n) if key not in absent), Fraction(1))

    def _written(self, places: Places, constraints: list[Constraint]) -> Sums:
        """With distributions that are written out."""
        rival, own, right = dict[int, fmpq](), dict[int, fmpq](), arb(0)
        for c in constraints:
            table = self._table(c)
            share, mass = rational(c.multiplier / self.whole), rational(sum(table.values(), Fraction(0)))
            entropy = arb(0)
            for key, x in table.items():
                pi = rational(x) / mass
                entropy -= arb(pi) * arb(pi).log()
                if key != c.target:
                    rival[key] = rival.get(key, NONE) + share * pi
            own[c.target] = share * (rational(table.get(c.target, Fraction(0))) / mass - 1)
            right += share * (entropy + ball(self.least(c.target)).log())
        factors = {key: x * rational(places.of_rival(key)) for key, x in rival.items()}
        for key, share in own.items():
            factors[key] = factors.get(key, NONE) + share * rational(places.of_target(key))
        return self._one_by_one(places.view, combination(places.view.keys, factors), right, rival, own)

    def _one_by_one(self, view: View, V: Sequence[Number], right: arb, rival: Shares, own: Shares) -> Sums:
        """Masses, squares and pulls of keys whose shares are known one by one."""
        masses: list[Number] = [NONE] * len(self.world.spreads)
        squares = masses.copy()
        pulled: list[Number] = [NONE] * len(V)
        used: Number = NONE
        for key in {**rival, **own}:
            entry, spread = self.world.entry(key), self.world.spread(key)
            up, down = rival.get(key, NONE), own.get(key, NONE)
            masses[entry] += up - down
            if spread.random:
                square = (up + down) * (up + down)
                squares[entry] += square
                if spread.stretch and self.part.push:
                    row = combination(view.keys, {key: fmpq(1)})
                    along = dot(row, map(rational, self.part.push))
                    factor = square * rational(spread.stretch**2) * along
                    pulled = [x + factor * k for x, k in zip(pulled, row, strict=True)]
                    used += factor * along
        return Sums(list(V), right, masses, squares, pulled, used)

    def _softmax(self, places: Places, constraints: list[Constraint], push: View | None) -> Sums:
        """With distributions in proportion to exp of the scores at the part's query."""
        view, targets = places.view, [c.target for c in constraints]
        absent, everybody = self._absent(), range(len(view.keys))
        apart = (
            [key for key in everybody if key not in absent] if view.closely else [a for a in targets if a not in absent]
        )
        mine = key_sums(places, self.part.lifts, everybody if view.closely else absent | set(targets), push)

        def seen(key: int, scaled: Fraction, side: int) -> tuple[list[arb], arb, arb]:
            """The place of a target less the centre, its score there, and a number not above exp(score - top)."""
            scale = ball(scaled)
            place = [scale * k - c for k, c in zip(vector(view.keys[key]), view.centre, strict=True)]
            x = view.scale * dot(place, view.q) + side * self._lift(key)
            e = (x - mine.top).exp().lower()
            return place, x, e if bool(e > 0) else arb(0)

        up = {b: seen(b, places.of_rival(b), 1) for b in apart}
        down = {a: seen(a, places.of_target(a), -1) for a in targets}
        lifted = sum((ball(x) * m for x, m in zip(self.part.lifts, mine.masses[1:], strict=True)), arb(0))
        around = view.scale * dot(view.q, mine.moment) + lifted
        rivals, scores = (
            sum(xs, arb(0)) for xs in ([e for _, _, e in up.values()], [x * e for _, x, e in up.values()])
        )
        right, weights, own = arb(0), dict[int, arb](), dict[int, Number]()
        for c in constraints:
            (_, x, e), (_, y, f) = down[c.target], up.get(c.target, ([], arb(0), arb(0)))
            others = mine.mass + (rivals - f)
            Z = others + e
            if not bool(Z > 0):
                raise ImprecisionError("a distribution has no mass")
            share = ball(c.multiplier / self.whole)
            entropy = Z.log() + mine.top - (around + (scores - y * f) + x * e) / Z
            right += share * (entropy + ball(self.least(c.target)).log())
            weights[c.target], own[c.target] = share / Z, -share * others / Z
        # A target's share as a rival: nothing is subtracted, so that with one constraint it is exactly 0.
        before = [arb(0), *accumulate(weights.values())][:-1]
        after = [arb(0), *accumulate(reversed(list(weights.values())))][-2::-1]
        others_of = {a: x + y for a, x, y in zip(targets, before, after, strict=True)}
        everywhere = sum(weights.values(), arb(0))
        rival: Shares = {b: e * others_of.get(b, everywhere) for b, (_, _, e) in up.items()}
        V = [everywhere * x for x in mine.moment]
        for factors, seen_at in ((rival, up), (own, down)):
            for key, factor in factors.items():
                V = [v + factor * x for v, x in zip(V, seen_at[key][0], strict=True)]
        return self._one_by_one(view, V, right, rival, own).plus(_scaled(mine, everywhere))

    def _absent(self) -> set[int]:
        """The keys that are no rivals: with several heads those in `among`, and the random ones."""
        if not self.several:
            return set()
        return {*self.world.random(self.statement.keys[0].n).tolist(), *(self.bound.among or ())}

    def _lift(self, key: int) -> arb:
        entry = self.world.entry(key)
        return ball(self.part.lifts[entry - 1]) if entry else arb(0)

    def inequality(self, sums: Sums) -> Inequality:
        """What the part proves; refused if it moves or pushes keys further than they may be."""
        statement, z = self.statement, rational(self.bound.deviations)
        by_chance = not (self.several or all(bool(square == 0) for square in sums.squares))  # random keys take part
        if by_chance and not bool(tail(arb(z)) >= 1 - ball(statement.confidence)):
            raise Reject("the bound's deviations are more than the confidence that is claimed asks for")
        V = [x + y for x, y in zip(sums.V, sums.pulled, strict=True)]
        used, room, around = sums.used, cast("Number", NONE), cast("Number", NONE)
        for entry, spread in enumerate(self.world.spreads):
            mass, square, radius = sums.masses[entry], sums.squares[entry], rational(spread.ball)
            if spread.random:
                around += radius * radius * square
                push = [rational(x) for x in self.part.push or ()]
                toward = [dot(map(rational, column), push) for column in spread.factor] if push else []
                used += square * dot(toward, toward)
                V = _moved(V, spread.factor, toward, square)
            elif entry:
                room += radius * mass if not self.one else NONE
                V = _moved(V, spread.factor, [rational(u) for u in self.part.moves[entry - 1]], mass)
        if not bool(used <= z * z):
            raise ImprecisionError("the bound pushes keys further than its deviations")
        return Inequality(V, sums.right, room, (z * z - used) * around)


@dataclass(frozen=True, eq=False)
class Inequality:
    """|scale| |q| (|V| - room - sqrt(more)) >= right, for every query q that grants the wish."""

    V: list[Number]
    right: arb
    room: Number
    more: Number

    def times(self, factor: fmpq) -> Inequality:
        """A multiple of it."""
        V = [factor * x for x in self.V]
        return Inequality(V, factor * self.right, factor * self.room, factor * factor * self.more)

    def plus(self, other: Inequality) -> Inequality:
        """Both of them, added up."""
        room = self.room + other.room
        for more in (self.more, other.more):
            room += NONE if isinstance(more, fmpq) and more == 0 else below_root(more)
        V = [x + y for x, y in zip(self.V, other.V, strict=True)]
        return Inequality(V, self.right + other.right, room, NONE)

    def check(self, statement: Statement) -> None:
        """Refuse unless it certainly proves what the statement claims."""
        if not bool(self.right > 0):
            raise ImprecisionError("the entropy is not certain to exceed what the wish leaves open")
        squared = dot(self.V, self.V)
        if statement.claim == "impossible":
            if not _within(squared, self.room, self.more):
                raise ImprecisionError("the keys do not cancel exactly")
            return
        beyond = above_root(squared) - ball(self.room) - below_root(self.more)
        if not bool(ball(statement.none_shorter * abs(statement.scale)) * beyond <= self.right):
            raise ImprecisionError(f"it is not certain that no query is shorter than {shown(statement.none_shorter)}")


def check_bound(statement: Statement, parts: Sequence[PartOfBound], sums: Sequence[Sums]) -> None:
    """Refuse unless the parts prove what is claimed: for several heads each of them, for one head all together."""
    found = [part.inequality(its) for part, its in zip(parts, sums, strict=True)]
    if statement.heads == 1 and len(parts) > 1:  # each counts as much as its multipliers
        total, *others = (one.times(rational(part.whole)) for one, part in zip(found, parts, strict=True))
        for one in others:
            total = total.plus(one)
        found = [total.times(1 / rational(sum((part.whole for part in parts), Fraction(0))))]
    for one in found:
        one.check(statement)


def _scaled(mine: KeySums, factor: arb) -> Sums:
    """What the sums over keys add, but for V: its shares are these numbers, times a factor."""
    square = factor * factor
    none: list[Number] = [NONE] * len(mine.moment)
    return Sums(
        none,
        arb(0),
        [factor * x for x in mine.masses],
        [square * x for x in mine.squares],
        [square * x for x in mine.pulled] or none,
        square * mine.used,
    )


def _moved(V: list[Number], factor: Sequence[Sequence[Fraction]], by: Sequence[Number], mass: Number) -> list[Number]:
    """V + mass E u."""
    for column, u in zip(factor, by, strict=False):
        if not (isinstance(u, fmpq) and u == 0):
            V = [v + mass * u * rational(x) for v, x in zip(V, column, strict=True)]
    return V


def _within(squared: Number, room: Number, more: Number) -> bool:
    """|V| <= room + sqrt(more), from the square of |V|; without any rounding, where all three are exact."""
    if isinstance(squared, arb) or isinstance(room, arb) or isinstance(more, arb):
        return bool(above_root(squared) <= ball(room) + below_root(more))
    left = squared - room * room - more  # to be at most 2 room sqrt(more)
    return bool(left <= 0 or left * left <= 4 * room * room * more)
