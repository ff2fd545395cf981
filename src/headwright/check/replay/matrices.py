"""Matrices written out: layers, singular value decompositions, bases, from the definitions; formulas entry by entry.

A matrix is a table of its entries that are not 0, each a ball, so that thousands of rows along the axes are no burden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from random import Random

from flint import arb, arb_mat, fmpq_mat

from headwright.check.answer import Answer, full_name, named
from headwright.check.decision import Example
from headwright.check.exercise import Exercise, Matrices, parsed
from headwright.check.replay.worlds import EQUAL
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.errors import FormulaError
from headwright.formula.evaluate import ELEMENTARY, NoValue, Undefined, ball, compare, precision, softmax, spectral
from headwright.formula.evaluate import power as real_power
from headwright.formula.shapes import SCALAR, Shape, shape, spelt, typed

Rows = Sequence[Sequence[Fraction]]
MOST_ENTRIES = 2_000_000  # written down for one statement
LARGEST_DENSE = 40  # rows of a matrix whose spectral norm, inverse or rank is worked out
LARGEST_POWER = 1000
BITS = 192
LARGE = 6  # sizes of the larger draws
SCALES = (Fraction(1), Fraction(1), Fraction(1, 50), Fraction(40))


@dataclass(frozen=True)
class Table:
    """A matrix: rows, columns, and the entries that are not 0 by their places, counted from 1."""

    rows: int
    columns: int
    entries: Mapping[tuple[int, int], arb]

    @property
    def is_number(self) -> bool:
        """1 x 1."""
        return self.rows == self.columns == 1

    @property
    def number(self) -> arb:
        """The only entry."""
        if not self.is_number:
            raise NoValue("a matrix stands where a number is needed")
        return self.entries.get((1, 1), arb(0))

    def dense(self) -> list[list[arb]]:
        """All entries."""
        if max(self.rows, self.columns) > LARGEST_DENSE:
            raise NoValue("too large to be written out")
        zero = arb(0)
        return [[self.entries.get((i, j), zero) for j in range(1, self.columns + 1)] for i in range(1, self.rows + 1)]

    @cached_property
    def by_column(self) -> Mapping[int, Mapping[tuple[int, int], arb]]:
        """The columns that are not 0."""
        found: dict[int, dict[tuple[int, int], arb]] = {}
        for (i, j), entry in self.entries.items():
            found.setdefault(j, {})[i, 1] = entry
        return found

    def along_axes(self) -> bool:
        """Whether no row and no column has two entries."""
        return len({i for i, _ in self.entries}) == len({j for _, j in self.entries}) == len(self.entries)

    def mapped(self, function: Callable[[arb], arb]) -> Table:
        """A function of each entry that is 0 at 0."""
        return Table(self.rows, self.columns, {place: function(entry) for place, entry in self.entries.items()})


def table(rows: Sequence[Sequence[arb]]) -> Table:
    """A matrix from its rows."""
    found = {(i, j): entry for i, row in enumerate(rows, 1) for j, entry in enumerate(row, 1) if not entry.is_zero()}
    return Table(len(rows), len(rows[0]) if rows else 0, found)


def single(value: arb) -> Table:
    """A number."""
    return Table(1, 1, {(1, 1): value})


NOTHING = Table(1, 1, {})  # a written 0, an empty sum: it fits any shape


@dataclass
class MatricesWorld:
    """Sizes, and matrices with exact entries; all else follows from the definitions."""

    exercise: Exercise
    setting: Matrices
    definitions: Mapping[str, t.Node]
    example: Example
    written: int = 0  # entries so far
    _values: dict[str, Table] = field(default_factory=dict)
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

    def size(self, size: int | str) -> int:
        """The size that a name stands for here."""
        return size if isinstance(size, int) else self.example.sizes[size]

    # Values

    def value(self, node: t.Node, bound: Mapping[str, int] | None = None) -> Table:
        """The value of a typed term; InputError where it has none."""
        found = self._value(node, bound or {})
        self.written += len(found.entries) + 1
        if self.written > MOST_ENTRIES:
            raise NoValue("more entries than are worth writing down")
        return found

    def _value(self, node: t.Node, bound: Mapping[str, int]) -> Table:
        match node:
            case t.Number(exactly):
                return single(ball(exactly)) if exactly else NOTHING
            case t.Name():
                return self._name(node, bound)
            case t.Sum(terms):
                return _total([self.value(term, bound) for term in terms])
            case t.Negative(body):
                return self.value(body, bound).mapped(lambda entry: -entry)
            case t.Product(factors):
                return reduce(_times, (self.value(factor, bound) for factor in factors))
            case t.Quotient(over, under):
                divisor = self.value(under, bound).number
                if divisor.contains(0):
                    raise Undefined("a division by what may be 0")
                return self.value(over, bound).mapped(lambda entry: entry / divisor)
            case t.Power(base, exponent):
                return _power(self.value(base, bound), self.value(exponent, bound).number)
            case t.Transpose(body):
                return _turned(self.value(body, bound))
            case t.Inner(left, right):
                first, second = (self.value(side, bound) for side in (left, right))
                return _times(
                    _turned(first) if first.columns == 1 else first, _turned(second) if second.rows == 1 else second
                )
            case t.Norm(body, kind):
                return single(_norm(self.value(body, bound), kind))
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if size is not None:
                return self._diagonal(run, self._integer(size, bound), bound)
            case t.Call(function, arguments):
                return _call(function, [self.value(part, bound) for part in arguments])
            case t.BigSum():
                return self._sum(node, bound)
            case _:
                raise NoValue("this has no value")

    def _name(self, node: t.Name, bound: Mapping[str, int]) -> Table:
        if node.index is None and not node.primes and node.base in bound:
            return single(arb(bound[node.base]))
        full = full_name(node)
        if full in self._values:
            return self._values[full]
        found = self._given(full, node)
        if found is not None:
            self._values[full] = found
            return found
        if node.index is None:
            raise NoValue(f"{full} has no value")
        if node.base == "I":
            size = self._integer(node.index, bound)
            return Table(size, size, {(i, i): arb(1) for i in range(1, size + 1)})
        places = node.index.items if isinstance(node.index, t.Listing) else (node.index,)
        return self._part(node.base, [self._integer(place, bound) for place in places])

    def _given(self, full: str, node: t.Name) -> Table | None:
        """What is written out, and what is defined."""
        if full in self.example.sizes:
            return single(arb(self.example.sizes[full]))
        known = self.shape_of(node) if full in self.setting.shapes or full in self.definitions else None
        if full in self.example.matrices:
            return table([[ball(entry) for entry in row] for row in self.example.matrices[full]])
        if full in self.definitions:
            equation = typed(t.Relation((node, self.definitions[full]), ("=",)), self.shape_of)  # for the size of an I
            value = self.value(equation.terms[1] if isinstance(equation, t.Relation) else node)
            if known is not None and value == NOTHING:
                return Table(self.size(known.rows), self.size(known.columns), {})
            return value
        if known is not None and full == "ones":
            return Table(self.size(known.rows), 1, {(i, 1): arb(1) for i in range(1, self.size(known.rows) + 1)})
        if known is not None and self.example.ones is not None:  # along the axes
            rows, columns = self.size(known.rows), self.size(known.columns)
            last = self.example.ones if full in self.families("singular values").values() else min(rows, columns)
            return Table(rows, columns, {(i, i): arb(1) for i in range(1, last + 1)})
        if full in ("pi", "e"):
            return single(arb.pi() if full == "pi" else arb.const_e())
        return None

    def _part(self, base: str, places: Sequence[int]) -> Table:
        """A column, a singular value, an entry, or the first columns."""
        values, columns = self.families("singular values"), self.families("columns")
        whole = self._name(t.Name(values.get(base, columns.get(base, base))), {})
        if len(places) == 2 or base in values:
            i, j = places[0], places[-1]
            if not (1 <= i <= whole.rows and 1 <= j <= whole.columns):
                raise NoValue("there is no such entry")
            return single(whole.entries.get((i, j), arb(0)))
        (place,) = places
        if base in columns:
            if not 1 <= place <= whole.columns:
                raise NoValue("there is no such column")
            return Table(whole.rows, 1, whole.by_column.get(place, {}))
        if not 0 <= place <= whole.columns:
            raise NoValue("there are not so many columns")
        rows = place if "diagonal" in self.setting.facts.get(base, ()) else whole.rows
        kept = {(i, j): entry for (i, j), entry in whole.entries.items() if j <= place and i <= rows}
        return Table(rows, place, kept)

    def _integer(self, node: t.Node, bound: Mapping[str, int]) -> int:
        found = self.value(node, bound).number
        whole = found.unique_fmpz() if found.is_exact() else None
        if whole is None:
            raise NoValue("an index that is no integer")
        return int(whole)

    def _sum(self, node: t.BigSum, bound: Mapping[str, int]) -> Table:
        first = 1 if node.lower is None else self._integer(node.lower, bound)
        last = self._last(node) if node.upper is None else self._integer(node.upper, bound)
        total = NOTHING
        collected: dict[tuple[int, int], arb] = {}
        conditions = [condition for condition in node.conditions if isinstance(condition, t.Relation)]
        if len(conditions) < len(node.conditions):
            raise NoValue("a sum over a set")
        for place in range(first, last + 1):
            inside = {**bound, node.index: place}
            if all(self.holds(condition, inside) is True for condition in conditions):
                part = self.value(node.body, inside)
                total = part if total == NOTHING else total
                for where, entry in part.entries.items():
                    collected[where] = collected[where] + entry if where in collected else entry
        return Table(total.rows, total.columns, collected)

    def _diagonal(self, run: t.BigSum, size: int, bound: Mapping[str, int]) -> Table:
        """The terms of a sum along the diagonal, then zeros."""
        last = 0 if run.upper is None else self._integer(run.upper, bound)
        if last > size:
            raise NoValue("a diagonal that is too long")
        entries = {i: self.value(run.body, {**bound, run.index: i}).number for i in range(1, last + 1)}
        return Table(size, size, {(i, i): entry for i, entry in entries.items() if not entry.is_zero()})

    def _last(self, node: t.BigSum) -> int:
        """A sum without an end runs over all columns or singular values that its index counts."""
        families = {**self.families("columns"), **self.families("singular values")}
        counted = {
            families[part.base]
            for part in t.walk(node.body)
            if isinstance(part, t.Name) and part.base in families and part.index == t.Name(node.index)
        }
        ends = {self.size(self.setting.shapes[matrix][1]) for matrix in counted}
        for part in t.walk(node.body):
            if isinstance(part, t.Name) and isinstance(part.index, t.Listing):
                whole = self._name(t.Name(part.base), {})
                sides = zip(part.index.items, (whole.rows, whole.columns), strict=False)
                ends |= {size for item, size in sides if item == t.Name(node.index)}
        if len(ends) != 1:
            raise NoValue("a sum without an end")
        return ends.pop()

    # Statements

    def holds(self, relation: t.Relation, bound: Mapping[str, int] | None = None) -> bool | None:
        """Whether a chain of typed comparisons is true: certain, or None; equal up to rounding counts as equal."""
        values = [self.value(term, bound) for term in relation.terms]
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


def _total(parts: Sequence[Table]) -> Table:
    kept = [part for part in parts if part != NOTHING] or [NOTHING]
    if len({(part.rows, part.columns) for part in kept}) != 1:
        raise NoValue("terms of different shapes")
    found: dict[tuple[int, int], arb] = {}
    for part in kept:
        for place, entry in part.entries.items():
            found[place] = found[place] + entry if place in found else entry
    return Table(kept[0].rows, kept[0].columns, {place: entry for place, entry in found.items() if not entry.is_zero()})


def _times(left: Table, right: Table) -> Table:
    for one, other in ((left, right), (right, left)):
        if one.is_number:
            return _scaled(other, one.number)
    if left.columns != right.rows:
        raise NoValue("factors whose sizes do not meet")
    by_row: dict[int, list[tuple[int, arb]]] = {}
    for (i, j), entry in right.entries.items():
        by_row.setdefault(i, []).append((j, entry))
    found: dict[tuple[int, int], arb] = {}
    for (i, k), entry in left.entries.items():
        for j, other_entry in by_row.get(k, ()):
            term = entry * other_entry
            found[i, j] = found[i, j] + term if (i, j) in found else term
    return Table(left.rows, right.columns, {place: entry for place, entry in found.items() if not entry.is_zero()})


def _scaled(value: Table, factor: arb) -> Table:
    return value.mapped(lambda entry: entry * factor) if not factor.is_zero() else Table(value.rows, value.columns, {})


def _turned(value: Table) -> Table:
    return Table(value.columns, value.rows, {(j, i): entry for (i, j), entry in value.entries.items()})


def _power(base: Table, exponent: arb) -> Table:
    if base.is_number:
        return single(real_power(base.number, exponent))
    whole = exponent.unique_fmpz() if exponent.is_exact() else None
    if whole is None or abs(int(whole)) > LARGEST_POWER:
        raise NoValue("a power of a matrix that is not small and whole")
    if whole < 0:
        try:
            base = table(arb_mat(base.dense()).inv().tolist())
        except ZeroDivisionError:
            raise Undefined("the inverse of a matrix that may have none") from None
    identity = Table(base.rows, base.rows, {(i, i): arb(1) for i in range(1, base.rows + 1)})
    return reduce(_times, [base] * abs(int(whole)), identity)


def _norm(value: Table, kind: str) -> arb:
    if kind == "F" or 1 in (value.rows, value.columns):
        return sum((entry * entry for entry in value.entries.values()), arb(0)).nonnegative_part().sqrt()
    if value.along_axes():
        return reduce(arb.max, map(abs, value.entries.values()), arb(0))
    return spectral(arb_mat(value.dense()))


def _call(function: str, values: Sequence[Table]) -> Table:
    (first, *_) = values
    match function:
        case "trace":
            return single(sum((entry for (i, j), entry in first.entries.items() if i == j), arb(0)))
        case "softmax":
            return table(softmax(first.dense()).tolist())
        case "relu":
            return first.mapped(lambda entry: entry.max(arb(0)))
        case "rank":
            if not all(entry.is_exact() for entry in first.entries.values()):
                raise NoValue("the rank of a matrix whose entries are not exact")
            if first.along_axes():
                return single(arb(len(first.entries)))
            return single(arb(fmpq_mat([[entry.fmpq() for entry in row] for row in first.dense()]).rank()))
        case _ if function in ELEMENTARY:
            return single(ELEMENTARY[function](first.number))
        case "max" | "min":
            return single(reduce(arb.max if function == "max" else arb.min, (value.number for value in values)))
        case "diag":
            entries = [entry for value in values for row in value.dense() for entry in row]
            return Table(len(entries), len(entries), {(i, i): entry for i, entry in enumerate(entries, 1)})
        case _:
            raise NoValue(f"{function} has no value here")


def _compared(left: Table, sign: t.Comparison, right: Table) -> bool | None:
    if sign in ("<", ">", "<=", ">="):
        gap = left.number - right.number
        said = compare(arb_mat([[gap]]), sign, arb_mat([[0]]))
        return True if said is None and sign in ("<=", ">=") and abs(gap) < EQUAL else said
    if sign not in ("=", "!="):
        return None
    shapes = {(side.rows, side.columns) for side in (left, right) if side != NOTHING}
    if len(shapes) > 1:
        raise NoValue("sides of different shapes")
    places = {*left.entries, *right.entries}
    gaps = [left.entries.get(place, arb(0)) - right.entries.get(place, arb(0)) for place in places]
    equal = False if any(not gap.contains(0) for gap in gaps) else True if all(abs(g) < EQUAL for g in gaps) else None
    return equal if equal is None or sign == "=" else not equal


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
    bound = {part.index for part in t.walk(relation) if isinstance(part, t.BigSum)}
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
