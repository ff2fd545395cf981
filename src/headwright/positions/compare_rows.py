"""Compare the rows of many positions: which are equal, and which two are closest.

Equal rows have equal hashes, so a position whose hash is unique has a unique row. Columns are hashed a few at a time,
and only positions that still share their hash are hashed further: memory O(T), and O(T dim) work where rows coincide.

For the closest pair, |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y> makes all pairs one matrix product. It cancels, so it only
selects the pairs that may be closest. Those are compared as differences of rows, and the last few exactly, as integers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from flint import arb, ctx, fmpq
from jaxtyping import Bool, Float, Int

from headwright.numerics.enclosure import Enclosure

Progress = Callable[[float], None]  # is told the fraction done, from 0 to 1

Result = TypeVar("Result")
BLOCK_ROWS = 1024  # rows on each side of a matrix product
EFFORT = (
    2**23
)  # how many numbers the exact comparison may look at: seconds, when it has to
TINY = 1e-300  # more than all that underflow can lose in a sum of squares

RowsAt = Callable[[Int[np.ndarray, " k"]], Float[np.ndarray, "k dim"]]
BLOCK_NUMBERS = (
    2**16
)  # numbers in a block: small enough that its arrays stay in the cache

# rows(positions, part): the rows at these positions, or a part of their columns. How many units `part` counts
# (columns, or pairs of columns) is for the caller to say.
Rows = Callable[[Int[np.ndarray, " k"], slice], Float[np.ndarray, "k columns"]]


def over_blocks(
    count: int,
    size: int,
    work: Callable[[int, int], Result],
    progress: Progress | None = None,
) -> list[Result]:
    """work(start, stop) for each block of 0..count-1, in order; NumPy lets go of the interpreter inside."""
    starts = range(0, count, size)
    results: list[Result] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(
            lambda start: work(start, min(count, start + size)), starts
        ):
            results.append(result)
            if progress:
                progress(len(results) / len(starts))
    return results


def between(progress: Progress | None, start: float, stop: float) -> Progress | None:
    """Progress for a part of the work, the part from `start` to `stop`."""
    if progress is None:
        return None
    return lambda fraction: progress(start + (stop - start) * fraction)


def powers(base: float, exponents: list[Fraction]) -> list[arb]:
    """base^exponent for each exponent, in flint's present precision."""
    log = arb(base).log()
    return [(arb(fmpq(e.numerator, e.denominator)) * log).exp() for e in exponents]


def _root(square: Fraction) -> Enclosure:
    """The square root of a rational number."""
    with ctx.workprec(128):
        return Enclosure.of(arb(fmpq(square.numerator, square.denominator)).sqrt())


def exact_point(point: arb) -> Fraction:
    """The number that a ball of radius 0 is."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


class Shortlist:
    """Keeps every candidate whose lower bound does not exceed the least upper bound, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        """Start with nothing."""
        self.limit = limit
        # The smallest upper bound so far: the smallest number is no larger.
        self.least = np.inf
        # What was dropped for the limit's sake is no smaller than this.
        self.missed = np.inf
        self._lower: list[Float[np.ndarray, " k"]] = []
        self._names: list[Int[np.ndarray, "k width"]] = []
        self._count = 0

    def add(
        self,
        lower: Float[np.ndarray, " k"],
        upper: Float[np.ndarray, " k"],
        names: Int[np.ndarray, "k width"],
    ) -> None:
        """Consider more candidates, each known by a row of whole numbers."""
        self.least = min(self.least, float(upper.min(initial=np.inf)))
        keep = lower <= self.least
        self._lower.append(lower[keep])
        self._names.append(names[keep])
        self._count += int(keep.sum())
        if self._count > 2 * self.limit:
            self._tidy()

    @property
    def names(self) -> Int[np.ndarray, "k width"]:
        """The candidates that are left."""
        self._tidy()
        return self._names[0]

    def _tidy(self) -> None:
        lower = np.concatenate(self._lower)
        names = np.concatenate(self._names)
        keep = np.flatnonzero(lower <= self.least)
        if len(keep) > self.limit:
            order = keep[np.argsort(lower[keep], kind="stable")]
            keep = np.sort(order[: self.limit])
            self.missed = min(self.missed, float(lower[order[self.limit]]))
        self._lower = [lower[keep]]
        self._names = [names[keep]]
        self._count = len(keep)


@dataclass(frozen=True)
class ClosestRows:
    """The closest pair of rows, and how surely."""

    pair: tuple[int, int]
    distance: Enclosure  # of the smallest distance
    compared: int  # how many pairs were compared exactly
    certain: bool  # no pair is closer


def closest_rows(
    rows: RowsAt, length: int, dim: int, progress: Progress | None = None
) -> ClosestRows:
    """The closest pair among the rows 0..length-1, all pairs considered.

    With N the largest |x|^2, the computed |x|^2 + |y|^2 - 2 <x, y> errs by less than 4 N gamma_(dim+3),
    which is less than N (dim + 4) 2^-50 in any order of summation.
    """
    shortlist = empty_shortlist(dim)
    blocks = -(-length // BLOCK_ROWS)
    total = blocks * (blocks + 1) // 2
    done = 0
    for i in range(0, length, BLOCK_ROWS):
        left = rows(np.arange(i, min(length, i + BLOCK_ROWS)))
        for j in range(i, length, BLOCK_ROWS):
            right = left if i == j else rows(np.arange(j, min(length, j + BLOCK_ROWS)))
            _consider(shortlist, left, right, i, j)
            done += 1
            if progress:
                progress(done / total)
    return closest_of_shortlist(rows, shortlist, dim)


def empty_shortlist(dim: int) -> Shortlist:
    """An empty shortlist of pairs, as long as exact arithmetic can afford."""
    return Shortlist(min(2**20, max(1, EFFORT // dim)))


def closest_of_shortlist(rows: RowsAt, shortlist: Shortlist, dim: int) -> ClosestRows:
    """The closest of the shortlisted pairs: by differences of rows first, the rest exactly.

    Of pairs equally close it takes the one with the smallest difference, then the earliest.
    """
    by_differences = empty_shortlist(dim)
    step = max(1, 2**18 // dim)
    for pairs in _in_steps(shortlist.names, step):
        lower, upper = difference_bounds(rows(pairs[:, 0]), rows(pairs[:, 1]))
        by_differences.add(lower, upper, pairs)
    pairs = by_differences.names
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1] - pairs[:, 0]))]
    square, difference, t = min(_exact_squares(rows, _in_steps(pairs, step)))
    # What either list had no room for is no smaller than this.
    missed = min(shortlist.missed, by_differences.missed)
    certain = missed >= square
    floor = square if certain else Fraction(max(0.0, missed))
    distance = Enclosure(_root(floor).lower, _root(square).upper)
    return ClosestRows((t, t + difference), distance, len(pairs), certain)


def difference_bounds(
    x: Float[np.ndarray, "k dim"], y: Float[np.ndarray, "k dim"]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Lower and upper bounds of |x - y|^2: the sum of squared differences has relative error gamma_(dim+2)."""
    gap = x - y
    square = np.einsum("kd,kd->k", gap, gap)
    error = square * ((x.shape[1] + 3) * 2.0**-52) + TINY
    return square - error, square + error


def _consider(
    shortlist: Shortlist,
    left: Float[np.ndarray, "a dim"],
    right: Float[np.ndarray, "b dim"],
    i: int,
    j: int,
) -> None:
    """Shortlist the pairs of two blocks of rows, which begin at i and j."""
    norms_left = np.einsum("kd,kd->k", left, left)
    norms_right = np.einsum("kd,kd->k", right, right)
    square = norms_left[:, None] + norms_right - 2 * (left @ right.T)
    if i == j:
        # Each pair once, and none with itself.
        square[np.tril_indices(len(left))] = np.inf
    largest = max(norms_left.max(), norms_right.max())
    error = largest * ((left.shape[1] + 4) * 2.0**-50) + TINY
    shortlist.least = min(shortlist.least, float(square.min()) + error)
    a, b = np.nonzero(square - error <= shortlist.least)
    close = square[a, b]
    shortlist.add(close - error, close + error, np.stack((a + i, b + j), axis=1))


def _in_steps(
    names: Int[np.ndarray, "k 2"], step: int
) -> Iterator[Int[np.ndarray, "s 2"]]:
    for start in range(0, len(names), step):
        yield names[start : start + step]


def _exact_squares(
    rows: RowsAt, blocks: Iterator[Int[np.ndarray, "s 2"]]
) -> Iterator[tuple[Fraction, int, int]]:
    """(|x - y|^2, difference, t) of pairs; of those that certainly tie, the first in each block will do."""
    # Rounded rows come in few distances: each is worked out once.
    squares: dict[bytes, Fraction] = {}
    for pairs in blocks:
        x = rows(pairs[:, 0])
        y = rows(pairs[:, 1])
        for kind, k in _kinds(x, y).items():
            if kind not in squares:
                squares[kind] = _exact_square(x[k], y[k])
            t, later = pairs[k].tolist()
            yield squares[kind], later - t, t


def _kinds(
    x: Float[np.ndarray, "k dim"], y: Float[np.ndarray, "k dim"]
) -> dict[bytes, int]:
    """Pairs of certainly equal distance under one name, with the first of each."""
    gap = x - y
    back = x - gap
    # x - y was not rounded (Knuth's two-sum).
    is_exact = ((x - (gap + back)) + (back - y) == 0).all(axis=1)
    # |x - y|^2 does not depend on the order, nor on the signs.
    sizes = np.sort(np.abs(gap), axis=1)
    kinds: dict[bytes, int] = {}
    for k in range(len(gap)):
        name = x[k].tobytes() + y[k].tobytes()
        if is_exact[k]:
            name = sizes[k].tobytes()
        kinds.setdefault(name, k)
    return kinds


def _exact_square(
    x: Float[np.ndarray, " dim"], y: Float[np.ndarray, " dim"]
) -> Fraction:
    # Floats are whole numbers of 2^-1074: with that unit there is nothing to round.
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return Fraction(sum((_units(a) - _units(b)) ** 2 for a, b in pairs), 2**2148)


def _units(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (2**1074 // denominator)


def first_equal(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    units: int,
    progress: Progress | None = None,
) -> Int[np.ndarray, " k"]:
    """For each of the ascending positions, the first of them that has the same row (itself if none before has)."""
    firsts = positions.copy()
    pending = positions
    seeds = np.random.default_rng(0)
    while len(pending):
        suspects, keys = _suspects(
            rows, pending, units, seeds, between(progress, 0.0, 0.5)
        )
        order = np.argsort(keys, kind="stable")
        members = suspects[order]
        keys = keys[order]
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = keys[1:] != keys[:-1]
        # Of each run of equal hashes, the first position.
        first_of_run = np.where(begins, np.arange(len(keys)), 0)
        leaders = members[np.maximum.accumulate(first_of_run)]
        same = _same_rows(rows, members, leaders, units, between(progress, 0.5, 1.0))
        firsts[np.searchsorted(positions, members[same])] = leaders[same]
        # Two rows, one hash: they get new multipliers, which is rare, and soon done.
        pending = np.sort(members[~same])
        progress = None
    return firsts


def closest_equal_pair(firsts: Int[np.ndarray, " T"]) -> tuple[int, int] | None:
    """The coinciding pair with the smallest difference, the first of these; None if no two coincide."""
    order = np.argsort(firsts, kind="stable")
    pairs = np.flatnonzero(firsts[order[1:]] == firsts[order[:-1]])
    if not len(pairs):
        return None
    earlier = order[pairs]
    later = order[pairs + 1]
    best = np.lexsort((earlier, later - earlier))[0]
    return int(earlier[best]), int(later[best])


def _suspects(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    units: int,
    seeds: np.random.Generator,
    progress: Progress | None,
) -> tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"]]:
    """The positions that share their hash with another, and their hashes."""
    keys = np.zeros(len(positions), dtype=np.uint64)
    start = 0
    width = 4
    while start < units and len(positions):
        stop = min(units, start + width)
        keys += _hashes(
            rows,
            positions,
            slice(start, stop),
            seeds,
            between(progress, start / units, stop / units),
        )
        shared = _shared(keys)
        positions = positions[shared]
        keys = keys[shared]
        start = stop
        width *= 2
    return positions, keys


def _hashes(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    part: slice,
    seeds: np.random.Generator,
    progress: Progress | None,
) -> Int[np.ndarray, " k"]:
    count = 2 * (part.stop - part.start)
    multipliers = seeds.integers(2**63, size=count, dtype=np.uint64) * 2 + 1

    def work(start: int, stop: int) -> Int[np.ndarray, " b"]:
        numbers = rows(positions[start:stop], part) + 0.0  # makes one zero of the two
        bits = numbers.view(np.uint64)
        # Rounded numbers end in zero bits, which products keep: so the leading half is folded onto the other,
        # before the product and after it.
        mixed = (bits ^ (bits >> np.uint64(32))) * multipliers[: bits.shape[1]]
        mixed ^= mixed >> np.uint64(32)
        hashed: Int[np.ndarray, " b"] = mixed.sum(axis=1, dtype=np.uint64)
        return hashed

    size = max(1, BLOCK_NUMBERS // len(multipliers))
    return np.concatenate(over_blocks(len(positions), size, work, progress))


def _shared(keys: Int[np.ndarray, " k"]) -> Bool[np.ndarray, " k"]:
    order = np.argsort(keys)
    twins = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    shared = np.zeros(len(keys), dtype=bool)
    shared[order[twins]] = True
    shared[order[twins + 1]] = True
    return shared


def _same_rows(
    rows: Rows,
    members: Int[np.ndarray, " s"],
    leaders: Int[np.ndarray, " s"],
    units: int,
    progress: Progress | None,
) -> Bool[np.ndarray, " s"]:
    if not len(members):
        return np.zeros(0, dtype=bool)

    def work(start: int, stop: int) -> Bool[np.ndarray, " b"]:
        unique, of_member = np.unique(leaders[start:stop], return_inverse=True)
        leader_rows = rows(unique, slice(None))[of_member]
        equal = rows(members[start:stop], slice(None)) == leader_rows
        same: Bool[np.ndarray, " b"] = equal.all(axis=1)
        return same

    return np.concatenate(
        over_blocks(len(members), max(1, BLOCK_NUMBERS // units), work, progress)
    )
