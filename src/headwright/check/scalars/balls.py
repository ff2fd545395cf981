"""Balls (flint's arb) at a chosen precision, and their ends as exact rationals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

from headwright.check.scalars.sizes import BITS, TooBig
from headwright.errors import InputError


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with this many binary digits; flint's setting is global, so it is put back afterwards.

    >>> with precision(10):
    ...     ctx.prec
    10
    """
    before = int(ctx.prec)
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def exactly(point: arb) -> Fraction:
    """The rational that a ball without radius is.

    >>> exactly(arb(0.75))
    Fraction(3, 4)
    """
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
    """The number as a ball at the present precision.

    >>> bool(ball_of(Fraction(1, 2)) == arb(0.5))
    True
    """
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)
