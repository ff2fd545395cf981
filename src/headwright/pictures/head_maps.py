"""Maps of a model: a row for each layer, a column for each head, darker for larger values. SVG in the page's colours.

A cell is drawn in the page's accent colour, as opaque as its number is large: so the map follows the page from light to
dark and onto paper. Each cell says its number when pointed at; small maps have it written in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import altair as alt

from headwright.pictures.style import ACCENT, LINE, Chart, rows, titled

SMALL = 48  # cells, up to which there is room for the numbers
# Width and height.
LARGE_CELL = (54, 34)
SMALL_CELL = (20, 15)
# Space for the numbers of layers and heads.
LEFT = 26
TOP = 18
EVERY = 5  # of the layers of a large map has its number
FEW_HEADS = 12  # of a large map, up to which each has its number
# From these shares of the full colour on, writing on it is in the colour of the page: in the dark, and in the light.
# Only there does it stand out more than the colour of ink would.
MIDDLE = 0.55
INVERTED = 0.85

Values = Sequence[Sequence[float | None]]  # by layer and head


def maps_chart(
    maps: Mapping[str, tuple[Values, float]],
    layers: Sequence[int],
    heads: Sequence[int],
    title: str,
) -> Chart:
    """Head maps beside each other: for each name, values by layer and head, and what has the full colour.

    >>> maps_chart({"sink": ([[0.25, None]], 1.0)}, [0], [0, 1], "Heads").to_dict()["columns"]
    3
    """
    charts = [
        _map_chart(name, values, layers, heads, full_colour)
        for name, (values, full_colour) in maps.items()
    ]
    description = (
        f"Maps of {len(layers)} layers by {len(heads)} heads: {', '.join(maps)}."
    )
    together = alt.concat(*charts, columns=3).resolve_scale(fillOpacity="independent")
    return titled(together, title, "", description)


def _map_chart(
    name: str,
    values: Values,
    layers: Sequence[int],
    heads: Sequence[int],
    full_colour: float,
) -> Chart:
    cells = []
    for layer, line in zip(layers, values, strict=True):
        for head, value in zip(heads, line, strict=True):
            if value is not None:
                cells.append({"layer": layer, "head": head, "value": value})
    shade = alt.FillOpacity(
        "value:Q",
        scale=alt.Scale(domain=[0, full_colour], range=[0, 1], clamp=True),
        legend=None,
    )
    head_axis = alt.Axis(labelAngle=0, labelOverlap=True, grid=False)
    layer_axis = alt.Axis(labelOverlap=True, grid=False)
    title = alt.Title(name, subtitle=f"full colour: {full_colour:.3g}", fontSize=13)
    return (
        alt.Chart(rows(cells), title=title)
        .mark_rect(fill=ACCENT, stroke=LINE)
        .encode(
            x=alt.X("head:O", title="head", axis=head_axis),
            y=alt.Y("layer:O", title="layer", axis=layer_axis),
            fillOpacity=shade,
            tooltip=["layer:O", "head:O", "value:Q"],
        )
        .properties(
            width=max(120, min(240, 20 * len(heads))),
            height=max(90, min(400, 15 * len(layers))),
        )
    )


def head_map(
    values: Values,
    layers: Sequence[int],
    heads: Sequence[int],
    name: str,
    *,
    full_colour: float = 1.0,
    number_format: str = ".2f",
) -> str:
    """The map as an SVG element; the value `full_colour` has the full colour, and None is crossed out.

    >>> head_map([[0.25, None]], [0], [0, 1], "sink").count("<rect")
    2
    """
    small = len(layers) * len(heads) <= SMALL
    cell = LARGE_CELL if small else SMALL_CELL
    width, height = cell
    parts = [_head_numbers(heads, width)]
    for row, (layer, line) in enumerate(zip(layers, values, strict=True)):
        y = TOP + row * height
        if small or row % EVERY == 0 or row == len(layers) - 1:
            parts.append(
                f'<text class="axis" x="{LEFT - 5}" y="{y + height / 2 + 3.5:g}" text-anchor="end">{layer}</text>'
            )
        for column, (head, value) in enumerate(zip(heads, line, strict=True)):
            corner = (LEFT + column * width, y)
            head_name = f"{layer}.{head}"
            parts.append(
                _cell(corner, cell, head_name, value, full_colour, number_format)
            )
    total_width = LEFT + len(heads) * width + 2
    total_height = TOP + len(layers) * height + 2
    largest = _largest_values(values, layers, heads, number_format)
    label = escape(
        f"{name}: map of {len(layers)} layers by {len(heads)} heads; {largest}"
    )
    return (
        f'<svg class="map" viewBox="0 0 {total_width} {total_height}" width="{total_width}" height="{total_height}" '
        f'role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _head_numbers(heads: Sequence[int], width: int) -> str:
    every = 1 if width == LARGE_CELL[0] or len(heads) <= FEW_HEADS else EVERY
    return "".join(
        f'<text class="axis" x="{LEFT + column * width + width / 2:g}" y="12" text-anchor="middle">{head}</text>'
        for column, head in enumerate(heads)
        if column % every == 0
    )


def _cell(
    corner: tuple[int, int],
    size: tuple[int, int],
    head: str,
    value: float | None,
    full_colour: float,
    number_format: str,
) -> str:
    x, y = corner
    width, height = size
    box = f'x="{x + 0.5:g}" y="{y + 0.5:g}" width="{width - 1}" height="{height - 1}" rx="2"'
    if value is None:
        return f'<g><title>head {head}: no number</title><rect class="none" {box}/></g>'
    share = min(1.0, max(0.0, value / full_colour)) if full_colour > 0 else 0.0
    rect = f'<rect class="cell" {box} fill-opacity="{share:.3f}"/>'
    number = f"{value:{number_format}}"
    text = ""
    if size == LARGE_CELL:
        middle = f'x="{x + width / 2:g}" y="{y + height / 2 + 4:g}"'
        text = (
            f'<text class="{_ink(share)}" {middle} text-anchor="middle">{number}</text>'
        )
    return f"<g><title>head {head}: {number}</title>{rect}{text}</g>"


def _ink(share: float) -> str:
    """The class of writing on a cell that has this share of the full colour."""
    if share > INVERTED:
        return "over"
    return "between" if share > MIDDLE else "on"


def _largest_values(
    values: Values, layers: Sequence[int], heads: Sequence[int], number_format: str
) -> str:
    """The largest few, for those who do not see the map."""
    known = []
    for layer, line in zip(layers, values, strict=True):
        for head, value in zip(heads, line, strict=True):
            if value is not None:
                known.append((value, f"{layer}.{head}"))
    if not known:
        return "nothing measured"
    largest = sorted(known, reverse=True)[:3]
    named = [f"{head} {value:{number_format}}" for value, head in largest]
    return f"largest {', '.join(named)}"
