"""Make distributions that nearly cancel cancel exactly: the last step of a proof that there is no query.

All that V is made of enters it linearly, once it is written as amounts: the multipliers lambda_c, the shares X_cj =
lambda_c pi^c_j, for a key of uncertain scale the amount G_j = c_j sum_c X_cj that stands at it (and O_c = own_c
(lambda_c - X_ca) for a target in its own constraint), for an entry with a factor E the amounts U = M_S u. Floating
point finds them up to rounding, with a little room in every inequality; then a few of them, those with the most room,
are corrected by exact rationals, so that V is 0 and not nearly 0. Random keys are pushed in the end, exactly too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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

# Guesses are whole numbers of 1 / FINE: rounding them is free, since they are corrected anyway.
FINE = 2**160
MOST = 1000  # amounts of a kind that are considered for correction
FREE = 1e6  # the room of an amount that nothing limits, next to shares of a whole
ZERO = fmpq(0)
# What an amount is: 'share', 'multiplier', 'scaled', 'own', 'move' or 'push'; and of what.
Name = tuple[str, int, int]
Values = dict[Name, fmpq]


@dataclass(frozen=True, eq=False)
class Guess:
    """What floating point found: constraints with multipliers and distributions, and where the keys stand."""

    constraints: tuple[tuple[int, int], ...]  # scenario and target
    multipliers: Float[np.ndarray, " c"]
    shared: tuple[int, ...]  # the distribution of each constraint; several may share it
    pi: tuple[Float[np.ndarray, " n"], ...]
    stand: WorstPlaces | None = None  # None: keys are certain
    deviations: Fraction = Fraction(0)
    # How random keys are pushed, in each constraint.
    pushes: Float[np.ndarray, "c d"] | None = None


def cancelled(question: DesignQuestion, guess: Guess) -> BoundEvidence | None:
    """The evidence with V = 0 exactly; None where that takes a larger correction than there is room for."""
    system = _System(question, guess)
    values = system.corrected()
    if values is None or not system.are_admissible(values):
        return None
    return system.evidence(values)


@dataclass(frozen=True)
class KeyPlace:
    """A key of a scenario, times a factor."""

    scenario: int
    key: int
    factor: Fraction


@dataclass
class CancellationTerm:
    """An unknown of the sums that should cancel, and where it stands in them."""

    guess: int  # in units of 1 / FINE
    room: float
    place: KeyPlace | None = None  # it stands at this key
    vector: list[Fraction] = field(default_factory=list)  # or at this vector
    # Its part in the equations that are no coordinates.
    sums: dict[int, int] = field(default_factory=dict)


class _System:
    """The amounts, and the equations that they meet: V = 0, shares sum to multipliers, multipliers sum to 1."""

    def __init__(self, question: DesignQuestion, guess: Guess) -> None:
        self.question = question
        self.guess = guess
        self.d = int(question.keys[0].shape[1])
        self.entry_of: dict[int, int] = {}
        for number, entry in enumerate(question.entries):
            self.entry_of.update(dict.fromkeys(entry.keys.tolist(), number))
        self.exact_keys = [_exact_keys(keys) for keys in question.keys]
        self.targets = [target for _, target in guess.constraints]
        # The constraints that share each distribution: a group.
        self.groups: list[list[int]] = [[] for _ in guess.pi]
        for constraint, group in enumerate(guess.shared):
            self.groups[group].append(constraint)
        self.amounts: dict[Name, CancellationTerm] = {}
        self._add_multipliers()
        self._add_shares()
        self._add_scaled()
        self._add_moves()
        self._add_pushes()

    # What stands where

    def _ends(self, key: int) -> tuple[Fraction, Fraction]:
        """The lowest and the highest scale of a key that an entry of the uncertainty names."""
        return self.question.entries[self.entry_of[key]].ends

    def _is_ranged(self, key: int) -> bool:
        """Its scale is not fixed, so that the amount that stands at it is an unknown of its own."""
        if self.guess.stand is None or key not in self.entry_of:
            return False
        low, high = self._ends(key)
        return low < high

    def _place(self, scenario: int, key: int, sign: int) -> KeyPlace | None:
        """Where a share stands; None where 'scaled' or 'own' stands there in its stead."""
        if self._is_ranged(key):
            return None
        scale = Fraction(1)
        if key in self.entry_of:
            scale = self._ends(key)[0]
        return KeyPlace(scenario, key, sign * scale)

    def _moving_entries(self) -> Iterator[tuple[int, set[int]]]:
        """The entries whose keys are moved by E u, and these keys."""
        for number, entry in enumerate(self.question.entries):
            if self.guess.stand is not None and entry.width and not entry.random:
                yield number, set(entry.keys.tolist())

    # The unknowns

    def _add_multipliers(self) -> None:
        for c, (scenario, target) in enumerate(self.guess.constraints):
            number = round(float(self.guess.multipliers[c]) * FINE)
            self.amounts["multiplier", c, 0] = CancellationTerm(
                guess=number,
                room=number / FINE,
                place=self._place(scenario, target, -1),
                # It is taken off the shares of its group, and all multipliers sum to 1.
                sums={self.guess.shared[c]: -1, len(self.groups): 1},
            )

    def _add_shares(self) -> None:
        for g, members in enumerate(self.groups):
            scenario = self.guess.constraints[members[0]][0]
            pi = self.guess.pi[g]
            mass = float(sum(self.guess.multipliers[c] for c in members))
            for key in np.flatnonzero(pi).tolist():
                number = round(float(pi[key]) * mass * FINE)
                self.amounts["share", g, key] = CancellationTerm(
                    guess=number,
                    room=number / FINE,
                    place=self._place(scenario, key, 1),
                    sums={g: 1},
                )

    def _mass_as_rival(self, values: Values, key: int) -> fmpq:
        """The shares of a key where it is not the target."""
        mass = ZERO
        for g, members in enumerate(self.groups):
            if self.targets[members[0]] != key:
                mass += values.get(("share", g, key), ZERO)
        return mass

    def _mass_as_target(self, values: Values, c: int) -> fmpq:
        """What a target has to pay for in its own constraint: its multiplier less its share."""
        own_share = values.get(("share", self.guess.shared[c], self.targets[c]), ZERO)
        return values["multiplier", c, 0] - own_share

    def _mass_of_entry(self, values: Values, keys: set[int]) -> fmpq:
        """M_S of an entry with these keys."""
        mass = ZERO
        for (kind, g, key), value in values.items():
            is_rival = kind == "share" and self.targets[self.groups[g][0]] != key
            if is_rival and key in keys:
                mass += value
        for c, target in enumerate(self.targets):
            if target in keys:
                mass += self._mass_as_target(values, c)
        return mass

    def _guesses(self) -> Values:
        return {name: fmpq(amount.guess, FINE) for name, amount in self.amounts.items()}

    def _add_scaled(self) -> None:
        """What stands at keys of uncertain scale, as rivals and as targets in their own constraints."""
        stand = self.guess.stand
        if stand is None:
            return
        guesses = self._guesses()
        with_share = {key for kind, _, key in guesses if kind == "share"}
        for key in sorted(filter(self._is_ranged, with_share)):
            mass = _in_units(self._mass_as_rival(guesses, key))
            if mass > 0:
                amount = self._scaled_amount(key, mass, stand.scales[key], 1)
                self.amounts["scaled", key, 0] = amount
        for c, target in enumerate(self.targets):
            mass = _in_units(self._mass_as_target(guesses, c))
            if self._is_ranged(target) and mass > 0:
                scale = stand.own_scales[target]
                amount = self._scaled_amount(target, mass, scale, -1)
                self.amounts["own", c, 0] = amount

    def _scaled_amount(
        self, key: int, mass: int, scale: float, sign: int
    ) -> CancellationTerm:
        """A mass at a scale, with room as far as the nearer end of the key's scales."""
        low, high = self._ends(key)
        nearest = min(max(Fraction(scale), low), high)
        room = float(min(nearest - low, high - nearest)) * (mass / FINE)
        place = KeyPlace(0, key, Fraction(sign))
        return CancellationTerm(math.floor(nearest * mass), room, place)

    def _add_moves(self) -> None:
        """U = M_S u, a number for each column of a factor, with room as far as |u| = 1."""
        stand = self.guess.stand
        if stand is None:
            return
        guesses = self._guesses()
        for number, keys in self._moving_entries():
            move = stand.moves[number]
            mass = _in_units(self._mass_of_entry(guesses, keys))
            room = max(0.0, 1 - float(np.linalg.norm(move))) * (mass / FINE)
            for k, column in enumerate(self._columns(number)):
                guess = math.floor(Fraction(float(move[k])) * mass)
                amount = CancellationTerm(guess, room, vector=column)
                self.amounts["move", number, k] = amount

    def _columns(self, number: int) -> list[list[Fraction]]:
        """The columns of the factor of an entry, exactly."""
        factor = self.question.entries[number].factor
        return [[Fraction(x) for x in column] for column in factor.T.tolist()]

    def _add_pushes(self) -> None:
        """Directions in which random keys can be pushed: what is left over there is pushed away in the end."""
        with_weight = {key for kind, _, key in self.amounts if kind == "share"}
        with_weight |= set(self.targets)
        for number, entry in enumerate(self.question.entries):
            keys = with_weight & set(entry.keys.tolist())
            if not entry.random or not keys:
                continue
            for k, column in enumerate(self._columns(number)):
                amount = CancellationTerm(0, FREE, vector=column)
                self.amounts["push", number, k] = amount
            if entry.stretch:
                for key in sorted(keys):
                    place = KeyPlace(0, key, Fraction(1))
                    self.amounts["push", -1 - key, 0] = CancellationTerm(0, FREE, place)

    # The equations: d coordinates of V, one for each group, and one for all multipliers

    def corrected(self) -> Values | None:
        """The amounts that meet all equations exactly; None if there are none near by."""
        right = [-x for x in self._sums_at_guess()]
        right[-1] += 1
        names = self._most_room()
        columns = [self._column(self.amounts[name]) for name in names]
        correction = solve_exactly(columns, right)
        if correction is None:
            return None
        values = self._guesses()
        for name, change in zip(names, correction, strict=True):
            values[name] += change
        return values

    def _most_room(self) -> list[Name]:
        """The amounts to correct, in the order in which they are to be used: those with room, far from parallel."""
        from scipy.linalg import qr

        # Columns of the equations, each times the room of its amount: with pivoting, QR takes first what can
        # change the left sides most, and then what is farthest from a combination of those before.
        names = self._roomiest_of_each_kind()
        size = max(float(np.abs(keys).max()) for keys in self.question.keys) or 1.0
        rows = self.d + len(self.groups) + 1
        weighted = np.zeros((rows, len(names)))
        for j, name in enumerate(names):
            amount = self.amounts[name]
            if amount.place is not None:
                key = self.question.keys[amount.place.scenario][amount.place.key]
                weighted[: self.d, j] = key / size * float(amount.place.factor)
            elif amount.vector:
                weighted[: self.d, j] = [float(x) / size for x in amount.vector]
            for number, x in amount.sums.items():
                weighted[self.d + number, j] = x
            weighted[:, j] *= amount.room
        order = qr(weighted, mode="r", pivoting=True)[1]
        return [names[j] for j in order[: 3 * rows]]

    def _roomiest_of_each_kind(self) -> list[Name]:
        """At most so many amounts of a kind, those with the most room first."""
        by_kind: dict[str, list[Name]] = {}
        with_room = [name for name, amount in self.amounts.items() if amount.room > 0]
        for name in sorted(with_room, key=lambda name: -self.amounts[name].room):
            by_kind.setdefault(name[0], []).append(name)
        names: list[Name] = []
        for of_kind in by_kind.values():
            names += of_kind[:MOST]
        return names

    def _column(self, amount: CancellationTerm) -> list[fmpq]:
        """What one unit of an amount adds to the left sides of all equations."""
        coordinates = [ZERO] * self.d
        if amount.place is not None:
            keys = self.exact_keys[amount.place.scenario]
            factor = _fmpq(amount.place.factor)
            row = keys.row(amount.place.key)
            coordinates = [factor * fmpq(x, 2**keys.bits) for x in row]
        elif amount.vector:
            coordinates = [_fmpq(x) for x in amount.vector]
        sums = [ZERO] * (len(self.groups) + 1)
        for number, x in amount.sums.items():
            sums[number] += x
        return coordinates + sums

    def _sums_at_guess(self) -> list[fmpq]:
        """The left sides of all equations at the guesses."""
        total = [ZERO] * (self.d + len(self.groups) + 1)
        for scenario in range(len(self.exact_keys)):
            for i, x in enumerate(self._sum_of_keys(scenario)):
                total[i] += x
        for amount in self.amounts.values():
            for i, coordinate in enumerate(amount.vector):
                total[i] += fmpq(amount.guess, FINE) * _fmpq(coordinate)
            for number, sign in amount.sums.items():
                total[self.d + number] += fmpq(amount.guess * sign, FINE)
        return total

    def _sum_of_keys(self, scenario: int) -> list[fmpq]:
        """The amounts that stand at keys of a scenario, times these: in whole numbers until the end."""
        keys = self.exact_keys[scenario]
        guesses = []
        places = []
        for amount in self.amounts.values():
            if amount.place is not None and amount.place.scenario == scenario:
                guesses.append(amount.guess)
                places.append(amount.place)
        denominator = math.lcm(*(place.factor.denominator for place in places))
        factors = []
        for guess, place in zip(guesses, places, strict=True):
            factors.append(guess * int(place.factor * denominator))
        rows = [keys.row(place.key) for place in places]
        unit = FINE * denominator * 2**keys.bits
        sums = []
        for column in zip(*rows, strict=True):
            sums.append(fmpq(sum(map(mul, factors, column)), unit))
        return sums

    def are_admissible(self, values: Values) -> bool:
        """The corrected amounts still keep within their ranges."""
        for (kind, first, _), value in values.items():
            if kind in ("share", "multiplier") and value < 0:
                return False
            if kind == "scaled":
                mass = self._mass_as_rival(values, first)
                if not self._is_within_scales(first, value, mass):
                    return False
            if kind == "own":
                mass = self._mass_as_target(values, first)
                if not self._is_within_scales(self.targets[first], value, mass):
                    return False
        for number, keys in self._moving_entries():
            square = ZERO
            for k in range(self.question.entries[number].width):
                square += values["move", number, k] ** 2
            if square > self._mass_of_entry(values, keys) ** 2:
                return False
        return True

    def _is_within_scales(self, key: int, value: fmpq, mass: fmpq) -> bool:
        low, high = self._ends(key)
        return bool(_fmpq(low) * mass <= value <= _fmpq(high) * mass)

    # The evidence

    def evidence(self, values: Values) -> BoundEvidence:
        """The amounts as the checker takes them."""
        tables: list[dict[int, Fraction]] = [{} for _ in self.groups]
        for (kind, g, key), value in values.items():
            if kind == "share" and value != 0:
                tables[g][key] = _fraction(value)
        constraints = []
        for c, (scenario, target) in enumerate(self.guess.constraints):
            multiplier = _fraction(values["multiplier", c, 0])
            table = tables[self.guess.shared[c]]
            constraints.append(Constraint(scenario, target, multiplier, table))
        # A key without mass may stand anywhere: nothing has to be said of its scale.
        scales = {}
        own_scales = {}
        for (kind, first, _), value in values.items():
            if kind == "scaled":
                mass = self._mass_as_rival(values, first)
                if mass != 0:
                    scales[first] = _fraction(value / mass)
            if kind == "own":
                mass = self._mass_as_target(values, first)
                if mass != 0:
                    own_scales[self.targets[first]] = _fraction(value / mass)
        moves = self._moves(values)
        pushes = self._pushes(values)
        zero = np.zeros(self.d)
        if pushes is None:
            parts = [PartEvidence(zero, tuple(constraints), None, moves)]
        else:
            parts = []
            for constraint, push in zip(constraints, pushes, strict=True):
                parts.append(PartEvidence(zero, (constraint,), None, moves, push))
        return BoundEvidence(
            tuple(parts), None, self.guess.deviations, scales, own_scales
        )

    def _moves(self, values: Values) -> list[list[Fraction]]:
        """u of each entry of the uncertainty: U / M_S, or 0 where nothing has a weight."""
        moves: list[list[Fraction]] = []
        for entry in self.question.entries:
            length = 0 if entry.random else entry.width
            moves.append([Fraction(0)] * length)
        for number, keys in self._moving_entries():
            mass = self._mass_of_entry(values, keys)
            if mass != 0:
                for k in range(len(moves[number])):
                    moves[number][k] = _fraction(values["move", number, k] / mass)
        return moves

    def _pushes(self, values: Values) -> list[list[Fraction]] | None:
        """The guessed pushes, corrected alike so that sum_c lambda_c C_c p_c = -V; None if nothing is random."""
        if self.guess.pushes is None:
            return None
        # V without the pushes is what the directions of pushing made up for.
        left = [ZERO] * self.d
        for name, value in values.items():
            if name[0] == "push":
                column = self._column(self.amounts[name])[: self.d]
                left = [x - value * y for x, y in zip(left, column, strict=True)]
        total = fmpq_mat(self.d, self.d)
        pushes = [[Fraction(x) for x in push.tolist()] for push in self.guess.pushes]
        for c, push in enumerate(pushes):
            C = self._covariance(values, c)
            total += C
            pushed = C * _column_matrix(map(_fmpq, push))
            left = [x + pushed[i, 0] for i, x in enumerate(left)]
        # C p summed over c is to change by -left: one change of all pushes alike.
        correction = solve_exactly(total.transpose().tolist(), [-x for x in left])
        if correction is not None:
            for push in pushes:
                for k, change in enumerate(correction):
                    push[k] += _fraction(change)
        return pushes

    def _covariance(self, values: Values, c: int) -> fmpq_mat:
        """lambda_c sum_j w_j^2 (t^2 mu_j mu_j^T + E E^T), w_j = pi^c_j - [j = a]."""
        multiplier = values["multiplier", c, 0]
        weights = {self.targets[c]: fmpq(-1)}
        for (kind, g, key), value in values.items():
            if kind == "share" and g == self.guess.shared[c] and multiplier != 0:
                weights[key] = weights.get(key, ZERO) + value / multiplier
        total = fmpq_mat(self.d, self.d)
        for number, entry in enumerate(self.question.entries):
            if not entry.random:
                continue
            keys = [key for key in entry.keys.tolist() if key in weights]
            if entry.width:
                squares = sum((weights[key] ** 2 for key in keys), ZERO)
                for column in self._columns(number):
                    E_k = _column_matrix(map(_fmpq, column))
                    total += squares * (E_k * E_k.transpose())
            if entry.stretch:
                stretch = _fmpq(Fraction(entry.stretch))
                for key in keys:
                    place = self._exact_place(key)
                    square = (weights[key] * stretch) ** 2
                    total += square * (place * place.transpose())
        return multiplier * total

    def _exact_place(self, key: int) -> fmpq_mat:
        """mu_j as a column: random keys have one scenario."""
        keys = self.exact_keys[0]
        return _column_matrix(fmpq(x, 2**keys.bits) for x in keys.row(key))


def _column_matrix(numbers: Iterable[fmpq]) -> fmpq_mat:
    entries = list(numbers)
    return fmpq_mat(len(entries), 1, entries)


def _exact_keys(matrix: Float[np.ndarray, "n d"]) -> KeyMatrix:
    n, d = matrix.shape
    content = np.ascontiguousarray(matrix, "<f8").tobytes()
    return KeyMatrix.of_numbers(memoryview(content).cast("d"), n, d)


def _in_units(x: fmpq) -> int:
    """A multiple of 1 / FINE, counted."""
    return int((x * FINE).p)


def _fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
