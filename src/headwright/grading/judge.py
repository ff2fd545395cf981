"""Every formula of an answer to a status: true, false with a counterexample, or open with a reason.

A prover decides claims (`Claim -> Prover -> Outcome`), and its kind looks at each outcome again. A formula of
a worded sentence is false only if a counterexample satisfies every condition stated before it in its paragraph; one
under a condition that was not read is never false, and open if the condition may narrow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwright.errors import InputError
from headwright.formulas import FormulaError
from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import (
    Answer,
    MisfitError,
    MissingError,
    Said,
    UndeterminedError,
    WrongKindError,
    full_name,
    full_names,
    names_in,
    speaks_of_moments,
)
from headwright.grading.candidates import Claimed
from headwright.grading.decision import Decision
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.judging import (
    Claim,
    Outcome,
    Prover,
    Role,
    claims,
    judged,
    proved,
    refuted,
)
from headwright.grading.names import names_on_the_left
from headwright.grading.scalars.numbers import TooLong
from headwright.grading.text import is_index
from headwright.grading.verdict import Formula, Status

CANNOT = (
    MisfitError,
    FormulaError,
    UndeterminedError,
    TooLong,
    InputError,
    RecursionError,
)
MOST_EARLIER = 4  # conditions before a formula that it may be meant for
ROUNDED = 0.005  # numbers that differ by less are about equal


def why(error: Exception) -> str:
    """Why something cannot be judged, with a caret where there is a place."""
    return str(error.shown()) if isinstance(error, MisfitError) else str(error)


@dataclass(frozen=True)
class Session:
    """A prover for one reading of an answer, and the second look at what it decides."""

    exercise: Exercise
    answer: Answer
    prover: Prover
    seed: int

    @classmethod
    def opened(cls, exercise: Exercise, answer: Answer, seed: int) -> Session:
        """The prover under this reading; conditions speak of scores in place of names that are defined by them."""
        prover = exercise.kind.prover(answer)
        stated = [one for one in answer.claims if not one.follows]
        for name, said in answer.definitions.items() if stated else ():
            if t.speaks_of(said.node, "q"):
                stated = [
                    replace(one, node=t.put(one.node, name, said.node))
                    for one in stated
                ]
        return cls(exercise, replace(answer, claims=tuple(stated)), prover, seed)

    def decided(self, asked: Iterable[Claim]) -> list[Outcome]:
        """Claims decided, and looked at again."""
        found: list[Outcome] = []
        for claim in asked:
            outcomes = self.prover.decide(claim)
            found += self.exercise.kind.recheck(self.answer, outcomes, self.seed)
        return found

    def always(self, node: t.Node) -> bool:
        """Whether something is so for all that is given."""
        try:
            return proved(
                self.decided(claims(node, "condition", whole=self.exercise.kind.whole))
            )
        except CANNOT:
            return False

    def goals(self, under: tuple[t.Node, ...] = ()) -> list[Outcome]:
        """What the exercise asks of the object; and doubts about what the answer says of its own names."""
        whole = self.exercise.kind.whole
        asked = [
            one
            for goal in self.exercise.goals
            for one in claims(parsed(goal), "goal", whole=whole)
        ]
        doubts = [one for one in self.prover.conditions if one.word != "proved"]
        return doubts + self.decided(
            replace(one, under=(*one.under, *under)) for one in asked
        )


@dataclass(frozen=True)
class Finding:
    """What was found of one formula."""

    claimed: Claimed
    node: t.Node  # as it was judged
    status: Status
    reason: str = ""
    counterexample: Mapping[str, Any] | None = None
    used: str = ""
    judged: tuple[Outcome, ...] = ()

    @property
    def formula(self) -> Formula:
        """For the verdict."""
        one = self.claimed.statement
        counts = (one.kind == "neutral" or one.display) and not one.doubt
        role = "step" if self.judged and self.judged[0].role == "step" else "claim"
        return Formula(
            one.line,
            one.text,
            self.status,
            role,
            counts,
            self.reason,
            self.counterexample,
            self.used,
        )


def judge(
    session: Session,
    claimed: Sequence[Claimed],
    spoken: frozenset[str] = frozenset(),
    mentioned: frozenset[str] = frozenset(),
) -> list[Finding]:
    """Every formula to a status; `spoken` are the names of the answer's own that it says something of.

    `mentioned` are names that stand in a sentence by themselves, which may say in words what they are. The prover was
    opened with these claims (`prepared`) as the last of the answer's.
    """
    said = session.prover.claims[len(session.prover.claims) - len(claimed) :]
    findings = [
        _finding(session, one, each, spoken)
        for one, each in zip(claimed, said, strict=True)
    ]
    return [_unless_explained(one, findings, mentioned) for one in findings]


def _letters_of_law(one: Finding) -> set[str]:
    """The letters for which a law was refuted: x, y of relu(x + y) = relu(x) + relu(y)."""
    examples = [
        each.decision.example
        for each in one.judged
        if each.decision.example is not None
    ]
    return {name for example in examples for name in example.shapes}


def _is_law(node: t.Node, letters: set[str]) -> bool:
    """Whether a formula compares functions of the same letters: relu(P Y) = P relu(Y) does not say what Y is."""
    body = t.unquantified(node)
    if not isinstance(body, t.Relation):
        return False
    spoken = [full_names(term) & letters for term in body.terms]
    has_function = any(isinstance(part, t.Call | t.Norm) for part in t.walk(body))
    return has_function and all(names == spoken[0] for names in spoken)


def _unless_explained(
    one: Finding, findings: Sequence[Finding], mentioned: frozenset[str]
) -> Finding:
    """A refuted law is open where something else is said of its letters: 'let x^T y = 0', 'orthogonal x and y'."""
    letters = _letters_of_law(one)
    if one.status != "false" or not letters:
        return one
    said = set(mentioned)
    for other in findings:
        node = other.claimed.node
        is_domain = (
            isinstance(node, t.Bond) and node.word == "in"
        )  # x in R^d leaves x free
        if not is_domain and not _is_law(node, letters):
            said |= full_names(node)
    explained = sorted(letters & said)
    if not explained:
        return one
    reason = (
        f"it is false as it stands, and what is said of {explained[0]} was not read"
    )
    return replace(one, status="open", reason=reason, counterexample=None)


def prepared(exercise: Exercise, claimed: Sequence[Claimed]) -> tuple[Said, ...]:
    """The claims for opening a prover, each under its conditions."""
    found = (
        (one.statement, exercise.kind.put_under(one.node, one.under)) for one in claimed
    )
    return tuple(Said(node, one.text, one.line, True) for one, node in found)


def _finding(
    session: Session, one: Claimed, said: Said, spoken: frozenset[str]
) -> Finding:
    statement = one.statement
    try:
        found = tuple(_tried(session, said))
    except WrongKindError as error:
        return Finding(one, said.node, "false", why(error), {"words": error.message})
    except MissingError as error:
        return Finding(one, said.node, "open", error.message)
    except CANNOT as error:
        return Finding(one, said.node, "open", why(error))
    if not found:
        return Finding(one, said.node, "open", "nothing was found to judge")
    if statement.doubt and statement.strict:
        return Finding(
            one, said.node, "open", f"'{statement.doubt}' was not read", judged=found
        )
    if proved(found):
        reasons = list(dict.fromkeys(each.reason for each in found if each.reason))
        used = next((each.used for each in found if each.used), "")
        return Finding(
            one, said.node, "true", "; ".join(reasons[:2]), used=used, judged=found
        )
    against = [each for each in found if each.word == "refuted"]
    if against and all(each.decision.up_to_noise for each in against):
        found = tuple(
            replace(each, decision=replace(each.decision, word="proved"))
            for each in found
        )
        return Finding(one, said.node, "true", "true up to the noise", judged=found)
    if against and all(map(_is_rounded, against)):
        return Finding(one, said.node, "true", "true up to rounding", judged=found)
    if not against:
        reason = next((each.reason for each in found if each.word != "proved"), "")
        return Finding(one, said.node, "open", reason, judged=found)
    narrower, maybe = _for_a_case(session, one, said)
    if narrower is not None and not one.again:
        return narrower
    reason = _why_not_false(session, one, said, against, spoken) or maybe
    if reason:
        return Finding(one, said.node, "open", reason, judged=found)
    first = against[0]
    return Finding(
        one, said.node, "false", first.reason, first.counterexample, judged=found
    )


def _is_rounded(one: Outcome) -> bool:
    """Whether two numbers that are written out are about equal."""
    left, right = one.decision.left, one.decision.right
    numbers = all(name.base in ("e", "pi") for name in t.every_name(one.link))
    if one.link.comparisons != ("~",) or not numbers or left is None or right is None:
        return False
    return bool(abs(left - right) <= ROUNDED * abs(left))


def _is_definition(node: t.Node, answer: Answer) -> bool:
    """Whether a condition says no more than the answer does: 'with q = ..., lambda -> infinity'."""
    if node in [said.node for said in answer.conditions]:
        return True
    left = names_on_the_left(node) if isinstance(node, t.Relation) else ()
    if not isinstance(node, t.Relation) or len(left) != 1:
        return False
    made = answer.definitions.get(full_name(left[0]))
    return (
        made is not None and node.comparisons == ("=",) and made.node == node.terms[1]
    )


def _for_a_case(
    session: Session, one: Claimed, said: Said
) -> tuple[Finding | None, str]:
    """What is false in general, for a condition that stands before it: true there, or perhaps meant for it."""
    said_for = {name.base for name in t.every_name(*one.under)}
    other = [
        part
        for part in one.statement.earlier
        if said_for.isdisjoint(name.base for name in t.every_name(part))
        and not _is_definition(part, session.answer)
    ]
    for part in other[: -MOST_EARLIER - 1 : -1] if not one.statement.doubt else ():
        node = session.exercise.kind.put_under(said.node, (part,))
        try:
            again = tuple(_tried(session, replace(said, node=node)))
        except CANNOT:
            again = ()
        if proved(again) and not any(each.decision.vacuous for each in again):
            return Finding(
                one, node, "true", f"true for {plain(part)}", judged=again
            ), ""
        if not refuted(again):
            return None, f"it is false as it stands; it may be meant for {plain(part)}"
    return None, ""


def _tried(session: Session, said: Said) -> list[Outcome]:
    """What is found of each link of a statement; nothing where it is not a statement to judge."""
    some = [part for part in t.walk(said.node) if isinstance(part, t.Exists)]
    if any(
        not part.conditions
        or not all(isinstance(one, t.Name) for one in part.conditions)
        for part in some
    ):
        return []
    if not session.exercise.kind.is_claim(said.node):
        return []
    role: Role = "step" if session.exercise.derive else "statement"
    found: list[Outcome] = []
    unread: Claim | None = None  # the links before this one that cannot be judged
    for claim in claims(said.node, role, said, whole=session.exercise.kind.whole):
        try:
            found += session.decided([claim])
            unread = None
        except WrongKindError:
            raise
        except CANNOT as error:  # the other links of a chain are judged all the same
            found.append(judged(claim, Decision("undecided", why(error)), why(error)))
            unread = _around(unread, claim)
            if unread is not claim:
                found += _decided_if_possible(session, unread)
    return found


def _around(before: Claim | None, claim: Claim) -> Claim:
    """'a = ? = b' says a = b: the two links around a term that cannot be judged, as one."""
    if before is None or before.link.terms[-1:] != claim.link.terms[:1]:
        return claim
    if {*before.link.comparisons, *claim.link.comparisons} != {"="}:
        return claim
    ends = before.link.terms[0], claim.link.terms[-1]
    return replace(claim, node=t.Relation(ends, ("=",), span=claim.node.span))


def _decided_if_possible(session: Session, claim: Claim) -> list[Outcome]:
    try:
        return session.decided([claim])
    except CANNOT:
        return []


def _why_not_false(
    session: Session,
    one: Claimed,
    said: Said,
    against: Sequence[Outcome],
    spoken: frozenset[str],
) -> str:
    """Why a refuted formula is not called false: it may be meant for less."""
    statement = one.statement
    if one.again:
        return "a name in it is defined twice, and which one is meant was not read"
    if statement.doubt:
        return f"it is false as it stands, and '{statement.doubt}' was not read"
    if statement.picked:
        return f"it is false as it stands; read '{statement.picked}'"
    if any({">>", "<<"} & set(each.link.comparisons) for each in against):
        return "how much larger is meant is not said"
    meant_for_less = session.exercise.kind.why_not_false(one, said.node)
    if meant_for_less:
        return meant_for_less
    unsaid = _never_said(session, one, said, against, spoken)
    if unsaid:
        return f"what {unsaid} is was never said"
    if statement.kind == "worded" and statement.clouded:
        return "it is false as it stands; a condition before it is in words"
    return ""


def _never_said(
    session: Session,
    one: Claimed,
    said: Said,
    against: Sequence[Outcome],
    spoken: frozenset[str],
) -> str:
    """A name of which nobody says what it is, in what is refuted or in what that is said for."""
    labels = session.exercise.kind.labels()
    known = {"I", "e", "pi", "infinity", *labels, *spoken, *session.answer.definitions}
    stated = said.node.conditions if isinstance(said.node, t.Quantified) else ()
    known_there = known | {
        full_name(name) for node in stated for name in names_in(node)
    }
    links = [
        each.link for each in against if not speaks_of_moments(each.link)
    ]  # the laws of keys say what is known
    letters = {
        name
        for each in against
        if each.decision.example
        for name in each.decision.example.shapes
    }  # of a law
    asserted = (
        one.statement.kind == "neutral" or one.statement.display
    )  # in words, less may be meant
    parts = [(part, known) for part in one.under if not is_index(part)] + [
        (link, known_there) for link in links
    ]
    for node, told in parts:
        bound = {
            part.index
            for part in t.walk(node)
            if isinstance(part, t.BigSum | t.BigCall)
        }
        for name in names_in(node):
            full = full_name(name)
            asked = (
                full in session.exercise.answer
                and full not in session.answer.definitions
            )
            given = any(
                map(session.exercise.kind.gives, (name, t.Name(name.base)))
            )  # U_k is what U is
            if full in letters and full not in spoken and asserted:
                continue
            if full not in bound and (
                asked or full in letters or not (given or full in told)
            ):
                return plain(name)
    return ""
