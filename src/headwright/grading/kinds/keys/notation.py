"""Notation of exercises about keys: the set of the first keys, and the other ones."""

from __future__ import annotations

from headwright.formulas import tree as t
from headwright.grading.answer import named
from headwright.grading.kinds.keys.table import Front, Keys
from headwright.grading.text import OTHERS


def normalise(node: t.Node, keys: Keys) -> t.Node:
    """One node, its parts being normalised: i in S is i <= m, |S| is m, 'all other i' are those without a name."""
    match node:
        case t.Relation((letter, right), ("!=",)) if right == OTHERS:
            return _is_another(node, letter, keys)
        case _ if keys.first is not None:
            return _of_the_first(node, keys.first)
        case _:
            return node


def _is_another(node: t.Relation, letter: t.Node, keys: Keys) -> t.Node:
    if keys.first is not None:
        size = t.Name(keys.first.size)
        return t.Relation((letter, size), (">",), span=node.span)
    labels: list[t.Node] = []
    for which in keys.named:
        index = named(f"k_{which}").index
        if index is not None:
            labels.append(index)
    others = labels[0] if len(labels) == 1 else t.Listing(tuple(labels))
    return t.Relation((letter, others), ("!=",), span=node.span)


def _of_the_first(node: t.Node, first: Front) -> t.Node:
    size = t.Name(first.size)
    match node:
        case t.Bond("in", left, t.Name(base)) if first.set and base == first.set:
            return t.Relation((left, size), ("<=",), span=node.span)
        case t.Logic("not", (t.Relation((left, right), ("<=",)),)) if right == size:
            return t.Relation((left, right), (">",), span=node.span)
        case t.Norm(t.Name(base)) if first.set and base == first.set:
            return size
        case _:
            return node
