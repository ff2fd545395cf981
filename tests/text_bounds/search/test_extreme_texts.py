"""A few query tokens in all heads together: the same numbers and texts as head by head."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headwright.models import load_model
from headwright.models.model import Model
from headwright.text_bounds.every_text import every_text
from headwright.text_bounds.search import extreme_texts
from headwright.text_bounds.search.sweep import sweep
from tests.text_bounds.test_models import tiny


def alike(
    model: Model, length: int, queries: list[int] | None, text: np.ndarray
) -> None:
    one_by_one = every_text(model, length, queries=queries, text=text, sweeper=sweep)
    for mine, other in zip(
        every_text(model, length, queries=queries, text=text), one_by_one, strict=True
    ):
        assert mine.slack == pytest.approx(other.slack)
        assert mine.guarantee is not None and other.guarantee is not None
        np.testing.assert_allclose(
            mine.guarantee.floors, other.guarantee.floors, rtol=1e-9
        )
        for a, b in zip(mine.places, other.places, strict=True):
            assert (a.name, a.never_half, a.always_half) == (
                b.name,
                b.never_half,
                b.always_half,
            )
            assert a.least.bound == pytest.approx(b.least.bound, rel=1e-9)
            assert a.most.bound == pytest.approx(b.most.bound, rel=1e-9)
            assert (a.least.text == b.least.text).all() and (
                a.most.text == b.most.text
            ).all()


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt2"])
@pytest.mark.parametrize("queries", [None, [5, 2]])
def test_heads_together_find_what_each_finds_alone(
    family: str, queries: list[int] | None, tmp_path: Path
) -> None:
    model, _ = tiny(family, tmp_path)
    alike(model, 5, queries, np.array([0, 5, 2, 2, 6, 1, 5, 5]))


def test_an_opening_token_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extreme_texts, "BLOCK_SCORES", 100)  # two query tokens at once
    model = load_model("builtin:induction")
    alike(model, 12, None, model.encode("some text"))


def test_places_outside_the_window_hold_the_query_token(tmp_path: Path) -> None:
    model, _ = tiny("mistral", tmp_path)
    found = every_text(model, 6, queries=[4])[0].places[0]
    assert found.least.text[:3].tolist() == [4, 4, 4]


@pytest.mark.parametrize("shared", [1, 2**29])
def test_heads_that_do_not_fit_in_memory_together_go_one_after_the_other(
    shared: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extreme_texts, "SHARED_BYTES", shared)
    model, _ = tiny("gpt2", tmp_path)
    told: list[float] = []
    assert [one.head for one in every_text(model, 4, progress=told.append)] == [0, 1]
    assert told == sorted(told) and told[-1] == 1.0
