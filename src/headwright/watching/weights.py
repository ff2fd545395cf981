"""The weights of chosen rows on all keys, computed beside the kernel in memory rows x keys.

A call's chosen rows become a call of their own, of these queries alone, whose mask says what
each of them sees. Its blocks are those of `headwright.statistics`, which make the exponentials
of scores; the weights are these times the unit of their row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from headwright.statistics.arrays import ArrayBackend
from headwright.statistics.attention_config import out_of_reach
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import ON_A_CPU, ON_A_GPU, cpu_backend, is_on_gpu
from headwright.statistics.row_block import StatisticsParameters, row_blocks
from headwright.statistics.torch_arrays import TorchBackend, masks_as_tensors, widen
from headwright.watching.rows_request import RowsRequest

NO_ROW = -1  # stands for a position where a text has fewer rows than others


@dataclass(frozen=True, eq=False)
class ChosenWeights:
    """The weights of some rows, of the heads that were asked for."""

    positions: Tensor  # batch, rows: NO_ROW where there is none
    weights: Tensor  # batch, heads, rows, keys; NaN where there is no row
    first: Tensor  # batch: the position of each text's first token

    def joined(self, later: ChosenWeights) -> ChosenWeights:
        """These rows, and those of a later call, which may see more keys."""
        keys = max(self.weights.shape[3], later.weights.shape[3])
        weights = [_with_keys(part.weights, keys) for part in (self, later)]
        positions = torch.cat([self.positions, later.positions], dim=1)
        return ChosenWeights(positions, torch.cat(weights, dim=2), later.first)

    def last(self, count: int) -> ChosenWeights:
        """The last rows of each text, at most so many."""
        if self.positions.shape[1] <= count:
            return self
        # Places without a row go to the front, and the order of the others stays.
        order = (self.positions != NO_ROW).int().argsort(dim=1, stable=True)
        kept = order[:, -count:]
        return ChosenWeights(
            self.positions.gather(1, kept), take_rows(self.weights, kept), self.first
        )

    def before(self, end: int) -> ChosenWeights:
        """Without rows and keys from this position on: a cache was cropped there."""
        within = (self.positions < end).all(0)
        return ChosenWeights(
            self.positions[:, within], self.weights[:, :, within, :end], self.first
        )


def weights_of(
    call: AttentionRows, request: RowsRequest, each_row_is_a_step: bool
) -> ChosenWeights | None:
    """The weights of the rows of a call that are asked for; None if there is no such row.

    Args:
        call: with `key_position` and `row_position`; keys before the first one get weight 0.
        request: which rows.
        each_row_is_a_step: whether the rows are decode steps, and not rows of a prompt.
    """
    return _uncompiled(call, request, each_row_is_a_step)


def _weights_of(
    call: AttentionRows, request: RowsRequest, each_row_is_a_step: bool
) -> ChosenWeights | None:
    index = _chosen_rows(call, request, each_row_is_a_step)
    if index.shape[1] == 0:
        return None
    heads = request.heads_of(call.query.shape[1])
    with torch.no_grad():
        weights = _softmax(_rows_of_call(call, index.clamp_min(0)))
        weights = weights[:, list(heads)]
    weights = weights.masked_fill((index == NO_ROW)[:, None, :, None], torch.nan)
    positions = torch.where(index == NO_ROW, NO_ROW, index + call.row_position)
    # Keys that a window has dropped from the cache are seen by no row.
    weights = torch.nn.functional.pad(weights, (call.key_position, 0))
    first = call.first
    if first is None:
        first = torch.zeros(len(weights), dtype=torch.long)
    return ChosenWeights(positions.cpu(), weights, first.cpu())


# In a model that is compiled, Dynamo would trace NumPy's operations as if they were torch's.
_uncompiled: Callable[[AttentionRows, RowsRequest, bool], ChosenWeights | None]
_uncompiled = torch.compiler.disable(_weights_of)  # type: ignore[no-untyped-call]


def _chosen_rows(
    call: AttentionRows, request: RowsRequest, each_row_is_a_step: bool
) -> Tensor:
    """Which rows of each text are asked for, (batch, rows), counted from the first of the call."""
    batch, device = len(call.query), call.query.device
    if request.positions:
        inside = [
            position - call.row_position
            for position in request.positions
            if 0 <= position - call.row_position < call.rows
        ]
        index = torch.tensor(inside, dtype=torch.long, device=device)
        return index.expand(batch, -1)
    index = torch.arange(call.rows, device=device).expand(batch, -1)
    if request.generated and each_row_is_a_step:
        return index
    if call.counted is not None:
        index = index.masked_fill(~call.counted.to(device), NO_ROW)
    count = min(request.last or 1, call.rows)
    # Rows of padding are NO_ROW, and so the least.
    return index.sort(dim=1).values[:, -count:]


def _rows_of_call(call: AttentionRows, index: Tensor) -> AttentionRows:
    """A call of some rows of each text (batch, rows), whose mask says what each of them sees."""
    device = call.query.device
    mask = _mask_rows(call.mask, index, call.keys)
    bias = _mask_rows(call.bias, index, call.keys)
    if call.causal or call.window is not None:
        # The last row stands at the last key.
        place = index + call.keys - call.rows
        keys = torch.arange(call.keys, device=device)
        unseen = out_of_reach(place[..., None], keys, call.causal, call.window)
        unseen = unseen[:, None]
        if mask is None:
            mask = ~unseen
        elif mask.dtype == torch.bool:
            mask = mask & ~unseen
        else:
            mask = mask.masked_fill(unseen, torch.finfo(mask.dtype).min)
    counted = call.counted
    if counted is not None:
        counted = counted.to(device).gather(1, index)
    return replace(
        call,
        query=take_rows(call.query, index),
        mask=mask,
        bias=bias,
        causal=False,
        window=None,
        counted=counted,
        sets={},
    )


def _mask_rows(mask: Tensor | None, index: Tensor, keys: int) -> Tensor | None:
    """The rows (batch, rows) of a mask, without keys that are not there; one that is the same for all rows stays."""
    if mask is None:
        return None
    mask = mask[..., :keys]
    if mask.shape[2] == 1:
        return mask
    return take_rows(mask.expand(len(index), -1, -1, -1), index)


def take_rows(array: Tensor, index: Tensor) -> Tensor:
    """Some rows (batch, rows) of an array (batch, heads, all rows, any): a copy."""
    at = index[:, None, :, None].expand(-1, array.shape[1], -1, array.shape[3])
    return array.gather(2, at)


@np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore")
def _softmax(call: AttentionRows) -> Tensor:
    """The weights of every row of a call; NaN for rows that see no key, or have scores of NaN or +inf."""
    dtype = torch.promote_types(call.query.dtype, torch.float32)
    batch, heads, rows, _ = call.query.shape
    weights = torch.zeros(
        (batch, heads, rows, call.keys), dtype=dtype, device=call.query.device
    )
    backend: ArrayBackend
    if is_on_gpu(call.query):
        backend, size = TorchBackend(call.query.device), ON_A_GPU
        call = widen(masks_as_tensors(call))
    else:
        backend, size = cpu_backend(call.query), ON_A_CPU
        call = call.in_numpy()
    for block in row_blocks(call, StatisticsParameters(), backend, size):
        place = block.place
        exponentials = torch.as_tensor(block.exponentials)
        unit = torch.as_tensor(block.unit).to(dtype)
        unit = unit.masked_fill(~torch.as_tensor(block.sees), torch.nan)
        part = weights[place.texts, place.heads, place.rows, place.keys]
        part.copy_(exponentials * unit[..., None])
    return weights


def _with_keys(weights: Tensor, keys: int) -> Tensor:
    """As many keys as a later row may see; this one gives them nothing."""
    return torch.nn.functional.pad(weights, (0, keys - weights.shape[3]))
