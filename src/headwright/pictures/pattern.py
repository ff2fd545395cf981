"""Patterns as bars: the weight of each key for each query."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.style import KEY, TARGET, WIDTH, Chart, heading, rows, titled

MOST_BARS = 60
MOST_NUMBERS = 11  # bars, up to which each has its number
MOST_ROWS = 8
LOW = 0.2  # up to which bars are seen better against one another than against the whole
LEAST = 0.0005  # a weight below this has no number


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
    numbers = pattern.tolist() if hasattr(pattern, "tolist") else pattern
    pattern = np.array(numbers, dtype=np.float64)
    heads, n = pattern.shape
    if not names:
        names = [f"head {number}" for number in range(heads)] if heads > 1 else [""]
    heaviest = np.argsort(-pattern.max(axis=0), kind="stable")[:MOST_BARS]
    keys = sorted(heaviest.tolist())
    top = float(pattern.max())
    drawn_rows = min(heads, MOST_ROWS)
    parts = []
    sentences = []
    for head in range(drawn_rows):
        is_last = head == drawn_rows - 1
        parts.append(_bars(pattern[head], names[head], keys, targets, top, is_last))
        sentences.append(_in_words(pattern[head], names[head]))
    return titled(
        alt.vconcat(*parts, spacing=12),
        title,
        _left_out(pattern, keys),
        f"Bars of the weight of each of {n} keys. {' '.join(sentences)}",
    )


def _left_out(pattern: Float[np.ndarray, "heads n"], keys: list[int]) -> str:
    """Which keys and heads have no bars."""
    heads, n = pattern.shape
    notes = []
    if n > MOST_BARS:
        rest = max(0.0, 1 - float(pattern[:, keys].sum()) / heads)
        notes.append(
            f"the {MOST_BARS} heaviest of {n} keys; the others share {rest:.3g}"
        )
    if heads > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS} of {heads} heads")
    return "; ".join(notes)


def _bars(
    weights: Float[np.ndarray, " n"],
    name: str,
    keys: list[int],
    targets: Sequence[int],
    top: float,
    is_last: bool,
) -> Chart:
    """The bars of one query; the last row has the axis' title."""
    bars_data = []
    for key in keys:
        weight = float(weights[key])
        bar = {
            "key": str(key),
            "weight": weight,
            "label": f"{weight:.3f}" if weight >= LEAST else "",
            "kind": "target" if key in targets else "other",
        }
        bars_data.append(bar)
    most_ticks = 8 if len(keys) > 15 else 15
    step = math.ceil(len(keys) / most_ticks)
    ticks = [str(key) for key in keys[::step]]
    axis = alt.Axis(labelAngle=0, values=ticks, grid=False)
    height = 1 if top >= LOW else 1.2 * top
    base = alt.Chart(rows(bars_data)).encode(
        x=alt.X("key:N", sort=None, title="key" if is_last else None, axis=axis),
        y=alt.Y(
            "weight:Q",
            title="weight",
            scale=alt.Scale(domain=[0, height]),
            axis=alt.Axis(tickCount=3),
        ),
        tooltip=["key:N", "weight:Q"],
    )
    colour = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["target", "other"], range=[TARGET, KEY]),
    )
    layers = [base.mark_bar().encode(color=colour)]
    if len(keys) <= MOST_NUMBERS:
        layers.append(base.mark_text(dy=-7, fontSize=11).encode(text="label:N"))
    chart = alt.layer(*layers)
    return chart.properties(
        width=WIDTH, height=130, title=heading(name) if name else ""
    )


def _in_words(weights: Float[np.ndarray, " n"], name: str) -> str:
    """The heaviest few, and what is left."""
    top = np.argsort(-weights, kind="stable")[:3]
    heaviest = ", ".join(f"key {key} {weights[key]:.3f}" for key in top)
    rest = max(0.0, 1 - float(weights[top].sum()))
    sentence = f"{heaviest}; the others together {rest:.3f}."
    return f"{name}: {sentence}" if name else sentence
