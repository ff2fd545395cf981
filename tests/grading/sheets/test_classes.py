"""Whose a file is, in folders and in zips of Canvas and Moodle; hostile zips do no harm."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises
from headwright.grading.sheets import classes
from headwright.grading.sheets.classes import read_class, unpack

KNOWN = load_exercises()
ANSWER = "## averaging-two\n\n$$q = k_a$$\n"


def packed(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_zip_of_moodle_tells_names_and_numbers(tmp_path: Path) -> None:
    notebook = {"cells": [{"cell_type": "markdown", "source": [ANSWER]}]}
    archive = packed(
        tmp_path / "m.zip",
        {
            "Ada Ash_101_assignsubmission_file_/homework.md": ANSWER,
            "Ben Birk_102_assignsubmission_file_/scan.pdf": b"%PDF",
            "Cleo_103_assignsubmission_file_hw.ipynb": json.dumps(notebook),
            "__MACOSX/._homework.md": "x",
        },
    )
    found = read_class([archive], KNOWN)
    assert found.students == ("Ada Ash", "Ben Birk", "Cleo")
    assert dict(found.numbers) == {"Ada Ash": "101", "Ben Birk": "102", "Cleo": "103"}
    assert [one.file for one in found.answers] == [
        "Ada Ash/homework.md",
        "Cleo/hw.ipynb",
    ]
    assert found.unread == {"Ben Birk"}
    assert found.problems == ()


def test_a_zip_of_canvas_tells_names_and_numbers(tmp_path: Path) -> None:
    archive = packed(
        tmp_path / "c.zip",
        {
            "ashada_501_9001_home_work.md": ANSWER,
            "ashada_501_9002_more.md": ANSWER.replace("averaging-two", "energy"),
            "birkben_LATE_502_9003_hw-1.txt": ANSWER,
            "birkben_777_9004_hw.txt": ANSWER,
        },
    )
    found = read_class([archive], KNOWN)
    assert found.students == ("ashada", "birkben (502)", "birkben (777)")
    assert found.numbers["ashada"] == "501"
    assert [one.file for one in found.answers][:2] == [
        "ashada/home_work.md",
        "ashada/more.md",
    ]


def test_a_folder_in_a_zip_and_folders_are_read_as_they_are(tmp_path: Path) -> None:
    archive = packed(
        tmp_path / "x.zip",
        {"week 3/ada.md": ANSWER, "week 3/ben/a.md": ANSWER, "week 3/ben/b.md": ANSWER},
    )
    assert read_class([archive], KNOWN).students == ("ada", "ben")
    folder = tmp_path / "folder"
    (folder / "gil").mkdir(parents=True)
    (folder / "ada.md").write_text(ANSWER)
    found = read_class([folder], KNOWN)
    assert found.students == ("ada", "gil")
    assert [one.file for one in found.answers] == ["ada.md"]
    assert [one.sentence for one in found.problems] == ["no answer sheet"]


def test_nothing_is_written_outside_and_no_link_is_made(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ada.md", ANSWER)
        archive.writestr("ada.md/below.md", ANSWER)
        archive.writestr(link, "/etc/passwd")
        for name in (
            "../out.md",
            "/abs.md",
            "C:/win.md",
            "a\\..\\..\\b.md",
            "x/" * 20 + "y.md",
        ):
            archive.writestr(name, ANSWER)
    problems = unpack(path, tmp_path / "deep" / "in")
    assert len(problems) == 7
    made = [one for one in (tmp_path / "deep").rglob("*") if not one.is_dir()]
    assert [one.name for one in made] == ["ada.md"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["deep", "evil.zip"]


def test_a_bomb_is_read_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classes, "LARGEST_UNPACKED", 3_000_000)
    members = {f"s{n}.md": b"0" * 2_000_000 for n in range(5)}
    archive = packed(tmp_path / "bomb.zip", members)
    problems = unpack(archive, tmp_path / "out")
    written = sum(one.stat().st_size for one in (tmp_path / "out").iterdir())
    assert written <= 3_000_000
    assert len(problems) == 4
    monkeypatch.setattr(classes, "MOST_MEMBERS", 3)
    with pytest.raises(InputError, match="has 5 files"):
        unpack(archive, tmp_path / "again")


def test_a_broken_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match=r"a\.zip is not a zip that can be read"):
        read_class([tmp_path / "a.zip"], KNOWN)
    whole = packed(tmp_path / "b.zip", {"ada.md": ANSWER * 50}).read_bytes()
    (tmp_path / "b.zip").write_bytes(whole[:40] + b"\xff" * 8 + whole[48:])
    (problem, *_) = read_class([tmp_path / "b.zip"], KNOWN).problems
    assert "cannot be unpacked" in problem.sentence
    with pytest.raises(InputError, match="expected a folder"):
        read_class([tmp_path / "nowhere"], KNOWN)


def test_sections_are_matched_among_what_was_set_and_a_title_wins(
    tmp_path: Path,
) -> None:
    chosen = {name: KNOWN[name] for name in ("averaging-two", "copying-separated")}
    others = {name: one for name, one in KNOWN.items() if name not in chosen}
    (tmp_path / "ada.md").write_text(
        "2) Average two values\n\n$q = 5(k_a + k_b)$\n\n"
        "3) Copy one value\n\nThe same query.\n"
    )
    found = read_class([tmp_path], chosen, None, others)
    assert [one.exercise_id for one in found.answers] == ["averaging-two"]
    assert "5(k_a + k_b)" in found.answers[0].written.text
    assert [note.sentence for note in found.notes] == [
        "not judged (Copy one value): copying was not set"
    ]
    again = read_class([tmp_path], KNOWN)
    assert [one.exercise_id for one in again.answers] == ["averaging-two", "copying"]
    assert "k_a" not in again.answers[1].written.text  # no query of the answer above
