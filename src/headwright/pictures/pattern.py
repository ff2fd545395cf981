"""The pattern as bars: which key gets how much, head by head."""

from __future__ import annotations

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.style import COLOURS, Chart, rows

MOST_BARS = 60


def pattern_bars(pattern: Float[np.ndarray, "heads n"], title: str = "Pattern") -> Chart:
    """A bar for each key and head; of very many keys, those with the most weight.

    >>> pattern_bars(np.array([[0.25, 0.75]])).to_dict()["layer"][0]["mark"]["type"]
    'bar'
    """
    heads, n = pattern.shape
    heaviest = np.argsort(-pattern.max(axis=0), kind="stable")[:MOST_BARS]
    shown = sorted(heaviest.tolist())
    rest = (
        ""
        if n <= MOST_BARS
        else f"the {MOST_BARS} heaviest of {n} keys; the others share {1 - pattern[:, shown].sum() / heads:.3g}"
    )
    data = rows(
        {"key": str(i), "head": f"head {h}", "weight": float(pattern[h, i]), "label": _label(pattern[h, i])}
        for h in range(heads)
        for i in shown
    )
    several = heads > 1
    base = alt.Chart(data, title=alt.Title(title, subtitle=rest)).encode(
        x=alt.X("key:N", sort=None, title="key", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("weight:Q", title="weight in the pattern", scale=alt.Scale(domain=[0, 1])),
        tooltip=["key:N", "head:N", "weight:Q"],
    )
    if several:
        base = base.encode(xOffset="head:N")
    bars = base.mark_bar().encode(
        color=alt.Color("head:N", scale=alt.Scale(range=COLOURS), legend=alt.Legend(title=None) if several else None)
    )
    labels = base.mark_text(dy=-6, fontSize=10).encode(text="label:N")
    few = len(shown) * heads <= 24
    return (bars + labels if few else alt.layer(bars)).properties(
        width=max(240, min(900, 30 * len(shown) * heads)), height=260
    )


def _label(weight: float) -> str:
    return f"{weight:.3f}" if weight >= 0.0005 else ""
