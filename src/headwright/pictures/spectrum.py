"""Singular values, and what a truncation misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from headwright.enclosure import shown_above
from headwright.pictures.style import COLOURS, GREY, Chart, rows

if TYPE_CHECKING:
    from headwright.lowrank import LowRank

MOST_POINTS = 400


def spectrum(result: LowRank, title: str = "Singular values") -> Chart:
    """The singular values that are kept and those that are not, with the certified error and the guarantee.

    >>> import numpy as np
    >>> from headwright.lowrank import truncate
    >>> spectrum(truncate(np.diag([3.0, 2.0, 1.0]), rank=1)).to_dict()["layer"][0]["title"]["text"]
    'Singular values'
    """
    values = result.singular_values[:MOST_POINTS]
    smallest = float(values[values > 0].min()) if (values > 0).any() else 1.0
    data = rows(
        {"i": i + 1, "value": float(value), "part": "kept" if i < result.rank else "cut"}
        for i, value in enumerate(values)
        if value > 0
    )
    colour = alt.Color("part:N", title=None, scale=alt.Scale(domain=["kept", "cut"], range=[COLOURS[0], GREY]))
    points = (
        alt.Chart(data, title=alt.Title(title, subtitle=_subtitle(result)))
        .mark_circle(size=36, opacity=1)
        .encode(
            x=alt.X("i:Q", title="number of the singular value", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("value:Q", title="size", scale=alt.Scale(type="log")),
            color=colour,
            tooltip=["i:Q", "value:Q"],
        )
    )
    lines = [
        _line(height, name, colour, below, len(values))
        for height, name, colour, below in (
            (result.guarantee, f"guarantee {shown_above(result.guarantee, 4)}", COLOURS[1], False),
            (
                result.error_upper_bound,
                f"certified error {shown_above(result.error_upper_bound, 4)}",
                COLOURS[5],
                True,
            ),
        )
        if height >= smallest / 10
    ]
    return alt.layer(points, *lines).properties(width=480, height=300)


def _subtitle(result: LowRank) -> str:
    error = shown_above(result.error_upper_bound)
    return f"rank {result.rank} keeps {result.energy:.2%} of the energy; error at most {error}"


def _line(height: float, name: str, colour: str, below: bool, last: int) -> Chart:
    base = alt.Chart(rows([{"y": height, "x": last, "name": name}])).encode(y="y:Q")
    rule = base.mark_rule(color=colour, strokeDash=[5, 3], strokeWidth=1.5)
    label = base.mark_text(align="right", dy=12 if below else -7, color=colour, fontSize=12).encode(
        x="x:Q", text="name:N"
    )
    return rule + label
