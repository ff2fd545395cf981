"""decisions.csv: what the checker left open, with a column in which a lecturer enters points.

It is written with a row for each answer that a person has to decide, and read again on
the next run. A decision holds for the answer that it was made on: if a student hands in
another one, it is open again. A row for any other answer may be added.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from headwright.errors import InputError
from headwright.grading.sheets.files import clean, read_text, shortened
from headwright.grading.sheets.sheet import Checked, Problem

HEADS = (
    "student",
    "exercise",
    "verdict",
    "points",
    "of",
    "comment",
    "digest",
    "answer",
)
LONGEST = 300  # characters of an answer in the table
_FORMULAS = "=+-@\t"  # a spreadsheet would read what begins so as a formula


@dataclass(frozen=True)
class TeacherDecision:
    """The points that a person gave for an exercise, and a comment for the student."""

    points: float
    comment: str = ""
    digest: str = ""  # of the answer that was read; none: it holds for any


@dataclass(frozen=True)
class DecisionRow:
    """A row to be written: who, what, and what a person entered before."""

    student: str
    exercise: str
    verdict: str
    most: float
    answers: Sequence[Checked]
    decision: TeacherDecision | None = None
    comment: str = ""


def digest_of(answers: Sequence[Checked]) -> str:
    """Which answers these are, in a few letters.

    >>> digest_of([])
    'none'
    """
    if not answers:
        return "none"
    text = "\n".join(checked.answer.written.text for checked in answers)
    return sha256(text.encode()).hexdigest()[:8]


def read_decisions(path: Path) -> dict[tuple[str, str], TeacherDecision]:
    """The rows with points, by student and exercise."""
    rows = csv.reader(io.StringIO(text := _text(path)), delimiter=_delimiter(text))
    try:
        heads = [head.strip().lower() for head in next(rows, [])]
        missing = {"student", "exercise", "points"} - {*heads}
        if missing:
            raise InputError(f"{path} has no column {', '.join(sorted(missing))}")
        decisions = {}
        for row in rows:
            cells = dict(zip(heads, map(str.strip, row), strict=False))
            if cells.get("points"):
                name = cells.get("student", "").removeprefix("'")
                points = _points(cells["points"], f"{path}:{rows.line_num}")
                comment = cells.get("comment", "").removeprefix("'")
                decision = TeacherDecision(points, comment, cells.get("digest", ""))
                decisions[name, cells.get("exercise", "")] = decision
    except csv.Error as error:
        raise InputError(f"{path}:{rows.line_num} is not CSV: {error}") from None
    return decisions


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except InputError as error:
        raise InputError(f"{path} {error}") from None


def _delimiter(text: str) -> str:
    """A comma, or what spreadsheets of other countries write."""
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)


def _points(text: str, place: str) -> float:
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= 10_000:
        raise InputError(f"{place}: points is {text[:20]}: expected a number from 0 on")
    return points


def in_force(
    decisions: Mapping[tuple[str, str], TeacherDecision],
    answers: Mapping[tuple[str, str], Sequence[Checked]],
    most: Mapping[str, float],
    students: Collection[str],
    file: str,
) -> tuple[dict[tuple[str, str], TeacherDecision], list[Problem]]:
    """The decisions on answers as they are now, and what is wrong with the others."""
    kept: dict[tuple[str, str], TeacherDecision] = {}
    problems = []
    for (student, exercise), decision in decisions.items():
        who = f"{student}, {exercise}"
        if student not in students or exercise not in most:
            sentence = f"the decision on {who} is about nobody, or no exercise, here"
        elif decision.points > most[exercise]:
            sentence = f"the decision on {who} has {decision.points:g} of {most[exercise]:g} points"
        elif decision.digest not in (
            "",
            digest_of(answers.get((student, exercise), ())),
        ):
            sentence = f"the answer of {who} was changed after the decision ({decision.points:g} points): decide again"
        else:
            kept[student, exercise] = decision
            continue
        problems.append(Problem(clean(file), 0, sentence))
    return kept, problems


def decisions_table(rows: Sequence[DecisionRow]) -> str:
    """The file, with the points that were entered before."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(HEADS)
    for row in rows:
        text = " ".join(checked.answer.written.text for checked in row.answers)
        decision = row.decision
        cells = [
            row.student,
            row.exercise,
            row.verdict,
            "" if decision is None else f"{decision.points:g}",
            f"{row.most:g}",
            row.comment if decision is None else decision.comment,
            digest_of(row.answers),
            shortened(text, LONGEST),
        ]
        writer.writerow([cell_text(cell) for cell in cells])
    return made.getvalue()


def cell_text(text: str) -> str:
    """A cell that no spreadsheet reads as a formula.

    >>> cell_text("=1+1"), cell_text("ada")
    ("'=1+1", 'ada')
    """
    return f"'{text}" if text[:1] in tuple(_FORMULAS) else text
