"""Logarithms of a sum taken together again: ln(n) - ln(epsilon) is written ln(n/epsilon)."""

from __future__ import annotations

import math
from fractions import Fraction

from headwright.check.scalars.atoms import Function, Monomial, Terms, monomial_of
from headwright.check.scalars.functions import power
from headwright.check.scalars.scalar import number

HIGHEST = 6  # power of a name inside a logarithm that is taken together
LARGEST = 10**6  # number inside one


def with_logs_together(terms: Terms) -> Terms:
    """The same sum, for writing only: logarithms with the same factor in front have become one.

    >>> from headwright.check.scalars import Range, ln, parameter
    >>> len(with_logs_together(ln(parameter("x", Range(1)) * 6).over))
    1
    """
    groups: dict[Monomial, list[tuple[Monomial, Function, Fraction]]] = {}
    for monomial, coefficient in terms.items():
        logs = [(atom, exponent) for atom, exponent in monomial if isinstance(atom, Function) and atom.kind == "ln"]
        if len(logs) == 1 and logs[0][1] == 1:
            rest = monomial_of({atom: exponent for atom, exponent in monomial if atom != logs[0][0]})
            groups.setdefault(rest, []).append((monomial, logs[0][0], coefficient))
    result = dict(terms)
    for rest, group in groups.items():
        if len(group) > 1:
            _join(result, rest, group)
    return result


def _join(result: Terms, rest: Monomial, group: list[tuple[Monomial, Function, Fraction]]) -> None:
    over = math.gcd(*(coefficient.numerator for _, _, coefficient in group))
    under = math.lcm(*(coefficient.denominator for _, _, coefficient in group))
    front = Fraction(over, under)
    if all(coefficient < 0 for _, _, coefficient in group):
        front = -front
    inside = number(1)
    for _, atom, coefficient in group:
        exponent = coefficient / front
        known = atom.body.rational
        high = abs(exponent) > (HIGHEST if known is None else 20)
        if high or (known is not None and known ** int(abs(exponent)) > LARGEST):
            return
        inside = inside * power(atom.body, exponent)
    value = inside.rational
    if value is not None and max(value.numerator, value.denominator) > LARGEST:
        return
    for monomial, _, _ in group:
        del result[monomial]
    if inside != 1:
        atom = Function("ln", inside)
        result[monomial_of({**dict(rest), atom: Fraction(1)})] = front
