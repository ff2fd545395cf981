"""A search for texts: what it finds is what the model computes, and more than texts at random show."""

from __future__ import annotations

import numpy as np
import pytest

import headwright as hw
from headwright.value_ranges.close_texts import reached_by_input
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.read_layers import read_layers
from tests.effort import tried
from tests.value_ranges.small_models import CONFIGS, small_model, vectors_of_text


@pytest.mark.parametrize("name", ["llama", "qwen3", "albert", "gemma2", "gpt2"])
def test_a_text_that_was_searched_for_shows_more_than_others(name: str) -> None:
    model = small_model(name)
    before = model.config._attn_implementation
    close = hw.ranges(model, search=True).close_text
    assert close is not None
    # The model computes what was said, and is left as it was.
    keys = vectors_of_text(model, list(close.tokens), close.layer).keys
    assert np.isclose(np.abs(keys[close.head]).max(), close.by_text, rtol=1e-4)
    assert model.config._attn_implementation == before
    rng = np.random.default_rng(1)
    above = 0
    texts = tried(32)
    for _ in range(texts):
        tokens = rng.integers(1, 40, len(close.tokens)).tolist()
        keys = vectors_of_text(model, tokens, close.layer).keys
        above += bool(np.abs(keys[close.head]).max() > close.by_text)
    assert above <= texts / 8
    assert close.by_text <= close.by_embeddings <= close.bound
    assert close.by_input <= close.bound


@pytest.mark.parametrize("name", CONFIGS)
def test_inputs_of_the_norm_reach_most_of_the_bound(name: str) -> None:
    model = small_model(name)
    opened = open_model(model)
    bounds = hw.ranges(model).layers
    for layer in read_layers(opened.description, opened.reader(None)):
        for number, head in enumerate(bounds[layer.index].keys):
            reached = reached_by_input(layer, number)
            assert reached <= head.before.exact_channels.max()
            # Beside a large bias a projection cannot point everywhere, and a norm after it does not ask.
            if layer.key.norms is None:
                assert reached >= 0.999 * head.before.exact_channels.max()


def test_the_words_and_the_document_say_how_close() -> None:
    ranges = hw.ranges(small_model("llama"), search=True)
    assert ranges.close_text is not None
    assert "how close: keys of layer" in str(ranges)
    assert "on embeddings that are no text" in str(ranges)
    said = ranges.to_json()["close_text"]
    assert said["by_text"] == ranges.close_text.by_text
    assert len(said["tokens"]) == len(ranges.close_text.tokens)
