"""The weight that an answer gives as one parameter grows, against the wanted weight."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import altair as alt

from headwright.errors import typed_errors
from headwright.pictures.style import BAD, INK, SERIES, WIDTH, Chart, rows, titled

if TYPE_CHECKING:
    from headwright.check.verdict import Curve

SPREAD = 30  # from this ratio of the largest to the smallest value on, the axis is logarithmic
HEIGHT, HALF = 240, 0.6
NEAR = 0.1  # of the height: so near to a level a name would cover the level's
APART, LETTER = 0.08, 6.5  # a line of a name as a part of the height, and the width of a letter
WANTED = INK


@typed_errors
def curve_picture(curve: Curve, title: str = "How the answer does") -> Chart:
    """A line for each series and a dashed one for each level, named beside them rather than in a legend.

    >>> from headwright.check.verdict import Curve
    >>> picture = curve_picture(Curve("n", (2, 4, 100), {"weight": (0.5, 0.4, 0.02)}, {"wanted": 0.5}))
    >>> [layer["mark"]["type"] for layer in picture.to_dict()["layer"]]
    ['line', 'point', 'rule', 'text', 'text', 'point', 'text']
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
    colours = [SERIES[k % len(SERIES)] for k in range(len(names))]
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
    layers += _names(curve, dict(zip(names, colours, strict=True)), points, _across(across), top - low, x, y)
    layers += _first_below(curve, _across(across), x, y)
    drawn = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return titled(drawn, title, curve.words, told(curve))


def told(curve: Curve) -> str:
    """Where each line begins and ends, beside what was wanted.

    >>> from headwright.check.verdict import Curve
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
    return alt.Scale(domain=[low, high if high > low else low + 1], nice=False, zero=False)


def _names(
    curve: Curve,
    colours: dict[str, str],
    points: list[tuple[str, float, float]],
    scale: alt.Scale,
    height: float,
    x: alt.X,
    y: alt.Y,
) -> list[Chart]:
    """Levels are named at their right end, lines beside their middle; names that would meet move up."""
    right = max((at for _, at, _ in points), default=1.0)
    wanted: list[tuple[str, float, float, Literal["left", "right"], int, str]] = [
        (f"{name}: {level:.3g}", right, float(level), "right", -11, WANTED) for name, level in curve.levels.items()
    ]
    for name, colour in colours.items():
        line = [(a, b) for own, a, b in points if own == name]
        if line:
            meets = any(abs(line[-1][1] - level) < NEAR * height for level in curve.levels.values())
            at = line[len(line) // 6 if meets else len(line) // 2]  # clear of a level's name, if it ends near one
            falls = line[-1][1] < line[0][1]
            fits = _part(at[0], scale) * WIDTH + LETTER * len(name) < WIDTH
            wanted.append((name, *at, "left" if fits else "right", -12 if falls or meets else 13, colour))
    charts: list[Chart] = []
    taken: list[tuple[float, float, float]] = []
    for text, across, up, align, lift, colour in wanted:
        start = _part(across, scale) * WIDTH - (LETTER * len(text) if align == "right" else -7)
        end = start + LETTER * len(text)
        while any(start < other[1] and other[0] < end and abs(up - other[2]) < APART * height for other in taken):
            up += APART * height
        taken.append((start, end, up))
        aside = -2 if align == "right" else 7
        mark = alt.Chart(rows([{"x": across, "y": up, "text": text}])).mark_text(
            align=align, dx=aside, dy=lift, fontSize=12, color=colour
        )
        charts.append(mark.encode(x=x, y=y, text="text:N"))
    return charts


def _part(value: float, scale: alt.Scale) -> float:
    """Where a value lies on the axis, from 0 to 1."""
    told = scale.to_dict()
    low, high = told["domain"]
    if told.get("type") == "log":
        return math.log(value / low) / math.log(high / low)
    return float((value - low) / (high - low))


def _first_below(curve: Curve, scale: alt.Scale, x: alt.X, y: alt.Y) -> list[Chart]:
    """A ring where an answer first falls below what was wanted, with its numbers."""
    found = first_below(curve)
    if found is None:
        return []
    at = rows([{"x": found[0], "y": found[1], "text": f"{curve.parameter} = {found[0]:g}: {found[1]:.3g}"}])
    late = _part(found[0], scale) > HALF
    ring = alt.Chart(at).mark_point(size=130, color=BAD, strokeWidth=2, opacity=1).encode(x=x, y=y)
    text = alt.Chart(at).mark_text(
        align="right" if late else "left", dx=-11 if late else 11, dy=-2, fontSize=12, fontWeight="bold", color=BAD
    )
    return [ring, text.encode(x=x, y=y, text="text:N")]


def first_below(curve: Curve) -> tuple[float, float] | None:
    """Where the first series, which is the answer's, first falls below what was wanted."""
    values, level = next(iter(curve.series.values()), ()), curve.levels.get("wanted")
    if not values or level is None or values[0] < level:
        return None
    return next(((float(x), float(y)) for x, y in zip(curve.values, values, strict=False) if y < level), None)
