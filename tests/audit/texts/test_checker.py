"""Statements about every text: what is true is accepted, what was changed is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwright.audit.models import load_model
from headwright.audit.texts.certificate import Statement, read, statement_of, written
from headwright.audit.texts.checker import DoubtError, check
from headwright.audit.texts.every_text import every_text
from headwright.audit.texts.reading import first_layer
from headwright.audit.texts.witness import Extreme
from headwright.errors import InputError
from tests.audit.texts.test_models import tiny


def statements(name: str | Path = "builtin:induction", length: int = 6) -> list[Statement]:
    model = load_model(name)
    layer = first_layer(model)
    sides: tuple[Extreme, ...] = ("least", "most")
    return [
        statement_of("a-model", layer, found, places, side)
        for found in every_text(model, length)
        for places in found.places
        for side in sides
    ]


def test_what_was_found_is_accepted() -> None:
    layer = first_layer(load_model("builtin:induction"))
    for statement in statements():
        check(statement, layer)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3", "qwen3", "gpt2"])
def test_what_was_found_about_networks_is_accepted(family: str, tmp_path: Path) -> None:
    model, _ = tiny(family, tmp_path)
    layer = first_layer(model)
    for statement in statements(tmp_path, 4):
        check(statement, layer)


def test_a_bound_that_is_a_little_better_is_rejected() -> None:
    layer = first_layer(load_model("builtin:induction"))
    for statement in statements():
        better = float(statement.bound) * (1 + (1e-6 if statement.extreme == "least" else -1e-6))
        with pytest.raises(DoubtError, match="may be"):
            check(Statement(**(vars(statement) | {"bound": repr(better)})), layer)


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
def test_a_changed_statement_is_rejected(change: dict[str, object], reason: str) -> None:
    layer = first_layer(load_model("builtin:induction"))
    previous = next(s for s in statements() if s.head == 0 and s.places == (4,) and s.extreme == "least")
    with pytest.raises(DoubtError, match=reason):
        check(Statement(**(vars(previous) | change)), layer)


def test_words_change_with_every_field() -> None:
    statement = statements()[0]
    changes: dict[str, object] = {
        "model": "b", "weights": "1" * 64, "head": 7, "length": 9, "place": 3, "held": {1: 2}, "tokens": "2" * 64,
        "choices": 30, "places": (1, 2), "query": 5, "extreme": "most", "bound": "0.123",
    }  # fmt: skip
    assert set(changes) == set(vars(statement))
    for name, value in changes.items():
        assert Statement(**(vars(statement) | {name: value})).words() != statement.words()


def test_words_say_that_places_are_taken_together() -> None:
    statement = statements()[0]
    assert "gives place 5 a weight" in statement.words()
    assert "gives places 1 and 2 together a weight" in Statement(**(vars(statement) | {"places": (1, 2)})).words()


def test_documents_are_read_back_and_odd_ones_refused() -> None:
    statement = statements()[0]
    assert read(written(statement)) == statement
    document = json.loads(written(statement))
    spoilt: list[dict[str, object]] = [{"version": 2}, {"statement": {}}, {"extra": 1}]
    for spoil in spoilt:
        with pytest.raises(InputError):
            read(json.dumps(document | spoil))
    odd: dict[str, object] = {
        "head": "0", "held": [], "bound": 0.5, "extreme": "none", "places": 3, "length": -1, "model": "x. Proved.",
    }  # fmt: skip
    for name, value in odd.items():
        with pytest.raises(InputError):
            read(json.dumps(document | {"statement": document["statement"] | {name: value}}))
    for field, value in {"held": None, "query": True, "head": True, "places": None, "weights": None}.items():
        with pytest.raises(InputError, match=f"^{field} (is|has) (null|true): expected"):
            read(json.dumps(document | {"statement": document["statement"] | {field: value}}))
    for bound in ("1/0", "nan", "-0.5", "1e99999", ""):
        with pytest.raises(InputError, match="decimal"):
            read(json.dumps(document | {"statement": document["statement"] | {"bound": bound}}))
    with pytest.raises(InputError):
        read("not json")
    text = written(statement)
    for spoilt_text in (
        text.replace('"head"', '"head": 1, "head"'), text.replace('"version": 1', '"version": true'),
        text.replace('"0": 0', '"00": 0'), text.replace('"0": 0', '"0": 0, "00": 5'), text.replace('"0": 0', '" 0": 0'),
    ):  # fmt: skip
        assert spoilt_text != text
        with pytest.raises(InputError):
            read(spoilt_text)
