"""Derivations: true steps that lead from one side to the other, none of which is what was to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from headwright.formulas import tree as t
from headwright.formulas.show import latex, plain
from headwright.grading.exercise import parsed
from headwright.grading.goals import asked_part, steps_of
from headwright.grading.judge import Finding, Session
from headwright.grading.kinds.matrices.derivations import Aim
from headwright.grading.kinds.matrices.known import Given
from headwright.grading.kinds.matrices.prover import gap
from headwright.grading.verdict import AskedPart, Word

PART = "derivation"


@dataclass(frozen=True)
class Derivation:
    """The formulas of an answer, as steps from one side to the other of what is to be shown."""

    aims: Sequence[Aim]
    findings: Sequence[Finding]
    session: Session

    @cached_property
    def steps(self) -> list[t.Relation]:
        """The true ones."""
        return [
            link for one in self.findings for link in _true_links(one, self.session)
        ]

    @cached_property
    def false(self) -> list[Finding]:
        """The formulas that are false."""
        return [one for one in self.findings if one.status == "false"]

    @cached_property
    def across(self) -> list[tuple[Finding, t.Relation]]:
        """What false chains say of their ends."""
        chains: list[tuple[Finding, t.Relation]] = []
        for one in self.false:
            node = t.unquantified(one.node)
            if isinstance(node, t.Relation) and len(node.terms) > 2:
                ends = (node.terms[0], node.terms[-1])
                sign = _sign_across(node.comparisons)
                chains.append((one, t.Relation(ends, (sign,), span=node.span)))
        return chains

    @property
    def ends(self) -> tuple[str, str]:
        """What it leads from, and to."""
        return plain(self.aims[0].start), plain(self.aims[0].end)

    @property
    def line(self) -> int:
        """Where the first true formula stands."""
        true = (one for one in self.findings if one.status == "true")
        return next((one.claimed.statement.line for one in true), 0)

    def part(self, word: Word, reason: str) -> AskedPart:
        """The part of the verdict, with the goal as its formula."""
        goal = t.Relation((self.aims[0].start, self.aims[0].end), ("=",))
        return AskedPart(PART, word, self.line, latex(goal), reason)


def derivation_part(
    given: Given, findings: Sequence[Finding], session: Session, quoted: bool
) -> AskedPart:
    """True steps that lead from one side to the other; a false one on the path makes it wrong."""
    aims = [
        Aim(parsed(source), parsed(target), given)
        for source, target in session.exercise.derive
    ]
    derivation = Derivation(aims, findings, session)
    for one, chain in derivation.across:
        if any(aim.is_leap(chain) for aim in aims):
            return asked_part(PART, "refuted", one)
    leads, leaps, small = _leads(aims, derivation.steps)
    if leads and (leaps or any(_reaches(aim, derivation.steps) for aim in aims)):
        return _that_leads(derivation)
    if derivation.false:
        return _with_false_steps(derivation, small)
    first, last = derivation.ends
    telling = [link for link in small if not any(aim.is_idle(link) for aim in aims)]
    if quoted or telling or any(one.status == "open" for one in findings):
        reason = f"the steps that were read do not lead from {first} to {last}"
        return derivation.part("undecided", reason)
    reason = f"no step leads from {first} to {last}"
    if leaps:
        reason = (
            f"this restates what is to be shown: write the steps from {first} to {last}"
        )
    return AskedPart(PART, "missing", 0, "", reason)


def _sign_across(comparisons: Sequence[t.Comparison]) -> t.Comparison:
    """What a chain with these signs says of its ends."""
    signs = set(comparisons) - {"="}
    if not signs:
        return "="
    return "<=" if signs <= {"<", "<="} else ">="


def _that_leads(derivation: Derivation) -> AskedPart:
    """True steps lead from one side to the other; false formulas may stand among them, or beside them."""
    first, last = derivation.ends
    reached = f"every step from {first} to {last} is true"
    if not derivation.false and not any(map(_has_false_step, derivation.findings)):
        return derivation.part("proved", reached)
    among = _false_among_steps(derivation.aims, derivation.findings, derivation.session)
    if among is not None:
        where = among.claimed.statement.line
        reason = f"line {where} is false as it stands, among the steps that lead from {first} to {last}"
        has_caret = "\n" in among.reason  # under a formula
        return derivation.part(
            "undecided", reason if has_caret else f"{reason}: {among.reason}"
        )
    lines = [f"line {one.claimed.statement.line}" for one in derivation.false]
    beside = ", ".join(dict.fromkeys(lines))
    return derivation.part(
        "proved", f"{reached}; false beside them: {beside}" if beside else reached
    )


def _with_false_steps(derivation: Derivation, small: Sequence[t.Relation]) -> AskedPart:
    """Refuted where the false steps are what would lead to the other side."""
    aims, steps, false = derivation.aims, derivation.steps, derivation.false
    others = [link for one in false for link in steps_of(one.node) if link not in steps]
    chains = [chain for _, chain in derivation.across]
    would_lead = (
        not small
        or _leads(aims, [*steps, *others])[0]
        or _leads(aims, [*steps, *chains])[0]
    )
    if would_lead:
        return asked_part(PART, "refuted", false[0])
    wrong_end = next((one for one in false if _speaks_of_an_end(one, aims)), None)
    if wrong_end is not None:
        return asked_part(PART, "refuted", wrong_end)
    line = false[0].claimed.statement.line
    reason = f"line {line} is false, and the other steps leave a gap"
    return derivation.part("undecided", reason)


def _speaks_of_an_end(one: Finding, aims: Sequence[Aim]) -> bool:
    """Whether a false formula, asserted without other words, says something of a side of what is to be shown."""
    ends = {end for aim in aims for end in (aim.start, aim.end)}
    wrong = [each.link for each in one.judged if each.word == "refuted"]
    return one.formula.counts and any(ends & set(link.terms) for link in wrong)


def _has_false_step(one: Finding) -> bool:
    """Whether a step of a formula is refuted; the formula may be open, since it may be meant for less."""
    return any(each.word == "refuted" for each in one.judged)


def _false_among_steps(
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
