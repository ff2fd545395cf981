"""A wish in the plane: keys, the region of queries that grant it, and the shortest of them."""

from __future__ import annotations

import textwrap

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.style import BAND, COLOURS, Chart, rows


def plane_picture(
    keys: Float[np.ndarray, "n 2"],
    targets: list[int],
    region: Float[np.ndarray, "points 2"],
    queries: Float[np.ndarray, "heads 2"],
    subtitle: str = "",
) -> Chart:
    """Targets are labelled; an arrow-like line leads from the origin to each query.

    >>> plane_picture(np.eye(2), [0], np.empty((0, 2)), np.ones((1, 2))).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    everything = np.concatenate([keys, queries, region, np.zeros((1, 2))])
    middle, reach = (
        (everything.max(axis=0) + everything.min(axis=0)) / 2,
        float(np.ptp(everything, axis=0).max()) * 0.55,
    )
    x, y = (
        axis(f"{name}:Q", title=None, scale=alt.Scale(domain=[float(at - reach), float(at + reach)], nice=False))
        for axis, name, at in zip((alt.X, alt.Y), "xy", middle, strict=True)
    )
    border = (
        alt.Chart(rows({"x": float(p[0]), "y": float(p[1]), "order": k} for k, p in enumerate(region)))
        .mark_line(interpolate="linear-closed", fill=BAND, stroke=COLOURS[2], strokeWidth=1)
        .encode(x=x, y=y, order="order:Q")
    )
    named = [
        {"x": float(k[0]), "y": float(k[1]), "kind": "target" if i in targets else "distractor", "name": str(i)}
        for i, k in enumerate(keys)
    ]
    kinds = ["target", "distractor"]
    points = (
        alt.Chart(rows(named))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", title="keys", scale=alt.Scale(domain=kinds, range=[COLOURS[0], COLOURS[6]])),
            shape=alt.Shape("kind:N", title="keys", scale=alt.Scale(domain=kinds, range=["square", "circle"])),
            tooltip=["name:N", "x:Q", "y:Q"],
        )
    )
    labels = alt.Chart(rows(named)).mark_text(dx=9, dy=-8, fontSize=11).encode(x=x, y=y, text="name:N")
    ends = [
        {"x": float(v[0]), "y": float(v[1]), "head": h, "name": f"q{h if len(queries) > 1 else ''}"}
        for h, q in enumerate(queries)
        for v in (np.zeros(2), q)
    ]
    arrows = alt.Chart(rows(ends)).mark_line(color=COLOURS[5], strokeWidth=2.5).encode(x=x, y=y, detail="head:N")
    tips = (
        alt.Chart(rows(ends[1::2]))
        .mark_text(color=COLOURS[5], fontSize=14, fontWeight="bold", dx=12)
        .encode(x=x, y=y, text="name:N")
    )
    title = alt.Title("Keys, and the queries that grant the wish (green)", subtitle=textwrap.wrap(subtitle, 78))
    return (border + points + labels + arrows + tips).properties(width=460, height=460, title=title)
