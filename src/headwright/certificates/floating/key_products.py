"""Products with all keys: their scores for some queries, and weighted sums of keys.

Everything is relative to one row c, which is a target: D = fl(k_i - c) errs by u |D| in every entry, so that keys with
a large common part, or close to the target, lose nothing. With |.| the Euclidean norm,

    |fl(<D_i, q>) - <k_i - c, q>|        <= gamma_{d+1} |D_i| |q|              (Higham, section 3.1, and Cauchy-Schwarz)
    |fl(sum_i w_i D_i) - sum_i w_i (k_i - c)| <= gamma_{B+3} sum_i |w_i| |D_i|  (B sums deep; blocks added exactly)

Keys are scaled by a power of two where their squares would leave the range of doubles. Slack, a factor of 1 + 2^-20,
covers the roundings of the bounds themselves (they are below gamma_{2d}); 2^-500 added to a norm covers underflow.

Sharp scores cost three times as much and lose next to nothing, however wide the keys or long the query. A key, over a
power of two so that no entry exceeds 1, times 2^b, is A + R with whole A and |R| <= 1/2, and so is the query, B + T.
Then <A, B> is a sum of whole numbers below 2^53, exact in any order; <A, T> + <R, B + T> is 2^-b times smaller, and so
is its rounding error: with |A|, |B + T| <= 2^b in every entry, at most gamma_{d+1} d 2^b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from jaxtyping import Float

from headwright.certificates.exact.keys import Reject
from headwright.certificates.floating.exact_numbers import dot, float_of, vector
from headwright.numerics.balls import TINY, UP, Array, Balls, U, gamma
from headwright.numerics.exponential import total_above

NUMBERS = 2**16  # of a block, so that it stays near the processor
TOGETHER = 32  # rows whose sum is one number of the next sum
SLACK = 1 + 2.0**-20
SMALL = 2.0**-500
# Between these, squares of norms and products with queries are no trouble.
SMALLEST_NORM = 2.0**-300
LARGEST_NORM = 2.0**300
LARGEST_WIDTH = 2**20
SHARP = 256  # bits of the score that the others are relative to
Matrix = Float[np.ndarray, "n d"]
Vector = Float[np.ndarray, " d"]


@dataclass(frozen=True, eq=False)
class Centred:
    """Keys less one of them, times 2^-exponent; norms are not below the true norms of the rows, so scaled."""

    keys: Matrix
    row: int
    exponent: int
    norms: Array


@dataclass(frozen=True, eq=False)
class Products:
    """<k_i - c, q> = 2^exponent times the numbers in these balls."""

    balls: Balls
    exponent: int


def inner_products(
    keys: Matrix, row: int, queries: Sequence[Vector]
) -> tuple[Centred, list[Products]]:
    """<k_i - k_row, q> for all i and all queries, in one pass; keys are finite."""
    if keys.shape[1] > LARGEST_WIDTH:
        raise Reject(
            f"keys of {keys.shape[1]} numbers: expected at most {LARGEST_WIDTH}"
        )
    scaled = [_scaled(query) for query in queries]
    scaled_queries = [q for q, _ in scaled]
    exponent = 0
    norms, scores = _norms_and_products(keys, row, exponent, scaled_queries)
    largest = float(norms.max())  # no number, if some norm is none
    if not SMALLEST_NORM <= largest <= LARGEST_NORM:
        exponent = math.frexp(float(_largest_entries(keys).max()))[1]
        norms, scores = _norms_and_products(keys, row, exponent, scaled_queries)
    bound = gamma(keys.shape[1] + 1) * SLACK
    products = []
    for (q, power), mid in zip(scaled, scores, strict=True):
        # gamma |D_i| |q|, and what underflow may lose.
        length = math.sqrt(math.fsum((q * q).tolist())) * SLACK
        rad = norms * (bound * length) + SMALL * length
        products.append(Products(Balls(mid, rad), power + exponent))
    return Centred(keys, row, exponent, norms), products


@dataclass(frozen=True)
class SharpReference:
    """A score as the sum of two floats and at most `rest`."""

    first: float
    second: float
    rest: float


def sharp_products(keys: Matrix, row: int, query: Vector) -> Products:
    """The same for finite keys and one query, at most a few roundings from the truth unless far more cancels."""
    n, d = keys.shape
    bits = (53 - (d - 1).bit_length()) // 2
    # The query times 2^bits is B + T, B whole.
    q, power = _scaled(query)
    B = np.rint(q * 2.0**bits)
    T = q * 2.0**bits - B
    exponents = np.frexp(_largest_entries(keys))[1]
    exponent = int(exponents.max())
    # Where this underflows the row adds nothing, which TINY covers.
    units = np.ldexp(1.0, exponents - exponent)
    reference = _sharp_reference(keys[row], query, exponent + power)
    # Of <A, T> + <R, B + T>, over 2^(2 bits).
    error = gamma(d + 1) * d * 2.0**-bits * SLACK
    mid = np.empty(n)
    rad = np.empty(n)
    with np.errstate(all="ignore"):
        for part, block in _blocks(keys):
            unit = units[part]
            # Keys times 2^bits are A + R, A whole.
            scaled_keys = np.ldexp(
                block.astype(np.float64), bits - exponents[part, None]
            )
            A = np.rint(scaled_keys)
            R = scaled_keys - A
            # <A, B> is exact; the other two products are 2^-bits times smaller.
            large_product = np.einsum("ij,j->i", A, B)
            small_product = np.einsum("ij,j->i", A, T) + np.einsum("ij,j->i", R, B + T)
            large = np.ldexp(large_product, -2 * bits) * unit
            small = np.ldexp(small_product, -2 * bits) * unit
            # large - first = total + lost, exactly (the sum of two floats and its error).
            total = large - reference.first
            back = total - large
            lost = (large - (total - back)) - (reference.first + back)
            low = small - reference.second
            lower = lost + low
            mid[part] = total + lower
            rounding = U * (np.abs(low) + np.abs(lower) + np.abs(mid[part]))
            rad[part] = (error * unit + rounding + reference.rest + TINY) * UP
    return Products(Balls(mid, rad), exponent + power)


def _sharp_reference(key: Vector, query: Vector, exponent: int) -> SharpReference:
    """<key, query> 2^-exponent."""
    with ctx.workprec(max(ctx.prec, SHARP)):
        score = dot(vector(key), vector(query)) * arb(2) ** -exponent
        first = float_of(score)
        second = float_of(score - arb(first))
        left = score - arb(first) - arb(second)
        return SharpReference(first, second, float(left.abs_upper()) * SLACK)


def weighted_sum(centred: Centred, weights: Array) -> tuple[Vector, float]:
    """sum_i w_i (k_i - c) 2^-exponent in floats, and what the error of this vector is at most in length."""
    d = centred.keys.shape[1]
    sums = [np.zeros(d)]
    for part, D in differences(centred.keys, centred.row, centred.exponent):
        if weights[part].any():
            sums.append(_sum_of_rows(weights[part], D))
    columns = np.stack(sums, axis=1).tolist()
    vector_sum = np.array([math.fsum(column) for column in columns])
    size = total_above(np.abs(weights) * (centred.norms + SMALL))
    # As deep as the sums, and one u each for D, for fsum and for the products in `size`: 8 more leave room.
    rows = min(_rows(d), len(weights))
    depth = rows // TOGETHER + min(TOGETHER, rows) + 8
    return vector_sum, gamma(depth) * SLACK * size + 2.0**-900


def _sum_of_rows(weights: Array, D: Float[np.ndarray, "rows d"]) -> Vector:
    """Some rows together, and then the sums of these: no number goes through more than B / TOGETHER + TOGETHER sums."""
    grouped = len(D) // TOGETHER * TOGETHER
    group_weights = weights[:grouped].reshape(-1, TOGETHER)
    group_rows = D[:grouped].reshape(*group_weights.shape, D.shape[1])
    group_sums = np.einsum("bi,bij->bj", group_weights, group_rows)
    rest: Vector = np.einsum("i,ij->j", weights[grouped:], D[grouped:])
    total: Vector = rest + group_sums.sum(axis=0)
    return total


def differences(
    keys: Matrix, row: int, exponent: int
) -> Iterator[tuple[slice, Float[np.ndarray, "rows d"]]]:
    """fl(k_i - c), times 2^-exponent, block by block; a block is gone when the next one is asked for."""
    centre = np.ldexp(keys[row].astype(np.float64), -exponent)
    space = np.empty((_rows(keys.shape[1]), keys.shape[1]))
    for part, block in _blocks(keys):
        D = space[: len(block)]
        with np.errstate(all="ignore"):
            if exponent:
                np.subtract(
                    np.ldexp(block.astype(np.float64), -exponent), centre, out=D
                )
            else:
                np.subtract(block, centre, out=D)
        yield part, D


def _norms_and_products(
    keys: Matrix, row: int, exponent: int, queries: list[Vector]
) -> tuple[Array, list[Array]]:
    """|D_i|, not from below, and <D_i, q> in floats for each query."""
    squares = np.empty(len(keys))
    scores = [np.empty(len(keys)) for _ in queries]
    with np.errstate(all="ignore"):
        for part, D in differences(keys, row, exponent):
            np.einsum("ij,ij->i", D, D, out=squares[part])
            for q, of_query in zip(queries, scores, strict=True):
                np.einsum("ij,j->i", D, q, out=of_query[part])
        norms = np.sqrt(squares) * SLACK + SMALL
    return norms, scores


def _largest_entries(keys: Matrix) -> Array:
    """Of each key, the largest absolute value."""
    blocks = [np.abs(block).max(axis=1) for _, block in _blocks(keys)]
    return np.concatenate(blocks).astype(np.float64)


def _scaled(query: Vector) -> tuple[Vector, int]:
    """The query over a power of two, its largest entry between 1/2 and 1."""
    exponent = math.frexp(float(np.abs(query).max()))[1]
    with np.errstate(all="ignore"):
        return np.ldexp(query, -exponent), exponent


def _rows(d: int) -> int:
    return min(max(16, NUMBERS // d), 1024)


def _blocks(keys: Matrix) -> Iterator[tuple[slice, Float[np.ndarray, "rows d"]]]:
    step = _rows(keys.shape[1])
    for start in range(0, len(keys), step):
        yield slice(start, start + step), keys[start : start + step]
