"""Row statistics by Triton's kernels: which calls they know, and their results under the names of the table."""

from __future__ import annotations

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


def kernel_fits(call: AttentionRows, request: StatisticsRequest) -> bool:
    """Whether the kernels know these statistics and scores, and Triton is installed.

    They know neither masks that are arrays nor padded rows among the last ones of a text; and positions are those of a
    text's last rows.
    """
    received = request.asks(RECEIVED)
    positions = call.cross or (
        call.row_position + call.rows == call.key_position + call.keys
    )
    return (
        not request.sets
        and KNOWN.issuperset(request.names)
        and kernel_takes(call.query)
        and kernel_takes(call.key)
        and call.mask is None
        and call.bias is None
        and not (call.causal and call.rows > call.keys)
        and not (received and call.counted is not None)
        and positions
        and _is_installed()
    )


def kernel_takes(array: Array) -> bool:
    """Whether this is a tensor on a GPU of a type and width that the kernels know."""
    return (
        bool(getattr(array, "is_cuda", False))
        and str(array.dtype) in KERNEL_TYPES
        and array.shape[-1] <= WIDEST_HEAD
    )


def _is_installed() -> bool:
    try:
        from headwright.statistics import gpu_kernel
    except ModuleNotFoundError:
        return False
    return gpu_kernel is not None


def compute_by_kernel(
    call: AttentionRows, request: StatisticsRequest
) -> tuple[dict[str, Array], Array, Array]:
    """Statistics by name, which rows see keys, and which are spoilt; nothing waits for the GPU.

    Queries and keys of float32 are multiplied in three parts, so that products stay of float32.
    """
    from headwright.statistics import gpu_kernel

    scoring: dict[str, Any] = {
        "scale": call.scale,
        "causal": call.causal,
        "window": call.window,
        "softcap": call.softcap,
        "sinks": call.sinks,
        "key_mask": call.key_mask,
    }
    named_offsets = {name: OFFSETS[name] for name in OFFSETS if name in request.names}
    all_offsets = (*named_offsets.values(), *request.offsets)
    offsets = tuple(dict.fromkeys(all_offsets))
    query = call.query.detach()
    key = call.key.detach()
    # With a sink the largest weight may be too small to tell the largest score.
    one_launch = OF_ONE_LAUNCH.issuperset(request.names) and not offsets
    one_launch = one_launch and call.sinks is None
    values: dict[str, Any] = gpu_kernel.statistics(
        query, key, offsets=offsets, track=not one_launch, **scoring
    )
    for name, offset in named_offsets.items():
        values[name] = values[offset_name(offset)]
    if call.key_position:  # the first token is not among the keys any more
        values["first"] = 0.0 * values["first"]
    spoilt = values["lse"].isnan()
    if one_launch:
        sees = values["lse"] != -float("inf")
        if "largest_score" in request.names:
            # The largest weight is exp(largest score - lse), and at least one in so many keys.
            values["largest_score"] = values["lse"] + values["largest"].log()
    else:
        sees = (values["winner"] >= 0) | spoilt
    if call.counted is not None:
        sees = sees & call.counted[:, None]
    if not one_launch:
        values["winner"] = values["winner"].long()
        if call.key_position:
            values["winner"] += call.key_position * sees
    if request.asks(RECEIVED):
        # Rows whose lse is infinite give nothing.
        lse = values["lse"].masked_fill(~sees, float("inf"))
        values |= gpu_kernel.received(
            query, key, lse, last_rows=request.last_rows, **scoring
        )
    names = [*request.names, *(offset_name(offset) for offset in request.offsets)]
    return {name: values[name] for name in names}, sees, spoilt
