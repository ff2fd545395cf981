"""The weights of the targets in an uncertainty: a cloud of draws, and a histogram for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from headwright.numerics.enclosure import fixed_above, fixed_below
from headwright.pictures.style import (
    INK,
    KEY,
    MET_SOFT,
    WIDTH,
    Chart,
    heading,
    rows,
    titled,
)

if TYPE_CHECKING:
    from headwright.simulation import Simulation

MOST_DOTS = 600
UNIT = alt.Scale(domain=[0, 1])
TICKS = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")


def noise_picture(
    result: Simulation, title: str = "What noise does to the targets"
) -> Chart:
    """The first two targets against each other as a cloud, above the histogram of every target.

    >>> import numpy as np
    >>> from headwright.uncertainty import Uncertainty
    >>> from headwright.simulation import simulate
    >>> result = simulate(np.eye(3), np.zeros(3), Uncertainty(), [0, 1], samples=10)
    >>> len(noise_picture(result).to_dict()["vconcat"])
    3
    """
    bands = [_band(result, target.key) for target in result.targets]
    names = [f"key {target.key}" for target in result.targets]
    parts = [_histogram(result, k, name, bands[k]) for k, name in enumerate(names)]
    if len(names) > 1:
        parts.insert(0, _cloud(result, names, bands))
    summary = _summary(result)
    means = ", ".join(
        f"{name} {target.mean:.3f}"
        for name, target in zip(names, result.targets, strict=True)
    )
    cloud = (
        f"A cloud of {min(len(result.cloud), MOST_DOTS)} draws: the weight of {names[0]} against that of {names[1]}. "
        if len(names) > 1
        else ""
    )
    description = f"{cloud}Histograms of the weights; means: {means}. {summary[0].upper()}{summary[1:]}."
    return titled(alt.vconcat(*parts), title, summary, description)


def _band(result: Simulation, key: int) -> dict[str, float]:
    """Where a target's weight should be: at its least weight or above, or near the average if there is no target."""
    if result.met is not None:
        return {"low": float(result.met.least.get(key, 0)), "high": 1.0}
    goal = 1 / len(result.targets)
    tolerance = float(result.tolerance)
    return {"low": max(0.0, goal - tolerance), "high": min(1.0, goal + tolerance)}


def _summary(result: Simulation) -> str:
    if (targets := result.met) is not None:
        low, high = targets.interval
        share = f"{targets.probability:.1%} of {targets.samples:,} draws"
        sampled = f"the targets are met in {share} ({_percents(low, high)})"
        return f"{sampled}; proven: {targets.exact}" if targets.exact else sampled
    low, high = result.near_average_interval
    sampled = f"near the average in {result.near_average:.1%} of {result.samples:,} draws ({_percents(low, high)})"
    return (
        f"{sampled}; proven: {result.exact.near_average}" if result.exact else sampled
    )


def _percents(low: float, high: float) -> str:
    """An interval in percent, rounded outward."""
    return f"{fixed_below(100 * low, 1)}% to {fixed_above(100 * high, 1)}%"


def _cloud(
    result: Simulation, names: list[str], bands: list[dict[str, float]]
) -> Chart:
    zone = {
        "left": bands[0]["low"],
        "right": bands[0]["high"],
        "low": bands[1]["low"],
        "high": bands[1]["high"],
    }
    square = (
        alt.Chart(rows([zone]))
        .mark_rect(color=MET_SOFT)
        .encode(x="left:Q", x2="right:Q", y="low:Q", y2="high:Q")
    )
    points = (
        alt.Chart(
            rows(
                {"x": float(draw[0]), "y": float(draw[1])}
                for draw in result.cloud[:MOST_DOTS]
            )
        )
        .mark_circle(size=14, opacity=0.35, color=KEY)
        .encode(
            x=alt.X("x:Q", title=f"weight of {names[0]}", scale=UNIT, axis=TICKS),
            y=alt.Y("y:Q", title=f"weight of {names[1]}", scale=UNIT, axis=TICKS),
        )
    )
    return (square + points).properties(
        width=WIDTH,
        height=260,
        title=heading(
            f"{min(len(result.cloud), MOST_DOTS)} of the draws; green: {_wanted(result)}"
        ),
    )


def _wanted(result: Simulation) -> str:
    return "near the average" if result.met is None else "the targets are met"


def _histogram(result: Simulation, k: int, name: str, band: dict[str, float]) -> Chart:
    zone = (
        alt.Chart(rows([band]))
        .mark_rect(color=MET_SOFT)
        .encode(x=alt.X("low:Q", scale=UNIT), x2="high:Q")
    )
    bars = (
        alt.Chart(rows({"weight": float(value)} for value in result.cloud[:, k]))
        .mark_bar(color=KEY, opacity=0.85)
        .encode(
            x=alt.X(
                "weight:Q",
                bin=alt.Bin(step=0.025),
                title=f"weight of {name}",
                scale=UNIT,
                axis=TICKS,
            ),
            y=alt.Y("count():Q", title="draws", axis=alt.Axis(tickCount=3)),
        )
    )
    mean = (
        alt.Chart(rows([{"mean": result.targets[k].mean}]))
        .mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5)
        .encode(x="mean:Q")
    )
    return (zone + bars + mean).properties(
        width=WIDTH,
        height=80,
        title=heading(f"{name}: mean {result.targets[k].mean:.3f} (dashed)"),
    )
