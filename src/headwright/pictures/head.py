"""A head as a picture: its pattern with the numbers in it, and its queries and keys as directions in a plane."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

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

QUERY = KEY
KEYS = OUTPUT
FREE = 0.35  # how strong a free row is drawn
MOST_NUMBERS = 12  # tokens, up to which a cell has room for its number


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
    clauses = []
    for token, row in enumerate(pattern[:MOST_NUMBERS]):
        name = f"{labels[token]} (free)" if token in free else labels[token]
        heaviest = labels[int(row.argmax())]
        clauses.append(f"{name} attends most to {heaviest}, {row.max():.3f}")
    words = f"The pattern of {len(pattern)} tokens: {'; '.join(clauses)}. Below it, queries and keys in a plane."
    return titled(chart, title, subtitle, words)


def pattern_map(
    pattern: Float[np.ndarray, "T T"], labels: Sequence[str], free: Collection[int] = ()
) -> Chart:
    """A row for each token that looks, a column for each that is looked at; what a mask hides stays empty.

    Rows that no rule speaks of are pale and named 'free': no rule is about what they show.
    """
    T = len(pattern)
    columns = []
    for token, label in enumerate(labels):
        has_number = label.endswith(f"token {token}")
        columns.append(label if has_number else f"{token}:  {label}")
    row_names = list(columns)
    for token in free:
        row_names[token] += " (free)"
    x = alt.X(
        "column:N",
        sort=None,
        scale=alt.Scale(domain=columns),
        title="attends to",
        axis=alt.Axis(labelAngle=-40, grid=False, labelLimit=150),
    )
    y = alt.Y(
        "row:N",
        sort=None,
        scale=alt.Scale(domain=row_names),
        title="token",
        axis=alt.Axis(grid=False, labelLimit=150),
    )
    cells = _cells(pattern, row_names, columns, free)
    base = alt.Chart(rows(cells)).encode(
        x=x, y=y, tooltip=["row:N", "column:N", "weight:Q"]
    )
    shade = alt.FillOpacity(
        "shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None
    )
    squares = base.mark_rect(fill=ACCENT, stroke=LINE, strokeWidth=1)
    layers = [squares.encode(fillOpacity=shade)]
    if T <= MOST_NUMBERS:
        ink = alt.condition("datum.shade > 0.55", alt.value(CARD), alt.value(INK))
        numbers = base.mark_text(fontSize=11)
        layers.append(numbers.encode(text="label:N", color=ink))
    # Long names take their room from the map.
    longest = max(map(len, row_names), default=0)
    side = WIDTH - max(0, min(110, 6 * longest - 50))
    note = "pale and free: no rule says what these tokens do" if free else ""
    return alt.layer(*layers).properties(
        width=side, height=min(side, 60 * T), title=heading("pattern", note)
    )


def _cells(
    pattern: Float[np.ndarray, "T T"],
    row_names: Sequence[str],
    columns: Sequence[str],
    free: Collection[int],
) -> list[dict[str, Any]]:
    """A cell for each weight that is not 0."""
    cells = []
    for i, weights in enumerate(pattern.tolist()):
        strength = FREE if i in free else 1.0
        for j, weight in enumerate(weights):
            if weight > 0:
                cell = {
                    "row": row_names[i],
                    "column": columns[j],
                    "weight": weight,
                    "label": _number(weight),
                    "shade": weight * strength,
                }
                cells.append(cell)
    return cells


def geometry(
    labels: Sequence[str],
    keys: Float[np.ndarray, "T 2"],
    queries: Float[np.ndarray, "T 2"],
) -> Chart:
    """Queries as lines from the origin, keys as squares: the further a key lies along a query, the higher its score."""
    largest = max(float(np.abs(keys).max()), float(np.abs(queries).max()), 1e-9)
    reach = 1.5 * largest
    frame = Frame((0.0, 0.0), reach, WIDTH)
    x, y = frame.axes()
    all_tips = _together(labels, queries, reach)
    all_squares = _together(labels, keys, reach)
    tips = [point for point in all_tips if not _at_origin(point, reach)]
    squares = [point for point in all_squares if not _at_origin(point, reach)]
    ends = []
    for number, tip in enumerate(tips):
        ends.append({"x": 0.0, "y": 0.0, "of": number})
        ends.append({"x": tip["x"], "y": tip["y"], "of": number})
    lines = alt.Chart(rows(ends)).mark_line(color=QUERY, strokeWidth=2)
    dots = alt.Chart(rows(tips)).mark_point(
        filled=True, size=45, opacity=1, color=QUERY
    )
    places = alt.Chart(rows(squares)).mark_point(
        shape="square", filled=True, size=80, opacity=1, color=KEYS
    )
    names = alt.Chart(rows(_placed_names(tips, squares, frame)))
    legend = alt.Chart(rows(_legend(reach)))
    colour = alt.Color("colour:N", scale=None)
    layers = [
        lines.encode(x=x, y=y, detail="of:N"),
        dots.encode(x=x, y=y),
        places.encode(x=x, y=y),
        names.mark_text(fontSize=11).encode(x=x, y=y, text="name:N", color=colour),
        legend.mark_text(fontSize=12, fontWeight="bold", align="left").encode(
            x=x, y=y, text="name:N", color=colour
        ),
    ]
    notes: list[str] = []
    for kind, points in (("query", all_tips), ("key", all_squares)):
        for point in points:
            if _at_origin(point, reach):
                notes += textwrap.wrap(f"without a {kind}: {point['name']}", 60)
    title = heading("queries and keys in the head's plane", notes)
    return alt.layer(*layers).properties(width=WIDTH, height=WIDTH, title=title)


def _placed_names(
    tips: Sequence[dict[str, Any]], squares: Sequence[dict[str, Any]], frame: Frame
) -> list[dict[str, Any]]:
    """The names of queries and keys, beside their points."""
    points = [*tips, *squares]
    colours = [QUERY] * len(tips) + [KEYS] * len(squares)
    origin: Place = (0.0, 0.0)
    lines: list[tuple[Place, Place]] = [(origin, (tip["x"], tip["y"])) for tip in tips]
    named_points = [(point["x"], point["y"], point["name"]) for point in points]
    spots = beside(named_points, lines, frame)
    names = []
    for point, colour, (x, y) in zip(points, colours, spots, strict=True):
        names.append({**point, "x": x, "y": y, "colour": colour})
    return names


def _legend(reach: float) -> list[dict[str, Any]]:
    """In the upper left corner."""
    left = -0.97 * reach
    return [
        {"x": left, "y": 0.95 * reach, "name": "● query of", "colour": QUERY},
        {"x": left, "y": 0.86 * reach, "name": "■ key of", "colour": KEYS},
    ]


def _at_origin(point: dict[str, Any], reach: float) -> bool:
    return bool(max(abs(point["x"]), abs(point["y"])) < 0.01 * reach)


def _together(
    labels: Sequence[str], points: Float[np.ndarray, "T 2"], reach: float
) -> list[dict[str, Any]]:
    """Points that lie together, as one with all their names."""
    places: list[np.ndarray] = []
    tokens_at: list[list[int]] = []
    for token, point in enumerate(points):
        for place, tokens in zip(places, tokens_at, strict=True):
            if float(np.abs(place - point).max()) < 0.03 * reach:
                tokens.append(token)
                break
        else:
            places.append(point)
            tokens_at.append([token])
    # A label that stands at several points gets the number of its token.
    points_of_label: Counter[str] = Counter()
    for tokens in tokens_at:
        points_of_label.update({labels[token] for token in tokens})
    merged = []
    for place, tokens in zip(places, tokens_at, strict=True):
        names = []
        for token in tokens:
            is_unique = points_of_label[labels[token]] == 1
            names.append(labels[token] if is_unique else f"{labels[token]} ({token})")
        name = ", ".join(dict.fromkeys(names))
        merged.append({"x": float(place[0]), "y": float(place[1]), "name": name})
    return merged


def _number(weight: float) -> str:
    if weight == 0:
        return "0"
    return f"{weight:.3f}" if weight >= 0.0005 else "~0"
