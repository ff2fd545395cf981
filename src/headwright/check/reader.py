"""An optional reader for prose: a program that proposes formulas for sentences, each with a verbatim quote.

docs/check.md describes what it reads and writes. A proposal whose quote is not in the answer, word by word, is dropped.
What it proposes never decides: an answer that is not proved without it stays undecided, and is shown with what it would
be. (A student could write instructions to the program.)
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from headwright.check.exercise import Exercise
from headwright.check.sheets.files import clean, shortened
from headwright.check.sheets.sheet import AnswerText, Checked
from headwright.errors import InputError

SECONDS = 120.0  # for one answer
LONGEST_OUTPUT, LONGEST_FORMULA, SHORTEST_QUOTE, MOST_PROPOSALS = 2**18, 500, 8, 20
Run = Callable[[Sequence[AnswerText]], list[Checked]]
Proposal = tuple[str, str]  # a quote, and a formula for it


def read_again(checked: Sequence[Checked], program: str, exercises: Mapping[str, Exercise], run: Run) -> list[Checked]:
    """The same answers; one that is undecided or missing says what it would be with the program's formulas."""
    found = list(checked)
    waiting: dict[int, list[Proposal]] = {}
    for number, each in enumerate(checked):
        if each.verdict.word in ("undecided", "missing") and each.verdict.to_read and not each.failed:
            proposals = ask(program, each, exercises[each.answer.exercise_id])
            waiting |= {number: proposals} if proposals else {}
    again = run([with_proposals(checked[number].answer, proposals) for number, proposals in waiting.items()])
    for (number, proposals), other in zip(waiting.items(), again, strict=True):
        verdict, word = checked[number].verdict, other.verdict.word
        if word in ("proved", "refuted"):
            read = "; ".join(f"'{shortened(quote, 80)}' read as {formula}" for quote, formula in proposals)
            reason = f"{verdict.reason}; would be {word} as read by {program} ({read})"
            found[number] = replace(checked[number], verdict=replace(verdict, word="undecided", reason=reason))
    return found


def ask(program: str, each: Checked, exercise: Exercise) -> list[Proposal]:
    """What the program proposes for the sentences of an answer; proposals without a verbatim quote are dropped."""
    question = {
        "exercise": exercise.id,
        "statement": exercise.statement.strip(),
        "names": list(exercise.names),
        "text": each.answer.written.text,
        "sentences": [{"line": one.line, "text": one.text} for one in each.verdict.to_read],
    }
    try:
        done = subprocess.run(  # noqa: S603  (the user's own program)
            shlex.split(program),
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError(f"--reader {program}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise InputError(f"--reader {program}: it ended with code {done.returncode} ({shortened(clean(last))})")
    found = []
    for line in done.stdout[:LONGEST_OUTPUT].splitlines():
        try:
            given = json.loads(line)
            quote, formula = clean(given["quote"]), clean(given["formula"]).strip(" \n$")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        verbatim = len(quote) >= SHORTEST_QUOTE and _plain(quote) in _plain(each.answer.written.text)
        if verbatim and 0 < len(formula) <= LONGEST_FORMULA and not set(formula) & {"$", "\n"}:
            found.append((quote, formula))
    return found[:MOST_PROPOSALS]


def _plain(text: str) -> str:
    """A text as quotes are compared: line breaks and capitals do not matter."""
    return " ".join(text.split()).casefold()


def with_proposals(answer: AnswerText, proposals: Sequence[Proposal]) -> AnswerText:
    """The answer with each formula on a line of its own below the paragraph of its quote."""
    blocks = answer.written.text.split("\n\n")
    for quote, formula in proposals:
        place = next((at for at, block in enumerate(blocks) if _plain(quote) in _plain(block)), len(blocks) - 1)
        blocks[place] += f"\n\n$${formula}$$"
    return replace(answer, written=replace(answer.written, text="\n\n".join(blocks)))
