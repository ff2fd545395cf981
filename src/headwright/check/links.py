"""Chains of comparisons, link by link."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

from headwright.formula.tree import Listing, Node, Relation

SIGNS = {"=": eq, "~": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}


def comparisons(chain: Relation) -> Iterator[Relation]:
    """The links of a chain; lists on both sides are compared item by item, a list and one thing each item with it.

    A pair is different where one of its items is: that link stays whole.

    >>> from headwright.formula import parse
    >>> from headwright.formula.show import plain
    >>> [plain(link) for link in comparisons(parse("a, b = c <= d"))]
    ['a = c', 'b = c', 'c <= d']
    """
    for a, sign, b in zip(chain.terms[:-1], chain.comparisons, chain.terms[1:], strict=True):
        for x, y in [(a, b)] if sign == "!=" and pairs(a, b) else _paired(a, b):
            yield Relation((x, y), (sign,), span=x.span.to(y.span))


def pairs(a: Node, b: Node) -> tuple[tuple[Node, Node], ...]:
    """Two lists of one length as pairs of their items; nothing where they are not."""
    if isinstance(a, Listing) and isinstance(b, Listing) and len(a.items) == len(b.items):
        return tuple(zip(a.items, b.items, strict=True))
    return ()


def _paired(a: Node, b: Node) -> list[tuple[Node, Node]]:
    left = a.items if isinstance(a, Listing) else (a,)
    right = b.items if isinstance(b, Listing) else (b,)
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    if len(left) == 1 or len(right) == 1:
        return [(x, y) for x in left for y in right]
    return [(a, b)]


def compared(left: Fraction, sign: str, right: Fraction) -> bool:
    """Whether a comparison of two numbers is true.

    >>> compared(Fraction(1), "<=", Fraction(2))
    True
    """
    return bool(SIGNS[sign](left, right))
