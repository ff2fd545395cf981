"""The pieces of an audit one after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.auditing.documents import Document
from headwright.auditing.engine.part_store import PartStore
from headwright.auditing.engine.plan import (
    Plan,
    Progress,
    WorkPiece,
    cut_into_pieces,
    part_name,
    piece_cost,
)
from headwright.auditing.measures.composition import MOST_PRODUCTS, products_needed
from headwright.auditing.measures.measure import MeasuredLayer
from headwright.auditing.measures.summary import (
    LayerAccumulator,
    Summary,
    merge_summaries,
)
from headwright.auditing.measures.table import MEASURES
from headwright.models.model import Circuits, LayerActivations, Model


def measure_layer(layer: LayerActivations, document: Document) -> Summary:
    """All measures of one layer on one document."""
    measured = MeasuredLayer.of(layer, document)
    return merge_summaries(
        measure.of_rows(measured)
        for measure in MEASURES
        if measure.is_measured_on(document)
    )


def measure_weights(model: Model, index: int) -> Summary:
    """All measures of the weights of one layer, and of those before it where they take few products."""
    circuits = model.circuits(index)
    earlier: list[Circuits] = []
    if products_needed(circuits, index) <= MOST_PRODUCTS:
        earlier = [model.circuits(layer) for layer in range(index)]
    summaries = [measure.of_weights(circuits) for measure in MEASURES]
    summaries += [measure.of_layers(earlier, circuits) for measure in MEASURES]
    return merge_summaries(summaries)


def measure_piece(
    model: Model, plan: Plan, piece: WorkPiece, keep: Callable[[int, Summary], None]
) -> None:
    """Measure a piece: `keep` gets the summary of each layer, in order and in one run of the model."""
    # The matrices of a head are small, and threads would wait for each other.
    with threadpool_limits(1, "blas"):
        if piece.document is None:
            for index in piece.layers:
                keep(index, measure_weights(model, index))
            return
        document = plan.documents[piece.document]

        def visit(layer: LayerActivations) -> None:
            if layer.index in piece.layers:
                keep(layer.index, measure_layer(layer, document))

        model.visit_layers(document.tokens, visit, last=max(piece.layers))


def stored_parts(
    model: Model, plan: Plan, piece: WorkPiece, store: PartStore
) -> dict[int, Summary]:
    """The parts of a piece that are in the store, by layer."""
    parts = {}
    for layer in piece.layers:
        part = store.get(part_name(model, plan, piece.document, layer))
        if part is not None:
            parts[layer] = part
    return parts


def missing_work(piece: WorkPiece, parts: dict[int, Summary]) -> WorkPiece | None:
    """The same piece with the layers that have no part yet; None if all have one."""
    missing = tuple(layer for layer in piece.layers if layer not in parts)
    return WorkPiece(piece.document, missing) if missing else None


def run_locally(
    model: Model,
    plan: Plan,
    progress: Progress | None = None,
    store: PartStore | None = None,
) -> Summary:
    """The summary of all pieces; memory for one document and one layer at a time. Parts in the store are taken."""
    store = store or PartStore()
    pieces = cut_into_pieces(plan)
    total_cost = sum(piece_cost(plan, piece) for piece in pieces)
    done = 0.0
    totals = LayerAccumulator(plan.layers)

    def keep(document: int | None, layer: int, part: Summary) -> None:
        store.put(part_name(model, plan, document, layer), part)
        totals.merge(layer, part)

    for piece in pieces:
        # What an audit left that was killed, and then what is missing.
        parts = stored_parts(model, plan, piece, store)
        for layer, part in parts.items():
            totals.merge(layer, part)
        missing = missing_work(piece, parts)
        if missing is not None:
            measure_piece(model, plan, missing, partial(keep, piece.document))
        done += piece_cost(plan, piece)
        if progress is not None:
            progress(done / total_cost)
    return totals.summary()
