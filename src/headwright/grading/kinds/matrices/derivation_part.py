"""Derivations: true steps that lead from one side to the other, none of which is what was to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headwright.formulas import tree as t
from headwright.formulas.show import latex, plain
from headwright.grading.exercise import parsed
from headwright.grading.goals import asked_part, steps_of
from headwright.grading.judge import Finding, Session
from headwright.grading.kinds.matrices.derivations import Aim
from headwright.grading.kinds.matrices.known import Given
from headwright.grading.kinds.matrices.prover import gap
from headwright.grading.verdict import AskedPart


def derivation_part(
    given: Given, found: Sequence[Finding], session: Session, quoted: bool
) -> AskedPart:
    """True steps that lead from one side to the other; a false one on the path makes it wrong."""
    part = "derivation"
    aims = [
        Aim(parsed(source), parsed(target), given)
        for source, target in session.exercise.derive
    ]
    steps = [link for one in found for link in _true_links(one, session)]
    first, last = plain(aims[0].start), plain(aims[0].end)
    goal = latex(t.Relation((aims[0].start, aims[0].end), ("=",)))
    line = next(
        (one.claimed.statement.line for one in found if one.status == "true"), 0
    )
    false = [one for one in found if one.status == "false"]
    across: list[tuple[Finding, t.Relation]] = []  # what a false chain says of its ends
    for one in false:
        node = t.unquantified(one.node)
        if isinstance(node, t.Relation) and len(node.terms) > 2:
            signs = set(node.comparisons) - {"="}
            sign: t.Comparison = (
                "=" if not signs else "<=" if signs <= {"<", "<="} else ">="
            )
            across.append(
                (
                    one,
                    t.Relation(
                        (node.terms[0], node.terms[-1]), (sign,), span=node.span
                    ),
                )
            )
    on_path = [one for one, chain in across if any(aim.is_leap(chain) for aim in aims)]
    if on_path:
        return asked_part(part, "refuted", on_path[0])
    leads, leaps, small = _leads(aims, steps)
    if leads and (leaps or any(_reaches(aim, steps) for aim in aims)):
        reached = f"every step from {first} to {last} is true"
        if not false and not any(map(_has_false_step, found)):
            return AskedPart(part, "proved", line, goal, reached)
        among = _false_amongsteps(aims, found, session)
        if among is not None:
            where = among.claimed.statement.line
            reason = f"line {where} is false as it stands, among the steps that lead from {first} to {last}"
            why_false = (
                "" if "\n" in among.reason else f": {among.reason}"
            )  # not a caret under a formula
            return AskedPart(part, "undecided", line, goal, reason + why_false)
        beside = ", ".join(
            dict.fromkeys(f"line {one.claimed.statement.line}" for one in false)
        )
        return AskedPart(
            part,
            "proved",
            line,
            goal,
            f"{reached}; false beside them: {beside}" if beside else reached,
        )
    others = [link for one in false for link in steps_of(one.node) if link not in steps]
    ends = [chain for _, chain in across]
    if false and (
        not small
        or _leads(aims, [*steps, *others])[0]
        or _leads(aims, [*steps, *ends])[0]
    ):
        return asked_part(part, "refuted", false[0])
    if false:
        reason = f"line {false[0].claimed.statement.line} is false, and the other steps leave a gap"
        return AskedPart(part, "undecided", line, goal, reason)
    telling = [link for link in small if not any(aim.is_idle(link) for aim in aims)]
    if quoted or telling or any(one.status == "open" for one in found):
        return AskedPart(
            part,
            "undecided",
            line,
            goal,
            f"the steps that were read do not lead from {first} to {last}",
        )
    reason = (
        f"this restates what is to be shown: write the steps from {first} to {last}"
    )
    return AskedPart(
        part,
        "missing",
        0,
        "",
        reason if leaps else f"no step leads from {first} to {last}",
    )


def _has_false_step(one: Finding) -> bool:
    """Whether a step of a formula is refuted; the formula may be open, since it may be meant for less."""
    return any(each.word == "refuted" for each in one.judged)


def _false_amongsteps(
    aims: Sequence[Aim], found: Sequence[Finding], session: Session
) -> Finding | None:
    """A false formula that belongs to a derivation: one that is written before its end, or goes on from its steps.

    What is false and stands after the end, by itself, is a remark.
    """
    in_order = sorted(found, key=lambda one: one.claimed.statement.number)
    before: list[t.Relation] = []  # the true steps so far
    ended = False
    for one in in_order:
        if one.status == "false" and not ended:
            ended = _leads(aims, before)[0]
            if not ended:
                return one
        before += _true_links(one, session)
    terms = {term for link in before for term in link.terms}
    for one in found:
        wrong = [each.link for each in one.judged if each.word == "refuted"]
        if any(terms & set(link.terms) for link in wrong):
            return one
    return None


def _reaches(aim: Aim, steps: Sequence[t.Relation]) -> bool:
    """Whether one of the two sides stands in a step, as it is written."""
    for term in (term for link in steps for term in link.terms):
        for end in (aim.start, aim.end):
            found = None if term == end else gap((term, end), aim.bare)
            if term == end or (found is not None and found.is_zero):
                return True
    return False


def _leads(
    aims: Sequence[Aim], steps: Sequence[t.Relation]
) -> tuple[bool, list[t.Relation], list[t.Relation]]:
    """Whether steps lead from one side to the other; those that are what was to be shown, and the others."""
    leaps = [link for link in steps if any(aim.is_leap(link) for aim in aims)]
    small = [link for link in steps if link not in leaps]
    if any(aim.leads(small) for aim in aims):
        return True, leaps, small
    whole = bool(leaps) and any(aim.leads(steps) for aim in aims)
    return whole and any(aim.follows(small) for aim in aims), leaps, small


def _true_links(one: Finding, session: Session) -> Iterator[t.Relation]:
    """The steps of a formula that are true; under a condition, those that hold without it."""
    conditions = one.node.conditions if isinstance(one.node, t.Quantified) else ()
    free = all(isinstance(part, t.Name) or session.always(part) for part in conditions)
    shown = [each.link.terms for each in one.judged if each.word == "proved"]
    for link in steps_of(t.unquantified(one.node)):
        if (one.status == "true" or link.terms in shown) and (
            free or session.always(link)
        ):
            yield link
