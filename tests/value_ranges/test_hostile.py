"""Models that are made to break a bound, or a reader: each is bounded, or refused by name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

import headwright as hw
from headwright.errors import InputError
from headwright.value_ranges.description import describe
from headwright.value_ranges.families import FAMILIES, NOT_BOUNDED
from tests.value_ranges.small_models import ALL_CONFIGS, small_model, vectors_of_text

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
NAN = float("nan")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_model("llama").save_pretrained(tmp_path)
    return tmp_path


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    small_model("llama").save_pretrained(tmp_path, max_shard_size="8KB")
    return tmp_path


def change_index(folder: Path, change: Any) -> None:
    index = json.loads((folder / INDEX).read_text())
    change(index["weight_map"])
    (folder / INDEX).write_text(json.dumps(index))


def test_an_index_that_names_a_missing_file_is_refused(shards: Path) -> None:
    change_index(shards, lambda files: files.update(more="model-9.safetensors"))
    with pytest.raises(
        InputError, match=r"model-9\.safetensors, which .* is not there"
    ):
        hw.ranges(shards)


@pytest.mark.parametrize("file", [5, None, NAN, ["a"]])
def test_an_index_that_names_no_file_is_refused(shards: Path, file: Any) -> None:
    change_index(shards, lambda files: files.update(more=file))
    with pytest.raises(InputError, match="is not the index of a checkpoint"):
        hw.ranges(shards)
    change_index(shards, lambda files: [files.update({name: file}) for name in files])
    with pytest.raises(InputError, match="is not the index of a checkpoint"):
        hw.ranges(shards)


def test_a_tensor_in_two_files_is_refused(shards: Path) -> None:
    """transformers asks the index, and another reader may not."""
    name = "layers.0.self_attn.v_proj.weight"
    index = json.loads((shards / INDEX).read_text())["weight_map"]
    last = sorted(set(index.values()))[-1]
    assert index[name] != last
    tensors = load_file(shards / last)
    save_file(tensors | {name: torch.zeros(20, 24)}, shards / last)
    with pytest.raises(InputError, match=f"two files hold a tensor {name}"):
        hw.ranges(shards)


@pytest.mark.parametrize("kept", [0, 4, 100, -40])
def test_a_file_that_ends_too_early_is_refused(folder: Path, kept: int) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[:kept])
    with pytest.raises(InputError, match="is not a safetensors file"):
        hw.ranges(folder)


@pytest.mark.parametrize("number", ["NaN", "-8", "1e400", "null"])
def test_a_header_with_no_numbers_is_refused(folder: Path, number: str) -> None:
    content = (folder / WEIGHTS).read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    name = "layers.0.self_attn.k_proj.weight"
    header[name]["data_offsets"][0] = "HERE"
    changed = json.dumps(header).replace('"HERE"', number).encode()
    start = len(changed).to_bytes(8, "little")
    (folder / WEIGHTS).write_bytes(start + changed + content[8 + size :])
    with pytest.raises(InputError, match="is not a safetensors file"):
        hw.ranges(folder)


@pytest.mark.parametrize("spoilt", [math.inf, -math.inf, NAN])
@pytest.mark.parametrize("name", ["input_layernorm", "self_attn.kv_a_layernorm"])
def test_gains_that_are_not_finite_are_named(name: str, spoilt: float) -> None:
    model = small_model("deepseek_v3")
    model.get_submodule(f"layers.1.{name}").weight.data[3] = spoilt
    with pytest.raises(InputError, match=f"{name}.weight holds 1 numbers that are not"):
        hw.ranges(model)


def test_numbers_of_8_bits_are_refused(folder: Path) -> None:
    tensors = load_file(folder / WEIGHTS)
    name = "layers.1.self_attn.k_proj.weight"
    tensors[name] = tensors[name].to(torch.float8_e4m3fn)
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(InputError, match=f"{name} holds numbers of type F8_E4M3"):
        hw.ranges(folder)


@pytest.mark.parametrize("added", ["k_proj.qweight", "k_proj.weight_scale", "k_bias"])
def test_what_a_quantiser_adds_is_refused(folder: Path, added: str) -> None:
    tensors = load_file(folder / WEIGHTS)
    tensors[f"layers.1.self_attn.{added}"] = torch.ones(20)
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(InputError, match="which its family has not"):
        hw.ranges(folder)


def test_weights_of_several_types_need_to_be_told_which_counts() -> None:
    model = small_model("llama", dtype="bfloat16")
    attention = model.layers[1].self_attn
    attention.v_proj.weight.data = attention.v_proj.weight.data.float() * (1 + 2.0**-9)
    with pytest.raises(InputError, match=r"v_proj\.weight is in float32, and other"):
        hw.ranges(model)
    assert hw.ranges(model, dtype="float32").number_type == "float32"


def test_layers_that_do_not_rotate_are_not_scaled_down() -> None:
    """With a rotation that halves keys, a layer without one keeps them as they are."""
    model = small_model("smollm3")
    rope = {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "attention_factor": 0.05,
    }
    config = type(model.config)(
        **(model.config.to_dict() | {"rope_parameters": rope, "no_rope_layers": [0, 1]})
    )
    config._attn_implementation = "eager"
    changed: Any = transformers.AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    changed.load_state_dict(model.state_dict())
    layers = hw.ranges(changed).layers
    rng = np.random.default_rng(1)
    for number, layer in enumerate(layers):
        vectors = vectors_of_text(
            changed.eval(), rng.integers(1, 40, 60).tolist(), number
        )
        for head, bound in enumerate(layer.keys):
            assert (np.abs(vectors.keys[head]) <= bound.after.channels).all()


def test_a_latent_vector_that_may_overflow_leaves_nothing_bounded() -> None:
    """The norm after it would read infinity."""
    model = small_model("deepseek_v3", dtype="float16")
    model.layers[0].self_attn.kv_a_proj_with_mqa.weight.data[:10] *= 10000
    layer = hw.ranges(model).layers[0]
    assert layer.largest_key == math.inf
    assert layer.largest_value == math.inf
    assert layer.largest_latent == math.inf
    assert math.isfinite(layer.queries[0].after.largest)
    assert hw.ranges(model).layers[1].largest_latent < 1000


def test_a_factor_may_not_hide_an_overflow() -> None:
    """What is multiplied by a small number was large before."""
    model = small_model("falcon_h1", dtype="float16")
    model.config.key_multiplier = 2.0**-30
    assert math.isfinite(hw.ranges(model).layers[0].largest_key)
    model.layers[0].self_attn.k_proj.weight.data *= 10000
    assert hw.ranges(model).layers[0].largest_key == math.inf
    model.config.attention_in_multiplier = 2.0**-30
    model.layers[1].input_layernorm.weight.data *= 30000
    assert hw.ranges(model).layers[1].largest_value == math.inf


def test_a_layer_of_an_unknown_kind_is_refused() -> None:
    config = small_model("qwen3_next").config.to_dict()
    kinds = ["linear_attention", "full_attention", "linear_attention", "hashed"]
    with pytest.raises(InputError, match="a layer of the kind hashed: not known"):
        describe(config | {"layer_types": kinds})
    with pytest.raises(InputError, match="does not have the 4 layers of the model"):
        describe(config | {"layer_types": kinds[:3]})
    with pytest.raises(InputError, match="none of its layers has attention"):
        describe(config | {"layer_types": ["linear_attention"] * 4})
    raw = {key: value for key, value in config.items() if key != "layer_types"}
    with pytest.raises(InputError, match="does not say which layers have attention"):
        describe(raw)
    spaced = describe(raw | {"full_attention_interval": 2})
    assert spaced.attention_layers == (1, 3)


ODD_VALUES: list[Any] = [
    *(NAN, math.inf, -1, 0, 1e30, 10**30, True, "abc", "", [], [1], {}, {"a": {}}),
    {"rope_type": "yarn"},
    {"rope_type": "yarn", "factor": NAN},
    {"rope_type": "longrope", "factor": "x"},
    {"rope_type": "yarn", "factor": 4, "mscale": "a", "mscale_all_dim": 2},
    {"rope_type": 5, "partial_rotary_factor": "x"},
]
FURTHER_KEYS = (
    "rope_scaling",
    "rotary_pct",
    "rotary_dim",
    "partial_rotary_factor",
    "attn_layer_indices",
    "layers_block_type",
    "full_attention_interval",
    "position_embedding_type",
)


@pytest.mark.parametrize("name", ALL_CONFIGS)
def test_configurations_with_odd_values_are_read_or_refused(name: str) -> None:
    config_class, said = ALL_CONFIGS[name]
    config = getattr(transformers, config_class)(**said).to_dict()
    for key in (*config, *FURTHER_KEYS):
        for value in ODD_VALUES:
            try:
                description = describe(config | {key: value})
            except InputError:
                continue
            assert all(map(math.isfinite, description.scales))
            if description.rotary is not None:
                assert 0 < description.rotary.scaling < 1000


def test_every_family_with_a_cache_is_read_or_refused_for_a_reason() -> None:
    """All families of causal language models that this version of transformers has."""
    for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        config_class = CONFIG_MAPPING[name]
        family = config_class.model_type
        if family in FAMILIES:
            continue
        is_wrapper = "text_config" in getattr(config_class, "sub_configs", {})
        assert is_wrapper or family in NOT_BOUNDED, family
        config: dict[str, Any] = {"model_type": family}
        if is_wrapper:
            config["text_config"] = {}
        with pytest.raises(InputError, match=f"the family {family} is not covered: "):
            describe(config)
    assert not set(FAMILIES) & set(NOT_BOUNDED)
