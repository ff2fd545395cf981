"""Numbers and matrices known from both sides: what evaluate does at the leaves of its work.

Every function encloses the truth: if the arguments contain the true numbers, so does the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, arb_mat, ctx, fmpq

from headwright.errors import InputError

DEFAULT_BITS = 128
LARGEST = 2**20  # a power beyond 2^LARGEST is refused
DEFAULT_BUDGET = 200_000


class TooMuch(InputError):  # noqa: N818
    """More work than was allowed, or a number too large to be of use."""


class Undefined(InputError):  # noqa: N818
    """No value, or none that is certain: a division by what may be 0, the root of what may be negative."""


class NoValue(InputError):  # noqa: N818
    """A name without a value, or a function that has no number."""


class Budget:
    """Operations that may still be done; shared by whatever is evaluated with it.

    >>> budget = Budget(10)
    >>> budget.spend(8)
    >>> budget.spend(3)
    Traceback (most recent call last):
    headwright.formula.valuing.balls.TooMuch: more than 10 operations are needed: make the sums or the matrices smaller
    """

    def __init__(self, operations: int = DEFAULT_BUDGET) -> None:
        """So many, for all that is evaluated with it."""
        self.allowed = operations
        self.left = operations

    def spend(self, operations: int) -> None:
        """Pay before working."""
        if operations > self.left:
            raise TooMuch(f"more than {self.allowed} operations are needed: make the sums or the matrices smaller")
        self.left -= operations


@contextmanager
def precision(bits: int = DEFAULT_BITS) -> Iterator[None]:
    """Balls of so many bits inside, as before outside: flint's precision belongs to the whole process.

    >>> with precision(200):
    ...     ctx.prec
    200
    """
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


def whole(number: arb) -> int | None:
    """The integer that a ball is, if it is exactly one."""
    found = number.unique_fmpz() if number.is_exact() else None
    return None if found is None else int(found)


def larger(numbers: Sequence[arb]) -> arb:
    """The largest of several, enclosed.

    >>> larger([arb(1), arb(3), arb(2)])
    3.00000000000000
    """
    result = numbers[0]
    for number in numbers[1:]:
        result = result.max(number)
    return result


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


def divided(over: arb_mat, under: arb) -> arb_mat:
    """A quotient; Undefined if the denominator may be 0."""
    if under.contains(0):
        raise Undefined(f"a division by {under.str(8)}, which may be 0")
    return over / under


def exponential(number: arb) -> arb:
    """e to a power, unless that is beyond all use."""
    if not number <= LARGEST:
        raise TooMuch(f"e^{number.str(8)} is too large")
    return number.exp()


def power(base: arb, exponent: arb) -> arb:
    """A real power. Whole exponents take any base; others take a base that is certainly not negative.

    >>> power(arb(2), arb(-3)), power(arb(9), arb(0.5))
    (0.125000000000000, 3.00000000000000)
    >>> power(arb(9), arb(9) ** 9)
    Traceback (most recent call last):
    headwright.formula.valuing.balls.TooMuch: 9.0000000^[3.8742049e+8 +/- 1.00] is too large
    """
    number = whole(exponent)
    if number is not None and number < 0 and base.contains(0):
        raise Undefined(f"{base.str(8)}, which may be 0, to the power {number}")
    _guard(base, exponent)
    if number is not None:
        return base**number
    if exponent == 0.5 and base >= 0:
        return base.sqrt()
    if base > 0:
        return (exponent * base.log()).exp()
    if base >= 0 and exponent > 0:
        top = base.upper()
        return arb(0).union((exponent * top.log()).exp() if top > 0 else arb(0))
    raise Undefined(f"{base.str(8)}, which may not be positive, to the power {exponent.str(8)}")


def _guard(base: arb, exponent: arb) -> None:
    """Refuse what is beyond 2^LARGEST, before it is computed."""
    size = arb(abs(base).upper())
    smallest = arb(abs(base).lower())
    for magnitude in (size, smallest):
        if magnitude > 0 and not (exponent * magnitude.log()).upper() <= LARGEST:
            raise TooMuch(f"{base.str(8)}^{exponent.str(8)} is too large")


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
    """The largest singular value: with G = A^T A of size m and N = 2^k, l^N <= trace(G^N) <= m l^N for l = |A|^2.

    >>> with precision():
    ...     norm = spectral(arb_mat([[3, 0], [0, -4]]))
    ...     norm.contains(4), bool(norm.rad() < 1e-9)
    (True, True)
    """
    rows, columns = matrix.nrows(), matrix.ncols()
    whole_norm = frobenius(matrix)
    if min(rows, columns) == 1:
        return whole_norm
    size = min(rows, columns)
    gram = matrix.transpose() * matrix if columns <= rows else matrix * matrix.transpose()
    hull = (whole_norm / arb(size).sqrt()).union(whole_norm)  # |A|_F / sqrt m <= |A|_2 <= |A|_F
    logarithms = arb(0)  # trace(G^N)^(1/N) = exp(logarithms), collected so that nothing overflows
    weight = arb(1)
    for _ in range(ctx.prec // 3):
        trace = gram.trace()
        if not trace > 0 or not trace.is_finite():
            return hull
        logarithms += weight * trace.log()
        gram = gram / trace
        gram = gram * gram
        weight /= 2
    trace = gram.trace()
    if not trace > 0 or not trace.is_finite():
        return hull
    high = logarithms + weight * trace.log()
    low = high - weight * arb(size).log()
    return (low / 2).exp().union((high / 2).exp())
