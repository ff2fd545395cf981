"""Within the radius no change of keys moves the winner; at its edge one does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headwright.auditing.measures.robustness import robustness_radius
from headwright.statistics.attention_config import AttentionConfig

seeds = st.integers(0, 2**32)


def _case(
    seed: int, softcap: float | None = None
) -> tuple[np.ndarray, np.ndarray, AttentionConfig, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(1, 1, 5)), rng.normal(size=(1, 6, 5))
    scoring = AttentionConfig.of(q.shape, k.shape, softcap=softcap)
    return q, k, scoring, _scores(q, k, scoring)


def _scores(q: np.ndarray, k: np.ndarray, scoring: AttentionConfig) -> np.ndarray:
    s = scoring.scale * k[0] @ q[0, 0]
    return (
        s if scoring.softcap is None else scoring.softcap * np.tanh(s / scoring.softcap)
    )


def _margin(s: np.ndarray) -> np.ndarray:
    two = np.sort(s)[-2:]
    return np.array([[two[1] - two[0]]])


@given(seeds, st.sampled_from([None, 0.8]))
def test_no_change_within_the_radius_moves_the_winner(
    seed: int, softcap: float | None
) -> None:
    q, k, scoring, s = _case(seed, softcap)
    r = robustness_radius(_margin(s), q, scoring)[0, 0] * (1 - 1e-9)
    rng = np.random.default_rng(seed + 1)
    changes = [rng.normal(size=k.shape) for _ in range(20)]
    worst = np.tile(q, (1, 6, 1))
    worst[0, s.argmax()] *= -1  # towards the rivals, and the winner away
    for e in [*changes, worst]:
        e = r * e / np.linalg.norm(e, axis=2, keepdims=True)
        assert _scores(q, k + e, scoring).argmax() == s.argmax()


@given(seeds)
def test_a_little_beyond_the_radius_the_winner_can_be_moved(seed: int) -> None:
    q, k, scoring, s = _case(seed)
    r = robustness_radius(_margin(s), q, scoring)[0, 0] * (1 + 1e-6)
    e = r * np.tile(q, (1, 6, 1)) / np.linalg.norm(q)
    e[0, s.argmax()] *= -1
    assert _scores(q, k + e, scoring).argmax() != s.argmax()


def test_a_query_of_length_zero_has_no_winner_to_move() -> None:
    scoring = AttentionConfig.of((1, 1, 2), (1, 2, 2))
    assert (
        robustness_radius(np.array([[0.0]]), np.zeros((1, 1, 2)), scoring)[0, 0]
        == np.inf
    )
