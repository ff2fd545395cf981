"""What was proved against what the network does, at the length asked about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.model import Model
from headwright.text_bounds.checker import judge_statement
from headwright.text_bounds.compare_with_model import run_in_float64, run_patterns
from headwright.text_bounds.every_text import every_length, every_text
from headwright.text_bounds.make_statement import statement_of
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.texts import texts_of
from headwright.text_bounds.statement import read_statement, write_statement

V, SWITCH, LONG = 7, 16, 24
ROPES: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default"},
    "longrope": {
        "rope_type": "longrope",
        "original_max_position_embeddings": 3,
        "attention_factor": 1.0,
        "short_factor": [1.0, 1.0, 1.0, 1.0],
        "long_factor": [7.0, 0.3, 0.02, 0.01],
    },
    "yarn": {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 3,
        "attention_factor": 1.0,
    },
    "linear": {"rope_type": "linear", "factor": 3.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 4.0,
        "original_max_position_embeddings": 3,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
    },
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
}


def llama(folder: Path, rope: dict[str, Any], longest: int, **more: Any) -> Any:
    config = transformers.LlamaConfig(
        vocab_size=V,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=8,
        max_position_embeddings=longest,
        rope_parameters={"rope_theta": 1e4, **rope},
        **more,
    )
    torch.manual_seed(0)
    kind: Any = transformers.LlamaModel
    network = kind._from_config(config, attn_implementation="eager").eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    network.save_pretrained(folder)
    return network.double()


def looks_back(folder: Path) -> Model:
    """Its heads look one place back in texts of 16 tokens, and anywhere in longer ones: all keys are the same there."""
    turns = torch.tensor([1.0, 1.7, 2.4, 0.6])  # from one place to the next
    factors = {
        "short_factor": (1e4 ** -torch.arange(0, 1, 0.25) / turns).tolist(),
        "long_factor": [1e9] * 4,
    }
    network = llama(
        folder,
        ROPES["longrope"] | factors | {"original_max_position_embeddings": SWITCH},
        64,
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(0.0)
        network.embed_tokens.weight[:] = 1.0
        network.embed_tokens.weight[:, 0] += torch.arange(V) * 0.01
        network.layers[0].input_layernorm.weight[:] = 1.0
        attention = network.layers[0].self_attn
        attention.q_proj.weight[:] = (
            torch.cat([torch.ones(4), torch.zeros(4)]).repeat(2)[:, None] * 0.125
        )
        attention.k_proj.weight[:] = (
            torch.cat([torch.cos(turns), torch.sin(turns)])[:, None] * 2.0
        )
    network.float().save_pretrained(folder)
    return load_model(folder)


@contextmanager
def changed(module: str, when: Any) -> Iterator[None]:
    """Every module of that class that a model calls gives nothing, on what `when` says."""

    def change(called: Any, given: tuple[torch.Tensor, ...], made: torch.Tensor) -> Any:
        named = (
            type(called).__name__ == module and made.shape[-1] == 16 and when(given[0])
        )
        return made * 0.0 if named else None

    hooks: Any = torch.nn.modules.module
    handle = hooks.register_module_forward_hook(change)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize(
    ("rope", "length"),
    [("longrope", 3), ("yarn", 3), *((rope, 4) for rope in sorted(ROPES))],
)
def test_extremes_are_those_of_all_texts_whatever_frequencies_depend_on(
    rope: str, length: int, tmp_path: Path
) -> None:
    eager, model = llama(tmp_path, ROPES[rope], 8), load_model(tmp_path)
    texts = torch.tensor(list(product(range(V), repeat=length)))
    for other in (2, 7, length):  # a network holds what its last run made
        every_text(model, other, heads=[0])
    with torch.no_grad():
        weights = eager(input_ids=texts, output_attentions=True).attentions[0][:, :, -1]
    for found in every_text(model, length):
        for places in found.places:
            mass = weights[:, found.head, list(places.places)].sum(-1).numpy()
            assert places.least.bound == pytest.approx(mass.min(), rel=1e-5)
            assert places.most.bound == pytest.approx(mass.max(), rel=1e-5)
            assert places.least.run == pytest.approx(places.least.bound, rel=1e-9)


def test_curves_are_read_at_each_length(tmp_path: Path) -> None:
    model = looks_back(tmp_path)
    previous = next(
        curve
        for curve in every_length(model, LONG, heads=[0])
        if curve.name == "previous"
    )
    assert [(point.length, point.least > 0.5) for point in previous.points] == [
        (2, True),
        (4, True),
        (8, True),
        (16, True),
        (LONG, False),
    ]
    short, long = (
        first_layer(model, SWITCH).angles,
        first_layer(model, SWITCH + 1).angles,
    )
    assert short is not None and long is not None and not np.array_equal(short, long)


def test_a_network_that_does_more_in_long_texts_is_refused_there(
    tmp_path: Path,
) -> None:
    llama(tmp_path, ROPES["default"], 64)
    model = load_model(tmp_path)
    with changed("Linear", lambda given: given.shape[1] > SWITCH):
        first_layer(model, SWITCH)
        with pytest.raises(
            InputError, match=r"read off its weights.*on a text of 24 tokens"
        ):
            first_layer(model, LONG)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_run_in_float64_rounds_nothing_on_the_way(dtype: str, tmp_path: Path) -> None:
    llama(tmp_path, ROPES["default"], 4096)
    model = load_model(tmp_path, dtype=dtype)
    ids, texts = np.arange(4000) % V, texts_of(first_layer(model, 4000), 4000)
    layer = run_in_float64(model, ids)
    assert layer.queries.dtype == layer.keys.dtype == np.float64
    network = model.network.double()  # type: ignore[attr-defined]
    x = network.embed_tokens.weight[ids].detach().numpy()
    gain, eps = network.layers[0].input_layernorm.weight.detach().numpy(), 1e-6
    x = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * gain
    key = x @ network.layers[0].self_attn.k_proj.weight.detach().numpy().T
    turns = np.arange(4000)[:, None] * network.rotary_emb.inv_freq.double().numpy()
    first, second = np.split(key, 2, axis=1)
    exact = np.hstack(
        [
            first * np.cos(turns) - second * np.sin(turns),
            first * np.sin(turns) + second * np.cos(turns),
        ]
    )
    assert np.abs(layer.keys[0] - exact).max() < 1e-10
    assert run_patterns(load_model(tmp_path, dtype=dtype), ids, texts).sum(
        axis=1
    ) == pytest.approx(1.0)


def test_a_factor_on_scores_is_refused_by_name(tmp_path: Path) -> None:
    llama(tmp_path, ROPES["yarn"] | {"attention_factor": 1.5}, 8)
    with pytest.raises(InputError, match="its rotary positions scale scores"):
        first_layer(load_model(tmp_path), 4)


def test_attention_that_does_more_than_the_hook_hears_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llama(tmp_path, ROPES["default"], 8)
    model, library = load_model(tmp_path), transformers.models.llama.modeling_llama
    first_layer(model, 4)
    true = library.eager_attention_forward

    def sharper(module: Any, query: torch.Tensor, *given: Any, **how: Any) -> Any:
        return true(module, query * 1.1, *given, **how)

    monkeypatch.setattr(library, "eager_attention_forward", sharper)
    with pytest.raises(InputError, match="its own attention gives patterns up to"):
        first_layer(model, 4)


def test_frequencies_that_depend_on_the_length_bind_the_statement_to_one_pass(
    tmp_path: Path,
) -> None:
    model = looks_back(tmp_path)
    for length, one_pass in ((SWITCH, False), (LONG, True)):
        layer = first_layer(model, length)
        found = every_text(model, length, heads=[0])[0]
        assert (layer.one_pass, found.one_pass) == (one_pass, one_pass)
        stated = statement_of("model", layer, found, found.places[1], "most")
        word, words = judge_statement(read_statement(write_statement(stated)), layer)
        assert word == "verified"
        assert ("in one forward pass over the whole text" in words) == one_pass
    # Without it, the statement would be about a text that is decoded with a cache, too: keys of the first places were
    # turned by other frequencies then.
    word, why = judge_statement(replace(stated, one_pass=False), layer)
    assert word == "rejected"
    assert "one forward pass" in why


def test_a_text_that_is_decoded_with_a_cache_lies_outside_what_holds_in_one_pass(
    tmp_path: Path,
) -> None:
    """What the sentence is for: the same network, the same text."""
    model = looks_back(tmp_path)
    previous = every_text(model, LONG, heads=[0])[0].places[1]
    kind: Any = transformers.LlamaModel
    network = kind.from_pretrained(tmp_path, attn_implementation="eager").eval()
    text = torch.arange(LONG)[None] % V
    cache = transformers.DynamicCache(config=network.config)
    with torch.no_grad():
        whole = network(input_ids=text, output_attentions=True).attentions[0][0, 0, -1]
        for start, stop in ((0, SWITCH), (SWITCH, LONG - 1), (LONG - 1, LONG)):
            ran = network(
                input_ids=text[:, start:stop],
                past_key_values=cache,
                output_attentions=True,
            )
        cached = ran.attentions[0][0, 0, -1]
    assert previous.least.bound - 1e-6 <= float(whole[-2]) <= previous.most.bound + 1e-6
    assert (
        not previous.least.bound - 1e-6
        <= float(cached[-2])
        <= previous.most.bound + 1e-6
    )
