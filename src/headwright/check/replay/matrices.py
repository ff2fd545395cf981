"""Matrices written out: layers, singular value decompositions, bases, from the definitions; formulas entry by entry.

Numbers are exact fractions as long as they are rational, and floating-point numbers with a margin beyond that. Neither
the balls nor the forms that decide such statements are used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

from headwright.check.answer import Answer, full_name
from headwright.check.exercise import Exercise, Matrices, parsed
from headwright.check.judging import Judged
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.errors import ShapeError
from headwright.formula.shapes import SCALAR, Shape, shape, spelt, typed

Number = Any  # a Fraction as long as it is rational, a float beyond that
Rows = Sequence[Sequence[Number]]
INSTANCES, ATTEMPTS = 12, 400  # that are looked at, and that are drawn for these
ZERO: Rows = [[Fraction(0)]]
MOST = 60  # terms of a sum without an end
NEAR, APART = 1e-9, 1e-6  # beside the size of the numbers: equal up to rounding; certainly different
SCALES = (Fraction(1), Fraction(1), Fraction(1, 50), Fraction(40))
ELEMENTARY: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp, "ln": math.log, "sin": math.sin, "cos": math.cos,
}  # fmt: skip


class _NoMember(InputError):  # noqa: N818
    """A column, singular value or entry that there is not."""


def tried(exercise: Exercise, answer: Answer, one: Judged, random: Random) -> list[bool | None]:
    """Whether a claim holds at its counterexample, or at random matrices; nothing where what is given does not."""
    setting = exercise.matrices or Matrices(shapes={}, sizes={})
    definitions = {name: parsed(source) for name, source in exercise.definitions.items()}
    definitions |= {name: said.node for name, said in answer.definitions.items()}
    under = [part for part in one.claim.under if isinstance(part, t.Relation)]
    example = one.decision.example
    if example is not None:
        world = MatricesWorld(setting, definitions, example.sizes, example.matrices)
        met = world.admissible() and all(world.says(part) is True for part in under)
        return [world.says(one.link) if met else None]
    given, relation = {*setting.shapes, *exercise.definitions}, one.link
    spoken = [part for part in t.every_name(relation) if f"{part.base}_*" in given and full_name(part) not in given]
    free = {name.base for part in spoken for name in t.every_name(part.index)} - given  # A v_i = ... is for every i
    free -= {part.index for part in t.walk(relation) if isinstance(part, t.BigSum | t.BigCall)}
    names = (
        {size for one in setting.shapes.values() for size in one if isinstance(size, str)} | set(setting.sizes) | free
    )
    names |= {name for name, known in exercise.parameters.items() if known.integer}
    names |= {name.base for source in setting.assume for name in t.every_name(parsed(source))}
    worlds = _drawn(setting, definitions, sorted(names), random)
    met_there = (world for world in worlds if all(world.says(part) is not False for part in under))
    return [world.says(relation) for world in islice(met_there, INSTANCES)]


@dataclass
class MatricesWorld:
    """Sizes, and matrices with exact entries; all else follows from the definitions."""

    setting: Matrices
    definitions: Mapping[str, t.Node]
    sizes: Mapping[str, int]
    matrices: Mapping[str, Rows]
    _values: dict[str, Rows] = field(default_factory=dict)
    _shapes: dict[str, Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """The letters of columns and of singular values, and the matrices that they are of."""
        pairs = [(about.split(","), facts) for about, facts in self.setting.facts.items()]
        self.families = {
            two[1].strip().removesuffix("_*"): (two[0].strip(), "columns" in facts)
            for two, facts in pairs
            if {"columns", "singular values"} & {*facts}
        }

    def says(self, relation: t.Node) -> bool | None:
        """Whether a chain of comparisons is true here; False where sizes cannot fit, None where it has no value."""
        try:
            known = typed(relation, self.shape_of)
            if not isinstance(known, t.Relation):
                return None
            values = [self.value(term, self.sizes) for term in known.terms]
            said = list(map(_compared, values, known.comparisons, values[1:]))
        except ShapeError:
            return False
        except (InputError, ArithmeticError, ValueError):
            return None
        return False if False in said else None if None in said else True

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
            if f"{name.base}_*" in given or (isinstance(name.index, t.Listing) and whole is not None):
                return Shape(*given.get(f"{name.base}_*", (1, 1)))
            if whole is not None and whole != SCALAR:
                size = spelt(name.index)
                return Shape(size if "diagonal" in self.setting.facts.get(name.base, ()) else whole.rows, size)
        return SCALAR if full in self.sizes else None

    def name(self, name: t.Name, at: Mapping[str, int]) -> Rows:
        """The value of a name: as written out, as defined, or a part of another."""
        full = full_name(name)
        if full in at:
            return [[Fraction(at[full])]]
        if full in self.matrices:
            return self.matrices[full]
        if full in self.definitions:
            if full not in self._values:
                equation = typed(t.Relation((name, self.definitions[full]), ("=",)), self.shape_of)  # for the size of I
                assert isinstance(equation, t.Relation)  # noqa: S101
                self._values[full] = self.value(equation.terms[1], self.sizes)
            return self._values[full]
        if full == "ones":
            return [[Fraction(1)]] * self._size(self.setting.shapes["ones"][0])
        if name.index is None:
            constants = {"pi": math.pi, "e": math.e}
            if full not in constants:
                raise InputError(f"{full} has no value")
            return [[constants[full]]]
        places = [_whole(self.value(item, at)) for item in t.listed(name.index)]
        if name.base == "I":
            return _identity(places[0])
        base, is_column = self.families.get(name.base, (name.base, False))
        whole, last = self.name(t.Name(base), at), places[-1]
        if not 1 <= last <= len(whole[0]) or not 1 <= places[0] <= max(len(whole), len(whole[0])):
            raise _NoMember(f"there is no {full} here")
        if is_column:
            return [[row[last - 1]] for row in whole]
        if name.base in self.families or len(places) == 2:
            return [[whole[places[0] - 1][last - 1]]]
        rows = last if "diagonal" in self.setting.facts.get(base, ()) else len(whole)
        return [row[:last] for row in whole[:rows]]  # U_k, S_k

    def _size(self, size: int | str) -> int:
        return size if isinstance(size, int) else self.sizes[size]

    def value(self, node: t.Node, at: Mapping[str, int]) -> Rows:
        """The value of a typed term; InputError and the like where it has none. A zero may be 1 x 1 in any shape."""
        match node:
            case t.Number(value):
                return [[value]]
            case t.Name():
                return self.name(node, at)
            case t.Sum(terms):
                return _sum([self.value(term, at) for term in terms])
            case t.Negative(body):
                return _product([[Fraction(-1)]], self.value(body, at))
            case t.Product(factors):
                total: Rows = [[Fraction(1)]]
                for factor in factors:
                    total = _product(total, self.value(factor, at))
                return total
            case t.Quotient(over, under):
                return _product([[1 / _single(self.value(under, at))]], self.value(over, at))
            case t.Power(base, exponent):
                return _power(self.value(base, at), _single(self.value(exponent, at)))
            case t.Transpose(body):
                return _flipped(self.value(body, at))
            case t.Inner(left, right):
                pairs = zip(_entries(self.value(left, at)), _entries(self.value(right, at)), strict=True)
                return [[sum((x * y for x, y in pairs), Fraction(0))]]
            case t.Norm(body, kind):
                inside = self.value(body, at)
                if kind == "F" or 1 in (len(inside), len(inside[0])):
                    return [[_root(sum((x * x for x in _entries(inside)), Fraction(0)))]]
                return [[_spectral(inside)]]
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if size is not None:
                entries = [_single(term) for term in self.terms(run, at)]
                entries += [Fraction(0)] * (_whole(self.value(size, at)) - len(entries))
                return [[x if i == j else Fraction(0) for j in range(len(entries))] for i, x in enumerate(entries)]
            case t.Call(function, arguments):
                return _call(function, [self.value(part, at) for part in arguments])
            case t.BigSum():
                return _sum([ZERO, *self.terms(node, at)])
            case t.BigCall("max" | "min" as word):
                found = [_single(term) for term in self.terms(node, at)]
                return [[max(found) if word == "max" else min(found)]]
            case _:
                raise InputError(f"{t.called(node)} has no value")

    def terms(self, node: t.BigSum | t.BigCall, at: Mapping[str, int]) -> Iterator[Rows]:
        """The terms of a sum; without an end it runs over all members that there are."""
        low = 1 if node.lower is None else _whole(self.value(node.lower, at))
        high = None if node.upper is None else _whole(self.value(node.upper, at))
        for place in range(low, MOST + 1 if high is None else high + 1):
            inside = {**at, node.index: place}
            met = all(self._met(condition, inside) for condition in node.conditions)
            try:
                term = self.value(node.body, inside) if met or high is None else ZERO
            except _NoMember:
                if high is None:
                    return
                raise
            if met:
                yield term
        if high is None:
            raise InputError("a sum without an end")

    def _met(self, condition: t.Node, at: Mapping[str, int]) -> bool:
        if not isinstance(condition, t.Relation):
            raise InputError("a condition that is no comparison")
        values = [self.value(term, at) for term in condition.terms]
        return all(map(_compared, values, condition.comparisons, values[1:]))

    def admissible(self) -> bool:
        """Whether all that is given holds: facts, sizes, differences."""
        different = [t.Relation((parsed(x), parsed(y)), ("!=",)) for x, y in self.setting.different]
        given = [*(parsed(source) for source in self.setting.assume), *different]
        met = all(self.says(one) is True for one in given)
        return met and all(self._satisfies(about, facts) for about, facts in self.setting.facts.items())

    def _satisfies(self, about: str, facts: Sequence[str]) -> bool:
        """Whether explicit matrices have the facts; what is not written out is not spoken of."""
        first, *others = (self.matrices.get(name.strip()) for name in about.split(","))
        if first is None:
            return True
        square = len(first) == len(first[0])
        upright = _product(_flipped(first), first) == _identity(len(first[0]))
        diagonal = not any(x for i, row in enumerate(first) for j, x in enumerate(row) if i != j)
        spectrum = [row[i] for i, row in enumerate(first) if i < len(row)]
        apart = not others or others[0] is None or not any(_entries(_product(_flipped(first), others[0])))
        said = {
            "permutation": square and upright and {*_entries(first)} <= {0, 1},
            "orthogonal": square and upright,
            "orthonormal columns": upright,
            "diagonal": square and diagonal,
            "positive": all(x > 0 for x in _entries(first)),
            "columns": True,
            "singular values": diagonal and spectrum == sorted(map(abs, spectrum), reverse=True),
            "orthogonal ranges": apart,
        }
        return all(said[fact] for fact in facts)


# Arithmetic


def _entries(rows: Rows) -> list[Number]:
    return [x for row in rows for x in row]


def _single(rows: Rows) -> Number:
    (entry,) = _entries(rows)
    return entry


def _whole(rows: Rows) -> int:
    entry = _single(rows)
    if entry != int(entry):
        raise InputError("an index that is no integer")
    return int(entry)


def _flipped(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def _identity(size: int) -> Rows:
    return [[Fraction(i == j) for j in range(size)] for i in range(size)]


def _sum(values: Sequence[Rows]) -> Rows:
    tall = [value for value in values if value != [[0]]] or [values[0]]
    if len({(len(value), len(value[0])) for value in tall}) > 1:
        raise InputError("a sum of different shapes")
    return [[sum(xs[1:], xs[0]) for xs in zip(*rows, strict=True)] for rows in zip(*tall, strict=True)]


def _product(left: Rows, right: Rows) -> Rows:
    for number, other in ((left, right), (right, left)):
        if len(number) == len(number[0]) == 1:
            return [[number[0][0] * x for x in row] for row in other]
    columns = list(zip(*right, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in left]


def _power(base: Rows, exponent: Number) -> Rows:
    if len(base) == len(base[0]) == 1:
        found = base[0][0] ** (int(exponent) if exponent == int(exponent) else float(exponent))
        return [[found]]
    size = len(base)
    if exponent < 0:
        both, rank = _reduced([[*row, *one] for row, one in zip(base, _identity(size), strict=True)], size)
        if rank < size:
            raise InputError("the inverse of a matrix that has none")
        base, exponent = [row[size:] for row in both], -exponent
    total = _identity(size)
    for _ in range(int(exponent)):
        total = _product(total, base)
    return total


def _reduced(rows: Rows, columns: int) -> tuple[Rows, int]:
    """With a 1 alone in as many of the first columns as possible, and how many these are."""
    found, rank = [list(row) for row in rows], 0
    if any(isinstance(x, float) for x in _entries(rows)):
        raise InputError("the rank of a matrix that is not exact")
    for column in range(columns):
        pivot = next((i for i in range(rank, len(found)) if found[i][column]), None)
        if pivot is not None:
            found[rank], found[pivot] = found[pivot], found[rank]
            found[rank] = [x / found[rank][column] for x in found[rank]]
            for i, row in enumerate(found):
                if i != rank:
                    found[i] = [x - row[column] * y for x, y in zip(row, found[rank], strict=True)]
            rank += 1
    return found, rank


def _root(value: Number) -> Number:
    """The square root, exact where it is rational."""
    if isinstance(value, Fraction) and value >= 0:
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
    return math.sqrt(value)


def _spectral(rows: Rows) -> float:
    """The largest singular value, as the root of trace(G^N)^(1/N) for G = A^T A and a large N."""
    gram, logarithm, weight = _product(_flipped(rows), rows), 0.0, 1.0
    for _ in range(60):
        trace = float(sum(row[i] for i, row in enumerate(gram)))
        if not trace:
            return 0.0
        logarithm += weight * math.log(trace)
        scaled = [[float(x) / trace for x in row] for row in gram]
        gram, weight = _product(scaled, scaled), weight / 2
    return math.exp(logarithm / 2)


def _call(function: str, values: Sequence[Rows]) -> Rows:
    given = values[0]
    match function:
        case "trace":
            return [[sum((row[i] for i, row in enumerate(given)), Fraction(0))]]
        case "relu":
            return [[max(x, Fraction(0)) for x in row] for row in given]
        case "softmax":
            powers = [[math.exp(float(x) - float(max(row))) for x in row] for row in given]
            return [[x / sum(row) for x in row] for row in powers]
        case "rank":
            return [[Fraction(_reduced(given, len(given[0]))[1])]]
        case "max" | "min":
            entries = [x for value in values for x in _entries(value)]
            return [[max(entries) if function == "max" else min(entries)]]
        case "abs" | "sqrt":
            return [[abs(_single(given)) if function == "abs" else _root(_single(given))]]
        case _ if function in ELEMENTARY:
            return [[ELEMENTARY[function](float(_single(given)))]]
        case _:
            raise InputError(f"{function} has no value here")


def _compared(left: Rows, sign: str, right: Rows) -> bool | None:
    """Whether a comparison holds: certain, or None; equal up to rounding counts as equal."""
    xs, ys = _entries(left), _entries(right)
    xs, ys = xs * len(ys) if left == ZERO else xs, ys * len(xs) if right == ZERO else ys
    rounded = any(isinstance(entry, float) for entry in (*xs, *ys))
    size = 1 + max(abs(float(entry)) for entry in (*xs, *ys)) if rounded else 0.0
    gaps = [x - y for x, y in zip(xs, ys, strict=True)]
    if not math.isfinite(size):
        return None
    near = all(abs(gap) <= NEAR * size for gap in gaps)
    if not near and not any(abs(gap) > APART * size for gap in gaps):
        return None
    if sign in ("=", "!="):
        return near == (sign == "=")
    (gap,) = gaps
    if near:
        return True if sign in ("<=", ">=") else None if rounded else False
    return {"<": gap < 0, "<=": gap < 0, ">": gap > 0, ">=": gap > 0}.get(sign)


# Random instances


def _drawn(
    setting: Matrices, definitions: Mapping[str, t.Node], names: Sequence[str], random: Random
) -> Iterator[MatricesWorld]:
    """Admissible worlds, of several sizes."""
    pairs = [about.split(",") for about, facts in setting.facts.items() if "orthogonal ranges" in facts]
    apart = [name.strip() for pair in pairs for name in pair]
    spectra = [about.split(",")[0].strip() for about, facts in setting.facts.items() if "singular values" in facts]
    for place in range(ATTEMPTS):
        sizes = {name: random.randint(1, (2, 3, 6)[place % 3]) for name in names}
        world, found = MatricesWorld(setting, definitions, sizes, {}), dict[str, Rows]()
        if not all(world.says(parsed(source)) for source in setting.assume):
            continue
        used: list[Sequence[Number]] = []  # columns of one orthogonal matrix that are taken
        for name, (height, width) in setting.shapes.items():
            if name.endswith("_*") or name in (*definitions, *sizes, "ones") or (height, width) == (1, 1):
                continue
            rows, columns = world._size(height), world._size(width)
            found[name] = _matrix(rows, columns, setting.facts.get(name, ()), name in spectra, random)
            if name in apart:
                basis = list(zip(*_orthogonal(rows, Random(place)), strict=True))[len(used) :]  # noqa: S311
                used += basis[:columns]
                found[name] = _flipped(basis[:columns]) if len(basis) >= columns else _identity(rows)
        world.matrices = found
        if world.admissible():
            yield world


def _matrix(rows: int, columns: int, facts: Sequence[str], falling: bool, random: Random) -> Rows:
    scale = random.choice(SCALES)
    if "permutation" in facts:
        order = random.sample(range(rows), rows)
        return [[Fraction(order[i] == j) for j in range(columns)] for i in range(rows)]
    if "orthogonal" in facts or "orthonormal columns" in facts:
        return [row[:columns] for row in _orthogonal(rows, random)]
    if falling or "diagonal" in facts:
        values = [Fraction(random.choice((0, 1, 1, 2, 3, 7))) * scale for _ in range(rows)]
        values = sorted(values, reverse=True) if falling else values
        return [[values[i] if i == j else Fraction(0) for j in range(rows)] for i in range(rows)]
    found = [[random.randint(-4, 4) * scale for _ in range(columns)] for _ in range(rows)]
    return [[abs(x) + 1 for x in row] for row in found] if "positive" in facts else found


def _orthogonal(size: int, random: Random) -> Rows:
    """An orthogonal matrix: mirrored along vectors of integers."""
    found = _identity(size)
    for _ in range(3):
        vector = [random.randint(-2, 2) for _ in range(size)]
        length = sum(x * x for x in vector)
        if length:
            minus = [[Fraction(-2 * x * y, length) for y in vector] for x in vector]
            found = _product(found, _sum([_identity(size), minus]))
    return found
