"""The weight that an answer gives as one parameter grows, against the wanted weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import altair as alt

from headwright.pictures.style import BAD, INK, SERIES, WIDTH, Chart, rows, titled

SPREAD = 30  # from this ratio of the largest to the smallest value on, the axis is logarithmic
HEIGHT = 240
MOST_MARKED = 40  # points of a line that are marked; a line of more is drawn alone
HEADROOM = 0.08  # above the highest point, as a part of the range
DASHES = [6, 4]  # of a horizontal line, in pixels
LABEL_GAP = 14  # pixels between a label and a line that does not cross it
WANTED = "wanted"  # the level that the first series is compared with


class GrowthCurve(Protocol):
    """How an answer does as one parameter grows: `headwright.grading` makes these."""

    @property
    def parameter(self) -> str:
        """Its name."""

    @property
    def values(self) -> tuple[float, ...]:
        """What it takes."""

    @property
    def series(self) -> Mapping[str, tuple[float, ...]]:
        """A number for each of the values, for each line by name."""

    @property
    def levels(self) -> Mapping[str, float]:
        """Horizontal lines by name."""

    @property
    def words(self) -> str:
        """A sentence under the picture."""


class Point(NamedTuple):
    """A value of the parameter, and the height of a line there."""

    x: float
    y: float


def curve_picture(curve: GrowthCurve, title: str = "How the answer does") -> Chart:
    """A line for each series and a dashed one for each level; a ring where the answer falls below what was wanted.

    >>> from headwright.grading.verdict import Curve
    >>> picture = curve_picture(Curve("n", (2, 4, 100), {"weight": (0.5, 0.4, 0.02)}, {"wanted": 0.5}))
    >>> [layer["mark"]["type"] for layer in picture.to_dict()["layer"]]
    ['line', 'point', 'rule', 'point', 'text']
    """
    points = _points_of_lines(curve)
    levels = _levels(curve)
    x_values = [point["x"] for point in points] or [0.0, 1.0]
    x = alt.X(
        "x:Q",
        title=curve.parameter,
        scale=_scale_of_values(x_values),
        axis=alt.Axis(grid=False, tickCount=6, format="~g"),
    )
    y = alt.Y(
        "y:Q",
        title=None,
        scale=_scale_of_heights([point["y"] for point in (*points, *levels)]),
        axis=alt.Axis(tickCount=5),
    )
    names = [*curve.series, *(level["name"] for level in levels)]
    colours = [SERIES[k % len(SERIES)] for k in range(len(curve.series))]
    colours += [INK] * len(levels)
    # The legend shows what is drawn: a line, or dashes.
    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=2)
    colour = alt.Color(
        "name:N",
        title=None,
        scale=alt.Scale(domain=names, range=colours),
        legend=legend,
    )
    patterns = [[1, 0]] * len(curve.series) + [DASHES] * len(levels)
    dash = alt.StrokeDash(
        "name:N",
        title=None,
        scale=alt.Scale(domain=names, range=patterns),
        legend=legend,
    )

    lines = alt.Chart(rows(points)).encode(
        x=x, y=y, color=colour, tooltip=["name:N", "x:Q", "y:Q"]
    )
    are_marked = len(points) <= MOST_MARKED * max(1, len(curve.series))
    dashes = alt.Chart(rows(levels)).encode(y=y, color=colour, strokeDash=dash)
    layers = [
        lines.mark_line(strokeWidth=2).encode(strokeDash=dash),
        lines.mark_point(filled=True, size=28, opacity=1 if are_marked else 0),
        dashes.mark_rule(strokeWidth=1.5),
    ]
    below = first_below(curve)
    if below is not None:
        heights = [point["y"] for point in (*points, *levels)]
        low, top = _range_of_heights(heights)
        # The label would stand on the wanted line where that is close: it goes above.
        to_wanted = (curve.levels[WANTED] - below.y) / (top - low) * HEIGHT
        is_close = to_wanted < LABEL_GAP
        raised = to_wanted + LABEL_GAP / 2 if is_close else 2
        layers += _ring(below, curve.parameter, x_values, x, y, raised)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return titled(chart, title, curve.words, curve_in_words(curve))


def curve_in_words(curve: GrowthCurve) -> str:
    """Where each line begins and ends, beside what was wanted.

    >>> from headwright.grading.verdict import Curve
    >>> curve_in_words(Curve("n", (2, 100), {"weight": (0.5, 0.02)}, {"wanted": 0.4}))
    'Against n: weight from 0.5 at 2 to 0.02 at 100; wanted 0.4. It falls below what was wanted at n = 100.'
    """
    clauses = []
    for name, heights in curve.series.items():
        if heights:
            first = curve.values[0]
            last = curve.values[len(heights) - 1]
            begins = f"from {heights[0]:.3g} at {first:g}"
            clauses.append(f"{name} {begins} to {heights[-1]:.3g} at {last:g}")
    for name, level in curve.levels.items():
        clauses.append(f"{name} {level:.3g}")
    text = f"Against {curve.parameter}: {'; '.join(clauses)}."
    below = first_below(curve)
    if below is not None:
        text += f" It falls below what was wanted at {curve.parameter} = {below.x:g}."
    return text


def first_below(curve: GrowthCurve) -> Point | None:
    """Where the first series, which is the answer's, first falls below what was wanted."""
    heights = next(iter(curve.series.values()), ())
    wanted = curve.levels.get(WANTED)
    if not heights or wanted is None or heights[0] < wanted:
        return None
    for x, y in zip(curve.values, heights, strict=False):
        if y < wanted:
            return Point(float(x), float(y))
    return None


def _points_of_lines(curve: GrowthCurve) -> list[dict[str, Any]]:
    """A row for each point of each line that is finite."""
    points: list[dict[str, Any]] = []
    for name, heights in curve.series.items():
        for x, y in zip(curve.values, heights, strict=False):
            if math.isfinite(x) and math.isfinite(y):
                points.append({"name": name, "x": float(x), "y": float(y)})
    return points


def _levels(curve: GrowthCurve) -> list[dict[str, Any]]:
    """A row for each horizontal line."""
    return [
        {"name": f"{name}: {level:.3g}", "y": float(level)}
        for name, level in curve.levels.items()
    ]


def _scale_of_values(values: list[float]) -> alt.Scale:
    low = min(values)
    high = max(values)
    if low > 0 and high / low >= SPREAD:
        return alt.Scale(type="log", domain=[low, high], nice=False)
    if low == high:
        high = low + 1
    return alt.Scale(domain=[low, high], nice=False, zero=False)


def _scale_of_heights(heights: list[float]) -> alt.Scale:
    return alt.Scale(domain=list(_range_of_heights(heights)), nice=False)


def _range_of_heights(heights: list[float]) -> tuple[float, float]:
    """From 0, or lower, to a little above the highest; weights and probabilities to 1."""
    low = min([0.0, *heights])
    high = max(heights, default=1.0)
    if low == 0 and 0.4 < high <= 1:
        top = 1.0
    elif high > low:
        top = high + HEADROOM * (high - low)
    else:
        top = low + 1
    return low, top


def _ring(
    point: Point,
    parameter: str,
    x_values: list[float],
    x: alt.X,
    y: alt.Y,
    raised: float,
) -> list[Chart]:
    """A ring around a point, and what it is beside it: on the left if most points are there.

    The label is so many pixels higher than the point.
    """
    label = f"{parameter} = {point.x:g}: {point.y:.3g}"
    chart = alt.Chart(rows([{"x": point.x, "y": point.y, "text": label}]))
    before = sum(value <= point.x for value in x_values)
    is_late = before > len(x_values) / 2
    ring = chart.mark_point(size=130, color=BAD, strokeWidth=2, opacity=1)
    text = chart.mark_text(
        align="right" if is_late else "left",
        dx=-11 if is_late else 11,
        dy=-raised,
        fontSize=12,
        fontWeight="bold",
        color=BAD,
    )
    return [ring.encode(x=x, y=y), text.encode(x=x, y=y, text="text:N")]
