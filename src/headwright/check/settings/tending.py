"""Conditions that send a name somewhere: lambda -> infinity, t >> n, e^t >> n, epsilon -> 0."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from headwright.check.answer import MisfitError, full_name, named
from headwright.check.scalars import POSITIVE, REAL, Range, Scalar, Where, derivative, limit, parameter, prove
from headwright.errors import InputError
from headwright.formula import tree as t

GROWS = ("->", ">>", "<<")  # conditions of this kind
Read = Callable[[t.Node, Range], Scalar]  # a formula whose own names lie in that range


@dataclass(frozen=True)
class Way:
    """Where a name goes."""

    name: str
    to: Literal["infinity", "0", "-infinity"]


def way(link: t.Relation, given: Callable[[t.Name], bool], defined: Collection[str], read: Read) -> Way | None:
    """Which name goes where; None if this is another kind of condition.

    `given` tells the names of the exercise that go nowhere; nor does what is `defined` by a formula, by itself.
    """
    (sign,) = link.comparisons
    if sign not in GROWS:
        return None
    big, other = link.terms if sign != "<<" else reversed(link.terms)
    name = full_name(big) if isinstance(big, t.Name) and full_name(big) not in defined else ""
    if sign != "->":
        moving = next((part for part in t.walk(other) if isinstance(part, t.Name) and not given(part)), None)
        if moving is not None:  # which of the two is larger would be forgotten
            raise MisfitError(f"{full_name(moving)} is said to be small: how small?", link, fix="state a bound")
        return Way(name, "infinity") if name else _made_large(big, link, given, read)
    match other:
        case t.Name("infinity", None) if name:
            return Way(name, "infinity")
        case t.Negative(t.Name("infinity", None)) if name:
            return Way(name, "-infinity")
        case t.Number(value) if value == 0 and name:
            return Way(name, "0")
    raise MisfitError("this limit is not understood", link, fix="write \\lambda \\to \\infty or \\epsilon \\to 0")


def _made_large(big: t.Node, link: t.Relation, given: Callable[[t.Name], bool], read: Read) -> Way:
    """What makes something large is that t is large (e^t), small (1/t), or far below 0 (e^(-t))."""
    value = read(big, POSITIVE)
    names = value.names()
    if len(names) == 1 and not given(named(next(iter(names)))):
        (name,) = names
        own = parameter(name, POSITIVE)
        if grows_with(value, name):
            return Way(name, "infinity")
        if grows_with(value.put({name: 1 / own}), name):
            return Way(name, "0")
        if grows_with(read(big, REAL).put({name: -own}), name):
            return Way(name, "-infinity")
    raise MisfitError("what this makes large is not understood", link, fix="write \\lambda \\to \\infty")


def grows_with(value: Scalar, name: str) -> bool:
    """Whether it is large where the name is large, and nowhere else: it increases, and beyond all bounds."""
    where = Where({name: POSITIVE})
    try:
        if prove(derivative(value, name), ">=", 0, where) is None:
            return False
        return limit(value, where, (name,)) == "infinity"
    except InputError:
        return False
