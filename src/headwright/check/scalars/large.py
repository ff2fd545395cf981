"""The sign of a number for all large values of some names."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.check.scalars.growth import Group, NotOrdered, SignOf, groups, tendency
from headwright.check.scalars.normal import ONE
from headwright.check.scalars.proving import needs, prove
from headwright.check.scalars.ranges import Range
from headwright.check.scalars.scalar import Scalar
from headwright.check.scalars.where import MIRRORED, Comparison, Where
from headwright.errors import InputError


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
    known: dict[Scalar, int | None] = {}

    def sign(value: Scalar) -> int | None:
        if value not in known:
            known[value] = next(
                (one for one, comparison in ((1, ">"), (-1, "<"), (0, "=")) if prove(value, comparison, 0, where)), None
            )
        return known[value]

    return sign


def dominant(found: list[Group], large: Sequence[str], sign: SignOf) -> Group | None:
    """The group beside which all others vanish, if its coefficient is certainly not 0."""
    for one in found:
        if all(other is one or tendency(other.growth, one.growth, large, sign) == -1 for other in found):
            return one if sign(one.coefficient) in (1, -1) else None
    return None


def defined(values: Sequence[Scalar], where: Where, large: Sequence[str]) -> bool:
    """Whether the numbers are certainly defined for all large enough values of the large names."""
    others = still(where, large)
    for need, comparison in needs(*values):
        if need.names() & set(large):
            if _sign_of_large(need, comparison, others, large) is None:
                return False
        elif prove(need, comparison, 0, others) is None:
            return False
    return True


def sign_of_large(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, large: Sequence[str]
) -> Group | None:
    """The group of terms that decides the comparison for all large enough names; None where that is not proved.

    For every choice of the other names there is a bound from which on it holds.
    """
    large = grown(large, where)
    if not defined((left, right), where, large):
        return None
    return _sign_of_large(left - right, comparison, still(where, large), large)


def _sign_of_large(value: Scalar, comparison: Comparison, others: Where, large: Sequence[str]) -> Group | None:
    sign = sign_by(others)
    try:
        under = dominant(groups(value.under, large), large, sign)
        if under is None:
            return None
        if sign(under.coefficient) == -1:
            comparison = MIRRORED[comparison]
        over = Scalar(value.over, ONE)
        if comparison in ("<", "<="):
            over, comparison = -over, MIRRORED[comparison]
        return _positive(groups(over.over, large), comparison, large, others)
    except NotOrdered:
        return None


def _positive(found: list[Group], comparison: Comparison, large: Sequence[str], others: Where) -> Group | None:
    """Every group that may be negative vanishes beside one that is certainly positive."""
    sign = sign_by(others)
    if comparison == "!=":
        return dominant(found, large, sign)
    if comparison == "=":
        return None
    positive = [one for one in found if sign(one.coefficient) == 1]
    for one in found:
        if one in positive or prove(one.coefficient, ">=", 0, others):
            continue
        if not any(tendency(one.growth, other.growth, large, sign) == -1 for other in positive):
            return None
    if positive:
        return max(
            positive, key=lambda one: sum(tendency(other.growth, one.growth, large, sign) == -1 for other in found)
        )
    return found[0] if comparison == ">=" and found else None
