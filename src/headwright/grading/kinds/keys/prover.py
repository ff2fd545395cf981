"""Exercises about keys: the prover that decides claims about them, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import (
    Answer,
    MisfitError,
    Said,
    UndeterminedError,
    label,
    speaks_of_moments,
)
from headwright.grading.decision import EMPTY, Decision
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
from headwright.grading.scalars import POSITIVE, Scalar, number, parameter
from headwright.grading.scalars.numbers import Symbol, TooLong, shown_name
from headwright.grading.verdict import Curve, Verdict

DRAWN = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)  # numbers of keys on a curve


def described(finding: CaseFinding) -> str:
    """What was found about one comparison, as a person would say it."""
    decision, link = finding.decision, finding.link
    if decision.word != "refuted":
        if (
            decision.word == "proved"
            and finding.scene.setting.are == "any"
            and any(isinstance(name, Symbol) for name in _spoken(finding))
        ):
            stated = finding.scene.exercise.condition
            return f"{plain(link)} {'follows from the condition' if stated else 'holds whatever the scores are'}"
        before, says, what = decision.reason.partition("it says ")
        if says and before in ("", "cleared of denominators "):
            return f"{plain(link)} comes down to {what}"
        noisy = finding.scene.setting.noise == "vanishing" and not speaks_of_moments(
            link
        )
        without = (
            noisy
            and decision.reason.startswith("both sides are")
            and is_random(link, finding.scene)
        )
        return f"without the noise {decision.reason}" if without else decision.reason
    values = {**finding.case, **decision.values}
    known = {*finding.scene.ranges, *decision.values}
    free = (
        [shown_name(name) for name in sorted(_spoken(finding) - known)]
        if decision.values or decision.left is not None
        else []
    )
    there = explicit(finding, values) | {
        name: str(path) for name, path in decision.along.items()
    }
    where = f"with {at(there)}: " if there else ""
    small = [name for name in dict.fromkeys(free) if name in finding.vanishing]
    large = [name for name in dict.fromkeys(free) if name not in finding.vanishing]
    if free and there and decision.left is not None:
        ways = (
            (large[:1] if decision.along else large, LIKED),
            (small, "as small as one likes"),
        )
        growing = " and ".join(
            f"{' and '.join(some)} {how}" for some, how in ways if some
        )
        growing = (
            growing if finding.scene.setting.are != "any" else f"the difference {LIKED}"
        )
        where = f"with {at(there)}, and {growing}: "
    if decision.left is None or decision.right is None:
        reason = decision.reason.replace(
            "the two are", f"{' and '.join(map(plain, link.terms))} are"
        )
        return where + (
            reason
            or f"{plain(link)} is false{' for large ' if large else ''}{' and '.join(large)}"
        )
    (left, _), (sign,) = link.terms, link.comparisons
    what = f"{decision.about} in {plain(left)}" if decision.about else plain(left)
    contrast = contrasted(decision.left, sign, decision.right)
    if sign == "->":
        return f"{where}{what} tends to {contrast.replace('not close to', 'not to')}"
    return f"{where}{what} {'is' if _spoken(finding) <= set(values) else 'tends to'} {contrast}"


LIKED = "as large as one likes"


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
    known = {
        s.score_name(s.REST): Fraction(0),
        **values,
    }  # scores matter up to a constant
    for which in scene.classes.all:
        count, score = scene.classes.count(which), scene.scalar(s.score_name(which))
        if score.names() | count.names() <= set(known) and count.value(known) > 0:
            whose = (
                "all others"
                if which == s.REST and scene.classes.picked
                else "i"
                if which == s.REST
                else which
            )
            there[
                f"k_{whose}^T q" if whose != "all others" else "k^T q of all others"
            ] = shown(score.value(known))
    return there


def _spoken(finding: CaseFinding) -> set[str]:
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
            findings = [one for one in findings if one.decision.reason != EMPTY]
        return [_judged(finding, claim) for finding in findings]

    def advised(self, verdict: Verdict, judgements: Sequence[Outcome]) -> Verdict:
        """With thresholds, and what would mend a query that is too short."""
        goals = [one for one in judgements if one.role == "goal"]
        failed = next((one for one in goals if one.word == "refuted"), None)
        if goals and all(one.word == "proved" for one in goals):
            return replace(
                verdict, threshold=_threshold([one.decision for one in goals])
            )
        if failed is None:
            return verdict
        gifts = (
            UndeterminedError,
            MisfitError,
            InputError,
            TooLong,
        )  # the verdict stands without advice and picture
        with suppress(*gifts):
            verdict = replace(verdict, curve=_curve(self.decider, failed))
        with suppress(*gifts):
            found = _rescaled(self.exercise, self.decider, failed)
            verdict = (
                verdict
                if found is None
                else replace(verdict, hint=found[0], suggestion=found[1])
            )
        return verdict


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


def _curve(decider: Decider, failed: Outcome) -> Curve | None:
    """The weight that a refuted goal speaks of, against n, the other parameters as in the counterexample."""
    values = failed.decision.values
    spoken = [
        name for name in t.every_name(failed.link.terms[0]) if name.base == "alpha"
    ]
    if "n" not in values or not spoken:
        return None
    others = {name: value for name, value in values.items() if name != "n"}
    reader = Reader(
        decider.scene.knowing(
            **{name: number(value) for name, value in others.items()}
        ),
        {},
    )
    weight, wanted = reader.scalar(spoken[0]), reader.scalar(failed.link.terms[1])
    if (weight.names() | wanted.names()) - {"n"}:
        return None
    last = (
        spoken[0].index.items[-1]
        if isinstance(spoken[0].index, t.Listing)
        else spoken[0].index
    )
    series = tuple(float(weight.value({"n": n})) for n in DRAWN)
    level = float(wanted.value({"n": values["n"]}))
    words = f"The weight as the number of keys grows{', with ' + at(others) if others else ''}."
    return Curve(
        "n",
        tuple(map(float, DRAWN)),
        {f"weight of key {label(last)}": series},
        {"wanted": level},
        words,
    )


def _judged(finding: CaseFinding, claim: Claim) -> Outcome:
    decision = finding.decision
    known = (
        replace(decision, values={**finding.case, **decision.values})
        if decision.word == "refuted"
        else decision
    )
    one = judged(claim, known, described(finding), finding.link)
    found = dict(one.counterexample or {})
    if known.values and found:
        there = explicit(finding, known.values)
        sides = {name: found[name] for name in ("left", "right") if name in found}
        found = {
            name: v if isinstance(v, str) else plain_number(v)
            for name, v in there.items()
        } | sides
        with suppress(
            UndeterminedError, MisfitError, TooLong
        ):  # they are for a picture alone
            weights = _weights(finding.scene, known.values)
            found |= (
                {"weights": weights}
                if weights and all(map(isfinite, weights.values()))
                else {}
            )
    found = {shown_name(name): value for name, value in found.items()}
    return replace(one, counterexample=found or None)


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


# What a teacher would add


LAMBDA = "lambda"
LENGTH_ONLY = "the direction is right, the length is not"
TOO_LONG = "the direction is right, and the query is too long"
OPPOSITE = "the direction is the opposite of one that works"


def _threshold(decisions: Sequence[Decision]) -> str | None:
    """The thresholds of several goals, once each."""
    return (
        "; ".join(
            dict.fromkeys(
                str(one.threshold) for one in decisions if one.threshold is not None
            )
        )
        or None
    )


def _rescaled(
    exercise: Exercise, decider: Decider, failed: Outcome
) -> tuple[str | None, str] | None:
    """What is wrong with the number before a query, and for which numbers it works; None if not the number is wrong."""
    scene, values = decider.scene, failed.decision.values
    if scene.setting.are != "orthonormal" or not set(scene.queries) <= set(
        exercise.answer
    ):
        return None
    lengths: list[Scalar] = []
    vectors: dict[str, s.Vec] = {}
    for head in scene.queries:
        query = Reader(scene, {}).query(head)
        length = next((x for x in query.coordinates.values() if x != s.ZERO), s.ZERO)
        length = (
            -length if length.rational is not None and length.rational < 0 else length
        )
        if length == s.ZERO or length.names() - set(scene.ranges):
            return None
        along = query.times(number(1) / length)
        if any(x.rational is None for x in along.coordinates.values()):
            return None
        lengths.append(length)
        vectors[head] = along.times(parameter(LAMBDA, POSITIVE))
    free = replace(decider, scene=replace(scene, vectors=vectors))
    goals = [parsed(source) for source in exercise.goals]
    bounds = [
        goal for goal in goals if any(isinstance(node, t.Norm) for node in t.walk(goal))
    ]
    asked = [
        claim for goal in goals if goal not in bounds for claim in claims(goal, "goal")
    ]
    found = [finding.decision for claim in asked for finding in free.findings(claim)]
    longest = (
        _threshold(found)
        if found and all(one.word == "proved" for one in found)
        else None
    )
    if longest is None:
        return None
    wrong, known = None, all(length.names() <= set(values) for length in lengths)
    there = (
        [
            length.value({name: values[name] for name in length.names()})
            for length in lengths
        ]
        if known
        else []
    )
    if there and all(length < 0 for length in there):
        wrong = OPPOSITE
    elif there and all(length > 0 for length in there):
        wrong = (
            TOO_LONG
            if any(isinstance(node, t.Norm) for node in t.walk(failed.link))
            else LENGTH_ONLY
        )
    said = ", ".join(
        f"{head} = {LAMBDA} ({_combination(vectors[head], scene)})" for head in vectors
    )
    yours = ", ".join(
        dict.fromkeys(shown(x) if x.is_finite() else "no number" for x in there)
        or map(str, lengths)
    )
    here = f" at {at(values)}" if values else ""
    works = f"{said} works from {longest}" + (
        f", as long as {' and '.join(map(plain, bounds))}" if bounds else ""
    )
    thresholds = [one.threshold for one in found if one.threshold is not None]
    partly = [one for one in thresholds if one.condition is not None]
    least = {str(value) for one in partly for value in one.least.values()}
    if set(map(str, lengths)) <= least:
        # yours is the threshold itself, which is no number for some of what is given
        apart = f"where that is no number every {LAMBDA} > 0 does: treat it apart, or take a longer query"
        return wrong, f"{works}; {apart}"
    return wrong, f"{wrong + ': ' if wrong else ''}{works}; yours is {yours}{here}"


def _combination(query: s.Vec, scene: s.Scene) -> str:
    setting = scene.setting
    letter = (
        setting.also[0]
        if setting.also and (setting.scales or setting.noise != "none")
        else "k"
    )
    first = "" if setting.first is None else setting.first.size
    told = {
        s.REST: f"the sum of all other {letter}_i",
        s.FIRST: f"the sum of {letter}_1, ..., {letter}_{first}",
    }
    told |= {place: name for name, place in setting.directions.items()}
    parts = []
    for name, x in query.coordinates.items():
        weight = x / parameter(LAMBDA, POSITIVE)
        if weight != s.ZERO:
            factor = {number(1): "", number(-1): "-"}.get(weight, f"{weight} ")
            parts.append(f"{factor}{told.get(name, f'{letter}_{name}')}")
    return " + ".join(parts).replace("+ -", "- ")
