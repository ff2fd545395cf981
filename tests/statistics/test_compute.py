"""Blocks of whole rows in float32 agree with the definition, with NumPy and with torch, however small they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.statistics.arrays import ArrayBackend, NumpyBackend
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.attention_rows import AttentionRows
from headwright.statistics.compute import compute_in_blocks
from headwright.statistics.request import StatisticsRequest
from headwright.statistics.row_block import BlockSize
from headwright.statistics.torch_arrays import (
    NumpyBesideTorch,
    TorchBackend,
    masks_as_tensors,
)
from tests.statistics.reference import reference

FIELDS = ("lse", "largest", "entropy", "first", "distance", "sensitivity", "margin")
REQUEST = StatisticsRequest.of(
    (*FIELDS, "winner", "previous", "top_weights", "received", "start"),
    top=3,
    ends=(2, 3),
)
BACKENDS: dict[str, ArrayBackend] = {
    "NumPy": NumpyBackend(),
    "NumPy beside torch": NumpyBesideTorch(),
    "torch": TorchBackend(torch.device("cpu")),
}


def _compute(
    q: np.ndarray, k: np.ndarray, config: AttentionConfig, backend: str, scores: int
) -> dict[str, np.ndarray]:
    mask = None if config.key_mask is None else config.key_mask[None]
    call = AttentionRows(
        q[None],
        k[None],
        config.scale,
        softcap=config.softcap,
        sinks=config.sinks,
        causal=config.causal,
        window=config.window,
        key_mask=mask,
        first=None if mask is None else mask.argmax(1),
        row_position=config.shift,
    )
    if backend == "torch":
        query, key = torch.from_numpy(call.query), torch.from_numpy(call.key)
        call = masks_as_tensors(replace(call, query=query, key=key))
    size = BlockSize(scores)
    computed = compute_in_blocks(call, REQUEST, BACKENDS[backend], size)
    return {name: np.asarray(value)[0] for name, value in computed.values.items()}


@pytest.mark.parametrize("backend", BACKENDS)
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    more=st.integers(-20, 600),
    causal=st.booleans(),
    window=st.none() | st.integers(1, 40),
    softcap=st.none() | st.floats(0.5, 50),
    sinks=st.booleans(),
    masked=st.booleans(),
    size=st.sampled_from([0.1, 1.0, 8.0]),
    scores=st.sampled_from([1, 1000, 2**17]),
)
def test_every_way_of_scoring_agrees_with_the_definition(
    backend: str,
    seed: int,
    rows: int,
    more: int,
    causal: bool,
    window: int | None,
    softcap: float | None,
    sinks: bool,
    masked: bool,
    size: float,
    scores: int,
) -> None:
    rng, keys = np.random.default_rng(seed), max(rows + more, rows if causal else 1)
    q = (size * rng.normal(size=(2, rows, 5))).astype(np.float32)
    k = rng.normal(size=(1, keys, 5)).astype(np.float32)
    config = AttentionConfig.of(
        q.shape,
        k.shape,
        causal=causal,
        window=window,
        softcap=softcap,
        sinks=rng.normal(size=2) if sinks else None,
        key_mask=rng.random(keys) < 0.7 if masked else None,
    )
    found = _compute(q, k, config, backend, scores)
    truth = reference(q, k, config, (0, 1), 3)
    largest_score = 1 + float(np.abs(q).max() * np.abs(k).max()) * 5
    tolerance = 2e-6 * largest_score
    for name in (*FIELDS, "top_weights", "received", "start"):
        counted = {"distance": keys, "received": rows}.get(name, 1)
        np.testing.assert_allclose(
            found[name],
            getattr(truth, name),
            rtol=tolerance,
            atol=tolerance * counted,
            err_msg=name,
        )
    clear = truth.margin > tolerance
    assert (found["winner"] == truth.winner)[clear].all()
    np.testing.assert_allclose(found["previous"], truth.offsets[1], atol=tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_blocks_agree_with_one(backend: str) -> None:
    rng = np.random.default_rng(0)
    q, k = (2 * rng.normal(size=(2, 1300, 16)).astype(np.float32) for _ in range(2))
    config = AttentionConfig.of(q.shape, k.shape)
    several = _compute(q, k, config, backend, 2**15)
    one = _compute(q, k, config, "NumPy", 2**24)
    for name in (*FIELDS, "received", "top_weights"):
        np.testing.assert_allclose(
            several[name], one[name], rtol=1e-5, atol=1e-3, err_msg=name
        )
    assert (several["winner"] == one["winner"]).all()


def _of_scores(scores: list[float], backend: str) -> dict[str, Any]:
    """Of one row that has these scores."""
    q = np.ones((1, 1, 1), dtype=np.float32)
    k = np.array(scores, dtype=np.float32)[None, :, None]
    config = AttentionConfig.of(q.shape, k.shape, scale=1.0)
    found = _compute(q, k, config, backend, 2**17)
    return {name: value[0, 0] for name, value in found.items() if name in FIELDS} | {
        "winner": found["winner"][0, 0]
    }


@pytest.mark.parametrize("backend", ["NumPy", "NumPy beside torch"])
def test_equal_scores_have_no_margin_and_the_first_of_them_wins(backend: str) -> None:
    found = _of_scores([0.0, 2.0, 1.0, 2.0], backend)
    assert (found["winner"], found["margin"]) == (1, 0.0)


@pytest.mark.parametrize("backend", BACKENDS)
@given(scores=st.lists(st.floats(-3e4, 3e4, width=32), min_size=1, max_size=50))
@settings(deadline=None)
def test_sums_are_right_however_far_scores_lie_apart(
    backend: str, scores: list[float]
) -> None:
    found = _of_scores(scores, backend)
    ordered = np.sort(np.array(scores, dtype=np.float64))[::-1]
    weights = np.exp(ordered - ordered[0])
    weights /= weights.sum()
    assert found["lse"] == pytest.approx(ordered[0] - np.log(weights[0]), rel=1e-6)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum()
    assert found["entropy"] == pytest.approx(entropy, rel=1e-5, abs=1e-6 * len(scores))
    assert scores[found["winner"]] == ordered[0]
    margin = ordered[0] - ordered[1] if len(scores) > 1 else np.inf
    assert found["margin"] == pytest.approx(margin, rel=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_keys_with_scores_far_below_add_nothing(backend: str) -> None:
    found = _of_scores([-1e30, 0.0, -1e30], backend)
    assert (found["lse"], found["entropy"], found["winner"]) == (0.0, 0.0, 1)
