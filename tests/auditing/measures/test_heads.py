"""The heads of a model made by hand are found to do what they were made to do."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.auditing.auditor import Audit, audit
from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.circuits import Spectrum, output_shares
from headwright.auditing.measures.shuffling import measure_order
from headwright.auditing.measures.summary import Quantiles
from tests.auditing.handmade import LAYERS, Handmade


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit(Handmade())


def _head(found: Audit, name: str, layer: int) -> HeadFindings:
    return next(
        head
        for head in found.heads
        if head.layer == layer and LAYERS[layer][head.head] == name
    )


def _roles(head: HeadFindings) -> set[str]:
    return {role.name for role in head.roles}


def test_each_head_gets_its_word(found: Audit) -> None:
    assert _roles(_head(found, "previous", 0)) == {"previous token", "one key"}
    assert _roles(_head(found, "first", 0)) == {"attention sink", "dead"}
    assert "self" in _roles(_head(found, "self", 0))
    assert "diffuse" in _roles(_head(found, "even", 0))
    assert "induction" in _roles(_head(found, "induction", 1))
    assert "dead" in _roles(_head(found, "nothing", 1))


def test_heads_of_a_layer_that_writes_nothing_are_dead() -> None:
    shares = output_shares(np.ones((2, 1, 1)), np.zeros((2, 1, 1)))
    assert shares.tolist() == [0.0, 0.0]


def test_no_head_gets_the_word_of_another(found: Audit) -> None:
    for word, name in (("previous token", "previous"), ("induction", "induction")):
        assert [LAYERS[h.layer][h.head] for h in found.heads if word in _roles(h)] == [
            name
        ]


def test_a_head_at_the_sink_gets_no_word_for_the_little_that_is_left(
    found: Audit,
) -> None:
    head = _head(found, "first", 1)
    assert (head.value("diffuse_away") or 0.0) > 0.9
    assert "diffuse" not in _roles(head)
    assert head.results["margin_away"] is None


def test_equal_tokens_share_the_weight_of_the_duplicate_head(found: Audit) -> None:
    head = _head(found, "duplicate", 1)
    assert (head.value("self_away") or 0.0) + (
        head.value("duplicate_away") or 0.0
    ) == pytest.approx(1.0, abs=0.02)


def test_the_radius_of_one_hot_keys_is_half_their_length(found: Audit) -> None:
    head = _head(found, "previous", 0)
    radius = head.result("robustness_radius_away", Quantiles)
    assert radius is not None
    assert radius.median == pytest.approx(0.5, rel=0.01)


def test_ranks_are_those_of_the_matrices(found: Audit) -> None:
    first = _head(found, "first", 0).result("qk_rank", Spectrum)
    induction = _head(found, "induction", 1).result("qk_rank", Spectrum)
    assert first is not None and induction is not None
    assert first.rank == 1
    assert induction.rank == 37  # 36 of 40 equal ones are not certainly nine tenths


def test_order_shows_where_there_are_positions_and_nowhere_else() -> None:
    model = Handmade()
    seen = measure_order(
        model, model.encode(" ".join("abcdefghijklmnop")), 1, (0, 1), seed=0
    )
    previous, even = (LAYERS[0].index(name) for name in ("previous", "even"))
    assert seen.moved[0, previous] > 0.5
    assert seen.moved[0, even] < 1e-12
    assert np.isfinite(seen.moved).all()
