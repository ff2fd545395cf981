"""Positions: the numbers by which each is known, and how far apart two are."""

from __future__ import annotations

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.style import COLOURS, Chart, heading, rows


def position_picture(
    table: Float[np.ndarray, "positions dim"],
    distances: Float[np.ndarray, " differences"],
    title: str,
    subtitle: str,
    start: int = 0,
) -> Chart:
    """A heat map of rows from `start` on, beside the distance of two positions against their difference, from 1.

    >>> position_picture(np.eye(2), np.array([1.0]), "two", "").to_dict()["hconcat"][1]["mark"]["type"]
    'line'
    """
    extent = float(np.abs(table).max()) or 1.0
    heat = (
        alt.Chart(
            rows(
                {"t": start + t, "i": i, "value": float(value)}
                for t, row in enumerate(table)
                for i, value in enumerate(row)
            )
        )
        .mark_rect()
        .encode(
            x=alt.X("i:O", title="dimension", axis=_few_labels(0, table.shape[1])),
            y=alt.Y("t:O", title="position", axis=_few_labels(start, table.shape[0])),
            color=alt.Color("value:Q", title=None, scale=alt.Scale(scheme="blueorange", domain=[-extent, extent])),
            tooltip=["t:O", "i:O", "value:Q"],
        )
        .properties(width=320, height=320, title=heading("rows"))
    )
    curve = (
        alt.Chart(rows({"difference": k + 1, "distance": float(value)} for k, value in enumerate(distances)))
        .mark_line(color=COLOURS[0], strokeWidth=1.5)
        .encode(
            x=alt.X("difference:Q", title="difference from position 0"),
            y=alt.Y("distance:Q", title="distance of the two rows", scale=alt.Scale(domainMin=0)),
            tooltip=["difference:Q", "distance:Q"],
        )
        .properties(width=380, height=320, title=heading("distance"))
    )
    return (heat | curve).properties(title=alt.Title(title, subtitle=subtitle))


def _few_labels(start: int, count: int) -> alt.Axis:
    step = max(1, -(-count // 8))
    return alt.Axis(values=list(range(start, start + count, step)), labelAngle=0, grid=False)
