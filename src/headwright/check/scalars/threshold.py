"""From where on a comparison holds, exactly: solved for one name that occurs in one growing term (or its square)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headwright.check.scalars.atoms import Atom, Exp, Monomial, Parameter, Terms, monomial_of, times
from headwright.check.scalars.cleared import Cleared, without_known_factors
from headwright.check.scalars.functions import exp, ln, power, rebuilt, sqrt
from headwright.check.scalars.growth import NotOrdered, _logarithm_of_name, groups
from headwright.check.scalars.large import still
from headwright.check.scalars.normal import ONE
from headwright.check.scalars.proving import needs, prove
from headwright.check.scalars.scalar import Scalar, number
from headwright.check.scalars.signs import interval_of_monomial
from headwright.check.scalars.where import MIRRORED, Comparison, Hypothesis, Where
from headwright.errors import InputError


@dataclass(frozen=True)
class Threshold:
    """The comparison holds exactly from value on (beyond it, for < and >), where the condition holds, else always."""

    value: Scalar
    condition: Hypothesis | None
    reason: str


def threshold_of(left: Scalar, comparison: Comparison, right: Scalar, where: Where, name: str) -> Threshold | None:
    """The threshold, solved exactly; None where the comparison is not that simple."""
    if comparison in ("=", "!="):
        return None
    if not all(prove(need, kind, 0, where) for need, kind in needs(left, right)):
        return None
    difference = left - right
    under = Scalar(difference.under, ONE)
    if prove(under, "<", 0, where):
        comparison = MIRRORED[comparison]
    elif not prove(under, ">", 0, where):
        return None
    cleared = without_known_factors(Scalar(difference.over, ONE), comparison)
    value, comparison = cleared.value, cleared.comparison
    if comparison in ("<", "<="):
        value, comparison = -value, MIRRORED[comparison]
    try:
        split = _by_powers(value.over, name)
        if split is None:
            return None
        moving, coefficients = split
        return _Solver(still(where, (name,)), where, name).solved(
            moving, coefficients, f"it says {Cleared(value, comparison)}"
        )
    except (NotOrdered, InputError):
        return None


def _by_powers(terms: Terms, name: str) -> tuple[Monomial, list[Scalar]] | None:
    """The sum as a polynomial of degree 1 or 2 in one growing monomial: (T, [constant, linear, square])."""
    found = {group.growing: group.coefficient for group in groups(terms, (name,))}
    if len(found) not in (2, 3):
        return None
    for base in found:
        if not interval_of_monomial(base).positive:
            continue  # it may be divided by only where it is positive for all values, large or not
        inverse = monomial_of({atom: -exponent for atom, exponent in base})
        shifted = {times(moving, inverse): coefficient for moving, coefficient in found.items()}
        steps = [moving for moving in shifted if moving]
        for step in steps:
            double = times(step, step)
            if set(shifted) <= {(), step, double} and _grows(step, name):
                return step, [shifted.get(place, number(0)) for place in ((), step, double)]
    return None


def _grows(monomial: Monomial, name: str) -> bool:
    """Whether it is one positive power of something that plainly grows with the name."""
    if len(monomial) != 1 or monomial[0][1] < 0:
        return False
    atom = monomial[0][0]
    if isinstance(atom, Parameter) or _logarithm_of_name(atom) == name:
        return True
    return (
        isinstance(atom, Exp)
        and sum(isinstance(inner, Parameter) and inner.name == name for inner, _ in atom.power) == 1
    )


@dataclass(frozen=True)
class _Solver:
    others: Where
    where: Where
    name: str

    def solved(self, moving: Monomial, coefficients: list[Scalar], says: str) -> Threshold | None:
        """constant + linear T + square T^2 >= 0 solved for T, then for the name."""
        constant, linear, square = coefficients
        if square == 0:
            if not prove(linear, ">", 0, self.others):
                return None
            return self.inverted(moving, self.others.settled(-constant / linear), says)
        # With square > 0 > constant there is one positive root, and T is positive.
        positive = interval_of_monomial(moving).positive
        if not (positive and prove(square, ">", 0, self.others) and prove(constant, "<", 0, self.others)):
            return None
        border = (sqrt(linear**2 - 4 * square * constant) - linear) / (2 * square)
        return self.inverted(moving, self.others.settled(border), says)

    def inverted(self, moving: Monomial, border: Scalar, says: str) -> Threshold | None:
        """T >= border solved for the name, T being a growing function of it."""
        atom, exponent = moving[0]
        positive = self.where.range(self.name).positive
        if isinstance(atom, Exp):
            rest = monomial_of({inner: power for inner, power in atom.power if not self._is_name(inner)})
            degree = dict(atom.power)[next(inner for inner, _ in atom.power if self._is_name(inner))]
            front = rebuilt(rest) * exponent
            if self.name in front.names() or degree < 0 or not prove(front, ">", 0, self.others):
                return None
            if degree == 1:  # T takes all values above 0
                return self._above(border, 0, lambda above: ln(above) / front, says)
            return (
                self._above(border, 1, lambda above: power(ln(above) / front, 1 / degree), says) if positive else None
            )
        if exponent == 1:
            solution = border if isinstance(atom, Parameter) else exp(border)
            return Threshold(solution, None, says) if isinstance(atom, Parameter) or positive else None
        if not (positive and isinstance(atom, Parameter)):
            return None
        return self._above(border, 0, lambda above: power(above, 1 / exponent), says)

    def _above(self, border: Scalar, least: int, solve: Callable[[Scalar], Scalar], says: str) -> Threshold | None:
        """Solved where the border lies above what T always exceeds; elsewhere the comparison always holds."""
        if prove(border, ">", least, self.others):
            return Threshold(solve(border), None, says)
        excess = border - least
        if not prove(Scalar(excess.under, ONE), ">", 0, self.others):
            return None
        cleared = without_known_factors(Scalar(excess.over, ONE), ">")
        value = cleared.value if cleared.comparison == ">" else -cleared.value
        return Threshold(solve(border), (value, ">", number(0)), says)

    def _is_name(self, atom: Atom) -> bool:
        return isinstance(atom, Parameter) and atom.name == self.name
