"""Sampling scores against sampling keys: the same uncertainty, the same number of draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.measure import Contender
from headwright.simulation.sampling import ScoreLaw
from headwright.uncertainty import Isotropic, Noise, Uncertainty

TITLE = "Scores in 20,000 draws of uncertain keys (64 keys in R^512, isotropic noise, one head)"
N, D, SAMPLES, VARIANCE = 64, 512, 20_000, 0.01
CONTENDERS = [
    Contender("headwright: scores", "scores"),
    Contender("keys, NumPy", "keys", peer_of="headwright: scores", repeats=1),
]


def _setting() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, D)), rng.normal(size=(1, D)) / np.sqrt(D)


def scores() -> Callable[[], str]:
    mu, q = _setting()
    uncertainty = Uncertainty(others=Noise(spread=Isotropic(VARIANCE)))

    def work() -> str:
        blocks = ScoreLaw.of(mu, q, uncertainty, SAMPLES, scale=1.0).draw(0, 0, SAMPLES)
        total = sum(block[:, 0, :].std(axis=0).sum() * len(block) for block in blocks)
        return f"mean std of a score {total / N / SAMPLES:.4f}"

    return work


def keys() -> Callable[[], str]:
    mu, q = _setting()
    block = 200  # as many keys at once as stay in memory

    def work() -> str:
        rng = np.random.default_rng(0)
        total = 0.0
        for _ in range(SAMPLES // block):
            drawn = mu + np.sqrt(VARIANCE) * rng.standard_normal((block, N, D))
            total += (drawn @ q[0]).std(axis=0).sum() * block
        return f"mean std of a score {total / N / SAMPLES:.4f}"

    return work
