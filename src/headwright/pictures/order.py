"""How much a module's output depends on the order of its tokens, for every permutation tried."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import altair as alt

from headwright.errors import typed_errors
from headwright.pictures.style import LINE, QUIET, SERIES, WIDTH, Chart, rows, titled

ROUNDING = 64  # times the spacing of numbers at 1: up to here a defect is taken for rounding


@typed_errors
def order_picture(
    defects: Mapping[str, Sequence[float]], epsilon: float, title: str = "Does the order matter?", subtitle: str = ""
) -> Chart:
    """Relative defects |f(PX) - P f(X)| of several modules, a dot for each permutation, the smallest first.

    >>> picture = order_picture({"plain": [0.0, 1e-16], "placed": [0.2, 0.5]}, 2.2e-16)
    >>> "plain: at most 1e-16" in picture.to_dict()["description"]
    True
    """
    floor = epsilon / 8  # a defect of exactly 0 has no place on a logarithmic axis, and stands here
    data = rows(
        {"rank": rank + 1, "defect": max(value, floor), "name": name, "exactly": value}
        for name, values in defects.items()
        for rank, value in enumerate(sorted(values))
    )
    count = max(map(len, defects.values()), default=1)
    scale = alt.Scale(type="log", domain=[floor / 2, 10], nice=False)
    x = alt.X("rank:Q", title="permutations, by their defect", scale=alt.Scale(domain=[0, count + 1], nice=False))
    y = alt.Y("defect:Q", title="relative defect", scale=scale, axis=alt.Axis(format=".0e", tickCount=6))
    names = list(defects)
    points = (
        alt.Chart(data)
        .mark_circle(size=28, opacity=0.9)
        .encode(
            x=x.axis(grid=False, tickCount=6), y=y, tooltip=["name:N", "exactly:Q"],
            color=alt.Color("name:N", legend=None, scale=alt.Scale(domain=names, range=SERIES)),
        )
    )  # fmt: skip
    band = alt.Chart(rows([{"low": floor / 2, "high": ROUNDING * epsilon}])).mark_rect(color=LINE, opacity=0.6)
    zone = band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    words = [{"rank": count / 2, "defect": 24 * epsilon, "text": "rounding of floating-point numbers", "colour": QUIET}]
    for name, values, colour in zip(defects, defects.values(), itertools.cycle(SERIES), strict=False):
        most = max(values, default=0.0)
        place = ROUNDING * epsilon * 4 if most < ROUNDING * epsilon else max(min(values), floor) / 6
        words.append({"rank": count / 2, "defect": place, "text": f"{name}: at most {most:.2g}", "colour": colour})
    labels = alt.Chart(rows(words)).mark_text(fontSize=12).encode(
        x=x, y=y, text="text:N", color=alt.Color("colour:N", scale=None)
    )  # fmt: skip
    told = "; ".join(
        f"{name}: at most {max(values, default=0.0):.2g} over {len(values)} permutations"
        for name, values in defects.items()
    )
    return titled(
        alt.layer(zone, points, labels).properties(width=WIDTH, height=260),
        title,
        subtitle,
        f"Relative defects on a logarithmic axis. {told}. What lies below {ROUNDING * epsilon:.0e} is rounding.",
    )
