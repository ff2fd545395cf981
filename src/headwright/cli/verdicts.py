"""Verdicts in the terminal: a block for each answer in plain words, then all of them in a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from headwright.cli.console import OUT, show_line, show_table

if TYPE_CHECKING:
    from headwright.check.running.run import Checked
    from headwright.check.sheets.text import Note
    from headwright.check.telling.report import Classroom

COLOUR = {
    "proved": "green", "holds": "cyan", "no answer": "blue", "refuted": "red", "unreadable": "magenta",
    "undecided": "yellow",
}  # fmt: skip
WIDEST_PLACE = 28
ROOMY = 100  # columns of a terminal from which on the table has room for reasons
_WORD = re.compile(rf"\s+(?:\d+\s+)?(?:true, but )?({'|'.join(COLOUR)})\b")


def print_verdicts(checked: Sequence[Checked], notes: Sequence[Note] = (), *, how: bool = False) -> None:
    """Every answer with its verdict, and what was not judged; of several answers, a table and the counts.

    With `how`, also how each answer was read, statement by statement.
    """
    from headwright.check.telling.told import how as readings
    from headwright.check.telling.told import told
    from headwright.check.verdict import WORST_FIRST

    for number, each in enumerate(checked):
        if number:
            OUT.print()
        for place, line in enumerate([*told(each), *(readings(each.verdict.read) if how else [])]):
            text = Text(line, "bold" if place == 0 else "")
            word = _WORD.match(line)
            if word:
                text.stylize(f"bold {COLOUR[word[1]]}", *word.span(1))
            show_line(text)
    if checked and notes:
        OUT.print()
    for note in notes:
        show_line(Text(f"{note.place}  {note.sentence}"))
    if len(checked) > 1:
        OUT.print()
        show_table(_table(checked))
        counts = Counter(each.verdict.word for each in checked)
        shown = ", ".join(f"{counts[word]} {word}" for word in reversed(WORST_FIRST) if counts[word])
        show_line(f"\n{len(checked)} answers: {shown}")


def print_class(room: Classroom) -> None:
    """Students and exercises in a table, and the mistakes, the most common first."""
    from headwright.check.sheets.text import clean, gist, shortened
    from headwright.check.telling.report import SIGNS

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("student", no_wrap=True)
    for exercise in room.exercises:
        table.add_column(exercise, overflow="fold", justify="center")
    for student in room.students:
        cells = [Text(room.cell(student, e), COLOUR.get(room.words.get((student, e), ""), "")) for e in room.exercises]
        table.add_row(Text(student), *cells)
    show_table(table)
    seen = {word for word in COLOUR if word in room.words.values()}
    legend = ", ".join(f"{SIGNS[word]} {word}" for word in COLOUR if word in seen)
    show_line(f"\n{legend}, - no answer found" if legend else "No answers were found.")
    for mistake in room.mistakes:
        OUT.print()
        head = Text.assemble((mistake.word, f"bold {COLOUR[mistake.word]}"), f"  {mistake.exercise}: ")
        show_line(head.append(gist(clean(mistake.what), 300)))
        show_line(Text(f"  {len(mistake.students)}: {', '.join(mistake.students)}"))
        for formula in mistake.example.answer.formulas[:2]:
            show_line(Text(f"    {shortened(formula.text)}"))


def _table(checked: Sequence[Checked]) -> Table:
    """A line for each answer: the reasons were told in full above."""
    from headwright.check.sheets.text import clean, gist

    rows = []
    for each in checked:
        place, word = each.answer.place, each.verdict.word
        rows.append((Text(_fitting(place)), Text(each.answer.exercise_id), Text(word, COLOUR[word])))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for k, name in enumerate(("answer", "exercise", "verdict")):
        table.add_column(name, no_wrap=True, min_width=max(len(row[k]) for row in rows))
    room = OUT.width >= ROOMY
    if room:
        table.add_column("why", no_wrap=True, overflow="ellipsis")
    for row, each in zip(rows, checked, strict=True):
        table.add_row(*row, *([Text(gist(clean(each.verdict.reason), 200))] if room else []))
    return table


def _fitting(place: str) -> str:
    """The end of a long path, cut between folders where that leaves something.

    >>> _fitting("a-folder-with-a-long-name/of-the-course/answers/worked-solutions.md:19")
    '.../worked-solutions.md:19'
    """
    if len(place) <= WIDEST_PLACE:
        return place
    end = place[3 - WIDEST_PLACE :]
    _, between, name = end.partition("/")
    return f".../{name}" if between else f"...{end}"
