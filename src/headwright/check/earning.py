"""What an answer earns: a true statement that is not what was asked for is `no answer`.

Three things are asked for, each by its own field of the exercise: an object (`answer`), a statement about something
(`about`, `condition`), an argument (`derive`). An object counts when it is defined; a statement when it would be false
were the question idle, say for another query; an argument when its steps lead from one side to the other, and none of
them is what was to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from headwright.check.answer import Answer, MisfitError, comparisons, full_name, full_names, given_numbers, named
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.judging import Claim, Court, Judged, proved
from headwright.check.replay import rules_out, says_something
from headwright.check.replay.worlds import IntegersWorld, holds
from headwright.check.settings.keys.conditions import states_condition
from headwright.check.settings.keys.indices import is_every_key
from headwright.check.settings.keys.scene import UndeterminedError
from headwright.check.settings.matrices.deciding import MatricesCourt, proves
from headwright.check.settings.matrices.derivations import Aim
from headwright.check.settings.matrices.known import Given, names_in
from headwright.check.verdict import Verdict
from headwright.formula.show import plain
from headwright.formula.tree import Call, Comparison, Logic, Name, Node, Quantified, Relation, conjuncts, walk

CHANCE = ("P", "E", "Var", "Cov")
TRUE = ("proved", "holds", "undecided", "no answer")


def earned(exercise: Exercise, answer: Answer, court: Court, verdict: Verdict, judgements: Sequence[Judged]) -> Verdict:
    """The verdict, or `no answer` with what is missing."""
    if verdict.word not in TRUE:
        return verdict
    missing = exercise.missing(answer.definitions)
    if missing:
        return _no_answer(verdict, f"no formula defines {' and '.join(missing)}: write {missing[0]} = ...")
    if exercise.condition and not any(states_condition(said.node) for said in answer.claims):
        return _no_answer(verdict, "no formula states a condition on the scores: write one on k_j^T q and k_i^T q")
    if exercise.about:
        return _spoken(exercise, answer, court, verdict, judgements)
    if exercise.derive and isinstance(court, MatricesCourt):
        return _argued(exercise, answer, court, verdict)
    return verdict


def _no_answer(verdict: Verdict, reason: str) -> Verdict:
    return replace(verdict, word="no answer", reason=reason)


def _spoken(
    exercise: Exercise, answer: Answer, court: Court, verdict: Verdict, judgements: Sequence[Judged]
) -> Verdict:
    """Something must be said of what was asked about, and it must not hold whatever the answer is."""
    wanted = [
        {full_name(name) for name in names_in(parsed(source))} | _functions(parsed(source)) for source in exercise.about
    ]
    said = [one for one in judgements if one.claim.said is not None and one.part.role != "condition"]
    about = [one for one in said if any(names <= _spoken_by(one) for names in wanted)]
    if not about:
        things = " or ".join(plain(parsed(one)) for one in exercise.about)
        return _no_answer(verdict, f"no formula says anything of {things}")
    if any(one.decision.word == "undecided" for one in about):
        return verdict
    if exercise.determines:
        about = [one for one in about if _determines(exercise, one)]
        if not about:
            asked = plain(parsed(exercise.about[0]))
            return _no_answer(verdict, f"it is not said what {asked} is: write ... = ... or ... \\approx ...")
    if exercise.keys is not None and exercise.keys.otherwise:
        return _weighed(exercise, exercise.keys, answer, verdict)
    telling = [one for one in about if _says_something(exercise, answer, court, one)]
    part = [_said_for(one, exercise, court) for one in telling or about]
    if all(part) or (not telling and any(part)):
        only = next(one for one in part if one)
        return replace(verdict, word="undecided", reason=_ONLY.format(" and ".join(map(plain, only))))
    if telling:
        left_out = _left_out(exercise, telling) if exercise.determines else ""
        return _no_answer(verdict, f"no formula says anything of the case {left_out}") if left_out else verdict
    if any(one.vacuous for one in about):
        return _no_answer(verdict, "what is assumed never happens, so nothing is said")
    return _no_answer(verdict, "this would be true in any case, so it says nothing of what was asked")


_ONLY = "what was asked is said for {} only, and more is asked for"


def _said_for(one: Judged, exercise: Exercise, court: Court) -> list[Relation]:
    """What a claim is said for, where that is not all that is given: 'for T <= 6', 'for t < t' < 2 pi'."""
    under = list(one.claim.under)
    match one.claim.node:
        case Logic("implies", (condition, Relation((_, _), ("!=",)))):
            under += conjuncts(condition)
    return _narrowing(under, exercise, court)


def _narrowing(under: Sequence[Node], exercise: Exercise, court: Court) -> list[Relation]:
    """Those of some conditions that leave out a part of what is given."""
    links = [link for part in under if isinstance(part, Relation) for link in comparisons(part)]
    return [link for link in links if _restricts(link, exercise) and not _always(link, court)]


def _restricts(node: Relation, exercise: Exercise) -> bool:
    """Whether a condition speaks of given numbers alone, and does more than to tell one of two apart from the other."""
    given = {*given_numbers(exercise), "pi"}
    if exercise.integers is not None:
        given |= {name for pair in exercise.integers.different for name in pair}
        pairs = [{named(one), named(other)} for one, other in exercise.integers.different]
        if set(node.terms) in pairs and node.comparisons[0] in ("!=", "<", ">", "<=", ">="):
            return False
    names = full_names(node)
    return bool(names) and names <= given and not any(isinstance(part, Call) for part in walk(node))


def _always(node: Relation, court: Court) -> bool:
    try:
        return proved(court.decide(Claim(node, "condition")))
    except (MisfitError, UndeterminedError):
        return False


IDLE = {
    "scaled": "all that is said would hold for some numbers that do not sum to 1",
    "signed": "all that is said would hold for some numbers of which one is negative",
}
SCORES = ("k", "q", "e")  # what a weight is made of: to repeat its definition says nothing of it
CHAINED: tuple[Comparison, ...] = ("=", ">", "<", ">=", "<=")  # each sums up those before it that point its way


def _weighed(exercise: Exercise, setting: Keys, answer: Answer, verdict: Verdict) -> Verdict:
    """What is said of the weights must hold for nothing but weights."""
    nodes = [_of_every_key(one.node) for one in answer.claims]
    said = [link for node in nodes for link in (*_steps(node), *_ends(node))]
    own = [link for link in said if not any(name.base in SCORES for name in names_in(link))]
    for idle in setting.otherwise:
        if not rules_out(exercise, answer, own, idle):
            return _no_answer(verdict, IDLE[idle])
    return verdict


def _of_every_key(node: Node) -> Node:
    """Without 'for i = 1, ..., n': a letter stands for every key anyway."""
    every = isinstance(node, Quantified) and all(isinstance(one, Name) or is_every_key(one) for one in node.conditions)
    return node.body if isinstance(node, Quantified) and every else node


def _ends(node: Node) -> Iterator[Relation]:
    """What a chain says of its ends: x = y > z says x > z."""
    if isinstance(node, Relation):
        sign = next((sign for sign in CHAINED if set(node.comparisons) <= {"=", sign[0], sign}), None)
        if sign is not None and len(node.terms) > 2:
            yield Relation((node.terms[0], node.terms[-1]), (sign,), span=node.span)


def _determines(exercise: Exercise, one: Judged) -> bool:
    """Whether it says what something is: c_2 ~ u_a does, c_2 != u_b and c_2 = alpha_22 x_2 + ... do not."""
    link = one.link
    if len(link.terms) != 2 or link.comparisons[0] not in ("=", "~", "->") or one.claim.negated:
        return False
    lengths = [] if exercise.keys is None else [scale.name for scale in exercise.keys.scales.values()]
    computed = [
        bool(_functions(term))
        or any(name.base in ("alpha", "c") and full_name(name) not in lengths for name in names_in(term))
        for term in link.terms
    ]
    return computed in ([True, False], [False, True])


def _left_out(exercise: Exercise, telling: Sequence[Judged]) -> str:
    """A length, of several that a key may have, for which nothing is said: 'c = 1/2'."""
    scales = () if exercise.keys is None else exercise.keys.scales.values()
    for scale in scales:
        for value in scale.one_of:
            if not any(_speaks_of(one.claim.under, scale.name, value) for one in telling):
                return f"{scale.name} = {value}"
    return ""


def _speaks_of(under: Sequence[Node], name: str, value: Fraction) -> bool:
    """Whether a claim under these conditions is about the case name = value."""
    world = IntegersWorld({}, {name: value})
    return all(isinstance(condition, Name) or holds(condition, world) is not False for condition in under)


def _says_something(exercise: Exercise, answer: Answer, court: Court, one: Judged) -> bool:
    if exercise.matrices is None or not isinstance(court, MatricesCourt):
        by_chance = any(isinstance(part, Call) and part.function in CHANCE for part in walk(one.link))
        return by_chance or says_something(exercise, answer, one)
    if any(set(one.link.terms) == {parsed(side) for side in pair} for pair in exercise.matrices.different):
        return False  # that is given
    idle = (court.otherwise(idle).decide(one.claim) for idle in exercise.matrices.otherwise)
    return not any(all(same.decision.word == "proved" for same in found) for found in idle)


def _spoken_by(one: Judged) -> set[str]:
    """What the statement speaks of, and what it goes on with: 'a - b = c, which is not zero' speaks of a."""
    statement = None if one.claim.said is None else one.claim.said.statement
    return _spoken_of(one.claim.scope).union(*(map(_spoken_of, statement.resumes) if statement is not None else ()))


def _spoken_of(node: Node) -> set[str]:
    return {spoken for name in names_in(node) for spoken in (full_name(name), name.base)} | _functions(node)


def _functions(node: Node) -> set[str]:
    """Probabilities, means and variances: to speak of the variance of a weight is more than to speak of the weight."""
    return {part.function for part in walk(node) if isinstance(part, Call) and part.function in CHANCE}


def _argued(exercise: Exercise, answer: Answer, court: MatricesCourt, verdict: Verdict) -> Verdict:
    """All steps are right: do they lead from one side to the other, and is none of them the whole?"""
    if verdict.word == "undecided":
        return verdict
    nodes = [said.node for said in answer.claims]
    only = {node: _sizes(node, exercise, court) for node in nodes}
    found = _led([node for node in nodes if not only[node]], exercise, court.given, verdict)
    part = next((sizes for sizes in only.values() if sizes), [])
    if found.word == verdict.word or not part or _led(nodes, exercise, court.given, verdict).word != verdict.word:
        return found
    return replace(verdict, word="undecided", reason=_ONLY.format(" and ".join(map(plain, part))))


def _sizes(node: Node, exercise: Exercise, court: Court) -> list[Relation]:
    """The conditions under which a statement stands that leave out some sizes: 'if n = d'."""
    return _narrowing(node.conditions, exercise, court) if isinstance(node, Quantified) else []


def _led(nodes: Sequence[Node], exercise: Exercise, given: Given, verdict: Verdict) -> Verdict:
    """What these statements come to as an argument."""
    aims = [Aim(parsed(source), parsed(target), given) for source, target in exercise.derive]
    steps = [link for node in nodes for link in (*_steps(node), *_anyway(node, given))]
    leaps = [link for link in steps if any(aim.is_leap(link) for aim in aims)]
    small = [link for link in steps if link not in leaps]
    if any(aim.leads(small) for aim in aims):
        return verdict
    first, last = plain(aims[0].start), plain(aims[0].end)
    if leaps and any(aim.leads(steps) for aim in aims):
        if any(aim.follows(small, leaps) for aim in aims):
            return verdict
        return _no_answer(verdict, f"this restates what is to be shown: write the steps from {first} to {last}")
    said = "every step is right, but the steps do not lead" if steps else "no step leads"
    return _no_answer(verdict, f"{said} from {first} to {last}")


def _anyway(node: Node, given: Given) -> Iterator[Relation]:
    """Steps under a condition that hold without it: in a proof by contradiction they lead on all the same."""
    if isinstance(node, Quantified) and not all(isinstance(part, Name) for part in node.conditions):
        yield from (link for link in _steps(node.body) if proves(link, given))


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
