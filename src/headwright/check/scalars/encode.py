"""Scalars as terms of z3's real arithmetic: a variable for (a root of) every atom."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial, Parameter, Prime, Terms
from headwright.check.scalars.scalar import Scalar
from headwright.check.scalars.signs import interval_of_atom

FINEST_ROOT = 12  # finer roots become variables of their own, tied to nothing


def all_atoms(values: Iterable[Scalar]) -> dict[Atom, int]:
    """Every atom in the scalars, inner ones first, with the root that makes all its exponents whole (1: none)."""
    found: dict[Atom, int] = {}

    def look(monomial: Monomial) -> None:
        for atom, exponent in monomial:
            if atom not in found:
                if isinstance(atom, Exp):
                    look(atom.power)
                elif isinstance(atom, Function):
                    look_all(atom.body)
            found[atom] = math.lcm(found.get(atom, 1), exponent.denominator)

    def look_all(value: Scalar) -> None:
        for terms in (value.over, value.under):
            for monomial in terms:
                look(monomial)

    for value in values:
        look_all(value)
    return found


class Encoder:
    """z3 terms for scalars, in one z3 context; the facts that define its variables are collected in `facts`."""

    def __init__(self, z3: Any, context: Any, values: Iterable[Scalar]) -> None:
        """One variable for every atom of the scalars that are to be encoded."""
        self.z3 = z3
        self.context = context
        self.roots = all_atoms(values)
        self.facts: list[Any] = []
        self.variables = {atom: self.new(f"a{place}") for place, atom in enumerate(self.roots)}
        self._inverses: dict[Atom, Any] = {}
        self._loose: dict[tuple[Atom, Fraction], Any] = {}
        self._quotients: dict[Scalar, Any] = {}

    def new(self, name: str) -> Any:
        """A fresh real variable."""
        return self.z3.Real(name, self.context)

    def rational(self, value: Fraction) -> Any:
        """A rational number."""
        return self.z3.RealVal(f"{value.numerator}/{value.denominator}", self.context)

    def tied(self, atom: Atom) -> bool:
        """Whether the variable of an atom is a root of the atom (else it is the atom)."""
        return self.roots[atom] <= FINEST_ROOT

    def root(self, atom: Atom) -> int:
        """Which root of the atom its variable is."""
        return self.roots[atom] if self.tied(atom) else 1

    def atom(self, atom: Atom) -> Any:
        """The value of an atom."""
        return _repeated(self.variables[atom], self.root(atom))

    def power(self, atom: Atom, exponent: Fraction) -> Any:
        """A power of an atom."""
        steps = exponent * self.root(atom)
        if steps.denominator > 1:
            return self._loose_power(atom, exponent)
        if steps >= 0:
            return _repeated(self.variables[atom], steps.numerator)
        return _repeated(self._inverse(atom), -steps.numerator)

    def _loose_power(self, atom: Atom, exponent: Fraction) -> Any:
        if (atom, exponent) not in self._loose:
            variable = self.new(f"p{len(self._loose)}")
            self._loose[atom, exponent] = variable
            self.facts.append(variable >= 0)
            if interval_of_atom(atom).positive:
                self.facts.append(variable > 0)
        return self._loose[atom, exponent]

    def _inverse(self, atom: Atom) -> Any:
        if atom not in self._inverses:
            variable = self.new(f"i{len(self._inverses)}")
            self._inverses[atom] = variable
            self.facts.append(variable * self.variables[atom] == 1)
        return self._inverses[atom]

    def monomial(self, monomial: Monomial) -> Any:
        """A product of powers."""
        result = self.rational(Fraction(1))
        for place, (atom, exponent) in enumerate(monomial):
            factor = self.power(atom, exponent)
            result = result * factor if place else factor
        return result

    def terms(self, terms: Terms) -> Any:
        """A sum of terms."""
        result = self.rational(Fraction(0))
        for place, (monomial, coefficient) in enumerate(terms.items()):
            part = self.rational(coefficient) if not monomial else self.rational(coefficient) * self.monomial(monomial)
            result = result + part if place else part
        return result

    def scalar(self, value: Scalar) -> Any:
        """A number; a quotient becomes a variable of its own."""
        if value.whole:
            return self.terms(value.over)
        if value not in self._quotients:
            variable = self.new(f"q{len(self._quotients)}")
            self._quotients[value] = variable
            under = self.terms(value.under)
            self.facts += [under != 0, variable * under == self.terms(value.over)]
        return self._quotients[value]

    def compared(self, value: Any, comparison: str) -> Any:
        """value compared with 0."""
        return {
            "=": lambda: value == 0, "!=": lambda: value != 0, "<": lambda: value < 0,
            ">": lambda: value > 0, "<=": lambda: value <= 0, ">=": lambda: value >= 0,
        }[comparison]()  # fmt: skip


def _repeated(variable: Any, times: int) -> Any:
    return variable**times if times > 1 else variable if times else variable * 0 + 1


def is_constant(atom: Atom) -> bool:
    """Whether no name occurs in it."""
    if isinstance(atom, Parameter):
        return False
    if isinstance(atom, Exp):
        return all(is_constant(inner) for inner, _ in atom.power)
    if isinstance(atom, Function):
        return not atom.body.names()
    return isinstance(atom, Prime) or atom.key == "#pi"
