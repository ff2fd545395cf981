"""The engine that needs nothing: one piece after the other, in this process."""

from __future__ import annotations

from headwright.models.engine.kept import Kept, part_name
from headwright.models.engine.work import Piece, Plan, Progress, cost, parts, pieces
from headwright.models.findings.summary import Layered, Summary
from headwright.models.loading.model import Model


def run(model: Model, plan: Plan, progress: Progress | None = None, kept: Kept | None = None) -> Summary:
    """The summary of all pieces; memory for one document and one layer at a time. Parts that were kept are taken."""
    kept = kept or Kept(None)
    work = pieces(plan)
    total, done, merged = sum(cost(plan, piece) for piece in work), 0.0, Layered(plan.layers, plan.heads)
    for piece in work:
        share = cost(plan, piece) / total
        before = done

        def within(part: float, before: float = before, share: float = share) -> None:
            if progress is not None:
                progress(before + share * part)

        there = kept.of_piece(model, plan, piece)
        for layer, part in there.items():
            merged.merge(layer, part)
        missing = tuple(layer for layer in piece.layers if layer not in there)
        if missing:
            for layer, part in parts(model, plan, Piece(piece.document, missing), within):
                kept.put(part_name(model, plan, piece.document, layer), part)
                merged.merge(layer, part)
        done += share
        within(1.0)
    if progress is not None:
        progress(1.0)
    return merged.summary()
