"""The work of an audit, cut into independent pieces: a document with some layers, or the weights of a layer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from headwright.auditing.documents import Document
from headwright.models.model import Model
from headwright.workers import code

Progress = Callable[[float], None]

WEIGHTS_COST = (
    64  # of the weights of a layer: about as much as a layer on so many tokens
)


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be measured: on which documents, of which layers."""

    documents: tuple[Document, ...]
    layers: tuple[int, ...]
    # why nothing is measured of the weights; None if they are there
    no_circuits: str | None = None


@dataclass(frozen=True)
class WorkPiece:
    """A document, or no document and then the weights; of these layers."""

    document: int | None
    layers: tuple[int, ...]


def cut_into_pieces(
    plan: Plan, layers_at_once: int | None = None
) -> tuple[WorkPiece, ...]:
    """The whole work in order; each piece of a document has at most so many layers, or all.

    A run of the model passes through the layers below too, so cutting by layer pays only where statistics cost more.
    """
    size = layers_at_once or len(plan.layers)
    groups = [plan.layers[k : k + size] for k in range(0, len(plan.layers), size)]
    pieces = [
        WorkPiece(document, group)
        for document in range(len(plan.documents))
        for group in groups
    ]
    if plan.no_circuits is None:
        pieces += [WorkPiece(None, (layer,)) for layer in plan.layers]
    return tuple(pieces)


def piece_cost(plan: Plan, piece: WorkPiece) -> float:
    """About how much work a piece is, for a bar that is true: tokens times layers."""
    if piece.document is None:
        return float(WEIGHTS_COST * len(piece.layers))
    return float(len(plan.documents[piece.document].tokens) * len(piece.layers))


def part_name(model: Model, plan: Plan, document: int | None, layer: int) -> str:
    """The sha256 of all that the numbers of a part, one layer of a piece, depend on."""
    about = [code(), model.digest, model.settings, str(model.heads), str(layer)]
    if document is not None:
        about.append(_document_identity(plan.documents[document]))
    return hashlib.sha256("\0".join(about).encode()).hexdigest()


def _document_identity(document: Document) -> str:
    """All of a document that numbers depend on: not its name."""
    tokens = hashlib.sha256(document.tokens.astype("<i8").tobytes()).hexdigest()
    about = [
        tokens,
        document.opening,
        document.period,
        document.repeats,
        document.everything,
        document.long,
    ]
    return json.dumps(about)
