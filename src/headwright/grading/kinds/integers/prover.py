"""Exercises about integers and angles: position embeddings at integer places, decided exactly with z3.

Rows of position embeddings are equal when all their entries are; the first frequency is 1, so for integers that is so
only if the positions are the same.

A statement is decided as a whole here, and not as cases of `decision.decide`: 't - t' = 2 pi k for some k implies
t = t'' is no comparison of two numbers for all values of their names, and that a polynomial in pi is 0 only where its
coefficients are is unknown to the real arithmetic behind `prove`. What comes out is a Decision as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import (
    Answer,
    MisfitError,
    Said,
    comparisons,
    full_name,
    pairs,
)
from headwright.grading.decision import Decision
from headwright.grading.exact_arrays import ArrayReader, ExactArray
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Claim, Outcome, at, judged
from headwright.grading.kinds.integers.table import Integers
from headwright.grading.scalars import (
    Range,
    Scalar,
    cos,
    number,
    parameter,
    pi,
    sin,
)
from headwright.grading.scalars.forms import ONE as UNDER
from headwright.grading.scalars.forms import Atom, Function, interval, of_atom
from headwright.grading.scalars.numbers import Symbol
from headwright.grading.scalars.solver import NotWhole, Whole

WAVES = ("sin", "cos")
REAL_NAMES = ("x", "y", "z", "theta", "phi")  # of angles, which need not be integers
MOST = 6  # power of a sine
NEAR = t.Number(
    Fraction(1, 20)
)  # as near as numbers are that are said to be about equal


@dataclass
class Encoder:
    """Makes z3 formulas of statements."""

    whole: Whole
    integers: Mapping[str, Range]
    rows: str
    given: tuple[t.Node, ...] = ()  # what is known of some of the integers
    defined: list[Any] = field(
        default_factory=list
    )  # where what was read so far has a value

    def statement(self, node: t.Node) -> Any:
        """A statement as a z3 formula."""
        z3 = self.whole.z3
        match node:
            case t.Logic("and" | "or" as word, items):
                return (z3.And if word == "and" else z3.Or)(
                    *(self.statement(item) for item in items)
                )
            case t.Logic("not" | "iff", items):
                done = len(self.defined)
                first, *rest = (self.statement(item) for item in items)
                return z3.And(
                    *self.defined[done:], first == rest[0] if rest else z3.Not(first)
                )
            case t.Logic("implies", (condition, conclusion)):
                given, claimed = self.statement(condition), self.statement(conclusion)
                new = sorted(
                    (_names(conclusion) - _names(condition))
                    & set(self.integers)
                    & {"k", "m"}
                )
                if new:  # an integer that only the conclusion names is claimed to exist: t = t' + 2 pi k for some k
                    claimed = z3.Exists(
                        [self.whole.name(name) for name in new], claimed
                    )
                return z3.Implies(given, claimed)
            case t.Quantified(body, conditions):
                said = [
                    self.statement(c) for c in conditions if not isinstance(c, t.Name)
                ]
                return z3.Implies(z3.And(*said), self.statement(body))
            case t.Exists(body, conditions):
                return self._some(body, conditions, node)
            case t.Relation():
                return z3.And(*(self._link(link) for link in comparisons(node)))
            case _:
                raise MisfitError(
                    "this is not a statement",
                    node,
                    fix="write a comparison, or ... \\Rightarrow ...",
                )

    def _some(self, body: t.Node, conditions: tuple[t.Node, ...], node: t.Node) -> Any:
        """t = t' + 2 pi k for some integer k; Phi_t = Phi_t' for some t != t', which are as given."""
        bare = [
            one.left if isinstance(one, t.Bond) and one.right == t.Domain("Z") else one
            for one in conditions
        ]
        said = [one for one in bare if isinstance(one, t.Relation)]
        spoken = {name for one in bare for name in _names(one)} & set(self.integers)
        if not spoken or any(not isinstance(one, t.Name | t.Relation) for one in bare):
            raise MisfitError(
                "what is said to exist is not understood",
                node,
                fix="write 'for some integer k'",
            )
        given = [one for one in self.given if _names(one) & spoken]
        done = len(self.defined)
        inner = self.whole.z3.And(
            *(self.statement(one) for one in (*given, *said, body))
        )
        found = self.whole.z3.Exists(
            [self.whole.name(name) for name in sorted(spoken)], inner
        )
        if self.defined[done:]:
            raise MisfitError("a quotient of what is said to exist", node)
        return found

    def _link(self, link: t.Relation) -> Any:
        (left, right), (sign,) = link.terms, link.comparisons
        if sign == "~" and _names(link) <= {
            "pi"
        }:  # 2 pi ~ 6.28: numbers are near within 1/20
            gap, near = self.value(left) - self.value(right), self.value(NEAR)
            return self.whole.z3.And(
                self.whole.compared(near - gap, ">="),
                self.whole.compared(near + gap, ">="),
            )
        if sign in ("~", "->", "<<", ">>"):
            raise MisfitError(f"'{sign}' has no meaning for integers", left)
        done = len(self.defined)
        try:
            found = self._compared(left, sign, right)
        except NotWhole as error:
            raise MisfitError("this is not understood about integers", link) from error
        return self.whole.z3.And(
            *self.defined[done:], found
        )  # it is false where it has no value

    def _compared(self, left: t.Node, sign: t.Comparison, right: t.Node) -> Any:
        z3 = self.whole.z3
        if (
            isinstance(left, t.Norm) and right == t.ZERO and sign in ("=", "!=", ">")
        ):  # a length is 0 where its vector is
            left, sign = left.body, "=" if sign == "=" else "!="
        if sign not in ("=", "!="):
            big, small = (left, right) if sign in (">", ">=") else (right, left)
            gap = _linear(self.value(big) - self.value(small))
            waves = any(
                isinstance(atom, Function) and atom.kind in WAVES
                for atom in gap.atoms()
            )
            if sign in ("<", ">") and waves and interval(gap).low == 0:
                return z3.Not(
                    self._vanishes(gap)
                )  # 1 - cos x, and no cosine is above 1
            return self.whole.compared(gap, ">" if sign in ("<", ">") else ">=")
        items = pairs(left, right)
        if items:  # (a, b) != (c, d): in one place at least
            return z3.Not(z3.And(*(self._compared(a, "=", b) for a, b in items)))
        match left:
            case t.Sum((one, t.Negative(other))) if (
                right == t.ZERO and self._is_row(one) and self._is_row(other)
            ):
                left, right = one, other
        if self._is_row(left) and self._is_row(right):
            here, there = (
                self.whole.whole(self.value(row.index))  # type: ignore[attr-defined]
                for row in (left, right)
            )
            equal = here == there
        else:
            equal = self._vanishes(self.value(left) - self.value(right))
        return equal if sign == "=" else z3.Not(equal)

    def _is_row(self, node: t.Node) -> bool:
        return (
            isinstance(node, t.Name)
            and node.base == self.rows
            and node.index is not None
        )

    def _vanishes(self, value: Scalar) -> Any:
        """That a number is 0; cos x = cos y means x - y = 2 pi m or x + y = 2 pi m for some integer m."""
        value = _linear(_cleared(value))
        waves = [
            (atom, coefficient)
            for monomial, coefficient in value.over.items()
            for atom, exponent in monomial
            if isinstance(atom, Function)
            and atom.kind in WAVES
            and len(monomial) == 1
            and exponent == 1
        ]
        rest = value - sum(
            (coefficient * of_atom(atom) for atom, coefficient in waves), number(0)
        )
        match waves:
            case [(Function(kind=kind, body=x), a)] if (
                level := (-rest / a).rational
            ) in QUARTERS[kind]:
                return self._same_wave(
                    kind, x, QUARTERS[kind][level] * pi() / 2
                )  # 1 = cos 0, -1 = sin(3 pi/2)
            case [
                (Function(kind=kind, body=x), a),
                (Function(kind=other, body=y), b),
            ] if kind == other and rest == 0:
                if a == -b or (a == b and kind == "sin"):
                    return self._same_wave(kind, x, y if a == -b else -y)
        try:
            return self.whole.vanishes(value)
        except NotWhole:
            return self.whole.z3.And(
                *(self.whole.compared(value, sign) for sign in (">=", "<="))
            )

    def _same_wave(self, kind: str, x: Scalar, y: Scalar) -> Any:
        """sin x = sin y means x - y = 2 pi m or x + y = (2 m + 1) pi, for some integer m."""
        m = parameter(Symbol("turns", str(len(self.whole.names))), Range(integer=True))
        said = [x - y - 2 * m * pi(), x + y - (2 * m + int(kind == "sin")) * pi()]
        found, z3 = (
            [self.whole.vanishes(_cleared(value)) for value in said],
            self.whole.z3,
        )
        name = next(iter(m.names()))
        turns = self.whole.names.pop(name) if name in self.whole.names else z3.Int(name)
        return z3.Exists([turns], z3.Or(*found))

    def value(self, node: t.Node) -> Scalar:
        """The value of a formula."""
        return IntegersReader(encoder=self).scalar(node)

    def need_defined(self, divisor: Scalar) -> None:
        """What was read so far has a value only where this is not 0."""
        if not interval(divisor).positive:
            self.defined.append(self.whole.z3.Not(self._vanishes(divisor)))


@dataclass(frozen=True)
class IntegersReader(ArrayReader):
    """What names are: integers, angles, and the frequencies of rows."""

    encoder: Encoder = field(kw_only=True)

    def name(self, node: t.Name) -> ExactArray:
        """An integer, a frequency, the number of an angle."""
        full, integers = full_name(node), self.encoder.integers
        if full in ("pi", "e") or full in self.indices:
            return super().name(node)
        if full == "w_0":
            return ExactArray.number(1)
        if node.base == "w" and node.index is not None and "d" in integers:
            rate = -2 * self.scalar(node.index) / self.scalar(t.Name("d"))
            return ExactArray.number(number(10000) ** rate)
        if full in REAL_NAMES and full not in integers:
            return ExactArray.number(parameter(full))
        if full not in integers:
            raise MisfitError(
                f"{full} is not a name of this exercise",
                node,
                fix=f"it has {', '.join(sorted(integers))}",
            )
        self.encoder.whole.name(full)
        return ExactArray.number(parameter(full, integers[full]))

    def _quotient(self, over: t.Node, under: t.Node) -> ExactArray:
        divisor = self.scalar(under)
        self.encoder.need_defined(divisor)
        return ExactArray.number(self.scalar(over) / divisor)

    def _power(self, node: t.Node, base: t.Node, exponent: t.Node) -> ExactArray:
        whole = t.number_of(exponent)
        if whole is None or whole < 0 or whole.denominator != 1:
            self._check_positive(base)
        return super()._power(node, base, exponent)

    def _call(
        self, node: t.Node, function: str, arguments: tuple[t.Node, ...]
    ) -> ExactArray:
        if function in ("ln", "sqrt") and len(arguments) == 1:
            self._check_positive(arguments[0])
        return super()._call(node, function, arguments)

    def _check_positive(self, node: t.Node) -> None:
        """Of what is under a root: simplifying must not hide where that has no value."""
        if not interval(self.scalar(node)).positive:
            raise MisfitError("this need not be above 0", node)


QUARTERS: Mapping[
    str, Mapping[Fraction | None, int]
] = {  # of half a turn, where sines and cosines are 0, 1 and -1
    "cos": {Fraction(1): 0, Fraction(0): 1, Fraction(-1): 2},
    "sin": {Fraction(0): 0, Fraction(1): 1, Fraction(-1): 3},
}


def _cleared(value: Scalar) -> Scalar:
    """What is 0 where a number is; it is divided by nothing that is 0."""
    whole, below = Scalar(value.over, UNDER), dict[Atom, Fraction]()
    for atom, exponent in (pair for monomial in value.over for pair in monomial):
        below[atom] = min(exponent, below.get(atom, Fraction(0)))
    return prod(
        (of_atom(atom) ** -exponent for atom, exponent in below.items()), start=whole
    )


def _linear(value: Scalar) -> Scalar:
    """With sums of waves in place of their products: 2 sin x sin y = cos(x - y) - cos(x + y)."""
    total = number(0)
    for monomial, coefficient in value.over.items():
        waves = [
            atom
            for atom, exponent in monomial
            if _is_wave(atom, exponent)
            for _ in range(int(exponent))
        ]
        others = [
            of_atom(atom) ** exponent
            for atom, exponent in monomial
            if not _is_wave(atom, exponent)
        ]
        rest = prod(others, start=number(coefficient))
        if len(waves) < 2:
            total += rest * prod(map(of_atom, waves), start=number(1))
            continue
        one, other, *further = (atom for atom in waves if isinstance(atom, Function))
        x, y = one.body, other.body
        if one.kind == other.kind:
            joined = cos(x - y) + cos(x + y) * (1 if one.kind == "cos" else -1)
        else:
            joined = sin(x + y) + sin(x - y) * (1 if one.kind == "sin" else -1)
        total += _linear(
            rest * joined / 2 * prod(map(of_atom, further), start=number(1))
        )
    return total / Scalar(value.under, UNDER)


def _is_wave(atom: object, exponent: Fraction) -> bool:
    return (
        isinstance(atom, Function)
        and atom.kind in WAVES
        and exponent.denominator == 1
        and 0 < exponent <= MOST
    )


SECONDS = 5
BOUNDS = (
    1,
    2,
    3,
    5,
    7,
    10,
    20,
    50,
    100,
    1000,
    10**4,
    10**6,
    10**7,
)  # sizes within which a counterexample is sought
POWERS = (2, 4, 8, 64, 512)  # values of a parameter in numbers that are no polynomials
TURNS = (
    6,
    44,
    710,
    103993,
    312689,
    4272943,
)  # close to multiples of 2 pi: its convergents
USED = "z3, and that pi is transcendental"
UNIQUE = "equal rows would make t - t' a multiple of 2 pi, as the first frequency is 1, and pi is irrational"


@dataclass(frozen=True)
class IntegersProver:
    """Decides statements about integers."""

    exercise: Exercise
    setting: Integers
    claims: tuple[Said, ...] = ()
    conditions: tuple[Outcome, ...] = ()

    @classmethod
    def of(cls, exercise: Exercise, table: Integers, answer: Answer) -> IntegersProver:
        """Nothing is defined by an answer here; what implies something, and is so, is said with it."""
        prover = cls(exercise, table)
        joined = [
            replace(said, node=prover.joined(said.node)) for said in answer.claims
        ]
        return replace(prover, claims=tuple(joined))

    def decide(self, claim: Claim) -> list[Outcome]:
        """A proof, or integers for which it fails."""
        decision = self._decision(claim.node, {}, claim.scope)
        if (
            decision.word == "undecided"
        ):  # values for names in numbers that are no polynomials
            names = sorted(self._encoded(claim.node, {})[0].whole.opaque)
            values = [
                {name: value + place for place, name in enumerate(names)}
                for value in POWERS
            ]
            values += [
                dict(zip(names, (value, 0), strict=True))
                for value in TURNS
                if len(names) == 2
            ]
            further = (self._decision(claim.node, here, claim.scope) for here in values)
            decision = next((one for one in further if one.word == "refuted"), decision)
        words = decision.reason
        if decision.word == "proved":
            rows = any(
                name.base == self.setting.rows for name in t.every_name(claim.node)
            )
            words = (
                UNIQUE
                if rows
                else "an equation between integers and multiples of pi splits: pi is transcendental"
            )
        elif decision.word == "refuted":
            where = f" for {at(decision.values)}" if decision.values else ""
            words = f"{plain(claim.node)} is false{where}"
        return [judged(claim, decision, words)]

    def joined(self, node: t.Node) -> t.Node:
        """'x != 0, so the rows differ' of 'x != 0 implies that the rows differ', where x is never 0."""
        match node:
            case t.Logic(
                "implies", (t.Relation(_, (*_, "!=" | ">" | "<")) as reason, conclusion)
            ):
                try:
                    rows = any(
                        name.base == self.setting.rows
                        for name in t.every_name(conclusion)
                    )
                    known = rows and self._decision(reason, {}, node).word == "proved"
                except MisfitError:
                    known = False
                return (
                    t.Logic("and", (reason, conclusion), span=node.span)
                    if known
                    else node
                )
            case _:
                return node

    def _encoded(self, node: t.Node, values: Mapping[str, int]) -> tuple[Encoder, Any]:
        integers = dict.fromkeys(self.setting.integers, Range(integer=True))
        integers |= {
            name: known.range() for name, known in self.exercise.parameters.items()
        }
        encoder = Encoder(
            Whole(values),
            integers,
            self.setting.rows,
            tuple(map(parsed, self.setting.given)),
        )
        try:
            return encoder, encoder.statement(node)
        except encoder.whole.z3.Z3Exception as error:
            raise MisfitError("this is not understood about integers", node) from error

    def _decision(
        self, node: t.Node, values: Mapping[str, int], scope: t.Node
    ) -> Decision:
        encoder, claim = self._encoded(node, values)
        own = set(encoder.whole.names)
        given = self._given(node, encoder, scope)
        found = _decide(claim, given, encoder)
        some = any(
            isinstance(part, t.Exists) and _names(part) - {"k", "m", "pi"}
            for part in t.walk(node)
        )
        if (
            found.word == "refuted"
            and some
            and not encoder.whole.unsatisfiable([*given, claim], SECONDS)
        ):
            found = Decision(
                "undecided", "whether there are such integers depends on the others"
            )
        if found.word == "proved":
            premises = [encoder.statement(premise) for premise in _premises(node)]
            vacuous = bool(premises) and encoder.whole.unsatisfiable(
                [*given, *premises], SECONDS
            )
            found = replace(found, vacuous=vacuous)
        shown = {name: value for name, value in found.values.items() if name in own}
        return replace(
            found, values={**shown, **{n: Fraction(v) for n, v in values.items()}}
        )

    def _given(self, node: t.Node, encoder: Encoder, scope: t.Node) -> list[Any]:
        """What is given about what the statement speaks of: different integers, unless it says what were if not."""
        said = (
            condition
            for condition in map(parsed, self.setting.given)
            if _names(condition) <= _names(scope)
        )
        given, names = (
            [encoder.statement(condition) for condition in said],
            encoder.whole.names,
        )
        for name, known in self.exercise.parameters.items():
            limits = known.range()
            if name in names and isinstance(limits.lower, Fraction):
                given.append(names[name] >= int(limits.lower))
            if name in names and isinstance(limits.upper, Fraction):
                given.append(names[name] <= int(limits.upper))
        if (
            isinstance(node, t.Logic)
            and node.word == "iff"
            and not any(
                (isinstance(part, t.Relation) and "!=" in part.comparisons)
                or (isinstance(part, t.Logic) and part.word == "not")
                for part in t.walk(node)
            )
        ):
            return given  # it is about integers that may be the same
        apart = [
            names[x] != names[y]
            for x, y in self.setting.different
            if x in names and y in names
        ]
        premises = [encoder.statement(premise) for premise in _premises(node)]
        if encoder.whole.unsatisfiable([*given, *apart, *premises], SECONDS):
            return given  # so is this
        return [*given, *apart]


def _names(node: t.Node) -> set[str]:
    return {full_name(n) for n in t.walk(node) if isinstance(n, t.Name)}


def _premises(node: t.Node) -> list[t.Node]:
    match node:
        case t.Logic("implies", (condition, conclusion)):
            return [condition, *_premises(conclusion)]
        case t.Quantified(body, conditions):
            return [
                *(part for part in conditions if not isinstance(part, t.Name)),
                *_premises(body),
            ]
        case _:
            return []


def _decide(claim: Any, given: list[Any], encoder: Encoder) -> Decision:
    whole = encoder.whole
    denied = whole.z3.Not(claim)
    if whole.unsatisfiable([*given, denied], SECONDS):
        return Decision("proved", "", used=USED)
    given = [
        *given,
        *encoder.defined,
    ]  # what has no value somewhere is not proved, and not refuted by that
    for bound in BOUNDS:
        small = [whole.z3.And(x <= bound, x >= -bound) for x in whole.names.values()]
        values = whole.model([*given, *small, denied], SECONDS)
        if values is None:
            continue
        here = [whole.names[name] == value for name, value in values.items()]
        if whole.unsatisfiable(
            [*given, *here, claim], SECONDS
        ):  # for every admissible value of the rest, pi included
            return Decision(
                "refuted",
                "",
                values={name: Fraction(v) for name, v in values.items()},
                used=USED,
            )
    return Decision("undecided", "neither a proof nor a counterexample was found")
