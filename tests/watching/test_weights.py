"""The weights of chosen rows are those of eager attention in float64, whatever the mask, the cache and the padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import headwright as hw
from headwright.errors import InputError
from tests.watching.eager import CAUSAL, FULL, batch, stored, tiny

FAMILIES = ("llama", "gpt2", "mistral", "gemma2", "gpt-oss", "bert")


def _patterns(model: Any, inputs: dict[str, torch.Tensor]) -> list[np.ndarray]:
    more = {} if model.config.model_type in FULL else {"use_cache": False}
    with stored(model) as patterns:
        model(**inputs, **more)
    return patterns


def _rows_of(pattern: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The rows of a pattern at positions (batch, rows)."""
    return np.take_along_axis(pattern, positions[:, None, :, None], axis=2)


@pytest.mark.parametrize("padding", [None, "left", "right"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_rows_are_those_of_the_stored_patterns(
    family: str, padding: str | None
) -> None:
    model, inputs = tiny(family), batch(padding)
    patterns = _patterns(model, inputs)
    with torch.no_grad(), hw.watch(model, weights=hw.rows(last=3)) as seen:
        model(**inputs)
    counted = inputs["attention_mask"].bool().numpy()
    last = np.stack([np.flatnonzero(text)[-3:] for text in counted])
    for index, pattern in enumerate(patterns):
        layer = seen.layer(index)
        np.testing.assert_array_equal(layer.weight_rows, last)
        np.testing.assert_allclose(layer.weights, _rows_of(pattern, last), atol=1e-5)


@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_in_float32_they_agree_to_1e_5_and_logits_are_the_same(family: str) -> None:
    model, inputs = tiny(family), batch("left")
    patterns = _patterns(model, inputs)
    expected = model.float()(**inputs).logits
    with hw.watch(model, weights=hw.rows([5, 9], heads=[0, 3])) as seen:
        assert torch.equal(model(**inputs).logits, expected)
    for index, pattern in enumerate(patterns):
        found = seen.layer(index).weights
        assert found.shape == (2, 2, 2, 12) and found.dtype == np.float32
        truth = pattern[:, [0, 3]][:, :, [5, 9]]
        np.testing.assert_allclose(found, truth, atol=1e-5)


def test_rows_of_padding_are_nan() -> None:
    model, inputs = tiny("llama"), batch("left")
    with torch.no_grad(), hw.watch(model, weights=hw.rows([2, 7])) as seen:
        model(**inputs)
    weights = seen.layer(0).weights
    assert np.isnan(weights[0, :, 0]).all()
    assert np.isfinite(weights[0, :, 1]).all() and np.isfinite(weights[1]).all()


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("family", ["llama", "gpt2", "mistral"])
def test_generated_rows_are_those_that_new_tokens_come_from(
    family: str, cache: str
) -> None:
    model, inputs = tiny(family), batch("left")
    chosen = hw.rows(generated=True, layers=[1])
    with torch.no_grad(), hw.watch(model, ["entropy"], weights=chosen) as seen:
        tokens = model.generate(
            **inputs,
            max_new_tokens=5,
            min_new_tokens=5,
            do_sample=False,
            pad_token_id=0,
            cache_implementation=cache,
            disable_compile=True,
        )
    mask = torch.nn.functional.pad(inputs["attention_mask"], (0, 4), value=1)
    text = {
        "input_ids": tokens[:, :-1],
        "attention_mask": mask,
        "position_ids": (mask.cumsum(1) - 1).clamp_min(0),
    }
    pattern = _patterns(model, text)[1]
    layer = seen.layer(1)
    positions = np.tile(np.arange(11, 16), (2, 1))
    np.testing.assert_array_equal(layer.weight_rows, positions)
    np.testing.assert_allclose(layer.weights, _rows_of(pattern, positions), atol=1e-5)
    assert layer.first_tokens.tolist() == [4, 0]
    with pytest.raises(AttributeError, match="weights was not kept: entropy"):
        _ = seen.layer(0).weights


def test_the_last_row_of_a_run_is_that_of_the_last_step() -> None:
    model, inputs = tiny("llama"), batch(None)
    with torch.no_grad(), hw.watch(model, weights=hw.rows(last=2)) as seen:
        model.generate(**inputs, max_new_tokens=4, min_new_tokens=4, pad_token_id=0)
    assert seen.layer(0).weight_rows.tolist() == [[13, 14], [13, 14]]
    weights = seen.layer(0).weights
    assert weights.shape == (2, 4, 2, 15)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-12)
    assert (weights[:, :, 0, 14] == 0).all()


def test_a_text_that_is_padded_on_the_right_keeps_its_own_last_rows() -> None:
    """Rows of a second call that are padding do not push rows of the first out."""
    model, cache = tiny("llama"), hf.DynamicCache()
    inputs = batch(None)
    mask = torch.ones(2, 14, dtype=torch.long)
    mask[0, 12:] = 0
    with torch.no_grad(), hw.watch(model, weights=hw.rows(last=3)) as seen:
        model(**inputs, past_key_values=cache)
        model(
            input_ids=torch.tensor([[3, 3], [7, 8]]),
            attention_mask=mask,
            past_key_values=cache,
        )
    assert seen.layer(0).weight_rows.tolist() == [[9, 10, 11], [11, 12, 13]]
    assert np.isfinite(seen.layer(0).weights).all()


def test_cross_attention_and_two_parts() -> None:
    model = tiny("bart-encoder", loader=hf.AutoModelForSeq2SeqLM)
    inputs, target = batch("right"), torch.tensor([[2, 3, 4], [2, 4, 5]])
    with stored(model) as patterns:
        model(**inputs, decoder_input_ids=target, use_cache=False)
    with torch.no_grad(), hw.watch(model, weights=hw.rows([1])) as seen:
        model(**inputs, decoder_input_ids=target, use_cache=False)
    cross = [pattern for pattern in patterns if pattern.shape[2:] == (3, 12)]
    assert len(cross) == len(seen.cross.layers)
    for index, pattern in enumerate(cross):
        found = seen.cross.layer(index).weights
        np.testing.assert_allclose(found, pattern[:, :, [1]], atol=1e-5)
    to = seen.attention_to({"end": (6, 8)}, part="cross")
    assert to.weights.shape == (len(cross), 2, 4, 1, 3)


def test_any_module_by_the_name_of_its_layer() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2).double().eval()
    x = torch.randn(2, 6, 16, dtype=torch.float64)
    chosen = hw.rows(last=1, layers=["layers.0.self_attn"])
    with torch.no_grad(), hw.watch(encoder, weights=chosen) as seen:
        encoder(x)
        attention = encoder.layers[0].self_attn
    _, pattern = attention(x, x, x, average_attn_weights=False)
    found = seen.layer("layers.0.self_attn").weights
    np.testing.assert_allclose(found, pattern[:, :, -1:].detach().numpy(), atol=1e-12)
    assert "weights" not in seen.layer(1).names


def test_a_row_with_nan_scores_is_nan() -> None:
    query, key = torch.randn(2, 1, 2, 5, 4).unbind(0)
    key[0, 0, 4] = torch.nan

    class Own(torch.nn.Module):
        def forward(self, q: Any, k: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, k, is_causal=True
            )

    model = Own()
    with hw.watch(model, weights=hw.rows([3, 4])) as seen:
        model(query, key)
    weights = seen.layer(0).weights
    assert np.isnan(weights[0, 0, 1]).all() and np.isfinite(weights[0, 0, 0]).all()
    assert np.isfinite(weights[0, 1]).all()


def test_a_long_text_in_blocks() -> None:
    """More scores than a block has; some rows of one head at a time."""
    torch.manual_seed(0)
    query = torch.randn(1, 4, 3000, 8)
    key = torch.randn(1, 2, 3000, 8)

    class Own(torch.nn.Module):
        def forward(self, q: Any, k: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, k, is_causal=True, enable_gqa=True
            )

    model = Own()
    with hw.watch(model, weights=hw.rows(last=200)) as seen:
        model(query, key)
    scores = query[:, :, -200:].double() @ key.double().repeat_interleave(2, 1).mT
    hidden = torch.arange(3000) > torch.arange(2800, 3000)[:, None]
    truth = (scores / 8**0.5).masked_fill(hidden, -torch.inf).softmax(-1)
    np.testing.assert_allclose(seen.layer(0).weights, truth.numpy(), atol=1e-5)


@pytest.mark.parametrize("padding", [None, "left"])
def test_spans_add_up_to_the_weights(padding: str | None) -> None:
    model, inputs = tiny("llama"), batch(padding)
    with torch.no_grad(), hw.watch(model, weights=hw.rows(last=2)) as seen:
        model(**inputs)
    to = seen.attention_to({"one": (4, 7), "two": [8, 10]})
    assert to.names == ("first token", "one", "two", "elsewhere")
    assert to.layers == (0, 1) and to.rows.tolist() == [[10, 11], [10, 11]]
    for layer in range(2):
        weights = seen.layer(layer).weights
        for text, first in enumerate([4 if padding else 0, 0]):
            at = layer, text
            np.testing.assert_allclose(to["first token"][at], weights[text, ..., first])
            one = weights[text, ..., 4:7].sum(-1)
            if first == 4:
                one = weights[text, ..., 5:7].sum(-1)
            np.testing.assert_allclose(to["one"][at], one)
            np.testing.assert_allclose(
                to["two"][at], weights[text, ..., [8, 10]].sum(0)
            )
    np.testing.assert_allclose(to.weights.sum(-1), 1)
    assert sum(to.shares().values()) == pytest.approx(1)
    assert to.mean()["one"] == pytest.approx(to["one"].mean())
    each = seen.attention_to([{"one": (4, 7)}, {"one": (1, 2)}], layers=[1])
    np.testing.assert_allclose(each["one"][0, 0], to["one"][1, 0])
    assert each.weights.shape[0] == 1


def test_what_is_refused_is_refused_in_a_sentence() -> None:
    model, inputs = tiny("llama"), batch(None)
    requests: list[tuple[dict[str, Any], str]] = [
        ({}, "one of them alone"),
        ({"last": 1, "generated": True}, "one of them alone"),
        ({"positions": [-1]}, "expected positions from 0 on"),
        ({"last": -1}, "expected a number above 0"),
        ({"positions": [2.5]}, "expected whole numbers"),
        ({"last": 1, "heads": ["3"]}, "expected whole numbers"),
        ({"last": 1, "heads": []}, "heads is empty"),
        ({"last": 1, "heads": [-2]}, "expected numbers from 0"),
    ]
    for request, words in requests:
        with pytest.raises(InputError, match=words):
            hw.rows(**request)
    with pytest.raises(InputError, match="keep = means keeps no rows"):
        hw.watch(model, weights=hw.rows(last=1), keep="means")
    with (
        pytest.raises(InputError, match="expected numbers from 0 to 3"),
        hw.watch(model, weights=hw.rows(last=1, heads=[4])),
    ):
        model(**inputs)
    with (
        pytest.raises(InputError, match=r"need .* GiB, and 9\.31e-10 GiB are free"),
        hw.watch(model, weights=hw.rows(last=1), memory=1),
    ):
        model(**inputs)
    with torch.no_grad(), hw.watch(model, weights=hw.rows(last=1)) as seen:
        model(**inputs)
    refused: list[tuple[Any, str]] = [
        ({"a": (0, 3), "b": (2, 5)}, "position 2 is in two spans"),
        ({"a": (9, 13)}, "expected positions from 0 to 11"),
        ({"a": (3, 3)}, "at least one"),
        ({"elsewhere": (3, 4)}, "expected other names"),
        ([{"a": (3, 4)}], "spans of 1 texts"),
        ([{"a": (3, 4)}, {"b": (3, 4)}], "the names of the first text"),
    ]
    for spans, words in refused:
        with pytest.raises(InputError, match=words):
            seen.attention_to(spans)
    with torch.no_grad(), hw.watch(model) as seen:
        model(**inputs)
    with pytest.raises(InputError, match="no weights were kept"):
        seen.attention_to({"a": (3, 4)})


def test_assisted_decoding_keeps_rows_by_position_and_refuses_the_last() -> None:
    model, inputs = tiny("llama"), batch(None, texts=1)
    assistant = tiny("qwen3")
    how: dict[str, Any] = {
        "max_new_tokens": 8,
        "do_sample": False,
        "pad_token_id": 0,
        "eos_token_id": 49,
    }
    positions = [10, 12, 13]
    with torch.no_grad(), hw.watch(model, weights=hw.rows(positions)) as seen:
        tokens = model.generate(**inputs, **how, assistant_model=assistant)
    pattern = _patterns(model, {"input_ids": tokens})[1]
    rows = np.array([positions])
    np.testing.assert_array_equal(seen.layer(1).weight_rows, rows)
    keys = seen.layer(1).weights.shape[3]
    truth = _rows_of(pattern, rows)[..., :keys]
    np.testing.assert_allclose(seen.layer(1).weights, truth, atol=1e-5)
    with (
        pytest.raises(InputError, match="the cache was cropped"),
        torch.no_grad(),
        hw.watch(model, weights=hw.rows(generated=True)),
    ):
        model.generate(**inputs, **how, assistant_model=assistant)


def test_what_was_seen_has_a_repr_and_a_dir() -> None:
    model, inputs = tiny("llama"), batch(None)
    with torch.no_grad(), hw.watch(model, ["entropy"], weights=hw.rows([3])) as seen:
        model(**inputs)
    layer = seen.layer(0)
    assert repr(layer) == (
        "LayerSeen(entropy 2 x 4 x 12, weights 2 x 4 x 1 x 12, weight_rows 2 x 1, first_tokens 2)"
    )
    assert {"entropy", "weights", "first_position"} <= set(dir(layer))
    assert repr(seen.parts["model"]) == "RecordedStack(model: 2 layers, 1 runs)"
    assert repr(seen.attention_to({"a": (3, 4)})).startswith("SpanWeights(first token ")


assert set(FAMILIES) <= {*CAUSAL, *FULL}
