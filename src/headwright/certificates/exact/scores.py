"""What each key may be, and the scores that one query gives the keys: whole numbers of one unit."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

from headwright.certificates.exact.certificate import CERTAIN, KeyStatement, Spread
from headwright.certificates.exact.keys import KeyMatrix, require_affordable
from headwright.certificates.exact.values import Vector, common_denominator

ZERO = Fraction(0)
ONE = Fraction(1)


def spreads_of(statement: KeyStatement) -> tuple[tuple[Spread, ...], list[int]]:
    """What keys may be; and for each key which of these: the last, certain, if nothing is said."""
    spreads = (*statement.uncertainty, CERTAIN)
    for_others = len(statement.uncertainty)
    for entry, spread in enumerate(statement.uncertainty):
        if spread.keys is None:
            for_others = entry
    entry_of_key = [for_others] * statement.keys[0].n
    for entry, spread in enumerate(statement.uncertainty):
        for key in spread.keys or ():
            entry_of_key[key] = entry
    return spreads, entry_of_key


class Scores:
    """The scores s c <k, q> of keys k at scales c, for one query q."""

    def __init__(
        self, scale: Fraction, keys: KeyMatrix, query: Vector, fine: int
    ) -> None:
        """s c <k, q> = place(k) (c fine) / unit, exactly; c fine and place(k) are whole numbers."""
        denominator = common_denominator(query)
        self.keys = keys
        self.query = [int(x * denominator) for x in query]
        self.factor = scale.numerator
        self.fine = fine
        # Keys are over 2^bits, the query over its denominator, and s over its own.
        self.lift_unit = (scale.denominator * denominator) << keys.bits  # unit / fine
        self.unit = self.lift_unit * fine
        require_affordable(self.unit.bit_length() * keys.n)

    def place(self, row: Sequence[int]) -> int:
        """The score of a key as `KeyMatrix.row` gives it, where it stands, in units of fine / unit."""
        return self.factor * int(sum(map(mul, row, self.query)))


def dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum(map(mul, x, y), ZERO)
