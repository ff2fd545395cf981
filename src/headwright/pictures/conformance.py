"""Error divided by its bound, over the rows and columns of one head."""

from __future__ import annotations

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.pictures.cells import worst_cells
from headwright.pictures.style import ACCENT, BAD, WIDTH, Chart, rows, titled

MOST_ROWS = 48  # of the picture: each is the worst of several rows of the head
MOST_COLUMNS = 32
HEIGHT = 320
FULL = 1e30  # in place of an infinite ratio


def conformance_picture(
    ratios: Float[np.ndarray, "rows columns"],
    row_numbers: Float[np.ndarray, " rows"],
    title: str,
    subtitle: str = "",
) -> Chart:
    """A map of error / bound: blue up to 1, red above, darker the further.

    A cell is the largest ratio of the elements in it.

    >>> picture = conformance_picture(np.array([[0.5, 2.0]]), np.array([0]), "head 0")
    >>> picture.to_dict()["title"]["text"]
    ['head 0']
    """
    cells = worst_cells(ratios, MOST_ROWS, MOST_COLUMNS)
    capped = np.minimum(cells.ratios, FULL)
    data = []
    for i, (first_row, past_row) in enumerate(cells.rows):
        for j, (first_column, past_column) in enumerate(cells.columns):
            ratio = float(capped[i, j])
            cell = {
                "row": int(row_numbers[first_row]),
                "row_end": int(row_numbers[past_row - 1]) + 1,
                "column": first_column,
                "column_end": past_column,
                "ratio": ratio,
                "shade": _shade(ratio),
                "kind": "outside" if ratio > 1 else "within",
            }
            data.append(cell)
    colours = alt.Scale(domain=["within", "outside"], range=[ACCENT, BAD])
    vertical = alt.Y("row:Q", title="row", scale=alt.Scale(reverse=True, nice=False))
    horizontal = alt.X("column:Q", title="column", scale=alt.Scale(nice=False))
    chart = (
        alt.Chart(rows(data))
        .mark_rect()
        .encode(
            x=horizontal,
            x2="column_end:Q",
            y=vertical,
            y2="row_end:Q",
            color=alt.Color("kind:N", title="error / bound", scale=colours),
            opacity=alt.Opacity(
                "shade:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.05, 1])
            ),
            tooltip=["row:Q", "column:Q", "ratio:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    outside = int((capped > 1).sum())
    words = (
        f"A map of error divided by bound: {outside} of {capped.size} cells are "
        f"outside, the largest is {capped.max():.3g}."
    )
    return titled(chart, title, subtitle, words)


def _shade(ratio: float) -> float:
    """From 0 to 1: the ratio itself up to 1; above, a full shade from 100 on."""
    if ratio <= 1:
        return ratio
    return float(min(1.0, 0.4 + 0.3 * np.log10(ratio)))
