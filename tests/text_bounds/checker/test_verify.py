"""Statements about every text: what is true is accepted, what was changed is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import transformers

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.model import Model, Tokens
from headwright.text_bounds.checker import DoubtError, check_statement
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.make_statement import pairs_statement, statement_of
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.sweep import Extreme
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    read_statement,
    write_statement,
)
from tests.text_bounds.test_models import tiny


def statements(
    name: str | Path = "builtin:induction", length: int = 6
) -> list[FirstLayerStatement]:
    model = load_model(name)
    layer = first_layer(model, length)
    sides: tuple[Extreme, ...] = ("least", "most")
    return [
        statement_of("a-model", layer, found, places, side)
        for found in every_text(model, length)
        for places in found.places
        for side in sides
    ]


def test_what_was_found_is_accepted() -> None:
    layer = first_layer(load_model("builtin:induction"), 6)
    for statement in statements():
        check_statement(statement, layer)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3", "qwen3", "gpt2"])
def test_what_was_found_about_networks_is_accepted(family: str, tmp_path: Path) -> None:
    model, _ = tiny(family, tmp_path)
    layer = first_layer(model, 4)
    for statement in statements(tmp_path, 4):
        check_statement(statement, layer)


def test_a_bound_that_is_a_little_better_is_rejected() -> None:
    layer = first_layer(load_model("builtin:induction"), 6)
    for statement in statements():
        better = float(statement.bound) * (
            1 + (1e-6 if statement.extreme == "least" else -1e-6)
        )
        with pytest.raises(DoubtError, match="may be"):
            check_statement(
                FirstLayerStatement(**(vars(statement) | {"bound": repr(better)})),
                layer,
            )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"weights": "0" * 64}, "other weights"),
        ({"tokens": "0" * 64}, "other tokens"),
        ({"choices": 46}, "other tokens"),
        ({"length": 10**12, "place": 10**12 - 1}, "has 256 positions"),
        ({"length": 257}, "has 256 positions"),
        ({"held": {}}, "fixed"),
        ({"held": {0: 3}}, "fixed"),
        ({"head": 2}, "no head"),
        ({"head": 1}, "may be"),
        ({"places": ()}, "places"),
        ({"places": (9,)}, "places"),
        ({"places": (4, 4)}, "places"),
        ({"place": 9}, "no place"),
        ({"query": 0}, "may hold"),
        ({"query": 99}, "may hold"),
        ({"extreme": "most"}, "may be more"),
        ({"places": (3,)}, "may be"),
        ({"place": 0}, "held by a special token"),
    ],
)
def test_a_changed_statement_is_rejected(
    change: dict[str, object], reason: str
) -> None:
    layer = first_layer(load_model("builtin:induction"), 6)
    previous = next(
        s
        for s in statements()
        if s.head == 0 and s.places == (4,) and s.extreme == "least"
    )
    with pytest.raises(DoubtError, match=reason):
        check_statement(FirstLayerStatement(**(vars(previous) | change)), layer)


def of_pairs(model: Model, length: int, text: Tokens) -> list[FirstLayerStatement]:
    """For each head, all pairs of a text that keep anything: their common floor."""
    layer, found = first_layer(model, length), []
    for one in every_text(model, length, text=text):
        assert one.guarantee is not None
        pairs = one.guarantee.firm + one.guarantee.broken
        least = min(floor for *_, floor in pairs)
        found.append(
            pairs_statement(
                "a-model", layer, one, [(a, b) for a, b, _ in pairs], 1, least
            )
        )
    return found


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3", "qwen3", "gpt2"])
def test_what_pairs_keep_is_accepted_and_nothing_more(
    family: str, tmp_path: Path
) -> None:
    model, _ = tiny(family, tmp_path)
    layer = first_layer(model, 5)
    for statement in of_pairs(model, 5, np.array([0, 3, 3, 1, 6, 2])):
        check_statement(read_statement(write_statement(statement)), layer)
        better = float(statement.bound) * (1 + 1e-6)
        with pytest.raises(DoubtError, match="may be less"):
            check_statement(
                FirstLayerStatement(**(vars(statement) | {"bound": repr(better)})),
                layer,
            )


def test_pairs_of_an_encoder_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"])
    )
    transformers.BertTokenizer(vocab=str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path
    )
    model, _ = tiny("bert", tmp_path)
    for statement in of_pairs(model, 6, np.array([2, 4, 5, 6, 6, 3])):
        assert (
            statement.held == {0: 2, 5: 3}
            and statement.places == (3,)
            and statement.place == 4
        )
        check_statement(statement, first_layer(model, 6))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pairs": ((1, 2), (0, 3))}, "token 0 is not one"),
        ({"pairs": ((1, 99),)}, "token 99 is not one"),
        ({"query": 5}, "one of these"),
        ({"places": (5,)}, "any token"),
        ({"places": (0,)}, "any token"),
        ({"places": (3, 4)}, "any token"),
        ({"places": (3,)}, "may be less"),
        ({"head": 1}, "may be less"),
        ({"pairs": ()}, "may be less"),
        ({"bound": "0.99"}, "may be less"),
    ],
)
def test_a_changed_statement_about_pairs_is_rejected(
    change: dict[str, object], reason: str
) -> None:
    model = load_model("builtin:induction")
    one = every_text(model, 6, heads=[0], text=model.encode("th"))[0]
    assert one.guarantee is not None
    ((a, b, floor),) = one.guarantee.firm
    statement = pairs_statement(
        "a-model", first_layer(model, 6), one, [(a, b)], 1, floor
    )
    check_statement(statement, first_layer(model, 6))
    assert f"{a} after {b}" in statement.words()
    with pytest.raises(DoubtError, match=reason):
        check_statement(
            FirstLayerStatement(**(vars(statement) | change)), first_layer(model, 6)
        )


def test_one_query_token_has_a_statement_of_its_own_and_some_have_none() -> None:
    model = load_model("builtin:induction")
    layer = first_layer(model, 6)
    one = every_text(model, 6, heads=[0], queries=[7])[0]
    statement = statement_of("a-model", layer, one, one.places[1], "least")
    assert statement.query == 7
    check_statement(statement, layer)
    some = every_text(model, 6, heads=[0], queries=[7, 8])[0]
    with pytest.raises(InputError, match="expected all, or one"):
        statement_of("a-model", layer, some, some.places[1], "least")


def test_progress_goes_on_to_the_end() -> None:
    layer, told = first_layer(load_model("builtin:induction"), 6), [0.0]
    check_statement(statements()[0], layer, told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 5
