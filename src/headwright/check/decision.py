"""Comparisons of two exact scalars: proved, refuted by the smallest instance, or left open.

A comparison may have names that go to infinity (`large`). An inequality is then about all sufficiently large values,
and 'approximately' about the limit; an equation is about all values all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from typing import Literal

from flint import arb

from headwright.check.scalars import (
    POSITIVE,
    Eventually,
    Scalar,
    TooBig,
    Where,
    absolute,
    counterexample,
    eventually,
    limit,
    number,
    parameter,
    prove,
)
from headwright.check.scalars.instances import (
    MOST_LIMITS,
    allowed,
    choices,
    fails_far,
    far_out,
    in_corners,
    put_in,
    reach_large,
)
from headwright.check.scalars.numbers import Symbol, told
from headwright.check.scalars.where import OPPOSITE, Hypothesis, checked
from headwright.errors import InputError
from headwright.formula.tree import Comparison


@dataclass(frozen=True)
class Threshold:
    """From which values of large names on a comparison holds; where the condition is not met, it holds anyway.

    >>> from headwright.check.scalars import POSITIVE, ln, number
    >>> n = parameter("n")
    >>> print(Threshold({"lambda": ln(parameter("m", POSITIVE))}, (n - 2, ">", number(0))))
    lambda >= ln(m), for n > 2
    """

    least: Mapping[str, Scalar]
    condition: Hypothesis | None = None
    strict: bool = False  # it may fail at the threshold itself

    def __str__(self) -> str:
        """For people: 'lambda >= ln((n - 2)/epsilon), for n > 2'."""
        sign = ">" if self.strict else ">="
        said = " and ".join(f"{told(name)} {sign} {value}" for name, value in self.least.items())
        return said if self.condition is None else f"{said}, for {_isolated(self.condition)}"

    def covers(self, other: Threshold, where: Where) -> bool:
        """Whether this one certainly asks for at least as much."""
        if other.strict and not self.strict:
            return False
        return self.least.keys() == other.least.keys() and all(
            prove(value, ">=", other.least[name], where) is not None for name, value in self.least.items()
        )


def _isolated(condition: Hypothesis) -> str:
    """n - 2 > 0 as n > 2."""
    left, comparison, right = condition
    for name in sorted(left.names()):
        free = parameter(name)  # as if nothing were known of it: only the form matters
        rest = free - left.put({name: free})
        if name not in (rest + right).names():
            return f"{name} {comparison} {rest + right}"
    return f"{left} {comparison} {right}"


@dataclass(frozen=True)
class Path:
    """A large name as a multiple of a power of another one, which is large too.

    >>> print(Path("s", 2, 1), Path("s", 1, 2))
    2 s s^2
    """

    lead: str
    times: int
    power: int

    def of(self, lead: Scalar) -> Scalar:
        """The name, in terms of the other."""
        return self.times * lead**self.power

    def __str__(self) -> str:
        return str(self.of(parameter(self.lead, POSITIVE)))


PATHS = ((1, 1), (2, 1), (1, 2))  # multiples and powers
NEAR = Fraction(1, 20)  # how near 'approximately' is where nothing goes to infinity
MOST_COUNTED, MOST_TRIED = 20_000, 200
GONE = Symbol("gone")


@dataclass(frozen=True)
class Example:
    """Explicit matrices: sizes, and exact entries for names.

    Where the matrices are too large to be written out, `ones` says how many singular values are 1, all others being
    0, along the axes.
    """

    sizes: Mapping[str, int]
    matrices: Mapping[str, Sequence[Sequence[Fraction]]] = field(default_factory=dict)
    ones: int | None = None
    sides: tuple[Sequence[Sequence[float]], ...] = ()  # the two sides of the claim there, rounded: for showing


@dataclass(frozen=True)
class Decision:
    """What was found about one comparison.

    values is the counterexample; left and right are the two sides there (enclosures), or their limits.
    """

    word: Literal["proved", "refuted", "holds", "undecided"]
    reason: str
    used: str = ""
    values: Mapping[str, Fraction] = field(default_factory=dict)
    left: arb | None = None
    right: arb | None = None
    threshold: Threshold | None = None
    about: str = ""  # which coordinate, where vectors were compared
    vacuous: bool = False  # what is assumed never happens
    tie: bool = False  # both sides are equal at the values, and noise makes the inequality fail
    along: Mapping[str, Path] = field(default_factory=dict)  # how large names depend on another in the counterexample
    example: Example | None = None  # matrices that refute it, or that show that two things differ
    beyond: str = ""  # an integer that is too large to be written out in the counterexample


@dataclass(frozen=True)
class Tending:
    """Where names go: large ones to infinity, vanishing ones to 0, small ones to 0 where something is 'about' so."""

    large: tuple[str, ...] = ()
    vanishing: frozenset[str] = frozenset()
    small: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()  # names of the exercise: those of the answer's own are chosen before they grow


STILL = Tending()


def decide(left: Scalar, comparison: Comparison, right: Scalar, where: Where, tending: Tending = STILL) -> Decision:
    """Decide left (comparison) right for all parameters in `where`, as names go where they go.

    >>> from headwright.check.scalars import Range
    >>> where = Where({"n": Range(2, integer=True)})
    >>> n = where.name("n")
    >>> decide(n * n, ">=", 2 * n, where).word
    'proved'
    >>> found = decide(n, "<=", number(3), where)
    >>> found.word, found.values
    ('refuted', {'n': Fraction(4, 1)})
    """
    found = _decided(left, comparison, right, where, tending)
    if found.word == "undecided":
        found = _along_a_path(left, comparison, right, where, tending) or found
    if found.word == "proved" and where.hypotheses and prove(number(0), ">", number(1), where) is not None:
        return Decision("undecided", "no case that can occur satisfies what is assumed")
    return found


def _along_a_path(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, tending: Tending
) -> Decision | None:
    """Refuted where one large name of the answer's own is a function of another: it must hold however they grow."""
    spoken = left.names() | right.names()
    free = [n for n in tending.large if n in spoken and n not in tending.given and not isinstance(n, Symbol)]
    ends = [end for name in free for end in (where.range(name).lower, where.range(name).upper)]
    if len(free) < 2 or any(where.range(name).integer for name in free) or any(isinstance(e, Scalar) for e in ends):
        return None
    for lead, (times, power) in product(free, PATHS):
        along = {name: Path(lead, times, power) for name in free if name != lead}
        put = {name: path.of(where.name(lead)) for name, path in along.items()}
        rest = replace(tending, large=tuple(name for name in tending.large if name not in along))
        found = _decided(left.put(put), comparison, right.put(put), where.put(put), rest)
        if found.word == "refuted":
            return replace(found, along=along)
    return None


def decide_all(
    pairs: Mapping[str, tuple[Scalar, Scalar]], comparison: Comparison, where: Where, tending: Tending = STILL
) -> Decision:
    """Decide a comparison of two vectors by their coordinates; each is told by its name.

    >>> x = parameter("x")
    >>> decide_all({"the first": (x, x), "the second": (x, x + 1)}, "=", Where()).about
    'the second'
    >>> decide_all({"the first": (x, x), "the second": (x, x + 1)}, "!=", Where()).word
    'proved'
    """
    if comparison == "!=":
        return _apart([a - b for a, b in pairs.values()], where, tending)
    found = [replace(decide(a, comparison, b, where, tending), about=name) for name, (a, b) in pairs.items()]
    return most_telling(found)


def _apart(gaps: Sequence[Scalar], where: Where, tending: Tending) -> Decision:
    """Different in one coordinate, for all parameters; the same if all coordinates are, at least somewhere."""
    if all(decide(gap, "=", number(0), where).word == "proved" for gap in gaps):
        return Decision("refuted", "the two are the same")
    for gap in gaps:
        found = decide(gap, "!=", number(0), where, tending)
        if found.word == "proved":
            return found
    tied = (x.names() | y.names() for x, _, y in where.all_hypotheses())
    names = set().union(*(gap.names() for gap in gaps), *tied) - set(tending.large)
    for values in islice(choices(sorted(names), where), MOST_TRIED):
        there = put_in(values, *gaps) if allowed(values, where) else None
        if there and all(gap == 0 for gap in there) and reach_large(where.put(values), tending.large):
            return Decision("refuted", "the two are the same there", values=values)
    return Decision("undecided", "they may coincide")


def _decided(left: Scalar, comparison: Comparison, right: Scalar, where: Where, tending: Tending) -> Decision:
    growing = tuple(name for name in tending.large if name in left.names() | right.names())
    try:
        shrinking = {name for name in tending.vanishing if name in left.names() | right.names()}
        if any(where.range(name).lower not in (0, None) or not where.range(name).positive for name in shrinking):
            return Decision("undecided", f"{' and '.join(sorted(shrinking))} cannot go to 0 from above")
        if comparison in ("~", "->"):
            found = _approximately(*_inverted(left, right, where, growing, {*tending.small, *shrinking}))
            continuous = found.word == "undecided" and shrinking and not growing
            return _at_zero(left, right, where, shrinking) or found if continuous else found
        if shrinking and comparison != "=":
            left, right, where, growing = _inverted(left, right, where, growing, shrinking)
            if comparison not in OPPOSITE:
                return Decision("undecided", f"how much larger {comparison} means is not said")
            return replace(_for_large(left, comparison, right, where, growing), threshold=None)
        if comparison in ("<<", ">>"):
            return Decision("undecided", f"how much larger {comparison} means is not said")
        if growing and comparison == "!=":
            return _different(left, right, where, growing)
        if growing and comparison != "=":
            return _for_large(left, comparison, right, where, growing)
        return _for_all(left, comparison, right, where)
    except TooBig as error:
        return Decision("undecided", str(error))


def _for_all(left: Scalar, comparison: Comparison, right: Scalar, where: Where) -> Decision:
    sign = checked(comparison)
    proof = prove(left, sign, right, where)
    if proof is not None:
        return Decision("proved", proof.reason, used=proof.used)
    found = counterexample(left, sign, right, where) or far_out(left, sign, right, where)
    found = found or in_corners(left, sign, right, where)
    if found is not None:
        return Decision("refuted", "", values=found.values, left=found.left, right=found.right)
    beyond = fails_far(left, sign, right, where)
    if beyond is not None:
        return Decision("refuted", f"it fails from some huge {beyond[0]} on", values=beyond[1], beyond=beyond[0])
    return Decision("holds", _tried(left, right, where, ()))


def _tried(left: Scalar, right: Scalar, where: Where, large: tuple[str, ...]) -> str:
    """How many instances were tried, and where."""
    names = sorted((left.names() | right.names()) - set(large))
    tried = list(islice(choices(names, where), MOST_COUNTED))
    ends = {told(name): (min(v[name] for v in tried), max(v[name] for v in tried)) for name in names}
    ranges = ", ".join(f"{name} from {low} to {high}" for name, (low, high) in ends.items())
    return f"no counterexample among {len(tried)} plain instances ({ranges})"


def _different(left: Scalar, right: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
    for comparison in ("<", ">"):
        proof = eventually(left, comparison, right, where, large)
        if proof is not None:
            return Decision("proved", proof.reason, used=proof.used)
    if prove(left, "=", right, where) is not None:
        return Decision("refuted", "the two are the same")
    return Decision("undecided", f"neither proved nor refuted for large {' and '.join(large)}")


def _for_large(left: Scalar, comparison: Comparison, right: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
    proof = eventually(left, comparison, right, where, large)
    if proof is not None:
        return Decision("proved", proof.reason, used=proof.used, threshold=_threshold(proof, comparison))
    found = counterexample(left, comparison, right, where, large=large)
    if found is not None:
        return Decision("refuted", "", values=found.values, left=_finite(found.left), right=_finite(found.right))
    return _by_continuity(left, comparison, right, where, large) or Decision(
        "undecided", f"neither proved nor refuted for large {' and '.join(map(told, large))}"
    )


def _by_continuity(
    left: Scalar, comparison: Comparison, right: Scalar, where: Where, large: tuple[str, ...]
) -> Decision | None:
    """Refuted by the limits of both sides, where the large name enters as its inverse only."""
    if len(large) != 1:
        return None
    sides = [side.put({large[0]: 1 / parameter(GONE, POSITIVE)}) for side in (left, right)]
    try:
        ends = [side.put({GONE: 0}) for side in sides]
    except InputError:
        return None
    weak = {">": ">=", "<": "<="}.get(comparison, comparison)  # limits may be equal without the sides ever being so
    found = counterexample(ends[0], weak, ends[1], where.put({large[0]: 1}))
    if found is None:
        return None
    return Decision("refuted", "", values=found.values, left=found.left, right=found.right)


def _threshold(proof: Eventually, comparison: Comparison) -> Threshold | None:
    return Threshold(proof.threshold, proof.condition, comparison in ("<", ">")) if proof.threshold else None


def _finite(ball: arb) -> arb | None:
    return ball if ball.is_finite() else None


def _growing(large: Sequence[str]) -> str:
    """'lambda grows and epsilon goes to 0'."""
    said = [f"{n.of} goes to 0" if isinstance(n, Symbol) and n.kind == "inverse" else f"{told(n)} grows" for n in large]
    return " and ".join(said)


def _limit_value(side: Scalar, where: Where, large: tuple[str, ...]) -> arb | None:
    end = limit(side, where, large)
    return end.value() if isinstance(end, Scalar) and not end.names() else None


def _inverted(
    left: Scalar, right: Scalar, where: Where, large: tuple[str, ...], small: Iterable[str]
) -> tuple[Scalar, Scalar, Where, tuple[str, ...]]:
    """The same with names that go to 0 as 1 over names that go to infinity."""
    for name in sorted(set(small) & (left.names() | right.names())):
        inverse = Symbol("inverse", name, f"1/{name}")
        turned = {name: 1 / parameter(inverse, POSITIVE)}
        where = replace(where.put(turned), ranges={**where.put(turned).ranges, inverse: POSITIVE})
        left, right, large = left.put(turned), right.put(turned), (*large, inverse)
    return left, right, where, large


def _approximately(left: Scalar, right: Scalar, where: Where, large: tuple[str, ...]) -> Decision:
    gap = left - right
    if gap == number(0):
        return Decision("proved", f"both sides are {left}", used="exact algebra")
    if not large:
        found = _for_all(absolute(gap), "<=", number(NEAR), where)
        if found.word == "proved":
            return Decision("proved", f"the two sides differ by at most {float(NEAR):g}: {found.reason}", found.used)
        said = found.reason or f"the two sides differ by more than {float(NEAR):g}"
        return Decision(found.word, said, found.used, found.values, _at(left, found), _at(right, found))
    end = limit(gap, where, large)
    if isinstance(end, Scalar) and prove(end, "=", number(0), where) is not None:
        return Decision("proved", f"the difference tends to 0 as {_growing(large)}", used="dominant growth")
    tied = (a.names() | b.names() for a, _, b in where.all_hypotheses())
    names = sorted((left.names() | right.names()).union(*tied) - set(large))
    for values in islice(choices(names, where), MOST_LIMITS):
        if not allowed(values, where):
            continue
        here = where.put(values)
        if not reach_large(here, large):
            continue  # a condition ties large names to others: it may not allow all large values
        ends = put_in(values, gap, left, right)
        if ends is None:
            continue
        end = limit(ends[0], here, large)
        if isinstance(end, str):  # it goes to infinity
            return Decision("refuted", f"the difference goes to {end}", values=values)
        if isinstance(end, Scalar) and not end.names() and not end.value().contains(0):
            sides = [_limit_value(side, here, large) for side in ends[1:]]
            return Decision("refuted", "", values=values, left=sides[0], right=sides[1])
    return Decision("undecided", "the limit could not be found")


def _at_zero(left: Scalar, right: Scalar, where: Where, shrinking: Iterable[str]) -> Decision | None:
    """What is defined at 0 is continuous there."""
    there = dict.fromkeys(shrinking, number(0))
    try:
        ends = left.put(there), right.put(there)
    except InputError:
        return None
    found = _for_all(ends[0], "=", ends[1], Where({n: r for n, r in where.ranges.items() if n not in there}))
    if where.hypotheses or found.word not in ("proved", "refuted"):
        return None
    return replace(found, reason=found.reason or "the limits differ") if found.word == "refuted" else found


def _at(side: Scalar, found: Decision) -> arb | None:
    known = found.word == "refuted" and side.names() <= set(found.values)
    return side.value(found.values) if known else None


def most_telling(found: Sequence[Decision]) -> Decision:
    """The decision on several comparisons at once: the worst, and of good ones the one that says most."""
    for word in ("refuted", "undecided", "holds"):
        bad = next((one for one in found if one.word == word), None)
        if bad is not None:
            return bad
    return max(found, key=lambda one: len(one.reason), default=Decision("proved", "both sides are 0"))
