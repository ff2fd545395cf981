"""The five example sheets: every answer gets the verdict that it deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.sheets.document import read_document

SHEETS = Path(__file__).parents[2] / "examples" / "answers"
FALSE = {
    "queries-of-length-one.md": ["averaging-two", "averaging-gaussian"],
    "large-lambda.md": ["averaging-scaled"],  # a key of length 2 may point backwards
    "explicit-constants.md": ["two-heads-discrete"],
    "log-t-and-routing.md": [],
    "worked-solutions.md": [],
}
NUMBER = {
    "queries-of-length-one.md": 6,
    "large-lambda.md": 8,
    "explicit-constants.md": 9,
    "log-t-and-routing.md": 7,
    "worked-solutions.md": 7,
}


@pytest.mark.parametrize("name", sorted(FALSE))
def test_the_answers_of_a_sheet(name: str) -> None:
    exercises = load_exercises()
    sheet = read_document(SHEETS / name, exercises)
    assert not sheet.problems
    assert len(sheet.answers) == NUMBER[name]
    verdicts = [
        (each, grade(exercises[each.exercise_id], each.written))
        for each in sheet.answers
    ]
    for each, verdict in verdicts:
        wrong = each.exercise_id in FALSE[name]
        assert verdict.word in (
            {"refuted", "undecided", "proved"} if wrong else {"proved", "undecided"}
        )
        assert (
            not wrong
            or verdict.word != "proved"
            or any(one.status == "false" for one in verdict.formulas)
        )
    assert sum(verdict.word == "undecided" for _, verdict in verdicts) <= 1


def test_no_verdict_is_written_into_an_exercise() -> None:
    for path in (Path(__file__).parents[2] / "src/headwright/grading/exercises").glob(
        "*.toml"
    ):
        text = path.read_text()
        assert not any(word in text for word in ("proved", "refuted", "holds"))
