"""Queries compared in several worlds: how the pattern is shared out, as bars that are full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from headwright.pictures.style import INK, KEY, NONE, TARGET, WIDTH, Chart, heading, rows, titled


def worlds_picture(
    shares: Mapping[str, Mapping[str, Sequence[float]]],
    targets: tuple[str, str],
    least: float,
    title: str,
    subtitle: str = "",
) -> Chart:
    """For each query and each world: the weights of two targets, as parts of a bar; the others have the rest.

    The dashed line is at one half; a tick or a cross says whether both have at least what was wished for.

    >>> picture = worlds_picture({"short": {"half": (0.2, 0.3)}}, ("key 0", "key 1"), 0.4, "Two targets")
    >>> "short: in 'half' key 0 0.200, key 1 0.300, not granted" in picture.to_dict()["description"]
    True
    """
    parts = [
        _bars(name, worlds, targets, least, last=k == len(shares) - 1)
        for k, (name, worlds) in enumerate(shares.items())
    ]
    told = " ".join(
        f"{name}: "
        + "; ".join(
            f"in '{world}' {targets[0]} {a:.3f}, {targets[1]} {b:.3f}, {'' if _granted(a, b, least) else 'not '}granted"
            for world, (a, b) in worlds.items()
        )
        + "."
        for name, worlds in shares.items()
    )
    below = f"{subtitle}{'; ' if subtitle else ''}wished for: at least {least:.4f} for each"
    return titled(
        alt.vconcat(*parts, spacing=14).resolve_scale(color="independent"),
        title,
        below,
        f"Bars of the weights in each world. {told}",
    )


def _bars(
    name: str, worlds: Mapping[str, Sequence[float]], targets: tuple[str, str], least: float, *, last: bool
) -> Chart:
    who = [*targets, "the others"]
    pieces = []
    for world, (a, b) in worlds.items():
        granted = _granted(a, b, least)
        for piece, low, high in ((0, 0.0, a), (1, a, a + b), (2, a + b, 1.0)):
            pieces.append(
                {"world": world, "who": who[piece], "low": low, "high": high, "mark": "✓" if granted else "✗"}
            )
    y = alt.Y(
        "world:N",
        sort=None,
        title=None,
        axis=alt.Axis(grid=False, labelLimit=120, labelPadding=6, ticks=False, domain=False),
    )
    x = alt.X("low:Q", title="weight" if last else None, scale=alt.Scale(domain=[0, 1.0], nice=False)).axis(
        grid=False, tickCount=5, labels=last, ticks=last
    )
    legend = alt.Legend(title=None, columns=3) if last else None
    bars = alt.Chart(rows(pieces)).mark_bar(height=20).encode(
        x=x, x2="high:Q", y=y, tooltip=["world:N", "who:N", "low:Q", "high:Q"],
        color=alt.Color("who:N", sort=None, legend=legend, scale=alt.Scale(domain=who, range=[TARGET, KEY, NONE])),
    )  # fmt: skip
    marks = alt.Chart(rows(pieces[::3])).mark_text(fontSize=15, align="left", dx=6).encode(
        x=alt.datum(1.0), y=y, text="mark:N"
    )  # fmt: skip
    half = alt.Chart(rows([{"low": 0.5}])).mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.2).encode(x=x)
    return alt.layer(bars, half, marks).properties(width=WIDTH - 70, height=29 * len(worlds), title=heading(name))


def _granted(a: float, b: float, least: float) -> bool:
    """In floating point: a designed query has its least weight with no more than a hair to spare."""
    return min(a, b) >= least * (1 - 1e-9)
