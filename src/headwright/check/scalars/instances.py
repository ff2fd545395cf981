"""Plain numbers for which a comparison certainly fails, the smallest integers first; then huge ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from flint import arb

from headwright.check.scalars.large import eventually, never, sign_of_large
from headwright.check.scalars.numbers import Range, ball_of, precision
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.where import ANYTHING, OPPOSITE, Comparison, Where, checked, plain_numbers
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
    for place, values in enumerate(choices(sorted(names), where)):
        if large and place >= MOST_LIMITS:
            return None
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


HALVINGS = 60
DOUBLINGS = 40


def smallest(
    left: Scalar | Number,
    comparison: str,
    right: Scalar | Number,
    where: Where,
    name: str,
    values: Mapping[str, Fraction] | None = None,
) -> arb | None:
    """A ball around the border: the comparison certainly fails at its lower end and certainly holds at its upper end.

    It is the smallest value from which on the comparison holds where there is only one such border, as in all
    comparisons that only grow truer; that there is only one is not proved here (eventually() proves it). The lower end
    of the range itself, without radius, where the comparison holds there already; None where no large value was met
    for which it certainly holds.

    >>> from headwright.check.scalars import POSITIVE, exp, parameter
    >>> x = parameter("x")
    >>> print(smallest(exp(x), ">=", 10, Where({"x": POSITIVE}), "x").str(5, radius=False))
    2.3026
    """
    comparison = checked(comparison)
    known = where.range(name).numeric
    values = dict(values or {})
    left, right = where.settled(left), where.settled(right)
    missing = (left.names() | right.names()) - {name} - values.keys()
    if missing:
        raise InputError(f"no value was given for {sorted(missing)}; expected numbers for all names but {name}")

    def holds(at: Fraction) -> bool | None:
        if certain(left, comparison, right, {**values, name: at}):
            return True
        return False if certain(left, OPPOSITE[comparison], right, {**values, name: at}) else None

    low = known.lower if isinstance(known.lower, Fraction) else Fraction(-(10**6))
    start = low + Fraction(1, 2**40) if known.lower_open else low
    if holds(start):
        return _exact(low)
    high = next((start + 2**step for step in range(-10, DOUBLINGS) if holds(start + Fraction(2) ** step)), None)
    return None if high is None else _border(Fraction(start), Fraction(high), holds)


def _border(low: Fraction, high: Fraction, holds: Callable[[Fraction], bool | None]) -> arb:
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = holds(middle)
        if found is None:
            break
        low, high = (low, middle) if found else (middle, high)
    with precision(128):
        return ball_of(low).union(ball_of(high))


def _exact(value: Fraction) -> arb:
    with precision(128):
        return ball_of(value)


MOST_FAR = 12  # choices of the other names, when a huge integer is sought
HUGE = 10**5  # decimal digits of an integer


def far_out(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Instance | None:
    """A counterexample with a huge integer: where the opposite holds from some number on, a power of ten beyond it.

    >>> from headwright.check.scalars import exp, number
    >>> where = Where({"n": Range(1, integer=True)})
    >>> far_out(where.name("n"), "<=", exp(number(50)), where).values
    {'n': Fraction(10000000000000000000000, 1)}
    """
    if comparison not in OPPOSITE or comparison == "!=":
        return None
    opposite = OPPOSITE[comparison]
    names = sorted(left.names() | right.names())
    if set().union(*(a.names() | b.names() for a, _, b in where.all_hypotheses())) - set(names):
        return None  # a condition ties these names to others: values for them would have to be found too
    for name in names:
        if not where.range(name).integer or where.range(name).upper is not None:
            continue
        for values in islice(choices([other for other in names if other != name], where), MOST_FAR):
            sides = put_in(values, left, right)
            if sides is None or sign_of_large(sides[0], opposite, sides[1], where.put(values), (name,)) is None:
                continue  # quickly told, where a whole proof that fails takes long
            found = eventually(sides[0], opposite, sides[1], where.put(values), (name,))
            if found is None or name not in found.threshold:
                continue
            border = found.threshold[name].value({})
            digits = int(float(border.log() / arb(10).log()) + 1) if border > 1 else 1
            if digits >= HUGE:
                continue
            far = {**values, name: Fraction(10) ** digits}
            if allowed(far, where) and certain(left, opposite, right, far):
                return Instance(far, left.value(far), right.value(far))
    return None


DEPTHS = (9, 13, 25, 60)  # powers of ten: how far out, or how near an open end
MOST_CORNERS = 300


def in_corners(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Instance | None:
    """A counterexample where several names are extreme at once: huge integers, numbers next to ends of their ranges.

    >>> from headwright.check.scalars import number
    >>> where = Where({"n": Range(1, integer=True), "x": Range(0, 1, True, True)})
    >>> n, x = where.name("n"), where.name("x")
    >>> in_corners((1 - 1 / n) * (1 - x), "<=", 1 - number(Fraction(1, 10**10)), where).values["n"]
    Fraction(10000000000000, 1)
    """
    if comparison not in OPPOSITE or comparison == "!=":
        return None
    names = sorted(left.names() | right.names())
    if set().union(*(a.names() | b.names() for a, _, b in where.all_hypotheses())) - set(names):
        return None
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


def fails_far(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where
) -> tuple[str, dict[str, Fraction]] | None:
    """An integer and values of the other names for which the opposite is proved from some (unwritten) number on."""
    if comparison not in OPPOSITE or comparison == "!=" or where.all_hypotheses():
        return None
    names = sorted(left.names() | right.names())
    for name in names:
        if not where.range(name).integer or where.range(name).upper is not None:
            continue
        for values in islice(choices([other for other in names if other != name], where), MOST_FAR):
            sides = put_in(values, left, right)
            opposite = OPPOSITE[comparison]
            if sides and sign_of_large(sides[0], opposite, sides[1], where.put(values), (name,)) is not None:
                return name, values
    return None


def put_in(values: Mapping[str, Fraction], *scalars: Scalar) -> list[Scalar] | None:
    """The numbers at these values; None where one of them is not defined."""
    try:
        return [one.put(values) for one in scalars]
    except InputError:
        return None


def allowed(values: Mapping[str, Fraction], where: Where) -> bool:
    """Whether the values certainly satisfy the hypotheses about them.

    >>> where = Where({"x": Range()})
    >>> allowed({"x": Fraction(1)}, where.given((where.name("x"), ">", 2)))
    False
    """
    return all(
        certain(left, comparison, right, values)
        for left, comparison, right in where.all_hypotheses()
        if left.names() | right.names() <= set(values)
    )
