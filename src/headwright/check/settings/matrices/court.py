"""The verdict on an answer about matrices: constructions, claims, and derivations line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwright.check.answer import Answer, Said, comparisons, full_name
from headwright.check.claims import Claim
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Matrices, parsed
from headwright.check.judging import Judged, judged
from headwright.check.settings.matrices import Given, decide
from headwright.check.settings.matrices.known import NoMember
from headwright.check.verdict import Verdict
from headwright.formula.errors import ShapeError
from headwright.formula.shapes import Shape
from headwright.formula.show import plain
from headwright.formula.tree import Name, Node, Relation


@dataclass(frozen=True)
class MatricesSetting:
    """An exercise about matrices of any size."""

    exercise: Exercise
    setting: Matrices
    whole = False

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        full = full_name(name)
        given = {*self.exercise.definitions, *self.setting.shapes, *self.exercise.parameters, *self.exercise.answer}
        return full in given or f"{name.base}_*" in given or full in ("I", "pi", "e", "ones")

    def opened(self, answer: Answer) -> MatricesCourt:
        """With what the answer defines."""
        return MatricesCourt(self.exercise, self._given(answer), tuple(answer.claims))

    def _given(self, answer: Answer) -> Given:
        definitions = {name: parsed(source) for name, source in self.exercise.definitions.items()}
        definitions |= {name: said.node for name, said in answer.definitions.items()}
        return Given(
            shapes={name: Shape(*shape) for name, shape in self.setting.shapes.items()},
            definitions=definitions,
            facts={name: frozenset(facts) for name, facts in self.setting.facts.items()},
            different=tuple((parsed(x), parsed(y)) for x, y in self.setting.different),
            sizes=self.setting.sizes,
            assume=tuple(_relations(parsed(source) for source in self.setting.assume)),
        )


@dataclass(frozen=True)
class MatricesCourt:
    """Decides statements about matrices."""

    exercise: Exercise
    given: Given
    claims: tuple[Said, ...] = ()
    conditions: tuple[Judged, ...] = ()

    def told(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """There is nothing to add."""
        del judgements
        return verdict

    def otherwise(self, definitions: Mapping[str, str]) -> MatricesCourt:
        """The same were the question idle: with these definitions, and nothing given to be different."""
        idle = {**self.given.definitions, **{name: parsed(source) for name, source in definitions.items()}}
        return replace(self, given=replace(self.given, definitions=idle, different=()))

    def decide(self, claim: Claim) -> list[Judged]:
        """One comparison: equal forms, or an instance where it fails."""
        link = claim.link
        try:
            found = decide(link, self.given, strict=claim.role == "goal" or bool(self.exercise.derive))
        except ShapeError as error:
            return [_misshapen(claim, error)]
        except NoMember as error:
            return [judged(claim, Decision("undecided", str(error)), str(error))]
        word: Any = ("holds" if found.confirmed else "undecided") if found.word == "open" else found.word
        words = f"{plain(link)} does not follow: {found.reason}" if found.word == "refuted" else found.reason
        if word == "refuted" and not all(isinstance(part, Name) for part in claim.under):
            word, words = "undecided", "it is not always true; whether it is under this condition is not known"
        one = judged(claim, Decision(word, found.reason, used=found.used), words)
        one = replace(one, part=replace(one.part, replayed=found.confirmed if word == "proved" else 0))
        if found.counterexample is None or word == "undecided":
            return [one]
        return [replace(one, part=replace(one.part, counterexample=dict(found.counterexample), replayed=1))]


def _misshapen(claim: Claim, error: ShapeError) -> Judged:
    """Sizes that do not fit refute a statement for all matrices at once."""
    one = judged(claim, Decision("refuted", error.message), str(error))
    return replace(one, part=replace(one.part, counterexample={"shapes": error.message}))


def _relations(nodes: Iterator[Node]) -> Iterator[Relation]:
    for node in nodes:
        if isinstance(node, Relation):
            yield from comparisons(node)
