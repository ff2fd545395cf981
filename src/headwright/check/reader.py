"""An optional reader for prose: a program that proposes formulas for sentences, each with a verbatim quote.

It gets one JSON object on its standard input,

    {"exercise": "copying", "statement": "...", "names": ["q"], "text": "...",
     "sentences": [{"line": 3, "text": "..."}]}

and writes one JSON object a line, {"quote": "...", "formula": "k_j^T q >> k_i^T q"}. A proposal whose quote is not in
the answer, word by word, is dropped. What it proposes never decides: an answer that is not proved without it
stays undecided, and is shown with what it would be. (A student could write instructions to the program.)
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headwright.check.exercise import Exercise
from headwright.check.running import Checked
from headwright.check.sheets.files import clean, shortened
from headwright.check.sheets.sheet import AnswerText
from headwright.errors import InputError

SECONDS = 120.0  # for one answer
LONGEST_OUTPUT = 2**18
MOST_PROPOSALS = 20
LONGEST_FORMULA, SHORTEST_QUOTE = 500, 8
Run = Callable[[Sequence[AnswerText]], list[Checked]]


@dataclass(frozen=True)
class Proposal:
    """A formula for words of an answer."""

    quote: str
    formula: str


def read_again(checked: Sequence[Checked], program: str, exercises: Mapping[str, Exercise], run: Run) -> list[Checked]:
    """The same answers; one that is undecided or missing says what it would be with the program's formulas."""
    found = list(checked)
    waiting: list[tuple[int, tuple[Proposal, ...]]] = []
    for number, each in enumerate(checked):
        if each.verdict.word in ("undecided", "missing") and each.verdict.to_read and not each.failed:
            proposals = tuple(ask(program, each, exercises[each.answer.exercise_id]))
            if proposals:
                waiting.append((number, proposals))
    again = run([with_proposals(checked[number].answer, proposals) for number, proposals in waiting])
    for (number, proposals), other in zip(waiting, again, strict=True):
        found[number] = _noted(checked[number], other, proposals, program)
    return found


def ask(program: str, each: Checked, exercise: Exercise) -> Iterator[Proposal]:
    """What the program proposes for the sentences of an answer; proposals without a verbatim quote are dropped."""
    question = {
        "exercise": exercise.id,
        "statement": exercise.statement.strip(),
        "names": list(exercise.names),
        "text": each.answer.written.text,
        "sentences": [{"line": one.line, "text": one.text} for one in each.verdict.to_read],
    }
    try:
        command = shlex.split(program)
        done = subprocess.run(  # noqa: S603  (the user's own program)
            command, input=json.dumps(question), capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError(f"--reader {program}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise InputError(f"--reader {program}: it ended with code {done.returncode} ({shortened(clean(last))})")
    text, count = _plain(each.answer.written.text), 0
    for line in done.stdout[:LONGEST_OUTPUT].splitlines():
        proposal = _proposal(line)
        if proposal is not None and _plain(proposal.quote) in text and count < MOST_PROPOSALS:
            count += 1
            yield proposal


def _plain(text: str) -> str:
    """A text as quotes are compared: line breaks and capitals do not matter."""
    return " ".join(text.split()).casefold()


def _proposal(line: str) -> Proposal | None:
    try:
        given = json.loads(line)
        quote, formula = clean(given["quote"]), clean(given["formula"]).strip().strip("$").strip()
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    fits = len(quote) >= SHORTEST_QUOTE and 0 < len(formula) <= LONGEST_FORMULA and not set(formula) & {"$", "\n"}
    return Proposal(quote, formula) if fits else None


def with_proposals(answer: AnswerText, proposals: Sequence[Proposal]) -> AnswerText:
    """The answer with each formula on a line of its own below the paragraph of its quote."""
    lines = answer.written.text.split("\n")
    ends = [number for number, line in enumerate(lines) if not line.strip()] + [len(lines)]
    added: dict[int, list[str]] = {}
    for one in proposals:
        start = 0
        for end in ends:
            if _plain(one.quote) in _plain("\n".join(lines[start:end])) or end == len(lines):
                added.setdefault(end, []).append(f"$${one.formula}$$")
                break
            start = end
    text: list[str] = []
    for number, line in enumerate([*lines, ""]):
        text += [part for formula in added.get(number, []) for part in ("", formula)]
        text.append(line)
    return replace(answer, written=replace(answer.written, text="\n".join(text)))


def _noted(each: Checked, again: Checked, proposals: Sequence[Proposal], program: str) -> Checked:
    verdict, word = each.verdict, again.verdict.word
    if word not in ("proved", "refuted"):
        return each
    read = "; ".join(f"'{shortened(one.quote, 80)}' read as {one.formula}" for one in proposals)
    reason = f"{verdict.reason}; would be {word} as read by {program} ({read})"
    return replace(each, verdict=replace(verdict, word="undecided", reason=reason))
