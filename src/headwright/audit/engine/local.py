"""The engine that needs nothing: one piece after the other, in this process."""

from __future__ import annotations

from headwright.audit.engine.work import Plan, Progress, cost, pieces, summarise
from headwright.audit.findings.summary import Summary
from headwright.audit.models.model import Model


def run(model: Model, plan: Plan, progress: Progress | None = None) -> Summary:
    """The summary of all pieces; memory for one document and one layer at a time."""
    work = pieces(plan)
    total, done, found = sum(cost(plan, piece) for piece in work), 0.0, Summary()
    for piece in work:
        share = cost(plan, piece) / total
        before = done

        def within(part: float, before: float = before, share: float = share) -> None:
            if progress is not None:
                progress(before + share * part)

        found = found + summarise(model, plan, piece, within)
        done += share
    if progress is not None:
        progress(1.0)
    return found
