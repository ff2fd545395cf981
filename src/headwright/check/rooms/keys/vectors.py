"""Comparisons of vectors: queries by their parts along the keys, outputs by the weights of the values."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from headwright.check.decision import Decision, decide, most_telling
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.classes import REST, ZERO, Vec
from headwright.check.rooms.keys.limits import limit_pattern
from headwright.check.rooms.keys.meaning import Reader, Value
from headwright.check.rooms.keys.scene import Scene
from headwright.check.scalars import Where
from headwright.check.scalars.instances import allowed, choices
from headwright.formula.tree import Relation

MOST_TRIED = 200


def decide_vectors(
    scene: Scene,
    link: Relation,
    sides: tuple[Value, Value],
    where: Where,
    large: tuple[str, ...],
    small: tuple[str, ...] = (),
) -> Decision:
    """Decide a comparison of two vectors, coordinate by coordinate."""
    a, b = _vector(sides[0], sides[1], link), _vector(sides[1], sides[0], link)
    if a.space != b.space:
        raise MisfitError("the two sides are vectors of different kinds", link)
    sign = link.comparisons[0]
    if sign == "!=":
        return _different(scene, a, b, where, large)
    if sign not in ("=", "~", "->"):
        raise MisfitError("vectors are compared by size", link, fix="compare their lengths, or write =")
    found = []
    for name in sorted({*a.coordinates, *b.coordinates}):
        one = _at_the_limit(scene, name, a, b, where, large) if large and sign != "=" else None
        if one is None:
            count = scene.classes.count(name)
            one = decide(count * a.of(name), sign, count * b.of(name), where, large, small)
        found.append(replace(one, about=_coordinate(a.space, name)))
    return most_telling(found)


def _vector(value: Value, other: Value, link: Relation) -> Vec:
    if isinstance(value, Vec):
        return value
    if value == ZERO and isinstance(other, Vec):
        return Vec(other.space, {}, other.row)
    raise MisfitError("a number is compared with a vector", link)


def _different(scene: Scene, a: Vec, b: Vec, where: Where, large: tuple[str, ...]) -> Decision:
    """Different in one coordinate, for all parameters; the same if all coordinates are, at least somewhere.

    A class with no members has no coordinate: with two keys, nothing is added by the sum of the others.
    """
    names = sorted({*a.coordinates, *b.coordinates})
    gaps = [scene.classes.count(name) * (a.of(name) - b.of(name)) for name in names]
    if all(decide(gap, "=", ZERO, where).word == "proved" for gap in gaps):
        return Decision("refuted", "the two are the same")
    found = [decide(gap, "!=", ZERO, where, large) for gap in gaps]
    proved = next((one for one in found if one.word == "proved"), None)
    if proved is not None:
        return proved
    spoken = set().union(*(gap.names() for gap in gaps)) - set(large)
    for values in islice(choices(sorted(spoken), where), MOST_TRIED):
        if allowed(values, where) and all(gap.put(values) == ZERO for gap in gaps):
            return Decision("refuted", "the two are the same there", values=values)
    return Decision("undecided", "they may coincide")


def _at_the_limit(scene: Scene, name: str, a: Vec, b: Vec, where: Where, large: tuple[str, ...]) -> Decision | None:
    """Outputs compared by the limits of patterns, where rates depend on parameters."""
    if a.space != "value" or len(scene.queries) > 1 or len(large) != 1:
        return None
    query = Reader(scene, {}).query(scene.queries[0])
    end = limit_pattern(scene.scores(query), scene.classes, large[0], where)
    if end is None:
        return None
    own = scene.pattern(query)
    left, right = (end[name] if v.of(name) == own.get(name) else v.of(name) for v in (a, b))
    if large[0] in left.names() | right.names():
        return None
    count = scene.classes.count(name)
    found = decide(count * left, "=", count * right, where)
    if found.word == "proved":
        return Decision("proved", f"the highest scores take all the weight as {large[0]} grows", used="limits")
    if found.word == "refuted":
        said = f"{_coordinate(a.space, name)} tends to {left}, not to {right}, as {large[0]} grows"
        return Decision("refuted", said, values=found.values)
    return found


def _coordinate(space: str, name: str) -> str:
    if space == "value":
        return "the weight of all other values" if name == REST else f"the weight of v_{name}"
    return "the part along the other keys" if name == REST else f"the part along k_{name}"
