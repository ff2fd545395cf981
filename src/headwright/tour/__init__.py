"""The tour: twelve short examples on generated data, each with a picture and the commands that print its numbers.

queries       the shortest query, noise, robust designs
answers       a correct and a wrong answer to an exercise
heads         a whole head from rules
models        an audit of the built-in model, and bounds for all texts
instruments   token order, positions, low-rank approximation
chapter       one example, and the tour as a page
markup        the text of an example, for a terminal and for a page
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headwright.tour import answers, heads, instruments, models, queries
from headwright.tour.chapter import Chapter, page

__all__ = ["Chapter", "chapters", "page"]


def chapters(out: Path) -> Iterator[Chapter]:
    """The chapters in order; the files that their commands read are written to the folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> next(chapters(folder)).title
    'How long must the query be?'
    """
    for number, chapter in enumerate(_examples(out), 1):
        commands = tuple(
            command.replace(f"{out}/", shlex.quote(f"{out}/")) for command in chapter.commands
        )  # for a shell
        yield replace(chapter, name=f"{number}-{chapter.name}", commands=commands)


def _examples(out: Path) -> Iterator[Chapter]:
    yield queries.large_enough(out)
    yield answers.right_and_wrong(out)
    yield queries.shortest(out)
    yield queries.one_head(out)
    yield queries.two_heads(out)
    yield queries.robust(out)
    yield heads.whole_head(out)
    yield models.trained(out)
    yield models.every(out)
    yield instruments.order()
    yield instruments.coinciding()
    yield instruments.rank(out)
