"""Notation of exercises about integers: rows of position embeddings, and other names for two positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headwright.formulas import tree as t
from headwright.grading.answer import comparisons, full_name, full_names, named
from headwright.grading.candidates import Claimed
from headwright.grading.kinds.integers.table import Integers
from headwright.grading.text import Statement


def normalise(node: t.Node, rows: str) -> t.Node:
    """Phi_t' is the row of t', and 'k in Z' says nothing: k is an integer here anyway."""
    match node:
        case t.Name(base, t.Name() as index, primes) if primes and base == rows:
            place = replace(index, primes=index.primes + primes)
            return replace(node, index=place, primes=0)
        case t.Logic("and", items):
            kept = [one for one in items if not _is_integer(one)] or items[:1]
            return kept[0] if len(kept) == 1 else replace(node, items=tuple(kept))
        case _:
            return node


def _is_integer(node: t.Node) -> bool:
    return isinstance(node, t.Bond) and node.right == t.Domain("Z")


def other_positions(
    statements: Sequence[Statement], table: Integers, also: Mapping[str, str]
) -> dict[str, t.Name]:
    """'Phi_t != Phi_s': s is the other position, if the answer speaks of no third one and does not say what s is."""
    if not table.different:
        return {}
    nodes = [
        node
        for one in statements
        for node in (one.node, *one.under, *one.earlier)
        if node is not None
    ]
    rows = {
        table.rows,
        *(other for other, given in also.items() if given == table.rows),
    }
    places = {
        full_name(n.index)
        for n in t.every_name(*nodes)
        if n.base in rows and isinstance(n.index, t.Name)
    }
    said = [one.node for one in statements if one.role == "claim" and not one.under]
    links = [
        link
        for node in said
        if isinstance(node, t.Relation)
        for link in comparisons(node)
    ]
    taken = {
        full_name(name)
        for link in links
        if link.comparisons == ("=",)
        for name in link.terms
        if isinstance(name, t.Name)
    }
    taken |= {
        part.index
        for node in nodes
        for part in t.walk(node)
        if isinstance(part, t.BigSum | t.BigCall)
    }
    for pair in table.also:
        third = (places | (set(table.different[0]) & full_names(*nodes))) - set(pair)
        if set(pair) <= places and not third and not set(pair) & taken:
            return {
                mine: named(given)
                for mine, given in zip(pair, table.different[0], strict=True)
                if mine != given
            }
    return {}


def why_not_false(claimed: Claimed, table: Integers) -> str:
    """Why a refuted statement may be meant for less than it says; '' where nothing speaks for that."""
    node = claimed.node
    is_equation = isinstance(node, t.Relation) and set(node.comparisons) == {"="}
    if is_equation and not claimed.under and claimed.statement.number > 0:
        has_function = any(isinstance(part, t.Call) for part in t.walk(node))
        if not t.speaks_of(node, table.rows) and not has_function:
            # 'hence t = t'': of different integers it is meant under something
            return "under which assumption it is said was not read"
    different = {name for pair in table.different for name in pair}
    if any(full_names(part) - different for part in claimed.under):
        # 't - t' = 2 pi k with k != 0'
        return "whether it is meant for all or for some was not read"
    return ""
