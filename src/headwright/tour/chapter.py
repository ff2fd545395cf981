"""A chapter of the tour, and the tour as a page."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headwright.files import write_whole
from headwright.pictures import Chart


@dataclass(frozen=True)
class Chapter:
    """One thing shown: what is said, its picture, and the command that shows it again.

    >>> from headwright.pictures import pattern_bars
    >>> Chapter("One", "Even.", pattern_bars(np.full((1, 2), 0.5)), "even", "headwright attend").name
    'even'
    """

    title: str
    text: str
    picture: Chart
    name: str
    command: str


def page(story: list[Chapter]) -> str:
    """The tour as an HTML page beside its pictures.

    >>> page([]).startswith("<!doctype html>")
    True
    """
    parts = "\n".join(
        f"<section><h2>{html.escape(chapter.title)}</h2><p>{html.escape(chapter.text)}</p>"
        f'<img src="{chapter.name}.svg" alt="{html.escape(chapter.title)}">'
        f"<pre>{html.escape(chapter.command)}</pre></section>"
        for chapter in story
    )
    style = (
        "body{font:16px/1.5 sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#222}"
        "img{max-width:100%}p{white-space:pre-line}pre{background:#f4f4f4;padding:.6rem;white-space:pre-wrap}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Headwright: a tour</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style>\n'
        f"<h1>Headwright: a tour</h1>\n{parts}\n</html>\n"
    )


def save(out: Path, name: str, array: np.ndarray) -> None:
    """Write an array for the commands that a chapter names."""
    content = io.BytesIO()
    np.save(content, array)
    write_whole(out / name, content.getvalue())
