"""Summaries merge as if all rows had come at once, and say how sure their means are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from headwright.auditing.measures.summary import (
    ENOUGH_DRAWS,
    FIELDS,
    STEP,
    LayerAccumulator,
    Summary,
    bin_counts,
    mean_of,
    quantile,
    ratio_sums,
)
from headwright.errors import InputError


def _summary(seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 200))
    totals = LayerAccumulator((0, 3))
    for layer in (0, 3):
        mean = ratio_sums(rng.random((2, rows)), np.ones((2, rows)))
        counts = bin_counts(rng.exponential(size=(2, rows)))
        worst = rng.random(2)
        totals.merge(layer, Summary({"mean": mean, "counts": counts}, {"worst": worst}))
    return totals.summary()


def _same(a: Summary, b: Summary, rtol: float = 1e-12) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(
        np.allclose(x[name], y[name], rtol=rtol, atol=0.0) for name in x
    )


@given(st.lists(st.integers(0, 2**32), min_size=3, max_size=6))
def test_merging_is_associative_and_commutative(seeds: list[int]) -> None:
    parts = [_summary(seed) for seed in seeds]
    left = parts[0]
    for part in parts[1:]:
        left = left + part
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part + right
    turned = parts[-1]
    for part in parts[-2::-1]:
        turned = turned + part
    assert _same(left, right)
    assert _same(left, turned)


@given(st.lists(st.integers(1, 300), min_size=2, max_size=12), st.integers(0, 2**32))
def test_merged_documents_give_the_mean_of_all_their_rows(
    lengths: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = [rng.random((1, rows)) for rows in lengths]
    w = [rng.random((1, rows)) for rows in lengths]
    kept = sum(
        (ratio_sums(a * b, b) for a, b in zip(x, w, strict=True)), np.zeros((1, FIELDS))
    )
    found = mean_of(kept[0])
    assert found is not None
    X, W = np.concatenate(x, axis=1)[0], np.concatenate(w, axis=1)[0]
    assert found.value == pytest.approx(np.average(X, weights=W))
    assert found.rows == sum(lengths)
    assert found.draws == len(lengths)
    assert (found.low is None) == (len(lengths) < ENOUGH_DRAWS)


def test_kept_in_a_file_and_read_again_it_is_the_same() -> None:
    found = _summary(1)
    assert _same(found, Summary.of(found.arrays()), rtol=0.0)
    with pytest.raises(InputError, match="expected sums"):
        Summary.of({"other/x": np.ones(1)})


def test_the_interval_holds_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        level = rng.normal(
            0.5, 0.1, size=12
        )  # documents differ, and the rows of one do not
        kept = sum(
            (ratio_sums(np.full((1, 50), mean), np.ones((1, 50))) for mean in level),
            np.zeros((1, FIELDS)),
        )
        found = mean_of(kept[0])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.5 <= found.high
    assert 365 <= held <= 394  # 380 expected; each bound is more than 3 deviations away


def _document(rng: np.random.Generator, rows: int = 512) -> np.ndarray:
    """A text: its own level (skewed, from 0 to 1), and around it rows that resemble their neighbours (AR(1), 0.8)."""
    level = rng.beta(2.0, 5.0)
    noise = lfilter([1.0], [1.0, -0.8], rng.normal(0.0, 0.05, rows + 100))[100:]
    return np.clip(level + noise, 0.0, 1.0)[None]


@pytest.mark.parametrize("documents", [1, 2, 4, 7, 8, 20])
def test_an_interval_over_texts_that_differ_holds_the_mean_of_all_such_texts_or_is_not_given(
    documents: int,
) -> None:
    """Rows of one text cannot tell how texts differ: with fewer than 8 texts there is no interval."""
    rng, runs = np.random.default_rng(1), 300
    truth = np.mean([_document(rng).mean() for _ in range(4000)])
    held = given_intervals = 0
    for _ in range(runs):
        kept = np.zeros((1, FIELDS))
        for _ in range(documents):
            x = _document(rng)
            kept = kept + ratio_sums(x, np.ones_like(x))
        found = mean_of(kept[0])
        assert found is not None
        if found.low is not None and found.high is not None:
            given_intervals += 1
            held += found.low <= truth <= found.high
    assert given_intervals == (runs if documents >= 8 else 0)
    assert held >= 0.9 * given_intervals


@pytest.mark.parametrize(
    ("draws", "over", "said"),
    [
        (1, "texts", "one text: no interval"),
        (1, "random sequences", "one random sequence: no interval"),
        (3, "texts", "3 texts: at least 8 are needed for an interval"),
        (
            7,
            "passages of one text",
            "7 passages of one text: at least 8 are needed for an interval",
        ),
        (8, "texts", "95 % over 8 texts"),
    ],
)
def test_a_mean_says_what_its_interval_is_over_or_why_there_is_none(
    draws: int, over: str, said: str
) -> None:
    kept = sum(
        (ratio_sums(np.full((1, 5), k / 10), np.ones((1, 5))) for k in range(draws)),
        np.zeros((1, FIELDS)),
    )
    found = mean_of(kept[0], over)
    assert found is not None
    assert found.interval == said


def test_passages_of_several_texts_are_no_sample_of_texts() -> None:
    kept = sum(
        (ratio_sums(np.full((1, 5), k / 10), np.ones((1, 5))) for k in range(10)),
        np.zeros((1, FIELDS)),
    )
    found = mean_of(kept[0], "passages of 2 texts", alike=False)
    assert found is not None
    assert (found.low, found.interval) == (None, "10 passages of 2 texts: no interval")


def test_one_draw_has_no_interval_and_no_weight_no_mean() -> None:
    alone = mean_of(ratio_sums(np.full((1, 5), 0.5), np.ones((1, 5)))[0])
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (0.5, None, None)
    assert mean_of(ratio_sums(np.zeros((1, 5)), np.zeros((1, 5)))[0]) is None


@given(
    st.lists(st.floats(1e-8, 1e5), min_size=1, max_size=200),
    st.sampled_from([0.05, 0.5, 0.95]),
)
def test_quantiles_are_within_a_bin_of_the_truth(
    values: list[float], share: float
) -> None:
    found = quantile(bin_counts(np.array([values]))[0], share)
    truth = sorted(values)[max(0, int(np.ceil(share * len(values))) - 1)]
    assert found is not None
    assert truth / STEP <= found <= truth * STEP


def test_quantiles_of_nothing_of_zeros_and_of_infinities() -> None:
    assert quantile(bin_counts(np.array([[1.0]]), np.array([[0]]))[0], 0.5) is None
    assert quantile(bin_counts(np.zeros((1, 3)))[0], 0.5) == 0.0
    assert quantile(bin_counts(np.full((1, 3), np.inf))[0], 0.5) == np.inf
