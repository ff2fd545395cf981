"""What casts doubt on an object that was proved: another value for it further down, or a sentence that restricts it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import account
from headwright.grading.answer import Answer, full_name, full_names
from headwright.grading.candidates import QUOTED, Contents, Definition
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
    made = [one for one in contents.asked if one.statement.number in statements]
    restriction = _restriction(exercise, contents, findings, made)
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
    exercise: Exercise,
    contents: Contents,
    findings: Sequence[Finding],
    made: Sequence[Definition],
) -> Finding | None:
    """A false statement that restricts the object: in its own sentence, 'normalised so that |q| = 1', or anywhere.

    '|q| = 1' pins a name of q that is left open; '|q| = 2 lambda' is a remark.
    """
    sentences = {one.statement.sentence for one in made}
    open_names = account.open_names(exercise, contents, made)
    for one in findings:
        of_object = bool(full_names(one.node) & set(exercise.answer))
        of_results = t.speaks_of(one.node, "alpha", "c", "v", "k")
        if one.status != "false" or not of_object or of_results:
            continue
        pins = bool(open_names) and not open_names & full_names(one.node)
        is_here = one.claimed.statement.sentence in sentences
        restricts = pins if one.formula.counts else is_here
        if restricts:
            return one
    return None
