"""One part of a bound in one scenario: its constraints c, combined by multipliers lambda_c that sum to 1.

    right = sum_c lambda_c (H(pi^c) + ln p_c),      w^c_j = pi^c_j - [j = a],      W_j = sum_c lambda_c w^c_j

A distribution that is written out makes everything but the logarithms exact. Otherwise pi_j = e_j / Z with
0 <= e_j <= exp(x_j), x_j the score at the part's query q' plus a lift, so that H(pi) >= ln Z - sum_j pi_j x_j. Targets
are computed in Arb and the other keys in floats, all of them relative to one target: at the optimum nearly all weight
is on the targets, and what is left must not get lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, fmpq

from headwright.certificates.exact.certificate import (
    BoundConstraint,
    BoundPart,
    KeyStatement,
    LengthBound,
)
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import Vector
from headwright.certificates.exact.words import six_digits
from headwright.certificates.floating.distractors import KeyPlaces, KeySums, key_sums
from headwright.certificates.floating.exact_numbers import (
    NONE,
    Number,
    add_multiple,
    ball,
    combination,
    dot,
    rational,
    rounded,
    sums_of_others,
    vector,
)
from headwright.certificates.floating.score_bounds import KeySpreads, ScoreView
from headwright.numerics.balls import ImprecisionError

Shares = Mapping[int, Number]


@dataclass(frozen=True, eq=False)
class PartSums:
    """What the constraints of a part come to in one scenario; with exact distributions all but `right` is exact."""

    V: list[Number]
    right: arb
    masses: list[Number]  # by entry of the uncertainty: sum_c lambda_c sum_j |w^c_j|
    squares: list[Number]  # and, where it is random: sum_j W_j^2
    pulled: list[Number]  # sum_j W_j^2 stretch^2 <k_j, push> k_j
    used: Number  # sum_j W_j^2 stretch^2 <k_j, push>^2

    def plus(self, other: PartSums) -> PartSums:
        """Two scenarios together, or the keys one by one and all others."""
        return PartSums(
            V=_added(self.V, other.V),
            right=self.right + other.right,
            masses=_added(self.masses, other.masses),
            squares=_added(self.squares, other.squares),
            pulled=_added(self.pulled, other.pulled),
            used=self.used + other.used,
        )


@dataclass(frozen=True)
class KeyTerm:
    """One key in a distribution: its place less the centre, its score there, and at most exp(score - top)."""

    place: list[arb]
    score: arb
    e: arb


class PartOfBound:
    """One part of a bound: whether it is admissible, and what it comes to in each scenario."""

    def __init__(
        self,
        statement: KeyStatement,
        uncertainty: KeySpreads,
        bound: LengthBound,
        part: BoundPart,
    ) -> None:
        """Refuse what the uncertainty does not allow. Any queries are evidence: they become doubles first."""
        self.statement = statement
        self.uncertainty = uncertainty
        self.bound = bound
        # Keys that are random in length are looked at through the push, too, unless their shares are written out.
        by_scores = part.constraints[0].distribution is None
        stretched = any(
            spread.random and spread.stretch for spread in uncertainty.spreads
        )
        self.pushed_query: Vector | None = None
        if part.push is not None and by_scores and stretched:
            self.pushed_query = rounded(part.push)
            part = replace(part, push=self.pushed_query)
        self.part = replace(part, query=rounded(part.query))
        self.several_heads = statement.heads > 1
        several_constraints = len(part.constraints) > 1
        # All is said about one and the same realization: every key stands at one place.
        self.one_place = self.several_heads or (
            uncertainty.chance and several_constraints
        )
        self.multipliers = sum((c.multiplier for c in part.constraints), Fraction(0))
        if self.multipliers == 0:
            raise Reject("no constraint has a positive multiplier")
        self._check_places()
        for constraint in part.constraints:
            self._check_distribution(constraint)

    @property
    def scenarios(self) -> set[int]:
        """The scenarios that this part is about."""
        return {c.scenario for c in self.part.constraints if c.multiplier > 0}

    @property
    def queries(self) -> list[Vector]:
        """The queries that it looks at the keys through: its own, and the push where keys are random in length."""
        if self.pushed_query is None:
            return [self.part.query]
        return [self.part.query, self.pushed_query]

    def _check_places(self) -> None:
        """Refuse keys where they may not be."""
        bound = self.bound
        for scales in (bound.scales, bound.own_scales):
            for key, scale in scales.items():
                spread = self.uncertainty.spread(key)
                if not spread.low <= scale <= spread.high:
                    raise Reject(
                        f"the bound scales key {key} by {six_digits(scale)}, which its uncertainty does not allow"
                    )
        for move in self.part.moves:
            if sum(x * x for x in move) > 1:
                raise Reject(
                    "the bound moves keys further than their uncertainty allows"
                )
        if self.one_place and (bound.own_scales or any(map(any, self.part.moves))):
            raise Reject("the bound is about more than one realization")
        if self.several_heads:
            for target in bound.among or ():
                if self.uncertainty.spread(target).random:
                    raise Reject(
                        "with several heads the bound is about keys that are not random"
                    )

    def _check_distribution(self, constraint: BoundConstraint) -> None:
        """Refuse a distribution without mass, or with shares of keys that are left out."""
        if constraint.distribution is None:
            return
        if not any(constraint.distribution.values()):
            raise Reject("a distribution has no mass")
        if not self.several_heads:
            return
        other_targets = set(self.bound.among or ()) - {constraint.target}
        for key, share in constraint.distribution.items():
            if share and (key in other_targets or self.uncertainty.spread(key).random):
                raise Reject(
                    "with several heads neither random keys nor other targets have a share"
                )

    def _least(self, target: int) -> Fraction:
        """p_c: the least weight that a constraint is about."""
        targets = self.statement.targets
        among = self.bound.among
        if not among:
            return targets[target]
        together = sum((targets[a] for a in among), Fraction(0))
        below = together + len(among) * (1 - together)
        if below <= 0:
            raise Reject("the least weights are above 1 together: no bound says more")
        return together / below

    def sums(
        self, number: int, view: ScoreView, push: ScoreView | None = None
    ) -> PartSums:
        """What the constraints come to in one scenario, through the part's query; and the push, where one is needed."""
        places = KeyPlaces(
            view, self.bound.scales, self.bound.own_scales, self.one_place
        )
        constraints = []
        for constraint in self.part.constraints:
            if constraint.scenario == number and constraint.multiplier > 0:
                constraints.append(constraint)
        if constraints[0].distribution is not None:
            return self._sums_by_tables(places, constraints)
        has_scores = any(self.part.query) or any(self.part.lifts)
        if self.statement.claim == "impossible" and not has_scores:
            # An even share for all, exactly: V must be 0 where nothing leaves room.
            return self._sums_by_tables(places, constraints)
        return self._sums_by_scores(places, constraints, push)

    def _table(self, constraint: BoundConstraint) -> dict[int, Fraction]:
        """The shares that are written out, or an even share for all that have one."""
        shares = {}
        if constraint.distribution is not None:
            for key, share in constraint.distribution.items():
                if share:
                    shares[key] = share
            return shares
        absent = self._absent() - {constraint.target}
        for key in range(self.statement.keys[0].n):
            if key not in absent:
                shares[key] = Fraction(1)
        return shares

    def _sums_by_tables(
        self, places: KeyPlaces, constraints: Sequence[BoundConstraint]
    ) -> PartSums:
        """With distributions that are written out."""
        rivals: dict[int, fmpq] = {}
        targets: dict[int, fmpq] = {}
        right = arb(0)
        for constraint in constraints:
            target = constraint.target
            table = self._table(constraint)
            mass = rational(sum(table.values(), Fraction(0)))
            multiplier = rational(constraint.multiplier / self.multipliers)
            entropy = arb(0)
            for key, share in table.items():
                pi = rational(share) / mass
                entropy -= arb(pi) * arb(pi).log()
                if key != target:
                    rivals[key] = rivals.get(key, NONE) + multiplier * pi
            own_share = rational(table.get(target, Fraction(0))) / mass
            targets[target] = multiplier * (own_share - 1)
            right += multiplier * (entropy + ball(self._least(target)).log())
        # V = sum_j w_j c_j k_j
        factors: dict[int, fmpq] = {}
        for key, weight in rivals.items():
            factors[key] = weight * rational(places.of_rival(key))
        for key, weight in targets.items():
            own_factor = weight * rational(places.of_target(key))
            factors[key] = factors.get(key, NONE) + own_factor
        V = combination(places.view.keys, factors)
        return self._sums_one_by_one(places.view, V, right, rivals, targets)

    def _sums_one_by_one(
        self,
        view: ScoreView,
        V: Sequence[Number],
        right: arb,
        rivals: Shares,
        targets: Shares,
    ) -> PartSums:
        """Masses, squares and pulls of keys whose weights are known one by one: as rivals, and as targets below 0."""
        masses: list[Number] = [NONE] * len(self.uncertainty.spreads)
        squares: list[Number] = [NONE] * len(self.uncertainty.spreads)
        pulled: list[Number] = [NONE] * len(V)
        used: Number = NONE
        for key in {**rivals, **targets}:
            entry = self.uncertainty.entry(key)
            spread = self.uncertainty.spread(key)
            as_rival = rivals.get(key, NONE)
            as_target = targets.get(key, NONE)
            masses[entry] += as_rival - as_target
            if not spread.random:
                continue
            weight = as_rival + as_target
            square = weight * weight
            squares[entry] += square
            if spread.stretch and self.part.push:
                row = combination(view.keys, {key: fmpq(1)})
                along = dot(row, map(rational, self.part.push))
                factor = square * rational(spread.stretch**2) * along
                pulled = add_multiple(pulled, factor, row)
                used += factor * along
        return PartSums(list(V), right, masses, squares, pulled, used)

    def _sums_by_scores(
        self,
        places: KeyPlaces,
        constraints: Sequence[BoundConstraint],
        push: ScoreView | None,
    ) -> PartSums:
        """With distributions in proportion to exp of the scores at the part's query."""
        view = places.view
        targets = [constraint.target for constraint in constraints]
        absent = self._absent()
        # Which keys are looked at one by one, in Arb: the targets, or on a close look all.
        if view.closely:
            everybody = range(len(view.keys))
            apart = [key for key in everybody if key not in absent]
            others = key_sums(places, self.part.lifts, everybody, push)
        else:
            apart = [target for target in targets if target not in absent]
            hidden = absent | set(targets)
            others = key_sums(places, self.part.lifts, hidden, push)
        as_rivals: dict[int, KeyTerm] = {}
        for key in apart:
            scale = places.of_rival(key)
            as_rivals[key] = self._term(view, key, scale, self._lift(key), others.top)
        as_targets: dict[int, KeyTerm] = {}
        for key in targets:
            scale = places.of_target(key)
            as_targets[key] = self._term(view, key, scale, -self._lift(key), others.top)

        # The energy of a set of keys is sum_j e_j x_j, and its mass sum_j e_j: of the keys that floats
        # have added up, and of those apart.
        others_energy = view.scale * dot(view.q, others.moment)
        for lift, mass in zip(self.part.lifts, others.masses[1:], strict=True):
            others_energy += ball(lift) * mass
        apart_mass = sum((term.e for term in as_rivals.values()), arb(0))
        apart_energy = sum((t.score * t.e for t in as_rivals.values()), arb(0))

        right = arb(0)
        unit_weights: dict[int, arb] = {}  # lambda_c / Z_c
        target_weights: dict[int, Number] = {}
        nothing = KeyTerm([], arb(0), arb(0))
        for constraint in constraints:
            target = constraint.target
            own = as_targets[target]
            as_rival = as_rivals.get(target, nothing)
            # In its own constraint the target stands at its own scale, instead of as a rival.
            rivals_mass = others.mass + (apart_mass - as_rival.e)
            Z = rivals_mass + own.e
            if not bool(Z > 0):
                raise ImprecisionError("a distribution has no mass")
            rivals_energy = apart_energy - as_rival.score * as_rival.e
            energy = others_energy + rivals_energy + own.score * own.e
            # H(pi) >= ln Z - sum_j pi_j x_j, e_j = Z pi_j being at most exp(x_j - top).
            entropy = Z.log() + others.top - energy / Z
            multiplier = ball(constraint.multiplier / self.multipliers)
            right += multiplier * (entropy + ball(self._least(target)).log())
            unit_weights[target] = multiplier / Z
            # lambda_c (pi^c_a - 1), without a difference of numbers near to 1
            target_weights[target] = -multiplier * rivals_mass / Z

        # A target is a rival in the other constraints; with one constraint that is exactly 0.
        weights = list(unit_weights.values())
        in_others = dict(zip(targets, sums_of_others(weights), strict=True))
        everywhere = sum(weights, arb(0))
        rival_weights: dict[int, Number] = {}
        for key, term in as_rivals.items():
            rival_weights[key] = term.e * in_others.get(key, everywhere)

        # V = sum_c lambda_c / Z_c (sum_j e_j k_j), and each key that is apart with its own weight.
        V: list[Number] = [everywhere * x for x in others.moment]
        for key, term in as_rivals.items():
            V = add_multiple(V, rival_weights[key], term.place)
        for key, term in as_targets.items():
            V = add_multiple(V, target_weights[key], term.place)
        one_by_one = self._sums_one_by_one(
            view, V, right, rival_weights, target_weights
        )
        return one_by_one.plus(_sums_of_others(others, everywhere))

    def _term(
        self, view: ScoreView, key: int, scale: Fraction, lift: arb, top: arb
    ) -> KeyTerm:
        """A key at a scale, with what is added to its score."""
        factor = ball(scale)
        pairs = zip(vector(view.keys[key]), view.centre, strict=True)
        place = [factor * k - c for k, c in pairs]
        score = view.scale * dot(place, view.q) + lift
        e = (score - top).exp().lower()
        return KeyTerm(place, score, e if bool(e > 0) else arb(0))

    def _absent(self) -> set[int]:
        """The keys that are no rivals: with several heads those in `among`, and the random ones."""
        if not self.several_heads:
            return set()
        random = self.uncertainty.random(self.statement.keys[0].n).tolist()
        return {*random, *(self.bound.among or ())}

    def _lift(self, key: int) -> arb:
        entry = self.uncertainty.entry(key)
        return ball(self.part.lifts[entry - 1]) if entry else arb(0)


def _sums_of_others(sums: KeySums, factor: arb) -> PartSums:
    """What the sums over keys add, but for V: their shares are these numbers, times a factor."""
    square = factor * factor
    zeros: list[Number] = [NONE] * len(sums.moment)
    return PartSums(
        V=zeros,
        right=arb(0),
        masses=[factor * x for x in sums.masses],
        squares=[square * x for x in sums.squares],
        pulled=[square * x for x in sums.pulled] or zeros,
        used=square * sums.used,
    )


def _added(x: Sequence[Number], y: Sequence[Number]) -> list[Number]:
    return [a + b for a, b in zip(x, y, strict=True)]
