"""The interval a scalar certainly lies in, from the declared ranges of its names."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial, Parameter, Prime, Terms
from headwright.check.scalars.intervals import INFINITY, Interval

if TYPE_CHECKING:
    from headwright.check.scalars.scalar import Scalar


def interval(value: Scalar) -> Interval:
    """Where the number certainly lies.

    >>> from headwright.check.scalars import parameter, Range
    >>> interval(parameter("n", Range(2)) - 1).positive
    True
    """
    upper = interval_of_terms(value.over)
    return upper if value.whole else upper * interval_of_terms(value.under).inverse()


def interval_of_terms(terms: Terms) -> Interval:
    """Where a sum of terms certainly lies."""
    total = Interval(Fraction(0), Fraction(0))
    for monomial, coefficient in terms.items():
        total = total + interval_of_monomial(monomial) * Interval(coefficient, coefficient)
        if total.low == -INFINITY and total.high == INFINITY:
            return total
    return total


def interval_of_monomial(monomial: Monomial) -> Interval:
    """Where a product of powers certainly lies."""
    total = Interval(Fraction(1), Fraction(1))
    for atom, exponent in monomial:
        total = total * interval_of_atom(atom).power(exponent)
    return total


@lru_cache(maxsize=4096)
def interval_of_atom(atom: Atom) -> Interval:
    """Where an atom certainly lies (wherever it is defined)."""
    if isinstance(atom, Parameter):
        low, high = atom.range.lower, atom.range.upper
        return Interval(
            low if isinstance(low, Fraction) else -INFINITY, high if isinstance(high, Fraction) else INFINITY,
            atom.range.lower_open, atom.range.upper_open,
        )  # fmt: skip
    if isinstance(atom, Prime):
        return Interval(Fraction(atom.number), Fraction(atom.number))
    if isinstance(atom, Exp):
        return interval_of_monomial(atom.power).exp()
    if isinstance(atom, Function):
        if atom.kind in ("sin", "cos"):
            return Interval(Fraction(-1), Fraction(1))
        body = interval(atom.body)
        if atom.kind == "ln":
            return body.ln()
        return body.absolute() if atom.kind == "abs" else body
    return Interval(Fraction(3), Fraction(22, 7))  # pi
