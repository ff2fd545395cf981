"""The verdict on an answer to an exercise about keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headwright.check.answer import Answer, Said
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Keys
from headwright.check.judging import Judged, composed, judged
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.advice import advice
from headwright.check.rooms.keys.bounds import stated
from headwright.check.rooms.keys.conditions import assuming
from headwright.check.rooms.keys.deciding import Decider, Finding
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.rooms.keys.scene import Scene, opening
from headwright.check.rooms.keys.words import argument, described
from headwright.check.verdict import Verdict
from headwright.formula import parse
from headwright.formula.tree import Call, Name, Relation, walk

CONTINUOUS = "the pattern is continuous in the keys: as the noise vanishes, the probability of all this tends to 1"


@dataclass(frozen=True)
class KeysRoom:
    """An exercise about keys."""

    exercise: Exercise
    setting: Keys
    seed: int = 0

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        return opening(self.exercise, self.setting).gives(name)

    def verdict(self, answer: Answer) -> Verdict:
        """The verdict on a complete answer."""
        scene = self._scene(answer)
        decider = Decider(scene)
        self._check_fair(scene)
        decider, doubts = stated(decider, answer.conditions)
        scene = decider.scene
        claims = list(answer.claims)
        readings: list[str] = []
        if self.exercise.condition:
            decider, claims, readings = assuming(decider, claims)
        judgements = self._goals(decider) + [one for said in claims for one in _claim(decider, said)]
        judgements += [judged(one.link, one.decision, "condition", one.said, one.decision.reason) for one in doubts]
        more: dict[str, Any] = advice(self.exercise, decider, judgements)
        verdict = composed(judgements, **more)
        if self.setting.noise == "vanishing" and not self.setting.scales and verdict.word == "proved":
            readings.append(CONTINUOUS)
        before = argument(scene) if verdict.word == "proved" else ""
        return replace(verdict, reason="; ".join(said for said in (before, verdict.reason, *readings) if said))

    def _scene(self, answer: Answer) -> Scene:
        given = {name: parse(source) for name, source in self.exercise.definitions.items()}
        own = {name: said.node for name, said in answer.definitions.items()}
        return opening(self.exercise, self.setting, self.seed).defining({**given, **own})

    def _check_fair(self, scene: Scene) -> None:
        """A query is chosen before chance decides on the lengths: it must not depend on them."""
        random = scene.random
        for head in scene.queries if random else ():
            spoken = set().union(*(x.names() for x in Reader(scene, {}).query(head).coordinates.values()))
            if spoken & random:
                directions = [*self.setting.directions, *(f"{letter}_i" for letter in self.setting.also)]
                raise MisfitError(
                    f"{head} depends on {' and '.join(sorted(spoken & random))}, which is random",
                    Name(head),
                    fix=f"use the directions instead: {', '.join(directions)}",
                )

    def _goals(self, decider: Decider) -> list[Judged]:
        asked = decider.under(*(parse(source) for source in self.setting.given))
        found: list[Judged] = []
        for source in self.exercise.goals:
            goal = parse(source)
            findings = list((asked if _speaks_of_chance(goal) else decider).findings(goal))
            found += [_judged(f, "goal", None) for f in findings]
        return found


def _judged(finding: Finding, role: str, said: Said | None) -> Judged:
    decision = finding.decision
    known = replace(decision, values={**finding.case, **decision.values}) if decision.word == "refuted" else decision
    return judged(finding.link, known, role, said, described(finding))


def _speaks_of_chance(goal: object) -> bool:
    return isinstance(goal, Relation) and any(isinstance(n, Call) and n.function == "P" for n in walk(goal))


def _claim(decider: Decider, said: Said) -> list[Judged]:
    role = "step" if isinstance(said.node, Relation) and len(said.node.terms) > 2 else "statement"
    try:
        findings: list[Finding] = list(decider.findings(said.node))
    except MisfitError as error:
        raise error.shown_in(said.formula.text) from error
    if not findings:
        decision = Decision("undecided", "it speaks of no case that can occur")
        empty = said.node if isinstance(said.node, Relation) else Relation((Name("x"),), ())
        return [judged(empty, decision, role, said, decision.reason)]
    return [_judged(f, role, said) for f in findings]
