"""Summaries merge as if all rows had come at once, and say how sure their means are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from headwright.errors import InputError
from headwright.models.findings.summary import (
    BLOCK,
    FEW,
    FIELDS,
    STEP,
    Layered,
    Summary,
    bin_counts,
    mean_of,
    quantile,
    ratio_sums,
)


def _summary(seed: int) -> Summary:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 200))
    kept = Layered((0, 3), 2)
    for layer in (0, 3):
        kept.add(layer, "mean", ratio_sums(rng.random((2, rows)), np.ones((2, rows))))
        kept.add(layer, "counts", bin_counts(rng.exponential(size=(2, rows))))
        kept.peak(layer, "worst", rng.random(2))
    return kept.summary()


def _same(a: Summary, b: Summary, rtol: float = 1e-12) -> bool:
    x, y = a.arrays(), b.arrays()
    return x.keys() == y.keys() and all(np.allclose(x[name], y[name], rtol=rtol, atol=0.0) for name in x)


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
def test_merged_documents_give_the_mean_of_all_their_rows(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = [rng.random((1, rows)) for rows in lengths]
    w = [rng.random((1, rows)) for rows in lengths]
    kept = sum((ratio_sums(a * b, b) for a, b in zip(x, w, strict=True)), np.zeros((1, FIELDS)))
    found = mean_of(kept[0])
    assert found is not None
    X, W = np.concatenate(x, axis=1)[0], np.concatenate(w, axis=1)[0]
    assert found.value == pytest.approx(np.average(X, weights=W))
    assert found.rows == sum(lengths)
    assert found.over == ("documents" if len(lengths) >= FEW else f"blocks of {BLOCK} rows")


def test_kept_in_a_file_and_read_again_it_is_the_same() -> None:
    found = _summary(1)
    assert _same(found, Summary.of(found.arrays()), rtol=0.0)
    with pytest.raises(InputError, match="expected sums"):
        Summary.of({"other/x": np.ones(1)})


def test_the_interval_holds_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        level = rng.normal(0.5, 0.1, size=12)  # documents differ, and the rows of one do not
        kept = sum((ratio_sums(np.full((1, 50), mean), np.ones((1, 50))) for mean in level), np.zeros((1, FIELDS)))
        found = mean_of(kept[0])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.5 <= found.high
    assert 365 <= held <= 394  # 380 expected; each bound is more than 3 deviations away


@pytest.mark.parametrize(
    ("trend", "most"),
    [
        (lambda i: np.log(i), 0.03),
        (lambda i: i / 2, 0.03),
        (lambda i: 1 / i, 0.03),
        (lambda i: np.minimum(np.sqrt(i), 20.0), 0.6),  # none of the laws that are fitted: wider, not wrong
    ],
)
@pytest.mark.parametrize("documents", [1, 3])
def test_blocks_of_one_text_are_compared_without_their_trend_in_position(
    trend: Callable[[np.ndarray], np.ndarray], most: float, documents: int
) -> None:
    """Neighbours resemble each other (AR(1), 0.8) and numbers grow along the text: 19 of 20 intervals hold the mean."""
    rng, rows, runs = np.random.default_rng(0), 2048, 300
    level = trend(np.arange(3, rows + 3))
    held, widths = 0, []
    for _ in range(runs):
        kept = np.zeros((1, FIELDS))
        for _ in range(documents):
            noise = lfilter([1.0], [1.0, -0.8], rng.normal(0, 0.1, rows + 100))[100:]
            kept = kept + ratio_sums((level + noise)[None], np.ones((1, rows)))
        found = mean_of(kept[0])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= level.mean() <= found.high
        widths.append(found.high - found.low)
    assert 0.91 * runs <= held
    assert np.mean(widths) < most + 2 * 2.1 * 0.5 / np.sqrt(documents * rows)


def test_a_number_that_depends_on_the_position_alone_is_known() -> None:
    entropy = np.log(np.arange(3, 4099))[None]
    found = mean_of(ratio_sums(entropy, np.ones_like(entropy))[0])
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low < 1e-5  # with the trend, blocks would say 0.5


def test_one_draw_has_no_interval_and_no_weight_no_mean() -> None:
    alone = mean_of(ratio_sums(np.full((1, 5), 0.5), np.ones((1, 5)))[0])
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (0.5, None, None)
    assert mean_of(ratio_sums(np.zeros((1, 5)), np.zeros((1, 5)))[0]) is None


@given(st.lists(st.floats(1e-8, 1e5), min_size=1, max_size=200), st.sampled_from([0.05, 0.5, 0.95]))
def test_quantiles_are_within_a_bin_of_the_truth(values: list[float], share: float) -> None:
    found = quantile(bin_counts(np.array([values]))[0], share)
    truth = sorted(values)[max(0, int(np.ceil(share * len(values))) - 1)]
    assert found is not None
    assert truth / STEP <= found <= truth * STEP


def test_quantiles_of_nothing_of_zeros_and_of_infinities() -> None:
    assert quantile(bin_counts(np.array([[1.0]]), np.array([[0]]))[0], 0.5) is None
    assert quantile(bin_counts(np.zeros((1, 3)))[0], 0.5) == 0.0
    assert quantile(bin_counts(np.full((1, 3), np.inf))[0], 0.5) == np.inf
