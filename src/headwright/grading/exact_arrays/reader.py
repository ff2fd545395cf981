"""The value of a formula as an exact array.

What names are is given as data: arrays, formulas, parameters, functions, letters of indices. An entry is written with
its place, alpha_1 or S_{12}, counted from 1; a letter in its place stands for the number that `indices` gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import answer as an
from headwright.grading import scalars
from headwright.grading.exact_arrays.array import (
    ONE,
    ZERO,
    ExactArray,
    MisshapenError,
    in_words,
    total_of,
)
from headwright.grading.scalars import Range, Scalar

DEEPEST = 20  # definitions that use one another
MOST_TERMS = 64  # of a sum over an index
ENTRYWISE: Mapping[str, Callable[[Scalar], Scalar]] = {
    "exp": scalars.exp,
    "ln": scalars.ln,
    "sqrt": scalars.sqrt,
    "abs": scalars.absolute,
    "sin": scalars.sin,
    "cos": scalars.cos,
}


def sigmoid(value: Scalar) -> Scalar:
    """1 / (1 + e^-x)."""
    return 1 / (1 + scalars.exp(-value))


@dataclass(frozen=True)
class ArrayReader:
    """What the names of formulas are."""

    definitions: Mapping[str, t.Node] = field(default_factory=dict)
    arrays: Mapping[str, ExactArray] = field(default_factory=dict)
    parameters: Mapping[str, Range] = field(default_factory=dict)
    functions: Mapping[str, Callable[[Scalar], Scalar]] = field(default_factory=dict)
    array_functions: Mapping[str, Callable[[ExactArray], ExactArray]] = field(
        default_factory=dict
    )
    indices: Mapping[str, int] = field(default_factory=dict)
    free_numbers: bool = False  # whether an unknown letter is a positive number
    common_size: int | None = None  # of I and the vector of ones, in products
    depth: int = 0
    memory: dict[str, ExactArray] = field(default_factory=dict, compare=False)

    def scalar(self, node: t.Node) -> Scalar:
        """The value of a formula that is a number."""
        value = self.value(node)
        if not value.is_number:
            raise an.MisfitError(
                f"this is {in_words(value.shape)}, where a number is needed", node
            )
        return value.entries[0]

    def value(self, node: t.Node) -> ExactArray:
        """The value of a formula; a MisfitError where it has none."""
        try:
            return self._value(node)
        except MisshapenError as error:
            raise an.WrongKindError(str(error), node) from None

    def _value(self, node: t.Node) -> ExactArray:
        match node:
            case t.Number(number):
                return ExactArray.number(number)
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                return self._sum(terms)
            case t.Negative(body):
                return self.value(body).scaled(-ONE)
            case t.Product(factors):
                return self._product(factors)
            case t.Inner(left, right):
                return self._dot(self.value(left), self.value(right))
            case t.Quotient(over, under):
                return self._quotient(over, under)
            case t.Power(base, exponent):
                return self._power(node, base, exponent)
            case t.Transpose(body):
                return self.value(body).transposed()
            case t.Norm(body, kind):
                return self._norm(node, self.value(body), kind)
            case t.Listing(items):
                return self._listing(items)
            case t.Matrix(rows):
                return self._matrix(node, rows)
            case t.BigSum():
                return self._big_sum(node)
            case t.Call(function, arguments):
                return self._call(node, function, arguments)
            case _:
                raise an.MisfitError(
                    f"{t.called(node)} has no meaning in this exercise", node
                )

    # Names

    def name(self, node: t.Name) -> ExactArray:
        """The value of a name, or of an entry of what it names."""
        full = an.full_name(node)
        if node.index is None and full in self.indices:
            return ExactArray.number(self.indices[full])
        if full in self.definitions:
            return self._defined(full, node)
        if full in self.arrays:
            return self.arrays[full]
        if full in self.parameters:
            return ExactArray.number(scalars.parameter(full, self.parameters[full]))
        if full in ("pi", "e"):
            constant = scalars.pi() if full == "pi" else scalars.exp(ONE)
            return ExactArray.number(constant)
        if node.index is not None and self._is_known(t.Name(node.base)):
            return self._entry(node, node.index)
        if node.base == "delta" and node.index is not None:
            return self._kronecker(node, node.index)
        if full == "I" and self.common_size is not None:
            return ExactArray.identity(self.common_size)
        if full == "ones" and self.common_size is not None:
            return ExactArray.filled((self.common_size, 1), ONE)
        if self.free_numbers and node.index is None and node.base.islower():
            return ExactArray.number(scalars.parameter(full, scalars.POSITIVE))
        raise an.MisfitError(f"{full} is not a name of this exercise", node)

    def _is_known(self, name: t.Name) -> bool:
        full = an.full_name(name)
        return full in self.definitions or full in self.arrays

    def _defined(self, full: str, node: t.Name) -> ExactArray:
        if self.depth > DEEPEST:
            raise an.MisfitError(f"{full} is defined by itself", node)
        if full not in self.memory:
            below = replace(self, depth=self.depth + 1, indices={})
            self.memory[full] = below.value(self.definitions[full])
        return self.memory[full]

    def _places(self, index: t.Node) -> list[int]:
        """The numbers that an index stands for: 2, i, 12, {1,2}, {i,j}."""
        if isinstance(index, t.Listing):
            return [place for item in index.items for place in self._places(item)]
        text = an.label(index)
        if text in self.indices:
            return [self.indices[text]]
        if text and all(letter in self.indices for letter in text):  # ij
            return [self.indices[letter] for letter in text]
        if text.isdigit():
            return [int(text)]
        raise an.MisfitError("which entry this is, is not known", index)

    def _entry(self, node: t.Name, index: t.Node) -> ExactArray:
        whole = self.name(replace(node, index=None))
        places = self._places(index)
        rows, columns = whole.shape
        if len(places) == 1 and not whole.is_vector and places[0] > max(9, rows):
            places = [int(digit) for digit in str(places[0])]  # S_{12} of a matrix
        elif len(places) == 1 and not whole.is_vector and places[0] > rows:
            places = [int(digit) for digit in str(places[0])]
        if whole.is_vector and len(places) == 1 and places[0] <= len(whole.entries):
            return ExactArray.number(whole.entries[places[0] - 1])
        if len(places) == 1 and 1 <= places[0] <= rows and not whole.is_vector:
            return ExactArray((whole.rows[places[0] - 1],)).transposed()
        if len(places) == 2 and 1 <= places[0] <= rows and 1 <= places[1] <= columns:
            return ExactArray.number(whole.rows[places[0] - 1][places[1] - 1])
        shown = an.full_name(node)
        raise an.MisfitError(
            f"{shown} does not exist: {node.base} is {in_words(whole.shape)}", node
        )

    def _kronecker(self, node: t.Name, index: t.Node) -> ExactArray:
        places = self._places(index)
        if len(places) != 2:
            raise an.MisfitError(f"{an.full_name(node)} is not known here", node)
        return ExactArray.number(ONE if places[0] == places[1] else ZERO)

    # Sums and products

    def _sum(self, terms: tuple[t.Node, ...]) -> ExactArray:
        """The sum; I and the vector of ones take the shape of the other terms."""
        sized = [term for term in terms if not self.is_unsized(term)]
        total: ExactArray | None = None
        for term in sized:
            value = self.value(term)
            total = value if total is None else total.plus(self._fitting(total, value))
        for term in terms:
            if total is not None and self.is_unsized(term):
                total = total.plus(self._sized(term, total.shape))
        if total is None:
            return self.value(terms[0])
        return total

    @staticmethod
    def _fitting(total: ExactArray, value: ExactArray) -> ExactArray:
        """A written 0 has any shape; a row stands for the column of the same entries."""
        if value.is_number and value.entries[0] == ZERO:
            return ExactArray.filled(total.shape, ZERO)
        if (
            total.is_vector
            and value.is_vector
            and value.shape == tuple(reversed(total.shape))
        ):
            return value.transposed()
        return value

    def is_unsized(self, node: t.Node) -> bool:
        """I and the vector of ones, which take their size from what stands beside them."""
        body = node.body if isinstance(node, t.Negative) else node
        return body in (t.Name("I"), t.Name("ones")) and not self._is_known(body)

    def _sized(self, term: t.Node, shape: tuple[int, int]) -> ExactArray:
        negative = isinstance(term, t.Negative)
        body = term.body if isinstance(term, t.Negative) else term
        if body == t.Name("I") and shape[0] == shape[1]:
            value = ExactArray.identity(shape[0])
        elif body == t.Name("ones"):
            value = ExactArray.filled(shape, ONE)
        else:
            raise MisshapenError(f"I is no {in_words(shape)}")
        return value.scaled(-ONE) if negative else value

    def _product(self, factors: tuple[t.Node, ...]) -> ExactArray:
        """From left to right; a name of a function is applied to the factor after it."""
        values: list[ExactArray] = []
        waiting: Callable[[Scalar], Scalar] | None = None
        for factor in factors:
            if waiting is not None:
                values.append(self.value(factor).mapped(waiting))
                waiting = None
                continue
            waiting = self._function(factor)
            is_neutral = self.is_unsized(factor) and factor == t.Name("I")
            if waiting is None and not (is_neutral and len(factors) > 1):
                values.append(self.value(factor))
        if waiting is not None:
            raise an.MisfitError("of what this is taken is not said", factors[-1])
        return reduce(ExactArray.times, values)

    def _function(self, factor: t.Node) -> Callable[[Scalar], Scalar] | None:
        if not isinstance(factor, t.Name) or factor.index is not None:
            return None
        function = self.functions.get(factor.base)
        if function is None or factor.primes == 0:
            return function
        if factor.primes > 1:
            raise an.MisfitError("only a first derivative is read", factor)
        return lambda value: _slope(function, value)

    @staticmethod
    def _dot(left: ExactArray, right: ExactArray) -> ExactArray:
        """a . b: of two vectors their inner product, else the product."""
        if left.is_vector and right.is_vector:
            column = right if right.shape[1] == 1 else right.transposed()
            row = left if left.shape[0] == 1 else left.transposed()
            return row.times(column)
        return left.times(right)

    def _quotient(self, over: t.Node, under: t.Node) -> ExactArray:
        below = self.scalar(under)
        if below == ZERO:
            raise an.MisfitError("this is 0, and something is divided by it", under)
        return self.value(over).scaled(ONE / below)

    def _power(self, node: t.Node, base: t.Node, exponent: t.Node) -> ExactArray:
        value, power = self.value(base), self.scalar(exponent)
        if value.is_number:
            return ExactArray.number(value.entries[0] ** power)
        raise an.MisfitError("a power of an array has no meaning here", node)

    @staticmethod
    def _norm(node: t.Node, value: ExactArray, kind: str) -> ExactArray:
        if value.is_number and not kind:
            return ExactArray.number(scalars.absolute(value.entries[0]))
        if not (value.is_vector or value.is_number or kind == "F"):
            raise an.MisfitError("the norm of a matrix has no meaning here", node)
        return ExactArray.number(scalars.sqrt(value.squared_length()))

    def _big_sum(self, node: t.BigSum) -> ExactArray:
        if node.conditions or node.lower is None or node.upper is None:
            return self._sum_over_entries(node)
        low, high = self.scalar(node.lower).rational, self.scalar(node.upper).rational
        if low is None or high is None or low.denominator * high.denominator != 1:
            raise an.MisfitError("from where to where this sum goes is not known", node)
        if high - low >= MOST_TERMS:
            raise an.MisfitError(f"a sum of more than {MOST_TERMS} terms", node)
        return self._summed(node, range(int(low), int(high) + 1))

    def _sum_over_entries(self, node: t.BigSum) -> ExactArray:
        """sum_j p_j, sum_{j != i} p_j: over all entries of what carries the index."""
        sizes = self.sizes_of(node.index, node.body)
        if len(sizes) != 1 or node.lower is not None or node.upper is not None:
            raise an.MisfitError("from where to where this sum goes is not known", node)
        places = range(1, sizes.pop() + 1)
        kept = [place for place in places if self._admits(node, place)]
        return self._summed(node, kept)

    def sizes_of(self, letter: str, node: t.Node) -> set[int]:
        """How many values a letter in indices has, by the sizes of what carries it."""
        sizes = set()
        for name in t.every_name(node):
            if name.index is None or not self._is_known(t.Name(name.base)):
                continue
            if an.full_name(name) in self.definitions:
                continue
            whole = self.name(t.Name(name.base))
            items = list(t.listed(name.index))
            text = an.label(name.index)
            if len(items) == 1 and len(text) == 2 and not text.isdigit():
                items = [t.Name(single) for single in text]
            for axis, item in enumerate(items):
                if item == t.Name(letter):
                    one_axis = whole.is_vector and len(items) == 1
                    sizes.add(len(whole.entries) if one_axis else whole.shape[axis])
        return sizes

    def _admits(self, node: t.BigSum, place: int) -> bool:
        here = replace(self, indices={**self.indices, node.index: place}, memory={})
        return all(here.holds(condition) for condition in node.conditions)

    def holds(self, condition: t.Node) -> bool:
        """Whether a comparison of numbers that are written out is true: j != i."""
        match condition:
            case t.Relation((left, right), (sign,)) if sign in an.SIGNS:
                x, y = self.scalar(left).rational, self.scalar(right).rational
                if x is not None and y is not None:
                    return an.compared(x, sign, y)
        raise an.MisfitError("this condition is not understood", condition)

    def _summed(self, node: t.BigSum, places: range | list[int]) -> ExactArray:
        values = []
        for place in places:
            here = replace(self, indices={**self.indices, node.index: place})
            values.append(here.value(node.body))
        if not values:
            return ExactArray.number(0)
        return reduce(ExactArray.plus, values)

    # What is written out

    def _listing(self, items: tuple[t.Node, ...]) -> ExactArray:
        if t.has_dots(items):
            raise an.MisfitError("what dots stand for is not known", items[0])
        return ExactArray.column([self.scalar(item) for item in items])

    def _matrix(self, node: t.Node, rows: tuple[t.Listing, ...]) -> ExactArray:
        values = [[self.scalar(item) for item in row.items] for row in rows]
        if any(len(above) != len(below) for above, below in pairwise(values)):
            raise an.MisfitError("the rows of this matrix differ in length", node)
        return ExactArray.of_rows(values)

    def _call(
        self, node: t.Node, function: str, arguments: tuple[t.Node, ...]
    ) -> ExactArray:
        if function == "hadamard":
            left, right = map(self.value, arguments)
            return left.combined(self._fitting(left, right), lambda x, y: x * y)
        if function == "diag" and len(arguments) > 1:
            return _diagonal(self._listing(arguments))
        if len(arguments) == 1:
            value = self.value(arguments[0])
            if function in ENTRYWISE:
                return value.mapped(ENTRYWISE[function])
            if function in self.functions:
                return value.mapped(self.functions[function])
            if function in self.array_functions:
                return self.array_functions[function](value)
            if function == "softmax":
                return value.softmax()
            if function == "trace" and value.shape[0] == value.shape[1]:
                diagonal = [row[i] for i, row in enumerate(value.rows)]
                return ExactArray.number(total_of(diagonal))
            if function == "diag" and value.is_vector:
                return _diagonal(value)
        raise an.MisfitError(f"{plain(node)} has no meaning in this exercise", node)


def with_calls(node: t.Node, functions: Collection[str]) -> t.Node:
    """A formula in which a name of a function before a factor is a call: causal(S) is no product."""
    node = t.mapped(node, lambda part: with_calls(part, functions))
    if not isinstance(node, t.Product):
        return node
    factors: list[t.Node] = []
    waiting = ""
    for factor in node.factors:
        if waiting:
            factors.append(t.Call(waiting, (factor,), span=factor.span))
            waiting = ""
        elif isinstance(factor, t.Name) and factor in map(t.Name, functions):
            waiting = factor.base
        else:
            factors.append(factor)
    if waiting:
        raise an.MisfitError("of what this is taken is not said", node)
    return factors[0] if len(factors) == 1 else replace(node, factors=tuple(factors))


def _diagonal(value: ExactArray) -> ExactArray:
    size = len(value.entries)
    rows = [
        [value.entries[i] if i == j else ZERO for j in range(size)] for i in range(size)
    ]
    return ExactArray.of_rows(rows)


def _slope(function: Callable[[Scalar], Scalar], value: Scalar) -> Scalar:
    """The derivative of a function, at a place."""
    inner = scalars.parameter("x_slope")
    return scalars.derivative(function(inner), "x_slope").put({"x_slope": value})


def rational(value: Fraction | int | str) -> Scalar:
    """A number as a scalar."""
    return scalars.number(Fraction(value))
