"""The verdict on an answer about matrices: constructions, claims, and derivations line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from headwright.check.answer import Answer, Said, full_name
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Matrices
from headwright.check.judging import Judged, composed, judged
from headwright.check.links import comparisons
from headwright.check.misfit import MisfitError
from headwright.check.rooms.matrices import Given, decide
from headwright.check.rooms.matrices.known import NoMember
from headwright.check.verdict import Part, Verdict
from headwright.errors import InputError
from headwright.formula import FormulaError, parse
from headwright.formula.shapes import Shape
from headwright.formula.show import latex, plain
from headwright.formula.tree import Logic, Name, Node, Quantified, Relation

Role = Literal["goal", "statement", "step"]
ALONG = {"=": ("=",), "<=": ("=", "<=", "<"), ">=": ("=", ">=", ">")}  # steps from which a comparison follows
TURNED = {"=": "=", "<=": ">=", ">=": "<="}


@dataclass(frozen=True)
class MatricesRoom:
    """An exercise about matrices of any size."""

    exercise: Exercise
    setting: Matrices

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {*self.exercise.definitions, *self.setting.shapes, *self.exercise.parameters, *self.exercise.answer}
        return full in given or f"{name.base}_*" in given or full in ("I", "pi", "e", "ones")

    def verdict(self, answer: Answer) -> Verdict:
        """The verdict on a complete answer."""
        given = self._given(answer)
        found: list[Judged] = []
        for source in self.exercise.goals:
            found += self._statement(given, parse(source), "goal", self._definition(answer))
        for said in answer.claims:
            steps = isinstance(said.node, Relation) and len(said.node.terms) > 2
            found += self._statement(given, said.node, "step" if steps or self.exercise.derive else "statement", said)
        verdict = composed(found)
        if self.exercise.derive and verdict.word in ("proved", "holds"):
            return _arrived(verdict, self.exercise, answer, given)
        return verdict

    def _given(self, answer: Answer) -> Given:
        definitions = {name: parse(source) for name, source in self.exercise.definitions.items()}
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        return Given(
            shapes={name: Shape(*shape) for name, shape in self.setting.shapes.items()},
            definitions=definitions,
            facts={name: frozenset(facts) for name, facts in self.setting.facts.items()},
            different=tuple((parse(x), parse(y)) for x, y in self.setting.different),
            sizes=self.setting.sizes,
            assume=tuple(_relations(parse(source) for source in self.setting.assume)),
        )

    def _definition(self, answer: Answer) -> Said | None:
        return next((answer.definitions[name] for name in self.exercise.answer), None)

    def _statement(self, given: Given, node: Node, role: Role, said: Said | None) -> Iterator[Judged]:
        match node:
            case Logic("and", items):
                for item in items:
                    yield from self._statement(given, item, role, said)
            case Quantified(body, conditions):  # 'for all X': everything is for all
                for one in self._statement(given, body, role, said):
                    yield one if all(isinstance(part, Name) for part in conditions) else _cautious(one)
            case Relation():
                for link in comparisons(node):
                    yield self._link(given, link, role, said)
            case _:
                raise _misfit("this is not a statement", node, said)

    def _link(self, given: Given, link: Relation, role: Role, said: Said | None) -> Judged:
        source = said.formula.text if said is not None else plain(link)
        try:
            found = decide(link, given, strict=role == "goal" or bool(self.exercise.derive))
        except FormulaError as error:
            raise FormulaError(error.message, source, error.span, fix=error.fix) from error
        except NoMember as error:
            return judged(link, Decision("undecided", str(error)), role, said, str(error))
        word: Any = ("holds" if found.confirmed else "undecided") if found.word == "open" else found.word
        words = f"{plain(link)} does not follow: {found.reason}" if found.word == "refuted" else found.reason
        decision = Decision(word, found.reason, used=found.used)
        one = judged(link, decision, role, said, words)
        instance = one.part.counterexample if found.counterexample is None else dict(found.counterexample)
        part = Part(latex(link), role, word, words, one.part.line, instance, found.used)
        return Judged(part, decision, link)


def _cautious(one: Judged) -> Judged:
    """A statement under a condition that was not used: it may be right where the condition holds."""
    if one.part.word != "refuted":
        return one
    decision = Decision("undecided", "it is not always true; whether it is under this condition is not known")
    part = replace(one.part, word="undecided", reason=decision.reason, counterexample=None)
    return Judged(part, decision, one.link)


def _misfit(message: str, node: Node, said: Said | None) -> Exception:
    error = MisfitError(message, node, fix="write a comparison: ... = ..., ... \\le ...")
    return error if said is None else error.shown_in(said.formula.text)


def _relations(nodes: Iterator[Node]) -> Iterator[Relation]:
    for node in nodes:
        if isinstance(node, Relation):
            yield from comparisons(node)


def _arrived(verdict: Verdict, exercise: Exercise, answer: Answer, given: Given) -> Verdict:
    """The verdict on a derivation all of whose steps are right: does it also lead from one side to the other?"""
    steps = [said.node for said in answer.claims]
    for source, target in exercise.derive:
        start, end = parse(source), parse(target)
        if _leads(start, end, steps, _wanted(start, end, given), replace(given, definitions={})):
            return verdict
    first, last = (plain(parse(source)) for source in exercise.derive[0])
    reason = f"every step is right, but the steps do not lead from {first} to {last}"
    return Verdict("undecided", reason, verdict.parts, suggestion="write the chain from one side to the other")


def _wanted(start: Node, end: Node, given: Given) -> str:
    """How the two ends of a derivation compare: the strongest comparison that is true of them."""
    for sign in ("=", "<=", ">="):
        if decide(Relation((start, end), (sign,)), given).word == "proved":
            return sign
    return "="


def _leads(start: Node, end: Node, steps: Sequence[Node], wanted: str, bare: Given) -> bool:
    """Whether chains connect the two, in either direction: by steps none of which goes against what is to be shown."""
    for first, last, signs in ((start, end, ALONG[wanted]), (end, start, ALONG[TURNED[wanted]])):
        links = [
            (a, b)
            for node in steps
            for relation in _chains(node)
            for a, sign, b in zip(relation.terms[:-1], relation.comparisons, relation.terms[1:], strict=True)
            if sign in signs
        ]
        reached = [a for a, _ in links if _same(a, first, bare)]
        for place in reached:  # grows while it is read
            reached += [b for a, b in links if a == place and b not in reached]
        if any(_same(place, last, bare) for place in reached):
            return True
    return False


def _same(x: Node, y: Node, bare: Given) -> bool:
    """Written alike, up to algebra that needs no definition: an index named otherwise, factors in another order."""
    if x == y:
        return True
    try:
        return decide(Relation((x, y), ("=",)), bare).word == "proved"
    except InputError:
        return False


def _chains(node: Node) -> Iterator[Relation]:
    match node:
        case Relation():
            yield node
        case Logic("and", items):
            for item in items:
                yield from _chains(item)
        case Quantified(body, conditions) if all(isinstance(part, Name) for part in conditions):
            yield from _chains(body)  # under a condition, it leads from one side to the other in some cases only
