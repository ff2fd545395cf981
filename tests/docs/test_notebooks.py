"""The tutorial's notebooks run from top to bottom, and show what the pages say that they show."""

from __future__ import annotations

import doctest
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = runpy.run_path(
    str(Path(__file__).parents[2] / "docs" / "site" / "notebooks.py")
)
CHAPTERS: list[Path] = NOTEBOOKS["CHAPTERS"]


def test_there_are_seven_chapters() -> None:
    assert [chapter.name[0] for chapter in CHAPTERS] == list("1234567")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_notebook_has_all_of_its_page(chapter: Path) -> None:
    held = "".join(
        "".join(cell["source"].split())
        for cell in NOTEBOOKS["notebook"](chapter)["cells"]
    )
    for example in doctest.DocTestParser().get_examples(chapter.read_text()):
        assert "".join(example.source.split()) in held
    for line in chapter.read_text().split("```")[0].splitlines():
        assert "".join(line.split()) in held


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_the_first_cell_installs_what_the_chapter_imports(chapter: Path) -> None:
    first, *others = NOTEBOOKS["notebook"](chapter)["cells"]
    extra = "audit" if "transformers as hf" in str(others) else "tour"
    assert first["cell_type"] == "code"
    assert f'%pip install --quiet "headwright[{extra}]"' in first["source"]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_notebook_runs_and_shows_what_its_page_says(
    chapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip(
        "nbclient", reason="the extra 'test' is not installed whole"
    )
    nbformat = pytest.importorskip(
        "nbformat", reason="the extra 'test' is not installed whole"
    )
    monkeypatch.setenv(
        "PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    book = nbformat.reads(json.dumps(NOTEBOOKS["notebook"](chapter)), as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.source.startswith("!"):
            cell.source += "\nassert _exit_code == 0"  # IPython itself goes on after a command that failed
    nbclient.NotebookClient(
        book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [
        _shown(cell)
        for cell in book.cells
        if cell.cell_type == "code" and not cell.source.startswith("!")
    ]
    wanted = [
        example.want
        for example in doctest.DocTestParser().get_examples(chapter.read_text())
        if example.want
    ]
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for want, got in zip(wanted, (text for text in shown if text), strict=True):
        assert doctest.OutputChecker().check_output(want, got, flags), (
            f"said:\n{want}\nshown:\n{got}"
        )


def _shown(cell: Any) -> str:
    """Results alone, as a page shows them: warnings of libraries go to standard error."""
    parts = (
        out.get("text") or out.get("data", {}).get("text/plain", "")
        for out in cell.outputs
        if out.get("name") != "stderr"
    )
    return "".join(f"{part.rstrip()}\n" for part in parts if part)
