"""In which order, and with which sign in front, the terms of a sum are written."""

from __future__ import annotations

from fractions import Fraction

from headwright.check.scalars.atoms import (
    UNIT,
    Atom,
    Exp,
    Function,
    Monomial,
    Parameter,
    Prime,
    Terms,
    atoms_in,
    monomial_of,
)
from headwright.check.scalars.signs import interval_of_terms

HALF = Fraction(1, 2)


def sorted_powers(
    monomial: Monomial,
) -> tuple[list[tuple[Atom, Fraction]], dict[Atom, Fraction], list[tuple[Exp, Fraction]]]:
    """Whole powers (names first, sums, logarithms), what stands under a square root, exponentials."""
    powers: list[tuple[Atom, Fraction]] = []
    under_root: dict[Atom, Fraction] = {}
    exponents: list[tuple[Exp, Fraction]] = []
    for atom, exponent in monomial:
        if isinstance(atom, Exp):
            exponents.append((atom, exponent))
        elif abs(exponent) == HALF:
            under_root[atom] = exponent
        else:
            powers.append((atom, exponent))
    return powers, under_root, exponents


def times_power(monomial: Monomial, atom: Atom, exponent: Fraction) -> Monomial:
    """The monomial times a power of an atom that is not in it."""
    return monomial_of({**dict(monomial), atom: exponent})


def _weight(monomial: Monomial) -> tuple[int, Fraction, str]:
    """Exponentials first, then higher powers, constants last."""
    if not monomial:
        return 2, Fraction(0), ""
    constant = all(
        isinstance(atom, Prime) or (not atom.depth and not isinstance(atom, Parameter)) for atom, _ in monomial
    )
    growing = any(isinstance(atom, Exp) for atom, _ in monomial)
    size = sum((exponent for _, exponent in monomial), Fraction(0))
    return (1 if constant else 0 if not growing else -1), -size, "".join(atom.key for atom, _ in monomial)


def ordered(terms: Terms) -> list[tuple[Monomial, Fraction]]:
    """The terms in the order in which they are written: the first one positive, if any is."""
    rows = sorted(terms.items(), key=lambda row: _weight(row[0]))
    first = next((place for place, (_, coefficient) in enumerate(rows) if coefficient > 0), 0)
    return [rows[first], *rows[:first], *rows[first + 1 :]]


def reads_negative(terms: Terms) -> bool:
    """Whether it is better written with all signs changed: it is negative, or the minus signs prevail."""
    if not terms:
        return False
    place = interval_of_terms(terms)
    if place.not_negative or place.not_positive:
        return not place.not_negative
    return sum(1 if value < 0 else -1 for value in terms.values()) > 0 or all(value < 0 for value in terms.values())


def denominator(terms: Terms) -> Monomial:
    """What to multiply with so that no term of a sum has a name below a bar."""
    if len(terms) == 1:
        return UNIT
    powers: dict[Atom, Fraction] = {}
    for atom in atoms_in(terms):
        if isinstance(atom, Exp | Prime) or (isinstance(atom, Function) and atom.kind in ("sum", "abs")):
            continue
        least = min(dict(monomial).get(atom, Fraction(0)) for monomial in terms)
        if least < 0:
            powers[atom] = -least
    return monomial_of(powers)
