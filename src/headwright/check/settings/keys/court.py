"""Exercises about keys: the court that decides claims about them, and its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from headwright.check.answer import Answer, MisfitError, Said, full_name, label
from headwright.check.decision import EMPTY, Decision, Threshold
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.judging import Claim, Judged, at, claims, contrasted, judged, plain_number, shown
from headwright.check.scalars import POSITIVE, Scalar, Where, number, parameter
from headwright.check.scalars.numbers import Symbol, TooLong, shown_name
from headwright.check.settings.keys.chance import chances_of, shaken
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
    Vec,
    opening,
    score_name,
)
from headwright.check.verdict import Curve, Verdict
from headwright.errors import InputError
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


COUNTED = 1e6  # keys that are told by their number
NO_CASE = "it speaks of no case that can occur"


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
        if self.exercise.condition:
            decider, claims, more = assuming(decider, claims)
            doubts += more
        conditions = tuple(
            judged(Claim(one.link, "condition", one.said), one.decision, one.decision.reason) for one in doubts
        )
        return KeysCourt(self.exercise, self.setting, decider, claims, conditions)

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
        return replace(verdict, **advice(self.exercise, self.decider, judgements))


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
        weights = _weights(finding.scene, known.values)
        found |= {"weights": weights} if weights else {}
    found = {shown_name(name): value for name, value in found.items()}
    return replace(one, part=replace(one.part, counterexample=found or None))


def _weights(scene: Scene, values: Mapping[str, Fraction]) -> dict[str, float]:
    """The weights of the keys at a counterexample, for a picture; {} where they are not numbers there."""
    found: dict[str, float] = {}
    for query in scene.queries:
        try:
            pattern = scene.pattern(Reader(scene, {}).query(query))
            counts = {which: scene.classes.count(which) for which in pattern}
            if not all(x.names() <= set(values) for x in (*pattern.values(), *counts.values())):
                return {}
            weights = {
                which: weight.value(values) for which, weight in pattern.items() if counts[which].value(values) > 0
            }
        except (UndeterminedError, MisfitError, TooLong):
            return {}
        if not all(weight.is_finite() for weight in weights.values()):
            return {}
        head = f" ({query})" if len(scene.queries) > 1 else ""
        names = {REST: "each other", FIRST: "each of the first"}
        found |= {names.get(which, f"alpha_{which}") + head: float(weight.mid()) for which, weight in weights.items()}
    return found


# What a teacher would add

KEYS = 10  # for which a deviation is told


def luck(decider: Decider) -> dict[str, Any] | None:
    """How likely the output is near the average, as the queries grow; None if nothing is random."""
    scene = decider.scene
    law = next((s.normal for s in scene.setting.scales.values() if s.normal is not None), None)
    event = _event(decider)
    if law is None or event is None:
        return None
    given = decider.under(*(parsed(source) for source in scene.setting.given))
    found, wanted = chances_of(given, event)
    if found is None:
        return None
    overall, conditional = found.probability(wanted, conditional=False), found.probability(wanted)
    if overall is None:
        return None
    told: dict[str, Any] = {"limit": shown(overall, 6)}
    if scene.setting.given and conditional is not None:
        told["limit_given"] = shown(conditional, 6)
        told["given"] = " and ".join(plain(parsed(source)) for source in scene.setting.given)
    moments = found.moments(scene.setting.named[0], KEYS)
    if moments is not None:
        mean, variance = moments
        told["limit_mean"] = shown(mean, 6)
        told["limit_deviation"] = shown(variance.sqrt() if variance > 0 else arb(0), 6)
    return told


def in_words(told: dict[str, Any]) -> str:
    """The probabilities as a sentence."""
    said = f"as the queries grow, the output tends to the average with probability {told['limit']}"
    if "limit_given" in told:
        said += f" ({told['limit_given']} given {told['given']})"
    if "limit_deviation" in told:
        said += f", and the weight of the uncertain key has a standard deviation of {told['limit_deviation']}"
    return said


def _event(decider: Decider) -> t.Call | None:
    reported = decider.scene.setting.reports
    node = None if reported is None else parsed(reported)
    return node if isinstance(node, t.Call) and node.function == "P" else None


LAMBDA = "lambda"
LENGTH_ONLY = "the direction is right, the length is not"
TOO_LONG = "the direction is right, and the query is too long"
OPPOSITE = "the direction is the opposite of one that works"
DRAWN = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)


def advice(exercise: Exercise, decider: Decider, judgements: Sequence[Judged]) -> dict[str, Any]:
    """The further fields of the verdict."""
    goals = [one for one in judgements if one.part.role == "goal"]
    met = bool(goals) and all(one.decision.word == "proved" for one in goals)
    failed = next((one for one in goals if one.decision.word == "refuted"), None)
    found: dict[str, Any] = {}
    if met:
        found["threshold"] = _threshold([one.decision for one in goals], decider)
    try:
        chances = luck(decider)
        found["probability"] = chances
        if chances is not None:
            found["suggestion"] = in_words(chances)
        elif failed is not None:
            found["hint"], found["suggestion"] = _rescaled(exercise, decider, failed) or (None, None)
            found["curve"] = _curve(decider, failed)
    except (UndeterminedError, MisfitError, InputError, TooLong):
        pass  # advice is a gift: the verdict stands without it
    return found


def _threshold(decisions: Sequence[Decision], decider: Decider) -> str | None:
    """The thresholds of several goals as one, as far as one certainly covers the others."""
    kept: list[Threshold] = []
    for one in (decision.threshold for decision in decisions):
        if one is None:
            continue
        names = set().union(*(value.names() for value in one.least.values()), one.least)
        own = {name: decider.scene.range_of(name) for name in names - set(decider.scene.ranges)}
        where = Where({**decider.scene.ranges, **own})
        if not any(other == one or other.covers(one, where) for other in kept):
            kept = [other for other in kept if not one.covers(other, where)] + [one]
    return "; ".join(str(one) for one in kept) or None


def direction(query: Vec) -> tuple[Scalar, Vec] | None:
    """A query as a length times a direction with rational coordinates; None where it is not of that form."""
    length = next((x for x in query.coordinates.values() if x != ZERO), None)
    if length is None:
        return None
    if length.rational is not None and length.rational < 0:
        length = -length
    along = query.times(number(1) / length)
    if any(x.rational is None for x in along.coordinates.values()):
        return None
    return length, along


def _rescaled(exercise: Exercise, decider: Decider, failed: Judged) -> tuple[str | None, str] | None:
    """What is wrong with the number before a query, and for which numbers it works; None if not the number is wrong."""
    scene, values = decider.scene, failed.decision.values
    if scene.setting.are != "orthonormal" or not set(scene.queries) <= set(exercise.answer):
        return None
    lengths: dict[str, Scalar] = {}
    vectors: dict[str, Vec] = {}
    for head in scene.queries:
        parts = direction(Reader(scene, {}).query(head))
        if parts is None or parts[0].names() - set(scene.ranges):
            return None
        lengths[head], along = parts
        vectors[head] = along.times(parameter(LAMBDA, POSITIVE))
    free = replace(decider, scene=replace(scene, vectors=vectors))
    goals = [parsed(source) for source in exercise.goals]
    bounds = [plain(goal) for goal in goals if _bounds_length(goal)]
    asked = [goal for goal in goals if not _bounds_length(goal)]
    found = [finding.decision for goal in asked for claim in claims(goal, "goal") for finding in free.findings(claim)]
    if not found or any(one.word != "proved" for one in found):
        return None
    longest = _threshold(found, free)
    if longest is None:
        return None
    wrong = _wrong_length(lengths.values(), failed)
    said = ", ".join(f"{head} = {LAMBDA} ({_combination(vectors[head], scene)})" for head in vectors)
    yours = ", ".join(dict.fromkeys(_number(length, values) for length in lengths.values()))
    here = f" at {at(values)}" if values else ""
    works = f"{said} works from {longest}" + (f", as long as {' and '.join(bounds)}" if bounds else "")
    return wrong, f"{wrong + ': ' if wrong else ''}{works}; yours is {yours}{here}"


def _bounds_length(goal: t.Node) -> bool:
    return any(isinstance(node, t.Norm) for node in t.walk(goal))


def _wrong_length(lengths: Iterable[Scalar], failed: Judged) -> str | None:
    """Too short, too long, or the wrong way round, where that is certain at the counterexample."""
    known = failed.decision.values
    if not all(length.names() <= set(known) for length in lengths):
        return None
    there = [length.value({name: known[name] for name in length.names()}) for length in lengths]
    if any(value < 0 for value in there):
        return OPPOSITE if all(value < 0 for value in there) else None
    if not all(value > 0 for value in there):
        return None
    return TOO_LONG if _bounds_length(failed.link) else LENGTH_ONLY


def _number(length: Scalar, values: Mapping[str, Fraction]) -> str:
    known = {name: value for name, value in values.items() if name in length.names()}
    if not length.names() <= set(known):
        return str(length)
    value = length.value(known)
    return shown(value) if value.is_finite() else f"{length}, which is no number"


def _combination(query: Vec, scene: Scene) -> str:
    setting = scene.setting
    letter = setting.also[0] if setting.also and (setting.scales or setting.noise != "none") else "k"
    named = {place: name for name, place in setting.directions.items()}
    parts = []
    for name, x in query.coordinates.items():
        weight = x / parameter(LAMBDA, POSITIVE)
        if weight != ZERO:
            first = "" if setting.first is None else setting.first.size
            sums = {REST: f"the sum of all other {letter}_i", FIRST: f"the sum of {letter}_1, ..., {letter}_{first}"}
            what = sums.get(name) or named.get(name, f"{letter}_{name}")
            factor = {number(1): "", number(-1): "-"}.get(weight, f"{weight} ")
            parts.append(f"{factor}{what}")
    return " + ".join(parts).replace("+ -", "- ")


def _curve(decider: Decider, failed: Judged) -> Curve | None:
    """The weights of the named keys against n, the other parameters as in the counterexample."""
    scene, decision = decider.scene, failed.decision
    if "n" not in decision.values or not isinstance(failed.link, t.Relation):
        return None
    fixed = {name: number(value) for name, value in decision.values.items() if name != "n"}
    here = replace(decider, scene=scene.knowing(**fixed))
    spoken = [node for node in t.walk(failed.link.terms[0]) if isinstance(node, t.Name) and node.base == "alpha"]
    if not spoken:
        return None
    reader = Reader(here.scene, {})
    weight, wanted = reader.scalar(spoken[0]), reader.scalar(failed.link.terms[1])
    if (weight.names() | wanted.names()) - {"n"}:
        return None
    last = spoken[0].index.items[-1] if isinstance(spoken[0].index, t.Listing) else spoken[0].index
    series = tuple(float(weight.value({"n": n})) for n in DRAWN)
    level = float(wanted.value({"n": decision.values["n"]}))
    name = f"weight of key {label(last)}"
    others = {name: value for name, value in decision.values.items() if name != "n"}
    words = f"The weight as the number of keys grows{', with ' + at(others) if others else ''}."
    return Curve("n", tuple(float(n) for n in DRAWN), {name: series}, {"wanted": level}, words)
