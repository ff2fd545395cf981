"""Maps of a model: a row for each layer, a column for each head, darker for larger values. SVG in the page's colours.

A cell is drawn in the page's accent colour, as opaque as its number is large: so the map follows the page from light to
dark and onto paper. Each cell says its number when pointed at; small maps have it written in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import altair as alt

from headwright.errors import typed_errors
from headwright.pictures.style import ACCENT, LINE, Chart, rows, titled

SMALL = 48  # cells, up to which there is room for the numbers
LARGE_CELL, CELL = (54, 34), (20, 15)  # width and height
EVERY = 5  # of the layers of a large map has its number
# From these shares of the full colour on, writing on it is in the colour of the page: in the dark, and in the light.
# Only there does it stand out more than the colour of ink would.
MIDDLE, INVERTED = 0.55, 0.85


def maps_chart(
    maps: Mapping[str, tuple[Sequence[Sequence[float | None]], float]], layers: Sequence[int], heads: Sequence[int],
    title: str,
) -> Chart:  # fmt: skip
    """Head maps beside each other: for each name, values by layer and head, and what has the full colour.

    >>> maps_chart({"sink": ([[0.25, None]], 1.0)}, [0], [0, 1], "Heads").to_dict()["columns"]
    3
    """
    drawn = []
    for name, (values, most) in maps.items():
        cells = [
            {"layer": layer, "head": head, "value": value}
            for layer, line in zip(layers, values, strict=True)
            for head, value in zip(heads, line, strict=True)
            if value is not None
        ]
        shade = alt.FillOpacity("value:Q", scale=alt.Scale(domain=[0, most], range=[0, 1], clamp=True), legend=None)
        chart = alt.Chart(rows(cells), title=alt.Title(name, subtitle=f"full colour: {most:.3g}", fontSize=13))
        drawn.append(
            chart.mark_rect(fill=ACCENT, stroke=LINE)
            .encode(
                x=alt.X("head:O", title="head", axis=alt.Axis(labelAngle=0, labelOverlap=True, grid=False)),
                y=alt.Y("layer:O", title="layer", axis=alt.Axis(labelOverlap=True, grid=False)),
                fillOpacity=shade,
                tooltip=["layer:O", "head:O", "value:Q"],
            )
            .properties(width=max(120, min(240, 20 * len(heads))), height=max(90, min(400, 15 * len(layers))))
        )
    told = f"Maps of {len(layers)} layers by {len(heads)} heads: {', '.join(maps)}."
    return titled(alt.concat(*drawn, columns=3).resolve_scale(fillOpacity="independent"), title, "", told)


@typed_errors
def head_map(
    values: Sequence[Sequence[float | None]],
    layers: Sequence[int],
    heads: Sequence[int],
    name: str,
    *,
    most: float = 1.0,
    shown: str = ".2f",
) -> str:
    """The map as an SVG element; `most` has the full colour, and None is crossed out.

    >>> head_map([[0.25, None]], [0], [0, 1], "sink").count("<rect")
    2
    """
    width, height = LARGE_CELL if len(layers) * len(heads) <= SMALL else CELL
    left, top = 26, 18
    parts = [_heads(heads, left, width)]
    for row, (layer, line) in enumerate(zip(layers, values, strict=True)):
        y = top + row * height
        if height == LARGE_CELL[1] or row % EVERY == 0 or row == len(layers) - 1:
            parts.append(
                f'<text class="axis" x="{left - 5}" y="{y + height / 2 + 3.5:g}" text-anchor="end">{layer}</text>'
            )
        for column, (head, value) in enumerate(zip(heads, line, strict=True)):
            parts.append(_cell(left + column * width, y, (width, height), f"{layer}.{head}", value, most, shown))
    size = (left + len(heads) * width + 2, top + len(layers) * height + 2)
    label = escape(f"{name}: map of {len(layers)} layers by {len(heads)} heads; {_told(values, layers, heads, shown)}")
    return (
        f'<svg class="map" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


def _heads(heads: Sequence[int], left: int, width: int) -> str:
    step = 1 if width == LARGE_CELL[0] or len(heads) <= 12 else EVERY
    return "".join(
        f'<text class="axis" x="{left + column * width + width / 2:g}" y="12" text-anchor="middle">{head}</text>'
        for column, head in enumerate(heads)
        if column % step == 0
    )


def _cell(
    x: int, y: int, size: tuple[int, int], name: str, value: float | None, most: float, shown: str
) -> str:  # fmt: skip
    width, height = size
    box = f'x="{x + 0.5:g}" y="{y + 0.5:g}" width="{width - 1}" height="{height - 1}" rx="2"'
    if value is None:
        return f'<g><title>head {name}: no number</title><rect class="none" {box}/></g>'
    share = min(1.0, max(0.0, value / most)) if most > 0 else 0.0
    rect = f'<rect class="cell" {box} fill-opacity="{share:.3f}"/>'
    number = f"{value:{shown}}"
    text = ""
    if size == LARGE_CELL:
        side = "over" if share > INVERTED else "between" if share > MIDDLE else "on"
        place = f'x="{x + width / 2:g}" y="{y + height / 2 + 4:g}"'
        text = f'<text class="{side}" {place} text-anchor="middle">{number}</text>'
    return f"<g><title>head {name}: {number}</title>{rect}{text}</g>"


def _told(
    values: Sequence[Sequence[float | None]], layers: Sequence[int], heads: Sequence[int], shown: str
) -> str:  # fmt: skip
    """The largest few, for those who do not see the map."""
    known = [
        (value, f"{layer}.{head}")
        for layer, line in zip(layers, values, strict=True)
        for head, value in zip(heads, line, strict=True)
        if value is not None
    ]
    top = sorted(known, reverse=True)[:3]
    return "largest " + ", ".join(f"{name} {value:{shown}}" for value, name in top) if top else "nothing measured"
