"""How the largest number of a head's keys changes with the embeddings of a text: what a search for texts climbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from headwright.models.attention_calls import StopForwardError
from headwright.models.huggingface import HuggingFaceModel
from headwright.models.model import Tokens
from headwright.models.transformers_calls import call_kernel

NAME = "headwright-keys"  # of an implementation of attention
TOKENS_AT_ONCE = 16_384

Rows = Float[np.ndarray, "tokens width"]


@dataclass(frozen=True, eq=False)
class KeyGradient:
    """The largest number of a head's keys on some embeddings, and its derivative."""

    largest: float
    embeddings: Rows
    gradient: Rows


@dataclass(frozen=True)
class KeyGradients:
    """The keys of one head, after rotation, as a function of the embeddings of a text."""

    model: HuggingFaceModel
    layer: int
    head: int

    def largest_at(self, tokens: Tokens) -> float:
        """The number alone, on a text."""
        with torch.no_grad():
            keys = self._run(tokens, lambda output: output)
        return float(keys.abs().max())

    def at_tokens(self, tokens: Tokens) -> KeyGradient:
        """On a text."""
        return self._at(tokens, lambda output: output.detach().clone())

    def at_embeddings(self, embeddings: Rows, tokens: Tokens) -> KeyGradient:
        """On embeddings in the place of those of a text; they need not be any token's."""

        def replace_them(output: Tensor) -> Tensor:
            return torch.as_tensor(embeddings).to(output)[None]

        return self._at(tokens, replace_them)

    def score_tokens(self, at: KeyGradient, allowed: Tokens) -> Rows:
        """By how much, to first order, each token (a column) in each place (a row) would raise the key."""
        module: Any = self.model.network.get_input_embeddings()
        gradient = torch.as_tensor(at.gradient)
        own = (gradient * torch.as_tensor(at.embeddings)).sum(dim=1, keepdim=True)
        parts = []
        with torch.no_grad():
            for start in range(0, len(allowed), TOKENS_AT_ONCE):
                some = torch.as_tensor(allowed[start : start + TOKENS_AT_ONCE])
                rows = module(some.to(self.model.network.device)).cpu().float()
                parts.append(gradient @ rows.T - own)
        scores: Rows = torch.cat(parts, dim=1).numpy()
        return scores

    def _at(self, tokens: Tokens, embed: Callable[[Tensor], Tensor]) -> KeyGradient:
        used: list[Tensor] = []

        def embed_with_gradient(output: Tensor) -> Tensor:
            replaced = embed(output).requires_grad_()
            used.append(replaced)
            return replaced

        with torch.enable_grad():
            largest = self._run(tokens, embed_with_gradient).abs().max()
            (gradient,) = torch.autograd.grad(largest, used[0])
        return KeyGradient(
            float(largest.detach()),
            used[0].detach()[0].cpu().float().numpy(),
            gradient[0].cpu().float().numpy(),
        )

    def _run(self, tokens: Tokens, embed: Callable[[Tensor], Tensor]) -> Tensor:
        """The keys of the head."""
        network = self.model.network
        ids = torch.as_tensor(tokens[None], device=network.device)
        with (
            _embedded(network, embed),
            _keys_kept(network, self.layer) as keys,
            suppress(StopForwardError),
        ):
            network(input_ids=ids)
        return keys[0][0, self.head]


@contextmanager
def _keys_kept(network: Any, layer: int) -> Iterator[list[Tensor]]:
    """While it lasts, the network computes with its own eager attention, ends at a layer, and leaves its keys here.

    Whoever watches calls gets tensors without gradients; so this is an implementation of attention of its own.
    """
    keys: list[Tensor] = []
    calls = 0

    def attention(
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Any,
        **arguments: Any,
    ) -> Any:
        nonlocal calls
        if calls == layer:
            keys.append(key)
            raise StopForwardError
        calls += 1
        return call_kernel("eager", module, (query, key, value, mask), arguments)

    before = network.config._attn_implementation
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    try:
        network.set_attn_implementation(NAME)
        yield keys
    finally:
        network.set_attn_implementation(before)


@contextmanager
def _embedded(network: Any, embed: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """While it lasts, the network goes on with other embeddings than it looks up."""
    module = network.get_input_embeddings()
    handle = module.register_forward_hook(lambda _, __, output: embed(output))
    try:
        yield
    finally:
        handle.remove()
