"""A head's weight on one text, inside the band of what it does on every text."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from headwright.pictures.style import BAND, COLOURS, Chart, rows


def band_picture(
    places: Sequence[int],
    least: Sequence[float],
    most: Sequence[float],
    measured: Sequence[float],
    words: Sequence[str],
    title: str,
    subtitle: str,
) -> Chart:
    """For each place: the band over every text that ends there, and the weight on the text whose tokens are given.

    >>> chart = band_picture([1, 2], [0.5, 0.4], [0.9, 0.9], [0.8, 0.7], ["a", "b"], "Two places", "")
    >>> len(chart.to_dict()["layer"])
    2
    """
    data = rows(
        {"place": place, "least": low, "most": high, "weight": weight, "token": word}
        for place, low, high, weight, word in zip(places, least, most, measured, words, strict=True)
    )
    base = alt.Chart(data).encode(x=alt.X("place:Q", title="place in the text", axis=alt.Axis(grid=False)))
    band = base.mark_area(color=BAND, line={"color": COLOURS[2], "strokeWidth": 1}).encode(
        y=alt.Y("least:Q", title="weight on the previous token", scale=alt.Scale(domain=[0, 1])), y2="most:Q"
    )
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(size=18, color=COLOURS[0])).encode(
        y="weight:Q", tooltip=["place:Q", "token:N", "weight:Q", "least:Q", "most:Q"]
    )
    return (band + line).properties(width=640, height=260, title=alt.Title(title, subtitle=subtitle))
