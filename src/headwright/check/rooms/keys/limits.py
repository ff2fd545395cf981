"""What a pattern becomes as a free factor of the query grows: only the highest scores survive."""

from __future__ import annotations

from collections.abc import Mapping

from headwright.check.rooms.keys.classes import REST, ZERO, Classes
from headwright.check.scalars import POSITIVE, Scalar, Where, exp, parameter, prove

GROWN = "length"  # a large name enters scores as itself or as its logarithm; this stands for either


def growth(score: Scalar, large: str) -> tuple[Scalar, Scalar] | None:
    """A score as rate * length + rest, where the length is the large name, or its logarithm; None if it is neither.

    >>> from headwright.check.scalars import ln, parameter, POSITIVE
    >>> growth(ln(parameter("t", POSITIVE)) * 2, "t")
    (<2>, <0>)
    """
    grown = parameter(GROWN, POSITIVE)
    for stretched in (score.put({large: grown}), score.put({large: exp(grown)})):
        rate = stretched.put({GROWN: 2}) - stretched.put({GROWN: 1})
        at_rest = stretched.put({GROWN: 1}) - rate
        if GROWN not in rate.names() and stretched == rate * grown + at_rest:
            return rate, at_rest
    return None


def limit_pattern(scores: Mapping[str, Scalar], classes: Classes, large: str, where: Where) -> dict[str, Scalar] | None:
    """The limit of each weight as the large name grows; None where the highest scores cannot be told.

    The classes with the highest rate share all the weight, in proportion to exp(rest of their score).
    """
    grown: dict[str, tuple[Scalar, Scalar]] = {}
    for name, score in scores.items():
        if classes.count(name) == ZERO:
            continue
        parts = growth(score, large)
        if parts is None:
            return None
        grown[name] = parts
    for top, (rate, _) in grown.items():
        level = [name for name, (other, _) in grown.items() if other == rate]
        others = [other for name, (other, _) in grown.items() if name not in level]
        if level == [REST] and prove(classes.rest, ">", ZERO, where) is None:
            continue  # there may be no such key
        if all(prove(rate, ">", other, where) is not None for other in others):
            return _shared(level, grown, classes, top)
    return None


def _shared(
    level: list[str], grown: Mapping[str, tuple[Scalar, Scalar]], classes: Classes, top: str
) -> dict[str, Scalar]:
    base = grown[top][1]
    weights = {name: exp(grown[name][1] - base) for name in level}
    total = ZERO
    for name, weight in weights.items():
        total = total + classes.count(name) * weight
    return {name: weights[name] / total if name in weights else ZERO for name in classes.all}
