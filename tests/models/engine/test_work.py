"""However the work is cut and whoever does it, the summary is the same."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.models.documents import repeated_documents, text_documents
from headwright.models.engine import work
from headwright.models.engine.work import Piece, Plan, parts, pieces
from headwright.models.findings.summary import Layered, Summary
from tests.models.handmade import Handmade

MODEL = Handmade()


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = " ".join(f"word{k % 17}" for k in range(150))
    documents = text_documents(MODEL, text, "words") + repeated_documents(MODEL)[:2]
    return Plan(tuple(documents), (0, 1), MODEL.heads)


def _summary(plan: Plan, piece: Piece) -> Summary:
    merged = Layered(plan.layers, plan.heads)
    for layer, part in parts(MODEL, plan, piece):
        merged.merge(layer, part)
    return merged.summary()


def _merged(plan: Plan, work: tuple[Piece, ...]) -> Summary:
    found = Summary()
    for piece in work:
        found = found + _summary(plan, piece)
    return found


def _identical(a: Summary, b: Summary) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(np.array_equal(x[name], y[name]) for name in x)


def test_the_local_engine_merges_all_pieces(plan: Plan) -> None:
    assert _identical(work.run(MODEL, plan), _merged(plan, pieces(plan)))


def test_cutting_by_layer_changes_no_bit(plan: Plan) -> None:
    assert len(pieces(plan, at_once=1)) > len(pieces(plan))
    assert _identical(_merged(plan, pieces(plan, at_once=1)), _merged(plan, pieces(plan)))


def test_pieces_done_in_any_order_and_merged_in_order_are_the_same(plan: Plan) -> None:
    planned = pieces(plan, at_once=1)
    done = {piece: _summary(plan, piece) for piece in reversed(planned)}
    found = Summary()
    for piece in planned:
        found = found + Summary.of(done[piece].arrays())  # as if it had been in a file
    assert _identical(found, work.run(MODEL, plan))


def test_layers_that_are_not_wanted_are_not_there(plan: Plan) -> None:
    found = work.run(MODEL, Plan(plan.documents, (1,), MODEL.heads))
    whole = work.run(MODEL, plan)
    for name, array in found.sums.items():
        assert len(array) == 1
        np.testing.assert_array_equal(array[0], whole.sums[name][1], err_msg=name)


def test_the_model_stops_after_the_last_layer_that_is_wanted(plan: Plan) -> None:
    ran = []

    class Watched(Handmade):
        def run(self, tokens):  # type: ignore[no-untyped-def]
            for layer in super().run(tokens):
                ran.append(layer.index)
                yield layer

    assert len(list(parts(Watched(), plan, Piece(0, (0,))))) == 1
    assert ran == [0]


def test_without_circuits_there_is_no_word_about_weights(plan: Plan) -> None:
    found = work.run(MODEL, Plan(plan.documents, plan.layers, MODEL.heads, no_circuits="it has none"))
    assert not any(name.startswith(("spectrum", "writing")) for name in found.sums)


def test_progress_grows_to_one(plan: Plan) -> None:
    told: list[float] = []
    work.run(MODEL, plan, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > len(plan.documents)
