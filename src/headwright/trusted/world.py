"""What each key may be, and the keys seen through one query: their scores are whole numbers of one unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from operator import mul

from headwright.trusted.certificate import Certificate, Guard, Spread, Statement, Vector
from headwright.trusted.keys import Keys, Reject
from headwright.trusted.numbers import sqrt_above
from headwright.trusted.words import shown

ONE, NONE = Fraction(1), Fraction(0)
CERTAIN = Spread(frozenset(), ONE, ONE, NONE, NONE, (), random=False)
MOST_BITS = 4000
Kind = tuple[int, int]  # an entry of the world; and <k, q> as a whole number, where the variance depends on it


class Scene:
    """The keys of one scenario, in the world of a statement."""

    def __init__(self, certificate: Certificate, keys: Keys) -> None:
        """Who may be what; and a number that makes all scales whole."""
        self.statement, self.keys, bound = certificate.statement, keys, certificate.bound
        self.spreads, self.certain = (*self.statement.world, CERTAIN), len(self.statement.world)
        self.named = {key: entry for entry, spread in enumerate(self.spreads) for key in spread.keys or ()}
        self.others = next((entry for entry, spread in enumerate(self.spreads) if spread.keys is None), self.certain)
        scales = [*bound.scales.items(), *bound.own_scales.items()] if bound else []
        for key, scale in scales:
            if not self.spread(key).low <= scale <= self.spread(key).high:
                raise Reject(f"the bound scales key {key} by {shown(scale)}, which its world does not allow")
        ends = [end for spread in self.spreads for end in (spread.low, spread.high)]
        self.fine = math.lcm(*(scale.denominator for scale in (*ends, *(scale for _, scale in scales))))
        # Exponentials are whole numbers of so many binary digits: 96 below the smallest that matters, which is as much
        # smaller as deviations are large. Fewer would make bounds wider, never wrong.
        slack = min((1 / p - 1 for p in self.statement.wish.values() if p < 1), default=ONE)
        self.bits = 96 + keys.n.bit_length() + max(0, slack.denominator.bit_length() - slack.numerator.bit_length())
        z = max(certificate.guard.deviations, ONE) if certificate.guard else ONE
        longest = sqrt_above(max((dot(query, query) for query in self.statement.queries), default=NONE))
        sizes = [spread.ball + sqrt_above(sum((dot(e, e) for e in spread.factor), NONE)) for spread in self.spreads]
        stretch = max(spread.stretch for spread in self.spreads)
        far = max(sizes) + (stretch * keys.d * Fraction(max(map(abs, keys.numbers))) if stretch else NONE)
        self.bits += min(math.ceil(3 * z * longest * abs(self.statement.scale) * far), MOST_BITS)

    def entry(self, key: int) -> int:
        """Which entry of the world says what this key may be."""
        return self.named.get(key, self.others)

    def spread(self, key: int) -> Spread:
        """What this key may be."""
        return self.spreads[self.entry(key)]

    def row(self, key: int) -> list[int]:
        """This key, times 2^bits of the keys."""
        return self.keys.whole(key, key + 1)


class Sight:
    """The keys of a scene, seen through one query."""

    def __init__(self, scene: Scene, query: Vector) -> None:
        """<k, q> as `dot` gives it, times `factor` and a whole scale, is a score in units of 1 / `unit`."""
        self.scene, scale, below = scene, scene.statement.scale, math.lcm(*(x.denominator for x in query))
        self.query = tuple(x.numerator * (below // x.denominator) for x in query)
        self.unit = scale.denominator * below * scene.fine << scene.keys.bits
        self.factor = scale.numerator
        square = sum((x * x for x in query), NONE)
        self.squares = [
            scale**2 * (spread.ball**2 * square + sum((dot(column, query) ** 2 for column in spread.factor), NONE))
            for spread in scene.spreads
        ]

    def dot(self, row: Sequence[int]) -> int:
        """<k, q>, as a whole number."""
        return sum(map(mul, row, self.query))

    def score(self, dot: int, scale: Fraction) -> int:
        """The score of a key that is scaled so, in units."""
        return dot * self.factor * int(scale * self.scene.fine)

    def kind(self, key: int) -> Kind:
        """Keys of a kind deviate as much as each other."""
        return self.scene.entry(key), self.dot(self.scene.row(key)) if self.scene.spread(key).stretch else 0

    def deviation(self, kind: Kind) -> tuple[Fraction, Fraction]:
        """How much such a key's score can be off its place at most, and its variance if it is random."""
        spread, square = self.scene.spreads[kind[0]], self.squares[kind[0]]
        if not spread.random:
            return sqrt_above(square), NONE
        return NONE, square + (spread.stretch * Fraction(kind[1] * self.factor * self.scene.fine, self.unit)) ** 2

    def apart(self, target: Kind, guard: Guard | None) -> Callable[[Kind], Fraction]:
        """How much nearer than at their places the scores of a rival and of a target may be, within the guard."""
        z, (off, variance) = guard.deviations if guard else NONE, self.deviation(target)
        own = z * sqrt_above(variance)

        @cache
        def of(rival: Kind) -> Fraction:
            rival_off, rival_variance = self.deviation(rival)
            if guard and guard.kind == "pairs":
                return off + rival_off + z * sqrt_above(variance + rival_variance)
            return off + rival_off + own + z * sqrt_above(rival_variance)

        return of


def ways_to_fail(statement: Statement, kind: str) -> int:
    """How many scores, or differences of two, must each keep within the deviations for one query."""
    n, wish = statement.keys[0].n, statement.wish
    named = {key: spread.random for spread in statement.world for key in spread.keys or ()}
    others = any(spread.random for spread in statement.world if spread.keys is None)
    random = sum(named.values()) + others * (n - len(named))
    targets = [named.get(target, others) for target in wish]
    if kind == "keys":
        return random + (sum(targets) if len(wish) > 1 else 0)
    return sum(random - own + (own and random < n) for own in targets)


def dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum(map(mul, x, y), NONE)
