"""Finished parts, kept in files until the audit is done: what was killed goes on where it was.

A file is named by the sha256 of all that its numbers depend on: the parameters and settings of the model, the tokens of
the document, the layer, and the code of this package with that of the libraries under it. So a part that was kept for
anything else is never taken for this one, and no question about age arises.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.documents import Document
from headwright.models.engine.work import Piece, Plan
from headwright.models.findings.summary import Summary
from headwright.models.loading.model import Model
from headwright.workers import code


def cache_folder() -> Path:
    """Where parts are kept unless told otherwise: in the folder that the system has for such things."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "headwright" / "audit"


@dataclass(frozen=True)
class Kept:
    """The folder of one audit; made by `of`. Without a folder nothing is kept; without `resume` nothing is read.

    >>> nowhere = Kept(None)
    >>> nowhere.put("a", Summary())
    >>> nowhere.get("a") is None
    True
    """

    folder: Path | None
    resume: bool = False

    @classmethod
    def of(cls, folder: Path, model: Model, plan: Plan, *, resume: bool) -> Kept:
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

    def count(self) -> int:
        """How many parts are there."""
        return 0 if self.folder is None else len(list(self.folder.glob("[!.]*.npz")))

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
    """Why a folder cannot be made and written to; None if it can.

    >>> why_not_kept(Path("/dev/null/audit"))
    'Not a directory'
    """
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
    return json.dumps([tokens, document.opening, document.period, document.repeats, document.everything])
