"""Certificates about ranges: what was proved is verified, and whatever is changed is rejected."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import headwright as hw
from headwright.numerics.balls import Balls
from headwright.value_ranges.checker.lengths import bound_length
from tests.cli.running import run_here
from tests.effort import tried
from tests.value_ranges.small_models import CONFIGS, MORE_CONFIGS, small_model


def document(model: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(hw.ranges(model).certificate)
    return content


def verdict(content: Any, model: Any) -> tuple[str, str]:
    result = hw.verify(json.dumps(content), model=model)
    assert result.by == "ranges checker"
    return result.word, result.words


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_proved_is_verified(name: str, dtype: str) -> None:
    model = small_model(name, dtype=dtype)
    word, words = verdict(document(model), model)
    assert word == "verified"
    assert f"computed in {dtype}" in words


@pytest.mark.parametrize("name", MORE_CONFIGS)
def test_what_is_proved_of_further_families_is_verified(name: str) -> None:
    model = small_model(name, dtype="bfloat16")
    assert verdict(document(model), model)[0] == "verified"


@pytest.mark.parametrize(
    "name",
    [
        "llama-bias",
        "qwen3",
        "gpt2",
        "albert",
        "phi-norms",
        "llama-yarn",
        "cohere-norms",
        "deepseek_v3-yarn",
        "falcon_h1",
        "olmoe",
    ],
)
def test_a_lower_bound_is_rejected(name: str) -> None:
    model = small_model(name)
    content = document(model)
    layers = content["statement"]["layers"]
    places: list[tuple[int, str, int]] = []
    for layer in range(len(layers)):
        for part in layers[layer]:
            places.extend(
                (layer, part, head) for head in range(len(layers[layer][part]))
            )
    rng = np.random.default_rng(1)
    for at in rng.permutation(len(places))[: tried(24)]:
        layer, part, head = places[at]
        heads = layers[layer][part]
        proved = heads[head]
        heads[head] = str(float(Fraction(proved) * Fraction(99, 100)))
        word, words = verdict(content, model)
        assert word == "rejected"
        assert f"{part} of layer {layer}, head {head}: at most" in words
        heads[head] = str(float(Fraction(proved) * 2))  # weaker, and true
        assert verdict(content, model)[0] == "verified"
        heads[head] = proved


def test_other_weights_are_rejected() -> None:
    model = small_model("llama")
    content = document(model)
    model.layers[0].self_attn.v_proj.weight.data *= 0.5
    word, words = verdict(content, model)
    assert word == "rejected"
    assert "it is about other weights" in words
    model.layers[0].self_attn.v_proj.weight.data *= 4
    assert "values of layer 0" in verdict(content, model)[1]


def test_another_arithmetic_is_rejected() -> None:
    model = small_model("llama")
    content = document(model)
    content["statement"]["arithmetic"] = "bfloat16"
    assert verdict(content, model)[0] == "rejected"
    content["statement"]["arithmetic"] = "int8"
    assert "nothing is known about" in verdict(content, model)[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(version=2),
        lambda content: content.update(more=1),
        lambda content: content["statement"].update(digest="0"),
        lambda content: content["statement"].update(layers=[]),
        lambda content: content["statement"].update(layers=[1]),
        lambda content: content["statement"].pop("model"),
        lambda content: content["statement"]["layers"][0].pop("keys"),
        lambda content: content["statement"]["layers"][0].update(keys=[1]),
        lambda content: content["statement"]["layers"][0].update(keys=["-1"]),
        lambda content: content["statement"]["layers"][0].update(keys=["nan"]),
        lambda content: content["statement"]["layers"][0].update(keys=["1e99999"]),
    ],
)
def test_what_is_not_of_the_form_is_unreadable(change: Any) -> None:
    model = small_model("llama")
    content = document(model)
    change(content)
    assert verdict(content, model)[0] == "unreadable"


def test_fewer_heads_or_layers_are_rejected() -> None:
    model = small_model("llama")
    content = document(model)
    content["statement"]["layers"][1]["keys"].pop()
    assert "2 heads, and 1 are claimed" in verdict(content, model)[1]
    content = document(model)
    content["statement"]["layers"].pop()
    assert "more layers than 1" in verdict(content, model)[1]
    content = document(model)
    content["statement"]["layers"] *= 2
    assert "2 layers, fewer than 4" in verdict(content, model)[1]


def test_latent_vectors_are_claimed_where_there_are_some() -> None:
    model = small_model("deepseek_v3")
    content = document(model)
    layer = content["statement"]["layers"][1]
    assert len(layer["latents"]) == 2
    assert "of latent vectors at most" in verdict(content, model)[1]
    without = {part: layer[part] for part in layer if part != "latents"}
    content["statement"]["layers"][1] = without
    assert "latents of layer 1: the model has 2" in verdict(content, model)[1]
    model = small_model("llama")
    content = document(model)
    content["statement"]["layers"][1]["latents"] = ["1"]
    assert "the model has 0 heads, and 1 are claimed" in verdict(content, model)[1]
    content["statement"]["layers"][1]["latents"] = []
    assert verdict(content, model)[0] == "unreadable"


def test_what_is_not_bounded_is_not_claimed() -> None:
    model = small_model("llama", dtype="float16")
    model.layers[0].self_attn.v_proj.weight.data *= 10000
    content = document(model)
    assert content["statement"]["layers"][0]["values"][0] is None
    assert verdict(content, model)[0] == "verified"
    content["statement"]["layers"][0]["values"][0] = "1e30"
    assert verdict(content, model)[0] == "rejected"


def test_the_checker_bounds_lengths_tightly_and_from_above() -> None:
    rng = np.random.default_rng(2)
    for _ in range(tried(40)):
        d, width = rng.integers(1, 8), rng.integers(2, 30)
        matrix = rng.standard_normal((d, width)) * np.exp(rng.normal() * 3)
        centre = rng.standard_normal(d) * np.exp(rng.normal() * 3) * rng.integers(0, 2)
        radius = np.sqrt(width)
        root = Balls.of(np.array(float(width))).sqrt()
        bound = bound_length(Balls.of(matrix), Balls.of(centre), root)
        best = 0.0
        for start in rng.standard_normal((6, width)):
            u = start
            for _ in range(300):
                u = matrix.T @ (matrix @ u + centre)
                u = u * radius / np.linalg.norm(u)
            best = max(best, float(np.linalg.norm(matrix @ u + centre)))
        assert best <= bound * (1 + 1e-12)
        assert best >= 0.98 * bound


def test_the_command_writes_it_and_verify_reads_it(tmp_path: Any) -> None:
    folder = tmp_path / "model"
    small_model("llama").save_pretrained(folder)
    path = tmp_path / "ranges.json"
    code, printed = run_here(["ranges", str(folder), "--out", str(path)])
    assert code == 0
    assert "verify" in printed
    code, printed = run_here(["verify", str(path), "--model", str(folder)])
    assert code == 0
    assert printed.startswith("verified (ranges checker): on every text")
