"""A chapter of the tour, and the tour as a page."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from headwright import theme
from headwright.check.report.typeset import typeset
from headwright.files import write_whole
from headwright.pictures import Chart, told
from headwright.tour.markup import as_html, plain

PATTERN = r"\alpha_i = \frac{e^{\langle k_i, q\rangle}}{\sum_j e^{\langle k_j, q\rangle}}"


@dataclass(frozen=True)
class Chapter:
    """One thing shown: what is said, its picture, and the commands that give its numbers again.

    >>> from headwright.pictures import pattern_bars
    >>> Chapter("One", "Half: «0.5».", pattern_bars(np.full((1, 2), 0.5)), "even", ("headwright attend",)).plain
    'Half: 0.5.'
    """

    title: str
    text: str  # in the markup of `words`; a blank line ends a paragraph
    picture: Chart
    name: str
    commands: tuple[str, ...]

    @property
    def plain(self) -> str:
        """What is said, for a terminal."""
        return plain(self.text)


def page(story: list[Chapter]) -> str:
    """The tour as an HTML page beside its pictures.

    >>> page([]).startswith("<!doctype html>")
    True
    """
    folder = files("headwright.tour")
    shell, style = ((folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css"))
    contents = "".join(f'<li><a href="#{chapter.name}">{html.escape(chapter.title)}</a></li>' for chapter in story)
    return Template(shell).substitute(
        style=theme.css() + style,
        contents=contents,
        chapters="\n".join(_section(number, chapter) for number, chapter in enumerate(story, 1)),
        pattern=typeset(PATTERN, display=True),
        k=typeset("k_i"), q=typeset("q"), alpha=typeset(r"\alpha_i"), score=typeset(r"\langle k_i, q\rangle"),
    )  # fmt: skip


def _section(number: int, chapter: Chapter) -> str:
    paragraphs = "".join(f"<p>{as_html(part, number)}</p>" for part in chapter.text.split("\n\n"))
    commands = "".join(
        f'<pre id="again-{number}-{place}" tabindex="0"><code>{_breakable(command)}</code></pre>'
        for place, command in enumerate(chapter.commands, 1)
    )
    return (
        f'<section id="{chapter.name}"><h2><span>{number}</span> {html.escape(chapter.title)}</h2>'
        f'<div class="beside"><div>{paragraphs}<p class="again">Again, and with other numbers:</p>{commands}</div>'
        f'<img src="{chapter.name}.svg" alt="{html.escape(told(chapter.picture))}"></div></section>'
    )


def _breakable(command: str) -> str:
    """A command that is broken between its words and never after a hyphen."""
    return " ".join(f"<span>{html.escape(word)}</span>" for word in command.split(" "))


def save(out: Path, name: str, array: np.ndarray) -> None:
    """Write an array for the commands that a chapter names."""
    content = io.BytesIO()
    np.save(content, array)
    write_whole(out / name, content.getvalue())
