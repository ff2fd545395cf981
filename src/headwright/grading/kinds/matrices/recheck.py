"""Matrices written out: layers, singular value decompositions, bases, from the definitions; formulas entry by entry.

Numbers are exact fractions as long as they are rational, and floating-point numbers with a margin beyond that. Neither
the balls nor the forms that decide such statements are used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import islice
from random import Random
from typing import Any

from flint import fmpq, fmpq_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.errors import ShapeError
from headwright.formulas.shapes import SCALAR, Shape, shape, spelt, typed
from headwright.grading.answer import Answer, full_name
from headwright.grading.decision import Decision
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import Outcome
from headwright.grading.kinds.matrices.table import Matrices
from headwright.grading.recheck.outcomes import (
    UNCONFIRMED,
    confirmed,
    decided_instead,
)

Number = Any  # a Fraction as long as it is rational, a float beyond that
Rows = Sequence[Sequence[Number]]
INSTANCES, ATTEMPTS = 12, 400  # that are looked at, and that are drawn for these
ZERO: Rows = [[Fraction(0)]]
MOST = 60  # terms of a sum without an end
NEAR, APART = (
    1e-9,
    1e-6,
)  # beside the size of the numbers: equal up to rounding; certainly different
SCALES = (Fraction(1), Fraction(1), Fraction(1, 50), Fraction(40))


class _NoMember(InputError):  # noqa: N818
    """A column, singular value or entry that there is not."""


def recheck(
    exercise: Exercise,
    table: Matrices,
    answer: Answer,
    outcome: Outcome,
    random: Random,
) -> Outcome:
    """One outcome looked at again at its counterexample, or at random matrices."""
    decision = outcome.decision
    if decision.word not in ("proved", "refuted"):
        return outcome
    is_proved = decision.word == "proved"
    wanted = is_proved != outcome.claim.negated
    said = _tried(exercise, table, answer, outcome, random)
    at_random = decision.example is None
    unconfirmed = wanted not in said and (at_random or None in said)
    if not is_proved and unconfirmed:
        return decided_instead(outcome, Decision("undecided", UNCONFIRMED))
    # Sizes that do not fit may do so by chance.
    return confirmed(outcome, said, wanted, lenient=at_random)


def _tried(
    exercise: Exercise,
    setting: Matrices,
    answer: Answer,
    one: Outcome,
    random: Random,
) -> list[bool | None]:
    """Whether a claim holds at its counterexample, or at random matrices; nothing where what is given does not."""
    definitions = {
        name: parsed(source) for name, source in exercise.definitions.items()
    }
    definitions |= {name: said.node for name, said in answer.definitions.items()}
    under = [part for part in one.claim.under if isinstance(part, t.Relation)]
    example, relation = one.decision.example, one.link
    if example is not None:
        setting = setting.model_copy(
            update={"shapes": {**setting.shapes, **example.shapes}}
        )
        instance = MatricesInstance(
            setting, definitions, example.sizes, example.matrices
        )
        met = instance.admissible() and all(
            instance.says(part) is True for part in under
        )
        return [instance.says(relation) if met else None]
    given = {*setting.shapes, *exercise.definitions}
    spoken = [
        part
        for part in t.every_name(relation)
        if f"{part.base}_*" in given and full_name(part) not in given
    ]
    free = {
        name.base for part in spoken for name in t.every_name(part.index)
    } - given  # A v_i = ... is for every i
    free -= {
        part.index
        for part in t.walk(relation)
        if isinstance(part, t.BigSum | t.BigCall)
    }
    names = {
        *free,
        *setting.sizes,
        *(name for name, known in exercise.parameters.items() if known.integer),
    }
    names |= {
        size for two in setting.shapes.values() for size in two if isinstance(size, str)
    }
    names |= {
        name.base for source in setting.assume for name in t.every_name(parsed(source))
    }
    instances = _drawn(setting, definitions, sorted(names), random)
    met_there = (
        instance
        for instance in instances
        if all(instance.says(part) is not False for part in under)
    )
    return [instance.says(relation) for instance in islice(met_there, INSTANCES)]


@dataclass
class MatricesInstance:
    """Sizes, and matrices with exact entries; all else follows from the definitions."""

    setting: Matrices
    definitions: Mapping[str, t.Node]
    sizes: Mapping[str, int]
    matrices: Mapping[str, Rows]
    _values: dict[str, Rows] = field(default_factory=dict)
    _shapes: dict[str, Shape] = field(default_factory=dict)

    def says(self, relation: t.Node) -> bool | None:
        """Whether a chain of comparisons is true here; False where sizes cannot fit, None where it has no value."""
        try:
            return self.holds(typed(relation, self.shape_of), self.sizes)
        except ShapeError:
            return False
        except (InputError, ArithmeticError, ValueError):
            return None

    def holds(self, relation: t.Node, at: Mapping[str, int]) -> bool | None:
        """The same of a typed chain, with places for the indices of sums."""
        if not isinstance(relation, t.Relation):
            raise InputError("this is no comparison")
        values = [self.value(term, at) for term in relation.terms]
        said = list(map(_compared, values, relation.comparisons, values[1:]))
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
            if f"{name.base}_*" in given or (
                isinstance(name.index, t.Listing) and whole is not None
            ):
                return Shape(*given.get(f"{name.base}_*", (1, 1)))
            if whole is not None and whole != SCALAR:
                size = spelt(name.index)
                return Shape(
                    size
                    if "diagonal" in self.setting.facts.get(name.base, ())
                    else whole.rows,
                    size,
                )
        return SCALAR if full in self.sizes else None

    def name(self, name: t.Name, at: Mapping[str, int]) -> Rows:
        """The value of a name: as written out, as defined, or a part of another."""
        full, facts = full_name(name), self.setting.facts
        if full in at:
            return [[Fraction(at[full])]]
        if full in self.matrices:
            return self.matrices[full]
        if full in self.definitions:
            if full not in self._values:
                equation = typed(
                    t.Relation((name, self.definitions[full]), ("=",)), self.shape_of
                )  # for the size of I
                self._values[full] = self.value(
                    list(equation.children())[1], self.sizes
                )
            return self._values[full]
        if name.index is None:
            raise InputError(f"{full} has no value")
        places = [_whole(self.value(item, at)) for item in t.listed(name.index)]
        if name.base == "I":
            return _identity(places[0])
        about = next(
            (key for key in facts if key.endswith(f"{name.base}_*")), name.base
        )
        base, last = about.split(",")[0], places[-1]
        whole = self.name(t.Name(base), at)
        if not 1 <= last <= len(whole[0]) or not 1 <= places[0] <= max(
            len(whole), len(whole[0])
        ):
            raise _NoMember(f"there is no {full} here")
        if "columns" in facts.get(about, ()):
            return [[row[last - 1]] for row in whole]
        if about != base or len(places) == 2:  # a singular value, or an entry
            return [[whole[places[0] - 1][last - 1]]]
        return [
            row[:last]
            for row in (whole[:last] if "diagonal" in facts.get(base, ()) else whole)
        ]  # U_k, S_k

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
                return reduce(_product, (self.value(factor, at) for factor in factors))
            case t.Quotient(over, under):
                return _product(
                    [[1 / _single(self.value(under, at))]], self.value(over, at)
                )
            case t.Power(base, exponent):
                return _power(self.value(base, at), _single(self.value(exponent, at)))
            case t.Transpose(body):
                return _flipped(self.value(body, at))
            case t.Inner(left, right):
                x, y = (
                    [entry for row in self.value(side, at) for entry in row]
                    for side in (left, right)
                )
                return _product([x], [[entry] for entry in y])
            case t.Norm(body, kind):
                inside = self.value(body, at)
                short = kind == "F" or 1 in (len(inside), len(inside[0]))
                square = sum((x * x for row in inside for x in row), Fraction(0))
                return [[_root(square) if short else _spectral(inside)]]
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if (
                size is not None
            ):
                entries = [_single(term) for term in self.terms(run, at)]
                entries += [Fraction(0)] * (_whole(self.value(size, at)) - len(entries))
                return [
                    [x if i == j else Fraction(0) for j in range(len(entries))]
                    for i, x in enumerate(entries)
                ]
            case t.Call(function, (argument,)):
                return _call(function, self.value(argument, at))
            case t.BigSum():
                return _sum([ZERO, *self.terms(node, at)])
            case _:
                raise InputError(f"{t.called(node)} has no value")

    def terms(self, node: t.BigSum, at: Mapping[str, int]) -> Iterator[Rows]:
        """The terms of a sum; without an end it runs over all members that there are."""
        low = 1 if node.lower is None else _whole(self.value(node.lower, at))
        high = None if node.upper is None else _whole(self.value(node.upper, at))
        for place in range(low, MOST + 1 if high is None else high + 1):
            inside = {**at, node.index: place}
            met = all(self.holds(condition, inside) for condition in node.conditions)
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

    def admissible(self) -> bool:
        """Whether all that is given holds: sizes, differences, and the facts of what is written out."""
        different = [
            t.Relation((parsed(x), parsed(y)), ("!=",))
            for x, y in self.setting.different
        ]
        if not all(
            self.says(one) is True
            for one in (*map(parsed, self.setting.assume), *different)
        ):
            return False
        for about, facts in self.setting.facts.items():
            first, *others = (
                self.matrices.get(name.strip()) for name in about.split(",")
            )
            if first is None:
                continue
            square, gram = len(first) == len(first[0]), _product(_flipped(first), first)
            upright, entries = (
                gram == _identity(len(gram)),
                [x for row in first for x in row],
            )
            diagonal = square and not any(
                x for i, row in enumerate(first) for j, x in enumerate(row) if i != j
            )
            spectrum = [row[i] for i, row in enumerate(first) if i < len(row)]
            apart = [
                x
                for other in others
                if other is not None
                for row in _product(_flipped(first), other)
                for x in row
            ]
            met = {
                "permutation": square and upright and {*entries} <= {0, 1},
                "orthogonal": square and upright,
                "orthonormal columns": upright,
                "diagonal": diagonal,
                "positive": all(x > 0 for x in entries),
                "columns": True,
                "singular values": diagonal
                and spectrum == sorted(map(abs, spectrum), reverse=True),
                "orthogonal ranges": not any(apart),
            }
            if not all(met[fact] for fact in facts):
                return False
        return True


# Arithmetic


def _single(rows: Rows) -> Number:
    ((entry,),) = rows
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
    tall = [value for value in values if value != ZERO] or [ZERO]
    if len({(len(value), len(value[0])) for value in tall}) > 1:
        raise InputError("a sum of different shapes")
    return [
        [sum(xs[1:], xs[0]) for xs in zip(*rows, strict=True)]
        for rows in zip(*tall, strict=True)
    ]


def _product(left: Rows, right: Rows) -> Rows:
    for number, other in ((left, right), (right, left)):
        if len(number) == len(number[0]) == 1:
            return [[number[0][0] * x for x in row] for row in other]
    columns = list(zip(*right, strict=True))
    return [
        [
            sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0))
            for column in columns
        ]
        for row in left
    ]


def _power(base: Rows, exponent: Number) -> Rows:
    size = len(base)
    if size == len(base[0]) == 1:
        return [
            [
                base[0][0]
                ** (int(exponent) if exponent == int(exponent) else float(exponent))
            ]
        ]
    if exponent < 0:
        base = [
            [Fraction(int(x.p), int(x.q)) for x in row]
            for row in _exactly(base).inv().tolist()
        ]
    return reduce(_product, [base] * abs(int(exponent)), _identity(size))


def _exactly(rows: Rows) -> fmpq_mat:
    if any(isinstance(x, float) for row in rows for x in row):
        raise InputError("the rank or the inverse of a matrix that is not exact")
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows])


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


def _call(function: str, given: Rows) -> Rows:
    match function:
        case "trace":
            return [[sum((row[i] for i, row in enumerate(given)), Fraction(0))]]
        case "relu":
            return [[max(x, Fraction(0)) for x in row] for row in given]
        case "softmax":
            powers = [[math.exp(x - max(row)) for x in row] for row in given]
            return [[x / sum(row) for x in row] for row in powers]
        case "rank":
            return [[Fraction(_exactly(given).rank())]]
        case _ if function in ELEMENTARY:
            return [[ELEMENTARY[function](_single(given))]]
        case _:
            raise InputError(f"{function} has no value here")


ELEMENTARY: Mapping[str, Callable[[Number], Number]] = {
    "sqrt": _root,
    "exp": math.exp,
    "ln": math.log,
    "abs": abs,
}


def _compared(left: Rows, sign: str, right: Rows) -> bool | None:
    """Whether a comparison holds: certain, or None; equal up to rounding counts as equal."""
    xs, ys = ([x for row in side for x in row] for side in (left, right))
    xs, ys = xs * len(ys) if left == ZERO else xs, ys * len(xs) if right == ZERO else ys
    gaps = [x - y for x, y in zip(xs, ys, strict=True)]
    rounded = any(isinstance(gap, float) for gap in gaps)
    size = 1 + max(abs(float(entry)) for entry in (*xs, *ys)) if rounded else 0.0
    near = all(abs(gap) <= NEAR * size for gap in gaps)
    if not math.isfinite(size) or not (
        near or any(abs(gap) > APART * size for gap in gaps)
    ):
        return None
    if sign in ("=", "!="):
        return near == (sign == "=")
    (gap,) = gaps
    if near:
        return True if sign in ("<=", ">=") else None if rounded else False
    return {"<": gap < 0, "<=": gap < 0, ">": gap > 0, ">=": gap > 0}.get(sign)


# Random instances


def _drawn(
    setting: Matrices,
    definitions: Mapping[str, t.Node],
    names: Sequence[str],
    random: Random,
) -> Iterator[MatricesInstance]:
    """Admissible instances, of several sizes."""
    known = [
        (list(map(str.strip, about.split(","))), facts)
        for about, facts in setting.facts.items()
    ]
    spectra = [about[0] for about, facts in known if "singular values" in facts]
    apart = [
        name for about, facts in known if "orthogonal ranges" in facts for name in about
    ]
    for attempt in range(ATTEMPTS):
        sizes = {name: random.randint(1, (2, 3, 6)[attempt % 3]) for name in names}
        if not all(
            MatricesInstance(setting, {}, sizes, {}).says(parsed(source))
            for source in setting.assume
        ):
            continue
        used, found = 0, dict[str, Rows]()
        for name, shape_ in setting.shapes.items():
            if name.endswith("_*") or name in (*definitions, *sizes):
                continue
            rows, columns = (
                size if isinstance(size, int) else sizes[size] for size in shape_
            )
            facts, scale = setting.facts.get(name, ()), random.choice(SCALES)
            plainly = [
                [random.randint(-4, 4) * scale for _ in range(columns)]
                for _ in range(rows)
            ]
            if name == "ones":
                plainly = [[Fraction(1)]] * rows
            elif name in apart:
                plainly = [
                    row[used : used + columns]
                    for row in _orthogonal(rows, Random(attempt))  # noqa: S311
                ]
                used += columns
            elif "permutation" in facts:
                plainly = random.sample([list(row) for row in _identity(rows)], rows)
            elif "orthogonal" in facts or "orthonormal columns" in facts:
                plainly = [row[:columns] for row in _orthogonal(rows, random)]
            elif "diagonal" in facts:
                values = [
                    random.choice((0, 1, 1, 2, 3, 7)) * scale for _ in range(rows)
                ]
                values = sorted(values, reverse=True) if name in spectra else values
                plainly = [
                    [x if i == j else Fraction(0) for j in range(rows)]
                    for i, x in enumerate(values)
                ]
            elif "positive" in facts:
                plainly = [[abs(x) + 1 for x in row] for row in plainly]
            if columns > len(plainly[0]):  # there is no room for so many columns
                break
            found[name] = plainly
        else:
            instance = MatricesInstance(setting, definitions, sizes, found)
            if instance.admissible():
                yield instance


def _orthogonal(size: int, random: Random) -> list[list[Number]]:
    """An orthogonal matrix: mirrored along vectors of integers."""
    found = _identity(size)
    for _ in range(3):
        vector = [random.randint(-2, 2) for _ in range(size)]
        length = sum(x * x for x in vector) or 1
        minus = [[Fraction(-2 * x * y, length) for y in vector] for x in vector]
        found = _product(
            found,
            [
                [x + y for x, y in zip(*rows, strict=True)]
                for rows in zip(_identity(size), minus, strict=True)
            ],
        )
    return [list(row) for row in found]
