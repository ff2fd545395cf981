"""Check that no shorter query is possible, or none at all. Each part of a bound combines constraints c by lambda_c,

    |s| |q| (|V| - room) >= right = sum_c lambda_c (H(pi^c) + ln p_c),
    V = sum_c lambda_c sum_j w^c_j k_j + moved + pushed

for every query q that meets the targets; w^c_j = pi^c_j - [j = a].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from headwright.certificates.exact.certificate import KeyStatement
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.words import six_digits
from headwright.certificates.floating.exact_numbers import (
    NONE,
    Number,
    above_root,
    ball,
    below_root,
    dot,
    rational,
)
from headwright.certificates.floating.parts import PartOfBound, PartSums
from headwright.certificates.floating.targets_met import tail
from headwright.numerics.balls import ImprecisionError


@dataclass(frozen=True, eq=False)
class FloatInequality:
    """|scale| |q| (|V| - room - sqrt(more)) >= right, for every query q that meets the targets."""

    V: list[Number]
    right: arb
    room: Number
    more: Number

    def times(self, factor: fmpq) -> FloatInequality:
        """A multiple of it."""
        return FloatInequality(
            V=[factor * x for x in self.V],
            right=factor * self.right,
            room=factor * self.room,
            more=factor * factor * self.more,
        )

    def plus(self, other: FloatInequality) -> FloatInequality:
        """Both of them, added up."""
        room = self.room + other.room
        for more in (self.more, other.more):
            if not _is_exactly_zero(more):  # a root would make the room inexact
                room += below_root(more)
        V = [x + y for x, y in zip(self.V, other.V, strict=True)]
        return FloatInequality(V, self.right + other.right, room, NONE)

    def check(self, statement: KeyStatement) -> None:
        """Refuse unless it certainly proves what the statement claims."""
        if not bool(self.right > 0):
            raise ImprecisionError(
                "the entropy is not certain to exceed what the targets leave open"
            )
        squared = dot(self.V, self.V)
        if statement.claim == "impossible":
            if not _within(squared, self.room, self.more):
                raise ImprecisionError("the keys do not cancel exactly")
            return
        # L |s| (|V| - room - sqrt(more)) <= right, with |V| from above and the rest from below.
        beyond = above_root(squared) - ball(self.room) - below_root(self.more)
        shortest = ball(statement.none_shorter * abs(statement.scale))
        if not bool(shortest * beyond <= self.right):
            raise ImprecisionError(
                f"it is not certain that no query is shorter than {six_digits(statement.none_shorter)}"
            )


def check_bound(
    statement: KeyStatement,
    parts: Sequence[PartOfBound],
    sums_of_parts: Sequence[PartSums],
) -> None:
    """Refuse unless the parts prove what is claimed: for several heads each of them, for one head all together."""
    inequalities = []
    for part, sums in zip(parts, sums_of_parts, strict=True):
        inequalities.append(_inequality(statement, part, sums))
    if statement.heads == 1 and len(parts) > 1:
        inequalities = [_added_up(parts, inequalities)]
    for inequality in inequalities:
        inequality.check(statement)


def _added_up(
    parts: Sequence[PartOfBound], inequalities: Sequence[FloatInequality]
) -> FloatInequality:
    """The mean of inequalities about one query: each counts as much as its multipliers."""
    total: FloatInequality | None = None
    for part, inequality in zip(parts, inequalities, strict=True):
        weighted = inequality.times(rational(part.multipliers))
        total = weighted if total is None else total.plus(weighted)
    if total is None:
        raise Reject("a bound has no parts")
    multipliers = sum((part.multipliers for part in parts), Fraction(0))
    return total.times(1 / rational(multipliers))


def _inequality(
    statement: KeyStatement, part: PartOfBound, sums: PartSums
) -> FloatInequality:
    """What a part proves; refused if it moves or pushes keys further than they may be."""
    deviations = rational(part.bound.deviations)
    random_take_part = not all(bool(square == 0) for square in sums.squares)
    if random_take_part and not part.several_heads:
        _check_deviations(statement, deviations)
    V = [x + y for x, y in zip(sums.V, sums.pulled, strict=True)]
    push = [rational(x) for x in part.part.push or ()]
    used = sums.used
    room: Number = NONE
    round_squares: Number = NONE  # sum_j W_j^2 r_j^2 over random keys
    for entry, spread in enumerate(part.uncertainty.spreads):
        radius = rational(spread.ball)
        factor = [list(map(rational, column)) for column in spread.factor]
        if spread.random:
            square = sums.squares[entry]
            round_squares += radius * radius * square
            if push:
                # sum_j W_j^2 E E^T push: along each column by <column, push>.
                along = [dot(column, push) for column in factor]
                used += square * dot(along, along)
                V = _moved(V, factor, along, square)
        elif entry:
            mass = sums.masses[entry]
            move = [rational(u) for u in part.part.moves[entry - 1]]
            V = _moved(V, factor, move, mass)
            if not part.one_place:
                room += radius * mass
    if not bool(used <= deviations * deviations):
        raise ImprecisionError("the bound pushes keys further than its deviations")
    # What pushing leaves of z^2 is room in every direction.
    more = (deviations * deviations - used) * round_squares
    return FloatInequality(V, sums.right, room, more)


def _check_deviations(statement: KeyStatement, deviations: fmpq) -> None:
    """Refuse unless the half space in which the targets are met holds all points up to so many deviations."""
    if not bool(tail(arb(deviations)) >= 1 - ball(statement.confidence)):
        raise Reject(
            "the bound's deviations are more than the confidence that is claimed asks for"
        )


def _moved(
    V: list[Number],
    factor: Sequence[Sequence[fmpq]],
    along: Sequence[fmpq],
    mass: Number,
) -> list[Number]:
    """V + mass E u, u the numbers `along` the columns of E."""
    for column, u in zip(factor, along, strict=True):
        if u != 0:  # V stays exact where nothing is moved
            V = [v + mass * u * x for v, x in zip(V, column, strict=True)]
    return V


def _within(squared: Number, room: Number, more: Number) -> bool:
    """|V| <= room + sqrt(more), from the square of |V|; without any rounding, where all three are exact."""
    if isinstance(squared, arb) or isinstance(room, arb) or isinstance(more, arb):
        return bool(above_root(squared) <= ball(room) + below_root(more))
    # |V|^2 - room^2 - more is to be at most 2 room sqrt(more).
    left = squared - room * room - more
    return bool(left <= 0 or left * left <= 4 * room * room * more)


def _is_exactly_zero(x: Number) -> bool:
    return isinstance(x, fmpq) and x == 0
