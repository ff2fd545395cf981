"""Which positions have the same row? Hashes find the suspects, the rows themselves decide.

Equal rows have equal hashes, so a position whose hash is its own has a row of its own: that is certain. Columns
are hashed a few at a time, and only positions that still share their hash are looked at further: memory O(T),
and O(T dim) work only where rows really coincide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.positions.blocks import Progress, between, over_blocks

BLOCK = 2**16  # numbers in a block: small enough that its arrays stay in the cache

# rows(positions, part): the rows at these positions, or a part of their columns. How many units `part` counts
# (columns, or pairs of columns) is for the caller to say.
Rows = Callable[[Int[np.ndarray, " k"], slice], Float[np.ndarray, "k columns"]]


def first_twins(
    rows: Rows, positions: Int[np.ndarray, " k"], units: int, progress: Progress | None = None
) -> Int[np.ndarray, " k"]:
    """For each of the ascending positions, the first of them that has the same row (itself if none before has).

    >>> import numpy as np
    >>> table = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0], [-0.0, 2.0]])
    >>> first_twins(lambda at, part: table[at, part], np.arange(4), 2).tolist()
    [0, 1, 0, 1]
    """
    firsts = positions.copy()
    pending = positions
    seeds = np.random.default_rng(0)
    while len(pending):
        suspects, keys = _suspects(rows, pending, units, seeds, between(progress, 0.0, 0.5))
        order = np.argsort(keys, kind="stable")
        members, keys = suspects[order], keys[order]
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = keys[1:] != keys[:-1]
        leaders = members[np.maximum.accumulate(np.where(begins, np.arange(len(keys)), 0))]
        same = _same_rows(rows, members, leaders, units, between(progress, 0.5, 1.0))
        firsts[np.searchsorted(positions, members[same])] = leaders[same]
        pending = np.sort(members[~same])  # two rows, one hash: they get new multipliers
        progress = None  # which is rare, and soon done
    return firsts


def nearest_twins(firsts: Int[np.ndarray, " T"]) -> tuple[int, int] | None:
    """The coinciding pair with the smallest difference, the first of these; None if no two coincide.

    >>> import numpy as np
    >>> nearest_twins(np.array([0, 1, 2, 0, 1, 1]))
    (4, 5)
    """
    order = np.argsort(firsts, kind="stable")
    pairs = np.flatnonzero(firsts[order[1:]] == firsts[order[:-1]])
    if not len(pairs):
        return None
    earlier, later = order[pairs], order[pairs + 1]
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
    start, width = 0, 4
    while start < units and len(positions):
        stop = min(units, start + width)
        keys += _hashes(rows, positions, slice(start, stop), seeds, between(progress, start / units, stop / units))
        shared = _shared(keys)
        positions, keys = positions[shared], keys[shared]
        start, width = stop, 2 * width
    return positions, keys


def _hashes(
    rows: Rows,
    positions: Int[np.ndarray, " k"],
    part: slice,
    seeds: np.random.Generator,
    progress: Progress | None,
) -> Int[np.ndarray, " k"]:
    multipliers = seeds.integers(2**63, size=2 * (part.stop - part.start), dtype=np.uint64) * 2 + 1

    def work(start: int, stop: int) -> Int[np.ndarray, " b"]:
        bits = (rows(positions[start:stop], part) + 0.0).view(np.uint64)  # + 0.0 makes one zero of the two
        # Rounded numbers end in zero bits, which products keep: so the leading half is folded onto the other,
        # before the product and after it.
        mixed = (bits ^ (bits >> np.uint64(32))) * multipliers[: bits.shape[1]]
        mixed ^= mixed >> np.uint64(32)
        hashed: Int[np.ndarray, " b"] = mixed.sum(axis=1, dtype=np.uint64)
        return hashed

    size = max(1, BLOCK // len(multipliers))
    return np.concatenate(over_blocks(len(positions), size, work, progress))


def _shared(keys: Int[np.ndarray, " k"]) -> Bool[np.ndarray, " k"]:
    order = np.argsort(keys)
    twins = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    shared = np.zeros(len(keys), dtype=bool)
    shared[order[twins]] = shared[order[twins + 1]] = True
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
        same: Bool[np.ndarray, " b"] = (
            rows(members[start:stop], slice(None)) == rows(unique, slice(None))[of_member]
        ).all(axis=1)
        return same

    return np.concatenate(over_blocks(len(members), max(1, BLOCK // units), work, progress))
