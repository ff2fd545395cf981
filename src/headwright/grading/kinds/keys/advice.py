"""What a teacher would add to a verdict: a threshold, a suggestion, a curve."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from flint import arb

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import MisfitError, UndeterminedError, label
from headwright.grading.decision import Decision
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Outcome, at, claims, shown
from headwright.grading.kinds.keys import scene as s
from headwright.grading.kinds.keys.deciding import Decider
from headwright.grading.kinds.keys.meaning import Reader
from headwright.grading.scalars import POSITIVE, Scalar, number, parameter
from headwright.grading.scalars.numbers import TooLong
from headwright.grading.verdict import Curve, Verdict

DRAWN = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)  # numbers of keys on a curve
LAMBDA = "lambda"
LENGTH_ONLY = "the direction is right, the length is not"
TOO_LONG = "the direction is right, and the query is too long"
NO_VALUE = "it is right where it has a value, and for some of what is given it has none"
OPPOSITE = "the direction is the opposite of one that works"
UNKNOWN = (UndeterminedError, MisfitError, InputError, TooLong)


def advised(
    exercise: Exercise, decider: Decider, verdict: Verdict, outcomes: Sequence[Outcome]
) -> Verdict:
    """A verdict with thresholds; a refuted one with what would mend a query that is too short."""
    goals = [outcome for outcome in outcomes if outcome.role == "goal"]
    failed = next((outcome for outcome in goals if outcome.word == "refuted"), None)
    if goals and all(outcome.word == "proved" for outcome in goals):
        decisions = [outcome.decision for outcome in goals]
        return replace(verdict, threshold=thresholds_in_words(decisions))
    if failed is None:
        return verdict
    # The verdict stands without advice and picture.
    with suppress(*UNKNOWN):
        verdict = replace(verdict, curve=curve_of_weight(decider, failed))
    with suppress(*UNKNOWN):
        suggestion = suggest_length(exercise, decider, failed)
        if suggestion is not None:
            hint, words = suggestion
            verdict = replace(verdict, hint=hint, suggestion=words)
    return verdict


def thresholds_in_words(decisions: Sequence[Decision]) -> str | None:
    """The thresholds of several goals, once each."""
    thresholds = [str(one.threshold) for one in decisions if one.threshold is not None]
    return "; ".join(dict.fromkeys(thresholds)) or None


def curve_of_weight(decider: Decider, failed: Outcome) -> Curve | None:
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


# The length of a query


@dataclass(frozen=True)
class ScaledQueries:
    """Queries as multiples of directions: by the numbers of the answer, and by lambda."""

    lengths: Sequence[Scalar]
    vectors: dict[str, s.Vec]


def scaled_queries(scene: s.Scene) -> ScaledQueries | None:
    """The queries of an answer as multiples of rational directions; None where one of them is none."""
    lengths: list[Scalar] = []
    vectors: dict[str, s.Vec] = {}
    for head in scene.queries:
        query = Reader(scene, {}).query(head)
        length = next((x for x in query.coordinates.values() if x != s.ZERO), s.ZERO)
        if length.rational is not None and length.rational < 0:
            length = -length
        if length == s.ZERO or length.names() - set(scene.ranges):
            return None
        direction = query.times(number(1) / length)
        if any(x.rational is None for x in direction.coordinates.values()):
            return None
        lengths.append(length)
        vectors[head] = direction.times(parameter(LAMBDA, POSITIVE))
    return ScaledQueries(lengths, vectors)


def suggest_length(
    exercise: Exercise, decider: Decider, failed: Outcome
) -> tuple[str | None, str] | None:
    """What is wrong with the number before a query, and for which numbers it works; None if not the number is wrong."""
    scene = decider.scene
    if scene.setting.are != "orthonormal" or not set(scene.queries) <= set(
        exercise.answer
    ):
        return None
    scaled = scaled_queries(scene)
    if scaled is None:
        return None
    # The goals, but for those that bound the length, decided for a query of length lambda.
    goals = [parsed(source) for source in exercise.goals]
    bounds = [goal for goal in goals if _speaks_of_length(goal)]
    free = replace(decider, scene=replace(scene, vectors=scaled.vectors))
    decisions = [
        finding.decision
        for goal in goals
        if goal not in bounds
        for claim in claims(goal, "goal")
        for finding in free.findings(claim)
    ]
    if not decisions or any(decision.word != "proved" for decision in decisions):
        return None
    least = thresholds_in_words(decisions)
    if least is None:
        return None
    queries = [
        f"{head} = {LAMBDA} ({_combination(vector, scene)})"
        for head, vector in scaled.vectors.items()
    ]
    works = f"{', '.join(queries)} works from {least}"
    if bounds:
        works += f", as long as {' and '.join(map(plain, bounds))}"
    numbers = _lengths_at(scaled.lengths, failed)
    wrong = _what_is_wrong(numbers, failed)
    if set(map(str, scaled.lengths)) <= _partial_thresholds(decisions):
        # the answer's is the threshold itself, which is no number for some of what is given
        return NO_VALUE, (
            f"where that is no number, {', '.join(queries)} works for every {LAMBDA} > 0:"
            " treat it apart, or take a longer query"
        )
    shown_numbers = [shown(x) if x.is_finite() else "no number" for x in numbers]
    yours = ", ".join(dict.fromkeys(shown_numbers) or map(str, scaled.lengths))
    here = f" at {at(failed.decision.values)}" if failed.decision.values else ""
    before = f"{wrong}: " if wrong else ""
    if _fails_for_many_keys(scaled.lengths, scene, failed):
        here = ", and no length that is the same for every n does"
    return wrong, f"{before}{works}; yours is {yours}{here}"


def _fails_for_many_keys(
    lengths: Sequence[Scalar], scene: s.Scene, failed: Outcome
) -> bool:
    """Whether a weight has to be at least a positive number, and the queries do not change with n.

    The scores are then fixed numbers, and each of the n other keys adds the same positive
    number to the denominator: the weight of a key with a name tends to 0. So no length
    that is the same for every n gives that weight.
    """
    if len(failed.link.terms) != 2 or failed.link.comparisons[0] not in (">", ">="):
        return False
    if scene.setting.noise != "none" or scene.setting.scales:
        return False
    weight, _ = failed.link.terms
    values = failed.decision.values
    is_weight = isinstance(weight, t.Name) and weight.base == "alpha"
    if not is_weight or "n" not in values or any(one.names() for one in lengths):
        return False
    wanted = Reader(scene, {}).scalar(failed.link.terms[1])
    n = scene.ranges.get("n")
    if n is None or n.upper is not None or wanted.names() - (set(values) - {"n"}):
        return False
    return bool(wanted.value(values) > 0)


def _speaks_of_length(node: t.Node) -> bool:
    return any(isinstance(part, t.Norm) for part in t.walk(node))


def _lengths_at(lengths: Sequence[Scalar], failed: Outcome) -> list[arb]:
    """The lengths at a counterexample; none where they are not all numbers there."""
    values = failed.decision.values
    if not all(length.names() <= set(values) for length in lengths):
        return []
    return [
        length.value({name: values[name] for name in length.names()})
        for length in lengths
    ]


def _what_is_wrong(lengths: Sequence[arb], failed: Outcome) -> str | None:
    """What is wrong with queries of these lengths; None where that is not known."""
    if lengths and all(length < 0 for length in lengths):
        return OPPOSITE
    if lengths and all(length > 0 for length in lengths):
        return TOO_LONG if _speaks_of_length(failed.link) else LENGTH_ONLY
    return None


def _partial_thresholds(decisions: Sequence[Decision]) -> set[str]:
    """The thresholds that hold under a condition only."""
    return {
        str(value)
        for decision in decisions
        if decision.threshold is not None and decision.threshold.condition is not None
        for value in decision.threshold.least.values()
    }


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
