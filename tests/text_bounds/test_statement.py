"""Statements as documents: their words say all that they state, and odd documents are refused."""

from __future__ import annotations

import json

import pytest

from headwright.errors import InputError
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    read_statement,
    write_statement,
)
from tests.text_bounds.checker.test_verify import statements


def test_words_change_with_every_field() -> None:
    statement = statements()[0]
    changes: dict[str, object] = {
        "model": "b",
        "weights": "1" * 64,
        "head": 7,
        "length": 9,
        "place": 3,
        "held": {1: 2},
        "tokens": "2" * 64,
        "choices": 30,
        "places": (1, 2),
        "query": 5,
        "pairs": ((3, 4),),
        "extreme": "most",
        "bound": "0.123",
        "token": 5,
        "one_pass": True,
    }
    assert set(changes) == set(vars(statement))
    of_token = FirstLayerStatement(**(vars(statement) | {"token": 4, "places": ()}))
    for each in (statement, of_token):
        for name, value in changes.items():
            assert (
                FirstLayerStatement(**(vars(each) | {name: value})).words()
                != each.words()
            )


def test_words_say_that_places_are_taken_together() -> None:
    statement = statements()[0]
    assert "gives place 5 a weight" in statement.words()
    assert (
        "gives places 1 and 2 together a weight"
        in FirstLayerStatement(**(vars(statement) | {"places": (1, 2)})).words()
    )


def test_one_pass_is_written_only_where_it_is_stated() -> None:
    statement = statements()[0]
    assert "one_pass" not in json.loads(write_statement(statement))["statement"]
    bound = FirstLayerStatement(**(vars(statement) | {"one_pass": True}))
    assert json.loads(write_statement(bound))["statement"]["one_pass"] is True
    assert read_statement(write_statement(bound)) == bound


def test_documents_are_read_back_and_odd_ones_refused() -> None:
    statement = statements()[0]
    assert read_statement(write_statement(statement)) == statement
    document = json.loads(write_statement(statement))
    spoilt: list[dict[str, object]] = [{"version": 3}, {"statement": {}}, {"extra": 1}]
    for spoil in spoilt:
        with pytest.raises(InputError):
            read_statement(json.dumps(document | spoil))
    odd: dict[str, object] = {
        "head": "0",
        "held": [],
        "bound": 0.5,
        "extreme": "none",
        "places": 3,
        "length": -1,
        "model": "x. Proved.",
        "pairs": [[1]],
        "token": -1,
    }
    for name, value in odd.items():
        with pytest.raises(InputError):
            read_statement(
                json.dumps(
                    document | {"statement": document["statement"] | {name: value}}
                )
            )
    for field, value in {
        "held": None,
        "query": True,
        "head": True,
        "places": None,
        "weights": None,
        "pairs": None,
        "token": True,
        "one_pass": None,
        "extreme": None,
    }.items():
        with pytest.raises(
            InputError, match=f"^{field} (is|has) (null|true): expected"
        ):
            read_statement(
                json.dumps(
                    document | {"statement": document["statement"] | {field: value}}
                )
            )
    for bound in ("1/0", "nan", "-0.5", "1e99999", ""):
        with pytest.raises(InputError, match="decimal"):
            read_statement(
                json.dumps(
                    document | {"statement": document["statement"] | {"bound": bound}}
                )
            )
    with pytest.raises(InputError):
        read_statement("not json")
    text = write_statement(statement)
    for spoilt_text in (
        text.replace('"head"', '"head": 1, "head"'),
        text.replace('"version": 4', '"version": true'),
        text.replace('"0": 0', '"00": 0'),
        text.replace('"0": 0', '"0": 0, "00": 5'),
        text.replace('"0": 0', '" 0": 0'),
    ):
        assert spoilt_text != text
        with pytest.raises(InputError):
            read_statement(spoilt_text)


def test_words_about_many_pairs_have_a_digest_of_all() -> None:
    statement = statements()[0]
    many = tuple((a, 5) for a in range(1, 20))
    words = FirstLayerStatement(**(vars(statement) | {"pairs": many})).words()
    assert "any of 19 pairs" in words and "and 11 more; digest" in words
    assert (
        words
        != FirstLayerStatement(
            **(vars(statement) | {"pairs": (*many[:-1], (40, 5))})
        ).words()
    )


def test_a_pair_is_counted_once() -> None:
    statement = statements()[0]
    assert (
        "with one pair of a token at place 5"
        in FirstLayerStatement(**(vars(statement) | {"pairs": ((4, 5),)})).words()
    )
    twice = write_statement(
        FirstLayerStatement(**(vars(statement) | {"pairs": ((4, 5), (4, 6), (4, 5))}))
    )
    with pytest.raises(InputError, match="pairs has one of them twice"):
        read_statement(twice)


def test_words_say_what_is_asked_of_a_token() -> None:
    statement = statements()[0]
    words = FirstLayerStatement(
        **(vars(statement) | {"token": 4, "places": (), "bound": "0.5"})
    ).words()
    assert words.startswith(
        "in every text of 6 tokens with token 0 at place 0 that has token 4 at one or more of the places seen from "
        "place 5 (its own too) where no token is held, head 0 of the first layer, seen from place 5, whatever token is "
        "there, gives all of these that have token 4 together a weight of at least 0.5. "
    )


def test_a_document_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(InputError):
        read_statement("[" * 100_000)
