"""The work of an audit: cut into independent pieces, done one after the other, and finished parts kept in files.

A piece is a document with some layers, or the weights of a layer. An audit that was killed resumes from the kept parts.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.documents import Document
from headwright.models.findings.behaviour import behaviour, induction
from headwright.models.findings.circuits import mixed, ranks, writing
from headwright.models.findings.first_token import rows_away
from headwright.models.findings.fragility import fragility
from headwright.models.findings.rounding import Buffers, keep_rounding, rounding, sample_rows
from headwright.models.findings.summary import Layered, Summary
from headwright.models.loading.model import Layer, Model, numbers
from headwright.workers import code

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


def parts(model: Model, plan: Plan, piece: Piece) -> Iterator[tuple[int, Summary]]:
    """Work one piece off: each of its layers, in order and in one run of the model, with the summary of it alone."""
    with threadpool_limits(1, "blas"):  # the matrices of a head are small, and threads would wait for each other
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
            if layer.index == last:
                break


def _measure(kept: Layered, plan: Plan, document: Document, layer: Layer) -> None:
    rows = rows_away(layer, (0, 1))
    if document.induction is not None:
        begin = document.opening + document.period
        induction(kept, layer.index, rows, document.tokens, begin, document.induction)
    if not document.everything:
        return
    behaviour(kept, layer.index, rows, document.tokens)
    fragility(kept, layer.index, rows)
    values, found, written = numbers(layer.values), [], []
    buffers = Buffers()
    for head in range(plan.heads):  # one at a time: the rows of all heads would take the most memory
        looked = sample_rows(rows, head, buffers=buffers)
        found.append(rounding(rows, head, looked, buffers))
        written.append(mixed(looked, values[rows.key_head[head]]))
    keep_rounding(kept, layer.index, np.stack(found))
    kept.add(layer.index, "mixed", np.stack(written))


@dataclass(frozen=True)
class PartFiles:
    """Parts of an audit in files of a folder; without a folder none are written, without `resume` none read."""

    folder: Path | None
    resume: bool = False

    @classmethod
    def of(cls, folder: Path, model: Model, plan: Plan, *, resume: bool) -> PartFiles:
        """The folder for this model and this plan, inside the one given; refused in a sentence if it cannot be made."""
        names = (part_name(model, plan, k, layer) for k in range(len(plan.documents)) for layer in plan.layers)
        inside = folder / hashlib.sha256("\n".join(names).encode()).hexdigest()[:32]
        reason = why_not_kept(inside)
        if reason is not None:
            raise InputError(f"{inside}: finished parts cannot be kept there ({reason})")
        return cls(inside, resume)

    def get(self, name: str) -> Summary | None:
        """The part of that name; None if it is not there, or was not written to its end."""
        if self.folder is None or not self.resume:
            return None
        try:
            content = (self.folder / f"{name}.npz").read_bytes()
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return Summary.of(dict(arrays))
        except (OSError, EOFError, ValueError, TypeError, AttributeError, zipfile.BadZipFile):
            return None  # it will be measured again

    def of_piece(self, model: Model, plan: Plan, piece: Piece) -> dict[int, Summary]:
        """The parts of a piece that are there, by layer."""
        found = {layer: self.get(part_name(model, plan, piece.document, layer)) for layer in piece.layers}
        return {layer: part for layer, part in found.items() if part is not None}

    def put(self, name: str, part: Summary) -> None:
        """Keep a part, whole or not at all: where there is no room left, it would be measured again after a kill."""
        if self.folder is None:
            return
        content = io.BytesIO()
        np.savez_compressed(content, **part.arrays())  # type: ignore[arg-type]
        with suppress(OSError, InputError):
            self.folder.mkdir(parents=True, exist_ok=True)  # another audit of the same may have ended, and cleaned up
            write_whole(self.folder / f"{name}.npz", content.getvalue())

    def clear(self) -> None:
        """The audit is done: nothing needs to be kept."""
        if self.folder is None:
            return
        for file in self.folder.glob("*.npz"):
            file.unlink(missing_ok=True)
        try:
            self.folder.rmdir()
        except OSError:
            return  # another audit of the same keeps a part there just now


def why_not_kept(folder: Path) -> str | None:
    """Why a folder cannot be made and written to; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or type(error).__name__


def part_name(model: Model, plan: Plan, document: int | None, layer: int) -> str:
    """The sha256 of all that the numbers of a part depend on."""
    about = [code(), model.digest, model.settings, str(plan.heads), str(layer)]
    about += [] if document is None else [_document(plan.documents[document])]
    return hashlib.sha256("\0".join(about).encode()).hexdigest()


def _document(document: Document) -> str:
    tokens = hashlib.sha256(document.tokens.astype("<i8").tobytes()).hexdigest()
    about = [tokens, document.opening, document.period, document.repeats, document.everything, document.long]
    return json.dumps(about)


def run(model: Model, plan: Plan, progress: Progress | None = None, kept: PartFiles | None = None) -> Summary:
    """The summary of all pieces; memory for one document and one layer at a time. Parts that were kept are taken."""
    kept = kept or PartFiles(None)
    work = pieces(plan)
    total, done, merged = sum(cost(plan, piece) for piece in work), 0.0, Layered(plan.layers, plan.heads)
    for piece in work:
        there = kept.of_piece(model, plan, piece)
        for layer, part in there.items():
            merged.merge(layer, part)
        missing = tuple(layer for layer in piece.layers if layer not in there)
        if missing:
            for layer, part in parts(model, plan, Piece(piece.document, missing)):
                kept.put(part_name(model, plan, piece.document, layer), part)
                merged.merge(layer, part)
        done += cost(plan, piece)
        if progress is not None:
            progress(done / total)
    return merged.summary()
