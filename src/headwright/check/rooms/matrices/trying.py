"""A statement tried on an instance: every value is a ball that contains the truth, so that a difference is certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb_mat, fmpq_mat

from headwright.check.rooms.matrices.instances import Instance, sized
from headwright.check.rooms.matrices.known import Known, names_in
from headwright.errors import InputError
from headwright.formula.evaluate import evaluate, precision
from headwright.formula.shaping.rewrite import mapped, plain
from headwright.formula.tree import Call, Name, Node, Number, Relation, walk
from headwright.formula.valuing.balls import Budget, NoValue, ball, scalar
from headwright.formula.valuing.compare import compare


@dataclass
class Trial:
    """One instance, with the values of defined names as they become known."""

    known: Known
    instance: Instance
    budget: Budget = field(default_factory=Budget)
    _values: dict[str, arb_mat] = field(default_factory=dict)

    def admissible(self) -> bool:
        """Whether all assumptions, and all given differences, hold for certain."""
        try:
            assumed = all(self.said(self.known.typed(relation)) for relation in self.known.given.assume)
            return assumed and all(
                self.said(self.known.typed(Relation(pair, ("!=",)))) for pair in self.known.given.different
            )
        except InputError:
            return False

    def said(self, relation: Node) -> bool | None:
        """Whether a chain holds here: certain, or None."""
        if not isinstance(relation, Relation):
            return None
        values = [self.value(term) for term in relation.terms]
        answers = [
            compare(left, sign, right)
            for left, sign, right in zip(values, relation.comparisons, values[1:], strict=False)
        ]
        return False if False in answers else None if None in answers else True

    def value(self, node: Node) -> arb_mat:
        """The value of a typed term; NoValue and its like where it has none here."""
        return evaluate(self._ranked(node), self.of, budget=self.budget)

    def _ranked(self, node: Node) -> Node:
        """Ranks are counted exactly, and only where all entries are exact."""
        node = mapped(node, self._ranked)
        if not isinstance(node, Call) or node.function != "rank":
            return node
        matrix = self.value(node.arguments[0])
        if not all(entry.is_exact() for entry in matrix.entries()):
            raise NoValue("the rank of a matrix whose entries are not exact")
        exact = [[entry.fmpq() for entry in row] for row in matrix.tolist()]
        return Number(Fraction(int(fmpq_mat(exact).rank())))

    def of(self, name: Name) -> arb_mat | None:
        """The value of a name."""
        key = plain(name)
        if key not in self._values:
            found = self._find(name)
            if found is None:
                return None
            self._values[key] = found
        return self._values[key]

    def _find(self, name: Name) -> arb_mat | None:
        key = plain(name)
        if key in self.instance.values:
            rows = self.instance.values[key]
            with precision():
                return arb_mat([[ball(entry) for entry in row] for row in rows])
        definition = self.known.definition(name)
        if definition is not None:
            return self._shaped(name, self.value(definition))
        if key in self.instance.sizes:
            return scalar(self.instance.sizes[key])
        family = self.known.family(name)
        if family is not None and isinstance(name.index, Number):
            whole = self.of(Name(family.of))
            place = int(name.index.value) - 1
            if whole is None or not 0 <= place < whole.ncols():
                raise NoValue(f"there is no {key} here")
            if family.kind == "singular values":
                return scalar(whole[place, place])
            return arb_mat([[row[place]] for row in whole.tolist()])
        return None

    def _shaped(self, name: Name, value: arb_mat) -> arb_mat:
        """A written 0, or a sum of nothing, in the shape that its name has."""
        shape = self.known.shape_of(name)
        if shape is None or value.nrows() * value.ncols() != 1 or not value[0, 0].is_zero():
            return value
        return arb_mat(*sized(shape, self.instance.sizes))


def foundations(known: Known, node: Node) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement rests on, behind all definitions: names without a definition, and integers."""
    found: set[str] = set()
    integers: set[str] = set()
    waiting = [node, *(side for pair in known.given.different for side in pair), *known.given.assume]
    seen: set[str] = set()
    while waiting:
        tree = waiting.pop()
        places = (part.index for part in walk(tree) if isinstance(part, Name) and part.index is not None)
        for part in (*names_in(tree), *(name for place in places for name in names_in(place))):
            key = plain(part)
            if key in seen:
                continue
            seen.add(key)
            shape = known.shape_of(part)
            integers |= {
                size for size in (() if shape is None else (shape.rows, shape.columns)) if isinstance(size, str)
            }
            definition, family = known.definition(part), known.family(part)
            if key in known.integers:
                integers.add(key)
            elif definition is not None:
                waiting.append(definition)
            elif family is not None:
                waiting.append(Name(family.of))
            elif key in known.given.shapes:
                found.add(key)
    return frozenset(found), frozenset(integers)


def shown(matrix: arb_mat) -> object:
    """A value in plain numbers, for people: rounded, never used to decide."""
    rows = [[_shown(float(entry.mid())) for entry in row] for row in matrix.tolist()]
    return rows[0][0] if len(rows) == len(rows[0]) == 1 else rows


def plainly(values: Mapping[str, list[list[Fraction]]]) -> dict[str, object]:
    """The values of names in plain numbers."""
    rows = {name: [[_shown(float(entry)) for entry in row] for row in matrix] for name, matrix in values.items()}
    return {name: matrix[0][0] if len(matrix) == len(matrix[0]) == 1 else matrix for name, matrix in rows.items()}


def _shown(value: float) -> int | float:
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
