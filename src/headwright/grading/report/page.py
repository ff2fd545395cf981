"""Verdicts and exercises as pages: one file, no scripts, nothing fetched; readable in the dark, on paper and aloud."""

from __future__ import annotations

import html
import posixpath
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from headwright import theme
from headwright.grading.report.text import counted, said_with
from headwright.grading.report.typeset import (
    instance,
    lettered,
    typeset,
    typeset_sentence,
    value_in_words,
)
from headwright.grading.sheets.sheet import Checked, Problem
from headwright.grading.verdict import WORST_FIRST, Curve, Verdict, Word

if TYPE_CHECKING:
    from headwright.grading.exercise import Exercise

SIGNS = {"proved": "✓", "refuted": "✗", "undecided": "…", "missing": "○"}
SIGNS_OF_FORMULAS = {"true": "✓", "false": "✗", "open": "…", "quoted": "“ ”"}
MEANINGS: dict[Word, str] = {
    "proved": "what was asked for is true for all parameters in range, by proof",
    "refuted": "what was asked for is false, with a counterexample that was evaluated rigorously",
    "undecided": "no verdict was reached: a person decides",
    "missing": "no formula has the name or shape that was asked for",
}
MOST_PICTURES, MOST_FORMULAS = 100, 60
_NAME = re.compile(
    r"([A-Za-z]|alpha|beta|epsilon|lambda|mu|sigma|theta|tau|delta)(_\{?\w{1,4}\}?)?"
)


def report(
    checked: Sequence[Checked],
    problems: Sequence[Problem] = (),
    titles: Mapping[str, str] | None = None,
    notes: Sequence[Problem] = (),
) -> str:
    """The page for these answers; `titles` are those of the exercises, by id."""
    shared = posixpath.commonprefix(
        [f"{posixpath.dirname(each.answer.place)}/" for each in checked]
    )
    before = (
        shared.rfind("/") + 1
    )  # the folder that all of them are in is told with each answer, below
    rows = "".join(
        f'<tr><th scope="row"><a href="#answer-{number}">{html.escape(each.answer.exercise_id)}</a></th>'
        f"<td><code>{html.escape(each.answer.place[before:])}</code></td><td>{badge(each.verdict.word)}</td>"
        f"<td>{counted(each.verdict)}</td><td>{len(each.verdict.to_read) or ''}</td></tr>\n"
        for number, each in enumerate(checked, 1)
    )
    names = ("exercise", "where", "verdict", "formulas", "sentences to read")
    table = _table("All answers", names, rows) if len(checked) > 1 else ""
    return _answers("Answers checked", table, checked, problems, titles or {}, notes)


def _answers(
    title: str,
    table: str,
    checked: Sequence[Checked],
    problems: Sequence[Problem],
    titles: Mapping[str, str],
    notes: Sequence[Problem],
) -> str:
    drawn = [
        number
        for number, each in enumerate(checked, 1)
        if each.verdict.curve is not None
    ][:MOST_PICTURES]
    cards = "\n".join(
        card(number, each, titles, number in drawn)
        for number, each in enumerate(checked, 1)
    )
    counts = Counter(each.verdict.word for each in checked)
    shown = ", ".join(
        f"{badge(word)} {counts[word]}"
        for word in reversed(WORST_FIRST)
        if counts[word]
    )
    unmatched = f"; {len(notes)} not judged" if notes else ""
    meanings = "".join(
        f"<dt>{badge(word)}</dt><dd>{said}</dd>"
        for word, said in MEANINGS.items()
        if counts[word]
    )
    lists = "".join(
        map(
            listed,
            ("What could not be used", "What was not judged"),
            (problems, notes),
        )
    )
    body = f"""<header><h1>{title}</h1>
<p class="counts">{shown or "No answers."}{unmatched}</p></header>
<main>
{lists}{table}{cards}
</main>
<footer><dl class="words">{meanings}</dl><p>Formulas are judged; words are not. Checked by Headwright.</p></footer>"""
    return page(title, body)


def page(title: str, body: str) -> str:
    """A whole page in the report's style; the body is HTML."""
    style = theme.css() + (files("headwright.grading.report") / "report.css").read_text(
        encoding="utf-8"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{html.escape(title)}</title>\n'
        f"<style>\n{style}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def listed(title: str, problems: Sequence[Problem], *, folded: bool = False) -> str:
    """What was not used or judged, as a section; folded, its number is seen first."""
    items = "".join(
        f"<li><code>{html.escape(c.place)}</code> {html.escape(c.sentence)}</li>"
        for c in problems
    )
    if not items:
        return ""
    content = f"<h2>{title}</h2><ul>{items}</ul>"
    if folded:
        summary = f"<summary>{title}: {len(problems)}</summary>"
        content = f"<details>{summary}<ul>{items}</ul></details>"
    return f'<section class="complaints">{content}</section>\n'


def _table(title: str, names: Sequence[str], rows: str) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    table = f'<table class="all"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>'
    return f'<section><h2>{title}</h2><div class="wide">{table}</div></section>\n'


def card(
    number: int,
    each: Checked,
    titles: Mapping[str, str],
    drawn: bool,
    level: int = 2,
    *,
    to_decide: bool = False,
) -> str:
    """An answer with its verdicts; `level` is that of its heading.

    Where a person has to decide, the sentences to read are unfolded.
    """
    answer, verdict = each.answer, each.verdict
    exercise, place = html.escape(answer.exercise_id), html.escape(answer.place)
    title = html.escape(titles.get(answer.exercise_id, answer.exercise_id))
    facts = {"works from": verdict.threshold, "suggestion": verdict.suggestion}
    rows = "".join(
        f"<dt>{name}</dt><dd>{typeset_sentence(said)}</dd>"
        for name, said in facts.items()
        if said
    )
    asked = ""
    for one in verdict.asked:
        what = (
            f"{typeset(one.latex)} <small>line {one.line}</small>"
            if one.line
            else f"<code>{html.escape(one.part)}</code>"
        )
        optional = " <small>optional</small>" if one.optional else ""
        shown = _said(one.reason) + _counterexample(one.counterexample)
        asked += f'<div class="verdict">{badge(one.word)} {what}{optional}{shown}</div>'
    return f"""<article id="answer-{number}" class="{verdict.word}" aria-labelledby="title-{number}">
<h{level} id="title-{number}">{title}</h{level}>
<p class="where"><code>{exercise}</code> in <code>{place}</code></p>
{f'<p class="where">matched {html.escape(answer.chosen)}</p>' if answer.chosen else ""}
{asked or f'<div class="verdict">{badge(verdict.word)}{_said(verdict.reason)}</div>'}
{f'<dl class="facts">{rows}</dl>' if rows else ""}
{_figure(number, verdict.curve) if drawn and verdict.curve is not None else ""}
{_formulas(verdict, to_decide=to_decide)}
</article>"""


def _formulas(verdict: Verdict, *, to_decide: bool) -> str:
    """Every formula with its status, and the sentences to read."""
    items = ""
    for one in verdict.formulas[:MOST_FORMULAS]:
        mark = ' class="failing"' if one.status == "false" else ""
        said = said_with(one.reason, one.counterexample)
        sign = f'<span aria-hidden="true">{SIGNS_OF_FORMULAS[one.status]}</span>'
        used = (
            f'<span class="used">{html.escape(f" ({one.used})")}</span>'
            if one.used
            else ""
        )
        items += (
            f'<li{mark}><div class="statement"><strong class="badge {one.status}">{sign} {one.status}</strong> '
            f"{typeset(one.latex)} <small>line {one.line}</small>{used}</div>"
            f"{_said(said) if said else ''}</li>"
        )
    more = len(verdict.formulas) - MOST_FORMULAS
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    unfolded = " open" if any(one.status == "false" for one in verdict.formulas) else ""
    told = f"<details{unfolded}><summary>Formulas: {counted(verdict)}</summary>"
    told += f'<ol class="steps">{items}</ol>{rest}</details>'
    read = "".join(
        f"<li><small>line {s.line}</small> {prose(s.text).strip()}</li>"
        for s in verdict.to_read[:MOST_FORMULAS]
    )
    summary = f"<summary>Sentences to read, which are not judged: {len(verdict.to_read)}</summary>"
    return (told if items else "") + (
        f'<details class="read"{" open" if to_decide else ""}>{summary}<ul>{read}</ul></details>'
        if read
        else ""
    )


def _counterexample(counterexample: Mapping[str, Any] | None) -> str:
    rows = "".join(
        f'<tr><th scope="row">{typeset(name) if _NAME.fullmatch(name) else html.escape(name)}</th>'
        f"<td>{html.escape(value_in_words(value))}</td></tr>"
        for name, value in instance(counterexample).items()
    )
    table = f'<table class="counterexample"><caption>Counterexample</caption><tbody>{rows}</tbody></table>'
    return table if rows else ""


def _figure(number: int, curve: Curve) -> str:
    from headwright.pictures import curve_picture, render

    drawing = render(
        curve_picture(replace(curve, words=""), ""), ".svg"
    ).decode()  # the words go below, as text
    drawing = re.sub(
        r'(\bid="|url\(#|href="#)', rf"\g<1>p{number}-", drawing
    )  # ids are the page's, not the picture's
    caption = f"<figcaption>{lettered(curve.words)}</figcaption>" if curve.words else ""
    return f"<figure>{drawing}{caption}</figure>"


def badge(word: str) -> str:
    """A verdict's word with its sign."""
    return f'<strong class="badge {word}"><span aria-hidden="true">{SIGNS[word]}</span> {word}</strong>'


def _said(text: str) -> str:
    """Errors that point into a formula keep their lines."""
    return (
        f"<pre>{html.escape(text)}</pre>"
        if "\n" in text
        else f"<p>{typeset_sentence(text)}</p>"
    )


def statements(exercises: Sequence[Exercise]) -> str:
    """A page with the statements of these exercises."""
    cards = ""
    for one in exercises:
        goals = "".join(f"<li>{typeset(goal)}</li>" for goal in one.goals)
        checked = (
            f'<p class="where">What is checked</p><ul>{goals}</ul>' if goals else ""
        )
        cards += (
            f'<article id="{one.id}"><h2>{html.escape(one.title)}</h2><p class="where"><code>{one.id}</code></p>'
            f'<div class="statement">{prose(one.statement)}</div>{checked}<details class="source">'
            f"<summary>an answer sheet</summary><pre>{html.escape(one.sheet)}</pre></details></article>\n"
        )
    return page(
        "Exercises", f"<header><h1>Exercises</h1></header>\n<main>\n{cards}</main>"
    )


def prose(markdown: str) -> str:
    """Markdown as HTML; what looks like HTML in it is text."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(latex: str, how: dict[str, Any]) -> str:
        return typeset(latex, display=bool(how["display_mode"]))

    parser = MarkdownIt("commonmark", {"html": False}).use(
        dollarmath_plugin, double_inline=True, renderer=formula
    )
    return str(parser.render(markdown))
