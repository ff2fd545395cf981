"""A class at a glance: students and exercises in a table, and the same mistake told once, with who made it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwright.check.running.run import Checked
from headwright.check.sheets.handed import Complaint
from headwright.check.sheets.text import gist, in_order, student_of
from headwright.check.telling.report import MEANINGS, SIGNS, badge, complaints_listed, page
from headwright.check.telling.typeset import lettered, readable, typeset
from headwright.check.verdict import Verdict, Word, worst

MISSING = "-"
MOST_FORMULAS = 3  # of an example
FOR_A_TEACHER = {"undecided": "no verdict was reached: look at it yourself"}


@dataclass(frozen=True)
class Mistake:
    """What several answers to one exercise have in common, and one of them, the shortest."""

    exercise: str
    word: Word
    what: str
    students: tuple[str, ...]
    example: Checked


@dataclass(frozen=True)
class Classroom:
    """Who answered what, and how it went; an exercise that is answered more than once counts with its worst answer."""

    students: tuple[str, ...]
    exercises: tuple[str, ...]
    words: Mapping[tuple[str, str], Word]
    mistakes: tuple[Mistake, ...]

    def cell(self, student: str, exercise: str) -> str:
        """The sign of a verdict; '-' where there is no answer."""
        word = self.words.get((student, exercise))
        return MISSING if word is None else SIGNS[word]

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "students": [
                {"student": name, "verdicts": {e: word for (who, e), word in self.words.items() if who == name}}
                for name in self.students
            ],
            "mistakes": [
                {
                    "exercise": each.exercise,
                    "verdict": each.word,
                    "what": each.what,
                    "students": list(each.students),
                    "example": each.example.answer.text,
                }
                for each in self.mistakes
            ],
        }


def classroom(checked: Sequence[Checked], files: Sequence[str] = ()) -> Classroom:
    """The class that handed these in, with those whose files hold no answer: see `student_of`.

    >>> from headwright.check.sheets.handed import Handed
    >>> ada, ben = (Handed(name, 1, "copying", ()) for name in ("ada.md", "ben.md"))
    >>> room = classroom([Checked(one, Verdict("no answer", "no condition is stated"), 0.0) for one in (ada, ben)])
    >>> room.students, room.mistakes[0].students
    (('ada', 'ben'), ('ada', 'ben'))
    """
    found: dict[tuple[str, str], list[Word]] = {}
    mistakes: dict[tuple[str, Word, str], list[Checked]] = {}
    for each in checked:
        word = each.verdict.word
        found.setdefault((student_of(each.answer.file), each.answer.exercise_id), []).append(word)
        if word != "proved":
            mistakes.setdefault((each.answer.exercise_id, word, _kind(each.verdict)), []).append(each)
    told = [_mistake(*key, same) for key, same in mistakes.items()]
    return Classroom(
        students=tuple(sorted({*(student for student, _ in found), *map(student_of, files)}, key=in_order)),
        exercises=tuple(dict.fromkeys(exercise for _, exercise in found)),
        words={place: worst(words) for place, words in found.items()},
        mistakes=tuple(sorted(told, key=lambda one: (-len(one.students), one.exercise, one.what))),
    )


def _mistake(exercise: str, word: Word, what: str, same: Sequence[Checked]) -> Mistake:
    students = sorted({student_of(each.answer.file) for each in same}, key=in_order)
    example = min(same, key=lambda each: (not each.answer.formulas, len(each.answer.text)))  # one that can be shown
    return Mistake(exercise, word, what, tuple(students), example)


def _kind(verdict: Verdict) -> str:
    """What is wrong, without the numbers that differ from answer to answer."""
    if verdict.word == "unreadable":
        lines = [line for line in verdict.reason.split("\n") if line.strip(" ^")]
        return lines[-1 if len(lines) < 2 else 1].removeprefix("fix: ")
    if verdict.word in ("no answer", "holds", "undecided"):
        return (
            verdict.reason if verdict.word == "no answer" else FOR_A_TEACHER.get(verdict.word, MEANINGS[verdict.word])
        )
    false = dict.fromkeys(
        f"{readable(part.statement)} {'is not met' if part.role == 'goal' else 'is false'}"
        for part in verdict.parts
        if part.word == "refuted"
    )
    said = "; ".join(false) or verdict.reason.split("\n")[-1]
    return f"{said}: {verdict.hint}" if verdict.hint else said


def classroom_page(
    room: Classroom, complaints: Sequence[Complaint] = (), titles: Mapping[str, str] | None = None
) -> str:
    """The class as a page without scripts."""
    names = titles or {}
    head = "".join(f'<th scope="col">{html.escape(names.get(e, e))}</th>' for e in room.exercises)
    rows = "".join(_row(room, student) for student in room.students)
    head = f'<thead><tr><th scope="col">student</th>{head}</tr></thead>'
    table = f'<table class="all">{head}\n<tbody>{rows}</tbody></table>'
    listed = "".join(f"<li>{_told(mistake, names)}</li>\n" for mistake in room.mistakes)
    mistakes = f'<section><h2>What was not proved</h2><ol class="steps">{listed}</ol></section>' if listed else ""
    body = f"""<header><h1>The class</h1></header>
<main>
{complaints_listed(complaints)}<section><h2>Students and exercises</h2><div class="wide">{table}</div></section>
{mistakes}
</main>"""
    return page("The class", body)


def _row(room: Classroom, student: str) -> str:
    words = [room.words.get((student, exercise)) for exercise in room.exercises]
    cells = "".join(f"<td>{MISSING if word is None else badge(word)}</td>" for word in words)
    return f'<tr><th scope="row">{html.escape(student)}</th>{cells}</tr>\n'


def _told(mistake: Mistake, titles: Mapping[str, str]) -> str:
    answer = mistake.example.answer
    shown = "".join(typeset(formula.text, display=True) for formula in answer.formulas[:MOST_FORMULAS])
    many = len(mistake.students)
    return (
        f"<p>{badge(mistake.word)} {html.escape(titles.get(mistake.exercise, mistake.exercise))}: "
        f"{lettered(gist(mistake.what, 400))}</p>"
        f"<p>{many} {'student' if many == 1 else 'students'}: {html.escape(', '.join(mistake.students))}</p>"
        f'<div class="answer">{shown}</div>'
    )
