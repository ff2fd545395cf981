"""Direct effects on logits: brute force over all texts of tiny models, and of the built-in one."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headwright.errors import InputError
from headwright.models import load_model
from headwright.text_bounds.search.heads import RotaryHead, TokenVectors
from headwright.text_bounds.search.logits import largest_output, on_logit, unembedding
from headwright.text_bounds.search.sweep import scores_along
from headwright.text_bounds.search.texts import TextFamily
from tests.text_bounds.test_models import LENGTH, TINY, V, tiny


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen3"])
def test_the_range_is_that_of_all_texts_in_the_library_itself(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TINY[family][1], "tie_word_embeddings", True)
    model, eager = tiny(family, tmp_path)
    texts = torch.tensor(list(product(range(V), repeat=LENGTH)))
    attention: Any = eager.layers[0].self_attn
    kept: list[torch.Tensor] = []
    attention.o_proj.register_forward_pre_hook(
        lambda _, given: kept.append(given[0][:, -1].detach())
    )
    with torch.no_grad():
        eager(input_ids=texts)
        mixed = kept[0].reshape(len(texts), 2, -1)  # texts, heads, d
        output = attention.o_proj.weight.T.reshape(2, -1, 16)
        effects = torch.einsum(
            "thd,hdw,w->th", mixed, output, eager.embed_tokens.weight[3]
        ).numpy()
    for found in on_logit(model, LENGTH, 3):
        mine = effects[:, found.head]
        tiny_part = 1e-5 * (mine.max() - mine.min())
        assert (
            found.least.bound <= mine.min() + tiny_part
            and found.most.bound >= mine.max() - tiny_part
        )
        assert found.least.bound == pytest.approx(mine.min(), abs=tiny_part)
        assert found.most.bound == pytest.approx(mine.max(), abs=tiny_part)
        assert (
            found.least.run == pytest.approx(mine.min(), abs=1e-4)
            and found.queries == V
        )


def test_no_text_of_the_built_in_model_goes_beyond() -> None:
    model = load_model("builtin:induction")
    rng = np.random.default_rng(0)
    found = on_logit(model, 10, 7, queries=[3])
    circuits, direction = model.circuits(0), unembedding(model, 7)
    for one in found:
        assert one.least.bound <= one.least.run <= one.least.bound + 1e-8
        assert one.most.bound - 1e-8 <= one.most.run <= one.most.bound
        for _ in range(50):
            text = np.concatenate(
                [model.bos_tokens(), rng.choice(model.regular_tokens(), 8), [3]]
            )
            layer = next(iter(model.run(text)))
            scores = (
                layer.keys[one.head] @ layer.queries[one.head, -1] * layer.scoring.scale
            )
            pattern = np.exp(scores - scores.max())
            effect = (
                pattern
                / pattern.sum()
                @ layer.values[one.head]
                @ circuits.output[one.head]
                @ direction
            )
            assert one.least.bound <= effect <= one.most.bound


def test_what_is_not_covered_is_refused(tmp_path: Path) -> None:
    for family, sentence in (
        ("gpt2", "biases"),
        ("gemma3", "gemma3_text"),
        ("llama", "not read from its embeddings"),
    ):
        model, _ = tiny(family, tmp_path / family)
        with pytest.raises(InputError, match=sentence):
            on_logit(model, LENGTH, 1)
    with pytest.raises(InputError, match="expected 0 to"):
        on_logit(load_model("builtin:induction"), 4, 99)


@pytest.mark.parametrize(
    "spread", [1.0, 30.0, 1000.0]
)  # of scores: from about 800 on, exp of a row underflows
@pytest.mark.parametrize("seed", range(8))
def test_the_worst_text_is_found_however_far_scores_lie_apart(
    seed: int, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    count, length, query = 6, 4, 2
    queries, keys = (
        TokenVectors(rng.normal(size=(count, 4)) * spread**0.5, 0.0) for _ in range(2)
    )
    head = RotaryHead(np.arange(count), queries, keys, rng.normal(size=2))
    texts = TextFamily(length, length - 1)
    along = rng.normal(size=(length, count))
    scores = np.array([each for _, each in scores_along(head, texts, query)])
    outputs = []
    for text in product(range(count), repeat=length - 1):
        tokens = [*text, query]
        row = scores[range(length), tokens]
        pattern = np.exp(row - row.max())
        outputs.append(float(pattern / pattern.sum() @ along[range(length), tokens]))
    found = largest_output(head, texts, query, along)
    row = scores[range(length), found.text]
    pattern = np.exp(row - row.max())
    attained = float(pattern / pattern.sum() @ along[range(length), found.text])
    assert found.bound >= max(outputs)
    assert found.value == pytest.approx(max(outputs), abs=1e-9)
    assert found.bound == pytest.approx(max(outputs), abs=1e-6)
    assert attained == pytest.approx(max(outputs), abs=1e-9)
