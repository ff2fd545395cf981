"""Files that others wrote: found in folders, read within bounds, made safe to show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises
from headwright.grading.sheets.document import read_document
from headwright.grading.sheets.files import LARGEST_BYTES, clean, sheets


def test_what_steers_a_terminal_does_not_pass() -> None:
    assert clean("a\x1b[2J\x07\u202eb\tc\n\x9b") == "a\ufffd[2J\ufffd\ufffdb\tc\n\ufffd"


def test_lines_count_alike_whatever_ends_them(tmp_path: Path) -> None:
    text = "\ufeff# Homework\n\n## copying\n\n\tq = 1\n\n$a = 1$\n"
    for ending in ("\n", "\r\n", "\r"):
        path = tmp_path / "sheet.md"
        path.write_bytes(text.replace("\n", ending).encode())
        (answer,) = read_document(path, load_exercises()).answers
        assert (answer.line, answer.written.line, answer.written.lines) == (3, 5, 3)


def test_files_that_are_not_read_are_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.pdf", "c/d.docx", ".hidden.pdf", "marks.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    paths, problems, notes = sheets(tmp_path)
    assert [path.name for path in paths] == ["a.md"]
    assert not problems
    assert [Path(note.file).name for note in notes] == ["b.pdf", "d.docx"]


MEGABYTE = LARGEST_BYTES - 100
HOSTILE = {
    "quotes in one line": ">" * MEGABYTE,
    "quotes in many lines": (">" * 50 + "\n") * 19_000,
    "nested lists": "\n".join("  " * depth + "- a" for depth in range(1000)),
    "lists in lists": ("1. " * 17 + "\n") * 19_000,
    "all sorts nested": "> - > - > - 1. > x\n" * 19_000,
    "headings": "# a\n" * 19_000,
    "headings with ids": "# copying\n" * 19_000,
    "headings with nearly ids": "# a-b-averaging-tw\n$x$\n" * 9_000,
    "dollars": "$" * MEGABYTE,
    "lone dollars": "$ " * (MEGABYTE // 2),
    "open displays": "$$ a\n" * 19_000,
    "open brackets": "\\(" * (MEGABYTE // 2),
    "open environments": "\\begin{align}\n" * 19_000,
    "backticks": "".join("`" * length + " " for length in range(1, 1400)),
    "backslashes": "\\" * MEGABYTE,
    "comments": "<!--" * (MEGABYTE // 4),
    "links": "![](" * (MEGABYTE // 4),
    "one line": "a" * MEGABYTE,
    "one word in a heading": "# " + "a-" * (MEGABYTE // 2) + "\n$x$",
    "tabs": "\t" * MEGABYTE,
    "labels": "(a) " * (MEGABYTE // 4),
    "formulas": "# copying\n" + "$a_1 = b_1$ " * 10_000,
}


def test_hostile_sheets_are_read_in_bounded_time() -> None:
    """All in one process of their own, which can be stopped; the last name that it printed is to blame."""
    code = (
        "import json, sys; from headwright.grading.sheets import document\n"
        "from headwright.grading.exercise import load_exercises; exercises = load_exercises()\n"
        "for name, text in json.load(sys.stdin).items():\n"
        "    print(name, flush=True); document.parse_document(text, '-', exercises)"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(HOSTILE).encode(),
        timeout=600,
        check=True,
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# copying\n$a$\0", "zero byte"),
        (b"# copying\n$\xff$", "not text in UTF-8 (line 2)"),
        ("# copying".encode("utf-16"), "UTF-8"),
        (b"a" * (LARGEST_BYTES + 1), "more than 1,048,576 bytes"),
        (b"\n" * 30_000, "more than 20,000 lines"),
    ],
)
def test_what_is_no_sheet_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.md"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_document(path, load_exercises())
    assert said in str(refused.value)


def test_what_never_ends_is_refused_unread(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.md"
    os.mkfifo(fifo)
    huge = tmp_path / "huge.md"
    with huge.open("wb") as file:
        file.truncate(10**8)
    for path in (
        fifo,
        Path("/dev/zero"),
        huge,
        tmp_path,
        tmp_path / "missing.md",
        Path("a\0b"),
    ):
        with pytest.raises(InputError):
            read_document(path, load_exercises())
