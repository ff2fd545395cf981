"""Formulas put before the prover of a setting, without the text around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headwright.formulas import FormulaError, parse
from headwright.formulas import tree as t
from headwright.grading.answer import (
    Answer,
    MisfitError,
    Said,
    UndeterminedError,
    comparisons,
    full_name,
    full_names,
)
from headwright.grading.exercise import Exercise, load_exercises
from headwright.grading.judging import Outcome, Prover, Role, claims
from headwright.grading.kinds.keys.prover import KeysProver
from headwright.grading.kinds.keys.scene import opening, spelt
from headwright.grading.scalars.numbers import at_most_work
from headwright.grading.verdict import Verdict

EXERCISES = load_exercises()
BOUNDS = (">>", "<<", "->", "<", ">", "<=", ">=")
WORST = ("refuted", "undecided", "holds", "proved")


def opened(exercise: Exercise, *formulas: str) -> tuple[Prover, Answer, list[Said]]:
    """The prover under the definitions and conditions among some formulas, and what they claim besides."""
    setting = exercise.kind
    definitions: dict[str, Said] = {}
    conditions: list[Said] = []
    rest: list[Said] = []
    for text in formulas:
        for node in t.conjuncts(
            _spelt(parse(text, names=tuple(exercise.parameters)), exercise)
        ):
            said = Said(node, text, 1)
            names = [name for name in t.every_name(node) if not setting.gives(name)]
            left = node.terms[0] if isinstance(node, t.Relation) else None
            sign = (
                node.comparisons[0]
                if isinstance(node, t.Relation) and node.comparisons
                else ""
            )
            items = t.listed(left) if left is not None else ()
            own = [item for item in items if isinstance(item, t.Name)]
            new = [
                item
                for item in own
                if full_name(item) in exercise.answer or item in names
            ]
            if (
                isinstance(node, t.Relation)
                and sign == "="
                and new == list(items)
                and new
                and len(node.terms) == 2
            ):
                for link in comparisons(node):
                    if isinstance(link.terms[0], t.Name) and full_name(
                        link.terms[0]
                    ) not in full_names(link.terms[1]):
                        definitions[full_name(link.terms[0])] = Said(
                            link.terms[1], text, 1
                        )
            elif (
                isinstance(node, t.Relation)
                and sign in BOUNDS
                and (new or (sign in BOUNDS[:2] and names))
            ):
                conditions.append(said)
            else:
                rest.append(said)
    answer = Answer(definitions, tuple(conditions), tuple(rest))
    prover = setting.prover(answer)
    return prover, answer, list(prover.claims)


def _spelt(node: t.Node, exercise: Exercise) -> t.Node:
    return (
        node
        if exercise.kind_name != "keys"
        else spelt(node, opening(exercise, exercise.kind.table))
    )


def judged(known: Exercise, *formulas: str) -> tuple[Prover, list[Outcome]]:
    """What is found about the goals of an exercise and about all claims, replayed."""
    whole = known.kind.whole
    with at_most_work():
        prover, answer, said = opened(known, *formulas)
        asked: list[tuple[t.Node, Role, Said | None]] = [
            (parse(source), "goal", None) for source in known.goals
        ]
        asked += [(one.node, "statement", one) for one in said]
        found = list(prover.conditions)
        for node, role, one in asked:
            for claim in claims(node, role, one, whole=whole):
                found += known.kind.recheck(answer, prover.decide(claim), 0)
    return prover, found


@dataclass(frozen=True)
class Found:
    """The worst word with its reason, all parts, and what the setting adds."""

    word: str
    reason: str
    parts: tuple[Outcome, ...] = ()
    advice: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """What the setting adds: threshold, suggestion, hint, probability."""
        return self.advice.get(name)

    @property
    def counterexample(self) -> Mapping[str, Any] | None:
        """Of the part that decides."""
        return next(
            (part.counterexample for part in self.parts if part.word == self.word), None
        )


def check(exercise: str | Exercise, *formulas: str) -> Found:
    """What is found about the goals of an exercise, and about all that is claimed."""
    known = EXERCISES[exercise] if isinstance(exercise, str) else exercise
    try:
        prover, found = judged(known, *formulas)
    except (MisfitError, FormulaError) as error:
        return Found("unreadable", str(error))
    except UndeterminedError as error:
        return Found("undecided", str(error))
    words = {one.word for one in found}
    worst = next(one for one in WORST if one in words)
    more = (
        vars(known.kind.advise(Verdict("undecided", ""), prover, found))
        if isinstance(prover, KeysProver)
        else {}
    )
    reason = next(one.reason for one in found if one.word == worst)
    return Found(worst, reason, tuple(found), more)
