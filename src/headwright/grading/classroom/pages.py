"""The class as a page for its lecturer, and a page of feedback for each student: one file each, without scripts."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from headwright.formulas import FormulaError, parse
from headwright.formulas.show import plain
from headwright.grading.assignment import Assignment
from headwright.grading.classroom.room import Mark, MarkedStudent
from headwright.grading.report.page import (
    MEANINGS,
    MOST_PICTURES,
    SIGNS,
    badge,
    card,
    listed,
    page,
)
from headwright.grading.report.text import Hints, hinted
from headwright.grading.report.typeset import typeset
from headwright.grading.sheets.sheet import Checked, Problem
from headwright.grading.verdict import WORST_FIRST

NO_ANSWER = ("–", "no answer found")
NOTHING, NOT_READ = ("∅", "nothing was handed in"), ("⊘", "a file was not read")
MOST_GROUPS = 60
BACK = '<p class="back"><a href="#students">back to the table</a></p>'


def class_page(
    rows: Sequence[MarkedStudent],
    problems: Sequence[Problem] = (),
    titles: Mapping[str, str] | None = None,
    notes: Sequence[Problem] = (),
    assignment: Assignment | None = None,
) -> str:
    """A table whose cells lead to the answers, each exercise in numbers, equal answers together, a card per student."""
    titles, assignment = titles or {}, assignment or Assignment(title="The class")
    numbers = _numbered(rows)
    parts = [
        listed("What could not be used", problems, folded=True),
        listed("What was not judged", notes, folded=True),
        _students(rows, titles, numbers),
        _exercises(rows, titles),
        _equal_answers(rows, titles, numbers),
        _cards(rows, titles, numbers),
    ]
    body = f"""<header><h1>{html.escape(assignment.title)}</h1>
<p class="counts">{_counts(rows)}</p></header>
<main class="class">
{"".join(parts)}
</main>
<footer><dl class="words">{_meanings(rows)}</dl>
<p>Formulas are judged; words are not. Checked by Headwright.</p></footer>"""
    return page(assignment.title, body)


def _numbered(rows: Sequence[MarkedStudent]) -> dict[int, int]:
    """The number of each answer on the page."""
    numbers: dict[int, int] = {}
    for row in rows:
        for checked in row.student.answers:
            numbers[id(checked)] = len(numbers) + 1
    return numbers


def _counts(rows: Sequence[MarkedStudent]) -> str:
    words = Counter(one.verdict.word for row in rows for one in row.student.answers)
    shown = [f"{badge(word)} {words[word]}" for word in reversed(WORST_FIRST)]
    counted = [
        text
        for text, word in zip(shown, reversed(WORST_FIRST), strict=True)
        if words[word]
    ]
    undecided = sum(len(row.open) for row in rows)
    if undecided:
        counted.append(f"{undecided} to decide by hand")
    return f"{len(rows)} students: {', '.join(counted) or 'no answers'}"


def _meanings(rows: Sequence[MarkedStudent]) -> str:
    words = {one.verdict.word for row in rows for one in row.student.answers}
    meanings = [
        f"<dt>{badge(word)}</dt><dd>{meaning}</dd>"
        for word, meaning in MEANINGS.items()
        if word in words
    ]
    for sign, meaning in (
        NO_ANSWER,
        NOTHING,
        NOT_READ,
        ("?", "a person has to decide"),
    ):
        meanings.append(f"<dt>{sign}</dt><dd>{meaning}</dd>")
    return "".join(meanings)


def _students(
    rows: Sequence[MarkedStudent],
    titles: Mapping[str, str],
    numbers: Mapping[int, int],
) -> str:
    exercises = [mark.exercise for mark in rows[0].marks] if rows else []
    heads = [_head("student"), _head("false formulas"), _head("to read")]
    heads += [_head(titles.get(name, name)) for name in exercises]
    heads += [_head("points"), _head("still open")]
    lines = ""
    for place, row in enumerate(rows, 1):
        name = html.escape(row.student.name)
        cells = [str(row.student.false or ""), str(row.student.to_read or "")]
        cells += [_cell(row, mark, numbers) for mark in row.marks]
        points = f"{row.so_far:.4g}" + (" + ?" if row.open else "")
        cells += [points, str(len(row.open) or "")]
        shown = "".join(f"<td>{cell}</td>" for cell in cells)
        lines += f'<tr><th scope="row"><a href="#student-{place}">{name}</a></th>{shown}</tr>\n'
    return _table("Students", "students", heads, lines)


def _head(name: str) -> str:
    return f'<th scope="col">{html.escape(name)}</th>'


def _table(title: str, name: str, heads: Sequence[str], lines: str) -> str:
    return (
        f'<section id="{name}"><h2>{title}</h2><div class="wide"><table class="all">'
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>{lines}</tbody></table></div></section>\n"
    )


def _cell(row: MarkedStudent, mark: Mark, numbers: Mapping[int, int]) -> str:
    """The signs of the answers to an exercise, which lead to them, and the points."""
    signs = []
    for checked in row.student.of(mark.exercise):
        word = checked.verdict.word
        signs.append(
            f'<a class="badge {word}" href="#answer-{numbers[id(checked)]}" title="{word}">'
            f'<span aria-hidden="true">{SIGNS[word]}</span><span class="spoken">{word}</span></a>'
        )
    if not signs:
        sign, meaning = sign_of_no_answer(row)
        signs.append(
            f'<span title="{meaning}" class="badge none"><span aria-hidden="true">{sign}</span>'
            f'<span class="spoken">{meaning}</span></span>'
        )
    points = "?" if mark.points is None else f"{mark.points:.4g}"
    decided = " by hand" if mark.decision else ""
    return f"{' '.join(signs)} <small>{points}{decided}</small>"


def sign_of_no_answer(row: MarkedStudent) -> tuple[str, str]:
    """The sign of an exercise without an answer, and its meaning."""
    if row.student.unread:
        return NOT_READ
    return NO_ANSWER if row.student.handed_in else NOTHING


def _exercises(rows: Sequence[MarkedStudent], titles: Mapping[str, str]) -> str:
    """How many have each verdict on each exercise, and the mean of the points that are known."""
    if not rows or not rows[0].marks:
        return ""
    words = tuple(reversed(WORST_FIRST))
    heads = [_head("exercise"), *map(_head, words), _head("no answer")]
    heads += [_head("still open"), _head("mean points")]
    lines = ""
    for place, first in enumerate(rows[0].marks):
        marks = [row.marks[place] for row in rows]
        counts = Counter(mark.word for mark in marks)
        known = [mark.points for mark in marks if mark.points is not None]
        mean = f"{sum(known) / len(known):.3g} of {first.most:g}" if known else ""
        cells = [
            *(counts[word] for word in words),
            counts[None],
            len(marks) - len(known),
        ]
        shown = "".join(f"<td>{cell or ''}</td>" for cell in cells)
        title = html.escape(titles.get(first.exercise, first.exercise))
        lines += f'<tr><th scope="row">{title}</th>{shown}<td>{mean}</td></tr>\n'
    return _table("How many got each exercise", "exercises", heads, lines)


def _key(checked: Checked) -> tuple[str, ...]:
    """What an answer asserts, whatever its spelling; nothing where no formula was found."""
    formulas = []
    for part in checked.verdict.asked:
        if not part.latex:
            continue
        try:
            formulas.append(plain(parse(part.latex)))
        except FormulaError:
            formulas.append(" ".join(part.latex.split()))
    return tuple(formulas)


def _equal_answers(
    rows: Sequence[MarkedStudent],
    titles: Mapping[str, str],
    numbers: Mapping[int, int],
) -> str:
    """Answers that are not proved and that several students gave, the most frequent first."""
    groups: dict[tuple[str, ...], list[tuple[str, Checked]]] = defaultdict(list)
    for row in rows:
        for checked in row.student.answers:
            key = _key(checked)
            if checked.verdict.word != "proved" and key:
                exercise = checked.answer.exercise_id
                groups[exercise, checked.verdict.word, *key].append(
                    (row.student.name, checked)
                )
    common = [
        group for group in groups.values() if len({name for name, _ in group}) > 1
    ]
    common.sort(key=len, reverse=True)
    items = ""
    for group in common[:MOST_GROUPS]:
        first = group[0][1]
        formulas = " ".join(
            typeset(one.latex) for one in first.verdict.asked if one.latex
        )
        title = html.escape(
            titles.get(first.answer.exercise_id, first.answer.exercise_id)
        )
        links = ", ".join(
            f'<a href="#answer-{numbers[id(checked)]}">{html.escape(name)}</a>'
            for name, checked in group
        )
        times = f"<small>{len(group)} times: {links}</small>"
        items += f"<li>{badge(first.verdict.word)} {title}: {formulas} {times}</li>\n"
    if not items:
        return ""
    return f'<section id="equal"><h2>Equal answers that are not proved</h2><ul>{items}</ul></section>\n'


def _cards(
    rows: Sequence[MarkedStudent],
    titles: Mapping[str, str],
    numbers: Mapping[int, int],
) -> str:
    drawn = _drawn(checked for row in rows for checked in row.student.answers)
    cards = ""
    for place, row in enumerate(rows, 1):
        answers = ""
        for checked in row.student.answers:
            to_decide = checked.answer.exercise_id in row.open
            number, is_drawn = numbers[id(checked)], id(checked) in drawn
            answers += card(
                number, checked, titles, is_drawn, level=3, to_decide=to_decide
            )
        name = html.escape(row.student.name)
        nothing = "" if answers else "<p>No answer was found.</p>"
        cards += (
            f'<section class="student" id="student-{place}"><h2>{name}</h2>'
            f"<p>{_summary(row, titles)}</p>{answers}{nothing}{BACK}</section>\n"
        )
    return cards


def _drawn(answers: Iterable[Checked]) -> set[int]:
    with_curve = [id(checked) for checked in answers if checked.verdict.curve]
    return set(with_curve[:MOST_PICTURES])


def _summary(row: MarkedStudent, titles: Mapping[str, str]) -> str:
    most = sum(mark.most for mark in row.marks)
    if not row.open:
        return f"{row.so_far:.4g} of {most:g} points."
    names = ", ".join(html.escape(titles.get(name, name)) for name in row.open)
    return f"{row.so_far:.4g} of {most:g} points so far; still to decide: {names}."


def feedback_page(
    row: MarkedStudent,
    titles: Mapping[str, str],
    assignment: Assignment,
    hints: Hints,
) -> str:
    """The points of one student, comments, and the verdicts with as much as students are told."""
    comments = [mark.decision.comment if mark.decision else "" for mark in row.marks]
    lines = ""
    for mark, comment in zip(row.marks, comments, strict=True):
        title = html.escape(titles.get(mark.exercise, mark.exercise))
        points = "still open," if mark.points is None else f"{mark.points:.4g}"
        word = badge(mark.word) if mark.word else NO_ANSWER[0]
        cells = [word, f"{points} of {mark.most:g}"]
        if any(comments):
            cells.append(html.escape(comment))
        row_cells = "".join(f"<td>{cell}</td>" for cell in cells)
        lines += f'<tr><th scope="row">{title}</th>{row_cells}</tr>\n'
    names = ("exercise", "verdict", "points", *(["comment"] if any(comments) else []))
    heads = [_head(name) for name in names]
    table = _table("Points", "points", heads, lines)
    shown = [hinted(checked, hints) for checked in row.student.answers]
    drawn = _drawn(shown)
    cards = "\n".join(
        card(number, checked, titles, id(checked) in drawn)
        for number, checked in enumerate(shown, 1)
    )
    title = f"{assignment.title}: {row.student.name}"
    body = f"""<header><h1>{html.escape(title)}</h1>
<p class="counts">{_summary(row, titles)}</p></header>
<main class="class feedback">
{table}{cards}
</main>
<footer><p>Formulas are judged; words are not. Checked by Headwright.</p></footer>"""
    return page(title, body)


def feedback_names(
    rows: Sequence[MarkedStudent],
) -> Iterator[tuple[str, MarkedStudent]]:
    """A file's name for each student, from the letters that any system takes."""
    used: set[str] = set()
    for row in rows:
        bare = re.sub(r"[^\w.-]+", "-", row.student.name).strip("-.")[:80] or "student"
        name, more = bare, 1
        while name.lower() in used:
            more += 1
            name = f"{bare}-{more}"
        used.add(name.lower())
        yield f"{name}.html", row
