"""The value of a formula in ball arithmetic: what comes out is proven, however it was rounded on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import ge, gt, le, lt

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.show import plain

DEFAULT_BITS = 128
LARGEST = 2**20  # a power beyond 2^LARGEST is refused
DEFAULT_BUDGET = 200_000


class TooMuch(InputError):  # noqa: N818
    """More work than was allowed, or a number too large to be of use."""


class Undefined(InputError):  # noqa: N818
    """No value, or none that is certain: a division by what may be 0, the root of what may be negative."""


class NoValue(InputError):  # noqa: N818
    """A name without a value, or a function that has no number."""


@dataclass
class Budget:
    """Operations that may be done; shared by whatever is evaluated with it."""

    allowed: int = DEFAULT_BUDGET
    spent: int = 0

    def spend(self, operations: int) -> None:
        """Pay before working."""
        if self.spent + operations > self.allowed:
            raise TooMuch(
                f"more than {self.allowed} operations are needed: make the sums or the matrices smaller"
            )
        self.spent += operations


@contextmanager
def precision(bits: int = DEFAULT_BITS) -> Iterator[None]:
    """Balls of so many bits inside, as before outside: flint's precision belongs to the whole process."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """The tightest ball around a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def scalar(value: arb | int) -> arb_mat:
    """A number as a matrix of one entry."""
    return arb_mat([[value]])


def identity(size: int) -> arb_mat:
    """The identity of a size."""
    return arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def whole(number: arb) -> int | None:
    """The integer that a ball is, if it is exactly one."""
    found = number.unique_fmpz() if number.is_exact() else None
    return None if found is None else int(found)


def root(number: arb) -> arb:
    """The square root; Undefined if the number may be negative."""
    if not number >= 0:
        raise Undefined(f"the square root of {number.str(8)}, which may be negative")
    return number.sqrt()


def logarithm(number: arb) -> arb:
    """The natural logarithm; Undefined if the number may be 0 or negative."""
    if not number > 0:
        raise Undefined(f"the logarithm of {number.str(8)}, which may not be positive")
    return number.log()


def exponential(number: arb) -> arb:
    """e to a power, unless that is beyond all use."""
    if not number <= LARGEST:
        raise TooMuch(f"e^{number.str(8)} is too large")
    return number.exp()


def power(base: arb, exponent: arb) -> arb:
    """A real power. Whole exponents take any base; others take a base that is certainly not negative."""
    number = whole(exponent)
    if number is not None and number < 0 and base.contains(0):
        raise Undefined(f"{base.str(8)}, which may be 0, to the power {number}")
    for magnitude in (
        arb(abs(base).upper()),
        arb(abs(base).lower()),
    ):  # refused before it is computed
        if magnitude > 0 and not (exponent * magnitude.log()).upper() <= LARGEST:
            raise TooMuch(f"{base.str(8)}^{exponent.str(8)} is too large")
    if number is not None:
        return base**number
    if exponent == 0.5 and base >= 0:
        return base.sqrt()
    if base > 0:
        return (exponent * base.log()).exp()
    if base >= 0 and exponent > 0:
        top = base.upper()
        return arb(0).union((exponent * top.log()).exp() if top > 0 else arb(0))
    raise Undefined(
        f"{base.str(8)}, which may not be positive, to the power {exponent.str(8)}"
    )


def positive_part(number: arb) -> arb:
    """relu of a number: the hull of what is possible where the sign is not known."""
    if number >= 0:
        return number
    return arb(0) if number <= 0 else arb(0).union(arb(number.upper()))


def softmax(rows: Sequence[Sequence[arb]]) -> arb_mat:
    """Row by row; the largest midpoint is subtracted first, which changes nothing and avoids large numbers."""
    result = []
    for row in rows:
        middle = max((entry.mid() for entry in row), key=lambda entry: entry)
        powers = [exponential(entry - middle) for entry in row]
        total = sum(powers[1:], powers[0])
        if not total > 0:
            raise Undefined("a softmax of numbers that are hardly known")
        result.append([entry / total for entry in powers])
    return arb_mat(result)


def frobenius(matrix: arb_mat) -> arb:
    """The root of the sum of squares."""
    entries = matrix.entries()
    if len(entries) == 1:
        return abs(entries[0])
    return sum((entry * entry for entry in entries), arb(0)).nonnegative_part().sqrt()


def spectral(matrix: arb_mat) -> arb:
    """The largest singular value: with G = A^T A of size m and N = 2^k, l^N <= trace(G^N) <= m l^N for l = |A|^2."""
    whole_norm = frobenius(matrix)
    size = min(matrix.nrows(), matrix.ncols())
    if size == 1:
        return whole_norm
    gram = (
        matrix.transpose() * matrix
        if matrix.ncols() == size
        else matrix * matrix.transpose()
    )
    high = arb(
        0
    )  # the logarithm of trace(G^N)^(1/N), collected so that nothing overflows
    weight = arb(2)  # 1/N
    for _ in range(ctx.prec // 3 + 1):
        weight /= 2
        trace = gram.trace()
        if not trace > 0 or not trace.is_finite():
            return (whole_norm / arb(size).sqrt()).union(
                whole_norm
            )  # |A|_F / sqrt m <= |A|_2 <= |A|_F
        high += weight * trace.log()
        gram = gram / trace
        gram = gram * gram
    low = high - weight * arb(size).log()
    return (low / 2).exp().union((high / 2).exp())


_ORDERS: Mapping[
    str, tuple[Callable[[arb, arb], bool], Callable[[arb, arb], bool]]
] = {  # what it says, what denies it
    "<": (lt, ge),
    ">": (gt, le),
    "<=": (le, gt),
    ">=": (ge, lt),
}


def compare(left: arb_mat, comparison: t.Comparison, right: arb_mat) -> bool | None:
    """Whether a comparison holds: True or False only when that is certain, None when the balls do not decide.

    A number 0 is compared with every entry of a matrix.
    """
    sides = [left.entries(), right.entries()]
    if (left.nrows(), left.ncols()) != (right.nrows(), right.ncols()):
        zero = next(
            (
                place
                for place, side in enumerate(sides)
                if len(side) == 1 and side[0].is_zero()
            ),
            None,
        )
        if zero is None:
            raise NoValue("values of different shapes cannot be compared")
        sides[zero] = sides[zero] * len(sides[1 - zero])
    pairs = list(zip(*sides, strict=True))
    if comparison in ("=", "!="):
        if any(not a.overlaps(b) for a, b in pairs):
            return comparison == "!="
        same = all(a.is_exact() and b.is_exact() and a == b for a, b in pairs)
        return comparison == "=" if same else None
    if comparison not in _ORDERS:
        return None
    if len(pairs) != 1:
        raise NoValue("matrices have no order: only numbers are larger or smaller")
    said, denied = _ORDERS[comparison]
    return True if said(*pairs[0]) else False if denied(*pairs[0]) else None


ELEMENTARY: Mapping[str, Callable[[arb], arb]] = {
    "exp": exponential,
    "ln": logarithm,
    "sqrt": root,
    "sin": arb.sin,
    "cos": arb.cos,
    "abs": abs,
}


def norm(value: arb_mat | None, kind: str, budget: Budget) -> arb_mat:
    """Frobenius, spectral, or the length of a vector."""
    if value is None:
        return scalar(0)
    budget.spend(value.nrows() * value.ncols())
    if kind == "F" or 1 in (value.nrows(), value.ncols()):
        return scalar(frobenius(value))
    beside = [
        entry
        for i, row in enumerate(value.tolist())
        for j, entry in enumerate(row)
        if i != j
    ]
    if all(entry.is_zero() for entry in beside):
        return scalar(
            reduce(
                arb.max,
                [abs(value[i, i]) for i in range(min(value.nrows(), value.ncols()))],
                arb(0),
            )
        )
    budget.spend(50 * min(value.nrows(), value.ncols()) ** 3)
    return scalar(spectral(value))


def trace(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat | None:
    """The sum of the diagonal."""
    del budget
    return None if values[0] is None else scalar(values[0].trace())


def relu(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat | None:
    """Entry by entry."""
    del budget
    if values[0] is None:
        return None
    rows = values[0].tolist()
    return arb_mat([[positive_part(entry) for entry in row] for row in rows])


def largest(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat:
    """The largest of all entries."""
    del budget
    return scalar(reduce(arb.max, _entries(values)))


def smallest(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat:
    """The smallest of all entries."""
    del budget
    return scalar(reduce(arb.min, _entries(values)))


def _entries(values: Sequence[arb_mat | None]) -> list[arb]:
    entries: list[arb] = []
    for value in values:
        entries += [arb(0)] if value is None else value.entries()
    return entries


def diagonal(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat:
    """A matrix with these entries on its diagonal."""
    if None in values:
        raise NoValue("diag has no value here")
    entries = _entries(values)
    size = range(len(entries))
    budget.spend(len(entries) ** 2)
    return arb_mat([[entries[i] if i == j else arb(0) for j in size] for i in size])


def row_softmax(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat:
    """The softmax of each row of a matrix."""
    if values[0] is None:
        raise NoValue("softmax has no value here")
    rows, columns = values[0].nrows(), values[0].ncols()
    budget.spend(2 * rows * columns)
    if columns == 1 and rows > 1:
        raise NoValue(
            "the softmax of a column: type the formula first, which tells columns from matrices"
        )
    return softmax(values[0].tolist())


def rank(values: Sequence[arb_mat | None], budget: Budget) -> arb_mat:
    """The rank of a matrix whose entries are exact."""
    del budget
    if values[0] is None:
        return scalar(0)
    rows = values[0].tolist()
    if not all(entry.is_exact() for row in rows for entry in row):
        raise NoValue("the rank of a matrix whose entries are not exact")
    exact = fmpq_mat([[entry.fmpq() for entry in row] for row in rows])
    return scalar(int(exact.rank()))


MatrixFunction = Callable[[Sequence[arb_mat | None], Budget], arb_mat | None]
OF_MATRICES: Mapping[str, MatrixFunction] = {
    "trace": trace,
    "relu": relu,
    "max": largest,
    "min": smallest,
    "diag": diagonal,
    "softmax": row_softmax,
    "rank": rank,
}


def call(
    function: str, values: Sequence[arb_mat | None], budget: Budget
) -> arb_mat | None:
    """A function of values; None is a zero of unknown shape."""
    if function in ELEMENTARY:
        number = arb(0) if values[0] is None else single(values[0])
        return scalar(ELEMENTARY[function](number))
    if function in OF_MATRICES:
        return OF_MATRICES[function](values, budget)
    raise NoValue(f"{function} has no value here")


def single(value: arb_mat) -> arb:
    """The only entry of what must be a number."""
    if value.nrows() != 1 or value.ncols() != 1:
        raise NoValue(
            f"a matrix of {value.nrows()} x {value.ncols()} stands where a number is needed"
        )
    return value[0, 0]


ValueOf = Callable[[t.Name], arb_mat | None]
RangeOf = Callable[[str], tuple[int, int] | None]


def evaluate(
    node: t.Node,
    value_of: ValueOf,
    *,
    budget: Budget | None = None,
    bits: int = DEFAULT_BITS,
    range_of: RangeOf | None = None,
) -> arb_mat:
    """The value of a typed term, as balls that contain it; numbers are 1 x 1.

    value_of gives the values of names; a name whose index is an expression (sigma_{k-1}) is asked for as written, then
    with the index as the number it comes to. range_of says where an index runs that has no bounds (sum_i).
    """
    with precision(bits):
        value = _Evaluation(value_of, budget or Budget(), range_of, {}).of(node)
        return scalar(0) if value is None else value


@dataclass(frozen=True)
class _Evaluation:
    value_of: ValueOf
    budget: Budget
    range_of: RangeOf | None
    bound: Mapping[str, int]

    def of(self, node: t.Node) -> arb_mat | None:
        """The value; None is a zero whose shape is not known here: a written 0, or an empty sum."""
        self.budget.spend(1)
        match node:
            case t.Number(exactly):
                return scalar(ball(exactly)) if exactly else None
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                return self.total(list(map(self.of, terms)))
            case t.Negative(body):
                value = self.of(body)
                return None if value is None else -value
            case t.Product(factors):
                return reduce(self.times, map(self.of, factors))
            case t.Quotient(over, under):
                return self.quotient(over, under)
            case t.Power(base, exponent):
                return self.power(self.of(base), exponent)
            case t.Transpose(body):
                value = self.of(body)
                return None if value is None else value.transpose()
            case t.Inner(left, right):
                return self.inner(self.of(left), self.of(right))
            case t.Norm(body, kind):
                return norm(self.of(body), kind, self.budget)
            case t.Call("diag", (t.BigSum() as run, t.Name("I", size))) if (
                size is not None
            ):
                return self.padded_diagonal(run, self.integer(size))
            case t.Call(function, arguments):
                return call(
                    function, [self.of(part) for part in arguments], self.budget
                )
            case t.BigSum(body=body):
                return self.total([inside.of(body) for inside in self.places(node)])
            case t.BigCall(word, body=body):
                values = [scalar(inside.number(body)) for inside in self.places(node)]
                if not values:
                    raise NoValue(f"the {word} of no numbers")
                return call(word, values, self.budget)
            case _:
                raise NoValue(f"{t.called(node)} has no value")

    def number(self, node: t.Node) -> arb:
        """The value of what must be a number."""
        value = self.of(node)
        return arb(0) if value is None else single(value)

    # Names

    def name(self, node: t.Name) -> arb_mat | None:
        bare = node.index is None and not node.primes
        if bare and node.base in self.bound:
            return scalar(self.bound[node.base])
        written = t.mapped(node, self.with_numbers)
        value = self.value_of(written) if isinstance(written, t.Name) else None
        if (
            value is None
            and node.index is not None
            and not isinstance(node.index, t.Number)
        ):
            with suppress(NoValue):
                place = t.Number(Fraction(self.integer(node.index)))
                value = self.value_of(t.Name(node.base, place, node.primes))
        if value is not None:
            return value
        if bare and node.base in ("pi", "e"):
            return scalar(arb.pi() if node.base == "pi" else arb.const_e())
        if node.base == "I" and node.index is not None:
            size = self.integer(node.index)
            if size < 1:
                raise NoValue(f"an identity of size {size}")
            self.budget.spend(size * size)
            return identity(size)
        raise NoValue(f"{plain(node)} has no value here")

    def with_numbers(self, node: t.Node) -> t.Node:
        """An index with the numbers of the sums around it in place of their names."""
        if isinstance(node, t.Name) and node.index is None and node.base in self.bound:
            return t.Number(Fraction(self.bound[node.base]))
        return t.mapped(node, self.with_numbers)

    def integer(self, node: t.Node) -> int:
        found = whole(self.number(node))
        if found is None:
            raise NoValue(f"{plain(node)} must be a whole number here, and is not")
        return found

    # Arithmetic

    def total(self, values: list[arb_mat | None]) -> arb_mat | None:
        """The sum; a zero of unknown shape fits any other value."""
        result: arb_mat | None = None
        for value in values:
            if value is None or result is None:
                result = value if result is None else result
                continue
            if (value.nrows(), value.ncols()) != (result.nrows(), result.ncols()):
                raise NoValue(
                    "terms of different shapes cannot be added: type the formula first"
                )
            self.budget.spend(value.nrows() * value.ncols())
            result = result + value
        return result

    def quotient(self, over: t.Node, under: t.Node) -> arb_mat | None:
        value, divisor = self.of(over), self.number(under)
        if divisor.contains(0):
            raise Undefined(f"a division by {divisor.str(8)}, which may be 0")
        return None if value is None else value / divisor

    def inner(self, left: arb_mat | None, right: arb_mat | None) -> arb_mat | None:
        if left is None or right is None:
            return None
        entries, others = left.entries(), right.entries()
        if len(entries) != len(others):
            raise NoValue("vectors of different lengths have no inner product")
        self.budget.spend(len(entries))
        products = (x * y for x, y in zip(entries, others, strict=True))
        return scalar(sum(products, arb(0)))

    def padded_diagonal(self, run: t.BigSum, size: int) -> arb_mat | None:
        """diag(s_1, ..., s_m, 0, ..., 0)."""
        entries = [scalar(inside.number(run.body)) for inside in self.places(run)]
        self.budget.spend(size * size)
        if len(entries) > size:
            raise NoValue(
                f"a diagonal of {len(entries)} entries does not fit into {size} rows"
            )
        zeros = [scalar(0)] * (size - len(entries))
        return call("diag", [*entries, *zeros], self.budget)

    def times(self, left: arb_mat | None, right: arb_mat | None) -> arb_mat | None:
        if left is None or right is None:
            return None
        for number, other in ((left, right), (right, left)):
            if number.nrows() == number.ncols() == 1:
                self.budget.spend(other.nrows() * other.ncols())
                return other * number[0, 0]
        if left.ncols() != right.nrows():
            raise NoValue(
                "factors whose sizes do not meet cannot be multiplied: type the formula first"
            )
        self.budget.spend(left.nrows() * left.ncols() * right.ncols())
        return left * right

    def power(self, base: arb_mat | None, exponent: t.Node) -> arb_mat | None:
        if base is None or base.nrows() == base.ncols() == 1:
            number = arb(0) if base is None else base[0, 0]
            return scalar(power(number, self.number(exponent)))
        times = self.integer(exponent)
        size = base.nrows()
        if size != base.ncols():
            raise NoValue("only square matrices have powers")
        self.budget.spend(size**3 * (2 * times.bit_length() + 1))
        if times < 0:
            try:
                base, times = base.inv(), -times
            except ZeroDivisionError:
                raise Undefined("the inverse of a matrix that may have none") from None
        largest = frobenius(base).upper()
        if largest > 1 and times * arb(largest).log() > LARGEST:
            raise TooMuch(f"a matrix to the power {times} is too large")
        return base**times

    # Sums over an index

    def places(self, node: t.BigSum | t.BigCall) -> Iterator[_Evaluation]:
        known = self.range_of(node.index) if self.range_of is not None else None
        if known is None and (node.lower is None or node.upper is None):
            raise NoValue(
                f"the sum over {node.index} has no bounds: write sum_{{{node.index}=1}}^{{n}}"
            )
        low, high = known or (0, 0)
        first = low if node.lower is None else self.integer(node.lower)
        last = high if node.upper is None else self.integer(node.upper)
        self.budget.spend(max(0, last - first + 1))
        for place in range(first, last + 1):
            inside = _Evaluation(
                self.value_of,
                self.budget,
                self.range_of,
                {**self.bound, node.index: place},
            )
            if all(inside.holds(condition) for condition in node.conditions):
                yield inside

    def holds(self, condition: t.Node) -> bool:
        """Whether a condition is met; Undefined where that is not certain."""
        match condition:
            case t.Relation(terms, comparisons):
                values = [self.number(term) for term in terms]
                said = [
                    compare(scalar(left), sign, scalar(right))
                    for (left, right), sign in zip(
                        pairwise(values), comparisons, strict=True
                    )
                ]
                if None in said and False not in said:
                    raise Undefined("a condition that cannot be decided")
                return False not in said
            case _:
                raise NoValue("a condition that is not a comparison of numbers")
