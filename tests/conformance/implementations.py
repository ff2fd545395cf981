"""Right implementations of attention, written for the tests, independent of the package.

Each takes q, k, v (batch, heads, tokens, dim) of torch, a mask (rows, keys) and a
scale, computes in float32 as some kernel does, and returns the type of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Implementation = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]
LOG2E = math.log2(math.e)


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float) -> Tensor:
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=scale
    )


def sdpa_math(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float) -> Tensor:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        return sdpa(q, k, v, mask, scale)


def two_pass(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The whole row of scores, then its softmax."""
    scores = q.float() @ k.float().mT * scale
    scores = scores.masked_fill(~mask, -torch.inf)
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    total = exponentials.sum(-1, keepdim=True)
    return (exponentials.to(q.dtype).float() @ v.float() / total).to(q.dtype)


def by_log_sum_exp(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float
) -> Tensor:
    """Weights as exp(score - log-sum-exp), not divided afterwards."""
    scores = (q.float() * scale) @ k.float().mT
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return (weights @ v.float()).to(q.dtype)


def online(tile: int, *, backwards: bool = False, exp2: bool = False) -> Implementation:
    """Online softmax over tiles of keys, as flash attention has it."""

    def attention(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float
    ) -> Tensor:
        rows, keys = mask.shape
        shape = (*q.shape[:2], rows, 1)
        maximum = torch.full(shape, -torch.inf)
        total = torch.zeros(shape)
        sums = torch.zeros((*q.shape[:2], rows, v.shape[3]))
        starts = list(range(0, keys, tile))
        if backwards:
            starts.reverse()
        factor = torch.tensor(scale * LOG2E if exp2 else scale, dtype=torch.float32)
        exponential = torch.exp2 if exp2 else torch.exp
        for start in starts:
            part = slice(start, start + tile)
            products = q.float() @ k[:, :, part].float().mT
            products = products.masked_fill(~mask[:, part], -torch.inf)
            tile_maximum = products.amax(-1, keepdim=True)
            new_maximum = torch.maximum(maximum, tile_maximum)
            finite = new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)
            shift = finite * factor
            weights = exponential(products * factor - shift)
            rescale = exponential((maximum - finite) * factor)
            total = total * rescale + weights.sum(-1, keepdim=True)
            narrow = weights.to(q.dtype).float()
            sums = sums * rescale + narrow @ v[:, :, part].float()
            maximum = new_maximum
        return (sums / total).to(q.dtype)

    return attention


def split(parts: int) -> Implementation:
    """Keys in parts, each normalised, put together by their log-sum-exps."""

    def attention(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float
    ) -> Tensor:
        outs, sums = [], []
        for keys in torch.arange(mask.shape[1]).chunk(parts):
            scores = q.float() @ k[:, :, keys].float().mT * scale
            scores = scores.masked_fill(~mask[:, keys], -torch.inf)
            lse = torch.logsumexp(scores, -1, keepdim=True)
            safe = lse.masked_fill(lse == -torch.inf, 0.0)
            weights = torch.exp(scores - safe).to(q.dtype).float()
            outs.append(weights @ v[:, :, keys].float())
            sums.append(lse)
        whole = torch.logsumexp(torch.stack(sums), 0)
        combined = torch.zeros_like(outs[0])
        for out, lse in zip(outs, sums, strict=True):
            combined = combined + out * torch.exp(lse - whole)
        return combined.to(q.dtype)

    return attention


def one_key_at_a_time(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float
) -> Tensor:
    return online(1)(q, k, v, mask, scale)


def truncate(numbers: Tensor) -> Tensor:
    """Float64 cut off to the 24 binary digits of float32, as tensor cores cut off sums."""
    return (numbers.view(torch.int64) & ~(2**29 - 1)).view(torch.float64)


def truncated_product(left: Tensor, right: Tensor, block: int = 4) -> Tensor:
    """A matrix product as tensor cores are modelled: blocks of four products are aligned and cut off, then added."""
    total = torch.zeros((*left.shape[:-1], right.shape[-1]), dtype=torch.float64)
    for start in range(0, left.shape[-1], block):
        part = slice(start, start + block)
        products = (
            left[..., :, part, None].double() * right[..., None, part, :].double()
        )
        addends = torch.cat((products, total[..., None, :]), dim=-2)
        largest = addends.abs().amax(-2, keepdim=True)
        unit = 2.0 ** (torch.floor(torch.log2(largest.clamp_min(2.0**-140))) - 23)
        total = truncate((torch.trunc(addends / unit) * unit).sum(-2))
    return total


def tensor_core(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Both products with sums that are cut off."""
    scores = truncated_product(q, k.mT).float() * scale
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    total = weights.sum(-1, keepdim=True)
    return (truncated_product(weights.to(q.dtype), v).float() / total).to(q.dtype)


FUSED: dict[str, Implementation] = {
    "sdpa": sdpa,
    "sdpa, math": sdpa_math,
    "two-pass": two_pass,
    "by log-sum-exp": by_log_sum_exp,
    "online, tiles of 1": one_key_at_a_time,
    "online, tiles of 16": online(16),
    "online, tiles of 33, backwards": online(33, backwards=True),
    "online, tiles of 64, exp2": online(64, exp2=True),
    "online, tiles of 16, exp2, backwards": online(16, backwards=True, exp2=True),
    "split in 3": split(3),
    "tensor core, sums cut off": tensor_core,
}


def eager(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float) -> Tensor:
    """As transformers writes it, in the type of q."""
    scores = torch.matmul(q, k.mT) * scale
    hidden = torch.finfo(q.dtype).min
    scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, hidden)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dout: Tensor,
    mask: Tensor,
    scale: float,
    tile: int = 16,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The output and dq, dk, dv as fused kernels compute them, tile by tile of keys.

    Weights are recomputed from a log-sum-exp in float32; P and dS are rounded to the
    type of q before their products; heads of a group are added in float32.
    """
    group = q.shape[1] // k.shape[1]
    wide_k = k.float().repeat_interleave(group, dim=1)
    wide_v = v.float().repeat_interleave(group, dim=1)
    scores = (q.float() @ wide_k.mT * scale).masked_fill(~mask, -torch.inf)
    log_sum_exp = torch.logsumexp(scores, -1, keepdim=True)
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))
    narrow = exponentials.to(q.dtype).float()
    out = (narrow @ wide_v / exponentials.sum(-1, keepdim=True)).to(q.dtype)
    row_sums = (dout.float() * out.float()).sum(-1, keepdim=True)
    dq = torch.zeros(q.shape)
    dk, dv = torch.zeros(wide_k.shape), torch.zeros(wide_v.shape)
    for start in range(0, k.shape[2], tile):
        part = slice(start, start + tile)
        scores = q.float() @ wide_k[:, :, part].mT * scale
        scores = scores.masked_fill(~mask[..., part], -torch.inf)
        weights = torch.exp(scores - log_sum_exp)
        dp = dout.float() @ wide_v[:, :, part].mT
        ds = (weights * (dp - row_sums)).to(q.dtype).float()
        dv[:, :, part] = weights.to(q.dtype).float().mT @ dout.float()
        dk[:, :, part] = ds.mT @ q.float() * scale
        dq += ds @ wide_k[:, :, part]

    def add_heads(gradient: Tensor) -> Tensor:
        heads = (k.shape[0], k.shape[1], group, *gradient.shape[2:])
        return gradient.reshape(heads).sum(2).to(q.dtype)

    return out, (dq * scale).to(q.dtype), add_heads(dk), add_heads(dv)
