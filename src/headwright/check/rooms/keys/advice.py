"""What a teacher would add to a verdict: from where on an answer works, what it costs, a picture of the failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headwright.check.answer import label
from headwright.check.claims import claims
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise
from headwright.check.judging import Judged, at, shown
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import REST, ZERO, UndeterminedError, Vec
from headwright.check.rooms.keys.deciding import Decider
from headwright.check.rooms.keys.luck import in_words, luck
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.rooms.keys.scene import Scene
from headwright.check.rooms.keys.shortest import shortest
from headwright.check.scalars import POSITIVE, Scalar, Where, number, parameter
from headwright.check.scalars.numbers import TooLong
from headwright.check.threshold import Threshold
from headwright.check.verdict import Curve
from headwright.errors import InputError
from headwright.formula import parse
from headwright.formula.tree import Listing, Name, Norm, Relation, walk

LENGTH = "lambda"
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
        elif met:
            found["suggestion"] = shortest(exercise, decider)
        elif failed is not None:
            found["suggestion"] = _longer(exercise, decider, failed.decision) or shortest(
                exercise, decider, failed.decision
            )
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
    """A query as a length times a direction with rational coordinates; None where it is not of that form.

    >>> from headwright.check.scalars import ln, sqrt
    >>> length, along = direction(Vec("key", {"a": sqrt(2), "b": 2 * sqrt(2)}))
    >>> length, along.of("b")
    (<sqrt(2)>, <2>)
    """
    length = next((x for x in query.coordinates.values() if x != ZERO), None)
    if length is None:
        return None
    if length.rational is not None and length.rational < 0:
        length = -length
    along = query.times(number(1) / length)
    if any(x.rational is None for x in along.coordinates.values()):
        return None
    return length, along


def _longer(exercise: Exercise, decider: Decider, failure: Decision) -> str | None:
    """Whether the direction is right and only the number is wrong; if so, from which number on it works."""
    scene = decider.scene
    if scene.setting.are != "orthonormal":
        return None
    lengths: dict[str, Scalar] = {}
    vectors: dict[str, Vec] = {}
    for head in scene.queries:
        parts = direction(Reader(scene, {}).query(head))
        if parts is None or parts[0].names() - set(scene.ranges):
            return None
        lengths[head], along = parts
        vectors[head] = along.times(parameter(LENGTH, POSITIVE))
    free = replace(decider, scene=replace(scene, vectors=vectors))
    goals = [parse(source) for source in exercise.goals]
    asked = [goal for goal in goals if not any(isinstance(node, Norm) for node in walk(goal))]
    found = [finding.decision for goal in asked for claim in claims(goal, "goal") for finding in free.findings(claim)]
    if not found or any(one.word != "proved" for one in found):
        return None
    longest = _threshold(found, free)
    if longest is None:
        return None
    said = ", ".join(f"{head} = {LENGTH} ({_combination(vectors[head], scene)})" for head in vectors)
    yours = ", ".join(dict.fromkeys(_number(length, failure.values) for length in lengths.values()))
    here = f" at {at(failure.values)}" if failure.values else ""
    return f"the direction is right, the length is not: {said} works from {longest}; yours is {yours}{here}"


def _number(length: Scalar, values: Any) -> str:
    known = {name: value for name, value in values.items() if name in length.names()}
    return shown(length.value(known)) if length.names() <= set(known) else str(length)


def _combination(query: Vec, scene: Scene) -> str:
    setting = scene.setting
    letter = setting.also[0] if setting.also and (setting.scales or setting.noise != "none") else "k"
    named = {place: name for name, place in setting.directions.items()}
    parts = []
    for name, x in query.coordinates.items():
        weight = x / parameter(LENGTH, POSITIVE)
        if weight != ZERO:
            what = f"the sum of all other {letter}_i" if name == REST else named.get(name, f"{letter}_{name}")
            parts.append(what if weight == number(1) else f"{weight} {what}")
    return " + ".join(parts).replace("+ -", "- ")


def _curve(decider: Decider, failed: Judged) -> Curve | None:
    """The weights of the named keys against n, the other parameters as in the counterexample."""
    scene, decision = decider.scene, failed.decision
    if "n" not in decision.values or not isinstance(failed.link, Relation):
        return None
    fixed = {name: number(value) for name, value in decision.values.items() if name != "n"}
    here = replace(decider, scene=scene.knowing(**fixed))
    spoken = [node for node in walk(failed.link.terms[0]) if isinstance(node, Name) and node.base == "alpha"]
    if not spoken:
        return None
    reader = Reader(here.scene, {})
    weight, wanted = reader.scalar(spoken[0]), reader.scalar(failed.link.terms[1])
    if (weight.names() | wanted.names()) - {"n"}:
        return None
    last = spoken[0].index.items[-1] if isinstance(spoken[0].index, Listing) else spoken[0].index
    series = tuple(float(weight.value({"n": n})) for n in DRAWN)
    level = float(wanted.value({"n": decision.values["n"]}))
    name = f"weight of key {label(last)}"
    others = {name: value for name, value in decision.values.items() if name != "n"}
    words = f"The weight as the number of keys grows{', with ' + at(others) if others else ''}."
    return Curve("n", tuple(float(n) for n in DRAWN), {name: series}, {"wanted": level}, words)
