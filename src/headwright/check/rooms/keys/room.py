"""The verdict on an answer to an exercise about keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwright.check.answer import Answer, Said
from headwright.check.claims import Claim
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, Keys
from headwright.check.judging import Judged, judged
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

NO_CASE = "it speaks of no case that can occur"
CONTINUOUS = "the pattern is continuous in the keys: as the noise vanishes, the probability of all this tends to 1"


@dataclass(frozen=True)
class KeysRoom:
    """An exercise about keys."""

    exercise: Exercise
    setting: Keys
    whole = False

    def knows(self, name: Name) -> bool:
        """Whether the exercise gives this name."""
        return opening(self.exercise, self.setting).gives(name)

    def opened(self, answer: Answer) -> KeysCourt:
        """With what the answer defines, what it says of its own names, and the conditions it states."""
        scene = self._scene(answer)
        self._check_fair(scene)
        decider, doubts = stated(Decider(scene), answer.conditions)
        claims: tuple[Said, ...] = tuple(answer.claims)
        readings: tuple[str, ...] = ()
        if self.exercise.condition:
            decider, claims, readings, more = assuming(decider, claims)
            doubts += more
        conditions = tuple(
            judged(Claim(one.link, "condition", one.said), one.decision, one.decision.reason) for one in doubts
        )
        return KeysCourt(self.exercise, self.setting, decider, claims, conditions, readings)

    def _scene(self, answer: Answer) -> Scene:
        given = {name: parse(source) for name, source in self.exercise.definitions.items()}
        own = {name: said.node for name, said in answer.definitions.items()}
        return opening(self.exercise, self.setting).defining({**given, **own})

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


@dataclass(frozen=True)
class KeysCourt:
    """Decides statements about keys, queries, patterns and outputs."""

    exercise: Exercise
    setting: Keys
    decider: Decider
    claims: tuple[Said, ...]
    conditions: tuple[Judged, ...]
    readings: tuple[str, ...]  # how conditions were read

    def decide(self, claim: Claim) -> list[Judged]:
        """One part for every case of a claim."""
        decider = self.decider
        if claim.role == "goal" and _speaks_of_chance(claim.node):
            decider = decider.under(*(parse(source) for source in self.setting.given))
        findings = list(decider.findings(claim))
        if not findings:
            return [judged(claim, Decision("undecided", NO_CASE), NO_CASE)]
        return [_judged(finding, claim) for finding in findings]

    def told(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """With thresholds, probabilities and pictures."""
        if verdict.word == "no answer":
            return verdict
        more: dict[str, Any] = advice(self.exercise, self.decider, judgements)
        readings = list(self.readings)
        if self.setting.noise == "vanishing" and not self.setting.scales and verdict.word == "proved":
            readings.append(CONTINUOUS)
        before = argument(self.decider.scene) if verdict.word == "proved" else ""
        reason = "; ".join(said for said in (before, verdict.reason, *readings) if said)
        return replace(verdict, reason=reason, **more)


def _judged(finding: Finding, claim: Claim) -> Judged:
    decision = finding.decision
    known = replace(decision, values={**finding.case, **decision.values}) if decision.word == "refuted" else decision
    return judged(claim, known, described(finding), finding.link)


def _speaks_of_chance(goal: object) -> bool:
    return isinstance(goal, Relation) and any(isinstance(n, Call) and n.function == "P" for n in walk(goal))
