"""Bounds of the weight of a head over every text, by the length of the texts."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from headwright.numerics.enclosure import shown_above, shown_below
from headwright.pictures.style import (
    KEY,
    MET,
    MET_SOFT,
    WIDTH,
    Chart,
    heading,
    rows,
    titled,
)

PANEL_WIDTH = 155  # two side by side
FLAT = 0.05  # a band that stays below it would be drawn as a line along the bottom
MOST_NAMED = 6

# A head, a place, lengths of texts, and the least and the most weight for each.
Band = tuple[str, str, Sequence[int], Sequence[float], Sequence[float]]


def length_picture(bands: Sequence[Band], title: str, subtitle: str) -> Chart:
    """For each (head, place, lengths, least, most): where the weight lies on every text, by the length of the text.

    Places that a head hardly looks at, at any length, are named instead of drawn.

    >>> chart = length_picture([("0.0", "previous", [2, 4], [0.5, 0.4], [0.9, 0.8])], "One head", "")
    >>> chart.to_dict()["concat"][0]["title"]["text"]
    'head 0.0: previous'
    """
    drawn = [band for band in bands if max(band[4], default=0.0) > FLAT]
    if not drawn:
        drawn = list(bands)
    left_out = [band for band in bands if band not in drawn]
    if left_out:
        names = f"{len(left_out)} of {len(bands)} places"
        if len(left_out) <= MOST_NAMED:
            names = ", ".join(f"{head} {place}" for head, place, *_ in left_out)
        subtitle += f"; not drawn, since never above {FLAT:g}: {names}"
    # One panel alone is as wide as other pictures: its title would be cut.
    width = PANEL_WIDTH if len(drawn) > 1 else WIDTH
    panels = [_draw_band(*band, width) for band in drawn]
    described = " ".join(_describe_band(*band) for band in bands if band[2])
    return titled(
        alt.concat(*panels, columns=2, spacing=14),
        title,
        subtitle,
        f"Bands of the weight against the length of the text. {described}",
    )


def _describe_band(
    head: str,
    place: str,
    lengths: Sequence[int],
    least: Sequence[float],
    most: Sequence[float],
) -> str:
    """At the longest texts, for those who do not see the picture."""
    low = shown_below(least[-1], 2)
    high = shown_above(most[-1], 2)
    return f"head {head}, {place}: at {lengths[-1]} tokens between {low} and {high}."


def _draw_band(
    head: str,
    place: str,
    lengths: Sequence[int],
    least: Sequence[float],
    most: Sequence[float],
    width: int,
) -> Chart:
    data = rows(
        {"length": length, "least": low, "most": high}
        for length, low, high in zip(lengths, least, most, strict=True)
    )
    axis = alt.Axis(grid=False, format="~g", values=list(lengths), labelOverlap=True)
    scale = alt.Scale(type="log", base=2, nice=False)
    base = alt.Chart(data).encode(
        x=alt.X("length:Q", title="tokens", scale=scale, axis=axis)
    )
    weight = alt.Y(
        "least:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(tickCount=3),
    )
    outline = {"color": MET, "strokeWidth": 1}
    area = base.mark_area(color=MET_SOFT, line=outline).encode(y=weight, y2="most:Q")
    dots = base.mark_point(filled=True, size=18, color=KEY, opacity=1)
    tooltip = ["length:Q", "least:Q", "most:Q"]
    low_dots = dots.encode(y="least:Q", tooltip=tooltip)
    high_dots = dots.encode(y="most:Q", tooltip=tooltip)
    return alt.layer(area, low_dots, high_dots).properties(
        width=width, height=120, title=heading(f"head {head}: {place}")
    )
