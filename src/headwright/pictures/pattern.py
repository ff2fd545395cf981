"""Patterns as bars: the weight of each key for each query."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.errors import typed_errors
from headwright.pictures.style import KEY, TARGET, WIDTH, Chart, heading, rows, titled

MOST_BARS, MOST_NUMBERS, MOST_ROWS = 60, 11, 8
LOW = 0.2  # up to which bars are seen better against one another than against the whole
LEAST = 0.0005  # a weight below this has no number


@typed_errors
def pattern_bars(
    pattern: Float[np.ndarray, "heads n"],
    title: str = "Pattern",
    names: Sequence[str] = (),
    targets: Sequence[int] = (),
) -> Chart:
    """A bar for each key, a row of them for each query, named; of very many keys, those with the most weight.

    >>> picture = pattern_bars(np.array([[0.25, 0.75]]), names=["long"])
    >>> picture.to_dict()["vconcat"][0]["title"]["text"]
    'long'
    """
    # Whatever holds numbers, and torch's with gradients too, makes a list of them.
    pattern = np.array(
        pattern.tolist() if hasattr(pattern, "tolist") else pattern, dtype=np.float64
    )
    heads, n = pattern.shape
    names = list(names) or ([f"head {h}" for h in range(heads)] if heads > 1 else [""])
    shown = sorted(np.argsort(-pattern.max(axis=0), kind="stable")[:MOST_BARS].tolist())
    rest = 1 - float(pattern[:, shown].sum()) / heads
    below = (
        ""
        if n <= MOST_BARS
        else f"the {MOST_BARS} heaviest of {n} keys; the others share {max(rest, 0.0):.3g}"
    )
    if heads > MOST_ROWS:
        below += f"{'; ' if below else ''}the first {MOST_ROWS} of {heads} heads"
    parts = [
        _bars(
            pattern[h],
            names[h],
            shown,
            targets,
            float(pattern.max()),
            last=h == min(heads, MOST_ROWS) - 1,
        )
        for h in range(min(heads, MOST_ROWS))
    ]
    told = " ".join(_told(pattern[h], names[h]) for h in range(min(heads, MOST_ROWS)))
    return titled(
        alt.vconcat(*parts, spacing=12),
        title,
        below,
        f"Bars of the weight of each of {n} keys. {told}",
    )


def _bars(
    weights: Float[np.ndarray, " n"],
    name: str,
    shown: list[int],
    targets: Sequence[int],
    top: float,
    *,
    last: bool,
) -> Chart:
    data = rows(
        {
            "key": str(i),
            "weight": float(weights[i]),
            "label": f"{weights[i]:.3f}" if weights[i] >= LEAST else "",
            "kind": "target" if i in targets else "other",
        }
        for i in shown
    )
    step = -(-len(shown) // (8 if len(shown) > 15 else 15))
    axis = alt.Axis(labelAngle=0, values=[str(i) for i in shown[::step]], grid=False)
    tall = alt.Scale(domain=[0, 1]) if top >= LOW else alt.Scale(domain=[0, 1.2 * top])
    base = alt.Chart(data).encode(
        x=alt.X("key:N", sort=None, title="key" if last else None, axis=axis),
        y=alt.Y("weight:Q", title="weight", scale=tall, axis=alt.Axis(tickCount=3)),
        tooltip=["key:N", "weight:Q"],
    )
    colour = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["target", "other"], range=[TARGET, KEY]),
    )
    bars = base.mark_bar().encode(color=colour)
    labels = base.mark_text(dy=-7, fontSize=11).encode(text="label:N")
    drawn = alt.layer(bars, labels) if len(shown) <= MOST_NUMBERS else alt.layer(bars)
    return drawn.properties(
        width=WIDTH, height=130, title=heading(name) if name else ""
    )


def _told(weights: Float[np.ndarray, " n"], name: str) -> str:
    """The heaviest few, and what is left."""
    top = np.argsort(-weights, kind="stable")[:3]
    heaviest = ", ".join(f"key {i} {weights[i]:.3f}" for i in top)
    rest = max(0.0, 1 - float(weights[top].sum()))
    return f"{name + ': ' if name else ''}{heaviest}; the others together {rest:.3f}."
