"""The seam: a comparison of two exact scalars is a Case, and becomes a Decision that every setting tells in its words.

It is proved, refuted by the smallest instance, or left open.

A comparison may have names that go to infinity (`large`). An inequality is then about all sufficiently large values,
and 'approximately' about the limit; an equation is about all values all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from typing import Literal

from flint import arb

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.grading import scalars
from headwright.grading.scalars.assumptions import Hypothesis, checked
from headwright.grading.scalars.instances import (
    MOST_LIMITS,
    Instance,
    allowed,
    choices,
    far_out,
    put_in,
    reach_large,
)
from headwright.grading.scalars.numbers import Symbol, shown_name


@dataclass(frozen=True)
class Threshold:
    """From which values of large names on a comparison holds; where the condition is not met, it holds anyway."""

    least: Mapping[str, scalars.Scalar]
    condition: Hypothesis | None = None
    strict: bool = False  # it may fail at the threshold itself

    def __str__(self) -> str:
        """For people: 'lambda >= ln((n - 2)/epsilon), for n > 2'."""
        sign = ">" if self.strict else ">="
        said = " and ".join(
            f"{shown_name(name)} {sign} {value}" for name, value in self.least.items()
        )
        if self.condition is None:
            return said
        left, comparison, right = self.condition
        for name in sorted(left.names()):  # n - 2 > 0 as n > 2
            free = scalars.parameter(
                name
            )  # as if nothing were known of it: only the form matters
            rest = free - left.put({name: free}) + right
            if name not in rest.names():
                return f"{said}, for {name} {comparison} {rest}"
        return f"{said}, for {left} {comparison} {right}"


@dataclass(frozen=True)
class Path:
    """A large name as a multiple of a power of another one, which is large too."""

    lead: str
    times: int
    power: int

    def of(self, lead: scalars.Scalar) -> scalars.Scalar:
        """The name, in terms of the other."""
        return self.times * lead**self.power

    def __str__(self) -> str:
        return str(self.of(scalars.parameter(self.lead, scalars.POSITIVE)))


PATHS = ((1, 1), (2, 1), (1, 2))  # multiples and powers
NEAR = Fraction(1, 20)  # how near 'approximately' is where nothing goes to infinity
MOST_TRIED = 200


@dataclass(frozen=True)
class Example:
    """Explicit matrices: sizes, and exact entries for names.

    `shapes` are those of letters that stand for anything, in a law such as relu(x + y) = ...
    """

    sizes: Mapping[str, int]
    matrices: Mapping[str, Sequence[Sequence[Fraction]]] = field(default_factory=dict)
    sides: tuple[
        Sequence[Sequence[float]], ...
    ] = ()  # the two sides of the claim there, rounded: for showing
    shapes: Mapping[str, tuple[int | str, int | str]] = field(default_factory=dict)


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
    same: bool = False  # both sides are the same, which proves or refutes it
    comes_to: str = ""  # what a proved comparison comes down to
    up_to_noise: bool = False  # refuted only since the keys are random
    along: Mapping[str, Path] = field(
        default_factory=dict
    )  # how large names depend on another in the counterexample
    beyond: str = (
        ""  # a name whose value in the counterexample is too extreme to be written out
    )
    example: Example | None = (
        None  # matrices that refute it, or that show that two things differ
    )


@dataclass(frozen=True)
class Tending:
    """Where names go: large ones to infinity, vanishing ones to 0, small ones to 0 where something is 'about' so."""

    large: tuple[str, ...] = ()
    vanishing: frozenset[str] = frozenset()
    small: tuple[str, ...] = ()
    given: frozenset[str] = (
        frozenset()
    )  # names of the exercise: those of the answer's own are chosen before they grow


STILL = Tending()


@dataclass(frozen=True)
class Case:
    """left (sign) right, for all parameters in `where`, as the names in `large` go to infinity."""

    left: scalars.Scalar
    sign: t.Comparison
    right: scalars.Scalar
    where: scalars.Where
    large: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names in the two sides."""
        return self.left.names() | self.right.names()

    def put(self, values: Mapping[str, scalars.Scalar]) -> Case:
        """The same with scalars in place of names."""
        return replace(
            self,
            left=self.left.put(values),
            right=self.right.put(values),
            where=self.where.put(values),
        )


STANDS = "the two sides are near each other, and nothing moves: this is no limit (write \\approx)"
EMPTY = "no case that can occur satisfies what is assumed"


def decide(
    left: scalars.Scalar,
    comparison: t.Comparison,
    right: scalars.Scalar,
    where: scalars.Where,
    tending: Tending = STILL,
) -> Decision:
    """Decide left (comparison) right for all parameters in `where`, as names go where they go."""
    case = Case(left, comparison, right, where)
    found = _decided(case, tending)
    if found.word == "undecided":
        found = _along_a_path(case, tending) or found
    if (
        found.word == "proved"
        and where.hypotheses
        and scalars.prove(scalars.number(0), ">", scalars.number(1), where) is not None
    ):
        return Decision("undecided", EMPTY, vacuous=True)
    return found


def _along_a_path(case: Case, tending: Tending) -> Decision | None:
    """Refuted where one large name of the answer's own is a function of another: it must hold however they grow."""
    own = [
        n
        for n in tending.large
        if n in case.names and n not in tending.given and not isinstance(n, Symbol)
    ]
    ranges = [case.where.range(name) for name in own]
    ends = [end for known in ranges for end in (known.lower, known.upper)]
    if (
        len(own) < 2
        or any(known.integer for known in ranges)
        or any(isinstance(end, scalars.Scalar) for end in ends)
    ):
        return None
    for lead, (times, power) in product(own, PATHS):
        along = {name: Path(lead, times, power) for name in own if name != lead}
        put = {name: path.of(case.where.name(lead)) for name, path in along.items()}
        found = _decided(
            case.put(put),
            replace(tending, large=tuple(n for n in tending.large if n not in along)),
        )
        if found.word == "refuted":
            return replace(found, along=along)
    return None


def decide_all(
    pairs: Mapping[str, tuple[scalars.Scalar, scalars.Scalar]],
    comparison: t.Comparison,
    where: scalars.Where,
    tending: Tending = STILL,
) -> Decision:
    """Decide a comparison of two vectors by their coordinates; each is told by its name."""
    if comparison == "!=":
        return _apart([a - b for a, b in pairs.values()], where, tending)
    found = [
        replace(decide(a, comparison, b, where, tending), about=name)
        for name, (a, b) in pairs.items()
    ]
    if (
        comparison == "="
        and len(found) > 1
        and all(one.word == "proved" for one in found)
    ):
        reason = "both sides are equal, part by part"
        return replace(most_telling(found), reason=reason, same=True, comes_to="")
    return most_telling(found)


def _apart(
    gaps: Sequence[scalars.Scalar], where: scalars.Where, tending: Tending
) -> Decision:
    """Different in one coordinate, for all parameters; the same if all coordinates are, at least somewhere."""
    if all(decide(gap, "=", scalars.number(0), where).word == "proved" for gap in gaps):
        return Decision("refuted", "the two are the same", same=True)
    for gap in gaps:
        found = decide(gap, "!=", scalars.number(0), where, tending)
        if found.word == "proved":
            return found
    for values in _places(
        frozenset().union(*(gap.names() for gap in gaps)),
        where,
        tending.large,
        MOST_TRIED,
    ):
        there = put_in(values, *gaps)
        if there and all(gap == 0 for gap in there):
            reason = "the two are the same there"
            return Decision("refuted", reason, values=values, same=True)
    return Decision("undecided", "they may coincide")


def _decided(case: Case, tending: Tending) -> Decision:
    """By the way that fits the sign, and where names go."""
    case = replace(
        case, large=tuple(name for name in tending.large if name in case.names)
    )
    shrinking = tending.vanishing & case.names
    ranges = [case.where.range(name) for name in shrinking]
    if any(known.lower not in (0, None) or not known.positive for known in ranges):
        return Decision(
            "undecided", f"{' and '.join(sorted(shrinking))} cannot go to 0 from above"
        )
    try:
        if case.sign in ("~", "->"):
            return _close(_inverted(case, shrinking.union(tending.small)))
        if case.sign in ("<<", ">>"):
            return Decision(
                "undecided", f"how much larger {case.sign} means is not said"
            )
        if case.sign == "=" or not (case.large or shrinking):
            return _for_all(case)
        found = _for_large(_inverted(case, shrinking))
        return replace(found, threshold=None) if shrinking else found
    except scalars.TooBig as error:
        return Decision("undecided", str(error))


def _for_all(case: Case) -> Decision:
    where = case.where
    sides = case.left, checked(case.sign), case.right, where
    proof = scalars.prove(*sides)
    if proof is not None:
        return _by_proof(proof)
    found = scalars.counterexample(*sides) or far_out(*sides)
    if found is not None and found.beyond:
        said = f"it fails for all {shown_name(found.beyond)} that are large, or near enough to 0"
        return Decision("refuted", said, values=found.values, beyond=found.beyond)
    if found is not None:
        return Decision(
            "refuted", "", values=found.values, left=found.left, right=found.right
        )
    return Decision("holds", "no counterexample was found among plain instances")


def _by_proof(proof: scalars.Proof) -> Decision:
    return Decision(
        "proved",
        proof.reason,
        used=proof.used,
        same=proof.says is None,
        comes_to=proof.comes_to,
    )


def _for_large(case: Case) -> Decision:
    left, sign, right, where, large = (
        case.left,
        checked(case.sign),
        case.right,
        case.where,
        case.large,
    )
    for wanted in ("<", ">") if sign == "!=" else (sign,):
        proof = scalars.eventually(left, wanted, right, where, large)
        if proof is not None:
            exactly = proof.threshold and sign != "!="
            threshold = (
                Threshold(proof.threshold, proof.condition, sign in ("<", ">"))
                if exactly
                else None
            )
            return Decision(
                "proved",
                proof.reason,
                used=proof.used,
                threshold=threshold,
                comes_to=proof.comes_to,
            )
    if sign == "!=" and scalars.prove(left, "=", right, where) is not None:
        return Decision("refuted", "the two are the same", same=True)
    found = scalars.counterexample(
        left, sign, right, where, large=large
    ) or _by_continuity(case)
    if found is not None:
        left_end, right_end = (
            end if end.is_finite() else None for end in (found.left, found.right)
        )
        return Decision(
            "refuted", "", values=found.values, left=left_end, right=right_end
        )
    return Decision(
        "undecided",
        f"neither proved nor refuted for large {' and '.join(map(shown_name, large))}",
    )


GONE = Symbol("gone")  # 1 over a large name


def _by_continuity(case: Case) -> Instance | None:
    """Where the limits of both sides break it, the one large name entering as its inverse only."""
    if len(case.large) != 1 or case.large[0] in case.where.tied() or case.sign == "!=":
        return None  # what is different may have one limit
    try:
        sides = [
            side.put({case.large[0]: 1 / scalars.parameter(GONE, scalars.POSITIVE)})
            for side in (case.left, case.right)
        ]
        left, right = (side.put({GONE: 0}) for side in sides)
    except InputError:
        return None
    weak = {">": ">=", "<": "<="}.get(
        case.sign, case.sign
    )  # limits may be equal without the sides ever being so
    return scalars.counterexample(left, weak, right, case.where.put({case.large[0]: 1}))


def _inverted(case: Case, small: Iterable[str]) -> Case:
    """The same with names that go to 0 as 1 over names that go to infinity."""
    for name in sorted(case.names.intersection(small)):
        inverse = Symbol("inverse", name, f"1/{name}")
        turned = case.put({name: 1 / scalars.parameter(inverse, scalars.POSITIVE)})
        where = replace(
            turned.where, ranges={**turned.where.ranges, inverse: scalars.POSITIVE}
        )
        case = replace(turned, where=where, large=(*case.large, inverse))
    return case


def _close(case: Case) -> Decision:
    """The two sides are about equal: their difference tends to 0, or is small where nothing tends anywhere."""
    left, right, where, large = case.left, case.right, case.where, case.large
    gap = left - right
    if gap == scalars.number(0):
        reason = f"both sides are {left}"
        return Decision("proved", reason, used="exact algebra", same=True)
    if not large:
        found = _for_all(Case(scalars.absolute(gap), "<=", scalars.number(NEAR), where))
        if found.word == "proved" and case.sign == "->":
            same = scalars.prove(left, "=", right, where)
            return _by_proof(same) if same else Decision("undecided", STANDS)
        if found.word == "proved":
            return Decision(
                "proved",
                f"the two sides differ by at most {float(NEAR):g}: {found.reason}",
                found.used,
            )
        said = found.reason or f"the two sides differ by more than {float(NEAR):g}"
        one, other = (
            side.value(found.values)
            if found.word == "refuted" and side.names() <= set(found.values)
            else None
            for side in (left, right)
        )
        return Decision(found.word, said, found.used, found.values, one, other)
    end = scalars.limit(gap, where, large)
    if (
        isinstance(end, scalars.Scalar)
        and scalars.prove(end, "=", scalars.number(0), where) is not None
    ):
        going = " and ".join(map(_going, large))
        return Decision(
            "proved", f"the difference tends to 0 as {going}", used="dominant growth"
        )
    for values in _places(case.names, where, large, MOST_LIMITS):
        ends = put_in(values, gap, left, right)
        if ends is None:
            continue
        end = scalars.limit(ends[0], where.put(values), large)
        if isinstance(end, str):  # it goes to infinity
            return Decision("refuted", f"the difference goes to {end}", values=values)
        if end is not None and not end.names() and not end.value().contains(0):
            both = (scalars.limit(side, where.put(values), large) for side in ends[1:])
            one, other = (
                end.value()
                if isinstance(end, scalars.Scalar) and not end.names()
                else None
                for end in both
            )
            return Decision("refuted", "", values=values, left=one, right=other)
    return Decision("undecided", "the limit could not be found")


def _going(name: str) -> str:
    inverted = isinstance(name, Symbol) and name.kind == "inverse"
    return f"{name.of} goes to 0" if inverted else f"{shown_name(name)} grows"  # type: ignore[attr-defined]


def _places(
    names: Iterable[str], where: scalars.Where, large: Sequence[str], most: int
) -> Iterator[dict[str, Fraction]]:
    """Plain values for all names but the large ones that satisfy what is assumed, however large those become."""
    for values in islice(
        choices(sorted(where.tied().union(names) - set(large)), where), most
    ):
        if allowed(values, where) and reach_large(where.put(values), large):
            yield values


def denied(found: Decision, words: str = "") -> Decision:
    """What is found of a comparison once it is denied; `words` are those for what was false."""
    if found.word == "refuted":
        return Decision(
            "proved", words or found.reason or "they tend to different limits"
        )
    return (
        Decision("refuted", "the two tend to the same limit")
        if found.word == "proved"
        else found
    )


def most_telling(found: Sequence[Decision]) -> Decision:
    """The decision on several comparisons at once: the worst, and of good ones the one that says most."""
    for word in ("refuted", "undecided", "holds"):
        bad = next((one for one in found if one.word == word), None)
        if bad is not None:
            return bad
    return max(
        found,
        key=lambda one: len(one.reason),
        default=Decision("proved", "both sides are 0", same=True),
    )
