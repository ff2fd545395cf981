"""Heads worth looking at: of each kind the most extreme one, with a row that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwright.audit.documents import Document
from headwright.audit.explain import Row, explain_layer
from headwright.audit.findings.heads import ENOUGH, Head
from headwright.audit.models.model import Model

ROWS = 2


@dataclass(frozen=True)
class Example:
    """The head that is most of something, how much, and rows of it."""

    title: str
    measure: str
    value: float
    layer: int
    head: int
    document: str
    rows: tuple[Row, ...]


KINDS = (
    ("most on the first token", "sink"),
    ("most on the previous token", "previous_away"),
    ("most on its own token", "self_away"),
    ("most on earlier equal tokens", "duplicate_away"),
    ("most on what followed the same token", "induction_away"),
    ("sharpest", "largest_away"),
    ("most spread", "entropy_away"),
    ("looks farthest back", "distance_away"),
)


def gallery(
    model: Model, documents: Sequence[Document], found: Sequence[Head], progress: Callable[[float], None] | None = None
) -> tuple[Example, ...]:
    """One example of each kind; for induction on random tokens that repeat, else on the first document.

    What a head does away from the first token counts only where a tenth of its attention is.
    """
    wanted = []
    for title, measure in KINDS:
        best = _most(found, measure)
        if best is not None:
            repeated = next((document for document in documents if document.period), documents[0])
            wanted.append((title, measure, best, repeated if measure.startswith("induction") else documents[0]))
    made: dict[tuple[str, str], Example] = {}
    used = {id(document): document for *_, document in wanted}
    for k, document in enumerate(used.values()):
        mine = [one for one in wanted if one[3] is document]
        last = max(best.layer for _, _, best, _ in mine)
        for layer in model.run(document.tokens):
            for title, measure, best, _ in mine:
                if best.layer == layer.index:
                    rows = explain_layer(model, document, layer, best.head, rows=ROWS, queries=False).rows
                    made[title, measure] = Example(
                        title, measure, best.value(measure) or 0.0, best.layer, best.head, document.name, rows
                    )
            if progress is not None:
                progress((k + (layer.index + 1) / (last + 1)) / len(used))
            if layer.index == last:
                break
    return tuple(made[title, measure] for title, measure, *_ in wanted)


def _most(found: Sequence[Head], measure: str) -> Head | None:
    fit = [
        head
        for head in found
        if head.value(measure) is not None and (measure == "sink" or 1 - (head.value("sink") or 0.0) >= ENOUGH)
    ]
    return max(fit, key=lambda head: head.value(measure) or 0.0, default=None)
