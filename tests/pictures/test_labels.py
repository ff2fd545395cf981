"""Names keep inside the picture, and off one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwright.pictures.labels import HALF_LETTER, HALF_LINE, Frame, beside

FRAME = Frame((0.0, 0.0), 1.5, 350)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=12))
def test_labels_stay_inside_the_picture(places: list[tuple[float, float]]) -> None:
    points = [(x, y, "token") for x, y in places]
    lines = [((0.0, 0.0), place) for place in places[:3]]
    assert all(abs(x) < 1.5 and abs(y) < 1.5 for x, y in beside(points, lines, FRAME))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 0.05))
def test_names_of_two_points_that_lie_close_do_not_cover_one_another(
    x: float, y: float, apart: float
) -> None:
    one, other = beside([(x, y, "token"), (x + apart, y, "other")], [], FRAME)
    wide, high = 2 * HALF_LETTER * 5 * FRAME.unit, 2 * HALF_LINE * FRAME.unit
    assert (
        abs(one[0] - other[0]) >= wide - 1e-9 or abs(one[1] - other[1]) >= high - 1e-9
    )
