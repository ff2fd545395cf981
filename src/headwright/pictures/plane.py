"""A target in the plane: keys, the queries that meet it, and the shortest of them; or the hull that forbids it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.labels import Frame, Place, beside
from headwright.pictures.style import (
    GOOD,
    INK,
    KEY,
    MET,
    MET_SOFT,
    QUIET,
    TARGET,
    WIDTH,
    Chart,
    rows,
    titled,
)

HEAD = 130  # the size of an arrow's head
BEYOND = 1.3
MOST_NAMES = 24  # keys, up to which each has its number
ROUND = 240  # points of a circle


def plane_picture(
    keys: Float[np.ndarray, "n 2"],
    targets: Sequence[int],
    queries: Float[np.ndarray, "heads 2"],
    *,
    region: Float[np.ndarray, "points 2"] | None = None,
    hull: Float[np.ndarray, "corners 2"] | None = None,
    shortest: bool = False,
) -> Chart:
    """Keys and targets, an arrow for each query, and the circle of the shortest length.

    `region` is the border of the queries that meet the targets, followed to far outside: the region has no end, so it
    runs off the frame. `hull` is that of the keys that are no targets: where no query meets the targets, it says why.

    >>> picture = plane_picture(np.eye(2), [0], np.array([[3.0, -3.0]]))
    >>> [layer["mark"]["type"] for layer in picture.to_dict()["layer"]]
    ['line', 'line', 'point', 'point', 'text']
    """
    # So that some of the region is in the frame.
    beyond = BEYOND * queries if region is not None else queries[:0]
    seen = np.concatenate([keys, queries, beyond, np.zeros((1, 2))])
    middle = (seen.max(axis=0) + seen.min(axis=0)) / 2
    reach = 0.62 * float(np.ptp(seen, axis=0).max()) or 1.0
    frame = Frame((float(middle[0]), float(middle[1])), reach, WIDTH)
    x, y = frame.axes("first coordinate", "second coordinate")
    layers = []
    if region is not None and len(region):
        layers.append(
            _outline(region, x, y, fill=MET_SOFT, stroke=MET, strokeWidth=1.6)
        )
    if hull is not None and len(hull):
        layers.append(
            _outline(
                hull, x, y, fill=QUIET, fillOpacity=0.1, stroke=QUIET, strokeDash=[4, 3]
            )
        )
    if len(queries) == 1:
        layers.append(
            _outline(
                _circle(queries[0]),
                x,
                y,
                stroke=GOOD,
                strokeWidth=1.2,
                strokeDash=[5, 4],
            )
        )
    circle = _circle(queries[0]) if len(queries) == 1 else np.empty((0, 2))
    edges = np.concatenate([circle, region if region is not None else np.empty((0, 2))])
    arrows = [_arrow(query, frame, x, y) for query in queries]
    layers += [part for arrow in arrows for part in arrow]
    return titled(
        alt.layer(
            *layers,
            _points(keys, targets, x, y),
            *_names(keys, targets, queries, frame, x, y, edges),
        ).properties(width=WIDTH, height=WIDTH),
        _title(targets, queries, hull is not None, shortest),
        _below(queries, region is not None, hull is not None),
        _told(keys, targets, queries, region is not None, hull is not None),
    )


def _outline(
    points: Float[np.ndarray, "points 2"], x: alt.X, y: alt.Y, **look: Any
) -> Chart:
    data = rows(
        {"x": float(p[0]), "y": float(p[1]), "order": k} for k, p in enumerate(points)
    )
    line = alt.Chart(data).mark_line(interpolate="linear-closed", clip=True, **look)
    return line.encode(x=x, y=y, order="order:Q")


def _circle(query: Float[np.ndarray, " 2"]) -> Float[np.ndarray, "points 2"]:
    turn = np.linspace(0, 2 * np.pi, ROUND, endpoint=False)
    return float(np.linalg.norm(query)) * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _arrow(
    query: Float[np.ndarray, " 2"], frame: Frame, x: alt.X, y: alt.Y
) -> list[Chart]:
    """A line from the origin, and a head whose point is where the query ends."""
    length = float(np.linalg.norm(query))
    if length == 0:
        return []
    back = math.sqrt(3 * HEAD) / 4 * frame.unit  # from a triangle's middle to its point
    at = query * max(0.0, 1 - back / length)
    ends = rows([{"x": 0.0, "y": 0.0}, {"x": float(at[0]), "y": float(at[1])}])
    turned = math.degrees(math.atan2(query[0], query[1]))
    tip = rows([{"x": float(at[0]), "y": float(at[1])}])
    return [
        alt.Chart(ends).mark_line(color=GOOD, strokeWidth=3).encode(x=x, y=y),
        alt.Chart(tip)
        .mark_point(
            shape="triangle",
            filled=True,
            size=HEAD,
            angle=turned % 360,
            color=GOOD,
            opacity=1,
        )
        .encode(x=x, y=y),
    ]


def _points(
    keys: Float[np.ndarray, "n 2"], targets: Sequence[int], x: alt.X, y: alt.Y
) -> Chart:
    kinds = ["target", "distractor"]
    data = rows(
        {
            "x": float(k[0]),
            "y": float(k[1]),
            "kind": kinds[i not in targets],
            "name": f"key {i}",
        }
        for i, k in enumerate(keys)
    )
    legend = alt.Legend(title=None, symbolSize=70)
    return (
        alt.Chart(data)
        .mark_point(filled=True, size=70, opacity=1, stroke=INK, strokeWidth=0.8)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill(
                "kind:N",
                legend=legend,
                scale=alt.Scale(domain=kinds, range=[TARGET, KEY]),
            ),
            shape=alt.Shape(
                "kind:N",
                legend=legend,
                scale=alt.Scale(domain=kinds, range=["square", "circle"]),
            ),
            tooltip=["name:N", "kind:N", "x:Q", "y:Q"],
        )
    )


def _names(
    keys: Float[np.ndarray, "n 2"],
    targets: Sequence[int],
    queries: Float[np.ndarray, "heads 2"],
    frame: Frame,
    x: alt.X,
    y: alt.Y,
    edges: Float[np.ndarray, "points 2"],
) -> list[Chart]:
    named = [(i, f"key {i}" if i in targets else str(i)) for i in range(len(keys))]
    shown = (
        named
        if len(keys) <= MOST_NAMES
        else [(i, name) for i, name in named if i in targets]
    )
    points = [(float(keys[i][0]), float(keys[i][1]), name) for i, name in shown]
    tips = [
        (
            float(q[0]),
            float(q[1]),
            f"q{h if len(queries) > 1 else ''} = ({q[0]:.3g}, {q[1]:.3g})",
        )
        for h, q in enumerate(queries)
    ]
    origin: Place = (0.0, 0.0)
    shafts = [(origin, (tip[0], tip[1])) for tip in tips]
    places = beside(
        [*tips, *points], shafts, frame, [(float(a), float(b)) for a, b in edges]
    )
    labels = [
        {"x": at[0], "y": at[1], "name": name, "colour": GOOD if k < len(tips) else INK}
        for k, (at, (_, _, name)) in enumerate(
            zip(places, [*tips, *points], strict=True)
        )
    ]
    text = alt.Chart(rows(labels)).mark_text(fontSize=12, clip=True)
    return [
        text.encode(x=x, y=y, text="name:N", color=alt.Color("colour:N", scale=None))
    ]


def _title(
    targets: Sequence[int],
    queries: Float[np.ndarray, "heads 2"],
    forbidden: bool,
    shortest: bool,
) -> str:
    if forbidden and len(targets) == 1:
        return (
            f"No query singles out key {targets[0]}: it lies in the hull of the others"
        )
    if forbidden:
        return "No query meets the targets: keys, and the hull of the distractors"
    if len(queries) != 1:
        return "Keys and queries" if len(queries) else "Keys; no query was found"
    return f"{'The shortest' if shortest else 'A'} query that meets the targets"


def _below(queries: Float[np.ndarray, "heads 2"], region: bool, forbidden: bool) -> str:
    if forbidden:
        return "grey: the hull of the distractors"
    if len(queries) != 1:
        return ""
    length = float(np.linalg.norm(queries[0]))
    green = "green: all queries that meet it, without end; " if region else ""
    return f"{green}dashed: the circle of the query's length, {length:.4g}"


def _told(
    keys: Float[np.ndarray, "n 2"],
    targets: Sequence[int],
    queries: Float[np.ndarray, "heads 2"],
    region: bool,
    forbidden: bool,
) -> str:
    """What is to be seen."""
    which = " and ".join(
        f"key {a} at ({keys[a][0]:.3g}, {keys[a][1]:.3g})" for a in list(targets)[:4]
    )
    sentences = [f"{len(keys)} keys in the plane; targets: {which}."]
    if forbidden and len(targets) == 1:
        sentences.append(
            "The hull of the other keys is drawn around it, so no direction leads to it alone."
        )
    elif forbidden:
        sentences.append("The hull of the other keys is drawn.")
    for q in queries[:4]:
        sentences.append(
            f"An arrow from the origin to the query ({q[0]:.3g}, {q[1]:.3g}), of length {np.linalg.norm(q):.4g}."
        )
    if region and len(queries) == 1:
        sentences.append(
            "The queries that meet the targets fill a region that runs off the frame; the circle of the query's length "
            "around the origin touches it where the arrow ends."
        )
    return " ".join(sentences)
