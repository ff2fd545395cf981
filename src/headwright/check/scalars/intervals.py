"""Intervals with rational or infinite ends: the quick way to know the sign of a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from headwright.check.scalars.balls import above, below, precision
from headwright.check.scalars.sizes import BITS

End = Fraction | float  # float only for the two infinities
INFINITY = math.inf


@dataclass(frozen=True)
class Interval:
    """Everything from low to high; an open end is certainly not reached."""

    low: End = -INFINITY
    high: End = INFINITY
    low_open: bool = False
    high_open: bool = False

    @property
    def positive(self) -> bool:
        """Certainly above 0."""
        return self.low > 0 or (self.low == 0 and self.low_open)

    @property
    def not_negative(self) -> bool:
        """Certainly at least 0."""
        return self.low >= 0

    @property
    def negative(self) -> bool:
        """Certainly below 0."""
        return self.high < 0 or (self.high == 0 and self.high_open)

    @property
    def not_positive(self) -> bool:
        """Certainly at most 0."""
        return self.high <= 0

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            _added(self.low, other.low), _added(self.high, other.high),
            self.low_open or other.low_open, self.high_open or other.high_open,
        )  # fmt: skip

    def __mul__(self, other: Interval) -> Interval:
        ends = [
            _product(a, a_open, b, b_open)
            for a, a_open in ((self.low, self.low_open), (self.high, self.high_open))
            for b, b_open in ((other.low, other.low_open), (other.high, other.high_open))
        ]
        low, high = min(end for end, _ in ends), max(end for end, _ in ends)
        return Interval(
            low,
            high,
            all(is_open for end, is_open in ends if end == low),
            all(is_open for end, is_open in ends if end == high),
        )

    def inverse(self) -> Interval:
        """1 / x; everything, where 0 may be among x."""
        if self.positive:
            low = Fraction(0) if isinstance(self.high, float) else 1 / self.high
            high = INFINITY if isinstance(self.low, float) or self.low == 0 else 1 / self.low
            return Interval(low, high, self.high_open or self.high == INFINITY, self.low_open)
        if self.negative:
            turned = Interval(-self.high, -self.low, self.high_open, self.low_open).inverse()
            return Interval(-turned.high, -turned.low, turned.high_open, turned.low_open)
        return Interval()

    def power(self, exponent: Fraction) -> Interval:
        """x ** exponent; for broken exponents x is taken to be at least 0, as it must be."""
        if exponent < 0:
            return self.power(-exponent).inverse()
        if exponent == 1:
            return self
        if exponent.denominator > 1:
            if self.high < 0:
                return Interval()
            low, low_open = (self.low, self.low_open) if self.low >= 0 else (Fraction(0), False)
            return Interval(_root(low, exponent, up=False), _root(self.high, exponent, up=True), low_open and low == 0)
        whole = exponent.numerator
        if _long(self.low, whole) or _long(self.high, whole):
            return Interval(Fraction(0), low_open=self.positive) if whole % 2 == 0 or self.low >= 0 else Interval()
        low, high = _whole_power(self.low, whole), _whole_power(self.high, whole)
        if whole % 2 or self.low >= 0:
            return Interval(low, high, self.low_open, self.high_open)
        if self.high <= 0:
            return Interval(high, low, self.high_open, self.low_open)
        return Interval(Fraction(0), max(low, high))

    def exp(self) -> Interval:
        """e ** x."""
        return Interval(
            _exp(self.low, up=False), _exp(self.high, up=True),
            (self.low_open and self.low == 0) or self.low < -100, self.high_open and self.high == 0,
        )  # fmt: skip

    def ln(self) -> Interval:
        """ln x, for those x above 0."""
        low = -INFINITY if self.low <= 0 else _ln(self.low, up=False)
        high = _ln(self.high, up=True) if self.high > 0 else INFINITY
        return Interval(low, high, self.low_open and self.low == 1, self.high_open and self.high == 1)

    def absolute(self) -> Interval:
        """|x|."""
        if self.not_negative:
            return self
        if self.not_positive:
            return Interval(-self.high, -self.low, self.high_open, self.low_open)
        return Interval(Fraction(0), max(-self.low, self.high))


def _product(a: End, a_open: bool, b: End, b_open: bool) -> tuple[End, bool]:
    if a == 0 or b == 0:
        reached = (a == 0 and not a_open) or (b == 0 and not b_open)
        return Fraction(0), not reached
    if isinstance(a, float) or isinstance(b, float):
        return (INFINITY if (a > 0) == (b > 0) else -INFINITY), a_open or b_open
    return a * b, a_open or b_open


def _added(a: End, b: End) -> End:
    """Long rationals do not fit a float, so infinity is not left to Python's arithmetic."""
    if isinstance(a, float):
        return a
    return b if isinstance(b, float) else a + b


def _whole_power(end: End, whole: int) -> End:
    if isinstance(end, float):
        return end if whole % 2 else INFINITY
    return end**whole


def _long(end: End, whole: int) -> bool:
    if isinstance(end, float) or abs(end) == 1:
        return False
    return max(end.numerator.bit_length(), end.denominator.bit_length()) * whole > BITS


def _root(end: End, exponent: Fraction, *, up: bool) -> End:
    if isinstance(end, float) or end in (0, 1):
        return end if end >= 0 else Fraction(0)
    with precision(64):
        ball = arb(fmpq(end.numerator, end.denominator)) ** arb(fmpq(exponent.numerator, exponent.denominator))
        return above(ball) if up else max(below(ball), Fraction(0))


def _exp(end: End, *, up: bool) -> End:
    if end == 0:
        return Fraction(1)
    if end > 100:
        return INFINITY if up else _exp(Fraction(100), up=False)
    if end < -100:
        return _exp(Fraction(-100), up=True) if up else Fraction(0)
    exact = Fraction(end)
    with precision(64):
        ball = arb(fmpq(exact.numerator, exact.denominator)).exp()
        return above(ball) if up else below(ball)


def _ln(end: End, *, up: bool) -> End:
    if isinstance(end, float) or end == 1:
        return INFINITY if end == INFINITY else Fraction(0)
    with precision(64):
        ball = arb(fmpq(end.numerator, end.denominator)).log()
        return above(ball) if up else below(ball)
