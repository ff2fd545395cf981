"""The closest two of many rows: floats filter, exact arithmetic decides.

|x - y|^2 = |x|^2 + |y|^2 - 2 <x, y> makes all pairs one matrix product, but cancels; so it only says which
pairs may be closest. Those are looked at as differences of rows, and the last few as whole numbers, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from headwright.enclosure import Enclosure
from headwright.positions.balls import root
from headwright.positions.blocks import Progress
from headwright.positions.shortlist import Shortlist

BLOCK = 1024  # rows on each side of a matrix product
EFFORT = 2**23  # how many numbers the exact comparison may look at: seconds, when it has to
TINY = 1e-300  # more than all that underflow can lose in a sum of squares

RowsAt = Callable[[Int[np.ndarray, " k"]], Float[np.ndarray, "k dim"]]


@dataclass(frozen=True)
class ClosestRows:
    """The closest pair of rows, and how surely.

    >>> import numpy as np
    >>> table = np.array([[0.0], [4.0], [7.0]])
    >>> closest_rows(lambda at: table[at], 3, 1).pair
    (1, 2)
    """

    pair: tuple[int, int]
    distance: Enclosure  # of the smallest distance
    compared: int  # how many pairs were compared exactly
    certain: bool  # no pair is closer


def closest_rows(rows: RowsAt, length: int, dim: int, progress: Progress | None = None) -> ClosestRows:
    """The closest pair among the rows 0..length-1, all pairs considered.

    With N the largest |x|^2, the computed |x|^2 + |y|^2 - 2 <x, y> errs by less than 4 N gamma_(dim+3),
    which is less than N (dim + 4) 2^-50 in any order of summation.

    >>> import numpy as np
    >>> table = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.5]])
    >>> closest_rows(lambda at: table[at], 3, 2).distance.lower
    0.5
    """
    few = shortlist(dim)
    blocks = -(-length // BLOCK)
    done, total = 0, blocks * (blocks + 1) // 2
    for i in range(0, length, BLOCK):
        left = rows(np.arange(i, min(length, i + BLOCK)))
        for j in range(i, length, BLOCK):
            right = left if i == j else rows(np.arange(j, min(length, j + BLOCK)))
            _consider(few, left, right, i, j)
            done += 1
            if progress:
                progress(done / total)
    return settle(rows, few, dim)


def shortlist(dim: int) -> Shortlist:
    """A shortlist of pairs, as long as exact arithmetic can afford.

    >>> shortlist(512).limit
    16384
    """
    return Shortlist(min(2**20, max(1, EFFORT // dim)))


def settle(rows: RowsAt, few: Shortlist, dim: int) -> ClosestRows:
    """The closest of the shortlisted pairs: by differences of rows first, the rest exactly.

    Of pairs equally close it takes the one with the smallest difference, then the earliest.

    >>> import numpy as np
    >>> table, few = np.array([[0.0], [2.0], [1.0], [3.0]]), shortlist(1)
    >>> few.add(np.zeros(2), np.full(2, 9.0), np.array([[0, 2], [2, 3]]))
    >>> settle(lambda at: table[at], few, 1).pair
    (0, 2)
    """
    fewer = shortlist(dim)
    step = max(1, 2**18 // dim)
    for names in _in_steps(few.names, step):
        fewer.add(*difference_bounds(rows(names[:, 0]), rows(names[:, 1])), names)
    names = fewer.names
    names = names[np.lexsort((names[:, 0], names[:, 1] - names[:, 0]))]
    square, difference, t = min(_exact_squares(rows, _in_steps(names, step)))
    missed = min(few.missed, fewer.missed)
    certain = missed >= square
    floor = square if certain else Fraction(max(0.0, missed))
    distance = Enclosure(root(floor).lower, root(square).upper)
    return ClosestRows((t, t + difference), distance, len(names), certain)


def difference_bounds(
    x: Float[np.ndarray, "k dim"], y: Float[np.ndarray, "k dim"]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Lower and upper bounds of |x - y|^2: the sum of squared differences has relative error gamma_(dim+2).

    >>> import numpy as np
    >>> lower, upper = difference_bounds(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0]]))
    >>> bool(lower[0] < 25 < upper[0])
    True
    """
    gap = x - y
    square = np.einsum("kd,kd->k", gap, gap)
    error = square * ((x.shape[1] + 3) * 2.0**-52) + TINY
    return square - error, square + error


def _consider(
    few: Shortlist, left: Float[np.ndarray, "a dim"], right: Float[np.ndarray, "b dim"], i: int, j: int
) -> None:
    norms_left, norms_right = np.einsum("kd,kd->k", left, left), np.einsum("kd,kd->k", right, right)
    square = norms_left[:, None] + norms_right - 2 * (left @ right.T)
    if i == j:
        square[np.tril_indices(len(left))] = np.inf  # each pair once, and none with itself
    error = max(norms_left.max(), norms_right.max()) * ((left.shape[1] + 4) * 2.0**-50) + TINY
    few.least = min(few.least, float(square.min()) + error)
    a, b = np.nonzero(square - error <= few.least)
    chosen = square[a, b]
    few.add(chosen - error, chosen + error, np.stack((a + i, b + j), axis=1))


def _in_steps(names: Int[np.ndarray, "k 2"], step: int) -> Iterator[Int[np.ndarray, "s 2"]]:
    for start in range(0, len(names), step):
        yield names[start : start + step]


def _exact_squares(rows: RowsAt, blocks: Iterator[Int[np.ndarray, "s 2"]]) -> Iterator[tuple[Fraction, int, int]]:
    """(|x - y|^2, difference, t) of pairs; of those that certainly tie, the first in each block will do."""
    squares: dict[bytes, Fraction] = {}  # rounded rows come in few distances: each is worked out once
    for names in blocks:
        x, y = rows(names[:, 0]), rows(names[:, 1])
        for kind, k in _kinds(x, y).items():
            if kind not in squares:
                squares[kind] = _exact_square(x[k], y[k])
            yield squares[kind], int(names[k, 1] - names[k, 0]), int(names[k, 0])


def _kinds(x: Float[np.ndarray, "k dim"], y: Float[np.ndarray, "k dim"]) -> dict[bytes, int]:
    """Pairs of certainly equal distance under one name, with the first of each."""
    gap = x - y
    back = x - gap
    exact = ((x - (gap + back)) + (back - y) == 0).all(axis=1)  # x - y was not rounded (Knuth's two-sum)
    sizes = np.sort(np.abs(gap), axis=1)  # |x - y|^2 does not mind the order, nor the signs
    kinds: dict[bytes, int] = {}
    for k in range(len(gap)):
        kinds.setdefault(sizes[k].tobytes() if exact[k] else x[k].tobytes() + y[k].tobytes(), k)
    return kinds


def _exact_square(x: Float[np.ndarray, " dim"], y: Float[np.ndarray, " dim"]) -> Fraction:
    # Floats are whole numbers of 2^-1074: with that unit there is nothing to round.
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return Fraction(sum((_units(a) - _units(b)) ** 2 for a, b in pairs), 2**2148)


def _units(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (2**1074 // denominator)
