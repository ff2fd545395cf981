"""What killed audits left is removed after two weeks, and nothing else ever is."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from headwright.auditing.engine.part_cache import STALE_DAYS, remove_stale, unfinished

PART = "a" * 64 + ".npz"
HALF = f".{PART}.x1y2"  # a part that was being written when its audit was killed


def _left(folder: Path, days: float, *files: str) -> Path:
    """A folder with files that were written so many days ago."""
    folder.mkdir(parents=True)
    then = time.time() - days * 86400
    for name in files:
        (folder / name).write_bytes(b"1234")
        os.utime(folder / name, (then, then))
    os.utime(folder, (then, then))
    return folder


def test_parts_that_nothing_was_added_to_for_two_weeks_are_removed(
    tmp_path: Path,
) -> None:
    old = _left(tmp_path / ("0" * 32), STALE_DAYS + 1, PART, HALF)
    new = _left(tmp_path / ("1" * 32), STALE_DAYS - 1, PART)
    assert [(one.folder, one.size) for one in unfinished(tmp_path)] == [
        (old, 8),
        (new, 4),
    ]
    assert remove_stale(tmp_path) == 1
    assert not old.exists()
    assert (new / PART).exists()


def test_one_new_part_keeps_all_of_an_audit(tmp_path: Path) -> None:
    folder = _left(tmp_path / ("0" * 32), STALE_DAYS + 1, PART)
    (folder / ("b" * 64 + ".npz")).write_bytes(b"new")
    assert remove_stale(tmp_path) == 0
    assert (folder / PART).exists()


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        ("texts", PART),  # what every-text keeps
        ("0" * 31, PART),
        ("0" * 32, "notes.txt"),
        ("0" * 32, "results.npz"),
    ],
)
def test_what_no_audit_wrote_is_never_removed(
    tmp_path: Path, folder: str, file: str
) -> None:
    kept = _left(tmp_path / folder, 1000, file)
    remove_stale(tmp_path)
    assert (kept / file).read_bytes() == b"1234"


def test_links_are_not_followed(tmp_path: Path) -> None:
    there = _left(tmp_path / "elsewhere" / ("0" * 32), 1000, PART)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / ("0" * 32)).symlink_to(there)
    assert list(unfinished(cache)) == []
    assert remove_stale(cache) == 0
    assert (there / PART).exists()


def test_no_folder_has_nothing_left(tmp_path: Path) -> None:
    assert remove_stale(tmp_path / "none") == 0
