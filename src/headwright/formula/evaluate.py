"""The value of a formula in ball arithmetic: what comes out is proven, however it was rounded on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb, arb_mat

from headwright.formula.shaping.rewrite import mapped, plain
from headwright.formula.tree import (
    BigSum,
    Call,
    Inner,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Transpose,
)
from headwright.formula.valuing import balls, functions
from headwright.formula.valuing.balls import DEFAULT_BITS, Budget, NoValue, TooMuch, Undefined, precision
from headwright.formula.valuing.compare import compare

__all__ = ["Budget", "NoValue", "TooMuch", "Undefined", "compare", "evaluate", "precision"]

ValueOf = Callable[[Name], arb_mat | None]
RangeOf = Callable[[str], tuple[int, int] | None]


def evaluate(
    node: Node,
    value_of: ValueOf,
    *,
    budget: Budget | None = None,
    bits: int = DEFAULT_BITS,
    range_of: RangeOf | None = None,
) -> arb_mat:
    """The value of a typed term, as balls that contain it; numbers are 1 x 1.

    value_of gives the values of names; a name whose index is an expression (sigma_{k-1}) is asked for as written, then
    with the index as the number it comes to. range_of says where an index runs that has no bounds (sum_i).

    >>> from headwright.formula.tree import Name, Number
    >>> value = evaluate(Power(Number(Fraction(2)), Name("x")), lambda name: balls.scalar(10))
    >>> value[0, 0]
    1024.00000000000
    """
    with precision(bits):
        value = _Evaluation(value_of, budget or Budget(), range_of, {}).of(node)
        return balls.scalar(0) if value is None else value


@dataclass(frozen=True)
class _Evaluation:
    value_of: ValueOf
    budget: Budget
    range_of: RangeOf | None
    bound: Mapping[str, int]

    def of(self, node: Node) -> arb_mat | None:
        """The value; None is a zero whose shape is not known here: a written 0, or an empty sum."""
        self.budget.spend(1)
        match node:
            case Number(exactly):
                return balls.scalar(balls.ball(exactly)) if exactly else None
            case Name():
                return self.name(node)
            case Sum(terms):
                values = [value for value in map(self.of, terms) if value is not None]
                return self.total(values)
            case Negative(body):
                value = self.of(body)
                return None if value is None else -value
            case Product(factors):
                result = self.of(factors[0])
                for factor in factors[1:]:
                    result = self.times(result, self.of(factor))
                return result
            case Quotient(over, under):
                value, divisor = self.of(over), self.number(under)
                known = balls.divided(balls.scalar(0) if value is None else value, divisor)
                return None if value is None else known
            case Power(base, exponent):
                return self.power(self.of(base), exponent)
            case Transpose(body):
                value = self.of(body)
                return None if value is None else value.transpose()
            case Inner(left, right):
                return self.inner(self.of(left), self.of(right))
            case Norm(body, kind):
                return functions.norm(self.of(body), kind, self.budget)
            case Call(function, arguments):
                return functions.call(function, [self.of(part) for part in arguments], self.budget)
            case BigSum():
                return self.big_sum(node)
            case Matrix(rows):
                return functions.matrix([[self.of(entry) for entry in row.items] for row in rows])
            case _:
                raise NoValue(f"a {type(node).__name__.lower()} has no value: it is a statement or a list")

    def number(self, node: Node) -> arb:
        """The value of what must be a number."""
        value = self.of(node)
        return arb(0) if value is None else functions.single(value)

    # Names

    def name(self, node: Name) -> arb_mat | None:
        if node.index is None and not node.primes and node.base in self.bound:
            return balls.scalar(self.bound[node.base])
        written = node if node.index is None else mapped(node, self.with_numbers)
        value = self.value_of(written) if isinstance(written, Name) else None
        if value is None and node.index is not None and not isinstance(node.index, Number):
            value = self.indexed(node)
        if value is None and node.index is None and not node.primes and node.base in ("pi", "e"):
            return balls.scalar(arb.pi() if node.base == "pi" else arb.const_e())
        if value is None and node.base == "I" and node.index is not None:
            size = self.integer(node.index, "the size of I")
            self.budget.spend(size * size)
            return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        if value is None:
            raise NoValue(f"{plain(node)} has no value here")
        return value

    def with_numbers(self, node: Node) -> Node:
        """An index with the numbers of the sums around it in place of their names."""
        if isinstance(node, Name) and node.index is None and node.base in self.bound:
            return Number(Fraction(self.bound[node.base]))
        return mapped(node, self.with_numbers)

    def indexed(self, node: Name) -> arb_mat | None:
        try:
            place = self.integer(node.index, "an index") if node.index is not None else 0
        except NoValue:
            return None
        return self.value_of(Name(node.base, Number(Fraction(place)), node.primes))

    def integer(self, node: Node, what: str) -> int:
        found = balls.whole(self.number(node))
        if found is None:
            raise NoValue(f"{what} must be a whole number, and {plain(node)} is not")
        return found

    # Arithmetic

    def total(self, values: list[arb_mat]) -> arb_mat | None:
        if not values:
            return None
        result = values[0]
        for value in values[1:]:
            if (value.nrows(), value.ncols()) != (result.nrows(), result.ncols()):
                raise NoValue("terms of different shapes cannot be added: type the formula first")
            self.budget.spend(value.nrows() * value.ncols())
            result = result + value
        return result

    def times(self, left: arb_mat | None, right: arb_mat | None) -> arb_mat | None:
        if left is None or right is None:
            return None
        for number, other in ((left, right), (right, left)):
            if number.nrows() == number.ncols() == 1:
                self.budget.spend(other.nrows() * other.ncols())
                return other * number[0, 0]
        if left.ncols() != right.nrows():
            raise NoValue("factors whose sizes do not meet cannot be multiplied: type the formula first")
        self.budget.spend(left.nrows() * left.ncols() * right.ncols())
        return left * right

    def inner(self, left: arb_mat | None, right: arb_mat | None) -> arb_mat | None:
        if left is None or right is None:
            return None
        first, second = left.entries(), right.entries()
        if len(first) != len(second):
            raise NoValue("vectors of different lengths have no inner product")
        self.budget.spend(len(first))
        return balls.scalar(sum((a * b for a, b in zip(first, second, strict=True)), arb(0)))

    def power(self, base: arb_mat | None, exponent: Node) -> arb_mat | None:
        if base is None or base.nrows() == base.ncols() == 1:
            number = arb(0) if base is None else base[0, 0]
            return balls.scalar(balls.power(number, self.number(exponent)))
        times = self.integer(exponent, "the exponent of a matrix")
        size = base.nrows()
        if times < 0 or size != base.ncols():
            raise NoValue("only square matrices have powers, and the exponent must not be negative")
        self.budget.spend(size**3 * (2 * times.bit_length() + 1))
        largest = balls.frobenius(base).upper()
        if largest > 1 and times * arb(largest).log() > balls.LARGEST:
            raise TooMuch(f"a matrix to the power {times} is too large")
        return base**times

    # Sums over an index

    def big_sum(self, node: BigSum) -> arb_mat | None:
        first, last = self.ends(node)
        self.budget.spend(max(0, last - first + 1))
        result: arb_mat | None = None
        for place in range(first, last + 1):
            inside = _Evaluation(self.value_of, self.budget, self.range_of, {**self.bound, node.index: place})
            if all(inside.holds(condition) for condition in node.conditions):
                value = inside.of(node.body)
                if value is not None:
                    result = value if result is None else self.total([result, value])
        return result

    def ends(self, node: BigSum) -> tuple[int, int]:
        known = self.range_of(node.index) if self.range_of is not None else None
        if known is None and (node.lower is None or node.upper is None):
            raise NoValue(f"the sum over {node.index} has no bounds: write sum_{{{node.index}=1}}^{{n}}")
        first = known[0] if node.lower is None and known else self.integer_or_zero(node.lower)
        last = known[1] if node.upper is None and known else self.integer_or_zero(node.upper)
        return first, last

    def integer_or_zero(self, node: Node | None) -> int:
        return 0 if node is None else self.integer(node, "an end of a sum")

    def holds(self, condition: Relation) -> bool:
        values = [self.number(term) for term in condition.terms]
        for (left, right), sign in zip(pairwise(values), condition.comparisons, strict=True):
            said = compare(balls.scalar(left), sign, balls.scalar(right))
            if said is None:
                raise Undefined("a condition of a sum that cannot be decided")
            if not said:
                return False
        return True
