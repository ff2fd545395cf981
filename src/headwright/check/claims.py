"""Statements taken apart into claims: one comparison each, with its part in the answer and what it is said for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from headwright.check.answer import MisfitError, Said, comparisons
from headwright.check.reading.statements import FLIPPED, flipped
from headwright.formula.tree import Bond, Exists, Logic, Node, Quantified, Relation

Role = Literal["goal", "statement", "step", "condition", "definition"]


@dataclass(frozen=True)
class Claim:
    """One comparison; or a statement that nothing takes apart, where a setting decides such as a whole.

    `under` is what it is said for: 'for all i != a', 'if g > 1'. A negated claim denies the comparison.
    """

    node: Node
    role: Role
    said: Said | None = None  # None: a goal of the exercise
    under: tuple[Node, ...] = ()
    negated: bool = False

    @property
    def link(self) -> Relation:
        """The comparison, for showing: a whole statement stands alone in it."""
        return self.node if isinstance(self.node, Relation) else Relation((self.node,), (), span=self.node.span)

    @property
    def scope(self) -> Node:
        """All of the statement that it is part of."""
        return self.node if self.said is None else self.said.node


def claims(node: Node, role: Role, said: Said | None = None, *, whole: bool = False) -> Iterator[Claim]:
    """The claims of a statement, in order; with `whole` only chains are taken apart.

    >>> from headwright.formula import parse
    >>> from headwright.formula.show import plain
    >>> [plain(claim.node) for claim in claims(parse("a = b <= c"), "statement")]
    ['a = b', 'b <= c']
    """
    steps: Role = "step" if role == "statement" and isinstance(node, Relation) and len(node.terms) > 2 else role
    yield from _claims(node, Claim(node, steps, said), whole)


def _claims(node: Node, kind: Claim, whole: bool) -> Iterator[Claim]:
    match node:
        case Relation():
            for link in comparisons(node):
                yield Claim(link, kind.role, kind.said, kind.under, kind.negated)
        case _ if whole:
            yield kind
        case Logic("and", items) if not kind.negated:
            for item in items:
                yield from _claims(item, kind, whole)
        case Logic("implies", (condition, conclusion)) if not kind.negated:
            yield from _claims(conclusion, _under(kind, (condition,)), whole)
        case Logic("not", (Relation((_, _), ("~" | "->",)) as near,)):
            yield from _claims(near, Claim(near, kind.role, kind.said, kind.under, not kind.negated), whole)
        case Logic("not", (Relation((_, _), (sign,)) as denied,)) if sign in FLIPPED and not kind.negated:
            yield from _claims(flipped(denied), replace(kind, node=flipped(denied)), whole)
        case Quantified(body, conditions):
            yield from _claims(body, _under(kind, conditions), whole)
        case Exists() | Bond():
            raise MisfitError("this is read, and nothing is known of such statements in this exercise", node)
        case _:
            raise MisfitError("this is not a statement", node, fix="write a comparison: ... = ..., ... \\ge ...")


def _under(kind: Claim, conditions: tuple[Node, ...]) -> Claim:
    return Claim(kind.node, kind.role, kind.said, (*kind.under, *conditions), kind.negated)
