"""Sums, products and quotients of terms, brought to normal form."""

from __future__ import annotations

import math
from fractions import Fraction

from headwright.check.scalars.atoms import UNIT, Atom, Function, Monomial, Prime, Terms, atoms_in, monomial_of, times
from headwright.check.scalars.cancel import divided_by_common
from headwright.check.scalars.scalar import Scalar, number, term
from headwright.check.scalars.signs import interval_of_terms
from headwright.check.scalars.sizes import PRODUCTS, TooBig, rational_power, small_rational, work

ONE: Terms = {UNIT: Fraction(1)}


def added(left: Scalar, right: Scalar) -> Scalar:
    """left + right."""
    if left._under == right._under:
        over = terms_sum(left._over, right._over)
        return Scalar(over, left._under) if left.whole else quotient(over, left._under)
    return quotient_of(
        added(_product(left._over, right._under), _product(right._over, left._under)),
        _product(left._under, right._under),
    )


def multiplied(left: Scalar, right: Scalar) -> Scalar:
    """left * right."""
    over = _product(left._over, right._over)
    if left.whole and right.whole:
        return over
    return quotient_of(over, _product(left._under, right._under))


def quotient_of(over: Scalar, under: Scalar) -> Scalar:
    """over / under of two scalars that most often have no denominators of their own."""
    if over.whole and under.whole:
        return quotient(over._over, under._over)
    return multiplied(over, quotient(under._under, under._over))


def terms_sum(left: Terms, right: Terms) -> Terms:
    """All terms of both."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = total.get(monomial, Fraction(0)) + coefficient
        if value:
            total[monomial] = value
        else:
            del total[monomial]
    return total


def terms_product(left: Terms, right: Terms) -> Terms:
    """All products of terms; powers of roots may then be whole and want folded()."""
    if len(left) * len(right) > PRODUCTS:
        raise TooBig(f"a product of sums of {len(left)} and {len(right)} terms was asked for; use shorter sums")
    work(len(left) * len(right) * (1 + max(map(len, left), default=0) + max(map(len, right), default=0)))
    total: Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = times(a, b)
            value = small_rational(total.get(monomial, Fraction(0)) + x * y)
            if value:
                total[monomial] = value
            else:
                total.pop(monomial, None)
    return total


def _product(left: Terms, right: Terms) -> Scalar:
    if left == ONE:
        return folded(right)
    if right == ONE:
        return folded(left)
    return folded(terms_product(left, right))


def folded(terms: Terms) -> Scalar:
    """The sum of the terms, with every root's exponent between 0 and 1 (|x|: 0 or 1 to below 2)."""
    total: Terms = {}
    rest: list[Scalar] = []
    for monomial, coefficient in terms.items():
        if all(_settled(atom, exponent) for atom, exponent in monomial):
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        else:
            rest.append(_folded_term(monomial, coefficient))
    result = Scalar({monomial: coefficient for monomial, coefficient in total.items() if coefficient}, ONE)
    for part in rest:
        result = added(result, part)
    return result


def _settled(atom: Atom, exponent: Fraction) -> bool:
    if isinstance(atom, Prime):
        return 0 < exponent < 1
    if isinstance(atom, Function) and atom.kind == "sum":
        return 0 < exponent < 1
    if isinstance(atom, Function) and atom.kind == "abs":
        return 0 < exponent < 2
    return True


def _folded_term(monomial: Monomial, coefficient: Fraction) -> Scalar:
    from headwright.check.scalars.functions import power

    kept: dict[Atom, Fraction] = {}
    outside = number(1)
    for atom, exponent in monomial:
        if _settled(atom, exponent):
            kept[atom] = exponent
        elif isinstance(atom, Prime):
            whole = math.floor(exponent)
            coefficient *= rational_power(Fraction(atom.number), whole)
            kept[atom] = exponent - whole
        elif isinstance(atom, Function):
            whole = math.floor(exponent) if atom.kind == "sum" else 2 * math.floor(exponent / 2)
            outside = multiplied(outside, power(atom.body, Fraction(whole)))
            kept[atom] = exponent - whole
    return multiplied(term(monomial_of(kept), coefficient), outside)


def quotient(over: Terms, under: Terms) -> Scalar:
    """over / under of two settled sums."""
    if len(under) == 1:
        ((monomial, coefficient),) = under.items()
        if not monomial and coefficient == 1:
            return Scalar(over, ONE)
        inverted = {monomial_of({atom: -exponent for atom, exponent in monomial}): 1 / coefficient}
        return multiplied(Scalar(over, ONE), folded(inverted)) if monomial else _scaled(over, 1 / coefficient)
    if not over:
        return number(0)
    over, under = divided_by_common(over, under)
    if len(under) == 1:
        return quotient(over, under)
    shared = times(_shared(under), _shared_roots(under))
    factor = content(under)
    if interval_of_terms(under).not_positive or (not interval_of_terms(under).not_negative and _leads_negative(under)):
        factor = -factor
    unit = {shared: 1 / factor}
    under = terms_product(under, unit)
    upper = _product(over, unit)
    if upper.whole:
        return Scalar(upper._over, under)
    return quotient_of(upper, Scalar(under, ONE))


def _scaled(over: Terms, factor: Fraction) -> Scalar:
    return Scalar({monomial: coefficient * factor for monomial, coefficient in over.items()}, ONE)


def _shared(terms: Terms) -> Monomial:
    """The inverse of what all terms share, of those atoms that may have any exponent."""
    powers: dict[Atom, Fraction] = {}
    for atom in atoms_in(terms):
        if isinstance(atom, Prime) or (isinstance(atom, Function) and atom.kind in ("sum", "abs")):
            continue
        least = min(dict(monomial).get(atom, Fraction(0)) for monomial in terms)
        powers[atom] = -least
    return monomial_of(powers)


def _shared_roots(under: Terms) -> Monomial:
    """The inverse of the roots that all terms share."""
    powers: dict[Atom, Fraction] = {}
    for atom in atoms_in(under):
        if isinstance(atom, Prime) or (isinstance(atom, Function) and atom.kind in ("sum", "abs")):
            powers[atom] = -min(dict(monomial).get(atom, Fraction(0)) for monomial in under)
    return monomial_of(powers)


def content(terms: Terms) -> Fraction:
    """The positive rational that makes the coefficients whole numbers without common divisor."""
    over = math.gcd(*(coefficient.numerator for coefficient in terms.values()))
    under = math.lcm(*(coefficient.denominator for coefficient in terms.values()))
    return Fraction(over, under)


def _leads_negative(terms: Terms) -> bool:
    return terms[max(terms, key=lambda monomial: [(atom.key, exponent) for atom, exponent in monomial])] < 0
