"""What rounding keys does stays below its bound, and the bound is no larger than it must be."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.auditing.documents import Document
from headwright.auditing.measures.first_token import rows_away
from headwright.auditing.measures.measure import KeyRounding, MeasuredLayer
from headwright.auditing.measures.rounding import (
    FORMATS,
    Buffers,
    RoundingEffect,
    rounding,
    sample_rows,
    softmax,
    tv_bound,
)
from headwright.auditing.measures.summary import Draws
from headwright.auditing.measures.table import ROUNDINGS
from headwright.models.model import LayerActivations
from headwright.statistics.attention_config import AttentionConfig


@given(st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 3.0]), st.booleans())
def test_total_variation_is_never_above_its_bound(
    seed: int, size: float, sink: bool
) -> None:
    rng = np.random.default_rng(seed)
    q, k, change = (
        rng.normal(size=(3, 4)),
        rng.normal(size=(7, 4)),
        size * rng.normal(size=(7, 4)),
    )
    seen = np.tri(3, 7, 4, dtype=bool)
    extra = 0.3 if sink else None
    before, of_sink = softmax(q @ k.T, seen, extra)
    after, of_sink_after = softmax(q @ (k + change).T, seen, extra)
    tv = 0.5 * (np.abs(before - after).sum(axis=1) + np.abs(of_sink - of_sink_after))
    assert (tv <= tv_bound(q, change, 1.0, seen, sink) + 1e-15).all()


@pytest.mark.parametrize("delta", [1e-3, 0.5, 4.0])
def test_two_keys_reach_the_bound(delta: float) -> None:
    seen = np.ones((1, 2), dtype=bool)
    s = np.array([[-delta, delta]])  # at p = 1 / (1 + sqrt t)
    before, _ = softmax(s, seen, None)
    after, _ = softmax(-s, seen, None)
    change = np.array([[2 * delta], [-2 * delta]])
    tv = 0.5 * np.abs(before - after).sum()
    assert tv == pytest.approx(np.tanh(delta), rel=1e-12)
    assert tv_bound(np.ones((1, 1)), change, 1.0, seen, False)[0] == pytest.approx(
        tv, rel=1e-9
    )


def _effect(layer: LayerActivations, measure: KeyRounding, head: int) -> RoundingEffect:
    document = Document("random", np.arange(layer.scoring.keys), 0)
    totals = measure.of_rows(MeasuredLayer.of(layer, document))
    effect = measure.conclude(totals, head, Draws(1, "texts"))
    assert effect is not None
    return effect


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"softcap": 1.0},
        {"sinks": np.array([0.0, 1.0])},
        {"causal": False},
        {"window": 6},
    ],
    ids=str,
)
def test_every_format_stays_below_its_bound_in_a_layer(kind: dict[str, object]) -> None:
    rng = np.random.default_rng(0)
    q, k = 3 * rng.normal(size=(2, 40, 8)), rng.normal(size=(1, 40, 8))
    layer = LayerActivations(0, q, k, k, AttentionConfig.of(q.shape, k.shape, **kind))  # type: ignore[arg-type]
    assert {measure.number_format for measure in ROUNDINGS} == set(FORMATS)
    for measure in ROUNDINGS:
        for head in range(2):
            effect = _effect(layer, measure, head)
            assert 0 < effect.tv.value <= effect.bound < 1
            assert effect.tv.value <= effect.worst


def test_large_arrays_are_made_once_and_used_for_every_format_and_head() -> None:
    """Where freed memory is given back at once, arrays that come and go cost more than the arithmetic."""
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 4096, 2)), rng.normal(size=(2, 4096, 2))
    rows = rows_away(
        LayerActivations(0, q, k, k, AttentionConfig.of(q.shape, k.shape)), ()
    )
    buffers = Buffers()
    one_array = 64 * 4096 * 8  # bytes: the rows that are looked at, and all keys
    rounding(rows, 0, sample_rows(rows, 0, buffers=buffers), buffers)
    looked = sample_rows(rows, 1, buffers=buffers)
    tracemalloc.start()
    again = rounding(rows, 1, looked, buffers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < one_array
    np.testing.assert_array_equal(again, rounding(rows, 1, sample_rows(rows, 1)))


def test_fewer_bits_do_more() -> None:
    keys = np.random.default_rng(0).normal(size=(200, 16))
    lost = {
        name: float(np.abs(rounded(keys) - keys).mean())
        for name, rounded in FORMATS.items()
    }
    assert (
        lost["bf16"]
        < lost["int8 per token"]
        < lost["fp8 e4m3"]
        < lost["int4 per token"]
    )
    assert lost["int4 per channel"] > lost["int8 per token"]


def test_formats_leave_alone_what_they_can_hold_and_zeros_too() -> None:
    for name, rounded in FORMATS.items():
        np.testing.assert_array_equal(
            rounded(np.zeros((2, 3))), np.zeros((2, 3)), err_msg=name
        )
    np.testing.assert_array_equal(
        FORMATS["fp8 e4m3"](np.array([[1e9, -1e9]])), [[448.0, -448.0]]
    )


def test_a_tie_is_not_flipped() -> None:
    q = np.zeros((1, 20, 4))
    k = np.random.default_rng(0).normal(size=(1, 20, 4))
    layer = LayerActivations(0, q, k, k, AttentionConfig.of(q.shape, k.shape))
    (int4,) = (
        measure for measure in ROUNDINGS if measure.number_format == "int4 per token"
    )
    assert _effect(layer, int4, 0).flips == 0.0
