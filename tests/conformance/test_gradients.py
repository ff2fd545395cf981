"""dq, dk and dv: right backward passes are within the bound, wrong ones are outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

import headwright as hw
from headwright.conformance.inputs import Kind
from tests.conformance import implementations
from tests.conformance.catalogue import kernel

KINDS = get_args(Kind)
TYPES = ("float32", "bfloat16", "float16")
TOKENS, DIM = 64, 32
SCALE = DIM**-0.5
CAUSAL = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
ROUNDED = "fused, rounded sums of gradients"


def _inputs(**sizes: Any) -> tuple[Tensor, Tensor, Tensor]:
    whole: dict[str, Any] = {"rows": TOKENS, "dim": DIM, "framework": "torch", **sizes}
    q, k, v = hw.attention_inputs(**whole)
    return q, k, v


def _sdpa(backend: SDPBackend) -> Callable[..., Tensor]:
    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=True
            )

    return attention


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "backend", [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], ids=["math", "flash"]
)
def test_backends_of_pytorch_are_within(
    backend: SDPBackend, dtype: str, kind: str
) -> None:
    q, k, v = _inputs(kind=kind, dtype=dtype, seed=3)
    verdict = hw.conform(_sdpa(backend), q, k, v, causal=True, gradients=True)
    assert verdict.word == "within", str(verdict)
    assert [gradient.name for gradient in verdict.gradients] == ["dq", "dk", "dv"]
    for gradient in verdict.gradients:
        # A bound that is far too wide would find nothing.
        if kind == "gaussian" and dtype != "float32":
            assert gradient.ratio > 0.2, str(verdict)


@pytest.mark.parametrize("tokens", [300, 700])
def test_sums_that_are_rounded_from_tile_to_tile_have_a_contract(tokens: int) -> None:
    """PyTorch's flash attention on CPUs keeps dk and dv in the input type."""
    q, k, v = _inputs(rows=tokens, heads=1, kind="extreme scores")
    flash = _sdpa(SDPBackend.FLASH_ATTENTION)
    verdict = hw.conform(flash, q, k, v, causal=True, gradients=True, rows=64)
    assert verdict.word == "within", str(verdict)
    contracts = {gradient.contract for gradient in verdict.gradients}
    assert ROUNDED in contracts
    strict = hw.conform(
        flash, q, k, v, causal=True, gradients=True, rows=64, contract="fused"
    )
    assert strict.word == "outside" and strict.output_word == "within"


def test_weights_that_are_rounded_before_ds_is_made_of_them_have_a_contract() -> None:
    """As in memory-efficient attention on GPUs: float16 loses the tiny ones."""
    q, k, v = _inputs(
        kind="extreme scores", rows=512, heads=1, dim=64, dtype="float16", seed=2
    )
    dout = torch.randn(q.shape, generator=torch.Generator().manual_seed(2)).half()
    future = ~torch.ones(512, 512, dtype=torch.bool).tril()
    scores = (q.float() @ k.float().mT / 8).masked_fill(future, -torch.inf)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp().half().float()
    out = (weights @ v.float()).half()
    mean = (dout.float() * out.float()).sum(-1, keepdim=True)
    score_gradient = (weights * (dout.float() @ v.float().mT - mean)).half().float()
    gradients = (
        (score_gradient @ k.float() / 8).half(),
        (score_gradient.mT @ q.float() / 8).half(),
        (weights.mT @ dout.float()).half(),
    )
    tensors = (q, k, v, out, *gradients)
    verdict = _judge(tensors, dout, causal=True)
    assert verdict.word == "within", str(verdict)
    assert verdict.gradients[1].contract == ROUNDED
    strict = _judge(tensors, dout, causal=True, contract="fused")
    assert strict.gradients[1].word == "outside"


@pytest.mark.parametrize("dtype", TYPES)
def test_heads_that_share_keys_are_added(dtype: str) -> None:
    q, k, v = _inputs(heads=6, key_heads=2, dtype=dtype, batch=2)
    for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
        verdict = hw.conform(_sdpa(backend), q, k, v, causal=True, gradients=True)
        assert verdict.word == "within", str(verdict)
    dk = verdict.gradients[1]
    assert dk.ratios.shape == tuple(k.shape)


def _judge(
    tensors: tuple[Tensor, ...], dout: Tensor, **described: Any
) -> hw.conformance.verdict.ConformanceVerdict:
    q, k, v, out, dq, dk, dv = tensors
    return hw.conform(
        out,
        q,
        k,
        v,
        gradients={"dq": dq, "dk": dk, "dv": dv},
        dout=dout,
        explain=False,
        **described,
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_hostile_inputs(data: st.DataObject) -> None:
    """Sizes of all tensors over many powers of 2, any mask, any tile, grouped heads."""
    dtype = data.draw(st.sampled_from(TYPES))
    rows, keys = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 40))
    dim, value_dim = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 24))
    heads, key_heads = data.draw(st.sampled_from(((2, 2), (4, 2), (1, 1))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    spread = data.draw(st.sampled_from((0.0, 1.0, 3.0)))
    exponents = (
        data.draw(st.sampled_from((-12, -2, 0, 2, 3))),
        data.draw(st.sampled_from((-12, -2, 0, 2))),
        data.draw(st.sampled_from((-20, -10, 0, 8))),
        data.draw(st.sampled_from((-14, -4, 0, 6))),
    )
    sizes = (
        (1, heads, rows, dim),
        (1, key_heads, keys, dim),
        (1, key_heads, keys, value_dim),
        (1, heads, rows, value_dim),
    )
    made = []
    for exponent, size in zip(exponents, sizes, strict=True):
        numbers = rng.standard_normal(size)
        powers = 2.0 ** (exponent + spread * rng.standard_normal(size))
        tensor = torch.from_numpy(numbers * powers).to(getattr(torch, dtype))
        made.append(torch.nan_to_num(tensor, posinf=60000.0, neginf=-60000.0))
    q, k, v, dout = made
    mask = torch.from_numpy(rng.random((rows, keys)) < rng.uniform(0.2, 1))
    mask[:, 0] = True
    tile = data.draw(st.integers(1, 40))
    results = implementations.backward(q, k, v, dout, mask, 0.3, tile)
    verdict = _judge((q, k, v, *results), dout, mask=mask, scale=0.3, contract="fused")
    for gradient in verdict.gradients:
        assert gradient.ratio <= 1, str(verdict)


# Mistakes in the backward pass; the output is right

Backward = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def _backward(
    *,
    mask: Tensor = CAUSAL,
    row_sums: Callable[[Tensor], Tensor] = lambda sums: sums,
    weights: Callable[[Tensor], Tensor] = lambda weights: weights,
    keys: Callable[[Tensor], Tensor] = lambda keys: keys,
    dq_scale: float = SCALE,
    dk_scale: float = SCALE,
    keys_of_dq: slice = slice(None),
    rows_of_dv: slice = slice(None),
) -> Backward:
    """A right backward pass in float32, whose parts can be exchanged."""

    def run(
        q: Tensor, k: Tensor, v: Tensor, dout: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v, dout = (tensor.float() for tensor in (q, k, v, dout))
        exact = torch.softmax((q @ k.mT * SCALE).masked_fill(~CAUSAL, -torch.inf), -1)
        scores = (q @ k.mT * SCALE).masked_fill(~CAUSAL, -torch.inf)
        total = torch.logsumexp(scores, -1, keepdim=True)
        shown = (q @ k.mT * SCALE).masked_fill(~mask, -torch.inf)
        p = weights(torch.exp(shown - total))
        d = row_sums((dout * (exact @ v)).sum(-1, keepdim=True))
        ds = p * (dout @ v.mT - d)
        dq = dq_scale * ds[..., keys_of_dq] @ keys(k)[:, :, keys_of_dq]
        dk = dk_scale * ds.mT @ q
        dv = p[:, :, rows_of_dv].mT @ dout[:, :, rows_of_dv]
        return dq, dk, dv

    return run


def _eight_bits(tensor: Tensor) -> Tensor:
    return tensor.to(torch.float8_e4m3fn).float()


MISTAKES: dict[str, tuple[Backward, set[str]]] = {
    "no row sums": (_backward(row_sums=torch.zeros_like), {"dq", "dk"}),
    "row sums of the next row": (
        _backward(row_sums=lambda sums: sums.roll(-1, dims=2)),
        {"dq", "dk"},
    ),
    "row sums halved": (_backward(row_sums=lambda sums: sums / 2), {"dq", "dk"}),
    "no scale in dq": (_backward(dq_scale=1.0), {"dq"}),
    "scale twice in dk": (_backward(dk_scale=SCALE**2), {"dk"}),
    "scale 3% too large": (
        _backward(dq_scale=1.03 * SCALE, dk_scale=1.03 * SCALE),
        {"dq", "dk"},
    ),
    "one future key seen": (
        _backward(mask=torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril(1)),
        {"dq", "dk", "dv"},
    ),
    "window that the output has not": (
        _backward(mask=CAUSAL.triu(-40)),
        {"dq", "dk", "dv"},
    ),
    "last tile of keys left out of dq": (_backward(keys_of_dq=slice(0, 48)), {"dq"}),
    "first tile of rows left out of dv": (
        _backward(rows_of_dv=slice(16, None)),
        {"dv"},
    ),
    "weights in fp8": (_backward(weights=_eight_bits), {"dq", "dk", "dv"}),
    "keys in fp8 for dq": (_backward(keys=_eight_bits), {"dq"}),
    "weights normalised to half": (
        _backward(weights=lambda weights: weights / 2),
        {"dq", "dk", "dv"},
    ),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_the_backward_pass_are_outside(name: str, dtype: str) -> None:
    q, k, v = _inputs(dtype=dtype)
    torch.manual_seed(1)
    dout = torch.randn(q.shape).to(q.dtype)
    out = implementations.two_pass(q, k, v, CAUSAL, SCALE)
    right = [gradient.to(q.dtype) for gradient in _backward()(q, k, v, dout)]
    described = {"causal": True, "contract": "fused"}
    verdict = _judge((q, k, v, out, *right), dout, **described)
    assert verdict.word == "within", str(verdict)
    run, wrong = MISTAKES[name]
    found = [gradient.to(q.dtype) for gradient in run(q, k, v, dout)]
    verdict = _judge((q, k, v, out, *found), dout, **described)
    outside = {
        gradient.name for gradient in verdict.gradients if gradient.word == "outside"
    }
    assert verdict.word == "outside" and verdict.output_word == "within"
    assert outside == wrong, str(verdict)


def test_zeros_and_nan_are_outside() -> None:
    q, k, v = _inputs(heads=1)
    dout = torch.randn(q.shape).to(q.dtype)
    out, dq, dk, dv = implementations.backward(q, k, v, dout, CAUSAL, SCALE)
    dv[0, 0, 3, 2] = torch.nan
    verdict = _judge((q, k, v, out, dq, dk * 0, dv), dout, causal=True)
    words = [str(gradient.word) for gradient in verdict.gradients]
    assert words == ["within", "outside", "outside"]
    assert "dv: outside, an infinite multiple of the bound" in str(verdict)
    assert "token 3, column 2 nan instead of" in str(verdict)
    json = verdict.to_json()
    assert (json["verdict"], json["output"]) == ("outside", "within")
    assert json["gradients"][2]["ratio"] is None


def test_what_is_sent_back_can_be_given() -> None:
    q, k, v = _inputs(dtype="float32", heads=1)
    math = _sdpa(SDPBackend.MATH)
    dout = torch.full_like(q, 2.0)
    verdict = hw.conform(math, q, k, v, causal=True, gradients=True, dout=dout)
    assert verdict.word == "within", str(verdict)
    exact_dv = verdict.gradients[2].worst.exact
    again = hw.conform(math, q, k, v, causal=True, gradients=True, dout=dout)
    assert again.gradients[2].worst.exact == exact_dv


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing sent back": (
        {"gradients": {"dq": 1, "dk": 1, "dv": 1}},
        "dout is missing",
    ),
    "an output with True": ({"gradients": True}, "gradients is True: expected a func"),
    "text": ({"gradients": "yes"}, "gradients is 'yes': expected True or False or"),
    "one missing": ({"gradients": {"dq": 0}, "dout": 0}, "gradients has no dk"),
    "another shape": ({"gradients": {}, "dout": 0}, r"dq has shape \(1, 2, 5, 4\)"),
    "contract": ({"contract": "eager"}, "the contract eager says nothing of grad"),
    "softcap": ({"softcap": 3.0}, "softcap: gradients are judged without one"),
    "blind rows": (
        {"mask": np.arange(6)[:, None] > 2},
        "gradients: a row sees no key",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused(name: str) -> None:
    q, k, v = hw.attention_inputs(rows=6, dim=4, framework="torch")
    described, sentence = REFUSED[name]
    right = {"dq": q, "dk": k, "dv": v}
    whole: dict[str, Any] = {"gradients": right, "dout": q, **described}
    if whole["dout"] is not q:
        whole["dout"] = q
        whole["gradients"] = {**right, "dq": q[:, :, :5]}
        if name == "one missing":
            whole["gradients"] = {"dq": q, "dv": v}
    if name == "nothing sent back":
        whole["dout"] = None
    with pytest.raises(hw.InputError, match=sentence):
        hw.conform(v, q, k, v, **whole)


def test_functions_without_a_gradient_are_refused() -> None:
    q, k, v = hw.attention_inputs(rows=6, dim=4, framework="torch")
    with pytest.raises(hw.InputError, match="the output has no gradient"):
        hw.conform(lambda q, k, v: v.detach(), q, k, v, gradients=True)
    arrays = hw.attention_inputs(rows=6, dim=4)
    with pytest.raises(hw.InputError, match="gradients need tensors of PyTorch"):
        hw.conform(lambda q, k, v: v, *arrays, gradients=True)


DESCRIBED: dict[str, dict[str, Any]] = {
    "window": {"causal": True, "window": 9},
    "sinks": {"sinks": torch.tensor([1.0, 2.0, 0.5, 3.0])},
    "alibi": {"causal": True, "alibi": [0.5, 0.25, 0.125, 0.0625]},
    "bias": {"bias": torch.linspace(-3, 3, TOKENS * TOKENS).reshape(TOKENS, TOKENS)},
    "least bias": {
        "bias": torch.zeros(TOKENS, TOKENS).masked_fill(
            ~CAUSAL, torch.finfo(torch.float32).min
        )
    },
    "negative scale": {"scale": -0.3},
    "scale above 1": {"scale": 1.5},
}


@pytest.mark.parametrize("name", DESCRIBED)
@pytest.mark.parametrize("dtype", TYPES)
def test_what_can_be_described_has_gradients(name: str, dtype: str) -> None:
    described = DESCRIBED[name]
    parts: dict[str, Any] = {
        "scale": described.get("scale"),
        "sinks": described.get("sinks"),
        "bias": described.get("bias"),
    }
    if described.get("causal"):
        parts["mask"] = CAUSAL.triu(1 - described.get("window", TOKENS))
    if "alibi" in described:
        distance = (torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)).abs()
        parts["bias"] = -torch.tensor(described["alibi"])[:, None, None] * distance

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return kernel(q, k, v, **parts)

    q, k, v = _inputs(heads=4, key_heads=2, dtype=dtype)
    verdict = hw.conform(attention, q, k, v, gradients=True, **described)
    assert verdict.word == "within", str(verdict)
    wrong = {**described, "scale": 1.05 * described.get("scale", SCALE)}
    verdict = hw.conform(attention, q, k, v, gradients=True, explain=False, **wrong)
    words = {gradient.name: str(gradient.word) for gradient in verdict.gradients}
    assert words["dq"] == words["dk"] == "outside", str(verdict)
