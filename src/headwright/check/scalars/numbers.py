"""Bounds on work, ranges of names, balls and intervals: what exact numbers stand on.

How large a number may become before it is refused is said here: hostile input must cost neither time nor memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, fmpq

from headwright.errors import HeadwrightError, InputError
from headwright.formula.evaluate import precision

if TYPE_CHECKING:
    from headwright.check.scalars.forms import Scalar


TERMS = 2_000  # of a sum
PRODUCTS = 50_000  # of terms, in one multiplication
EXPONENT = 10_000
BITS = 13_000  # of a rational coefficient: Python writes out no more than 4300 digits
DEPTH = 12  # of functions inside functions
MOST_WORK = 200_000  # on one answer; usual ones need less than a tenth of it


class TooBig(InputError):  # noqa: N818  it says what is wrong
    """The exact form of a number would be too large to work with."""


class TooLong(HeadwrightError):  # noqa: N818  it says what is wrong
    """All the exact work on one question together takes too long."""


WORK: ContextVar[list[int] | None] = ContextVar("WORK", default=None)  # what is left of it


@contextmanager
def at_most_work(amount: int = MOST_WORK) -> Iterator[None]:
    """Within, so much exact work is done and no more: TooLong is raised instead."""
    token = WORK.set([amount])
    try:
        yield
    finally:
        WORK.reset(token)


def work(amount: int) -> None:
    """Count some work: a product of two short terms is about 5."""
    left = WORK.get()
    if left is not None:
        left[0] -= amount
        if left[0] < 0:
            raise TooLong("the exact forms of these numbers take too long to work with")


def small_exponent(exponent: Fraction) -> Fraction:
    """The exponent itself, or a refusal."""
    if abs(exponent.numerator) > EXPONENT or exponent.denominator > EXPONENT:
        shown = str(exponent) if exponent.numerator.bit_length() + exponent.denominator.bit_length() < 200 else "huge"
        raise TooBig(
            f"the exponent is {shown}, expected at most {EXPONENT} on either side of the bar; use smaller numbers"
        )
    return exponent


def small_rational(number: Fraction) -> Fraction:
    """The number itself, or a refusal."""
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > BITS:
        raise TooBig(f"an exact number has {bits} binary digits, expected at most {BITS}; use smaller numbers")
    return number


def rational_power(base: Fraction, exponent: int) -> Fraction:
    """base ** exponent, refused before it is worked out when it would be too long."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and bits * abs(exponent) > BITS:
        raise TooBig(f"a power needs about {bits * abs(exponent):.3g} binary digits, expected at most {BITS}")
    if base == 0 and exponent < 0:
        raise InputError("0 to a negative power was asked for, expected a base that is not 0")
    return base**exponent


class Symbol(str):
    """A name of the checker's own. It has a space in it, so no formula can mean it; `shown` is what a person reads."""

    kind: str
    of: str
    shown: str

    def __new__(cls, kind: str, of: str = "", shown: str = "") -> Symbol:
        """Which kind, and of what: a key, another name."""
        symbol = super().__new__(cls, f"{kind} of {of or 'all'}")
        symbol.kind, symbol.of, symbol.shown = kind, of, shown or f"{kind} of {of or 'all'}"
        return symbol


def shown_name(name: str) -> str:
    """A name as a person reads it."""
    return name.shown if isinstance(name, Symbol) else name


@dataclass(frozen=True)
class Range:
    """lower <= x <= upper; None: no bound on that side; open: the end itself is excluded."""

    lower: Fraction | Scalar | int | None = None
    upper: Fraction | Scalar | int | None = None
    lower_open: bool = False
    upper_open: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for end in ("lower", "upper"):
            value = getattr(self, end)
            if isinstance(value, int | Fraction):
                object.__setattr__(self, end, Fraction(value))
        if isinstance(self.lower, Fraction) and isinstance(self.upper, Fraction):
            empty = self.lower > self.upper or (self.lower == self.upper and (self.lower_open or self.upper_open))
            if empty:
                raise InputError(f"the range from {self.lower} to {self.upper} is empty, expected lower below upper")

    @property
    def positive(self) -> bool:
        """Whether all of it certainly lies above 0."""
        return isinstance(self.lower, Fraction) and (self.lower > 0 or (self.lower == 0 and self.lower_open))

    @property
    def numeric(self) -> Range:
        """The same without bounds that are formulas; the ends of integers are integers."""
        lower = self.lower if isinstance(self.lower, Fraction) else None
        upper = self.upper if isinstance(self.upper, Fraction) else None
        lower_open, upper_open = self.lower_open and lower is not None, self.upper_open and upper is not None
        if not self.integer:
            return Range(lower, upper, lower_open, upper_open)
        if lower is not None:
            lower = Fraction(math.floor(lower) + 1 if lower_open else math.ceil(lower))
        if upper is not None:
            upper = Fraction(math.ceil(upper) - 1 if upper_open else math.floor(upper))
        return Range(lower, upper, integer=True)

    def holds(self, other: Range) -> bool:
        """Whether everything in the other (numeric) range is in this (numeric) one."""
        if self.integer and not other.integer:
            return False
        if self.lower is not None:
            if other.lower is None or other.lower < self.lower:  # type: ignore[operator]
                return False
            if other.lower == self.lower and self.lower_open and not other.lower_open:
                return False
        if self.upper is not None:
            if other.upper is None or other.upper > self.upper:  # type: ignore[operator]
                return False
            if other.upper == self.upper and self.upper_open and not other.upper_open:
                return False
        return True


REAL = Range()
POSITIVE = Range(0, lower_open=True)


def exactly(point: arb) -> Fraction:
    """The rational that a ball without radius is."""
    if not point.is_finite() or not point.is_exact():
        raise InputError(f"the ball {point} is not one exact number")
    mantissa, exponent = (int(part) for part in point.man_exp())
    if abs(exponent) > BITS:
        raise TooBig(f"an exact number has about {abs(exponent)} binary digits, expected at most {BITS}")
    return Fraction(mantissa) * Fraction(2) ** exponent


def below(ball: arb) -> Fraction:
    """A rational that is certainly not above the ball."""
    return exactly(ball.lower())


def above(ball: arb) -> Fraction:
    """A rational that is certainly not below the ball."""
    return exactly(ball.upper())


def ball_of(number: arb | Fraction | int) -> arb:
    """The number as a ball at the present precision."""
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)


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
        opened = (all(is_open for end, is_open in ends if end == extreme) for extreme in (low, high))
        return Interval(low, high, *opened)

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
