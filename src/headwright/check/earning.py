"""What an answer earns: a true statement that is not what was asked for is `no answer`.

Three things are asked for, each by its own field of the exercise: an object (`answer`), a statement about something
(`about`, `condition`), an argument (`derive`). An object counts when it is defined; a statement when it would be false
were the question idle, say for another query; an argument when its steps lead from one side to the other, and none of
them is what was to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headwright.check.answer import Answer, full_name
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Court, Judged
from headwright.check.replay import says_something
from headwright.check.settings.keys.conditions import states_condition
from headwright.check.settings.matrices.court import MatricesCourt
from headwright.check.settings.matrices.deciding import follows, is_leap, leads
from headwright.check.settings.matrices.known import Given
from headwright.check.verdict import Verdict
from headwright.formula.show import plain
from headwright.formula.tree import Logic, Name, Node, Quantified, Relation, walk

TRUE = ("proved", "holds", "undecided", "no answer")


def earned(exercise: Exercise, answer: Answer, court: Court, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
    """The verdict, or `no answer` with what is missing."""
    if verdict.word not in TRUE:
        return verdict
    missing = exercise.missing(answer.definitions)
    if missing:
        return _no_answer(verdict, f"no formula defines {' and '.join(missing)}: write {missing[0]} = ...")
    if exercise.condition and not any(states_condition(said.node) for said in answer.claims):
        return _no_answer(verdict, "no condition on the scores is stated: write one on k_j^T q and k_i^T q")
    if exercise.about:
        return _spoken(exercise, answer, court, verdict, judgements)
    if exercise.derive and isinstance(court, MatricesCourt):
        return _argued(exercise, answer, court.given, verdict)
    return verdict


def _no_answer(verdict: Verdict, reason: str) -> Verdict:
    return replace(verdict, word="no answer", reason=reason)


def _spoken(
    exercise: Exercise, answer: Answer, court: Court, verdict: Verdict, judgements: Sequence[Judged]
) -> Verdict:
    """Something must be said of what was asked about, and it must not hold whatever the answer is."""
    wanted = {full_name(name) for source in exercise.about for name in walk(parsed(source)) if isinstance(name, Name)}
    about = [one for one in judgements if one.part.role != "condition" and wanted & _spoken_of(one.claim.node)]
    if not about:
        return _no_answer(verdict, f"nothing is said of {' or '.join(sorted(wanted))}")
    if any(one.decision.word == "undecided" for one in about):
        return verdict
    if any(_says_something(exercise, answer, court, one) for one in about):
        return verdict
    if any(one.vacuous for one in about):
        return _no_answer(verdict, "what is assumed never happens, so nothing is said")
    return _no_answer(verdict, "this would be true in any case, so it says nothing of what was asked")


def _says_something(exercise: Exercise, answer: Answer, court: Court, one: Judged) -> bool:
    if exercise.matrices is None or not isinstance(court, MatricesCourt):
        return says_something(exercise, answer, one)
    if any(set(one.link.terms) == {parsed(side) for side in pair} for pair in exercise.matrices.different):
        return False  # that is given
    idle = court.otherwise(exercise.matrices.otherwise)
    return any(found.decision.word != "proved" for found in idle.decide(one.claim))


def _spoken_of(node: Node) -> set[str]:
    return {spoken for part in walk(node) if isinstance(part, Name) for spoken in (full_name(part), part.base)}


def _argued(exercise: Exercise, answer: Answer, given: Given, verdict: Verdict) -> Verdict:
    """All steps are right: do they lead from one side to the other, and is none of them the whole?"""
    if verdict.word == "undecided":
        return verdict
    ends = [(parsed(source), parsed(target)) for source, target in exercise.derive]
    steps = [link for said in answer.claims for link in _steps(said.node)]
    small = [link for link in steps if not any(is_leap(link, pair, given) for pair in ends)]
    if any(follows(pair, small, given) for pair in ends):
        small = steps
    if any(leads(*pair, small, given) for pair in ends):
        return verdict
    first, last = (plain(end) for end in ends[0])
    if any(leads(*pair, steps, given) for pair in ends):
        return _no_answer(verdict, f"this restates what is to be shown: write the steps from {first} to {last}")
    said = "every step is right, but the steps do not lead" if steps else "no step leads"
    return _no_answer(verdict, f"{said} from {first} to {last}")


def _steps(node: Node) -> Iterator[Relation]:
    match node:
        case Relation(terms, signs):
            for a, sign, b in zip(terms[:-1], signs, terms[1:], strict=True):
                yield Relation((a, b), (sign,), span=a.span.to(b.span))
        case Logic("and", items):
            for item in items:
                yield from _steps(item)
        case Quantified(body, conditions) if all(isinstance(part, Name) for part in conditions):
            yield from _steps(body)  # under a condition, it leads from one side to the other in some cases only
