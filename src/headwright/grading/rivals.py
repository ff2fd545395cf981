"""What casts doubt on an object that was proved: another value for it further down, or a sentence that restricts it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import Answer, full_name, full_names
from headwright.grading.candidates import QUOTED, Contents
from headwright.grading.exercise import Exercise
from headwright.grading.judge import Finding
from headwright.grading.names import names_on_the_left
from headwright.grading.text import Statement
from headwright.grading.verdict import AskedPart


def without_rivals(
    part: AskedPart,
    exercise: Exercise,
    contents: Contents,
    answer: Answer,
    findings: Sequence[Finding],
    statements: Collection[int],
) -> AskedPart:
    """The part, if it is proved and nothing casts doubt on that; `statements` are those of the chosen candidate."""
    if part.word != "proved":
        return part
    later = _later_value(exercise, contents, answer, findings)
    if later is not None:
        reason = f"line {later} may be meant instead of line {part.line}"
        return replace(part, word="undecided", reason=reason)
    sentences = {
        made.statement.sentence
        for made in contents.asked
        if made.statement.number in statements
    }
    restriction = _restriction(exercise, findings, sentences)
    if restriction is not None:
        said = plain(t.unquantified(restriction.claimed.node))
        line = restriction.claimed.statement.line
        reason = f"line {line} says {said} of it, which is false as it stands"
        return replace(part, word="undecided", reason=reason)
    return part


def _later_value(
    exercise: Exercise,
    contents: Contents,
    answer: Answer,
    findings: Sequence[Finding],
) -> int | None:
    """The line of the last other value that is written further down, for a case or in words not read."""
    chosen = answer.definitions
    rivals: list[Statement] = []
    made = {one.statement.number: one for one in contents.asked}
    same = [
        number for number, one in made.items() if one.value == chosen[one.name].node
    ]
    for one in made.values():
        doubted = bool(one.statement.doubt) and one.rank == QUOTED
        if doubted and one.value != chosen[one.name].node:
            rivals.append(one.statement)
    for finding in findings:
        if finding.status == "true" or _is_for_one_value(finding):
            continue
        for name in _defined_names(finding.claimed.node):
            if full_name(name) in exercise.answer:
                rivals.append(finding.claimed.statement)
    later = [one.line for one in rivals if one.number > min(same)]
    return max(later) if later else None


def _is_for_one_value(finding: Finding) -> bool:
    """'If n = 3, this is q = ...' is no rival."""
    conditions = finding.claimed.under
    return bool(conditions) and all(
        isinstance(one, t.Relation) and set(one.comparisons) == {"="}
        for one in conditions
    )


def _defined_names(node: t.Node) -> tuple[t.Name, ...]:
    body = t.unquantified(node)
    is_equation = isinstance(body, t.Relation) and body.comparisons[0] == "="
    return names_on_the_left(body) if is_equation else ()  # type: ignore[arg-type]


def _restriction(
    exercise: Exercise, findings: Sequence[Finding], sentences: Collection[int]
) -> Finding | None:
    """A false remark about the object in its own sentence: 'normalised so that |q| = 1'."""
    for one in findings:
        if one.claimed.statement.sentence not in sentences:
            continue
        of_object = bool(full_names(one.node) & set(exercise.answer))
        of_results = t.speaks_of(one.node, "alpha", "c", "v")
        is_remark = one.status == "false" and not one.formula.counts
        if of_object and not of_results and is_remark:
            return one
    return None
