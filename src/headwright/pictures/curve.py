"""The weight that an answer gives as one parameter grows, against the wanted weight."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from headwright.errors import typed_errors
from headwright.pictures.style import BAD, INK, SERIES, WIDTH, Chart, rows, titled

if TYPE_CHECKING:
    from headwright.grading.verdict import Curve

SPREAD = 30  # from this ratio of the largest to the smallest value on, the axis is logarithmic
HEIGHT = 240


@typed_errors
def curve_picture(curve: Curve, title: str = "How the answer does") -> Chart:
    """A line for each series and a dashed one for each level; a ring where the answer falls below what was wanted.

    >>> from headwright.grading.verdict import Curve
    >>> picture = curve_picture(Curve("n", (2, 4, 100), {"weight": (0.5, 0.4, 0.02)}, {"wanted": 0.5}))
    >>> [layer["mark"]["type"] for layer in picture.to_dict()["layer"]]
    ['line', 'point', 'rule', 'point', 'text']
    """
    points: list[dict[str, Any]] = [
        {"name": name, "x": float(x), "y": float(y)}
        for name, values in curve.series.items()
        for x, y in zip(curve.values, values, strict=False)
        if math.isfinite(x) and math.isfinite(y)
    ]
    levels: list[dict[str, Any]] = [
        {"name": f"{name}: {level:.3g}", "y": float(level)}
        for name, level in curve.levels.items()
    ]
    across = [point["x"] for point in points] or [0.0, 1.0]
    heights = [point["y"] for point in (*points, *levels)] or [1.0]
    low, high = min(0.0, *heights), max(heights)
    shares = (
        low == 0 and 0.4 < high <= 1
    )  # weights and probabilities: seen against the whole
    top = 1.0 if shares else (high + 0.08 * (high - low) if high > low else low + 1)
    x = alt.X(
        "x:Q",
        title=curve.parameter,
        scale=_across(across),
        axis=alt.Axis(grid=False, tickCount=6, format="~g"),
    )
    y = alt.Y(
        "y:Q",
        title=None,
        scale=alt.Scale(domain=[low, top], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    names = [*curve.series, *(level["name"] for level in levels)]
    colours = [SERIES[k % len(SERIES)] for k in range(len(curve.series))] + [INK] * len(
        levels
    )
    colour = alt.Color(
        "name:N", title=None, scale=alt.Scale(domain=names, range=colours)
    )
    base = alt.Chart(rows(points)).encode(
        x=x, y=y, color=colour, tooltip=["name:N", "x:Q", "y:Q"]
    )
    few = len(points) <= 40 * max(1, len(curve.series))
    wanted = (
        alt.Chart(rows(levels))
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y=y, color=colour)
    )
    layers = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=28, opacity=1 if few else 0),
        wanted,
    ]
    if (found := first_below(curve)) is not None:
        at = rows(
            [
                {
                    "x": found[0],
                    "y": found[1],
                    "text": f"{curve.parameter} = {found[0]:g}: {found[1]:.3g}",
                }
            ]
        )
        late = sum(value <= found[0] for value in across) > len(across) / 2
        text = alt.Chart(at).mark_text(
            align="right" if late else "left",
            dx=-11 if late else 11,
            dy=-2,
            fontSize=12,
            fontWeight="bold",
            color=BAD,
        )
        layers += [
            alt.Chart(at)
            .mark_point(size=130, color=BAD, strokeWidth=2, opacity=1)
            .encode(x=x, y=y),
            text.encode(x=x, y=y, text="text:N"),
        ]
    return titled(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        title,
        curve.words,
        told(curve),
    )


def told(curve: Curve) -> str:
    """Where each line begins and ends, beside what was wanted.

    >>> from headwright.grading.verdict import Curve
    >>> told(Curve("n", (2, 100), {"weight": (0.5, 0.02)}, {"wanted": 0.4}))
    'Against n: weight from 0.5 at 2 to 0.02 at 100; wanted 0.4. It falls below what was wanted at n = 100.'
    """
    said = [
        f"{name} from {values[0]:.3g} at {curve.values[0]:g} to {values[-1]:.3g} at {curve.values[len(values) - 1]:g}"
        for name, values in curve.series.items()
        if values
    ]
    said += [f"{name} {level:.3g}" for name, level in curve.levels.items()]
    text = f"Against {curve.parameter}: {'; '.join(said)}."
    if (below := first_below(curve)) is not None:
        text += f" It falls below what was wanted at {curve.parameter} = {below[0]:g}."
    return text


def _across(values: list[float]) -> alt.Scale:
    low, high = min(values), max(values)
    if low > 0 and high / low >= SPREAD:
        return alt.Scale(type="log", domain=[low, high], nice=False)
    return alt.Scale(
        domain=[low, high if high > low else low + 1], nice=False, zero=False
    )


def first_below(curve: Curve) -> tuple[float, float] | None:
    """Where the first series, which is the answer's, first falls below what was wanted."""
    values, level = next(iter(curve.series.values()), ()), curve.levels.get("wanted")
    if not values or level is None or values[0] < level:
        return None
    return next(
        (
            (float(x), float(y))
            for x, y in zip(curve.values, values, strict=False)
            if y < level
        ),
        None,
    )
