"""The weights of one row over the tokens of its text, or over the patches of an image.

Tokens are written one after the other, darker for more weight. In a long text, what has little weight is collapsed:
how many tokens there are, and their weight together. In a notebook, each token says its weight when pointed at.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.pictures.png import png_of
from headwright.pictures.style import (
    ACCENT,
    INK,
    LINE,
    QUIET,
    WIDTH,
    Chart,
    rows,
    titled,
    with_hover,
)
from headwright.theme import MONO, colour

LETTER, LINE_HEIGHT, TEXT_SIZE = 7.0, 22, 11  # of a monospaced letter, in pixels
MOST_LETTERS = 24  # of a token; more are cut
FEWEST = 4  # tokens that are collapsed; fewer stay
DARK_SHADE = 0.75  # from here on, writing is light
ON_ACCENT = colour("on-accent")
SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "⏎", "\n": "⏎", "\t": " "})


@dataclass(frozen=True)
class TokenBox:
    """A token, or several that are collapsed."""

    text: str
    start: int
    stop: int
    weight: float
    span: str = ""

    @property
    def is_collapsed(self) -> bool:
        """Whether it is several tokens."""
        return self.stop - self.start > 1

    @property
    def place(self) -> str:
        """Which tokens, in words."""
        where = f", {self.span}" if self.span else ""
        if self.is_collapsed:
            return f"tokens {self.start} to {self.stop - 1}{where}"
        return f"token {self.start}{where}"


def token_picture(
    weights: Float[np.ndarray, " n"],
    tokens: Sequence[str],
    *,
    spans: Mapping[str, tuple[int, int]] | None = None,
    first: int = 0,
    most: int = 60,
    title: str = "What the row attends to",
) -> Chart:
    """A text, each token as dark as its weight; the first token, to which many heads attend, is told apart.

    Args:
        weights: of one row, as of `seen.layer(3).weights[0, 5, 0]`, or a mean of such.
        tokens: as many strings.
        spans: (start, stop) by name. Collapsed tokens are of one span, and the name is in front of each.
        first: the position of the text's first token, whose weight does not count for the shades.
        most: of a longer text, so many of the heaviest tokens are written with those beside them.
        title: of the picture.

    >>> picture = token_picture(np.array([0.5, 0.4, 0.1]), ["<s>", " a", " b"])
    >>> from headwright.pictures import told
    >>> told(picture)
    '3 tokens; the first token has 0.500. Of the others: a 0.400, b 0.100.'
    """
    check_argument("tokens", tokens, Sequence[str])
    check_argument("spans", spans, Mapping[str, object] | None)
    check_argument("first", first, int)
    check_argument("most", most, int)
    weights = _numbers(weights, "weights", 1)
    names = [_readable(token) for token in tokens]
    if len(names) != len(weights):
        raise InputError(
            f"{len(names)} tokens and {len(weights)} weights: expected as many"
        )
    if not 0 <= first < len(weights) or most < 1:
        raise InputError(
            f"first = {first}, most = {most}: expected a token, and a number above 0"
        )
    boxes = collapse_tokens(weights, names, spans or {}, first, most)
    darkest = max(
        [box.weight for box in boxes if not box.is_collapsed and box.start != first],
        default=0.0,
    )
    laid, height = _lay_out(boxes, darkest or 1.0, first)
    words = _in_words(weights, names, first)
    note = f"the darkest has {darkest:.3g}; the first token, outlined, {weights[first]:.3g}"
    chart = _boxes_chart(laid, height)
    return with_hover(
        titled(chart, title, note, words), _as_html(boxes, darkest or 1.0, first, title)
    )


def collapse_tokens(
    weights: Float[np.ndarray, " n"],
    names: Sequence[str],
    spans: Mapping[str, tuple[int, int]],
    first: int,
    most: int,
) -> list[TokenBox]:
    """The boxes of a text, in order: the heaviest tokens and their neighbours, and what lies between them."""
    count = len(weights)
    of_span = [""] * count
    for name, (start, stop) in spans.items():
        for position in range(start, min(stop, count)):
            of_span[position] = name
    shown = np.ones(count, dtype=bool)
    if count > most:
        heaviest = np.argsort(-weights, kind="stable")[:most]
        shown[:] = False
        for position in (*heaviest.tolist(), first):
            shown[max(0, position - 1) : position + 2] = True
    boxes: list[TokenBox] = []
    position = 0
    while position < count:
        stop = position + 1
        if not shown[position]:
            while (
                stop < count and not shown[stop] and of_span[stop] == of_span[position]
            ):
                stop += 1
        if stop - position >= FEWEST:
            weight = float(weights[position:stop].sum())
            text = f"… {stop - position} tokens …"
            boxes.append(TokenBox(text, position, stop, weight, of_span[position]))
        else:
            for single in range(position, stop):
                weight = float(weights[single])
                boxes.append(
                    TokenBox(names[single], single, single + 1, weight, of_span[single])
                )
        position = stop
    return boxes


def _lay_out(
    boxes: Sequence[TokenBox], darkest: float, first: int
) -> tuple[list[dict[str, Any]], int]:
    """Where each box stands, in lines as wide as a picture; and how high they are together."""
    laid: list[dict[str, Any]] = []
    x, line, span = 0.0, 0, ""
    for box in boxes:
        if box.span != span:  # the name of the span, on a line of its own
            span = box.span
            if x > 0:
                line += 1
            x = 0.0
            if span:
                laid.append(_label(span, line))
                line += 1
        text = box.text.strip() or box.text
        if x > 0 and box.text.startswith(" "):
            x += LETTER
        width = LETTER * len(text) + 4
        if x > 0 and x + width > WIDTH:
            x = 0.0
            line += 1
        share = 0.0 if box.is_collapsed else min(1.0, box.weight / darkest)
        laid.append(
            {
                "text": text,
                "kind": "collapsed" if box.is_collapsed else "token",
                "x": x,
                "x2": x + width,
                "y": line * LINE_HEIGHT + 2,
                "y2": (line + 1) * LINE_HEIGHT - 2,
                "share": 0.0 if box.start == first else share,
                "ink": _ink(box, share, first),
                "edge": box.start == first and not box.is_collapsed,
                "weight": f"{box.weight:.4f}",
                "place": box.place,
            }
        )
        x += width + 1
    return laid, (line + 1) * LINE_HEIGHT


def _ink(box: TokenBox, share: float, first: int) -> str:
    """The colour of writing on a shade."""
    if box.is_collapsed:
        return QUIET
    return ON_ACCENT if share > DARK_SHADE and box.start != first else INK


def _label(span: str, line: int) -> dict[str, Any]:
    """The name of a span, as a box without a weight."""
    return {
        "text": f"{span}:",
        "kind": "span",
        "x": 0.0,
        "x2": LETTER * len(span),
        "y": line * LINE_HEIGHT + 2,
        "y2": (line + 1) * LINE_HEIGHT - 2,
        "share": 0.0,
        "ink": QUIET,
        "edge": False,
        "weight": "",
        "place": span,
    }


def _boxes_chart(laid: list[dict[str, Any]], height: int) -> Chart:
    across = alt.Scale(domain=[0, WIDTH], nice=False)
    down = alt.Scale(domain=[height, 0], nice=False)
    x = alt.X("x:Q", scale=across, axis=None)
    y = alt.Y("y:Q", scale=down, axis=None)
    tooltip = ["place:N", "weight:N"]
    base = alt.Chart(rows(laid))
    boxes = base.mark_rect(fill=ACCENT, cornerRadius=2, strokeWidth=1.2).encode(
        x=x,
        x2="x2:Q",
        y=y,
        y2="y2:Q",
        fillOpacity=alt.FillOpacity(
            "share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None
        ),
        stroke=alt.condition("datum.edge", alt.value(INK), alt.value(None)),
        tooltip=tooltip,
    )
    text = (
        base.transform_calculate(left="datum.x + 2", middle="(datum.y + datum.y2) / 2")
        .mark_text(
            align="left", baseline="middle", font="monospace", fontSize=TEXT_SIZE
        )
        .encode(
            x=alt.X("left:Q", scale=across, axis=None),
            y=alt.Y("middle:Q", scale=down, axis=None),
            text="text:N",
            color=alt.Color("ink:N", scale=None, legend=None),
            tooltip=tooltip,
        )
    )
    return alt.layer(boxes, text).properties(width=WIDTH, height=height)


def _as_html(boxes: Sequence[TokenBox], darkest: float, first: int, title: str) -> str:
    """The same as HTML, in which each token says its weight when pointed at."""
    parts, span = [], ""
    accent = colour("accent")
    for box in boxes:
        if box.span != span:
            span = box.span
            parts.append(f"<br><b>{escape(span)}</b>: " if span else "<br>")
        share = 0.0 if box.is_collapsed else min(1.0, box.weight / darkest)
        percent = 0 if box.start == first else round(80 * share)
        style = (
            f"background:color-mix(in srgb,{accent} {percent}%,transparent);"
            "border-radius:2px;padding:0 1px"
        )
        if box.start == first and not box.is_collapsed:
            style += ";outline:1px solid"
        if box.is_collapsed:
            style += ";opacity:.65"
        text = escape(box.text).replace(" ", "&nbsp;", 1)
        parts.append(
            f'<span title="{escape(box.place)}: {box.weight:.4f}" style="{style}">{text}</span>'
        )
    content = "<wbr>".join(parts)
    return (
        f'<div style="max-width:56em;line-height:1.9;font-family:{escape(MONO)};font-size:12px">'
        f'<p style="font-family:sans-serif">{escape(title)}</p>{content}</div>'
    )


def _in_words(
    weights: Float[np.ndarray, " n"], names: Sequence[str], first: int
) -> str:
    order = np.argsort(-weights, kind="stable").tolist()
    others = [position for position in order if position != first][:3]
    named = ", ".join(
        f"{names[position].strip()} {weights[position]:.3f}" for position in others
    )
    begin = f"{len(weights)} tokens; the first token has {weights[first]:.3f}."
    return f"{begin} Of the others: {named}." if named else begin


def image_picture(
    weights: Float[np.ndarray, " n"],
    grid: tuple[int, int],
    *,
    image: Any = None,
    title: str = "What the row attends to in the image",
) -> Chart:
    """The weights of the tokens of an image, on its grid of patches: over the image, if it is given.

    Args:
        weights: one for each patch, row by row.
        grid: how many rows and columns of patches there are.
        image: (height, width, 3), of bytes or of numbers from 0 to 1.
        title: of the picture.

    >>> picture = image_picture(np.array([0.1, 0.2, 0.0, 0.1]), (2, 2))
    >>> from headwright.pictures import told
    >>> told(picture)
    'An image of 2 by 2 patches, which have 0.400 together. Most: row 0, column 1 0.200; row 0, column 0 0.100; ...'
    """
    check_argument("grid", grid, Sequence[int])
    weights = _numbers(weights, "weights", 1)
    down, across = grid
    if down * across != len(weights):
        raise InputError(
            f"{len(weights)} weights on a grid of {down} by {across}: expected as many as patches"
        )
    darkest = float(weights.max()) or 1.0
    cells = []
    for position, weight in enumerate(weights.tolist()):
        row, column = divmod(position, across)
        cells.append(
            {
                "row": row,
                "row2": row + 1,
                "column": column,
                "column2": column + 1,
                "weight": weight,
                "share": weight / darkest,
            }
        )
    height = round(WIDTH * down / across)
    if image is not None:
        pixels = _pixels(image)
        height = round(WIDTH * pixels.shape[0] / pixels.shape[1])
    x = alt.X("column:Q", scale=alt.Scale(domain=[0, across], nice=False), axis=None)
    y = alt.Y("row:Q", scale=alt.Scale(domain=[down, 0], nice=False), axis=None)
    # Over an image a patch without weight is dark; alone it is empty.
    shades = [0, 1] if image is None else [0.8, 0]
    patches = (
        alt.Chart(rows(cells))
        .mark_rect(fill=ACCENT if image is None else INK, stroke=LINE, strokeWidth=0.3)
        .encode(
            x=x,
            x2="column2:Q",
            y=y,
            y2="row2:Q",
            fillOpacity=alt.FillOpacity(
                "share:Q", scale=alt.Scale(domain=[0, 1], range=shades), legend=None
            ),
            tooltip=["row:Q", "column:Q", alt.Tooltip("weight:Q", format=".4f")],
        )
    )
    layers = [patches]
    if image is not None:
        address = base64.b64encode(png_of(pixels)).decode()
        drawn = {
            "url": f"data:image/png;base64,{address}",
            "x": across / 2,
            "y": down / 2,
        }
        layers.insert(
            0,
            alt.Chart(rows([drawn]))
            .mark_image(width=WIDTH, height=height, aspect=False)
            .encode(
                x=alt.X("x:Q", scale=alt.Scale(domain=[0, across]), axis=None),
                y=alt.Y("y:Q", scale=alt.Scale(domain=[down, 0]), axis=None),
                url="url:N",
            ),
        )
    chart = alt.layer(*layers).properties(width=WIDTH, height=height)
    most = sorted(cells, key=lambda cell: -cell["weight"])[:3]
    named = "; ".join(
        f"row {cell['row']}, column {cell['column']} {cell['weight']:.3f}"
        for cell in most
    )
    together = f"which have {float(weights.sum()):.3f} together"
    words = f"An image of {down} by {across} patches, {together}. Most: {named}."
    shown = "the darkest" if image is None else "the brightest"
    note = f"{shown} patch has {darkest:.3g}; all together {float(weights.sum()):.3g}"
    return titled(chart, title, note, words)


def _pixels(image: Any) -> np.ndarray:
    """An image as bytes (height, width, 3)."""
    array = np.asarray(image)
    if array.ndim != 3 or array.shape[2] != 3:
        raise InputError(
            f"the image has the shape {array.shape}: expected (height, width, 3)"
        )
    if array.dtype != np.uint8:
        array = np.rint(255 * np.clip(array, 0, 1)).astype(np.uint8)
    return array


def _numbers(values: Any, name: str, axes: int) -> np.ndarray:
    """Numbers that are finite and not negative, with so many axes."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != axes or not array.size:
        raise InputError(
            f"{name} have the shape {array.shape}: expected those of one row, as of weights[0, 5, 0]"
        )
    if not np.isfinite(array).all() or array.min() < 0:
        raise InputError(
            f"{name} are negative or no numbers: is it a row of padding, or of NaN?"
        )
    return array


def _readable(token: str) -> str:
    """A token as it is written: spaces as spaces, the end of a line as a sign, long ones cut."""
    text = str(token).translate(SPACES)
    if len(text) > MOST_LETTERS:
        text = text[: MOST_LETTERS - 1] + "…"
    return text or "∅"
