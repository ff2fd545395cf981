"""A call of attention in a model that runs, as its kernel gets it; visitors are handed every one.

A source finds the calls of a model: it is a function of the model and of a visitor, and
returns a context manager. While it lasts, the visitor is called with each call, in the
thread in which the model runs, and the model computes as before.

    transformers_calls    models of the transformers library, whatever kernel they use
    sdpa_calls            torch's scaled_dot_product_attention and FlexAttention, in any code
    packaged_kernels      functions of flash_attn and xformers, beside sdpa_calls

A further kernel needs a source of its own, and nothing else:
whoever visits calls sees an `AttentionCall` from each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwright.statistics.attention_config import AttentionConfig


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """What a kernel gets, what it makes of it, and its output.

    The score of a query q and a key k is `softcap * tanh(scale * <q, k> / softcap)` plus
    `bias`, or `scale * <q, k>` without a softcap. Positions are in queries and keys already.

    A mask broadcasts to (batch, heads, rows, keys); it holds True where a key is seen, or
    what is added to a score. Rows also see no key outside of `key_mask`, `causal` and
    `window`; under the last two, the last row stands at the last key, or the first row at
    the first key if `from_first_key` (which is what torch means by is_causal).
    """

    module: Any  # the attention module, or None where it is not known
    queries: Tensor  # batch, heads, rows, d
    keys: Tensor  # batch, key heads, keys, d
    values: Tensor  # batch, key heads, keys, e
    scale: float
    softcap: float | None = None
    sinks: Tensor | None = None  # one score for each head
    mask: Tensor | None = None
    bias: Tensor | None = None  # added to scores
    causal: bool = False
    from_first_key: bool = False
    window: int | None = None  # of so many keys up to the row's own, or around it
    key_mask: Tensor | None = None  # batch, keys: False where a key is hidden
    dropout: float = 0.0  # that is applied to the pattern
    output: Tensor | None = None  # batch, heads, rows, e; None before it is computed

    @property
    def layer_index(self) -> int | None:
        """The number that the module has for its layer, if it has one."""
        index = getattr(self.module, "layer_idx", None)
        return None if index is None else int(index)

    def to_last_key(self) -> AttentionCall:
        """The same attention, as a call whose last row stands at its last key."""
        if not self.from_first_key:
            return self
        rows = self.queries.shape[2]
        count = self.keys.shape[2]
        if rows == count:
            return replace(self, from_first_key=False)
        if rows > count:  # rows behind the last key see every key
            visible = torch.ones(rows, count, dtype=torch.bool, device=self.keys.device)
            mask = visible.tril()[None, None]
            return replace(self, from_first_key=False, causal=False, mask=mask)
        # No row sees keys behind the last row: those of a static cache are empty.
        keys = self.keys[:, :, :rows]
        values = self.values[:, :, :rows]
        return replace(self, from_first_key=False, keys=keys, values=values)

    def scoring(self) -> AttentionConfig:
        """How the scores of a single text are made, for a call without mask and bias."""
        key_mask = None if self.key_mask is None else self.key_mask[0].cpu().numpy()
        sinks = None if self.sinks is None else self.sinks.double().cpu().numpy()
        return AttentionConfig.of(
            tuple(self.queries.shape[1:]),
            tuple(self.keys.shape[1:]),
            scale=self.scale,
            causal=self.causal,
            window=self.window,
            softcap=self.softcap,
            sinks=sinks,
            key_mask=key_mask,
        )


CallVisitor = Callable[[AttentionCall], None]


class StopForwardError(BaseException):
    """Raised by a visitor to end a forward pass of which nothing more is needed.

    It is no Exception, so that no model catches it; whoever started the pass does.
    """


def without_autocast(device: str) -> AbstractContextManager[Any]:
    """While it lasts, products are of the types of their factors."""
    if torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()  # which costs less, in each layer of each step


def calls_of_this_thread(visit: CallVisitor) -> CallVisitor:
    """A visitor that ignores the calls that other threads make of the same model."""
    own_thread = threading.get_ident()

    def visit_own(call: AttentionCall) -> None:
        if threading.get_ident() == own_thread:
            visit(call)

    return visit_own
