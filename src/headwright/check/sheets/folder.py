"""The answer sheets in a folder: plain files only; links are not followed and pipes are not opened."""

from __future__ import annotations

import os
from pathlib import Path

from headwright.check.sheets.handed import Complaint
from headwright.check.sheets.text import clean

SUFFIXES = (".md", ".markdown", ".txt", ".tex")
MOST_FILES, MOST_ENTRIES, DEEPEST = 20, 5000, 8


def sheets(folder: Path, most: int = MOST_FILES) -> tuple[list[Path], list[Complaint]]:
    """The answer sheets of a folder and of the folders in it, so many at most.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "answers.md").write_text("")
    >>> [path.name for path in sheets(folder)[0]]
    ['answers.md']
    """
    found: list[Path] = []
    complaints: list[Complaint] = []
    seen, allowed = 0, max(MOST_ENTRIES, 2 * most)
    waiting = [(folder, 0)]
    while waiting and seen < allowed:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    seen += 1
                    if seen >= allowed:
                        break
                    if entry.name.startswith(".") or entry.name == "__MACOSX":
                        continue
                    if entry.is_dir(follow_symlinks=False) and depth < DEEPEST:
                        waiting.append((Path(entry.path), depth + 1))
                    elif entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(SUFFIXES):
                        found.append(Path(entry.path))
        except OSError as error:
            complaints.append(Complaint(clean(here.name), 1, f"this folder cannot be read ({error.strerror})"))
    found.sort()
    if len(found) > most or seen >= allowed:
        complaints.append(Complaint(clean(folder.name), 1, f"too many files: only the first {most} sheets are read"))
    return found[:most], complaints


def student_of(file: str) -> str:
    """Whose sheet a file of a class is: the folder below that of the class, or the file's own name.

    >>> student_of("ada/answers.md"), student_of("ben.md")
    ('ada', 'ben')
    """
    parts = Path(file).parts
    return parts[0] if len(parts) > 1 else Path(file).stem
