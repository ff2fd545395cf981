"""One answer from its text to its verdict. This file is the table of contents of check:

read      `text` finds the formulas of a text, with the kind of their sentences and the conditions that bind them
names     `names` puts them into the names of the exercise
sort      `candidates`: what was asked for, own names with their bounds, claims
decide    an `ExerciseKind` says what names mean; its `Prover` decides a `Claim`; `replay` looks at it again
judge     `judge`: every formula to a status
goals     `goals`: what was asked for, part by part
verdict   `verdict`; the sentences to read are listed beside it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading import account, goals
from headwright.grading.answer import (
    OWN,
    Answer,
    full_name,
    full_names,
    given_and_drawn_numbers,
    named,
)
from headwright.grading.candidates import QUOTED, Candidate, candidates, sorted_out
from headwright.grading.exercise import Exercise
from headwright.grading.judge import CANNOT, Bench, Finding, judge, prepared, why
from headwright.grading.markdown import Written
from headwright.grading.names import in_given_names, mentioned_names, names_on_the_left
from headwright.grading.scalars.numbers import at_most_work
from headwright.grading.text import Statement, Text, read
from headwright.grading.verdict import (
    AskedPart,
    Formula,
    Status,
    ToRead,
    Verdict,
    overall,
)

__all__ = ["check_answer"]


def check_answer(exercise: Exercise, written: Written, *, seed: int = 0) -> Verdict:
    """The verdict on an answer to an exercise; the seed is that of the instances on which decisions are replayed."""
    known = (*exercise.parameters, *exercise.kind.split_names())
    written = exercise.kind.prepare(written)
    text = read(written, known, given_and_drawn_numbers(exercise))
    statements = exercise.kind.arrange(text.statements)
    text = replace(text, statements=tuple(statements))
    with at_most_work():
        verdict = exercise.kind.grade(text, seed)
        if verdict is None:
            mentioned = mentioned_names(written)
            verdict = _Checked(exercise, text, seed, mentioned).verdict()
    told: Verdict = _in_their_names(verdict)
    to_read = tuple(ToRead(line, said) for line, said in text.to_read)
    return exercise.kind.finish(replace(told, to_read=to_read))


class _Checked:
    """The steps of one check, each from the one before."""

    def __init__(
        self, exercise: Exercise, text: Text, seed: int, mentioned: frozenset[str]
    ) -> None:
        self.exercise = exercise
        self.mentioned = mentioned
        setting = exercise.kind
        self.opened = partial(Bench.opened, exercise, seed=seed)
        self.statements = in_given_names(text.statements, exercise, setting.gives)
        self.contents = sorted_out(exercise, self.statements, setting.gives)
        self.contents.left_over = text.left_over
        if setting.has_own_matrices:
            own = {one.name for one in self.contents.own}
            for name in text.described - own:
                if not setting.gives(named(name)):
                    self.contents.unclear.add(name)
        if setting.has_own_numbers:
            known = {*setting.labels(), "i", "j", "l"}
            for name, words in text.determined.items():
                if name not in known and not setting.gives(named(name)):
                    self.contents.in_words[name] = words

    def verdict(self) -> Verdict:
        """The verdict."""
        exercise, contents = self.exercise, self.contents
        claims = tuple(contents.claims)
        said = prepared(exercise, claims)
        asked: list[AskedPart] = []
        tried: list[goals.Tried] = []
        if exercise.answer:
            tried = self._tried(candidates(exercise, contents))
            part = ", ".join(exercise.answer)
            quoted = [
                one
                for one in candidates(exercise, contents, quoted=True)
                if one.rank == QUOTED
            ]
            asked += (
                [goals.best(tried, part, partial(self._tried, quoted))]
                if tried
                else goals.missing_parts(exercise, contents)
            )
        hidden = (
            goals.unread_definitions(exercise.answer, contents)
            if exercise.answer
            else []
        )
        if hidden and asked[0].word == "refuted":
            reason = f"line {hidden[0].line} was not read, and may be the answer; line {asked[0].line} is refuted"
            asked[0] = AskedPart(
                asked[0].part, "undecided", asked[0].line, asked[0].latex, reason
            )
        if exercise.condition:
            asked, tried = goals.condition_parts(contents, self.opened, said)
        chosen = next(
            (
                one
                for one in tried
                if one.line == asked[0].line and one.answer is not None
            ),
            None,
        )
        base = (
            goals.reading({}, contents)
            if chosen is None or chosen.answer is None
            else chosen.answer
        )
        bench, found = self._judged(
            base
            if exercise.condition and chosen is not None
            else replace(base, claims=said)
        )
        false = any(one.status == "false" for one in found)
        others = [
            one.answer
            for one in tried
            if false and one is not chosen and one.answer is not None
        ]
        again = [
            self._judged(one if exercise.condition else replace(one, claims=said))[1]
            for one in others
        ]
        for place, one in enumerate(
            found
        ):  # it may be meant for another candidate, or for a condition not read
            unread = hidden or (exercise.condition and chosen is None)
            if one.status == "false" and (
                unread or any(each[place].status != "false" for each in again)
            ):
                found[place] = replace(one, status="open", counterexample=None)
        if (
            asked
            and asked[0].word == "proved"
            and exercise.answer
            and chosen is not None
        ):
            asked[0] = self._unrivalled(asked[0], found, base)
            asked[0] = self._unrestricted(asked[0], found, chosen)
        asked += self._claimed(found, bench) if bench is not None else []
        if not asked:
            asked = [
                AskedPart(
                    "answer",
                    "undecided",
                    0,
                    "",
                    found[0].reason if found else "nothing was read",
                )
            ]
        word = overall(asked)
        verdict = Verdict(
            word, _headline(asked, tried), tuple(asked), self._formulas(found, tried)
        )
        if bench is not None and word in ("proved", "refuted") and len(tried) <= 2:
            outcomes = chosen.judged if chosen is not None else ()
            advised = exercise.kind.advise(verdict, bench.court, outcomes)
            verdict = replace(advised, reason=verdict.reason)
        return verdict

    def _tried(self, found: Sequence[Candidate]) -> list[goals.Tried]:
        """What was found of each candidate."""
        return [
            goals.try_candidate(self.exercise, one, self.contents, self.opened)
            for one in found
        ]

    def _judged(self, answer: Answer) -> tuple[Bench | None, list[Finding]]:
        """Every claim under one reading of the answer; the names of its own of which it says something are known."""
        contents, claims = self.contents, self.contents.claims
        nodes = [one.value for one in (*contents.own, *contents.asked)] + [
            said.node for said, _ in contents.bounds
        ]
        nodes += [one.node for one, _ in contents.conditions]
        try:
            bench = self.opened(answer)
            spoken = frozenset(full_name(name) for name in t.every_name(*nodes))
            return bench, judge(bench, claims, spoken, self.mentioned)
        except CANNOT as error:
            return None, [Finding(one, one.node, "open", why(error)) for one in claims]

    def _unrivalled(
        self, part: AskedPart, found: Sequence[Finding], answer: Answer
    ) -> AskedPart:
        """What is proved, unless another value is written for it further down, for a case or in words not read."""
        asked, chosen = self.exercise.answer, answer.definitions
        made = {one.statement.number: one for one in self.contents.asked}
        first = min(
            number for number, one in made.items() if one.value == chosen[one.name].node
        )
        doubted = [
            one for one in made.values() if one.statement.doubt and one.rank == QUOTED
        ]
        others = [
            one.statement for one in doubted if one.value != chosen[one.name].node
        ]
        for one in found:
            node = t.unquantified(one.claimed.node)
            left = (
                names_on_the_left(node)
                if isinstance(node, t.Relation) and node.comparisons[0] == "="
                else ()
            )
            special = [
                isinstance(part, t.Relation) and set(part.comparisons) == {"="}
                for part in one.claimed.under
            ]
            if one.status != "true" and not (
                special and all(special)
            ):  # 'if n = 3, this is q = ...' is no rival
                others += [
                    one.claimed.statement for name in left if full_name(name) in asked
                ]
        later = [one.line for one in others if one.number > first]
        reason = (
            f"line {max(later)} may be meant instead of line {part.line}"
            if later
            else ""
        )
        return replace(part, word="undecided", reason=reason) if later else part

    def _unrestricted(
        self, part: AskedPart, found: Sequence[Finding], chosen: goals.Tried
    ) -> AskedPart:
        """What is proved, unless its sentence restricts it by what is not so: 'normalised so that |q| = 1'."""
        if part.word != "proved":
            return part
        made = [
            one
            for one in self.contents.asked
            if one.statement.number in chosen.statements
        ]
        sentences = {one.statement.sentence for one in made}
        for one in found:
            here = one.claimed.statement.sentence in sentences
            of_it = bool(full_names(one.node) & set(self.exercise.answer))
            of_results = t.speaks_of(one.node, "alpha", "c", "v", "k")
            # '|q| = 1' pins an open name of q; '|q| = 2 lambda' is a remark
            open_names = account.open_names(self.exercise, self.contents, made)
            pins = bool(open_names) and not open_names & full_names(one.node)
            restricts = pins if one.formula.counts else here
            if of_it and not of_results and one.status == "false" and restricts:
                said = plain(t.unquantified(one.claimed.node))
                reason = f"line {one.claimed.statement.line} says {said} of it, which is false as it stands"
                return replace(part, word="undecided", reason=reason)
        return part

    def _claimed(self, found: Sequence[Finding], bench: Bench) -> list[AskedPart]:
        """The parts that claims answer."""
        exercise, contents = self.exercise, self.contents
        supposed = [
            one
            for one in self.statements
            if one.role == "condition" and one.binder in ("suppose", "if")
        ]
        parts: list[AskedPart] = []
        if exercise.blanks:
            mentioned = (*contents.quoted, *contents.unread)
            parts += [
                goals.blank_part(exercise, blank, found, bench, mentioned)
                for blank in exercise.blanks
            ]
        if exercise.about:
            quoted = [
                one.node
                for one in (*contents.quoted, *supposed)
                if one.node is not None
            ]
            parts.append(goals.statement_part(exercise, found, bench, quoted))
        if exercise.derive:
            quoted_some = bool(contents.quoted or contents.unread or supposed)
            parts.append(
                exercise.kind.derivation_part(found, bench, quoted=quoted_some)
            )
        return parts

    def _formulas(
        self, found: Sequence[Finding], tried: Sequence[goals.Tried]
    ) -> tuple[Formula, ...]:
        """Every formula with its status, in order; the worst where one is listed twice."""
        contents = self.contents
        proved = {
            number for one in tried if one.word == "proved" for number in one.statements
        }
        listed = [(each.claimed.statement, each.formula) for each in found]
        rows: list[tuple[Statement, Status, str]] = []
        refuted = {
            number
            for one in tried
            if one.word == "refuted"
            for number in one.statements
        }
        for made in contents.asked:
            if made.rank > QUOTED and made.statement.number in refuted - proved:
                continue  # it is the part that is refuted, and no open formula
            live: Status = "true" if made.statement.number in proved else "open"
            rows.append(
                (made.statement, live if made.rank > QUOTED else "quoted", "definition")
            )
        rows += [(one.statement, "true", "definition") for one in contents.own]
        rows += [
            (one, "true", "condition")
            for _, one in contents.bounds
            if one.role != "size"
        ]
        rows += [(one, "quoted", "claim") for one in contents.quoted]
        rows += [(one, "true", "given") for one in contents.given]
        rows += [(one, "open", "unread") for one in contents.unread]
        for one in (claimed.statement for claimed, _ in contents.conditions):
            rows.append(
                (
                    one,
                    "quoted"
                    if one.kind == "turned"
                    else "true"
                    if one.number in proved
                    else "open",
                    "condition",
                )
            )
        for one, status, role in rows:
            reason = (
                str(one.problem) if role == "unread" and one.problem is not None else ""
            )
            listed.append(
                (one, Formula(one.line, one.text, status, role, False, reason))
            )
        unique: dict[tuple[int, int, str], Formula] = {}
        for one, formula in sorted(listed, key=lambda pair: pair[0].number):
            key = (one.number, formula.line, formula.latex)
            if key not in unique or _WORSE.index(formula.status) < _WORSE.index(
                unique[key].status
            ):
                unique[key] = formula
        return tuple(unique.values())


_WORSE = ("false", "open", "quoted", "true")


def _headline(asked: Sequence[AskedPart], tried: Sequence[goals.Tried]) -> str:
    """The reason of the part that decides."""
    parts = [one for one in asked if not one.optional] or list(asked)
    words = ("refuted", "missing", "undecided", "proved")
    chosen = min(parts, key=lambda one: words.index(one.word))
    used = "; ".join(
        sorted(
            {
                each.decision.used
                for one in tried
                for each in one.judged
                if each.decision.used
            }
        )
    )
    return (
        f"{chosen.reason} ({used})"
        if used and chosen.word == "proved"
        else chosen.reason
    )


def _in_their_names(told: Any) -> Any:
    """What is told, with names of the answer's own that the exercise has too as they were written."""
    if isinstance(told, str):
        return told.replace(r"\_own", "").replace(OWN, "")
    if isinstance(told, Mapping):
        return {
            _in_their_names(name): _in_their_names(value)
            for name, value in told.items()
        }
    if isinstance(told, tuple):
        return tuple(map(_in_their_names, told))
    if is_dataclass(told) and not isinstance(told, type):
        return replace(
            told,
            **{
                one.name: _in_their_names(getattr(told, one.name))
                for one in fields(told)
            },
        )
    return told
