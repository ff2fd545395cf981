"""Exercises about keys: the court that decides claims about them, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from headwright.check.answer import Answer, MisfitError, Said, full_name
from headwright.check.decision import EMPTY, Decision
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.judging import Claim, Judged, at, claims, contrasted, judged, plain_number, shown
from headwright.check.scalars import Scalar
from headwright.check.scalars.numbers import Symbol, shown_name
from headwright.check.settings.keys.advice import advice
from headwright.check.settings.keys.chance import shaken
from headwright.check.settings.keys.conditions import assuming, stated
from headwright.check.settings.keys.deciding import Decider, Finding
from headwright.check.settings.keys.indices import spelt
from headwright.check.settings.keys.laws import drawn_as_moments, speaks_of_moments, variance_named
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import (
    FIRST,
    REST,
    VARIANCE,
    ZERO,
    Scene,
    UndeterminedError,
    opening,
    score_name,
)
from headwright.check.verdict import Verdict
from headwright.formula import tree as t
from headwright.formula.show import plain


def described(finding: Finding) -> str:
    """What was found about one comparison, as a person would say it."""
    decision, link = finding.decision, finding.link
    if decision.word != "refuted":
        if decision.word == "proved" and finding.scene.setting.are == "any" and _by_scores(finding):
            stated = finding.scene.exercise.condition
            return f"{plain(link)} {'follows from the condition' if stated else 'holds whatever the scores are'}"
        reason = _comes_down_to(decision.reason, plain(link))
        noisy = shaken(link, finding.scene) and not speaks_of_moments(link)
        return f"without the noise {reason}" if noisy and reason.startswith("both sides are") else reason
    values = {**finding.case, **decision.values}
    free = _free(finding)
    there = explicit(finding, values) | {name: str(path) for name, path in decision.along.items()}
    where = f"with {at(there)}: " if there else ""
    if free and decision.left is not None:
        growing = _how_far(finding, free) if finding.scene.setting.are != "any" else f"the difference {LIKED}"
        where = f"with {at(there)}, and {growing}: " if there else ""
        if decision.along:
            where = f"with {at(there)}, and {free[0]} {LIKED}: "
    if decision.left is None or decision.right is None:
        reason = decision.reason.replace("the two are", f"{' and '.join(map(plain, link.terms))} are")
        large = [name for name in dict.fromkeys(free) if name not in finding.vanishing]
        return where + (reason or f"{plain(link)} is false{' for large ' if large else ''}{' and '.join(large)}")
    (left, _), (sign,) = link.terms, link.comparisons
    what = f"{decision.about} in {plain(left)}" if decision.about else plain(left)
    contrast = contrasted(decision.left, sign, decision.right)
    if sign == "->":
        return f"{where}{what} tends to {contrast.replace('not close to', 'not to')}"
    text = f"{where}{what} {'is' if _spoken(finding) <= set(values) else 'tends to'} {contrast}"
    return text + _others(finding, values, free)


LIKED = "as large as one likes"


def _how_far(finding: Finding, free: list[str]) -> str:
    """Where names are in a counterexample that go somewhere."""
    names = list(dict.fromkeys(free))
    large = [name for name in names if name not in finding.vanishing]
    small = [name for name in names if name in finding.vanishing]
    ways = ((large, LIKED), (small, "as small as one likes"))
    return " and ".join(f"{' and '.join(some)} {how}" for some, how in ways if some)


def explicit(finding: Finding, values: Mapping[str, Fraction]) -> dict[str, Fraction | str]:
    """The values of a counterexample; where only scores are known, with these instead of what stands for them."""
    scene = finding.scene
    if scene.setting.are != "any":
        return dict(values)
    there: dict[str, Fraction | str] = {name: value for name, value in values.items() if not isinstance(name, Symbol)}
    known = {score_name(REST): Fraction(0), **values}  # scores matter up to a constant
    for which in scene.classes.all:
        count, score = scene.classes.count(which), scene.scalar(score_name(which))
        if score.names() | count.names() <= set(known) and count.value(known) > 0:
            whose = "all others" if which == REST and scene.classes.picked else "i" if which == REST else which
            there[f"k_{whose}^T q" if whose != "all others" else "k^T q of all others"] = shown(score.value(known))
    return there


def _comes_down_to(reason: str, statement: str) -> str:
    """'it says x >= y' with what says so: 'alpha_a >= 1/2 comes down to x >= y'."""
    before, says, what = reason.partition("it says ")
    return f"{statement} comes down to {what}" if says and before in ("", "cleared of denominators ") else reason


def _free(finding: Finding) -> list[str]:
    if not finding.decision.values and finding.decision.left is None:
        return []
    known = set(finding.scene.ranges) | set(finding.decision.values)
    return [shown_name(name) for name in sorted(_spoken(finding) - known)]


def _spoken(finding: Finding) -> set[str]:
    """The names in both sides of a comparison, once they are numbers."""
    try:
        reader = Reader(finding.scene, {})
        return set().union(*(_names(reader.value(term)) for term in finding.link.terms))
    except (UndeterminedError, MisfitError):
        return set()


def _by_scores(finding: Finding) -> bool:
    """Whether a comparison of numbers is one of scores, of which the answer states a condition."""
    return any(isinstance(name, Symbol) for name in _spoken(finding))


def _names(value: object) -> frozenset[str]:
    if isinstance(value, Scalar):
        return value.names()
    coordinates: Mapping[str, Scalar] = getattr(value, "coordinates", {})
    return frozenset().union(*(x.names() for x in coordinates.values()))


def _others(finding: Finding, values: Mapping[str, Fraction], free: list[str]) -> str:
    """': the other eight keys share 66% of the weight', where a pattern is spoken of and all is known."""
    scene = finding.scene
    spoken = any(isinstance(n, t.Name) and n.base in ("alpha", "c") for n in t.walk(finding.link))
    if not spoken or free or len(scene.queries) > 1:
        return ""
    try:
        weight = scene.pattern(Reader(scene, {}).query(scene.queries[0]))[REST] * scene.classes.rest
    except (UndeterminedError, MisfitError):
        return ""
    if not weight.names() | scene.classes.rest.names() <= set(values):
        return ""
    count, share = scene.classes.rest.value(values), weight.value(values)
    if not share.is_finite() or scene.classes.rest == ZERO or not (count > 0):
        return ""
    number = float(count)
    many = f"the other {number:.6g} keys" if number < COUNTED else "the other keys"
    keys = "the other key has" if number == 1 else f"{many} share"
    return f": {keys} {100 * float(share):.0f}% of the weight"


def argument(scene: Scene) -> str:
    """Why, in one sentence: the scores, class by class."""
    if scene.setting.are != "orthonormal" or scene.setting.scales:
        return ""
    said = []
    for head in scene.queries:
        scores = scene.scores(Reader(scene, {}).query(head))
        told = {REST: "the others", FIRST: f"the first {scene.setting.first.size}" if scene.setting.first else ""}
        keys = [f"{score} for {told.get(name, f'k_{name}')}" for name, score in scores.items()]
        noise = "" if scene.setting.noise == "none" else "without the noise "
        said.append(f"{noise}the scores of {head} are {', '.join(keys[:-1])} and {keys[-1]}")
    return "; ".join(said)


COUNTED = 1e6  # keys that are told by their number
NO_CASE = "it speaks of no case that can occur"
CONTINUOUS = "the pattern is continuous in the keys: as the noise vanishes, the probability of all this tends to 1"


@dataclass(frozen=True)
class KeysSetting:
    """An exercise about keys."""

    exercise: Exercise
    setting: Keys
    whole = False

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name."""
        noisy = self.setting.noise == "vanishing" and full_name(name) == VARIANCE
        return noisy or opening(self.exercise, self.setting).gives(name)

    def opened(self, answer: Answer) -> KeysCourt:
        """With what the answer defines, what it says of its own names, and the conditions it states."""
        scene = self._scene(answer)
        if self.setting.noise == "vanishing":
            scene = scene.defining(variance_named((said.node for said in answer.claims), scene))
        self._check_fair(scene)
        decider, doubts = stated(Decider(scene), [_spelt(said, scene) for said in answer.conditions])
        claims = tuple(_spelt(replace(said, node=drawn_as_moments(said.node)), scene) for said in answer.claims)
        readings: tuple[str, ...] = ()
        if self.exercise.condition:
            decider, claims, readings, more = assuming(decider, claims)
            doubts += more
        conditions = tuple(
            judged(Claim(one.link, "condition", one.said), one.decision, one.decision.reason) for one in doubts
        )
        return KeysCourt(self.exercise, self.setting, decider, claims, conditions, readings)

    def _scene(self, answer: Answer) -> Scene:
        given = {name: parsed(source) for name, source in self.exercise.definitions.items()}
        own = {name: said.node for name, said in answer.definitions.items()}
        scene = opening(self.exercise, self.setting).defining({**given, **own})
        return scene.defining({name: spelt(node, scene) for name, node in own.items()})

    def _check_fair(self, scene: Scene) -> None:
        """A query is chosen before chance decides on the lengths: it must not depend on them."""
        random = scene.random
        for head in scene.queries if random else ():
            spoken = set().union(*(x.names() for x in Reader(scene, {}).query(head).coordinates.values()))
            if spoken & random:
                directions = [*self.setting.directions, *(f"{letter}_i" for letter in self.setting.also)]
                raise MisfitError(
                    f"{head} depends on {' and '.join(sorted(spoken & random))}, which is random",
                    t.Name(head),
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
        spoken = t.walk(claim.node) if claim.role == "goal" and isinstance(claim.node, t.Relation) else ()
        if any(isinstance(part, t.Call) and part.function == "P" for part in spoken):
            decider = decider.under(*(parsed(source) for source in self.setting.given))
        findings = [one for plainly in _each(claim, decider.scene) for one in decider.findings(plainly)]
        if not findings:
            return [judged(claim, Decision("undecided", NO_CASE), NO_CASE)]
        if any(one.decision.word == "proved" for one in findings):  # of keys that there are none of, nothing is said
            findings = [one for one in findings if one.decision.reason != EMPTY]
        return [_judged(finding, claim) for finding in findings]

    def advised(self, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
        """With thresholds, probabilities and pictures."""
        if verdict.word == "missing":
            return verdict
        more: dict[str, Any] = advice(self.exercise, self.decider, judgements)
        readings = list(self.readings)
        if self.setting.noise == "vanishing" and not self.setting.scales and verdict.word == "proved":
            readings.append(CONTINUOUS)
        before = argument(self.decider.scene) if verdict.word == "proved" else ""
        reason = "; ".join(said for said in (before, verdict.reason, *readings) if said)
        return replace(verdict, reason=reason, **more)


def _spelt(said: Said, scene: Scene) -> Said:
    return replace(said, node=spelt(said.node, scene))


def _each(claim: Claim, scene: Scene) -> Iterator[Claim]:
    """The claim without sets of indices: one for each index of a set that is listed."""
    node = t.said_under(claim.link, claim.under)
    plainly = spelt(node, scene)
    if plainly == node:
        yield claim
        return
    for one in claims(plainly, claim.role, claim.said):
        yield replace(one, negated=claim.negated)


def _judged(finding: Finding, claim: Claim) -> Judged:
    decision = finding.decision
    known = replace(decision, values={**finding.case, **decision.values}) if decision.word == "refuted" else decision
    case = {name: value for name, value in finding.case.items() if not isinstance(name, Symbol)}
    one = judged(claim, known, described(finding), finding.link, case)
    found = dict(one.part.counterexample or {})
    if known.values and found:
        there = explicit(finding, known.values)
        sides = {name: found[name] for name in ("left", "right") if name in found}
        found = {name: v if isinstance(v, str) else plain_number(v) for name, v in there.items()} | sides
    found = {shown_name(name): value for name, value in found.items()}
    return replace(one, part=replace(one.part, counterexample=found or None))
