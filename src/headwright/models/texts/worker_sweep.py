"""The sweep on workers of a Dask scheduler: parts of a few places each, merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from headwright.models.engine.cluster import Source, expected_model
from headwright.models.loading.model import Model
from headwright.models.texts.first_layer import head_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import Progress, Sweep, checked_sets, sweep
from headwright.workers import code

AT_ONCE = 16  # places of a part
Rows = Int[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class WorkerSweep:
    """A sweeper; the workers load the model from the source."""

    model: Model
    workers: Executor
    source: Source

    def __call__(
        self,
        head: Head,
        texts: Texts,
        sets: Mapping[str, Sequence[int]],
        rows: Rows | None = None,
        progress: Progress | None = None,
    ) -> Sweep:
        """What `sweep` finds."""
        rows, kept = np.arange(head.free) if rows is None else np.asarray(rows), checked_sets(texts, sets)
        expected = self.model.digest, self.model.settings, code()
        parts = [
            self.workers.submit(
                _on_worker, self.source, expected, head.number, texts, kept, rows, texts.seen[at : at + AT_ONCE]
            )
            for at in range(0, len(texts.seen), AT_ONCE)
        ]
        for done, part in enumerate(as_completed(parts), start=1):
            part.result()
            if progress is not None:
                progress(done / len(parts))
        whole = parts[0].result()
        for part in parts[1:]:
            whole = whole.merged(part.result())
        return whole


def _on_worker(
    source: Source,
    expected: tuple[str, str, str],
    head: int,
    texts: Texts,
    sets: Mapping[str, tuple[int, ...]],
    rows: Rows,
    places: Sequence[int],
) -> Sweep:
    """A part, on a worker that has the same model and code."""
    expected_model(source, expected)
    return sweep(_head(source, head, texts.length), texts, sets, rows, places=places)


@lru_cache(maxsize=4)
def _head(source: Source, number: int, length: int) -> Head:
    return head_of(first_layer(source.model(), length), number)
