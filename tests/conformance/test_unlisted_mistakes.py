"""Wrong kernels that are not in the catalogue: all are found, and none is misnamed.

Where a mistake has a name it is given; the others are found and not named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

import headwright as hw

TOKENS, DIM, HEADS = 96, 32, 4
DTYPE = torch.bfloat16
SCALE = DIM**-0.5
ROW = torch.arange(TOKENS)[:, None]
KEY = torch.arange(TOKENS)[None]
CAUSAL = KEY <= ROW
EVERY_KEY = torch.ones(TOKENS, TOKENS, dtype=torch.bool)
BORDERS = torch.tensor([0] * 30 + [1] * 40 + [2] * 26)
SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])
SINKS = torch.tensor([0.0, 1.0, 2.0, -1.0])
BIAS = torch.randn(1, HEADS, TOKENS, TOKENS, generator=torch.Generator().manual_seed(5))
Change = Callable[[Tensor], Tensor]


def unchanged(numbers: Tensor) -> Tensor:
    return numbers


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor = CAUSAL,
    scale: float = SCALE,
    of_scores: Change = unchanged,
    of_weights: Change = unchanged,
    sinks: Tensor | None = None,
) -> Tensor:
    """Attention in float32 with something done to its scores or weights."""
    group = q.shape[1] // k.shape[1]
    k, v = (part.repeat_interleave(group, dim=1) for part in (k, v))
    scores = of_scores(q.float() @ k.float().mT * scale)
    scores = scores.masked_fill(~mask, -torch.inf)
    if sinks is not None:
        sink = sinks.reshape(-1, 1, 1).expand(*scores.shape[:-1], 1)
        scores = torch.cat((scores, sink), dim=-1)
    weights = of_weights(torch.softmax(scores, dim=-1)[..., :TOKENS])
    return (weights.to(DTYPE).float() @ v.float()).to(DTYPE)


@dataclass(frozen=True)
class UnlistedMistake:
    """A wrong kernel, the name that it should get, and what was asked of it."""

    name: str
    kernel: Callable[[Tensor, Tensor, Tensor], Tensor]
    explained_by: str = ""
    described: dict[str, Any] = field(default_factory=lambda: {"causal": True})


def window(before: int) -> Tensor:
    return CAUSAL & (ROW - before < KEY)


def alibi(slopes: Tensor) -> Tensor:
    return -slopes[:, None, None] * (ROW - KEY).abs()


def fewer(scores: Tensor) -> Tensor:
    """The eight largest scores of each row."""
    hidden = scores.masked_fill(~CAUSAL, -torch.inf)
    least = hidden.topk(8, dim=-1).values[..., -1:]
    return scores.masked_fill(hidden < least, -torch.inf)


def masked_late(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v, mask=EVERY_KEY, of_weights=lambda weights: weights * CAUSAL)


def without_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = attend(q, k, v)
    out[:, 2] = 0
    return out


def without_rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = attend(q, k, v)
    out[:, :, 64:] = 0
    return out


def one_element(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = attend(q, k, v)
    out[1, 2, 50, 7] += 0.25
    return out


def exchanged_pages(tensor: Tensor) -> Tensor:
    first, second, third = (tensor[:, :, start : start + 16] for start in (16, 32, 48))
    return torch.cat(
        (tensor[:, :, :16], first, third, second, tensor[:, :, 64:]), dim=2
    )


def averaged_halves(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Split-K whose parts are put together without their log-sum-exps."""
    first = attend(q, k, v, mask=CAUSAL & (KEY < 48))
    second = attend(q, k, v, mask=CAUSAL & (KEY >= 48))
    return ((first.float() + second.nan_to_num().float()) / 2).to(DTYPE)


def to_float8(tensor: Tensor) -> Tensor:
    return tensor.to(torch.float8_e4m3fn).to(tensor.dtype)


MISTAKES = (
    # masks
    UnlistedMistake("mask after the softmax", masked_late, "masked after softmax"),
    UnlistedMistake(
        "mask of -10",
        lambda q, k, v: attend(
            q, k, v, mask=EVERY_KEY, of_scores=lambda s: s - 10.0 * ~CAUSAL
        ),
    ),
    UnlistedMistake(
        "mask of -1",
        lambda q, k, v: attend(
            q, k, v, mask=EVERY_KEY, of_scores=lambda s: s - 1.0 * ~CAUSAL
        ),
    ),
    UnlistedMistake(
        "scores times the mask",
        lambda q, k, v: attend(q, k, v, mask=EVERY_KEY, of_scores=lambda s: s * CAUSAL),
    ),
    UnlistedMistake(
        "causal by tiles", lambda q, k, v: attend(q, k, v, mask=ROW // 16 >= KEY // 16)
    ),
    UnlistedMistake(
        "every second key",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & ((ROW - KEY) % 2 == 0)),
    ),
    UnlistedMistake(
        "a prefix is seen", lambda q, k, v: attend(q, k, v, mask=CAUSAL | (KEY < 10))
    ),
    UnlistedMistake("no prefix", attend, "causal", {"mask": CAUSAL | (KEY < 10)}),
    UnlistedMistake(
        "two later keys",
        lambda q, k, v: attend(q, k, v, mask=KEY <= ROW + 2),
        "position +2",
    ),
    UnlistedMistake(
        "window twice as wide",
        lambda q, k, v: attend(q, k, v, mask=window(32)),
        "window +16",
        {"causal": True, "window": 16},
    ),
    UnlistedMistake(
        "window half as wide",
        lambda q, k, v: attend(q, k, v, mask=window(16)),
        "window -16",
        {"causal": True, "window": 32},
    ),
    UnlistedMistake(
        "window 4 keys wider",
        lambda q, k, v: attend(q, k, v, mask=window(36)),
        "window +4",
        {"causal": True, "window": 32},
    ),
    UnlistedMistake(
        "window by tiles",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & (ROW // 16 - KEY // 16 <= 2)),
        "",
        {"causal": True, "window": 32},
    ),
    UnlistedMistake(
        "sides of a window exchanged",
        lambda q, k, v: attend(q, k, v, mask=(KEY >= ROW - 3) & (KEY <= ROW + 12)),
        "window reversed",
        {"window": (12, 3)},
    ),
    UnlistedMistake(
        "first keys seen outside the window",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & ((KEY < 4) | (KEY > ROW - 20))),
        "",
        {"causal": True, "window": 20},
    ),
    UnlistedMistake(
        "two documents in one",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & ((ROW < 70) == (KEY < 70))),
        "",
        {"causal": True, "documents": BORDERS},
    ),
    UnlistedMistake(
        "documents without causal",
        lambda q, k, v: attend(q, k, v, mask=BORDERS[:, None] == BORDERS),
        "not causal",
        {"causal": True, "documents": BORDERS},
    ),
    UnlistedMistake(
        "padding of the other text",
        lambda q, k, v: attend(
            q, k, v, mask=torch.tensor([50, 96])[:, None, None, None] > KEY
        ),
        "padding of another text",
        {"key_padding": [96, 50]},
    ),
    # keys and values
    UnlistedMistake(
        "keys for values", lambda q, k, v: attend(q, k, k), "keys for values"
    ),
    UnlistedMistake(
        "values for keys", lambda q, k, v: attend(q, v, v), "values for keys"
    ),
    UnlistedMistake(
        "keys and values exchanged",
        lambda q, k, v: attend(q, v, k),
        "keys and values exchanged",
    ),
    UnlistedMistake(
        "pages exchanged",
        lambda q, k, v: attend(q, exchanged_pages(k), exchanged_pages(v)),
    ),
    UnlistedMistake(
        "pages of keys exchanged", lambda q, k, v: attend(q, exchanged_pages(k), v)
    ),
    UnlistedMistake(
        "key 17 lost",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & (KEY != 17)),
        "key 17 lost",
    ),
    UnlistedMistake(
        "value of key 17 lost", lambda q, k, v: attend(q, k, v * (ROW != 17))
    ),
    UnlistedMistake(
        "four keys lost",
        lambda q, k, v: attend(q, k, v, mask=CAUSAL & (KEY // 4 != 10)),
    ),
    UnlistedMistake(
        "last column ignored", lambda q, k, v: attend(q[..., :-1], k[..., :-1], v)
    ),
    UnlistedMistake(
        "query columns exchanged", lambda q, k, v: attend(q.roll(16, 3), k, v)
    ),
    UnlistedMistake(
        "values by the other grouping",
        lambda q, k, v: attend(q, k.repeat_interleave(2, 1), v[:, [0, 1, 0, 1]]),
    ),
    # scores
    UnlistedMistake(
        "softcap without its factor",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: torch.tanh(s / 5)),
        "",
        {"causal": True, "softcap": 5.0},
    ),
    UnlistedMistake(
        "scores clipped",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: s.clamp(-1, 1)),
        "",
        {"causal": True, "softcap": 1.0},
    ),
    UnlistedMistake(
        "softcap that was not asked for",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: 5 * torch.tanh(s / 5)),
    ),
    UnlistedMistake(
        "1 added to the sum",
        lambda q, k, v: attend(q, k, v, sinks=torch.zeros(HEADS)),
        "one added to the sum",
    ),
    UnlistedMistake(
        "sinks in base 2",
        lambda q, k, v: attend(q, k, v, sinks=SINKS * math.log(2)),
        "",
        {"causal": True, "sinks": SINKS},
    ),
    UnlistedMistake(
        "slopes doubled",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: s + alibi(2 * SLOPES)),
        "",
        {"causal": True, "alibi": SLOPES},
    ),
    UnlistedMistake(
        "ALiBi before the scale",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: s + alibi(SCALE * SLOPES)),
        "alibi scaled",
        {"causal": True, "alibi": SLOPES},
    ),
    UnlistedMistake(
        "bias transposed",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: s + BIAS.mT),
        "bias transposed",
        {"causal": True, "bias": BIAS},
    ),
    UnlistedMistake(
        "bias doubled",
        lambda q, k, v: attend(q, k, v, of_scores=lambda s: s + 2 * BIAS),
        "bias doubled",
        {"causal": True, "bias": BIAS},
    ),
    UnlistedMistake(
        "scale 5% too large",
        lambda q, k, v: attend(q, k, v, scale=1.05 * SCALE),
        "scale estimated",
    ),
    UnlistedMistake("largest score only", lambda q, k, v: attend(q, k, v, scale=1e3)),
    UnlistedMistake(
        "eight largest scores only", lambda q, k, v: attend(q, k, v, of_scores=fewer)
    ),
    # weights and outputs
    UnlistedMistake(
        "small weights dropped",
        lambda q, k, v: attend(q, k, v, of_weights=lambda w: w * (w > 0.01)),
    ),
    UnlistedMistake(
        "sigmoid for softmax",
        lambda q, k, v: attend(q, k, v, of_weights=lambda w: torch.sigmoid(w) * CAUSAL),
    ),
    UnlistedMistake("halves averaged", averaged_halves),
    UnlistedMistake("a head never written", without_head, "never written"),
    UnlistedMistake("rows never written", without_rows, "never written"),
    UnlistedMistake("one element", one_element),
    UnlistedMistake("negated", lambda q, k, v: -attend(q, k, v), "output scaled"),
    UnlistedMistake("residual added", lambda q, k, v: attend(q, k, v) + q),
    UnlistedMistake("rows reversed", lambda q, k, v: attend(q, k, v).flip(2)),
    UnlistedMistake(
        "output in fp8",
        lambda q, k, v: to_float8(attend(q, k, v)),
        "output in float8_e4m3",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_found_and_not_misnamed(mistake: UnlistedMistake) -> None:
    q, k, v = hw.attention_inputs(
        batch=2, heads=HEADS, key_heads=2, rows=TOKENS, dim=DIM, framework="torch"
    )
    out = mistake.kernel(q, k, v)
    verdict = hw.conform(out, q, k, v, contract="fused", **mistake.described)
    assert verdict.word == "outside", str(verdict)
    names = [hypothesis.name for hypothesis in verdict.hypotheses]
    if mistake.explained_by:
        assert names[:1] == [mistake.explained_by], str(verdict)
    else:
        assert names == [], str(verdict)


@pytest.mark.parametrize("mistake", MISTAKES[:3], ids=lambda mistake: mistake.name)
def test_the_kernel_is_right_without_the_mistake(mistake: UnlistedMistake) -> None:
    """Else all above would be found for another reason."""
    q, k, v = hw.attention_inputs(
        batch=2, heads=HEADS, key_heads=2, rows=TOKENS, dim=DIM, framework="torch"
    )
    verdict = hw.conform(attend, q, k, v, contract="fused", **mistake.described)
    assert verdict.word == "within", str(verdict)
