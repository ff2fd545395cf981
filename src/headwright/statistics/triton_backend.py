"""Row statistics by Triton's kernels: which calls they know, and their results under the names of the table.

A launch costs little more than its own work on the host: what follows from shapes and types is planned once. What
statistics of the table are still to be made of the numbers that the kernels wrote can wait, so that it is made for all
layers of a model together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headwright.statistics.arrays import Array
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.table import RECEIVED, offset_name

WIDEST_HEAD = 256  # numbers of a query, for which the kernel's tiles fit
KERNEL_TYPES = ("torch.bfloat16", "torch.float16", "torch.float32")
OFFSETS = {"self": 0, "previous": 1}  # places back
KNOWN = {
    "lse",
    "largest",
    "winner",
    "margin",
    "entropy",
    "first",
    "distance",
    "sensitivity",
    "largest_score",
    *OFFSETS,
    *RECEIVED,
}


# What the first launch computes; for others a second one goes back to the key that won.
OF_ONE_LAUNCH = {"lse", "largest", "entropy", "first", "largest_score", *RECEIVED}


@dataclass(frozen=True)
class KernelRequest:
    """What a request asks of the kernels."""

    known: bool  # whether the kernels know all of its statistics
    one_launch: bool  # whether it asks for nothing that depends on which key won
    received: bool  # whether it asks for what keys receive
    offsets: tuple[int, ...]  # whose weights are asked for
    names: tuple[str, ...]  # of what it asks for, with the weights at offsets


@lru_cache(maxsize=64)
def kernel_request(request: StatisticsRequest) -> KernelRequest:
    """Of a request."""
    named_offsets = [OFFSETS[name] for name in OFFSETS if name in request.names]
    offsets = tuple(dict.fromkeys((*named_offsets, *request.offsets)))
    of_offsets = [offset_name(offset) for offset in request.offsets]
    return KernelRequest(
        known=not request.sets and KNOWN.issuperset(request.names),
        one_launch=OF_ONE_LAUNCH.issuperset(request.names) and not offsets,
        received=request.asks(RECEIVED),
        offsets=offsets,
        names=(*request.names, *of_offsets),
    )


@dataclass(frozen=True, eq=False)
class KernelResult:
    """What the kernels wrote for a call, or for several calls that are alike.

    Of several calls, arrays have an axis of them behind the first one, and in front of batch, heads, rows.
    """

    names: tuple[str, ...]  # of the arrays of rows; `winner` holds the bits of int32
    rows: Array  # names, batch, heads, rows
    of_keys: Array | None  # RECEIVED, batch, heads, keys
    counted: Array | None  # batch, rows: False for padding
    key_position: int

    @property
    def nbytes(self) -> int:
        """Of its arrays."""
        of_keys = 0 if self.of_keys is None else self.of_keys.nbytes
        return int(self.rows.nbytes + of_keys)

    def is_like(self, other: KernelResult) -> bool:
        """Whether it is of as many rows and keys at the same place of the same texts, and of the same statistics."""
        of_keys = None if self.of_keys is None else self.of_keys.shape
        others = None if other.of_keys is None else other.of_keys.shape
        return (
            self.rows.shape == other.rows.shape
            and self.rows.device == other.rows.device
            and of_keys == others
            and self.names == other.names
            and self.key_position == other.key_position
        )

    def values(
        self, request: StatisticsRequest
    ) -> tuple[dict[str, Array], Array, Array]:
        """Statistics by name, which rows see keys, and which are spoilt; nothing waits for the GPU."""
        asked = kernel_request(request)
        values: dict[str, Any] = dict(zip(self.names, self.rows.unbind(0), strict=True))
        for name, offset in OFFSETS.items():
            if name in request.names:
                values[name] = values[offset_name(offset)]
        if self.key_position:  # the first token is not among the keys any more
            values["first"] = 0.0 * values["first"]
        spoilt = values["lse"].isnan()
        if "winner" in values:
            values["winner"] = _kernels().whole_numbers(values["winner"])
            sees = (values["winner"] >= 0) | spoilt
        else:
            sees = values["lse"] != -float("inf")
            if "largest_score" in request.names:
                # The largest weight is exp(largest score - lse), and at least one in so many keys.
                values["largest_score"] = values["lse"] + values["largest"].log()
        if self.counted is not None:
            sees = sees & self.counted[:, None]
        if "winner" in request.names:
            values["winner"] = values["winner"].long()
            if self.key_position:
                values["winner"] += self.key_position * sees
        if self.of_keys is not None:
            values |= dict(zip(RECEIVED, self.of_keys.unbind(0), strict=True))
        return {name: values[name] for name in asked.names}, sees, spoilt


def together(results: Sequence[KernelResult]) -> KernelResult:
    """Of several calls that are alike."""
    gpu_kernel = _kernels()
    first = results[0]
    of_keys: Any = None
    if first.of_keys is not None:
        of_keys = gpu_kernel.of_calls([result.of_keys for result in results])
    return KernelResult(
        first.names,
        gpu_kernel.of_calls([result.rows for result in results]),
        of_keys,
        first.counted,
        first.key_position,
    )


def _kernels_know(call: AttentionRows, asked: KernelRequest) -> bool:
    """Whether the kernels know these statistics and scores, and Triton is installed.

    They know neither masks that are arrays nor padded rows among the last ones of a text; and positions are those of a
    text's last rows.
    """
    rows = call.query.shape[2]
    keys = call.key.shape[2]
    return (
        asked.known
        and call.mask is None
        and call.bias is None
        and kernel_takes(call.query)
        and kernel_takes(call.key)
        and not (call.causal and rows > keys)
        and not (asked.received and call.counted is not None)
        and (call.cross or call.row_position + rows == call.key_position + keys)
        and _kernels() is not None
    )


def kernel_takes(array: Array) -> bool:
    """Whether this is a tensor on a GPU of a type and width that the kernels know."""
    return (
        bool(getattr(array, "is_cuda", False))
        and _is_kernel_type(array.dtype)
        and array.shape[-1] <= WIDEST_HEAD
    )


@lru_cache(maxsize=64)
def _is_kernel_type(dtype: Any) -> bool:
    return str(dtype) in KERNEL_TYPES


@lru_cache(maxsize=1)
def _kernels() -> Any:
    """The module of the kernels; None if Triton is not installed."""
    try:
        from headwright.statistics import gpu_kernel
    except ModuleNotFoundError:
        return None
    return gpu_kernel


def launch_if_known(
    call: AttentionRows, request: StatisticsRequest
) -> KernelResult | None:
    """Launch the kernels, or None if they do not know the call."""
    if not _kernels_know(call, kernel_request(request)):
        return None
    return launch(call, request)


def launch(call: AttentionRows, request: StatisticsRequest) -> KernelResult:
    """Launch the kernels for a call that they know; nothing waits for the GPU.

    Queries and keys of float32 are multiplied in three parts, so that products stay of float32.
    """
    gpu_kernel = _kernels()
    asked = kernel_request(request)
    inputs = gpu_kernel.KernelInputs.of(
        call.query.detach(),
        call.key.detach(),
        scale=call.scale,
        causal=call.causal,
        window=call.window,
        softcap=call.softcap,
        sinks=call.sinks,
        key_mask=call.key_mask,
    )
    names: tuple[str, ...]
    # With a sink the largest weight may be too small to tell the largest score.
    if asked.one_launch and call.sinks is None:
        names = gpu_kernel.OF_ROWS
        rows = gpu_kernel.sum_rows(inputs)
    else:
        of_offsets = [offset_name(offset) for offset in asked.offsets]
        names = (*gpu_kernel.OF_TRACKED_ROWS, *of_offsets)
        rows = gpu_kernel.score_winners(inputs, asked.offsets)
    of_keys = None
    if asked.received:
        of_keys = gpu_kernel.sum_columns(inputs, rows[0], request.last_rows)
    return KernelResult(names, rows, of_keys, call.counted, call.key_position)
