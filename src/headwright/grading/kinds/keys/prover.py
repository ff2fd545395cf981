"""Exercises about keys: the prover that decides claims about them, and its words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import (
    Answer,
    MisfitError,
    Said,
    UndeterminedError,
    speaks_of_moments,
)
from headwright.grading.decision import Decision
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import (
    Claim,
    Outcome,
    at,
    claims,
    contrasted,
    judged,
    plain_number,
    shown,
)
from headwright.grading.kinds.keys import scene as s
from headwright.grading.kinds.keys.conditions import assuming, stated
from headwright.grading.kinds.keys.deciding import CaseFinding, Decider
from headwright.grading.kinds.keys.laws import (
    drawn_as_moments,
    is_random,
)
from headwright.grading.kinds.keys.meaning import Reader, scalars_in
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.scalars.numbers import Symbol, TooLong, shown_name

LIKED = "as large as one likes"


def described(finding: CaseFinding) -> str:
    """What was found about one comparison, as a person would say it."""
    decision, link = finding.decision, finding.link
    if decision.word != "refuted":
        return _why_it_holds(finding)
    values = {**finding.case, **decision.values}
    moving = _moving_names(finding)
    where = _where(finding, values, moving)
    if decision.left is None or decision.right is None:
        sides = " and ".join(map(plain, link.terms))
        reason = decision.reason
        if decision.same:
            reason = f"{sides} are the same{' there' if decision.values else ''}"
        large = [name for name in moving if name not in finding.vanishing]
        for_large = f" for large {' and '.join(large)}" if large else ""
        return where + (reason or f"{plain(link)} is false{for_large}")
    (left, _), (sign,) = link.terms, link.comparisons
    what = f"{decision.about} in {plain(left)}" if decision.about else plain(left)
    contrast = contrasted(decision.left, sign, decision.right)
    if sign == "->":
        return f"{where}{what} tends to {contrast.replace('not close to', 'not to')}"
    is_value = _names_in_values(finding) <= set(values)
    return f"{where}{what} {'is' if is_value else 'tends to'} {contrast}"


def _why_it_holds(finding: CaseFinding) -> str:
    """The reason of a decision that refutes nothing."""
    decision, link, scene = finding.decision, finding.link, finding.scene
    of_scores = scene.setting.are == "any" and any(
        isinstance(name, Symbol) for name in _names_in_values(finding)
    )
    if decision.word == "proved" and of_scores:
        if scene.exercise.condition:
            return f"{plain(link)} follows from the condition"
        return f"{plain(link)} holds whatever the scores are"
    if decision.comes_to:
        return f"{plain(link)} comes down to {decision.comes_to}"
    is_noisy = scene.setting.noise == "vanishing" and not speaks_of_moments(link)
    if is_noisy and decision.same and is_random(link, scene):
        return f"without the noise {decision.reason}"
    return decision.reason


def _moving_names(finding: CaseFinding) -> list[str]:
    """The names that have no value in a counterexample, as they are shown: they grow, or vanish."""
    decision = finding.decision
    if not decision.values and decision.left is None:
        return []
    known = {*finding.scene.ranges, *decision.values}
    names = sorted(_names_in_values(finding) - known)
    return list(dict.fromkeys(map(shown_name, names)))


def _where(
    finding: CaseFinding, values: Mapping[str, Fraction], moving: list[str]
) -> str:
    """'with n = 3, and lambda as large as one likes: '."""
    along = {name: str(path) for name, path in finding.decision.along.items()}
    there = explicit(finding, values) | along
    if not there:
        return ""
    where = f"with {at(there)}"
    if moving and finding.decision.left is not None:
        where += f", and {_how_they_move(finding, moving)}"
    return f"{where}: "


def _how_they_move(finding: CaseFinding, moving: list[str]) -> str:
    if finding.scene.setting.are == "any":
        return f"the difference {LIKED}"
    small = [name for name in moving if name in finding.vanishing]
    large = [name for name in moving if name not in finding.vanishing]
    if finding.decision.along:
        large = large[:1]  # the others are said to be multiples of it
    parts: list[str] = []
    if large:
        parts.append(f"{' and '.join(large)} {LIKED}")
    if small:
        parts.append(f"{' and '.join(small)} as small as one likes")
    return " and ".join(parts)


def explicit(
    finding: CaseFinding, values: Mapping[str, Fraction]
) -> dict[str, Fraction | str]:
    """The values of a counterexample; where only scores are known, with these instead of what stands for them."""
    scene = finding.scene
    if scene.setting.are != "any":
        return dict(values)
    there: dict[str, Fraction | str] = {
        name: value for name, value in values.items() if not isinstance(name, Symbol)
    }
    # scores matter up to a constant
    known = {s.score_name(s.REST): Fraction(0), **values}
    for which in scene.classes.all:
        count, score = scene.classes.count(which), scene.scalar(s.score_name(which))
        if score.names() | count.names() <= set(known) and count.value(known) > 0:
            label_of_score = f"k_{which}^T q"
            if which == s.REST:
                is_of_others = bool(scene.classes.picked)
                label_of_score = "k^T q of all others" if is_of_others else "k_i^T q"
            there[label_of_score] = shown(score.value(known))
    return there


def _names_in_values(finding: CaseFinding) -> set[str]:
    """The names in both sides of a comparison, once they are numbers."""
    reader = Reader(finding.scene, {})
    try:
        return {
            name
            for term in finding.link.terms
            for x in scalars_in(reader.value(term))
            for name in x.names()
        }
    except (UndeterminedError, MisfitError):
        return set()


NO_CASE = "it speaks of no case that can occur"


@dataclass(frozen=True)
class KeysProver:
    """Decides statements about keys, queries, patterns and outputs."""

    exercise: Exercise
    setting: Keys
    decider: Decider
    claims: tuple[Said, ...]
    conditions: tuple[Outcome, ...]

    @classmethod
    def of(cls, exercise: Exercise, keys: Keys, answer: Answer) -> KeysProver:
        """With what the answer defines, what it says of its own names, and the conditions it states."""
        given = {name: parsed(source) for name, source in exercise.definitions.items()}
        own = {name: said.node for name, said in answer.definitions.items()}
        scene = s.opening(exercise, keys).defining({**given, **own})
        scene = scene.defining(
            {name: s.spelt(node, scene) for name, node in own.items()}
        )
        _check_fair(keys, scene)
        told = [
            replace(said, node=s.spelt(said.node, scene)) for said in answer.conditions
        ]
        decider, doubts = stated(Decider(scene), told)
        claims = tuple(
            replace(said, node=s.spelt(drawn_as_moments(said.node), scene))
            for said in answer.claims
        )
        if exercise.condition:
            decider, claims, more = assuming(decider, claims)
            doubts += more
        return cls(exercise, keys, decider, claims, tuple(doubts))

    def decide(self, claim: Claim) -> list[Outcome]:
        """One part for every case of a claim."""
        decider = self.decider
        spoken = (
            t.walk(claim.node)
            if claim.role == "goal" and isinstance(claim.node, t.Relation)
            else ()
        )
        if any(isinstance(part, t.Call) and part.function == "P" for part in spoken):
            decider = decider.under(*(parsed(source) for source in self.setting.given))
        said = t.said_under(claim.link, claim.under)
        plainly = s.spelt(
            said, decider.scene
        )  # without sets of indices: one claim for each index of a set that is listed
        each = [claim] if plainly == said else claims(plainly, claim.role, claim.said)
        findings = [
            f
            for one in each
            for f in decider.findings(replace(one, negated=claim.negated))
        ]
        if not findings:
            return [judged(claim, Decision("undecided", NO_CASE), NO_CASE)]
        if any(
            one.decision.word == "proved" for one in findings
        ):  # of keys that there are none of, nothing is said
            findings = [one for one in findings if not one.decision.vacuous]
        return [_judged(finding, claim) for finding in findings]


def _check_fair(keys: Keys, scene: s.Scene) -> None:
    """A query is chosen before chance decides on the lengths: it must not depend on them."""
    random = scene.random
    for head in scene.queries if random else ():
        spoken = set().union(
            *(x.names() for x in Reader(scene, {}).query(head).coordinates.values())
        )
        if spoken & random:
            directions = [
                *keys.directions,
                *(f"{letter}_i" for letter in keys.also),
            ]
            raise MisfitError(
                f"{head} depends on {' and '.join(sorted(spoken & random))}, which is random",
                t.Name(head),
                fix=f"use the directions instead: {', '.join(directions)}",
            )


def _judged(finding: CaseFinding, claim: Claim) -> Outcome:
    """A finding as an outcome; a counterexample has the values of its case, and the weights there."""
    decision = finding.decision
    if decision.word == "refuted":
        values = {**finding.case, **decision.values}
        decision = replace(decision, values=values)
    outcome = judged(claim, decision, described(finding), finding.link)
    counterexample = dict(outcome.counterexample or {})
    if decision.values and counterexample:
        sides: dict[str, Any] = {
            name: value
            for name, value in counterexample.items()
            if name in ("left", "right")
        }
        counterexample = {
            name: value if isinstance(value, str) else plain_number(value)
            for name, value in explicit(finding, decision.values).items()
        }
        counterexample.update(sides)
        weights: dict[str, float] = {}
        with suppress(UndeterminedError, MisfitError, TooLong):  # for a picture alone
            weights = _weights(finding.scene, decision.values)
        if weights and all(map(isfinite, weights.values())):
            counterexample["weights"] = weights
    named = {shown_name(name): value for name, value in counterexample.items()}
    return replace(outcome, counterexample=named or None)


def _weights(scene: s.Scene, values: Mapping[str, Fraction]) -> dict[str, float]:
    """The weights of the keys at a counterexample; {} where they are not numbers there."""
    found: dict[str, float] = {}
    for query in scene.queries:
        head = f" ({query})" if len(scene.queries) > 1 else ""
        for which, weight in scene.pattern(Reader(scene, {}).query(query)).items():
            count = scene.classes.count(which)
            if not weight.names() | count.names() <= set(values):
                return {}
            if count.value(values) > 0:
                name = {s.REST: "every other key", s.FIRST: "each of the first"}.get(
                    which, f"alpha_{which}"
                )
                found[name + head] = float(weight.value(values).mid())
    return found
