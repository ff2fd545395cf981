"""A comparison cleared of denominators and of factors whose sign is known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.check.scalars.arrangement import reads_negative
from headwright.check.scalars.atoms import Atom, Function, Parameter, Prime, Terms, atoms_in, monomial_of
from headwright.check.scalars.functions import parameter, power
from headwright.check.scalars.normal import ONE, content, folded, terms_product
from headwright.check.scalars.ranges import Range
from headwright.check.scalars.scalar import Scalar, number
from headwright.check.scalars.signs import interval, interval_of_atom, interval_of_terms
from headwright.check.scalars.split import factored
from headwright.check.scalars.where import MIRRORED, Comparison


@dataclass(frozen=True)
class Cleared:
    """value compared with 0, which is the same as what was asked."""

    value: Scalar
    comparison: Comparison

    def __str__(self) -> str:
        """With as few minus signs as possible: what is negative goes to the other side.

        >>> from headwright.check.scalars import parameter
        >>> str(Cleared(parameter("x") - parameter("n") + 2, ">="))
        'x >= n - 2'
        """
        left: Terms = {}
        right: Terms = {}
        for monomial, coefficient in self.value.over.items():
            side = left if coefficient > 0 else right
            side[monomial] = abs(coefficient)
        if left.keys() - {()} and right.keys() - {()} and () in left:
            right[()] = -left.pop(())
        comparison = self.comparison
        if not left:
            left, right, comparison = right, left, MIRRORED[comparison]
        apart = f"{Scalar(left, ONE)} {comparison} {Scalar(right, ONE)}"
        turned = reads_negative(self.value.over)
        together = (
            f"{-self.value if turned else self.value} {MIRRORED[self.comparison] if turned else self.comparison} 0"
        )
        return min(apart, together, key=len)


def without_known_factors(value: Scalar, comparison: Comparison) -> Cleared:
    """value compared with 0, without the factors that are certainly positive or negative.

    >>> from headwright.check.scalars import POSITIVE, parameter
    >>> x = parameter("x", POSITIVE)
    >>> str(without_known_factors(x**2 - x, ">="))
    'x >= 1'
    """
    if value == 0:
        return Cleared(value, comparison)
    coefficient, parts = factored(value)
    rest = number(1)
    for part in parts:
        place = interval(part.base)
        odd = part.exponent.denominator == 1 and part.exponent.numerator % 2 == 1
        if place.positive or (place.negative and not odd):
            continue
        if place.negative:
            coefficient = -coefficient
        else:
            rest = rest * power(part.base, part.exponent)
    if not rest.whole:
        return Cleared(value, comparison)
    if coefficient < 0:
        comparison = MIRRORED[comparison]
    return Cleared(_whole_coefficients(without_denominators(rest)), comparison)


def without_denominators(value: Scalar) -> Scalar:
    """Times such powers of positive atoms that no exponent of theirs is negative."""
    powers: dict[Atom, Fraction] = {}
    for atom in atoms_in(value.over):
        free = not isinstance(atom, Prime) and not (isinstance(atom, Function) and atom.kind in ("sum", "abs"))
        if free and interval_of_atom(atom).positive:
            powers[atom] = -min(Fraction(0), *(dict(monomial).get(atom, Fraction(0)) for monomial in value.over))
    return folded(terms_product(value.over, {monomial_of(powers): Fraction(1)}))


def _whole_coefficients(value: Scalar) -> Scalar:
    return value / content(value.over) if value.over else value


def certainly(cleared: Cleared) -> bool:
    """Whether the ranges alone decide the comparison in the affirmative, term by term."""
    for value in (cleared.value, _from_lower_ends(cleared.value)):
        place = interval_of_terms(value.over)
        zero = not value.over
        decided = {
            ">": place.positive, ">=": place.not_negative, "<": place.negative, "<=": place.not_positive,
            "=": zero, "!=": place.positive or place.negative,
        }[cleared.comparison]  # fmt: skip
        if decided:
            return True
    return False


def _from_lower_ends(value: Scalar) -> Scalar:
    """The same with every name counted from its lower end: n = 2 + m with m >= 0."""
    fresh: dict[str, Scalar] = {}
    for atom in atoms_in(value.over):
        if isinstance(atom, Parameter) and isinstance(atom.range.lower, Fraction) and atom.range.lower:
            start = Range(0, lower_open=atom.range.lower_open)
            fresh[atom.name] = parameter(atom.name, start) + atom.range.lower
    shifted = value.put(fresh)
    return shifted if shifted.whole else value
