"""The tour: a demonstration of each command on generated data; every number is computed when it runs.

queries       long enough, shortest, brittle, robust
answers       one right, one wrong
heads         from rules to weights that run
models        what the heads of a trained model do, on a text and on every text
instruments   order, positions, rank
chapter       a chapter as text and as HTML, and the tour as a page
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
    """Chapter after chapter; the files that their commands read are written to the folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> next(chapters(folder)).title
    "'Choose q large enough': how large?"
    """
    for number, chapter in enumerate(_story(out), 1):
        commands = tuple(
            command.replace(f"{out}/", shlex.quote(f"{out}/")) for command in chapter.commands
        )  # for a shell
        yield replace(chapter, name=f"{number}-{chapter.name}", commands=commands)


def _story(out: Path) -> Iterator[Chapter]:
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
