"""Whether what a call is asked for fits into the memory that is free."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall
from headwright.statistics.table import OF_KEYS, TOP
from headwright.watching.recorded import Recording

LITTLE = 2**26  # bytes


def check_memory(
    call: AttentionCall, layers: int, seen: Recording, free: int | None
) -> None:
    """Refuse, before anything is computed, what would not fit into `free` bytes.

    `layers` are as large as the one of the call. None is what the machine has free.
    """
    batch, heads, rows, _ = call.queries.shape
    wanted = seen.wanted
    numbers_of_a_row = 0
    if seen.keep != "means":
        for name in wanted.rows:
            numbers_of_a_row += wanted.top if name in TOP[1:] else 1
    numbers_of_a_key = sum(name in OF_KEYS for name in wanted.names)
    size = 8 if call.queries.dtype == torch.float64 else 4
    of_a_head = rows * numbers_of_a_row + call.keys.shape[2] * numbers_of_a_key
    needed = layers * batch * heads * size * of_a_head
    chosen = seen.queue.chosen_rows
    if chosen is not None:
        chosen_layers = layers if chosen.layers is None else len(chosen.layers)
        weights_of_a_head = chosen.most_rows(rows) * call.keys.shape[2]
        chosen_heads = len(chosen.heads_of(heads))
        needed += chosen_layers * batch * chosen_heads * size * weights_of_a_head
    if needed == 0:
        return
    if free is None:
        # To ask a GPU takes longer than the call; what is so little fits where the model does.
        if needed < LITTLE:
            return
        free = free_memory(call.queries.device)
    if free is not None and needed > free:
        raise InputError(
            f"the statistics of {rows} rows of {batch} texts, {layers} layers and {heads} heads need "
            f"{needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are free: take fewer statistics, or keep='means'"
        )


def free_memory(device: torch.device) -> int | None:
    """In bytes, where the statistics are kept; None if the system does not say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        with Path("/proc/meminfo").open() as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        if not hasattr(os, "sysconf"):
            return None
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
