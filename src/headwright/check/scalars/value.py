"""The value of a scalar as a ball that certainly contains it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import arb, fmpq

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial, Parameter, Prime, Terms
from headwright.check.scalars.balls import ball_of, precision
from headwright.check.scalars.scalar import Number, Scalar
from headwright.errors import InputError

Values = Mapping[str, arb | Number]


def evaluated(value: Scalar, values: Values, bits: int) -> arb:
    """The ball, worked out with so many binary digits.

    >>> from headwright.check.scalars import parameter, sqrt
    >>> bool(evaluated(sqrt(parameter("x")), {"x": 4}, 64) == 2)
    True
    """
    with precision(bits):
        return _scalar(value, values, {})


def _scalar(value: Scalar, values: Values, memory: dict[Atom, arb]) -> arb:
    upper = _terms(value.over, values, memory)
    return upper if value.whole else upper / _terms(value.under, values, memory)


def _terms(terms: Terms, values: Values, memory: dict[Atom, arb]) -> arb:
    total = arb(0)
    for monomial, coefficient in terms.items():
        total += ball_of(coefficient) * _monomial(monomial, values, memory)
    return total


def _monomial(monomial: Monomial, values: Values, memory: dict[Atom, arb]) -> arb:
    total = arb(1)
    for atom, exponent in monomial:
        if atom not in memory:
            memory[atom] = _atom(atom, values, memory)
        total *= _power(memory[atom], exponent)
    return total


def _power(ball: arb, exponent: Fraction) -> arb:
    if exponent.denominator == 1:
        return ball**exponent.numerator
    if exponent.denominator == 2:
        return ball.sqrt() ** exponent.numerator
    if ball == 0:
        return ball if exponent > 0 else 1 / ball
    return ball ** arb(fmpq(exponent.numerator, exponent.denominator))


def _atom(atom: Atom, values: Values, memory: dict[Atom, arb]) -> arb:
    if isinstance(atom, Parameter):
        if atom.name not in values:
            raise InputError(
                f"no value was given for {atom.name}, expected one for every name: {sorted(values)} were given"
            )
        return ball_of(values[atom.name])
    if isinstance(atom, Prime):
        return arb(atom.number)
    if isinstance(atom, Exp):
        return _monomial(atom.power, values, memory).exp()
    if isinstance(atom, Function):
        body = _scalar(atom.body, values, memory)
        if atom.kind == "ln":
            return body.log()
        if atom.kind == "abs":
            return abs(body)
        if atom.kind == "sum":
            return body
        return body.sin() if atom.kind == "sin" else body.cos()
    return arb.pi()
