"""Documents, questions and answers mixed: which section answers which exercise.

An id in a heading, or --exercise, says it; else sections are compared with the exercises, and what was chosen is shown.
A section that fits two exercises about as well, or none, is reported and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from headwright.check.exercise import Exercise
from headwright.check.markdown import Form, Written, find_formulas
from headwright.check.sheets.files import clean, read_text, shortened
from headwright.check.sheets.matching import Matcher, defined
from headwright.check.sheets.outline import DIGIT, MOST_SECTIONS, Line, Section, outline, paragraphs
from headwright.check.sheets.sheet import AnswerText, Problem, Sheet
from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula.parse import expanded
from headwright.formula.parse import macros as macros_of

MOST_ASKED = 8
NOTHING = (
    "no answer was found: write a heading with an exercise's id, such as '## averaging-two', and formulas below it"
)
ASKS = "only questions were found: write the answer below its question, or below a heading with the exercise's id"
LIMIT = f"more than {MOST_SECTIONS} sections: what comes later was read as a part of the last of them"


def read_document(source: str | Path, exercises: Mapping[str, Exercise], exercise: str | None = None) -> Sheet:
    """The answers in a file (`-` is standard input); see `parse_document`."""
    name = clean(str(source)) if str(source) != "-" else "standard input"
    try:
        text = read_text(source)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return parse_document(text, name, exercises, exercise, latex=Path(str(source)).suffix == ".tex")


def parse_document(
    text: str, file: str, exercises: Mapping[str, Exercise], exercise: str | None = None, *, latex: bool = False
) -> Sheet:
    """The answers in a text; with `exercise`, all of it answers that one."""
    matcher = Matcher(exercises)
    preamble, begins, body = text.partition("\\begin{document}")
    macros = preamble if latex and begins else ""
    text = preamble + begins + _expanded(body, macros) if macros else text
    sections = outline(text, latex=latex, named=matcher.named)
    form: Form = "latex" if latex else "markdown"
    if exercise is not None and not any(each.named and each.exercise == exercise for each in sections):
        written = Written(text[len(preamble + begins) :] if macros else text, 1 + macros.count("\n"), form, macros)
        return Sheet(file, (AnswerText(file, 1, exercise, written),))
    asks = any(each.asked for each in sections)
    found = _matched(matcher, sections)
    answers, notes = [], []
    for place, each in enumerate(found):
        line = each.answers or each.line
        if not each.exercise:
            what = f"({each.label}) {each.title}" if each.label else each.title or _text(each.said)
            notes.append(Problem(file, line, f"not judged ({shortened(what, 60)}): {each.why}"))
        elif exercise in (None, each.exercise):
            lines, more = _carried(each, found[:place], exercises[each.exercise])
            first = next((number for number, text in lines if text.strip()), lines[-1][0])
            by_number = dict(lines)
            words = "\n".join(by_number.get(number, "") for number in range(first, lines[-1][0] + 1)).rstrip()
            answers.append(AnswerText(file, line, each.exercise, Written(words, first, form, macros), each.why + more))
    problems = [] if answers or notes else [Problem(file, 1, ASKS if asks else NOTHING)]
    problems += [Problem(file, sections[-1].line, LIMIT)] if len(sections) >= MOST_SECTIONS else []
    return Sheet(file, tuple(answers), tuple(problems), tuple(notes))


def _expanded(body: str, macros: str) -> str:
    """A text with the commands of the preamble put in, line by line."""
    commands, lines = macros_of(macros), body.split("\n")
    for number, line in enumerate(lines):
        try:
            lines[number] = expanded(line, commands).text
        except FormulaError:  # a command that is defined by itself, or grows without bound
            continue
    return "\n".join(lines)


def _matched(matcher: Matcher, sections: Sequence[Section]) -> list[Section]:
    """The sections that may be answers, each with its exercise; items of a list that answer one exercise are one."""
    parents, again = {id(each.path[-2]) for each in sections[1:]}, {each.key for each in sections if each.answers}
    sheet = any(each.named for each in sections)  # a formula above the first heading may be an answer there
    loose = sheet and any(not piece.mention for piece in find_formulas(_text(sections[0].said))[0])
    asking: dict[tuple[str, ...], list[Section]] = {}
    for each in sections[loose:]:
        if not each.answers and (id(each) in parents or each.key in again):
            each.asked, each.said = [*each.asked, *each.said], []  # above a list, or answered below: it is given
        if _text(each.asked).strip():
            asking.setdefault(each.key, []).append(each)
    found: list[Section] = []
    for each in sections:
        by_id = each.named and each.exercise in each.title.lower().replace("_", "-")
        if not by_id and not any(character.isalnum() for character in _text(each.said)):
            continue
        before: list[Section] = []
        if not each.named:
            before = [
                one for one in found[-MOST_ASKED:] if each.rank >= DIGIT <= one.rank and one.path[:-1] == each.path[:-1]
            ]
            asked = list({id(one): one for one in (each, *asking.get(each.key, [])[:MOST_ASKED])}.values())
            texts = {
                "heading": " ".join(one.title for one in asked),
                "asked": "\n".join(_text(one.asked) for one in asked),
                "said": _text(each.said),
                "around": "\n".join(f"{one.title}\n{_text(one.asked)}" for one in each.path[1:-1]),
            }
            carried = defined("\n".join(_text(one.said) for one in before), matcher.names)
            each.exercise, each.why = matcher.match(texts, carried, {one.exercise for one in before})
        same = next((one for one in before if one.exercise and one.exercise == each.exercise), None)
        wanted = matcher.exercises[each.exercise].answer if same else ()
        if same and not (defined(_text(same.said), wanted) and defined(_text(each.said), wanted)):
            same.said += each.said
        else:
            found.append(each)
    return found


def _carried(each: Section, before: Sequence[Section], exercise: Exercise) -> tuple[list[Line], str]:
    """The lines of an answer, with paragraphs of the answer before it that define what it uses; and a word on them."""
    missing = exercise.missing(defined(_text(each.said), exercise.answer))
    for other in reversed(before if missing and not each.named else ()):
        lines = [line for one in paragraphs(other.said) if defined(_text(one), missing) for line in one]
        if other.path[:-1] == each.path[:-1] and len(defined(_text(lines), missing)) == len(missing):
            return [*lines, *each.said], f"; {', '.join(missing)} is taken from line {lines[0][0]}"
    return each.said, ""


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(text for _, text in lines)
