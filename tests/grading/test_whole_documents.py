"""Three whole documents, each part with the judgement that it deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.sheets.document import read_document

EXERCISES = load_exercises()
DOCUMENTS = Path(__file__).parent / "documents"
ANSWERS = {
    (name, answer.line): answer
    for name in ("student.md", "lazy.txt", "teacher.tex")
    for answer in read_document(DOCUMENTS / name, EXERCISES).answers
}
WRONG = {
    ("student.md", 30),
    ("lazy.txt", 5),
}  # the sum of two keys, or of two means, is too short
OPEN = {  # right, in words that may or may not be understood
    *(("student.md", line) for line in (9, 19, 38)),
    ("lazy.txt", 23),
    ("teacher.tex", 13),
}


@pytest.mark.parametrize(
    "place", sorted(ANSWERS), ids=lambda place: f"{place[0]}:{place[1]}"
)
def test_a_part_of_a_document_gets_the_verdict_that_it_deserves(
    place: tuple[str, int],
) -> None:
    answer = ANSWERS[place]
    verdict = grade(EXERCISES[answer.exercise_id], answer.written)
    if place in OPEN:
        assert verdict.word in ("proved", "undecided")
    else:
        assert verdict.word == ("refuted" if place in WRONG else "proved")


def test_every_wrong_part_has_a_counterexample() -> None:
    for place in WRONG:
        answer = ANSWERS[place]
        verdict = grade(EXERCISES[answer.exercise_id], answer.written)
        assert verdict.counterexample


def test_every_formula_stands_in_the_line_that_is_told() -> None:
    answer = ANSWERS["student.md", 54]
    verdict = grade(EXERCISES[answer.exercise_id], answer.written)
    assert 56 in {one.line for one in verdict.formulas}
