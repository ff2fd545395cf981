"""Verdicts in the terminal: a block for each answer, then all of them in a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from headwright.cli.console import OUT, show_line, show_table

if TYPE_CHECKING:
    from headwright.grading.classroom.room import MarkedStudent
    from headwright.grading.sheets.sheet import Checked, Problem

COLOUR = {
    "proved": "green",
    "refuted": "red",
    "undecided": "yellow",
    "missing": "blue",
    "true": "green",
    "false": "red",
    "open": "yellow",
    "quoted": "dim",
}
COLUMNS = ("answer", "exercise", "verdict", "false", "to read")
WIDEST_PLACE = 28
_WORD = re.compile(rf"\s+(?:line \d+\s+)?({'|'.join(COLOUR)})\b")


def print_verdicts(
    checked: Sequence[Checked],
    notes: Sequence[Problem] = (),
    *,
    verbose: bool = False,
) -> None:
    """Every answer with its verdict, and what was not judged; of several answers, a table and the counts."""
    from headwright.grading.report.text import as_text

    files = {answer.answer.file for answer in checked}
    for number, answer in enumerate(checked):
        if number:
            OUT.print()
        _print_verdict(as_text(answer, file=len(files) > 1, verbose=verbose))
    if checked and notes:
        OUT.print()
    _print_notes(notes)
    if len(checked) > 1:
        OUT.print()
        show_table(_table(checked))
        show_line(f"\n{_counts(checked, len(notes))}")


def _print_verdict(lines: Iterable[str]) -> None:
    """The first line is bold, and the words of verdicts have their colours."""
    for place, line in enumerate(lines):
        text = Text(line, "bold" if place == 0 else "")
        word = _WORD.match(line)
        if word:
            text.stylize(f"bold {COLOUR[word[1]]}", *word.span(1))
        show_line(text)


def _counts(checked: Sequence[Checked], not_judged: int) -> str:
    """How many answers have each verdict, the best first."""
    from headwright.grading.verdict import WORST_FIRST

    counts = Counter(answer.verdict.word for answer in checked)
    clauses = []
    for word in reversed(WORST_FIRST):
        if counts[word]:
            clauses.append(f"{counts[word]} {word}")
    sentence = f"{len(checked)} answers: {', '.join(clauses)}"
    if not_judged:
        sentence += f"; {not_judged} not judged"
    return sentence


def print_class(rows: Sequence[MarkedStudent], notes: Sequence[Problem] = ()) -> None:
    """Students and exercises in a table: first those with the most false formulas, then with the most to read."""
    from headwright.grading.classroom.pages import sign_of_no_answer
    from headwright.grading.report.page import SIGNS

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("student", no_wrap=True)
    exercises = [mark.exercise for mark in rows[0].marks] if rows else []
    gaps: dict[str, str] = {}
    for name in ("false", "to read", *exercises, "points"):
        table.add_column(name, overflow="fold", justify="center")
    for row in rows:
        student = row.student
        nothing, meaning = sign_of_no_answer(row)
        if any(mark.word is None for mark in row.marks):
            gaps[nothing] = meaning
        words = [mark.word or "" for mark in row.marks]
        cells = [Text(SIGNS.get(word, nothing), COLOUR.get(word, "")) for word in words]
        table.add_row(
            Text(student.name),
            Text(str(student.false or ""), "red"),
            str(student.to_read or ""),
            *cells,
            f"{row.so_far:.4g}{' + ?' if row.open else ''}",
        )
    show_table(table)
    seen = {mark.word for row in rows for mark in row.marks}
    signs = [f"{sign} {word}" for word, sign in SIGNS.items() if word in seen]
    signs += [f"{sign} {meaning}" for sign, meaning in gaps.items()]
    if any(row.open for row in rows):
        signs.append("? a person has to decide")
    show_line(f"\n{', '.join(signs)}" if exercises else "No answers were found.")
    _print_notes(notes)


def _print_notes(notes: Sequence[Problem]) -> None:
    for note in notes:
        show_line(Text(f"{note.place}  {note.sentence}"))


def _table(checked: Sequence[Checked]) -> Table:
    """A line for each answer: the reasons were given in full above."""
    rows = []
    for answer in checked:
        verdict = answer.verdict
        false = len(verdict.false_formulas)
        place = answer.answer.place
        if len(place) > WIDEST_PLACE:
            place = f"...{place[3 - WIDEST_PLACE :]}"
        row = (
            Text(place),
            Text(answer.answer.exercise_id),
            Text(verdict.word, COLOUR[verdict.word]),
            Text(str(false or ""), "red"),
            Text(str(len(verdict.to_read) or "")),
        )
        rows.append(row)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column, name in enumerate(COLUMNS):
        width = max(len(name), *(len(row[column]) for row in rows))
        table.add_column(name, no_wrap=True, min_width=width)
    for row in rows:
        table.add_row(*row)
    return table
