"""No shorter query meets the targets, or none at all: proved in docs/reference/certificate.md.

A query q that meets them has logsumexp_j s <k_j - k_a, q> <= -ln p_a for every target a and
wherever the keys k may be. For every distribution pi, logsumexp_j(x_j) >= sum_j pi_j x_j + H(pi)
(Gibbs' inequality). So for multipliers lambda_c >= 0 of constraints c (targets in scenarios) and
distributions pi^c,

    s <V, q> <= -right,  V = sum_c lambda_c (sum_j pi^c_j k_j - k_c),
                         right = sum_c lambda_c (H(pi^c) + ln p_c),

and |s| |V| |q| >= right by Cauchy-Schwarz. Where keys are uncertain they may be moved so that V
becomes shorter; random ones as far as the confidence allows, jointly.

V and what keys are moved by are exact. Multipliers are not divided by their sum, `total`: an
inequality is `total` times that of the page.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from headwright.certificates.exact.certificate import (
    BoundConstraint,
    BoundPart,
    KeyStatement,
    LengthBound,
    Spread,
)
from headwright.certificates.exact.keys import KeyMatrix, Reject
from headwright.certificates.exact.numbers import normal_tail, sqrt_between
from headwright.certificates.exact.scores import ONE, ZERO, Scores, dot
from headwright.certificates.exact.values import Vector, common_denominator
from headwright.certificates.exact.weights import KeyWeights, PartSetting, weigh_keys
from headwright.certificates.exact.words import six_digits


@dataclass(frozen=True)
class QueryInequality:
    """s <V, q> + |s| |q| room <= -right for every query q that meets the targets."""

    V: Vector
    room: Fraction
    right: Fraction


def check_bound(
    statement: KeyStatement, bound: LengthBound, scenarios: Sequence[KeyMatrix]
) -> None:
    """Reject, unless no query shorter than is said meets the targets, or none at all.

    One head: the inequalities of all parts hold for its query, and so does their sum. Several
    heads: one of the parts holds for one of the heads, so that each part must prove the claim.
    """
    inequalities = []
    deviations_checked = False
    for part in bound.parts:
        sums = _sums_of_part(statement, bound, part, scenarios)
        if sums.uses_random_keys() and not deviations_checked:
            _check_deviations(statement, bound)
            deviations_checked = True
        inequalities.append(sums.inequality())
    # All parts are about the one query, or each about one of several that nobody knows.
    if statement.heads == 1:
        inequalities = [_added_up(inequalities)]
    for inequality in inequalities:
        _check_inequality(statement, inequality)


def _sums_of_part(
    statement: KeyStatement,
    bound: LengthBound,
    part: BoundPart,
    scenarios: Sequence[KeyMatrix],
) -> "ConstraintSums":
    """All constraints of a part, scenario by scenario; those times 0 say nothing."""
    by_scenario: dict[int, list[BoundConstraint]] = defaultdict(list)
    for constraint in part.constraints:
        if constraint.multiplier:
            by_scenario[constraint.scenario].append(constraint)
    sums = ConstraintSums(statement, bound, part)
    for number in sorted(by_scenario):
        sums.add(scenarios[number], by_scenario[number])
    return sums


def _check_deviations(statement: KeyStatement, bound: LengthBound) -> None:
    """Reject, unless P(N(0, 1) > z) >= 1 - confidence.

    The keys for which the targets are met have at least the confidence, so at least P(N <= z), and
    lie in a half space. It then holds all points up to z standard deviations from the mean.
    """
    if normal_tail(bound.deviations).low < 1 - statement.confidence:
        raise Reject("the bound's deviations are more than the confidence allows")


def _added_up(inequalities: Sequence[QueryInequality]) -> QueryInequality:
    """Inequalities about one query may be added."""
    total = inequalities[0]
    for inequality in inequalities[1:]:
        total = QueryInequality(
            V=_plus(total.V, inequality.V, ONE),
            room=total.room + inequality.room,
            right=total.right + inequality.right,
        )
    return total


def _check_inequality(statement: KeyStatement, inequality: QueryInequality) -> None:
    """Reject, unless |s| |q| (|V| - room) >= right > 0 leaves no query shorter than claimed."""
    room = inequality.room
    right = inequality.right
    if right <= 0:
        raise Reject("the entropy is not certain to exceed what the targets leave open")
    V_squared = dot(inequality.V, inequality.V)
    shortest = statement.none_shorter
    if shortest == 0:
        # With |V| <= room the left side is at most 0, whatever q is, and so not >= right > 0.
        # Lengths are compared by their squares: neither room nor reach is below 0.
        if V_squared > room**2:
            raise Reject("the keys do not cancel exactly")
        return
    # |q| >= right / (|s| (|V| - room)), so |q| >= L where |V| <= room + right / (|s| L).
    reach = room + right / (shortest * abs(statement.scale))
    # Queries that are claimed, all of them shorter than L, would contradict the claim.
    longest_square = max((dot(q, q) for q in statement.queries), default=shortest**2)
    if V_squared > reach**2 or shortest**2 > longest_square:
        raise Reject(
            f"it is not certain that no query is shorter than {six_digits(shortest)}"
        )


class ConstraintSums:
    """The inequalities of a part's constraints, added up: s <V, q> <= -right.

    And what is needed to move keys afterwards, so that V becomes shorter.
    """

    def __init__(
        self, statement: KeyStatement, bound: LengthBound, part: BoundPart
    ) -> None:
        """Nothing is added up yet."""
        self.setting = PartSetting(statement, bound, part)
        self.part = part
        self.deviations = bound.deviations
        zeros: Vector = (ZERO,) * statement.keys[0].d
        entries = len(self.setting.spreads)
        self.total = ZERO  # sum_c lambda_c
        self.right = ZERO
        # sum_j w_j k_j with each key at its scale, where w_j = as rival - as target
        self.V = zeros
        self.masses = [ZERO] * entries  # for each entry of the uncertainty: sum_j |w_j|
        # And of random keys, with t the stretch of their entry:
        self.squares = [ZERO] * entries  # sum_j w_j^2
        self.pushed = zeros  # sum_j w_j^2 t^2 <k_j, push> k_j
        self.used = ZERO  # sum_j w_j^2 t^2 <k_j, push>^2

    def add(self, keys: KeyMatrix, constraints: Sequence[BoundConstraint]) -> None:
        """Add lambda_c times the inequality of each of these constraints, all in one scenario."""
        scale = self.setting.statement.scale
        scores = Scores(scale, keys, self.part.query, self.setting.scales.unit)
        weights = weigh_keys(self.setting, scores, constraints)
        self.total += weights.multipliers
        self.right += weights.right
        self._add_keys(scores, weights)
        if self.setting.statement.has_random_keys():
            self._add_random_keys(keys, weights)

    def _add_keys(self, scores: Scores, weights: KeyWeights) -> None:
        """Add up V and the masses, in whole numbers that are divided at the end."""
        keys = scores.keys
        scales = self.setting.scales
        needs_scores = scales.depend_on_scores()
        V = [0] * keys.d
        masses = [0] * len(self.masses)
        for key in weights.weighted_keys():
            row = keys.row(key)
            nominal = scores.nominal(row) if needs_scores else 0
            rival = weights.as_rival.get(key, 0)
            own = weights.as_target.get(key, 0)
            # w_j times the scale: the key may stand at two places, as a rival and as a target.
            weight = rival * scales.of_rival(key, nominal)
            if own:
                weight -= own * scales.of_target(key, nominal)
            V = [v + weight * x for v, x in zip(V, row, strict=True)]
            # As a rival and as a target a key may be moved to two places: each counts.
            masses[self.setting.entry_of_key[key]] += rival + own
        # Weights, scales and keys are each over a denominator of their own.
        V_denominator = (weights.denominator * scales.unit) << keys.bits
        self.V = _plus(self.V, V, Fraction(1, V_denominator))
        for entry, mass in enumerate(masses):
            self.masses[entry] += Fraction(mass, weights.denominator)

    def _add_random_keys(self, keys: KeyMatrix, weights: KeyWeights) -> None:
        """Add up the squares, the push and how much of z^2 it uses, in whole numbers as well.

        A random key is at one place in all constraints, so that its weights are added up first. Its
        stretch is t, and `along` is t <k_j, push> in whole numbers.
        """
        spreads = self.setting.spreads
        push = self.part.push or (ZERO,) * keys.d
        stretches = [spread.stretch for spread in spreads]
        denominator = common_denominator((*push, *stretches))
        whole_push = [int(x * denominator) for x in push]
        whole_stretches = [int(stretch * denominator) for stretch in stretches]
        squares = [0] * len(spreads)
        pushed = [0] * keys.d
        used = 0
        for key in weights.weighted_keys():
            entry = self.setting.entry_of_key[key]
            if not spreads[entry].random:
                continue
            row = keys.row(key)
            weight = weights.as_rival.get(key, 0) - weights.as_target.get(key, 0)
            square = weight**2
            squares[entry] += square
            along = whole_stretches[entry] * sum(map(mul, row, whole_push))
            used += square * along**2  # w_j^2 t^2 <k_j, push>^2
            factor = square * whole_stretches[entry] * along  # w_j^2 t^2 <k_j, push>
            pushed = [p + factor * x for p, x in zip(pushed, row, strict=True)]
        # Keys are over 2^bits and come in twice, and so do weights. Stretches and push are over
        # `denominator`: both come in twice in `used`, and the push once in `pushed`.
        key_denominator = weights.denominator**2 << (2 * keys.bits)
        self.used += Fraction(used, key_denominator * denominator**4)
        pushed_denominator = key_denominator * denominator**3
        self.pushed = _plus(self.pushed, pushed, Fraction(1, pushed_denominator))
        for entry, square in enumerate(squares):
            self.squares[entry] += Fraction(square, weights.denominator**2)

    def uses_random_keys(self) -> bool:
        """V depends on a random key. Where it does not, the half space is certain."""
        return any(self.squares)

    def inequality(self) -> QueryInequality:
        """V, room and right, with keys moved; Reject if they are moved too far.

        Keys of an ellipsoid are moved by E u, |u| <= 1; those of a ball of radius r shorten V by
        r |w|. Random keys, whose deviations are jointly at most z, are pushed by
        w (t^2 k k^T + E E^T) push, and what is left of z^2 is room in every direction.
        """
        total = self.total
        if total == 0:
            raise Reject("no constraint has a positive multiplier")
        push = self.part.push or ()
        V = _plus(self.V, self.pushed, 1 / total)
        room = ZERO
        ball_squares = ZERO  # sum_j w_j^2 r_j^2 over random keys
        # What is left of z^2 after the push along each key's own direction.
        left = self.deviations**2 - self.used / total**2
        for entry, move in enumerate(self.part.moves):
            spread = self.setting.spreads[entry]
            if spread.random:
                # sum_j w_j^2 E E^T push: along each column by <column, push>.
                along = [dot(column, push) for column in spread.factor]
                left -= self.squares[entry] / total**2 * dot(along, along)
                ball_squares += self.squares[entry] * spread.ball**2
                V = _moved(V, spread, along, self.squares[entry] / total)
                continue
            if dot(move, move) > 1:
                raise Reject("a key is moved out of its ellipsoid")
            V = _moved(V, spread, move, self.masses[entry])
            if not self.setting.one_place:
                # Within a ball each key is placed so that V becomes shorter, whatever q is.
                room += self.masses[entry] * spread.ball
        if left < 0:
            raise Reject("random keys are pushed further than the bound's deviations")
        # What is left of z^2 lets random keys move by any e_j with sum_j (|e_j| / r_j)^2 <= left. By
        # Cauchy-Schwarz sum_j |w_j| |e_j| reaches sqrt(left sum_j w_j^2 r_j^2), whatever the direction
        # of q. The root is rounded down, so the bound stays a bound.
        room += sqrt_between(left * ball_squares).low
        return QueryInequality(V, room, self.right)


def _moved(
    V: Vector, spread: Spread, along: Iterable[Fraction], mass: Fraction
) -> Vector:
    """V + mass E u, u the numbers `along` the columns of E."""
    for x, column in zip(along, spread.factor, strict=True):
        V = _plus(V, column, x * mass)
    return V


def _plus(
    x: Iterable[Fraction], y: Iterable[Fraction | int], factor: Fraction
) -> Vector:
    """x + factor y."""
    return tuple(a + factor * b for a, b in zip(x, y, strict=True))
