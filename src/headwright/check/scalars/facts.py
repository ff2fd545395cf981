"""True statements about roots, logarithms and exponentials, for z3 to reason with."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import arb, fmpq

from headwright.check.scalars.atoms import Atom, Exp, Function, Parameter, Prime
from headwright.check.scalars.balls import above, ball_of, below, precision
from headwright.check.scalars.encode import Encoder, is_constant
from headwright.check.scalars.functions import rebuilt
from headwright.check.scalars.signs import interval_of_atom

GRAIN = 10**12  # constants are known to so many parts of 1
MOST_PAIRS = 60


def plain_facts(encoder: Encoder) -> Iterator[Any]:
    """What defines each atom: its range, its sign, whose root it is."""
    for atom in encoder.roots:
        variable = encoder.variables[atom]
        value = encoder.atom(atom)
        place = interval_of_atom(atom)
        if encoder.roots[atom] > 1 and encoder.tied(atom):
            yield variable >= 0
        if isinstance(place.low, Fraction) and not isinstance(atom, Prime):
            yield (value > encoder.rational(place.low)) if place.low_open else (value >= encoder.rational(place.low))
        if isinstance(place.high, Fraction) and not isinstance(atom, Prime):
            yield (value < encoder.rational(place.high)) if place.high_open else (value <= encoder.rational(place.high))
        if isinstance(atom, Exp):
            yield variable > 0
        if is_constant(atom):
            yield from _constant(encoder, atom)
        if isinstance(atom, Prime):
            yield variable > 0
            yield value == atom.number
        elif isinstance(atom, Function) and atom.kind == "sum":
            yield value == encoder.scalar(atom.body)
        elif isinstance(atom, Function) and atom.kind == "abs":
            body = encoder.scalar(atom.body)
            yield value >= 0
            yield encoder.z3.Or(value == body, value == -body)
        elif isinstance(atom, Parameter) and atom.range.positive:
            yield variable > 0


def _constant(encoder: Encoder, atom: Atom) -> Iterator[Any]:
    """The variable of an atom without names lies between two short rationals."""
    with precision(100):
        ball = rebuilt(((atom, Fraction(1)),)).value({}, bits=100)
        if encoder.root(atom) > 1:
            ball = ball ** arb(fmpq(1, encoder.root(atom)))
        if not abs(ball) < GRAIN:
            return
        if abs(ball) < ball_of(Fraction(1, GRAIN)):  # its digits may be too many to write out
            low, high = Fraction(-1, GRAIN), Fraction(1, GRAIN)
        else:
            low, high = below(ball), above(ball)
    yield encoder.variables[atom] >= encoder.rational(Fraction((low * GRAIN).__floor__(), GRAIN))
    yield encoder.variables[atom] <= encoder.rational(Fraction((high * GRAIN).__ceil__(), GRAIN))


def sign_facts(encoder: Encoder) -> Iterator[Any]:
    """ln x against x = 1, e^m against m = 0."""
    for atom in encoder.roots:
        if is_constant(atom):
            continue
        variable = encoder.variables[atom]
        if isinstance(atom, Exp):
            power = encoder.monomial(atom.power)
            yield (power > 0) == (variable > 1)
            yield (power < 0) == (variable < 1)
        elif isinstance(atom, Function) and atom.kind == "ln":
            body = encoder.scalar(atom.body)
            value = encoder.atom(atom)
            yield body > 0
            yield (value > 0) == (body > 1)
            yield (value < 0) == (body < 1)


def size_facts(encoder: Encoder) -> Iterator[Any]:
    """x - 1 >= ln x >= 1 - 1/x; e^m >= 1 + m, and more where m >= 0; sines and cosines."""
    for atom in encoder.roots:
        if is_constant(atom):
            continue
        variable = encoder.variables[atom]
        if isinstance(atom, Exp):
            power = encoder.monomial(atom.power) / encoder.root(atom)
            yield variable >= 1 + power
            yield variable * (1 - power) <= 1
            yield encoder.z3.Implies(power >= 0, variable >= 1 + power + power * power / 2)
        elif isinstance(atom, Function) and atom.kind == "ln":
            body, value = encoder.scalar(atom.body), encoder.atom(atom)
            yield value <= body - 1
            yield value * body >= body - 1
        elif isinstance(atom, Function) and atom.kind == "sin":
            other = Function("cos", atom.body)
            if other in encoder.variables:
                yield encoder.atom(atom) ** 2 + encoder.atom(other) ** 2 == 1


def order_facts(encoder: Encoder) -> Iterator[Any]:
    """Larger numbers have larger logarithms and larger exponentials; e^m lies below x when m lies below ln x."""
    exps = [atom for atom in encoder.roots if isinstance(atom, Exp)]
    lns = [atom for atom in encoder.roots if isinstance(atom, Function) and atom.kind == "ln"]
    pairs = [*combinations(exps, 2), *combinations(lns, 2), *((low, high) for low in exps for high in lns)]
    for left, right in pairs[:MOST_PAIRS]:
        if is_constant(left) and is_constant(right):
            continue
        a, b = _small(encoder, left), _small(encoder, right)
        x, y = _large(encoder, left), _large(encoder, right)
        yield (a < b) == (x < y)
        yield (a > b) == (x > y)


def _small(encoder: Encoder, atom: Atom) -> Any:
    """The exponent, the logarithm."""
    return encoder.monomial(atom.power) if isinstance(atom, Exp) else encoder.atom(atom)


def _large(encoder: Encoder, atom: Atom) -> Any:
    """The exponential, what the logarithm is of."""
    return encoder.scalar(atom.body) if isinstance(atom, Function) else encoder.atom(atom)
