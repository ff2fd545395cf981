"""The tour: a demonstration of each command on generated data; every number is computed when it runs.

demonstrations  queries, answers, whole heads, trained models, order, positions and rank
chapter         a chapter as text and as HTML, and the tour as a page
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headwright.tour import demonstrations
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
    yield demonstrations.large_enough(out)
    yield demonstrations.right_and_wrong(out)
    yield demonstrations.shortest(out)
    yield demonstrations.one_head(out)
    yield demonstrations.two_heads(out)
    yield demonstrations.robust(out)
    yield demonstrations.whole_head(out)
    yield demonstrations.trained(out)
    yield demonstrations.every(out)
    yield demonstrations.order()
    yield demonstrations.coinciding()
    yield demonstrations.rank(out)
