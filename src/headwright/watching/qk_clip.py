"""QK-clip: W_Q and W_K of heads whose largest score is above a limit are scaled down, so that it is at the limit.

A score is bilinear in the query and the key, which are linear in the rows of W_Q and W_K and of their biases that
belong to the head. Rotary embeddings are linear too. So a factor on these rows is a factor on every score of the
head; a head with keys of its own gets the root of the factor on both. Keys that several heads share are not touched:
W_Q of each head gets the whole factor, and heads below the limit keep their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.watching.module_hook import is_of_transformers, unwrapped
from headwright.watching.recorded import Recording

# The names of both projections in a module of attention.
SEPARATE = (("q_proj", "k_proj"), ("query", "key"))
FUSED = "c_attn"  # of GPT-2: queries, keys and values side by side


@dataclass(frozen=True)
class ClippedHead:
    """A head that was scaled: every score is `factor` times what it was."""

    layer: int
    head: int
    largest_score: float
    factor: float


@dataclass(frozen=True, eq=False)
class HeadRows:
    """The part of a projection that makes queries, or keys: views of its weight and bias, the output first."""

    weight: Tensor
    bias: Tensor | None

    def scale(self, factors: Tensor) -> None:
        """Multiply what belongs to each head by its factor, in place."""
        rows_of_a_head = len(self.weight) // len(factors)
        of_rows = factors.to(self.weight).repeat_interleave(rows_of_a_head)
        self.weight.mul_(of_rows[:, None])
        if self.bias is not None:
            self.bias.mul_(of_rows.to(self.bias))


def qk_clip_(
    model: Any, seen: Recording, *, limit: float = 100.0
) -> tuple[ClippedHead, ...]:
    """Scale W_Q and W_K, in place, of each head whose largest score is above a limit; the heads that were scaled.

    What was seen is forgotten if a head was scaled, since it is of the old parameters; so log it before.

    Args:
        model: of transformers, with projections of its own for queries and keys; others are refused by name.
        seen: a recording of this model with the statistic `largest_score`.
        limit: above 0.

    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> from headwright import watch
    >>> sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    >>> config = LlamaConfig(vocab_size=9, num_hidden_layers=1, **sizes)
    >>> model = LlamaForCausalLM(config)
    >>> with watch(model, statistics=("largest_score",)) as seen:
    ...     output = model(torch.arange(9)[None])
    >>> qk_clip_(model, seen, limit=100.0)
    ()
    """
    check_argument("seen", seen, Recording)
    check_argument("limit", limit, float)
    if not limit > 0:
        raise InputError(f"limit = {limit}: expected a number above 0")
    model = unwrapped(model)
    if not is_of_transformers(model):
        raise InputError(
            f"the model is {type(model).__name__}: which parameters make its queries and keys is known of models of "
            "transformers alone"
        )
    clipped = _heads_above(seen, limit)
    if not clipped:
        return ()
    _refuse_bent_scores(model)
    heads_of_layers = _count_heads(seen)
    # All layers are looked at before one is changed.
    projections = []
    for layer in sorted({head.layer for head in clipped}):
        factors = torch.ones(heads_of_layers[layer], dtype=torch.float64)
        for head in clipped:
            if head.layer == layer:
                factors[head.head] = head.factor
        projections.append((factors, *_projections(model, layer, len(factors))))
    with torch.no_grad():
        for factors, queries, keys, key_heads in projections:
            if key_heads == len(factors):
                queries.scale(factors.sqrt())
                keys.scale(factors.sqrt())
            else:
                queries.scale(factors)
    seen.reset()
    return clipped


def _heads_above(seen: Recording, limit: float) -> tuple[ClippedHead, ...]:
    summary = seen.summary()
    if "largest_score" not in summary:
        raise InputError(
            "largest_score was not recorded: expected watch(model, ['largest_score'], keep='means'), and a run"
        )
    if len(set(summary["part"].tolist())) > 1:
        raise InputError(
            "the model has several parts (an encoder and a decoder), which is not known here: expected one"
        )
    clipped = []
    columns = (summary[name] for name in ("layer", "head", "largest_score"))
    for layer, head, score in zip(*columns, strict=True):
        if np.isnan(score):
            raise InputError(
                f"the scores of layer {layer}, head {head} are NaN or infinite: no factor makes them finite"
            )
        if score > limit:
            factor = float(limit / score)
            clipped.append(ClippedHead(int(layer), int(head), float(score), factor))
    return tuple(clipped)


def _count_heads(seen: Recording) -> dict[int, int]:
    summary = seen.summary()
    layers, counts = np.unique(summary["layer"], return_counts=True)
    return dict(zip(layers.tolist(), counts.tolist(), strict=True))


def _refuse_bent_scores(model: Any) -> None:
    """Refuse by name what makes scores that are not proportional to the product of query and key."""
    config = model.config
    for name in ("attn_logit_softcapping", "clip_qkv", "alibi", "use_alibi"):
        if getattr(config, name, None):
            raise InputError(
                f"{type(model).__name__} has {name} = {getattr(config, name)}: a factor on W_Q and W_K is not one on "
                "its scores"
            )


def _projections(model: Any, layer: int, heads: int) -> tuple[HeadRows, HeadRows, int]:
    """What makes queries and keys in a layer, and how many heads of keys there are."""
    modules = [
        module
        for module in model.modules()
        if getattr(module, "layer_idx", None) == layer and _is_known(module)
    ]
    if len(modules) != 1:
        raise InputError(
            f"layer {layer} of {type(model).__name__}: expected one module with projections called "
            f"{_names(SEPARATE)} or {FUSED}, and there are {len(modules)}"
        )
    attention = modules[0]
    _refuse_norms(attention)
    if hasattr(attention, FUSED):
        queries, keys = _fused_rows(attention)
    else:
        names = next(pair for pair in SEPARATE if hasattr(attention, pair[0]))
        queries, keys = (_linear_rows(attention, name) for name in names)
    head_dim = getattr(attention, "head_dim", None) or len(queries.weight) // heads
    key_heads = len(keys.weight) // head_dim
    fits = len(queries.weight) == heads * head_dim and heads % max(key_heads, 1) == 0
    if not fits or len(keys.weight) != key_heads * head_dim:
        raise InputError(
            f"{type(attention).__name__} makes {len(queries.weight)} numbers of queries and {len(keys.weight)} of "
            f"keys, which do not belong to {heads} heads of {head_dim}"
        )
    return queries, keys, key_heads


def _is_known(module: nn.Module) -> bool:
    """Whether it is a module of attention, by its projections."""
    if hasattr(module, FUSED):
        return True
    return any(hasattr(module, q) and hasattr(module, k) for q, k in SEPARATE)


def _refuse_norms(attention: nn.Module) -> None:
    """Refuse QK-norm: the length of a query and of a key does not depend on the size of W_Q and W_K there."""
    for name, child in attention.named_children():
        if "norm" in name.lower() and not isinstance(child, nn.Identity):
            raise InputError(
                f"{type(attention).__name__} has {name}, which normalises queries or keys (QK-norm): a factor on W_Q "
                "and W_K would change no score"
            )


def _fused_rows(attention: nn.Module) -> tuple[HeadRows, HeadRows]:
    """Of GPT-2, whose weight is (input, 3 outputs)."""
    layer: Any = getattr(attention, FUSED)
    if type(layer).__name__ != "Conv1D" or layer.weight.shape[1] % 3:
        raise InputError(
            f"{type(attention).__name__}.{FUSED} is {type(layer).__name__}: expected the Conv1D of GPT-2"
        )
    size = layer.weight.shape[1] // 3
    weight, bias = layer.weight.detach().T, layer.bias.detach()
    queries = HeadRows(weight[:size], bias[:size])
    return queries, HeadRows(weight[size : 2 * size], bias[size : 2 * size])


def _linear_rows(attention: nn.Module, name: str) -> HeadRows:
    layer = getattr(attention, name)
    if type(layer) is not nn.Linear or type(layer.weight) is not nn.Parameter:
        raise InputError(
            f"{type(attention).__name__}.{name} is {type(layer).__name__}: expected torch.nn.Linear with its own weight"
        )
    bias = None if layer.bias is None else layer.bias.detach()
    return HeadRows(layer.weight.detach(), bias)


def _names(pairs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{q} and {k}" for q, k in pairs)
