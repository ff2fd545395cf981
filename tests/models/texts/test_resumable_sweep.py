"""The sweep in parts: the same bounds, after a kill too, and on workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headwright.models.engine.cluster import Source
from headwright.models.loading import load_model
from headwright.models.texts.every_text import every_text
from headwright.models.texts.first_layer import head_of, texts_of
from headwright.models.texts.head import Head, Texts, Vectors, Which
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.resumable_sweep import InParts
from headwright.models.texts.sweep import Sweep, band, sweep
from headwright.workers import executor

MODEL = load_model("builtin:induction")
LAYER = first_layer(MODEL, 70)
TEXTS = texts_of(LAYER, 70)
SETS = {"previous": [68], "first": [0]}


class Counting:
    """A head that counts how often its keys are asked for."""

    def __init__(self, head: Head) -> None:
        self.head, self.asked = head, 0
        self.tokens, self.free, self.number = head.tokens, head.free, head.number

    def queries(self, place: int, at: int, which: Which = None) -> Vectors:
        return self.head.queries(place, at, which)

    def keys(self, at: int) -> Vectors:
        self.asked += 1
        return self.head.keys(at)


def same(found: Sweep, whole: Sweep) -> None:
    for name in SETS:
        for mine, truth in (
            (band(found, name).least, band(whole, name).least),
            (band(found, name).most, band(whole, name).most),
        ):
            assert np.allclose(mine.lower, truth.lower, rtol=1e-9, atol=0)
            assert np.allclose(mine.upper, truth.upper, rtol=1e-9, atol=0)


def test_parts_are_the_whole() -> None:
    head = head_of(LAYER, 0)
    same(InParts(MODEL)(head, TEXTS, SETS), sweep(head, TEXTS, SETS))


def test_a_run_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    head = Counting(head_of(LAYER, 1))

    def interrupted(done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        InParts(MODEL, tmp_path)(head, TEXTS, SETS, None, interrupted)
    before, head.asked = head.asked, 0
    again = InParts(MODEL, tmp_path, resume=True)
    same(again(head, TEXTS, SETS), sweep(head.head, TEXTS, SETS))
    assert 0 < head.asked < before + 1 and head.asked + before == 70
    again.clear()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "other", [(Texts(71, 70, {0: 47}), SETS, 1), (TEXTS, {"previous": [67], "first": [0]}, 1), (TEXTS, SETS, 0)]
)
def test_parts_of_something_else_are_not_taken(tmp_path: Path, other: tuple[Texts, dict[str, list[int]], int]) -> None:
    InParts(MODEL, tmp_path)(head_of(LAYER, 1), TEXTS, SETS)
    texts, sets, number = other
    head = Counting(head_of(LAYER, number))
    InParts(MODEL, tmp_path, resume=True)(head, texts, sets)
    assert head.asked == len(texts.seen)


def test_a_spoilt_file_is_done_again(tmp_path: Path) -> None:
    InParts(MODEL, tmp_path)(head_of(LAYER, 1), TEXTS, SETS)
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    head = Counting(head_of(LAYER, 1))
    InParts(MODEL, tmp_path, resume=True)(head, TEXTS, SETS)
    assert head.asked == 70


@pytest.mark.slow
def test_workers_find_the_same() -> None:
    with executor(processes=1) as workers:
        parts = InParts(MODEL, workers=workers, source=Source("builtin:induction"))
        found = every_text(MODEL, 40, sweeper=parts)
    for mine, here in zip(found, every_text(MODEL, 40), strict=True):
        for places, truth in zip(mine.places, here.places, strict=True):
            assert places.least.bound == pytest.approx(truth.least.bound, rel=1e-9)
            assert places.always_half == truth.always_half
