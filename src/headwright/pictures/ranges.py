"""The largest numbers of each layer, proved and shown, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from headwright.pictures.style import ACCENT, BAD, WIDTH, Chart, rows, titled

HEIGHT = 280
E4M3_LARGEST = 448.0
KINDS = ("key", "value")
MOST_TICKS = 10


def ranges_picture(layers: Sequence[dict[str, float]], model: str) -> Chart:
    """A line for keys and one for values, dashed what a text shows; and the largest number of e4m3.

    >>> picture = ranges_picture([{"layer": 0.0, "key proved": 3.0}], "model")
    >>> picture.to_dict()["title"]["text"]
    ['model']
    """
    data: list[dict[str, float | str]] = []
    largest = 0.0
    for layer in layers:
        for kind in KINDS:
            for source in ("proved", "shown"):
                number = layer.get(f"{kind} {source}")
                # A logarithmic scale has no place for 0.
                if number is not None and number > 0:
                    point: dict[str, float | str] = {
                        "layer": layer["layer"],
                        "kind": kind,
                    }
                    data.append({**point, "source": source, "largest": number})
                    largest = max(largest, number)
    colours = alt.Scale(domain=list(KINDS), range=[ACCENT, BAD])
    sources = [
        source
        for source in ("proved", "shown")
        if any(point["source"] == source for point in data)
    ]
    dashes = alt.Scale(domain=sources, range=[[1, 0], [4, 3]][: len(sources)])
    step = max(1, len(layers) // MOST_TICKS)
    ticks = list(range(0, len(layers), step))
    vertical = alt.Scale(type="log")
    lines = (
        alt.Chart(rows(data))
        .mark_line(point=True)
        .encode(
            x=alt.X("layer:Q", title="layer", axis=alt.Axis(values=ticks, format="d")),
            y=alt.Y("largest:Q", title="largest number", scale=vertical),
            color=alt.Color("kind:N", title="of", scale=colours),
            # The subtitle says which is which.
            strokeDash=alt.StrokeDash("source:N", scale=dashes, legend=None),
            tooltip=["layer:Q", "kind:N", "source:N", "largest:Q"],
        )
    )
    at_limit = alt.Chart(rows([{"largest": E4M3_LARGEST, "words": "448: e4m3"}]))
    limit = at_limit.mark_rule(opacity=0.5).encode(y="largest:Q")
    label = at_limit.mark_text(align="right", dy=-6).encode(
        x=alt.value(WIDTH - 4), y="largest:Q", text="words:N"
    )
    chart = alt.layer(lines, limit, label).properties(width=WIDTH, height=HEIGHT)
    words = f"The largest number of keys and values of each of {len(layers)} layers: "
    words += f"at most {largest:.4g}. A line stands at 448, the largest number of e4m3."
    subtitle = "the largest keys and values on every text, proved"
    if "shown" in sources:
        subtitle += "; dashed: on the text that was run"
    return titled(chart, model, subtitle, words)
