"""Texts are cut to what a model can hold; random tokens repeat as they say."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.auditing.documents import (
    SHORTEST,
    Document,
    default_texts,
    draws_of,
    induction_documents,
    repeated_documents,
    repeated_tokens,
    text_documents,
)
from headwright.auditing.measures.summary import Draws
from headwright.errors import InputError
from tests.auditing.handmade import Handmade

MODEL = Handmade()


def test_a_long_text_becomes_documents_that_fit_with_their_opening() -> None:
    text = " ".join(f"w{k}" for k in range(200))
    found = text_documents(MODEL, text, "words")
    assert all(
        len(document.tokens) <= 64 and document.tokens[0] == 0 for document in found
    )
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
def test_random_tokens_repeat_after_their_period_and_differ_within_it(
    longest: int | None,
) -> None:
    for document in repeated_documents(Handmade(max_length=longest), seed=3):
        body = document.tokens[document.opening :]
        assert len(body) == document.period * document.repeats
        np.testing.assert_array_equal(
            body, np.tile(body[: document.period], document.repeats)
        )
        assert len(set(body.tolist())) == document.period
        assert longest is None or len(document.tokens) <= longest


def test_the_seed_fixes_the_tokens() -> None:
    one, same, other = (
        repeated_documents(MODEL, seed=seed)[0].tokens for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_number_of_tokens_is_about_kept() -> None:
    found = repeated_documents(MODEL, tokens=500, everything=True)
    assert 400 <= sum(len(document.tokens) for document in found) <= 500
    assert all(document.everything for document in found)


def test_a_number_of_tokens_and_a_length_are_both_kept() -> None:
    for model, period in (
        (Handmade(vocabulary=9000, max_length=None), 2048),
        (Handmade(max_length=None), 39),
    ):
        (document,) = repeated_documents(
            model, tokens=8192, length=8192, everything=True
        )
        assert len(document.tokens) == 8192
        assert document.period == period
        body = document.tokens[document.opening :]
        np.testing.assert_array_equal(body[period:], body[:-period])
        assert len(set(body[:period].tolist())) == period
        assert (document.repeats - 1) * period < len(body) <= document.repeats * period
    assert [
        len(each.tokens) for each in repeated_documents(MODEL, tokens=200, length=64)
    ] == [64] * 3


def test_token_ids_are_documents_as_they_are() -> None:
    ids = np.arange(1, 31)
    (alone,) = text_documents(MODEL, ids, "ids")
    np.testing.assert_array_equal(alone.tokens, ids)
    assert alone.opening == 0
    (opened,) = text_documents(MODEL, np.append(0, ids), "ids")
    assert opened.opening == 1
    assert [
        len(each.tokens) for each in text_documents(MODEL, np.tile(ids, 4), "ids")
    ] == [64, 56]
    table = text_documents(MODEL, np.tile(ids, (3, 2)), "ids")
    assert [(each.name, len(each.tokens)) for each in table] == [
        (f"ids, row {k}", 60) for k in range(3)
    ]
    for wrong in (ids * 1.0, ids[:0], ids.reshape(1, 2, 15)):
        with pytest.raises(InputError, match="expected whole numbers"):
            text_documents(MODEL, wrong, "ids")


@pytest.mark.parametrize(
    ("model", "length", "expected"),
    [
        (
            Handmade(vocabulary=9000, max_length=None),
            8192,
            {"induction": (64, 257, 8), "induction_long": (2048, 8192, 1)},
        ),
        (
            Handmade(vocabulary=9000, max_length=None),
            None,
            {"induction": (64, 257, 8), "induction_long": (256, 1024, 1)},
        ),
        (
            Handmade(max_length=None),
            8192,
            {"induction": (39, 157, 8), "induction_long": (39, 8192, 1)},
        ),
        (
            Handmade(vocabulary=9000, max_length=None),
            257,
            {"induction": (64, 257, 8)},
        ),  # the short ones fill it
        (Handmade(), None, {"induction": (15, 61, 8)}),
    ],
)
def test_induction_is_measured_on_short_repeats_and_on_repeats_that_fill_the_longest_context(
    model: Handmade, length: int | None, expected: dict[str, tuple[int, int, int]]
) -> None:
    measured = repeated_tokens(induction_documents(model, length=length))
    told = {
        name: (tokens.period, tokens.context, tokens.sequences)
        for name, tokens in measured.items()
    }
    assert told == expected


def test_long_repeats_that_are_there_are_not_measured_twice() -> None:
    model = Handmade(vocabulary=9000, max_length=None)
    there = repeated_documents(model, tokens=8192, length=8192, everything=True)
    added = induction_documents(model, length=8192, measured=there)
    assert [document.induction for document in (*there, *added)] == [
        "induction_long"
    ] + ["induction"] * 8


@pytest.mark.parametrize(
    ("sources", "period", "over", "alike"),
    [
        ("abc", 0, "texts", True),
        ("a", 0, "texts", True),
        ("aaa", 0, "passages of one text", True),
        ("aab", 0, "passages of 2 texts", False),
        ("abc", 9, "random sequences", True),
    ],
)
def test_documents_know_what_they_are_draws_of(
    sources: str, period: int, over: str, alike: bool
) -> None:
    documents = [
        Document(name, np.arange(20), 0, period, source=name) for name in sources
    ]
    assert draws_of(documents) == Draws(len(sources), over, alike)


def test_the_default_texts_are_enough_for_intervals_and_of_much_the_same_length() -> (
    None
):
    lengths = [len(text) for text in default_texts()]
    assert len(lengths) >= 8
    assert max(lengths) < 2.5 * min(lengths)  # a log has few letters a token
    assert not any("=====" in text for text in default_texts())
