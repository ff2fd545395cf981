"""Small matrices that satisfy what is given, and statements tried on them, in balls: a difference is certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from itertools import islice, permutations, product

from flint import arb_mat

from headwright.check.decision import Example
from headwright.check.settings.matrices.known import Known, names_in
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.evaluate import Budget, NoValue, ball, compare, evaluate, precision, scalar
from headwright.formula.shapes import Shape, spelt

Values = list[list[Fraction]]
MOST_COMBINATIONS = 40
MOST_CHOICES = 20_000
VARIANTS = 12


def instances(
    known: Known, names: frozenset[str], integers: frozenset[str], fixed: Mapping[str, int] | None = None
) -> Iterator[Example]:
    """Values for names without a definition and for integers; all facts hold exactly. Assumptions are not looked at.

    Sizes that are fixed may be larger than those that are usually tried.
    """
    for sizes in combinations(known, names, integers, fixed or {}):
        for variant in range(max(VARIANTS, max(sizes.values(), default=0) + 5)):
            values = _values(known, names, sizes, variant)
            if values is None:
                break
            yield Example(sizes, values)


def combinations(
    known: Known, names: frozenset[str], integers: frozenset[str], fixed: Mapping[str, int]
) -> list[Mapping[str, int]]:
    """Sizes for the dimensions of these names and for the integers, small ones first."""
    shapes = [known.given.shapes[name] for name in names]
    wanted = integers | {size for shape in shapes for size in (shape.rows, shape.columns) if isinstance(size, str)}
    largest = max((size for sizes in known.given.sizes.values() for size in sizes), default=3)
    ranges: dict[str, Sequence[int]] = {
        name: known.given.sizes.get(name, range(1, largest + 1)) for name in sorted(wanted)
    }
    if fixed:
        upto = range(1, max(fixed.values()) + 1)
        ranges = {name: (fixed[name],) if name in fixed else upto for name in ranges}
    choices = islice(product(*ranges.values()), MOST_CHOICES)
    found = [dict(zip(ranges, choice, strict=True)) for choice in choices]
    found = [sizes for sizes in found if _allowed(known, sizes)]
    found.sort(key=lambda sizes: (sum(sizes.values()), sorted(sizes.items())))
    return [*found[:MOST_COMBINATIONS]]


def _allowed(known: Known, sizes: Mapping[str, int]) -> bool:
    """Whether matrices with the facts exist in these sizes."""
    for about, facts in known.given.facts.items():
        shapes = [known.given.shapes.get(name.strip()) for name in about.split(",")]
        known_sizes = [sized(shape, sizes) for shape in shapes if shape is not None and _is_sized(shape, sizes)]
        if len(known_sizes) != len(shapes):
            continue
        (rows, columns), *others = known_sizes
        if "orthonormal columns" in facts and rows < columns:
            return False
        if "orthogonal ranges" in facts and rows < columns + others[0][1]:
            return False
    return True


def _is_sized(shape: Shape, sizes: Mapping[str, int]) -> bool:
    return all(isinstance(size, int) or size in sizes for size in (shape.rows, shape.columns))


def sized(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Rows and columns in numbers."""
    rows, columns = (size if isinstance(size, int) else sizes[size] for size in (shape.rows, shape.columns))
    return rows, columns


def _values(known: Known, names: frozenset[str], sizes: Mapping[str, int], variant: int) -> dict[str, Values] | None:
    values: dict[str, Values] = {}
    used: dict[int, int] = {}  # for each number of rows: columns of the orthogonal matrix that are taken
    apart = {name.strip() for pair, facts in known.given.facts.items() if "orthogonal ranges" in facts
             for name in pair.split(",")}  # fmt: skip
    for name in sorted(names):
        rows, columns = sized(known.given.shapes[name], sizes)
        if name in apart:
            start = used.get(rows, 0)
            used[rows] = start + columns
            if start + columns > rows:
                return None
            basis = _block(_orthogonal(rows, "apart", variant), start, columns)
            upright = known.fact(name, "orthonormal columns")
            values[name] = basis if upright else _times(basis, _integers(columns, columns, name, variant))
        else:
            values[name] = _value(known, name, rows, columns, variant)
    return values


def _value(known: Known, name: str, rows: int, columns: int, variant: int) -> Values:
    if name == "ones":
        return [[Fraction(1)] * columns for _ in range(rows)]
    if known.fact(name, "permutation"):
        return _permutation(rows, name, variant)
    if known.fact(name, "orthogonal", "orthonormal columns"):
        return _block(_orthogonal(rows, name, variant), 0, columns)
    if any(family.of == name and family.kind == "singular values" for family in known.families.values()):
        return _diagonal(falling(rows, variant))
    if known.fact(name, "diagonal"):
        return _diagonal([entry for (entry,) in _integers(rows, 1, name, variant)])
    found = _integers(rows, columns, name, variant)
    if known.fact(name, "positive"):
        found = [[abs(entry) + 1 for entry in row] for row in found]
    return found


def falling(count: int, variant: int) -> list[Fraction]:
    """Singular values: d, ..., 1; steps 1, ..., 1, 0, ..., 0; all the same; a large one first; none."""
    steps = [[int(place < width) for place in range(count)] for width in range(1, count + 1)]
    choices = [
        list(range(count, 0, -1)), *steps, [3, *[1] * (count - 1)], [2 ** (count - place) for place in range(count)],
        [0] * count, [2] * count,
    ]  # fmt: skip
    return [Fraction(entry) for entry in choices[variant % len(choices)]]


def _permutation(size: int, name: str, variant: int) -> Values:
    orders = list(permutations(range(size)))[1:] or [(0,)] if size <= 4 else [(*range(1, size), 0)]
    order = orders[(variant + (_draw(name, 0) if name != "P" else 0)) % len(orders)]
    return [[Fraction(int(order[row] == column)) for column in range(size)] for row in range(size)]


def _orthogonal(size: int, name: str, variant: int) -> Values:
    """The identity; then unit vectors in another order, with signs; then rotations by 3/5, 4/5."""
    matrix = [[Fraction(int(row == column)) for column in range(size)] for row in range(size)]
    if variant % 3 == 1:
        shift = 1 + _draw(name, variant) % max(1, size)
        signs = [1 - 2 * (_draw(name, variant, row) % 2) for row in range(size)]
        matrix = [[signs[row] * entry for entry in matrix[(row + shift) % size]] for row in range(size)]
    if variant % 3 == 2:
        offset = _draw(name, variant) % 2
        for first in range(size - 1):
            cosine, sine = (
                (Fraction(3, 5), Fraction(4, 5)) if (first + offset) % 2 else (Fraction(4, 5), Fraction(3, 5))
            )
            for row in matrix:
                a, b = row[first], row[first + 1]
                row[first], row[first + 1] = cosine * a - sine * b, sine * a + cosine * b
    return matrix


def _integers(rows: int, columns: int, name: str, variant: int) -> Values:
    """Small integers: 0 and 1 first, then from -1 to 1, then from -2 to 2, then from -4 to 4."""
    low, count = ((0, 2), (-1, 3), (-2, 5), (-4, 9))[min(3, variant // 3)]
    if rows == columns == 1 and variant < 2:
        return [[Fraction(variant + 1)]]
    return [
        [Fraction(low + _draw(name, variant, row, column) % count) for column in range(columns)] for row in range(rows)
    ]


def _draw(*what: object) -> int:
    """A number that looks random and is always the same."""
    return int.from_bytes(sha256(repr(what).encode()).digest()[:4], "big")


def _diagonal(entries: list[Fraction]) -> Values:
    return [[entry if i == j else Fraction(0) for j in range(len(entries))] for i, entry in enumerate(entries)]


def _block(matrix: Values, start: int, columns: int) -> Values:
    return [row[start : start + columns] for row in matrix]


def _times(left: Values, right: Values) -> Values:
    return [
        [sum((a * right[k][j] for k, a in enumerate(row)), Fraction(0)) for j in range(len(right[0]))] for row in left
    ]


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
            assumed = all(self.said(self.known.typed(relation)) for relation in self.known.given.assume)
            return assumed and all(
                self.said(self.known.typed(t.Relation(pair, ("!=",)))) for pair in self.known.given.different
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
            for left, sign, right in zip(values, relation.comparisons, values[1:], strict=False)
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
        if family is None and isinstance(name.index, t.Listing):
            return self._entry(name.base, name.index.items)
        if family is None and isinstance(name.index, t.Number) and t.Name(name.base) != name:
            return self._cut(name.base, int(name.index.value))
        if family is not None and isinstance(name.index, t.Number):
            whole = self.of(t.Name(family.of))
            place = int(name.index.value) - 1
            if whole is None or not 0 <= place < whole.ncols():
                raise NoValue(f"there is no {key} here")
            if family.kind == "singular values":
                return scalar(whole[place, place])
            return arb_mat([[row[place]] for row in whole.tolist()])
        return None

    def _entry(self, base: str, places: Sequence[t.Node]) -> arb_mat | None:
        whole = self.of(t.Name(base))
        at = [int(p.value) if isinstance(p, t.Number) else self.instance.sizes.get(spelt(p), 0) for p in places]
        if whole is None or len(at) != 2 or not (1 <= at[0] <= whole.nrows() and 1 <= at[1] <= whole.ncols()):
            return None
        return scalar(whole[at[0] - 1, at[1] - 1])

    def _cut(self, base: str, columns: int) -> arb_mat | None:
        """The first columns; of a diagonal matrix the first rows too."""
        whole = self.of(t.Name(base)) if any(family.of == base for family in self.known.families.values()) else None
        if whole is None or not 0 <= columns <= whole.ncols():
            return None
        rows = columns if self.known.fact(base, "diagonal") else whole.nrows()
        return arb_mat(rows, columns, [whole[i, j] for i in range(rows) for j in range(columns)])

    def _shaped(self, name: t.Name, value: arb_mat) -> arb_mat:
        """A written 0, or a sum of nothing, in the shape that its name has."""
        shape = self.known.shape_of(name)
        if shape is None or value.nrows() * value.ncols() != 1 or not value[0, 0].is_zero():
            return value
        return arb_mat(*sized(shape, self.instance.sizes))


def foundations(known: Known, node: t.Node) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement rests on, behind all definitions: names without a definition, and integers."""
    found: set[str] = set()
    integers: set[str] = set()
    waiting = [node, *(side for pair in known.given.different for side in pair), *known.given.assume]
    seen: set[str] = set()
    while waiting:
        tree = waiting.pop()
        places = (part.index for part in t.walk(tree) if isinstance(part, t.Name) and part.index is not None)
        for part in (*names_in(tree), *(name for place in places for name in names_in(place))):
            key = spelt(part)
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
                waiting.append(t.Name(family.of))
            elif key in known.given.shapes:
                found.add(key)
            elif part.index is not None and known.shape_of(t.Name(part.base)) is not None:
                waiting.append(t.Name(part.base))  # an entry, or the first columns
    return frozenset(found), frozenset(integers)
