"""What run_autograder runs: `python -m headwright.check.autograder.grader BASE`.

Reads BASE/source/assignment.toml and BASE/submission, writes BASE/results/results.json. Valid results are there from
the first moment on and whatever happens: a submission may be hostile, and a grader that dies helps nobody.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwright.check.autograder.assignment import read_assignment
from headwright.check.autograder.gradescope import apology, as_bytes, grade
from headwright.check.exercise import Exercise, load_exercises
from headwright.check.running.run import run
from headwright.check.sheets.document import read_document
from headwright.check.sheets.handed import Complaint, Handed
from headwright.check.sheets.text import SUFFIXES, clean, sheets
from headwright.errors import HeadwrightError, InputError
from headwright.files import write_whole

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
    answers, complaints = _submission(base / "submission", known, started + READING)
    left = SECONDS - (time.monotonic() - started)
    # One worker: two of them, each at its limit, would not fit into Gradescope's memory.
    checked = run(answers, own, seed=assignment.seed, timeout=assignment.timeout, workers=1, memory=MEMORY, within=left)
    titles = {exercise.id: exercise.title for exercise in known.values()}
    return grade(checked, complaints, assignment=assignment, titles=titles)


def _submission(folder: Path, known: Mapping[str, Exercise], until: float) -> tuple[list[Handed], list[Complaint]]:
    paths, complaints = sheets(folder)
    answers: list[Handed] = []
    for path in paths:
        name = clean(str(path.relative_to(folder)))
        if time.monotonic() > until:
            complaints.append(Complaint(name, 0, "there was no time left to read this file"))
            continue
        try:
            sheet = read_document(path, known)
        except InputError as error:
            complaints.append(Complaint(name, 0, str(error).removeprefix(f"{clean(str(path))}: ")))
            continue
        answers += [replace(answer, file=name) for answer in sheet.answers]
        complaints += [Complaint(name, each.line, each.sentence) for each in (*sheet.complaints, *sheet.notes)]
    if not paths:
        wanted = ", ".join(SUFFIXES)
        complaints.append(Complaint("submission", 0, f"no answer sheet found: hand in a file that ends in {wanted}"))
    if len(answers) > MOST_ANSWERS:
        complaints.append(Complaint("submission", 0, f"{len(answers)} answers: only the first {MOST_ANSWERS} count"))
    return answers[:MOST_ANSWERS], complaints


if __name__ == "__main__":
    main(Path(sys.argv[1]))
