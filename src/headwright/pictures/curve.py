"""How an answer does as one parameter grows, against what was wanted: the picture of a failure."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

import altair as alt

from headwright.pictures.style import COLOURS, Chart, rows

if TYPE_CHECKING:
    from headwright.check.verdict import Curve

SPREAD = 30  # from this ratio of the largest to the smallest value on, the axis is logarithmic
APART = 0.05  # labels closer than this part of the height are moved apart
WIDTH, HEIGHT = 440, 260
WANTED = COLOURS[5]
OF_SERIES = [colour for colour in COLOURS if colour != WANTED]


def curve_picture(curve: Curve, title: str = "How the answer does") -> Chart:
    """A line for each series and a dashed one for each level, named where they end rather than in a legend.

    >>> from headwright.check.verdict import Curve
    >>> picture = curve_picture(Curve("n", (2, 4, 100), {"weight": (0.5, 0.4, 0.02)}, {"wanted": 0.5}))
    >>> [layer["mark"]["type"] for layer in picture.to_dict()["layer"]]
    ['line', 'point', 'rule', 'text', 'text']
    """
    points = [
        (name, float(x), float(y))
        for name, values in curve.series.items()
        for x, y in zip(curve.values, values, strict=False)
        if math.isfinite(x) and math.isfinite(y)
    ]
    across = [x for _, x, _ in points] or [0.0, 1.0]
    heights = [*(y for *_, y in points), *map(float, curve.levels.values())] or [1.0]
    low, high = min(0.0, *heights), max(heights)
    shares = low == 0 and 0.4 < high <= 1  # weights and probabilities: seen against the whole
    top = 1.0 if shares else (high + 0.08 * (high - low) if high > low else low + 1)
    x = alt.X("x:Q", title=curve.parameter, scale=_across(across), axis=alt.Axis(grid=False, tickCount=6, format="~g"))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[low, top], nice=False), axis=alt.Axis(tickCount=5))
    names = list(curve.series)
    colours = [OF_SERIES[k % len(OF_SERIES)] for k in range(len(names))]
    data = rows({"name": name, "x": x, "y": y} for name, x, y in points)
    base = alt.Chart(data).encode(
        x=x,
        y=y,
        color=alt.Color("name:N", legend=None, scale=alt.Scale(domain=names, range=colours)),
        tooltip=["name:N", "x:Q", "y:Q"],
    )
    few = len(points) <= 40 * max(1, len(names))
    levels = (
        alt.Chart(rows({"y": float(level)} for level in curve.levels.values()))
        .mark_rule(color=WANTED, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y=y)
    )
    layers = [base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=28, opacity=1 if few else 0), levels]
    ends = {name: y for name, _, y in points}
    named = [(ends[name], name, colour) for name, colour in zip(names, colours, strict=True) if name in ends]
    named += [(float(level), name, WANTED) for name, level in curve.levels.items()]
    layers += _labels(named, max(across), (top - low) * APART, x, y)
    subtitle = textwrap.wrap(curve.words, 84)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=alt.Title(title, subtitle=subtitle))


def _across(values: list[float]) -> alt.Scale:
    low, high = min(values), max(values)
    if low > 0 and high / low >= SPREAD:
        return alt.Scale(type="log", domain=[low, high], nice=False)
    return alt.Scale(domain=[low, high if high > low else low + 1], nice=False, zero=False)


def _labels(named: list[tuple[float, str, str]], right: float, apart: float, x: alt.X, y: alt.Y) -> list[Chart]:
    """Each name beside the end of its line, with the value there; names that would cover one another move apart."""
    charts, lowest = [], -math.inf
    for at, name, colour in sorted(named):
        place = max(at, lowest)
        lowest = place + apart
        label = rows([{"x": right, "y": place, "text": f"{name}: {at:.3g}"}])
        text = alt.Chart(label).mark_text(align="left", dx=8, fontSize=12, color=colour, clip=False)
        charts.append(text.encode(x=x, y=y, text="text:N"))
    return charts
