"""Small matrices that satisfy what is given, and statements tried on them, in balls: a difference is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, permutations, product
from random import Random

from flint import arb_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import (
    Budget,
    NoValue,
    ball,
    compare,
    evaluate,
    precision,
    scalar,
)
from headwright.formulas.shapes import Shape, spelt
from headwright.grading.answer import names_in
from headwright.grading.decision import Example
from headwright.grading.kinds.matrices.known import Known

Values = list[list[Fraction]]
MOST_COMBINATIONS = 40
MOST_CHOICES = 20_000
VARIANTS = 12


def instances(
    known: Known,
    names: frozenset[str],
    integers: frozenset[str],
    fixed: Mapping[str, int] | None = None,
) -> Iterator[Example]:
    """Values for names without a definition and for integers; all facts hold exactly. Assumptions are not looked at.

    Small sizes come first; those that are fixed may be larger than those that are usually tried.
    """
    largest = max(
        (size for sizes in known.given.sizes.values() for size in sizes), default=3
    )
    ranges = {
        name: known.given.sizes.get(name, range(1, largest + 1))
        for name in sorted(integers)
    }
    if fixed:
        upto = range(1, max(fixed.values()) + 1)
        ranges = {name: (fixed[name],) if name in fixed else upto for name in ranges}
    choices = islice(product(*ranges.values()), MOST_CHOICES)
    found = [
        sizes
        for choice in choices
        if _allowed(known, sizes := dict(zip(ranges, choice, strict=True)))
    ]
    found.sort(key=lambda sizes: (sum(sizes.values()), sorted(sizes.items())))
    for sizes in found[:MOST_COMBINATIONS]:
        for variant in range(max(VARIANTS, max(sizes.values(), default=0) + 5)):
            used: dict[int, int] = {}
            shapes = {
                name: sized(known.given.shapes[name], sizes) for name in sorted(names)
            }
            values = {
                name: _value(known, name, *shape, variant, used)
                for name, shape in shapes.items()
            }
            if all(
                len(values[name][0]) == columns for name, (_, columns) in shapes.items()
            ):  # there is room for all
                yield Example(sizes, values)


def _allowed(known: Known, sizes: Mapping[str, int]) -> bool:
    """Whether matrices with the facts exist in these sizes."""
    for about, facts in known.given.facts.items():
        shapes = [known.given.shapes.get(name.strip()) for name in about.split(",")]
        if all(shape is not None and {*_names(shape)} <= {*sizes} for shape in shapes):
            (rows, columns), *others = (
                sized(shape, sizes) for shape in shapes if shape is not None
            )
            wide = columns + others[0][1] if "orthogonal ranges" in facts else columns
            if rows < wide and {*facts} & {"orthonormal columns", "orthogonal ranges"}:
                return False
    return True


def _names(shape: Shape) -> list[str]:
    return [size for size in (shape.rows, shape.columns) if isinstance(size, str)]


def sized(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns in numbers."""
    rows, columns = (
        size if isinstance(size, int) else sizes[size]
        for size in (shape.rows, shape.columns)
    )
    return rows, columns


def _value(
    known: Known, name: str, rows: int, columns: int, variant: int, used: dict[int, int]
) -> Values:
    """`used` tells, for each number of rows, the columns of one orthogonal matrix that are taken."""
    random = Random(f"{name} {variant}")  # noqa: S311
    pairs = [
        about
        for about, facts in known.given.facts.items()
        if "orthogonal ranges" in facts
    ]
    if name == "ones":
        return [[Fraction(1)] * columns for _ in range(rows)]
    if known.fact(name, "permutation"):
        orders = (
            list(permutations(range(rows)))[1:] or [(0,)]
            if rows <= 4
            else [(*range(1, rows), 0)]
        )
        order = orders[
            (variant + (random.randrange(24) if name != "P" else 0)) % len(orders)
        ]
        return [
            [Fraction(order[row] == column) for column in range(rows)]
            for row in range(rows)
        ]
    if any(name in map(str.strip, about.split(",")) for about in pairs):
        start = used.get(rows, 0)
        used[rows] = start + columns
        return [
            row[start : start + columns]
            for row in _orthogonal(rows, variant, Random(variant))  # noqa: S311
        ]
    if known.fact(name, "orthogonal", "orthonormal columns"):
        return [row[:columns] for row in _orthogonal(rows, variant, random)]
    low, high = ((0, 1), (-1, 1), (-2, 2), (-4, 4))[min(3, variant // 3)]
    found = [
        [Fraction(random.randint(low, high)) for _ in range(columns)]
        for _ in range(rows)
    ]
    if rows == columns == 1 and variant < 2:
        found = [[Fraction(variant + 1)]]
    if known.fact(name, "diagonal"):
        values = [found[i][i] for i in range(rows)]
        if any(
            family.of == name and family.kind == "singular values"
            for family in known.families.values()
        ):
            values = falling(rows, variant)
        found = [
            [entry if i == j else Fraction(0) for j in range(rows)]
            for i, entry in enumerate(values)
        ]
    return (
        [[abs(entry) + 1 for entry in row] for row in found]
        if known.fact(name, "positive")
        else found
    )


def falling(count: int, variant: int) -> list[Fraction]:
    """Singular values: d, ..., 1; steps 1, ..., 1, 0, ..., 0; all the same; a large one first; none."""
    steps = [
        [int(place < width) for place in range(count)] for width in range(1, count + 1)
    ]
    choices = [
        list(range(count, 0, -1)),
        *steps,
        [3, *[1] * (count - 1)],
        [2 ** (count - place) for place in range(count)],
        [0] * count,
        [2] * count,
    ]
    return [Fraction(entry) for entry in choices[variant % len(choices)]]


def _orthogonal(size: int, variant: int, random: Random) -> Values:
    """The identity; then unit vectors in another order, with signs; then rotations by 3/5, 4/5."""
    matrix = [
        [Fraction(int(row == column)) for column in range(size)] for row in range(size)
    ]
    if variant % 3 == 1:
        random.shuffle(matrix)
        matrix = [[random.choice((-1, 1)) * entry for entry in row] for row in matrix]
    for first in range(size - 1 if variant % 3 == 2 else 0):
        cosine, sine = random.sample((Fraction(3, 5), Fraction(4, 5)), 2)
        for row in matrix:
            a, b = row[first], row[first + 1]
            row[first], row[first + 1] = cosine * a - sine * b, sine * a + cosine * b
    return matrix


@dataclass
class Trial:
    """One instance, with the values of defined names as they become known."""

    known: Known
    instance: Example
    budget: Budget = field(default_factory=Budget)
    _values: dict[str, arb_mat] = field(default_factory=dict)

    def admissible(self) -> bool:
        """Whether all assumptions, and all given differences, hold for certain."""
        try:
            assumed = all(
                self.said(self.known.typed(relation))
                for relation in self.known.given.assume
            )
            return assumed and all(
                self.said(self.known.typed(t.Relation(pair, ("!=",))))
                for pair in self.known.given.different
            )
        except InputError:
            return False

    def said(self, relation: t.Node) -> bool | None:
        """Whether a chain holds here: certain, or None."""
        if not isinstance(relation, t.Relation):
            return None
        values = [self.value(term) for term in relation.terms]
        answers = [
            compare(left, sign, right)
            for left, sign, right in zip(
                values, relation.comparisons, values[1:], strict=False
            )
        ]
        return False if False in answers else None if None in answers else True

    def value(self, node: t.Node) -> arb_mat:
        """The value of a typed term; NoValue and its like where it has none here."""
        return evaluate(node, self.of, budget=self.budget)

    def of(self, name: t.Name) -> arb_mat | None:
        """The value of a name."""
        key = spelt(name)
        if key not in self._values:
            found = self._find(name)
            if found is None:
                return None
            self._values[key] = found
        return self._values[key]

    def _find(self, name: t.Name) -> arb_mat | None:
        key = spelt(name)
        if key in self.instance.matrices:
            rows = self.instance.matrices[key]
            with precision():
                return arb_mat([[ball(entry) for entry in row] for row in rows])
        definition = self.known.definition(name)
        if definition is not None:
            return self._shaped(name, self.value(definition))
        if key in self.instance.sizes:
            return scalar(self.instance.sizes[key])
        family = self.known.family(name)
        items = t.listed(name.index or name)
        places = [int(item.value) for item in items if isinstance(item, t.Number)]
        base = name.base if family is None else family.of
        cuttable = len(places) == 2 or any(
            base == one.of for one in self.known.families.values()
        )
        whole = (
            self.of(t.Name(base)) if len(places) == len(items) and cuttable else None
        )
        if whole is None:
            return None
        i, j = places[0] - 1, places[-1] - 1
        if not (0 <= j < whole.ncols() and 0 <= i < max(whole.nrows(), whole.ncols())):
            raise NoValue(f"there is no {key} here")
        if len(places) == 2 or (
            family is not None and family.kind == "singular values"
        ):
            return scalar(whole[i, j])
        if family is not None:
            return arb_mat([[row[j]] for row in whole.tolist()])
        height = (
            i + 1 if self.known.fact(base, "diagonal") else whole.nrows()
        )  # U_k, S_k
        return arb_mat([row[: j + 1] for row in whole.tolist()[:height]])

    def _shaped(self, name: t.Name, value: arb_mat) -> arb_mat:
        """A written 0, or a sum of nothing, in the shape that its name has."""
        shape = self.known.shape_of(name)
        if (
            shape is None
            or value.nrows() * value.ncols() != 1
            or not value[0, 0].is_zero()
        ):
            return value
        return arb_mat(*sized(shape, self.instance.sizes))


def foundations(known: Known, node: t.Node) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement rests on, behind all definitions: names without a definition, and integers."""
    found, integers, seen = set[str](), set[str](), set[str]()
    waiting = [
        node,
        *(side for pair in known.given.different for side in pair),
        *known.given.assume,
    ]
    while waiting:
        tree = waiting.pop()
        places = (
            part.index
            for part in t.walk(tree)
            if isinstance(part, t.Name) and part.index is not None
        )
        for part in (
            *names_in(tree),
            *(name for place in places for name in names_in(place)),
        ):
            key, shape = spelt(part), known.shape_of(part)
            if key in seen:
                continue
            seen.add(key)
            integers |= set() if shape is None else {*_names(shape)}
            definition, family = known.definition(part), known.family(part)
            if key in known.integers:
                integers.add(key)
            elif definition is not None:
                waiting.append(definition)
            elif family is not None or (
                key not in known.given.shapes and part.index is not None
            ):
                whole = t.Name(
                    part.base if family is None else family.of
                )  # of a column, an entry, the first columns
                waiting += [whole] if known.shape_of(whole) is not None else []
            elif key in known.given.shapes:
                found.add(key)
                integers |= {*_names(known.given.shapes[key])}
    return frozenset(found), frozenset(integers)
