"""Bounds of the weight of a head over every text, by the length of the texts."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from headwright.enclosure import shown_above, shown_below
from headwright.errors import typed_errors
from headwright.pictures.style import GRANT, GRANT_SOFT, KEY, Chart, heading, rows, titled

HALF = 155  # two panels side by side
FLAT = 0.05  # a band that stays below it would be drawn as a line along the bottom
MOST_NAMED = 6


@typed_errors
def length_picture(
    bands: Sequence[tuple[str, str, Sequence[int], Sequence[float], Sequence[float]]], title: str, subtitle: str
) -> Chart:
    """For each (head, place, lengths, least, most): where the weight lies on every text, by the length of the text.

    Places that a head hardly looks at, at any length, are named instead of drawn.

    >>> chart = length_picture([("0.0", "previous", [2, 4], [0.5, 0.4], [0.9, 0.8])], "One head", "")
    >>> chart.to_dict()["concat"][0]["title"]["text"]
    'head 0.0: previous'
    """
    told = [
        f"head {head}, {place}: at {lengths[-1]} tokens between {shown_below(least[-1], 2)} and "
        f"{shown_above(most[-1], 2)}."
        for head, place, lengths, least, most in bands
        if lengths
    ]
    drawn = [band for band in bands if max(band[4], default=0.0) > FLAT] or list(bands)
    left_out = [band for band in bands if band not in drawn]
    if left_out:
        named = ", ".join(f"{head} {place}" for head, place, *_ in left_out)
        few = named if len(left_out) <= MOST_NAMED else f"{len(left_out)} of {len(bands)} places"
        subtitle += f"; not drawn, since never above {FLAT:g}: {few}"
    return titled(
        alt.concat(*(_band_by_length(*band) for band in drawn), columns=2, spacing=14),
        title,
        subtitle,
        f"Bands of the weight against the length of the text. {' '.join(told)}",
    )


def _band_by_length(
    head: str, place: str, lengths: Sequence[int], least: Sequence[float], most: Sequence[float]
) -> Chart:
    data = rows(
        {"length": length, "least": low, "most": high} for length, low, high in zip(lengths, least, most, strict=True)
    )
    axis = alt.Axis(grid=False, format="~g", values=list(lengths), labelOverlap=True)
    base = alt.Chart(data).encode(
        x=alt.X("length:Q", title="tokens", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)
    )
    area = base.mark_area(color=GRANT_SOFT, line={"color": GRANT, "strokeWidth": 1}).encode(
        y=alt.Y("least:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=3)), y2="most:Q"
    )
    ends = base.mark_point(filled=True, size=18, color=KEY, opacity=1)
    points = [
        ends.encode(y=f"{end}:Q", tooltip=["length:Q", "least:Q", "most:Q"]) for end in ("least", "most")
    ]  # fmt: skip
    return alt.layer(area, *points).properties(width=HALF, height=120, title=heading(f"head {head}: {place}"))
