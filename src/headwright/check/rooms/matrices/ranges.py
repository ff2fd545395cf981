"""Conditions of a sum, turned into bounds of its index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwright.check.rooms.matrices.forms import Form, minus, number, plus
from headwright.check.rooms.matrices.known import NoForm
from headwright.formula.tree import Name, Node, Relation, walk

if TYPE_CHECKING:
    from headwright.check.rooms.matrices.normal import Normal

_TURNED: dict[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}


def restricted(
    normal: Normal, index: Name, condition: tuple[Node, str, Node], ends: tuple[Form, Form], left_out: list[Form]
) -> tuple[Form, Form]:
    """The bounds of a sum after one more condition on its index; a place that is left out is added to left_out."""
    left, sign, right = condition
    lower, upper = ends
    if right == index:
        left, sign, right = right, _TURNED.get(sign, sign), left
    if left != index or any(part == index for part in walk(right)):
        raise NoForm("a condition of a sum that does not compare its index with something else")
    bound = normal.of(right)
    at_most = normal.algebra.integers.at_most
    if sign in ("<", "<="):
        new = minus(bound, number(1)) if sign == "<" else bound
        if at_most(new, upper):
            return lower, new
    elif sign in (">", ">="):
        new = plus(bound, number(1)) if sign == ">" else bound
        if at_most(lower, new):
            return new, upper
    elif sign == "!=" and at_most(lower, bound) and at_most(bound, upper) and bound not in left_out:
        left_out.append(bound)
        return lower, upper
    raise NoForm("a condition of a sum that is not known to lie inside its bounds")


def links(relation: Relation) -> list[tuple[Node, str, Node]]:
    """The comparisons of a chain, one by one."""
    return list(zip(relation.terms, relation.comparisons, relation.terms[1:], strict=False))
