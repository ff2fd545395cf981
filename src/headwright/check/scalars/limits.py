"""limit(): what a number tends to as some names become large, proved by its dominant terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from headwright.check.scalars.growth import Group, NotOrdered, SignOf, groups, tendency
from headwright.check.scalars.large import defined, dominant, grown, sign_by, still
from headwright.check.scalars.scalar import Number, Scalar, number
from headwright.check.scalars.where import Where

Limit = Scalar | Literal["infinity", "-infinity"]


def limit(value: Scalar | Number, where: Where, large: Sequence[str]) -> Limit | None:
    """What the number tends to as the large names grow beyond all bounds (each by itself); None: not known.

    >>> from headwright.check.scalars import POSITIVE, Range, exp, parameter
    >>> n, x = parameter("n"), parameter("lambda")
    >>> where = Where({"n": Range(2, integer=True), "lambda": POSITIVE})
    >>> limit(exp(x) / (2 * exp(x) + n - 2), where, ("lambda",))
    <1/2>
    """
    value = where.settled(value)
    large = grown(large, where)
    sign = sign_by(still(where, large))
    try:
        over, under = groups(value.over, large), groups(value.under, large)
        return _quotient(over, under, large, sign) if defined([value], where, large) else None
    except NotOrdered:
        return None


def _quotient(over: list[Group], under: list[Group], large: Sequence[str], sign: SignOf) -> Limit | None:
    below = dominant(under, large, sign)
    if below is None:
        return None
    total = number(0)
    growing: list[Group] = []
    for one in over:
        direction = tendency(one.growth, below.growth, large, sign)
        if direction is None:
            return None
        if direction == 0:
            total = total + one.coefficient / below.coefficient
        elif direction == 1:
            growing.append(one)
    if not growing:
        return total
    signs = {sign(one.coefficient) for one in growing}
    if len(signs) > 1:
        top = dominant(growing, large, sign)
        signs = {None if top is None else sign(top.coefficient)}
    (found,) = signs
    lower = sign(below.coefficient)
    if not found or not lower:
        return None
    return "infinity" if found * lower > 0 else "-infinity"
