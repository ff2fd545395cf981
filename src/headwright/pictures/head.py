"""A head as a picture: its pattern with the numbers in it, and its queries and keys as directions in a plane."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.errors import typed_errors
from headwright.pictures.labels import Frame, Place, beside
from headwright.pictures.style import (
    ACCENT,
    CARD,
    INK,
    KEY,
    LINE,
    OUTPUT,
    WIDTH,
    Chart,
    heading,
    rows,
    titled,
)

QUERY, KEYS = KEY, OUTPUT
FREE = 0.35  # how strong a free row is drawn
MOST_NUMBERS = 12  # tokens, up to which a cell has room for its number


@typed_errors
def head_picture(
    pattern: Float[np.ndarray, "T T"],
    labels: Sequence[str],
    keys: Float[np.ndarray, "T 2"],
    queries: Float[np.ndarray, "T 2"],
    title: str = "A head",
    subtitle: str = "",
    free: Collection[int] = (),
) -> Chart:
    """The pattern above the geometry; labels name the tokens in both; of free tokens no rule says what they do.

    >>> picture = head_picture(np.eye(2), ["a", "b"], np.eye(2), np.eye(2))
    >>> len(picture.to_dict()["vconcat"])
    2
    """
    chart = alt.vconcat(
        pattern_map(pattern, labels, free), geometry(labels, keys, queries), spacing=24
    )
    heaviest = (
        f"{labels[i]} {'(free) ' if i in free else ''}attends most to {labels[int(row.argmax())]}, {row.max():.3f}"
        for i, row in enumerate(pattern[:MOST_NUMBERS])
    )
    told = f"The pattern of {len(pattern)} tokens: {'; '.join(heaviest)}. Below it, queries and keys in a plane."
    return titled(chart, title, subtitle, told)


def pattern_map(
    pattern: Float[np.ndarray, "T T"], labels: Sequence[str], free: Collection[int] = ()
) -> Chart:
    """A row for each token that looks, a column for each that is looked at; what a mask hides stays empty.

    Rows that no rule speaks of are pale and named 'free': no rule is about what they show.
    """
    T = len(pattern)
    names = [
        label if label.endswith(f"token {i}") else f"{i}:  {label}"
        for i, label in enumerate(labels)
    ]
    marked = [f"{name} (free)" if i in free else name for i, name in enumerate(names)]
    cells = [
        {
            "row": marked[i],
            "column": names[j],
            "weight": float(pattern[i, j]),
            "label": _number(float(pattern[i, j])),
            "shade": float(pattern[i, j]) * (FREE if i in free else 1.0),
        }
        for i in range(T)
        for j in range(T)
        if pattern[i, j] > 0
    ]
    x = alt.X(
        "column:N",
        sort=None,
        scale=alt.Scale(domain=names),
        title="attends to",
        axis=alt.Axis(labelAngle=-40, grid=False, labelLimit=150),
    )
    y = alt.Y(
        "row:N",
        sort=None,
        scale=alt.Scale(domain=marked),
        title="token",
        axis=alt.Axis(grid=False, labelLimit=150),
    )
    base = alt.Chart(rows(cells)).encode(
        x=x, y=y, tooltip=["row:N", "column:N", "weight:Q"]
    )
    shade = alt.FillOpacity(
        "shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None
    )
    squares = base.mark_rect(fill=ACCENT, stroke=LINE, strokeWidth=1).encode(
        fillOpacity=shade
    )
    ink = alt.condition("datum.shade > 0.55", alt.value(CARD), alt.value(INK))
    numbers = base.mark_text(fontSize=11).encode(text="label:N", color=ink)
    chart = alt.layer(squares, numbers) if T <= MOST_NUMBERS else alt.layer(squares)
    spare = max(map(len, marked), default=0)
    below = "pale and free: no rule says what these tokens do" if free else ""
    side = WIDTH - max(0, min(110, 6 * spare - 50))
    return chart.properties(
        width=side, height=min(side, 60 * T), title=heading("pattern", below)
    )


def geometry(
    labels: Sequence[str],
    keys: Float[np.ndarray, "T 2"],
    queries: Float[np.ndarray, "T 2"],
) -> Chart:
    """Queries as lines from the origin, keys as squares: the further a key lies along a query, the higher its score."""
    reach = 1.5 * max(float(np.abs(keys).max()), float(np.abs(queries).max()), 1e-9)
    frame = Frame((0.0, 0.0), reach, WIDTH)
    x, y = frame.axes()
    tips, squares = _gathered(labels, queries, reach), _gathered(labels, keys, reach)
    still = [
        f"without a {kind}: {place['name']}"
        for kind, found in (("query", tips), ("key", squares))
        for place in found
        if _at_origin(place, reach)
    ]
    tips, squares = (
        [place for place in found if not _at_origin(place, reach)]
        for found in (tips, squares)
    )
    ends = [
        {"x": part * tip["x"], "y": part * tip["y"], "of": number}
        for number, tip in enumerate(tips)
        for part in (0, 1)
    ]
    lines = (
        alt.Chart(rows(ends))
        .mark_line(color=QUERY, strokeWidth=2)
        .encode(x=x, y=y, detail="of:N")
    )
    dots = (
        alt.Chart(rows(tips))
        .mark_point(filled=True, size=45, opacity=1, color=QUERY)
        .encode(x=x, y=y)
    )
    places = (
        alt.Chart(rows(squares))
        .mark_point(shape="square", filled=True, size=80, opacity=1, color=KEYS)
        .encode(x=x, y=y)
    )
    marks = [(place, QUERY) for place in tips] + [(place, KEYS) for place in squares]
    origin: Place = (0.0, 0.0)
    spots = beside(
        [(place["x"], place["y"], place["name"]) for place, _ in marks],
        [(origin, (tip["x"], tip["y"])) for tip in tips],
        frame,
    )
    named = [
        {**place, "x": x_, "y": y_, "colour": colour}
        for (place, colour), (x_, y_) in zip(marks, spots, strict=True)
    ]
    labelled = (
        alt.Chart(rows(named))
        .mark_text(fontSize=11)
        .encode(x=x, y=y, text="name:N", color=alt.Color("colour:N", scale=None))
    )
    words = [
        {"x": -0.97 * reach, "y": 0.95 * reach, "name": "● query of", "colour": QUERY},
        {"x": -0.97 * reach, "y": 0.86 * reach, "name": "■ key of", "colour": KEYS},
    ]
    notes = (
        alt.Chart(rows(words))
        .mark_text(fontSize=12, fontWeight="bold", align="left")
        .encode(x=x, y=y, text="name:N", color=alt.Color("colour:N", scale=None))
    )
    title = heading(
        "queries and keys in the head's plane",
        [line for text in still for line in textwrap.wrap(text, 60)],
    )
    return alt.layer(lines, dots, places, labelled, notes).properties(
        width=WIDTH, height=WIDTH, title=title
    )


def _at_origin(place: dict[str, Any], reach: float) -> bool:
    return bool(max(abs(place["x"]), abs(place["y"])) < 0.01 * reach)


def _gathered(
    labels: Sequence[str], points: Float[np.ndarray, "T 2"], reach: float
) -> list[dict[str, Any]]:
    """Points that lie together, as one with all their names."""
    found: list[tuple[np.ndarray, list[int]]] = []
    for i, point in enumerate(points):
        near = next(
            (
                names
                for place, names in found
                if float(np.abs(place - point).max()) < 0.03 * reach
            ),
            None,
        )
        if near is None:
            found.append((point, [i]))
        else:
            near.append(i)
    spread = Counter(
        label for _, names in found for label in {labels[i] for i in names}
    )  # over so many points

    def name(i: int) -> str:
        return labels[i] if spread[labels[i]] == 1 else f"{labels[i]} ({i})"

    return [
        {
            "x": float(place[0]),
            "y": float(place[1]),
            "name": ", ".join(dict.fromkeys(map(name, names))),
        }
        for place, names in found
    ]


def _number(weight: float) -> str:
    return f"{weight:.3f}" if weight >= 0.0005 else "0" if weight == 0 else "~0"
