"""Matrices written out: layers, singular value decompositions, bases, from the definitions; formulas entry by entry.

Larger ones than can be written out are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random

from flint import arb_mat

from headwright.check.answer import Answer, full_name, named
from headwright.check.decision import Example
from headwright.check.exercise import Exercise, Matrices, parsed
from headwright.check.replay.worlds import EQUAL, gap
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.errors import FormulaError
from headwright.formula.evaluate import NoValue, ball, compare, evaluate, precision, scalar
from headwright.formula.shapes import SCALAR, Shape, shape, spelt, typed

Rows = Sequence[Sequence[Fraction]]
ONE = t.Number(Fraction(1))
LARGEST = 60  # rows of matrices that are written out
BITS = 192
LARGE = 6  # sizes of the larger draws
SCALES = (Fraction(1), Fraction(1), Fraction(1, 50), Fraction(40))


@dataclass
class MatricesWorld:
    """Sizes, and matrices with exact entries; all else follows from the definitions."""

    exercise: Exercise
    setting: Matrices
    definitions: Mapping[str, t.Node]
    example: Example
    _values: dict[str, arb_mat] = field(default_factory=dict)
    _shapes: dict[str, Shape] = field(default_factory=dict)

    # Shapes

    def families(self, kind: str) -> dict[str, str]:
        """The letters of columns, or of singular values, and the matrices that they are of."""
        found: dict[str, str] = {}
        for about, facts in self.setting.facts.items():
            if kind in facts:
                matrix, letter = (part.strip() for part in about.split(","))
                found[letter.removesuffix("_*")] = matrix
        return found

    def shape_of(self, name: t.Name) -> Shape | None:
        """The shape of a name, in names of sizes."""
        full, given = full_name(name), self.setting.shapes
        if full in given:
            return Shape(*given[full])
        if full in self.definitions:
            if full not in self._shapes:
                self._shapes[full] = shape(self.definitions[full], self.shape_of)
            return self._shapes[full]
        if name.index is not None and not name.primes:
            whole = self.shape_of(t.Name(name.base))
            if isinstance(name.index, t.Listing) and whole is not None:
                return SCALAR
            if f"{name.base}_*" in given:
                return Shape(*given[f"{name.base}_*"])
            if whole is not None and whole != SCALAR:
                size = spelt(name.index)
                return Shape(size if "diagonal" in self.setting.facts.get(name.base, ()) else whole.rows, size)
        sizes = {size for one in given.values() for size in one if isinstance(size, str)}
        return SCALAR if full in sizes or full in self.example.sizes else None

    @property
    def too_large(self) -> bool:
        """Whether the matrices are too large to be written out."""
        return max(self.example.sizes.values(), default=0) > LARGEST

    def size(self, size: int | str) -> int:
        """The size that a name stands for here."""
        return size if isinstance(size, int) else self.example.sizes[size]

    # Values

    def value_of(self, name: t.Name) -> arb_mat | None:
        """The value of a name: as written out, as defined, or a part of another."""
        full = full_name(name)
        if full not in self._values:
            found = self._given(full, name)
            if found is None and name.index is not None and name.base != "I":
                places = [self._place(item) for item in t.listed(name.index)]
                known = [one for one in places if one is not None]
                found = self._part(name.base, known) if len(known) == len(places) else None
            if found is None:
                return None
            self._values[full] = found
        return self._values[full]

    def _place(self, index: t.Node) -> int | None:
        """The number that an index is; None where it is still to be worked out, or is none."""
        if isinstance(index, t.Number):
            return int(index.value)
        return self.example.sizes.get(full_name(index)) if isinstance(index, t.Name) else None

    def _given(self, full: str, node: t.Name) -> arb_mat | None:
        """What is written out, and what is defined."""
        if full in self.example.sizes:
            return scalar(self.example.sizes[full])
        if full in self.example.matrices:
            return arb_mat([[ball(entry) for entry in row] for row in self.example.matrices[full]])
        known = self.shape_of(node) if full in self.setting.shapes or full in self.definitions else None
        rows, columns = (1, 1) if known is None else (self.size(known.rows), self.size(known.columns))
        if full in self.definitions:
            equation = typed(t.Relation((node, self.definitions[full]), ("=",)), self.shape_of)  # for the size of an I
            value = self.value(equation.terms[1] if isinstance(equation, t.Relation) else node)
            nought = value.nrows() == value.ncols() == 1 and value[0, 0].is_zero()
            return arb_mat(rows, columns) if known is not None and nought else value
        if known is not None and full == "ones":
            return arb_mat([[1]] * rows)
        if known is not None and self.example.ones is not None:  # along the axes
            last = self.example.ones if full in self.families("singular values").values() else min(rows, columns)
            return arb_mat([[int(i == j < last) for j in range(columns)] for i in range(rows)])
        return None

    def _part(self, base: str, places: Sequence[int]) -> arb_mat | None:
        """A column, a singular value, an entry, or the first columns."""
        values, columns = self.families("singular values"), self.families("columns")
        whole = self.value_of(t.Name(values.get(base, columns.get(base, base))))
        if whole is None:
            return None
        i, j = places[0], places[-1]
        if len(places) == 2 or base in values:
            inside = 1 <= i <= whole.nrows() and 1 <= j <= whole.ncols()
            return scalar(whole[i - 1, j - 1]) if inside else None
        if base in columns:
            return arb_mat([[row[i - 1]] for row in whole.tolist()]) if 1 <= i <= whole.ncols() else None
        rows = i if "diagonal" in self.setting.facts.get(base, ()) else whole.nrows()
        cut = [whole[k, m] for k in range(rows) for m in range(i)] if 0 <= i <= whole.ncols() else None
        return None if cut is None else arb_mat(rows, i, cut)

    def value(self, node: t.Node) -> arb_mat:
        """The value of a typed term; InputError where it has none."""
        if self.too_large:
            raise NoValue("matrices that are too large to be written out")
        return evaluate(self._ended(node), self.value_of, bits=BITS)

    def _ended(self, node: t.Node) -> t.Node:
        """A sum without an end runs over all columns, singular values or rows that its index counts."""
        node = t.mapped(node, self._ended)
        if not isinstance(node, t.BigSum | t.BigCall) or node.upper is not None:
            return node
        families = {**self.families("columns"), **self.families("singular values")}
        ends = set()
        for part in t.every_name(node.body):
            if part.base in families and part.index == t.Name(node.index):
                ends.add(self.size(self.setting.shapes[families[part.base]][1]))
            whole = self.shape_of(t.Name(part.base)) if isinstance(part.index, t.Listing) else None
            if whole is not None and part.index is not None:
                sides = zip(t.listed(part.index), (whole.rows, whole.columns), strict=False)
                ends |= {self.size(size) for item, size in sides if item == t.Name(node.index)}
        if len(ends) != 1:
            raise NoValue("a sum without an end")
        return replace(node, lower=node.lower or ONE, upper=t.Number(Fraction(ends.pop())))

    # Statements

    def holds(self, relation: t.Relation) -> bool | None:
        """Whether a chain of typed comparisons is true: certain, or None; equal up to rounding counts as equal."""
        values = [self.value(term) for term in relation.terms]
        said = [
            _compared(left, sign, right)
            for left, sign, right in zip(values[:-1], relation.comparisons, values[1:], strict=True)
        ]
        return False if False in said else None if None in said else True

    def says(self, relation: t.Relation) -> bool | None:
        """The same of a statement as it was written; None where it has no value here."""
        try:
            with precision(BITS):
                known = typed(relation, self.shape_of)
                return self.holds(known) if isinstance(known, t.Relation) else None
        except (InputError, ValueError, OverflowError, ZeroDivisionError):
            return None

    def misshapen(self, relation: t.Relation) -> bool:
        """Whether sizes do not fit: in the statement, or in a definition that it rests on."""
        spoken = {full_name(part) for part in t.walk(relation) if isinstance(part, t.Name)}
        defined = [t.Relation((named(n), self.definitions[n]), ("=",)) for n in spoken if n in self.definitions]
        try:
            for statement in (relation, *defined):
                typed(statement, self.shape_of)
        except FormulaError:
            return True
        return False

    def admissible(self) -> bool:
        """Whether all that is given holds: facts, sizes, differences."""
        if any(self.says(parsed(source)) is not True for source in self.setting.assume):  # type: ignore[arg-type]
            return False
        different = (t.Relation((parsed(x), parsed(y)), ("!=",)) for x, y in self.setting.different)
        if any(self.says(one) is not True for one in different):
            return False
        return self.example.ones is not None or all(
            _satisfies(self.example.matrices, about, facts) for about, facts in self.setting.facts.items()
        )


def _compared(left: arb_mat, sign: t.Comparison, right: arb_mat) -> bool | None:
    said = compare(left, sign, right)
    if said is not None or sign not in ("=", "!=", "<=", ">="):
        return said
    near = gap(left, right) < EQUAL
    return (sign != "!=") if near else None


def _satisfies(matrices: Mapping[str, Rows], about: str, facts: Sequence[str]) -> bool:
    """Whether explicit matrices have the facts; what is not written out is not spoken of."""
    names = [name.strip() for name in about.split(",")]
    if names[0] not in matrices:
        return True
    first = matrices[names[0]]
    square = len(first) == len(first[0])
    diagonal = all(i == j or not entry for i, row in enumerate(first) for j, entry in enumerate(row))
    spectrum = [row[i] for i, row in enumerate(first) if i < len(row)]
    identity = _product(_flipped(first), first) == [
        [Fraction(i == j) for j in range(len(first[0]))] for i in range(len(first[0]))
    ]
    checks: Mapping[str, Callable[[], bool]] = {
        "permutation": lambda: square and identity and all(entry in (0, 1) for row in first for entry in row),
        "orthogonal": lambda: square and identity,
        "orthonormal columns": lambda: identity,
        "diagonal": lambda: square and diagonal,
        "symmetric": lambda: square and _flipped(first) == [list(row) for row in first],
        "positive": lambda: all(entry > 0 for row in first for entry in row),
        "columns": lambda: True,
        "singular values": lambda: diagonal and spectrum == sorted(map(abs, spectrum), reverse=True),
        "orthogonal ranges": lambda: (
            names[1] not in matrices
            or not any(entry for row in _product(_flipped(first), matrices[names[1]]) for entry in row)
        ),
    }
    return all(checks[fact]() for fact in facts)


def _flipped(rows: Rows) -> list[list[Fraction]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _product(left: Rows, right: Rows) -> list[list[Fraction]]:
    turned = _flipped(right)
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in turned] for row in left]


# Random instances


def world_of(exercise: Exercise, answer: Answer, example: Example) -> MatricesWorld:
    """The world of explicit matrices."""
    definitions = {name: parsed(source) for name, source in exercise.definitions.items()}
    definitions |= {name: said.node for name, said in answer.definitions.items()}
    return MatricesWorld(exercise, exercise.matrices or Matrices(shapes={}, sizes={}), definitions, example)


def drawn(
    exercise: Exercise, answer: Answer, random: Random, count: int, free: frozenset[str] = frozenset()
) -> Iterator[MatricesWorld]:
    """So many admissible worlds, of several shapes, every second one larger; free names are integers."""
    for number in range(4 * count):
        world = world_of(exercise, answer, Example(_sizes(exercise, random, free, large=number % 2 == 1)))
        matrices = _matrices(world, random, exact=number % 4 < 2)
        world = replace(world, example=Example(world.example.sizes, matrices), _values={}, _shapes={})
        if matrices and world.admissible():
            yield world
            count -= 1
            if not count:
                return


def free_names(relation: t.Relation, exercise: Exercise) -> frozenset[str]:
    """The names in indices that nothing counts: A v_i = sigma_i u_i is said for every i."""
    bound = {part.index for part in t.walk(relation) if isinstance(part, t.BigSum | t.BigCall)}
    given = {*(exercise.matrices.shapes if exercise.matrices else ()), *exercise.definitions}
    places = [part.index for part in t.walk(relation) if isinstance(part, t.Name) and f"{part.base}_*" in given
              and full_name(part) not in given]  # fmt: skip
    spoken = {part.base for place in places if place is not None for part in t.walk(place) if isinstance(part, t.Name)}
    return frozenset(spoken - bound - given)


def _sizes(exercise: Exercise, random: Random, free: frozenset[str], *, large: bool) -> dict[str, int]:
    setting = exercise.matrices or Matrices(shapes={}, sizes={})
    names = {size for one in setting.shapes.values() for size in one if isinstance(size, str)} | set(setting.sizes)
    names |= {name for name, known in exercise.parameters.items() if known.integer}
    names |= {part.base for source in setting.assume for part in t.walk(parsed(source)) if isinstance(part, t.Name)}
    sizes = {name: random.randint(1, LARGE if large else 3) for name in sorted(names | free)}
    for about, facts in setting.facts.items():  # room for all columns
        if "orthonormal columns" in facts or "orthogonal ranges" in facts:
            shapes = [setting.shapes[name.strip()] for name in about.split(",")]
            wide = sum(width if isinstance(width, int) else sizes[width] for _, width in shapes)
            if isinstance(shapes[0][0], str):
                sizes[shapes[0][0]] = max(sizes[shapes[0][0]], wide)
    for source in setting.assume:  # 1 <= k <= d, d <= n: in order
        chain = parsed(source)
        named_ = (
            [term.base for term in chain.terms if isinstance(term, t.Name)] if isinstance(chain, t.Relation) else []
        )
        for name, value in zip(named_, sorted(sizes[name] for name in named_), strict=True):
            sizes[name] = value
    return sizes


def _matrices(world: MatricesWorld, random: Random, *, exact: bool) -> dict[str, Rows]:
    """Values for all names without a definition; nothing where the sizes do not allow it."""
    setting, found = world.setting, dict[str, Rows]()
    apart = [
        n.strip() for about, facts in setting.facts.items() if "orthogonal ranges" in facts for n in about.split(",")
    ]
    spectra = set(world.families("singular values").values())
    used = 0
    basis: Rows = ()
    for name, (height, width) in setting.shapes.items():
        if name.endswith("_*") or name in (*world.definitions, *world.example.sizes, *world.exercise.answer, "ones"):
            continue
        rows, columns, facts = world.size(height), world.size(width), setting.facts.get(name, ())
        scale = random.choice(SCALES)
        plainly = [[Fraction(random.randint(-4, 4)) * scale for _ in range(columns)] for _ in range(rows)]
        if name in apart:
            basis = basis or _orthogonal(rows, random, exact)
            used += columns
            if used > rows:
                return {}
            found[name] = [row[used - columns : used] for row in basis]
        elif "permutation" in facts:
            order = random.sample(range(rows), rows)
            found[name] = [[Fraction(order[i] == j) for j in range(columns)] for i in range(rows)]
        elif "orthogonal" in facts or "orthonormal columns" in facts:
            if columns > rows:
                return {}
            found[name] = [row[:columns] for row in _orthogonal(rows, random, exact)]
        elif name in spectra or "diagonal" in facts:
            values = [Fraction(random.choice((0, 1, 1, 2, 3, 7))) * scale for _ in range(rows)]
            values = sorted(values, reverse=True) if name in spectra else values
            found[name] = [[values[i] if i == j else Fraction(0) for j in range(rows)] for i in range(rows)]
        elif "symmetric" in facts:
            found[name] = [[plainly[max(i, j)][min(i, j)] for j in range(rows)] for i in range(rows)]
        else:
            found[name] = [[abs(x) + 1 for x in row] for row in plainly] if "positive" in facts else plainly
    return found


def _orthogonal(size: int, random: Random, exact: bool) -> list[list[Fraction]]:
    """An orthogonal matrix: mirrored along vectors of integers; of dyadic entries, where these must be exact."""
    found = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    for _ in range(3):
        vector = [random.randint(-2, 2) for _ in range(size)]
        if exact:  # mirrored along e_i, e_i - e_j, or a sum of four axes with signs: the entries stay halves
            chosen = random.sample(range(size), random.choice([n for n in (1, 2, 4) if n <= size]))
            vector = [random.choice((-1, 1)) if place in chosen else 0 for place in range(size)]
        length = sum(x * x for x in vector)
        if length:
            mirror = [
                [Fraction(i == j) - Fraction(2 * x * y, length) for j, y in enumerate(vector)]
                for i, x in enumerate(vector)
            ]
            found = _product(found, mirror)
    return found
