"""`watch`, `seen`, `attention_with_statistics`: torch and transformers are loaded with the first call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.extras import require
from headwright.statistics.request import StatisticsRequest
from headwright.watching.names import DEFAULT
from headwright.watching.rows_request import RowsRequest

if TYPE_CHECKING:
    from headwright.watching.recorded import Recording


def watch(
    model: Any,
    statistics: Sequence[str] | None = None,
    *,
    weights: RowsRequest | None = None,
    keep: str = "rows",
    top: int = 8,
    ends: tuple[int, int] = (4, 64),
    last_rows: int = 64,
    special: Sequence[int] | None = None,
    keys: Sequence[int] = (),
    memory: int | None = None,
    as_module: bool = False,
) -> AbstractContextManager[Recording]:
    """While it lasts, statistics of every row of every head are kept as a model runs.

    A model of transformers is watched with any kernel, in runs that go on with a cache. Of any other module, each call
    of torch's scaled_dot_product_attention is seen; `layer` takes the name of the module that made it.

    Args:
        model: in memory, on any device; it is restored on exit. Its output is what it was, to the last bit.
        statistics: names of statistics; docs/guides/watch.md defines each. Unless given, those of `DEFAULT`, or none
            where weights are asked for.
        weights: the rows whose weights on all keys are kept, as `rows(last=1)` names them.
        keep: `rows` for every row of every run, `means` for running means alone, `both` for running means over all runs
            and the rows of the last one.
        top: how many keys `top`, `top_keys` and `top_weights` have.
        ends: how many keys at each end `start` and `recent` have.
        last_rows: how many rows `received_last` has.
        special: the ids of special tokens; those that the model's configuration names unless given.
        keys: the positions that `keys` is about.
        memory: bytes that the rows of one call may take; what is free unless given.
        as_module: watch a model of transformers as any other module, by its calls of scaled_dot_product_attention. So
            it stays compiled, if it is. Padding and caches are not known then: rows are those of each call.

    >>> import torch, transformers as hf
    >>> config = hf.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9)
    >>> model = hf.GPT2LMHeadModel(config)
    >>> with watch(model) as seen_there:
    ...     logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    >>> seen_there.layer(0).largest.shape
    (1, 2, 3)
    """
    check_argument("statistics", statistics, Sequence[str] | None)
    check_argument("top", top, int)
    check_argument("last_rows", last_rows, int)
    check_argument("special", special, Sequence[int] | None)
    check_argument("keys", keys, Sequence[int])
    check_argument("memory", memory, int | None)
    wanted = _statistics_wanted(statistics, weights, keep, top, ends, last_rows)
    require("torch", "watch", "torch")
    from headwright.watching import module_hook

    given = model
    model = module_hook.unwrapped(given)
    of_transformers = module_hook.is_of_transformers(model) and not as_module
    watching = _hook().watching if of_transformers else module_hook.watching_module
    block: AbstractContextManager[Recording] = watching(
        model, wanted, keep, special, keys, memory, weights, given
    )
    return block


def _statistics_wanted(
    statistics: Sequence[str] | None,
    weights: RowsRequest | None,
    keep: str,
    top: int,
    ends: tuple[int, int],
    last_rows: int,
) -> StatisticsRequest:
    """What is computed of each row, beside the weights of some."""
    if weights is None:
        names = DEFAULT if statistics is None else statistics
        return StatisticsRequest.of(names, top, ends, last_rows)
    if not isinstance(weights, RowsRequest):
        raise InputError(
            f"weights = {weights!r}: expected rows(last=1), or others that rows(...) names"
        )
    if keep == "means":
        raise InputError(
            "keep = means keeps no rows, and so no weights: expected rows or both"
        )
    if not statistics:
        return StatisticsRequest(top, ends, last_rows)
    return StatisticsRequest.of(statistics, top, ends, last_rows)


def attention_with_statistics(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    statistics: Sequence[str] = DEFAULT,
    top: int = 8,
    ends: tuple[int, int] = (4, 64),
    last_rows: int = 64,
) -> tuple[Any, dict[str, Any]]:
    """What torch's scaled_dot_product_attention returns, and by name statistics of its rows, for one's own modules.

    The arguments are those of torch, and `statistics`, `top`, `ends` and `last_rows` those of `watch`. The statistics
    are tensors (batch, heads, rows), (batch, heads, rows, k) or (batch, heads, keys) without gradients.

    >>> import torch
    >>> q = k = v = torch.randn(1, 2, 5, 8)
    >>> output, statistics = attention_with_statistics(q, k, v, is_causal=True, statistics=["entropy"])
    >>> output.shape, statistics["entropy"].shape
    (torch.Size([1, 2, 5, 8]), torch.Size([1, 2, 5]))
    """
    require("torch", "attention_with_statistics", "torch")
    check_argument("statistics", statistics, Sequence[str])
    check_argument("top", top, int)
    check_argument("last_rows", last_rows, int)
    from headwright.watching.attention_function import attend_with_statistics

    return attend_with_statistics(
        query,
        key,
        value,
        StatisticsRequest.of(statistics, top, ends, last_rows),
        attn_mask=attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
    )


def seen(model: Any) -> Recording:
    """What was seen of a model that was loaded with attn_implementation="headwright": running means, and the last run.

    That implementation is there once `register` or `watch` was called. Models of an encoder and a decoder, and other
    statistics, need `watch`.

    >>> import torch, transformers as hf
    >>> config = hf.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9)
    >>> register()
    >>> model = hf.GPT2LMHeadModel._from_config(config, attn_implementation="headwright")
    >>> logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    >>> seen(model).layer(0).largest.shape
    (1, 2, 3)
    """
    recorded: Recording = _hook().standing(model)
    return recorded


def register() -> None:
    """Make attn_implementation="headwright" known to transformers.

    >>> register()
    >>> from transformers import AttentionInterface
    >>> "headwright" in AttentionInterface().valid_keys()
    True
    """
    _hook()


def _hook() -> ModuleType:
    require("audit", "watch", "transformers", "torch")
    from headwright.watching import hook

    return hook
