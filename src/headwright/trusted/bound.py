"""No shorter query grants the wish, or none at all: docs/certificate.md states what is checked here, and proves it.

For multipliers lambda_c >= 0 with sum 1 over constraints (targets in scenarios) and any distributions pi^c over keys in
admissible places, every query q that grants the wish has

    s <V, q> <= -right,   V = sum_c lambda_c (sum_j pi^c_j k_j - k_c),   right = sum_c lambda_c (H(pi^c) + ln p_c),

because logsumexp_j(x_j) >= sum_j pi_j x_j + H(pi); so |s| |V| |q| >= right. With pi_j = e_j / Z and e_j <= exp(x_j),
H(pi) >= ln Z - sum_j pi_j x_j.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import Bound, Constraint, Part, Spread, Statement
from headwright.trusted.keys import Keys, Reject
from headwright.trusted.numbers import POINT, exp_fixed, ln_below, normal_tail, sqrt_between
from headwright.trusted.passes import Job, Sums
from headwright.trusted.words import shown
from headwright.trusted.world import NONE, ONE, Scene, Sight, dot

FINE = 256  # multipliers are cut to so many binary digits, so that fractions stay short: any multipliers make a proof
Table = dict[int, Fraction]


class Pull:
    """What a part of the bound makes of the keys: V, the right side, and how far V may be moved; all times `whole`."""

    def __init__(self, statement: Statement, bound: Bound, part: Part) -> None:
        """Nothing yet."""
        self.statement, self.bound, self.part, self.lifts = statement, bound, part, (*part.lifts, NONE)
        several = len(part.constraints) > 1 and any(spread.random for spread in statement.world)
        self.one_world = bound.among is not None or several
        self.whole, self.right, self.V = NONE, NONE, [NONE] * statement.keys[0].d
        self.masses: Table = defaultdict(Fraction)  # by entry of the world, sum |w|; and sum w^2 of random keys
        self.squares: Table = defaultdict(Fraction)
        self.along, self.pushed = NONE, [NONE] * len(self.V)  # sum w^2 t^2 <k, p>^2, and sum w^2 t^2 <k, p> k
        if self.one_world and (bound.own_scales or any(map(any, part.moves))):
            raise Reject("where the bound is about one world, no target has a scale of its own and no key is moved")

    def least(self, target: int) -> Fraction:
        """What a target gets at least: with several heads, of the head that gives most to those in `among`."""
        if self.bound.among is None:
            return self.statement.wish[target]
        total, m = sum((self.statement.wish[a] for a in self.bound.among), NONE), len(self.bound.among)
        if total + m * (1 - total) <= 0:
            raise Reject("the least weights add up to more than the bound can use")
        return total / (total + m * (1 - total))

    def allow(self, scene: Scene, key: int, target: int) -> bool:
        """Whether a key may have a share: with several heads if it is certain, and the target or not in `among`."""
        among = self.bound.among
        return among is None or (not scene.spread(key).random and (key == target or key not in among))

    def ends(self, spread: Spread) -> tuple[Fraction, Fraction]:
        """The scale of a rival whose score is not above 0, and of one whose score is."""
        near = min(max(ONE, spread.low), spread.high)
        return (near, near) if self.one_world else (spread.low, spread.high)

    def standing(self, sight: Sight, key: int, own: bool) -> tuple[int, Fraction]:
        """The score and the scale of a key, as a rival or in its own constraint."""
        place = sight.dot(sight.scene.row(key))
        usual = self.ends(sight.scene.spread(key))[(place * sight.factor > 0) != own]
        scale = (self.bound.own_scales if own and not self.one_world else self.bound.scales).get(key, usual)
        return sight.score(place, scale), scale

    def factor(self, scene: Scene, entry: int, sign: int) -> int:
        """By which an entry's lift multiplies the shares of its keys, times 2^bits, from below."""
        lift = self.lifts[entry] * sign
        if self.bound.among is not None and scene.spreads[entry].random:
            return 0
        return exp_fixed(math.floor(lift * 2**POINT), scene.bits)[0] if lift else 1 << scene.bits

    def explicit(self, scene: Scene, constraints: list[Constraint]) -> None:
        """Add constraints of one scenario, with distributions that are written out."""
        rivals: Table = defaultdict(Fraction)
        owns: Table = defaultdict(Fraction)
        for c in constraints:
            shares = {key: x for key, x in (c.distribution or {}).items() if x}
            if not shares or not all(self.allow(scene, key, c.target) for key in (*shares, c.target)):
                raise Reject("a distribution has no mass, or gives some to a key that has no part in it")
            mass = sum(shares.values(), NONE)
            entropy = sum((x * ln_below(mass / x) for x in shares.values()), NONE) / mass
            self.whole += c.multiplier
            self.right += c.multiplier * (entropy + ln_below(self.least(c.target)))
            owns[c.target] += c.multiplier * (1 - shares.pop(c.target, NONE) / mass)
            for key, x in shares.items():
                rivals[key] += c.multiplier * x / mass
        self.settle(Sight(scene, self.part.query), rivals, owns)

    def job(self, scene: Scene, constraints: list[Constraint]) -> Job:
        """What is to be added up over the keys, where distributions are those of the scores at the part's query."""
        sight, push = Sight(scene, self.part.query), self.part.push or ()
        below = math.lcm(*(x.denominator for x in push), *(spread.stretch.denominator for spread in scene.spreads))
        top = max(self.standing(sight, c.target, own=True)[0] for c in constraints)
        ends = [tuple(int(end * scene.fine) for end in self.ends(spread)) for spread in scene.spreads]
        scales = {key: int(scale * scene.fine) for key, scale in self.bound.scales.items()}
        lifts = tuple(self.factor(scene, entry, 1) for entry in range(len(scene.spreads)))
        stretches = tuple(int((spread.stretch * below) ** 2) for spread in scene.spreads)
        return Job(sight, top, ends, scales, lifts, tuple(int(x * below) for x in push), stretches, below)

    def share(self, job: Job, key: int, own: bool) -> tuple[int, Fraction]:
        """e and x of a target, e <= 2^bits exp(x): x is its score above the job's top, and lifted."""
        scene, sign, (score, _) = job.sight.scene, -1 if own else 1, self.standing(job.sight, key, own)
        e = job.exponential(score)[0] * self.factor(scene, scene.entry(key), sign) >> scene.bits
        return e, Fraction(score - job.top, job.sight.unit) + self.lifts[scene.entry(key)] * sign

    def implicit(self, job: Job, sums: Sums, constraints: list[Constraint]) -> None:
        """Add constraints of one scenario, with distributions by the scores."""
        sight, scene, (first, *_) = job.sight, job.sight.scene, constraints
        targets = [key for key in self.statement.wish if self.allow(scene, key, first.target)]
        rival = {key: self.share(job, key, own=False) for key in {first.target, *targets}}
        own = {c.target: self.share(job, c.target, own=True) for c in constraints}
        shares = [sums["shares", entry, 0] for entry in range(len(self.lifts))]
        centre = [sums["centre", j, 0] for j in range(len(self.V))]
        everything, fine = sum(shares) + sum(e for e, _ in rival.values()), 2 ** (FINE + 2 * scene.bits)
        Z = {a: everything - rival[a][0] + e for a, (e, _) in own.items()}
        if not all(Z.values()) or first.target not in targets:
            raise Reject("a distribution has no mass, or gives some to a key that has no part in it")
        # lambda_c / Z_c, cut: pi^c_j lambda_c is then e_j times this
        cut = {c.target: Fraction(math.floor(c.multiplier * fine / Z[c.target]), fine) for c in constraints}
        total = sum(cut.values(), NONE)
        rivals = {key: e * (total - cut.get(key, NONE)) for key, (e, _) in rival.items()}
        for a in cut:
            self.whole += cut[a] * Z[a]
            self.right += cut[a] * Z[a] * (ln_below(Fraction(Z[a], 2**scene.bits)) + ln_below(self.least(a)))
        self.right -= sum((cut[a] * e * x for a, (e, x) in own.items()), NONE)
        self.right -= sum((rivals[key] * x for key, (_, x) in rival.items()), NONE)
        level = Fraction(sight.dot(centre) * sight.factor - job.top * sum(shares), sight.unit)
        self.right -= total * (level + dot(self.lifts, map(Fraction, shares)))
        self.settle(sight, rivals, {a: cut[a] * (Z[a] - e) for a, (e, _) in own.items()})
        self.V = _plus(self.V, centre, total / (scene.fine << scene.keys.bits))
        for entry, mass in enumerate(shares):
            self.masses[entry] += total * mass
            self.squares[entry] += total**2 * sums["squares", entry, 0]
        unit = job.below**3 << 2 * scene.keys.bits
        self.along += total**2 * Fraction(sums["along", 0, 0], unit * job.below)
        self.pushed = _plus(self.pushed, [sums["pushed", j, 0] for j in range(len(self.V))], total**2 / unit)

    def settle(self, sight: Sight, rivals: Table, owns: Table) -> None:
        """Add keys one by one: each has the weight w = rival - own, at its place as a rival and at its own."""
        scene, push, factors, pushes = sight.scene, self.part.push or (), {}, {}
        for key in {**rivals, **owns}:
            rival, own, entry = rivals.get(key, NONE), owns.get(key, NONE), scene.entry(key)
            factors[key] = rival * self.standing(sight, key, False)[1] - own * self.standing(sight, key, True)[1]
            self.masses[entry] += rival + own
            if (spread := scene.spreads[entry]).random:
                along, square = dot(map(Fraction, scene.row(key)), push) / 2**scene.keys.bits, (rival - own) ** 2
                pushes[key] = square * spread.stretch**2 * along
                self.squares[entry] += square
                self.along += pushes[key] * along
        self.V = _plus(self.V, _mixture(scene.keys, factors), ONE)
        self.pushed = _plus(self.pushed, _mixture(scene.keys, pushes), ONE)

    def total(self) -> tuple[list[Fraction], Fraction]:
        """V, and how far it may still be moved; Reject if keys are moved further than they may be."""
        statement, bound, push, whole = self.statement, self.bound, self.part.push or (), self.whole
        if whole == 0:
            raise Reject("no constraint has a positive multiplier")
        if any(self.squares.values()) and normal_tail(bound.deviations)[0] < 1 - statement.confidence:
            raise Reject("the bound's deviations are more than the confidence allows")
        V = [v + p / whole for v, p in zip(self.V, self.pushed, strict=True)]
        room, rounds, left = NONE, NONE, bound.deviations**2 - self.along / whole**2
        for entry, (spread, move) in enumerate(zip(statement.world, self.part.moves, strict=True)):
            u, size = move, self.masses[entry]
            if spread.random:
                u, size = tuple(dot(column, push) for column in spread.factor), self.squares[entry] / whole
                left -= size / whole * dot(u, u)
                rounds += size * spread.ball**2 * whole
            elif dot(u, u) > 1:
                raise Reject("a key is moved out of its ellipsoid")
            elif not self.one_world:
                room += size * spread.ball
            for x, column in zip(u, spread.factor, strict=True):
                V = _plus(V, column, x * size)
        if left < 0:
            raise Reject("random keys are pushed further than the bound's deviations")
        return V, room + sqrt_between(left * rounds)[0]


def check(statement: Statement, pulls: list[Pull]) -> None:
    """Reject, unless these parts together prove that no query is shorter than is said, or none grants the wish."""
    totals, right = [pull.total() for pull in pulls], sum((pull.right for pull in pulls), NONE)
    V, room = [sum(column, NONE) for column in zip(*(v for v, _ in totals), strict=True)], sum(x for _, x in totals)
    if right <= 0:
        raise Reject("the entropy is not certain to exceed what the wish leaves open")
    if statement.claim == "impossible":
        if dot(V, V) > room**2:
            raise Reject("the keys do not cancel exactly")
    elif dot(V, V) > (room + right / (statement.none_shorter * abs(statement.scale))) ** 2:
        raise Reject(f"it is not certain that no query is shorter than {shown(statement.none_shorter)}")


def _plus(x: Iterable[Fraction], y: Iterable[Fraction | int], factor: Fraction) -> list[Fraction]:
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def _mixture(keys: Keys, factors: Table) -> list[Fraction]:
    """sum_j x_j k_j, exactly: whole numbers for each denominator, fractions only at the end."""
    total = [NONE] * keys.d
    for below in {x.denominator for x in factors.values()}:
        chosen = {key: x.numerator for key, x in factors.items() if x.denominator == below}
        columns = zip(*(keys.whole(key, key + 1) for key in chosen), strict=True)
        sums = [sum(map(mul, column, chosen.values())) for column in columns]
        total = _plus(total, sums, Fraction(1, below << keys.bits))
    return total
