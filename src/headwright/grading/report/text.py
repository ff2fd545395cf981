"""Verdicts as text, for terminals and graders, and as JSON, for scripts.

How much of a verdict is shown is one of three `Hints`:

full        the reasons, the counterexamples, from where on an answer works, what a teacher would add
direction   which part or formula fails and at which instance; not what is true instead, and nothing that would mend it
none        the word on each part; how many formulas are true and false
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from headwright.grading.report.typeset import SIDES, in_words, instance
from headwright.grading.sheets.files import clean, shortened
from headwright.grading.sheets.sheet import Checked, Problem
from headwright.grading.verdict import (
    WORST_FIRST,
    Status,
    Verdict,
    Word,
    readable,
    to_json,
)

VERSION = 2  # of what --json prints
MOST_LISTED = 12  # formulas of one answer
MOST_QUOTED = 6  # sentences of one answer, unless all are asked for
LISTED: tuple[Status, ...] = ("false", "open", "quoted")
Hints = Literal["none", "direction", "full"]
BARE: Mapping[Word, str] = {
    "proved": "it is right",
    "refuted": "it is wrong",
    "undecided": "no verdict was reached",
    "missing": "no formula gives what was asked for",
}


def as_text(each: Checked, *, file: bool = True, verbose: bool = False) -> list[str]:
    """The lines for one answer: what was asked for, what is false, and what a person has to read.

    `file` tells whether its file is named, `verbose` whether open and quoted formulas are listed.
    """
    answer, verdict = each.answer, each.verdict
    place = answer.place if file else f"line {answer.line}"
    lines = [f"{answer.exercise_id} ({place})"]
    if answer.chosen:
        lines.append(f"  matched    {answer.chosen}")
    for part in verdict.asked:
        what = (
            f"{shortened(readable(part.latex), 160)} (line {part.line})"
            if part.line
            else part.part
        )
        what += " (optional)" if part.optional else ""
        reason = said_with(part.reason, part.counterexample)
        lines += _spread(f"  {part.word:<10} ", f"{what}: {reason}" if reason else what)
    if not verdict.asked:
        lines += _spread(f"  {verdict.word:<10} ", verdict.reason)
    elif verdict.word == "undecided" and verdict.reason not in "".join(
        one.reason for one in verdict.asked
    ):
        lines += _spread("  undecided  ", verdict.reason)
    for lead, more in (
        ("from", verdict.threshold),
        ("suggestion:", verdict.suggestion),
    ):
        if more and more not in "".join(lines):
            lines[-1] += ";" if lead == "from" else ""
            lines.append(f"{'':<13}{lead} {more}")
    if verdict.formulas:
        shown = LISTED if verbose else LISTED[:1]
        lines += [f"  formulas   {counted(verdict)}", *_listed(verdict, shown)]
    lines += _to_read(verdict, len(verdict.to_read) if verbose else MOST_QUOTED)
    return [clean(line) for line in lines]


def _to_read(verdict: Verdict, most: int) -> Iterator[str]:
    """The sentences that a person has to read, with their lines."""
    lead = "to read"
    for one in verdict.to_read[:most]:
        words = shortened(" ".join(one.text.split()), 100)
        yield f"  {lead:<10} line {one.line}: {words}"
        lead = ""
    if len(verdict.to_read) > most:
        left = verdict.to_read[most:]
        yield f"  {'':<10} and {len(left)} more, from line {left[0].line} on: -v lists them"


def counted(verdict: Verdict) -> str:
    """How many formulas are what, in words."""
    counts = Counter(one.status for one in verdict.formulas)
    aside = sum(one.status == "false" and not one.counts for one in verdict.formulas)
    said = [
        f"{counts[status]} {status}" for status in ("true", *LISTED) if counts[status]
    ]
    return ", ".join(said) + (
        f" ({aside} false only as it stands: read the sentence)" if aside else ""
    )


def _listed(verdict: Verdict, statuses: Sequence[Status]) -> Iterator[str]:
    """The formulas that are not true, false ones first; an open definition is what was asked for: see its part."""
    listed = [one for one in verdict.formulas if one.status in statuses]
    listed = [
        one
        for one in listed
        if one.reason or one.status == "quoted" or one.role != "definition"
    ]
    listed.sort(key=lambda one: (LISTED.index(one.status), one.line))
    width = max([8, *(len(f"line {one.line}") + 1 for one in listed[:MOST_LISTED])])
    for one in listed[:MOST_LISTED]:
        said = said_with(one.reason, one.counterexample) + (
            f" ({one.used})" if one.used else ""
        )
        shown = shortened(readable(one.latex), 120) + (f": {said}" if said else "")
        lead = f"    {f'line {one.line}':<{width}} {one.status:<7} "
        yield from _spread(
            lead, one.reason if "\n" in one.reason else shown
        )  # an error that points into the formula
    if len(listed) > MOST_LISTED:
        yield f"    ... and {len(listed) - MOST_LISTED} more: --json and --out list them all"


def said_with(reason: str, counterexample: Mapping[str, Any] | None) -> str:
    """A reason with the counterexample, where it does not say its numbers already."""
    values = instance(counterexample)
    said = any(f"{name} = " in reason for name in values)
    if set(values) <= {"left side", "right side"}:
        said = all(str(value) in reason for value in values.values())
    if not values or "\n" in reason or said:
        return reason
    where = f"with {in_words(values)}"
    return f"{where}: {reason}" if reason else where


def _spread(lead: str, text: str) -> list[str]:
    """A text behind a lead; its further lines stand below its first."""
    first, *more = text.split("\n")
    return [lead + first, *(" " * len(lead) + line for line in more)]


def results(
    checked: Sequence[Checked],
    problems: Sequence[Problem] = (),
    seed: int = 0,
    notes: Sequence[Problem] = (),
) -> dict[str, Any]:
    """What `headwright check --json` prints."""
    counts = Counter(each.verdict.word for each in checked)
    return {
        "version": VERSION,
        "answers": [as_json(each) for each in checked],
        "problems": [
            {"file": one.file, "line": one.line, "sentence": one.sentence}
            for one in problems
        ],
        "notes": [
            {"file": one.file, "line": one.line, "sentence": one.sentence}
            for one in notes
        ],
        "counts": {word: counts[word] for word in reversed(WORST_FIRST)},
        "seed": seed,
    }


def as_json(each: Checked) -> dict[str, Any]:
    """One answer with its verdict."""
    answer = each.answer
    return {
        "file": answer.file,
        "line": answer.line,
        "exercise": answer.exercise_id,
        "chosen": answer.chosen,
        **to_json(each.verdict),
        "seconds": round(each.seconds, 3),
    }


def code(
    checked: Sequence[Checked],
    problems: Sequence[Problem] = (),
    notes: Sequence[Problem] = (),
) -> int:
    """The exit code: 4 internal error, 2 unusable input, 1 refuted, missing or a false formula, 3 undecided, else 0."""
    words = {each.verdict.word for each in checked}
    if any(each.failed for each in checked):
        return 4
    if problems or not checked:
        return 2
    if words & {"refuted", "missing"} or any(
        each.verdict.false_formulas for each in checked
    ):
        return 1
    return 3 if "undecided" in words or notes else 0


def hinted(each: Checked, hints: Hints) -> Checked:
    """The same answer with as much of its verdict as these hints show."""
    if hints == "full":
        return each
    verdict, bare = each.verdict, hints == "none"

    def where(
        wrong: bool, counterexample: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        values = {} if bare or not wrong else instance(counterexample)
        return {
            name: value for name, value in values.items() if name not in SIDES.values()
        } or None

    asked, formulas = [], []
    for part in verdict.asked:
        there = where(part.word == "refuted", part.counterexample)
        reason = BARE[part.word] + (
            f", for instance with {in_words(there)}" if there else ""
        )
        asked.append(replace(part, reason=reason, counterexample=there))
    for one in verdict.formulas:
        there = where(one.status == "false", one.counterexample)
        keeps = one.status in (
            "open",
            "quoted",
        )  # that a formula cannot be read gives nothing away
        formulas.append(
            replace(
                one, reason=one.reason if keeps else "", counterexample=there, used=""
            )
        )
    told = replace(
        verdict,
        reason=BARE[verdict.word] if verdict.asked else verdict.reason,
        asked=tuple(asked),
        formulas=tuple(formulas),
        threshold=None,
        suggestion=None if bare else verdict.hint,
        hint=None,
        curve=None if bare or verdict.word != "refuted" else verdict.curve,
    )
    return replace(each, verdict=told)
