"""smallest(): the value of one name from which on a comparison holds, as a ball; all other names are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb

from headwright.check.scalars.balls import ball_of, precision
from headwright.check.scalars.instances import certain
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.where import OPPOSITE, Where, checked
from headwright.errors import InputError

HALVINGS = 60
DOUBLINGS = 40


def smallest(
    left: Scalar | Number,
    comparison: str,
    right: Scalar | Number,
    where: Where,
    name: str,
    values: Mapping[str, Fraction] | None = None,
) -> arb | None:
    """A ball around the border: the comparison certainly fails at its lower end and certainly holds at its upper end.

    It is the smallest value from which on the comparison holds where there is only one such border, as in all
    comparisons that only grow truer; that there is only one is not proved here (eventually() proves it). The lower end
    of the range itself, without radius, where the comparison holds there already; None where no large value was met
    for which it certainly holds.

    >>> from headwright.check.scalars import POSITIVE, exp, parameter
    >>> x = parameter("x")
    >>> print(smallest(exp(x), ">=", 10, Where({"x": POSITIVE}), "x").str(5, radius=False))
    2.3026
    """
    comparison = checked(comparison)
    known = where.range(name).numeric
    values = dict(values or {})
    left, right = where.settled(left), where.settled(right)
    missing = (left.names() | right.names()) - {name} - values.keys()
    if missing:
        raise InputError(f"no value was given for {sorted(missing)}; expected numbers for all names but {name}")

    def holds(at: Fraction) -> bool | None:
        if certain(left, comparison, right, {**values, name: at}):
            return True
        return False if certain(left, OPPOSITE[comparison], right, {**values, name: at}) else None

    low = known.lower if isinstance(known.lower, Fraction) else Fraction(-(10**6))
    start = low + Fraction(1, 2**40) if known.lower_open else low
    if holds(start):
        return _exact(low)
    high = next((start + 2**step for step in range(-10, DOUBLINGS) if holds(start + Fraction(2) ** step)), None)
    return None if high is None else _border(Fraction(start), Fraction(high), holds)


def _border(low: Fraction, high: Fraction, holds: Callable[[Fraction], bool | None]) -> arb:
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = holds(middle)
        if found is None:
            break
        low, high = (low, middle) if found else (middle, high)
    with precision(128):
        return ball_of(low).union(ball_of(high))


def _exact(value: Fraction) -> arb:
    with precision(128):
        return ball_of(value)
