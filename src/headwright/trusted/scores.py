"""What each key may be, and the scores that one query gives the keys: whole numbers of one unit."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

from headwright.trusted.certificate import CERTAIN, Spread, Statement, Vector, common_denominator
from headwright.trusted.keys import Keys, affordable

NONE, ONE = Fraction(0), Fraction(1)


def world_of(s: Statement) -> tuple[tuple[Spread, ...], list[int]]:
    """What keys may be; and for each key which of these: the last, certain, if nothing is said."""
    spreads = (*s.world, CERTAIN)
    others = [entry for entry, spread in enumerate(s.world) if spread.keys is None]
    entries = [*others, len(s.world)][:1] * s.keys[0].n
    for entry, spread in enumerate(s.world):
        for key in spread.keys or ():
            entries[key] = entry
    return spreads, entries


class Scores:
    """The scores s c <k, q> of keys k at scales c, for one query q."""

    def __init__(self, scale: Fraction, keys: Keys, query: Vector, fine: int) -> None:
        """s c <k, q> = place(k) (c fine) / unit, exactly; c fine and place(k) are whole numbers."""
        below = common_denominator(query)
        self.keys, self.factor, self.fine = keys, scale.numerator, fine
        self.query = [int(x * below) for x in query]
        self.unit = (scale.denominator * below * fine) << keys.bits
        affordable(self.unit.bit_length() * keys.n)

    def place(self, row: Sequence[int]) -> int:
        """The score of a key as `Keys.row` gives it, at its place, in units of fine / unit."""
        return self.factor * int(sum(map(mul, row, self.query)))


def dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum(map(mul, x, y), NONE)
