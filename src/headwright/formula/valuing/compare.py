"""Comparisons that are certain, or say that they are not."""

from __future__ import annotations

from flint import arb, arb_mat

from headwright.formula.tree import Comparison
from headwright.formula.valuing.balls import NoValue


def compare(left: arb_mat, comparison: Comparison, right: arb_mat) -> bool | None:
    """Whether a comparison holds: True or False only when that is certain, None when the balls do not decide.

    A number 0 is compared with every entry of a matrix.

    >>> from headwright.formula.valuing.balls import scalar
    >>> compare(scalar(1), "<", scalar(2)), compare(scalar(1), "=", scalar(1))
    (True, True)
    >>> compare(scalar(arb(1, 1)), "=", scalar(1)) is None
    True
    """
    pairs = _paired(left, right)
    match comparison:
        case "=":
            if any(not a.overlaps(b) for a, b in pairs):
                return False
            return True if all(a.is_exact() and b.is_exact() and a == b for a, b in pairs) else None
        case "!=":
            equal = compare(left, "=", right)
            return None if equal is None else not equal
        case "<" | ">" | "<=" | ">=":
            if len(pairs) != 1:
                raise NoValue("matrices have no order: only numbers are larger or smaller")
            return _ordered(pairs[0][0], comparison, pairs[0][1])
        case _:
            return None


def _ordered(a: arb, comparison: str, b: arb) -> bool | None:
    if comparison in (">", ">="):
        a, b, comparison = b, a, {">": "<", ">=": "<="}[comparison]
    if comparison == "<":
        return True if a < b else False if a >= b else None
    return True if a <= b else False if a > b else None


def _paired(left: arb_mat, right: arb_mat) -> list[tuple[arb, arb]]:
    sides = [side.entries() for side in (left, right)]
    if (left.nrows(), left.ncols()) != (right.nrows(), right.ncols()):
        for place, side in enumerate(sides):
            if len(side) == 1 and side[0].is_zero():
                sides[place] = side * len(sides[1 - place])
                return list(zip(*sides, strict=True))
        shapes = " and ".join(f"{side.nrows()} x {side.ncols()}" for side in (left, right))
        raise NoValue(f"values of shapes {shapes} cannot be compared")
    return list(zip(*sides, strict=True))
