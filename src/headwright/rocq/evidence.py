"""The evidence of a bound in whole numbers: where keys stand in each constraint, and their shares.

Shares that a certificate leaves to be computed are rounded to whole numbers here: every distribution gives a bound.
Keys in balls are moved along the sum that is to be short; the kernel checks that they stay within their balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.errors import InputError
from headwright.rocq.syntax import over, rounded, whole
from headwright.trusted.certificate import CERTAIN, Bound, Certificate, Constraint, Part, Spread, Statement
from headwright.trusted.keys import Keys

FINE = 80  # binary digits of shares that are rounded here, for least weights of few digits
DIRECTION = 2**160  # parts of a direction in which keys are moved
ONE, NONE = Fraction(1), Fraction(0)

Vector = list[Fraction]


@dataclass(frozen=True)
class Move:
    """Of the keys of one entry of the world: a shift over e r, and a turn over r."""

    of: int
    shift: list[int]
    turn: list[int]


@dataclass(frozen=True)
class Item:
    """One constraint: the scale and the move of its target, and shares over D."""

    part: int
    scenario: int
    target: int
    multiplier: int
    own_stand: tuple[int, int]
    weights: list[int]


@dataclass(frozen=True)
class Evidence:
    """Constraints that are added up; for each part the scale over r and the move of every key."""

    r: int
    D: int
    moves: list[Move]
    stands: list[list[tuple[int, int]]]
    items: list[Item]


@dataclass(frozen=True)
class Standing:
    """One constraint of a part, with the scales of all keys, that of the target in its own place, and shares."""

    part: int
    constraint: Constraint
    scales: Vector
    own: Fraction
    shares: Vector


class Scenes:
    """The keys of all scenarios as fractions, and which entry of the world says what each may be."""

    def __init__(self, certificate: Certificate, bound: Bound, keys: Sequence[Keys]) -> None:
        """One world for all if there are several heads: then no key is moved."""
        self.statement, self.bound = certificate.statement, bound
        self.rows = [[_fractions(scenario, row) for row in range(scenario.n)] for scenario in keys]
        self.spreads: list[Spread] = [*self.statement.world, CERTAIN]
        self.which = entries(self.statement)
        self.one_world = bound.among is not None

    def scale(self, key: int, *, above: bool, own: bool) -> Fraction:
        """The scale at which a key stands: the one that is written, or the end that its score asks for."""
        spread = self.spreads[self.which[key]]
        near = min(max(ONE, spread.low), spread.high)
        usual = near if self.one_world else (spread.low, spread.high)[above != own]
        return (self.bound.own_scales if own and not self.one_world else self.bound.scales).get(key, usual)

    def standing(self, number: int, part: Part, one: Constraint) -> Standing:
        """A constraint, with scales and shares."""
        factor = self.statement.scale
        places = [factor * _dot(part.query, row) for row in self.rows[one.scenario]]
        scales = [self.scale(key, above=place > 0, own=False) for key, place in enumerate(places)]
        own = self.scale(one.target, above=places[one.target] > 0, own=True)
        if one.distribution is not None:
            total = sum(one.distribution.values(), NONE)
            if not total:
                raise InputError("a distribution of this certificate has no mass")
            shares = [one.distribution.get(key, NONE) / total for key in range(len(places))]
        else:
            lifts = [*part.lifts, NONE]
            lifted = [lifts[entry] for entry in self.which]
            scores = [place * c + lift for place, c, lift in zip(places, scales, lifted, strict=True)]
            scores[one.target] = places[one.target] * own - lifted[one.target]
            shares = self._rounded(scores, one.target)
        return Standing(number, one, scales, own, shares)

    def _rounded(self, scores: Vector, target: int) -> Vector:
        """The distribution of these scores, over a power of two; with several heads among the target and the others."""
        among = self.bound.among or ()
        here = [key for key in range(len(scores)) if key == target or key not in among]
        found = dict(zip(here, rounded([scores[key] for key in here], FINE + digits(self.statement)), strict=True))
        return [found.get(key, NONE) for key in range(len(scores))]


def evidence_of(certificate: Certificate, keys: Sequence[Keys]) -> Evidence:
    """The evidence of a certificate's bound."""
    bound, statement = certificate.bound, certificate.statement
    assert bound is not None  # noqa: S101  (it is called where there is one)
    scenes = Scenes(certificate, bound, keys)
    if scenes.one_world and (bound.own_scales or any(any(move) for part in bound.parts for move in part.moves)):
        raise InputError("the bound is about one world, but targets have scales of their own or keys are moved")
    if any(not any(one.multiplier for one in part.constraints) for part in bound.parts):
        raise InputError("a part of the bound has no positive multiplier")
    standings = [
        scenes.standing(number, part, one) for number, part in enumerate(bound.parts) for one in part.constraints
    ]
    direction = _direction(scenes, standings)
    turns = [[list(move) for move in (*part.moves, ())] for part in bound.parts]
    balls = [NONE if scenes.one_world else spread.ball for spread in scenes.spreads]
    shifts = [[ball * x for x in direction] for ball in balls]
    r = math.lcm(
        *(scale.denominator for s in standings for scale in (*s.scales, s.own)),
        *(x.denominator for part in turns for u in part for x in u),
        *(x.denominator for shift in shifts for x in shift),
    )
    e = 1 << max(scenario.bits for scenario in keys)
    e = math.lcm(e, *(x.denominator for w in statement.world for column in w.factor for x in column))
    moves = [
        Move(entry, over(1, (sign * x * e * r for x in shifts[entry])), over(r, (sign * x for x in turn)))
        for part in turns
        for entry, turn in enumerate(part)
        for sign in (1, -1)
    ]
    return _written(scenes, standings, r, moves)


def _written(scenes: Scenes, standings: Sequence[Standing], r: int, moves: list[Move]) -> Evidence:
    common = math.lcm(*(share.denominator for s in standings for share in s.shares))
    parts = 1 + max(s.part for s in standings)
    _, multipliers = whole([s.constraint.multiplier for s in standings])
    entry = len(scenes.spreads)

    def stand(part: int, key: int, scale: Fraction, own: bool) -> tuple[int, int]:
        return over(r, [scale])[0], 2 * (part * entry + scenes.which[key]) + own

    stands = [
        [stand(s.part, key, c, own=False) for key, c in enumerate(s.scales)]
        for s in (next(s for s in standings if s.part == part) for part in range(parts))
    ]
    items = [
        Item(
            s.part,
            s.constraint.scenario,
            s.constraint.target,
            multiplier,
            stand(s.part, s.constraint.target, s.own, own=not scenes.one_world),
            over(common, s.shares),
        )
        for s, multiplier in zip(standings, multipliers, strict=True)
    ]
    return Evidence(r, common, moves, stands, items)


def _direction(scenes: Scenes, standings: Sequence[Standing]) -> Vector:
    """The direction in which keys in balls are moved: along what is pulled, as far as shortens it."""
    d = scenes.statement.keys[0].d
    if scenes.one_world or not any(spread.ball for spread in scenes.spreads):
        return [NONE] * d
    pull, room = [NONE] * d, NONE
    for s in standings:
        moves = (*scenes.bound.parts[s.part].moves, ())
        weights = [(key, -share, s.scales[key], 1) for key, share in enumerate(s.shares) if share]
        a = s.constraint.target
        weights = [(key, w, c, sign) for key, w, c, sign in weights if key != a]
        weights.append((a, 1 - s.shares[a], s.own, -1))
        for key, w, c, sign in weights:
            spread, move = scenes.spreads[scenes.which[key]], moves[scenes.which[key]]
            w *= s.constraint.multiplier
            room += abs(w) * spread.ball
            row = scenes.rows[s.constraint.scenario][key]
            pull = [p + w * c * x for p, x in zip(pull, row, strict=True)]
            for u, column in zip(move, spread.factor, strict=True):
                pull = [p + w * sign * u * x for p, x in zip(pull, column, strict=True)]
    square = _dot(pull, pull)
    if square <= room**2:
        return [p / room for p in pull] if room else pull
    length = math.isqrt(math.ceil(square * DIRECTION**2)) + 1  # of the pull times DIRECTION, from above
    return [Fraction(int(p * DIRECTION * DIRECTION / length), DIRECTION) for p in pull]


def entries(statement: Statement) -> list[int]:
    """For each key the number of its entry of the world, or the number after the last if it has none."""
    none = len(statement.world)
    others = next((number for number, w in enumerate(statement.world) if w.keys is None), none)
    named = {key: number for number, w in enumerate(statement.world) for key in w.keys or ()}
    return [named.get(key, others) for key in range(statement.keys[0].n)]


def digits(statement: Statement) -> int:
    """Binary digits of the least weights: 1/(1 + 1e-30) needs as many more."""
    return max(p.denominator.bit_length() for p in statement.wish.values())


def _fractions(keys: Keys, row: int) -> Vector:
    return [Fraction(number, 1 << keys.bits) for number in keys.row(row)]


def _dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), NONE)
