"""counterexample(): plain numbers for which a comparison certainly fails, the smallest integers first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from headwright.check.scalars.candidates import plain_numbers
from headwright.check.scalars.large import sign_of_large
from headwright.check.scalars.never import never
from headwright.check.scalars.ranges import Range
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.where import ANYTHING, Comparison, Hypothesis, Where, checked
from headwright.errors import InputError

MOST_INTEGERS = 60  # choices of all integers together
MOST_OTHERS = 300  # choices of all other names together
MOST_LIMITS = 100  # choices, where large names make each a question about limits
BITS = (64, 320)


@dataclass(frozen=True)
class Instance:
    """Values of the names for which the comparison fails, and what both sides are there.

    Where some names were said to be large, it fails for all large values of them, and both sides are limits.
    """

    values: dict[str, Fraction]
    left: arb
    right: arb


def counterexample(
    left: Scalar | Number,
    comparison: str,
    right: Scalar | Number,
    where: Where = ANYTHING,
    *,
    large: Sequence[str] = (),
) -> Instance | None:
    """The first choice of plain numbers for which the comparison certainly fails; None where none was met.

    >>> from headwright.check.scalars import Range, parameter
    >>> n, where = parameter("n"), Where({"n": Range(2, integer=True)})
    >>> counterexample(n**2, "<=", 3 * n - 2, where).values
    {'n': Fraction(3, 1)}
    """
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    # What is demanded of large names is looked at once the others are numbers.
    conditions = [one for one in where.all_hypotheses() if not (one[0].names() | one[2].names()) & set(large)]
    names = _free_names(left, right, where, large)
    fixed = _fixed(conditions, names)
    for place, chosen in enumerate(choices(sorted(names - fixed.keys()), where)):
        if large and place >= MOST_LIMITS:
            return None
        values = _completed(chosen, fixed, where)
        if values is None:
            continue
        if not all(certain(*one, values) for one in conditions):
            continue
        found = (
            _limits(left, comparison, right, where, values, large) if large else _fails(left, comparison, right, values)
        )
        if found is not None:
            return found
    return None


def _free_names(left: Scalar, right: Scalar, where: Where, large: Sequence[str]) -> set[str]:
    """All names that need a value: those that occur, and those of conditions, which must be met too."""
    names = set(left.names() | right.names())
    for one in where.all_hypotheses():
        names |= one[0].names() | one[2].names()
    return names - set(large)


def _fixed(conditions: Sequence[Hypothesis], names: set[str]) -> dict[str, Scalar]:
    """Names that a condition t = ... expresses by others; one is enough, for the others may depend on it."""
    for left, comparison, right in conditions:
        for one, other in ((left, right), (right, left)):
            for name in sorted(one.names()) if comparison == "=" and len(one.names()) == 1 else ():
                if name in names and str(one) == name and name not in other.names():
                    return {name: other}
    return {}


def _completed(chosen: dict[str, Fraction], fixed: Mapping[str, Scalar], where: Where) -> dict[str, Fraction] | None:
    """The chosen values and those that follow from them, where these are rational and within their ranges."""
    values = dict(chosen)
    for name, formula in fixed.items():
        try:
            value = formula.put(chosen).rational
        except InputError:
            return None
        known = where.range(name).numeric
        whole = value is not None and value.denominator == 1
        if value is None or not known.holds(Range(value, value, integer=whole)):
            return None
        values[name] = value
    return values


def choices(names: Sequence[str], where: Where) -> Iterator[dict[str, Fraction]]:
    """Values for the names: the smallest integers first, then the plainest other numbers."""
    integers = [name for name in names if where.range(name).integer]
    others = [name for name in names if not where.range(name).integer]
    rest = _plainest([plain_numbers(where.range(name)) for name in others], MOST_OTHERS)
    for whole in _plainest([_whole_numbers(name, where) for name in integers], MOST_INTEGERS):
        for broken in rest:
            yield dict(zip([*integers, *others], [*whole, *broken], strict=True))


def _whole_numbers(name: str, where: Where) -> list[Fraction]:
    known = where.range(name).numeric
    hinted = [Fraction(hint) for hint in where.hints if known.holds(Range(hint, hint, integer=True))]
    return list(dict.fromkeys([*plain_numbers(known), *hinted]))


def _plainest(lists: list[list[Fraction]], most: int) -> list[tuple[Fraction, ...]]:
    """Choices of one from each list, those early in their lists first."""
    depth = max(1, int(50_000 ** (1 / max(1, len(lists)))))
    ranked = sorted(
        product(*(list(enumerate(numbers[:depth])) for numbers in lists)),
        key=lambda choice: (sum(rank for rank, _ in choice), tuple(rank for rank, _ in choice)),
    )
    return [tuple(value for _, value in choice) for choice in ranked[:most]]


def certain(left: Scalar, comparison: Comparison, right: Scalar, values: Mapping[str, Fraction]) -> bool:
    """Whether the comparison certainly holds between two numbers."""
    sign = compared(left, right, values)
    if sign is None:
        return False
    return {"=": sign == 0, "!=": sign != 0, "<": sign < 0, ">": sign > 0, "<=": sign <= 0, ">=": sign >= 0}[comparison]


def compared(left: Scalar, right: Scalar, values: Mapping[str, Fraction]) -> int | None:
    """The certain sign of left - right; None where it is not certain, or one of them is not defined."""
    for bits in BITS:
        a, b = left.value(values, bits=bits), right.value(values, bits=bits)
        if not (a.is_finite() and b.is_finite()):
            continue
        if a > b:
            return 1
        if a < b:
            return -1
    if not (a.is_finite() and b.is_finite()):
        return None
    try:
        return 0 if (left - right).put(values) == 0 else None
    except InputError:
        return None


def _fails(left: Scalar, comparison: Comparison, right: Scalar, values: dict[str, Fraction]) -> Instance | None:
    sign = compared(left, right, values)
    if sign is None:
        return None
    holds = {"=": sign == 0, "!=": sign != 0, "<": sign < 0, ">": sign > 0, "<=": sign <= 0, ">=": sign >= 0}[
        comparison
    ]
    return None if holds else Instance(values, left.value(values), right.value(values))


def _limits(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, values: dict[str, Fraction], large: Sequence[str]
) -> Instance | None:
    try:
        case = where.put(values)
        if not reach_large(case, large):
            return None
        found = never(left.put(values), comparison, right.put(values), case, tuple(large))
    except InputError:
        return None
    if found is None:
        return None
    return Instance(values, _ball(found.left), _ball(found.right))


def reach_large(where: Where, large: Sequence[str]) -> bool:
    """Whether large values of the names satisfy what is demanded of them."""
    return all(
        sign_of_large(left, comparison, right, where, large) is not None
        for left, comparison, right in where.all_hypotheses()
        if (left.names() | right.names()) & set(large)
    )


def _ball(value: Scalar | str | None) -> arb:
    if isinstance(value, Scalar):
        return value.value({})
    return {"infinity": arb("inf"), "-infinity": arb("-inf")}.get(value or "", arb("nan"))
