"""Positions: how far apart neighbours are, and where they coincide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from headwright.pictures.style import BAD, INK, KEY, WIDTH, Chart, heading, rows, titled

if TYPE_CHECKING:
    from headwright.positions import Preview


def position_picture(
    preview: Preview,
    title: str,
    subtitle: str = "",
    first_pair: tuple[int, int] | None = None,
) -> Chart:
    """The distance of neighbours about the first pair that coincides, which is marked, and the rest of the length.

    Where none coincide: the distance of neighbours alone.

    >>> from headwright.positions import Precision, Sinusoidal, preview
    >>> distances = preview(Sinusoidal(4), 300, Precision(index="bfloat16"), 250)
    >>> picture = position_picture(distances, "Positions", "", (256, 257))
    >>> len(picture.to_dict()["vconcat"])
    2
    """
    parts = [
        _neighbours(preview, first_pair),
        *([_stretches(preview)] if any(preview.coinciding) else []),
    ]
    return titled(
        alt.vconcat(*parts), title, subtitle, _told(preview, subtitle, first_pair)
    )


def _neighbours(preview: Preview, first_pair: tuple[int, int] | None) -> Chart:
    kinds = ["apart", "coincide"]
    points = [
        {"t": preview.start + k, "distance": float(gap), "kind": kinds[int(gap == 0)]}
        for k, gap in enumerate(preview.neighbours)
        if np.isfinite(gap)
    ]
    top = (
        1.25
        * max(
            (float(gap) for gap in preview.neighbours if np.isfinite(gap)), default=1.0
        )
        or 1.0
    )
    last = preview.start + len(preview.neighbours)
    x = alt.X(
        "t:Q",
        title="position t",
        scale=alt.Scale(domain=[preview.start - 1, last], nice=False),
        axis=_whole(),
    )
    y = alt.Y(
        "distance:Q", title="distance", scale=alt.Scale(domain=[0, top], nice=False)
    ).axis(tickCount=5)
    legend = (
        alt.Legend(title=None, symbolOpacity=1)
        if any(point["distance"] == 0 for point in points)
        else None
    )
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=kinds, range=[KEY, BAD]), legend=legend
    )
    shape = alt.Shape(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=["circle", "diamond"]),
        legend=legend,
    )
    base = alt.Chart(rows(points)).encode(x=x, y=y, tooltip=["t:Q", "distance:Q"])
    layers = [
        base.mark_rule(strokeWidth=1.5, color=KEY).encode(y2=alt.datum(0)),
        base.mark_point(filled=True, size=42, opacity=1).encode(
            color=colour, shape=shape
        ),
    ]
    if first_pair is not None:
        t, u = first_pair
        at = t if u == t + 1 else u  # a point stands for a position and the next
        words = f"{t} and {u}: the first two alike"
        mark = rows([{"t": at, "distance": 0.9 * top, "name": words}])
        left = at - preview.start > len(preview.neighbours) / 2
        rule = (
            alt.Chart(mark)
            .mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.2)
            .encode(x=x)
        )
        text = alt.Chart(mark).mark_text(
            align="right" if left else "left", dx=-6 if left else 6, fontSize=12
        )
        layers += [rule, text.encode(x=x, y=y, text="name:N")]
    return alt.layer(*layers).properties(
        width=WIDTH, height=190, title=heading("neighbours: how far t is from t + 1")
    )


def _stretches(preview: Preview) -> Chart:
    data = rows(
        {"low": low, "high": high, "share": share}
        for low, high, share in zip(
            preview.ends, preview.ends[1:], preview.coinciding, strict=False
        )
    )
    x = alt.X(
        "low:Q",
        title="position",
        scale=alt.Scale(domain=[0, preview.ends[-1]], nice=False),
        axis=_whole(),
    )
    y = alt.Y(
        "share:Q",
        title="share",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=3),
    )
    bars = (
        alt.Chart(data)
        .mark_rect(color=BAD, fillOpacity=0.85)
        .encode(
            x=x,
            x2="high:Q",
            y=y,
            y2=alt.datum(0),
            tooltip=["low:Q", "high:Q", "share:Q"],
        )
    )
    return bars.properties(
        width=WIDTH,
        height=100,
        title=heading("positions with the same row as the one before"),
    )


def _whole() -> alt.Axis:
    return alt.Axis(grid=False, tickMinStep=1, tickCount=6, format="d")


def _told(preview: Preview, subtitle: str, first_pair: tuple[int, int] | None) -> str:
    last = preview.start + len(preview.neighbours)
    equal = int((preview.neighbours == 0).sum())
    sentences = [
        f"{subtitle}." if subtitle else "",
        f"The distance of neighbours from position {preview.start} to {last}:",
    ]
    sentences.append(
        f"{equal} of {len(preview.neighbours)} are 0." if equal else "none is 0."
    )
    if first_pair is not None:
        sentences.append(
            f"The first two that coincide, {first_pair[0]} and {first_pair[1]}, are marked."
        )
    if any(preview.coinciding):
        worst = max(preview.coinciding)
        at = preview.coinciding.index(worst)
        sentences.append(
            f"Below, by stretches of positions, the share that coincides with the one before: from "
            f"{preview.coinciding[0]:.0%} at the start to {worst:.0%} from {preview.ends[at]} on."
        )
    return " ".join(part for part in sentences if part)
