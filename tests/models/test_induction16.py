"""The built-in model of 16 tokens: what it is, and that it does what it was trained for."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.induction16 import Induction16, induction16_model


def by_definition(model: Induction16, tokens: np.ndarray) -> np.ndarray:
    x = model.embed[tokens] + model.place[: len(tokens)]
    for query, key, value, output in zip(
        model.query, model.key, model.value, model.output, strict=True
    ):
        scores = np.tril(np.exp((x @ query) @ (x @ key).T / 4))
        x = x + scores / scores.sum(axis=1, keepdims=True) @ (x @ value) @ output
    return x @ model.unembed


def test_it_is_small_and_runs_as_defined() -> None:
    model = load_model("builtin:induction16")
    assert isinstance(model, Induction16)
    assert (
        model.layers,
        model.heads,
        model.max_length,
        len(model.regular_tokens()),
    ) == (
        2,
        1,
        10,
        16,
    )
    assert "2 layers of one head" in repr(model)
    tokens = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    assert model.logits(tokens) == pytest.approx(by_definition(model, tokens))
    first, second = model.run(tokens)
    assert first.queries.shape == second.keys.shape == (1, 8, 16)
    assert np.array_equal(model.circuits(1).query[0], model.query[1])


@pytest.mark.parametrize("length", [4, 7, 10])
def test_it_predicts_what_followed(length: int) -> None:
    model, rng = induction16_model(), np.random.default_rng(length)
    for _ in range(200):
        a, j = int(rng.integers(16)), int(rng.integers(1, length - 1))
        text = (a + rng.integers(1, 16, size=length)) % 16
        text[j - 1] = text[-1] = a
        assert int(model.logits(text)[-1].argmax()) == text[j]


def test_text_is_letters() -> None:
    model = induction16_model()
    assert model.encode("ab Pa").tolist() == [0, 1, 15, 0]
    assert model.token_strings(np.array([0, 15])) == ["a", "p"]
    with pytest.raises(InputError, match="no token for 'q'"):
        model.encode("abq")
    with pytest.raises(InputError, match="10 positions"):
        model.logits(np.zeros(11, dtype=int))
    with pytest.raises(InputError, match="expected 0 to 1"):
        model.circuits(2)
