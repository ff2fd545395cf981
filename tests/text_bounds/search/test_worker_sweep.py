"""The sweep in parts, on workers: the same bounds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.models import load_model
from headwright.models.source import Source
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.sweep import band, sweep
from headwright.text_bounds.search.texts import texts_of
from headwright.text_bounds.search.worker_sweep import WorkerSweep
from headwright.workers import executor

MODEL = load_model("builtin:induction")
SETS = {"previous": [68], "first": [0]}


def test_parts_are_the_whole() -> None:
    layer = first_layer(MODEL, 70)
    head, texts, told = head_of(layer, 0), texts_of(layer, 70), list[float]()
    with ThreadPoolExecutor(2) as threads:
        parts = WorkerSweep(MODEL, threads, Source("builtin:induction"))
        found, whole = (
            parts(head, texts, SETS, None, told.append),
            sweep(head, texts, SETS),
        )
        with pytest.raises(InputError, match="another model"):
            WorkerSweep(MODEL, threads, Source("builtin:induction16"))(
                head, texts, SETS
            )
    assert told[-1] == 1.0 and len(told) == 5
    for name in SETS:
        for mine, truth in (
            (band(found, name).least, band(whole, name).least),
            (band(found, name).most, band(whole, name).most),
        ):
            assert np.allclose(mine.lower, truth.lower, rtol=1e-9, atol=0)
            assert np.allclose(mine.upper, truth.upper, rtol=1e-9, atol=0)


@pytest.mark.slow
def test_workers_find_the_same() -> None:
    with executor(processes=1) as workers:
        found = every_text(
            MODEL, 40, sweeper=WorkerSweep(MODEL, workers, Source("builtin:induction"))
        )
    for mine, here in zip(found, every_text(MODEL, 40), strict=True):
        for places, truth in zip(mine.places, here.places, strict=True):
            assert places.least.bound == pytest.approx(truth.least.bound, rel=1e-9)
            assert places.always_half == truth.always_half
