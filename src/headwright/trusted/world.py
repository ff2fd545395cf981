"""What each key may be, seen through one query: scores from outside, and the admissible place that is worst.

Scores are whole numbers of a common unit, so that differences of them are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import Spread, Statement
from headwright.trusted.keys import Keys
from headwright.trusted.numbers import Reject, normal_tail_above, sqrt_above

ONE, NONE = Fraction(1), Fraction(0)
CERTAIN = Spread(None, ONE, ONE, NONE, NONE, (), random=False)
FINE = 2**96  # how much finer than exactness needs the unit of uncertain scores is: for roots, which are not exact
Place = list[Fraction]


@dataclass(frozen=True)
class Query:
    """A query as whole numbers: its entries times 2^bits."""

    entries: tuple[int, ...]
    bits: int

    @classmethod
    def of(cls, numbers: Sequence[Fraction]) -> Query:
        """Floats have powers of two below the line; anything else is refused."""
        below = math.lcm(*(x.denominator for x in numbers))
        if below & (below - 1):
            raise Reject("a query is not made of floats")
        return cls(tuple(int(x * below) for x in numbers), below.bit_length() - 1)

    def dot(self, vector: Sequence[Fraction]) -> Fraction:
        """<vector, q>, exactly."""
        whole: Fraction = sum((x * y for x, y in zip(vector, self.entries, strict=True)), NONE)
        return Fraction(whole, 2**self.bits)


class View:
    """The keys of one scenario, seen through one query, in the world of a statement."""

    def __init__(self, statement: Statement, keys: Keys, query: Query) -> None:
        """Fix the unit of scores, and who may be what."""
        self.statement, self.keys, self.query = statement, keys, query
        ends = [end.denominator for spread in statement.world for end in (spread.low, spread.high)]
        self.fineness = math.lcm(*ends) * FINE if statement.world else 1
        self.unit = statement.scale.denominator * 2 ** (keys.bits + query.bits) * self.fineness
        self.factor = statement.scale.numerator * self.fineness
        self.named = {key: spread for spread in statement.world for key in spread.keys or ()}
        self.others = next((spread for spread in statement.world if spread.keys is None), CERTAIN)

    def spread(self, key: int) -> Spread:
        """What this key may be."""
        return self.named.get(key, self.others)

    def radius(self, key: int) -> Fraction:
        """How far this key may be moved in any direction."""
        spread = self.spread(key)
        return spread.ball * self.statement.deviations if spread.random else spread.ball

    def score(self, row: Sequence[int]) -> int:
        """The score of a key at its given place."""
        product: int = sum(map(mul, row, self.query.entries))
        return product * self.factor

    def highest(self, key: int, score: int) -> int:
        """No score of this key is higher, for any admissible scale and deviation."""
        spread = self.spread(key)
        if spread is CERTAIN:
            return score
        return max(_times(score, spread.low), _times(score, spread.high)) + self._deviation(spread, score)

    def lowest(self, key: int, score: int) -> int:
        """No score of this key is lower."""
        spread = self.spread(key)
        return min(_times(score, spread.low), _times(score, spread.high)) - self._deviation(spread, score)

    def worst_place(self, key: int, scale: Fraction | None, sign: int) -> Place:
        """An admissible place of this key with nearly the highest (sign 1) or lowest (-1) score.

        Scaled by the given scale, or by the end that the score's sign asks for; and moved by C q / sqrt(q^T C q), which
        lies in the ellipsoid of C, or a hair less than that.
        """
        spread, row = self.spread(key), self.keys.row(key)
        place = [Fraction(x, 2**self.keys.bits) for x in row]
        score = self.score(row)
        if scale is None:
            scale = spread.high if score * sign > 0 else spread.low
        if not spread.low <= scale <= spread.high:
            raise Reject(f"the bound scales key {key} by {float(scale):g}, which its world does not allow")
        squared = self._squared_deviation(spread, score)
        place_scaled = [scale * x for x in place]
        if squared == 0:
            return place_scaled
        along = spread.stretch**2 * self.query.dot(place)
        toward = [along * x + spread.ball**2 * Fraction(y, 2**self.query.bits)
                  for x, y in zip(place, self.query.entries, strict=True)]  # fmt: skip
        for column in spread.factor:
            share = self.query.dot(column)
            toward = [x + share * y for x, y in zip(toward, column, strict=True)]
        size = (
            self.statement.scale / sqrt_above(squared) * (self.statement.deviations**2 if spread.random else 1) * sign
        )
        return [x + size * y for x, y in zip(place_scaled, toward, strict=True)]

    def _deviation(self, spread: Spread, score: int) -> int:
        squared = self._squared_deviation(spread, score)
        if squared == 0:
            return 0
        above: Fraction = sqrt_above(squared) * self.unit
        return math.ceil(above)

    def _squared_deviation(self, spread: Spread, score: int) -> Fraction:
        if not (spread.ball or spread.stretch or spread.factor):
            return NONE
        columns = sum((self.query.dot(column) ** 2 for column in spread.factor), NONE)
        of_ball = spread.ball**2 * Fraction(sum(x * x for x in self.query.entries), 4**self.query.bits)
        total = (of_ball + columns) * self.statement.scale**2
        total += spread.stretch**2 * Fraction(score, self.unit) ** 2
        return total * self.statement.deviations**2 if spread.random else total


def failure_above(statement: Statement) -> Fraction:
    """How probable it is, at most, that a random target sinks or a random rival rises beyond the deviations."""
    n, several = statement.keys[0].n, len(statement.wish) > 1
    named = {key: spread.random for spread in statement.world for key in spread.keys or ()}
    others = any(spread.random for spread in statement.world if spread.keys is None)
    random = [key for key in range(n) if named.get(key, others)]
    sides = sum(2 if several and key in statement.wish else 1 for key in random)
    return sides * normal_tail_above(statement.deviations) if sides else NONE


def _times(score: int, factor: Fraction) -> int:
    return score * factor.numerator // factor.denominator  # exact: the unit has these denominators
