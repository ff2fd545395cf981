"""Finished parts of an audit in files of a folder, so that an audit that was killed can be resumed."""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headwright.auditing.engine.plan import Plan, part_name
from headwright.auditing.measures.summary import Summary
from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.model import Model

# What reading a file may raise that is missing, or was not written to its end.
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    zipfile.BadZipFile,
)


@dataclass(frozen=True)
class PartStore:
    """Parts by name; without a folder none are written, without `resume` none are read."""

    folder: Path | None = None
    resume: bool = False

    def get(self, name: str) -> Summary | None:
        """The part of that name; None if it is not there, or was not written to its end: it is measured again."""
        if self.folder is None or not self.resume:
            return None
        try:
            content = (self.folder / f"{name}.npz").read_bytes()
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return Summary.of(dict(arrays))
        except UNREADABLE:
            return None

    def put(self, name: str, part: Summary) -> None:
        """Store a part, whole or not at all: where there is no room left, it would be measured again after a kill."""
        if self.folder is None:
            return
        content = io.BytesIO()
        np.savez_compressed(content, **part.arrays())  # type: ignore[arg-type]
        with suppress(OSError, InputError):
            # Another audit of the same may have ended, and removed the folder.
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{name}.npz", content.getvalue())

    def clear(self) -> None:
        """Remove all parts: the audit is done."""
        if self.folder is None:
            return
        for file in self.folder.glob("*.npz"):
            file.unlink(missing_ok=True)
        # Another audit of the same stores a part there just now.
        with suppress(OSError):
            self.folder.rmdir()


def open_store(
    folder: Path | None, model: Model, plan: Plan, *, resume: bool
) -> PartStore:
    """The store of this model and this plan, in a folder of its own inside the one given; refused if it cannot be."""
    if folder is None:
        return PartStore()
    names = [
        part_name(model, plan, document, layer)
        for document in range(len(plan.documents))
        for layer in plan.layers
    ]
    inside = folder / hashlib.sha256("\n".join(names).encode()).hexdigest()[:32]
    reason = why_not_writable(inside)
    if reason is not None:
        raise InputError(f"{inside}: finished parts cannot be kept there ({reason})")
    return PartStore(inside, resume)


def why_not_writable(folder: Path) -> str | None:
    """Why a folder cannot be made and written to; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or type(error).__name__
