"""The style of the pictures, and charts as SVG, PNG or HTML.

A picture is about as wide as a telephone, so that it can be read on one; parts stand below one another. It says in
words what is to be seen (`told`), made from the same data, and it follows its reader from light to dark.
"""

from __future__ import annotations

import html
import io
import re
import reprlib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from headwright.errors import InputError
from headwright.theme import DARK, DRAWN, colour, darkened

SUFFIXES = (".svg", ".png", ".pdf", ".html")
Chart = Any  # any of altair's charts: its operators are not typed

INK, QUIET, LINE, CARD, NONE = (
    colour(name) for name in ("ink", "quiet", "line", "card", "none")
)
ACCENT, KEY, TARGET, TARGET_INK = (
    colour(name) for name in ("accent", "key", "target", "target-ink")
)
MET, MET_SOFT, GOOD, BAD, OUTPUT = (
    colour(name) for name in ("meet", "meet-soft", "good", "bad", "output")
)
YOURS = colour("yours")
# Lines and bars of several things, in this order.
SERIES = [
    KEY,
    MET,
    OUTPUT,
    YOURS,
    TARGET,
    INK,
]

WIDTH = 350  # of what is drawn; with an axis beside it a picture stays under 440
# Sizes of type.
SMALL = 12
NORMAL = 13
LARGE = 15
TITLE_LETTERS = 50  # in a line of a title
LETTERS = 64  # in a line of what stands below it
_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_FONTS = re.compile(r' font-family="[^"]*"')


def rows(values: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Rows of data inside the chart itself, so that a picture is one file."""
    return alt.InlineData(values=[dict(row) for row in values])


def heading(text: str, below: str | Sequence[str] = "") -> alt.Title:
    """The title of one part of a picture, quieter than that of the whole."""
    lines = textwrap.wrap(below, LETTERS) if isinstance(below, str) else list(below)
    more: dict[str, Any] = (
        {"subtitle": lines, "subtitleFontSize": SMALL} if lines else {}
    )
    return alt.Title(
        text,
        fontSize=NORMAL,
        fontWeight="normal",
        color=INK,
        offset=8,
        frame="group",
        **more,
    )


def titled(chart: Chart, title: str, below: str, description: str) -> Chart:
    """The chart with its title, in lines that fit, and with what it shows in words."""
    lines = textwrap.wrap(title, TITLE_LETTERS)
    more = textwrap.wrap(below, LETTERS)
    if not lines:
        return _offline(chart.properties(description=description))
    words: dict[str, Any] = {"subtitle": more} if more else {}
    return _offline(
        chart.properties(title=alt.Title(lines, **words), description=description)
    )


def stacked(*charts: Chart) -> Chart:
    """Several pictures as one, each below the other, told one after the other.

    >>> import altair as alt
    >>> dot = alt.Chart(rows([]), description="A dot.").mark_point()
    >>> told(stacked(dot, dot))
    'A dot. A dot.'
    """
    words = " ".join(told(chart) for chart in charts)
    return _offline(alt.vconcat(*charts, spacing=28).properties(description=words))


class Offline:
    """A chart that a notebook shows as our own SVG: Altair's own fetches scripts. Who chose another keeps it."""

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        if alt.renderers.active == "default":
            return {"image/svg+xml": render(self, ".svg").decode()}
        return super()._repr_mimebundle_(*given, **named)  # type: ignore[misc]


def _offline(chart: Chart) -> Chart:
    """The same chart, shown without a network; no other chart is touched, as it would be by a renderer for all."""
    kind = type(chart)
    if issubclass(kind, Offline):
        return chart
    copied = chart.copy(deep=False)
    offline_kind = type(kind.__name__, (Offline, kind), {"__module__": kind.__module__})
    # An attribute that is set as usual is a part of the drawing.
    object.__setattr__(copied, "__class__", offline_kind)
    return copied


class Hovering(Offline):
    """A chart that a notebook shows as HTML, in which things say their numbers when pointed at."""

    hover = ""

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        bundle = super()._repr_mimebundle_(*given, **named)
        if alt.renderers.active == "default":
            return {"text/html": type(self).hover, **bundle}
        return bundle


def with_hover(chart: Chart, content: str) -> Chart:
    """The same chart, shown in a notebook as this HTML."""
    kind = type(chart)
    shown = type(kind.__name__, (Hovering, kind), {"hover": content})
    found = chart.copy(deep=False)
    object.__setattr__(found, "__class__", shown)
    return found


def told(chart: Chart) -> str:
    """What is to be seen in a picture, in words: its text alternative.

    >>> import altair as alt
    >>> told(alt.Chart(rows([]), description="nothing").mark_point())
    'nothing'
    """
    _check_chart(chart)
    text = chart.to_dict(validate=False).get("description", "")
    return str(text)


def render(chart: Chart, suffix: str) -> bytes:
    """The chart as the content of a file with that suffix; HTML is interactive and needs no network.

    SVG and HTML follow the reader from light to dark; PNG and PDF are light.

    >>> import altair as alt
    >>> dot = alt.Chart(rows([{"x": 1}]), description="a dot").mark_point().encode(x="x:Q")
    >>> drawing = render(dot, ".svg")
    >>> drawing.startswith(b"<svg"), b'aria-label="a dot"' in drawing, b"prefers-color-scheme:dark" in drawing
    (True, True, True)
    """
    _check_chart(chart)
    if suffix not in SUFFIXES:
        raise InputError(
            f"the suffix is {suffix!r}: expected one of {', '.join(SUFFIXES)}"
        )
    styled = _styled(chart)
    if suffix == ".html":
        return _page(styled, told(chart)).encode()
    if suffix in (".png", ".pdf"):
        image = io.BytesIO()
        styled.save(image, format=suffix[1:], scale_factor=2 if suffix == ".png" else 1)
        return image.getvalue()
    drawing = io.StringIO()
    styled.save(drawing, format="svg")
    return _spoken(drawing.getvalue(), told(chart)).encode()


def _check_chart(chart: object) -> None:
    if not isinstance(chart, alt.TopLevelMixin):
        raise InputError(
            f"the chart is {reprlib.repr(chart)}: expected what a function of headwright.pictures returns"
        )


def _styled(chart: Chart) -> Chart:
    type_: dict[str, Any] = {
        "labelFontSize": SMALL,
        "titleFontSize": SMALL,
        "titleFontWeight": "normal",
    }
    return (
        chart.configure(font=DRAWN, background=CARD, aria=False, padding=10)
        .configure_view(stroke=None)
        .configure_axis(
            grid=True,
            gridColor=LINE,
            domainColor=NONE,
            tickColor=NONE,
            labelColor=QUIET,
            titleColor=INK,
            titlePadding=8,
            **type_,
        )
        .configure_axisLeft(minExtent=34)
        .configure_title(
            anchor="start",
            offset=12,
            fontSize=LARGE,
            color=INK,
            subtitleFontSize=SMALL,
            subtitleColor=QUIET,
            subtitlePadding=4,
            lineHeight=19,
            subtitleLineHeight=16,
        )
        .configure_text(color=INK, fontSize=SMALL)
        .configure_header(
            labelColor=INK, titleColor=INK, labelFontSize=SMALL, titleFontSize=SMALL
        )
        .configure_legend(
            orient="bottom",
            labelColor=INK,
            titleColor=INK,
            labelFontSize=SMALL,
            titleFontSize=SMALL,
            columns=2,
            columnPadding=28,  # labels are wider in the fonts of a browser
            labelLimit=WIDTH,
        )
    )


def _spoken(drawing: str, words: str) -> str:
    """The drawing as one image with a text alternative, instead of a hundred parts without a name; dark in the dark."""
    plain = _FONTS.sub("", _ROLES.sub("", drawing))
    head, _, body = plain.partition(">")
    label = html.escape(words)
    font = html.escape(DRAWN)
    return f'{head} role="img" aria-label="{label}" font-family="{font}"><style>{darkened()}</style>{body}'


def _page(styled: Chart, words: str) -> str:
    page = str(
        styled.to_html(
            inline=True,
            embed_options={
                "renderer": "svg",
                "actions": {"source": False, "editor": False},
            },
        )
    )
    # Vega writes the ground of the light into the drawing's own style.
    ground = colour("card", DARK)
    dark = f"@media screen and (prefers-color-scheme:dark){{body,svg.marks{{background:{ground} !important}}}}"
    style = f"<style>svg.marks{{max-width:100%;height:auto}}{darkened()}{dark}</style>"
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Its script holds pages in strings: what is put in goes before the script, and behind it.
    head, script, rest = page.partition("<script")
    head = head.replace("<html>", '<html lang="en">').replace(
        "</style>", f"</style>{viewport}{style}", 1
    )
    before, place, after = rest.rpartition('id="vis"')
    return f'{head}{script}{before}{place} role="img" aria-label="{html.escape(words)}"{after}'
