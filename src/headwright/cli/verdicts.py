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
    from headwright.grading.report.page import Classroom
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


def print_class(room: Classroom, notes: Sequence[Problem] = ()) -> None:
    """Students and exercises in a table: first those with the most false formulas, then with the most to read."""
    from headwright.grading.report.page import SIGNS

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("student", no_wrap=True)
    for name in ("false", "to read", *room.exercises):
        table.add_column(name, overflow="fold", justify="center")
    for one in room.students:
        words = [one.word(exercise) or "" for exercise in room.exercises]
        cells = [Text(SIGNS.get(word, "-"), COLOUR.get(word, "")) for word in words]
        table.add_row(
            Text(one.name),
            Text(str(one.false or ""), "red"),
            str(one.to_read or ""),
            *cells,
        )
    show_table(table)
    seen = {word for one in room.students for word in map(one.word, room.exercises)}
    legend = ", ".join(f"{sign} {word}" for word, sign in SIGNS.items() if word in seen)
    show_line(f"\n{legend}, - no answer found" if legend else "No answers were found.")
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
