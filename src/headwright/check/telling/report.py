"""Verdicts and exercises as pages: one file, no scripts, nothing fetched; readable in the dark, on paper and aloud.

A class at a glance: students and exercises in a table, and the same mistake told once, with who made it.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from headwright import theme
from headwright.check.running.run import Checked
from headwright.check.sheets.text import Complaint, Handed, gist
from headwright.check.telling.typeset import as_written, in_words, instance, lettered, typeset, value_in_words
from headwright.check.verdict import WORST_FIRST, Curve, Part, Verdict, by_what

if TYPE_CHECKING:
    from headwright.check.exercise import Exercise
from dataclasses import dataclass

from headwright.check.sheets.text import in_order, student_of
from headwright.check.telling.typeset import readable
from headwright.check.verdict import Word, worst

SIGNS = {"proved": "✓", "holds": "≈", "no answer": "○", "refuted": "✗", "unreadable": "?", "undecided": "…"}
MEANINGS = {
    "proved": "true for all parameters in range, by proof",
    "holds": "no counterexample among the instances tried; not a proof",
    "no answer": "true, but not what was asked",
    "refuted": "false, with a counterexample that was evaluated rigorously",
    "unreadable": "not a formula that could be read for this exercise",
    "undecided": "no verdict was reached; ask your teacher",
}
MOST_PICTURES = 100
MOST_FORMULAS = 40
_NAME = re.compile(r"([A-Za-z]|alpha|beta|epsilon|lambda|mu|sigma|theta|tau|delta)(_\{?\w{1,4}\}?)?")


def report(
    checked: Sequence[Checked], complaints: Sequence[Complaint] = (), titles: Mapping[str, str] | None = None
) -> str:
    """The page for these answers; `titles` are those of the exercises, by id.

    >>> from headwright.check.sheets.text import Handed
    >>> page = report([Checked(Handed("sheet.md", 1, "copying", ()), Verdict("unreadable", "no formula"), 0.0)])
    >>> page.startswith("<!doctype html>"), "no formula" in page
    (True, True)
    """
    titles = titles or {}
    drawn = [number for number, each in enumerate(checked) if each.verdict.curve is not None][:MOST_PICTURES]
    cards = "\n".join(_card(number, each, titles, number in drawn) for number, each in enumerate(checked))
    body = f"""<header><h1>Answers checked</h1>
<p class="counts">{_counts(checked)}</p></header>
<main>
{complaints_listed(complaints)}{_overview(checked) if len(checked) > 1 else ""}{cards}
</main>
<footer><dl class="words">{_words(checked)}</dl><p>Checked by Headwright.</p></footer>"""
    return page("Answers checked", body)


def page(title: str, body: str) -> str:
    """A whole page in the report's style; the body is HTML.

    >>> "<title>a &lt; b</title>" in page("a < b", "")
    True
    """
    style = theme.css() + (files("headwright.check.telling") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{html.escape(title)}</title>\n'
        f"<style>\n{style}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _counts(checked: Iterable[Checked]) -> str:
    counts = Counter(each.verdict.word for each in checked)
    return ", ".join(f"{badge(word)} {counts[word]}" for word in reversed(WORST_FIRST) if counts[word]) or "No answers."


def complaints_listed(complaints: Sequence[Complaint]) -> str:
    """What could not be used, as a section of a page."""
    if not complaints:
        return ""
    items = "".join(f"<li><code>{html.escape(c.place)}</code> {html.escape(c.sentence)}</li>" for c in complaints)
    return f'<section class="complaints"><h2>What could not be used</h2><ul>{items}</ul></section>\n'


def _overview(checked: Sequence[Checked]) -> str:
    shared = posixpath.commonprefix([f"{posixpath.dirname(each.answer.place)}/" for each in checked])
    before = shared.rfind("/") + 1  # the folder that all of them are in is told with each answer, below
    rows = "".join(
        f'<tr><th scope="row"><a href="#answer-{number + 1}">{html.escape(each.answer.exercise_id)}</a></th>'
        f"<td>{_path(each.answer.place[before:])}</td><td>{badge(each.verdict.word)}</td>"
        f"<td>{lettered(gist(each.verdict.reason, 160))}</td></tr>\n"
        for number, each in enumerate(checked)
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("exercise", "where", "verdict", "why"))
    table = f'<table class="all"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>'
    return f'<section><h2>All answers</h2><div class="wide">{table}</div></section>\n'


def _card(number: int, each: Checked, titles: Mapping[str, str], drawn: bool) -> str:
    answer, verdict = each.answer, each.verdict
    title = titles.get(answer.exercise_id, answer.exercise_id)
    failing = next((k for k, part in enumerate(verdict.parts) if part.word in ("refuted", "unreadable")), None)
    parts = [
        f'<article id="answer-{number + 1}" class="{_class(verdict.word)}" aria-labelledby="title-{number + 1}">',
        f'<h2 id="title-{number + 1}">{html.escape(title)}</h2>',
        f'<p class="where"><code>{html.escape(answer.exercise_id)}</code> in {_path(answer.place)}</p>',
        _formulas(answer),
        f'<div class="verdict">{badge(verdict.word)}{_said(verdict.reason)}</div>',
        _facts(verdict),
    ]
    where = instance(verdict.counterexample)
    if where:
        parts.append(_counterexample(where, "Counterexample"))
    if drawn and verdict.curve is not None:
        parts.append(_figure(number, verdict.curve))
    if len(verdict.parts) > 1 or (verdict.parts and failing is not None and not verdict.counterexample):
        shown = "".join(_step(part, k == failing, verdict) for k, part in enumerate(verdict.parts))
        unfolded = " open" if failing is not None else ""
        parts.append(f'<details{unfolded}><summary>Step by step</summary><ol class="steps">{shown}</ol></details>')
    return "\n".join(part for part in [*parts, "</article>"] if part)


def _formulas(answer: Handed) -> str:
    shown = "".join(typeset(formula.text, display=True) for formula in answer.formulas[:MOST_FORMULAS])
    more = len(answer.formulas) - MOST_FORMULAS
    source = "".join(f"{as_written(formula.text)}\n" for formula in answer.formulas[:MOST_FORMULAS])
    note = f"<p>... and {more} more formulas</p>" if more > 0 else ""
    if not answer.formulas:
        return ""
    details = f'<details class="source"><summary>as written</summary><pre>{source}</pre></details>'
    return f'<div class="answer">{shown}{note}</div>{details}'


def _facts(verdict: Verdict) -> str:
    facts = [("works from", verdict.threshold), ("suggestion", verdict.suggestion)]
    rows = [f"<dt>{name}</dt><dd>{lettered(said)}</dd>" for name, said in facts if said]
    if verdict.probability:
        rows.append(f"<dt>probability</dt><dd>{lettered(in_words(verdict.probability))}</dd>")
    return f'<dl class="facts">{"".join(rows)}</dl>' if rows else ""


def _counterexample(values: Mapping[str, Any], caption: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_name(str(name))}</th><td>{html.escape(value_in_words(value))}</td></tr>'
        for name, value in values.items()
    )
    return f'<table class="counterexample"><caption>{caption}</caption><tbody>{rows}</tbody></table>'


def _step(part: Part, failing: bool, verdict: Verdict) -> str:
    mark = ' class="failing"' if failing else ""
    own = part.counterexample if failing and part.counterexample != verdict.counterexample else None
    table = _counterexample(instance(own), "with") if instance(own) else ""
    used = f'<span class="used">{html.escape(by_what(part.used))}</span>' if part.used else ""
    head = f'<div class="statement">{typeset(part.statement)} {badge(part.word)}{used}</div>'
    return f"<li{mark}>{head}{_said(part.reason)}{table}</li>"


def _figure(number: int, curve: Curve) -> str:
    from headwright.pictures import curve_picture, render

    drawing = render(curve_picture(replace(curve, words=""), ""), ".svg").decode()  # the words go below, as text
    drawing = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>p{number}-", drawing)  # ids are the page's, not the picture's
    caption = f"<figcaption>{lettered(curve.words)}</figcaption>" if curve.words else ""
    return f"<figure>{drawing}{caption}</figure>"


def badge(word: str) -> str:
    """A verdict's word with its sign."""
    return f'<strong class="badge {_class(word)}"><span aria-hidden="true">{SIGNS[word]}</span> {word}</strong>'


def _class(word: str) -> str:
    return word.replace(" ", "-")


def _said(text: str) -> str:
    """Errors that point into a formula keep their lines."""
    return f"<pre>{html.escape(text)}</pre>" if "\n" in text else f"<p>{lettered(text)}</p>"


def _path(place: str) -> str:
    """Where an answer stands; it may be broken between folders, and nowhere else."""
    return (
        f'<code class="path">{"/<wbr>".join(f"<span>{html.escape(part)}</span>" for part in place.split("/"))}</code>'
    )


def _words(checked: Iterable[Checked]) -> str:
    seen = {each.verdict.word for each in checked}
    return "".join(f"<dt>{badge(word)}</dt><dd>{said}</dd>" for word, said in MEANINGS.items() if word in seen)


def _name(name: str) -> str:
    return typeset(name) if _NAME.fullmatch(name) else html.escape(name)


def statements(exercises: Sequence[Exercise]) -> str:
    """A page with the statements of these exercises.

    >>> from headwright.check.exercise import load_exercises
    >>> "<math" in statements([load_exercises()["averaging-two"]])
    True
    """
    cards = "\n".join(_exercise(exercise) for exercise in exercises)
    return page("Exercises", f"<header><h1>Exercises</h1></header>\n<main>\n{cards}\n</main>")


def _exercise(exercise: Exercise) -> str:
    goals = "".join(f"<li>{typeset(goal)}</li>" for goal in exercise.goals)
    checked = f'<p class="where">What is checked</p><ul>{goals}</ul>' if goals else ""
    name = html.escape(exercise.id)
    return (
        f'<article id="{name}" aria-labelledby="title-{name}"><h2 id="title-{name}">{html.escape(exercise.title)}</h2>'
        f'<p class="where"><code>{name}</code></p><div class="statement">{prose(exercise.statement)}</div>'
        f'{checked}<details class="source"><summary>an answer sheet</summary>'
        f"<pre>{html.escape(exercise.sheet)}</pre></details></article>"
    )


def prose(markdown: str) -> str:
    """Markdown as HTML; what looks like HTML in it is text.

    >>> prose("a < b")
    '<p>a &lt; b</p>\\n'
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(latex: str, how: dict[str, Any]) -> str:
        return typeset(latex, display=bool(how["display_mode"]))

    parser = MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, double_inline=True, renderer=formula)
    return str(parser.render(markdown))


MISSING = "-"
MOST_OF_EXAMPLE = 3  # formulas
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

    >>> from headwright.check.sheets.text import Handed
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
    shown = "".join(typeset(formula.text, display=True) for formula in answer.formulas[:MOST_OF_EXAMPLE])
    many = len(mistake.students)
    return (
        f"<p>{badge(mistake.word)} {html.escape(titles.get(mistake.exercise, mistake.exercise))}: "
        f"{lettered(gist(mistake.what, 400))}</p>"
        f"<p>{many} {'student' if many == 1 else 'students'}: {html.escape(', '.join(mistake.students))}</p>"
        f'<div class="answer">{shown}</div>'
    )
