"""Texts are cut to what a model can hold; random tokens repeat as they say."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models.documents import SHORTEST, repeated_documents, text_documents
from tests.models.handmade import Handmade

MODEL = Handmade()


def test_a_long_text_becomes_documents_that_fit_with_their_opening() -> None:
    text = " ".join(f"w{k}" for k in range(200))
    found = text_documents(MODEL, text, "words")
    assert all(len(document.tokens) <= 64 and document.tokens[0] == 0 for document in found)
    body = np.concatenate([document.tokens[1:] for document in found])
    np.testing.assert_array_equal(body, MODEL.encode(text)[1 : len(body) + 1])
    assert len(body) >= 200 - SHORTEST


def test_a_short_text_is_refused_with_its_length() -> None:
    with pytest.raises(InputError, match="words has 4 tokens: expected at least 16"):
        text_documents(MODEL, "one two three", "words")


def test_more_tokens_than_positions_are_refused() -> None:
    with pytest.raises(InputError, match="handmade has 64 positions"):
        repeated_documents(MODEL, length=65)
    with pytest.raises(InputError, match="documents of 3 tokens: expected at least 16"):
        text_documents(MODEL, "a " * 99, "words", length=3)
    with pytest.raises(InputError, match="2 tokens: expected at least 16"):
        repeated_documents(MODEL, tokens=2)


@pytest.mark.parametrize("longest", [17, 40, 64, None])
def test_random_tokens_repeat_after_their_period_and_differ_within_it(longest: int | None) -> None:
    for document in repeated_documents(Handmade(longest=longest), seed=3):
        body = document.tokens[document.opening :]
        assert len(body) == document.period * document.repeats
        np.testing.assert_array_equal(body, np.tile(body[: document.period], document.repeats))
        assert len(set(body.tolist())) == document.period
        assert longest is None or len(document.tokens) <= longest


def test_the_seed_fixes_the_tokens() -> None:
    one, same, other = (repeated_documents(MODEL, seed=seed)[0].tokens for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_number_of_tokens_is_about_kept() -> None:
    found = repeated_documents(MODEL, tokens=500, everything=True)
    assert 400 <= sum(len(document.tokens) for document in found) <= 500
    assert all(document.everything for document in found)
