"""All that was measured, as one table, as data, and as a chart."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich.table import Table

from bench.measure import Contender, Measurement

LIBRARIES = (
    "numpy",
    "scipy",
    "torch",
    "cvxpy",
    "clarabel",
    "scikit-learn",
    "sympy",
    "transformers",
    "transformer-lens",
)
NEAR, FAR = 1e-3, 1e4  # a point further out than these tells no more
LABELS = 250  # pixels for names in the chart


@dataclass(frozen=True)
class Topic:
    """What one topic is about, and what was measured."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    measured: dict[str, Measurement]


def ratio(contender: Contender, measured: dict[str, Measurement]) -> float:
    """How many times as long as what it is compared with; NaN where either was not measured.

    >>> fast, slow = Contender("ours", "f"), Contender("theirs", "g", peer_of="ours")
    >>> ratio(slow, {"ours": Measurement(2.0, 1.0, ""), "theirs": Measurement(6.0, 1.0, "")})
    3.0
    """
    if contender.peer_of is None:
        return 1.0
    return measured[contender.name].seconds / measured[contender.peer_of].seconds


def table(topics: list[Topic]) -> Table:
    """One table: who, how long, how many times as long as whom, and with how much memory."""
    made = Table(title="Times, as ratios within one run", title_justify="left")
    for heading in ("", "is", "seconds", "times", "as", "peak MB", "what it said"):
        made.add_column(
            heading,
            justify="right" if heading in ("seconds", "times", "peak MB") else "left",
        )
    for topic in topics:
        made.add_section()
        made.add_row(f"[bold]{topic.title}", end_section=True)
        for number, c in enumerate(topic.contenders):
            m = topic.measured[c.name]
            if math.isnan(m.seconds):
                continue
            compared = _compared(topic, c, number)
            made.add_row(
                c.name, c.is_, f"{m.seconds:.4g}", *compared, f"{m.peak_mb:.0f}", m.says
            )
    return made


def _compared(topic: Topic, contender: Contender, number: int) -> tuple[str, str]:
    """The ratio, and what it is a ratio to: the one above, where that is clear, or its name."""
    if contender.peer_of is None:
        return "1", ""
    earlier = [c.name for c in topic.contenders[:number] if c.peer_of is None]
    shown = ratio(contender, topic.measured)
    return ("" if math.isnan(shown) else f"{shown:.3g}"), "" if earlier[-1:] == [
        contender.peer_of
    ] else contender.peer_of


def left_out(topics: list[Topic]) -> Iterator[str]:
    """Sentences: what was not measured, and why."""
    for topic in topics:
        for c in topic.contenders:
            if math.isnan(topic.measured[c.name].seconds):
                yield f"{topic.name}: {c.name}: {topic.measured[c.name].says}"


def data(topics: list[Topic], skipped: list[str], quick: bool) -> dict[str, Any]:
    """All of it for a JSON file; what is no number is null."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "processor": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "versions": {name: found for name in LIBRARIES if (found := _version(name))},
        "quick": quick,
        "skipped": skipped,
        "topics": {
            topic.name: {
                "title": topic.title,
                "contenders": [
                    {
                        "name": c.name,
                        "is": c.is_,
                        "seconds": _finite(topic.measured[c.name].seconds),
                        "compared_with": c.peer_of,
                        "ratio": _finite(ratio(c, topic.measured)),
                        "peak_mb": _finite(topic.measured[c.name].peak_mb),
                        "said": topic.measured[c.name].says,
                    }
                    for c in topic.contenders
                ],
            }
            for topic in topics
        },
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def compared(measured: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What of `data` tells something beside something: by topic, peers and limits beside us, and us beside limits."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, topic in measured["topics"].items():
        is_ = {c["name"]: c["is"] for c in topic["contenders"]}
        found[name] = [
            {**c, "beside": is_[c["compared_with"]]}
            for c in topic["contenders"]
            if c["compared_with"]
            and c["ratio"]
            and (c["is"] != "ours" or is_[c["compared_with"]] == "limit")
        ]
    return {name: rows for name, rows in found.items() if rows}


def chart(measured: dict[str, Any]) -> bytes:
    """The ratios as an SVG, from `data`: right of the line something takes longer than what it is compared with."""
    import altair as alt

    from headwright.pictures.style import render, titled

    topics = compared(measured)
    ratios = [(row["ratio"], row["name"]) for rows in topics.values() for row in rows]
    worst = max(ratios, default=(0.0, ""))
    told = (
        f"{len(ratios)} ratios; the largest is {worst[0]:.3g}, of {worst[1]}."
        if ratios
        else "no ratios"
    )
    panels = [
        _panel(measured["topics"][name]["title"], rows) for name, rows in topics.items()
    ]
    drawn = alt.vconcat(*panels, spacing=22).resolve_scale(
        color="shared", shape="shared"
    )
    how = "quickly, " if measured["quick"] else ""
    return render(
        titled(
            drawn, "Beside peers and limits", f"measured {how}{measured['date']}", told
        ),
        ".svg",
    )


def _panel(title: str, ratios: list[dict[str, Any]]) -> Any:
    import textwrap

    import altair as alt

    from headwright.pictures.style import INK, KEY, LETTERS, MET, NORMAL, QUIET, rows

    bars = [
        {
            "who": row["name"],
            "is": row["is"],
            "ratio": min(max(row["ratio"], NEAR), FAR),
        }
        for row in ratios
    ]
    colours = alt.Scale(domain=["ours", "peer", "limit"], range=[MET, KEY, INK])
    axis = alt.Axis(labelLimit=LABELS, minExtent=LABELS, maxExtent=LABELS)
    line = alt.Chart(rows([{"x": 1}])).mark_rule(color=QUIET).encode(x="x:Q")
    drawn = (
        alt.Chart(rows(bars))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X(
                "ratio:Q",
                title=f"times as long as {'ours' if ratios[0]['beside'] == 'ours' else 'the limit'}",
                scale=alt.Scale(type="log", domain=[NEAR, FAR]),
                axis=alt.Axis(format="~g", values=[0.01, 1, 100, 10000]),
            ),
            y=alt.Y("who:N", title=None, sort=None, axis=axis),
            color=alt.Color("is:N", title=None, scale=colours),
            shape=alt.Shape(
                "is:N", title=None, scale=alt.Scale(domain=["ours", "peer", "limit"])
            ),
        )
    )
    name = alt.Title(
        textwrap.wrap(title, LETTERS),
        fontSize=NORMAL,
        fontWeight="normal",
        frame="bounds",
        offset=6,
    )
    return alt.layer(line, drawn).properties(width=170, height={"step": 16}, title=name)
