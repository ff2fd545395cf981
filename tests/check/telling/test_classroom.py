"""A class at a glance."""

from __future__ import annotations

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Formula
from headwright.check.running.run import Checked
from headwright.check.sheets.text import Complaint, Handed
from headwright.check.telling.report import classroom, classroom_page

EXERCISES = load_exercises()


def _checked(file: str, exercise: str, formula: str) -> Checked:
    formulas = (Formula(formula, 2),)
    return Checked(Handed(file, 1, exercise, formulas), check_answer(EXERCISES[exercise], formulas), 0.0)


CLASS = [
    _checked("ada/answers.md", "averaging-two", r"q = \lambda(k_a + k_b)"),
    _checked("ben.md", "averaging-two", "q = k_a + k_b"),
    _checked("cleo.md", "averaging-two", "q = 2(k_a + k_b)"),
    _checked("dan.md", "averaging-two", r"q = \lambda k_a"),
    _checked("dan.md", "energy", r"\|A\|_F^2 = \sum_i \sigma_i^2"),
    _checked("ada/more.md", "averaging-two", "q = "),
]


def test_the_same_mistake_is_told_once_with_all_who_made_it() -> None:
    room = classroom(CLASS)
    assert room.mistakes[0].students == ("ben", "cleo")
    assert room.mistakes[0].what.endswith("the direction is right, the length is not")
    assert room.mistakes[0].example.answer.text == "q = k_a + k_b"
    assert [mistake.students for mistake in room.mistakes[1:]] == [("dan",), ("ada",), ("dan",)]


def test_an_exercise_counts_with_its_worst_answer() -> None:
    room = classroom(CLASS)
    assert room.words["ada", "averaging-two"] == "unreadable"
    assert room.cell("ada", "energy") == "-"


def test_a_student_without_answers_is_listed() -> None:
    assert classroom(CLASS, ["eve.md", "dan.md"]).students == ("ada", "ben", "cleo", "dan", "eve")


def test_the_page_shows_no_markup_of_a_student() -> None:
    page = classroom_page(classroom([_checked("<b>x.md", "averaging-two", "q = <i>")]), [Complaint("<u>.md", 1, "<s>")])
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>", "<s>"))
    assert "&lt;b&gt;x" in page


def test_for_scripts_every_student_has_the_verdicts_by_exercise() -> None:
    told = classroom(CLASS).as_json()
    assert {each["student"]: each["verdicts"] for each in told["students"]}["dan"] == {
        "averaging-two": "refuted",
        "energy": "no answer",
    }
