"""One submission graded: `python -m headwright.grading.autograder.gradescope BASE`, which is what run_autograder runs.

Reads BASE/source/assignment.toml and BASE/submission, writes BASE/results/results.json. Valid results are there from
the first moment on and whatever happens: a submission may be hostile, and a grader that dies helps nobody.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwright.errors import HeadwrightError, InputError
from headwright.files import write_whole
from headwright.grading.assignment import (
    Assignment,
    read_assignment,
    set_exercises,
    with_known_ids,
)
from headwright.grading.autograder.points import awards
from headwright.grading.exercise import Exercise, load_exercises
from headwright.grading.report.text import as_text, hinted
from headwright.grading.running import run
from headwright.grading.sheets.document import read_document
from headwright.grading.sheets.files import SUFFIXES, clean, sheets
from headwright.grading.sheets.sheet import AnswerText, Checked, Problem
from headwright.grading.verdict import worst

LONGEST_OUTPUT = 20_000  # characters of one text
MOST_ANSWERS = 100
SECONDS = 480.0  # for everything: Gradescope stops a grader after ten minutes
READING = 120.0  # of these, for reading the sheets
MEMORY = 512 * 2**20  # for one check, of the 768 MB that Gradescope gives to all
UNDECIDED = "No verdict was reached, so a person decides on the object. Please ask your teacher."
SEVERAL = "There are several answers to this exercise; the worst of them counts."


def grade(
    checked: Sequence[Checked],
    problems: Sequence[Problem] = (),
    *,
    assignment: Assignment | None = None,
    titles: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The results for a submission; without points, each exercise that is answered is worth one."""
    assignment = assignment or Assignment()
    answered: dict[str, list[Checked]] = {}
    for each in checked:
        answered.setdefault(each.answer.exercise_id, []).append(each)
    expected = assignment.ids(answered)
    tests = [
        _test(name, answered.get(name, []), assignment, titles or {})
        for name in expected
    ]
    lines = [f"{one.place}: {one.sentence}" for one in problems]
    lines += [
        f"{name}: answered, but not asked for here"
        for name in answered
        if name not in expected
    ]
    results: dict[str, Any] = {
        "output": _bounded(
            "\n".join(lines)
            or ("Every answer was read." if checked else "No answers were found.")
        ),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    return (
        results if tests else {**results, "score": 0.0}
    )  # without tests there is nothing to add up


def _test(
    name: str,
    answers: Sequence[Checked],
    assignment: Assignment,
    titles: Mapping[str, str],
) -> dict[str, Any]:
    word = worst(each.verdict.word for each in answers) if answers else "missing"
    given = awards([each.verdict for each in answers], name, assignment)
    score, most = sum(award.points for award in given), assignment.worth(name)
    told = [SEVERAL] if len(answers) > 1 else []
    told += ["\n".join(as_text(hinted(each, assignment.hints))) for each in answers]
    told += ["\n".join(str(award) for award in given if award.most)]
    told += [UNDECIDED] if word == "undecided" else []
    none = f"There is no answer to '{name}' in the submission: write a heading '## {name}' and the formulas below it."
    return {
        "name": f"{name}: {titles[name]}" if name in titles else name,
        "score": float(score),
        "max_score": most,
        "status": "passed"
        if word == "proved" and score >= most * (1 - 1e-9)
        else "failed",
        "output": _bounded("\n\n".join(told) if answers else none),
        "output_format": "text",
        "tags": [word],
    }


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_OUTPUT else text[:LONGEST_OUTPUT] + "\n..."


def as_bytes(results: dict[str, Any]) -> bytes:
    """The content of results.json."""
    return (json.dumps(results, indent=2, allow_nan=False) + "\n").encode("ascii")


def main(base: Path) -> None:
    """Grade the submission below this folder."""
    results = base / "results" / "results.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    _apologize(
        results,
        "The autograder was stopped before it finished. Please tell your teacher.",
    )
    try:
        write_whole(results, as_bytes(_graded(base, time.monotonic())))
    except HeadwrightError as error:
        _apologize(
            results,
            f"The autograder is not set up rightly: {error}. Please tell your teacher.",
        )
    except Exception as error:  # noqa: BLE001  (whatever it is, the student gets results and the teacher a hint)
        _apologize(
            results,
            f"The autograder failed ({type(error).__name__}: {error}). Please tell your teacher.",
        )


def _apologize(results: Path, why: str) -> None:
    """Valid results when there is nothing to grade."""
    empty = {"score": 0.0, "output_format": "text", "tests": []}
    write_whole(results, as_bytes({**empty, "output": _bounded(why)}))


def _graded(base: Path, started: float) -> dict[str, Any]:
    folder = base / "source" / "exercises"
    own = folder if folder.is_dir() else None
    known = load_exercises(own)
    assignment = with_known_ids(
        read_assignment(base / "source" / "assignment.toml"), known
    )
    chosen = {one.id: one for one in set_exercises(assignment, known)}
    others = {name: one for name, one in known.items() if name not in chosen}
    answers, problems = _submission(
        base / "submission", chosen, others, started + READING
    )
    left = SECONDS - (time.monotonic() - started)
    # One worker: two of them, each at its limit, would not fit into Gradescope's memory.
    checked = run(
        answers,
        own,
        seed=assignment.seed,
        timeout=assignment.timeout,
        workers=1,
        memory=MEMORY,
        within=left,
    )
    titles = {exercise.id: exercise.title for exercise in known.values()}
    return grade(checked, problems, assignment=assignment, titles=titles)


def _submission(
    folder: Path,
    known: Mapping[str, Exercise],
    others: Mapping[str, Exercise],
    until: float,
) -> tuple[list[AnswerText], list[Problem]]:
    paths, problems, unread = sheets(folder)
    problems += [
        replace(one, file=one.file.removeprefix(clean(f"{folder}/"))) for one in unread
    ]
    answers: list[AnswerText] = []
    for path in paths:
        name = clean(str(path.relative_to(folder)))
        if time.monotonic() > until:
            problems.append(
                Problem(name, 0, "there was no time left to read this file")
            )
            continue
        try:
            sheet = read_document(path, known, None, others)
        except InputError as error:
            problems.append(Problem(name, 0, str(error)))
            continue
        answers += [replace(answer, file=name) for answer in sheet.answers]
        problems += [
            replace(each, file=name) for each in (*sheet.problems, *sheet.notes)
        ]
    if not paths:
        wanted = (
            f"no answer sheet found: hand in a file that ends in {', '.join(SUFFIXES)}"
        )
        problems.append(Problem("submission", 0, wanted))
    if len(answers) > MOST_ANSWERS:
        problems.append(
            Problem(
                "submission",
                0,
                f"{len(answers)} answers: only the first {MOST_ANSWERS} count",
            )
        )
    return answers[:MOST_ANSWERS], problems


if __name__ == "__main__":
    main(Path(sys.argv[1]))
