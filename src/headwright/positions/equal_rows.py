"""Which of many positions have equal rows.

Equal rows have equal hashes, so a position whose hash is unique has a unique row. Columns are hashed a few at a time,
and only positions that still share their hash are hashed further; rows of equal hash are compared number by number.
Memory O(T), and O(T dim) work where rows coincide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Bool, Float, Int

Progress = Callable[[float], None]  # is told the fraction done, from 0 to 1

# rows(positions, part): the rows at these positions, or a part of their columns. How many units `part` counts
# (columns, or pairs of columns) is for the caller to say.
Rows = Callable[[Int[np.ndarray, " k"], slice], Float[np.ndarray, "k columns"]]

BLOCK_NUMBERS = 2**16  # numbers in a block: its arrays stay in the cache
FIRST_WIDTH = 4  # units hashed first; then twice as many, and so on


def between(progress: Progress | None, start: float, stop: float) -> Progress | None:
    """Progress for a part of the work, the part from `start` to `stop`."""
    if progress is None:
        return None
    return lambda fraction: progress(start + (stop - start) * fraction)


def first_equal(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    units: int,
    progress: Progress | None = None,
) -> Int[np.ndarray, " k"]:
    """For each of the ascending positions, the first of them that has the same row (itself if none before has)."""
    firsts = positions.copy()
    pending = positions
    random = np.random.default_rng(0)
    while len(pending):
        suspects, hashes = _sharing_a_hash(rows, pending, units, random, progress)
        _, first, run = np.unique(hashes, return_index=True, return_inverse=True)
        leaders = suspects[first[run]]
        same = _same_rows(rows, suspects, leaders, units)
        firsts[np.searchsorted(positions, suspects[same])] = leaders[same]
        # Different rows of one hash get new multipliers, which is rare, and soon done.
        pending = suspects[~same]
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


def _sharing_a_hash(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    units: int,
    random: np.random.Generator,
    progress: Progress | None,
) -> tuple[Int[np.ndarray, " s"], Int[np.ndarray, " s"]]:
    """The positions that share their hash with another, ascending, and their hashes."""
    hashes = np.zeros(len(positions), dtype=np.uint64)
    start = 0
    width = FIRST_WIDTH
    while start < units and len(positions):
        stop = min(units, start + width)
        hashes += _hashes(rows, positions, slice(start, stop), random)
        _, run, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        shared = counts[run] > 1
        positions = positions[shared]
        hashes = hashes[shared]
        start = stop
        width *= 2
        if progress:
            progress(start / units)
    return positions, hashes


def _hashes(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    part: slice,
    random: np.random.Generator,
) -> Int[np.ndarray, " k"]:
    count = 2 * (part.stop - part.start)  # as many columns at most
    multipliers = random.integers(2**63, size=count, dtype=np.uint64) * 2 + 1
    hashes = np.zeros(len(positions), dtype=np.uint64)
    for block in _blocks(len(positions), count):
        numbers = rows(positions[block], part) + 0.0  # makes one zero of the two
        bits = numbers.view(np.uint64)
        # Rounded numbers end in zero bits, which products keep: so the leading half is folded onto the other,
        # before the product and after it.
        mixed = (bits ^ (bits >> np.uint64(32))) * multipliers[: bits.shape[1]]
        mixed ^= mixed >> np.uint64(32)
        hashes[block] = mixed.sum(axis=1, dtype=np.uint64)
    return hashes


def _same_rows(
    rows: Rows,
    positions: Int[np.ndarray, " s"],
    leaders: Int[np.ndarray, " s"],
    units: int,
) -> Bool[np.ndarray, " s"]:
    """Whether each position has the row of its leader."""
    same = np.zeros(len(positions), dtype=bool)
    for block in _blocks(len(positions), units):
        unique, of_position = np.unique(leaders[block], return_inverse=True)
        leader_rows = rows(unique, slice(None))[of_position]
        equal = rows(positions[block], slice(None)) == leader_rows
        same[block] = equal.all(axis=1)
    return same


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Stretches of 0..count-1, each of about BLOCK_NUMBERS numbers where a row has `width`."""
    size = max(1, BLOCK_NUMBERS // width)
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))
