"""What the plane shows: the border of the queries that meet targets, and hulls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright import attend
from headwright.pictures import told
from headwright.query_design import Targets, average, copy, design
from headwright.query_design.picture import hull, meeting_region

KEYS = np.array(
    [[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]]
)
POINTS = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=15
)


def _spare(points: np.ndarray, targets: Targets) -> np.ndarray:
    pattern = attend(KEYS, points).pattern
    return np.min([pattern[:, a] / float(p) for a, p in targets.least.items()], axis=0)


@pytest.mark.parametrize(
    "targets", [copy(0), copy(1, eps=0.1), average([0, 4]), average([0, 1], eps=0.2)]
)
def test_the_border_lies_where_the_targets_is_just_met(targets: Targets) -> None:
    query = design(KEYS, targets).queries[0]
    border = meeting_region(KEYS, targets, query, 40.0)
    assert len(border) > 200
    np.testing.assert_allclose(_spare(border, targets), 1, atol=1e-6)


def test_no_point_of_the_border_is_shorter_than_the_shortest_query() -> None:
    query = design(KEYS, copy(0)).queries[0]
    lengths = np.linalg.norm(meeting_region(KEYS, copy(0), query, 40.0), axis=1)
    assert lengths.min() >= np.linalg.norm(query) * (1 - 1e-6)
    assert lengths.max() > 40


@given(POINTS)
def test_all_points_lie_in_their_hull(points: list[tuple[int, int]]) -> None:
    given_ = np.array(points, dtype=float)
    corners = hull(given_)
    assert {tuple(corner) for corner in corners.tolist()} <= {
        tuple(map(float, point)) for point in points
    }
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        turns = (b[0] - a[0]) * (given_[:, 1] - a[1]) - (b[1] - a[1]) * (
            given_[:, 0] - a[0]
        )
        assert (turns >= 0).all()


def test_where_no_query_will_do_the_hull_is_drawn() -> None:
    assert "hull of the other keys" in told(design(KEYS, copy(5)).picture())


def test_for_uncertain_keys_no_region_is_drawn() -> None:
    from headwright.uncertainty import Noise, OneOf, Uncertainty

    found = design(
        KEYS, copy(0), uncertainty=Uncertainty({0: Noise(scale=OneOf((0.9, 1.1)))})
    )
    assert found.word == "designed"
    assert "region" not in told(found.picture())
