"""One submission graded: `python -m headwright.check.autograder.gradescope BASE`, which is what run_autograder runs.

Reads BASE/source/assignment.toml and BASE/submission, writes BASE/results/results.json. Valid results are there from
the first moment on and whatever happens: a submission may be hostile, and a grader that dies helps nobody.

What a verdict earns, and what students are told of it (`hints`), is said in `assignment`: what goes beyond the hints is
kept for the time after the deadline. Every text is shown as plain text.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headwright.check.autograder.assignment import Assignment, Visibility, awards, read_assignment
from headwright.check.exercise import Exercise, load_exercises
from headwright.check.report.text import Hints, as_json, as_text, hinted
from headwright.check.running import Checked, run
from headwright.check.sheets.document import read_document
from headwright.check.sheets.files import SUFFIXES, clean, sheets
from headwright.check.sheets.sheet import AnswerText, Problem
from headwright.check.verdict import Word, worst
from headwright.errors import HeadwrightError, InputError
from headwright.files import write_whole

LONGEST_OUTPUT = 20_000  # characters of one text
LARGEST_EXTRA = 400_000  # bytes of the verdicts as data
UNDECIDED = "No verdict was reached, so a person decides on the object. Please ask your teacher."
TELLING: tuple[Hints, ...] = ("none", "direction", "full")
LATER: tuple[Visibility, ...] = ("visible", "after_due_date", "after_published", "hidden")
AFTER = "after_due_date"


def grade(
    checked: Sequence[Checked],
    problems: Sequence[Problem] = (),
    *,
    assignment: Assignment | None = None,
    titles: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The results for a submission; without points, each exercise that is answered is worth one.

    >>> grade([], assignment=Assignment(points={"copying": 2}))["tests"][0]["output"]
    "There is no answer to 'copying' in the submission: write a heading '## copying' and the formulas below it."
    """
    assignment = assignment or Assignment()
    answered: dict[str, list[Checked]] = {}
    for each in checked:
        answered.setdefault(each.answer.exercise_id, []).append(each)
    expected = list(assignment.points or answered)
    names = titles or {}
    asked = [
        _Asked(str(number), name, names.get(name, ""), tuple(answered.get(name, [])), assignment)
        for number, name in enumerate(expected, start=1)
    ]
    tests = [_test(each) for each in asked]
    if TELLING.index(assignment.hints) < TELLING.index(assignment.after_deadline):
        tests += [_afterwards(each) for each in asked if each.answers]
    lines = [f"{c.place}: {c.sentence}" for c in problems]
    lines += [f"{name}: answered, but not asked for here" for name in answered if name not in expected]
    if not checked and not problems:
        lines.append("No answers were found.")
    results: dict[str, Any] = {
        "output": _bounded("\n".join(lines) or "Every answer was read."),
        "output_format": "text",
        "visibility": assignment.visibility,
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"answers": _data([hinted(each, assignment.hints) for each in checked])},
    }
    if not tests:
        results["score"] = 0.0  # without tests there is nothing to add up
    return results


def apology(sentence: str) -> dict[str, Any]:
    """Valid results when there is nothing to grade."""
    return {"score": 0.0, "output": _bounded(sentence), "output_format": "text", "visibility": "visible", "tests": []}


def as_bytes(results: dict[str, Any]) -> bytes:
    """The content of results.json."""
    return (json.dumps(results, indent=2, allow_nan=False) + "\n").encode("ascii")


@dataclass(frozen=True)
class _Asked:
    """One exercise of the assignment, and what was answered."""

    number: str
    name: str
    title: str
    answers: tuple[Checked, ...]
    assignment: Assignment

    @property
    def word(self) -> Word | None:
        return worst([each.verdict.word for each in self.answers]) if self.answers else None

    @property
    def heading(self) -> str:
        return f"{self.name}: {self.title}" if self.title else self.name

    def told(self, hints: Hints) -> str:
        return "\n\n".join("\n".join(as_text(hinted(each, hints))) for each in self.answers)


def _test(asked: _Asked) -> dict[str, Any]:
    assignment, word = asked.assignment, asked.word
    worth = assignment.worth(asked.name)
    given = awards([each.verdict for each in asked.answers], worth)
    score = sum(award.points for award in given)
    if word is None:
        output = (
            f"There is no answer to '{asked.name}' in the submission: "
            f"write a heading '## {asked.name}' and the formulas below it."
        )
    else:
        several = "There are several answers to this exercise; the worst of them counts."
        counted = "\n".join(map(str, given))
        parts = [several if len(asked.answers) > 1 else "", asked.told(assignment.hints), counted]
        output = "\n\n".join(part for part in [*parts, UNDECIDED if word == "undecided" else ""] if part)
    return {
        "name": asked.heading,
        "number": asked.number,
        "score": float(score),
        "max_score": worth.most,
        "status": "passed" if word == "proved" and score >= worth.most else "failed",
        "output": _bounded(output),
        "output_format": "text",
        "visibility": assignment.visibility,
        "tags": [word or "missing"],
    }


def _afterwards(asked: _Asked) -> dict[str, Any]:
    """What is told besides once the deadline has passed: worth nothing, and not seen before."""
    return {
        **_test(asked),
        "name": f"{asked.heading} (all that was found)",
        "number": f"{asked.number}.1",
        "score": 0.0,
        "max_score": 0.0,
        "status": "passed" if asked.word == "proved" else "failed",
        "output": _bounded(asked.told(asked.assignment.after_deadline)),
        "visibility": max(AFTER, asked.assignment.visibility, key=LATER.index),
    }


def _data(checked: Sequence[Checked]) -> list[dict[str, Any]]:
    """The verdicts for scripts, as many as fit."""
    data, left = [], LARGEST_EXTRA
    for each in checked:
        entry = as_json(each)
        left -= len(json.dumps(entry))
        if left < 0:
            break
        data.append(entry)
    return data


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_OUTPUT else text[:LONGEST_OUTPUT] + "\n..."


MOST_ANSWERS = 100
SECONDS = 480.0  # for everything: Gradescope stops a grader after ten minutes
READING = 120.0  # of these, for reading the sheets
MEMORY = 512 * 2**20  # for one check, of the 768 MB that Gradescope gives to all


def main(base: Path) -> None:
    """Grade the submission below this folder."""
    results = base / "results" / "results.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    write_whole(results, as_bytes(apology("The autograder was stopped before it finished. Please tell your teacher.")))
    try:
        found = _graded(base, time.monotonic())
    except HeadwrightError as error:
        found = apology(f"The autograder is not set up rightly: {error}. Please tell your teacher.")
    except Exception as error:  # noqa: BLE001  (whatever it is, the student gets results and the teacher a hint)
        found = apology(f"The autograder failed ({type(error).__name__}: {error}). Please tell your teacher.")
    write_whole(results, as_bytes(found))


def _graded(base: Path, started: float) -> dict[str, Any]:
    folder = base / "source" / "exercises"
    own = folder if folder.is_dir() else None
    known = load_exercises(own)
    assignment = read_assignment(base / "source" / "assignment.toml", known)
    answers, problems = _submission(base / "submission", known, started + READING)
    left = SECONDS - (time.monotonic() - started)
    # One worker: two of them, each at its limit, would not fit into Gradescope's memory.
    checked = run(answers, own, seed=assignment.seed, timeout=assignment.timeout, workers=1, memory=MEMORY, within=left)
    titles = {exercise.id: exercise.title for exercise in known.values()}
    return grade(checked, problems, assignment=assignment, titles=titles)


def _submission(folder: Path, known: Mapping[str, Exercise], until: float) -> tuple[list[AnswerText], list[Problem]]:
    paths, problems, unread = sheets(folder)
    problems += [Problem(str(Path(one.file).relative_to(clean(str(folder)))), 0, one.sentence) for one in unread]
    answers: list[AnswerText] = []
    for path in paths:
        name = clean(str(path.relative_to(folder)))
        if time.monotonic() > until:
            problems.append(Problem(name, 0, "there was no time left to read this file"))
            continue
        try:
            sheet = read_document(path, known)
        except InputError as error:
            problems.append(Problem(name, 0, str(error).removeprefix(f"{clean(str(path))}: ")))
            continue
        answers += [replace(answer, file=name) for answer in sheet.answers]
        problems += [Problem(name, each.line, each.sentence) for each in (*sheet.problems, *sheet.notes)]
    if not paths:
        wanted = ", ".join(SUFFIXES)
        problems.append(Problem("submission", 0, f"no answer sheet found: hand in a file that ends in {wanted}"))
    if len(answers) > MOST_ANSWERS:
        problems.append(Problem("submission", 0, f"{len(answers)} answers: only the first {MOST_ANSWERS} count"))
    return answers[:MOST_ANSWERS], problems


if __name__ == "__main__":
    main(Path(sys.argv[1]))
