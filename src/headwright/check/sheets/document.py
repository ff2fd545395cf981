"""Documents, questions and answers mixed: which section answers which exercise.

An id in a heading, or --exercise, says it; else sections are compared with the exercises, and what was chosen is shown.
A section that fits two exercises about as well, or none, is reported and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwright.check.exercise import Exercise
from headwright.check.markdown import Form, Written, find_formulas
from headwright.check.sheets.files import clean, read_text, shortened
from headwright.check.sheets.matching import Match, Matcher, defined
from headwright.check.sheets.outline import DIGIT, Line, Section, outline, paragraphs, spoken
from headwright.check.sheets.sheet import AnswerText, Note, Problem, Sheet
from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula.parse import Macro, expanded
from headwright.formula.parse import macros as macros_of

MOST_ANSWERS, MOST_ASKED = 500, 8
NOTHING = (
    "no answer was found: write a heading with an exercise's id, such as '## averaging-two', and the formula below it "
    "between $ signs"
)

ASKS = "only questions were found: write the answer below its question, or below a heading with the exercise's id"


def read_document(source: str | Path, exercises: Mapping[str, Exercise], exercise: str | None = None) -> Sheet:
    """The answers in a file (`-` is standard input); see `parse_document`."""
    name = clean(str(source)) if str(source) != "-" else "standard input"
    try:
        text = read_text(source)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return parse_document(text, name, exercises, exercise, latex=Path(str(source)).suffix == ".tex")


@dataclass
class _Found:
    """What may be an answer: its sections, its lines, and the exercise that it fits."""

    sections: list[Section]
    lines: list[Line]
    match: Match


def parse_document(
    text: str, file: str, exercises: Mapping[str, Exercise], exercise: str | None = None, *, latex: bool = False
) -> Sheet:
    r"""The answers in a text; with `exercise`, all of it answers that one.

    >>> from headwright.check.exercise import load_exercises
    >>> text = "(a) Average two values.\n\nSolution: Set $q = \\lambda (k_a + k_b)$; the keys are orthonormal.\n"
    >>> answer = parse_document(text, "homework.txt", load_exercises()).answers[0]
    >>> answer.exercise_id, answer.line, answer.written.text
    ('averaging-two', 3, 'Set $q = \\lambda (k_a + k_b)$; the keys are orthonormal.')
    """
    matcher = Matcher(exercises)
    preamble, begins, body = text.partition("\\begin{document}")
    macros = preamble if latex and begins else ""
    if macros:
        commands = macros_of(macros)
        text = preamble + begins + "\n".join(_expanded(line, commands) for line in body.split("\n"))
    sections = outline(text, latex=latex, named=matcher.named)
    form: Form = "latex" if latex else "markdown"
    if exercise is not None and not any(each.named == exercise for each in sections):
        written = Written(text[len(preamble + begins) :] if macros else text, 1 + macros.count("\n"), form, macros)
        return Sheet(file, (AnswerText(file, 1, exercise, written),))
    found = _answers(matcher, sections)
    answers, notes = [], []
    for place, each in enumerate(found):
        chosen = each.match.exercise_id
        first = each.sections[0]
        line = first.answers or first.line
        if not chosen:
            notes.append(Note(file, line, _unmatched(each), unjudged=True))
        elif exercise is None or chosen == exercise:
            lines, more = _carried(each, found[:place], exercises[chosen])
            answers.append(AnswerText(file, line, chosen, _written(lines, form, macros), each.match.why + more))
    asks = any(spoken(each)[0] for each in sections)
    problems = [] if answers or notes else [Problem(file, 1, ASKS if asks else NOTHING)]
    if len(answers) > MOST_ANSWERS:
        problems.append(
            Problem(file, answers[MOST_ANSWERS].line, f"more than {MOST_ANSWERS} answers: the rest is not read")
        )
    return Sheet(file, tuple(answers[:MOST_ANSWERS]), tuple(problems), tuple(notes))


def _expanded(line: str, commands: Mapping[str, Macro]) -> str:
    """A line with the commands of the preamble put in."""
    try:
        return expanded(line, commands)
    except FormulaError:  # one that is defined by itself, or grows without bound
        return line


def _answers(matcher: Matcher, sections: Sequence[Section]) -> list[_Found]:
    """All that may be an answer; items of one list that answer one exercise are one answer."""
    parents, again = {id(each.above) for each in sections}, {each.key for each in sections if each.answers}
    parts = {id(each): spoken(each) for each in sections}
    asking: dict[tuple[str, ...], list[Section]] = {}
    sheet = any(each.named for each in sections)  # a formula above the first heading may be an answer there
    loose = sheet and any(not piece.mention for piece in find_formulas(_text(parts[id(sections[0])][1]))[0])
    for each in sections[loose:]:
        if not each.answers and (id(each) in parents or each.key in again):
            parts[id(each)] = (each.lines, [])  # what stands above a list, and what is answered below, is given
        if _text(parts[id(each)][0]).strip():
            asking.setdefault(each.key, []).append(each)
    groups: dict[tuple[bool, int], list[_Found]] = {}
    waiting: list[Section] = []  # questions that nothing answers yet: '(i) ... (ii) ... Answer: ...' answers both
    for each in sections:
        said = parts[id(each)][1]
        by_id = each.named and each.named in each.title.lower().replace("_", "-")
        if not by_id and not any(character.isalnum() for character in _text(said)):
            waiting = [*(other for other in waiting if other.above is each.above), each]
            continue
        listed = each.rank >= DIGIT and not each.named
        group = groups.setdefault((listed, id(each.above if listed else each)), [])
        found = _Found([each], said, Match(each.named))
        if not each.named:
            others = [other for other in asking.get(each.key, [])[:MOST_ASKED] if other is not each]
            if not others and each.answers > each.line:
                others = [other for other in waiting[-MOST_ASKED:] if other.above is each.above]
            above = {id(other): other for one in (each, *others) for other in one.path[:-1] if other.rank}
            texts = {
                "heading": " ".join(one.title for one in (each, *others)),
                "asked": "\n".join(_text(parts[id(one)][0]) for one in (each, *others)),
                "said": _text(said),
                "around": "\n".join(f"{one.title}\n{_text(parts[id(one)][0])}" for one in above.values()),
            }
            earlier = group[-MOST_ASKED:]
            carried = defined("\n".join(_text(one.lines) for one in earlier), matcher.names)
            found.match = matcher.match(texts, carried, {one.match.exercise_id for one in earlier})
        waiting = []
        group.append(found)
    joined = [one for group in groups.values() for one in _joined(matcher, group)]
    return sorted(joined, key=lambda one: one.lines[0][0])


def _joined(matcher: Matcher, group: list[_Found]) -> list[_Found]:
    """The items of a list; as one answer, where at most one of them defines what is asked for."""
    fits = {one.match.exercise_id for one in group} - {""}
    if len(group) < 2 or len(fits) > 1:
        return group
    mine = [one for one in group if one.match.exercise_id] or group
    match = mine[0].match
    wanted = matcher.exercises[match.exercise_id].answer if fits else matcher.names
    if sum(bool(defined(_text(one.lines), wanted)) for one in mine) > 1:
        return group
    together = _Found(
        [each for one in mine for each in one.sections], [line for one in mine for line in one.lines], match
    )
    if not fits:
        title = group[0].sections[0].path[-2].title
        together.match = matcher.match({"heading": title, "asked": "", "said": _text(together.lines)})
    return [together, *(one for one in group if one not in mine)] if together.match.exercise_id else group


def _carried(each: _Found, before: Sequence[_Found], exercise: Exercise) -> tuple[list[Line], str]:
    """The lines of an answer, with paragraphs of the answer before it that define what it uses; and a word on them."""
    missing = exercise.missing(defined(_text(each.lines), exercise.answer))
    if each.sections[0].named:  # an answer sheet: each section answers by itself
        return each.lines, ""
    for other in reversed(before if missing else ()):
        if other.sections[0].above is not each.sections[0].above:
            continue
        chosen = [one for one in paragraphs(other.lines) if defined(_text(one), missing)]
        lines = [line for one in chosen for line in one]
        if len(defined(_text(lines), missing)) == len(missing):
            return [*lines, *each.lines], f"; {', '.join(missing)} is taken from line {lines[0][0]}"
    return each.lines, ""


def _written(lines: Sequence[Line], form: Form, macros: str) -> Written:
    first = next((number for number, text in lines if text.strip()), lines[-1][0])
    by_number: dict[int, str] = {}
    for number, text in lines:
        by_number[number] = f"{by_number[number]} {text}".strip() if number in by_number else text
    text = "\n".join(by_number.get(number, "") for number in range(first, max(by_number) + 1))
    return Written(text.rstrip(), first, form, macros)


def _unmatched(each: _Found) -> str:
    near, section = each.match.near, each.sections[0]
    what = " ".join((*(f"({one})" for one in section.key[-1:]), section.title)) or _text(each.lines)
    if near:
        return f"not judged ({shortened(what, 60)}): it may answer {' or '.join(near)}; write '## {near[0]}' above it"
    return f"not judged ({shortened(what, 60)}): it is like no exercise; write '## ' and an exercise's id above it"


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(text for _, text in lines)
