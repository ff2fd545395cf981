"""What was handed in: text that others wrote, found in a folder, read within bounds, and made safe to show.

Only plain files are read: links are not followed and pipes are not opened.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path

from headwright.errors import InputError
from headwright.grading.sheets.html_text import html_text
from headwright.grading.sheets.sheet import Problem

LARGEST_BYTES, LARGEST_LINES = 2**20, 20_000
NOTEBOOK, LARGEST_NOTEBOOK = ".ipynb", 16 * 2**20  # bytes: its outputs count, too
PAGES = (".html", ".htm")  # what is typed into Moodle or Canvas comes as a page
# A sheet is shown on terminals and pages: characters that steer a terminal or turn the order of reading go.
_STEERING = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
)
_SAFE = dict.fromkeys(
    (*_STEERING, *range(0x2066, 0x206A), *range(0xD800, 0xE000)), "\ufffd"
) | {9: "\t", 10: "\n"}


def clean(text: str) -> str:
    """The same text with every steering character replaced, one for one, so that columns stay."""
    return text.translate(_SAFE)


def shortened(text: str, length: int = 100) -> str:
    """Text in one line of at most so many characters."""
    line = " ".join(text[: 20 * length].split())
    return line if len(line) <= length else line[: length - 3] + "..."


def read_text(source: str | Path) -> str:
    r"""The text of a plain file, or of standard input for `-`, with lines that end in \n alone."""
    path = Path(source)
    most = LARGEST_NOTEBOOK if path.suffix.lower() == NOTEBOOK else LARGEST_BYTES
    if str(source) == "-":
        content = sys.stdin.buffer.read(most + 1)
    else:
        content = _bytes(path, most)
    if len(content) > most:
        raise InputError(
            f"has more than {most:,} bytes, expected an answer sheet: split it"
        )
    if b"\0" in content:
        raise InputError(
            "is not text (it holds a zero byte): expected Markdown in UTF-8"
        )
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"is not text in UTF-8 (line {line}): save it as UTF-8"
        ) from error
    if Path(str(source)).suffix.lower() == NOTEBOOK:
        text = notebook_text(text)
    elif Path(str(source)).suffix.lower() in PAGES:
        text = html_text(text)
    if text.count("\n") > LARGEST_LINES:
        raise InputError(
            f"has more than {LARGEST_LINES:,} lines, expected an answer sheet: split it"
        )
    return clean(text)


def notebook_text(content: str) -> str:
    r"""The Markdown cells of a Jupyter notebook as one text, with a blank line between them.

    >>> notebook_text('{"cells": [{"cell_type": "markdown", "source": ["## low-rank\\n", "$B = 0$"]}]}')
    '## low-rank\n$B = 0$'
    """
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError("is no Jupyter notebook: it is not JSON") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise InputError("is no Jupyter notebook: it has no list of cells")
    texts = []
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            source = cell.get("source", "")
            lines = source if isinstance(source, list) else [source]
            texts.append("".join(line for line in lines if isinstance(line, str)))
    return "\n\n".join(texts)


def _bytes(path: Path, most: int) -> bytes:
    # Without O_NONBLOCK, opening a named pipe that nobody writes to would wait for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(most + 1)
    except FileNotFoundError as error:
        raise InputError("there is no such file") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read ({getattr(error, 'strerror', None) or error})"
        ) from error
    raise InputError("is not a plain file: expected one, or - for standard input")


SUFFIXES = (".md", ".markdown", ".txt", ".tex", NOTEBOOK, *PAGES)
OTHERS = (
    ".pdf",
    ".docx",
    ".doc",
    ".odt",
    ".pages",
    ".zip",
    ".png",
    ".jpg",
    ".jpeg",
    ".heic",
)
NOT_READ = f"not read: expected text, Markdown, LaTeX, HTML or a notebook ({' '.join(SUFFIXES)})"
MOST_FILES, MOST_ENTRIES, DEEPEST = 20, 5000, 8


def sheets(
    folder: Path, most: int = MOST_FILES
) -> tuple[list[Path], list[Problem], list[Problem]]:
    """The answer sheets of a folder and of the folders in it, so many at most; problems; and the files not read."""
    found: list[Path] = []
    others: list[Path] = []
    problems: list[Problem] = []
    seen, allowed = 0, max(MOST_ENTRIES, 2 * most)

    def unreadable(error: OSError) -> None:
        problems.append(
            Problem(
                clean(Path(error.filename).name),
                0,
                f"this folder cannot be read ({error.strerror})",
            )
        )

    for here, folders, names in os.walk(
        folder, onerror=unreadable
    ):  # links are not followed
        deep = len(Path(here).relative_to(folder).parts) >= DEEPEST
        folders[:] = (
            []
            if deep
            else [name for name in folders if not name.startswith((".", "__MACOSX"))]
        )
        seen += len(folders) + len(names)
        for path in (Path(here, name) for name in names if not name.startswith(".")):
            if path.suffix.lower() in SUFFIXES + OTHERS and stat.S_ISREG(
                path.lstat().st_mode
            ):
                (found if path.suffix.lower() in SUFFIXES else others).append(path)
        if seen >= allowed:
            break
    found.sort(key=in_order)
    if len(found) > most or seen >= allowed:
        problems.append(
            Problem(
                clean(folder.name),
                0,
                f"too many files: only the first {most} sheets are read",
            )
        )
    return (
        found[:most],
        problems,
        [Problem(clean(str(path)), 0, NOT_READ) for path in sorted(others)[:most]],
    )


def in_order(name: str | Path) -> list[str | int]:
    """What to sort names by so that numbers in them count as numbers."""
    return [
        int(piece) if at % 2 else piece
        for at, piece in enumerate(re.split("([0-9]+)", str(name)))
    ]


def student_of(file: str) -> str:
    """Whose sheet a file of a class is: the folder below that of the class, or the file's own name."""
    parts = Path(file).parts
    return parts[0] if len(parts) > 1 else Path(file).stem
