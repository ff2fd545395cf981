"""Every picture: light and dark, no wider than a telephone shows, and told in words that change with its data."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest

from headwright import positions, simulation, uncertainty
from headwright.grading.verdict import Curve
from headwright.lowrank import truncate
from headwright.pictures import (
    Chart,
    curve_picture,
    head_picture,
    length_picture,
    noise_picture,
    pattern_bars,
    position_picture,
    render,
    spectrum,
    told,
)
from headwright.query_design import copy, design
from headwright.theme import COLOURS

WIDEST = 460
KEYS = np.array(
    [[1.2, 0.3], [0.2, 1.1], [-0.9, 0.6], [-0.5, -1.0], [0.9, -0.8], [0.3, 0.2]]
)


def _positions(length: int) -> Chart:
    scheme, precision = positions.Sinusoidal(8), positions.Precision(index="bfloat16")
    found = positions.report(scheme, length, precision)
    return position_picture(
        positions.preview(scheme, length, precision, 240),
        "Positions",
        "",
        found.first_pair,
    )


def _noise(size: float) -> Chart:
    return noise_picture(
        simulation.simulate(
            np.eye(3),
            size * np.eye(3)[0],
            uncertainty.Uncertainty(),
            [0, 1],
            samples=50,
        )
    )


def _head(weight: float) -> Chart:
    pattern = np.array([[weight, 1 - weight], [0.5, 0.5]])
    return head_picture(
        pattern, ["a", "b"], np.eye(2), np.eye(2), "A head", "", free=[1]
    )


# Each draws two different things: the first argument has to be seen in the words.
PICTURES: dict[str, tuple[Callable[[], Chart], Callable[[], Chart]]] = {
    "plane": (
        lambda: design(KEYS, copy(0)).picture(),
        lambda: design(KEYS, copy(1)).picture(),
    ),
    "hull": (
        lambda: design(KEYS, copy(5)).picture(),
        lambda: design(KEYS, copy(0)).picture(),
    ),
    "pattern": (
        lambda: pattern_bars(np.array([[0.2, 0.8]])),
        lambda: pattern_bars(np.array([[0.3, 0.7]])),
    ),
    "head": (lambda: _head(0.9), lambda: _head(0.1)),
    "noise": (lambda: _noise(0.0), lambda: _noise(1.0)),
    "positions": (lambda: _positions(400), lambda: _positions(250)),
    "curve": (
        lambda: curve_picture(
            Curve("n", (2, 3), {"weight": (0.5, 0.4)}, {"wanted": 0.45})
        ),
        lambda: curve_picture(
            Curve("n", (2, 3), {"weight": (0.5, 0.46)}, {"wanted": 0.45})
        ),
    ),
    "spectrum": (
        lambda: spectrum(truncate(np.diag([3.0, 2.0, 1.0]), rank=1)),
        lambda: spectrum(truncate(np.diag([3.0, 2.0, 1.0]), rank=2)),
    ),
    "length": (
        lambda: length_picture(
            [("0.0", "own", [2, 4], [0.5, 0.4], [0.9, 0.8])] * 3, "Heads", ""
        ),
        lambda: length_picture(
            [("0.0", "own", [2, 4], [0.5, 0.1], [0.9, 0.8])] * 3, "Heads", ""
        ),
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_words_of_a_picture_change_with_its_data(name: str) -> None:
    one, other = (told(draw()) for draw in PICTURES[name])
    assert len(one) > 20
    assert one != other


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_one_image_that_a_telephone_shows_and_that_turns_dark(
    name: str,
) -> None:
    chart = PICTURES[name][0]()
    drawing = render(chart, ".svg").decode()
    root = ElementTree.fromstring(drawing)
    assert root.get("role") == "img"
    assert root.get("aria-label") == told(chart)
    assert float(root.get("width", "0")) <= WIDEST
    style, _, body = drawing.partition("</style>")
    turned = set(re.findall(r'\[fill="(#[0-9a-f]{6})"\]', style))
    drawn = {
        colour.lower()
        for colour in re.findall(r'(?:fill|stroke)="(#[0-9a-fA-F]{3,6})"', body)
    }
    assert drawn <= turned, "a colour that the dark does not know"
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', body)]
    assert min(sizes) >= 11


def test_a_page_of_a_chart_is_named_and_turns_dark() -> None:
    page = render(pattern_bars(np.array([[0.25, 0.75]])), ".html").decode()
    head, _, body = page.partition(
        "<script"
    )  # the script holds pages in strings, and has to stay as it was
    assert '<html lang="en">' in head
    assert "prefers-color-scheme:dark" in head
    assert 'name="viewport"' in head
    assert (
        'id="vis" role="img" aria-label="Bars of the weight'
        in body.rpartition("<body>")[2]
    )
    assert "http" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_every_colour_of_a_picture_is_of_the_theme() -> None:
    light = {light for light, _ in COLOURS.values()}
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in light)


def test_a_notebook_is_given_a_drawing_that_needs_no_network() -> None:
    shown = pattern_bars(np.array([[0.25, 0.75]]))._repr_mimebundle_(None, None)
    data = shown[0] if isinstance(shown, tuple) else shown
    assert "<svg" in data["image/svg+xml"]
    assert "http" not in str(data).replace("http://www.w3.org", "")


def test_a_place_that_a_head_hardly_looks_at_is_named_instead_of_drawn() -> None:
    looked = ("0.0", "previous", [2, 4], [0.8, 0.7], [0.9, 0.9])
    hardly = ("0.1", "first", [2, 4], [0.0, 0.0], [0.01, 0.04])
    drawn = length_picture([looked, hardly], "Heads", "proved").to_dict()
    assert [panel["title"]["text"] for panel in drawn["concat"]] == [
        "head 0.0: previous"
    ]
    assert "not drawn, since never above 0.05: 0.1 first" in " ".join(
        drawn["title"]["subtitle"]
    )
    assert "head 0.1, first: at 4 tokens between 0 and 0.04" in drawn["description"]
    assert len(length_picture([hardly], "Heads", "proved").to_dict()["concat"]) == 1
    many = length_picture([looked, *[hardly] * 7], "Heads", "proved").to_dict()
    assert "7 of 8 places" in " ".join(many["title"]["subtitle"])


def test_charts_of_others_are_shown_as_they_were_before_ours_were_drawn() -> None:
    import altair as alt

    assert alt.renderers.active == "default"
    other = alt.Chart(alt.InlineData(values=[])).mark_point()
    assert "image/svg+xml" not in str(other._repr_mimebundle_(None, None))


def test_whoever_chose_a_renderer_keeps_it() -> None:
    import altair as alt

    with alt.renderers.enable("json"):
        shown = pattern_bars(np.array([[0.25, 0.75]]))._repr_mimebundle_(None, None)
    assert "image/svg+xml" not in str(shown)
