"""Right implementations are never outside: a ratio above 1 is an error of the theorem."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwright as hw
from headwright.conformance.checking import judge
from headwright.conformance.contracts import EAGER, FUSED
from headwright.conformance.inputs import Kind
from headwright.conformance.reading import AttentionOptions, read_output, read_problem
from tests.conformance import implementations

KINDS = get_args(Kind)
TYPES = ("float32", "bfloat16", "float16")


def _ratio(out: Any, q: Any, k: Any, v: Any, contract: Any, **described: Any) -> float:
    question = AttentionOptions(**described)
    problem = read_problem(q, k, v, question)
    rows = np.arange(problem.shape.rows)
    output = read_output(out, problem, question)
    return judge(problem, output, (contract,), rows, explain=False).ratio


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_fused_implementations_are_within(dtype: Any, kind: Any) -> None:
    q, k, v = hw.attention_inputs(
        kind, rows=80, dim=32, dtype=dtype, framework="torch", seed=3
    )
    mask = torch.ones(80, 80, dtype=torch.bool).tril().triu(-40)
    for name, attention in implementations.FUSED.items():
        out = attention(q, k, v, mask, 32**-0.5)
        ratio = _ratio(out, q, k, v, FUSED, causal=True, window=41)
        assert 0 < ratio <= 1, f"{name}: {ratio}"
        if kind == "gaussian" and dtype != "float32":
            assert ratio > 0.2, (
                f"{name}: {ratio}"
            )  # a bound that is far too wide would find nothing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("bfloat16", "float16"))
def test_eager_attention_is_within_its_contract(dtype: Any, kind: Any) -> None:
    q, k, v = hw.attention_inputs(
        kind, rows=64, dim=32, dtype=dtype, framework="torch", seed=5
    )
    mask = torch.ones(64, 64, dtype=torch.bool).tril()
    out = implementations.eager(q, k, v, mask, 32**-0.5)
    assert _ratio(out, q, k, v, EAGER, causal=True) <= 1


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_hostile_inputs(data: st.DataObject) -> None:
    """Sizes of q, k and v over many powers of 2, and any mask."""
    dtype = data.draw(st.sampled_from(TYPES))
    rows, keys = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 40))
    dim = data.draw(st.integers(1, 24))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    spread = data.draw(st.sampled_from((0.0, 1.0, 4.0)))
    sizes = {
        "q": data.draw(st.sampled_from((-12, -2, 0, 2, 3))),
        "k": data.draw(st.sampled_from((-12, -2, 0, 2))),
        "v": data.draw(st.sampled_from((-140, -24, -10, 0, 10))),
    }
    tensors = {}
    for name, exponent in sizes.items():
        tokens = rows if name == "q" else keys
        numbers = rng.standard_normal((1, 2, tokens, dim))
        powers = 2.0 ** (exponent + spread * rng.standard_normal(numbers.shape))
        tensor = torch.from_numpy(numbers * powers).to(getattr(torch, dtype))
        tensors[name] = torch.nan_to_num(tensor, posinf=60000.0, neginf=-60000.0)
    mask = torch.from_numpy(rng.random((rows, keys)) < rng.uniform(0.2, 1))
    mask[:, 0] = True
    q, k, v = tensors["q"], tensors["k"], tensors["v"]
    name = data.draw(st.sampled_from(sorted(implementations.FUSED)))
    out = implementations.FUSED[name](q, k, v, mask, 0.3)
    ratio = _ratio(out, q, k, v, FUSED, mask=mask, scale=0.3)
    assert ratio <= 1, (name, ratio)


DESCRIBED: dict[str, dict[str, Any]] = {
    "softcap": {"softcap": 2.0},
    "sinks": {"sinks": [0.5, 3.0, -2.0, 0.0]},
    "alibi": {"alibi": [0.5, 0.25, 0.125, 0.0625], "causal": True},
    "bias": {"bias": np.random.default_rng(0).standard_normal((4, 24, 40))},
    "padding": {"key_padding": [40, 11]},
    "documents": {"documents": [0, 7, 30, 40], "causal": True},
    "window": {"window": (3, 5)},
    "start": {"causal": True, "corner": "start"},
    "everything": {
        "softcap": 3.0,
        "sinks": [0.5, 3.0, -2.0, 0.0],
        "alibi": [0.5, 0.25, 0.125, 0.0625],
        "key_padding": [40, 30],
        "causal": True,
        "window": 9,
        "scale": 0.7,
    },
}


def _by_definition(q: Any, k: Any, v: Any, described: dict[str, Any]) -> np.ndarray:
    """Attention with grouped heads, written out in loops: (batch, heads, rows, dim)."""
    q, k, v = (np.asarray(tensor, dtype=np.float64) for tensor in (q, k, v))
    batch, heads, rows, dim = q.shape
    keys, group = k.shape[2], heads // k.shape[1]
    scale = described.get("scale", dim**-0.5)
    out = np.zeros((batch, heads, rows, v.shape[3]))
    cumulative = described.get("documents")
    ids = [0] * keys
    if cumulative is not None:
        ids = [sum(j >= end for end in cumulative[1:]) for j in range(keys)]
    window = described.get("window")
    lengths = described.get("key_padding", [keys] * batch)
    for b, h, i in np.ndindex(batch, heads, rows):
        position = i if described.get("corner") == "start" else i + keys - rows
        exponentials, values = [], []
        for j in range(keys):
            if described.get("causal") and j > position:
                continue
            if isinstance(window, int) and j <= position - window:
                continue
            if isinstance(window, tuple) and not (
                position - window[0] <= j <= position + window[1]
            ):
                continue
            if j >= lengths[b] or ids[j] != ids[position]:
                continue
            score = scale * float(q[b, h, i] @ k[b, h // group, j])
            if "softcap" in described:
                score = described["softcap"] * np.tanh(score / described["softcap"])
            if "bias" in described:
                score += described["bias"][h, i, j]
            if "alibi" in described:
                score -= described["alibi"][h] * abs(position - j)
            exponentials.append(np.exp(score))
            values.append(v[b, h // group, j])
        total = sum(exponentials)
        if "sinks" in described:
            total += np.exp(described["sinks"][h])
        if values:
            out[b, h, i] = np.array(exponentials) @ np.array(values) / total
    return out


@pytest.mark.parametrize("name", DESCRIBED)
@pytest.mark.parametrize("layout", ("bhtd", "bthd"))
def test_what_can_be_described_is_what_is_computed(name: str, layout: Any) -> None:
    q, k, v = hw.attention_inputs(
        batch=2, heads=4, key_heads=2, rows=24, keys=40, dim=8, dtype="float32"
    )
    out = _by_definition(q, k, v, DESCRIBED[name]).astype(np.float32)
    wrong = out.copy()
    wrong[1, 2, 20, 3] += 1e-3
    if layout == "bthd":
        tensors = [np.swapaxes(array, 1, 2) for array in (out, wrong, q, k, v)]
        out, wrong, q, k, v = tensors
    described = {**DESCRIBED[name], "layout": layout, "contract": "fused"}
    right = hw.conform(out, q, k, v, **described)
    assert right.word == "within", str(right)
    found = hw.conform(wrong, q, k, v, explain=False, **described)
    place = (found.worst.batch, found.worst.head, found.worst.row, found.worst.column)
    assert found.word == "outside" and place == (1, 2, 20, 3)


def test_hidden_keys_whose_scores_overflow_are_not_judged() -> None:
    """In float16 a hidden key's score is infinity, and infinity plus the least number is no mask."""
    q, k, v = hw.attention_inputs(
        rows=8, dim=8, heads=1, dtype="float16", framework="torch"
    )
    q[0, 0, 2], k[0, 0, 5] = 300.0, 300.0
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    out = implementations.eager(q, k, v, mask, 0.3)
    assert bool(out[0, 0, 2].isnan().all())
    verdict = hw.conform(out, q, k, v, causal=True, scale=0.3, contract="eager")
    assert verdict.word == "undecided", str(verdict)


def test_rows_can_be_sampled_and_the_verdict_says_so() -> None:
    q, k, v = hw.attention_inputs(rows=100, dim=16, framework="torch")
    mask = torch.ones(100, 100, dtype=torch.bool).tril()
    out = implementations.sdpa(q, k, v, mask, 0.25)
    verdict = hw.conform(out, q, k, v, causal=True, rows=10)
    assert verdict.word == "within"
    assert "10 of 100 rows" in str(verdict)
    assert verdict.ratios.shape == (1, 2, 10, 16)


def test_float64_is_judged_with_its_own_arithmetic() -> None:
    q, k, v = hw.attention_inputs(rows=40, dim=16, dtype="float64", framework="torch")
    mask = torch.ones(40, 40, dtype=torch.bool).tril()
    out = implementations.sdpa(q, k, v, mask, 0.25)
    assert hw.conform(out, q, k, v, causal=True).word == "within"
    assert hw.conform(out * (1 + 1e-9), q, k, v, causal=True).word == "outside"


def test_scores_too_large_for_any_bound_are_undecided() -> None:
    q, k, v = hw.attention_inputs(rows=16, dim=16, dtype="float32")
    out = np.zeros_like(v)
    verdict = hw.conform(out, q * 1e5, k, v)
    assert verdict.word == "undecided"
    assert "zeros would be within" in verdict.explanation
    with pytest.raises(AssertionError, match="undecided"):
        hw.assert_attention(out, q * 1e5, k, v)


def test_rows_that_see_nothing_are_counted_and_not_judged() -> None:
    q, k, v = hw.attention_inputs(rows=16, dim=16, dtype="float32", framework="torch")
    mask = torch.ones(16, 16, dtype=torch.bool).tril()
    mask[3] = False
    out = implementations.two_pass(q, k, v, mask, 0.25)  # NaN in row 3
    verdict = hw.conform(out, q, k, v, mask=mask)
    assert verdict.word == "within"
    assert verdict.empty_rows == 2
    assert "2 rows see no key" in verdict.explanation


def test_a_tf32_product_is_named_as_such() -> None:
    q, k, v = hw.attention_inputs(rows=64, dim=64, dtype="float32", framework="torch")

    def tf32(tensor: torch.Tensor) -> torch.Tensor:
        return (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)

    mask = torch.ones(64, 64, dtype=torch.bool).tril()
    out = implementations.two_pass(tf32(q), tf32(k), tf32(v), mask, 0.125)
    verdict = hw.conform(out, q, k, v, causal=True)
    assert (verdict.word, verdict.contract) == ("within", "tf32")
    named = hw.conform(out, q, k, v, causal=True, contract="fused")
    assert named.word == "outside"
    hw.assert_attention(out, q, k, v, causal=True, contract="tf32")
    with pytest.raises(AssertionError, match="outside"):
        hw.assert_attention(out, q, k, v, causal=True)
    assert "not under fused" in verdict.explanation


def test_a_mistake_that_hides_behind_a_lenient_contract_is_named() -> None:
    q, k, v = hw.attention_inputs(rows=64, dim=32, dtype="float32", framework="torch")
    mask = torch.ones(64, 64, dtype=torch.bool).tril()
    out = implementations.two_pass(q, k, v, mask, 1.003 * 32**-0.5)
    verdict = hw.conform(out, q, k, v, causal=True)
    assert (verdict.word, verdict.contract) == ("within", "tf32")
    assert (
        "also consistent with fused and a scale of 0.177307, 1.003 times"
        in verdict.explanation
    )


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_triton_kernel_in_the_interpreter(dtype: Any, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    q, k, v = hw.attention_inputs(rows=50, dim=16, dtype=dtype)
    np.savez(tmp_path / "in.npz", q=q, k=k, v=v)
    program = Path(__file__).with_name("triton_kernel.py")
    command: list[str | Path] = [
        sys.executable,
        program,
        tmp_path / "in.npz",
        tmp_path / "out.npy",
    ]
    subprocess.run(command, check=True, env={**os.environ, "TRITON_INTERPRET": "1"})
    out = np.load(tmp_path / "out.npy")
    verdict = hw.conform(out, q, k, v, causal=True)
    assert (verdict.word, verdict.contract) == ("within", "fused"), str(verdict)
    assert verdict.ratio > 0


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.filterwarnings("ignore:.*flex_attention called without torch.compile")
def test_flex_attention_is_within(dtype: Any) -> None:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = hw.attention_inputs(rows=128, dim=16, dtype=dtype, framework="torch")
    mask = create_block_mask(
        lambda text, head, row, key: row >= key, None, None, 128, 128, device="cpu"
    )
    out = flex_attention(q, k, v, block_mask=mask)
    verdict = hw.conform(out, q, k, v, causal=True)
    assert (verdict.word, verdict.contract) == ("within", "fused"), str(verdict)


@pytest.mark.parametrize("name", DESCRIBED)
def test_tensors_that_stay_in_pytorch_give_the_same_verdict(name: str) -> None:
    """As on a GPU: the reference, the bound and the hypotheses in PyTorch."""
    q, k, v = hw.attention_inputs(
        batch=2, heads=4, key_heads=2, rows=24, keys=40, dim=8, dtype="float32"
    )
    out = _by_definition(q, k, v, DESCRIBED[name])
    out[1, 2, 20, 3] += 1e-3
    problem = read_problem(q, k, v, AttentionOptions(**DESCRIBED[name]))
    tensors: dict[str, Any] = {
        field: torch.from_numpy(getattr(problem, field)) for field in ("q", "k", "v")
    }
    in_torch = replace(problem, **tensors)
    rows = np.arange(24)
    by_numpy = judge(problem, out, (FUSED,), rows)
    by_torch = judge(in_torch, torch.from_numpy(out), (FUSED,), rows)
    assert by_numpy.word == by_torch.word == "outside"
    assert np.allclose(by_torch.ratios, by_numpy.ratios, rtol=1e-4, atol=1e-6)
    assert [each.name for each in by_numpy.hypotheses] == [
        each.name for each in by_torch.hypotheses
    ]
