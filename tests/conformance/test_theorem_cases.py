"""Right kernels in the corners of the theorem: none of them may be outside.

Each case is one of the steps in docs/explanation/conform.md, with numbers for which the
step matters: sums that overflow before they are divided, biases that cancel, weights
and rescalings that are flushed to zero, a tanh that is made of exp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

import headwright as hw

ROWS, KEYS, DIM = 12, 40, 8
TYPES = (torch.float32, torch.float16, torch.bfloat16)
Softmax = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def whole_rows(scores: Tensor, v: Tensor, sinks: Tensor | None) -> Tensor:
    """The maximum, the exponentials, the division: all keys at once."""
    maximum = scores.amax(-1, keepdim=True)
    if sinks is not None:
        maximum = torch.maximum(maximum, sinks)
    exponentials = torch.exp(scores - maximum)
    total = exponentials.sum(-1, keepdim=True)
    if sinks is not None:
        total = total + torch.exp(sinks - maximum)
    products = exponentials.to(v.dtype).float() @ v.float()
    return (products / total).to(v.dtype)


def maximum_of_keys(scores: Tensor, v: Tensor, sinks: Tensor | None) -> Tensor:
    """As whole_rows, with a maximum that does not look at the sink."""
    maximum = scores.amax(-1, keepdim=True)
    exponentials = torch.exp(scores - maximum)
    total = exponentials.sum(-1, keepdim=True)
    if sinks is not None:
        total = total + torch.exp(sinks - maximum)
    products = exponentials.to(v.dtype).float() @ v.float()
    return (products * (1 / total)).to(v.dtype)


def normalised_weights(scores: Tensor, v: Tensor, sinks: Tensor | None) -> Tensor:
    """Weights are divided, then rounded, then multiplied with the values."""
    sink = None if sinks is None else sinks.expand(*scores.shape[:-1], 1)
    extended = scores if sink is None else torch.cat((scores, sink), dim=-1)
    weights = torch.softmax(extended, dim=-1)[..., : scores.shape[-1]]
    return (weights.to(v.dtype).float() @ v.float()).to(v.dtype)


def tiles(size: int, *, backwards: bool = False, lateness: float = 0.0) -> Softmax:
    """Online softmax that raises the maximum only where it is exceeded by `lateness`."""

    def softmax(scores: Tensor, v: Tensor, sinks: Tensor | None) -> Tensor:
        shape = (*scores.shape[:-1], 1)
        maximum = torch.full(shape, -torch.inf)
        total = torch.zeros(shape)
        if sinks is not None:
            maximum = sinks.expand(shape)
            total = torch.ones(shape)
        sums = torch.zeros((*scores.shape[:-1], v.shape[-1]))
        starts = list(range(0, scores.shape[-1], size))
        if backwards:
            starts.reverse()
        for start in starts:
            tile = scores[..., start : start + size]
            raised = torch.maximum(maximum, tile.amax(-1, keepdim=True))
            raised = torch.where(raised - maximum < lateness, maximum, raised)
            shift = raised.masked_fill(raised == -torch.inf, 0.0)
            exponentials = torch.exp(tile - shift)
            rescale = torch.exp(maximum - shift)
            total = total * rescale + exponentials.sum(-1, keepdim=True)
            part = (
                exponentials.to(v.dtype).float()
                @ v[..., start : start + size, :].float()
            )
            sums = sums * rescale + part
            maximum = raised
        return (sums / total).to(v.dtype)

    return softmax


def merged_halves(scores: Tensor, v: Tensor, sinks: Tensor | None) -> Tensor:
    """Split-K: two halves with their log-sum-exps, put together; then the sink."""
    middle = scores.shape[-1] // 2
    outs, sums = [], []
    for part in (slice(0, middle), slice(middle, None)):
        log_sum = torch.logsumexp(scores[..., part], -1, keepdim=True)
        finite = log_sum.masked_fill(log_sum == -torch.inf, 0.0)
        weights = torch.exp(scores[..., part] - finite)
        outs.append(weights.to(v.dtype).float() @ v[..., part, :].float())
        sums.append(log_sum)
    logs = sums if sinks is None else [*sums, sinks.expand_as(sums[0])]
    whole = torch.logsumexp(torch.stack(logs), 0)
    first, second = (torch.exp(log_sum - whole) for log_sum in sums)
    return (outs[0] * first + outs[1] * second).to(v.dtype)


SOFTMAXES: dict[str, Softmax] = {
    "whole rows": whole_rows,
    "maximum of keys": maximum_of_keys,
    "normalised weights": normalised_weights,
    "tiles of 7": tiles(7),
    "one key at a time": tiles(1),
    "tiles of 13, backwards": tiles(13, backwards=True),
    "tiles of 5, late maximum": tiles(5, lateness=5.5),
    "merged halves": merged_halves,
}


@dataclass(frozen=True, eq=False)
class RightCase:
    """Tensors, the scores that a right kernel computes from them, and what is asked."""

    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor
    described: dict[str, Any] = field(default_factory=dict)
    sinks: Tensor | None = None
    may_be_undecided: bool = False


def gaussian(dtype: torch.dtype, *, keys: int = KEYS) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(11)
    shapes = ((1, 2, ROWS, DIM), (1, 2, keys, DIM), (1, 2, keys, DIM))
    q, k, v = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    return q, k, v


def products(q: Tensor, k: Tensor, scale: float = DIM**-0.5) -> Tensor:
    return q.float() @ k.float().mT * scale


def causal_mask(rows: int, keys: int) -> Tensor:
    distance = torch.arange(rows)[:, None] + keys - rows - torch.arange(keys)
    return distance >= 0


def large_values(dtype: torch.dtype) -> RightCase:
    """Step 8: the sum of 40 values overflows, their mean does not."""
    q, k, v = gaussian(dtype)
    v = torch.full_like(v, 6e4 if dtype == torch.float16 else 3e37)
    return RightCase(q, k, v, products(q, k), may_be_undecided=True)


def large_values_before_the_maximum(dtype: torch.dtype) -> RightCase:
    """Step 8: tiles that overflow long before the key that has all weight."""
    q, k, v = gaussian(dtype)
    q, k = torch.ones_like(q), torch.zeros_like(k)
    k[:, :, 35] = 30
    v[:, :, :30] = 6e4 if dtype == torch.float16 else 1e38
    return RightCase(q, k, v, products(q, k), may_be_undecided=True)


def lost_weights(dtype: torch.dtype) -> RightCase:
    """Step 7: all the output is of weights of e^-90, which float32 may flush."""
    q, k, v = gaussian(dtype)
    q, k, v = torch.ones_like(q), torch.zeros_like(k), torch.zeros_like(v)
    k[:, :, 20] = 90 / math.sqrt(DIM)
    v[:, :, :16] = 6e4 if dtype == torch.float16 else 1e30
    return RightCase(q, k, v, products(q, k), may_be_undecided=True)


def biases_that_cancel(dtype: torch.dtype) -> RightCase:
    """Step 4: the first of two sums is much larger than the last."""
    q, k, v = gaussian(dtype)
    slopes = torch.tensor([1000.0, 7.0])
    distance = (torch.arange(ROWS)[:, None] + KEYS - ROWS - torch.arange(KEYS)).abs()
    alibi = -slopes[:, None, None] * distance
    bias = -alibi + torch.randn(alibi.shape, generator=torch.Generator().manual_seed(2))
    scores = (products(q, k) + bias) + alibi
    return RightCase(q, k, v, scores, {"bias": bias, "alibi": slopes})


def alibi_by_key(dtype: torch.dtype) -> RightCase:
    """Step 4: slope times number of the key, at the end of 8,192 keys, in a window."""
    q, k, v = gaussian(dtype, keys=8192)
    slopes = torch.tensor([1.0, 0.5])
    distance = torch.arange(ROWS)[:, None] + 8192 - ROWS - torch.arange(8192)
    seen = (distance >= 0) & (distance < 8)
    scores = products(q, k) + slopes[:, None, None] * torch.arange(8192)
    described = {"alibi": slopes, "causal": True, "window": 8}
    described["contract"] = "fused, ALiBi by key"
    return RightCase(q, k, v, scores.masked_fill(~seen, -torch.inf), described)


def tanh_from_exp(dtype: torch.dtype) -> RightCase:
    """Step 3: a softcap of 50,000 whose tanh loses the digits of small scores."""
    q, k, v = gaussian(dtype)
    cap = 50_000.0
    scores = (2 * torch.sigmoid(2 * products(q, k) / cap) - 1) * cap
    described = {"softcap": cap, "contract": "fused, approximate tanh"}
    return RightCase(q, k, v, scores, described)


def large_sinks(dtype: torch.dtype) -> RightCase:
    """Steps 5 and 7: e^89 overflows beside a maximum that does not look at the sink."""
    q, k, v = gaussian(dtype)
    sinks = torch.tensor([89.0, 5.0])
    return RightCase(
        q,
        k,
        v,
        products(q, k),
        {"sinks": sinks},
        sinks=sinks[:, None, None],
        may_be_undecided=True,
    )


def least_numbers_as_mask(dtype: torch.dtype) -> RightCase:
    """What is not judged: a bias of the least number hides a key."""
    q, k, v = gaussian(dtype)
    hidden = ~causal_mask(ROWS, KEYS)
    bias = torch.zeros(ROWS, KEYS).masked_fill(hidden, torch.finfo(torch.float32).min)
    return RightCase(q, k, v, products(q, k) + bias, {"bias": bias})


def moderate_numbers_as_mask(dtype: torch.dtype) -> RightCase:
    """Keys hidden by -10,000 are judged as if they were hidden for good."""
    q, k, v = gaussian(dtype)
    bias = torch.zeros(ROWS, KEYS).masked_fill(~causal_mask(ROWS, KEYS), -1e4)
    return RightCase(q, k, v, products(q, k) + bias, {"causal": True})


def tiny_values(dtype: torch.dtype) -> RightCase:
    """Step 8: values whose products with weights are subnormal."""
    q, k, v = gaussian(dtype)
    v = (v.float() * (1e-7 if dtype == torch.float16 else 1e-34)).to(dtype)
    return RightCase(q, k, v, products(q, k))


def unequal_sizes(dtype: torch.dtype) -> RightCase:
    """Steps 1 and 2: queries of 10^4, keys of 10^-4, and a negative scale."""
    q, k, v = gaussian(dtype)
    q, k = (q.float() * 1e4).to(dtype), (k.float() * 1e-4).to(dtype)
    return RightCase(q, k, v, products(q, k, -0.7), {"scale": -0.7})


def one_key(dtype: torch.dtype) -> RightCase:
    """The only key has all weight, whatever its score is."""
    q, k, v = gaussian(dtype, keys=1)
    return RightCase(q * 50, k, v, products(q * 50, k))


CASES = (
    large_values,
    large_values_before_the_maximum,
    lost_weights,
    biases_that_cancel,
    alibi_by_key,
    tanh_from_exp,
    large_sinks,
    least_numbers_as_mask,
    moderate_numbers_as_mask,
    tiny_values,
    unequal_sizes,
    one_key,
)


@pytest.fixture(params=(False, True), ids=("subnormal", "flushed"))
def _flush(request: pytest.FixtureRequest) -> Iterator[None]:
    torch.set_flush_denormal(request.param)
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("_flush")
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("make", CASES)
def test_right_kernels_are_not_outside(
    make: Callable[[torch.dtype], RightCase], dtype: torch.dtype
) -> None:
    case = make(dtype)
    described = {"contract": "fused", **case.described}
    for name, softmax in SOFTMAXES.items():
        out = softmax(case.scores, case.v, case.sinks)
        verdict = hw.conform(out, case.q, case.k, case.v, explain=False, **described)
        assert verdict.ratio <= 1, f"{name}: {verdict}"
        if not case.may_be_undecided:
            assert verdict.word == "within", f"{name}: {verdict}"


def test_alibi_by_key_is_tried_where_slopes_are_given() -> None:
    case = alibi_by_key(torch.float32)
    out = whole_rows(case.scores, case.v, None)
    described = {**case.described, "contract": None}
    verdict = hw.conform(out, case.q, case.k, case.v, **described)
    assert (verdict.word, verdict.contract) == ("within", "fused, ALiBi by key")
    assert verdict.results[0].word == "outside"


def test_a_sink_that_takes_all_weight_is_named_as_the_reason() -> None:
    case = large_sinks(torch.bfloat16)
    out = torch.zeros_like(case.v[:, :, :ROWS])
    verdict = hw.conform(out, case.q, case.k, case.v, sinks=[200.0, 200.0])
    assert verdict.word == "undecided"
    assert "on a sink" in verdict.explanation and "smaller sink" in verdict.explanation


def test_gradients_with_alibi_by_key() -> None:
    """Step A: the log-sum-exp is as large as slope * position."""
    case = alibi_by_key(torch.float32)
    slopes = case.described["alibi"][:, None, None]
    hidden = case.scores == -torch.inf

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT * DIM**-0.5 + slopes * torch.arange(k.shape[2])
        scores = scores.masked_fill(hidden, -torch.inf)
        log_sum = torch.logsumexp(scores, -1, keepdim=True)
        return torch.exp(scores - log_sum) @ v

    verdict = hw.conform(
        attention, case.q, case.k, case.v, gradients=True, **case.described
    )
    assert verdict.word == "within", str(verdict)
    assert all(0 < gradient.ratio <= 1 for gradient in verdict.gradients)
