"""An answer heard: its goals and all it says, claim by claim; each is decided, and looked at twice (`Bench.decided`).

Where it is not certain what a statement means (a case or the rule, exactly or nearly), only what is so on every reading
counts; what is open then is set aside as not judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from headwright.check.answer import (
    Answer,
    MisfitError,
    MissingError,
    Said,
    Variant,
    WrongKindError,
    about_parameters,
    about_the_given,
    comparisons,
    full_name,
)
from headwright.check.decision import Decision
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Claim, Court, Judged, Role, Setting, claims, judged, proved, refuted
from headwright.check.reading.saying import EVERY
from headwright.check.replay import looked_at_twice
from headwright.check.settings.keys.conditions import states_condition
from headwright.check.settings.keys.laws import speaks_of_moments
from headwright.check.settings.keys.scene import UndeterminedError
from headwright.check.settings.matrices.deciding import INSTANCE
from headwright.check.settings.matrices.known import names_in
from headwright.check.widening import leaves_out_few, staying, widened
from headwright.formula import FormulaError
from headwright.formula import tree as t
from headwright.formula.show import plain


@dataclass(frozen=True)
class Bench:
    """What stays the same while the statements of one answer are heard."""

    exercise: Exercise
    setting: Setting
    seed: int
    setting_of: Callable[[Exercise], Setting]  # where more is spoken of than is given

    def decided(self, court: Court, answer: Answer, asked: Iterable[Claim]) -> list[Judged]:
        """Claims decided, and looked at twice."""
        judgements: list[Judged] = []
        for claim in asked:
            decided = looked_at_twice(self.exercise, answer, court.decide(claim), self.seed)
            if claim.said is not None and all(one.decision.word == "undecided" for one in decided):
                decided = self._outgrown(court, answer, claim) or decided
            decided = [_left_undecided(one, SOMEWHERE) if self._differs_somewhere(one) else one for one in decided]
            untried = self.exercise.keys is not None and any(map(_untried, decided))
            judgements += [_left_undecided(one, UNTRIED) if untried else one for one in decided]
        return judgements

    def _differs_somewhere(self, one: Judged) -> bool:
        """Where matrices are given to be different always, an instance in which two differ proves no such thing."""
        always = self.exercise.matrices is not None and bool(self.exercise.matrices.different)
        return always and one.decision.word == "proved" and one.part.used == INSTANCE

    def _outgrown(self, court: Court, answer: Answer, claim: Claim) -> list[Judged]:
        """a >> b as a claim: it is proved where a > 0 and b/a tends to 0, and never refuted."""
        match claim.node:
            case t.Relation((large, small), (">>",)) | t.Relation((small, large), ("<<",)) if not claim.negated:
                ratio = t.Relation((t.Quotient(small, large), t.ZERO), ("~",), span=claim.node.span)
            case _:
                return []
        positive = t.Relation((large, t.ZERO), (">",), span=claim.node.span)
        found = self.tried(court, answer, (replace(claim, node=node) for node in (positive, ratio)))
        if not proved(found):
            return []
        reason = f"{plain(small)} becomes negligible beside {plain(large)}"
        return [judged(claim, replace(found[-1].decision, reason=reason), reason)]

    def tried(self, court: Court, answer: Answer, asked: Iterable[Claim]) -> list[Judged]:
        """Claims decided; nothing where one of them cannot be."""
        try:
            return self.decided(court, answer, asked)
        except (MisfitError, FormulaError, UndeterminedError):
            return []

    def claims(self, node: t.Node, role: Role, said: Said | None = None) -> Iterator[Claim]:
        """The claims of a statement, as far as the setting wants it taken apart."""
        return claims(node, role, said, whole=self.setting.whole)


def heard(bench: Bench, answer: Answer, court: Court) -> list[Judged]:
    """All that is found of an answer: of its goals and statements, of objects defined for a case, of what is left."""
    found = _decided(bench, answer, court)
    for variant in answer.variants:
        found += _variant(bench, answer, variant)
    found += _elsewhere(bench, answer)
    return found + _uncovered(bench.exercise, answer, court, found)


def _decided(bench: Bench, answer: Answer, court: Court) -> list[Judged]:
    """Every goal, every claim, and what is doubtful about the conditions; goals wait for what they are about."""
    exercise = bench.exercise
    found: list[Judged] = []
    in_vain = exercise.asks_in_vain(answer.definitions, any(states_condition(said.node) for said in answer.claims))
    cases = _cases(bench, answer, court)
    if not in_vain and not answer.by_cases:
        found += _goals_where_assumed(bench, answer, court, cases)
    for said in court.claims:
        if said in cases:
            answer.set_aside(said, "it is a case and not so in general, and what is said for it is not certain")
            continue
        try:
            found += _outside(cases, said, _said(bench, said, answer, court), answer)
        except WrongKindError as error:
            found.append(_false(said, error))
        except (FormulaError, MisfitError) as error:
            if not (in_vain and isinstance(error, MissingError | FormulaError)):
                _not_understood(answer, said, error)
    if in_vain and exercise.condition:  # what holds under a condition that is not stated is not judged
        found = [one for one in found if one.decision.word != "refuted"]
    found += looked_at_twice(exercise, answer, court.conditions, bench.seed)
    for said in answer.assumptions:
        found += _impossible(bench, said, (said.node,), answer, court)
    return found


def _goals(bench: Bench, answer: Answer, court: Court, under: tuple[t.Node, ...] = ()) -> list[Judged]:
    goals = [claim for source in bench.exercise.goals for claim in bench.claims(parsed(source), "goal")]
    return bench.decided(court, answer, [replace(claim, under=(*claim.under, *under)) for claim in goals])


def _cases(bench: Bench, answer: Answer, court: Court) -> list[Said]:
    """Relations between given numbers that are not always so: 'in the event $g > 1$ we see ...' claims no g > 1."""
    found: list[Said] = []
    for said in court.claims:
        resumes = said.statement is not None and bool(said.statement.resumes)
        if about_the_given(said.node, bench.exercise) and not resumes:
            decided = bench.tried(court, answer, bench.claims(said.node, "condition", said))
            found += [said] if refuted(decided) else []
    return found


def _reaches(case: Said, said: Said) -> bool:
    """Whether a case may govern a statement: one of its sentence, or one that follows, up to the next paragraph."""
    one, other = case.statement, said.statement
    if one is None or other is None:
        return False
    if one.sentence == other.sentence and one.paragraph == other.paragraph:
        return True
    return one.number < other.number and other.paragraph - one.paragraph in (0, 1)


def _outside(cases: Sequence[Said], said: Said, found: list[Judged], answer: Answer) -> list[Judged]:
    """What is found of a statement; where it fails and may be meant for a case, it is not judged."""
    if not refuted(found):
        return found
    case = next((case for case in reversed(cases) if _reaches(case, said)), None)
    if case is None:
        return found
    answer.set_aside(said, f"it is not certain whether it is meant for {plain(case.node)} only")
    return []


def _goals_where_assumed(bench: Bench, answer: Answer, court: Court, cases: Sequence[Said]) -> list[Judged]:
    """What fails in general may be right where the answer assumes something: then that is said, and nothing more."""
    found = _goals(bench, answer, court)
    objects = [said for name, said in answer.definitions.items() if name in bench.exercise.answer]
    if not refuted(found):
        objects += [said for said in answer.claims if bench.exercise.condition and states_condition(said.node)]
        only = [said.node for said in answer.assumptions if any(_made_for(said, one) for one in objects)]
        return _for_some_only(bench, answer, court, found, only)
    if any(said.perhaps or any(_reaches(case, said) for case in cases) for said in objects):
        raise UndeterminedError("it is not certain for which case the object is meant")
    bounds = [said.node for said in answer.assumptions if isinstance(said.node, t.Relation)]
    if not bounds or any("=" in node.comparisons for node in bounds):
        return found  # 'let n = 2' answers another question
    there = _goals(bench, answer, court, tuple(bounds))
    if not proved(there):
        return found
    told = " and ".join(plain(node) for node in bounds)
    reason = f"it is right where {told}, as the answer assumes; for the rest nothing is proved"
    return [_left_undecided(one, reason) for one in there]


def _made_for(assumed: Said, thing: Said) -> bool:
    """'Let n = 10. Take q = ...': the object is given for that case; what is let afterwards governs what follows."""
    one, other = assumed.statement, thing.statement
    if one is None or other is None or one.role == "where" or one.number < other.number:
        return True
    if one.sentence == other.sentence and one.line == other.line:
        return True
    return _WITHOUT_LOSS.search(one.sentence) is not None  # that would be for the question as a whole


_WITHOUT_LOSS = re.compile(r"\b(?:wlog|w\.l\.o\.g|without (?:any )?loss of generality)", re.IGNORECASE)


def _for_some_only(
    bench: Bench, answer: Answer, court: Court, found: list[Judged], assumed: Sequence[t.Node]
) -> list[Judged]:
    """What is right, and said under something that is not always so, answers a part of the question only."""
    more = [node for node in assumed if not leaves_out_few(node, bench.exercise)]
    only = [node for node in more if not proved(bench.tried(court, answer, bench.claims(node, "condition")))]
    if not only:
        return found
    reason = f"it is right, but said for {' and '.join(map(plain, only))} only, and more is asked for"
    return [one if one.decision.word == "undecided" else _left_undecided(one, reason) for one in found]


SOMEWHERE = "the two sides differ in an instance, and whether they always do is not proved"
UNTRIED = "it is said for one value only, and whether that is among those that were tried is not certain"


def _untried(one: Judged) -> bool:
    """'for n = 3 and epsilon = 1/3, alpha_a = 9/20': plain instances need not meet such a condition."""
    pinned = any(isinstance(node, t.Relation) and "=" in node.comparisons for node in one.claim.under)
    return one.decision.word == "holds" and pinned


def _left_undecided(one: Judged, reason: str) -> Judged:
    part = replace(one.part, word="undecided", reason=reason, counterexample=None)
    return replace(one, decision=Decision("undecided", reason), part=part)


def _impossible(bench: Bench, said: Said, assumed: Sequence[t.Node], answer: Answer, court: Court) -> Iterator[Judged]:
    """What is assumed must be possible. (Between matrices 'different' means 'not always equal': nothing follows.)"""
    for node in assumed if bench.exercise.matrices is None else ():
        if not isinstance(node, t.Relation) or not t.flips(node):
            continue
        equal = "=" in node.comparisons  # vectors have no order, and for them 'different' means something else
        if equal and not bench.tried(court, answer, [Claim(replace(node, comparisons=("<=",)), "condition", said)]):
            continue
        if proved(bench.tried(court, answer, bench.claims(t.flipped(node), "condition", said))):
            reason = f"{plain(node)} is assumed, and never so"
            yield judged(Claim(node, "condition", said), Decision("refuted", reason), reason)


def _said(bench: Bench, said: Said, answer: Answer, court: Court, there: Answer | None = None) -> list[Judged]:
    """What is found about a statement; where it is not certain what is meant, only what is so on every reading."""
    there = answer if there is None else there
    role: Role = "step" if bench.exercise.derive else "statement"
    found = bench.decided(court, there, bench.claims(said.node, role, said))
    if not refuted(found):
        found = _beyond_the_given(bench, said, there, role, found)
        found = _by_itself(bench, said, there, role, found) if _is_converse(said.node) else found
    if said.statement is not None and said.statement.tentative:
        if refuted(found):
            answer.set_aside(said, "what is called a contradiction is none")
        return []
    doubt = _doubt(bench, said, there, found)
    loose = "" if said.statement is None else said.statement.loose
    if not doubt and not refuted(found):
        return found
    if not doubt and loose == "nearly":
        again = bench.decided(court, there, bench.claims(_nearly(said.node), role, said))
        tends = proved(again) and _is_output(said.node) and _in_a_limit(bench.exercise, there, said)
        if tends or refuted(again):
            return again  # 'the output is the mean' is what people say of what tends to it
    if not doubt and loose:
        doubt = "the words leave some room, and it is not certain what is meant"
    if not doubt and said.perhaps:
        found = bench.decided(court, there, bench.claims(_narrowed(said, bench.setting.whole), role, said))
        told = " and ".join(plain(node) for node in said.perhaps)
        doubt = "" if refuted(found) else f"it is not certain whether it is meant for {told} only"
    if doubt:
        answer.set_aside(said, doubt)
    return [] if doubt else found


def _doubt(bench: Bench, said: Said, answer: Answer, found: Sequence[Judged]) -> str:
    """Why what is found of a statement does not count: it is not certain what is said; '' where it is."""
    if said.granted and found and not proved(found):
        return "it says for which case something is meant"
    if said.unknown.startswith(EVERY):  # 'for all keys', 'for every matrix $P$': that is more than was looked at
        return said.doubt
    if _of_what_is_set(said.node, answer):
        return "it is said for all values of something that has one"
    against = [one for one in found if one.decision.word == "refuted"]
    unsaid = _never_said(bench, said, answer, against)
    if unsaid:
        return f"what {unsaid} is was never said"
    if any({">>", "<<"} & set(one.link.comparisons) for one in against):
        return "how much larger is meant is not said"
    return said.doubt if against and said.unknown else ""


def _never_said(bench: Bench, said: Said, answer: Answer, against: Sequence[Judged]) -> str:
    """A name in what is refuted of which nobody says what it is: that some value of it is wrong says nothing.

    What a definition, a condition or an assumption speaks of, or the statement itself ('for every t'), is said.
    """
    defined = {*answer.definitions, *(name for one in answer.variants for name in one.definitions)}
    stated = [one.node for one in (*answer.definitions.values(), *answer.conditions, *answer.assumptions)]
    stated += [one.node for one in answer.claims if bench.exercise.condition and states_condition(one.node)]
    stated += [node for one in answer.variants for node in one.under]
    stated += [one.node for variant in answer.variants for one in (*variant.definitions.values(), *variant.conditions)]
    stated += said.node.conditions if isinstance(said.node, t.Quantified) else ()
    stated += (*said.perhaps, *(said.statement.under if said.statement is not None else ()))
    labels = bench.exercise.keys.named if bench.exercise.keys is not None else ()
    spoken = {"I", *labels, *defined, *(full_name(name) for node in stated for name in names_in(node))}
    for one in against if bench.exercise.integers is None else ():
        if speaks_of_moments(one.link):
            continue  # the laws of keys say themselves what is known
        bound = {part.index for part in t.walk(one.link) if isinstance(part, t.BigSum | t.BigCall)}
        for name in names_in(one.link):
            full = full_name(name)
            asked = full in bench.exercise.answer and full not in defined
            given = any(map(bench.setting.gives, (name, t.Name(name.base))))  # U_k is what U is
            if full not in bound and (asked or not (given or full in spoken)):
                return plain(name)
    return ""


def _beyond_the_given(bench: Bench, said: Said, answer: Answer, role: Role, found: list[Judged]) -> list[Judged]:
    """'for all epsilon > 0', where epsilon < 1 is given: what is said must hold there too, or it is left open."""
    assumed = [one.node for one in answer.assumptions]
    conditions = said.node.conditions if isinstance(said.node, t.Quantified) else ()
    stated = [
        link for one in conditions if isinstance(one, t.Relation) and one not in assumed for link in comparisons(one)
    ]
    sentence = "" if said.statement is None else said.statement.sentence
    wider = widened(bench.exercise, stated, sentence, staying(said.node, stated, sentence, bench.exercise))
    if wider is None:
        return found
    if wider.exercise is not None:
        there = Bench(wider.exercise, bench.setting_of(wider.exercise), bench.seed, bench.setting_of)
        again = there.decided(there.setting.opened(answer), answer, there.claims(said.node, role, said))
        if proved(again):
            return found
    return [_left_undecided(one, f"it is said for {wider.words}: that is not proved") for one in found]


def _is_converse(node: t.Node) -> bool:
    """Whether something of weights or outputs is said to imply what is not about them: a condition is necessary."""
    match node:
        case t.Logic("implies", (condition, conclusion)):
            return _weighs(condition) and not _weighs(conclusion)
        case t.Quantified(body, conditions):
            return any(map(_weighs, conditions)) and not _weighs(body)
        case _:
            return False


def _weighs(node: t.Node) -> bool:
    return t.speaks_of(node, "alpha", "c")


def _by_itself(bench: Bench, said: Said, answer: Answer, role: Role, found: list[Judged]) -> list[Judged]:
    """That a condition is necessary must not be concluded from the condition itself: what is found without it."""
    if bench.exercise.keys is None:
        return found
    if bench.exercise.condition:
        alone = Answer(dict(answer.definitions), list(answer.conditions), [said])
        return bench.decided(bench.setting.opened(alone), alone, bench.claims(said.node, role, said))
    known = {*answer.definitions, "e", "pi"}
    names = {name for one in found for name in names_in(one.link) if full_name(name) not in known}
    own = [name for name in names if not bench.setting.gives(name)]
    return [_left_undecided(one, CIRCULAR) for one in found] if own else found


CIRCULAR = "it is not known whether that follows, or is only what the answer assumes"


def _of_what_is_set(node: t.Node, answer: Answer) -> bool:
    """'q = t k for any t', where t was set to something."""
    conditions = node.conditions if isinstance(node, t.Quantified) else ()
    return any(isinstance(part, t.Name) and full_name(part) in answer.definitions for part in conditions)


def _in_a_limit(exercise: Exercise, answer: Answer, said: Said) -> bool:
    """Whether something is sent somewhere, by the exercise or by the answer: else 'is' means 'is'."""
    given = any(parameter.large for parameter in exercise.parameters.values())
    told = [one.node for one in answer.conditions] + list(said.statement.under if said.statement is not None else ())
    return (
        given
        or (exercise.keys is not None and exercise.keys.noise != "none")
        or any(isinstance(node, t.Relation) and {"->", ">>", "<<"} & set(node.comparisons) for node in told)
    )


def _is_output(node: t.Node) -> bool:
    return isinstance(node, t.Relation) and isinstance(node.terms[0], t.Name) and node.terms[0].base == "c"


def _nearly(node: t.Node) -> t.Node:
    """With 'nearly' in place of 'equal': what stands in a table may be meant so."""
    if isinstance(node, t.Relation):
        return replace(node, comparisons=tuple("~" if sign == "=" else sign for sign in node.comparisons))
    return replace(node, body=_nearly(node.body)) if isinstance(node, t.Quantified) else node


def _narrowed(said: Said, whole: bool) -> t.Node:
    """The statement under what it may be said for."""
    if whole and not isinstance(said.node, t.Quantified):
        return t.Logic("implies", (t.Logic("and", said.perhaps), said.node), span=said.node.span)
    return t.said_under(said.node, said.perhaps)


def _not_understood(answer: Answer, said: Said, error: MisfitError | FormulaError) -> None:
    answer.set_aside(said, "it is not understood", error if isinstance(error, FormulaError) else error.shown())


def _false(said: Said, error: WrongKindError) -> Judged:
    decision = Decision("refuted", error.message)
    return judged(Claim(said.node, "statement", said), decision, str(error.shown()))


def _variant(bench: Bench, answer: Answer, variant: Variant) -> list[Judged]:
    """The goals for an object that is defined for a case, or as an example."""
    there = Answer(dict(variant.definitions), list(variant.conditions))
    under = variant.under
    try:
        court = bench.setting.opened(there)
        alone = answer.by_cases and len(answer.variants) == 1
        impossible = list(_impossible(bench, variant.said, under, there, court))
        if impossible and not alone:
            return []  # 'for n = 1, where n >= 2': a case more than there are says nothing wrong
        found = impossible or _goals(bench, there, court, under)
        beyond = _beyond(bench, variant, there, court) if alone and not impossible else []
    except MisfitError as error:
        _not_understood(answer, variant.said, error)
        return []
    example = "in the range: " if isinstance(variant.said.node, t.Relation) else "in the example: "
    told = f"for {' and '.join(plain(node) for node in under)}: " if under else example
    return beyond or [
        replace(one, part=replace(one.part, reason=f"{told}{one.part.reason}", line=variant.said.formula.line))
        for one in found
    ]


def _beyond(bench: Bench, variant: Variant, there: Answer, court: Court) -> list[Judged]:
    """An object that is given for one case only: what it does in general, where that settles the matter."""
    general = _goals(bench, there, court)
    words = {one.decision.word for one in general}
    pinned = all(isinstance(node, t.Relation) and "=" in node.comparisons for node in variant.under)
    if "refuted" in words:
        return general if pinned else []
    if words != {"proved"}:
        return []
    if all(about_parameters(node, bench.exercise) for node in variant.under):
        return _for_some_only(bench, there, court, general, variant.under)
    wide = [claim for node in variant.under for claim in bench.claims(node, "condition", variant.said)]
    found = bench.decided(court, there, wide)
    return found if refuted(found) else []


def _elsewhere(bench: Bench, answer: Answer) -> list[Judged]:
    """What is said once a given name was defined anew ('setting x_2 = ...'): by itself, with that definition."""
    found: list[Judged] = []
    for definitions, said in answer.elsewhere:
        there = Answer({**answer.definitions, **definitions}, list(answer.conditions), said)
        court = bench.setting.opened(there)
        for one in court.claims:
            try:
                found += _said(bench, one, answer, court, there)
            except (MisfitError, FormulaError) as error:
                _not_understood(answer, one, error)
    return found


def _uncovered(exercise: Exercise, answer: Answer, court: Court, found: Sequence[Judged]) -> list[Judged]:
    """Where the object is given case by case, the cases must be all there are."""
    cases = [variant.under for variant in answer.variants if not variant.example]
    goals = [one for one in found if one.claim.role == "goal"]
    if not answer.by_cases or not exercise.goals or any(not one.claim.under for one in goals):
        return []
    reason = f"nothing is proved beyond {' or '.join(' and '.join(plain(node) for node in case) for case in cases)}"
    goal = Claim(parsed(exercise.goals[0]), "goal")
    undecided = [judged(goal, Decision("undecided", reason), reason)]
    if any(len(case) != 1 or not t.flips(case[0]) for case in cases):
        return undecided
    *others, last = (case[0] for case in cases)
    claim = Claim(last, "condition", None, tuple(t.flipped(node) for node in others))
    try:
        found = court.decide(claim)
    except (MisfitError, UndeterminedError):
        return undecided
    return [] if proved(found) else undecided
