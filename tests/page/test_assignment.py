"""Assignments: what students must not see is absent from the folder."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from headwright.errors import InputError
from headwright.grading.assignment import read_assignment
from headwright.grading.exercise import load_exercises, parse_exercise
from headwright.page.build import as_toml, build, given_part
from tests.page.served import PATIENCE, Opened, serving


def test_an_assignment_without_solutions_has_no_story(week: Path, folder: Path) -> None:
    for page, has_story in ((week, False), (folder, True)):
        assert (page / "story.html").exists() == has_story
        assert (page / "story.json").exists() == has_story
        assert ('href="story.html"' in (page / "index.html").read_text()) == has_story


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and every file inside an archive."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield path.name, data
            if zipfile.is_zipfile(io.BytesIO(data)):
                with zipfile.ZipFile(io.BytesIO(data)) as packed:
                    yield from ((name, packed.read(name)) for name in packed.namelist())
                    yield "names", "\n".join(packed.namelist()).encode()


def test_what_students_must_not_see_is_absent(week: Path) -> None:
    everything = [
        (name, data)
        for name, data in contents(week)
        if not name.endswith((".wasm", ".so"))
    ]
    secrets = [
        "SECRETCOMMENT",
        "123454321",
        "low-rank.toml",
        "kth-singular-value.toml",
        "A missing key",
        "The same direction",
    ]
    answers = {
        one
        for exercise in load_exercises().values()
        for right in exercise.samples.right
        for one in right
        if len(one) > 12
    }
    assert len(answers) > 20
    for secret in (*secrets, *answers):
        assert [name for name, data in everything if secret.encode() in data] == [], (
            secret
        )


def test_it_shows_its_exercises_and_no_more_help_than_it_may(
    week: Path, browser: Browser
) -> None:
    with serving(week) as address:
        context = browser.new_context()
        opened = Opened(context, address)
        page = opened.page
        expect(page.locator("h1")).to_have_text("Week 3 <b>")
        names = page.locator("#field-exercise option").evaluate_all(
            "all => all.map((one) => one.value)"
        )
        assert names == [
            "",
            "our-own",
            "averaging-two",
            "averaging-three",
            "copying-separated",
            "averaging-all-but-one",
            "averaging-varies",
        ]
        expect(page.locator("#field-answer")).to_have_value("$$q = $$")
        expect(page.locator(".presets button, .solution")).to_have_count(0)
        expect(page.get_by_role("button", name="everything")).to_have_count(0)
        expect(page.locator(".foot")).to_contain_text(
            "teachers check the answers again"
        )
        page.locator("#field-answer").fill("$$q = k_a$$")
        expect(page.locator("#verdict .badge")).to_have_text(
            "refuted", timeout=PATIENCE
        )
        full = opened.ask(
            "check", text="q = k_a + k_b", exercise="averaging-two", hints="full"
        )
        assert "ln(" not in json.dumps(full)
        context.close()
        assert opened.said == []


def test_an_exercise_is_the_same_without_its_samples() -> None:
    for exercise in load_exercises().values():
        again = parse_exercise(as_toml(given_part(exercise)))
        assert again.model_copy(update={"samples": exercise.samples}) == exercise


def test_the_page_of_everybody_has_examples_and_solutions(folder: Path) -> None:
    told = json.loads((folder / "exercises.json").read_text())["exercises"]
    assert sum(bool(one["solutions"]) for one in told) > 20
    assert "A missing key" in (folder / "static/views/check/examples.js").read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("exercises = ['averaging-tow']", "averaging-tow"),
        ("hint = 'full'", "hint"),
        ("hints = 'all'", "hints is 'all'"),
        ("solutions = 3", "solutions"),
        ("title = ", "is not TOML"),
        ("folder = 'nowhere'", "nowhere is not a folder"),
    ],
)
def test_a_wrong_file_is_refused_with_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "week.toml").write_text(text)
    with pytest.raises(InputError, match=re.escape(sentence)):
        build(tmp_path / "page", tmp_path / "week.toml")
    assert not (tmp_path / "page").exists()


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not empty"):
        build(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"week\.toml cannot be read"):
        read_assignment(tmp_path / "week.toml")
