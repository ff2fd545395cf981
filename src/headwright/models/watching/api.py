"""`watch` and `seen`, for those who call them. Torch and transformers are loaded with the first call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headwright.errors import InputError, install_line, typed_errors
from headwright.models.watching.names import DEFAULT, Wanted

if TYPE_CHECKING:
    from headwright.models.watching.recorded import Seen


@typed_errors
def watch(
    model: Any,
    statistics: Sequence[str] = DEFAULT,
    *,
    keep: str = "rows",
    top: int = 8,
    ends: tuple[int, int] = (4, 64),
    last_rows: int = 64,
    special: Sequence[int] | None = None,
    keys: Sequence[int] = (),
    memory: int | None = None,
) -> AbstractContextManager[Seen]:
    """While it lasts, statistics of every row of every head of a transformers model are kept as the model runs.

    Args:
        model: in memory, on any device; it is restored on exit. Its output is what it was, to the last bit.
        statistics: names of statistics; docs/guides/watch.md defines each.
        keep: `rows` for every row of every run, `means` for running means alone, `both` for running means over all runs
            and the rows of the last one.
        top: how many keys `top`, `top_keys` and `top_weights` have.
        ends: how many keys at each end `start` and `recent` have.
        last_rows: how many rows `received_last` has.
        special: the ids of special tokens; those that the model's configuration names unless given.
        keys: the positions that `keys` is about.
        memory: bytes that the rows of one call may take; what is free unless given.

    >>> import torch, transformers as hf
    >>> config = hf.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9)
    >>> model = hf.GPT2LMHeadModel(config)
    >>> with watch(model) as seen_there:
    ...     logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    >>> seen_there.layer(0).largest.shape
    (1, 2, 3)
    """
    wanted = Wanted.of(statistics, top, ends, last_rows)
    found: AbstractContextManager[Seen] = _hook().watching(model, wanted, keep, special, keys, memory)
    return found


@typed_errors
def seen(model: Any) -> Seen:
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
    found: Seen = _hook().standing(model)
    return found


def register() -> None:
    """Make attn_implementation="headwright" known to transformers."""
    _hook()


def _hook() -> ModuleType:
    try:
        from headwright.models.watching import hook
    except ModuleNotFoundError as error:
        raise InputError(f"this needs {error.name}, which is not installed: {install_line('audit')}") from error
    return hook
