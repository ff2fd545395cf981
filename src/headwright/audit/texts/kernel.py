"""The extremes of Q K^T on a GPU: the largest and smallest product of each query with any key, nothing else stored.

Each program keeps a tile of running maxima and minima, one for each column of its tile of scores, and reduces them once
at the end: two operations a score, beside the product itself.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

SMALL, LARGE = (64, 128, 4, 3), (64, 64, 4, 2)  # rows, keys, warps, stages; vectors over 256 bytes need more room


@triton.jit
def _extremes(
    Q, K, HIGH, LOW, rows, keys, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PRECISION: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    q = tl.load(Q + row[:, None] * D + depth[None, :], mask=row[:, None] < rows, other=0.0)
    high = tl.full((BM, BN), -3e38, tl.float32)
    low = tl.full((BM, BN), 3e38, tl.float32)
    for start in range(0, keys, BN):
        column = tl.minimum(start + tl.arange(0, BN), keys - 1)  # the last key again changes no extreme
        k = tl.load(K + column[:, None] * D + depth[None, :])
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION)
        high = tl.maximum(high, s)
        low = tl.minimum(low, s)
    tl.store(HIGH + row, tl.max(high, axis=1), mask=row < rows)
    tl.store(LOW + row, tl.min(low, axis=1), mask=row < rows)


def extremes(
    queries: torch.Tensor, keys: torch.Tensor, precision: str = "ieee", tiles: tuple[int, int, int, int] | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Largest and smallest product of each query (rows, d) with the keys (keys, d); d is a power of two.

    `precision` is that of float32 products (ieee, tf32, tf32x3); of bfloat16 they are exact and added up in float32.
    """
    (rows, d), (count, _) = queries.shape, keys.shape
    bm, bn, warps, stages = tiles or (SMALL if d * queries.element_size() <= 256 else LARGE)
    queries, keys = queries.contiguous(), keys.contiguous()
    high, low = torch.empty((2, rows), device=queries.device)
    _extremes[(triton.cdiv(rows, bm),)](
        queries, keys, high, low, rows, count, D=d, BM=bm, BN=bn, PRECISION=precision, num_warps=warps,
        num_stages=stages,
    )  # fmt: skip
    return high, low
