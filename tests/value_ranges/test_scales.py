"""Scales of a cache: no number is clipped with them, and runtimes find them where they look."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import headwright as hw
from headwright.models.attention_calls import AttentionCall
from headwright.models.transformers_calls import transformers_calls
from headwright.value_ranges import cache_scales, verdicts, write_scales
from headwright.value_ranges.cache_scales import scale_for
from headwright.value_ranges.verdicts import largest_ratio
from tests.effort import tried
from tests.value_ranges.small_models import small_model, vectors_of_text

LARGEST = 448.0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["llama", "qwen2", "gemma3"])
def test_a_cache_with_these_scales_clips_nothing(name: str, dtype: str) -> None:
    model = small_model(name, dtype=dtype)
    scales = cache_scales(hw.ranges(model))
    rng = np.random.default_rng(3)
    used = 0.0
    for _ in range(tried(16)):
        tokens = rng.integers(1, 40, 48).tolist()
        for layer, scale in enumerate(scales):
            vectors = vectors_of_text(model, tokens, layer)
            for numbers, divisor in (
                (vectors.keys, scale.key),
                (vectors.values, scale.value),
            ):
                # As a runtime may do it: divide, or multiply by a rounded inverse; then round.
                kept = torch.tensor(numbers, dtype=torch.float32)
                inverse = torch.tensor(1 / divisor, dtype=torch.float32)
                for quotient in (kept / divisor, kept * inverse):
                    assert quotient.abs().max() <= LARGEST
                    in_cache = quotient.to(torch.float8_e4m3fn).float()
                    assert in_cache.isfinite().all()
                    used = max(used, float(in_cache.abs().max()))
    # The scales are not so wide that they use a small part of the range.
    assert used >= LARGEST / 8


def test_a_million_tokens_in_an_e4m3_cache_saturate_nothing() -> None:
    """The keys and values of 2,000 texts of 512 tokens at random, kept as a runtime keeps them."""
    model = small_model("qwen2", dtype="bfloat16")
    scales = cache_scales(hw.ranges(model))
    generator = torch.Generator().manual_seed(6)
    kept = 0
    largest = 0.0
    calls: list[AttentionCall] = []
    while kept < tried(1_000_000, part=20):
        tokens = torch.randint(1, 40, (50, 512), generator=generator)
        calls.clear()
        with torch.no_grad(), transformers_calls(model, calls.append):
            model(input_ids=tokens)
        kept += tokens.numel()
        for call, scale in zip(calls, scales, strict=True):
            for numbers, divisor in (
                (call.keys, scale.key),
                (call.values, scale.value),
            ):
                quotient = numbers.float() / divisor
                # e4m3fn makes NaN of what is too large, as a runtime without saturation would.
                in_cache = quotient.to(torch.float8_e4m3fn).float()
                assert in_cache.isfinite().all()
                assert quotient.abs().max() <= LARGEST
                largest = max(largest, float(in_cache.abs().max()))
    assert largest > LARGEST / 4  # the scales are not so wide that nothing could


def test_a_cache_of_latent_vectors_is_covered_by_the_scale_of_keys() -> None:
    model = small_model("deepseek_v3", dtype="bfloat16")
    attention = model.layers[1].self_attn
    attention.kv_a_layernorm.weight.data *= 500
    attention.kv_b_proj.weight.data *= 0.001
    ranges = hw.ranges(model)
    layer = ranges.layers[1]
    assert layer.largest_latent > max(layer.largest_key, layer.largest_value, LARGEST)
    assert not ranges.never_clips(LARGEST)
    assert verdicts(ranges)[0].answer == "undecided"
    assert "latent vectors at most" in str(ranges)
    scales = cache_scales(ranges)[1]
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        tokens = torch.randint(1, 40, (8, 40), generator=generator)
        held = model(input_ids=tokens).past_key_values.layers[1]
    largest = 0.0
    for numbers in (held.keys, held.values):
        quotient = numbers.float() / scales.key
        assert quotient.abs().max() <= LARGEST
        largest = max(largest, float(quotient.abs().max()))
    assert largest > LARGEST / 4


def test_a_number_at_the_bound_is_not_clipped() -> None:
    rng = np.random.default_rng(4)
    for bound in [*np.exp(rng.uniform(-20, 20, tried(400))).tolist(), LARGEST, 1.0]:
        scale = scale_for(bound)
        assert scale is not None
        assert np.float32(scale) == scale
        inverse = np.float32(1) / np.float32(scale)
        assert np.float32(bound) * inverse * np.float32(1 + 2.0**-23) <= LARGEST
        # At most a millionth wider than it must be.
        assert bound / scale >= LARGEST * (1 - 2e-6)


def test_vllm_finds_the_scales(tmp_path: Path) -> None:
    """Its loader takes `...self_attn.k_scale` of one number to `...self_attn.attn.k_scale`."""
    ranges = hw.ranges(small_model("llama"))
    path = tmp_path / "scales.safetensors"
    files = write_scales(ranges, path, "vllm")
    tensors = load_file(path)
    loaded = {}
    for name, tensor in tensors.items():
        assert tensor.dtype == torch.float32
        assert tensor.numel() == 1
        loaded[re.sub(r"\.([kv])_scale$", r".attn.\1_scale", name)] = float(tensor)
    for number, scales in enumerate(cache_scales(ranges)):
        stem = f"layers.{number}.self_attn.attn."
        assert loaded[f"{stem}k_scale"] == scales.key
        assert loaded[f"{stem}v_scale"] == scales.value
    scheme = json.loads(files[1].read_text())["kv_cache_scheme"]
    assert (scheme["num_bits"], scheme["type"], scheme["dynamic"]) == (
        8,
        "float",
        False,
    )


def test_modelopt_names(tmp_path: Path) -> None:
    ranges = hw.ranges(small_model("llama"))
    path = tmp_path / "scales.safetensors"
    files = write_scales(ranges, path, "modelopt")
    assert files[1].name == "hf_quant_config.json"
    config = json.loads(files[1].read_text())
    assert config["producer"]["name"] == "modelopt"
    assert config["quantization"]["kv_cache_quant_algo"] == "FP8"
    names = set(load_file(path))
    assert "layers.0.self_attn.k_proj.k_scale" in names
    assert "layers.1.self_attn.v_proj.v_scale" in names


def test_wrong_names_are_refused(tmp_path: Path) -> None:
    ranges = hw.ranges(small_model("llama"))
    with pytest.raises(
        hw.InputError, match="format onnx: expected one of vllm, modelo"
    ):
        write_scales(ranges, tmp_path / "scales.safetensors", "onnx")
    with pytest.raises(hw.InputError, match=r"ends with .safetensors"):
        write_scales(ranges, tmp_path / "scales.json", "vllm")


def test_no_scale_for_what_is_not_bounded() -> None:
    model = small_model("llama", dtype="float16")
    model.layers[1].self_attn.v_proj.weight.data *= 10000
    with pytest.raises(hw.InputError, match="values of layer 1 are not bounded"):
        cache_scales(hw.ranges(model))


def test_e4m3_at_scale_one() -> None:
    """448 is the largest number of e4m3; a bound above it is undecided until a text clips."""
    assert torch.finfo(torch.float8_e4m3fn).max == LARGEST
    model = small_model("llama")
    assert verdicts(hw.ranges(model))[0].answer == "proved"
    model.layers[0].self_attn.v_proj.weight.data *= 100
    assert verdicts(hw.ranges(model))[0].answer == "undecided"
    with_text = hw.ranges(model, text=list(range(1, 10)))
    assert verdicts(with_text)[0].answer == "refuted"


def test_what_a_bound_costs_as_a_scale_is_said_with_a_text() -> None:
    model = small_model("llama")
    ranges = hw.ranges(model, text=list(range(1, 20)))
    assert ranges.observed is not None
    ratio = largest_ratio(ranges)
    assert ratio is not None
    layers = zip(ranges.layers, ranges.observed.layers, strict=True)
    of_keys = [
        layer.largest_key / max(head.largest for head in shown.keys)
        for layer, shown in layers
    ]
    assert ratio >= max(of_keys) > 1
    assert f"up to {ratio:.3g} times what this text shows" in str(ranges)
    assert largest_ratio(hw.ranges(model)) is None
    assert "times what" not in str(hw.ranges(model))


def test_a_bias_far_above_the_spread_is_named() -> None:
    model = small_model("qwen2")
    model.layers[1].self_attn.k_proj.bias.data += 300
    assert "warning: the bias of layer 1, key head" in str(hw.ranges(model))
    assert "warning" not in str(hw.ranges(small_model("llama")))
