"""One answer from its text to its verdict. This file is the table of contents of check:

read      `text` finds the formulas of a text, with the kind of their sentences and the conditions that bind them
names     `names` puts them into the names of the exercise
sort      `candidates`: what was asked for, own names with their bounds, claims
decide    a setting (`settings`) says what names mean; its `Court` decides a `Claim`; `replay` looks at it again
judge     `judge`: every formula to a status
goals     `goals`: what was asked for, part by part
verdict   `verdict`; the sentences to read are listed beside it
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headwright.check.answer import Answer, MisfitError, full_name, given_numbers
from headwright.check.candidates import Contents, candidates, sorted_out
from headwright.check.exercise import Exercise
from headwright.check.goals import (
    Tried,
    blank_part,
    condition_parts,
    derivation_part,
    object_parts,
    reading,
    statement_part,
    try_candidate,
)
from headwright.check.judge import CANNOT, Bench, Finding, judge, plainly, prepared
from headwright.check.judging import Judged, Setting
from headwright.check.markdown import Written
from headwright.check.names import Names, in_given_names
from headwright.check.scalars.numbers import at_most_work
from headwright.check.settings.keys.court import KeysSetting
from headwright.check.settings.matrices.deciding import MatricesSetting
from headwright.check.settings.tokens import TokensSetting
from headwright.check.text import Statement, Text, read
from headwright.check.verdict import Asked, Formula, Status, ToRead, Verdict, by_what, overall
from headwright.errors import InputError
from headwright.formula import tree as t

__all__ = ["check_answer"]


def check_answer(exercise: Exercise, written: Written, *, seed: int = 0) -> Verdict:
    r"""The verdict on an answer to an exercise.

    The seed is that of the random instances on which decisions are replayed.

    >>> from headwright.check.exercise import load_exercises
    >>> exercise = load_exercises()["averaging-two"]
    >>> check_answer(exercise, Written(r"$q = \frac{1}{\sqrt 2}(k_a + k_b)$")).word
    'refuted'
    >>> check_answer(exercise, Written(r"Take $q = \lambda (k_a + k_b)$ for a large $\lambda > 0$.")).threshold
    'lambda >= ln((n - 2)/epsilon), for n > 2'
    """
    words = (*exercise.parameters, *_indexed(exercise))
    lengths = [] if exercise.keys is None else [scale.name for scale in exercise.keys.scales.values()]
    text = read(written, words, {*given_numbers(exercise), *lengths})
    to_read = tuple(ToRead(line, said) for line, said in text.to_read)
    with at_most_work():
        verdict = _Checked(exercise, text, seed).verdict()
    return _in_their_names(replace(verdict, to_read=to_read))


class _Checked:
    """The steps of one check, each from the one before."""

    def __init__(self, exercise: Exercise, text: Text, seed: int) -> None:
        self.exercise, self.seed, self.setting = exercise, seed, _setting(exercise)
        self.described = text.described
        statements = in_given_names(text.statements, exercise, self.setting.gives)
        names = Names(exercise, self.setting.gives)
        first = sorted_out(exercise, statements, names)
        defined = frozenset(one.name for one in (*first.own, *first.asked) if one.rank)
        self.names = Names(exercise, self.setting.gives, defined)
        self.contents: Contents = sorted_out(exercise, statements, self.names, first.own)
        self.statements = statements

    def opened(self, answer: Answer) -> Bench:
        """A court for one reading of the answer."""
        return Bench.opened(self.exercise, self.setting, answer, self.seed)

    def verdict(self) -> Verdict:
        """The verdict."""
        exercise, contents = self.exercise, self.contents
        claims = tuple(contents.claims)
        said = prepared(exercise, claims)
        asked: list[Asked] = []
        tried: list[Tried] = []
        chosen: Tried | None = None
        if exercise.answer:
            found_here = candidates(exercise, contents)
            tried = [try_candidate(exercise, one, contents, self.opened, self.described) for one in found_here]
            asked += object_parts(exercise, contents, tried)
        if exercise.condition:
            parts, tried = condition_parts(contents, self.opened, said)
            asked += parts
        if tried:
            line = asked[0].line
            chosen = next((one for one in tried if one.line == line and one.answer is not None), None)
        base = chosen.answer if chosen is not None and chosen.answer is not None else reading({}, contents)
        full = base if exercise.condition and chosen is not None else replace(base, claims=said)
        try:
            bench = self.opened(full)
            found = judge(bench, claims, self._spoken())
        except CANNOT as error:
            reason = str(error.shown()) if isinstance(error, MisfitError) else str(error)
            bench, found = None, [Finding(one, "open", reason) for one in claims]
        if exercise.condition and chosen is None:  # what holds under a condition that was not read is not false
            found = [
                replace(one, status="open", counterexample=None) if one.status == "false" else one for one in found
            ]
        if bench is not None:
            asked += self._claimed(found, bench)
        if not asked:
            asked = [Asked("answer", "undecided", 0, "", found[0].reason if found else "nothing was read")]
        formulas = self._formulas(found, tried)
        word = overall(asked)
        verdict = Verdict(word, _headline(asked, tried), tuple(asked), formulas)
        judged: Sequence[Judged] = chosen.judged if chosen is not None else ()
        if bench is not None and word in ("proved", "refuted") and len({id(one) for one in tried}) <= 2:
            advised = bench.court.advised(verdict, judged)
            verdict = replace(advised, reason=verdict.reason)
        return verdict

    def _claimed(self, found: Sequence[Finding], bench: Bench) -> list[Asked]:
        """The parts that claims answer."""
        exercise = self.exercise
        mentioned = (*self.contents.quoted, *self.contents.unread)
        parts = [blank_part(exercise, blank, found, bench, self._elsewhere, mentioned) for blank in exercise.blanks]
        if exercise.about:
            quoted = [one.node for one in (*self.contents.quoted, *self._conditions()) if one.node is not None]
            parts.append(statement_part(exercise, found, bench, quoted))
        if exercise.derive:
            unread = bool(self.contents.quoted or self.contents.unread or self._conditions())
            parts.append(derivation_part(exercise, found, bench, unread))
        return parts

    def _conditions(self) -> list[Statement]:
        """What is supposed."""
        return [one for one in self.statements if one.role == "condition" and one.binder in ("suppose", "if")]

    def _elsewhere(self, one: Finding) -> bool:
        """Whether a claim is about a given name that was defined anew."""
        given = self.exercise.redefines if self.exercise.tokens is not None and one.status != "false" else ()
        changed = [part.terms[0] for part in one.claimed.under if isinstance(part, t.Relation)]
        return any(isinstance(name, t.Name) and full_name(name) in given for name in changed)

    def _spoken(self) -> frozenset[str]:
        """The names of the answer's own of which it says something."""
        contents = self.contents
        nodes = [one.value for one in (*contents.own, *contents.asked)] + [said.node for said, _ in contents.bounds]
        nodes += [one.node for one, _ in contents.conditions]
        return frozenset(full_name(name) for node in nodes for name in t.every_name(node))

    def _formulas(self, found: Sequence[Finding], tried: Sequence[Tried]) -> tuple[Formula, ...]:
        """Every formula with its status, in order."""
        contents = self.contents
        listed: list[tuple[int, Formula]] = []

        def add(one: Statement, formula: Formula) -> None:
            listed.append((one.number, formula))

        for each in found:
            add(each.claimed.statement, each.formula)
        words = {one.line: one.word for one in tried}
        for definition in contents.asked:
            one = definition.statement
            if definition.rank > 0 or one.kind != "turned":
                proven: Status = "true" if words.get(one.line) == "proved" else "open"
                add(one, Formula(one.line, one.text, proven, "definition", False))
        for definition in (*contents.own, *contents.by_case):
            one = definition.statement
            add(one, Formula(one.line, one.text, "true", "definition", False))
        for _, one in contents.bounds:
            if one.role != "size":
                add(one, Formula(one.line, one.text, "true", "condition", False))
        for definition in contents.examples:
            one = definition.statement
            add(one, Formula(one.line, one.text, "open", "definition", False, "an example"))
        for one in contents.quoted:
            add(one, Formula(one.line, one.text, "quoted", "claim", False))
        for one in contents.given:
            add(one, Formula(one.line, one.text, "true", "given", False))
        for claimed, _ in contents.conditions:
            one = claimed.statement
            status: Status = "quoted" if one.kind == "turned" else "open"
            status = "true" if words.get(one.line) == "proved" and status == "open" else status
            add(one, Formula(one.line, one.text, status, "condition", False))
        for one in contents.unread:
            reason = "" if one.problem is None else str(one.problem)
            add(one, Formula(one.line, one.text, "open", "unread", False, reason))
        unique: dict[tuple[int, int, str], Formula] = {}
        for number, formula in sorted(listed, key=lambda pair: pair[0]):
            key = (number, formula.line, formula.latex)
            kept = unique.get(key)
            if kept is None or _WORSE[formula.status] < _WORSE[kept.status]:
                unique[key] = formula
        return tuple(unique.values())


_WORSE = {"false": 0, "open": 1, "quoted": 2, "true": 3}


def _headline(asked: Sequence[Asked], tried: Sequence[Tried]) -> str:
    """The reason of the part that decides."""
    parts = [one for one in asked if not one.optional] or list(asked)
    for word in ("refuted", "missing", "undecided", "proved"):
        chosen = next((one for one in parts if one.word == word), None)
        if chosen is not None:
            used = [each.decision.used for one in tried for each in one.judged] if word == "proved" else []
            by = by_what(*sorted({one for one in used if one})) if used else ""
            return f"{chosen.reason}{by}"
    return ""


def _setting(exercise: Exercise) -> Setting:
    if exercise.keys is not None:
        return KeysSetting(exercise, exercise.keys)
    if exercise.tokens is not None:
        return TokensSetting(exercise, exercise.tokens)
    if exercise.integers is not None:
        from headwright.check.settings.integers import IntegersSetting  # it brings z3 along

        return IntegersSetting(exercise, exercise.integers)
    if exercise.matrices is not None:
        return MatricesSetting(exercise, exercise.matrices)
    raise InputError(f"the exercise {exercise.id} has no setting")


def _indexed(exercise: Exercise) -> list[str]:
    """The names with an index, which people write ka and va too: R_tq is R_t q."""
    if exercise.keys is not None:
        return [f"{base}_{which}" for base in ("k", "v", *exercise.keys.also) for which in exercise.keys.named]
    shapes = exercise.matrices.shapes if exercise.matrices else ()
    return [name for name in shapes if re.fullmatch("[A-Za-z]_[a-z]", name)]


def _in_their_names(verdict: Verdict) -> Verdict:
    """Names of the answer's own, that the exercise has too, as they were written."""
    asked = tuple(
        replace(one, latex=plainly(one.latex), reason=plainly(one.reason), counterexample=plainly(one.counterexample))
        for one in verdict.asked
    )
    formulas = tuple(
        replace(one, reason=plainly(one.reason), counterexample=plainly(one.counterexample)) for one in verdict.formulas
    )
    curve = None if verdict.curve is None else replace(verdict.curve, words=plainly(verdict.curve.words))
    told = {name: plainly(getattr(verdict, name)) for name in ("reason", "threshold", "suggestion", "hint")}
    return replace(verdict, asked=asked, formulas=formulas, curve=curve, **told)
