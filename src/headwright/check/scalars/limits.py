"""Comparisons and limits for all large values of some names, and from where on.

The logarithm of a term is a combination of the functions x^p ln(x)^r ln(ln(x))^s of the large names x, with
coefficients free of large names, or of products of such functions of different names. Functions of one name are ordered
by (p, r, s); the largest that occurs, and the sign of its coefficient, tell whether the term grows or vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from headwright.check.scalars.assumptions import MIRRORED, OPPOSITE, Comparison, Hypothesis, Where, checked
from headwright.check.scalars.forms import (
    ONE,
    Atom,
    Exp,
    Function,
    Monomial,
    Number,
    Parameter,
    Scalar,
    Terms,
    interval_of_monomial,
    monomial_of,
    number,
    parts_of,
    rebuilt,
    times,
)
from headwright.check.scalars.functions import exp, ln, power, sqrt
from headwright.check.scalars.numbers import Range
from headwright.check.scalars.proving import SOLVER, Cleared, needs, prove, without_known_factors
from headwright.errors import InputError

Shape = tuple[Fraction, Fraction, Fraction]  # exponents of x, ln x, ln ln x
Kind = tuple[tuple[str, Shape], ...]  # a product of such functions, one of each name
Growth = dict[Kind, Scalar]  # the logarithm of a term
FLAT: Shape = (Fraction(0), Fraction(0), Fraction(0))
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
    return any(isinstance(part, Parameter) and part.name in large for part in parts_of(atom))


def growth_of(monomial: Monomial, large: Sequence[str]) -> Growth:
    """The logarithm of a product of powers of growing atoms."""
    total: Growth = {}
    for atom, exponent in monomial:
        for kind, coefficient in _logarithm(atom, large).items():
            total[kind] = total.get(kind, number(0)) + coefficient * exponent
    return {kind: coefficient for kind, coefficient in total.items() if coefficient != 0}


def _logarithm(atom: Atom, large: Sequence[str]) -> Growth:
    if isinstance(atom, Parameter):
        return {((atom.name, (Fraction(0), Fraction(1), Fraction(0))),): number(1)}
    name = _logarithm_of_name(atom)
    if name is not None:
        return {((name, (Fraction(0), Fraction(0), Fraction(1))),): number(1)}
    if not isinstance(atom, Exp):
        raise NotOrdered
    shapes: dict[str, list[Fraction]] = {}
    still: dict[Atom, Fraction] = {}
    for inner, exponent in atom.power:
        if not _moves(inner, large):
            still[inner] = exponent
            continue
        inside = _logarithm_of_name(inner)
        if isinstance(inner, Parameter):
            shapes.setdefault(inner.name, [Fraction(0)] * 3)[0] = exponent
        elif inside is not None:
            shapes.setdefault(inside, [Fraction(0)] * 3)[1] = exponent
        else:
            raise NotOrdered
    kind = tuple((name, (p, r, s)) for name, (p, r, s) in sorted(shapes.items()))
    if any(shape <= FLAT for _, shape in kind):
        raise NotOrdered  # e^(1/x) tends to 1 without being 1, and e^(s/t) to nothing
    return {kind: rebuilt(monomial_of(still))}


def _logarithm_of_name(atom: Atom) -> str | None:
    if isinstance(atom, Function) and atom.kind == "ln":
        for inner in atom.body.atoms():
            if isinstance(inner, Parameter) and atom.body == rebuilt(((inner, Fraction(1)),)):
                return inner.name
    return None


def tendency(over: Growth, under: Growth, sign_of: SignOf) -> int | None:
    """+1: over/under grows beyond all bounds, 0: it is constant, -1: it vanishes; None: neither is certain.

    With several large names it is so however they grow: what may have the other sign is outgrown, in every name, by
    something that has the right one.
    """
    ratio = dict(over)
    for kind, coefficient in under.items():
        ratio[kind] = ratio.get(kind, number(0)) - coefficient
    signs = {kind: sign_of(coefficient) for kind, coefficient in ratio.items()}
    for direction in (1, -1):
        leading = [kind for kind, sign in signs.items() if sign == direction]
        others = [kind for kind, sign in signs.items() if sign not in (direction, 0)]
        if leading and all(any(_outgrows(one, other) for one in leading) for other in others):
            return direction
    return None if any(signs.values()) or None in signs.values() else 0


def _outgrows(one: Kind, other: Kind) -> bool:
    """Whether other/one vanishes, however the names grow."""
    mine, yours = dict(one), dict(other)
    return mine != yours and all(mine.get(name, FLAT) >= shape for name, shape in yours.items())


def grown(large: Sequence[str], where: Where) -> tuple[str, ...]:
    """The large names, each checked to have no upper end."""
    for name in large:
        if where.range(name).upper is not None:
            raise InputError(f"{name} is said to become large, but its range ends at {where.range(name).upper}")
    return tuple(large)


def still(where: Where, large: Sequence[str]) -> Where:
    """What is known of the other names alone: what ties them to the large ones is left out."""
    gone = set(large)
    kept = tuple(one for one in where.hypotheses if not (one[0].names() | one[2].names()) & gone)
    ranges = {name: _without(known, gone) for name, known in where.ranges.items() if name not in gone}
    return Where(ranges, kept)


def _without(known: Range, gone: set[str]) -> Range:
    def tied(end: object) -> bool:
        return isinstance(end, Scalar) and bool(end.names() & gone)

    low, high = (None if tied(known.lower) else known.lower), (None if tied(known.upper) else known.upper)
    return Range(low, high, known.lower_open, known.upper_open, known.integer)


def sign_by(where: Where) -> SignOf:
    """A function that finds proved signs, and remembers them."""
    found: dict[Scalar, int | None] = {}

    def sign(value: Scalar) -> int | None:
        if value not in found:
            found[value] = next(
                (one for one, comparison in ((1, ">"), (-1, "<"), (0, "=")) if prove(value, comparison, 0, where)), None
            )
        return found[value]

    return sign


def dominant(found: list[Group], sign: SignOf) -> Group | None:
    """The group beside which all others vanish, if its coefficient is certainly not 0."""
    for one in found:
        if all(other is one or tendency(other.growth, one.growth, sign) == -1 for other in found):
            return one if sign(one.coefficient) in (1, -1) else None
    return None


def defined(values: Sequence[Scalar], where: Where, large: Sequence[str]) -> bool:
    """Whether the numbers are certainly defined for all large enough values of the large names."""
    others = still(where, large)
    for need, comparison in needs(*values):
        if need.names() & set(large):
            if not _sign_far_out(need, comparison, others, large):
                return False
        elif prove(need, comparison, 0, others) is None:
            return False
    return True


def holds_far_out(left: Scalar, comparison: Comparison, right: Scalar, where: Where, large: Sequence[str]) -> bool:
    """Whether it is proved that for every choice of the other names it holds once the large ones are large enough."""
    large = grown(large, where)
    return defined((left, right), where, large) and _sign_far_out(left - right, comparison, still(where, large), large)


def _sign_far_out(value: Scalar, comparison: Comparison, others: Where, large: Sequence[str]) -> bool:
    sign = sign_by(others)
    try:
        under = dominant(groups(value.under, large), sign)
        if under is None:
            return False
        if sign(under.coefficient) == -1:
            comparison = MIRRORED[comparison]
        over = Scalar(value.over, ONE)
        if comparison in ("<", "<="):
            over, comparison = -over, MIRRORED[comparison]
        found = groups(over.over, large)
        if comparison in ("=", "!="):
            return comparison == "!=" and dominant(found, sign) is not None
        # Every group that may be negative vanishes beside one that is certainly positive.
        positive = [one for one in found if sign(one.coefficient) == 1]
        for one in found:
            if one in positive or prove(one.coefficient, ">=", 0, others):
                continue
            if not any(tendency(one.growth, other.growth, sign) == -1 for other in positive):
                return False
        return bool(positive) or (comparison == ">=" and bool(found))
    except NotOrdered:
        return False


Limit = Scalar | Literal["infinity", "-infinity"]


def limit(value: Scalar | Number, where: Where, large: Sequence[str]) -> Limit | None:
    """What the number tends to as the large names grow beyond all bounds (each by itself); None: not known."""
    value = where.settled(value)
    large = grown(large, where)
    sign = sign_by(still(where, large))
    try:
        over, under = groups(value.over, large), groups(value.under, large)
        return _quotient(over, under, sign) if defined([value], where, large) else None
    except NotOrdered:
        return None


def _quotient(over: list[Group], under: list[Group], sign: SignOf) -> Limit | None:
    below = dominant(under, sign)
    if below is None:
        return None
    total = number(0)
    growing: list[Group] = []
    for one in over:
        direction = tendency(one.growth, below.growth, sign)
        if direction is None:
            return None
        if direction == 0:
            total = total + one.coefficient / below.coefficient
        elif direction == 1:
            growing.append(one)
    if not growing:
        return total
    signs = {sign(one.coefficient) for one in growing}
    if len(signs) > 1:
        top = dominant(growing, sign)
        signs = {None if top is None else sign(top.coefficient)}
    (found,) = signs
    lower = sign(below.coefficient)
    if not found or not lower:
        return None
    return "infinity" if found * lower > 0 else "-infinity"


@dataclass(frozen=True)
class Eventually:
    """That a comparison holds for all large enough values, for every choice of the other names.

    threshold: for a large name, the value from which on it holds (beyond it, for < and >), as a formula in the other
    names (empty: not known, or always). It applies where the condition holds; elsewhere the comparison holds always.
    """

    reason: str
    used: str
    threshold: Mapping[str, Scalar] = field(default_factory=dict)
    condition: Hypothesis | None = None


def threshold_of(left: Scalar, comparison: Comparison, right: Scalar, where: Where, name: str) -> Eventually | None:
    """Solved exactly: below the threshold the comparison fails. None where the comparison is not that simple."""
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
        return _Solver(still(where, (name,)), where, name, f"it says {Cleared(value, comparison)}").solved(
            moving, coefficients
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
    says: str

    def solved(self, moving: Monomial, coefficients: list[Scalar]) -> Eventually | None:
        """constant + linear T + square T^2 >= 0 solved for T, then for the name."""
        constant, linear, square = coefficients
        if square == 0:
            if not prove(linear, ">", 0, self.others):
                return None
            return self._inverted(moving, self.others.settled(-constant / linear))
        # With square > 0 > constant there is one positive root, and T is positive.
        positive = interval_of_monomial(moving).positive
        if not (positive and prove(square, ">", 0, self.others) and prove(constant, "<", 0, self.others)):
            return None
        border = (sqrt(linear**2 - 4 * square * constant) - linear) / (2 * square)
        return self._inverted(moving, self.others.settled(border))

    def _inverted(self, moving: Monomial, border: Scalar) -> Eventually | None:
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
                return self._above(border, 0, lambda above: ln(above) / front)
            return self._above(border, 1, lambda above: power(ln(above) / front, 1 / degree)) if positive else None
        if exponent == 1:
            solution = border if isinstance(atom, Parameter) else exp(border)
            return self._from(solution) if isinstance(atom, Parameter) or positive else None
        if not (positive and isinstance(atom, Parameter)):
            return None
        return self._above(border, 0, lambda above: power(above, 1 / exponent))

    def _from(self, value: Scalar, condition: Hypothesis | None = None) -> Eventually:
        return Eventually(self.says, SOLVER, {self.name: value}, condition)

    def _above(self, border: Scalar, least: int, solve: Callable[[Scalar], Scalar]) -> Eventually | None:
        """Solved where the border lies above what T always exceeds; elsewhere the comparison always holds."""
        if prove(border, ">", least, self.others):
            return self._from(solve(border))
        excess = border - least
        if not prove(Scalar(excess.under, ONE), ">", 0, self.others):
            return None
        cleared = without_known_factors(Scalar(excess.over, ONE), ">")
        value = cleared.value if cleared.comparison == ">" else -cleared.value
        return self._from(solve(border), (value, ">", number(0)))

    def _is_name(self, atom: Atom) -> bool:
        return isinstance(atom, Parameter) and atom.name == self.name


def eventually(
    left: Scalar | Number, comparison: str, right: Scalar | Number, where: Where, large: Sequence[str]
) -> Eventually | None:
    """A proof that the comparison holds for all large enough values of the large names; None where none was found.

    >>> from headwright.check.scalars import POSITIVE, Range, exp, parameter
    >>> n, eps, x = parameter("n"), parameter("epsilon"), parameter("lambda")
    >>> where = Where({"n": Range(2, integer=True), "epsilon": Range(0, 1, True, True), "lambda": POSITIVE})
    >>> found = eventually(exp(x) / (2 * exp(x) + n - 2), ">=", 1 / (2 + eps), where, ("lambda",))
    >>> found.threshold["lambda"], found.condition
    (<ln((n - 2)/epsilon)>, (<n - 2>, '>', <0>))
    """
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    proof = prove(left, comparison, right, where)
    if proof is not None:
        return Eventually(f"it holds for all values: {proof.reason}", proof.used)
    names = tuple(name for name in grown(large, where) if name in left.names() | right.names())
    if not names:
        return None
    if len(names) == 1:
        found = threshold_of(left, comparison, right, where, names[0])
        if found is not None:
            return found
    if not holds_far_out(left, comparison, right, where, names):
        return None
    reason = f"for large {', '.join(names)} one term outgrows all others, and it has the right sign"
    return Eventually(reason, f"dominant terms, {SOLVER}")


def never(left: Scalar | Number, comparison: str, right: Scalar | Number, where: Where, large: Sequence[str]) -> bool:
    """Whether it is proved that the comparison fails for all large enough values of the large names."""
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    if left == right:
        return comparison not in ("=", "<=", ">=") and defined((left, right), where, grown(large, where))
    return holds_far_out(left, OPPOSITE[comparison], right, where, large)
