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
    certain = len(spreads) - 1
    # An entry without keys is for every key that no other entry names.
    for_others = certain
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
        self, scale: Fraction, keys: KeyMatrix, query: Vector, key_scale_unit: int
    ) -> None:
        """s c <k, q> = nominal(k) (c key_scale_unit) / unit, exactly.

        `key_scale_unit` times each c, and nominal(k), are whole numbers, and so is every score in
        units of 1 / unit.
        """
        query_denominator = common_denominator(query)
        self.keys = keys
        self.query = [int(x * query_denominator) for x in query]
        self.factor = scale.numerator
        # Keys are over 2^bits, the query over its denominator, and s over its own.
        self.nominal_unit = (scale.denominator * query_denominator) << keys.bits
        self.unit = self.nominal_unit * key_scale_unit
        require_affordable(self.unit.bit_length() * keys.n)

    def nominal(self, row: Sequence[int]) -> int:
        """s <k, q> of a key as `KeyMatrix.row` gives it, in units of 1 / nominal_unit."""
        return self.factor * int(sum(map(mul, row, self.query)))


def dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum(map(mul, x, y), ZERO)
