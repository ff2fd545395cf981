"""Numbers in ball arithmetic, by short names: every rounding of our own is inside the radius of a ball."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Array, Balls


def exactly(number: float) -> Balls:
    """A number that is known exactly."""
    return Balls.of(np.array(number))


def constant(number: Fraction) -> Balls:
    """A ball around a fraction."""
    nearest = float(number)
    radius = abs(nearest) * 2.0**-52 + 2.0**-1000
    return Balls(np.array(nearest), np.array(radius))


def root_of(number: int) -> Balls:
    """The root of a whole number."""
    return exactly(float(number)).sqrt()


def sizes_of(numbers: Balls) -> Balls:
    """Absolute values."""
    return Balls(np.abs(numbers.mid), numbers.rad)


def exact_sizes(numbers: Array) -> Balls:
    """Absolute values of numbers that are known exactly."""
    return Balls.of(np.abs(numbers))


def quotient(numbers: Balls, divisor: Array) -> Balls:
    """Divided by numbers that are known exactly."""
    inverse = Balls(1 / divisor, 2.0**-52 / divisor)
    return numbers * inverse


def squares(numbers: Balls) -> Balls:
    """Of each number."""
    return numbers * numbers


def inner_products(first: Balls, second: Balls) -> Balls:
    """Row by row."""
    return (first * second).sum()


def lengths_of(rows: Balls) -> Balls:
    """Of each row."""
    return inner_products(rows, rows).sqrt()


def above(number: Balls) -> float:
    """A bound on one number."""
    return float(number.upper())


ONE = exactly(1.0)
HALF = exactly(0.5)
