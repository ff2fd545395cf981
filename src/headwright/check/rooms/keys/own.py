"""The ranges of names of the answer's own, from what is said of them in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from headwright.check.answer import full_name
from headwright.check.misfit import MisfitError
from headwright.check.rooms.keys.scene import Scene
from headwright.check.scalars import REAL, Range
from headwright.errors import InputError
from headwright.formula.tree import Name, Negative, Node, Number, Quotient, Relation

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def bounded(scene: Scene, link: Relation) -> Mapping[str, Range]:
    """What is known of such names once a comparison is told: lambda < 0 makes lambda negative, not positive."""
    (left, right), (sign,) = link.terms, link.comparisons
    for one, other, turned in ((left, right, sign), (right, left, TURNED.get(sign, sign))):
        if not isinstance(one, Name) or scene.gives(one) or full_name(one) in scene.definitions:
            continue
        value, name = _number(other), full_name(one)
        if value is not None:
            before = scene.own.get(name, REAL)
            try:
                return {**scene.own, name: _cut(before, turned, value)}
            except InputError:
                raise MisfitError(f"no {name} satisfies this and what was said before", link) from None
    return scene.own


def _cut(known: Range, sign: str, value: Fraction) -> Range:
    opened = sign in ("<", ">")
    if sign in (">", ">=", "="):
        low = known.lower
        if not isinstance(low, Fraction) or value > low or (value == low and opened):
            known = replace(known, lower=value, lower_open=opened)
    if sign in ("<", "<=", "="):
        high = known.upper
        if not isinstance(high, Fraction) or value < high or (value == high and opened):
            known = replace(known, upper=value, upper_open=opened)
    return known


def _number(node: Node) -> Fraction | None:
    match node:
        case Number(value):
            return value
        case Negative(Number(value)):
            return -value
        case Quotient(Number(over), Number(under)) if under != 0:
            return over / under
        case Negative(Quotient(Number(over), Number(under))) if under != 0:
            return -over / under
        case _:
            return None
