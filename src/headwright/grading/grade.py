"""One answer from its text to its verdict: the table of contents of grading, one call for each step.

read        `text`: the formulas of a text, each with the kind of its sentence and the conditions that bind it
normalise   `names`: the formulas in the names of the exercise
candidates  `candidates`: what may be what was asked for, own names with their bounds, claims
try         `goals`: each candidate judged by the goals; `judge` asks a prover, and the kind looks at its outcomes again
formulas    `judge`: every other formula, under the definitions of the candidate that was chosen
parts       `goals`: what was asked for, part by part; `rivals`: what casts doubt on a proof
verdict     `verdict`: the worst part decides, and a kind adds its advice
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

from headwright.formulas import tree as t
from headwright.grading import goals
from headwright.grading.answer import (
    OWN,
    Answer,
    Said,
    full_name,
    given_and_drawn_numbers,
    named,
)
from headwright.grading.candidates import (
    QUOTED,
    Candidate,
    Contents,
    candidates,
    sorted_out,
)
from headwright.grading.exercise import Exercise
from headwright.grading.judge import CANNOT, Finding, Session, judge, prepared, why
from headwright.grading.markdown import Written
from headwright.grading.names import in_given_names, mentioned_names
from headwright.grading.rivals import without_rivals
from headwright.grading.scalars.numbers import at_most_work
from headwright.grading.text import Statement, Text, read
from headwright.grading.verdict import (
    WORST_FIRST,
    AskedPart,
    Formula,
    Status,
    ToRead,
    Verdict,
    overall,
)

__all__ = ["grade"]


def grade(exercise: Exercise, written: Written, *, seed: int = 0) -> Verdict:
    """The verdict on an answer to an exercise; the seed is that of the instances on which outcomes are tried."""
    kind = exercise.kind
    prepared_text = kind.prepare(written)
    text = _read(exercise, prepared_text)
    with at_most_work():
        verdict = kind.grade(text, seed)
        if verdict is None:
            mentioned = mentioned_names(prepared_text)
            verdict = _grade_claims(exercise, text, mentioned, seed)
    in_their_names: Verdict = _in_their_names(verdict)
    to_read = tuple(ToRead(line, sentence) for line, sentence in text.to_read)
    return kind.finish(replace(in_their_names, to_read=to_read))


def _grade_claims(
    exercise: Exercise, text: Text, mentioned: frozenset[str], seed: int
) -> Verdict:
    """The usual steps: candidates for what was asked for, then every other formula."""
    submission = _normalise(exercise, text, mentioned, seed)
    attempts = _try_candidates(submission)
    judged = _judge_formulas(submission, attempts)
    parts = _decide_parts(submission, attempts, judged)
    return _conclude(submission, attempts, judged, parts)


# Read, and put into the names of the exercise


@dataclass(frozen=True)
class Submission:
    """An answer as it was read, in the names of the exercise."""

    exercise: Exercise
    statements: Sequence[Statement]
    contents: Contents
    mentioned: frozenset[str]  # letters that stand by themselves in sentences
    seed: int

    def open_session(self, answer: Answer) -> Session:
        """What judges claims under one reading of the answer."""
        return Session.opened(self.exercise, answer, self.seed)

    @property
    def claims(self) -> tuple[Said, ...]:
        """What is claimed, each claim under its conditions."""
        return prepared(self.exercise, tuple(self.contents.claims))

    @property
    def explained_names(self) -> frozenset[str]:
        """The names of the answer's own of which it says something, and those in what it says."""
        contents = self.contents
        nodes = [one.value for one in (*contents.own, *contents.asked)]
        nodes += [bound.node for bound, _ in contents.bounds]
        nodes += [claimed.node for claimed, _ in contents.conditions]
        return frozenset(full_name(name) for name in t.every_name(*nodes))

    @property
    def unread_definitions(self) -> list[Statement]:
        """Formulas that could not be read, and begin as the definition of what was asked for."""
        asked = self.exercise.answer
        return goals.unread_definitions(asked, self.contents) if asked else []

    @property
    def supposed(self) -> list[Statement]:
        """Conditions of cases: 'suppose n = 3'."""
        conditions = [one for one in self.statements if one.role == "condition"]
        return [one for one in conditions if one.binder in ("suppose", "if")]


def _read(exercise: Exercise, written: Written) -> Text:
    names = (*exercise.parameters, *exercise.kind.split_names())
    text = read(written, names, given_and_drawn_numbers(exercise))
    statements = exercise.kind.arrange(text.statements)
    return replace(text, statements=tuple(statements))


def _normalise(
    exercise: Exercise, text: Text, mentioned: frozenset[str], seed: int
) -> Submission:
    kind = exercise.kind
    statements = in_given_names(text.statements, exercise, kind.gives)
    contents = sorted_out(exercise, statements, kind.gives)
    contents.left_over = text.left_over
    if kind.has_own_matrices:
        own = {one.name for one in contents.own}
        for name in text.described - own:
            if not kind.gives(named(name)):
                contents.unclear.add(name)
    if kind.has_own_numbers:
        known = {*kind.labels(), "i", "j", "l"}
        for name, words in text.determined.items():
            if name not in known and not kind.gives(named(name)):
                contents.in_words[name] = words
    return Submission(exercise, statements, contents, mentioned, seed)


# Try what may have been asked for


@dataclass(frozen=True)
class Attempts:
    """What was found of the object or the condition that was asked for."""

    part: AskedPart | None  # None where neither was asked for
    tried: tuple[goals.Tried, ...] = ()
    missing: tuple[AskedPart, ...] = ()  # where no candidate gives all of it

    @property
    def parts(self) -> tuple[AskedPart, ...]:
        """The parts of the verdict so far."""
        return self.missing if self.part is None else (self.part,)

    @property
    def chosen(self) -> goals.Tried | None:
        """The candidate that decided."""
        for one in self.tried:
            decides = self.part is not None and one.line == self.part.line
            if decides and one.answer is not None:
                return one
        return None


def _try_candidates(submission: Submission) -> Attempts:
    exercise, contents = submission.exercise, submission.contents
    if exercise.condition:
        parts, tried = goals.condition_parts(
            exercise, contents, submission.open_session, submission.claims
        )
        return Attempts(parts[0], tuple(tried))
    if not exercise.answer:
        return Attempts(None)
    tried = _try_each(submission, candidates(exercise, contents))
    if not tried:
        missing = tuple(goals.missing_parts(exercise, contents))
        return Attempts(None, missing=missing)
    quoted = [
        candidate
        for candidate in candidates(exercise, contents, quoted=True)
        if candidate.rank == QUOTED
    ]
    name = ", ".join(exercise.answer)
    part = goals.best(tried, name, partial(_try_each, submission, quoted))
    unread = submission.unread_definitions
    if unread and part.word == "refuted":
        reason = f"line {unread[0].line} was not read, and may be the answer; line {part.line} is refuted"
        part = AskedPart(part.part, "undecided", part.line, part.latex, reason)
    return Attempts(part, tuple(tried))


def _try_each(submission: Submission, found: Sequence[Candidate]) -> list[goals.Tried]:
    return [
        goals.try_candidate(
            submission.exercise,
            candidate,
            submission.contents,
            submission.open_session,
        )
        for candidate in found
    ]


# Judge every formula


@dataclass(frozen=True)
class JudgedFormulas:
    """Every claim with its status under one reading of the answer; no session where that cannot be judged."""

    answer: Answer
    session: Session | None
    findings: tuple[Finding, ...]


def _judge_formulas(submission: Submission, attempts: Attempts) -> JudgedFormulas:
    """Every claim under the chosen candidate; what may be meant for another one is not called false."""
    exercise, chosen = submission.exercise, attempts.chosen
    if chosen is None or chosen.answer is None:
        answer = goals.reading({}, submission.contents)
        answer = replace(answer, claims=submission.claims)
    else:
        answer = _with_claims(submission, chosen.answer)
    judged = _judge_under(submission, answer)
    if not any(one.status == "false" for one in judged.findings):
        return judged
    # A formula may be meant for what was not read ...
    if submission.unread_definitions or (exercise.condition and chosen is None):
        every = range(len(judged.findings))
        return replace(judged, findings=_not_false(judged.findings, set(every)))
    # ... or for another candidate, for which it is not false.
    elsewhere: set[int] = set()
    for other in attempts.tried:
        if other is chosen or other.answer is None:
            continue
        again = _judge_under(submission, _with_claims(submission, other.answer))
        elsewhere |= {
            place for place, one in enumerate(again.findings) if one.status != "false"
        }
    return replace(judged, findings=_not_false(judged.findings, elsewhere))


def _with_claims(submission: Submission, answer: Answer) -> Answer:
    """A condition that was tried is among the claims already."""
    if submission.exercise.condition:
        return answer
    return replace(answer, claims=submission.claims)


def _not_false(findings: Sequence[Finding], places: set[int]) -> tuple[Finding, ...]:
    """The findings; those at some places are open where they were false."""
    return tuple(
        replace(one, status="open", counterexample=None)
        if one.status == "false" and place in places
        else one
        for place, one in enumerate(findings)
    )


def _judge_under(submission: Submission, answer: Answer) -> JudgedFormulas:
    claims = submission.contents.claims
    try:
        session = submission.open_session(answer)
        findings = judge(
            session, claims, submission.explained_names, submission.mentioned
        )
    except CANNOT as error:
        open_ones = [Finding(one, one.node, "open", why(error)) for one in claims]
        return JudgedFormulas(answer, None, tuple(open_ones))
    return JudgedFormulas(answer, session, tuple(findings))


# Decide the parts


def _decide_parts(
    submission: Submission, attempts: Attempts, judged: JudgedFormulas
) -> tuple[AskedPart, ...]:
    parts = list(attempts.parts)
    chosen = attempts.chosen
    if submission.exercise.answer and chosen is not None and attempts.part is not None:
        part = without_rivals(
            attempts.part,
            submission.exercise,
            submission.contents,
            judged.answer,
            judged.findings,
            chosen.statements,
        )
        parts = [part]
    if judged.session is not None:
        parts += _parts_of_claims(submission, judged.session, judged.findings)
    if not parts:
        reason = judged.findings[0].reason if judged.findings else "nothing was read"
        parts = [AskedPart("answer", "undecided", 0, "", reason)]
    return tuple(parts)


def _parts_of_claims(
    submission: Submission, session: Session, findings: Sequence[Finding]
) -> list[AskedPart]:
    """Values, a statement, a derivation: the parts that claims answer."""
    exercise, contents = submission.exercise, submission.contents
    parts: list[AskedPart] = []
    mentioned = (*contents.quoted, *contents.unread)
    for blank in exercise.blanks:
        part = goals.blank_part(
            exercise, blank, findings, session, mentioned, contents.left_over
        )
        parts.append(part)
    if exercise.about:
        statements = (*contents.quoted, *submission.supposed)
        quoted = [one.node for one in statements if one.node is not None]
        parts.append(goals.statement_part(exercise, findings, session, quoted))
    if exercise.derive:
        some = bool(mentioned or submission.supposed)
        parts.append(exercise.kind.derivation_part(findings, session, quoted=some))
    return parts


# Conclude


def _conclude(
    submission: Submission,
    attempts: Attempts,
    judged: JudgedFormulas,
    parts: tuple[AskedPart, ...],
) -> Verdict:
    word = overall(parts)
    reason = _headline(parts, attempts.tried)
    formulas = _list_formulas(submission.contents, judged.findings, attempts.tried)
    verdict = Verdict(word, reason, parts, formulas)
    decided = judged.session is not None and word in ("proved", "refuted")
    if judged.session is None or not decided or len(attempts.tried) > 2:
        return verdict
    chosen = attempts.chosen
    outcomes = () if chosen is None else chosen.judged
    kind = submission.exercise.kind
    advised = kind.advise(verdict, judged.session.prover, outcomes)
    return replace(advised, reason=reason)


def _headline(parts: Sequence[AskedPart], tried: Sequence[goals.Tried]) -> str:
    """The reason of the part that decides, and what proved it."""
    counting = [one for one in parts if not one.optional] or list(parts)
    decisive = min(counting, key=lambda one: WORST_FIRST.index(one.word))
    outcomes = [outcome for one in tried for outcome in one.judged]
    used = sorted({one.decision.used for one in outcomes if one.decision.used})
    if used and decisive.word == "proved":
        return f"{decisive.reason} ({'; '.join(used)})"
    return decisive.reason


WORST_STATUS_FIRST: tuple[Status, ...] = ("false", "open", "quoted", "true")


def _list_formulas(
    contents: Contents, findings: Sequence[Finding], tried: Sequence[goals.Tried]
) -> tuple[Formula, ...]:
    """Every formula with its status, in order; the worst where one is listed twice."""
    listed = [(one.claimed.statement, one.formula) for one in findings]
    for statement, status, role in _statuses_besides(contents, tried):
        problem = statement.problem if role == "unread" else None
        reason = "" if problem is None else str(problem)
        formula = Formula(statement.line, statement.text, status, role, False, reason)
        listed.append((statement, formula))
    listed.sort(key=lambda pair: pair[0].number)
    worst: dict[tuple[int, int, str], Formula] = {}
    for statement, formula in listed:
        key = (statement.number, formula.line, formula.latex)
        rank = WORST_STATUS_FIRST.index(formula.status)
        if key not in worst or rank < WORST_STATUS_FIRST.index(worst[key].status):
            worst[key] = formula
    return tuple(worst.values())


def _statuses_besides(
    contents: Contents, tried: Sequence[goals.Tried]
) -> list[tuple[Statement, Status, str]]:
    """What is no claim: definitions, conditions, what is given, quoted or unread."""
    proved: set[int] = set()
    refuted: set[int] = set()
    for attempt in tried:
        if attempt.word == "proved":
            proved |= attempt.statements
        elif attempt.word == "refuted":
            refuted |= attempt.statements
    rows: list[tuple[Statement, Status, str]] = []
    for made in contents.asked:
        if made.rank > QUOTED and made.statement.number in refuted and not proved:
            continue  # it is the part that is refuted, and no open formula
        status: Status = "true" if made.statement.number in proved else "open"
        status = "quoted" if made.rank <= QUOTED else status
        rows.append((made.statement, status, "definition"))
    rows += [(made.statement, "true", "definition") for made in contents.own]
    for _, one in contents.bounds:
        if one.role != "size":
            rows.append((one, "true", "condition"))
    rows += [(one, "quoted", "claim") for one in contents.quoted]
    rows += [(one, "true", "given") for one in contents.given]
    rows += [(one, "open", "unread") for one in contents.unread]
    for claimed, _ in contents.conditions:
        one = claimed.statement
        status = "true" if one.number in proved else "open"
        status = "quoted" if one.kind == "turned" else status
        rows.append((one, status, "condition"))
    return rows


def _in_their_names(found: Any) -> Any:
    """What was found, with names of the answer's own that the exercise has too as they were written."""
    if isinstance(found, str):
        return found.replace(r"\_own", "").replace(OWN, "")
    if isinstance(found, Mapping):
        return {
            _in_their_names(name): _in_their_names(value)
            for name, value in found.items()
        }
    if isinstance(found, tuple):
        return tuple(map(_in_their_names, found))
    if is_dataclass(found) and not isinstance(found, type):
        changed = {
            field.name: _in_their_names(getattr(found, field.name))
            for field in fields(found)
        }
        return replace(found, **changed)
    return found
