"""Keys that are merely separated: the inner product of k_1 with another key may be anything from -1 to 1/2.

A score is then rate * closeness, and what a comparison sees of it is y = exp(rate * closeness), which lies between its
values at the two ends. With y in place of the closeness the comparison is algebra again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from headwright.check.rooms.keys.classes import REST, ZERO, UndeterminedError
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.rooms.keys.scene import Hypothesis, Scene, closeness_name
from headwright.check.scalars import (
    POSITIVE,
    Instance,
    Scalar,
    Where,
    counterexample,
    exp,
    ln,
    number,
    parameter,
    prove,
)

CLOSEST, FARTHEST = Fraction(1, 2), Fraction(-1)
NAME = closeness_name(REST)
BENT = "y_others"  # names of an answer's own have no such index


def bent(scene: Scene) -> tuple[Scene, tuple[Hypothesis, ...]] | None:
    """The scene with y in place of the closeness, and what is known of y; None where scores are not of that form."""
    try:
        score = scene.scores(Reader(scene, {}).query(scene.queries[0]))[REST]
    except UndeterminedError:
        return None
    rate = score.put({NAME: 1}) - score.put({NAME: 0})
    if rate == ZERO or NAME in rate.names() or score.put({NAME: 0}) != ZERO:
        return None
    where = Where({**scene.ranges, **{name: scene.range_of(name) for name in rate.names() - set(scene.ranges)}})
    low, high = exp(rate * FARTHEST), exp(rate * CLOSEST)
    if prove(rate, ">=", ZERO, where) is None:
        if prove(rate, "<=", ZERO, where) is None:
            return None
        low, high = high, low
    y = parameter(BENT, POSITIVE)
    known = replace(scene, ranges={**scene.ranges, BENT: POSITIVE}).knowing(**{NAME: ln(y) / rate})
    return known, ((y, ">=", low), (y, "<=", high))


def worst_end(left: Scalar, sign: str, right: Scalar, where: Where) -> Instance | None:
    """A counterexample with the other keys as close as they may be, or as far."""
    if sign not in ("=", "!=", "<", ">", "<=", ">=") or NAME not in left.names() | right.names():
        return None
    for end in (CLOSEST, FARTHEST):
        put = {NAME: number(end)}
        found = counterexample(left.put(put), sign, right.put(put), where.put(put))
        if found is not None:
            return replace(found, values={**found.values, NAME: end})
    return None
