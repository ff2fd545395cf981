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


def length_picture(
    bands: Sequence[tuple[str, str, Sequence[int], Sequence[float], Sequence[float]]], title: str, subtitle: str
) -> Chart:
    """For each (head, place, lengths, least, most): where the weight lies on every text, by the length of the text.

    >>> chart = length_picture([("0.0", "previous", [2, 4], [0.5, 0.4], [0.9, 0.8])], "One head", "")
    >>> chart.to_dict()["facet"]["column"]["field"]
    'place'
    """
    data = rows(
        {"head": head, "place": place, "length": length, "least": low, "most": high}
        for head, place, lengths, least, most in bands
        for length, low, high in zip(lengths, least, most, strict=True)
    )
    base = alt.Chart(data).encode(
        x=alt.X(
            "length:Q",
            title="tokens of a text",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(grid=False, format="~g", values=sorted({n for band in bands for n in band[2]})),
        )
    )
    area = base.mark_area(color=BAND, line={"color": COLOURS[2], "strokeWidth": 1}).encode(
        y=alt.Y("least:Q", title="weight", scale=alt.Scale(domain=[0, 1])), y2="most:Q"
    )
    ends = base.mark_point(filled=True, size=18, color=COLOURS[0])
    points = [
        ends.encode(y=f"{end}:Q", tooltip=["head:N", "place:N", "length:Q", "least:Q", "most:Q"])
        for end in ("least", "most")
    ]
    layered = alt.layer(area, *points).properties(width=200, height=140)
    return layered.facet(
        row=alt.Row("head:N", title="head"),
        column=alt.Column("place:N", title=None, sort=list(dict.fromkeys(b[1] for b in bands))),
    ).properties(title=alt.Title(title, subtitle=subtitle))
