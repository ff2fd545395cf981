"""Arb for the few numbers that decide, and the way back from Arb to floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpq
from jaxtyping import Float, Int

from headwright.fast.balls import TINY, Balls
from headwright.trusted.certificate import Statement

ROWS = 1024  # at once


class Beyond(Exception):  # noqa: N818  (not an accident: another checker is asked)
    """Numbers of a size or kind that this checker does not deal with, though the certificate may well be true."""


def ball(x: Fraction) -> arb:
    """A ball around a rational.

    >>> ball(Fraction(1, 3)).contains(fmpq(1, 3))
    True
    """
    return arb(fmpq(x.numerator, x.denominator))


def precision(statement: Statement) -> int:
    """Bits to compute with: what a wish leaves to the others, however little, is seen with 256 bits.

    >>> from headwright.trusted.numbers import rational
    >>> precision(Statement("designed", (), Fraction(1), {0: rational("1/2")}, (), *[Fraction(0)] * 3))
    260
    """
    slack = min((1 / p - 1 for p in statement.wish.values() if p < 1), default=Fraction(1))
    return 256 + 2 * max(2, slack.denominator.bit_length() - slack.numerator.bit_length())


def floats(numbers: Sequence[Fraction]) -> Float[np.ndarray, " d"]:
    """The same numbers as doubles, where they are doubles."""
    try:
        found = [float(x) for x in numbers]
    except OverflowError as error:
        raise Beyond("a query is not made of doubles") from error
    if any(Fraction(x) != y for x, y in zip(found, numbers, strict=True)):
        raise Beyond("a query is not made of doubles")
    return np.array(found)


def dot(x: Sequence[arb], y: Sequence[arb]) -> arb:
    """<x, y>."""
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def row(keys: Float[np.ndarray, "n d"], i: int) -> list[arb]:
    """One key."""
    return [arb(x) for x in keys[i].tolist()]


def relative_scores(
    keys: Float[np.ndarray, "n d"], rows: Int[np.ndarray, " some"], centre: int, query: Sequence[arb]
) -> list[arb]:
    """<k_i - k_centre, q> for some rows.

    >>> relative_scores(np.eye(3), np.array([2]), 0, [arb(1), arb(2), arb(4)])
    [3.00000000000000]
    """
    column = arb_mat(len(query), 1, list(query))
    own = dot(row(keys, centre), query)
    found: list[arb] = []
    for start in range(0, len(rows), ROWS):
        block = keys[rows[start : start + ROWS]]
        numbers = block.astype(np.float64).ravel().tolist()
        product = arb_mat(len(block), len(query), numbers) * column
        found += [x - own for x in product.entries()]
    return found


def to_balls(numbers: Sequence[arb]) -> Balls:
    """The same numbers, known as floats with a radius.

    >>> third = to_balls([arb(1) / 3])
    >>> bool(third.lower()[0] < 1 / 3 < third.upper()[0])
    True
    """
    mid, rad = np.empty(len(numbers)), np.empty(len(numbers))
    for i, x in enumerate(numbers):
        if not x.abs_upper() < 2.0**900:
            raise Beyond("a number is beyond the range of doubles")
        mid[i] = float(x.mid())
        rad[i] = float((x - arb(float(mid[i]))).abs_upper()) * (1 + 2.0**-20) + TINY  # however float() rounds
    return Balls(mid, rad)
