"""Models in the styles that people write: each calls torch's attention, or stores its patterns in float64."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

_patterns: list[np.ndarray] | None = None
WIDTH = 16


@contextmanager
def stored_patterns() -> Iterator[list[np.ndarray]]:
    """While it lasts, the models compute attention by matrices, and their patterns are kept."""
    global _patterns
    _patterns = []
    try:
        yield _patterns
    finally:
        _patterns = None


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Any = None, **options: Any
) -> Tensor:
    """scaled_dot_product_attention, or what its documentation says that it computes."""
    if _patterns is None:
        return functional.scaled_dot_product_attention(
            query, key, value, mask, **options
        )
    if options.get("enable_gqa"):
        groups = query.shape[1] // key.shape[1]
        key = key.repeat_interleave(groups, dim=1)
        value = value.repeat_interleave(groups, dim=1)
    scale = options.get("scale") or query.shape[-1] ** -0.5
    scores = scale * query.double() @ key.double().transpose(-2, -1)
    rows, keys = scores.shape[-2:]
    if options.get("is_causal"):
        lower = torch.ones(rows, keys, dtype=torch.bool).tril()
        scores = scores.masked_fill(~lower, -torch.inf)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -torch.inf)
    elif mask is not None:
        scores = scores + mask
    pattern = scores.softmax(-1)
    _patterns.append(pattern.detach().numpy())
    output: Tensor = (pattern.nan_to_num() @ value.double()).to(value.dtype)
    return output


class CausalSelfAttention(nn.Module):
    """As in nanoGPT, with its cache of keys as an option."""

    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)
        self.cache: tuple[Tensor, Tensor] | None = None
        self.cached = False

    def forward(self, x: Tensor) -> Tensor:
        """Keys of rows up to their own."""
        q, k, v = self.c_attn(x).split(WIDTH, dim=2)
        q, k, v = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (q, k, v)
        )
        whole = True
        if self.cached:
            if self.cache is not None:
                k = torch.cat([self.cache[0], k], dim=2)
                v = torch.cat([self.cache[1], v], dim=2)
                whole = False
            self.cache = k, v
        y = attend(q, k, v, is_causal=whole)
        return self.c_proj(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """A residual block."""

    def __init__(self) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(WIDTH)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the rest."""
        x = x + self.attn(self.ln(x))
        return x + self.mlp(x)


class NanoGPT(nn.Module):
    """Tokens to logits, two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.wte = nn.Embedding(50, WIDTH)
        self.h = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, 50)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits."""
        x = self.wte(tokens)
        for block in self.h:
            x = block(x)
        return self.head(x)


class VisionAttention(nn.Module):
    """As in timm: fused projections, every patch sees every patch."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.q_norm, self.k_norm = nn.LayerNorm(4), nn.LayerNorm(4)
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Of patches."""
        texts, rows, _ = x.shape
        q, k, v = self.qkv(x).reshape(texts, rows, 3, 4, 4).permute(2, 0, 3, 1, 4)
        x = attend(self.q_norm(q), self.k_norm(k), v, dropout_p=0.0)
        return self.proj(x.transpose(1, 2).reshape(texts, rows, WIDTH))


class VisionTransformer(nn.Module):
    """Patches of an image; `forward_features` is what timm's users call."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, 4, 4)
        self.blocks = nn.ModuleList([VisionAttention(), VisionAttention()])

    def forward_features(self, image: Tensor) -> Tensor:
        """Without the model's own call."""
        x = self.patch(image).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = x + block(x)
        return x

    def forward(self, image: Tensor) -> Tensor:
        """The mean over patches."""
        return self.forward_features(image).mean(1)


class Processor:
    """As in diffusers: no module; it is handed the module whose attention it computes."""

    def __call__(
        self, attn: Any, hidden: Tensor, text: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        source = hidden if text is None else text
        q = attn.to_q(hidden).unflatten(2, (4, -1)).transpose(1, 2)
        k = attn.to_k(source).unflatten(2, (4, -1)).transpose(1, 2)
        v = attn.to_v(source).unflatten(2, (4, -1)).transpose(1, 2)
        return attn.to_out(attend(q, k, v, mask).transpose(1, 2).flatten(2))


class Attention(nn.Module):
    """The module that a processor works for."""

    def __init__(self, cross: bool) -> None:
        super().__init__()
        self.is_cross_attention = cross
        self.to_q, self.to_k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.to_v, self.to_out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.processor = Processor()

    def forward(
        self, x: Tensor, text: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """By the processor."""
        return self.processor(self, x, text, mask)


class Denoiser(nn.Module):
    """Pixels attend to each other, and then to a text with padding."""

    def __init__(self) -> None:
        super().__init__()
        self.attn1, self.attn2 = Attention(cross=False), Attention(cross=True)

    def forward(self, x: Tensor, text: Tensor, mask: Tensor) -> Tensor:
        """With a mask of the text that is added to scores, as diffusers makes it."""
        added = torch.where(mask, 0.0, -10000.0).to(x.dtype)[:, None, None]
        x = x + self.attn1(x)
        return x + self.attn2(x, text, added)


class InnerAttention(nn.Module):
    """As in torchtitan: the kernel is a module of its own, without parameters."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """Key heads are shared."""
        causal = mask is None
        return attend(q, k, v, mask, is_causal=causal, scale=0.7, enable_gqa=True)


class TitanAttention(nn.Module):
    """Four heads share two key heads."""

    def __init__(self) -> None:
        super().__init__()
        self.wq, self.wk = nn.Linear(WIDTH, 16), nn.Linear(WIDTH, 8)
        self.wv, self.wo = nn.Linear(WIDTH, 8), nn.Linear(16, WIDTH)
        self.inner_attention = InnerAttention()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Local heads: as many as the projections have numbers for."""
        q = self.wq(x).unflatten(2, (-1, 4)).transpose(1, 2)
        k = self.wk(x).unflatten(2, (-1, 4)).transpose(1, 2)
        v = self.wv(x).unflatten(2, (-1, 4)).transpose(1, 2)
        y = self.inner_attention(q, k, v, mask)
        return self.wo(y.transpose(1, 2).flatten(2))


class Titan(nn.Module):
    """Two layers; a mask may say which documents are packed."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"0": TitanAttention(), "1": TitanAttention()})

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Of vectors."""
        for layer in self.layers.values():
            x = x + layer(x, mask)
        return x


class EagerAttention(nn.Module):
    """Multiplies matrices, which no hook sees."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """One head."""
        return (self.q(x) @ self.k(x).transpose(1, 2)).softmax(-1) @ x


def documents(lengths: tuple[int, ...]) -> Tensor:
    """A causal mask of packed documents."""
    number = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    same = number[:, None] == number[None]
    return same & torch.ones_like(same).tril()
