"""The heads of a model made by hand are found to do what they were made to do."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.models.auditor import Audit, audit
from headwright.models.findings.circuits import shares
from headwright.models.findings.heads import Head
from headwright.models.findings.shuffling import order
from headwright.models.findings.summary import Summary
from tests.models.handmade import LAYERS, Handmade


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(Handmade())


def _head(found: Audit, name: str, layer: int) -> Head:
    return next(head for head in found.heads if head.layer == layer and LAYERS[layer][head.head] == name)


def _roles(head: Head) -> set[str]:
    return {role.name for role in head.roles}


def test_each_head_gets_its_word(found: Audit) -> None:
    assert _roles(_head(found, "previous", 0)) == {"previous token", "copies"}
    assert _roles(_head(found, "first", 0)) == {"first token", "dead"}
    assert "self" in _roles(_head(found, "self", 0))
    assert "averages" in _roles(_head(found, "even", 0))
    assert "induction" in _roles(_head(found, "induction", 1))
    assert "dead" in _roles(_head(found, "nothing", 1))


def test_heads_of_a_layer_that_writes_nothing_are_dead() -> None:
    nothing = Summary({"mixed": np.ones((1, 2, 1, 1)), "writing": np.zeros((1, 2, 1, 1))})
    shared = shares(nothing, 0)
    assert shared is not None and shared.tolist() == [0.0, 0.0]


def test_no_head_gets_the_word_of_another(found: Audit) -> None:
    for word, name in (("previous token", "previous"), ("induction", "induction")):
        assert [LAYERS[h.layer][h.head] for h in found.heads if word in _roles(h)] == [name]


def test_a_head_at_the_sink_gets_no_word_for_the_little_that_is_left(found: Audit) -> None:
    head = _head(found, "first", 1)
    assert (head.value("averaging_away") or 0.0) > 0.9
    assert "averages" not in _roles(head)
    assert head.quantiles["margin_away"] is None


def test_equal_tokens_share_the_weight_of_the_duplicate_head(found: Audit) -> None:
    head = _head(found, "duplicate", 1)
    assert (head.value("self_away") or 0.0) + (head.value("duplicate_away") or 0.0) == pytest.approx(1.0, abs=0.02)


def test_the_ball_of_one_hot_keys_is_half_their_length(found: Audit) -> None:
    ball = _head(found, "previous", 0).quantiles["ball_away"]
    assert ball is not None
    assert ball.values[0.5] == pytest.approx(0.5, rel=0.01)


def test_ranks_are_those_of_the_matrices(found: Audit) -> None:
    assert _head(found, "first", 0).spectra["qk"].rank == 1
    assert _head(found, "induction", 1).spectra["qk"].rank == 37  # 36 of 40 equal ones are not certainly nine tenths


def test_order_shows_where_there_are_positions_and_nowhere_else() -> None:
    model = Handmade()
    seen = order(model, model.encode(" ".join("abcdefghijklmnop")), 1, (0, 1), seed=0)
    previous, even = (LAYERS[0].index(name) for name in ("previous", "even"))
    assert seen.moved[0, previous] > 0.5
    assert seen.moved[0, even] < 1e-12
    assert np.isfinite(seen.moved).all()
