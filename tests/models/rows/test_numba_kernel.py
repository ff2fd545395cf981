"""The compiled epilogue agrees with NumPy's and with the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.models.rows import blocked
from headwright.models.rows.accumulate import UNSEEN, State, update
from headwright.models.rows.scoring import Scoring
from tests.models.rows.reference import reference

pytest.importorskip("numba", reason="needs the extra 'compiled'")
compiled = pytest.importorskip("headwright.models.rows.numba_kernel")

FIELDS = ("lse", "largest", "entropy", "first", "distance", "sensitivity", "margin")


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
)
def test_every_way_of_scoring_agrees_with_the_definition(
    seed: int, rows: int, more: int, causal: bool, window: int | None, softcap: float | None, sinks: bool, masked: bool,
    size: float,
) -> None:  # fmt: skip
    rng, keys = np.random.default_rng(seed), max(rows + more, rows if causal else 1)
    q = (size * rng.normal(size=(2, rows, 5))).astype(np.float32)
    k = rng.normal(size=(1, keys, 5)).astype(np.float32)
    scoring = Scoring.of(
        q.shape, k.shape, causal=causal, window=window, softcap=softcap, sinks=rng.normal(size=2) if sinks else None,
        key_mask=rng.random(keys) < 0.7 if masked else None,
    )  # fmt: skip
    found = blocked.statistics(q, k, scoring, (0, 1), 0, fast=True)
    truth = reference(q, k, scoring, (0, 1), 0)
    scores = 1 + float(np.abs(q).max() * np.abs(k).max()) * 5
    for name in FIELDS:
        longest = keys if name == "distance" else 1
        np.testing.assert_allclose(
            getattr(found, name), getattr(truth, name), rtol=2e-6 * scores, atol=2e-6 * scores * longest, err_msg=name
        )
    clear = truth.margin > 2e-6 * scores
    assert (found.winner == truth.winner)[clear].all()
    np.testing.assert_allclose(found.offsets[1], truth.offsets[1], atol=2e-6 * scores)


def test_several_blocks_agree_with_numpy() -> None:
    rng = np.random.default_rng(0)
    q, k = (2 * rng.normal(size=(2, 1300, 16)).astype(np.float32) for _ in range(2))
    scoring = Scoring.of(q.shape, k.shape)
    ours, numpys = (blocked.statistics(q, k, scoring, (0, 1), 0, fast=fast) for fast in (True, False))
    for name in FIELDS:
        np.testing.assert_allclose(getattr(ours, name), getattr(numpys, name), rtol=1e-5, atol=1e-3, err_msg=name)
    assert (ours.winner == numpys.winner).all()


def test_equal_scores_have_no_margin_and_the_first_of_them_wins() -> None:
    state, scores = State.start(1), np.array([[0.0, 2.0, 1.0, 2.0]], dtype=np.float32)
    compiled.update(state, scores, 4, 10, np.array([[10, 14]]))
    compiled.update(state, scores, 4, 14, np.array([[10, 18]]))
    assert (state.winner[0], state.best[0].tolist()) == (11, [2.0, 2.0])


@given(st.lists(st.floats(-3e4, 3e4, width=32), min_size=1, max_size=50), st.integers(1, 7))
@settings(deadline=None)
def test_sums_are_numpys_however_far_scores_lie_apart(scores: list[float], cut: int) -> None:
    ours, numpys = State.start(1), State.start(1)
    for start in range(0, len(scores), cut):
        block = np.array([scores[start : start + cut]], dtype=np.float32)
        compiled.update(ours, block.copy(), block.shape[1], start, np.array([[0, len(scores)]]))
        update(numpys, block, start)
    assert ours.reference == numpys.reference
    assert ours.winner == numpys.winner
    assert (np.maximum(ours.best, UNSEEN) == np.maximum(numpys.best, UNSEEN)).all()  # there may be no runner-up
    np.testing.assert_allclose(ours.sums, numpys.sums, rtol=1e-6, atol=1e-6 * len(scores))


def test_masked_keys_add_nothing() -> None:
    state, scores = State.start(1), np.array([[-1e30, 0.0, -1e30]], dtype=np.float32)
    compiled.update(state, scores, 3, 0, np.array([[0, 3]]))
    np.testing.assert_allclose(state.sums[:, 0], [1.0, 1.0, 0.0], atol=1e-30)
