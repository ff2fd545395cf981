"""Heads of deeper layers, against every recombination of the keys of a text."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import transformers

from headwright.errors import InputError
from headwright.models.loading import load_model
from headwright.models.loading.induction import FREQUENCIES
from headwright.models.texts.first_layer import head_of, texts_of
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.recombined_keys import HeadOnKeys, OnKeys, recombined
from headwright.models.texts.sweep import pair_band, sweep
from tests.models.texts.test_models import V, tiny

MODEL = load_model("builtin:induction")
ANGLES = np.array(FREQUENCIES)


def turned(vector: np.ndarray, by: int) -> np.ndarray:
    first, second = np.split(vector, 2)
    cos, sin = np.cos(ANGLES * by), np.sin(ANGLES * by)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos])


def brute(text: np.ndarray, head: int, row: int, asked: int, layer: int = 1) -> float:
    """The least weight on a place over all choices of keys for the others, by the definition."""
    run = next(each for each in MODEL.run(text) if each.index == layer)
    query, keys = run.queries[head, row], run.keys[head]
    plain = [turned(key, -place) for place, key in enumerate(keys)]
    free = [place for place in range(1, row) if place != asked]
    least = 1.0
    for choice in product(range(1, len(text)), repeat=len(free)):
        placed = {place: place for place in range(row + 1)} | dict(zip(free, choice, strict=True))
        scores = np.array([query @ turned(plain[placed[place]], place) for place in range(row + 1)])
        pattern = np.exp(scores * run.scoring.scale)
        least = min(least, float(pattern[asked] / pattern.sum()))
    return least


@pytest.mark.parametrize("head", [0, 1])
def test_floors_are_the_least_over_all_recombinations(head: int) -> None:
    text = MODEL.encode("abxab")
    found = recombined(MODEL, 1, text, heads=[head])[0]
    rows = range(2, len(text))
    for places in found.places:
        truth = [brute(text, head, row, {"self": row, "previous": row - 1, "first": 0}[places.name]) for row in rows]
        assert places.rows == len(truth)
        assert places.floor == pytest.approx(np.median(truth), rel=1e-9)
        assert places.lowest == pytest.approx(min(truth), rel=1e-9) and places.lowest <= min(truth) * (1 + 1e-12)


def test_a_floor_is_not_above_what_the_text_has() -> None:
    text = MODEL.encode("the quick brown fox jumps over the quick dog")
    for layer in (0, 1):
        for head in recombined(MODEL, layer, text):
            assert head.keys == len(text) - 1 and head.held == (0,)
            for places in head.places:
                assert places.floor <= places.measured + 0.5 and places.kept_half <= places.half


def told(half: int, kept: int) -> str:
    return OnKeys("previous", 10, 0.5, 0.5, 0.5, half, kept).kind


def test_firm_heads_are_told_from_those_that_owe_it_to_the_text() -> None:
    assert (told(9, 8), told(9, 5), told(2, 1)) == ("firm", "by context", "")
    first: HeadOnKeys = recombined(MODEL, 0, MODEL.encode("the quick brown fox"), heads=[0])[0]
    assert [places.kind for places in first.places if places.name == "previous"] == ["firm"]


@pytest.mark.parametrize(
    ("layer", "text", "sentence"), [(2, "some text", "expected 0 to 1"), (1, "a", "expected 4 or more")]
)
def test_bad_input_has_its_sentence(layer: int, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        recombined(MODEL, layer, MODEL.encode(text))


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3"])
def test_in_the_first_layer_the_keys_of_a_text_with_every_token_are_the_vocabulary(family: str, tmp_path: Path) -> None:
    model, _ = tiny(family, tmp_path)
    text = np.array([*range(V), 0])
    layer = first_layer(model, len(text))
    for found in recombined(model, 0, text):
        head, floors = head_of(layer, found.head), []
        for row in range(2, len(text)):
            texts = replace(texts_of(layer, row + 1), held={0: 0})
            swept = sweep(head, texts, {"previous": [row - 1]}, text[row : row + 1])
            floors.append(float(pair_band(head, swept, "previous", text[None, [row, row - 1]]).least.lower[0]))
        previous = next(places for places in found.places if places.name == "previous")
        assert previous.lowest == pytest.approx(min(floors), rel=1e-4)
        assert previous.floor == pytest.approx(np.median(floors), rel=1e-4)


def test_an_encoder_keeps_its_special_tokens_and_sees_both_ways(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"]))
    transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    model, _ = tiny("bert", tmp_path)
    text = model.encode("a b c a")
    assert len(text) == 6
    for found in recombined(model, 0, text):
        assert found.held == (0, 5) and found.keys == 4
        run = next(iter(model.run(text)))
        scores = run.queries[found.head] @ run.keys[found.head].T * run.scoring.scale
        patterns = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        previous = next(places for places in found.places if places.name == "previous")
        assert previous.measured == pytest.approx(np.mean([patterns[row, row - 1] for row in (2, 3, 4)]), rel=1e-4)
        assert previous.floor <= previous.measured + 0.5
