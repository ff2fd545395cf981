"""The tour, told once for all tests of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from headwright.pictures import render
from headwright.tour import Chapter, chapters, page


@dataclass(frozen=True)
class Tour:
    """The chapters, and the folder with the page, its pictures and the files that commands read."""

    story: list[Chapter]
    folder: Path


@pytest.fixture(scope="session")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    """The whole tour."""
    folder = tmp_path_factory.mktemp("tour")
    story = list(chapters(folder))
    for chapter in story:
        (folder / f"{chapter.name}.svg").write_bytes(render(chapter.picture, ".svg"))
    (folder / "index.html").write_text(page(story))
    return Tour(story, folder)
