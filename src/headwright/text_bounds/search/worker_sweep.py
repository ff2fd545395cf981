"""The sweep on workers of a Dask scheduler: parts of a few places each, merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headwright.models.model import Model
from headwright.models.source import Source, expected_model
from headwright.text_bounds.progress import Progress
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import Rows, SweepResult, checked_sets, sweep
from headwright.text_bounds.search.texts import TextFamily
from headwright.workers import code

PLACES_AT_ONCE = 16  # of a part


@dataclass(frozen=True, eq=False)
class WorkerSweep:
    """A sweeper; the workers load the model from the source."""

    model: Model
    workers: Executor
    source: Source

    def __call__(
        self,
        head: FirstLayerHead,
        texts: TextFamily,
        sets: Mapping[str, Sequence[int]],
        rows: Rows | None = None,
        progress: Progress | None = None,
    ) -> SweepResult:
        """What `sweep` finds."""
        chosen = np.arange(head.free) if rows is None else np.asarray(rows)
        kept_sets = checked_sets(texts, sets)
        expected = self.model.digest, self.model.settings, code()
        parts = []
        for start in range(0, len(texts.seen), PLACES_AT_ONCE):
            places = texts.seen[start : start + PLACES_AT_ONCE]
            about = (head.number, texts, kept_sets, chosen, places)
            parts.append(self.workers.submit(_on_worker, self.source, expected, *about))
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
    texts: TextFamily,
    sets: Mapping[str, tuple[int, ...]],
    rows: Rows,
    places: Sequence[int],
) -> SweepResult:
    """A part, on a worker that has the same model and code."""
    expected_model(source, expected)
    return sweep(_head(source, head, texts.length), texts, sets, rows, places=places)


@lru_cache(maxsize=4)
def _head(source: Source, number: int, length: int) -> FirstLayerHead:
    return head_of(first_layer(source.model(), length), number)
