"""The shortest query for the goals of an exercise, from `design`, beside the one that was answered."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from headwright import design as designing
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise
from headwright.check.judging import at
from headwright.check.rooms.keys.deciding import Decider
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.scalars import POSITIVE, Where, smallest
from headwright.enclosure import shown_above
from headwright.formula import parse
from headwright.formula.tree import Name, Relation

INSTANCE = {"n": Fraction(10), "epsilon": Fraction(1, 10)}  # where nothing else is known
MOST_KEYS = 200
WORTH_SAYING = 1.005


def shortest(exercise: Exercise, decider: Decider, failure: Decision | None = None) -> str | None:
    """How long the shortest query is at one instance, and how long this one has to be; None where that says nothing."""
    scene = decider.scene
    if scene.setting.are != "orthonormal" or scene.setting.scales or len(scene.queries) != 1:
        return None
    values = {**INSTANCE, **({} if failure is None else failure.values)}
    values = {name: value for name, value in values.items() if name in scene.ranges}
    bounds = _bounds(exercise, decider, values)
    if "n" not in values or not bounds or not 2 <= values["n"] <= MOST_KEYS:
        return None
    n = int(values["n"])
    found = designing.design(np.eye(n), designing.at_least(bounds))
    if found.verdict != "designed" or found.norm == 0:
        return None
    best = f"at {at(values)} the shortest query that works has length {shown_above(found.norm, 4)} (proven)"
    if failure is not None:
        return best
    mine = _length(decider, values)
    if mine is None or mine < WORTH_SAYING * found.norm:
        return None
    rest = found.queries[0][-1]
    how = f": it also turns away from the other keys ({rest:.3g} each)" if n > len(bounds) and abs(rest) > 1e-6 else ""
    return f"{best}, this one {mine:.4g}{how}"


def _bounds(exercise: Exercise, decider: Decider, values: Mapping[str, Fraction]) -> dict[int, str]:
    """The goals as least weights, by the place of the key."""
    reader = Reader(decider.scene, {})
    bounds: dict[int, str] = {}
    for source in exercise.goals:
        match parse(source):
            case Relation((Name("alpha", Name() | _ as index), least), (">=",)):
                which = decider.scene.classes.named.index(str(getattr(index, "base", getattr(index, "value", ""))))
                floor = reader.scalar(least).put(dict(values)).rational
                if floor is None:
                    return {}
                bounds[which] = str(floor)
            case _:
                continue
    return bounds


def _length(decider: Decider, values: Mapping[str, Fraction]) -> float | None:
    """The length of the answered query there; with a free factor, at the smallest value that works."""
    scene = decider.scene
    query = Reader(scene, {}).query(scene.queries[0])
    length = scene.inner(query, query) ** Fraction(1, 2)
    free = length.names() - set(scene.ranges)
    if not free:
        return float(length.value(values))
    if len(free) > 1:
        return None
    (name,) = free
    needed = [_least(decider, source, name, values) for source in scene.exercise.goals]
    if any(one is None for one in needed):
        return None
    top = max(one for one in needed if one is not None)
    return float(length.value({**values, name: Fraction(top)}))


def _least(decider: Decider, source: str, name: str, values: Mapping[str, Fraction]) -> float | None:
    goal = parse(source)
    if not isinstance(goal, Relation):
        return None
    reader = Reader(decider.scene, {})
    left, right = (reader.scalar(term).put(dict(values)) for term in goal.terms)
    where = Where({**decider.scene.ranges, name: POSITIVE}).put(dict(values))
    if name not in (left.names() | right.names()):
        return 0.0
    found = smallest(left, goal.comparisons[0], right, where, name)
    return None if found is None else float(found.upper())
