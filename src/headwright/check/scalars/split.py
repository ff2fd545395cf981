"""A scalar taken apart into a rational and powers of bases, with the signs of the bases settled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.check.scalars.atoms import UNIT, Atom, Function, Monomial, Terms
from headwright.check.scalars.cancel import factors
from headwright.check.scalars.scalar import Scalar, number, term
from headwright.check.scalars.signs import interval


@dataclass(frozen=True)
class Factor:
    """base ** exponent; the base is one atom, or a sum (then the atom is None)."""

    base: Scalar
    exponent: Fraction
    atom: Atom | None = None


@dataclass(frozen=True)
class Signed:
    """sign * size * product of the factors.

    known: their bases are not negative (wherever what was written is defined); even: the base may be negative, its
    exponent is even; odd: the base's sign is not known and its exponent is odd.
    """

    sign: int
    size: Fraction
    known: tuple[Factor, ...]
    even: tuple[Factor, ...]
    odd: tuple[Factor, ...]


def factored(value: Scalar) -> tuple[Fraction, list[Factor]]:
    """The number as a rational times powers.

    >>> from headwright.check.scalars import parameter
    >>> factored(parameter("x") * 6)
    (Fraction(6, 1), [Factor(base=<x>, exponent=Fraction(1, 1), atom=x[])])
    """
    coefficient, found = _taken_apart(value.over)
    below, lower = _taken_apart(value.under)
    return coefficient / below, found + [Factor(part.base, -part.exponent, part.atom) for part in lower]


def _taken_apart(terms: Terms) -> tuple[Fraction, list[Factor]]:
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        return coefficient, _powers(monomial)
    parts = factors(terms)
    if parts is None:
        return Fraction(1), [Factor(Scalar(terms, number(1).under), Fraction(1))]
    coefficient = Fraction(1)
    found: list[Factor] = []
    for part, power in parts:
        if len(part) == 1:
            ((monomial, value),) = part.items()
            coefficient *= value**power
            found += [Factor(one.base, one.exponent * power, one.atom) for one in _powers(monomial)]
        else:
            found.append(Factor(Scalar(part, number(1).under), Fraction(power)))
    return coefficient, found


def _powers(monomial: Monomial) -> list[Factor]:
    return [Factor(term(((atom, Fraction(1)),)), exponent, atom) for atom, exponent in monomial]


def signed(value: Scalar) -> Signed:
    """The factors of a number that is not 0, sorted by what is known of their signs."""
    coefficient, found = factored(value)
    known: list[Factor] = []
    even: list[Factor] = []
    odd: list[Factor] = []
    for part in found:
        # A broken exponent was only written down where its base is not negative.
        place = interval(part.base)
        if part.exponent.denominator > 1 or place.not_negative or _a_root(part):
            known.append(part)
        elif place.not_positive:
            known.append(Factor(-part.base, part.exponent))
            coefficient *= -1 if part.exponent.numerator % 2 else 1
        elif part.exponent.numerator % 2 == 0:
            even.append(part)
        else:
            odd.append(part)
    return Signed(1 if coefficient > 0 else -1, abs(coefficient), tuple(known), tuple(even), tuple(odd))


def _a_root(part: Factor) -> bool:
    return isinstance(part.atom, Function) and part.atom.kind in ("sum", "abs")


def together(parts: tuple[Factor, ...], sign: int) -> Scalar:
    """The product of factors with whole exponents, again as one number."""
    from headwright.check.scalars.functions import power

    total = term(UNIT, sign)
    for part in parts:
        total = total * power(part.base, part.exponent)
    return total
