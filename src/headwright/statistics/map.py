"""The map of a pattern: its mean over a grid of bins, at any length, without the pattern.

One pass over blocks of whole rows adds up the weights of each cell. Memory is that of a block and of the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.pictures.png import png_of
from headwright.statistics.arrays import ArrayBackend
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import ON_A_CPU, cpu_backend
from headwright.statistics.row_block import StatisticsParameters, row_blocks
from headwright.statistics.rows import finite_numbers
from headwright.statistics.triton_backend import kernel_takes

MOST_BINS = 4096
FULL = 32.0  # times an even share has the full colour
INK = np.array([8, 48, 107])  # of the full colour


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """`values[h, r, c]` is the mean weight over the rows of bin r and the keys of bin c of head h.

    Bin b has the rows from rows[b] to before rows[b + 1], and the keys likewise.

    >>> q = np.zeros((1, 4, 2))  # each row attends evenly
    >>> attention_map(q, q, bins=2, causal=False).values[0].tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """

    values: Float[np.ndarray, "heads row_bins key_bins"]
    rows: Int[np.ndarray, " edges"]
    keys: Int[np.ndarray, " edges"]

    def __repr__(self) -> str:
        """The sizes, not the numbers."""
        heads, down, across = self.values.shape
        return f"AttentionMap({heads} heads, {self.rows[-1]} rows and {self.keys[-1]} keys in {down} x {across} bins)"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values, for NumPy."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def png(self, head: int = 0) -> bytes:
        """One head as a PNG image, a pixel for each cell: white for no weight, darker the more (logarithmic).

        A cell has the full colour where its rows give its keys 32 times what they would if they attended evenly.
        """
        check_head(head, len(self.values))
        even = 1 / self.keys[-1]
        share = np.clip(np.log1p(self.values[head] / even) / np.log1p(FULL), 0.0, 1.0)[
            ..., None
        ]
        return png_of(np.round(255 * (1 - share) + INK * share).astype(np.uint8))

    def _repr_png_(self) -> bytes:
        """For notebooks: the first head, and `png` has the others."""
        return self.png()


def check_head(head: int, count: int) -> None:
    """Refuse a head that is not there."""
    if not 0 <= head < count:
        raise InputError(
            f"head {head}, and the map has {count}: expected 0 to {count - 1}"
        )


def edges(count: int, bins: int) -> Int[np.ndarray, " edges"]:
    """Where the bins begin, and where the last one ends: as even as whole numbers allow, at most one bin a number."""
    bins = min(bins, count)
    return np.arange(bins + 1) * count // bins


def attention_map(
    queries: Any, keys: Any, bins: int = 512, **scoring: Any
) -> AttentionMap:
    """The exact pattern of each head, averaged over a grid of at most bins x bins cells, at any length.

    Queries are (heads, rows, d), keys (key heads, keys, d): NumPy arrays or torch tensors. Other arguments are those of
    `row_statistics`: scale, causal, window, softcap, sinks, key_mask. Keys that a row does not see count as weight 0.
    On a GPU a kernel does it where the bins are powers of two; sums are in float32 there, else in float64.

    >>> rng = np.random.default_rng(0)
    >>> found = attention_map(rng.normal(size=(2, 50, 8)), rng.normal(size=(1, 50, 8)), bins=10)
    >>> found, bool(np.allclose(found.values.sum(axis=2) * 5, 1.0))
    (AttentionMap(2 heads, 50 rows and 50 keys in 10 x 10 bins), True)
    """
    if not isinstance(bins, int) or not 1 <= bins <= MOST_BINS:
        raise InputError(
            f"bins = {bins!r}: expected a whole number from 1 to {MOST_BINS}"
        )
    config = AttentionConfig.of(tuple(queries.shape), tuple(keys.shape), **scoring)
    row_edges = edges(config.rows, bins)
    key_edges = edges(config.keys, bins)
    if kernel_takes(queries) and _powers_of_two(row_edges, key_edges):
        from headwright.statistics import gpu_kernel

        options = {**scoring, "scale": config.scale}
        cells = gpu_kernel.cells(
            queries,
            keys,
            int(row_edges[1]),
            int(key_edges[1]),
            **options,
        )
        return AttentionMap(cells.double().cpu().numpy(), row_edges, key_edges)
    values = _cells(
        finite_numbers(queries, "queries"),
        finite_numbers(keys, "keys"),
        config,
        cpu_backend(queries),
        row_edges,
        key_edges,
    )
    return AttentionMap(values, row_edges, key_edges)


def _powers_of_two(*axes: Int[np.ndarray, " edges"]) -> bool:
    """Whether all bins of an axis have the same size, and it is a power of two."""
    for axis in axes:
        sizes = np.diff(axis)
        if (sizes != sizes[0]).any() or int(sizes[0]).bit_count() != 1:
            return False
    return True


@np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore")
def _cells(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    config: AttentionConfig,
    backend: ArrayBackend,
    row_edges: Int[np.ndarray, " edges"],
    key_edges: Int[np.ndarray, " edges"],
) -> Float[np.ndarray, "heads row_bins key_bins"]:
    wide = np.result_type(queries, keys)
    mask = config.key_mask
    call = AttentionRows(
        queries.astype(wide, copy=False)[None],
        keys.astype(wide, copy=False)[None],
        config.scale,
        softcap=config.softcap,
        sinks=config.sinks,
        causal=config.causal,
        window=config.window,
        key_mask=None if mask is None else mask[None],
    )
    sums = np.zeros((config.heads, len(row_edges) - 1, len(key_edges) - 1))
    for block in row_blocks(call, StatisticsParameters(), backend, ON_A_CPU):
        weights = block.exponentials[0] * block.unit[0, ..., None]
        row_bins, row_starts = _bins(row_edges, block.place.rows)
        key_bins, key_starts = _bins(key_edges, block.place.keys)
        by_key = np.add.reduceat(weights, key_starts, axis=2)
        cells = np.add.reduceat(by_key, row_starts, axis=1)
        for head, of_head in enumerate(cells, start=block.place.heads.start):
            sums[head][np.ix_(row_bins, key_bins)] += of_head
    return sums / np.diff(row_edges)[:, None] / np.diff(key_edges)


def _bins(
    axis: Int[np.ndarray, " edges"], part: slice
) -> tuple[Int[np.ndarray, " bins"], Int[np.ndarray, " bins"]]:
    """The bins that a part of an axis lies in, and where in the part each of them begins."""
    bins = np.searchsorted(axis, np.arange(part.start, part.stop), side="right") - 1
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    return bins[starts], starts
