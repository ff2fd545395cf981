"""Scalars in place of names."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial, Parameter, Prime, Terms, monomial_of
from headwright.check.scalars.functions import absolute, exp, ln, power, rebuilt
from headwright.check.scalars.scalar import Scalar, number
from headwright.check.scalars.waves import cos, sin


def substituted(value: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    """The number with scalars in place of names.

    >>> from headwright.check.scalars import parameter
    >>> x = parameter("x")
    >>> substituted(exp(x), {"x": ln(2) / 2}) ** 2 == 2
    True
    """
    if not values or not value.names() & values.keys():
        return value
    memory: dict[Atom, Scalar | None] = {}
    upper = _terms(value.over, values, memory)
    return upper if value.whole else upper / _terms(value.under, values, memory)


def _terms(terms: Terms, values: Mapping[str, Scalar], memory: dict[Atom, Scalar | None]) -> Scalar:
    total = number(0)
    for monomial, coefficient in terms.items():
        total = total + coefficient * _monomial(monomial, values, memory)
    return total


def _monomial(monomial: Monomial, values: Mapping[str, Scalar], memory: dict[Atom, Scalar | None]) -> Scalar:
    kept: dict[Atom, Fraction] = {}
    changed = number(1)
    for atom, exponent in monomial:
        if atom not in memory:
            memory[atom] = _changed(atom, values, memory)
        new = memory[atom]
        if new is None:
            kept[atom] = exponent
        else:
            changed = changed * power(new, exponent)
    return rebuilt(monomial_of(kept)) * changed


def _changed(atom: Atom, values: Mapping[str, Scalar], memory: dict[Atom, Scalar | None]) -> Scalar | None:
    """What becomes of an atom; None where it stays."""
    if isinstance(atom, Parameter):
        return values.get(atom.name)
    if isinstance(atom, Prime):
        return None
    if isinstance(atom, Exp):
        inside = _monomial(atom.power, values, memory)
        return None if inside == rebuilt(atom.power) else exp(inside)
    if isinstance(atom, Function):
        body = substituted(atom.body, values)
        if body == atom.body:
            return None
        return {"ln": ln, "abs": absolute, "sin": sin, "cos": cos, "sum": _same}[atom.kind](body)
    return None


def _same(value: Scalar) -> Scalar:
    return value
