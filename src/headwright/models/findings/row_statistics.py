"""Row statistics where the tensors are: by kernels on a GPU, by blocks in NumPy otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.models.rows.blocked import row_statistics
from headwright.models.rows.scoring import RowStatistics, Scoring

WIDEST = 256  # numbers of a head's query, for which the kernel's tiles fit


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
    if bool(getattr(queries, "is_cuda", False)) and queries.shape[-1] <= WIDEST and queries.element_size() <= 4:
        return by_kernel(queries, keys, scoring, offsets)
    return row_statistics(numbers(queries), numbers(keys), **scoring.options, offsets=tuple(offsets))


def by_kernel(queries: Any, keys: Any, scoring: Scoring, offsets: Sequence[int]) -> RowStatistics:
    """The same, of torch tensors, by the Triton kernels; float32 is multiplied in three parts, so that it stays so."""
    from headwright.models.rows import gpu_kernel

    told = gpu_kernel.statistics(queries, keys, offsets=tuple(offsets), **scoring.options)
    found: dict[str, Any] = {name: tensor.double().cpu().numpy() for name, tensor in told.items()}
    weights = {offset: found.pop(f"offset {offset}") for offset in offsets}
    return RowStatistics(**found | {"winner": found["winner"].astype(np.int64), "offsets": weights})
