"""The two passes over the keys: scores of all rows for some queries, and weighted sums of the rows.

Everything is relative to one row c, which is a target: D = fl(k_i - c) errs by u |D| in every entry, so that keys with
a large common part, or close to the target, lose nothing. With |.| the Euclidean norm,

    |fl(<D_i, q>) - <k_i - c, q>|        <= gamma_{d+1} |D_i| |q|              (Higham, section 3.1, and Cauchy-Schwarz)
    |fl(sum_i w_i D_i) - sum_i w_i (k_i - c)| <= gamma_{B+3} sum_i |w_i| |D_i|  (B rows at once; blocks added exactly)

Keys are scaled by a power of two where their squares would leave the range of doubles. Slack, a factor of 1 + 2^-20,
covers the roundings of the bounds themselves (they are below gamma_{2d}); 2^-500 added to a norm covers underflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.fast.balls import Array, Balls, gamma
from headwright.fast.exponential import total_above
from headwright.trusted.numbers import Reject

NUMBERS = 2**16  # of a block, so that it stays near the processor
SLACK = 1 + 2.0**-20
SMALL = 2.0**-500
COMFORTABLE = (2.0**-300, 2.0**300)  # norms whose squares, and products with queries, are no trouble
LARGEST_WIDTH = 2**20


@dataclass(frozen=True, eq=False)
class Centred:
    """Keys less one of them, times 2^-exponent; norms are not below the true norms of the rows, so scaled."""

    keys: Float[np.ndarray, "n d"]
    row: int
    exponent: int
    norms: Float[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Products:
    """<k_i - c, q> = 2^exponent times the numbers in these balls."""

    balls: Balls
    exponent: int


def inner_products(
    keys: Float[np.ndarray, "n d"], row: int, queries: Sequence[Float[np.ndarray, " d"]]
) -> tuple[Centred, list[Products]]:
    """<k_i - k_row, q> for all i and all queries, in one pass; refused if a key is not finite.

    >>> centred, (found,) = inner_products(np.eye(3), 0, [np.array([1.0, 2.0, 4.0])])
    >>> (found.balls.mid * 2.0**found.exponent).tolist()
    [0.0, 1.0, 3.0]
    """
    if keys.shape[1] > LARGEST_WIDTH:
        raise Reject(f"keys of {keys.shape[1]} numbers: expected at most {LARGEST_WIDTH}")
    scaled = [_scaled(query) for query in queries]
    exponent = 0
    norms, scores = _pass(keys, row, exponent, [q for q, _ in scaled])
    largest = float(norms.max())  # no number, if some norm is none
    if not COMFORTABLE[0] <= largest <= COMFORTABLE[1]:
        if not all(bool(np.isfinite(block).all()) for _, block in _blocks(keys)):
            raise Reject("a key holds a number that is not finite")
        exponent = math.frexp(max(float(np.abs(block).max()) for _, block in _blocks(keys)))[1]
        norms, scores = _pass(keys, row, exponent, [q for q, _ in scaled])
    bound = gamma(keys.shape[1] + 1) * SLACK
    products = []
    for (q, power), mid in zip(scaled, scores, strict=True):
        length = math.sqrt(math.fsum((q * q).tolist())) * SLACK
        products.append(Products(Balls(mid, norms * (bound * length) + SMALL * length), power + exponent))
    return Centred(keys, row, exponent, norms), products


def weighted_sum(centred: Centred, weights: Array) -> tuple[Float[np.ndarray, " d"], float]:
    """sum_i w_i (k_i - c) 2^-exponent in floats, and what the error of this vector is at most in length.

    >>> centred, _ = inner_products(np.eye(2), 0, [])
    >>> weighted_sum(centred, np.array([0.0, 2.0]))[0].tolist()
    [-2.0, 2.0]
    """
    sums = [np.zeros(centred.keys.shape[1])]
    rows = 1
    for part, D in differences(centred.keys, centred.row, centred.exponent):
        rows = max(rows, len(D))
        if weights[part].any():
            sums.append(np.einsum("i,ij->j", weights[part], D))
    found = np.array([math.fsum(column) for column in np.stack(sums, axis=1).tolist()])
    size = total_above(np.abs(weights) * (centred.norms + SMALL))
    # One gamma for the sums, one u each for D, for fsum and for the products in `size`: B + 8 leaves room.
    return found, gamma(rows + 8) * SLACK * size + 2.0**-900


def differences(
    keys: Float[np.ndarray, "n d"], row: int, exponent: int
) -> Iterator[tuple[slice, Float[np.ndarray, "rows d"]]]:
    """fl(k_i - c), times 2^-exponent, block by block; a block is gone when the next one is asked for.

    >>> [block.tolist() for _, block in differences(np.eye(2), 0, 0)]
    [[[0.0, 0.0], [-1.0, 1.0]]]
    """
    centre = np.ldexp(keys[row].astype(np.float64), -exponent)
    space = np.empty((_rows(keys.shape[1]), keys.shape[1]))
    for part, block in _blocks(keys):
        D = space[: len(block)]
        with np.errstate(all="ignore"):
            if exponent:
                np.subtract(np.ldexp(block.astype(np.float64), -exponent), centre, out=D)
            else:
                np.subtract(block, centre, out=D)
        yield part, D


def _pass(
    keys: Float[np.ndarray, "n d"], row: int, exponent: int, queries: list[Float[np.ndarray, " d"]]
) -> tuple[Array, list[Array]]:
    norms, scores = np.empty(len(keys)), [np.empty(len(keys)) for _ in queries]
    with np.errstate(all="ignore"):
        for part, D in differences(keys, row, exponent):
            np.einsum("ij,ij->i", D, D, out=norms[part])
            for q, into in zip(queries, scores, strict=True):
                np.einsum("ij,j->i", D, q, out=into[part])
        norms = np.sqrt(norms) * SLACK + SMALL
    return norms, scores


def _scaled(query: Float[np.ndarray, " d"]) -> tuple[Float[np.ndarray, " d"], int]:
    """The query over a power of two, its largest entry between 1/2 and 1."""
    exponent = math.frexp(float(np.abs(query).max()))[1]
    with np.errstate(all="ignore"):
        return np.ldexp(query, -exponent), exponent


def _rows(d: int) -> int:
    return max(16, NUMBERS // d)


def _blocks(keys: Float[np.ndarray, "n d"]) -> Iterator[tuple[slice, Float[np.ndarray, "rows d"]]]:
    step = _rows(keys.shape[1])
    for start in range(0, len(keys), step):
        yield slice(start, start + step), keys[start : start + step]
