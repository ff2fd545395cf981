"""A number known from both sides: two floats with the true value certainly between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from flint import arb

from headwright.errors import ContradictionError

TOLERANCE = 1e-6  # by which an instance may miss what was proved, relatively where numbers are above 1


@dataclass(frozen=True)
class Enclosure:
    """lower <= the true value <= upper, proven by ball arithmetic.

    >>> third = Enclosure.of(arb(1) / 3)
    >>> third.lower < 1 / 3 <= third.upper or third.lower <= 1 / 3 < third.upper
    True
    >>> third.width < 1e-15
    True
    """

    lower: float
    upper: float

    @classmethod
    def of(cls, ball: arb) -> Enclosure:
        """The tightest two floats around a ball (float(ball) rounds to nearest: no bound)."""
        if not ball.is_finite():
            return cls(-math.inf, math.inf)
        return cls(_towards(ball.lower(), -math.inf), _towards(ball.upper(), math.inf))

    @property
    def midpoint(self) -> float:
        """One float to show; within half the width of the truth."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def width(self) -> float:
        """How much is not known."""
        return self.upper - self.lower

    def __str__(self) -> str:
        """Both bounds, rounded outward."""
        return f"{shown_below(self.lower, 10)} .. {shown_above(self.upper, 10)}"

    def clipped(self, low: float, high: float) -> Enclosure:
        """The same, for a quantity that lies between low and high by its nature."""
        return Enclosure(max(self.lower, low), min(self.upper, high))


def assert_within(
    value: float,
    what: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    tolerance: float | None = None,
) -> None:
    """Raise a ContradictionError unless a number computed on an instance lies within what was proved.

    >>> assert_within(0.5, "the weight", least=0.5000001)
    >>> assert_within(0.4, "the weight", least=0.5)
    Traceback (most recent call last):
    headwright.errors.ContradictionError: the weight: at least 0.5 was proved, and an instance gives 0.4
    """
    _assert_not_beyond(value, what, least, least - value, "at least", tolerance)
    _assert_not_beyond(value, what, most, value - most, "at most", tolerance)


def _assert_not_beyond(
    value: float,
    what: str,
    bound: float,
    excess: float,
    side: str,
    tolerance: float | None,
) -> None:
    if not math.isfinite(bound):
        return
    if tolerance is None:
        tolerance = TOLERANCE * max(1.0, abs(bound))
    if not excess <= tolerance:  # nor if it is no number
        raise ContradictionError(
            f"{what}: {side} {bound:.6g} was proved, and an instance gives {value:.6g}"
        )


def shown_above(number: float | Fraction, digits: int = 6) -> str:
    """An upper bound as text, rounded up: what is read is still a bound.

    >>> shown_above(0.12345678), f"{0.12345618:.6g}", shown_above(0.12345618)
    ('0.123457', '0.123456', '0.123457')
    """
    return _shown(number, digits, ROUND_CEILING)


def shown_below(number: float | Fraction, digits: int = 6) -> str:
    """A lower bound as text, rounded down.

    >>> shown_below(0.12345678), f"{0.12345678:.6g}"
    ('0.123456', '0.123457')
    """
    return _shown(number, digits, ROUND_FLOOR)


def fixed_above(number: float, decimals: int) -> str:
    """An upper bound as text with so many decimals, rounded up.

    >>> fixed_above(0.99994, 4), fixed_above(0.5, 4), fixed_above(math.inf, 4)
    ('1.0000', '0.5000', 'inf')
    """
    return _fixed(number, decimals, ROUND_CEILING)


def fixed_below(number: float, decimals: int) -> str:
    """A lower bound as text with so many decimals, rounded down.

    >>> fixed_below(0.99999, 4), fixed_below(0.5, 4)
    ('0.9999', '0.5000')
    """
    return _fixed(number, decimals, ROUND_FLOOR)


def printed_above(number: Fraction) -> float:
    """The smallest float that is not below a fraction as it is printed, in the fewest digits that tell it from others.

    The float next to 0.1 is a little above 1/10, the one next to 0.3 a little below 3/10; both are printed as the
    number itself, and what is printed is the bound.

    >>> printed_above(Fraction(3, 10)), printed_above(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    nearest = float(number)
    if Fraction(repr(nearest)) >= number:
        return nearest
    return math.nextafter(nearest, math.inf)


def printed_below(number: Fraction) -> float:
    """The largest float that is not above a fraction as it is printed.

    >>> printed_below(Fraction(9, 10)), printed_below(1 - Fraction(1, 10**30))
    (0.9, 0.9999999999999999)
    """
    return 0.0 - printed_above(-number)  # so that 0 is not -0.0


def float_above(number: Fraction) -> float:
    """The smallest float that is not below a fraction.

    >>> float_above(Fraction(1, 3)) > Fraction(1, 3), float_above(Fraction(1, 2))
    (True, 0.5)
    """
    nearest = float(number)
    if nearest >= number:  # compared exactly by Python
        return nearest
    return math.nextafter(nearest, math.inf)


def float_below(number: Fraction) -> float:
    """The largest float that is not above a fraction.

    >>> float_below(Fraction(1, 10)) < Fraction(1, 10), float_below(Fraction(0))
    (True, 0.0)
    """
    return 0.0 - float_above(-number)  # so that 0 is not -0.0


def _shown(number: float | Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    if isinstance(number, Fraction):
        rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    else:
        rounded = context.create_decimal_from_float(number)
    return f"{rounded:g}"


def _fixed(number: float, decimals: int, rounding: str) -> str:
    if not math.isfinite(number):
        return f"{number}"
    unit = Decimal(1).scaleb(-decimals)
    enough = Context(prec=400)  # digits: a float has at most 309 before the point
    return f"{Decimal(number).quantize(unit, rounding, context=enough):f}"


def _towards(point: arb, direction: float) -> float:
    """The float next to a point, or equal to it, on the side of minus or plus infinity."""
    mantissa, exponent = (int(number) for number in point.man_exp())
    if mantissa == 0:
        return 0.0
    sign = 1.0 if mantissa > 0 else -1.0  # the integer may be too large for a float
    outward = sign * direction > 0  # away from 0
    size = exponent + mantissa.bit_length()  # 2^(size - 1) <= |point| < 2^size
    if size < -1073:  # between 0 and the smallest float
        return math.nextafter(0.0, direction) if outward else 0.0
    if size > 1023:  # beyond 2^1023: the next float may be infinity
        return direction if outward else sign * 2.0**1023
    exact = mantissa * Fraction(2) ** exponent
    nearest = float(exact)
    is_beyond = exact > nearest if direction > 0 else exact < nearest
    return math.nextafter(nearest, direction) if is_beyond else nearest
