"""Plain numbers for which a comparison certainly fails, the smallest integers first; then huge ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from flint import arb

from headwright.check.scalars.assumptions import ANYTHING, OPPOSITE, SIGNS, Comparison, Where, checked, plain_numbers
from headwright.check.scalars.forms import Number, Scalar, parameter
from headwright.check.scalars.limits import eventually, holds_far_out, limit, never
from headwright.check.scalars.numbers import POSITIVE, Range, Symbol
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
    """The first choice of plain numbers for which the comparison certainly fails; None where none was met."""
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    # What is demanded of large names is looked at once the others are numbers.
    conditions = [one for one in where.all_hypotheses() if not (one[0].names() | one[2].names()) & set(large)]
    names = (left.names() | right.names() | where.tied()) - set(large)
    for values in islice(choices(sorted(names), where), MOST_LIMITS if large else None):
        if not all(certain(*one, values) for one in conditions):
            continue
        if large:
            found = _limits(left, comparison, right, where, values, large)
        else:
            fails = certain(left, OPPOSITE[comparison], right, values)
            found = Instance(values, left.value(values), right.value(values)) if fails else None
        if found is not None:
            return found
    return None


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
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, values: dict[str, Fraction], large: Sequence[str]
) -> Instance | None:
    try:
        case, sides = where.put(values), (left.put(values), right.put(values))
        if reach_large(case, large) and never(sides[0], comparison, sides[1], case, large):
            return Instance(values, *(_ball(limit(side, case, large)) for side in sides))
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
    return {"infinity": arb("inf"), "-infinity": arb("-inf")}.get(value or "", arb("nan"))


MOST_FAR = 12  # choices of the other names, when one is sent far out
HUGE = 10**5  # decimal digits of a number that is written out
FAR = Symbol("far")


@dataclass(frozen=True)
class Beyond:
    """A name for which a comparison fails far out: from some number on, or for all numbers near enough to 0."""

    name: str
    values: dict[str, Fraction]  # of the other names
    near_zero: bool
    sides: tuple[Scalar, Scalar]  # in terms of FAR, which is the name or 1 over it
    where: Where

    def at(self, far: Fraction) -> dict[str, Fraction]:
        """The values of all names there."""
        return {**self.values, self.name: 1 / far if self.near_zero else far}


def far_out(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Instance | None:
    """A counterexample far out: where the opposite holds from some number on, a power of ten beyond it."""
    opposite = OPPOSITE[comparison]
    for one in fails_far(left, comparison, right, where):
        found = eventually(one.sides[0], opposite, one.sides[1], one.where, (FAR,))
        if found is None or FAR not in found.threshold:
            continue
        border = found.threshold[FAR].value({})
        digits = int(float(border.log() / arb(10).log()) + 1) if border > 1 else 1
        far = one.at(Fraction(10) ** min(digits, HUGE))
        if digits < HUGE and allowed(far, where) and certain(left, opposite, right, far):
            return Instance(far, left.value(far), right.value(far))
    return None


def fails_far(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Iterator[Beyond]:
    """Names, with values of the others, for which it is proved that the comparison fails far out.

    This is quickly told, where a whole proof that fails takes long.
    """
    names = sorted(left.names() | right.names() | where.tied())
    for name in names if comparison != "!=" else ():
        known = where.range(name)
        near_zero = known.lower == 0 and known.lower_open and not known.integer
        if known.upper is not None and not (near_zero and isinstance(known.upper, Fraction | int)):
            continue  # an end by a formula may come before what is far
        far = parameter(FAR, POSITIVE)
        moved = {name: 1 / far if near_zero else far}
        for values in islice(choices([other for other in names if other != name], where), MOST_FAR):
            sides = put_in(values, left, right)
            if not sides or not allowed(values, where):
                continue
            here = where.put(values).put(moved)
            here = replace(here, ranges={**here.ranges, FAR: POSITIVE})
            both = (sides[0].put(moved), sides[1].put(moved))
            if reach_large(here, (FAR,)) and holds_far_out(both[0], OPPOSITE[comparison], both[1], here, (FAR,)):
                yield Beyond(name, values, near_zero, both, here)


def _tied_to_others(left: Scalar, right: Scalar, where: Where) -> bool:
    """Whether a condition ties the names to others: values for them would have to be found too."""
    return bool(where.tied() - left.names() - right.names())


DEPTHS = (9, 13, 25, 60)  # powers of ten: how far out, or how near an open end
MOST_CORNERS = 300


def in_corners(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Instance | None:
    """A counterexample where several names are extreme at once: huge integers, numbers next to ends of their ranges."""
    if comparison == "!=" or _tied_to_others(left, right, where):
        return None
    names = sorted(left.names() | right.names())
    for depth in DEPTHS:
        ends = [_ends(where.range(name).numeric, depth) for name in names]
        for chosen in islice(product(*ends), MOST_CORNERS):
            values = dict(zip(names, chosen, strict=True))
            if allowed(values, where) and certain(left, OPPOSITE[comparison], right, values):
                return Instance(values, left.value(values), right.value(values))
    return None


def _ends(known: Range, depth: int) -> list[Fraction]:
    """The ends of a range; where one is excluded a number next to it, and a large one where there is none."""
    far, near = Fraction(10) ** depth, Fraction(1, 10**depth)
    low, high = known.lower, known.upper
    if known.integer:
        return [far] if high is None else []
    ends = [low + near if known.lower_open else low] if isinstance(low, Fraction) else [-far, Fraction(0)]
    return [*ends, *([high - near if known.upper_open else high] if isinstance(high, Fraction) else [Fraction(1)])]


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
