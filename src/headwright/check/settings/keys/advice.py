"""What a teacher would add to a verdict: from where on an answer works, what it costs, how likely it is, a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from headwright.check.answer import MisfitError, label
from headwright.check.decision import Decision, Threshold
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Judged, at, claims, shown
from headwright.check.scalars import POSITIVE, Scalar, Where, number, parameter
from headwright.check.scalars.numbers import TooLong
from headwright.check.settings.keys.chance import chances_of
from headwright.check.settings.keys.deciding import Decider
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import FIRST, REST, ZERO, Scene, UndeterminedError, Vec
from headwright.check.verdict import Curve
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.show import plain

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
