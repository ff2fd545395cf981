"""Common factors and factorisations, by flint's polynomials; only where they are small enough to be quick."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from headwright.check.scalars.atoms import Atom, Terms, atoms_in, monomial_key, monomial_of

LARGEST_SUM = 150  # terms
LARGEST_DEGREE = 120
LARGEST_FACTORED = 60  # terms, and degree
MOST_ATOMS = 12


class _Ring:
    """Polynomials in roots of the atoms that occur, fine enough for all exponents to be whole."""

    def __init__(self, *sums: Terms) -> None:
        self.atoms: list[Atom] = sorted({atom for terms in sums for atom in atoms_in(terms)}, key=lambda atom: atom.key)
        self.fine = dict.fromkeys(self.atoms, 1)
        for terms in sums:
            for monomial in terms:
                for atom, exponent in monomial:
                    self.fine[atom] = math.lcm(self.fine[atom], exponent.denominator)
        self.context = fmpq_mpoly_ctx.get(tuple(f"x{i}" for i in range(len(self.atoms))), Ordering.lex)

    def lowest(self, terms: Terms) -> list[Fraction]:
        rows = [dict(monomial) for monomial in terms]
        return [min(row.get(atom, Fraction(0)) for row in rows) for atom in self.atoms]

    def degree(self, terms: Terms) -> Fraction:
        low = self.lowest(terms)
        rows = [dict(monomial) for monomial in terms]
        return max(
            sum(
                (
                    (row.get(atom, Fraction(0)) - start) * self.fine[atom]
                    for atom, start in zip(self.atoms, low, strict=True)
                ),
                Fraction(0),
            )
            for row in rows
        )

    def polynomial(self, terms: Terms, low: list[Fraction]) -> fmpq_mpoly:
        rows = {}
        for monomial, coefficient in terms.items():
            powers = dict(monomial)
            exponents = tuple(
                int((powers.get(atom, Fraction(0)) - start) * self.fine[atom])
                for atom, start in zip(self.atoms, low, strict=True)
            )
            rows[exponents] = fmpq(coefficient.numerator, coefficient.denominator)
        return self.context.from_dict(rows)

    def terms(self, polynomial: fmpq_mpoly, low: list[Fraction]) -> Terms:
        result: Terms = {}
        for exponents, coefficient in polynomial.to_dict().items():
            powers = {
                atom: start + Fraction(int(exponent), self.fine[atom])
                for atom, start, exponent in zip(self.atoms, low, exponents, strict=True)
            }
            result[monomial_of(powers)] = Fraction(int(coefficient.p), int(coefficient.q))
        return result

    def quick(self, most: int, degree: int, *sums: Terms) -> bool:
        if not self.atoms or len(self.atoms) > MOST_ATOMS or max(len(terms) for terms in sums) > most:
            return False
        return all(self.degree(terms) <= degree for terms in sums)


def divided_by_common(over: Terms, under: Terms) -> tuple[Terms, Terms]:
    """Both, divided by their greatest common factor (powers of single atoms aside).

    >>> from headwright.check.scalars.atoms import Parameter
    >>> x, one = ((Parameter("x"), Fraction(1)),), Fraction(1)
    >>> square = ((Parameter("x"), Fraction(2)),)
    >>> divided_by_common({square: one, (): -one}, {x: one, (): one}) == ({x: one, (): -one}, {(): one})
    True
    """
    if len(over) == 1:
        return over, under
    ring = _Ring(over, under)
    if not ring.quick(LARGEST_SUM, LARGEST_DEGREE, over, under):
        return over, under
    low_over, low_under = ring.lowest(over), ring.lowest(under)
    upper, lower = ring.polynomial(over, low_over), ring.polynomial(under, low_under)
    common = upper.gcd(lower)
    if common.is_constant():
        return over, under
    return ring.terms(upper / common, low_over), ring.terms(lower / common, low_under)


def factors(terms: Terms) -> list[tuple[Terms, int]] | None:
    """The sum as a product of powers of sums; None where it has no factors or is too long to look.

    The first entry is the part with one term (a rational and powers of atoms).

    >>> from headwright.check.scalars.atoms import Parameter
    >>> x, one = ((Parameter("x"), Fraction(1)),), Fraction(1)
    >>> [(len(part), power) for part, power in factors({((Parameter("x"), Fraction(2)),): one, x: 2 * one, (): one})]
    [(1, 1), (2, 2)]
    """
    ring = _Ring(terms)
    if not ring.quick(LARGEST_FACTORED, LARGEST_FACTORED, terms):
        return None
    low = ring.lowest(terms)
    constant, found = ring.polynomial(terms, low).factor()
    if len(found) == 1 and found[0][1] == 1 and not any(low) and abs(constant) == 1:
        return None
    none = [Fraction(0)] * len(low)
    first = {monomial_of(dict(zip(ring.atoms, low, strict=True))): Fraction(int(constant.p), int(constant.q))}
    parts = [(ring.terms(part, none), int(power)) for part, power in found]
    return [(first, 1), *sorted(parts, key=lambda pair: sorted(map(monomial_key, pair[0])))]
