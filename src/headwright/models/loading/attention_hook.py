"""The attention function that transformers calls: it computes the output and records what it saw.

A model loaded with the implementation HOOK asks `mask_seen` for its mask and calls `attention` in every layer. The mask
is not an array but what it says: causal or not, a window, which keys count. A model that does more with a mask than
hand it on fails on it, and loudly. What changes scores is honoured (scale, window, softcap, sinks, key mask) or refused
by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

from headwright.errors import InputError
from headwright.models.rows.scoring import Scoring

HOOK = "headwright-audit"  # "headwright" is the implementation that `watch` registers
MOST_SCORES = 2**24  # held at once, where attention is computed or a mask is read in blocks of rows
# Arguments that models pass along and that change no score.
HARMLESS = frozenset({
    "cache_position", "deterministic", "output_attentions", "output_hidden_states", "position_embeddings",
    "position_ids", "return_dict", "use_cache",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Seen:
    """Which keys a row may see."""

    causal: bool
    window: int | None
    key_mask: Bool[np.ndarray, " keys"] | None


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One call of the attention: a batch of one text."""

    module: torch.nn.Module
    queries: Tensor  # heads, rows, d
    keys: Tensor  # key heads, keys, d
    values: Tensor  # key heads, keys, e
    mixed: Tensor  # heads, rows, e: what the heads made of the values
    scoring: Scoring


_recorder: ContextVar[Callable[[AttentionCall], None]] = ContextVar("recorder")


@contextmanager
def recording(record: Callable[[AttentionCall], None]) -> Iterator[None]:
    """While it lasts, `record` gets every call of the attention in this thread."""
    AttentionInterface.register(HOOK, _attention)
    AttentionMaskInterface.register(HOOK, mask_seen)
    token = _recorder.set(record)
    try:
        yield
    finally:
        _recorder.reset(token)


def _attention(
    module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: object,
    scaling: float | None = None, dropout: float = 0.0, is_causal: bool | None = None, softcap: float | None = None,
    s_aux: Tensor | None = None, sliding_window: int | None = None, **more: object,
) -> tuple[Tensor, None]:  # fmt: skip
    """The attention of one layer, in the form that transformers asks for."""
    family = type(module).__name__
    unknown = sorted(name for name, given in more.items() if given is not None and name not in HARMLESS)
    if unknown:
        raise InputError(f"{family} passes {', '.join(unknown)} to its attention, which changes scores in a way that "
                         "an audit does not know")  # fmt: skip
    if dropout:
        raise InputError(f"{family} drops entries of its pattern (dropout {dropout}): expected a model that is used, "
                         "not trained")  # fmt: skip
    seen = _seen(family, attention_mask, is_causal if is_causal is not None else getattr(module, "is_causal", True))
    scoring = Scoring.of(
        tuple(query.shape[1:]), tuple(key.shape[1:]), scale=scaling, causal=seen.causal, window=seen.window,
        softcap=softcap, sinks=None if s_aux is None else s_aux.detach().double().cpu().numpy(), key_mask=seen.key_mask,
    )  # fmt: skip
    count = query.shape[2]
    if sliding_window is not None and sliding_window < count and seen.window != sliding_window:
        raise InputError(f"{family} has a window of {sliding_window} and a mask with one of {seen.window}")
    mixed = _mixture(query[0], key[0], value[0], scoring)
    _recorder.get()(AttentionCall(module, query[0], key[0], value[0], mixed, scoring))
    return mixed.transpose(0, 1)[None].contiguous(), None


def mask_seen(
    *, q_length: int, kv_length: int, mask_function: Callable[..., Any], attention_mask: Tensor | None = None,
    q_offset: int = 0, kv_offset: int = 0, use_vmap: bool = False, device: torch.device | str = "cpu", **_: object,
) -> Seen:  # fmt: skip
    """What a mask says, read off its definition; refused if it is neither causal nor full, with or without a window."""
    if use_vmap or int(q_offset) or int(kv_offset) or q_length != kv_length:
        raise InputError("the model lays a mask of its own over its attention, which an audit does not know")
    places = torch.arange(kv_length, device=device)
    nought = torch.zeros((), dtype=torch.long, device=device)

    def allowed(rows: Tensor) -> Tensor:
        told: Tensor = mask_function(nought, nought, rows[:, None], places[None])
        return told.expand(len(rows), kv_length)

    causal = not bool(allowed(places[:1])[0, -1]) and not (kv_length > 1 and bool(allowed(places[:1])[0, 1]))
    reach = int(allowed(places[-1:] if causal else places[:1]).sum())
    window = reach if reach < kv_length else None
    step = _block_rows(16 * kv_length)  # positions are wide numbers, and several such blocks are held
    for start in range(0, kv_length, step):
        rows = places[start : start + step]
        if not torch.equal(allowed(rows), visible(rows, places, causal, window)):
            raise InputError("the model's mask is neither causal nor full, with or without a window: not known here")
    mask = None if attention_mask is None else attention_mask[0, -kv_length:].bool().cpu().numpy()
    return Seen(causal, window, None if mask is None or mask.all() else mask)


def _block_rows(wide: int) -> int:
    """How many rows of that many scores are looked at at once: memory is bounded, whatever the length of a text."""
    return min(512, max(1, MOST_SCORES // wide))


def visible(rows: Tensor, keys: Tensor, causal: bool, window: int | None) -> Tensor:
    """Which of the keys rows at these positions see, but for the key mask."""
    apart = rows[:, None] - keys[None]
    seen = apart >= 0 if causal else torch.ones_like(apart, dtype=torch.bool)
    return seen if window is None else seen & (apart.abs() < window)


def _mixture(queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring) -> Tensor:
    """The output of the heads: by torch's fused attention where it supports the scoring, else block by block."""
    group = scoring.heads // scoring.key_heads
    keys, values = keys.repeat_interleave(group, 0), values.repeat_interleave(group, 0)
    plain = scoring.window is None and scoring.softcap is None and scoring.sinks is None and scoring.key_mask is None
    if plain and keys.shape[2] == values.shape[2]:  # with other widths torch would store the whole pattern
        fused: Tensor = scaled_dot_product_attention(
            queries[None], keys[None], values[None], is_causal=scoring.causal, scale=scoring.scale
        )
        return fused[0]
    places = torch.arange(scoring.keys, device=queries.device)
    sinks = None if scoring.sinks is None else torch.as_tensor(scoring.sinks, device=queries.device).float()
    counted = None if scoring.key_mask is None else torch.as_tensor(scoring.key_mask, device=queries.device)
    blocks = []
    step = _block_rows(scoring.heads * scoring.keys)
    for start in range(0, scoring.rows, step):
        rows = slice(start, min(start + step, scoring.rows))
        near = slice(scoring.seen(rows.start)[0], scoring.seen(rows.stop - 1)[1])
        s = (queries[:, rows] @ keys[:, near].transpose(1, 2)).float() * scoring.scale
        if scoring.softcap is not None:
            s = scoring.softcap * torch.tanh(s / scoring.softcap)
        seen = visible(places[rows], places[near], scoring.causal, scoring.window)
        if counted is not None:
            seen = seen & counted[near]
        s = s.masked_fill(~seen, torch.finfo(s.dtype).min)
        if sinks is not None:
            s = torch.cat([s, sinks[:, None, None].expand(-1, s.shape[1], 1)], dim=2)
        alpha = s.softmax(dim=2)[:, :, : near.stop - near.start]
        blocks.append(alpha.to(values.dtype) @ values[:, near])
    return torch.cat(blocks, dim=1)


def _seen(family: str, mask: object, is_causal: bool) -> Seen:
    if isinstance(mask, Seen):
        return mask
    if mask is not None:
        raise InputError(f"{family} makes a mask of its own ({type(mask).__name__}), which an audit does not know")
    if is_causal:
        # Without a mask, one implementation would hide the future here and another would not.
        raise InputError(f"{family} gives its attention no mask, and does not say that it needs none")
    return Seen(causal=False, window=None, key_mask=None)
