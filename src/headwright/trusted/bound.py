"""No shorter query grants the wish, or none at all: proved in docs/reference/certificate.md.

A query q that grants the wish has logsumexp_j s <k_j - k_a, q> <= -ln p_a for every target a and
wherever the keys k may be. For every distribution pi, logsumexp_j(x_j) >= sum_j pi_j x_j + H(pi).
So for multipliers lambda_c >= 0 of constraints c (targets in scenarios) and distributions pi^c,

    s <V, q> <= -right,  V = sum_c lambda_c (sum_j pi^c_j k_j - k_c),
                         right = sum_c lambda_c (H(pi^c) + ln p_c),

and |s| |V| |q| >= right. Keys may be moved within their worlds so that V becomes shorter; random
ones as far as the confidence allows, jointly.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import Bound, Constraint, Part, Statement, common_denominator
from headwright.trusted.keys import Keys, Reject, affordable
from headwright.trusted.numbers import exp_between, ln_below, normal_tail, sqrt_between
from headwright.trusted.scores import NONE, ONE, Scores, dot, world_of
from headwright.trusted.words import shown

BITS = 448  # binary digits after the point, of shares: fewer make bounds weaker, never wrong
NO_SHARE = "a distribution has no mass, or gives some to a key that has no part in it"
Whole = dict[int, int]  # a whole number for each key
Weights = tuple[Whole, Whole, int]  # as rivals and in own constraints, and what they are divided by


def check_bound(s: Statement, bound: Bound, keys: Sequence[Keys]) -> None:
    """Reject, unless no query shorter than is said grants the wish, or none at all.

    One head: the inequalities of all parts hold for its query, and so does their sum. Several
    heads: one of the parts holds for one of the heads, so that each part must prove the claim.
    Queries that are claimed to grant it, all of them shorter, would contradict the claim.
    """
    sides, longest = [], max((dot(q, q) for q in s.queries), default=s.none_shorter**2)
    for part in bound.parts:
        inequality = Inequality(s, bound, part)
        used = [c for c in part.constraints if c.multiplier]
        for number in sorted({c.scenario for c in used}):
            inequality.add(keys[number], [c for c in used if c.scenario == number])
        sides.append(inequality.sides())
    for together in [sides] if s.heads == 1 else [[side] for side in sides]:
        V = [sum(column, NONE) for column in zip(*(V for V, _, _ in together), strict=True)]
        room, right = sum(x for _, x, _ in together), sum(x for _, _, x in together)
        if right <= 0:
            raise Reject("the entropy is not certain to exceed what the wish leaves open")
        reach = room + right / (s.none_shorter * abs(s.scale)) if s.none_shorter else room
        if dot(V, V) > reach**2 or s.none_shorter**2 > longest:
            doubt = f"it is not certain that no query is shorter than {shown(s.none_shorter)}"
            raise Reject(doubt if s.none_shorter else "the keys do not cancel exactly")


class Inequality:
    """What one part proves of every query q that grants the wish: s <V, q> <= -right."""

    def __init__(self, statement: Statement, bound: Bound, part: Part) -> None:
        """Where keys stand. If the part is about one world, each key has one scale, near 1.

        With several heads, one of them gives some target of `among`, of P in all, the weight
        P / (P + |among| (1 - P)) among the keys outside; random keys are left out as well.
        """
        self.statement, self.bound, self.part = statement, bound, part
        self.spreads, self.entries = world_of(statement)
        several = len(part.constraints) > 1 and any(spread.random for spread in statement.world)
        self.one_world = bound.among is not None or several
        if self.one_world and (bound.own_scales or any(map(any, part.moves))):
            raise Reject("a bound about one world has scales of targets of their own, or moves")
        for key, scale in (*bound.scales.items(), *bound.own_scales.items()):
            spread = self.spreads[self.entries[key]]
            if not spread.low <= scale <= spread.high:
                raise Reject(f"the world does not allow to scale key {key} by {shown(scale)}")
        self.least, among = statement.wish, bound.among or ()
        if among:
            P = sum((statement.wish[a] for a in among), NONE)
            self.least = dict.fromkeys(among, P / (P + len(among) * (1 - P)))
        random = {j for j, entry in enumerate(self.entries) if self.spreads[entry].random}
        self.outside = {*among, *random} if among else set()  # these are no rivals
        if random & set(among):
            raise Reject(NO_SHARE)
        ends = [(spread.low, spread.high) for spread in self.spreads]
        if self.one_world:
            ends = [(min(max(ONE, low), high),) * 2 for low, high in ends]
        tables = (bound.scales, bound.scales if self.one_world else bound.own_scales)
        named = [scale for table in tables for scale in table.values()]
        self.fine = common_denominator((*(c for pair in ends for c in pair), *named, *part.lifts))
        self.ends = [(int(low * self.fine), int(high * self.fine)) for low, high in ends]
        self.scales = [{key: int(c * self.fine) for key, c in table.items()} for table in tables]
        self.lifts = [int(lift * self.fine) for lift in (*part.lifts, NONE)]
        self.total = self.right = self.along = NONE
        self.V = self.pushed = [NONE] * statement.keys[0].d
        self.masses = self.squares = [NONE] * len(ends)  # see `collect`

    def add(self, keys: Keys, constraints: list[Constraint]) -> None:
        """Add lambda_c times the inequality of each of these constraints, all in one scenario."""
        scores = Scores(self.statement.scale, keys, self.part.query, self.fine)
        written = constraints[0].distribution is not None
        weights = self.written_out(constraints) if written else self.by_scores(scores, constraints)
        self.collect(scores, *weights)

    def enter(self, c: Constraint, multiplier: Fraction, entropy: Fraction) -> None:
        """Add lambda_c (H(pi^c) + ln p_c) to the right side, for H(pi^c) >= entropy."""
        self.total += multiplier
        self.right += multiplier * (entropy + ln_below(self.least[c.target]))

    def written_out(self, constraints: list[Constraint]) -> Weights:
        """lambda_c pi^c_j as a rival and lambda_c (1 - pi^c_c) as a target, times a whole number.

        H(pi) = sum_j pi_j ln(1 / pi_j), each logarithm from below.
        """
        rivals: dict[int, Fraction] = defaultdict(Fraction)
        owns: dict[int, Fraction] = {}
        for c in constraints:
            shares = {key: x for key, x in (c.distribution or {}).items() if x}
            mass = sum(shares.values(), NONE)
            if not shares or self.outside & shares.keys() - {c.target}:
                raise Reject(NO_SHARE)
            entropy = sum((x * ln_below(mass / x) for x in shares.values()), NONE) / mass
            self.enter(c, c.multiplier, entropy)
            owns[c.target] = c.multiplier * (1 - shares.pop(c.target, NONE) / mass)
            for key, x in shares.items():
                rivals[key] += c.multiplier * x / mass
        below = common_denominator((*rivals.values(), *owns.values()))
        whole = [{key: int(x * below) for key, x in table.items()} for table in (rivals, owns)]
        return whole[0], whole[1], below

    def by_scores(self, scores: Scores, constraints: list[Constraint]) -> Weights:
        """The same for pi^c_j = e_j / Z_c, e_j <= 2^BITS exp(x_j), where x_j are scores and lifts.

        H(pi^c) = sum_j pi_j (ln Z_c - ln e_j) >= ln(Z_c / 2^BITS) - sum_j e_j x_j / Z_c. Any e_j
        and any multipliers make a proof: lambda_c / Z_c is cut to a multiple of 1 / below.
        """
        top = max(self.exponent(scores, c.target, True) for c in constraints)

        def share(key: int, own: bool) -> tuple[int, int]:
            x = self.exponent(scores, key, own) - top
            return exp_between(x, scores.unit, BITS)[0], x

        shares = {j: share(j, False) for j in range(scores.keys.n) if j not in self.outside}
        everything = sum(e for e, _ in shares.values())
        level = sum(e * x for e, x in shares.values())
        most = max((everything + (1 << BITS)) / c.multiplier for c in constraints)
        below = 1 << 128 + int(most).bit_length()
        affordable(below.bit_length() * scores.keys.n)
        cut, owns = {}, {}
        for c in constraints:
            (e, x), (e_rival, x_rival) = share(c.target, True), shares.get(c.target, (0, 0))
            Z, energy = everything - e_rival + e, level - e_rival * x_rival + e * x
            cut[c.target] = int(c.multiplier * below / Z)
            owns[c.target] = cut[c.target] * (Z - e)
            entropy = ln_below(Fraction(Z, 1 << BITS)) - Fraction(energy, scores.unit * Z)
            self.enter(c, Fraction(cut[c.target] * Z, below), entropy)
        total = sum(cut.values())
        rivals = {j: e * (total - cut.get(j, 0)) for j, (e, _) in shares.items() if e}
        return rivals, owns, below

    def exponent(self, scores: Scores, key: int, own: bool) -> int:
        """x_j: the score of a key at its scale plus its lift, or of a target less it; in units."""
        place = scores.place(scores.keys.row(key))
        lift = self.lifts[self.entries[key]] * (scores.unit // self.fine)
        return place * self.scale(key, place, own) + (-lift if own else lift)

    def scale(self, key: int, place: int, own: bool) -> int:
        """A key's scale times `fine`: unless one is named, it raises a rival, lowers a target."""
        low, high = self.ends[self.entries[key]]
        return self.scales[own].get(key, high if (place > 0) != own else low)

    def collect(self, scores: Scores, rivals: Whole, owns: Whole, below: int) -> None:
        """Add sum_j w_j k_j to V, where w_j = rival - own, each at its scale; and sums of |w|.

        For random keys also the sums of w^2, of w^2 t^2 <k, push>^2 and of w^2 t^2 <k, push> k.
        Where there are several scenarios there is no world, so that these matter for one only.
        """
        keys, spreads, d, size = scores.keys, self.spreads, scores.keys.d, len(self.spreads)
        push = self.part.push or (NONE,) * d
        finer = common_denominator((*push, *(spread.stretch for spread in spreads)))
        whole_push = [int(x * finer) for x in push]
        stretches = [int(spread.stretch * finer) for spread in spreads]
        ranges = any(low < high for low, high in self.ends)
        V, pushed, masses, squares, along = [0] * d, [0] * d, [0] * size, [0] * size, 0
        for key in {**rivals, **owns}:
            row, entry = keys.row(key), self.entries[key]
            rival, own = rivals.get(key, 0), owns.get(key, 0)
            place = scores.place(row) if ranges else 0  # only scales depend on it
            w = rival * self.scale(key, place, False) - (own and own * self.scale(key, place, True))
            V = [v + w * x for v, x in zip(V, row, strict=True)]
            masses[entry] += rival + own
            if spreads[entry].random:
                square, t = (rival - own) ** 2, stretches[entry]
                squares[entry] += square
                y = t * sum(map(mul, row, whole_push))
                along += square * y * y
                pushed = [v + square * t * y * x for v, x in zip(pushed, row, strict=True)]
        self.V = _plus(self.V, V, Fraction(1, below * self.fine << keys.bits))
        self.masses = [Fraction(mass, below) for mass in masses]
        self.squares = [Fraction(square, below**2) for square in squares]
        self.along = Fraction(along, below**2 * finer**4 << 2 * keys.bits)
        self.pushed = [Fraction(x, below**2 * finer**3 << 2 * keys.bits) for x in pushed]

    def sides(self) -> tuple[list[Fraction], Fraction, Fraction]:
        """V, room and right: s <V, q> + |s| |q| room <= -right. Reject if keys are moved too far.

        Keys of an ellipsoid are moved by E u, |u| <= 1; those of a ball of radius r shorten V by
        r |w|. Random keys, whose deviations are jointly at most z, are pushed by
        w (t^2 k k^T + E E^T) push, and what is left of z^2 is room in every direction.
        """
        push, total, z = self.part.push or (), self.total, self.bound.deviations
        if total == 0:
            raise Reject("no constraint has a positive multiplier")
        if any(self.squares) and normal_tail(z)[0] < 1 - self.statement.confidence:
            raise Reject("the bound's deviations are more than the confidence allows")
        V = _plus(self.V, self.pushed, 1 / total)
        room, rounds, left = NONE, NONE, z**2 - self.along / total**2
        for entry, u in enumerate(self.part.moves):
            spread, size = self.spreads[entry], self.masses[entry]
            if spread.random:
                u = tuple(dot(column, push) for column in spread.factor)
                size = self.squares[entry] / total
                left -= size / total * dot(u, u)
                rounds += size * total * spread.ball**2
            elif dot(u, u) > 1:
                raise Reject("a key is moved out of its ellipsoid")
            elif not self.one_world:
                room += size * spread.ball
            for x, column in zip(u, spread.factor, strict=True):
                V = _plus(V, column, x * size)
        if left < 0:
            raise Reject("random keys are pushed further than the bound's deviations")
        return V, room + sqrt_between(left * rounds)[0], self.right


def _plus(x: Iterable[Fraction], y: Iterable[Fraction | int], factor: Fraction) -> list[Fraction]:
    return [a + factor * b for a, b in zip(x, y, strict=True)]
