"""The tour: a demonstration of each command on generated data; every number is computed when it runs.

demonstrations  queries, answers, whole heads, trained models, positions and rank
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
    'Is this answer right?'
    """
    story = (
        demonstrations.right_and_wrong,
        demonstrations.large_enough,
        demonstrations.shortest,
        demonstrations.one_head,
        demonstrations.two_heads,
        demonstrations.robust,
        demonstrations.whole_head,
        demonstrations.trained,
        demonstrations.every,
        demonstrations.coinciding,
        demonstrations.rank,
    )
    for number, demonstrate in enumerate(story, 1):
        chapter = demonstrate(out)
        quoted = (
            command.replace(f"{out}/", shlex.quote(f"{out}/"))
            for command in chapter.commands
        )  # for a shell
        yield replace(chapter, name=f"{number}-{chapter.name}", commands=tuple(quoted))
