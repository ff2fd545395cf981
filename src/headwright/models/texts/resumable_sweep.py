"""The sweep in parts, cut by head and places, on workers or here; finished parts are kept, so that it can be resumed.

A part is the four sums of each set over a few places, in a file named by the sha256 of all that it depends on, so that
a run that was killed goes on where it was, and a part of anything else is never taken for one of this.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Int

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.models.engine.cluster import Source, expected_model
from headwright.models.loading.model import Model
from headwright.models.texts.first_layer import head_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import Scaled, Sums, Sweep, checked_sets, sweep
from headwright.workers import code

AT_ONCE = 16  # places of a part
Sets = Mapping[str, Sequence[int]]
Rows = Int[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class InParts:
    """A sweeper. `folder` keeps parts, `resume` takes those that are there; workers, if given, do the work."""

    model: Model
    folder: Path | None = None
    resume: bool = False
    workers: Executor | None = None
    source: Source | None = None
    names: list[str] = field(default_factory=list)  # of the parts that were kept, for `clear`

    def __call__(
        self, head: Head, texts: Texts, sets: Sets, rows: Rows | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Sweep:  # fmt: skip
        """What `sweep` finds."""
        rows = np.arange(head.free) if rows is None else np.asarray(rows)
        kept = checked_sets(texts, sets)
        cut = [texts.seen[start : start + AT_ONCE] for start in range(0, len(texts.seen), AT_ONCE)]
        names = [self._name(head.number, texts, kept, rows, places) for places in cut]
        found = {
            index: part for index, name in enumerate(names) if (part := self._get(name, texts, kept, rows)) is not None
        }
        missing = [index for index in range(len(cut)) if index not in found]
        for index, part in self._worked(head, texts, kept, rows, cut, missing):
            self._put(names[index], part)
            found[index] = part
            if progress is not None:
                progress(len(found) / len(cut))
        whole = found[0]
        for index in range(1, len(cut)):
            whole = whole.merged(found[index])
        return whole

    def clear(self) -> None:
        """All is done: nothing needs to be kept."""
        for name in self.names:
            if self.folder is not None:
                (self.folder / f"{name}.npz").unlink(missing_ok=True)

    def _worked(
        self, head: Head, texts: Texts, sets: Mapping[str, tuple[int, ...]], rows: Rows, cut: Sequence[Sequence[int]],
        missing: Sequence[int],
    ) -> Iterator[tuple[int, Sweep]]:  # fmt: skip
        if self.workers is None or self.source is None:
            for index in missing:
                yield index, sweep(head, texts, sets, rows, places=cut[index])
            return
        expected = self.model.digest, self.model.settings, code()
        out = {
            self.workers.submit(_on_worker, self.source, expected, head.number, texts, sets, rows, cut[index]): index
            for index in missing
        }
        for future in as_completed(out):
            yield out[future], future.result()

    def _name(
        self, head: int, texts: Texts, sets: Mapping[str, tuple[int, ...]], rows: Rows, places: Sequence[int]
    ) -> str:
        about = [
            "every text", code(), self.model.digest, self.model.settings, head, texts.length, texts.place,
            sorted(texts.held.items()), texts.causal, texts.window, sorted(sets.items()),
            hashlib.sha256(np.asarray(rows, dtype="<i8").tobytes()).hexdigest(), list(places),
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def _get(self, name: str, texts: Texts, sets: Mapping[str, tuple[int, ...]], rows: Rows) -> Sweep | None:
        """The part of that name; None if it is not there, or was not written to its end."""
        if self.folder is None or not self.resume:
            return None
        try:
            content = (self.folder / f"{name}.npz").read_bytes()
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                numbers, slack = arrays["sums"], arrays["slack"]
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None  # it will be done again
        if numbers.shape != (len(sets), 4, 2, len(rows)) or slack.shape != (len(rows),):
            return None
        self.names.append(name)
        sums = {each: Sums(*(Scaled(*two) for two in four)) for each, four in zip(sets, numbers, strict=True)}
        return Sweep(texts, rows, sets, sums, slack)

    def _put(self, name: str, part: Sweep) -> None:
        if self.folder is None:
            return
        sums = np.array([[[one.reference, one.factor] for one in four.four] for four in part.sums.values()])
        content = io.BytesIO()
        np.savez_compressed(content, sums=sums, slack=part.slack)
        with suppress(OSError, InputError):  # where there is no room it would be done again after a kill
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{name}.npz", content.getvalue())
            self.names.append(name)


def _on_worker(
    source: Source, expected: tuple[str, str, str], head: int, texts: Texts, sets: Mapping[str, tuple[int, ...]],
    rows: Rows, places: Sequence[int],
) -> Sweep:  # fmt: skip
    """A part, on a worker that has the same model and code."""
    expected_model(source, expected)
    return sweep(_head(source, head, texts.length), texts, sets, rows, places=places)


@lru_cache(maxsize=4)
def _head(source: Source, number: int, length: int) -> Head:
    return head_of(first_layer(source.model(), length), number)
