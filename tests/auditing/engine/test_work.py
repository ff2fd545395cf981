"""However the work is cut and whoever does it, the summary is the same."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.auditing.documents import repeated_documents, text_documents
from headwright.auditing.engine.local import measure_piece, run_locally
from headwright.auditing.engine.plan import Plan, WorkPiece, cut_into_pieces
from headwright.auditing.measures.measure import WEIGHT_PRODUCTS
from headwright.auditing.measures.summary import LayerAccumulator, Summary
from headwright.models.model import LayerActivations, LayerVisitor, Tokens
from tests.auditing.handmade import Handmade

MODEL = Handmade()


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = " ".join(f"word{k % 17}" for k in range(150))
    documents = text_documents(MODEL, text, "words") + repeated_documents(MODEL)[:2]
    return Plan(tuple(documents), (0, 1))


def _summary(plan: Plan, piece: WorkPiece) -> Summary:
    merged = LayerAccumulator(plan.layers)
    measure_piece(MODEL, plan, piece, merged.merge)
    return merged.summary()


def _merged(plan: Plan, work: tuple[WorkPiece, ...]) -> Summary:
    found = Summary()
    for piece in work:
        found = found + _summary(plan, piece)
    return found


def _identical(a: Summary, b: Summary) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(np.array_equal(x[name], y[name]) for name in x)


def test_the_local_engine_merges_all_cut_into_pieces(plan: Plan) -> None:
    assert _identical(run_locally(MODEL, plan), _merged(plan, cut_into_pieces(plan)))


def test_cutting_by_layer_changes_no_bit(plan: Plan) -> None:
    assert len(cut_into_pieces(plan, layers_at_once=1)) > len(cut_into_pieces(plan))
    assert _identical(
        _merged(plan, cut_into_pieces(plan, layers_at_once=1)),
        _merged(plan, cut_into_pieces(plan)),
    )


def test_pieces_done_in_any_order_and_merged_in_order_are_the_same(plan: Plan) -> None:
    planned = cut_into_pieces(plan, layers_at_once=1)
    done = {piece: _summary(plan, piece) for piece in reversed(planned)}
    found = Summary()
    for piece in planned:
        found = found + Summary.of(done[piece].arrays())  # as if it had been in a file
    assert _identical(found, run_locally(MODEL, plan))


def test_layers_that_are_not_wanted_are_not_there(plan: Plan) -> None:
    found = run_locally(MODEL, Plan(plan.documents, (1,)))
    whole = run_locally(MODEL, plan)
    for name, array in found.sums.items():
        assert len(array) == 1
        np.testing.assert_array_equal(array[0], whole.sums[name][1], err_msg=name)


def test_the_model_stops_after_the_last_layer_that_is_wanted(plan: Plan) -> None:
    ran = []

    class Watched(Handmade):
        def visit_layers(
            self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
        ) -> None:
            def visit_watched(layer: LayerActivations) -> None:
                ran.append(layer.index)
                visit(layer)

            super().visit_layers(tokens, visit_watched, last)

    kept: list[int] = []
    measure_piece(
        Watched(), plan, WorkPiece(0, (0,)), lambda layer, _: kept.append(layer)
    )
    assert kept == [0]
    assert ran == [0]


def test_without_circuits_there_is_no_word_about_weights(plan: Plan) -> None:
    found = run_locally(
        MODEL, Plan(plan.documents, plan.layers, no_circuits="it has none")
    )
    assert not any(
        name in found.sums for name in ("qk_rank", "ov_rank", WEIGHT_PRODUCTS)
    )


def test_progress_grows_to_one(plan: Plan) -> None:
    told: list[float] = []
    run_locally(MODEL, plan, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > len(plan.documents)
