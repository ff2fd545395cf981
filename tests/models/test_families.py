"""Row statistics of tiny random models agree with the patterns that transformers stores, or a refusal says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from headwright.errors import InputError
from headwright.models import LayerActivations, load_model
from headwright.models.huggingface import HuggingFaceModel
from headwright.statistics import row_statistics
from tests.models.tiny import eager, saved, some_tokens

TOLERANCE = 1e-5
READ = [
    "llama",
    "gpt2",
    "gpt2-scaled-by-layer",
    "mistral",
    "gemma2",
    "gemma3",
    "gpt-oss",
    "qwen3",
    "opt",
    "gpt-neox",
    "phi3",
    "bert",
    "roberta",
    "albert",
    "distilbert",
    "modernbert",
    "bart-encoder",
    "deepseek-v3",
]
REFUSED = {
    "t5": "T5Attention passes position_bias",
    "bloom": r"its family \(bloom\) does not let its attention be read",
    "mpnet": r"its family \(mpnet\) does not let its attention be read",
    "gptj": "its family has no hook for attention",
    "deberta-v2": "none of its layers calls the hook",
    "vit": "reads pixel_values, not tokens",
}


def _loaded(folder: Path) -> HuggingFaceModel:
    model = load_model(folder)
    assert isinstance(model, HuggingFaceModel)
    return model


def _agrees(layer: LayerActivations, pattern: np.ndarray) -> None:
    how = layer.scoring
    found = row_statistics(
        layer.queries,
        layer.keys,
        scale=how.scale,
        causal=how.causal,
        window=how.window,
        softcap=how.softcap,
        sinks=how.sinks,
        key_mask=how.key_mask,
        offsets=(0, 1),
        received=True,
    )
    assert found.received is not None
    counted = pattern.sum(axis=-1) > 0
    np.testing.assert_allclose(
        found.largest[counted], pattern.max(axis=-1)[counted], atol=TOLERANCE
    )
    np.testing.assert_allclose(found.first, pattern[:, :, 0], atol=TOLERANCE)
    np.testing.assert_allclose(
        found.offsets[1][:, 1:], np.diagonal(pattern, -1, 1, 2), atol=TOLERANCE
    )
    np.testing.assert_allclose(
        found.received, pattern.sum(axis=1), atol=TOLERANCE * pattern.shape[1]
    )


@pytest.mark.parametrize("family", READ)
def test_statistics_agree_with_the_stored_pattern(family: str, tmp_path: Path) -> None:
    tokens = some_tokens()
    with torch.no_grad():
        truth = eager(saved(family, tmp_path))(
            input_ids=torch.tensor(tokens)[None], output_attentions=True
        )
    model = _loaded(tmp_path)
    count = 0
    for layer in model.run(tokens):
        _agrees(layer, truth.attentions[layer.index][0].double().numpy())
        count += 1
    assert (count, model.layers, model.heads) == (2, 2, 4)


@pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
)  # DeBERTa's module uses it
@pytest.mark.parametrize("family", REFUSED)
def test_a_family_that_cannot_be_read_is_refused_by_name(
    family: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=REFUSED[family]):
        load_model(saved(family, tmp_path))


def test_a_chunked_mask_is_refused_once_a_text_is_longer_than_a_chunk(
    tmp_path: Path,
) -> None:
    model = _loaded(saved("llama4", tmp_path))
    assert len(list(model.run(some_tokens(3)))) == 2
    with pytest.raises(InputError, match="neither causal nor full"):
        list(model.run(some_tokens(9)))


@pytest.mark.parametrize("family", ["gpt2", "bert", "mistral"])
def test_padding_is_seen_by_nobody(family: str, tmp_path: Path) -> None:
    tokens, counted = some_tokens(), np.arange(20) < 14
    mask = torch.tensor(counted)[None].long()
    with torch.no_grad():
        truth = eager(saved(family, tmp_path))(
            input_ids=torch.tensor(tokens)[None],
            attention_mask=mask,
            output_attentions=True,
        )
    for layer in _loaded(tmp_path).run(tokens, counted):
        pattern = truth.attentions[layer.index][0].double().numpy()
        found = row_statistics(
            layer.queries[:, :14],
            layer.keys[:, :14],
            scale=layer.scoring.scale,
            causal=layer.scoring.causal,
            window=layer.scoring.window,
        )
        np.testing.assert_allclose(
            found.largest, pattern[:, :14].max(axis=-1), atol=TOLERANCE
        )
        assert layer.scoring.key_mask is not None
        assert layer.scoring.key_mask.tolist() == counted.tolist()


def test_long_texts_are_mixed_in_blocks_as_transformers_mixes_them(
    tmp_path: Path,
) -> None:
    tokens = some_tokens(1100)  # more than two blocks of rows
    with torch.no_grad():
        truth = eager(saved("gpt-oss", tmp_path))(
            input_ids=torch.tensor(tokens)[None], output_attentions=True
        )
    for layer in _loaded(tmp_path).run(
        tokens
    ):  # the second layer reads what the first one mixed
        _agrees(layer, truth.attentions[layer.index][0].double().numpy())


def test_queries_in_bfloat16_come_as_float32(tmp_path: Path) -> None:
    model = load_model(saved("llama", tmp_path), dtype="bfloat16")
    layer = next(iter(model.run(some_tokens())))
    assert layer.queries.dtype == np.float32
    assert (
        layer.queries.view(np.uint32) & 0xFFFF == 0
    ).all()  # the lower half of a bfloat16 is 0


def test_ranks_come_from_the_parameters_as_stored(tmp_path: Path) -> None:
    found = _loaded(saved("llama", tmp_path)).circuits(1)
    attention = eager(tmp_path).layers[1].self_attn
    np.testing.assert_array_equal(
        found.query[2], attention.q_proj.weight[16:24].T.detach()
    )
    np.testing.assert_array_equal(
        found.key[1], attention.k_proj.weight[8:16].T.detach()
    )
    np.testing.assert_array_equal(
        found.value[1], attention.v_proj.weight[8:16].T.detach()
    )
    np.testing.assert_array_equal(
        found.output[3], attention.o_proj.weight[:, 24:].T.detach()
    )
    assert found.notes == (
        "queries are turned by their positions after the matrix",
        "keys are turned by their positions after the matrix",
    )


def test_gpt2_stores_its_matrices_the_other_way_round(tmp_path: Path) -> None:
    found = _loaded(saved("gpt2", tmp_path)).circuits(0)
    attention = eager(tmp_path).h[0].attn
    np.testing.assert_array_equal(
        found.query[1], attention.c_attn.weight[:, 8:16].detach()
    )
    np.testing.assert_array_equal(
        found.value[0], attention.c_attn.weight[:, 64:72].detach()
    )
    np.testing.assert_array_equal(
        found.output[1], attention.c_proj.weight[8:16].detach()
    )
    assert found.notes == ("biases are left out",)


@pytest.mark.parametrize(
    "family",
    [
        "bert",
        "albert",
        "distilbert",
        "opt",
        "gpt-neox",
        "phi3",
        "gemma3",
        "gpt-oss",
        "modernbert",
    ],
)
def test_ranks_of_other_families_have_the_shapes_of_their_heads(
    family: str, tmp_path: Path
) -> None:
    found = _loaded(saved(family, tmp_path)).circuits(1)
    assert found.query.shape == (4, 32, 8)
    assert found.key.shape[1:] == found.value.shape[1:] == (32, 8)
    assert found.output.shape == (4, 8, 32)


def test_matrices_that_are_not_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="DeepseekV3Attention are not known"):
        _loaded(saved("deepseek-v3", tmp_path)).circuits(0)


def test_roberta_has_two_positions_fewer_than_rows(tmp_path: Path) -> None:
    model = _loaded(saved("roberta", tmp_path))
    assert model.max_length == 64
    assert len(list(model.run(some_tokens(64)))) == 2
    with pytest.raises(InputError, match="65 tokens: the model has 64 positions"):
        next(iter(model.run(some_tokens(65))))
