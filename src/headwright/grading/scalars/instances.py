"""Plain numbers for which a comparison certainly fails, the smallest integers first; then huge ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from flint import arb

from headwright.errors import InputError
from headwright.grading.scalars.assumptions import (
    ANYTHING,
    OPPOSITE,
    SIGNS,
    Comparison,
    Where,
    checked,
    plain_numbers,
)
from headwright.grading.scalars.forms import Number, Scalar, parameter
from headwright.grading.scalars.limits import eventually, holds_far_out, limit, never
from headwright.grading.scalars.numbers import POSITIVE, Range, Symbol

MOST_INTEGERS = 60  # choices of all integers together
MOST_OTHERS = 300  # choices of all other names together
MOST_LIMITS = 100  # choices, where large names make each a question about limits
BITS = (64, 320)
MORE_BITS = (320, 1280)  # for two sides that differ by a hair


@dataclass(frozen=True)
class Instance:
    """Values of the names for which the comparison fails, and what both sides are there.

    Where some names were said to be large, it fails for all large values of them, and both sides are limits.
    """

    values: dict[str, Fraction]
    left: arb
    right: arb
    beyond: str = ""  # a name that has no value here: it fails from some number on, or for all near enough to 0


def counterexample(
    left: Scalar | Number,
    comparison: str,
    right: Scalar | Number,
    where: Where = ANYTHING,
    *,
    large: Sequence[str] = (),
) -> Instance | None:
    """The first choice of plain numbers for which the comparison certainly fails; None where none was met."""
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    # What is demanded of large names is looked at once the others are numbers.
    conditions = [
        one
        for one in where.all_hypotheses()
        if not (one[0].names() | one[2].names()) & set(large)
    ]
    names = (left.names() | right.names() | where.tied()) - set(large)
    for values in islice(choices(sorted(names), where), MOST_LIMITS if large else None):
        if not all(certain(*one, values) for one in conditions):
            continue
        if large:
            found = _limits(left, comparison, right, where, values, large)
        else:
            fails = certain(left, OPPOSITE[comparison], right, values)
            found = (
                Instance(values, *_told_apart(left, right, values)) if fails else None
            )
        if found is not None:
            return found
    return None


def _told_apart(
    left: Scalar, right: Scalar, values: Mapping[str, Fraction]
) -> tuple[arb, arb]:
    """Both sides at a counterexample, with as many bits as tell them apart, within bounds."""
    sides = left.value(values), right.value(values)
    for bits in MORE_BITS:
        if not sides[0].overlaps(sides[1]):
            break
        sides = left.value(values, bits=bits), right.value(values, bits=bits)
    return sides


def choices(names: Sequence[str], where: Where) -> Iterator[dict[str, Fraction]]:
    """Values for the names: the smallest integers first, then the plainest other numbers."""
    integers = {name: where.range(name) for name in names if where.range(name).integer}
    others = [name for name in names if name not in integers]
    rest = _plainest([plain_numbers(where.range(name)) for name in others], MOST_OTHERS)
    tried = [plain_numbers(known) for known in integers.values()]
    for numbers, known in zip(tried, integers.values(), strict=True):
        numbers += [
            hint
            for hint in where.hints
            if known.holds(Range(hint, hint, integer=True)) and hint not in numbers
        ]
    for whole in _plainest(tried, MOST_INTEGERS):
        for broken in rest:
            yield dict(zip([*integers, *others], [*whole, *broken], strict=True))


def _plainest(lists: list[list[Fraction]], most: int) -> list[tuple[Fraction, ...]]:
    """Choices of one from each list, those early in their lists first."""
    depth = max(1, int(50_000 ** (1 / max(1, len(lists)))))
    ranked = sorted(
        product(*(list(enumerate(numbers[:depth])) for numbers in lists)),
        key=lambda choice: (
            sum(rank for rank, _ in choice),
            tuple(rank for rank, _ in choice),
        ),
    )
    return [tuple(value for _, value in choice) for choice in ranked[:most]]


def certain(
    left: Scalar, comparison: Comparison, right: Scalar, values: Mapping[str, Fraction]
) -> bool:
    """Whether the comparison certainly holds between two numbers."""
    return compared(left, right, values) in SIGNS[comparison]


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


def _limits(
    left: Scalar,
    comparison: Comparison,
    right: Scalar,
    where: Where,
    values: dict[str, Fraction],
    large: Sequence[str],
) -> Instance | None:
    try:
        case, sides = where.put(values), (left.put(values), right.put(values))
        if reach_large(case, large) and never(
            sides[0], comparison, sides[1], case, large
        ):
            return Instance(
                values,
                _ball(limit(sides[0], case, large)),
                _ball(limit(sides[1], case, large)),
            )
    except InputError:
        pass
    return None


def reach_large(where: Where, large: Sequence[str]) -> bool:
    """Whether large values of the names satisfy what is demanded of them."""
    return all(
        holds_far_out(left, comparison, right, where, large)
        for left, comparison, right in where.all_hypotheses()
        if (left.names() | right.names()) & set(large)
    )


def _ball(value: Scalar | str | None) -> arb:
    if isinstance(value, Scalar):
        return value.value({})
    return {"infinity": arb("inf"), "-infinity": arb("-inf")}.get(
        value or "", arb("nan")
    )


MOST_FAR = 12  # choices of the other names, when one is sent far out
HUGE = 10**5  # decimal digits of a number that is written out
FAR = Symbol("far")


def far_out(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where
) -> Instance | None:
    """A counterexample far out: where the opposite holds from some number on, a power of ten beyond it.

    A name may be far out, or near to 0 where that is the end of its range.
    """
    names, opposite = (
        sorted(left.names() | right.names() | where.tied()),
        OPPOSITE[comparison],
    )
    far, unwritten = parameter(FAR, POSITIVE), None
    for name in names if comparison != "!=" else ():
        known = where.range(name)
        near_zero = known.lower == 0 and known.lower_open
        if known.upper is not None and not near_zero:
            continue
        moved = {name: 1 / far if near_zero else far}
        for values in islice(
            choices([other for other in names if other != name], where), MOST_FAR
        ):
            sides = put_in(values, left, right)
            if not sides or not allowed(values, where):
                continue
            here = where.put(values).put(moved)
            here = replace(here, ranges={**here.ranges, FAR: POSITIVE})
            one, other = (side.put(moved) for side in sides)
            if not reach_large(here, (FAR,)) or not holds_far_out(
                one, opposite, other, here, (FAR,)
            ):
                continue
            unwritten = unwritten or Instance(values, arb("nan"), arb("nan"), name)
            found = eventually(one, opposite, other, here, (FAR,))
            if found is None or FAR not in found.threshold:
                continue
            border = found.threshold[FAR].value({})
            digits = int(float(border.log() / arb(10).log()) + 1) if border > 1 else 1
            place = Fraction(10) ** min(digits, HUGE)
            there = {**values, name: 1 / place if near_zero else place}
            inside = known.holds(Range(there[name], there[name], integer=known.integer))
            if (
                digits < HUGE
                and inside
                and allowed(there, where)
                and certain(left, opposite, right, there)
            ):
                return Instance(there, *_told_apart(left, right, there))
    return unwritten


def put_in(values: Mapping[str, Fraction], *scalars: Scalar) -> list[Scalar] | None:
    """The numbers at these values; None where one of them is not defined."""
    try:
        return [one.put(values) for one in scalars]
    except InputError:
        return None


def allowed(values: Mapping[str, Fraction], where: Where) -> bool:
    """Whether the values certainly satisfy the hypotheses about them."""
    return all(
        certain(left, comparison, right, values)
        for left, comparison, right in where.all_hypotheses()
        if left.names() | right.names() <= set(values)
    )
