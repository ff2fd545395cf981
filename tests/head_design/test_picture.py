"""Queries and keys in a plane: inner products stay scores where the plane holds everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.head_design.head import Head
from headwright.head_design.picture import head_plane


@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 5))
def test_plane_keeps_scores_up_to_what_it_leaves_out(seed: int, r: int) -> None:
    rng = np.random.default_rng(seed)
    head, X = (
        Head(rng.normal(size=(r, 4)), rng.normal(size=(r, 4)), np.eye(4)),
        rng.normal(size=(6, 4)),
    )
    plane = head_plane(head, X)
    assert plane.keys.shape == plane.queries.shape == (6, 2)
    assert 0 < plane.share <= 1
    if r <= 2:
        assert plane.share == pytest.approx(1)
        assert np.allclose(plane.queries @ plane.keys.T, X @ head.M.T @ X.T)


def test_a_head_that_does_nothing_has_a_plane() -> None:
    plane = head_plane(Head(np.zeros((1, 2)), np.zeros((1, 2)), np.eye(2)), np.eye(2))
    assert plane.share == 1
    assert not plane.keys.any()
