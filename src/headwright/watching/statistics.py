"""The statistics of one call of the attention of a batch, as the recorder keeps them.

What is computed is that of `headwright.statistics`. Rows that see nothing are NaN here, and so are rows whose scores
hold NaN or +inf, of which the softmax is NaN. Only the latter are marked by SPOILT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from headwright.statistics.attention_rows import HIDDEN, AttentionRows
from headwright.statistics.compute import (
    ComputedStatistics,
    compute_statistics,
    is_on_gpu,
    launch_on_gpu,
)
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import TABLE, PerWhat
from headwright.statistics.triton_backend import KernelResult
from headwright.watching.names import SPOILT

__all__ = [
    "Step",
    "finish_statistics",
    "read_mask",
    "start_statistics",
    "statistics_of",
    "steps_together",
    "wanted_of",
]
MANY_ROWS = 64  # from here on it pays to find out what a mask says

# Of one row: the query, the mask, which texts count.
Step = tuple[Tensor, Tensor | None, Tensor | None]


def statistics_of(call: AttentionRows, wanted: StatisticsRequest) -> dict[str, Tensor]:
    """By name: (batch, heads, rows), (batch, heads, rows, k) or (batch, heads, keys). NaN for rows that see nothing."""
    started = start_statistics(call, wanted)
    if isinstance(started, KernelResult):
        return finish_statistics(started, wanted_of(call, wanted))
    return started


def wanted_of(call: AttentionRows, wanted: StatisticsRequest) -> StatisticsRequest:
    """What is computed of a call: of two texts, not what has a meaning in one alone."""
    return _of_two_texts(wanted) if call.cross else wanted


@lru_cache(maxsize=64)
def _of_two_texts(wanted: StatisticsRequest) -> StatisticsRequest:
    names = [name for name in wanted.names if not TABLE[name].in_one_text]
    return replace(wanted, names=tuple(names))


def _start_statistics(
    call: AttentionRows, wanted: StatisticsRequest
) -> KernelResult | dict[str, Tensor]:
    if call.rows >= MANY_ROWS or call.query.is_cuda:
        call = read_mask(call) or call
    wanted = wanted_of(call, wanted)
    if is_on_gpu(call.query):
        launched = launch_on_gpu(call, wanted)
        if launched is not None:
            return launched
    computed = compute_statistics(call, wanted)
    dtype = torch.promote_types(call.query.dtype, torch.float32)
    return _kept(computed, wanted, dtype)


# In a model that is compiled, Dynamo would trace NumPy's operations as if they were torch's.
_uncompiled: Callable[
    [AttentionRows, StatisticsRequest], KernelResult | dict[str, Tensor]
]
_uncompiled = torch.compiler.disable(_start_statistics)  # type: ignore[no-untyped-call]


def start_statistics(
    call: AttentionRows, wanted: StatisticsRequest
) -> KernelResult | dict[str, Tensor]:
    """The statistics of a call; or what the kernels have written, of which `finish_statistics` makes them."""
    return _uncompiled(call, wanted)


def finish_statistics(
    result: KernelResult, wanted: StatisticsRequest
) -> dict[str, Tensor]:
    """By name, as `statistics_of`; with an axis of calls in front, if the result is of several."""
    return _kept(ComputedStatistics(*result.values(wanted)), wanted, torch.float32)


def _kept(
    computed: ComputedStatistics, wanted: StatisticsRequest, dtype: torch.dtype
) -> dict[str, Tensor]:
    """The statistics, and SPOILT. Padding, and rows that see no key, are no rows of text."""
    sees, spoilt = torch.as_tensor(computed.sees), torch.as_tensor(computed.spoilt)
    spoilt = spoilt & sees
    nothing = ~sees | spoilt
    kept = {SPOILT: spoilt}
    for name in wanted.names:
        entry, value = TABLE[name], torch.as_tensor(computed.values[name])
        if not entry.is_position:
            value = value.to(dtype)
        if entry.per is not PerWhat.KEY:
            without = nothing if entry.per is PerWhat.ROW else nothing[..., None]
            value = value.masked_fill(without, -1 if entry.is_position else torch.nan)
        kept[name] = value
    return kept


@dataclass(frozen=True, eq=False)
class MaskReading:
    """What was read of a mask, and for which call."""

    version: int  # of the mask: changes in place are counted
    shape: tuple[int, int, int]  # texts, rows and keys of the call
    said: (
        dict[str, Any] | None
    )  # of a call without the mask; None if it says anything else

    def is_of(self, mask: Tensor, shape: tuple[int, int, int]) -> bool:
        """Whether it is of a mask as it is now."""
        return self.version == mask._version and self.shape == shape


# Layers share a mask: it is read once, and not in each of them, where a GPU would be waited for.
_readings: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def read_mask(call: AttentionRows) -> AttentionRows | None:
    """The same call with its mask as a causal mask, a window and a key mask; None if it says anything else."""
    mask = call.mask
    if mask is None or mask.shape[1] != 1:
        return None
    if call.bias is not None or call.key_mask is not None or call.causal:
        return None
    said = _read_shared_mask(mask, (len(call.query), call.rows, call.keys))
    return None if said is None else replace(call, mask=None, **said)


def _read_shared_mask(
    mask: Tensor, shape: tuple[int, int, int]
) -> dict[str, Any] | None:
    if mask.is_inference():  # whose changes are not counted
        return _read_mask(mask, *shape)
    reading: MaskReading | None = _readings.get(mask, None)  # type: ignore[no-untyped-call]
    if reading is None or not reading.is_of(mask, shape):
        reading = MaskReading(mask._version, shape, _read_mask(mask, *shape))
        _readings[mask] = reading
    return reading.said


def _read_mask(
    mask: Tensor, texts: int, rows: int, count: int
) -> dict[str, Any] | None:
    mask = mask[:, 0, :, :count]
    # A mask that is added hides a key, or adds nothing.
    seen = mask if mask.dtype == torch.bool else mask > HIDDEN
    if mask.dtype != torch.bool and bool((mask[seen] != 0).any()):
        return None  # it adds something to scores
    seen = seen.expand(texts, -1, -1)
    # Every row sees the same keys: a key mask.
    if seen.shape[1] == 1 or torch.equal(seen, seen[:, -1:].expand_as(seen)):
        return {"causal": False, "window": None, "key_mask": seen[:, -1].clone()}
    if seen.shape[1] != count or rows != count:
        return None
    # A causal mask with padding: every key that counts sees itself.
    key_mask = seen.diagonal(dim1=1, dim2=2).clone()
    place = torch.arange(count, device=seen.device)
    reach = int(torch.where(seen.any(2), place - seen.int().argmax(2) + 1, 0).max())
    apart = place[:, None] - place
    expected = (apart >= 0) & (apart < reach)
    if not torch.equal(seen, expected & key_mask[:, None]):
        return None
    return {"causal": True, "window": reach, "key_mask": key_mask}


def steps_together(steps: Sequence[Step], last: AttentionRows) -> AttentionRows:
    """Decode steps as one call: the keys are those of the last step, and each step saw one more."""
    mask = None
    if any(step_mask is not None for _, step_mask, _ in steps):
        mask = _joined_masks(steps, last.key)
    counted = [rows_counted for _, _, rows_counted in steps if rows_counted is not None]
    return replace(
        last,
        query=torch.cat([query for query, _, _ in steps], dim=2),
        mask=mask,
        causal=mask is None,
        counted=torch.cat(counted, dim=1) if len(counted) == len(steps) else None,
    )


def _joined_masks(steps: Sequence[Step], keys: Tensor) -> Tensor:
    """One row of each step; the keys of later steps are hidden from it."""
    count = keys.shape[2]
    masks = []
    for number, (_, mask, _) in enumerate(steps):
        seen = count - len(steps) + number + 1
        if mask is None:
            mask = keys.new_ones((1, 1, 1, seen), dtype=torch.bool)
        mask = mask[..., :seen]
        hidden = False if mask.dtype == torch.bool else torch.finfo(mask.dtype).min
        mask = torch.nn.functional.pad(mask, (0, count - mask.shape[3]), value=hidden)
        masks.append(mask.expand(len(keys), -1, -1, -1))
    return torch.cat(masks, dim=2)
