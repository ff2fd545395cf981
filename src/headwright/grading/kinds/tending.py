"""Conditions that send a name somewhere: lambda -> infinity, t >> n, e^t >> n, epsilon -> 0."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from headwright.formulas import tree as t
from headwright.grading.answer import MisfitError, full_name


@dataclass(frozen=True)
class Way:
    """Where a name goes."""

    name: str
    to: Literal["infinity", "0", "-infinity"]


def way(
    link: t.Relation, given: Callable[[t.Name], bool], defined: Collection[str]
) -> Way | None:
    """Which name goes where; None if this is another kind of condition.

    `given` tells the names of the exercise that go nowhere; nor does what is `defined` by a formula, by itself.
    """
    (sign,) = link.comparisons
    if sign not in ("->", ">>", "<<"):
        return None
    big, other = link.terms if sign != "<<" else reversed(link.terms)
    if (
        sign != "->" and isinstance(big, t.Call) and big.function == "exp"
    ):  # e^t is large where t is
        (big,) = big.arguments
    name = (
        full_name(big)
        if isinstance(big, t.Name) and full_name(big) not in defined
        else ""
    )
    if sign != "->":
        moving = next(
            (
                part
                for part in t.walk(other)
                if isinstance(part, t.Name) and not given(part)
            ),
            None,
        )
        if moving is not None:  # which of the two is larger would be forgotten
            raise MisfitError(
                f"{full_name(moving)} is said to be small: how small?",
                link,
                fix="state a bound",
            )
        other = t.INFINITY
    match other:
        case t.Name("infinity", None) if name:
            return Way(name, "infinity")
        case t.Negative(t.Name("infinity", None)) if name:
            return Way(name, "-infinity")
        case t.Number(value) if value == 0 and name:
            return Way(name, "0")
    raise MisfitError(
        "this limit is not understood",
        link,
        fix="write \\lambda \\to \\infty or \\epsilon \\to 0",
    )
