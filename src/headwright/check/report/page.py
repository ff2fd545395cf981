"""Verdicts and exercises as pages: one file, no scripts, nothing fetched; readable in the dark, on paper and aloud."""

from __future__ import annotations

import html
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from headwright import theme
from headwright.check.report.text import as_json, counted, said_with
from headwright.check.report.typeset import in_words, instance, lettered, typeset, value_in_words
from headwright.check.running import Checked
from headwright.check.sheets.files import in_order, student_of
from headwright.check.sheets.sheet import Note, Problem
from headwright.check.verdict import WORST_FIRST, Asked, Curve, Formula, Verdict, Word, by_what, worst

if TYPE_CHECKING:
    from headwright.check.exercise import Exercise

SIGNS = {"proved": "✓", "refuted": "✗", "undecided": "…", "missing": "○"}
FORMULA_SIGNS = {"true": "✓", "false": "✗", "open": "…", "quoted": "“ ”"}
MEANINGS: dict[Word, str] = {
    "proved": "what was asked for is true for all parameters in range, by proof",
    "refuted": "what was asked for is false, with a counterexample that was evaluated rigorously",
    "undecided": "no verdict was reached: a person decides",
    "missing": "no formula has the name or shape that was asked for",
}
MOST_PICTURES = 100
MOST_FORMULAS = 60
_NAME = re.compile(r"([A-Za-z]|alpha|beta|epsilon|lambda|mu|sigma|theta|tau|delta)(_\{?\w{1,4}\}?)?")


def report(
    checked: Sequence[Checked], problems: Sequence[Problem] = (), titles: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
) -> str:  # fmt: skip
    """The page for these answers; `titles` are those of the exercises, by id.

    >>> from headwright.check.markdown import Written
    >>> from headwright.check.sheets.sheet import AnswerText
    >>> page = report([Checked(AnswerText("sheet.md", 1, "copying", Written("")), Verdict("missing", "no formula"))])
    >>> page.startswith("<!doctype html>"), "no formula" in page
    (True, True)
    """
    titles = titles or {}
    drawn = [number for number, each in enumerate(checked) if each.verdict.curve is not None][:MOST_PICTURES]
    cards = "\n".join(_card(number, each, titles, number in drawn) for number, each in enumerate(checked))
    counts = Counter(each.verdict.word for each in checked)
    shown = ", ".join(f"{badge(word)} {counts[word]}" for word in reversed(WORST_FIRST) if counts[word])
    meanings = "".join(f"<dt>{badge(word)}</dt><dd>{said}</dd>" for word, said in MEANINGS.items() if counts[word])
    body = f"""<header><h1>Answers checked</h1>
<p class="counts">{shown or "No answers."}</p></header>
<main>
{listed("What could not be used", problems)}{listed("What was not judged", notes)}{_overview(checked)}{cards}
</main>
<footer><dl class="words">{meanings}</dl><p>Formulas are judged; words are not. Checked by Headwright.</p></footer>"""
    return page("Answers checked", body)


def page(title: str, body: str) -> str:
    """A whole page in the report's style; the body is HTML.

    >>> "<title>a &lt; b</title>" in page("a < b", "")
    True
    """
    style = theme.css() + (files("headwright.check.report") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{html.escape(title)}</title>\n'
        f"<style>\n{style}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def listed(title: str, problems: Sequence[Problem]) -> str:
    """Problems or notes as a section of a page."""
    items = "".join(f"<li><code>{html.escape(c.place)}</code> {html.escape(c.sentence)}</li>" for c in problems)
    return f'<section class="complaints"><h2>{title}</h2><ul>{items}</ul></section>\n' if items else ""


def _overview(checked: Sequence[Checked]) -> str:
    if len(checked) < 2:
        return ""
    shared = posixpath.commonprefix([f"{posixpath.dirname(each.answer.place)}/" for each in checked])
    before = shared.rfind("/") + 1  # the folder that all of them are in is told with each answer, below
    rows = "".join(
        f'<tr><th scope="row"><a href="#answer-{number + 1}">{html.escape(each.answer.exercise_id)}</a></th>'
        f"<td><code>{html.escape(each.answer.place[before:])}</code></td><td>{badge(each.verdict.word)}</td>"
        f"<td>{counted(each.verdict)}</td><td>{len(each.verdict.to_read) or ''}</td></tr>\n"
        for number, each in enumerate(checked)
    )
    names = ("exercise", "where", "verdict", "formulas", "sentences to read")
    return _section("All answers", names, rows)


def _section(title: str, names: Sequence[str], rows: str) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    table = f'<table class="all"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>'
    return f'<section><h2>{title}</h2><div class="wide">{table}</div></section>\n'


def _card(number: int, each: Checked, titles: Mapping[str, str], drawn: bool) -> str:
    answer, verdict = each.answer, each.verdict
    title = titles.get(answer.exercise_id, answer.exercise_id)
    chosen = f'<p class="where">matched: {html.escape(answer.chosen)}</p>' if answer.chosen else ""
    facts = [("works from", verdict.threshold), ("suggestion", verdict.suggestion)]
    rows = [f"<dt>{name}</dt><dd>{lettered(said)}</dd>" for name, said in facts if said]
    if verdict.probability:
        rows.append(f"<dt>probability</dt><dd>{lettered(in_words(verdict.probability))}</dd>")
    parts = [
        f'<article id="answer-{number + 1}" class="{verdict.word}" aria-labelledby="title-{number + 1}">',
        f'<h2 id="title-{number + 1}">{html.escape(title)}</h2>',
        f'<p class="where"><code>{html.escape(answer.exercise_id)}</code> '
        f"in <code>{html.escape(answer.place)}</code></p>",
        chosen,
        "".join(map(_asked, verdict.asked)),
        "" if verdict.asked else f'<div class="verdict">{badge(verdict.word)}{_said(verdict.reason)}</div>',
        f'<dl class="facts">{"".join(rows)}</dl>' if rows else "",
        _figure(number, verdict.curve) if drawn and verdict.curve is not None else "",
        _formulas(verdict),
        _to_read(verdict),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _asked(one: Asked) -> str:
    what = (
        f"{typeset(one.latex)} <small>line {one.line}</small>" if one.line else f"<code>{html.escape(one.part)}</code>"
    )
    optional = " <small>optional</small>" if one.optional else ""
    where = instance(one.counterexample)
    table = _counterexample(where) if where else ""
    return f'<div class="verdict">{badge(one.word)} {what}{optional}{_said(one.reason)}{table}</div>'


def _formulas(verdict: Verdict) -> str:
    if not verdict.formulas:
        return ""
    items = "".join(map(_formula, verdict.formulas[:MOST_FORMULAS]))
    more = len(verdict.formulas) - MOST_FORMULAS
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    unfolded = " open" if any(one.status == "false" for one in verdict.formulas) else ""
    return (
        f"<details{unfolded}><summary>Formulas: {counted(verdict)}</summary>"
        f'<ol class="steps">{items}</ol>{rest}</details>'
    )


def _formula(one: Formula) -> str:
    mark = ' class="failing"' if one.status == "false" else ""
    sign = f'<span aria-hidden="true">{FORMULA_SIGNS[one.status]}</span>'
    said = said_with(one.reason, one.counterexample)
    used = f'<span class="used">{html.escape(by_what(one.used))}</span>' if one.used else ""
    return (
        f'<li{mark}><div class="statement"><strong class="badge {one.status}">{sign} {one.status}</strong> '
        f"{typeset(one.latex)} <small>line {one.line}</small>{used}</div>{_said(said) if said else ''}</li>"
    )


def _to_read(verdict: Verdict) -> str:
    items = "".join(
        f"<li><small>line {one.line}</small> {prose(one.text).strip()}</li>" for one in verdict.to_read[:MOST_FORMULAS]
    )
    summary = f"<summary>To read: {len(verdict.to_read)} sentences, which are not judged</summary>"
    return f'<details class="read">{summary}<ul>{items}</ul></details>' if items else ""


def _counterexample(values: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{typeset(name) if _NAME.fullmatch(name) else html.escape(name)}</th>'
        f"<td>{html.escape(value_in_words(value))}</td></tr>"
        for name, value in values.items()
    )
    return f'<table class="counterexample"><caption>Counterexample</caption><tbody>{rows}</tbody></table>'


def _figure(number: int, curve: Curve) -> str:
    from headwright.pictures import curve_picture, render

    drawing = render(curve_picture(replace(curve, words=""), ""), ".svg").decode()  # the words go below, as text
    drawing = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>p{number}-", drawing)  # ids are the page's, not the picture's
    caption = f"<figcaption>{lettered(curve.words)}</figcaption>" if curve.words else ""
    return f"<figure>{drawing}{caption}</figure>"


def badge(word: str) -> str:
    """A verdict's word with its sign."""
    return f'<strong class="badge {word}"><span aria-hidden="true">{SIGNS[word]}</span> {word}</strong>'


def _said(text: str) -> str:
    """Errors that point into a formula keep their lines."""
    return f"<pre>{html.escape(text)}</pre>" if "\n" in text else f"<p>{lettered(text)}</p>"


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


@dataclass(frozen=True)
class Student:
    """What one student handed in: the answers, how many false formulas they have, and how many sentences to read."""

    name: str
    answers: tuple[Checked, ...]

    @property
    def false(self) -> int:
        """False formulas that count."""
        return sum(len(each.verdict.false_formulas) for each in self.answers)

    @property
    def to_read(self) -> int:
        """Sentences to read."""
        return sum(len(each.verdict.to_read) for each in self.answers)

    def word(self, exercise: str) -> Word | None:
        """The verdict on an exercise; the worst, where it is answered more than once."""
        words = [each.verdict.word for each in self.answers if each.answer.exercise_id == exercise]
        return worst(words) if words else None


@dataclass(frozen=True)
class Classroom:
    """A class: students with the most false formulas come first, then those with the most sentences to read."""

    students: tuple[Student, ...]
    exercises: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "students": [
                {
                    "student": one.name,
                    "false_formulas": one.false,
                    "to_read": one.to_read,
                    "verdicts": {each: one.word(each) for each in self.exercises if one.word(each)},
                    "answers": [as_json(each) for each in one.answers],
                }
                for one in self.students
            ]
        }


def classroom(checked: Sequence[Checked], names: Iterable[str] = ()) -> Classroom:
    """The class that handed these in, and those whose files hold no answer: see `student_of`.

    >>> from headwright.check.markdown import Written
    >>> from headwright.check.sheets.sheet import AnswerText
    >>> ada, ben = (AnswerText(name, 1, "copying", Written("")) for name in ("ada.md", "ben.md"))
    >>> false = Formula(2, "1 = 2", "false", "claim", True)
    >>> room = classroom([Checked(ada, Verdict("proved", "")), Checked(ben, Verdict("proved", "", (), (false,)))])
    >>> [one.name for one in room.students], room.exercises
    (['ben', 'ada'], ('copying',))
    """
    found: dict[str, list[Checked]] = {name: [] for name in names}
    for each in checked:
        found.setdefault(student_of(each.answer.file), []).append(each)
    students = [Student(name, tuple(answers)) for name, answers in found.items()]
    students.sort(key=lambda one: (-one.false, -one.to_read, in_order(one.name)))
    return Classroom(tuple(students), tuple(dict.fromkeys(each.answer.exercise_id for each in checked)))


def classroom_page(
    room: Classroom,
    problems: Sequence[Problem] = (),
    titles: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
) -> str:
    """The class as a page: a table, then all answers, in the same order."""
    titles = titles or {}
    rows = "".join(
        f'<tr><th scope="row">{html.escape(one.name)}</th><td>{one.false or ""}</td><td>{one.to_read or ""}</td>'
        + "".join(f"<td>{badge(word) if (word := one.word(each)) else '-'}</td>" for each in room.exercises)
        + "</tr>\n"
        for one in room.students
    )
    names = ["student", "false formulas", "sentences to read", *(titles.get(each, each) for each in room.exercises)]
    answers = sorted(
        (each for one in room.students for each in one.answers),
        key=lambda each: (-len(each.verdict.false_formulas), -len(each.verdict.to_read)),
    )
    table = _section("Students", names, rows)
    cards = "\n".join(_card(number, each, titles, False) for number, each in enumerate(answers))
    body = f"""<header><h1>The class</h1></header>
<main>
{listed("What could not be used", problems)}{listed("What was not judged", notes)}{table}{cards}
</main>"""
    return page("The class", body)
