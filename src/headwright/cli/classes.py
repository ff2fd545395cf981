"""headwright check --class: the table of a class, its page, its grades, decisions and feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headwright.cli.console import say
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.grading.assignment import Assignment
    from headwright.grading.classroom.decisions import TeacherDecision
    from headwright.grading.classroom.room import MarkedStudent
    from headwright.grading.report.text import Hints
    from headwright.grading.sheets.classes import ClassSheets
    from headwright.grading.sheets.sheet import Checked, Problem

System = Literal["canvas", "moodle", "gradescope"]
Decisions = dict[tuple[str, str], "TeacherDecision"]


@dataclass(frozen=True)
class ClassFiles:
    """Where results of a class go: the page, the decisions, the feedback, grades for a system."""

    out: Path | None
    decisions: Path | None
    feedback: Path | None
    system: System | None
    anonymous: bool

    def __post_init__(self) -> None:
        """Refuse what cannot be written before anything is checked."""
        if self.system is not None and self.out is None:
            raise InputError("--csv needs --out, beside which the grades are written")
        for option, path in (
            ("--decisions", self.decisions),
            ("--feedback", self.feedback),
        ):
            if path is not None and not path.parent.is_dir():
                raise InputError(f"{option} {path}: there is no folder {path.parent}")
        if self.feedback is not None and self.feedback.is_file():
            raise InputError(
                f"--feedback {self.feedback}: is a file, expected a folder"
            )

    @property
    def decided(self) -> Path | None:
        """The file of decisions: as given, or beside the page."""
        if self.decisions is None and self.out is not None:
            return self.out.with_name("decisions.csv")
        return self.decisions


@dataclass(frozen=True)
class GradedClass:
    """A class with its marks; in `shown`, names are codes if they are to be hidden."""

    rows: list[MarkedStudent]
    shown: list[MarkedStudent]
    problems: list[Problem]
    notes: list[Problem]
    entered: Decisions  # as they were read, by the names that are shown

    @property
    def checked(self) -> list[Checked]:
        """All answers, as they are shown."""
        return [answer for row in self.shown for answer in row.student.answers]

    def to_json(self) -> list[dict[str, Any]]:
        """The students with their points."""
        students = []
        for row in self.shown:
            student = {
                "student": row.student.name,
                "points": row.total,
                "so_far": row.so_far,
                "open": list(row.open),
                "marks": {mark.exercise: mark.points for mark in row.marks},
            }
            students.append(student)
        return students


def grade_class(
    handed_in: ClassSheets,
    checked: Sequence[Checked],
    exercises: Sequence[str],
    assignment: Assignment,
    files: ClassFiles,
) -> GradedClass:
    """The marks of a class, with the decisions that were entered."""
    from headwright.grading.classroom.decisions import in_force, read_decisions
    from headwright.grading.classroom.room import anonymous, classroom, codes, marked

    room = classroom(
        checked,
        handed_in.students,
        exercises,
        handed_in.unread,
        handed_in.numbers,
        handed_in.empty,
    )
    names = [student.name for student in room.students]
    by_name = codes(names) if files.anonymous else {name: name for name in names}
    seen = anonymous(room, by_name) if files.anonymous else room
    path = files.decided
    entered: Decisions = {}
    if path is not None and path.exists():
        entered = read_decisions(path)
    # A lecturer may have begun with names and gone on with codes, or the other way.
    entered = {
        (by_name.get(student, student), exercise): decision
        for (student, exercise), decision in entered.items()
    }
    answers = {}
    for student in seen.students:
        for exercise in seen.exercises:
            answers[student.name, exercise] = student.of(exercise)
    most = {exercise: assignment.worth(exercise) for exercise in seen.exercises}
    decided, wrong = in_force(entered, answers, most, list(by_name.values()), str(path))
    name_of_code = {code: name for name, code in by_name.items()}
    by_real_name = {}
    for (code, exercise), decision in decided.items():
        if code in name_of_code:
            by_real_name[name_of_code[code], exercise] = decision
    return GradedClass(
        marked(room, assignment, by_real_name),
        marked(seen, assignment, decided),
        [*_shown_places(handed_in.problems, by_name), *wrong],
        _shown_places(handed_in.notes, by_name),
        entered,
    )


def _shown_places(
    problems: Sequence[Problem], by_name: Mapping[str, str]
) -> list[Problem]:
    """Problems whose place is told by the code of a student, where names are hidden."""
    from headwright.grading.sheets.files import student_of

    with_codes = []
    for problem in problems:
        name = student_of(problem.file)
        code = by_name.get(name, name)
        with_codes.append(problem if code == name else replace(problem, file=code))
    return with_codes


def write_class(
    graded: GradedClass,
    titles: Mapping[str, str],
    assignment: Assignment,
    hints: Hints,
    files: ClassFiles,
) -> None:
    """Write what was asked for, and say where it is."""
    from headwright.files import write_whole
    from headwright.grading.classroom.pages import class_page
    from headwright.grading.classroom.tables import grades, system_grades

    if files.out is not None:
        table = files.out.with_suffix(".csv")
        write_whole(table, grades(graded.rows).encode())
        say(f"The grades are in {table}.")
        if files.system is not None:
            export = files.out.with_name(f"{files.out.stem}-{files.system}.csv")
            columns = system_grades(graded.rows, assignment, files.system)
            write_whole(export, columns.encode())
            say(f"The grades for {files.system} are in {export}.")
    if files.decided is not None:
        _write_decisions(graded, files.decided)
    if files.feedback is not None:
        _write_feedback(graded, titles, assignment, hints, files.feedback)
    if files.out is not None:
        page = class_page(
            graded.shown, graded.problems, titles, graded.notes, assignment
        )
        write_whole(files.out, page.encode())
        say(f"The report is in {files.out}.")


def _write_decisions(graded: GradedClass, path: Path) -> None:
    """A row for each answer that a person has to decide, and each decision that was entered."""
    from headwright.files import write_whole
    from headwright.grading.classroom.decisions import (
        DecisionRow,
        decisions_table,
    )

    rows = []
    waiting = dict(graded.entered)
    for row in graded.shown:
        for mark in row.marks:
            place = (row.student.name, mark.exercise)
            before = waiting.pop(place, None)
            undecided = mark.object is None or mark.formulas is None
            if not undecided and before is None:
                continue
            comment = ""
            if before is not None and mark.decision is None:  # it does not hold
                comment = f"{before.comment} (was {before.points:g} points)".strip()
            word = mark.word or ("not read" if row.student.unread else "no answer")
            answers = row.student.of(mark.exercise)
            rows.append(
                DecisionRow(*place, word, mark.most, answers, mark.decision, comment)
            )
    for (student, exercise), decision in waiting.items():  # of nobody here: kept
        rows.append(DecisionRow(student, exercise, "", 0.0, (), decision))
    if not rows and not path.exists():
        return
    write_whole(path, decisions_table(rows).encode())
    left = sum(len(row.open) for row in graded.shown)
    if left:
        many = "1 answer is" if left == 1 else f"{left} answers are"
        say(f"{many} left for you: enter points in {path} and run this again.")


def _write_feedback(
    graded: GradedClass,
    titles: Mapping[str, str],
    assignment: Assignment,
    hints: Hints,
    folder: Path,
) -> None:
    from headwright.files import write_whole
    from headwright.grading.classroom.pages import feedback_names, feedback_page

    folder.mkdir(exist_ok=True)
    for name, row in feedback_names(graded.rows):  # which each student is to get
        page = feedback_page(row, titles, assignment, hints)
        write_whole(folder / name, page.encode())
    say(f"The feedback for {len(graded.rows)} students is in {folder}.")
