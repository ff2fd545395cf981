"""What a teacher would add to a verdict: from where on an answer works, what it costs, how likely it is, a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb

from headwright.check.answer import MisfitError, label
from headwright.check.decision import Decision, Threshold
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Judged, at, claims, shown
from headwright.check.scalars import POSITIVE, Scalar, Where, ln, number, parameter, smallest, sqrt
from headwright.check.scalars.numbers import TooLong
from headwright.check.settings.keys.chance import chances_of, growth
from headwright.check.settings.keys.deciding import Decider
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import FIRST, REST, ZERO, Scene, UndeterminedError, Vec, among
from headwright.check.verdict import Curve
from headwright.errors import InputError
from headwright.formula.show import plain
from headwright.formula.tree import Call, Listing, Name, Node, Norm, Quantified, Relation, walk

KEYS, LENGTH = 10, 10  # the instance for which a finite length is told
NEAR = Fraction(1, 20)


def luck(decider: Decider) -> dict[str, Any] | None:
    """How likely the output is near the average: as the queries grow, and at one length; None if nothing is random."""
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
    return told | _at_one_length(decider, law)


def in_words(told: dict[str, Any]) -> str:
    """The probabilities as a sentence."""
    said = f"as the queries grow, the output tends to the average with probability {told['limit']}"
    if "limit_given" in told:
        said += f" ({told['limit_given']} given {told['given']})"
    if "limit_deviation" in told:
        said += f", and the weight of the uncertain key has a standard deviation of {told['limit_deviation']}"
    low, high = told["probability"]
    at = told["at"]
    return (
        f"{said}; with {at['n']} keys and a factor of {at['length']} it is within {at['within']:g} of the average with "
        f"probability {(low + high) / 2:.6g} (proven, for the query rounded to doubles)"
    )


def _event(decider: Decider) -> Call | None:
    reported = decider.scene.setting.reports
    node = None if reported is None else parsed(reported)
    return node if isinstance(node, Call) and node.function == "P" else None


def _at_one_length(decider: Decider, law: Any) -> dict[str, Any]:
    """The same for KEYS keys and free names so large that every query has a factor of LENGTH."""
    import numpy as np  # with what integrates it takes longer to import than most verdicts take

    from headwright.noise import Noise, Normal, World, exact

    scene = decider.scene
    queries = np.zeros((len(scene.queries), KEYS))
    names = scene.classes.named
    for row, head in enumerate(scene.queries):
        query = Reader(scene, {}).query(head)
        for column in range(KEYS):
            x = query.of(names[column] if column < len(names) else "*")
            queries[row, column] = float(_grown(x))
    noise = Noise(scale=Normal(float(law.mean), float(law.variance)))
    result = exact(np.eye(KEYS), queries, World({0: noise}), [0, 1], tolerance=NEAR)
    return {
        "at": {"n": KEYS, "length": LENGTH, "within": float(NEAR)},
        "probability": [result.near_average.lower, result.near_average.upper],
        "mean": [result.means[0].lower, result.means[0].upper],
        "deviation": [result.deviations[0].lower, result.deviations[0].upper],
    }


def _grown(coordinate: Scalar) -> arb:
    """A coordinate where every free name, or its logarithm, is the length."""
    free = coordinate.names() - {"n"}
    for name in free:
        parts = growth(coordinate, name)
        if parts is not None:
            coordinate = parts[0] * LENGTH + parts[1]
    return coordinate.value({"n": KEYS} | dict.fromkeys(free, LENGTH))


INSTANCE = {"n": Fraction(10), "m": Fraction(3), "epsilon": Fraction(1, 10)}  # where nothing else is known
WORTH_SAYING = arb("1.005")


def shortest(exercise: Exercise, decider: Decider, failure: Decision | None = None) -> str | None:
    """How long the shortest query is at one instance, and how long this one has to be; None where that says nothing.

    The shortest of all that work is one alone, so it does not change where keys that play one part are exchanged: k
    targets with the bound p have one score, and n - k others another. These are apart by ln(p (n - k)/(1 - k p)) at
    least, and of all such queries the one whose scores have mean 0 is shortest.
    """
    scene = decider.scene
    if scene.setting.are != "orthonormal" or scene.setting.scales or len(scene.queries) != 1:
        return None
    values = {**INSTANCE, **({} if failure is None else failure.values)}
    values = {name: value for name, value in values.items() if name in scene.ranges}
    floors = _floors(exercise, decider, values)
    first = scene.setting.first
    n, targets = values.get("n", Fraction(0)), len(floors) if first is None else int(values.get(first.size, 0))
    if len(set(floors.values())) != 1 or n <= targets:
        return None
    (floor,) = set(floors.values())
    if floor * targets >= 1 or floor * n <= 1:
        return None  # no query works, or all do
    apart = ln(floor * (n - targets) / (1 - floor * targets))
    least = (apart * sqrt(targets * (n - targets) / n)).value()
    best = f"the shortest query that works has length {shown(least)} (proven)"
    away = f" and turns away from the other keys ({shown((-apart * targets / n).value(), 3)} each)"
    if scene.setting.noise != "none":  # at the bound itself, noise tips it either way: no query is the shortest
        best, away = f"every query that works is longer than {_below(least)} (proven)", ""
    if failure is not None:
        return f"at {at(values)} {best}"
    mine = _length(decider, values)
    if mine is None or not mine[0] > least * WORTH_SAYING:
        return None
    length, free = mine
    this = f"this one has {length:.4g}" + (f" with the smallest {free} that works" if free else "")
    return f"at {at(values)} {best}{away}; {this}"


def _below(bound: arb) -> str:
    """A bound in four digits, rounded down."""
    return f"{Decimal(float(bound.lower())).normalize(Context(prec=4, rounding=ROUND_DOWN)):f}"


def _floors(exercise: Exercise, decider: Decider, values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The goals as least weights of keys; nothing where they are not."""
    reader, first = Reader(decider.scene, {}), decider.scene.setting.first
    floors: dict[str, Fraction] = {}
    for source in exercise.goals:
        match parsed(source):
            case Relation((Name("alpha", index), least), (">=",)) if label(index) in decider.scene.classes.named:
                which = label(index)
            case Quantified(Relation((Name("alpha", index), least), (">=",)), (over,)) if first is not None:
                if among(over, label(index), first.size) != (FIRST,):
                    return {}
                which = FIRST
            case goal if _bounds_length(goal):
                continue
            case _:
                return {}
        floor = reader.scalar(least).put(dict(values)).rational
        if floor is None:
            return {}
        floors[which] = floor
    return floors


def _length(decider: Decider, values: Mapping[str, Fraction]) -> tuple[float, str] | None:
    """The length of the answered query there; with a free factor, at the smallest value that works, and its name."""
    scene = decider.scene
    query = Reader(scene, {}).query(scene.queries[0])
    length = scene.inner(query, query) ** Fraction(1, 2)
    free = length.names() - set(scene.ranges)
    if not free:
        return float(length.value(values)), ""
    if len(free) > 1:
        return None
    (name,) = free
    needed = [_least(decider, source, name, values) for source in scene.exercise.goals]
    if any(one is None for one in needed):
        return None
    top = max(one for one in needed if one is not None)
    return float(length.value({**values, name: Fraction(top)})), name


def _least(decider: Decider, source: str, name: str, values: Mapping[str, Fraction]) -> float | None:
    goal = parsed(source)
    if not isinstance(goal, Relation):
        return None
    reader = Reader(decider.scene, {})
    left, right = (reader.scalar(term).put(dict(values)) for term in goal.terms)
    where = Where({**decider.scene.ranges, name: POSITIVE}).put(dict(values))
    if name not in (left.names() | right.names()):
        return 0.0
    found = smallest(left, goal.comparisons[0], right, where, name)
    return None if found is None else float(found.upper())


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
        elif met:
            found["suggestion"] = shortest(exercise, decider)
        elif failed is not None:
            wrong, works = _rescaled(exercise, decider, failed) or (None, None)
            found["hint"] = wrong
            found["suggestion"] = works or shortest(exercise, decider, failed.decision)
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


def _bounds_length(goal: Node) -> bool:
    return any(isinstance(node, Norm) for node in walk(goal))


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
