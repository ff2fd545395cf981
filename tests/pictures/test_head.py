"""A head's picture: what it shows, and that its labels keep off each other."""

from __future__ import annotations

import numpy as np

from headwright.pictures import head_picture, render
from headwright.pictures.head import _together, geometry, pattern_map


def test_what_a_mask_hides_stays_empty() -> None:
    chart = pattern_map(np.array([[1.0, 0.0], [0.25, 0.75]]), ["a", "b"]).to_dict()
    (cells,) = chart["datasets"].values()
    assert [(cell["row"], cell["column"], cell["label"]) for cell in cells] == [
        ("0:  a", "0:  a", "1.000"),
        ("1:  b", "0:  a", "0.250"),
        ("1:  b", "1:  b", "0.750"),
    ]


def test_many_tokens_have_no_numbers() -> None:
    assert len(pattern_map(np.full((20, 20), 0.05), ["t"] * 20).to_dict()["layer"]) == 1


def test_tokens_without_a_query_are_named_in_the_title() -> None:
    chart = geometry(["a", "b"], np.eye(2), np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert chart.to_dict()["title"]["subtitle"] == ["without a query: a"]


def test_points_that_lie_together_share_a_label() -> None:
    assert _together(["a", "b"], np.ones((2, 2)), 1.5) == [
        {"x": 1.0, "y": 1.0, "name": "a, b"}
    ]


def test_tokens_of_one_name_have_lines_and_labels_of_their_own() -> None:
    queries = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    chart = geometry(["x", "y", "x"], np.eye(3)[:, :2], queries).to_dict()
    lines = chart["datasets"][chart["layer"][0]["data"]["name"]]
    assert len({line["of"] for line in lines}) == 3
    names = [place["name"] for place in _together(["x", "y", "x"], queries, 1.5)]
    assert names == ["x (0)", "y", "x (2)"]


def test_rows_that_no_rule_speaks_of_are_marked_and_pale() -> None:
    chart = pattern_map(
        np.array([[1.0, 0.0], [0.25, 0.75]]), ["a", "b"], free=[1]
    ).to_dict()
    (cells,) = chart["datasets"].values()
    assert {cell["row"] for cell in cells} == {"0:  a", "1:  b (free)"}
    assert all(
        cell["shade"] < cell["weight"] for cell in cells if "free" in cell["row"]
    )
    assert "no rule" in chart["title"]["subtitle"][0]


def test_renders() -> None:
    picture = head_picture(
        np.eye(3),
        ["a", "b", "c"],
        np.eye(3)[:, :2],
        np.eye(3)[:, :2],
        "A head",
        "of dimension 2",
    )
    assert render(picture, ".svg").startswith(b"<svg")
