"""`row_statistics` of tensors on a GPU: by the Triton kernel, with results in NumPy arrays as elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.models.rows.scoring import RowStatistics, Scoring, checked_mask

WIDEST_HEAD = 256  # numbers of a query, for which the kernel's tiles fit
KERNEL_TYPES = ("torch.bfloat16", "torch.float16", "torch.float32")


def kernel_takes(queries: Any, keys: Any) -> bool:
    """Whether these are tensors on a GPU that the kernel knows, and Triton is installed."""
    if not getattr(queries, "is_cuda", False):
        return False
    if getattr(keys, "device", None) != queries.device:
        raise InputError("queries are on a GPU and keys are not on the same one: expected both on one device")
    known = str(queries.dtype) in KERNEL_TYPES and str(keys.dtype) in KERNEL_TYPES
    if not known or queries.ndim not in (3, 4) or queries.shape[-1] > WIDEST_HEAD:
        return False
    try:
        from headwright.models.rows import gpu_kernel
    except ModuleNotFoundError:
        return False
    return gpu_kernel is not None


def by_kernel(
    queries: Any,
    keys: Any,
    *,
    offsets: Sequence[int] = (0, 1),
    received: bool = False,
    last_rows: int = 64,
    key_mask: Any = None,
    **scoring: Any,
) -> RowStatistics:
    """The statistics that the kernel computes, of queries (..., heads, rows, d); the other arguments are checked here.

    float32 is multiplied in three parts, so that it stays so.
    """
    from headwright.models.rows import gpu_kernel

    heads, texts = tuple(queries.shape[-3:]), tuple(queries.shape[:-3])
    if tuple(keys.shape[:-3]) != texts or 0 in texts:
        raise InputError(f"queries of shape {tuple(queries.shape)} and keys of shape {tuple(keys.shape)}: expected "
                         "(batch, heads, rows, d) of each, and one batch")  # fmt: skip
    checked = Scoring.of(heads, tuple(keys.shape[-3:]), **scoring)
    options = checked.options | {"key_mask": _checked_masks(key_mask, texts, checked.keys)}
    computed = gpu_kernel.statistics(
        queries.detach(), keys.detach(), offsets=tuple(offsets), received=received, last_rows=last_rows, **options
    )
    arrays: dict[str, Any] = {name: tensor.double().cpu().numpy() for name, tensor in computed.items()}
    arrays["winner"] = arrays["winner"].astype(np.int64)
    arrays["offsets"] = {offset: arrays.pop(f"offset {offset}") for offset in offsets}
    return RowStatistics(**arrays)


def _checked_masks(mask: Any, texts: tuple[int, ...], keys: int) -> Any:
    """One key mask for all texts, or one for each."""
    if mask is None:
        return None
    given = np.asarray(mask)
    if not texts or given.ndim == 1:
        return checked_mask(given, keys, "keys")
    if given.ndim != 2 or len(given) != texts[0]:
        raise InputError(f"a mask of shape {given.shape} for {texts[0]} texts: expected (keys,) or (batch, keys)")
    return np.stack([checked_mask(row, keys, "keys") for row in given])
