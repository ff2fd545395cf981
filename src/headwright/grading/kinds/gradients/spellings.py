"""Derivatives by their names: partial L / partial z, nabla_z L and dL/dz all become the name that the exercise gives.

An index goes along: partial p_i / partial z_j is the entry i, j of the Jacobian. Entries that are given for a letter in
the index, for all of its values or case by case, are put together to the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.exact_arrays import ArrayReader
from headwright.grading.text import Statement

LETTERS = ("i", "j", "k", "l", "m")


@dataclass(frozen=True)
class NamedDerivative:
    """A derivative that has a name: of which of these formulas, by what."""

    name: str
    bodies: tuple[t.Node, ...]  # as a name, and written out
    by: t.Name

    def match(self, body: t.Node, by: t.Node) -> t.Name | None:
        """The name, with the indices of both; None where this is another derivative."""
        if not isinstance(by, t.Name) or replace(by, index=self.by.index) != self.by:
            return None
        indices: list[t.Node] = []
        if body in self.bodies:
            pass
        elif (
            isinstance(body, t.Name)
            and body.index is not None
            and replace(body, index=None) in self.bodies
        ):
            indices += t.listed(body.index)
        else:
            return None
        if by.index != self.by.index and by.index is not None:
            indices += t.listed(by.index)
        index: t.Node | None = None
        if indices:
            index = indices[0] if len(indices) == 1 else t.Listing(tuple(indices))
        named = an.named(self.name)
        if index is None:
            return named
        return replace(named, index=index) if named.index is None else None


def with_names(node: t.Node, known: Sequence[NamedDerivative]) -> t.Node:
    """A formula with every derivative that has a name written as that name."""
    node = t.mapped(node, lambda part: with_names(part, known))
    derivative = derivative_in(node)
    if derivative is None:
        return node
    for one in known:
        name = one.match(*derivative)
        if name is not None:
            return replace(name, span=node.span)
    return node


def derivative_in(node: t.Node) -> tuple[t.Node, t.Node] | None:
    """Of what by what, where this is a derivative in some spelling."""
    d = t.Name("d")
    match node:
        case t.Derivative(body, by):
            return body, by
        case t.Quotient(t.Product((first, *rest)), t.Product((second, by))) if (
            first == d and second == d and rest
        ):
            body = rest[0] if len(rest) == 1 else t.Product(tuple(rest))
            return body, by
        case t.Product((t.Quotient(first, t.Product((second, by))), *rest)) if (
            first == d and second == d and rest
        ):
            body = rest[0] if len(rest) == 1 else t.Product(tuple(rest))
            return body, by
        case t.Product((t.Name(base, None, 1), argument)):  # sigma'(x)
            return t.Product((t.Name(base), argument)), argument
    return None


def entries_put_together(
    statements: Sequence[Statement],
    shapes: Mapping[str, tuple[int, int]],
    reader: ArrayReader,
) -> tuple[Statement, ...]:
    """Where entries of an asked-for array are given for letters in their index, the last gives the array too."""
    changed = list(statements)
    for name, shape in shapes.items():
        values: dict[tuple[int, ...], t.Node] = {}
        last: int | None = None
        for place, statement in enumerate(statements):
            for case in cases_of(statement, name):
                found = case.values(shape, reader)
                values |= found
                last = place if found else last
        if last is None:
            continue
        whole = assembled(name, shape, values)
        node = changed[last].node
        if whole is None or node is None:
            continue
        changed[last] = replace(
            changed[last], node=replace(whole, span=node.span), under=()
        )
    return tuple(changed)


@dataclass(frozen=True)
class EntryCase:
    """An entry for letters in its index, and the conditions on these letters."""

    index: tuple[t.Node, ...]
    value: t.Node
    conditions: tuple[t.Node, ...]

    def values(
        self, shape: tuple[int, int], reader: ArrayReader
    ) -> dict[tuple[int, ...], t.Node]:
        """The value for every place that meets the conditions; nothing where one of these is not about letters."""
        sizes = shape if len(self.index) == 2 else (max(shape),)
        if len(self.index) != len([size for size in shape if size > 1]):
            return {}
        found: dict[tuple[int, ...], t.Node] = {}
        letters = [
            item.base
            for item in self.index
            if t.is_letter(item) and isinstance(item, t.Name)
        ]
        if len(letters) != len(self.index):
            return {}  # one entry, for a number
        for place in product(*(range(1, size + 1) for size in sizes)):
            here = dict(zip(letters, place, strict=True))
            if [here[letter] for letter in letters] != list(place):
                continue  # p_i by z_i: the diagonal only
            told = replace(reader, indices=here)
            conditions = [part for part in self.conditions if not t.is_letter(part)]
            if any(not an.full_names(part) <= set(here) for part in conditions):
                return {}
            if all(told.holds(part) for part in conditions):
                found[place] = self.put(here)
        return found

    def put(self, here: Mapping[str, int]) -> t.Node:
        """The value with numbers for the letters."""
        value = self.value
        for letter, number in here.items():
            value = t.with_index(value, letter, t.Number(Fraction(number)))
        return value


def cases_of(statement: Statement, name: str) -> list[EntryCase]:
    """The entries of an array that a statement gives."""
    if statement.node is None or statement.role != "claim":
        return []
    found = []
    for item in t.conjuncts(statement.node):
        conditions = statement.under
        if isinstance(item, t.Quantified):
            conditions = (*conditions, *item.conditions)
            item = item.body
        match item:
            case t.Relation((t.Name(base, index, 0), *_, value), signs) if (
                base == name and index is not None and set(signs) == {"="}
            ):
                found.append(EntryCase(t.listed(index), value, conditions))
    return found


def assembled(
    name: str, shape: tuple[int, int], values: Mapping[tuple[int, ...], t.Node]
) -> t.Relation | None:
    """The array, where every entry is known."""
    rows, columns = shape
    if 1 in shape:
        size = max(shape)
        if set(values) != {(place,) for place in range(1, size + 1)}:
            return None
        items = tuple(values[(place,)] for place in range(1, size + 1))
        return t.Relation((an.named(name), t.Listing(items)), ("=",))
    places = product(range(1, rows + 1), range(1, columns + 1))
    if set(values) != set(places):
        return None
    grid = [
        t.Listing(tuple(values[row, column] for column in range(1, columns + 1)))
        for row in range(1, rows + 1)
    ]
    return t.Relation((an.named(name), t.Matrix(tuple(grid))), ("=",))
