"""Verdicts as Gradescope's results.json.

proved earns the points; refuted, unreadable and no answer earn none; holds and undecided earn none by machine, and say
to ask the teacher. An exercise that is answered more than once counts with its worst answer, so that guessing does not
pay. Every text is shown as plain text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from headwright.check.running.run import Checked
from headwright.check.sheets.handed import Complaint
from headwright.check.telling.results import as_json
from headwright.check.telling.told import told
from headwright.check.verdict import worst

LONGEST_OUTPUT = 20_000  # characters of one text
LARGEST_EXTRA = 400_000  # bytes of the verdicts as data
NOTES = {
    "proved": "",
    "holds": "No counterexample was found, and no proof: no points were given by machine. Please ask your teacher.",
    "no answer": "",
    "refuted": "",
    "unreadable": "",
    "undecided": "No verdict was reached, so no points were given by machine. Please ask your teacher.",
}


def grade(
    checked: Sequence[Checked],
    complaints: Sequence[Complaint] = (),
    *,
    points: Mapping[str, float] | None = None,
    titles: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The results for a submission; `points` says which exercises are expected (else: one point for each answered).

    >>> grade([], points={"copying": 2})["tests"][0]["output"]
    "There is no answer to 'copying' in the submission: write a heading '## copying' and the formulas below it."
    """
    answered: dict[str, list[Checked]] = {}
    for each in checked:
        answered.setdefault(each.answer.exercise_id, []).append(each)
    expected = dict(points) if points else dict.fromkeys(answered, 1.0)
    names = titles or {}
    tests = [
        _test(number, name, worth, answered.get(name, []), names.get(name, ""))
        for number, (name, worth) in enumerate(expected.items(), start=1)
    ]
    lines = [f"{c.place}: {c.sentence}" for c in complaints]
    lines += [f"{name}: answered, but not asked for here" for name in answered if name not in expected]
    if not checked and not complaints:
        lines.append("No answers were found.")
    results: dict[str, Any] = {
        "output": _bounded("\n".join(lines) or "Every answer was read."),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"answers": _data(checked)},
    }
    if not tests:
        results["score"] = 0.0  # without tests there is nothing to add up
    return results


def apology(sentence: str) -> dict[str, Any]:
    """Valid results when there is nothing to grade.

    >>> apology("out of time")["score"]
    0.0
    """
    return {"score": 0.0, "output": _bounded(sentence), "output_format": "text", "visibility": "visible", "tests": []}


def as_bytes(results: dict[str, Any]) -> bytes:
    """The content of results.json.

    >>> as_bytes({"score": 0.0})
    b'{\\n  "score": 0.0\\n}\\n'
    """
    return (json.dumps(results, indent=2, allow_nan=False) + "\n").encode("ascii")


def _test(number: int, name: str, worth: float, answers: Sequence[Checked], title: str) -> dict[str, Any]:
    word = worst([each.verdict.word for each in answers]) if answers else None
    passed = word == "proved"
    if word is None:
        output = (
            f"There is no answer to '{name}' in the submission: write a heading '## {name}' and the formulas below it."
        )
    else:
        blocks = ["\n".join(told(each)) for each in answers]
        several = "There are several answers to this exercise; the worst of them counts." if len(answers) > 1 else ""
        output = "\n\n".join(part for part in [several, *blocks, NOTES[word]] if part)
    return {
        "name": f"{name}: {title}" if title else name,
        "number": str(number),
        "score": float(worth) if passed else 0.0,
        "max_score": float(worth),
        "status": "passed" if passed else "failed",
        "output": _bounded(output),
        "output_format": "text",
        "visibility": "visible",
        "tags": [word or "missing"],
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
