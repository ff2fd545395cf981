"""Check: an exercise, an answer, how it was read, and the verdict; hints a step at a time; and whole documents."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.asking import Tell
from headwright.lab.room import Asked, Call, Room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwright.check.reading.written import Formula, Written
    from headwright.check.running.run import Checked
    from headwright.check.sheets.sheet import Sheet
    from headwright.check.sheets.text import Handed
    from headwright.check.verdict import Reading

MOST_TEXT, MOST_ANSWERS = 200_000, 60
SECONDS = 25.0  # for an answer
EACH, ALL = 15.0, 90.0  # seconds for an answer of a document, and for all of them
MOST_TYPESET = 60  # formulas of one answer
WORDS = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{3,} [A-Za-z]{2,}")  # of a sentence: no formula has two in a row
IN_TEXT = re.compile(r"\\(?:text|mathrm|operatorname)\*?\{[^{}]*\}")
MARKS = ("$", "\\(", "\\[", "\\begin", "```")  # what says where a formula begins
Id = Annotated[str, Field(min_length=1, max_length=60)]
Number = Annotated[str, Field(min_length=1, max_length=20)]


class AskedForExercises(Asked):
    """All exercises, or one of them with its statement typeset.

    >>> AskedForExercises().exercise is None
    True
    """

    exercise: Id | None = None


class AskedToCheck(Asked):
    """The options of `headwright check`, with the text itself in place of a file.

    >>> AskedToCheck(text="q = k_a", exercise="averaging-two").hints
    'full'
    """

    text: str = Field(min_length=1, max_length=MOST_TEXT, description="An answer, a sheet or a whole document.")
    exercise: Id | None = Field(None, description="The exercise that is answered; without it, the text is looked at.")
    hints: Literal["none", "direction", "full"] = Field("full", description="How much is told.")
    latex: bool = Field(False, description="Whether the text is a LaTeX document.")
    report: bool = Field(False, description="Whether the verdicts are wanted as a page, too.")
    seed: int = Field(0, ge=0, le=10**6)


class AskedToCompare(Asked):
    """An answer beside a right one, at chosen numbers.

    >>> AskedToCompare(text="q = k_a", exercise="averaging-two").n
    10
    """

    text: str = Field(min_length=1, max_length=MOST_TEXT)
    exercise: Id
    n: int = Field(10, ge=2, le=40, description="How many keys.")
    m: int = Field(2, ge=1, le=39, description="How many of them are meant, where the exercise says so.")
    epsilon: Number = Field("0.1", description="The tolerance.")
    large: Number = Field("10", description="What an answer's own names are, such as lambda.")
    length: Number = Field("1/2", description="How long the key of uncertain length is, where there is one.")


def exercises(asked: AskedForExercises) -> dict[str, Any]:
    """What `headwright exercises --json` says; of one exercise the statement as HTML too.

    >>> exercises(AskedForExercises(exercise="averaging-two"))["exercises"][0]["title"]
    'Average two values'
    """
    from headwright.check.catalogue import load_exercises
    from headwright.check.sheets.text import find
    from headwright.check.telling.report import prose
    from headwright.check.telling.typeset import typeset

    known = load_exercises()
    if asked.exercise is None:
        return {"exercises": [each.as_json() for each in known.values()]}
    one = find(asked.exercise, {name: name for name in known})
    shown = {"statement": prose(known[one].statement), "goals": [typeset(goal) for goal in known[one].goals]}
    return {"exercises": [{**known[one].as_json(), "shown": shown}]}


def check(asked: AskedToCheck) -> dict[str, Any]:
    """What `headwright check --json` says of one answer, with formulas typeset.

    It is checked in this process, which has limits of time and memory.

    >>> found = check(AskedToCheck(text="q = k_a + k_b", exercise="averaging-two", hints="none"))
    >>> found["answers"][0]["verdict"], found["answers"][0]["counterexample"]
    ('refuted', None)
    """
    sheet = _read(asked.text, asked.exercise, latex=asked.latex)
    if len(sheet.answers) > 1:
        raise InputError(f"text has {len(sheet.answers)} answers: expected one; a document has a call of its own")
    return _told(asked, sheet, [_alone(each, asked.seed) for each in sheet.answers])


def document(asked: AskedToCheck, progress: Tell = lambda _: None) -> dict[str, Any]:
    """What `headwright check --json` says of all answers in a text.

    Each is checked in a process of its own, so that one that runs wild costs the others nothing.

    >>> document(AskedToCheck(text="Nothing to see here."))["answers"]
    []
    """
    from headwright.check.running.run import run

    sheet = _read(asked.text, asked.exercise, latex=asked.latex)
    if len(sheet.answers) > MOST_ANSWERS:
        raise InputError(f"text has {len(sheet.answers)} answers: expected at most {MOST_ANSWERS} here")
    return _told(asked, sheet, run(sheet.answers, seed=asked.seed, timeout=EACH, within=ALL, progress=progress))


def _told(asked: AskedToCheck, sheet: Sheet, checked: Sequence[Checked]) -> dict[str, Any]:
    from headwright.check.telling.told import hinted, results

    told = [hinted(each, asked.hints) for each in checked]
    found = results(told, sheet.complaints, asked.seed, sheet.notes)
    for answer, each, whole in zip(found["answers"], told, checked, strict=True):
        answer["shown"] = _shown(each, whole, bare=asked.hints == "none")
    return {**found, "report": _report(told, sheet) if asked.report else None}


def _read(text: str, exercise: str | None, *, latex: bool = False) -> Sheet:
    from headwright.check.catalogue import load_exercises
    from headwright.check.sheets.document import parse_document
    from headwright.check.sheets.sheet import Sheet
    from headwright.check.sheets.text import Handed, find

    known = load_exercises()
    wanted = None if exercise is None else find(exercise, {one: one for one in known})
    if wanted is not None and not latex and not any(mark in text for mark in MARKS):
        return Sheet("the answer", (Handed("the answer", 1, wanted, _bare(text)),), ())
    return parse_document(text, "the answer", known, wanted, latex=latex)


def _bare(text: str) -> tuple[Formula, ...]:
    """Formulas without marks around them: one a line, as with `--formula`."""
    from headwright.check.reading.written import MOST_FORMULAS, Formula
    from headwright.check.sheets.text import clean

    lines = [(clean(line.strip()), number + 1) for number, line in enumerate(text.splitlines()) if line.strip()]
    if len(lines) > MOST_FORMULAS:
        raise InputError(f"text has {len(lines)} formulas: expected at most {MOST_FORMULAS}")
    return tuple(Formula(line, number) for line, number in lines)


def _alone(answer: Handed, seed: int) -> Checked:
    """One answer, here: this process has its own limits of time and memory."""
    from headwright.check.catalogue import load_exercises
    from headwright.check.checker import check_answer
    from headwright.check.running.run import NO_FORMULA, Checked
    from headwright.check.verdict import Verdict

    given = _given(answer)
    started = time.monotonic()
    if not given:
        return Checked(answer, Verdict("unreadable", NO_FORMULA), 0.0)
    verdict = check_answer(load_exercises()[answer.exercise_id], given, seed=seed)
    return Checked(answer, verdict, time.monotonic() - started)


def _given(answer: Handed) -> Sequence[Formula] | Written:
    return list(answer.formulas) if answer.written is None else answer.written


def _shown(each: Checked, whole: Checked, *, bare: bool) -> dict[str, Any]:
    """What a page shows: formulas as MathML, and how the answer was read, which no hint is needed for."""
    from headwright.check.telling.told import shown_word
    from headwright.check.telling.typeset import in_words, instance, typeset
    from headwright.check.verdict import by_what

    verdict = each.verdict
    return {
        "word": shown_word(verdict),
        "formulas": [typeset(formula.text, display=True) for formula in each.answer.formulas[:MOST_TYPESET]],
        "parts": [{"statement": typeset(p.statement), "by": by_what(p.used)} for p in verdict.parts[:MOST_TYPESET]],
        "read": [_as_read(one, bare) for one in whole.verdict.read[:MOST_TYPESET]],
        "counterexample": in_words(instance(verdict.counterexample)),
    }


def _as_read(one: Reading, bare: bool) -> dict[str, Any]:
    from headwright.check.telling.told import role
    from headwright.check.telling.typeset import typeset

    return {
        "line": one.line, "role": role(one), "statement": _set(one.statement),
        "under": [typeset(node) for node in one.under], "verdict": "" if bare else one.word, "why": one.why,
    }  # fmt: skip


def _set(statement: str) -> str:
    """A statement that was read as a formula; one that was not may be a sentence.

    >>> _set("as it grows, nothing is left"), _set("n")
    ('<p>as it grows, nothing is left</p>', '<math display="inline"><mrow><mi>n</mi></mrow></math>')
    """
    from headwright.check.telling.report import prose
    from headwright.check.telling.typeset import typeset

    words = "$" in statement or WORDS.search(IN_TEXT.sub("", statement)) is not None
    return prose(statement).strip() if words else typeset(statement)


def _report(checked: Sequence[Checked], sheet: Sheet) -> str:
    from headwright.check.catalogue import load_exercises
    from headwright.check.telling.report import report

    known = load_exercises()
    return report(checked, sheet.complaints, {one: known[one].title for one in known})


def compare(asked: AskedToCompare) -> dict[str, Any]:
    """An answer beside a right one: the patterns at n keys, and the side of a goal as their number grows.

    >>> found = compare(AskedToCompare(text="q = k_a + k_b", exercise="averaging-two", n=4))
    >>> [round(weight, 3) for weight in found["picture"]["yours"]["pattern"]]
    [0.366, 0.366, 0.134, 0.134]
    """
    from fractions import Fraction

    from headwright.check.catalogue import load_exercises
    from headwright.check.telling.beside import NoPictureError, beside
    from headwright.check.telling.typeset import typeset
    from headwright.design.wish import exact

    sheet = _read(asked.text, asked.exercise)
    if len(sheet.answers) != 1:
        return {"why": "there is not one answer here to draw", "picture": None}
    answer = sheet.answers[0]
    exercise = load_exercises()[answer.exercise_id]
    epsilon, large = exact(asked.epsilon, "epsilon"), exact(asked.large, "large")
    if not 0 < epsilon < 1:
        raise InputError(f"epsilon is {asked.epsilon}: expected more than 0 and less than 1")
    if not 0 < large <= 10**6:
        raise InputError(f"large is {asked.large}: expected more than 0, and at most 1000000")
    length = exact(asked.length, "length")
    if not -10 <= length <= 10:
        raise InputError(f"length is {asked.length}: expected -10 to 10")
    lengths = {scale.name: length for scale in exercise.keys.scales.values()} if exercise.keys is not None else {}
    others = {"epsilon": epsilon, "m": Fraction(asked.m), **lengths}
    try:
        found = beside(exercise, _given(answer), n=asked.n, others=others, large=large)
    except NoPictureError as nothing:
        return {"why": str(nothing), "picture": None}
    keys = exercise.keys
    return {
        "why": None,
        "picture": {
            "goal": typeset(found.goal),
            "sign": found.sign,
            "numbers": found.numbers,
            "wanted": found.wanted,
            "keys": list(keys.named) if keys is not None else [],
            "noisy": keys is not None and keys.noise != "none",
            "parameters": list(exercise.parameters),
            "lengths": list(lengths),
            **{
                name: {"names": traced.names, "pattern": traced.pattern, "left": traced.left}
                for name, traced in (("yours", found.yours), ("right", found.right))
            },
        },
    }


VERDICTS = {
    "answers": "each with its verdict, the reason, how it was read, and its parts",
    "complaints": "what could not be used",
    "notes": "what was not judged, and why",
    "counts": "how many verdicts of each kind",
    "seed": "of the instances on which a proof is looked at again",
    "report": "the verdicts as a page, or null",
}
ROOM = Room(
    "check",
    "Check",
    "Is this answer right? Proved for all parameters, or refuted with a counterexample; hints a step at a time.",
    (
        Call(
            "exercises",
            "The exercises that answers can be checked against.",
            AskedForExercises,
            exercises,
            {"exercises": "id, title, statement, names and goals of each; of a single one also the typeset statement"},
        ),
        Call("check", "The verdict on an answer.", AskedToCheck, check, VERDICTS, seconds=SECONDS),
        Call(
            "document",
            "The verdicts on all answers in a document.",
            AskedToCheck,
            document,
            VERDICTS,
            seconds=ALL + 20,
            tells=True,
        ),
        Call(
            "compare",
            "An answer beside a right one, at chosen numbers: floating-point, for a picture.",
            AskedToCompare,
            compare,
            {
                "why": "why there is no picture, or null",
                "picture": "the goal that is missed most and its sign (= for a claim: yours is the formula and "
                "right the truth; none where a weight is drawn without a goal), the numbers of keys, what is wanted at "
                "each of them, and for the answer (yours) and a right one: its own names, its pattern, its side of it",
            },
        ),
    ),
)
