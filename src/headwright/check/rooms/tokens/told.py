"""Conditions of a statement about tokens: what grows, what vanishes, what is compared."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.check.answer import full_name
from headwright.check.misfit import MisfitError
from headwright.check.scalars import Scalar
from headwright.formula.tree import Name, Number, Relation


@dataclass(frozen=True)
class Told:
    """What some conditions say."""

    given: tuple[tuple[Scalar, str, Scalar], ...] = ()
    growing: frozenset[str] = frozenset()
    vanishing: frozenset[str] = frozenset()

    def and_(self, other: Told) -> Told:
        """All of both."""
        return Told(self.given + other.given, self.growing | other.growing, self.vanishing | other.vanishing)


def tending(link: Relation) -> Told | None:
    """beta -> infinity, s >> 1: what becomes large, or small; None if this is another kind of condition.

    >>> from headwright.formula import parse
    >>> sorted(tending(parse(r"\\beta \\to 0")).vanishing)
    ['beta']
    """
    sign = link.comparisons[0]
    if sign not in ("->", ">>", "<<"):
        return None
    big, other = link.terms if sign != "<<" else reversed(link.terms)
    if isinstance(big, Name):
        if sign != "->" and not isinstance(other, Name):
            return Told(growing=frozenset({full_name(big)}))
        if sign == "->" and isinstance(other, Name) and full_name(other) == "infinity":
            return Told(growing=frozenset({full_name(big)}))
        if sign == "->" and isinstance(other, Number) and other.value == 0:
            return Told(vanishing=frozenset({full_name(big)}))
    raise MisfitError("this limit is not understood", link, fix="write \\to \\infty or \\to 0")
