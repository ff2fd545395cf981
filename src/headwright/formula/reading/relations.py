"""Items between commas into relations: 'a, b = c, d', 'i != a, b', '0 <= s, t < 1'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NoReturn, Protocol

from headwright.formula.tree import (
    Comparison,
    Listing,
    Logic,
    Name,
    Node,
    Number,
    Quantified,
    Relation,
    Span,
    walk,
)

_SAID: Final = (Relation, Logic, Quantified)
_SPREAD: Final = ("!=", "<", ">", "<=", ">=", "<<", ">>")
_RISING: Final = ("<", "<=", "<<")
_FALLING: Final = (">", ">=", ">>")


class Fail(Protocol):
    """How to say what is wrong."""

    def __call__(self, message: str, span: Span, fix: str = "") -> NoReturn:
        """Raise a FormulaError."""


@dataclass(frozen=True)
class Item:
    """Terms with signs between them; the sides that are limits; how often 'not' came first; what came before."""

    terms: list[Node]
    signs: list[Comparison]
    limits: list[tuple[int, Node]]
    negated: int
    joint: str

    @property
    def is_bare(self) -> bool:
        """A term alone, which may be part of a list."""
        return not self.signs and not self.negated and not self.limits and not isinstance(self.terms[0], _SAID)


def related(items: list[Item], fail: Fail) -> list[Node]:
    """The statements that the items make; one list where they make none."""
    found: list[Node] = []
    bare: list[Node] = []
    place = 0
    while place < len(items):
        item = items[place]
        place += 1
        if bare and item.joint != "comma":
            found.append(_listed(bare))
            bare = []
        if item.is_bare:
            bare.append(item.terms[0])
            continue
        terms, signs = list(item.terms), list(item.signs)
        if bare and signs:
            terms[0] = _listed([*bare, terms[0]])
            bare = []
        if not bare and place < len(items) and _brackets(item, items[place], terms):
            other = items[place]
            terms[-1] = _listed([terms[-1], other.terms[0]])
            terms += other.terms[1:]
            signs += other.signs
            place += 1
        follow, ends = _following(items, place)
        if len(follow) and signs and (count := _taken(terms[0], len(follow), ends)):
            found.extend(_with_list(terms, signs, follow[:count], item))
            place += count
        else:
            found.append(_one(terms, signs, item, fail))
    if bare:
        found.append(_listed(bare))
    return [part for node in found for part in _separate(node)]


def index_conditions(items: list[Item], start: int) -> tuple[int, int] | None:
    """In 'x_i = 0, i != a, b' the places of i != a, b: they say for which i the statement before them is meant.

    Only an index of that statement counts, and only after a comma: otherwise i != a is a statement as good as any.
    """
    for place in range(start + 1, len(items)):
        if not _is_apart(items[place]) or not items[place - 1].signs:
            continue
        before = (node for term in items[place - 1].terms for node in walk(term))
        indices = {part for node in before if isinstance(node, Name) and node.index for part in walk(node.index)}
        if items[place].terms[0] in indices:
            stop = place + 1
            while stop < len(items) and _is_apart(items[stop]):
                stop += 1
            more, ends = _following(items, stop)
            return place, stop + len(more) * ends
    return None


def _is_apart(item: Item) -> bool:
    """i != a after a comma, with a letter on the left."""
    first = item.terms[0]
    named = isinstance(first, Name) and first == Name(first.base)
    simple = item.signs == ["!="] and isinstance(item.terms[1], Name | Number | Listing)
    return named and simple and item.joint in ("comma", "quad") and not item.negated


def _listed(items: list[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Listing(tuple(items), span=items[0].span.to(items[-1].span))


def _following(items: list[Item], place: int) -> tuple[list[Node], bool]:
    """The bare terms that follow with commas, and whether nothing comes after them."""
    stop = place
    while stop < len(items) and items[stop].is_bare and items[stop].joint == "comma":
        stop += 1
    return [item.terms[0] for item in items[place:stop]], stop == len(items)


def _taken(left: Node, available: int, ends: bool) -> int:
    """How many of the terms that follow belong to the right side: as many as the left side has, or all."""
    wanted = len(left.items) - 1 if isinstance(left, Listing) else 0
    if wanted:
        return wanted if available >= wanted else 0
    return available if ends else 0


def _with_list(terms: list[Node], signs: list[Comparison], more: list[Node], item: Item) -> list[Node]:
    """'a, b = c, d' compares lists; 'i != a, b' says the same of a and of b."""
    if signs[-1] in _SPREAD and not isinstance(terms[0], Listing) and not item.negated:
        first = _relation(terms, signs)
        return [first, *(_relation([terms[-2], other], [signs[-1]]) for other in more)]
    return [_negated(_relation([*terms[:-1], _listed([terms[-1], *more])], signs), item.negated)]


def _brackets(item: Item, other: Item, terms: list[Node]) -> bool:
    """0 <= s, t < 1: both lie between, when a number is on the left and the signs point the same way."""
    return (
        other.joint == "comma"
        and len(item.signs) == 1
        and bool(other.signs)
        and not (item.limits or other.limits or item.negated or other.negated)
        and isinstance(terms[0], Number)
        and isinstance(terms[-1], Name)
        and isinstance(other.terms[0], Name)
        and terms[-1] != other.terms[0]
        and any(item.signs[0] in signs and other.signs[0] in signs for signs in (_RISING, _FALLING))
    )


def _one(terms: list[Node], signs: list[Comparison], item: Item, fail: Fail) -> Node:
    node = terms[0] if not signs else _relation(terms, signs)
    if item.limits:
        node = _limit(terms, signs, item.limits, fail)
    return _negated(node, item.negated)


def _negated(node: Node, times: int) -> Node:
    for _ in range(times):
        node = Logic("not", (node,), span=node.span)
    return node


def _limit(terms: list[Node], signs: list[Comparison], limits: list[tuple[int, Node]], fail: Fail) -> Node:
    """lim x = y says x -> y under the condition."""
    side, condition = limits[0]
    if len(limits) != 1 or len(terms) != 2 or signs[0] not in ("=", "->", "~"):
        fail("a limit is read as one side of one equation", condition.span, "write \\lim_{x \\to a} y = z")
    relation = _relation([terms[side], terms[1 - side]], ["->"])
    return Quantified(relation, (condition,), span=condition.span.to(terms[-1].span))


def _relation(terms: list[Node], signs: list[Comparison]) -> Relation:
    return Relation(tuple(terms), tuple(signs), span=terms[0].span.to(terms[-1].span))


def _separate(node: Node) -> list[Node]:
    """i != {a, b} says that i is neither."""
    if isinstance(node, Relation) and node.comparisons == ("!=",):
        left, right = node.terms
        if isinstance(right, Listing) and not isinstance(left, Listing):
            return [_relation([left, other], ["!="]) for other in right.items]
    return [node]
