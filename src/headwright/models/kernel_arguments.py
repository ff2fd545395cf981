"""Which scores a kernel of transformers makes of the arguments that it gets.

Kernels differ in what they make of the same arguments: eager attention without a mask
sees every key, SDPA without one is causal if its module is, and flash attention reads
no mask function at all. What is not known to leave scores alone is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall

BLOCKWISE = "headwright-blockwise"  # the implementation in blockwise_attention
MOST_SCORES = 2**24  # held at once, where a mask is read in blocks of rows
MOST_ROWS = 512  # of such a block
# Arguments that models pass along and that change neither scores nor outputs.
HARMLESS = frozenset(
    {
        "cache_position",
        "deterministic",
        "output_attentions",
        "output_hidden_states",
        "position_embeddings",
        "position_ids",
        "return_dict",
        "use_cache",
    }
)
# Arguments that change no score, though a kernel may do something with them.
CHANGES_NO_SCORE = HARMLESS | {
    "num_items_in_batch",
    "encoder_hidden_states",
    "encoder_attention_mask",
    "head_mask",
    "past_key_values",
    "token_type_ids",
    "labels",
    "sliding_window",
    "dropout",
    "output_router_logits",
}
DESCRIBED = frozenset({"scaling", "softcap", "s_aux", "position_bias", "is_causal"})
KNOWN_ARGUMENTS = DESCRIBED | CHANGES_NO_SCORE


@dataclass(frozen=True, eq=False)
class MaskRule:
    """A mask that is no array: rows see keys up to their own or all, in a window or not."""

    causal: bool
    window: int | None
    key_mask: Tensor | None = None  # keys: False where a key is hidden


def describe_call(
    kernel: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Any,
    arguments: Mapping[str, Any],
    output: Tensor | None = None,
) -> AttentionCall:
    """The call that a kernel gets with these arguments; refused by name if not known."""
    if not arguments.keys() <= KNOWN_ARGUMENTS:
        _refuse_unknown(module, arguments)
    scale = arguments.get("scaling")
    drops = kernel != "eager" or module.training  # what eager attention asks itself
    dropout = arguments.get("dropout") if drops else None
    sinks = arguments.get("s_aux")
    bias = arguments.get("position_bias")
    # One row is the last of its text and sees every key, causal or not.
    rows = query.shape[2]
    causal = rows > 1 and is_causal(module, arguments)
    is_array = isinstance(mask, Tensor) and mask.ndim == 4
    causal_by_default = kernel == "sdpa" and mask is None and causal
    if query.requires_grad or key.requires_grad or value.requires_grad:
        query = query.detach()
        key = key.detach()
        value = value.detach()
    call = AttentionCall(
        module,
        query,
        key,
        value,
        scale=query.shape[3] ** -0.5 if scale is None else float(scale),
        softcap=arguments.get("softcap"),
        sinks=None if sinks is None else sinks.detach(),
        bias=None if bias is None else bias.detach(),
        mask=mask if is_array else None,
        causal=causal_by_default,
        # With as many keys as rows, the last row stands at the last key too.
        from_first_key=causal_by_default and rows != key.shape[2],
        dropout=float(dropout or 0.0),
        output=output,
    )
    if is_array:
        return call
    if isinstance(mask, MaskRule):
        key_mask = None if mask.key_mask is None else mask.key_mask[None]
        return replace(call, causal=mask.causal, window=mask.window, key_mask=key_mask)
    if kernel in ("eager", BLOCKWISE, "sdpa") and mask is None:
        return call
    family = type(module).__name__
    plain = mask is None or (isinstance(mask, Tensor) and mask.ndim == 2)
    if "flash" in kernel and plain:
        window = arguments.get("sliding_window")
        return _with_key_mask(replace(call, causal=causal, window=window), kernel, mask)
    raise InputError(
        f"{family} uses the attention {kernel} with a mask of {type(mask).__name__}, which is not "
        "known here: load the model with attn_implementation='sdpa' or 'eager'"
    )


def _refuse_unknown(module: nn.Module, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that are given and not known."""
    unknown = unknown_arguments(arguments, KNOWN_ARGUMENTS)
    if unknown:
        raise InputError(
            f"{type(module).__name__} passes {', '.join(unknown)} to its attention, which may change scores in "
            "a way that is not known here"
        )


def _with_key_mask(
    call: AttentionCall, kernel: str, key_mask: Tensor | None
) -> AttentionCall:
    """A call with the mask of two dimensions that flash attention gets."""
    if key_mask is None:
        return call
    count = call.keys.shape[2]
    if key_mask.shape[1] != count:
        raise InputError(
            f"{type(call.module).__name__} gives {kernel} a mask of {key_mask.shape[1]} keys for {count} (a "
            "static cache), which is not known here: expected a cache that grows"
        )
    return replace(call, key_mask=key_mask.bool())


def is_causal(module: nn.Module, arguments: Mapping[str, Any]) -> bool:
    """Whether the attention says that it is causal, where that is not in its mask."""
    causal = arguments.get("is_causal")
    return bool(getattr(module, "is_causal", True) if causal is None else causal)


def unknown_arguments(arguments: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    """The names of the arguments that are given and not known."""
    return sorted(
        name
        for name, value in arguments.items()
        if value is not None and name not in known
    )


def read_mask_rule(
    mask_function: Callable[..., Any], rows: Tensor, keys: Tensor
) -> MaskRule | None:
    """What a mask function says of rows and keys at these positions; None if no rule.

    Two rows suggest a rule, and then every row is compared with it.
    """
    zero = torch.zeros((), dtype=torch.long, device=keys.device)

    def visible(positions: Tensor) -> Tensor:
        seen: Tensor = mask_function(zero, zero, positions[:, None], keys[None])
        return seen.expand(len(positions), len(keys))

    # Causal: there are keys behind the first row, and it sees none of them.
    later = keys > rows[0]
    causal = bool(later.any()) and not bool(visible(rows[:1])[0, later].any())
    reach = int(visible(rows[-1:]).sum())
    window = reach if reach < len(keys) else None
    step = rows_at_once(16 * len(keys))  # several blocks of wide integers are held
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        if not torch.equal(visible(block), sees(block, keys, causal, window)):
            return None
    return MaskRule(causal, window)


def rows_at_once(scores_of_a_row: int) -> int:
    """How many rows of scores are held at once: memory is bounded for texts of any length."""
    return min(MOST_ROWS, max(1, MOST_SCORES // scores_of_a_row))


def sees(rows: Tensor, keys: Tensor, causal: bool, window: int | None) -> Tensor:
    """Which of the keys rows at these positions see, but for the key mask."""
    distance = rows[:, None] - keys[None]
    visible = torch.ones_like(distance, dtype=torch.bool)
    if causal:
        visible = distance >= 0
    if window is not None:
        visible = visible & (distance.abs() < window)
    return visible
