"""A chapter of the tutorial as a notebook. The page is the one source: its examples become cells, its prose stays.

    python docs/site/notebooks.py FOLDER     write all chapters there

What an example is said to print is not copied: the notebook computes it. A cell ends where something is shown.
The first cell installs what the chapter needs, where it is not there, as on Colab.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
CHAPTERS = sorted((DOCS / "tutorial").glob("[0-9]-*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)

EXTRAS = {  # of headwright, that a chapter needs
    "6-watch-a-model": "audit",
    "7-which-document": "audit",
}
INSTALL = """from importlib.util import find_spec

if find_spec("headwright") is None:
    %pip install --quiet "headwright[{}]\""""


def cells(text: str) -> list[tuple[str, str]]:
    r"""Pairs of a kind, 'markdown' or 'code', and what the cell holds.

    >>> cells("Add:\n\n```python\n>>> a = 1\n>>> a + 1\n2\n>>> print(a)\n1\n\n```\n")
    [('markdown', 'Add:'), ('code', 'a = 1\na + 1'), ('code', 'print(a)')]
    >>> cells("```console\n$ headwright doctor || echo no\nfine\n```\n")
    [('code', '!headwright doctor || echo no')]
    """
    found, end = [], 0
    for block in BLOCK.finditer(text):
        found.append(("markdown", text[end : block.start()].strip()))
        found += [
            ("code", cell)
            for cell in (_python if block[1] == "python" else _console)(block[2])
        ]
        end = block.end()
    found.append(("markdown", text[end:].strip()))
    return [(kind, held) for kind, held in found if held]


def _python(block: str) -> list[str]:
    held, lines = [], []
    for example in doctest.DocTestParser().get_examples(block):
        lines.append(example.source.rstrip("\n"))
        if example.want:
            held.append("\n".join(lines))
            lines = []
    return [*held, "\n".join(lines)] if lines else held


def _console(block: str) -> list[str]:
    entries = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [
        f"!{entry.replace(chr(92) + chr(10), ' ').partition(chr(10))[0]}"
        for entry in entries
    ]


def notebook(page: Path) -> dict[str, Any]:
    """The notebook of a page, as nbformat 4.5 has it."""
    made: list[dict[str, Any]] = []
    install = INSTALL.format(EXTRAS.get(page.stem, "tour"))
    held_by_all = [("code", install), *cells(page.read_text())]
    for number, (kind, held) in enumerate(held_by_all):
        cell = {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": held,
        }
        made.append(
            {**cell, "outputs": [], "execution_count": None} if kind == "code" else cell
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def written(page: Path) -> str:
    """The notebook of a page as a file holds it."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in CHAPTERS:
        (folder / chapter.with_suffix(".ipynb").name).write_text(written(chapter))
