"""Verdicts in the terminal: a block for each answer, then all of them in a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
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
WIDEST_PLACE = 28
_WORD = re.compile(rf"\s+(?:line \d+\s+)?({'|'.join(COLOUR)})\b")


def print_verdicts(checked: Sequence[Checked], notes: Sequence[Problem] = ()) -> None:
    """Every answer with its verdict, and what was not judged; of several answers, a table and the counts."""
    from headwright.grading.report.text import as_text
    from headwright.grading.verdict import WORST_FIRST

    files = {each.answer.file for each in checked}
    for number, each in enumerate(checked):
        if number:
            OUT.print()
        for place, line in enumerate(as_text(each, file=len(files) > 1)):
            text = Text(line, "bold" if place == 0 else "")
            word = _WORD.match(line)
            if word:
                text.stylize(f"bold {COLOUR[word[1]]}", *word.span(1))
            show_line(text)
    if checked and notes:
        OUT.print()
    _print_notes(notes)
    if len(checked) > 1:
        OUT.print()
        show_table(_table(checked))
        counts = Counter(each.verdict.word for each in checked)
        shown = ", ".join(
            f"{counts[word]} {word}" for word in reversed(WORST_FIRST) if counts[word]
        )
        unmatched = len(notes)
        show_line(
            f"\n{len(checked)} answers: {shown}"
            + (f"; {unmatched} not judged" if unmatched else "")
        )


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
    for each in checked:
        place, word = each.answer.place, each.verdict.word
        false = len(each.verdict.false_formulas)
        numbers = (
            Text(str(false or ""), "red"),
            Text(str(len(each.verdict.to_read) or "")),
        )
        rows.append(
            (
                Text(
                    place
                    if len(place) <= WIDEST_PLACE
                    else f"...{place[3 - WIDEST_PLACE :]}"
                ),
                Text(each.answer.exercise_id),
                Text(word, COLOUR[word]),
                *numbers,
            )
        )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for k, name in enumerate(("answer", "exercise", "verdict", "false", "to read")):
        table.add_column(
            name, no_wrap=True, min_width=max(len(name), *(len(row[k]) for row in rows))
        )
    for row in rows:
        table.add_row(*row)
    return table
