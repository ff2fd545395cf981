"""Check: an exercise and an answer; verdicts on the required parts, the status of formulas, and sentences to read."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwright.grading.exercise import Exercise
    from headwright.grading.sheets.sheet import AnswerText, Checked, Sheet

MOST_TEXT, MOST_ANSWERS = 200_000, 60
SECONDS = 25.0  # for an answer
EACH, ALL = 15.0, 90.0  # seconds for an answer of a document, and for all of them
MOST_TYPESET = 60  # formulas of one answer
MOST_SHOWN, MOST_READ = (
    40_000,
    300,
)  # characters of one answer, and of one formula as it was read
MARKS = ("$", "\\(", "\\[", "\\begin", "```")  # delimiters of formulas
# What a formula has, and a sentence has not.
_FORMAL = re.compile(r"[=<>≤≥≠≪≫≈∝→∈_^/+*\\]")
_WORD = re.compile(r"[A-Za-z]{2,}")
FEWEST_WORDS = 3  # of a sentence
Id = Annotated[str, Field(min_length=1, max_length=60)]


class ExercisesRequest(RequestModel):
    """All exercises, or one of them with its statement typeset.

    >>> ExercisesRequest().exercise is None
    True
    """

    exercise: Id | None = None


class CheckRequest(RequestModel):
    """The options of `headwright check`, with the text itself in place of a file.

    >>> CheckRequest(text="q = k_a", exercise="averaging-two").hints
    'full'
    """

    text: str = Field(
        min_length=1,
        max_length=MOST_TEXT,
        description="An answer, a sheet or a whole document.",
    )
    exercise: Id | None = Field(
        None, description="The exercise; by default it is found from the text."
    )
    hints: Literal["none", "direction", "full"] = Field(
        "full", description="How much is shown about wrong answers."
    )
    latex: bool = Field(False, description="Whether the text is a LaTeX document.")
    notebook: bool = Field(
        False,
        description="Whether the text is a Jupyter notebook: its Markdown cells are read.",
    )
    report: bool = Field(False, description="Whether to return an HTML report as well.")
    seed: int = Field(0, ge=0, le=10**6)


def exercises(request: ExercisesRequest) -> dict[str, Any]:
    """The output of `headwright exercises --json`; for a single exercise also the statement as HTML.

    >>> exercises(ExercisesRequest(exercise="averaging-two"))["exercises"][0]["title"]
    'Average two values'
    """
    from headwright.grading.exercise import load_exercises
    from headwright.grading.sheets.sheet import find

    known = load_exercises()
    if request.exercise is None:
        return {"exercises": [each.as_json() for each in known.values()]}
    one = find(request.exercise, {name: name for name in known})
    return {"exercises": [described(known[one])]}


def described(exercise: Exercise) -> dict[str, Any]:
    """An exercise as JSON, with its statement and goals typeset."""
    from headwright.grading.report.page import prose
    from headwright.grading.report.typeset import typeset

    shown = {
        "statement": prose(exercise.statement),
        "goals": [typeset(goal) for goal in exercise.goals],
    }
    return {**exercise.as_json(), "shown": shown}


def check(request: CheckRequest) -> dict[str, Any]:
    """The output of `headwright check --json` for one answer, with formulas typeset.

    It is checked in this process, which has limits of time and memory.

    >>> found = check(CheckRequest(text="q = k_a + k_b", exercise="averaging-two", hints="none"))
    >>> found["answers"][0]["verdict"], found["answers"][0]["asked"][0]["reason"]
    ('refuted', 'it is wrong')
    """
    sheet = read(text_of(request), request.exercise, latex=request.latex)
    if len(sheet.answers) > 1:
        raise InputError(
            f"text has {len(sheet.answers)} answers: expected one; use the call `document`",
            field="text",
        )
    return told(request, sheet, [alone(each, request.seed) for each in sheet.answers])


def document(request: CheckRequest) -> dict[str, Any]:
    """The output of `headwright check --json` for all answers in a text.

    Each is checked in its own process, so that one that hits a limit does not affect the others.

    >>> document(CheckRequest(text="Nothing to see here."))["answers"]
    []
    """
    from headwright.grading.running import run

    sheet = read(text_of(request), request.exercise, latex=request.latex)
    if len(sheet.answers) > MOST_ANSWERS:
        raise InputError(
            f"text has {len(sheet.answers)} answers: expected at most {MOST_ANSWERS}",
            field="text",
        )
    return told(
        request, sheet, run(sheet.answers, seed=request.seed, timeout=EACH, within=ALL)
    )


def told(
    request: CheckRequest, sheet: Sheet, checked: Sequence[Checked]
) -> dict[str, Any]:
    """What a page shows of checked answers: the output of `headwright check --json`, and formulas typeset."""
    from headwright.grading.report.text import hinted, results

    shown = [hinted(each, request.hints) for each in checked]
    found = results(shown, sheet.problems, request.seed, sheet.notes)
    for answer, each in zip(found["answers"], shown, strict=True):
        answer["text"] = each.answer.written.text[:MOST_SHOWN]
        answer["shown"] = _shown(each)
    return {**found, "report": _report(shown, sheet) if request.report else None}


def text_of(request: CheckRequest) -> str:
    """The text of a request, or that of the Markdown cells of a notebook."""
    from headwright.grading.sheets.files import notebook_text

    return notebook_text(request.text) if request.notebook else request.text


def read(text: str, exercise: str | None, *, latex: bool = False) -> Sheet:
    """The answers in a text; of formulas alone there is one."""
    from headwright.grading.exercise import load_exercises
    from headwright.grading.markdown import of_formulas
    from headwright.grading.sheets.document import parse_document
    from headwright.grading.sheets.files import clean
    from headwright.grading.sheets.sheet import AnswerText, Sheet, find

    known = load_exercises()
    wanted = None if exercise is None else find(exercise, {one: one for one in known})
    is_bare = not latex and not any(mark in text for mark in MARKS)
    if wanted is not None and is_bare and not in_words(text):
        bare = of_formulas(
            [clean(line.strip()) for line in text.splitlines() if line.strip()]
        )
        return Sheet("the answer", (AnswerText("the answer", 1, wanted, bare),))
    return parse_document(clean(text), "the answer", known, wanted, latex=latex)


def in_words(text: str) -> bool:
    """Whether a text without marks is a sentence, and no formula.

    >>> in_words("It does not change: the softmax sees a set."), in_words("q = large k_a")
    (True, False)
    """
    words = _WORD.findall(text)
    return len(words) >= FEWEST_WORDS and _FORMAL.search(text) is None


def alone(answer: AnswerText, seed: int) -> Checked:
    """One answer, checked in this process, which has limits of time and memory."""
    from headwright.grading.exercise import load_exercises
    from headwright.grading.grade import grade
    from headwright.grading.sheets.sheet import Checked

    started = time.monotonic()
    verdict = grade(load_exercises()[answer.exercise_id], answer.written, seed=seed)
    return Checked(answer, verdict, time.monotonic() - started)


def _shown(each: Checked) -> dict[str, Any]:
    """For a page: formulas as MathML, sentences as HTML, counterexamples in words."""
    from headwright.grading.report.page import prose
    from headwright.grading.report.text import counted
    from headwright.grading.report.typeset import in_words, instance, typeset

    verdict = each.verdict
    return {
        "reason": _said(verdict.reason),
        "threshold": _said(verdict.threshold),
        "suggestion": _said(verdict.suggestion),
        "asked": [
            {
                "formula": typeset(one.latex) if one.latex else "",
                "reason": _said(one.reason),
                "counterexample": in_words(instance(one.counterexample)),
            }
            for one in verdict.asked
        ],
        "formulas": [
            {
                "formula": typeset(one.latex),
                "reason": _said(one.reason),
                "read": _read_as(one.latex),
                "by": f" ({one.used})" if one.used else "",
                "counterexample": in_words(instance(one.counterexample)),
            }
            for one in verdict.formulas[:MOST_TYPESET]
        ],
        "counted": counted(verdict),
        "to_read": [prose(one.text).strip() for one in verdict.to_read[:MOST_TYPESET]],
    }


def _said(sentence: str | None) -> str:
    """A sentence as HTML; one that points into a formula keeps its lines."""
    from html import escape

    from headwright.grading.report.typeset import typeset_sentence

    if sentence is None:
        return ""
    if "\n" in sentence:
        return f"<pre>{escape(sentence)}</pre>"
    return typeset_sentence(sentence)


def _read_as(latex: str) -> str:
    """How a formula was read, in plain spelling; nothing where it could not be."""
    from headwright.formulas import FormulaError, parse
    from headwright.formulas.show import plain

    try:
        return plain(parse(latex))[:MOST_READ]
    except FormulaError:
        return ""


def _report(checked: Sequence[Checked], sheet: Sheet) -> str:
    from headwright.grading.exercise import load_exercises
    from headwright.grading.report.page import report

    known = load_exercises()
    return report(
        checked, sheet.problems, {one: known[one].title for one in known}, sheet.notes
    )


VIEW = View(
    "check",
    "Check",
    "Check an answer to an exercise: a verdict on each required part, the status of every formula, and hints.",
    (
        ApiCall("exercises", ExercisesRequest, exercises),
        ApiCall("check", CheckRequest, check, seconds=SECONDS),
        ApiCall(
            "document",
            CheckRequest,
            document,
            seconds=ALL + 20,
        ),
    ),
)
