"""Arb for the few numbers that decide, exact rationals where nothing may be lost, and conversion to floats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar, overload

import numpy as np
from flint import arb, fmpq, fmpz, fmpz_mat
from jaxtyping import Float, Int

from headwright.certificates.exact.certificate import KeyStatement
from headwright.certificates.exact.keys import Reject
from headwright.numerics.balls import TINY, Balls, ImprecisionError

# Known up to a radius, or exactly; sums and products of exact numbers are exact.
Number = arb | fmpq
N = TypeVar("N", arb, arb | fmpq)
NONE = fmpq(0)
BLOCK = 2**16  # numbers at once
# Beyond so many bits a least weight is not looked at more closely: what is not certain then is not accepted.
MOST_BITS = 2**13


def rational(x: Fraction) -> fmpq:
    """The same number."""
    return fmpq(x.numerator, x.denominator)


def ball(x: Fraction | fmpq | arb) -> arb:
    """A ball around a number."""
    return arb(rational(x) if isinstance(x, Fraction) else x)


def precision(statement: KeyStatement) -> int:
    """Bits to compute with: what a target leaves to the others, down to exp(-5678), is seen with 256 bits."""
    # What is left to the other keys, in units of the target's own weight.
    left = Fraction(1)
    for least in statement.targets.values():
        if least < 1:
            left = min(left, 1 / least - 1)
    zeros = left.denominator.bit_length() - left.numerator.bit_length()
    return 256 + 2 * min(max(2, zeros), MOST_BITS)


def add_multiple(x: Sequence[N], factor: N, y: Sequence[N]) -> list[N]:
    """x + factor y."""
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def float_of(x: arb) -> float:
    """A float near the middle of a ball."""
    return float(x.mid())


def doubles(numbers: Sequence[Fraction]) -> Float[np.ndarray, " d"]:
    """The same numbers as doubles; refused where they are none."""
    floats = [float(x) for x in numbers]
    for x, exact in zip(floats, numbers, strict=True):
        if Fraction(x) != exact:
            raise Reject("a query is not made of doubles")
    return np.array(floats)


def rounded(numbers: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The nearest doubles, as exact numbers."""
    try:
        return tuple(Fraction(float(x)) for x in numbers)
    except OverflowError as error:
        raise Reject(
            "the evidence holds a vector that is beyond the range of doubles"
        ) from error


def vector(numbers: Float[np.ndarray, " d"]) -> list[arb]:
    """The same numbers, exactly."""
    return [arb(x) for x in numbers.tolist()]


@overload
def dot(x: Iterable[fmpq], y: Iterable[fmpq]) -> fmpq: ...
@overload
def dot(x: Iterable[arb], y: Iterable[Number]) -> arb: ...
@overload
def dot(x: Iterable[Number], y: Iterable[arb]) -> arb: ...
@overload
def dot(x: Iterable[Number], y: Iterable[Number]) -> Number: ...
def dot(x: Iterable[Number], y: Iterable[Number]) -> Number:
    """<x, y>; exact for exact numbers."""
    return sum((a * b for a, b in zip(x, y, strict=True)), NONE)


def above_root(x: Number) -> arb:
    """Not below the square root of a number that is not negative, though its ball may reach below 0."""
    return ball(x).abs_upper().sqrt()


def below_root(x: Number) -> arb:
    """Not above the square root of a number, and 0 if that may be below 0."""
    low = ball(x).lower()
    return low.sqrt().lower() if bool(low > 0) else arb(0)


def sums_of_others(numbers: Sequence[arb]) -> list[arb]:
    """For each number the sum of all others; nothing is subtracted, so that no digits cancel.

    >>> [float(x) for x in sums_of_others([arb(1), arb(2), arb(4)])]
    [6.0, 5.0, 3.0]
    """
    before = [arb(0)]  # before[i] = the sum of the first i
    for x in numbers:
        before.append(before[-1] + x)
    after = [arb(0)]  # after[i] = the sum of the last i
    for x in reversed(numbers):
        after.append(after[-1] + x)
    last = len(numbers) - 1
    return [before[i] + after[last - i] for i in range(len(numbers))]


def combination(
    keys: Float[np.ndarray, "n d"], factors: Mapping[int, fmpq]
) -> list[fmpq]:
    """sum_i x_i k_i, exactly: whole numbers over one denominator."""
    total = [NONE] * keys.shape[1]
    nonzero = {i: x for i, x in factors.items() if x != 0}
    denominator = fmpz(1)
    for x in nonzero.values():
        denominator = denominator.lcm(x.q)
    rows = list(nonzero)
    step = max(1, BLOCK // keys.shape[1])
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        whole_factors = []
        for i in some:
            whole_factors.append(nonzero[i].p * (denominator // nonzero[i].q))
        matrix, unit = _whole(keys[np.array(some, dtype=np.intp)])
        sums = (fmpz_mat(1, len(some), whole_factors) * matrix).entries()
        for column, whole_sum in enumerate(sums):
            total[column] += fmpq(whole_sum, denominator) * unit
    return total


def signs(
    keys: Float[np.ndarray, "n d"],
    rows: Int[np.ndarray, " some"],
    query: Float[np.ndarray, " d"],
) -> Int[np.ndarray, " some"]:
    """The sign of <k_i, q> for some rows, exactly."""
    column = _whole(query[:, None])[0]
    step = max(1, BLOCK // keys.shape[1])
    all_signs = np.zeros(len(rows), dtype=np.intp)
    for start in range(0, len(rows), step):
        block = keys[rows[start : start + step]]
        # Of the other rows all products are 0.
        some = np.flatnonzero(((block != 0) & (query != 0)).any(axis=1))
        if len(some):
            products = (_whole(block[some])[0] * column).entries()
            all_signs[start + some] = [(x > 0) - (x < 0) for x in products]
    return all_signs


def _whole(numbers: Float[np.ndarray, "rows columns"]) -> tuple[fmpz_mat, fmpq]:
    """Whole numbers, and the power of two that they are multiples of."""
    # A float64 is m 2^e with 1/2 <= |m| < 1 and 53 bits: m 2^53 is a whole number.
    exact = numbers.astype(np.float64)
    mantissas, exponents = np.frexp(exact)
    least = int(exponents.min()) - 53
    digits = np.ldexp(mantissas, 53).astype(np.int64).ravel().tolist()
    shifts = (exponents - 53 - least).ravel().tolist()
    entries = [fmpz(m) << e for m, e in zip(digits, shifts, strict=True)]
    return fmpz_mat(exact.shape[0], exact.shape[1], entries), fmpq(2) ** least


def to_balls(numbers: Sequence[arb]) -> Balls:
    """The same numbers, known as floats with a radius."""
    mid = np.empty(len(numbers))
    rad = np.empty(len(numbers))
    for i, x in enumerate(numbers):
        if not x.abs_upper() < 2.0**900:
            raise ImprecisionError("a number is beyond the range of doubles")
        mid[i] = float_of(x)
        # However float() rounds, the radius holds what is left.
        left = (x - arb(float(mid[i]))).abs_upper()
        rad[i] = float(left) * (1 + 2.0**-20) + TINY
    return Balls(mid, rad)
