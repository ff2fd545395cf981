"""How long it will take: a pace that is measured, times the sizes of what is asked."""

from __future__ import annotations

import numpy as np
import pytest

from headwright.models import load_model
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.estimate import Pace, pace_here, pace_of_sweeper
from headwright.text_bounds.search.sweep import sweep
from headwright.text_bounds.search.texts import texts_of


def test_a_wait_grows_with_places_and_query_tokens() -> None:
    pace = Pace(0.25, 0.001)
    assert pace.seconds(8192, 49135) == pytest.approx(8192 * (0.25 + 49.135))
    assert pace.seconds(2 * 8192, 49135) == pytest.approx(2 * pace.seconds(8192, 49135))
    assert pace.seconds(8192, 1) < pace.seconds(8192, 49135) / 100


@pytest.mark.parametrize(
    "name", ["builtin:induction", "builtin:induction16"]
)  # rotary positions, learned ones
def test_a_pace_is_measured_and_needs_something_to_measure(name: str) -> None:
    model = load_model(name)
    layer = first_layer(model, 8)
    texts = texts_of(layer, 8)
    heads = list(range(len(layer.queries)))
    assert pace_here(layer, texts, heads, 16).seconds(len(texts.free), 16) > 0
    assert pace_here(layer, texts, [], 16) == Pace(0.0, 0.0)


def test_a_sweeper_is_timed_on_places_next_to_the_query_alone() -> None:
    layer = first_layer(load_model("builtin:induction"), 128)
    texts = texts_of(layer, 128)
    swept = []

    def sweeper(*given: object) -> object:
        swept.append(len(given[1].free))  # type: ignore[attr-defined]
        return sweep(*given)  # type: ignore[arg-type]

    pace = pace_of_sweeper(sweeper, layer, texts, [0, 1], np.arange(4))  # type: ignore[arg-type]
    assert pace.row == 0.0
    assert max(swept) < len(texts.free) / 2
    assert pace_of_sweeper(sweep, layer, texts, [], None) == Pace(0.0, 0.0)
