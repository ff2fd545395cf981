"""Models that are running: each attention call is judged, and computes as before."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import headwright as hw

TOKENS = torch.arange(60).reshape(2, 30) % 50
DOCUMENTS = [0] * 12 + [1] * 18


def _llama(attention: str, dtype: torch.dtype = torch.float32, **changes: Any) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    made: Any = LlamaConfig
    config = made(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=50,
        attn_implementation=attention,
        **changes,
    )
    model: Any = LlamaForCausalLM
    return model(config).eval().to(dtype)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_call_is_judged_and_the_output_is_the_same(
    attention: str, dtype: torch.dtype
) -> None:
    model = _llama(attention, dtype)
    with torch.no_grad():
        before = model(TOKENS).logits
        with hw.conforming(model) as verdicts:
            during = model(TOKENS).logits
        after = model(TOKENS).logits
    assert torch.equal(before, during) and torch.equal(before, after)
    assert verdicts.word == "within", str(verdicts)
    assert [call.module for call in verdicts] == [
        "model.layers.0.self_attn",
        "model.layers.1.self_attn",
    ]
    assert model.config._attn_implementation == attention


def test_padding_reaches_the_judge() -> None:
    model = _llama("sdpa")
    real = torch.ones_like(TOKENS)
    real[1, :10] = 0
    with torch.no_grad(), hw.conforming(model) as verdicts:
        model(TOKENS, attention_mask=real)
    assert verdicts.word == "within", str(verdicts)


def test_a_kernel_that_is_patched_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _llama("eager")
    modelling = __import__("sys").modules[type(model).__module__]
    eager = modelling.eager_attention_forward

    def wrong(module: Any, query: Any, key: Any, *rest: Any, **given: Any) -> Any:
        return eager(
            module, query, key.to(torch.float8_e4m3fn).to(key.dtype), *rest, **given
        )

    monkeypatch.setattr(modelling, "eager_attention_forward", wrong)
    with torch.no_grad(), hw.conforming(model, contract="fused") as verdicts:
        model(TOKENS)
    assert verdicts.word == "outside"
    assert "keys rounded to float8_e4m3" in str(verdicts)


def test_a_bias_by_position_is_part_of_what_is_asked_for() -> None:
    """T5 gives its bias to the kernel beside the mask."""
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(0)
    made: Any = T5Config
    config = made(
        d_model=32,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=4,
        vocab_size=50,
        attn_implementation="eager",
    )
    encoder: Any = T5EncoderModel
    model = encoder(config).eval()
    with torch.no_grad(), hw.conforming(model) as verdicts:
        model(input_ids=TOKENS)
    assert len(verdicts) == 2
    assert verdicts.word == "within", str(verdicts)


def test_dropout_is_not_judged() -> None:
    class Module(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.scaled_dot_product_attention(
                x, x, x, dropout_p=0.5
            )

    model = Module()
    with hw.conforming(model) as verdicts:
        model(torch.randn(1, 2, 5, 4))
    assert verdicts.word == "undecided" and len(verdicts) == 1
    assert "dropout is random" in str(verdicts[0])


def test_expectations_that_are_met() -> None:
    model = _llama("sdpa")
    expectation = hw.expect(model, {"input_ids": TOKENS}, causal=True)
    assert expectation.met, str(expectation)
    assert "tested" in str(expectation)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_expectations_that_the_mask_does_not_meet(attention: str) -> None:
    model = _llama(attention)
    window = hw.expect(model, {"input_ids": TOKENS}, causal=True, window=8)
    assert window.mask_difference == ("model.layers.0.self_attn", 0, 8, 0)
    packed = hw.expect(model, {"input_ids": TOKENS}, causal=True, documents=DOCUMENTS)
    assert packed.mask_difference == ("model.layers.0.self_attn", 0, 12, 0)
    assert (
        str(packed) == "not met: in model.layers.0.self_attn, text 0, row 12 sees key 0"
    )


def test_a_model_that_looks_ahead_outside_its_attention() -> None:
    model = _llama("sdpa")

    class Leaking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.inner(input_ids).logits
            return logits + logits.mean(
                dim=1, keepdim=True
            )  # the mean of all positions

    expectation = hw.expect(Leaking(), {"input_ids": TOKENS}, causal=True)
    assert expectation.mask_difference is None and not expectation.met
    assert expectation.changed_row == (0, 0)


class Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attend = nn.functional.scaled_dot_product_attention
        return attend(x, x, x, is_causal=True) * 2


class Layers(nn.Module):
    """Two layers, of which the second was compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Attention()
        self.second = torch.compile(Attention(), backend="aot_eager")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))


@pytest.mark.parametrize("called_before", [False, True])
@pytest.mark.parametrize("way", ["model", "method", "part", "function"])
def test_compiled_models_are_judged_and_named(way: str, called_before: bool) -> None:
    torch._dynamo.reset()
    x = torch.randn(1, 2, 16, 8)
    model: Any = Attention()
    if way == "model":
        model = torch.compile(model, backend="aot_eager")
    elif way == "method":
        model.compile(backend="aot_eager")
    elif way == "part":
        model = Layers()
    else:
        model.forward = torch.compile(model.forward, backend="aot_eager")
    if called_before:
        model(x)
    with hw.conforming(model) as verdicts:
        during = model(x)
    assert verdicts.word == "within", str(verdicts)
    if way == "part":
        assert [call.module for call in verdicts] == ["first", "second"]
        assert "run eagerly while they were judged: second" in str(verdicts)
    else:
        assert len(verdicts) == 1
    if way in ("model", "method"):
        assert "run eagerly while they were judged: the model" in str(verdicts)
    assert torch.allclose(model(x), during)


def test_a_model_without_attention_says_that_nothing_was_seen() -> None:
    model = nn.Linear(4, 4)
    with hw.conforming(model) as verdicts:
        model(torch.zeros(1, 4))
    assert verdicts.word == "undecided"
    assert "No call of scaled_dot_product_attention" in str(verdicts)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_verdict_inside_compiled_code_is_computed_as_it_is_written() -> None:
    torch._dynamo.reset()
    q, k, v = hw.attention_inputs(rows=16, dim=8, framework="torch", dtype="float32")
    traced: list[str] = []

    def watch(graph: Any, examples: Any) -> Any:
        del examples
        traced.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    @torch.compile(backend=watch)
    def layer(q: Any, k: Any, v: Any) -> Any:
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return hw.conform(out, q, k, v, causal=True)

    verdict = layer(q, k, v)
    out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    plain = hw.conform(out, q, k, v, causal=True)
    assert (verdict.word, verdict.ratio) == (plain.word, plain.ratio)
    assert not [name for name in traced if "exp" in name or "numpy" in name], traced


class MultiHead(nn.Module):
    """Attention of torch.nn, after a call of the kernel itself."""

    def __init__(self, *, weights: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.weights = weights

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = x[:, None]
        x = nn.functional.scaled_dot_product_attention(heads, heads, heads)[:, 0]
        out: torch.Tensor = self.attention(x, x, x, need_weights=self.weights)[0]
        return out


def test_attention_of_torch_nn_is_judged_or_named() -> None:
    """torch hides the calls inside MultiheadAttention from a TorchFunctionMode."""
    x = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(0))
    model = MultiHead(weights=False).train()
    before = model(x)
    with hw.conforming(model) as verdicts:
        during = model(x)
    assert torch.equal(before, during)
    assert [call.module for call in verdicts] == ["", "attention"]
    assert str(verdicts) == "within: 2 of 2 calls judged"
    model.weights = True
    with hw.conforming(model) as verdicts:
        model(x)
    assert "within: 1 of 2 calls judged" in str(verdicts)
    assert "attention: not judged, it returns its weights" in str(verdicts)


def test_encoders_of_torch_nn_are_judged() -> None:
    layer = nn.TransformerEncoderLayer(32, 4, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), hw.conforming(encoder) as verdicts:
        encoder(x)
    assert [call.module for call in verdicts] == [
        "layers.0.self_attn",
        "layers.1.self_attn",
    ]
    assert verdicts.word == "within", str(verdicts)
