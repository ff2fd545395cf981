"""The points of a class as CSV: for spreadsheets, and as Canvas, Moodle and Gradescope name the columns.

Where a person still has to decide, a cell is empty, and so is the total.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Literal

from headwright.grading.assignment import Assignment
from headwright.grading.classroom.decisions import cell_text
from headwright.grading.classroom.room import MarkedStudent

System = Literal["canvas", "moodle", "gradescope"]


def grades(rows: Sequence[MarkedStudent]) -> str:
    """For each student the points by machine and those that count, of each exercise; the total, and what is open."""
    exercises = [mark.exercise for mark in rows[0].marks] if rows else []
    heads = ["student"]
    for exercise in exercises:
        heads += [f"{exercise} object", f"{exercise} formulas", exercise]
    lines = [[*heads, "total", "so far", "still open", "sentences to read"]]
    for row in rows:
        cells = [cell_text(row.student.name)]
        for mark in row.marks:
            cells += map(_number, (mark.object, mark.formulas, mark.points))
        lines.append(
            [
                *cells,
                _number(row.total),
                _number(row.so_far),
                str(len(row.open)),
                str(row.student.to_read),
            ]
        )
    return _written(lines)


def system_grades(
    rows: Sequence[MarkedStudent], assignment: Assignment, system: System
) -> str:
    """The totals as a system imports them; empty where something is open."""
    writers = {"canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope}
    return _written(writers[system](rows, assignment))


def _canvas(rows: Sequence[MarkedStudent], assignment: Assignment) -> list[list[str]]:
    most = sum(mark.most for mark in rows[0].marks) if rows else 0.0
    heads = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    lines = [
        [*heads, assignment.title],
        ["Points Possible", "", "", "", "", f"{most:g}"],
    ]
    for row in rows:
        name, number = cell_text(row.student.name), row.student.number
        lines.append([name, number, "", "", "", _number(row.total)])
    return lines


def _moodle(
    rows: Sequence[MarkedStudent],
    _: Assignment,
) -> list[list[str]]:
    heads = ["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]
    lines = [heads]
    for row in rows:
        number = row.student.number
        identifier = f"Participant {number}" if number else ""
        most = sum(mark.most for mark in row.marks)
        comments = [mark.decision.comment for mark in row.marks if mark.decision]
        comment = " ".join(filter(None, comments))
        name = cell_text(row.student.name)
        lines.append(
            [identifier, name, _number(row.total), f"{most:g}", cell_text(comment)]
        )
    return lines


def _gradescope(
    rows: Sequence[MarkedStudent],
    _: Assignment,
) -> list[list[str]]:
    marks = rows[0].marks if rows else ()
    questions = [
        f"{n}: {mark.exercise} ({mark.most:g} pts)" for n, mark in enumerate(marks, 1)
    ]
    heads = ["Name", "SID", "Email", "Total Score", "Max Points", "Status"]
    lines = [[*heads, *questions]]
    for row in rows:
        most = sum(mark.most for mark in row.marks)
        status = "Ungraded" if row.open else "Graded"
        points = [_number(mark.points) for mark in row.marks]
        name = cell_text(row.student.name)
        total = _number(row.total)
        lines.append(
            [name, row.student.number, "", total, f"{most:g}", status, *points]
        )
    return lines


def _number(points: float | None) -> str:
    return "" if points is None else f"{points:.4g}"


def _written(lines: Sequence[Sequence[str]]) -> str:
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(lines)
    return made.getvalue()
