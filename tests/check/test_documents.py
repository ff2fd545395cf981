"""The sheets of the five documents: every answer gets the verdict that it deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.sheets.sheet import read_sheet

SHEETS = Path(__file__).parents[2] / "examples" / "answers"
FALSE = {
    "000.md": ["averaging-two", "averaging-gaussian", "positions-unique"],
    "001.md": ["averaging-scaled"],  # a key of length 2 may point backwards
    "002.md": ["two-heads-discrete"],
    "003.md": [],
    "004.md": [],
}
NUMBER = {"000.md": 6, "001.md": 8, "002.md": 9, "003.md": 7, "004.md": 7}


@pytest.mark.parametrize("name", sorted(FALSE))
def test_the_answers_of_a_document(name: str) -> None:
    exercises = load_exercises()
    sheet = read_sheet(SHEETS / name, exercises)
    assert not sheet.complaints
    assert len(sheet.answers) == NUMBER[name]
    verdicts = [(each, check_answer(exercises[each.exercise_id], each.formulas)) for each in sheet.answers]
    assert {verdict.word for _, verdict in verdicts} <= {"proved", "refuted"}
    assert [each.exercise_id for each, verdict in verdicts if verdict.word == "refuted"] == FALSE[name]


def test_no_verdict_is_written_into_an_exercise() -> None:
    for path in (Path(__file__).parents[2] / "src/headwright/check/exercises").glob("*.toml"):
        text = path.read_text()
        assert not any(word in text for word in ("proved", "refuted", "holds"))
