"""A number of every head over time: a line of cells for each head, darker for larger values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.pictures.style import ACCENT, BAD, WIDTH, Chart, rows, titled

LINE_HEIGHTS = (14, 3)  # of a head, in pixels: where there are few, and where many
FEW = 40  # heads, each of which has its name


def heads_over_time(
    table: Mapping[str, Any], statistic: str, *, title: str | None = None
) -> Chart:
    """Every head's number at every step, in one map: a step is a column, a head is a line.

    Args:
        table: columns `step`, `layer`, `head` and the statistic, as `AttentionCallback.table()` has them.
        statistic: the name of the column.
        title: of the picture; made from the name unless given.

    A number that is not finite is drawn in the colour of what is bad.

    >>> table = {"step": [1, 1, 2, 2], "layer": [0, 0, 0, 0], "head": [0, 1, 0, 1], "entropy": [1.0, 2.0, 1.5, 0.1]}
    >>> from headwright.pictures import told
    >>> told(heads_over_time(table, "entropy"))
    'entropy of 2 heads at 2 steps, from 1 to 2. At the end the largest is 1.5 of head 0.0, the least 0.1 of head 0.1.'
    """
    check_argument("table", table, Mapping[str, object])
    check_argument("statistic", statistic, str)
    missing = [
        name for name in ("step", "layer", "head", statistic) if name not in table
    ]
    if missing:
        raise InputError(
            f"the table has no {missing[0]}: expected columns step, layer, head and {statistic}"
        )
    steps, layers, heads, values = (
        np.asarray(table[name]).tolist()
        for name in ("step", "layer", "head", statistic)
    )
    if not steps:
        raise InputError("the table is empty: expected steps that were logged")
    names = [f"{layer}.{head}" for layer, head in zip(layers, heads, strict=True)]
    parts = np.asarray(table["part"]).tolist() if "part" in table else []
    if len(set(parts)) > 1:
        names = [f"{part} {name}" for part, name in zip(parts, names, strict=True)]
    order = [
        names[at]
        for at in sorted(
            range(len(names)),
            key=lambda at: (parts[at] if parts else "", layers[at], heads[at]),
        )
    ]
    lines = list(dict.fromkeys(order))
    cells = []
    for step, name, value in zip(steps, names, values, strict=True):
        is_number = bool(np.isfinite(value))
        cells.append(
            {
                "step": step,
                "head": name,
                "value": value if is_number else None,
                "shown": f"{value:.4g}",
            }
        )
    known = [cell["value"] for cell in cells if cell["value"] is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    is_small = len(lines) <= FEW
    every = len(lines) // 20 + 1
    axis = alt.Axis(grid=False, ticks=False, values=lines[:: 1 if is_small else every])
    step_axis = alt.Axis(grid=False, labelAngle=0, labelOverlap=True)
    base = alt.Chart(rows(cells)).encode(
        x=alt.X("step:O", title="step", axis=step_axis),
        y=alt.Y("head:N", title="layer.head", sort=lines, axis=axis),
        tooltip=["step:O", "head:N", alt.Tooltip("shown:N", title=statistic)],
    )
    numbers = (
        base.transform_filter("datum.value != null")
        .mark_rect(fill=ACCENT)
        .encode(
            fillOpacity=alt.FillOpacity(
                "value:Q",
                scale=alt.Scale(domain=[low, high or 1.0], range=[0.04, 1]),
                legend=None,
            )
        )
    )
    others = base.transform_filter("datum.value == null").mark_rect(fill=BAD)
    height = len(lines) * LINE_HEIGHTS[0 if is_small else 1]
    chart = alt.layer(numbers, others).properties(width=WIDTH, height=max(height, 60))
    note = f"light: {low:.3g}, dark: {high:.3g}"
    if len(known) < len(cells):
        note += f"; not finite: {len(cells) - len(known)}"
    words = _in_words(statistic, lines, cells)
    return titled(chart, title or f"{statistic}, head by head", note, words)


def _in_words(statistic: str, lines: list[str], cells: list[dict[str, Any]]) -> str:
    steps = sorted({cell["step"] for cell in cells})
    count = f"{len(lines)} heads at {len(steps)} steps"
    begin = f"{statistic} of {count}, from {steps[0]} to {steps[-1]}."
    last = [
        cell
        for cell in cells
        if cell["step"] == steps[-1] and cell["value"] is not None
    ]
    if not last:
        return f"{begin} At the end there is no finite number."
    most = max(last, key=lambda cell: cell["value"])
    least = min(last, key=lambda cell: cell["value"])
    largest = f"the largest is {most['value']:.3g} of head {most['head']}"
    return f"{begin} At the end {largest}, the least {least['value']:.3g} of head {least['head']}."
