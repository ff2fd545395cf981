"""Row statistics where the tensors are: by the kernel on a GPU, by blocks in NumPy otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.models.rows.blocked import row_statistics
from headwright.models.rows.scoring import RowStatistics, Scoring

WIDTHS = (16, 32, 64, 128)  # of a head, for which the kernel's tiles fit


def numbers(array: Any) -> Float[np.ndarray, ...]:
    """A NumPy array of float32 or wider, wherever the array was."""
    if hasattr(array, "detach"):
        array = array.detach()
        array = (array if array.element_size() == 8 else array.float()).cpu().numpy()
    held = np.asarray(array)
    found: Float[np.ndarray, ...] = held.astype(np.result_type(np.float32, held.dtype), copy=False)
    return found


def statistics(queries: Any, keys: Any, scoring: Scoring, offsets: Sequence[int]) -> RowStatistics:
    """`row_statistics` of arrays or tensors, with the scoring of their layer but for its shapes."""
    if bool(getattr(queries, "is_cuda", False)) and kernel_fits(scoring, queries.shape[-1], queries.element_size()):
        return by_kernel(queries, keys, scoring, offsets)
    return row_statistics(
        numbers(queries), numbers(keys), scale=scoring.scale, causal=scoring.causal, window=scoring.window,
        softcap=scoring.softcap, sinks=scoring.sinks, key_mask=scoring.key_mask, offsets=tuple(offsets),
    )  # fmt: skip


def kernel_fits(scoring: Scoring, d: int, size: int) -> bool:
    """The kernel knows a scale and a causal mask, and nothing else; and numbers of two bytes.

    A GPU multiplies float32 in fewer digits than float32 has, and an audit would say so nowhere.
    """
    plain = scoring.window is None and scoring.softcap is None and scoring.sinks is None and scoring.key_mask is None
    return plain and scoring.scale > 0 and d in WIDTHS and size == 2


def by_kernel(queries: Any, keys: Any, scoring: Scoring, offsets: Sequence[int]) -> RowStatistics:
    """The same, of torch tensors, by the Triton kernel; weights at known places need no kernel."""
    from headwright.models.rows import gpu_kernel

    told = gpu_kernel.statistics(queries, keys.to(queries.dtype), scale=scoring.scale, causal=scoring.causal)
    found = {name: tensor.double().cpu().numpy() for name, tensor in told.items()}
    count, rows = keys.shape[1], queries.shape[1]
    position = np.arange(rows) + count - rows
    group = queries.shape[0] // keys.shape[0]
    best = found["lse"] + np.log(np.maximum(found["largest"], np.finfo(np.float64).tiny))
    weights = {}
    for offset in offsets:
        key = position - offset
        seen = (key >= 0) & (key < count)
        mine = keys[:, np.where(seen, key, 0)].repeat_interleave(group, 0)
        s = (queries.float() * mine.float()).sum(-1).double().cpu().numpy() * scoring.scale
        weights[offset] = np.where(seen, np.exp(np.minimum(s - found["lse"], 0.0)), 0.0)
    return RowStatistics(
        found["lse"], found["largest"], found["winner"].astype(np.int64), found["margin"], found["entropy"],
        found["first"], found["distance"], found["largest"] * (1 - found["largest"]) * best, best, weights,
    )  # fmt: skip
