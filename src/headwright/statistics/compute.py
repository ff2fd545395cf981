"""Statistics of rows, computed where their arrays are: by NumPy on a CPU, by Triton or torch on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headwright.statistics.arrays import Array, ArrayBackend, NumpyBackend
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.row_block import BlockSize, RowBlock, row_blocks
from headwright.statistics.table import OverBlocks, PerWhat, Statistic
from headwright.statistics.triton_backend import KernelResult, launch_if_known

# Scores and exponentials of a block lie in the cache of a core; fewer rows would make Q K^T slow.
ON_A_CPU = BlockSize(2**19, least_rows=64, most_rows=128)
ON_A_GPU = BlockSize(2**25)


@dataclass(frozen=True, eq=False)
class ComputedStatistics:
    """Statistics by name: (batch, heads, rows), (batch, heads, rows, k) or (batch, heads, keys).

    A row that sees no key has what the table says of such rows. A row whose scores hold NaN or +inf is NaN in every
    statistic, and -1 where that is a position.
    """

    values: Mapping[str, Array]
    sees: Array  # batch, heads, rows: no mask hides all keys from the row
    spoilt: Array  # batch, heads, rows: its scores, or its sink, hold NaN or +inf


def compute_statistics(
    call: AttentionRows, request: StatisticsRequest
) -> ComputedStatistics:
    """The statistics that are asked for, in arrays of NumPy or, on a GPU, of torch."""
    if is_on_gpu(call.query):
        return compute_on_gpu(call, request)
    backend = cpu_backend(call.query)
    return compute_in_blocks(call.in_numpy(), request, backend, ON_A_CPU)


def compute_on_gpu(
    call: AttentionRows, request: StatisticsRequest
) -> ComputedStatistics:
    """By the kernels if they know what is asked for, else by torch; masks may be NumPy's."""
    from headwright.statistics.torch_arrays import TorchBackend, masks_as_tensors, widen

    launched = launch_on_gpu(call, request)
    if launched is not None:
        values, sees, spoilt = launched.values(request)
        return ComputedStatistics(values, sees, spoilt)
    backend = TorchBackend(call.query.device)
    call = widen(masks_as_tensors(call))
    return compute_in_blocks(call, request, backend, ON_A_GPU)


def launch_on_gpu(
    call: AttentionRows, request: StatisticsRequest
) -> KernelResult | None:
    """What the kernels write, if they know what is asked for; statistics are made of it later."""
    from headwright.statistics.torch_arrays import masks_as_tensors

    return launch_if_known(masks_as_tensors(call), request)


def is_on_gpu(array: Array) -> bool:
    """Whether an array is a tensor that is not in ordinary memory."""
    device = getattr(getattr(array, "device", None), "type", "cpu")
    return device != "cpu" or bool(getattr(array, "is_cuda", False))


def cpu_backend(queries: Array) -> ArrayBackend:
    """NumPy; beside torch if these are its tensors."""
    if not hasattr(queries, "detach"):
        return NumpyBackend()
    from headwright.statistics.torch_arrays import NumpyBesideTorch

    return NumpyBesideTorch()


@np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore")
def compute_in_blocks(
    call: AttentionRows,
    request: StatisticsRequest,
    backend: ArrayBackend,
    size: BlockSize,
) -> ComputedStatistics:
    """Every statistic of every row, in blocks of whole rows."""
    shape = tuple(call.query.shape[:3])
    entries = request.entries
    values = {
        entry.name: _empty(entry, shape, call.keys, request.top, backend)
        for entry in entries
    }
    sees = backend.full(shape, False)
    spoilt = backend.full(shape, False)
    for block in row_blocks(call, request, backend, size):
        place = block.place
        rows = place.texts, place.heads, place.rows
        sees[rows] = block.has_keys
        spoilt[rows] = block.spoilt
        for entry in entries:
            result = values[entry.name]
            if entry.per is PerWhat.KEY:
                # Keys receive from rows of many blocks.
                _add_to_keys(result[place.texts, place.heads, place.keys], entry, block)
            else:
                # A row lies in one block. It may see fewer keys than `top`.
                computed = of_all_rows(entry, entry.compute(block), block)
                result[rows][..., : computed.shape[-1]] = computed
    return ComputedStatistics(values, sees, spoilt)


def _empty(
    entry: Statistic,
    shape: tuple[int, ...],
    keys: int,
    top: int,
    backend: ArrayBackend,
) -> Array:
    if entry.per is PerWhat.KEY:
        return backend.full((*shape[:2], keys), 0.0)
    if entry.per is PerWhat.TOP_KEYS:
        shape = (*shape, top)  # there may be fewer keys than these
    return backend.full(shape, -1 if entry.is_position else 0.0)


def of_all_rows(entry: Statistic, computed: Array, block: RowBlock) -> Array:
    """With what rows have that see no key, or whose scores hold NaN or +inf."""
    if block.all_see:
        return computed
    sees = block.sees
    spoilt = block.spoilt
    if entry.per is PerWhat.TOP_KEYS:
        sees = sees[..., None]
        spoilt = spoilt[..., None]
    if entry.is_position:
        return block.xp.where(sees, computed, -1)
    if entry.without_keys is not None:
        computed = block.xp.where(sees, computed, entry.without_keys)
    return block.xp.where(spoilt, block.xp.nan, computed)


def _add_to_keys(total: Array, entry: Statistic, block: RowBlock) -> None:
    added = entry.compute(block)
    if entry.over_blocks is OverBlocks.SUM:
        total += added
    else:
        total[...] = block.xp.maximum(total, added)
