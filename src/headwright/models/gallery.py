"""Heads worth looking at: of each kind the most extreme one, with a row that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.models.documents import Document
from headwright.models.explain import Row, explain_layer
from headwright.models.findings.away import duplicate_weight, rows_away
from headwright.models.findings.behaviour import induction_offsets
from headwright.models.findings.heads import ENOUGH, Head
from headwright.models.loading.model import Layer, Model

ROWS = 2
LEAST = 0.1  # of a measure, for a head to be worth looking at


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


def gallery(model: Model, documents: Sequence[Document], found: Sequence[Head]) -> tuple[Example, ...]:
    """One example of each kind, where there is one; induction on random tokens that repeat, else the first document.

    What a head does away from the first token counts only where a tenth of its attention is.
    """
    repeated = next((document for document in documents if document.period), documents[0])
    wanted = [
        (title, measure, best, repeated if measure == "induction_away" else documents[0])
        for title, measure in KINDS
        if (best := _most(found, measure)) is not None
    ]
    made: dict[str, Example] = {}
    for document in {id(document): document for *_, document in wanted}.values():
        mine = [one for one in wanted if one[3] is document]
        last = max(best.layer for _, _, best, _ in mine)
        for layer in model.run(document.tokens):
            for title, measure, best, _ in mine:
                if best.layer == layer.index:
                    made[title] = _example(model, document, layer, title, measure, best)
            if layer.index == last:
                break
    return tuple(made[title] for title, *_ in wanted)


def _example(model: Model, document: Document, layer: Layer, title: str, measure: str, head: Head) -> Example:
    telling = _telling(document, layer, measure)[head.head]
    rows = explain_layer(model, document, layer, head.head, rows=ROWS, queries=False, telling=telling).rows
    return Example(title, measure, head.value(measure) or 0.0, head.layer, head.head, document.name, rows)


def _telling(document: Document, layer: Layer, measure: str) -> Float[np.ndarray, "heads rows"]:
    """How much each row shows of a measure."""
    offsets = induction_offsets(document.period, document.repeats) if document.period else ()
    rows = rows_away(layer, sorted({0, 1, *offsets}))
    away = rows.away
    if measure == "sink":
        return rows.first
    weights: dict[str, Callable[[], Float[np.ndarray, "heads rows"]]] = {
        "previous_away": lambda: away.offsets[1],
        "self_away": lambda: away.offsets[0],
        "duplicate_away": lambda: duplicate_weight(rows, document.tokens),
        "induction_away": lambda: np.sum([away.offsets[offset] for offset in offsets], axis=0),
        "largest_away": lambda: away.largest,
        "entropy_away": lambda: away.entropy,
        "distance_away": lambda: away.distance,
    }
    shown: Float[np.ndarray, "heads rows"] = rows.rest * weights[measure]()
    return shown


def _most(found: Sequence[Head], measure: str) -> Head | None:
    fit = [
        head
        for head in found
        if (head.value(measure) or 0.0) >= LEAST and (measure == "sink" or 1 - (head.value("sink") or 0.0) >= ENOUGH)
    ]
    return max(fit, key=lambda head: head.value(measure) or 0.0, default=None)
