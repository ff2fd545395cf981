"""How fast terms grow as some names become large.

The logarithm of a term is a combination of the functions x^p ln(x)^r ln(ln(x))^s of the large names x, with
coefficients free of large names. Such functions are ordered by (p, r, s); the largest that occurs, and the sign of
its coefficient, tell whether the term grows or vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.check.scalars.atoms import Atom, Exp, Function, Monomial, Parameter, Terms, monomial_of
from headwright.check.scalars.functions import rebuilt
from headwright.check.scalars.normal import ONE
from headwright.check.scalars.scalar import Scalar, number

Shape = tuple[Fraction, Fraction, Fraction]  # exponents of x, ln x, ln ln x
Growth = dict[tuple[str, Shape], Scalar]  # the logarithm of a term
SignOf = Callable[[Scalar], int | None]  # +1, 0, -1 where proved


class NotOrdered(Exception):  # noqa: N818  never leaves this package
    """A term grows in a way that is not understood here."""


@dataclass(frozen=True)
class Group:
    """All terms of a sum that grow alike: coefficient (free of large names) times one growing monomial."""

    growing: Monomial
    coefficient: Scalar
    growth: Growth


def groups(terms: Terms, large: Sequence[str]) -> list[Group]:
    """The terms of a sum by how they grow."""
    found: dict[Monomial, Terms] = {}
    for monomial, coefficient in terms.items():
        moving = monomial_of({atom: power for atom, power in monomial if _moves(atom, large)})
        still = monomial_of({atom: power for atom, power in monomial if not _moves(atom, large)})
        found.setdefault(moving, {})[still] = coefficient
    return [Group(moving, Scalar(rest, ONE), growth_of(moving, large)) for moving, rest in found.items()]


def _moves(atom: Atom, large: Sequence[str]) -> bool:
    if isinstance(atom, Parameter):
        return atom.name in large
    if isinstance(atom, Exp):
        return any(_moves(inner, large) for inner, _ in atom.power)
    return isinstance(atom, Function) and bool(atom.body.names() & set(large))


def growth_of(monomial: Monomial, large: Sequence[str]) -> Growth:
    """The logarithm of a product of powers of growing atoms."""
    total: Growth = {}
    for atom, exponent in monomial:
        for kind, coefficient in _logarithm(atom, large).items():
            total[kind] = total.get(kind, number(0)) + coefficient * exponent
    return {kind: coefficient for kind, coefficient in total.items() if coefficient != 0}


def _logarithm(atom: Atom, large: Sequence[str]) -> Growth:
    if isinstance(atom, Parameter):
        return {(atom.name, (Fraction(0), Fraction(1), Fraction(0))): number(1)}
    name = _logarithm_of_name(atom)
    if name is not None:
        return {(name, (Fraction(0), Fraction(0), Fraction(1))): number(1)}
    if not isinstance(atom, Exp):
        raise NotOrdered
    shapes: dict[str, list[Fraction]] = {}
    still: dict[Atom, Fraction] = {}
    for inner, power in atom.power:
        if not _moves(inner, large):
            still[inner] = power
            continue
        inside = _logarithm_of_name(inner)
        if isinstance(inner, Parameter):
            shapes.setdefault(inner.name, [Fraction(0)] * 3)[0] = power
        elif inside is not None:
            shapes.setdefault(inside, [Fraction(0)] * 3)[1] = power
        else:
            raise NotOrdered
    if len(shapes) != 1:
        raise NotOrdered
    ((name, (p, r, s)),) = shapes.items()
    if (p, r, s) <= (Fraction(0), Fraction(0), Fraction(0)):
        raise NotOrdered  # e^(1/x) tends to 1 without being 1
    return {(name, (p, r, s)): rebuilt(monomial_of(still))}


def _logarithm_of_name(atom: Atom) -> str | None:
    if isinstance(atom, Function) and atom.kind == "ln":
        for inner in atom.body.atoms():
            if isinstance(inner, Parameter) and atom.body == rebuilt(((inner, Fraction(1)),)):
                return inner.name
    return None


def tendency(over: Growth, under: Growth, large: Sequence[str], sign_of: SignOf) -> int | None:
    """+1: over/under grows beyond all bounds, 0: it is constant, -1: it vanishes; None: neither is certain.

    With several large names it must be so for each by itself (or not depend on it), whatever the others do.
    """
    seen: set[int] = set()
    for name in large:
        ratio: dict[Shape, Scalar] = {}
        for growth, sign in ((over, 1), (under, -1)):
            for (owner, shape), coefficient in growth.items():
                if owner == name:
                    ratio[shape] = ratio.get(shape, number(0)) + coefficient * sign
        sign_found: int | None = 0
        for shape in sorted(ratio, reverse=True):
            sign_found = sign_of(ratio[shape])
            if sign_found is None:
                return None
            if sign_found:
                break
        seen.add(sign_found or 0)
    if 1 in seen and -1 in seen:
        return None
    return 1 if 1 in seen else -1 if -1 in seen else 0
