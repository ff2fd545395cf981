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

from headwright.errors import InputError
from headwright.grading.scalars import forms
from headwright.grading.scalars.assumptions import (
    MIRRORED,
    OPPOSITE,
    Comparison,
    Hypothesis,
    Where,
    checked,
)
from headwright.grading.scalars.functions import exp, ln, power, sqrt
from headwright.grading.scalars.proving import (
    SOLVER,
    Cleared,
    needs,
    prove,
    without_known_factors,
)

Shape = tuple[Fraction, Fraction, Fraction]  # exponents of x, ln x, ln ln x
Kind = tuple[tuple[str, Shape], ...]  # a product of such functions, one of each name
Growth = dict[Kind, forms.Scalar]  # the logarithm of a term
FLAT: Shape = (Fraction(0), Fraction(0), Fraction(0))
SignOf = Callable[[forms.Scalar], int | None]  # +1, 0, -1 where proved


class NotOrdered(Exception):  # noqa: N818  never leaves this package
    """A term grows in a way that is not understood here."""


@dataclass(frozen=True)
class Group:
    """All terms of a sum that grow alike: coefficient (free of large names) times one growing monomial."""

    growing: forms.Monomial
    coefficient: forms.Scalar
    growth: Growth


def groups(terms: forms.Terms, large: Sequence[str]) -> list[Group]:
    """The terms of a sum by how they grow."""
    found: dict[forms.Monomial, forms.Terms] = {}
    for monomial, coefficient in terms.items():
        moving = tuple(pair for pair in monomial if _moves(pair[0], large))
        still = tuple(pair for pair in monomial if pair not in moving)
        found.setdefault(moving, {})[still] = coefficient
    result: list[Group] = []
    for moving, rest in found.items():
        total: Growth = {}
        for atom, exponent in moving:
            kind, front = _logarithm(atom, large)
            total[kind] = total.get(kind, forms.number(0)) + front * exponent
        growth = {kind: front for kind, front in total.items() if front != 0}
        result.append(Group(moving, forms.Scalar(rest), growth))
    return result


def _moves(atom: forms.Atom, large: Sequence[str]) -> bool:
    parts = forms.powers_in((((atom, Fraction(1)),),))
    return any(
        isinstance(part, forms.Parameter) and part.name in large for part, _ in parts
    )


def _logarithm(atom: forms.Atom, large: Sequence[str]) -> tuple[Kind, forms.Scalar]:
    """The logarithm of a growing atom: a number times a product of functions of names."""
    if not isinstance(atom, forms.Exp):
        name, logarithms = _name_in(atom)
        shape = (Fraction(0), Fraction(1 - logarithms), Fraction(logarithms))
        return ((name, shape),), forms.number(1)
    shapes: dict[str, list[Fraction]] = {}
    still: dict[forms.Atom, Fraction] = {}
    for inner, exponent in atom.power:
        if _moves(inner, large):
            name, logarithms = _name_in(inner)
            shapes.setdefault(name, [Fraction(0)] * 3)[logarithms] = exponent
        else:
            still[inner] = exponent
    kind = tuple((name, (p, r, s)) for name, (p, r, s) in sorted(shapes.items()))
    if any(shape <= FLAT for _, shape in kind):
        raise NotOrdered  # e^(1/x) tends to 1 without being 1, and e^(s/t) to nothing
    return kind, forms.rebuilt(forms.monomial_of(still))


def _name_in(atom: forms.Atom) -> tuple[str, int]:
    """The name x, where the atom is x (0) or ln(x) (1)."""
    if isinstance(atom, forms.Parameter):
        return atom.name, 0
    if isinstance(atom, forms.Function) and atom.kind == "ln":
        for inner in atom.body.atoms():
            if isinstance(inner, forms.Parameter) and atom.body == forms.rebuilt(
                ((inner, Fraction(1)),)
            ):
                return inner.name, 1
    raise NotOrdered


def tendency(over: Growth, under: Growth, sign_of: SignOf) -> int | None:
    """+1: over/under grows beyond all bounds, 0: it is constant, -1: it vanishes; None: neither is certain.

    With several large names it is so however they grow: what may have the other sign is outgrown, in every name, by
    something that has the right one.
    """
    ratio = dict(over)
    for kind, coefficient in under.items():
        ratio[kind] = ratio.get(kind, forms.number(0)) - coefficient
    signs = {kind: sign_of(coefficient) for kind, coefficient in ratio.items()}
    for direction in (1, -1):
        leading = [kind for kind, sign in signs.items() if sign == direction]
        others = [kind for kind, sign in signs.items() if sign not in (direction, 0)]
        # something outgrows another where their quotient grows, however the names grow
        if leading and all(
            any(
                one != other
                and all(dict(one).get(name, FLAT) >= by for name, by in other)
                for one in leading
            )
            for other in others
        ):
            return direction
    return None if any(signs.values()) or None in signs.values() else 0


def grown(large: Sequence[str], where: Where) -> tuple[str, ...]:
    """The large names, each checked to have no upper end."""
    for name in large:
        if where.range(name).upper is not None:
            raise InputError(
                f"{name} is said to become large, but its range ends at {where.range(name).upper}"
            )
    return tuple(large)


def still(where: Where, large: Sequence[str]) -> Where:
    """What is known of the other names alone: what ties them to the large ones is left out."""
    gone = set(large)
    kept = tuple(
        one for one in where.hypotheses if not (one[0].names() | one[2].names()) & gone
    )
    return Where(
        {name: known for name, known in where.ranges.items() if name not in gone}, kept
    )


def sign_by(where: Where) -> SignOf:
    """A function that finds proved signs, and remembers them."""
    found: dict[forms.Scalar, int | None] = {}

    def sign(value: forms.Scalar) -> int | None:
        if value not in found:
            found[value] = next(
                (
                    one
                    for one, comparison in ((1, ">"), (-1, "<"), (0, "="))
                    if prove(value, comparison, 0, where)
                ),
                None,
            )
        return found[value]

    return sign


def dominant(found: list[Group], sign: SignOf) -> Group | None:
    """The group beside which all others vanish, if its coefficient is certainly not 0."""
    for one in found:
        if all(
            other is one or tendency(other.growth, one.growth, sign) == -1
            for other in found
        ):
            return one if sign(one.coefficient) in (1, -1) else None
    return None


def defined(values: Sequence[forms.Scalar], where: Where, large: Sequence[str]) -> bool:
    """Whether the numbers are certainly defined for all large enough values of the large names."""
    others = still(where, large)
    for need, comparison in needs(*values):
        if need.names() & set(large):
            if not _sign_far_out(need, comparison, others, large):
                return False
        elif prove(need, comparison, 0, others) is None:
            return False
    return True


def holds_far_out(
    left: forms.Scalar,
    comparison: Comparison,
    right: forms.Scalar,
    where: Where,
    large: Sequence[str],
) -> bool:
    """Whether it is proved that for every choice of the other names it holds once the large ones are large enough."""
    large = grown(large, where)
    return defined((left, right), where, large) and _sign_far_out(
        left - right, comparison, still(where, large), large
    )


def _sign_far_out(
    value: forms.Scalar, comparison: Comparison, others: Where, large: Sequence[str]
) -> bool:
    sign = sign_by(others)
    try:
        under = dominant(groups(value.under, large), sign)
        if under is None:
            return False
        if sign(under.coefficient) == -1:
            comparison = MIRRORED[comparison]
        over = forms.Scalar(value.over)
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
            if not any(
                tendency(one.growth, other.growth, sign) == -1 for other in positive
            ):
                return False
        return bool(positive) or (comparison == ">=" and bool(found))
    except NotOrdered:
        return False


Limit = forms.Scalar | Literal["infinity", "-infinity"]


def limit(
    value: forms.Scalar | forms.Number, where: Where, large: Sequence[str]
) -> Limit | None:
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
    total = forms.number(0)
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
    threshold: Mapping[str, forms.Scalar] = field(default_factory=dict)
    condition: Hypothesis | None = None
    comes_to: str = ""  # what the comparison comes down to


def threshold_of(
    left: forms.Scalar,
    comparison: Comparison,
    right: forms.Scalar,
    where: Where,
    name: str,
) -> Eventually | None:
    """Solved exactly: below the threshold the comparison fails. None where the comparison is not that simple."""
    if comparison in ("=", "!=") or not all(
        prove(need, kind, 0, where) for need, kind in needs(left, right)
    ):
        return None
    difference = left - right
    under = forms.Scalar(difference.under)
    if prove(under, "<", 0, where):
        comparison = MIRRORED[comparison]
    elif not prove(under, ">", 0, where):
        return None
    cleared = without_known_factors(forms.Scalar(difference.over), comparison)
    if cleared.comparison in ("<", "<="):
        cleared = Cleared(-cleared.value, MIRRORED[cleared.comparison])
    others = still(where, (name,))
    try:
        split = _by_powers(cleared.value.over, name)
        if split is None:
            return None
        moving, (constant, linear, square) = split
        if square == 0:
            if not prove(linear, ">", 0, others):
                return None
            border = -constant / linear
        else:  # with square > 0 > constant there is one positive root, and T is positive
            positive = forms.interval_of_terms({moving: Fraction(1)}).positive
            if not (
                positive
                and prove(square, ">", 0, others)
                and prove(constant, "<", 0, others)
            ):
                return None
            border = (sqrt(linear**2 - 4 * square * constant) - linear) / (2 * square)
        found = _inverted(moving, others.settled(border), name, where, others)
    except (NotOrdered, InputError):
        return None
    if found is None:
        return None
    least, condition = found
    reason = f"it says {cleared}"
    return Eventually(reason, SOLVER, {name: least}, condition, str(cleared))


def _by_powers(
    terms: forms.Terms, name: str
) -> tuple[forms.Monomial, list[forms.Scalar]] | None:
    """The sum as a polynomial of degree 1 or 2 in one growing monomial: (T, [constant, linear, square])."""
    found = {group.growing: group.coefficient for group in groups(terms, (name,))}
    for base in found if len(found) in (2, 3) else ():
        if not forms.interval_of_terms({base: Fraction(1)}).positive:
            continue  # it may be divided by only where it is positive for all values, large or not
        inverse = forms.monomial_of({atom: -exponent for atom, exponent in base})
        shifted = {
            forms.times(moving, inverse): coefficient
            for moving, coefficient in found.items()
        }
        for step in shifted:
            double = forms.times(step, step)
            if len(step) == 1 and step[0][1] > 0 and set(shifted) <= {(), step, double}:
                atom = step[0][0]  # which plainly grows with the name
                inside = (
                    [inner for inner, _ in atom.power]
                    if isinstance(atom, forms.Exp)
                    else [atom]
                )
                if sum(
                    isinstance(inner, forms.Parameter) and inner.name == name
                    for inner in inside
                ) == 1 or (
                    not isinstance(atom, forms.Exp) and _name_in(atom) == (name, 1)
                ):
                    return step, [
                        shifted.get(place, forms.number(0))
                        for place in ((), step, double)
                    ]
    return None


def _inverted(
    moving: forms.Monomial, border: forms.Scalar, name: str, where: Where, others: Where
) -> tuple[forms.Scalar, Hypothesis | None] | None:
    """T >= border solved for the name, T being a growing function of it, and where that applies.

    It does where the border lies above what T always exceeds; elsewhere the comparison always holds.
    """
    (atom, exponent), positive = moving[0], where.range(name).positive
    least, front, degree = 0, forms.number(1), exponent
    if isinstance(atom, forms.Exp):
        inner = {
            part: by
            for part, by in atom.power
            if isinstance(part, forms.Parameter) and part.name == name
        }
        (degree,) = inner.values()
        front = (
            forms.rebuilt(
                forms.monomial_of(
                    {part: by for part, by in atom.power if part not in inner}
                )
            )
            * exponent
        )
        if (
            name in front.names()
            or degree < 0
            or not prove(front, ">", 0, others)
            or not (degree == 1 or positive)
        ):
            return None
        least = int(degree != 1)
    elif isinstance(atom, forms.Parameter) and exponent == 1:
        return border, None
    elif not positive or (exponent != 1 and not isinstance(atom, forms.Parameter)):
        return None
    elif not isinstance(atom, forms.Parameter):
        return exp(border), None
    solved = power(
        (ln(border) if isinstance(atom, forms.Exp) else border) / front, 1 / degree
    )
    if prove(border, ">", least, others):
        return solved, None
    excess = border - least
    if not prove(forms.Scalar(excess.under), ">", 0, others):
        return None
    cleared = without_known_factors(forms.Scalar(excess.over), ">")
    value = cleared.value if cleared.comparison == ">" else -cleared.value
    return solved, (value, ">", forms.number(0))


def eventually(
    left: forms.Scalar | forms.Number,
    comparison: str,
    right: forms.Scalar | forms.Number,
    where: Where,
    large: Sequence[str],
) -> Eventually | None:
    """A proof that the comparison holds for all large enough values of the large names; None where none was found."""
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    proof = prove(left, comparison, right, where)
    if proof is not None:
        return Eventually(f"it holds for all values: {proof.reason}", proof.used)
    names = tuple(
        name for name in grown(large, where) if name in left.names() | right.names()
    )
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


def never(
    left: forms.Scalar | forms.Number,
    comparison: str,
    right: forms.Scalar | forms.Number,
    where: Where,
    large: Sequence[str],
) -> bool:
    """Whether it is proved that the comparison fails for all large enough values of the large names."""
    return (
        eventually(left, OPPOSITE[checked(comparison)], right, where, large) is not None
    )
