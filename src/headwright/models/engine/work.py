"""The work, cut into pieces that know nothing of each other: a document and some layers, or the weights of a layer.

A piece becomes one part for each of its layers, a summary of that layer alone, and parts are merged in the order of
the pieces: so whoever works them off, in whatever order, on however many machines, what is merged is the same. A part
is a handful of arrays, so it can be kept in a file until the rest is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.models.documents import Document
from headwright.models.findings.away import rows_away
from headwright.models.findings.behaviour import behaviour, induction, induction_offsets
from headwright.models.findings.device import numbers
from headwright.models.findings.fragility import fragility
from headwright.models.findings.rank import ranks
from headwright.models.findings.rounding import looked_at, rounding
from headwright.models.findings.summary import Layered, Summary
from headwright.models.findings.written import mixed, writing
from headwright.models.loading.model import Layer, Model

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be measured: on which documents, of which layers."""

    documents: tuple[Document, ...]
    layers: tuple[int, ...]
    heads: int  # of a layer, all of which are measured
    no_circuits: str | None = None  # why there is no word about weights; None if there is


@dataclass(frozen=True)
class Piece:
    """A document, or no document and then the weights; of these layers."""

    document: int | None
    layers: tuple[int, ...]


def pieces(plan: Plan, at_once: int | None = None) -> tuple[Piece, ...]:
    """The whole work in order; each piece of a document has at most so many layers, or all.

    A run of the model passes through the layers below too, so cutting by layer pays only where statistics cost more.
    """
    size = at_once or len(plan.layers)
    groups = [plan.layers[k : k + size] for k in range(0, len(plan.layers), size)]
    weights = () if plan.no_circuits else tuple(Piece(None, (layer,)) for layer in plan.layers)
    return tuple(Piece(k, group) for k in range(len(plan.documents)) for group in groups) + weights


def cost(plan: Plan, piece: Piece) -> float:
    """About how much work a piece is, for a bar that tells the truth: tokens times layers."""
    return float(len(piece.layers) * (64 if piece.document is None else len(plan.documents[piece.document].tokens)))


def parts(model: Model, plan: Plan, piece: Piece, progress: Progress | None = None) -> Iterator[tuple[int, Summary]]:
    """Work one piece off: each of its layers, in order and in one run of the model, with the summary of it alone."""
    with threadpool_limits(1, "blas"):  # the matrices of a head are small, and threads would wait for each other
        yield from _parts(model, plan, piece, progress)


def _parts(model: Model, plan: Plan, piece: Piece, progress: Progress | None) -> Iterator[tuple[int, Summary]]:
    if piece.document is None:
        for index in piece.layers:
            kept = Layered((index,), plan.heads)
            circuits = model.circuits(index)
            ranks(kept, index, circuits)
            writing(kept, index, circuits)
            yield index, kept.summary()
        return
    document, last = plan.documents[piece.document], max(piece.layers)
    for layer in model.run(document.tokens):
        if layer.index in piece.layers:
            kept = Layered((layer.index,), plan.heads)
            _measure(kept, plan, document, layer)
            yield layer.index, kept.summary()
        if progress is not None:
            progress((layer.index + 1) / (last + 1))
        if layer.index == last:
            break


def _measure(kept: Layered, plan: Plan, document: Document, layer: Layer) -> None:
    offsets = induction_offsets(document.period, document.repeats) if document.period else ()
    rows = rows_away(layer, sorted({0, 1, *offsets}))
    if document.period:
        induction(kept, layer.index, rows, document.period, document.repeats, document.opening)
    if not document.everything:
        return
    behaviour(kept, layer.index, rows, document.tokens)
    fragility(kept, layer.index, rows)
    looked = [looked_at(rows, head) for head in range(plan.heads)]
    rounding(kept, layer.index, rows, looked)
    mixed(kept, layer.index, looked, numbers(layer.values))
