"""A head as a picture: its pattern with the numbers in it, and its queries and keys as directions in a plane."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.style import COLOURS, Chart, heading, rows

QUERY, KEY = COLOURS[0], COLOURS[5]
SIZE = 340
MOST_NUMBERS = 12  # tokens, up to which a cell has room for its number


def head_picture(
    pattern: Float[np.ndarray, "T T"],
    labels: Sequence[str],
    keys: Float[np.ndarray, "T 2"],
    queries: Float[np.ndarray, "T 2"],
    title: str = "A head",
    subtitle: str = "",
) -> Chart:
    """The pattern beside the geometry; labels name the tokens in both.

    >>> picture = head_picture(np.eye(2), ["a", "b"], np.eye(2), np.eye(2))
    >>> len(picture.to_dict()["hconcat"])
    2
    """
    chart = alt.hconcat(pattern_map(pattern, labels), geometry(labels, keys, queries), spacing=36)
    return chart.properties(title=alt.Title(title, subtitle=textwrap.wrap(subtitle, 110)))


def pattern_map(pattern: Float[np.ndarray, "T T"], labels: Sequence[str]) -> Chart:
    """A row for each token that looks, a column for each that is looked at; what a mask hides stays empty.

    >>> pattern_map(np.eye(2), ["a", "b"]).to_dict()["layer"][0]["mark"]["type"]
    'rect'
    """
    T = len(pattern)
    names = [label if label.endswith(f"token {i}") else f"{i}:  {label}" for i, label in enumerate(labels)]
    cells = [
        {"row": names[i], "column": names[j], "weight": float(pattern[i, j]), "label": _number(float(pattern[i, j]))}
        for i in range(T)
        for j in range(T)
        if pattern[i, j] > 0
    ]
    x = alt.X(
        "column:N",
        sort=None,
        scale=alt.Scale(domain=names),
        title="attends to",
        axis=alt.Axis(labelAngle=-40, grid=False),
    )
    y = alt.Y("row:N", sort=None, scale=alt.Scale(domain=names), title="token", axis=alt.Axis(grid=False))
    base = alt.Chart(rows(cells)).encode(x=x, y=y, tooltip=["row:N", "column:N", "weight:Q"])
    shade = alt.Color("weight:Q", scale=alt.Scale(domain=[0, 1], range=["#F4F8FB", COLOURS[0]]), legend=None)
    squares = base.mark_rect(stroke="white", strokeWidth=1).encode(color=shade)
    ink = alt.condition("datum.weight > 0.5", alt.value("white"), alt.value("#222222"))
    numbers = base.mark_text(fontSize=11).encode(text="label:N", color=ink)
    few = T <= MOST_NUMBERS
    chart = alt.layer(squares, numbers) if few else alt.layer(squares)
    return chart.properties(width=SIZE, height=SIZE, title=heading("pattern"))


def geometry(labels: Sequence[str], keys: Float[np.ndarray, "T 2"], queries: Float[np.ndarray, "T 2"]) -> Chart:
    """Queries as lines from the origin, keys as squares: the further a key lies along a query, the higher its score.

    >>> geometry(["a"], np.ones((1, 2)), np.ones((1, 2))).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    reach = 1.5 * max(float(np.abs(keys).max()), float(np.abs(queries).max()), 1e-9)
    x, y = (
        axis(f"{name}:Q", title=None, scale=alt.Scale(domain=[-reach, reach], nice=False))
        for axis, name in ((alt.X, "x"), (alt.Y, "y"))
    )
    tips, squares = _gathered(labels, queries, reach), _gathered(labels, keys, reach)
    still = [
        f"without a {kind}: {place['name']}"
        for kind, found in (("query", tips), ("key", squares))
        for place in found
        if _at_origin(place, reach)
    ]
    tips, squares = ([place for place in found if not _at_origin(place, reach)] for found in (tips, squares))
    ends = [
        {"x": part * tip["x"], "y": part * tip["y"], "of": number} for number, tip in enumerate(tips) for part in (0, 1)
    ]
    lines = alt.Chart(rows(ends)).mark_line(color=QUERY, strokeWidth=2).encode(x=x, y=y, detail="of:N")
    dots = alt.Chart(rows(tips)).mark_point(filled=True, size=45, opacity=1, color=QUERY).encode(x=x, y=y)
    places = (
        alt.Chart(rows(squares)).mark_point(shape="square", filled=True, size=80, opacity=1, color=KEY).encode(x=x, y=y)
    )
    marks = [(place, QUERY) for place in tips] + [(place, KEY) for place in squares]
    named = [
        {**place, "x": x_, "y": y_, "colour": colour}
        for (place, colour), (x_, y_) in zip(marks, _apart([place for place, _ in marks], tips, reach), strict=True)
    ]
    labelled = alt.Chart(rows(named)).mark_text(fontSize=11).encode(
        x=x, y=y, text="name:N", color=alt.Color("colour:N", scale=None)
    )  # fmt: skip
    words = [
        {"x": -0.97 * reach, "y": 0.95 * reach, "name": "● query of", "colour": QUERY},
        {"x": -0.97 * reach, "y": 0.86 * reach, "name": "■ key of", "colour": KEY},
    ]
    notes = alt.Chart(rows(words)).mark_text(fontSize=12, fontWeight="bold", align="left").encode(
        x=x, y=y, text="name:N", color=alt.Color("colour:N", scale=None)
    )  # fmt: skip
    title = heading("queries and keys in the head's plane")
    title.subtitle, title.subtitleFontSize = [line for text in still for line in textwrap.wrap(text, 62)], 11
    return alt.layer(lines, dots, places, labelled, notes).properties(width=SIZE, height=SIZE, title=title)


def _apart(points: list[dict[str, Any]], tips: list[dict[str, Any]], reach: float) -> list[tuple[float, float]]:
    """Where the middle of each label goes: beside its point, inside the picture, off others and lines where it can."""
    unit = 2 * reach / SIZE  # what one pixel is
    taken = [(point["x"], point["y"], 6 * unit, 6 * unit) for point in points]  # middle and half sizes
    lines = [(part * tip["x"], part * tip["y"], unit, unit) for tip in tips for part in np.linspace(0, 1, 60).tolist()]
    found = []
    for point in points:
        half, high = 3.1 * len(point["name"]) * unit, 7 * unit
        x, y = point["x"], point["y"]
        out = 1 if x >= 0 else -1
        up = 1 if y >= 0 else -1
        beside, over = half + 9 * unit, high + 7 * unit
        spots = [(x + out * beside, y), (x, y + up * over), (x, y - up * over), (x - out * beside, y)]
        spots += [(x + side * beside, y + end * over) for side in (out, -out) for end in (up, -up)]
        spots += [(x, y + up * 2.2 * over), (x, y - up * 2.2 * over)]
        boxes = [(a, b, half, high) for a, b in spots if abs(a) + half < reach and abs(b) + high < reach]
        free = [box for box in boxes if not any(_meet(box, other) for other in taken)]
        clear = [box for box in free if not any(_meet(box, line) for line in lines)]
        best = (clear or free or boxes or [(*spots[0], half, high)])[0]
        taken.append(best)
        found.append(best[:2])
    return found


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


def _at_origin(place: dict[str, Any], reach: float) -> bool:
    return bool(max(abs(place["x"]), abs(place["y"])) < 0.01 * reach)


def _gathered(labels: Sequence[str], points: Float[np.ndarray, "T 2"], reach: float) -> list[dict[str, Any]]:
    """Points that lie together, as one with all their names."""
    found: list[tuple[np.ndarray, list[int]]] = []
    for i, point in enumerate(points):
        near = next((names for place, names in found if float(np.abs(place - point).max()) < 0.03 * reach), None)
        if near is None:
            found.append((point, [i]))
        else:
            near.append(i)
    spread = Counter(label for _, names in found for label in {labels[i] for i in names})  # over so many points

    def name(i: int) -> str:
        return labels[i] if spread[labels[i]] == 1 else f"{labels[i]} ({i})"

    return [
        {"x": float(place[0]), "y": float(place[1]), "name": ", ".join(dict.fromkeys(map(name, names)))}
        for place, names in found
    ]


def _number(weight: float) -> str:
    return f"{weight:.3f}" if weight >= 0.0005 else "0" if weight == 0 else "~0"
