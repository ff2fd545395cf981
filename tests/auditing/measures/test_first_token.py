"""Rows taken apart at the first token agree with the whole pattern, whatever shapes the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.auditing.measures.first_token import (
    FROM,
    AwayFromFirst,
    duplicate_weight,
    rows_away,
)
from headwright.auditing.measures.rounding import sample_rows
from headwright.models.model import LayerActivations
from headwright.statistics.attention_config import AttentionConfig

KINDS: dict[str, dict[str, Any]] = {
    "causal": {},
    "both ways": {"causal": False},
    "window": {"window": 5},
    "softcap": {"softcap": 1.5},
    "sinks": {"sinks": np.array([0.5, -1.0, 2.0, 0.0])},
    "masked": {
        "causal": False,
        "key_mask": np.array([False] + [True] * 10 + [False] * 3),
    },
    "padded on the left": {"key_mask": np.array([False] * 3 + [True] * 11)},
}


def _rows(
    kind: str, seed: int, sharp: float = 1.0
) -> tuple[AwayFromFirst, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(4, 14, 6)) * sharp, rng.normal(size=(2, 14, 6))
    scoring = AttentionConfig.of(q.shape, k.shape, **KINDS[kind])
    rows = rows_away(LayerActivations(0, q, k, k, scoring), (0, 1))
    pattern = np.stack(
        [
            sample_rows(rows, head, range(len(rows.positions))).pattern
            for head in range(4)
        ]
    )
    return rows, pattern, rng.integers(0, 4, size=14)


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 2**32), st.sampled_from([0.3, 1.0, 8.0]))
def test_every_statistic_is_that_of_the_pattern(
    kind: str, seed: int, sharp: float
) -> None:
    rows, pattern, tokens = _rows(kind, seed, sharp)
    nowhere = 1 - pattern.sum(axis=2)  # on the head's own sink
    start = rows.scoring.first
    first = pattern[..., start]
    assert first.max() > 0
    np.testing.assert_allclose(rows.first, first, atol=1e-9)
    np.testing.assert_allclose(rows.rest, 1 - first, atol=1e-9)
    whole = np.concatenate([pattern, np.maximum(nowhere, 0.0)[..., None]], axis=2)
    logs = np.log(np.where(whole > 0, whole, 1.0))
    np.testing.assert_allclose(rows.entropy, -(whole * logs).sum(axis=2), atol=1e-7)
    np.testing.assert_allclose(rows.largest, pattern.max(axis=2), atol=1e-9)
    two = np.sort(pattern, axis=2)[..., -2:]
    seen = two[..., 0] > 1e-12
    np.testing.assert_allclose(
        rows.margin[seen], np.log(two[..., 1] / two[..., 0])[seen], rtol=1e-5, atol=1e-7
    )
    away = pattern.copy()
    away[..., start] = 0.0
    for row, position in enumerate(rows.positions):
        before = rows.rest[:, row] * rows.away.offsets[1][:, row]
        np.testing.assert_allclose(before, away[:, row, position - 1], atol=1e-9)
        earlier = [
            j for j in range(start + 1, position) if tokens[j] == tokens[position]
        ]
        same = rows.rest[:, row] * duplicate_weight(rows, tokens)[:, row]
        np.testing.assert_allclose(same, away[:, row, earlier].sum(axis=1), atol=1e-9)


@given(st.integers(0, 2**32))
def test_the_sink_wins_where_the_first_token_has_the_largest_weight(seed: int) -> None:
    rows, pattern, _ = _rows("causal", seed)
    np.testing.assert_array_equal(rows.sink_wins, pattern.argmax(axis=2) == 0)


def test_an_equal_score_is_no_rest() -> None:
    q = np.zeros((1, 5, 2))
    rows = rows_away(
        LayerActivations(0, q, q, q, AttentionConfig.of(q.shape, q.shape)), ()
    )
    assert not rows.sink_wins.any()
    assert (rows.margin == 0).all()


def test_what_is_left_keeps_its_digits_where_the_first_token_takes_nearly_all() -> None:
    q, k = np.ones((1, 8, 1)), np.zeros((1, 8, 1))
    k[0, 0] = 60.0
    rows = rows_away(
        LayerActivations(0, q, k, k, AttentionConfig.of(q.shape, k.shape, scale=1.0)),
        (1,),
    )
    seen = np.arange(FROM, 8)
    np.testing.assert_allclose(
        rows.rest[0], seen * np.exp(-60.0) / (1 + seen * np.exp(-60.0)), rtol=1e-12
    )
    np.testing.assert_allclose(rows.away.offsets[1][0], 1 / seen)


def test_a_long_group_of_equal_tokens_is_scored_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, _, _ = _rows("causal", 3)
    tokens = np.zeros(14, dtype=int)
    whole = duplicate_weight(rows, tokens)
    monkeypatch.setattr("headwright.auditing.measures.first_token.BLOCK", 3)
    np.testing.assert_allclose(duplicate_weight(rows, tokens), whole)
