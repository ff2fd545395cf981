"""Every formula of an answer to a status: true, false with a counterexample, or open with a reason.

A setting decides claims (`Claim -> Court -> Judged`), and each decision is replayed on explicit instances. A formula of
a worded sentence is false only if a counterexample satisfies every condition stated before it in its paragraph; one
under a condition that was not read is never false, and open if the condition may narrow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from headwright.check.answer import (
    OWN,
    Answer,
    MisfitError,
    MissingError,
    Said,
    WrongKindError,
    about_the_given,
    full_name,
)
from headwright.check.candidates import Claimed
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Claim, Court, Judged, Role, Setting, claims, judged, proved, refuted
from headwright.check.replay import looked_at_twice
from headwright.check.replay.trying import NOISE
from headwright.check.scalars.numbers import TooLong
from headwright.check.settings.keys.laws import speaks_of_moments
from headwright.check.settings.keys.scene import UndeterminedError
from headwright.check.settings.matrices.deciding import INSTANCE
from headwright.check.settings.matrices.known import names_in
from headwright.check.text import is_index
from headwright.check.verdict import Formula, Status
from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula import tree as t
from headwright.formula.show import plain

CANNOT = (MisfitError, FormulaError, UndeterminedError, TooLong, InputError, RecursionError)
SOMEWHERE = "the two sides differ in an instance, and whether they always do is not proved"
UNTRIED = "it is said for one value only, and whether that is among those that were tried is not certain"
MOST_EARLIER = 4  # conditions before a formula that it may be meant for
ROUNDED = 0.005  # numbers that differ by less are about equal
WITNESSES = ("k", "m")  # names of integers that may be claimed to exist


@dataclass(frozen=True)
class Bench:
    """A court for one reading of an answer, and the replay of what it decides."""

    exercise: Exercise
    setting: Setting
    answer: Answer
    court: Court
    seed: int

    @classmethod
    def opened(cls, exercise: Exercise, setting: Setting, answer: Answer, seed: int) -> Bench:
        """The court under this reading."""
        court = setting.opened(answer)
        scores = {name: said.node for name, said in answer.definitions.items() if t.speaks_of(said.node, "q")}
        claims = [replace(one, node=_in_scores(one.node, scores)) for one in answer.claims if not one.follows]
        return cls(exercise, setting, replace(answer, claims=tuple(claims)), court, seed)

    def decided(self, asked: Iterable[Claim]) -> list[Judged]:
        """Claims decided, and replayed."""
        found: list[Judged] = []
        for claim in asked:
            decided = looked_at_twice(self.exercise, self.answer, self.court.decide(claim), self.seed)
            if claim.said is not None and all(one.decision.word == "undecided" for one in decided):
                decided = self._outgrown(claim) or decided
            if self.exercise.matrices is not None and self.exercise.matrices.different:
                decided = [undecided(one, SOMEWHERE) if _in_an_instance(one) else one for one in decided]
            untried = self.exercise.keys is not None and any(map(_untried, decided))
            found += [undecided(one, UNTRIED) if untried else one for one in decided]
        return found

    def _outgrown(self, claim: Claim) -> list[Judged]:
        """a >> b as a claim: it is proved where a > 0 and b/a tends to 0, and never refuted."""
        match claim.node:
            case t.Relation((large, small), (">>",)) | t.Relation((small, large), ("<<",)) if not claim.negated:
                ratio = t.Relation((t.Quotient(small, large), t.ZERO), ("~",), span=claim.node.span)
            case _:
                return []
        positive = t.Relation((large, t.ZERO), (">",), span=claim.node.span)
        try:
            found = self.decided(replace(claim, node=node) for node in (positive, ratio))
        except CANNOT:
            return []
        if not proved(found):
            return []
        reason = f"{plain(small)} becomes negligible beside {plain(large)}"
        return [judged(claim, replace(found[-1].decision, reason=reason), reason)]

    def claims(self, node: t.Node, role: Role, said: Said | None = None) -> Iterator[Claim]:
        """The claims of a statement, as far as the setting wants it taken apart."""
        return claims(node, role, said, whole=self.setting.whole)

    def always(self, node: t.Node) -> bool:
        """Whether something is so for all that is given."""
        try:
            return proved(self.decided(self.claims(node, "condition")))
        except CANNOT:
            return False

    def goals(self, under: tuple[t.Node, ...] = ()) -> list[Judged]:
        """What the exercise asks of the object."""
        asked = [claim for source in self.exercise.goals for claim in self.claims(parsed(source), "goal")]
        return self.decided(replace(claim, under=(*claim.under, *under)) for claim in asked)


def _in_scores(node: t.Node, scores: Mapping[str, t.Node]) -> t.Node:
    """A condition with scores in place of the names that are defined by them."""
    for name, value in scores.items():
        node = t.put(node, name, value)
    return node


def _in_an_instance(one: Judged) -> bool:
    """Where matrices are given to be different always, an instance in which two differ proves no such thing."""
    return one.decision.word == "proved" and one.part.used == INSTANCE


def _untried(one: Judged) -> bool:
    """'for n = 3 and epsilon = 1/3, alpha_a = 9/20': plain instances need not meet such a condition."""
    pinned = any(isinstance(node, t.Relation) and "=" in node.comparisons for node in one.claim.under)
    return one.decision.word == "holds" and pinned


def undecided(one: Judged, reason: str) -> Judged:
    """The same, left open."""
    part = replace(one.part, word="undecided", reason=reason, counterexample=None)
    return replace(one, decision=Decision("undecided", reason), part=part)


@dataclass(frozen=True)
class Finding:
    """What was found of one formula."""

    claimed: Claimed
    status: Status
    reason: str = ""
    counterexample: Mapping[str, Any] | None = None
    used: str = ""
    judged: tuple[Judged, ...] = ()
    node: t.Node | None = None  # as it was judged

    @property
    def formula(self) -> Formula:
        """For the verdict."""
        one = self.claimed.statement
        counts = one.kind == "neutral" and not one.doubt
        role = "step" if self.judged and self.judged[0].part.role == "step" else "claim"
        return Formula(one.line, one.text, self.status, role, counts, self.reason, self.counterexample, self.used)


def judge(bench: Bench, claimed: Sequence[Claimed], spoken: frozenset[str] = frozenset()) -> list[Finding]:
    """Every formula to a status; `spoken` are the names of the answer's own that it says something of.

    The court was opened with these claims (`prepared`) as the last of the answer's.
    """
    said = bench.court.claims[len(bench.court.claims) - len(claimed) :]
    return [_finding(bench, one, each, spoken) for one, each in zip(claimed, said, strict=True)]


def prepared(exercise: Exercise, claimed: Sequence[Claimed]) -> tuple[Said, ...]:
    """The claims for opening a court, each under its conditions."""
    witnesses: dict[tuple[int, str], t.Node] = {}
    made = []
    for one in claimed:
        node = under(exercise, one.node, _with_witnesses(exercise, one, witnesses))
        made.append(Said(node, one.statement.text, one.statement.line, True))
    return tuple(made)


def _with_witnesses(exercise: Exercise, one: Claimed, witnesses: dict[tuple[int, str], t.Node]) -> tuple[t.Node, ...]:
    """'so t - t' = 2 pi k ... hence k = 0': the k that was said to exist."""
    if exercise.integers is None or not one.under:
        return one.under
    body = one.node.body if isinstance(one.node, t.Exists) else one.node
    letters = sorted({name.base for name in t.every_name(body)} & set(WITNESSES))
    more = [witnesses[one.statement.paragraph, x] for x in letters if (one.statement.paragraph, x) in witnesses]
    for letter in letters:
        witnesses.setdefault((one.statement.paragraph, letter), body)
    told = any(t.speaks_of(part, *letters) for part in one.under)
    return one.under if told else (*one.under, *more)


def under(exercise: Exercise, node: t.Node, conditions: tuple[t.Node, ...]) -> t.Node:
    """A statement with what it is said for."""
    if not conditions:
        return node
    if exercise.integers is not None:  # an integer that only the conclusion names is claimed to exist
        stated = [part for part in conditions if not isinstance(part, t.Name | t.Listing)]
        given: t.Node = stated[0] if len(stated) == 1 else t.Logic("and", tuple(stated))
        return t.Logic("implies", (given, node), span=node.span) if stated else node
    return t.said_under(node, conditions)


def _finding(bench: Bench, one: Claimed, said: Said, spoken: frozenset[str]) -> Finding:
    statement = one.statement
    try:
        found = _tried(bench, said)
    except WrongKindError as error:
        return Finding(one, "false", str(error.shown()), {"words": error.message}, node=said.node)
    except MissingError as error:
        return Finding(one, "open", error.message, node=said.node)
    except CANNOT as error:
        shown = str(error.shown()) if isinstance(error, MisfitError) else str(error)
        return Finding(one, "open", shown, node=said.node)
    if not found:
        return Finding(one, "open", "nothing was found to judge", node=said.node)
    if statement.doubt and statement.strict:
        return Finding(one, "open", f"'{statement.doubt}' was not read", judged=tuple(found), node=said.node)
    if refuted(found) and all(one.part.reason == NOISE for one in found if one.decision.word == "refuted"):
        found = [replace(each, decision=replace(each.decision, word="proved")) for each in found]
        return Finding(one, "true", "true up to the noise", used="", judged=tuple(found), node=said.node)
    if proved(found):
        reasons = list(dict.fromkeys(each.part.reason for each in found if each.part.reason))
        used = next((each.part.used for each in found if each.part.used), "")
        return Finding(one, "true", "; ".join(reasons[:2]), used=used, judged=tuple(found), node=said.node)
    against = [each for each in found if each.decision.word == "refuted" and not _rounded(each)]
    if refuted(found) and not against:
        return Finding(one, "true", "true up to rounding", judged=tuple(found), node=said.node)
    if not against:
        reason = next((each.part.reason for each in found if each.decision.word != "proved"), "")
        return Finding(one, "open", reason, judged=tuple(found), node=said.node)
    narrower, maybe = _for_a_case(bench, one, said)
    if narrower is not None and not one.again:
        return narrower
    why = _why_not_false(bench, one, said, against, spoken) or maybe
    if why:
        return Finding(one, "open", why, judged=tuple(found), node=said.node)
    first = against[0].part
    return Finding(one, "false", first.reason, first.counterexample, "", tuple(found), said.node)


def _for_a_case(bench: Bench, one: Claimed, said: Said) -> tuple[Finding | None, str]:
    """What is false in general, for a condition that stands before it: true there, or perhaps meant for it."""
    if one.statement.doubt:
        return None, ""
    said_for = {name.base for name in t.every_name(*one.under)}
    other = [part for part in one.statement.earlier if said_for.isdisjoint(name.base for name in t.every_name(part))]
    for part in other[: -MOST_EARLIER - 1 : -1]:
        node = under(bench.exercise, said.node, (part,))
        try:
            again = _tried(bench, replace(said, node=node))
        except CANNOT:
            again = []
        if proved(again) and not any(each.vacuous for each in again):
            return Finding(one, "true", f"true for {plain(part)}", judged=tuple(again), node=node), ""
        if not refuted(again):
            return None, f"it is false as it stands; it may be meant for {plain(part)}"
    return None, ""


def _rounded(one: Judged) -> bool:
    """Whether two numbers that are written out are about equal."""
    left, right = one.decision.left, one.decision.right
    numbers = not any(name.base not in ("e", "pi") for name in t.every_name(one.link))
    if one.link.comparisons != ("~",) or not numbers or left is None or right is None:
        return False
    return bool(abs(left - right) <= ROUNDED * abs(left))


def _tried(bench: Bench, said: Said) -> list[Judged]:
    some = [part for part in t.walk(said.node) if isinstance(part, t.Exists)]
    if any(not part.conditions or not all(isinstance(one, t.Name) for one in part.conditions) for part in some):
        return []
    if _is_converse(bench.exercise, said.node):
        return []
    role: Role = "step" if bench.exercise.derive else "statement"
    found: list[Judged] = []
    for node in _of_tokens(bench.exercise, said.node):
        for claim in bench.claims(node, role, replace(said, node=node)):
            try:
                found += bench.decided([claim])
            except WrongKindError:
                raise
            except CANNOT as error:  # the other links of a chain are judged all the same
                reason = str(error.shown()) if isinstance(error, MisfitError) else str(error)
                found.append(judged(claim, Decision("undecided", reason), reason))
    return found


def _of_tokens(exercise: Exercise, node: t.Node) -> Iterator[t.Node]:
    """'for j != 3', where there are so many tokens: one statement for each."""
    if exercise.tokens is None or not isinstance(node, t.Quantified):
        yield node
        return
    for place, part in enumerate(node.conditions):
        match part:
            case t.Name(letter, None, 0) if letter not in exercise.parameters:
                wanted = {t.Number(Fraction(at)) for at in range(1, len(exercise.tokens.tokens) + 1)}
            case t.Relation((t.Name(letter, None, 0), right), ("=" | "!=" as sign,)) if (
                letter not in exercise.parameters and all(isinstance(item, t.Number) for item in t.listed(right))
            ):
                every = {t.Number(Fraction(at)) for at in range(1, len(exercise.tokens.tokens) + 1)}
                named = {item for item in t.listed(right) if isinstance(item, t.Number)}
                wanted = named & every if sign == "=" else every - named
            case _:
                continue
        rest = (*node.conditions[:place], *node.conditions[place + 1 :])
        inner = t.Quantified(node.body, rest, span=node.span) if rest else node.body
        for value in sorted(wanted, key=lambda one: one.value):
            yield from _of_tokens(exercise, t.put(inner, letter, value))
        return
    yield node


def _is_converse(exercise: Exercise, node: t.Node) -> bool:
    """Whether something of weights or outputs is said to imply what is not about them."""
    if exercise.keys is None:
        return False
    match node:
        case t.Logic("implies", (condition, conclusion)):
            return _weighs(condition) and not _weighs(conclusion)
        case t.Quantified(body, conditions):
            return any(map(_weighs, conditions)) and not _weighs(body)
        case _:
            return False


def _weighs(node: t.Node) -> bool:
    return t.speaks_of(node, "alpha")


def _why_not_false(bench: Bench, one: Claimed, said: Said, against: Sequence[Judged], spoken: frozenset[str]) -> str:
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
    if about_the_given(t.unquantified(said.node), bench.exercise) and bench.exercise.integers is None:
        return "it is a case, and not always so"
    if _lacks_its_assumption(bench.exercise, one):
        return "under which assumption it is said was not read"
    unsaid = _unknown_condition(bench, one, spoken) or _never_said(bench, said, against, spoken)
    if unsaid:
        return f"what {unsaid} is was never said"
    if statement.kind == "worded" and statement.clouded:
        return "it is false as it stands; a condition before it is in words"
    return ""


def _lacks_its_assumption(exercise: Exercise, one: Claimed) -> bool:
    """'hence t = t'': of different integers it is meant under something that was not read."""
    if exercise.integers is None or one.under or not isinstance(one.node, t.Relation):
        return False
    if set(one.node.comparisons) != {"="} or any(isinstance(part, t.Call) for part in t.walk(one.node)):
        return False
    return not t.speaks_of(one.node, exercise.integers.rows) and one.statement.number > 0


def _unknown_condition(bench: Bench, one: Claimed, spoken: frozenset[str]) -> str:
    """A name in what a formula is said for that neither the exercise nor the answer says anything of."""
    for part in one.under if bench.exercise.integers is None else ():
        for name in () if is_index(part) else names_in(part):
            full = full_name(name)
            known = full in spoken or full in bench.answer.definitions or full in ("e", "pi", "infinity")
            if not known and not any(map(bench.setting.gives, (name, t.Name(name.base)))):
                return plain(name)
    return ""


def _never_said(bench: Bench, said: Said, against: Sequence[Judged], spoken: frozenset[str]) -> str:
    """A name in what is refuted of which nobody says what it is: that some value of it is wrong says nothing."""
    if bench.exercise.integers is not None:
        return ""
    conditions = said.node.conditions if isinstance(said.node, t.Quantified) else ()
    labels = bench.exercise.keys.named if bench.exercise.keys is not None else ()
    known = {"I", *labels, *spoken, *bench.answer.definitions}
    known |= {full_name(name) for node in conditions for name in names_in(node)}
    for one in against:
        if speaks_of_moments(one.link):
            continue  # the laws of keys say themselves what is known
        bound = {part.index for part in t.walk(one.link) if isinstance(part, t.BigSum | t.BigCall)}
        for name in names_in(one.link):
            full = full_name(name)
            asked = full in bench.exercise.answer and full not in bench.answer.definitions
            given = any(map(bench.setting.gives, (name, t.Name(name.base))))  # U_k is what U is
            if full not in bound and (asked or not (given or full in known)):
                return plain(name)
    return ""


def plainly(told: Any) -> Any:
    """Names of the answer's own, that the exercise has too, as they were written."""
    if isinstance(told, str):
        return told.replace(r"\_own", "").replace(OWN, "")
    return {plainly(name): plainly(value) for name, value in told.items()} if isinstance(told, Mapping) else told
