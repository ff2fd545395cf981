"""How large a number may become before it is refused: hostile input must cost neither time nor memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

from headwright.errors import HeadwrightError, InputError

TERMS = 2_000  # of a sum
PRODUCTS = 50_000  # of terms, in one multiplication
EXPONENT = 10_000
BITS = 13_000  # of a rational coefficient: Python writes out no more than 4300 digits
DEPTH = 12  # of functions inside functions
MOST_WORK = 200_000  # on one answer; usual ones need less than a tenth of it


class TooBig(InputError):  # noqa: N818  it says what is wrong
    """The exact form of a number would be too large to work with.

    >>> issubclass(TooBig, InputError)
    True
    """


class TooLong(HeadwrightError):  # noqa: N818  it says what is wrong
    """All the exact work on one question together takes too long."""


WORK: ContextVar[list[int] | None] = ContextVar("WORK", default=None)  # what is left of it


@contextmanager
def at_most_work(amount: int = MOST_WORK) -> Iterator[None]:
    """Within, so much exact work is done and no more: TooLong is raised instead.

    >>> with at_most_work(10):
    ...     work(11)
    Traceback (most recent call last):
    headwright.check.scalars.sizes.TooLong: the exact forms of these numbers take too long to work with
    """
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
    """The exponent itself, or a refusal.

    >>> small_exponent(Fraction(1, 2))
    Fraction(1, 2)
    """
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
    """base ** exponent, refused before it is worked out when it would be too long.

    >>> rational_power(Fraction(2, 3), -2)
    Fraction(9, 4)
    """
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and bits * abs(exponent) > BITS:
        raise TooBig(f"a power needs about {bits * abs(exponent):.3g} binary digits, expected at most {BITS}")
    if base == 0 and exponent < 0:
        raise InputError("0 to a negative power was asked for, expected a base that is not 0")
    return base**exponent
