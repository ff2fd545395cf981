"""The verdict on an answer about integers and angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import z3

from headwright.check.answer import Answer, Said, full_name
from headwright.check.claims import Claim
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Integers
from headwright.check.judging import Judged, at, judged
from headwright.check.rooms.integers.encode import Encoder
from headwright.check.verdict import Verdict
from headwright.formula import parse
from headwright.formula.show import plain
from headwright.formula.tree import Call, Logic, Name, Node, Quantified, Relation, walk

SECONDS = 5
BOUNDS = (1, 2, 3, 5, 7, 10, 20, 50, 100, 1000, 10**4, 10**6)  # sizes within which a counterexample is sought
PLAIN = (2, 4, 8, 64, 512)  # values of a parameter in numbers that are no polynomials
USED = "z3, and that pi is transcendental"


@dataclass(frozen=True)
class IntegersRoom:
    """An exercise about integers."""

    exercise: Exercise
    setting: Integers
    whole = True

    def knows(self, name: Name) -> bool:
        """Every name is given here, or bound by a statement."""
        del name
        return True

    def opened(self, answer: Answer) -> IntegersCourt:
        """Nothing is defined by an answer here."""
        return IntegersCourt(self.exercise, self.setting, tuple(answer.claims))


@dataclass(frozen=True)
class IntegersCourt:
    """Decides statements about integers."""

    exercise: Exercise
    setting: Integers
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()

    def told(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def decide(self, claim: Claim) -> list[Judged]:
        """A proof, or integers for which it fails."""
        decision = self._decision(claim.node, {}, claim.scope)
        if decision.word == "undecided":
            for value in PLAIN:
                further = self._decision(claim.node, dict.fromkeys(self._opaque(claim.node), value), claim.scope)
                if further.word == "refuted":
                    decision = further
                    break
        return [judged(claim, decision, self._words(claim.node, decision))]

    def _encoded(self, node: Node, values: Mapping[str, int]) -> tuple[Encoder, Any]:
        integers = frozenset(self.setting.integers) | frozenset(self.exercise.parameters)
        encoder = Encoder(integers, self.setting.rows, values=values)
        return encoder, encoder.statement(node)

    def _opaque(self, node: Node) -> set[str]:
        return self._encoded(node, {})[0].opaque

    def _decision(self, node: Node, values: Mapping[str, int], scope: Node) -> Decision:
        encoder, claim = self._encoded(node, values)
        own = set(encoder.names)
        given = [*self._given(node, encoder, scope), *self._ranges(encoder), *encoder.conditions]
        found = _decide(claim, given, encoder)
        if found.word == "proved":
            premises = [encoder.statement(premise) for premise in _premises(node)]
            found = replace(found, vacuous=bool(premises) and _check([*given, *premises]) == z3.unsat)
        shown = {name: value for name, value in found.values.items() if name in own}
        return replace(found, values={**shown, **{n: Fraction(v) for n, v in values.items()}})

    def _given(self, node: Node, encoder: Encoder, scope: Node) -> list[Any]:
        """What is given about what the statement speaks of; a claim of difference is about different integers."""
        given: list[Any] = []
        if _claims_difference(node):
            apart = [
                encoder.names[x] != encoder.names[y]
                for x, y in self.setting.different
                if x in encoder.names and y in encoder.names
            ]
            premise = encoder.statement(node.items[0]) if isinstance(node, Logic) and node.word == "implies" else True
            if _check([*apart, premise]) != z3.unsat:  # else it speaks of integers that may be the same
                given += apart
        for source in self.setting.given:
            condition = parse(source)
            if _names(condition) <= _names(scope):
                given.append(encoder.statement(condition))
        return given

    def _ranges(self, encoder: Encoder) -> list[Any]:
        given: list[Any] = []
        for name, known in self.exercise.parameters.items():
            if name in encoder.names:
                variable, limits = encoder.names[name], known.range().numeric
                given += [] if limits.lower is None else [variable >= int(limits.lower)]  # type: ignore[arg-type]
                given += [] if limits.upper is None else [variable <= int(limits.upper)]  # type: ignore[arg-type]
        return given

    def _words(self, node: Node, decision: Decision) -> str:
        if decision.word == "proved":
            if self.setting.rows in {n.base for n in walk(node) if isinstance(n, Name)}:
                return (
                    "equal rows would make t - t' a multiple of 2 pi, as the first frequency is 1, and pi is irrational"
                )
            if any(isinstance(n, Call) and n.function in ("sin", "cos") for n in walk(node)):
                return "equal sines and cosines mean a difference of 2 pi m with an integer m"
            if isinstance(node, Relation) and node.comparisons[0] not in ("=", "!="):
                return "it follows from what is given"
            return "an equation between integers and multiples of pi splits, since pi is transcendental"
        if decision.word == "refuted":
            return f"{plain(node)} is false{' for ' + at(decision.values) if decision.values else ''}"
        return decision.reason


def _names(node: Node) -> set[str]:
    return {full_name(n) for n in walk(node) if isinstance(n, Name)}


def _premises(node: Node) -> list[Node]:
    match node:
        case Logic("implies", (condition, conclusion)):
            return [condition, *_premises(conclusion)]
        case Quantified(body, conditions):
            return [*(part for part in conditions if not isinstance(part, Name)), *_premises(body)]
        case _:
            return []


def _claims_difference(node: Node) -> bool:
    match node:
        case Relation(_, signs):
            return signs[-1] == "!="
        case Logic("not", (Relation(_, signs),)):
            return signs[-1] == "="
        case Logic("implies", (_, conclusion)):
            return _claims_difference(conclusion)
        case Logic("iff" | "and", items):
            return any(_claims_difference(item) for item in items)
        case Quantified(body, _):
            return _claims_difference(body)
        case _:
            return False


def _decide(claim: Any, given: list[Any], encoder: Encoder) -> Decision:
    if _check([*given, z3.Not(claim)]) == z3.unsat:
        return Decision("proved", "", used=USED)
    for bound in BOUNDS:
        small = [z3.And(x <= bound, x >= -bound) for x in encoder.names.values()]
        values = _model([*given, *small, z3.Not(claim)], encoder)
        if values is None:
            continue
        here = [encoder.names[name] == value for name, value in values.items()]
        if _check([*given, *here, claim]) == z3.unsat:  # for every admissible value of the rest, pi included
            return Decision("refuted", "", values={name: Fraction(v) for name, v in values.items()}, used=USED)
    return Decision("undecided", "neither a proof nor a counterexample was found")


def _solver(formulas: list[Any]) -> Any:
    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    solver.add(*formulas)
    return solver


def _check(formulas: list[Any]) -> Any:
    return _solver(formulas).check()


def _model(formulas: list[Any], encoder: Encoder) -> dict[str, int] | None:
    solver = _solver(formulas)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {name: model.eval(x, model_completion=True).as_long() for name, x in sorted(encoder.names.items())}
