"""Make distributions that nearly cancel cancel exactly: the last step of a proof that there is no query.

All that V is made of enters it linearly, once it is written as amounts: the multipliers lambda_c, the shares X_cj =
lambda_c pi^c_j, for a key of uncertain scale the amount G_j = c_j sum_c X_cj that stands at it (and O_c = own_c
(lambda_c - X_ca) for a target in its own constraint), for an entry with a factor E the amounts U = M_S u. Floating
point finds them up to rounding, with a little room in every inequality; then a few of them, those with the most room,
are corrected by exact rationals, so that V is 0 and not nearly 0. Random keys are pushed in the end, exactly too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from operator import mul

import numpy as np
from flint import fmpq, fmpq_mat
from jaxtyping import Float

from headwright.certificates.exact.keys import KeyMatrix
from headwright.numerics.exact_linear import solve_exactly
from headwright.query_design.certify import BoundEvidence, Constraint, PartEvidence
from headwright.query_design.proving.key_placement import WorstPlaces
from headwright.query_design.statement import DesignQuestion

FINE = (
    2**160
)  # guesses are whole numbers of 1 / FINE: rounding them is free, since they are corrected anyway
MOST = 1000  # amounts of a kind that are considered for correction
FREE = 1e6  # the room of an amount that nothing limits, next to shares of a whole
Name = tuple[
    str, int, int
]  # what it is: 'share', 'multiplier', 'scaled', 'own', 'move' or 'push'; and of what


@dataclass(frozen=True, eq=False)
class Guess:
    """What floating point found: constraints with multipliers and distributions, and where the keys stand."""

    constraints: tuple[tuple[int, int], ...]  # scenario and target
    multipliers: Float[np.ndarray, " c"]
    shared: tuple[
        int, ...
    ]  # which distribution each constraint has; several may share one
    pi: tuple[Float[np.ndarray, " n"], ...]
    stand: WorstPlaces | None = None  # None: keys are certain
    deviations: Fraction = Fraction(0)
    pushes: Float[np.ndarray, "c d"] | None = (
        None  # how random keys are pushed, in each constraint
    )


def cancelled(question: DesignQuestion, guess: Guess) -> BoundEvidence | None:
    """The evidence with V = 0 exactly; None where that takes a larger correction than there is room for."""
    system = _System(question, guess)
    values = system.corrected()
    return (
        None
        if values is None or not system.admissible(values)
        else system.bound(values)
    )


@dataclass
class CancellationTerm:
    """An unknown of the sums that should cancel, and where it stands in them."""

    guess: int  # in units of 1 / FINE
    room: float
    place: tuple[int, int, Fraction] | None = (
        None  # it stands at this key of this scenario, times this factor
    )
    vector: list[Fraction] = field(default_factory=list)  # or at this vector
    sums: dict[int, int] = field(
        default_factory=dict
    )  # its part in the equations that are no coordinates


class _System:
    """The amounts, and the equations that they meet: V = 0, shares sum to multipliers, multipliers sum to 1."""

    def __init__(self, question: DesignQuestion, guess: Guess) -> None:
        self.question, self.guess, self.d = (
            question,
            guess,
            int(question.keys[0].shape[1]),
        )
        self.entry_of = {
            i: e
            for e, entry in enumerate(question.entries)
            for i in entry.keys.tolist()
        }
        self.exact = [_keys(keys) for keys in question.keys]
        self.target = [a for _, a in guess.constraints]
        self.groups = [
            [c for c, g in enumerate(guess.shared) if g == number]
            for number in range(len(guess.pi))
        ]
        self.amounts: dict[Name, CancellationTerm] = {}
        self._add_multipliers()
        self._add_shares()
        self._add_scaled()
        self._add_moves()
        self._add_pushes()

    # What stands where

    def _ranged(self, key: int) -> bool:
        if self.guess.stand is None or key not in self.entry_of:
            return False
        low, high = self.question.entries[self.entry_of[key]].ends
        return low < high

    def _fixed_scale(self, key: int) -> Fraction:
        if key not in self.entry_of:
            return Fraction(1)
        return self.question.entries[self.entry_of[key]].ends[0]

    def _moving_entries(self) -> Iterator[tuple[int, set[int]]]:
        for e, entry in enumerate(self.question.entries):
            if self.guess.stand is not None and entry.width and not entry.random:
                yield e, set(entry.keys.tolist())

    # The unknowns

    def _add_multipliers(self) -> None:
        for c, (w, a) in enumerate(self.guess.constraints):
            number = round(float(self.guess.multipliers[c]) * FINE)
            sums = {self.guess.shared[c]: -1, len(self.groups): 1}
            place = None if self._ranged(a) else (w, a, -self._fixed_scale(a))
            self.amounts["multiplier", c, 0] = CancellationTerm(
                number, number / FINE, place, sums=sums
            )

    def _add_shares(self) -> None:
        for g, members in enumerate(self.groups):
            w = self.guess.constraints[members[0]][0]
            mass = float(sum(self.guess.multipliers[c] for c in members))
            for j in np.flatnonzero(self.guess.pi[g]).tolist():
                number = round(float(self.guess.pi[g][j]) * mass * FINE)
                place = None if self._ranged(j) else (w, j, self._fixed_scale(j))
                self.amounts["share", g, j] = CancellationTerm(
                    number, number / FINE, place, sums={g: 1}
                )

    def _as_rival(self, values: dict[Name, fmpq], j: int) -> fmpq:
        """The shares of a key where it is not the target."""
        mine = [
            g for g, members in enumerate(self.groups) if self.target[members[0]] != j
        ]
        return sum(
            (values["share", g, j] for g in mine if ("share", g, j) in values), fmpq(0)
        )

    def _as_target(self, values: dict[Name, fmpq], c: int) -> fmpq:
        """What a target has to pay for in its own constraint: its multiplier less its share."""
        return values["multiplier", c, 0] - values.get(
            ("share", self.guess.shared[c], self.target[c]), fmpq(0)
        )

    def _mass(self, values: dict[Name, fmpq], keys: set[int]) -> fmpq:
        """M_S of an entry."""
        rivals = [
            values[kind, g, j]
            for kind, g, j in values
            if kind == "share" and j in keys and self.target[self.groups[g][0]] != j
        ]
        own = [
            self._as_target(values, c) for c, a in enumerate(self.target) if a in keys
        ]
        return sum(rivals + own, fmpq(0))

    def _guesses(self) -> dict[Name, fmpq]:
        return {name: fmpq(amount.guess, FINE) for name, amount in self.amounts.items()}

    def _add_scaled(self) -> None:
        stand, guesses = self.guess.stand, self._guesses()
        if stand is None:
            return
        for j in sorted(
            {j for kind, _, j in guesses if kind == "share" and self._ranged(j)}
        ):
            if (mass := _whole(self._as_rival(guesses, j))) > 0:
                self.amounts["scaled", j, 0] = self._between(
                    j, mass, stand.scales[j], 1
                )
        for c, a in enumerate(self.target):
            if self._ranged(a) and (mass := _whole(self._as_target(guesses, c))) > 0:
                self.amounts["own", c, 0] = self._between(
                    a, mass, stand.own_scales[a], -1
                )

    def _between(
        self, key: int, mass: int, scale: float, sign: int
    ) -> CancellationTerm:
        low, high = self.question.entries[self.entry_of[key]].ends
        exact = min(max(Fraction(scale), low), high)
        room = float(min(exact - low, high - exact)) * (mass / FINE)
        return CancellationTerm(
            math.floor(exact * mass), room, (0, key, Fraction(sign))
        )

    def _add_moves(self) -> None:
        guesses = self._guesses()
        for e, keys in self._moving_entries():
            mass = _whole(self._mass(guesses, keys))
            entry, move = self.question.entries[e], self.guess.stand.moves[e]  # type: ignore[union-attr]
            room = max(0.0, 1 - float(np.linalg.norm(move))) * (mass / FINE)
            for k in range(entry.width):
                column = [Fraction(x) for x in entry.factor[:, k].tolist()]
                self.amounts["move", e, k] = CancellationTerm(
                    math.floor(Fraction(float(move[k])) * mass), room, vector=column
                )

    def _add_pushes(self) -> None:
        """Directions in which random keys can be pushed: what is left over there is pushed away in the end."""
        present = {j for kind, _, j in self.amounts if kind == "share"} | set(
            self.target
        )
        for e, entry in enumerate(self.question.entries):
            keys = present & set(entry.keys.tolist())
            if entry.random and keys:
                for k in range(entry.width):
                    column = [Fraction(x) for x in entry.factor[:, k].tolist()]
                    self.amounts["push", e, k] = CancellationTerm(
                        0, FREE, vector=column
                    )
                for j in sorted(keys) if entry.stretch else ():
                    self.amounts["push", -1 - j, 0] = CancellationTerm(
                        0, FREE, (0, j, Fraction(1))
                    )

    # The equations

    def corrected(self) -> dict[Name, fmpq] | None:
        """The amounts that meet all equations exactly; None if there are none near by."""
        right = [-x for x in self._sums_at_guess()]
        right[-1] += 1
        names = self._most_room()
        columns = [self._column(self.amounts[name]) for name in names]
        correction = solve_exactly(columns, right)
        if correction is None:
            return None
        values = {
            name: fmpq(amount.guess, FINE) for name, amount in self.amounts.items()
        }
        for name, change in zip(names, correction, strict=True):
            values[name] += change
        return values

    def _most_room(self) -> list[Name]:
        """The amounts to correct, in the order in which they are to be used: those with room, far from parallel."""
        from scipy.linalg import qr

        roomy = sorted(
            (name for name, amount in self.amounts.items() if amount.room > 0),
            key=lambda name: -self.amounts[name].room,
        )
        kinds = {name[0] for name in roomy}
        names = [
            name
            for kind in kinds
            for name in [one for one in roomy if one[0] == kind][:MOST]
        ]
        size = max(float(np.abs(keys).max()) for keys in self.question.keys) or 1.0
        rows = self.d + len(self.groups) + 1
        weighted = np.zeros((rows, len(names)))
        for j, name in enumerate(names):
            amount = self.amounts[name]
            if amount.place is not None:
                w, key, factor = amount.place
                weighted[: self.d, j] = (
                    self.question.keys[w][key] / size * float(factor)
                )
            elif amount.vector:
                weighted[: self.d, j] = [float(x) / size for x in amount.vector]
            for number, x in amount.sums.items():
                weighted[self.d + number, j] = x
            weighted[:, j] *= amount.room
        order = qr(weighted, mode="r", pivoting=True)[1]
        return [names[j] for j in order[: 3 * rows]]

    def _column(self, amount: CancellationTerm) -> list[fmpq]:
        if amount.place is not None:
            w, j, factor = amount.place
            keys = self.exact[w]
            place = [_fmpq(factor) * fmpq(x, 2**keys.bits) for x in keys.row(j)]
        else:
            place = [_fmpq(x) for x in amount.vector] or [fmpq(0)] * self.d
        sums = [fmpq(0)] * (len(self.groups) + 1)
        for number, x in amount.sums.items():
            sums[number] += x
        return place + sums

    def _sums_at_guess(self) -> list[fmpq]:
        """The left sides of all equations at the guesses, in whole numbers until the end."""
        total = [fmpq(0)] * (self.d + len(self.groups) + 1)
        for w, keys in enumerate(self.exact):
            mine = [
                (a.guess, *a.place)
                for a in self.amounts.values()
                if a.place is not None and a.place[0] == w
            ]
            below = math.lcm(*(factor.denominator for *_, factor in mine))
            factors = [guess * int(factor * below) for guess, _, _, factor in mine]
            rows = [keys.row(j) for _, _, j, _ in mine]
            for i, column in enumerate(zip(*rows, strict=True)):
                total[i] += fmpq(
                    sum(map(mul, factors, column)), FINE * below * 2**keys.bits
                )
        for amount in self.amounts.values():
            for i, x in enumerate(amount.vector):
                total[i] += fmpq(amount.guess, FINE) * _fmpq(x)
            for number, sign in amount.sums.items():
                total[self.d + number] += fmpq(amount.guess * sign, FINE)
        return total

    def admissible(self, values: dict[Name, fmpq]) -> bool:
        """The corrected amounts still keep within their ranges."""
        for (kind, first, _), value in values.items():
            if kind in ("share", "multiplier") and value < 0:
                return False
            if kind in ("scaled", "own"):
                key = first if kind == "scaled" else self.target[first]
                mass = (
                    self._as_rival(values, key)
                    if kind == "scaled"
                    else self._as_target(values, first)
                )
                low, high = self.question.entries[self.entry_of[key]].ends
                if not _fmpq(low) * mass <= value <= _fmpq(high) * mass:
                    return False
        for e, keys in self._moving_entries():
            used = sum(
                (
                    values["move", e, k] ** 2
                    for k in range(self.question.entries[e].width)
                ),
                fmpq(0),
            )
            if used > self._mass(values, keys) ** 2:
                return False
        return True

    # The evidence

    def bound(self, values: dict[Name, fmpq]) -> BoundEvidence:
        """The amounts as the checker takes them."""
        tables: list[dict[int, Fraction]] = [{} for _ in self.groups]
        for (kind, g, j), value in values.items():
            if kind == "share" and value != 0:
                tables[g][j] = _fraction(value)
        constraints = tuple(
            Constraint(
                w,
                a,
                _fraction(values["multiplier", c, 0]),
                tables[self.guess.shared[c]],
            )
            for c, (w, a) in enumerate(self.guess.constraints)
        )
        # A key without mass may stand anywhere: nothing has to be said of its scale.
        rivals = {
            j: self._as_rival(values, j) for kind, j, _ in values if kind == "scaled"
        }
        targets = {
            c: self._as_target(values, c) for kind, c, _ in values if kind == "own"
        }
        scales = {
            j: _fraction(values["scaled", j, 0] / mass)
            for j, mass in rivals.items()
            if mass != 0
        }
        own = {
            self.target[c]: _fraction(values["own", c, 0] / mass)
            for c, mass in targets.items()
            if mass != 0
        }
        moves: list[list[Fraction]] = [[] for _ in self.question.entries]
        for e, entry in enumerate(self.question.entries):
            if entry.width and not entry.random:
                moves[e] = [Fraction(0)] * entry.width
        for e, keys in self._moving_entries():
            if (mass := self._mass(values, keys)) != 0:
                moves[e] = [
                    _fraction(values["move", e, k] / mass)
                    for k in range(self.question.entries[e].width)
                ]
        zero, pushes = np.zeros(self.d), self._pushes(values)
        if pushes is None:
            return BoundEvidence(
                (PartEvidence(zero, constraints, None, moves),),
                None,
                self.guess.deviations,
                scales,
                own,
            )
        parts = tuple(
            PartEvidence(zero, (c,), None, moves, push)
            for c, push in zip(constraints, pushes, strict=True)
        )
        return BoundEvidence(parts, None, self.guess.deviations, scales, own)

    def _pushes(self, values: dict[Name, fmpq]) -> list[list[Fraction]] | None:
        """The guessed pushes, corrected alike so that sum_c lambda_c C_c p_c = -V; None if nothing is random."""
        if self.guess.pushes is None:
            return None
        left = [
            fmpq(0)
        ] * self.d  # V without the pushes is what the directions of pushing made up for
        for name in values:
            if name[0] == "push":
                column = self._column(self.amounts[name])
                left = [
                    x - values[name] * y for x, y in zip(left, column, strict=False)
                ]
        total = fmpq_mat(self.d, self.d)
        pushes = [[Fraction(x) for x in push.tolist()] for push in self.guess.pushes]
        for c, push in enumerate(pushes):
            C = self._covariance(values, c)
            total += C
            moved = C * fmpq_mat(self.d, 1, [_fmpq(x) for x in push])
            left = [x + moved[i, 0] for i, x in enumerate(left)]
        correction = solve_exactly(total.transpose().tolist(), [-x for x in left])
        if correction is not None:
            for push in pushes:
                for k, change in enumerate(correction):
                    push[k] += _fraction(change)
        return pushes

    def _covariance(self, values: dict[Name, fmpq], c: int) -> fmpq_mat:
        """lambda_c sum_j w_j^2 (t^2 mu_j mu_j^T + E E^T), w_j = pi^c_j - [j = a]."""
        lam, group, weights = (
            values["multiplier", c, 0],
            self.guess.shared[c],
            {self.target[c]: fmpq(-1)},
        )
        for (kind, g, j), value in values.items():
            if kind == "share" and g == group and lam != 0:
                weights[j] = weights.get(j, fmpq(0)) + value / lam
        total = fmpq_mat(self.d, self.d)
        for entry in self.question.entries:
            if entry.random:
                mine = {j: weights[j] for j in entry.keys.tolist() if j in weights}
                squares = sum((x * x for x in mine.values()), fmpq(0))
                if entry.width:
                    E = fmpq_mat(
                        self.d,
                        entry.width,
                        [_fmpq(Fraction(x)) for x in entry.factor.ravel().tolist()],
                    )
                    total += squares * (E * E.transpose())
                for j, x in mine.items() if entry.stretch else ():
                    keys = self.exact[0]
                    place = fmpq_mat(
                        self.d, 1, [fmpq(y, 2**keys.bits) for y in keys.row(j)]
                    )
                    total += (
                        x
                        * x
                        * _fmpq(Fraction(entry.stretch)) ** 2
                        * (place * place.transpose())
                    )
        return lam * total


def _keys(matrix: Float[np.ndarray, "n d"]) -> KeyMatrix:
    n, d = matrix.shape
    content = np.ascontiguousarray(matrix, "<f8").tobytes()
    return KeyMatrix.of_numbers(memoryview(content).cast("d"), n, d)


def _whole(x: fmpq) -> int:
    """A multiple of 1 / FINE, counted."""
    return int((x * FINE).p)


def _fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
