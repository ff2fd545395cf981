r"""A chapter of the tour: its text for a terminal and for a page, and the tour as a page.

$q = \lambda k_a|q = lambda k_a$    a formula: in LaTeX for the page, in plain letters for the terminal
«0.168»                             a number that the chapter's first command prints
«0.168@2»                           a number that its second command prints
"""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from headwright import theme
from headwright.files import write_whole
from headwright.grading.report.typeset import lettered, typeset
from headwright.pictures import Chart, told

FORMULA = re.compile(r"\$([^$|]+)\|([^$]+)\$")
NUMBER = re.compile(r"«([^«»@]+)(?:@(\d))?»")
PATTERN = (
    r"\alpha_i = \frac{e^{\langle k_i, q\rangle}}{\sum_j e^{\langle k_j, q\rangle}}"
)


def plain(text: str) -> str:
    r"""For a terminal.

    >>> plain(r"With $\lambda|lambda$ = «0.5@2» it holds.")
    'With lambda = 0.5 it holds.'
    """
    return NUMBER.sub(r"\1", FORMULA.sub(r"\2", text))


def numbers(text: str) -> list[tuple[str, int]]:
    """The linked numbers, each with the place of its command, from 0 on."""
    return [(number, int(place or 1) - 1) for number, place in NUMBER.findall(text)]


def _as_html(text: str, chapter: int) -> str:
    """For the page: a number leads to the command that gives it."""
    parts = FORMULA.split(text)  # words, LaTeX, plain, words, ...
    shown = []
    for words, latex in zip(parts[::3], [*parts[1::3], ""], strict=True):
        shown.append(NUMBER.sub(lambda number: _link(number, chapter), lettered(words)))
        if latex:
            shown.append(typeset(latex))
    return "".join(shown)


def _link(number: re.Match[str], chapter: int) -> str:
    place = f"again-{chapter}-{number.group(2) or 1}"
    return f'<a class="number" href="#{place}" title="the command that gives this">{number.group(1)}</a>'


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
    shell, style = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("page.html", "page.css")
    )
    contents = "".join(
        f'<li><a href="#{chapter.name}">{html.escape(chapter.title)}</a></li>'
        for chapter in story
    )
    sections = [_section(number, chapter) for number, chapter in enumerate(story, 1)]
    return Template(shell).substitute(
        style=theme.css() + style,
        contents=contents,
        opening="".join(sections[:1]),
        chapters="\n".join(sections[1:]),
        pattern=typeset(PATTERN, display=True),
        k=typeset("k_i"),
        q=typeset("q"),
        alpha=typeset(r"\alpha_i"),
        score=typeset(r"\langle k_i, q\rangle"),
    )


def _section(number: int, chapter: Chapter) -> str:
    paragraphs = "".join(
        f"<p>{_as_html(part, number)}</p>" for part in chapter.text.split("\n\n")
    )
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
