"""Models are read layer by layer from files, or from memory, and refused by name where nothing follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

import headwright as hw
from headwright.value_ranges.arithmetic import arithmetic_of
from headwright.value_ranges.bounds import bound_layer
from headwright.value_ranges.description import describe
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.read_layers import read_layers
from tests.value_ranges.small_models import ALL_CONFIGS, small_model


def largest(ranges: hw.Ranges) -> list[float]:
    sizes = []
    for layer in ranges.layers:
        for head in (*layer.queries, *layer.keys, *layer.values):
            sizes.extend([*head.after.channels.tolist(), head.after.length])
        sizes.extend(score.score for score in layer.scores)
    return sizes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return saved(small_model("qwen2"), tmp_path)


def saved(model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "name", ["llama", "gemma2", "gpt2", "albert", "phi", "gpt_neox"]
)
def test_files_and_memory_have_the_same_ranges(
    name: str, dtype: str, tmp_path: Path
) -> None:
    model = small_model(name, dtype=dtype)
    from_file = hw.ranges(saved(model, tmp_path))
    in_memory = hw.ranges(model)
    assert largest(from_file) == largest(in_memory)
    assert from_file.digest == in_memory.digest
    assert from_file.number_type == dtype


@pytest.mark.parametrize("name", ALL_CONFIGS)
def test_a_saved_model_of_every_family_is_read_or_lacks_a_key_by_name(
    name: str, tmp_path: Path
) -> None:
    """transformers may leave out what is the default of a family: then it is asked for, and never guessed."""
    model = small_model(name)
    try:
        from_file = hw.ranges(saved(model, tmp_path))
    except hw.InputError as error:
        assert "the configuration has no" in str(error)
    else:
        assert largest(from_file) == largest(hw.ranges(model))


def test_shards_are_read(tmp_path: Path) -> None:
    model = small_model("llama")
    model.save_pretrained(tmp_path, max_shard_size="8KB")
    assert (tmp_path / "model.safetensors.index.json").is_file()
    assert largest(hw.ranges(tmp_path)) == largest(hw.ranges(model))


def test_a_model_computed_in_another_type_has_its_weights_rounded(folder: Path) -> None:
    in_bfloat16 = hw.ranges(folder, dtype="bfloat16")
    model = small_model("qwen2").to(torch.bfloat16)
    assert largest(in_bfloat16) == largest(hw.ranges(model))


def test_a_model_that_changes_has_other_ranges() -> None:
    model = small_model("llama")
    before = hw.ranges(model)
    model.layers[1].self_attn.v_proj.weight.data *= 4
    after = hw.ranges(model)
    assert after.largest_value > before.largest_value
    assert after.digest != before.digest


def changed(folder: Path, name: str, change: Any) -> Path:
    tensors = load_file(folder / "model.safetensors")
    tensors[name] = change(tensors[name])
    save_file(tensors, folder / "model.safetensors")
    return folder


KEYS = "layers.1.self_attn.k_proj.weight"


def test_weights_that_are_not_finite_are_named(folder: Path) -> None:
    def spoil(weight: torch.Tensor) -> torch.Tensor:
        weight[0, 0] = torch.nan
        return weight

    with pytest.raises(hw.InputError, match=f"{KEYS} holds 1 numbers that are not fin"):
        hw.ranges(changed(folder, KEYS, spoil))


def test_weights_too_large_for_the_type_are_named(folder: Path) -> None:
    changed(folder, KEYS, lambda weight: weight * 1e6)
    with pytest.raises(hw.InputError, match="not finite in float16"):
        hw.ranges(folder, dtype="float16")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_type": "deepseek_v3"}, "no kv_lora_rank, which the family"),
        ({"model_type": "deepseek_v32"}, "is not covered: an indexer keeps further"),
        ({"model_type": "bart"}, "is not covered: its decoder has a second attention"),
        ({"model_type": "gemma3", "text_config": {}}, "ask for the text model inside"),
        ({"model_type": "nobody"}, "is not covered: its attention is not known here"),
        ({"model_type": "mamba"}, "the family mamba is not covered"),
        ({"num_attention_heads": 3}, "3 heads and 2 key heads: expected a divisor"),
        ({"num_hidden_layers": 0}, "num_hidden_layers 0: expected 1 to"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers two: expected 1 to"),
        ({"num_hidden_layers": 3}, "there is no tensor layers.2.input_layernorm"),
        ({"hidden_size": 48}, "has the shape .* and the configuration asks for"),
        ({"rms_norm_eps": 0.0}, "rms_norm_eps is 0.0: expected a number above 0"),
        ({"rope_parameters": {"rope_type": "spiral"}}, "the type spiral"),
        ({"quantization_config": {"bits": 4}}, "its weights are quantised"),
        ({"model_type": "gemma2"}, "no query_pre_attn_scalar, which the family"),
    ],
)
def test_what_is_not_covered_is_refused_by_name(
    folder: Path, change: dict[str, Any], sentence: str
) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {"head_dim": 6} if "hidden_size" not in change else {}
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(hw.InputError, match=sentence):
        hw.ranges(folder)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        # transformers' Llama, Qwen and Mistral rotate all channels, whatever it says.
        ("qwen3", {"partial_rotary_factor": 0.5}),
        ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}}),
        ("llama", {"attention_multiplier": 0.001}),
        ("mistral", {"query_pre_attn_scalar": 1e6}),
        ("gemma", {"query_pre_attn_scalar": 1e6}),
        ("cohere", {"scale_attn_by_inverse_layer_idx": True}),
        ("bert", {"is_decoder": True, "add_cross_attention": True}),
    ],
)
def test_what_a_family_does_not_read_is_refused(
    name: str, change: dict[str, Any]
) -> None:
    config = small_model(name).config.to_dict()
    assert describe(config).family_name
    with pytest.raises(hw.InputError, match=f"{min(change)[:10]}|partial_rotary_fac"):
        describe(config | change)


def test_norms_that_the_configuration_does_not_name_are_not_applied() -> None:
    """transformers does not load them either."""
    model = small_model("phi-norms")
    model.config.qk_layernorm = False
    head = hw.ranges(model).layers[0].keys[0]
    del model.layers[0].self_attn.k_layernorm
    del model.layers[0].self_attn.q_layernorm
    without = hw.ranges(model).layers[0].keys[0]
    assert head.after.largest == without.after.largest


def test_a_parameter_that_its_family_has_not_is_refused(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["layers.0.self_attn.k_proj.lora_A.weight"] = torch.ones(2, 24)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(hw.InputError, match=r"lora_A\.weight, which its family"):
        hw.ranges(folder)


def test_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(hw.InputError, match="no configuration of transformers"):
        hw.ranges(torch.nn.Linear(2, 2))
    with pytest.raises(hw.InputError, match="there is no model"):
        hw.ranges(tmp_path / "nothing here")
    with pytest.raises(hw.InputError, match="there is no norm before its attention"):
        hw.ranges("builtin:induction16")
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(hw.InputError, match="is not a safetensors file"):
        hw.ranges(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(hw.InputError, match="is no configuration"):
        hw.ranges(tmp_path)


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
        {
            "rope_type": "yarn",
            "factor": 40.0,
            "original_max_position_embeddings": 16,
            "mscale": 1.0,
            "mscale_all_dim": 0.7,
        },
        {
            "rope_type": "longrope",
            "factor": 4.0,
            "original_max_position_embeddings": 16,
            "short_factor": [1.0] * 5,
            "long_factor": [2.0] * 5,
        },
        {"rope_type": "linear", "factor": 4.0},
        {"rope_type": "dynamic", "factor": 4.0},
    ],
)
def test_rotary_scaling_is_that_of_transformers(rope: dict[str, Any]) -> None:
    model = small_model("llama")
    config = model.config
    config.rope_parameters = {"rope_theta": 10000.0, **rope}
    _, scaling = ROPE_INIT_FUNCTIONS[rope["rope_type"]](config, torch.device("cpu"))
    rotary = describe(config.to_dict()).rotary
    assert rotary is not None
    assert np.isclose(rotary.scaling, scaling, rtol=1e-12)


def test_extreme_weights_have_bounds() -> None:
    """Zero rows, gains of 1e-20 and 1e15, a bias of 1e6."""
    model = small_model("qwen2")
    layer = model.layers[0]
    layer.self_attn.k_proj.weight.data[:6] = 0
    layer.self_attn.k_proj.bias.data[:3] = 0
    layer.self_attn.k_proj.bias.data[3:6] = 1e6
    layer.self_attn.v_proj.weight.data[0] = 0
    layer.self_attn.v_proj.bias.data[0] = 0
    layer.input_layernorm.weight.data[:12] = 1e-20
    layer.input_layernorm.weight.data[12:] = 1e15
    head = hw.ranges(model).layers[0].keys[0]
    assert head.before.exact_channels[0] == 0
    assert 1e6 <= head.before.channels[3] <= 1e6 * (1 + 1e-5)
    assert head.centre_in_spreads > 1e6
    assert 1.0e6 * 3**0.5 <= head.before.length < 1.0001e6 * 3**0.5
    assert all(np.isfinite(largest(hw.ranges(model))))


def test_what_may_overflow_is_not_bounded() -> None:
    model = small_model("llama", dtype="float16")
    model.layers[0].self_attn.v_proj.weight.data *= 10000
    ranges = hw.ranges(model)
    assert ranges.layers[0].largest_value == float("inf")
    assert ranges.layers[1].largest_value < 1000
    assert ranges.to_json()["largest_value"] is None
    assert "values not bounded" in str(ranges)
    assert "--scales" not in str(ranges)  # there are none


def test_a_model_that_overflows_on_a_text_is_no_contradiction() -> None:
    """A norm that reads infinity is outside of the theorem."""
    model = small_model("llama", dtype="float16")
    model.embed_tokens.weight.data[5] = torch.inf
    with pytest.raises(hw.InputError, match="a number that is not finite"):
        hw.ranges(model, text=[1, 5])
    with pytest.raises(hw.InputError, match="tokens are whole numbers"):
        hw.ranges(model, text=[1, 2.5])  # type: ignore[list-item]


def test_memory_is_bounded_by_a_layer() -> None:
    """Layers are read one at a time."""
    opened = open_model(small_model("llama"))
    layers = read_layers(opened.description, opened.reader(None))
    first = next(layers)
    assert first.index == 0
    assert bound_layer(first, arithmetic_of("float32")).index == 0
    assert next(layers).index == 1
