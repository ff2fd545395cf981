"""How pictures look, and how a chart becomes a file's content."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

Chart = Any  # any of altair's charts: its operators are not typed

# Okabe and Ito's colours: told apart by everyone, in print too.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000"]
GREY = "#8A8A8A"
BAND = "#CFE8D5"


# What a notebook shows is drawn here, as SVG: Altair's own default fetches scripts. Whoever chose another keeps it.
if alt.renderers.active == "default":
    alt.renderers.enable("svg")


def rows(values: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Rows of data inside the chart itself, so that a picture is one file."""
    return alt.InlineData(values=[dict(row) for row in values])


def heading(text: str) -> alt.Title:
    """The title of one part of a picture, quieter than that of the whole."""
    return alt.Title(text, fontSize=12, fontWeight="normal", color="#444444")


def render(chart: Chart, suffix: str) -> bytes:
    """The chart as the content of a file with that suffix; HTML is interactive and needs no network.

    >>> import altair as alt
    >>> dot = alt.Chart(rows([{"x": 1}])).mark_point().encode(x="x:Q")
    >>> render(dot, ".svg").startswith(b"<svg")
    True
    """
    styled = chart.configure(font="Helvetica, Arial, sans-serif", background="white").configure_view(
        stroke=None
    ).configure_axis(grid=True, gridColor="#EEEEEE", labelFontSize=11, titleFontSize=12).configure_title(
        anchor="start", fontSize=14, subtitleFontSize=12, subtitleColor="#444444"
    ).configure_legend(labelFontSize=11, titleFontSize=12)  # fmt: skip
    if suffix == ".html":
        return str(styled.to_html(inline=True, embed_options={"actions": {"source": False, "editor": False}})).encode()
    if suffix == ".png":
        image = io.BytesIO()
        styled.save(image, format="png", scale_factor=2)
        return image.getvalue()
    drawing = io.StringIO()
    styled.save(drawing, format="svg")
    return drawing.getvalue().encode()
