"""Mistakes that were made in attention kernels, seeded one by one into a right one.

A mistake is a kernel that errs, what it was asked for, and the name of the hypothesis
that should explain it: '' where none does, INDISTINGUISHABLE where rounding explains
the output as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

import headwright as hw

INDISTINGUISHABLE = "indistinguishable from rounding at this shape"
BATCH, HEADS, KEY_HEADS, ROWS, DIM = 2, 4, 2, 72, 32
LENGTHS = [72, 50]
DOCUMENTS = [0, 20, 45, 72]
SLOPES = [0.5, 0.25, 0.125, 0.0625]
SINKS = [1.0, 2.0, 0.5, 3.0]
Kernel = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Mistake:
    name: str
    kernel: Kernel
    explained_by: str
    described: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)

    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        sizes: dict[str, Any] = {
            "batch": BATCH,
            "heads": HEADS,
            "key_heads": KEY_HEADS,
            "rows": ROWS,
            "dim": DIM,
            "dtype": "bfloat16",
            "seed": 7,
        }
        return hw.attention_inputs(**{**sizes, **self.inputs}, framework="torch")


def kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    exp: Callable[[Tensor], Tensor] = torch.exp,
    weights_to: Callable[[Tensor], Tensor] | None = None,
    divide: bool = True,
) -> Tensor:
    """A right kernel in float32, whose parts can be exchanged."""
    group = q.shape[1] // k.shape[1]
    wide_k = k.float().repeat_interleave(group, dim=1)
    wide_v = v.float().repeat_interleave(group, dim=1)
    scale = q.shape[3] ** -0.5 if scale is None else scale
    scores = q.float() @ wide_k.mT * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias.float().to(q.device)
    if mask is not None:
        scores = scores.masked_fill(~mask.to(q.device), -torch.inf)
    maximum = scores.amax(-1, keepdim=True)
    if sinks is not None:
        sinks = sinks.to(q.device)
        maximum = torch.maximum(maximum, sinks[:, None, None])
    exponentials = exp(scores - maximum)
    total = exponentials.sum(-1, keepdim=True)
    if sinks is not None:
        total = total + torch.exp(sinks[:, None, None] - maximum)
    if weights_to is not None:
        exponentials = weights_to(exponentials)
    out = exponentials @ wide_v
    if divide:
        out = out / total
    return out.to(q.dtype)


def using(**parts: Any) -> Kernel:
    return lambda q, k, v: kernel(q, k, v, **parts)


def causal(rows: int = ROWS, keys: int = ROWS, shift: int = 0) -> Tensor:
    return torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows + shift)


def causal_but(
    *, row: int | None = None, head: int | None = None, key: int, seen: bool
) -> Tensor:
    """Causal but for one key, in one row or one head; each row sees its own key."""
    mask = causal()[None].repeat(HEADS, 1, 1)
    rows = slice(None) if row is None else row
    heads = slice(None) if head is None else head
    mask[heads, rows, key] = seen
    return mask | (torch.eye(ROWS) > 0)


def twice(tensor: Tensor) -> Tensor:
    return torch.cat((tensor, tensor[:, :, 20:21]), dim=2)


def banded(before: int, after: int = 0) -> Tensor:
    full = torch.ones(ROWS, ROWS, dtype=torch.bool)
    return full.tril(after).triu(-before)


def padded(lengths: list[int]) -> Tensor:
    real = torch.arange(ROWS) < torch.tensor(lengths)[:, None]
    return real[:, None, None, :]


def documents(borders: list[int]) -> Tensor:
    ids = torch.bucketize(torch.arange(ROWS), torch.tensor(borders[1:]), right=True)
    return (ids[:, None] == ids) & causal()


def alibi(slopes: list[float]) -> Tensor:
    distance = (torch.arange(ROWS)[:, None] - torch.arange(ROWS)).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


def fp8(tensor: Tensor) -> Tensor:
    return tensor.to(torch.float8_e4m3fn).to(tensor.dtype)


def int8(tensor: Tensor) -> Tensor:
    scale = tensor.double().abs().amax(-1, keepdim=True) / 127
    return (tensor.double() / scale).round() * scale


RANDOM_MASK = torch.from_numpy(
    np.random.default_rng(1).random((2, 1, ROWS, ROWS)) < 0.5
)
BIAS = torch.from_numpy(
    np.random.default_rng(2).standard_normal((1, HEADS, ROWS, ROWS))
)
LATE_KEYS = (torch.arange(ROWS) > 12) * 30.0 - 15
CAUSAL = {"causal": True}
ONE_HEAD_EACH = {"key_heads": HEADS}
KEYS_ARE_MORE = {"rows": 40, "keys": 72}
SINK_TENSOR = torch.tensor(SINKS)
SCALE = DIM**-0.5


def interleaved(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    order = torch.arange(HEADS) % KEY_HEADS
    return kernel(q, k[:, order], v[:, order], mask=causal())


def exchanged(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Reads memory of (batch, heads, tokens, dim) as (batch, tokens, heads, dim)."""

    def misread(tensor: Tensor) -> Tensor:
        return tensor.reshape(BATCH, ROWS, HEADS, -1).transpose(1, 2)

    out = kernel(misread(q), misread(k), misread(v), mask=causal())
    return out.transpose(1, 2).reshape(BATCH, HEADS, ROWS, -1)


def no_rescaling(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Online softmax that forgets to rescale the sums when the maximum rises."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.float().repeat_interleave(group, dim=1) for x in (k, v))
    scores = q.float() @ k.mT * SCALE
    scores = scores.masked_fill(~causal(), -torch.inf)
    maximum = torch.full((*scores.shape[:3], 1), -torch.inf)
    sums, total = torch.zeros(1), torch.zeros(1)
    for start in range(0, ROWS, 16):
        part = slice(start, start + 16)
        maximum = torch.maximum(maximum, scores[..., part].amax(-1, keepdim=True))
        weights = torch.exp(scores[..., part] - maximum)
        total = total + weights.sum(-1, keepdim=True)
        sums = sums + weights @ v[:, :, part]
    return (sums / total).to(q.dtype)


def half_sums(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Sums of weights and products kept in float16, key after key."""
    exponentials = torch.exp(q.double() @ k.double().mT * SCALE)
    exponentials = exponentials / exponentials.amax(-1, keepdim=True)
    total = torch.zeros((*q.shape[:3], 1), dtype=torch.float16)
    sums = torch.zeros(q.shape, dtype=torch.float16)
    for j in range(k.shape[2]):
        weight = exponentials[..., j : j + 1].half()
        total = total + weight
        sums = sums + weight * v[:, :, j : j + 1].half()
    return (sums.float() / total.float()).to(q.dtype)


def stale_tile(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The last rows, which fill no tile, are never written."""
    out = kernel(q, k, v, mask=causal())
    out[:, :, 64:] = 0
    return out


def one_nan(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = kernel(q, k, v, mask=causal())
    out[1, 2, 5, 3] = torch.nan
    return out


def scaled_output(factor: float) -> Kernel:
    return lambda q, k, v: (kernel(q, k, v, mask=causal()).float() * factor).to(q.dtype)


def scaled_first(factor: float) -> Kernel:
    """The scale goes into the queries, which are rounded before their product with the keys."""
    return lambda q, k, v: kernel(
        (q.float() * factor).to(q.dtype), k, v, scale=SCALE / factor, mask=causal()
    )


def with_keys(change: Callable[[Tensor], Tensor]) -> Kernel:
    return lambda q, k, v: kernel(q, change(k), v, mask=causal())


def with_values(change: Callable[[Tensor], Tensor]) -> Kernel:
    return lambda q, k, v: kernel(q, k, change(v), mask=causal())


def with_both(change: Callable[[Tensor], Tensor]) -> Kernel:
    return lambda q, k, v: kernel(q, change(k), change(v), mask=causal())


def of_output(change: Callable[[Tensor], Tensor]) -> Kernel:
    return lambda q, k, v: change(kernel(q, k, v, mask=causal()))


def divided_by_count(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = kernel(q.float(), k, v, mask=causal(), divide=False)
    return (out / torch.arange(1, ROWS + 1)[:, None]).to(q.dtype)


def divided_twice(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    once = kernel(q.float(), k, v, mask=causal())
    raw = kernel(q.float(), torch.zeros_like(k), torch.ones_like(v), mask=causal())
    sums = kernel(q.float(), k, torch.ones_like(v), mask=causal(), divide=False)
    return (once / sums * raw).to(q.dtype)


# fmt: off
MISTAKES = (
    # masks
    Mistake("window one key too wide", using(mask=banded(16)), "window +1", {"causal": True, "window": 16}),
    Mistake("window one key too narrow", using(mask=banded(14)), "window -1", {"causal": True, "window": 16}),
    Mistake("window ignored", using(mask=causal()), "window ignored", {"causal": True, "window": 16}),
    Mistake("window of nearly all keys, one too wide", using(mask=banded(64)), "window +1",
            {"causal": True, "window": 64}),
    Mistake("two-sided window one too wide", using(mask=banded(8, 8)), "window +1", {"window": 8}),
    Mistake("two-sided window without its second side", using(mask=banded(7, 0)), "window one-sided", {"window": 8}),
    Mistake("no causal mask", using(), "not causal", CAUSAL),
    Mistake("one future key seen", using(mask=causal(shift=1)), "future key seen", CAUSAL),
    Mistake("causal where it should not be", using(mask=causal()), "causal"),
    Mistake("own key hidden", using(mask=causal(shift=-1) | (torch.arange(ROWS) == 0)), "own key hidden", CAUSAL),
    Mistake("causal from the other corner", using(mask=torch.ones(40, 72, dtype=torch.bool).tril()), "other corner",
            CAUSAL, KEYS_ARE_MORE),
    Mistake("cache offset one too large", using(mask=causal(40, 72, 1)), "position +1", CAUSAL, KEYS_ARE_MORE),
    Mistake("cache offset one too small", using(mask=causal(40, 72, -1)), "position -1", CAUSAL, KEYS_ARE_MORE),
    Mistake("padding seen", using(), "padding ignored", {"key_padding": LENGTHS}),
    Mistake("padding on the other side", using(mask=padded(LENGTHS).flip(-1)), "padding side",
            {"key_padding": LENGTHS}),
    Mistake("one padded key seen", using(mask=padded([72, 51])), "padding +1", {"key_padding": LENGTHS}),
    Mistake("one real key hidden", using(mask=padded([72, 49])), "padding -1", {"key_padding": LENGTHS}),
    Mistake("documents see one another", using(mask=causal()), "documents ignored",
            {"causal": True, "documents": DOCUMENTS}),
    Mistake("document borders one late", using(mask=documents([0, 21, 46, 72])), "document border",
            {"causal": True, "documents": DOCUMENTS}),
    Mistake("document borders one early", using(mask=documents([0, 19, 44, 72])), "document border early",
            {"causal": True, "documents": DOCUMENTS}),
    Mistake("mask ignored", using(), "mask ignored", {"mask": RANDOM_MASK}),
    Mistake("mask inverted", using(mask=~RANDOM_MASK), "mask inverted", {"mask": RANDOM_MASK}),
    Mistake("first text's mask for all", using(mask=RANDOM_MASK[:1]), "first text's mask", {"mask": RANDOM_MASK}),
    # tiles
    Mistake("last keys lost that fill no tile", using(mask=torch.arange(ROWS) < 64), "last 8 keys lost"),
    Mistake("zero keys seen that fill up a tile", using(sinks=torch.full((HEADS,), math.log(8))), "8 zero keys seen"),
    Mistake("first tile lost", using(mask=torch.arange(ROWS) >= 16), "first 16 keys lost"),
    Mistake("last key lost", using(mask=torch.arange(ROWS) < 71), "last key lost"),
    Mistake("first key lost", using(mask=torch.arange(ROWS) > 0), "first key lost"),
    Mistake("a key in the middle lost", using(mask=torch.arange(ROWS) != 30), "key 30 lost"),
    Mistake("a tile in the middle lost", using(mask=(torch.arange(ROWS) < 32) | (torch.arange(ROWS) >= 48)),
            "keys 32 to 47 lost"),
    Mistake("a key lost in one row", using(mask=causal_but(row=60, key=25, seen=False)), "key 25 lost in row 60",
            CAUSAL),
    Mistake("a later key seen in one row", using(mask=causal_but(row=20, key=51, seen=True)), "key 51 seen in row 20",
            CAUSAL),
    Mistake("a key lost in one head", using(mask=causal_but(head=1, key=0, seen=False)),
            "key 0 lost in head 1, in rows 1 to 71", CAUSAL),
    Mistake("a key counted twice", lambda q, k, v: kernel(q, twice(k), twice(v)), "key 20 counted twice"),
    Mistake("sums not rescaled when the maximum rises", no_rescaling, "", CAUSAL),
    Mistake("last rows never written", stale_tile, "never written", CAUSAL),
    # scores
    Mistake("scale 1", using(scale=1.0), "scale 1"),
    Mistake("scale 1 / dim", using(scale=1 / DIM), "scale 1 / dim"),
    Mistake("scale of a padded dim", using(scale=32**-0.5), "scale 1 / sqrt(32), of a padded dim", {}, {"dim": 24}),
    Mistake("scale applied twice", using(scale=SCALE**2), "scale 1 / dim"),
    Mistake("scale applied twice, another one", using(scale=0.3**2), "scale applied twice", {"scale": 0.3}),
    Mistake("exp2 for exp", using(exp=torch.exp2), "scale log2(e) missing: exp2 for exp"),
    Mistake("sign of the scores", using(scale=-SCALE), "scale with its sign turned"),
    Mistake("scale 3% too large", using(scale=1.03 * SCALE), "scale estimated"),
    Mistake("scale 0.1% too large", using(scale=1.001 * SCALE), INDISTINGUISHABLE),
    Mistake("softcap missing", using(), "softcap missing", {"softcap": 2.0}),
    Mistake("softcap before the scale", using(softcap=2.0 * SCALE), "softcap before scale", {"softcap": 2.0}),
    Mistake("sinks ignored", using(), "sinks ignored", {"sinks": SINKS}),
    Mistake("sinks scaled", using(sinks=SINK_TENSOR * SCALE), "sinks scaled", {"sinks": SINKS}),
    Mistake("bias ignored", using(), "bias ignored", {"bias": BIAS}),
    Mistake("bias scaled", using(bias=BIAS * SCALE), "bias scaled", {"bias": BIAS}),
    Mistake("bias subtracted", using(bias=-BIAS), "bias sign", {"bias": BIAS}),
    Mistake("one head's bias for all", using(bias=BIAS[:, :1]), "first head's bias", {"bias": BIAS}),
    Mistake("ALiBi ignored", using(), "alibi ignored", {"alibi": SLOPES}),
    Mistake("ALiBi with the other sign", using(bias=-alibi(SLOPES)), "alibi sign", {"alibi": SLOPES}),
    Mistake("slopes of the heads reversed", using(bias=alibi(SLOPES[::-1])), "alibi reversed", {"alibi": SLOPES}),
    Mistake("scores not used", using(scale=0.0), "scores ignored"),
    # heads, texts, tokens
    Mistake("heads grouped the other way", interleaved, "heads interleaved", CAUSAL),
    Mistake("all heads read the first key head", lambda q, k, v: kernel(q, k[:, :1], v[:, :1], mask=causal()),
            "first key head", CAUSAL),
    Mistake("heads in reverse order", of_output(lambda out: out.flip(1)), "heads reversed", CAUSAL),
    Mistake("heads shifted", of_output(lambda out: out.roll(1, 1)), "heads shifted", CAUSAL),
    Mistake("all texts read the first", lambda q, k, v: kernel(q, k[:1], v[:1], mask=causal()), "first text", CAUSAL),
    Mistake("texts exchanged", of_output(lambda out: out.flip(0)), "texts shifted", CAUSAL),
    Mistake("rows shifted", of_output(lambda out: out.roll(1, 2)), "rows +1", CAUSAL),
    Mistake("values shifted", with_values(lambda v: v.roll(1, 2)), "values +1", CAUSAL),
    Mistake("columns reversed", of_output(lambda out: out.flip(3)), "columns reversed", CAUSAL),
    Mistake("half of the columns used", with_keys(lambda k: k * (torch.arange(DIM) < DIM // 2)), "half of dim", CAUSAL),
    Mistake("heads and tokens exchanged", exchanged, "heads and tokens exchanged", CAUSAL, ONE_HEAD_EACH),
    Mistake("output in another layout", of_output(lambda out: out.transpose(1, 2).reshape(out.shape)),
            "output transposed", CAUSAL, ONE_HEAD_EACH),
    # rounding
    Mistake("keys in fp8", with_keys(fp8), "keys in float8_e4m3", CAUSAL),
    Mistake("values in fp8", with_values(fp8), "values in float8_e4m3", CAUSAL),
    Mistake("keys and values in fp8", with_both(fp8), "keys and values in float8_e4m3", CAUSAL),
    Mistake("keys in int8", with_keys(int8), "keys in int8 with a scale for each token", CAUSAL),
    Mistake("keys and values in int8", with_both(int8), "keys and values in int8 with a scale for each token", CAUSAL),
    Mistake("weights in fp8", using(mask=causal(), weights_to=fp8), "weights in float8", CAUSAL),
    Mistake("sums in float16", half_sums, "sums in float16", {}, {"dtype": "float16", "heads": 2, "rows": 12}),
    Mistake("output in bfloat16", of_output(lambda out: out.bfloat16().float()), "output in bfloat16", CAUSAL,
            {"dtype": "float32"}),
    Mistake("inputs in bfloat16", lambda q, k, v: kernel(q.bfloat16().float(), k.bfloat16(), v, mask=causal()),
            "queries and keys in bfloat16", CAUSAL, {"dtype": "float32"}),
    Mistake("queries scaled before the product", scaled_first(SCALE), "queries scaled first", CAUSAL,
            {"kind": "extreme scores"}),
    Mistake("queries scaled for exp2", scaled_first(SCALE * math.log2(math.e)), "queries scaled for exp2", CAUSAL,
            {"kind": "extreme scores"}),
    # the division, and no attention at all
    Mistake("not divided by the sum", using(mask=causal(), divide=False), "not normalised", CAUSAL),
    Mistake("divided by the number of keys", divided_by_count, "divided by count", CAUSAL),
    Mistake("divided by the sum twice", divided_twice, "normalised twice", CAUSAL),
    Mistake("divided by what dropout keeps", scaled_output(1 / 0.9), "output scaled", CAUSAL),
    Mistake("every output 1% too large", scaled_output(1.01), "output scaled", CAUSAL),
    Mistake("zeros", of_output(torch.zeros_like), "zeros", CAUSAL),
    Mistake("the values themselves", lambda q, k, v: v.repeat_interleave(2, dim=1), "own value", CAUSAL),
    Mistake("NaN in one element", one_nan, "", CAUSAL),
    Mistake("values rounded to float16", with_values(lambda v: v.half().to(v.dtype)), INDISTINGUISHABLE, CAUSAL),
    Mistake("window off where weights vanish", using(mask=banded(64), bias=LATE_KEYS), INDISTINGUISHABLE,
            {"causal": True, "window": 64, "bias": LATE_KEYS}),
)
# fmt: on
