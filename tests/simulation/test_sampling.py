"""Sampled scores have the distribution that sampled keys would have."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright import InputError
from headwright.simulation import sample_weights, simulate, targets_met
from headwright.simulation.sampling import PART, ScoreLaw
from headwright.uncertainty import (
    Ball,
    Between,
    Covariance,
    Ellipsoid,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    Spread,
    Uncertainty,
)

N = 40_000


def _all(
    keys: np.ndarray,
    queries: np.ndarray,
    uncertainty: Uncertainty,
    samples: int = N,
    seed: int = 0,
) -> np.ndarray:
    return np.concatenate(
        list(
            ScoreLaw.of(keys, queries, uncertainty, samples, scale=1.0).draw(
                seed, 0, samples
            )
        )
    )


def _sampled_keys(
    mu: np.ndarray, spread: Spread, rng: np.random.Generator
) -> np.ndarray:
    """The slow and obvious way: keys themselves."""
    d = len(mu)
    match spread:
        case Isotropic(variance):
            return mu + np.sqrt(variance) * rng.normal(size=(N, d))
        case Covariance(matrix):
            return rng.multivariate_normal(mu, matrix, size=N)
        case Ball(radius):
            return mu + radius * _in_ball(rng, d)
        case Ellipsoid(matrix):
            return mu + _in_ball(rng, matrix.shape[1]) @ matrix.T


def _in_ball(rng: np.random.Generator, d: int) -> np.ndarray:
    z = rng.normal(size=(N, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True) * rng.random((N, 1)) ** (1 / d)


G = np.random.default_rng(5).normal(size=(4, 4))
SPREADS = [
    Isotropic(0.3),
    Covariance(G @ G.T),
    Ball(0.7),
    Ellipsoid(G),
    Ellipsoid(G[:, :1]),
    Ellipsoid(np.random.default_rng(6).normal(size=(4, 9))),
]


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("spread", SPREADS, ids=lambda s: type(s).__name__)
def test_scores_are_distributed_as_if_keys_were_drawn(
    spread: Spread, heads: int
) -> None:
    rng = np.random.default_rng(7)
    keys, queries = rng.normal(size=(3, 4)), rng.normal(size=(heads, 4))
    found = _all(keys, queries, Uncertainty({1: Noise(spread=spread)}))
    expected = _sampled_keys(keys[1], spread, rng) @ queries.T
    np.testing.assert_allclose(
        found[:, :, 0], np.broadcast_to(queries @ keys[0], (N, heads)), rtol=1e-12
    )
    size = expected.std()
    np.testing.assert_allclose(
        found[:, :, 1].mean(axis=0), expected.mean(axis=0), atol=0.05 * size
    )
    np.testing.assert_allclose(
        np.cov(found[:, :, 1].T), np.cov(expected.T), atol=0.08 * size**2
    )
    # Beyond two moments: the quantiles of the first head's score.
    levels = [0.01, 0.1, 0.5, 0.9, 0.99]
    np.testing.assert_allclose(
        np.quantile(found[:, 0, 1], levels),
        np.quantile(expected[:, 0], levels),
        atol=0.08 * size,
    )


def test_one_scale_moves_all_heads_together() -> None:
    queries = np.array([[1.0, 0.0], [2.0, 0.0]])
    s = _all(np.eye(2), queries, Uncertainty({0: Noise(scale=Normal(1.0, 0.5))}), 1000)
    np.testing.assert_allclose(s[:, 1, 0], 2 * s[:, 0, 0], rtol=1e-14)
    assert s[:, 0, 0].std() > 0.5
    np.testing.assert_array_equal(s[:, :, 1], 0)


@pytest.mark.parametrize(
    ("scale", "low", "high"),
    [
        (Between(0.5, 1.5), 0.5, 1.5),
        (OneOf((0.5, 1.5)), 0.5, 1.5),
        (Normal(2.0, 0.0), 2, 2),
    ],
)
def test_scales_stay_in_their_range(
    scale: Between | OneOf | Normal, low: float, high: float
) -> None:
    s = _all(np.eye(1), np.ones((1, 1)), Uncertainty({0: Noise(scale=scale)}), 2000)
    assert s.min() >= low
    assert s.max() <= high
    if isinstance(scale, OneOf):
        assert set(s.ravel().tolist()) == set(scale.values)


def test_scale_and_spread_add_up() -> None:
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5), spread=Isotropic(0.1))})
    s = _all(np.array([[2.0]]), np.ones((1, 1)), uncertainty)
    assert s.var() == pytest.approx(0.5 * 4 + 0.1, rel=0.05)


def test_scenarios_are_drawn_whole() -> None:
    uncertainty = Uncertainty(scenarios=(np.zeros((2, 1)), np.ones((2, 1))))
    s = _all(np.zeros((2, 1)), np.ones((1, 1)), uncertainty, 1000)
    np.testing.assert_array_equal(s[:, 0, 0], s[:, 0, 1])
    assert 0.4 < s.mean() < 0.6


@given(st.integers(1, 70_000), st.integers(0, 5))
@settings(max_examples=20)
def test_as_many_samples_as_asked_for_and_the_same_for_the_same_seed(
    samples: int, seed: int
) -> None:
    uncertainty = Uncertainty(others=Noise(spread=Isotropic(1.0)))
    first, again = (
        _all(np.eye(3), np.ones((2, 3)), uncertainty, samples, seed) for _ in range(2)
    )
    assert first.shape == (samples, 2, 3)
    np.testing.assert_array_equal(first, again)


def test_no_samples_are_refused() -> None:
    with pytest.raises(InputError, match="0 samples"):
        _all(np.eye(2), np.ones((1, 2)), Uncertainty(), 0)


def test_parts_are_drawn_from_different_streams() -> None:
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    drawn = np.concatenate(
        list(
            sample_weights(
                np.eye(2), np.array([[1.0, 0.0]]), uncertainty, [0], 2 * PART
            )
        )
    )[:, 0]
    first, second = drawn[:PART], drawn[PART:]
    assert len(np.intersect1d(first, second)) < 10
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02


def test_tensors_and_parameters_in_bfloat16_are_arrays_here_too() -> None:
    torch = pytest.importorskip("torch")
    keys = torch.nn.Parameter(torch.eye(3).bfloat16())
    query = torch.nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    here = simulate(np.eye(3), np.array([1.0, 0.0, 0.0]), uncertainty, [0], samples=100)
    assert simulate(keys, query, uncertainty, [0], samples=100).targets == here.targets
    assert (
        targets_met(keys, query, uncertainty, {0: Fraction(1, 2)}, samples=100).samples
        == 100
    )


def test_one_draw_does_not_pretend_to_know_a_mean() -> None:
    found = simulate(
        np.ones((3, 1)),
        np.array([[20.0]]),
        Uncertainty({0: Noise(scale=Between(0.5, 1.5))}),
        [0],
        samples=1,
    )
    assert found.targets[0].mean_interval == (0.0, 1.0)
    low, high = (
        simulate(np.eye(2), np.array([[3.0, 0.0]]), Uncertainty(), [0], samples=2)
        .targets[0]
        .mean_interval
    )
    assert low == high  # draws of a certain uncertainty are not apart


def test_intervals_of_few_draws_hold_the_mean_as_often_as_they_say() -> None:
    keys, queries, uncertainty = (
        np.eye(2),
        np.array([[1.0, 0.0]]),
        Uncertainty({0: Noise(scale=Normal(0.0, 0.5))}),
    )
    truth = simulate(keys, queries, uncertainty, [0], samples=1).exact
    assert truth is not None
    intervals = [
        simulate(keys, queries, uncertainty, [0], samples=4, seed=seed)
        .targets[0]
        .mean_interval
        for seed in range(200)
    ]
    held = sum(low <= truth.means[0].midpoint <= high for low, high in intervals)
    assert held >= 0.93 * len(intervals)  # the normal interval holds it 85 times of 100
