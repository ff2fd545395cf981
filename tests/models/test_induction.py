"""The model that is built in does what it was trained for, and its truth is known."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.induction import (
    FREQUENCIES,
    LONGEST,
    VOCABULARY,
    InductionModel,
    turned,
)
from headwright.statistics import row_statistics

PREVIOUS, INDUCTION = (0, 0), ((1, 0), (1, 1))  # layer and head


@pytest.fixture(scope="module")
def model() -> InductionModel:
    found = load_model("builtin:induction")
    assert isinstance(found, InductionModel)
    return found


def _text(model: InductionModel, rng: np.random.Generator, length: int) -> np.ndarray:
    return np.concatenate(
        [model.bos_tokens(), rng.choice(model.regular_tokens(), length - 1)]
    )


def test_a_head_looks_at_the_previous_token_at_every_position(
    model: InductionModel,
) -> None:
    rng = np.random.default_rng(0)
    weights = []
    for _ in range(30):
        layer = next(iter(model.run(_text(model, rng, LONGEST))))
        weights.append(
            row_statistics(layer.queries, layer.keys).offsets[1][PREVIOUS[1], 1:]
        )
    assert np.mean(weights, axis=0).min() > 0.9
    assert np.min(weights) > 0.75  # and never fails by far on a single text


@pytest.mark.parametrize("block", [30, 60])
@pytest.mark.parametrize("prefix", [0, 5, 100])
def test_heads_look_where_the_present_token_came_before(
    model: InductionModel, block: int, prefix: int
) -> None:
    rng = np.random.default_rng(block + prefix)
    found = []
    for _ in range(10):
        start, once = (
            rng.choice(model.regular_tokens(), prefix),
            rng.choice(model.regular_tokens(), block),
        )
        tokens = np.concatenate([model.bos_tokens(), start, once, once])
        layer = list(model.run(tokens))[1]
        scores = layer.queries @ layer.keys.transpose(0, 2, 1) * layer.scoring.scale
        scores[:, np.triu(np.ones(scores.shape[1:], dtype=bool), 1)] = -np.inf
        pattern = np.exp(scores - scores.max(axis=2, keepdims=True))
        pattern /= pattern.sum(axis=2, keepdims=True)
        follows = np.zeros(
            scores.shape[1:], dtype=bool
        )  # key j: the token before it is the present one
        follows[:, 1:] = tokens[:, None] == tokens[None, :-1]
        found.append((pattern * follows).sum(axis=2)[:, -block:].mean(axis=1))
    for _, head in INDUCTION:
        assert np.mean(found, axis=0)[head] > 0.9


def test_a_repeated_text_is_continued(model: InductionModel) -> None:
    rng = np.random.default_rng(1)
    right = []
    for _ in range(10):
        once = rng.permutation(
            model.regular_tokens()
        )  # no character twice: the next one is determined
        tokens = np.concatenate([model.bos_tokens(), once, once])
        told = model.logits(tokens)[len(once) + 1 : -1].argmax(axis=1)
        right.append((told == tokens[len(once) + 2 :]).mean())
    assert np.mean(right) > 0.95


def test_scores_depend_on_the_distance_alone(model: InductionModel) -> None:
    rng = np.random.default_rng(2)
    tokens = rng.choice(model.regular_tokens(), 40)
    layer = next(iter(model.run(tokens)))
    later = next(
        iter(
            model.run(np.concatenate([rng.choice(model.regular_tokens(), 100), tokens]))
        )
    )
    scores, moved = (
        some.queries @ some.keys.transpose(0, 2, 1) for some in (layer, later)
    )
    np.testing.assert_allclose(moved[:, 100:, 100:], scores, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_turning_keeps_lengths(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(2, 9, 2 * len(FREQUENCIES)))
    np.testing.assert_allclose(
        np.linalg.norm(turned(x), axis=2), np.linalg.norm(x, axis=2)
    )


@given(text=st.text())
def test_every_text_becomes_tokens_of_the_vocabulary(text: str) -> None:
    tokens = load_model("builtin:induction").encode(text)
    assert tokens[0] == 0
    assert ((tokens[1:] > 0) & (tokens[1:] < len(VOCABULARY))).all()


def test_characters_of_the_vocabulary_are_kept(model: InductionModel) -> None:
    text = "".join(VOCABULARY[1:])
    assert (
        "".join(model.token_strings(model.encode(text))[1:]).replace("␣", " ") == text
    )


def test_circuits_are_the_parameters(model: InductionModel) -> None:
    found = model.circuits(0)
    x = model.embed[:5]
    layer = next(iter(model.run(np.arange(5))))
    np.testing.assert_allclose(turned(x @ found.key), layer.keys)
    np.testing.assert_allclose(x @ found.value, layer.values)
    assert found.output.shape == (2, 32, 64)
    with pytest.raises(InputError, match="layer 2"):
        model.circuits(2)


def test_too_long_a_text_and_unknown_tokens_are_refused(model: InductionModel) -> None:
    with pytest.raises(InputError, match="257 tokens: the model has 256 positions"):
        next(iter(model.run(np.zeros(257, dtype=int))))
    with pytest.raises(
        InputError, match="token 1 is 48: expected a number from 0 to 47"
    ):
        next(iter(model.run(np.array([0, 48]))))
    with pytest.raises(InputError, match="expected a row of whole numbers"):
        next(iter(model.run(np.array([], dtype=int))))


def test_it_runs_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from headwright.models import load_model\n"
        "model = load_model('builtin:induction')\n"
        "print(sum(1 for _ in model.run(model.encode('without torch'))))"
    )
    ran = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert (ran.stdout.strip(), ran.returncode) == ("2", 0), ran.stderr


def test_it_is_small() -> None:
    content = files("headwright.models").joinpath("induction.safetensors").read_bytes()
    assert len(content) < 2**20
