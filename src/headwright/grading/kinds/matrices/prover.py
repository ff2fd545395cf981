"""Statements about matrices decided: the proof, then the search for a counterexample; and the prover.

These are no cases of `decision.decide`, whose two sides are numbers in names that have ranges: the sides here are forms
over words of matrices, for all sizes, and what refutes them are matrices. What comes down to sizes and to numbers is
proved by the same `prove`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from typing import Any

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.errors import FormulaError, ShapeError
from headwright.formulas.shapes import CONSTANTS, SCALAR, spelt
from headwright.formulas.show import plain
from headwright.grading.answer import (
    Answer,
    MisfitError,
    MissingError,
    Said,
    comparisons,
    names_in,
)
from headwright.grading.decision import EMPTY, Decision, Example
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Claim, Outcome, judged
from headwright.grading.kinds.matrices.forms import (
    Algebra,
    Form,
    Sizes,
    minus,
    scaled,
)
from headwright.grading.kinds.matrices.instances import (
    MatricesInstance,
    examples,
    foundations,
)
from headwright.grading.kinds.matrices.known import Given, Known, NoMember
from headwright.grading.kinds.matrices.normal import Normal, at_most, links
from headwright.grading.kinds.matrices.table import Matrices
from headwright.grading.recheck.instances import holds
from headwright.grading.scalars import Scalar, Thing, number, prove

_APPLIED = re.compile(r"([A-Za-z]+)\s*(?:\\(?:left|big|bigl)\s*)?\(")
MOST_INSTANCES = 300
LARGER, FEW = (
    (4, 5, 6, 8),
    12,
)  # sizes in which a few matrices more are tried: what holds for small ones may fail there
SMALL = 8  # up to here matrices are written out
FORMS = "matrix algebra"
DIFFERENT = Decision(
    "proved", "the sides differ by what is given not to be 0", used="a given difference"
)
INSTANCE = "a certified instance"
NO_IDENTITY = "no identity, for the sides differ in an instance; whether they differ in all is not known"
NOT_ALWAYS = "no identity, but the sides do not differ always: there is an instance where they are equal"


def decide(statement: t.Relation, given: Given, *, strict: bool = False) -> Decision:
    """Whether one comparison holds for all matrices that satisfy what is given.

    FormulaError where shapes do not fit; of a chain, decide each link by itself. It is about sizes for which all
    members that it speaks of exist; NoMember where it is strict and these are not all sizes, or where they are not
    all matrices.
    """
    case = _Case(statement, given)
    found = case.decided()
    doubts = case.known.shrunk or (case.known.doubts if strict else [])
    if doubts and found.word != "refuted":
        raise NoMember(doubts[0])
    return found


def proves(statement: t.Relation, given: Given) -> bool:
    """Whether one comparison is proved, without a search for what refutes it."""
    try:
        found = _Case(statement, given).proved()
    except InputError:
        return False
    return found is not None and found.word == "proved"


def gap(sides: tuple[t.Node, ...], given: Given) -> Form | None:
    """How far two terms are apart: 0 if and only if they have one form; None where there is no form for it."""
    try:
        case = _Case(t.Relation((sides[0], sides[1]), ("=",)), given)
        normal = prepared(case.known)
        return difference(normal.of(case.left), normal.of(case.right))
    except InputError:
        return None


def difference(left: Form, right: Form) -> Form:
    """left - right; a written 0 fits any shape."""
    if left.is_scalar and left.is_zero:
        left = scaled(right, 0)
    elif right.is_scalar and right.is_zero:
        right = scaled(left, 0)
    return minus(left, right)


def multiple(mine: Form | None, whole: Form | None) -> Scalar | None:
    """Which multiple of a form another is, by a number made of sizes; None where it is none, or one has no form."""
    if mine is None or whole is None or whole.is_zero:
        return None
    factor = number(0) if mine.is_zero else mine.terms[0][1] / whole.terms[0][1]
    of_sizes = not any(isinstance(atom, Thing) for atom in factor.atoms())
    return factor if of_sizes and mine == scaled(whole, factor) else None


def prepared(known: Known) -> Normal:
    """What brings formulas to forms, with the assumptions about sizes taken in."""
    sizes = Sizes(known)
    for name, facts in known.given.facts.items():
        shape = known.given.shapes.get(name)
        if shape is not None and "orthonormal columns" in facts:
            sizes.assume(sizes.of(shape.columns), sizes.of(shape.rows))
    normal = Normal(known, Algebra(known, sizes))
    for relation in known.given.assume:
        typed = known.typed(relation)
        for left, sign, right in links(typed) if isinstance(typed, t.Relation) else ():
            low, high = normal.of(left).scalar, normal.of(right).scalar
            if sign in (">", ">="):
                low, high = high, low
            if sign in ("<", ">", "<=", ">=", "="):
                sizes.assume(low + 1 if sign in ("<", ">") else low, high)
            if sign == "=":
                sizes.assume(high, low)
    return normal


def never(given: Given, statement: t.Relation) -> bool:
    """Whether what is assumed of sizes is never so."""
    return (
        prove(0, ">", 1, prepared(Known(given, statement)).algebra.sizes.where())
        is not None
    )


class _Case:
    """One comparison, typed, with what is known."""

    def __init__(self, statement: t.Relation, given: Given) -> None:
        """FormulaError where shapes do not fit."""
        if len(statement.terms) != 2:
            raise InputError(
                f"one comparison can be decided at a time, {len(statement.comparisons)} were given"
            )
        self.known = Known(given, statement)
        typed = self.known.typed(statement)
        assert isinstance(typed, t.Relation)  # noqa: S101  typed keeps the kind of a statement
        self.statement = typed
        (self.left, self.right), (self.comparison,) = typed.terms, typed.comparisons
        self.strict = self.comparison in ("<", ">")
        upwards = self.comparison in ("<", "<=")
        self.low, self.high = (
            (self.left, self.right) if upwards else (self.right, self.left)
        )

    def decided(self) -> Decision:
        if self.comparison not in ("=", "!=", "<", ">", "<=", ">="):
            return Decision(
                "undecided", f"{self.comparison} between matrices is not decided"
            )
        why = ""
        try:
            decision = self.proved()
        except InputError as error:  # there is no form for it
            decision, why = None, str(error)
        return self.searched(why) if decision is None else decision

    # Proofs

    def proved(self) -> Decision | None:
        normal = prepared(self.known)
        for side in (
            (self.left, self.right) if self.known.families else ()
        ):  # which members of families have to exist
            with suppress(InputError):
                normal.of(side)
        if self.comparison in ("=", "!="):
            return self.equal(normal)
        match self.high if self.strict and self.low == t.ZERO else None:
            case t.Norm(body) | t.Power(t.Norm(body), t.Number()) if self.given_apart(
                normal.of(body), normal
            ):
                return DIFFERENT  # a length is above 0 where its body is not 0
        low, high = normal.of(self.low).scalar, normal.of(self.high).scalar
        how = at_most(low, high, normal.algebra, strict=self.strict)
        return (
            None
            if how is None
            else Decision("proved", "holds for all sizes and values", used=how)
        )

    def equal(self, normal: Normal) -> Decision | None:
        left, right = normal.of(self.left), normal.of(self.right)
        apart = difference(left, right)
        if apart.is_zero:
            if self.comparison == "=":
                return Decision(
                    "proved", "both sides come to the same, for all sizes", used=FORMS
                )
            return Decision("refuted", "the two sides are always equal", used=FORMS)
        if self.comparison == "!=":
            return DIFFERENT if self.given_apart(apart, normal) else None
        sides = (
            [(left.scalar, right.scalar), (right.scalar, left.scalar)]
            if apart.is_scalar
            else []
        )
        how = [
            at_most(low, high, normal.algebra, strict=False) for low, high in sides
        ] or [None]
        if None in how:
            return None
        return Decision(
            "proved", "each side is at most the other, for all sizes", used=how[0] or ""
        )

    def given_apart(self, apart: Form, normal: Normal) -> bool:
        """Whether a form is a multiple of what is given not to be 0, or of that times a permutation."""
        turning = [
            t.Name(name)
            for name, facts in self.known.given.facts.items()
            if "permutation" in facts
        ]
        before: list[tuple[t.Node, ...]] = [
            (),
            *((x,) for x in turning),
            *((t.Transpose(x),) for x in turning),
        ]
        for pair in self.known.given.different:
            for factor in before:
                first, second = (
                    t.Product((*factor, side)) if factor else side for side in pair
                )
                with suppress(FormulaError):  # a permutation of another size
                    sides = self.known.typed(t.Relation((first, second), ("=",)))
                    found = multiple(
                        apart, difference(*map(normal.of, sides.children()))
                    )
                    if found is not None and found.rational not in (None, 0):
                        return True
        return False

    # Instances

    def instances(
        self, fixed: Mapping[str, int] | None = None
    ) -> Iterator[MatricesInstance]:
        """Explicit matrices that are as given, small ones first."""
        names, integers = foundations(self.known, self.statement)
        every = (
            MatricesInstance.of(self.known, example)
            for example in examples(self.known, names, integers, fixed)
        )
        admissible = (instance for instance in every if instance.admissible())
        yield from islice(admissible, MOST_INSTANCES)

    def searched(self, why: str) -> Decision:
        """An instance refutes. Of a difference none does: A B != B A may mean that the two are not always equal."""
        tried: list[str] = []
        outcomes = set()
        larger = [
            dict.fromkeys(self.known.sized, size)
            for size in LARGER
            if self.known.families
        ]
        for instance in chain(
            self.instances(), *(islice(self.instances(sizes), FEW) for sizes in larger)
        ):
            tried.append(_sizes(instance.example.sizes))
            outcomes.add(outcome := holds(self.statement, instance))
            if outcome is False and self.comparison != "!=":
                return self.refuted(instance)
        if self.comparison == "!=" and True in outcomes:
            return Decision(
                "undecided", NOT_ALWAYS if False in outcomes else NO_IDENTITY
            )
        where = f" ({tried[0]} to {tried[-1]})" if tried and tried[0] else ""
        said = f"neither proved nor refuted; {len(tried)} instances were tried{where}"
        is_so = True in outcomes and self.comparison != "!="
        return Decision(
            "holds" if is_so else "undecided", f"{said}; {why}" if why else said
        )

    def refuted(self, instance: MatricesInstance) -> Decision:
        """The instance as a counterexample, with the two sides there."""
        example = instance.example
        said = "false for these values"
        if example.sizes:
            said = f"false for {_sizes(example.sizes)}"
        sides: list[list[list[float]]] = []
        for side in (self.left, self.right):
            rows = instance.value(side).tolist()
            sides.append([[float(entry.mid()) for entry in row] for row in rows])
        shown = replace(example, sides=tuple(sides))
        return Decision("refuted", said, INSTANCE, example=shown)


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()))


# The prover


@dataclass(frozen=True)
class MatricesProver:
    """Decides statements about matrices."""

    exercise: Exercise
    given: Given
    claims: tuple[Said, ...] = ()
    conditions: tuple[Outcome, ...] = ()

    @classmethod
    def of(cls, exercise: Exercise, table: Matrices, answer: Answer) -> MatricesProver:
        """With what the answer defines."""
        given = Given.of(exercise, table, answer)
        return cls(exercise, given, tuple(answer.claims))

    def otherwise(self, definitions: Mapping[str, str]) -> MatricesProver:
        """The same were the question idle: with these definitions, and nothing given to be different."""
        idle = {
            **self.given.definitions,
            **{name: parsed(source) for name, source in definitions.items()},
        }
        return replace(self, given=replace(self.given, definitions=idle, different=()))

    def decide(self, claim: Claim) -> list[Outcome]:
        """One comparison: equal forms, or an instance where it fails."""
        link = claim.link
        spoken = {plain(name) for name in names_in(link)}
        for name in self.exercise.missing(self.given.definitions):
            if name in spoken:
                raise MissingError(
                    f"{name} is used, and no formula defines it",
                    link,
                    fix=f"write {name} = ...",
                )
        against_law = self._against_law(claim)
        if against_law is not None:
            return [against_law]
        given, understood = self._under(claim.under)
        strict = claim.role == "goal" or bool(self.exercise.derive)
        try:
            found = decide(link, given, strict=strict)
        except ShapeError as error:
            unclear = self._applied(error) or self._cut(
                given, link, *given.definitions.values()
            )
            if unclear:
                return [judged(claim, Decision("undecided", unclear), unclear)]
            one = judged(claim, Decision("refuted", error.message), str(error))
            return [replace(one, counterexample={"shapes": error.message})]
        except NoMember as error:
            return [judged(claim, Decision("undecided", str(error)), str(error))]
        if found.word == "refuted":
            which = " and ".join(self._unsaid(found, claim))
            unclear = self._cut(given, link)
            if not understood:
                unclear = "it is not always true; whether it is under this condition is not known"
            elif which:
                unclear = f"it is not true for every {which}: say for which it is meant, 'for all ...'"
            found = Decision("undecided", unclear) if unclear else found
        if found.word == "proved" and given != self.given and never(given, link):
            found = Decision("undecided", EMPTY, vacuous=True)
        words = found.reason
        if found.word == "refuted":
            said = (
                "is"
                if claim.role == "goal" and found.example is not None
                else "does not follow:"
            )
            words = f"{plain(link)} {said} {found.reason}"
        one = judged(claim, found, words)
        if found.example is None:
            return [one]
        return [replace(one, counterexample=shown(found))]

    def _against_law(self, claim: Claim) -> Outcome | None:
        """What refutes a law that is stated with letters of its own: relu(x + y) = relu(x) + relu(y).

        Letters that nobody explained, inside of functions on both sides of an equation, stand for all numbers, or for
        all matrices of one shape. Such a law is refuted by an instance; it is never proved here.
        """
        link = claim.link
        letters = self._unknown_letters(claim)
        if not letters:
            return None
        spoken = [spelt(name) for name in names_in(link)]
        known = [
            self.given.shapes[name] for name in spoken if name in self.given.shapes
        ]
        square = [
            shape for shape in self.given.shapes.values() if shape.rows == shape.columns
        ]
        for shape in dict.fromkeys([SCALAR, *known, *square]):
            given = replace(
                self.given,
                shapes={**self.given.shapes, **dict.fromkeys(letters, shape)},
            )
            try:
                found = decide(link, given)
            except (FormulaError, NoMember):
                continue  # the shapes do not fit
            if found.word == "refuted" and found.example is not None:
                shapes = dict.fromkeys(letters, (shape.rows, shape.columns))
                found = replace(found, example=replace(found.example, shapes=shapes))
                one = judged(claim, found, f"{plain(link)} is {found.reason}")
                return replace(one, counterexample=shown(found))
        return None

    def _unknown_letters(self, claim: Claim) -> list[str]:
        """The letters of a law: unknown, inside of functions on both sides, and under no condition but 'for all'."""
        link = claim.link
        is_equation = link.comparisons == ("=",) and len(link.terms) == 2
        if (
            not self.exercise.derive
            or not is_equation
            or not all(isinstance(part, t.Name) for part in claim.under)
        ):
            return []
        known = Known(self.given, link)

        def letters(nodes: Sequence[t.Node]) -> set[str]:
            names = [
                name for node in nodes for name in names_in(node) if t.is_letter(name)
            ]
            names = [
                name
                for name in names
                if name.base not in CONSTANTS and name.base not in known.bound
            ]
            return {spelt(name) for name in names if known.shape_of(name) is None}

        inside = [letters(_arguments(term)) for term in link.terms]
        outside = letters([_without_arguments(term) for term in link.terms])
        return sorted(inside[0]) if inside[0] == inside[1] and not outside else []

    def _applied(self, error: ShapeError) -> str:
        """'Z(PX)', where Z is defined by a formula: people write so what that formula makes of PX."""
        written = error.source[error.span.start : error.span.stop]
        found = _APPLIED.match(written)
        if not found or found[1] not in self.exercise.definitions:
            return ""
        return f"whether {written} is a product or a function of what stands in the brackets is not certain"

    def _cut(self, given: Given, *nodes: t.Node) -> str:
        """U_k is the first columns of U, and what is false of these may be meant of the k-th alone, or with zeros."""
        known = Known(given, nodes[0])
        cut = next((name for name in t.every_name(*nodes) if known.is_cut(name)), None)
        return (
            ""
            if cut is None
            else f"{plain(cut)} was read as the first columns of {cut.base}: write it out"
        )

    def _unsaid(self, found: Decision, claim: Claim) -> list[str]:
        """Indices of a counterexample that the exercise does not give, and of which nothing is said: A v_i = ..."""
        given = {*self.given.sizes, *self.given.shapes, *Known(self.given).sized}
        said = {name.base for part in claim.under for name in names_in(part)}
        return sorted(
            name
            for name in (found.example.sizes if found.example else ())
            if name not in given | said
        )

    def _under(self, under: tuple[t.Node, ...]) -> tuple[Given, bool]:
        """What is given with the conditions 'for all i <= k', and whether these are all."""
        said = [
            link
            for part in under
            if isinstance(part, t.Relation)
            for link in comparisons(part)
        ]
        said = [link for link in said if not self._is_given(link)]
        others = [part for part in under if not isinstance(part, t.Name | t.Relation)]
        given, left = self.given.assuming(said)
        return given, not (left or others)

    def _is_given(self, link: t.Relation) -> bool:
        """Whether a condition says what is so anyway: 'with Q_p = P Q' restricts nothing."""
        try:
            return decide(link, self.given).word == "proved"
        except (FormulaError, NoMember, MisfitError):
            return False


def _arguments(node: t.Node) -> list[t.Node]:
    """What functions and norms are taken of, in a term."""
    if isinstance(node, t.Call | t.Norm):
        return list(node.children())
    return [found for part in node.children() for found in _arguments(part)]


def _without_arguments(node: t.Node) -> t.Node:
    """A term with 0 in place of functions and norms."""
    return (
        t.ZERO
        if isinstance(node, t.Call | t.Norm)
        else t.mapped(node, _without_arguments)
    )


def shown(found: Decision) -> dict[str, Any]:
    """A counterexample in plain numbers, for people."""
    example = found.example or Example({})
    small = {
        name: rows
        for name, rows in example.matrices.items()
        if len(rows) <= SMALL and name != "ones"
    }
    told: dict[str, Any] = {
        "sizes": dict(example.sizes),
        "names": {name: _rows(rows) for name, rows in small.items()},
    }
    return told | dict(zip(("left", "right"), map(_rows, example.sides), strict=False))


def _rows(rows: Sequence[Sequence[Fraction | float]]) -> object:
    plainly = [[_short(float(entry)) for entry in row] for row in rows]
    return plainly[0][0] if len(plainly) == len(plainly[0]) == 1 else plainly


def _short(value: float) -> int | float:
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
