"""A model that is in memory is read as one that is loaded, and stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from headwright.auditing import audit
from headwright.errors import InputError
from headwright.models import load_model
from tests.models.tiny import CONFIGS, eager, saved, some_tokens


@pytest.mark.parametrize(
    "family", ["llama", "gemma2", "gpt-oss", "bert", "bart-encoder"]
)
def test_a_layer_knows_its_own_scoring(family: str, tmp_path: Path) -> None:
    """On Gemma 2, `row_statistics(layer.queries, layer.keys)` would leave out its scale, window and softcap."""
    folder, tokens = saved(family, tmp_path), some_tokens()
    model = hf.AutoModel.from_pretrained(folder)
    before = model.config._attn_implementation, model.config.use_cache
    layers = [layer.statistics().entropy for layer in load_model(model).run(tokens)]
    assert (model.config._attn_implementation, model.config.use_cache) == before
    with torch.no_grad():
        patterns = eager(folder)(
            input_ids=torch.as_tensor(tokens)[None], output_attentions=True
        ).attentions
    for found, pattern in zip(layers, patterns, strict=True):
        alpha = pattern[0].double().numpy()
        rest = np.clip(1 - alpha.sum(-1), 0, 1)  # of a sink
        rest = np.where(rest > 1e-6, rest, 1.0)
        truth = -(alpha * np.log(np.where(alpha > 0, alpha, 1.0))).sum(
            -1
        ) - rest * np.log(rest)
        np.testing.assert_allclose(found, truth, atol=2e-5)


def test_a_model_in_memory_is_audited_without_a_copy_of_its_parameters() -> None:
    make: Any = hf.AutoModelForCausalLM.from_config
    model = make(CONFIGS["llama"]())
    read = load_model(model)
    assert read.network.embed_tokens.weight is model.model.embed_tokens.weight  # type: ignore[attr-defined]
    assert read.digest != load_model(make(CONFIGS["llama"]())).digest
    found = audit(model, tokens=80, max_length=40, every_text=False)
    assert (found.shape, found.digest) == ((2, 4), read.digest)
    with pytest.raises(InputError, match="leave device and dtype out"):
        load_model(model, dtype="float32")
    with pytest.raises(InputError, match="the model is Linear"):
        load_model(torch.nn.Linear(2, 2))
    with pytest.raises(
        InputError, match="no tokenizer that can be read \\(none was given\\)"
    ):
        audit(model)
