"""The map of a pattern: its mean over a grid of bins, at any length, without the pattern.

Two passes over blocks of Q K^T: the first finds the lse of each row (`row_statistics`), the second adds up the weights
exp(s - lse) of each cell. Memory is that of a block and of the map.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError, typed_errors
from headwright.models.rows.blocked import finite_numbers, score_blocks, statistics
from headwright.models.rows.on_gpu import WIDEST_HEAD
from headwright.models.rows.scoring import Scoring

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
        share = np.clip(np.log1p(self.values[head] / even) / np.log1p(FULL), 0.0, 1.0)[..., None]
        return png_of(np.round(255 * (1 - share) + INK * share).astype(np.uint8))

    def _repr_png_(self) -> bytes:
        """For notebooks: the first head, and `png` has the others."""
        return self.png()


def check_head(head: int, count: int) -> None:
    """Refuse a head that is not there."""
    if not 0 <= head < count:
        raise InputError(f"head {head}, and the map has {count}: expected 0 to {count - 1}")


def png_of(pixels: np.ndarray) -> bytes:
    """An image of red, green and blue, 8 bits each, as a PNG file."""
    high, wide, _ = pixels.shape
    lines = np.concatenate([np.zeros((high, 1), np.uint8), pixels.reshape(high, 3 * wide)], axis=1)
    header = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def edges(count: int, bins: int) -> Int[np.ndarray, " edges"]:
    """Where the bins begin, and where the last one ends: as even as whole numbers allow, at most one bin a number."""
    bins = min(bins, count)
    return np.arange(bins + 1) * count // bins


@typed_errors
def attention_map(queries: Any, keys: Any, bins: int = 512, **scoring: Any) -> AttentionMap:
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
        raise InputError(f"bins = {bins!r}: expected a whole number from 1 to {MOST_BINS}")
    told = Scoring.of(tuple(queries.shape), tuple(keys.shape), **scoring)
    down, across = edges(told.rows, bins), edges(told.keys, bins)
    high, wide = told.rows // (len(down) - 1), told.keys // (len(across) - 1)
    even = (told.rows, told.keys) == (high * (len(down) - 1), wide * (len(across) - 1))
    even = even and high & (high - 1) == 0 == wide & (wide - 1)
    if getattr(queries, "is_cuda", False) and even and queries.shape[-1] <= WIDEST_HEAD:
        from headwright.models.rows import gpu_kernel

        found = gpu_kernel.cells(queries, keys, high, wide, **{**scoring, "scale": told.scale}).double().cpu().numpy()
        return AttentionMap(found, down, across)
    return AttentionMap(
        _cells(finite_numbers(queries, "queries"), finite_numbers(keys, "keys"), told, down, across), down, across
    )


@np.errstate(invalid="ignore", over="ignore")
def _cells(
    queries: Float[np.ndarray, "heads rows d"], keys: Float[np.ndarray, "key_heads keys d"], scoring: Scoring,
    down: Int[np.ndarray, " edges"], across: Int[np.ndarray, " edges"],
) -> Float[np.ndarray, "heads row_bins key_bins"]:  # fmt: skip
    lse = statistics(queries, keys, scoring, (), 0).lse
    found = np.zeros((scoring.heads, len(down) - 1, len(across) - 1))
    for head, rows, columns, s in score_blocks(queries, keys, scoring):
        mine = lse[head, rows]
        p = np.exp(np.minimum(s - np.where(np.isneginf(mine), np.inf, mine)[:, None], 0.0))
        cell = [np.searchsorted(cut, np.arange(part.start, part.stop), side="right") - 1
                for cut, part in ((down, rows), (across, columns))]  # fmt: skip
        first = [np.flatnonzero(np.diff(bins, prepend=-1)) for bins in cell]
        sums = np.add.reduceat(np.add.reduceat(p, first[1], axis=1), first[0], axis=0)
        found[head][np.ix_(cell[0][first[0]], cell[1][first[1]])] += sums
    return found / np.diff(down)[:, None] / np.diff(across)
