"""Attention for transformers in blocks of rows: no array has a side of rows and one of keys.

A model loaded with the implementation BLOCKWISE gets a `MaskRule` in the place of a mask.
A model that does more with a mask than hand it on fails on it, and loudly. What changes
scores is honoured (scale, window, softcap, sinks, key mask) or refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

from headwright.errors import InputError
from headwright.models.attention_calls import AttentionCall
from headwright.models.kernel_arguments import (
    BLOCKWISE,
    HARMLESS,
    MaskRule,
    describe_call,
    is_causal,
    read_mask_rule,
    rows_at_once,
    sees,
    unknown_arguments,
)

HONOURED = HARMLESS | {"scaling", "dropout", "is_causal", "softcap", "s_aux"}


def blockwise_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    **arguments: Any,
) -> tuple[Tensor, None]:
    """The attention of one layer on one text, in the form that transformers asks for."""
    _refuse_arguments(module, arguments)
    mask = _rule_of(module, attention_mask, arguments)
    window = arguments.get("sliding_window")
    if window is not None and window < query.shape[2] and mask.window != window:
        raise InputError(
            f"{type(module).__name__} has a window of {window} and a mask with one of {mask.window}"
        )
    call = describe_call(BLOCKWISE, module, query, key, value, mask, arguments)
    mixed = _mix_values(call)
    return mixed.transpose(0, 1)[None].contiguous(), None


def read_mask(
    *,
    q_length: int,
    kv_length: int,
    mask_function: Callable[..., Any],
    attention_mask: Tensor | None = None,
    q_offset: int = 0,
    kv_offset: int = 0,
    use_vmap: bool = False,
    device: torch.device | str = "cpu",
    **_: object,
) -> MaskRule:
    """The rule of a mask, read off its definition; refused if there is none."""
    if use_vmap or int(q_offset) or int(kv_offset) or q_length != kv_length:
        raise InputError(
            "the model lays a mask of its own over its attention, which an audit does not know"
        )
    positions = torch.arange(kv_length, device=device)
    rule = read_mask_rule(mask_function, positions, positions)
    if rule is None:
        raise InputError(
            "the model's mask is neither causal nor full, with or without a window: not known here"
        )
    if attention_mask is None:
        return rule
    key_mask = attention_mask[0, -kv_length:].bool()
    return rule if bool(key_mask.all()) else replace(rule, key_mask=key_mask)


def register_blockwise() -> str:
    """Make the implementation known to transformers; its name."""
    AttentionInterface.register(BLOCKWISE, blockwise_attention)
    AttentionMaskInterface.register(BLOCKWISE, read_mask)
    return BLOCKWISE


def _refuse_arguments(module: nn.Module, arguments: dict[str, Any]) -> None:
    family = type(module).__name__
    unknown = unknown_arguments(arguments, HONOURED | {"sliding_window"})
    if unknown:
        raise InputError(
            f"{family} passes {', '.join(unknown)} to its attention, which changes scores in a way that "
            "an audit does not know"
        )
    if arguments.get("dropout"):
        raise InputError(
            f"{family} drops entries of its pattern (dropout {arguments['dropout']}): expected a model "
            "that is used, not trained"
        )


def _rule_of(module: nn.Module, mask: Any, arguments: dict[str, Any]) -> MaskRule:
    family = type(module).__name__
    if isinstance(mask, MaskRule):
        return mask
    if mask is not None:
        raise InputError(
            f"{family} makes a mask of its own ({type(mask).__name__}), which an audit does not know"
        )
    if is_causal(module, arguments):
        # Without a mask, one kernel would hide the future here and another would not.
        raise InputError(
            f"{family} gives its attention no mask, and does not say that it needs none"
        )
    return MaskRule(causal=False, window=None)


def _mix_values(call: AttentionCall) -> Tensor:
    """The output of the heads (heads, rows, e): fused where torch can, else in blocks."""
    heads = call.queries.shape[1]
    key_heads = call.keys.shape[1]
    queries = call.queries[0]
    keys = call.keys[0].repeat_interleave(heads // key_heads, 0)
    values = call.values[0].repeat_interleave(heads // key_heads, 0)
    plain = (
        call.window is None
        and call.softcap is None
        and call.sinks is None
        and call.key_mask is None
    )
    # With values of another width torch would store the whole pattern.
    if plain and keys.shape[2] == values.shape[2]:
        fused: Tensor = scaled_dot_product_attention(
            queries[None],
            keys[None],
            values[None],
            is_causal=call.causal,
            scale=call.scale,
        )
        return fused[0]
    scoring = call.scoring()
    count = queries.shape[1]
    step = rows_at_once(heads * keys.shape[1])
    blocks = []
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        first_seen = scoring.seen(rows.start)[0]
        behind_seen = scoring.seen(rows.stop - 1)[1]
        blocks.append(
            _mix_rows(call, queries, keys, values, rows, slice(first_seen, behind_seen))
        )
    return torch.cat(blocks, dim=1)


def _mix_rows(
    call: AttentionCall,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    rows: slice,
    near: slice,
) -> Tensor:
    """The output of some rows, which see no keys but those of `near`."""
    scores = (queries[:, rows] @ keys[:, near].transpose(1, 2)).float() * call.scale
    if call.softcap is not None:
        scores = call.softcap * torch.tanh(scores / call.softcap)
    positions = torch.arange(keys.shape[1], device=queries.device)
    visible = sees(positions[rows], positions[near], call.causal, call.window)
    if call.key_mask is not None:
        visible = visible & call.key_mask[0, near]
    scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
    if call.sinks is not None:
        # A sink is one more key for each row, with a value of zero.
        sinks = call.sinks.float()[:, None, None].expand(-1, scores.shape[1], 1)
        scores = torch.cat([scores, sinks], dim=2)
    pattern = scores.softmax(dim=2)[:, :, : near.stop - near.start]
    return pattern.to(values.dtype) @ values[:, near]
