"""Bounds on work, ranges of names, balls and intervals: what exact numbers stand on.

How large a number may become before it is refused is said here: hostile input must cost neither time nor memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from headwright.errors import HeadwrightError, InputError
from headwright.formulas.evaluate import precision

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


WORK: ContextVar[list[int] | None] = ContextVar(
    "WORK", default=None
)  # what is left of it


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
        shown = (
            str(exponent)
            if exponent.numerator.bit_length() + exponent.denominator.bit_length() < 200
            else "huge"
        )
        raise TooBig(
            f"the exponent is {shown}, expected at most {EXPONENT} on either side of the bar; use smaller numbers"
        )
    return exponent


def small_rational(number: Fraction) -> Fraction:
    """The number itself, or a refusal."""
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > BITS:
        raise TooBig(
            f"an exact number has {bits} binary digits, expected at most {BITS}; use smaller numbers"
        )
    return number


def rational_power(base: Fraction, exponent: int) -> Fraction:
    """base ** exponent, refused before it is worked out when it would be too long."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and bits * abs(exponent) > BITS:
        raise TooBig(
            f"a power needs about {bits * abs(exponent):.3g} binary digits, expected at most {BITS}"
        )
    if base == 0 and exponent < 0:
        raise InputError(
            "0 to a negative power was asked for, expected a base that is not 0"
        )
    return base**exponent


class Symbol(str):
    """A name of the checker's own. It has a space in it, so no formula can mean it; `shown` is what a person reads."""

    kind: str
    of: str
    shown: str

    def __new__(cls, kind: str, of: str = "", shown: str = "") -> Symbol:
        """Which kind, and of what: a key, another name."""
        symbol = super().__new__(cls, f"{kind} of {of or 'all'}")
        symbol.kind, symbol.of, symbol.shown = (
            kind,
            of,
            shown or f"{kind} of {of or 'all'}",
        )
        return symbol


def shown_name(name: str) -> str:
    """A name as a person reads it."""
    return name.shown if isinstance(name, Symbol) else name


@dataclass(frozen=True)
class Range:
    """lower <= x <= upper; None: no bound on that side; open: the end is excluded. Ends of integers are integers."""

    lower: Fraction | int | None = None
    upper: Fraction | int | None = None
    lower_open: bool = False
    upper_open: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        low = None if self.lower is None else Fraction(self.lower)
        high = None if self.upper is None else Fraction(self.upper)
        low_open, high_open = (
            self.lower_open and low is not None,
            self.upper_open and high is not None,
        )
        if self.integer:
            low = (
                None
                if low is None
                else Fraction(math.floor(low) + 1 if low_open else math.ceil(low))
            )
            high = (
                None
                if high is None
                else Fraction(math.ceil(high) - 1 if high_open else math.floor(high))
            )
            low_open = high_open = False
        if (
            low is not None
            and high is not None
            and (low > high or (low == high and (low_open or high_open)))
        ):
            raise InputError(
                f"the range from {self.lower} to {self.upper} is empty, expected lower below upper"
            )
        ends = {
            "lower": low,
            "upper": high,
            "lower_open": low_open,
            "upper_open": high_open,
        }
        for name, value in ends.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        """All there is to it, in a short text."""
        low = (
            ""
            if self.lower is None
            else f"{'>' if self.lower_open else '>='}{self.lower}"
        )
        high = (
            ""
            if self.upper is None
            else f"{'<' if self.upper_open else '<='}{self.upper}"
        )
        return f"[{low}{high}{'integer' if self.integer else ''}]"

    @property
    def positive(self) -> bool:
        """Whether all of it certainly lies above 0."""
        return self.lower is not None and (
            self.lower > 0 or (self.lower == 0 and self.lower_open)
        )

    def holds(self, other: Range) -> bool:
        """Whether everything in the other range is in this one."""
        try:
            return self.within(other) == other
        except InputError:  # nothing is in both
            return False

    def within(self, other: Range) -> Range:
        """What lies in both."""
        lows = [
            (one.lower, one.lower_open)
            for one in (self, other)
            if one.lower is not None
        ]
        highs = [
            (one.upper, not one.upper_open)
            for one in (self, other)
            if one.upper is not None
        ]
        (low, low_open), (high, closed) = (
            max(lows, default=(None, False)),
            min(highs, default=(None, True)),
        )
        return Range(low, high, low_open, not closed, self.integer or other.integer)


REAL = Range()
POSITIVE = Range(0, lower_open=True)


def exactly(point: arb) -> Fraction:
    """The rational that a ball without radius is."""
    if not point.is_finite() or not point.is_exact():
        raise InputError(f"the ball {point} is not one exact number")
    mantissa, exponent = (int(part) for part in point.man_exp())
    if abs(exponent) > BITS:
        raise TooBig(
            f"an exact number has about {abs(exponent)} binary digits, expected at most {BITS}"
        )
    return Fraction(mantissa) * Fraction(2) ** exponent


def ends(ball: arb) -> tuple[Fraction, Fraction]:
    """Two rationals between which the ball certainly lies."""
    return exactly(ball.lower()), exactly(ball.upper())


def ball_of(number: arb | Fraction | int) -> arb:
    """The number as a ball at the present precision."""
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)


End = Fraction | float  # float only for the two infinities
INFINITY = math.inf
FARTHEST = Fraction(100)  # exponents beyond which e^x is bounded by that


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
    def negative(self) -> bool:
        """Certainly below 0."""
        return self.high < 0 or (self.high == 0 and self.high_open)

    def __add__(self, other: Interval) -> Interval:
        (
            low,
            high,
        ) = (  # long rationals do not fit a float, so infinity is not left to Python's arithmetic
            a if isinstance(a, float) else b if isinstance(b, float) else a + b
            for a, b in ((self.low, other.low), (self.high, other.high))
        )
        return Interval(
            low,
            high,
            self.low_open or other.low_open,
            self.high_open or other.high_open,
        )

    def __mul__(self, other: Interval) -> Interval:
        found: list[tuple[End, bool]] = []
        for a, a_open in ((self.low, self.low_open), (self.high, self.high_open)):
            for b, b_open in (
                (other.low, other.low_open),
                (other.high, other.high_open),
            ):
                if a == 0 or b == 0:
                    reached = (a == 0 and not a_open) or (b == 0 and not b_open)
                    found.append((Fraction(0), not reached))
                elif isinstance(a, float) or isinstance(b, float):
                    found.append(
                        (
                            INFINITY if (a > 0) == (b > 0) else -INFINITY,
                            a_open or b_open,
                        )
                    )
                else:
                    found.append((a * b, a_open or b_open))
        low, high = min(end for end, _ in found), max(end for end, _ in found)
        opened = (
            all(is_open for end, is_open in found if end == extreme)
            for extreme in (low, high)
        )
        return Interval(low, high, *opened)

    def inverse(self) -> Interval:
        """1 / x; everything, where 0 may be among x."""
        if self.positive:
            low = Fraction(0) if isinstance(self.high, float) else 1 / self.high
            high = (
                INFINITY
                if isinstance(self.low, float) or self.low == 0
                else 1 / self.low
            )
            return Interval(
                low, high, self.high_open or self.high == INFINITY, self.low_open
            )
        if self.negative:
            turned = Interval(
                -self.high, -self.low, self.high_open, self.low_open
            ).inverse()
            return Interval(
                -turned.high, -turned.low, turned.high_open, turned.low_open
            )
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
            low, low_open = (
                (self.low, self.low_open) if self.low >= 0 else (Fraction(0), False)
            )
            least, most = (
                end
                if isinstance(end, float) or end in (0, 1)
                else _outward(end, side, lambda x: x ** ball_of(exponent))
                for side, end in enumerate((low, self.high))
            )
            return Interval(max(least, Fraction(0)), most, low_open and low == 0)
        whole, both = exponent.numerator, (self.low, self.high)
        for end in both:
            size = (
                0
                if isinstance(end, float)
                else max(end.numerator.bit_length(), end.denominator.bit_length())
            )
            if size * whole > BITS and abs(end) != 1:
                return (
                    Interval(Fraction(0), low_open=self.positive)
                    if whole % 2 == 0 or self.low >= 0
                    else Interval()
                )
        low, high = (
            (end if whole % 2 else INFINITY) if isinstance(end, float) else end**whole
            for end in both
        )
        if whole % 2 or self.low >= 0:
            return Interval(low, high, self.low_open, self.high_open)
        if self.high <= 0:
            return Interval(high, low, self.high_open, self.low_open)
        return Interval(Fraction(0), max(low, high))

    def exp(self) -> Interval:
        """e ** x."""
        low = (
            Fraction(0)
            if self.low < -FARTHEST
            else _outward(min(self.low, FARTHEST), 0, arb.exp)
        )
        high = (
            INFINITY
            if self.high > FARTHEST
            else _outward(max(self.high, -FARTHEST), 1, arb.exp)
        )
        return Interval(
            low, high, self.low_open or self.low < -FARTHEST, self.high_open
        )

    def ln(self) -> Interval:
        """ln x, for those x above 0."""
        low = -INFINITY if self.low <= 0 else _outward(self.low, 0, arb.log)
        high = (
            INFINITY
            if self.high <= 0 or self.high == INFINITY
            else _outward(self.high, 1, arb.log)
        )
        return Interval(
            low,
            high,
            self.low_open and self.low == 1,
            self.high_open and self.high == 1,
        )

    def absolute(self) -> Interval:
        """|x|."""
        if self.low >= 0:
            return self
        if self.high <= 0:
            return Interval(-self.high, -self.low, self.high_open, self.low_open)
        return Interval(Fraction(0), max(-self.low, self.high))


def _outward(end: End, side: int, function: Callable[[arb], arb]) -> Fraction:
    """A function of a number, rounded down (side 0) or up (side 1)."""
    with precision(64):
        return ends(function(ball_of(Fraction(end))))[side]
