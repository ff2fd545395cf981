"""never(): a comparison that fails for all large values, and where both sides go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.check.scalars.large import defined, grown, sign_of_large
from headwright.check.scalars.limits import Limit, limit
from headwright.check.scalars.proving import ALGEBRA, SOLVER
from headwright.check.scalars.scalar import Number, Scalar
from headwright.check.scalars.where import OPPOSITE, Where, checked


@dataclass(frozen=True)
class Never:
    """That a comparison fails for all large enough values, for every choice of the other names."""

    reason: str
    left: Limit | None
    right: Limit | None
    used: str


def never(
    left: Scalar | Number, comparison: str, right: Scalar | Number, where: Where, large: Sequence[str]
) -> Never | None:
    """A proof that the comparison fails for all large enough values of the large names; None where none was found.

    >>> from headwright.check.scalars import POSITIVE, exp, parameter
    >>> x = parameter("x")
    >>> never(exp(-x), ">=", 1 / x, Where({"x": POSITIVE}), ("x",)).reason
    'for large x the left side tends to 0, the right side to 0'
    """
    comparison = checked(comparison)
    left, right = where.settled(left), where.settled(right)
    if left == right:
        if comparison in ("=", "<=", ">=") or not defined((left, right), where, grown(large, where)):
            return None
        side = limit(left, where, large)
        return Never(f"both sides are {left}", side, side, ALGEBRA)
    found = sign_of_large(left, OPPOSITE[comparison], right, where, large)
    if found is None:
        return None
    sides = limit(left, where, large), limit(right, where, large)
    names = ", ".join(large)
    if sides[0] is None or sides[1] is None:
        reason = f"for large {names} the dominant term is {found.coefficient}, with the wrong sign"
    else:
        reason = f"for large {names} the left side tends to {sides[0]}, the right side to {sides[1]}"
    return Never(reason, *sides, f"dominant terms, {SOLVER}")
