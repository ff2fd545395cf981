"""Singular values, and what a truncation misses."""

from __future__ import annotations

import math

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.lowrank import LowRank
from headwright.numerics.enclosure import shown_above
from headwright.pictures.style import (
    KEY,
    OUTPUT,
    QUIET,
    TARGET_INK,
    WIDTH,
    Chart,
    rows,
    titled,
)

MOST_POINTS = 400


def spectrum(result: LowRank, title: str = "Singular values") -> Chart:
    """The singular values that are kept and those that are not, with the certified error and the guarantee.

    >>> import numpy as np
    >>> from headwright.lowrank import truncate
    >>> spectrum(truncate(np.diag([3.0, 2.0, 1.0]), rank=1)).to_dict()["title"]["text"]
    ['Singular values']
    """
    check_argument("result", result, LowRank)
    values = result.singular_values[:MOST_POINTS]
    smallest = float(values[values > 0].min()) if (values > 0).any() else 1.0
    data = rows(
        {
            "i": i + 1,
            "value": float(value),
            "part": "kept" if i < result.rank else "cut",
        }
        for i, value in enumerate(values)
        if value > 0
    )
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=["kept", "cut"], range=[KEY, QUIET]),
    )
    points = (
        alt.Chart(data)
        .mark_circle(size=36, opacity=1)
        .encode(
            x=alt.X(
                "i:Q",
                title="number of the singular value",
                axis=alt.Axis(tickMinStep=1),
            ),
            y=alt.Y(
                "value:Q",
                title="size",
                scale=alt.Scale(type="log"),
                axis=_powers(values),
            ),
            color=colour,
            tooltip=["i:Q", "value:Q"],
        )
    )
    lines = [
        _line(height, name, colour, below, len(values))
        for height, name, colour, below in (
            (
                result.guarantee,
                f"guarantee {shown_above(result.guarantee, 4)}",
                TARGET_INK,
                False,
            ),
            (
                result.error_upper_bound,
                f"certified error {shown_above(result.error_upper_bound, 4)}",
                OUTPUT,
                True,
            ),
        )
        if height >= smallest / 10
    ]
    drawn = alt.layer(points, *lines).properties(width=WIDTH, height=260)
    return titled(drawn, title, _subtitle(result), _told(result))


def _powers(values: Float[np.ndarray, " k"]) -> alt.Axis:
    """A line for each power of ten, no matter how many of them there are."""
    known = np.log10(values[values > 0])
    low, high = (
        (math.floor(known.min()), math.ceil(known.max())) if len(known) else (0, 1)
    )
    step = max(1, (high - low) // 6)
    return alt.Axis(values=[10.0**k for k in range(low, high + 1, step)], format="~g")


def _told(result: LowRank) -> str:
    values = result.singular_values
    cut_at = (
        f"{result.rank} singular values are kept, from {values[0]:.4g} to {values[result.rank - 1]:.4g}"
        if result.rank
        else "no singular value is kept"
    )
    cut = (
        f"; the largest that is cut is {values[result.rank]:.4g}"
        if result.rank < len(values)
        else ""
    )
    error = shown_above(result.error_upper_bound, 4)
    guarantee = shown_above(result.guarantee, 4)
    lines = f"Lines at the certified error, {error}, and at the guarantee, {guarantee}"
    return f"{cut_at[0].upper()}{cut_at[1:]}{cut}. {lines}."


def _subtitle(result: LowRank) -> str:
    error = shown_above(result.error_upper_bound)
    return f"rank {result.rank} keeps {result.energy:.2%} of the energy; error at most {error}"


def _line(height: float, name: str, colour: str, below: bool, last: int) -> Chart:
    base = alt.Chart(rows([{"y": height, "x": last, "name": name}])).encode(y="y:Q")
    rule = base.mark_rule(color=colour, strokeDash=[5, 3], strokeWidth=1.5)
    label = base.mark_text(
        align="right", dy=12 if below else -10, color=colour, fontSize=12
    ).encode(x="x:Q", text="name:N")
    return rule + label
