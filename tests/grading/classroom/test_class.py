"""A class graded twice: decisions are entered, read again, and hold for the answer they were made on."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.assignment import Assignment
from headwright.grading.classroom.decisions import (
    DecisionRow,
    TeacherDecision,
    decisions_table,
    digest_of,
    in_force,
    read_decisions,
)
from headwright.grading.classroom.pages import class_page, feedback_names, feedback_page
from headwright.grading.classroom.room import (
    MarkedStudent,
    anonymous,
    classroom,
    codes,
    marked,
)
from headwright.grading.classroom.tables import grades, system_grades
from headwright.grading.markdown import of_formulas
from headwright.grading.sheets.sheet import AnswerText, Checked, Problem
from headwright.grading.verdict import AskedPart, ToRead, Verdict, Word

ASSIGNMENT = Assignment(
    title="Week 3", exercises=("copying", "energy"), points={"copying": 4}
)


def answer(
    file: str, exercise: str, word: Word, formula: str = "q = k_a", read: bool = False
) -> Checked:
    asked = (AskedPart("q", word, 1, formula, f"it is {word}"),)
    sentences = (ToRead(1, "in words"),) if read else ()
    verdict = Verdict(word, f"it is {word}", asked, to_read=sentences)
    return Checked(AnswerText(file, 1, exercise, of_formulas([formula])), verdict)


CHECKED = [
    answer("ada.md", "copying", "proved"),
    answer("ada.md", "energy", "undecided"),
    answer("=ben.md", "copying", "refuted", "q = k_b + k_a"),
    answer("=ben.md", "energy", "missing", read=True),
    answer("cleo/hw.md", "copying", "refuted", "q = k_{b} + k_{a}"),
]


def rows(
    decisions: dict[tuple[str, str], TeacherDecision] | None = None,
) -> list[MarkedStudent]:
    room = classroom(
        CHECKED,
        ["ada", "=ben", "cleo", "dan"],
        ASSIGNMENT.exercises,
        {"dan"},
        {"ada": "7"},
    )
    return marked(room, ASSIGNMENT, decisions)


def test_what_is_open_stays_open_in_the_total() -> None:
    by_name = {row.student.name: row for row in rows()}
    assert by_name["ada"].open == ("energy",)
    assert (by_name["ada"].so_far, by_name["ada"].total) == (4.0, None)
    assert by_name["=ben"].open == ("energy",)  # in words
    assert (by_name["cleo"].open, by_name["cleo"].total) == ((), 0.0)
    assert by_name["dan"].open == ("copying", "energy")  # not read


def test_who_handed_in_nothing_has_no_points_and_nothing_is_left_to_decide() -> None:
    room = classroom(
        CHECKED, ["ada", "eve", "finn"], ASSIGNMENT.exercises, empty={"eve"}
    )
    by_name = {row.student.name: row for row in marked(room, ASSIGNMENT)}
    assert (by_name["eve"].open, by_name["eve"].total) == ((), 0.0)
    assert by_name["finn"].open == ("copying", "energy")  # no answer was found in it
    page = class_page(list(by_name.values()), assignment=ASSIGNMENT)
    assert page.count('title="nothing was handed in"') == 2
    # finn to both exercises, cleo to the second one
    assert page.count('title="no answer found"') == 3


def test_decisions_are_written_entered_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    waiting = []
    for row in rows():
        for mark in row.marks:
            if mark.points is None:
                waiting.append(
                    DecisionRow(
                        row.student.name,
                        mark.exercise,
                        mark.word or "not read",
                        mark.most,
                        row.student.of(mark.exercise),
                    )
                )
    path.write_text(decisions_table(waiting))
    assert read_decisions(path) == {}
    table = list(csv.reader(io.StringIO(path.read_text())))
    points, comment = table[0].index("points"), table[0].index("comment")
    for line in table[1:]:
        line[points], line[comment] = "0,5", "well argued"
    semicolons = "\n".join(";".join(line) for line in table)  # as in a German Excel
    path.write_text("\ufeff" + semicolons, encoding="utf-8")
    entered = read_decisions(path)
    assert {place: one.points for place, one in entered.items()} == {
        ("ada", "energy"): 0.5,
        ("=ben", "energy"): 0.5,
        ("dan", "copying"): 0.5,
        ("dan", "energy"): 0.5,
    }
    decided = {row.student.name: row for row in rows(entered)}
    assert {name: row.total for name, row in decided.items()} == {
        "ada": 4.5,
        "=ben": 0.5,
        "cleo": 0.0,
        "dan": 1.0,
    }


def test_a_decision_holds_for_the_answer_that_was_read() -> None:
    answers = {("ada", "energy"): [CHECKED[1]]}
    same = TeacherDecision(1.0, "", digest_of([CHECKED[1]]))
    other = TeacherDecision(1.0, "", "00000000")
    much = TeacherDecision(9.0)
    most = {"copying": 4.0, "energy": 1.0}
    kept, problems = in_force(
        {
            ("ada", "energy"): same,
            ("eve", "energy"): same,
            ("ada", "copying"): much,
        },
        answers,
        most,
        ["ada"],
        "decisions.csv",
    )
    assert kept == {("ada", "energy"): same}
    assert [problem.sentence for problem in problems] == [
        "the decision on eve, energy is about nobody, or no exercise, here",
        "the decision on ada, copying has 9 of 4 points",
    ]
    kept, (problem,) = in_force(
        {("ada", "energy"): other}, answers, most, ["ada"], "decisions.csv"
    )
    assert kept == {}
    assert "was changed after the decision" in problem.sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("student,points\nada,1\n", "has no column exercise"),
        ("student,exercise,points\nada,energy,much\n", "2: points is much"),
        ("student,exercise,points\nada,energy,-1\n", "expected a number from 0 on"),
        ("student,exercise,points\nada,energy,nan\n", "points is nan"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "decisions.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_decisions(tmp_path / "decisions.csv")


def test_equal_wrong_answers_stand_together_and_each_student_has_a_card() -> None:
    page = class_page(rows(), titles={"copying": "Copy"}, assignment=ASSIGNMENT)
    group = page.partition('id="equal"')[2].partition("</section>")[0]
    assert "2 times" in group  # in two spellings
    assert "=ben" in group
    assert "cleo" in group
    for name in ("ada", "=ben", "cleo", "dan"):
        assert f"<h2>{name}</h2>" in page
    assert page.count("back to the table") == 4
    assert "⊘" in page.partition("<tbody>")[2].partition("</tbody>")[0]
    statistics = page.partition('id="exercises"')[2].partition("</section>")[0]
    assert "<td>1.33 of 4</td>" in statistics  # of the three that are known


def test_the_table_comes_before_what_was_not_read_and_open_answers_are_unfolded() -> (
    None
):
    unread = [Problem("dan/hw.pdf", 0, "not read")]
    page = class_page(rows(), unread, assignment=ASSIGNMENT)
    assert "<details><summary>What could not be used: 1</summary>" in page
    read = page.split("<article")
    (ben,) = [part for part in read if "in words" in part]  # a person has to decide
    assert '<details class="read" open>' in ben


def test_feedback_has_comments_only_where_there_are_some() -> None:
    commented = rows({("ada", "energy"): TeacherDecision(0.5, "well argued")})
    by_name = {row.student.name: row for row in commented}
    assert ">comment</th>" in feedback_page(by_name["ada"], {}, ASSIGNMENT, "none")
    dan = feedback_page(by_name["dan"], {}, ASSIGNMENT, "none")
    assert ">comment</th>" not in dan
    assert "<td>still open, of 4</td>" in dan


def test_feedback_has_no_more_than_the_hints_and_a_file_of_its_own() -> None:
    decision = TeacherDecision(0.5, "well <b>argued")
    table = rows({("ada", "energy"): decision})
    names = {row.student.name: name for name, row in feedback_names(table)}
    assert names == {
        "ada": "ada.html",
        "=ben": "ben.html",
        "cleo": "cleo.html",
        "dan": "dan.html",
    }
    ada = next(row for row in table if row.student.name == "ada")
    page = feedback_page(ada, {}, ASSIGNMENT, "none")
    assert "well &lt;b&gt;argued" in page
    assert "4.5 of 5 points" in page
    assert "cleo" not in page


def test_names_are_hidden_everywhere_but_in_the_grades() -> None:
    room = classroom(CHECKED, ["ada", "=ben", "cleo"], ASSIGNMENT.exercises)
    by_name = codes(student.name for student in room.students)
    shown = anonymous(room, by_name)
    page = class_page(marked(shown, ASSIGNMENT))
    assert all(name not in page for name in ("ada", "=ben", "cleo"))
    assert all(code in page for code in by_name.values())
    again = codes(["zoe", *(student.name for student in room.students)])
    assert all(again[name] == code for name, code in by_name.items())  # stable
    assert "cleo," in grades(marked(room, ASSIGNMENT))


def test_each_system_gets_the_columns_that_it_reads() -> None:
    table = rows({("ada", "energy"): TeacherDecision(1.0, "good")})
    canvas = list(csv.reader(io.StringIO(system_grades(table, ASSIGNMENT, "canvas"))))
    assert canvas[0] == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Week 3",
    ]
    assert canvas[1][-1] == "5"
    assert ["ada", "7", "", "", "", "5"] in canvas
    assert ["'=ben", "", "", "", "", ""] in canvas  # still open
    moodle = list(csv.reader(io.StringIO(system_grades(table, ASSIGNMENT, "moodle"))))
    assert moodle[0][:3] == ["Identifier", "Full name", "Grade"]
    assert ["Participant 7", "ada", "5", "5", "good"] in moodle
    scope = system_grades(table, ASSIGNMENT, "gradescope")
    assert "1: copying (4 pts),2: energy (1 pts)" in scope
    assert "ada,7,,5,5,Graded,4,1" in scope
