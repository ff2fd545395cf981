"""What was asked for, part by part: an object, a condition, values (blanks), a statement, a derivation.

object      each candidate is judged by the goals; those of the highest rank must agree
condition   the same, for relations between scores
blanks      a true formula that says the value of what was asked, in the case that was asked
statement   a true formula about what was asked, that would be false were the question idle
derivation  true steps that lead from one side to the other, none of which is what was to be shown
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from headwright.check.answer import (
    Answer,
    MisfitError,
    Said,
    WrongKindError,
    comparisons,
    full_name,
    full_names,
    given_numbers,
    named,
    number_of,
)
from headwright.check.candidates import NEUTRAL, QUOTED, Candidate, Claimed, Contents, Definition, relevant
from headwright.check.exercise import Blank, Exercise, Keys, parsed
from headwright.check.judge import CANNOT, Bench, Finding
from headwright.check.judging import Judged, proved, refuted
from headwright.check.replay import rules_out, says_something
from headwright.check.replay.worlds import IntegersWorld, holds
from headwright.check.scalars import Range
from headwright.check.settings.keys.scene import is_every_key
from headwright.check.settings.matrices.deciding import MatricesCourt, gap
from headwright.check.settings.matrices.derivations import Aim
from headwright.check.settings.matrices.known import names_in
from headwright.check.text import Statement
from headwright.check.verdict import Asked, Word
from headwright.formula.show import latex, plain
from headwright.formula.tree import (
    Call,
    Comparison,
    Listing,
    Logic,
    Name,
    Node,
    Quantified,
    Relation,
    conjuncts,
    every_name,
    unquantified,
    walk,
)

CHANCE = ("P", "E", "Var", "Cov")


@dataclass(frozen=True)
class Tried:
    """What was found of one candidate."""

    word: Word
    reason: str
    line: int
    latex: str
    rank: int
    counterexample: Mapping[str, Any] | None = None
    judged: tuple[Judged, ...] = ()
    answer: Answer | None = None


def _word(found: Sequence[Judged]) -> Word:
    if refuted(found):
        return "refuted"
    return "proved" if proved(found) else "undecided"


def _reason(found: Sequence[Judged], word: Word) -> tuple[str, Mapping[str, Any] | None]:
    if word == "proved":
        said = dict.fromkeys(one.part.reason for one in found if one.part.reason)
        return "; ".join(list(said)[:3]), None
    wanted = "refuted" if word == "refuted" else ("undecided", "holds")
    chosen = [one for one in found if one.decision.word in wanted]
    counted = [one for one in chosen if "n" in one.decision.values]
    first = min(counted, key=lambda one: one.decision.values["n"]) if counted and chosen[0] in counted else chosen[0]
    return first.part.reason, first.part.counterexample


# Objects.

Open = Callable[[Answer], Bench]


def try_candidate(
    exercise: Exercise, candidate: Candidate, contents: Contents, opened: Open, described: frozenset[str] = frozenset()
) -> Tried:
    """One candidate, judged by the goals in each of its cases; `described` are names that words give a meaning."""
    line, shown = candidate.statements[0].line, _shown(candidate)
    values = [one.value for _, found in candidate.cases for one in found.values()]
    own = {one.name for one in contents.own}
    vague = (full_names(*values) & described) - own - set(exercise.answer)
    if vague and exercise.matrices is not None and not vague <= set(exercise.matrices.shapes):
        return Tried("undecided", f"{min(vague)} is described in words", line, shown, candidate.rank)
    judged: list[Judged] = []
    words: list[Word] = []
    answer: Answer | None = None
    reason, counterexample = "", None
    for case, definitions in candidate.cases:
        answer = reading(definitions, contents)
        try:
            bench = opened(answer)
            doubts = [one for one in bench.court.conditions if one.decision.word != "proved"]
            found = [*doubts, *bench.goals(case)]
        except WrongKindError as error:
            return Tried("refuted", str(error.shown()), line, shown, candidate.rank, {"words": error.message})
        except CANNOT as error:
            said = str(error.shown()) if isinstance(error, MisfitError) else str(error)
            return Tried("undecided", said, line, shown, candidate.rank, answer=answer)
        word = _word(found)
        if (words and word != "proved") or not words:
            reason, counterexample = _reason(found, word)
        words.append(word)
        judged += found
    word = "refuted" if "refuted" in words else "undecided" if "undecided" in words else "proved"
    if word == "proved" and candidate.cases[0][0]:
        left = _uncovered(exercise, candidate, bench)
        if left:
            word, reason = "undecided", left
    bounds = _unread_bound(values, contents) if word == "proved" else None
    if bounds is not None:
        word, reason = "undecided", f"line {bounds.line} was not read, and may bound a name in it"
    first = reading(candidate.cases[-1][1], contents)
    return Tried(word, reason, line, shown, candidate.rank, counterexample, tuple(judged), first)


_FIRST_NAME = re.compile(r"\s*\\?([A-Za-z]+)\s*(?![\s_^'({[A-Za-z])")


def _unread_bound(values: Sequence[Node], contents: Contents) -> Statement | None:
    """A formula that cannot be read and begins with a name of the object's: it may say how that is chosen."""
    used = full_names(*values)
    for one in contents.unread:
        found = _FIRST_NAME.match(one.text)
        if found is not None and found[1] in used:
            return one
    return None


def reading(definitions: Mapping[str, Definition], contents: Contents) -> Answer:
    """The answer under one choice of what was asked for."""
    named = {one.name: one.said for one in contents.own}
    named |= {name: one.said for name, one in definitions.items()}
    nodes = [said.node for said in named.values()] + [one.node for one in contents.claims]
    bounds = [(said, one) for said, one in contents.bounds if not full_names(said.node) & set(named)]
    return Answer(named, relevant(bounds, *nodes))


def _shown(candidate: Candidate) -> str:
    parts = []
    for case, definitions in candidate.cases:
        said = [latex(Relation((named(name), one.value), ("=",))) for name, one in definitions.items()]
        parts.append(", ".join(said) + (r" \text{ for } " + ", ".join(map(latex, case)) if case else ""))
    return "; ".join(parts)


def _uncovered(exercise: Exercise, candidate: Candidate, bench: Bench) -> str:
    """Where an object is given case by case, the cases must be all there are."""
    cases = [case for case, _ in candidate.cases]
    told = " or ".join(" and ".join(map(plain, case)) for case in cases)
    only = f"answered for {told} only"
    if len(cases) == 1:
        if all(bench.always(part) for part in cases[0]) or _leaves_out_few(cases[0], exercise, bench):
            return ""
        return only
    return "" if _cover(cases, exercise) else only


def _cover(cases: Sequence[tuple[Node, ...]], exercise: Exercise) -> bool:
    """Whether cases of one number cover its range: they change at the numbers in them only."""
    links = [
        link for case in cases for part in case for link in (comparisons(part) if isinstance(part, Relation) else ())
    ]
    names = full_names(*(part for case in cases for part in case))
    ends = [number_of(term) for link in links for term in link.terms if not isinstance(term, Name)]
    if len(names) != 1 or any(end is None for end in ends) or len(ends) != len(links):
        return False
    (name,) = names
    given = exercise.parameters.get(name)
    scales = () if exercise.keys is None else exercise.keys.scales.values()
    scale = next((one for one in scales if one.name == name), None)
    if scale is not None and scale.one_of:
        places = list(scale.one_of)
    else:
        values = sorted({end for end in ends if end is not None})
        between = [(a + b) / 2 for a, b in pairwise(values)]
        places = [*values, *between, values[0] - 1, values[-1] + 1]
        if given is not None and given.integer:
            first = min(values[0], given.at_least or values[0])
            places = [Fraction(at) for at in range(int(first) - 1, int(values[-1]) + 3)]
    if given is not None:
        places = [at for at in places if _inside(given.range(), at)]
    return all(any(_holds(case, name, at) for case in cases) for at in places)


def _inside(known: Range, at: Fraction) -> bool:
    low, high = known.lower, known.upper
    above = not isinstance(low, Fraction) or (at > low if known.lower_open else at >= low)
    return above and (not isinstance(high, Fraction) or (at < high if known.upper_open else at <= high))


def _holds(case: Sequence[Node], name: str, at: Fraction) -> bool:
    world = IntegersWorld({}, {name: at})
    return all(holds(part, world) is True for part in case)


FEW = 5


def _leaves_out_few(case: Sequence[Node], exercise: Exercise, bench: Bench) -> bool:
    """'assume n >= 3': a count that is not among the smallest; the object is right for all n without that."""
    for part in case:
        match part:
            case Relation((Name() as name, right), (">" | ">=",)) if full_name(name) in given_numbers(exercise):
                value = getattr(right, "value", None)
                if not isinstance(value, Fraction) or value > FEW:
                    return False
            case _:
                return False
    try:
        return proved(bench.goals())
    except CANNOT:
        return False


def best(tried: Sequence[Tried], part: str) -> Asked:
    """The verdict on several candidates: those of the highest rank must agree."""
    top = max(one.rank for one in tried)
    first = [one for one in tried if one.rank == top]
    words = {one.word for one in first}
    chosen = next((one for one in first if one.word == "refuted"), first[0])
    if len(words) > 1:
        told = ", ".join(f"line {one.line} is {one.word}" for one in first)
        return Asked(part, "undecided", first[0].line, first[0].latex, f"the answers given differ: {told}")
    rival = next((one for one in tried if one.rank < top and one.word == "proved"), None)
    if chosen.word == "refuted" and rival is not None:
        reason = f"line {chosen.line} is refuted ({chosen.reason}), and line {rival.line} would be proved"
        return Asked(part, "undecided", chosen.line, chosen.latex, reason)
    return Asked(part, chosen.word, chosen.line, chosen.latex, chosen.reason, chosen.counterexample)


def object_parts(exercise: Exercise, contents: Contents, tried: Sequence[Tried]) -> list[Asked]:
    """The verdict on the object; what is missing of it is named."""
    part = ", ".join(exercise.answer)
    if tried:
        return [best(tried, part)]
    found: list[Asked] = []
    for name in exercise.answer:
        mine = [one for one in contents.asked if one.name == name]
        live = [one for one in mine if one.rank > QUOTED]
        if live:
            one = live[-1].statement
            found.append(Asked(name, "undecided", one.line, one.text, "the other parts are missing"))
        elif mine:
            one = mine[-1].statement
            found.append(
                Asked(name, "undecided", one.line, one.text, f"line {one.line} may be the answer: it is only quoted")
            )
        elif indirect := _indirectly(name, contents):
            line, text = indirect.statement.line, indirect.statement.text
            found.append(Asked(name, "undecided", line, text, f"it tells {name} indirectly: write {name} = ..."))
        else:
            found.append(Asked(name, "missing", 0, "", f"no formula defines {name}: write {name} = ..."))
    return found


def _indirectly(name: str, contents: Contents) -> Claimed | None:
    """1/tau = ln(n/epsilon): what is asked for stands within one side of an equation, alone; or a formula is unread."""
    for one in contents.claims:
        body = unquantified(one.node)
        if isinstance(body, Relation) and body.comparisons[0] in ("=", "->", "~"):
            for side, other in ((body.terms[0], body.terms[1]), (body.terms[1], body.terms[0])):
                mine = full_names(side) - {"e", "pi"}
                if mine == {name} and name not in full_names(other) and side != other:
                    return one
    for unread in contents.unread:
        if unread.text.lstrip("\\ {$").startswith(name.split("_")[0]) and "=" in unread.text:
            return Claimed(unread, Name(name))
    return None


# Conditions.


def condition_parts(contents: Contents, opened: Open, claims: tuple[Said, ...]) -> tuple[list[Asked], list[Tried]]:
    """A condition on scores under which the goals hold."""
    tried: list[Tried] = []
    seen: list[Node] = []
    live = [(one, rank) for one, rank in contents.conditions if rank > QUOTED]
    firm = [(one, rank) for one, rank in live if not (one.statement.follows and rank < NEUTRAL)] or live
    for one, rank in firm:
        if one.node in seen:
            continue
        seen.append(one.node)
        statement = one.statement
        if statement.doubt:
            reason = f"'{statement.doubt}' was not read"
            tried.append(Tried("undecided", reason, statement.line, latex(one.node), rank))
            continue
        condition = Said(one.node, statement.text, statement.line)
        base = reading({}, contents)
        answer = replace(base, claims=(condition,))
        try:
            bench = opened(answer)
            doubts = [each for each in bench.court.conditions if each.decision.word != "proved"]
            found = [*doubts, *bench.goals()]
        except CANNOT as error:
            said = str(error.shown()) if isinstance(error, MisfitError) else str(error)
            tried.append(Tried("undecided", said, statement.line, latex(one.node), rank))
            continue
        word = _word(found)
        reason, against = _reason(found, word)
        full = replace(answer, claims=(condition, *claims))
        tried.append(Tried(word, reason, statement.line, latex(one.node), rank, against, tuple(found), full))
    if tried:
        return [best(tried, "condition")], tried
    if contents.conditions:
        last = contents.conditions[-1][0].statement
        reason = f"line {last.line} may be the answer: it is only quoted"
        return [Asked("condition", "undecided", last.line, last.text, reason)], []
    reason = "no formula states a condition on the scores: write one on k_j^T q and k_i^T q"
    return [Asked("condition", "missing", 0, "", reason)], []


# Blanks.


def blank_part(
    exercise: Exercise,
    blank: Blank,
    found: Sequence[Finding],
    bench: Bench,
    instead: Callable[[Finding], bool],
    mentioned: Sequence[Statement],
) -> Asked:
    """One blank: filled by a true formula that says the value."""
    part = plain(parsed(blank.of[0])) + (f" for {plain(parsed(blank.case))}" if blank.case else "")
    filled: list[tuple[int, Finding, bool]] = []
    for one in found:
        if instead(one):
            continue
        link = _filling(exercise, blank, one, bench.answer.definitions)
        if link is not None and (blank.case is None or _covers(one, parsed(blank.case))):
            rank = NEUTRAL if one.claimed.statement.kind == "neutral" or one.claimed.statement.display else NEUTRAL - 1
            filled.append((rank, one, _says(exercise, bench, one)))
    told = [(rank, one) for rank, one, says in filled if one.status == "false" or says]
    if not told:
        why = "this would be true in any case" if filled else f"no formula says what {plain(parsed(blank.of[0]))} is"
        names = {full_name(name) for source in blank.of for name in names_in(parsed(source))}
        near = next(
            (
                one.claimed.statement
                for one in found
                if names & _spoken_of(one) and not _elsewhere(exercise, blank, one)
            ),
            None,
        )
        bases = {name.partition("_")[0] for name in names}
        unread = [one for one in mentioned if one.node is None or bases & {name.base for name in every_name(one.node)}]
        near = near or next(iter(unread), None)
        if near is not None:
            return Asked(part, "undecided", near.line, near.text, why, optional=blank.optional)
        return Asked(part, "missing", 0, "", why, optional=blank.optional)
    true = [(rank, one) for rank, one in told if one.status == "true" or _filled(exercise, blank, one)]
    false = [(rank, one) for rank, one in told if one.status == "false"]
    first = (true or false or told)[0][1]
    line, shown = first.claimed.statement.line, first.claimed.statement.text
    if true and not false:
        return Asked(part, "proved", line, shown, first.reason, optional=blank.optional)
    apart = [one for _, one in false if all(one.claimed.under != other.claimed.under for _, other in true)]
    if true and apart and blank.case is None:  # true in one case, and false in another
        return replace(_refuted(part, apart[0]), optional=blank.optional)
    if true and false:
        if max(rank for rank, _ in true) > max(rank for rank, _ in false):
            return Asked(part, "proved", line, shown, first.reason, optional=blank.optional)
        other = false[0][1].claimed.statement.line
        reason = f"the answers given differ: line {line} is true, line {other} is false"
        return Asked(part, "undecided", line, shown, reason, optional=blank.optional)
    word: Word = "refuted" if false else "undecided"
    return Asked(part, word, line, shown, first.reason, first.counterexample, blank.optional)


def _elsewhere(exercise: Exercise, blank: Blank, one: Finding) -> bool:
    """Whether a formula fills the blank in another case."""
    return (
        blank.case is not None and _filling(exercise, blank, one) is not None and not _covers(one, parsed(blank.case))
    )


def _filling(exercise: Exercise, blank: Blank, one: Finding, own: Mapping[str, Said] | None = None) -> Relation | None:
    """The comparison with which a formula says the value of what was asked for, perhaps under a name of its own."""
    node = one.node if one.node is not None else one.claimed.node
    shapes = [parsed(source) for source in blank.of]
    shapes += [named(name) for name, said in (own or {}).items() if said.node in shapes]
    for body in conjuncts(_conclusion(node)):
        body = unquantified(body)
        if not isinstance(body, Relation):
            continue
        spread = list(comparisons(body)) if len(body.terms) == 2 else []
        for chain in [body, *spread]:
            for side, others in ((chain.terms[0], chain.terms[1:]), (chain.terms[-1], chain.terms[-2::-1])):
                if side not in shapes and not any(_listed(side, shape) for shape in shapes):
                    continue
                for at, other in enumerate(others, 1):
                    signs = chain.comparisons[:at] if side is chain.terms[0] else chain.comparisons[-at:]
                    if set(signs) <= {"=", "~", "->"} and not _computed(exercise, other):
                        sign: Comparison = "=" if set(signs) == {"="} else "~"
                        return Relation((side, other), (sign,), span=body.span)
    return None


def _filled(exercise: Exercise, blank: Blank, one: Finding) -> bool:
    """Whether the first link of a chain fills a blank, and is true; the rest may be open."""
    if one.status != "open" or one.claimed.statement.doubt or one.claimed.again:
        return False
    link = _filling(exercise, blank, one)
    return link is not None and any(
        each.decision.word == "proved" and each.link.terms == link.terms for each in one.judged
    )


def _listed(side: Node, shape: Node) -> bool:
    return isinstance(side, Listing) and shape in side.items


def _conclusion(node: Node) -> Node:
    node = unquantified(node)
    return node.items[1] if isinstance(node, Logic) and node.word == "implies" else node


def _computed(exercise: Exercise, term: Node) -> bool:
    """Whether a term speaks of what attention computes, and so is no value."""
    lengths = [] if exercise.keys is None else [scale.name for scale in exercise.keys.scales.values()]
    if any(isinstance(part, Call) and part.function in CHANCE for part in walk(term)):
        return True
    return any(name.base in ("alpha", "c") and full_name(name) not in lengths for name in names_in(term))


def _covers(one: Finding, case: Node) -> bool:
    """Whether a formula is said for a case, perhaps among others."""
    match case:
        case Relation((Name() as name, value), ("=",)):
            number = number_of(value)
            if number is None:
                return True
            world = IntegersWorld({}, {full_name(name): number})
            node = one.node if one.node is not None else one.claimed.node
            under = node.conditions if isinstance(node, Quantified) else ()
            return all(isinstance(part, Name) or holds(part, world) is not False for part in under)
    return True


def _says(exercise: Exercise, bench: Bench, one: Finding) -> bool:
    """Whether a true formula would be false were the question idle."""
    if not one.judged or exercise.condition:
        return True
    return any(_says_something(exercise, bench, each) for each in one.judged)


def _says_something(exercise: Exercise, bench: Bench, one: Judged) -> bool:
    if exercise.matrices is None or not isinstance(bench.court, MatricesCourt):
        by_chance = any(isinstance(part, Call) and part.function in CHANCE for part in walk(one.link))
        return by_chance or says_something(exercise, bench.answer, one)
    if any(set(one.link.terms) == {parsed(side) for side in pair} for pair in exercise.matrices.different):
        return False  # that is given
    try:
        idle = [bench.court.otherwise(idle).decide(one.claim) for idle in exercise.matrices.otherwise]
    except CANNOT:
        return False
    return not any(proved(found) for found in idle)


# Statements.


def statement_part(exercise: Exercise, found: Sequence[Finding], bench: Bench, quoted: Sequence[Node]) -> Asked:
    """A true formula about what was asked for; where reasons are asked for, a false one makes it wrong."""
    things = " or ".join(plain(parsed(one)) for one in exercise.about)
    part = "statement"
    wanted = [
        {full_name(name) for name in names_in(parsed(source))} | _functions(parsed(source)) for source in exercise.about
    ]
    about = [one for one in found if any(names <= _spoken_of(one) for names in wanted)]
    false = [one for one in found if one.status == "false"]
    if exercise.reasons and false:
        return _refuted(part, false[0])
    if exercise.keys is not None and exercise.keys.otherwise:
        return _weighed(exercise, exercise.keys, bench, part, found)
    true = [one for one in about if one.status == "true" and not one.claimed.statement.strict]
    telling = [one for one in true if any(_says_something(exercise, bench, each) for each in one.judged)]
    narrow = {id(one): _narrowing(exercise, one, bench) for one in telling}
    whole = [one for one in telling if not narrow[id(one)]]
    if whole:
        line, text = whole[0].claimed.statement.line, whole[0].claimed.statement.text
        return Asked(part, "proved", line, text, whole[0].reason)
    if telling:
        only = " and ".join(map(plain, narrow[id(telling[0])]))
        one = telling[0].claimed.statement
        return Asked(part, "undecided", one.line, one.text, f"answered for {only} only")
    wrong = [one for one in false if any(names & _spoken_of(one) for names in wanted)]
    if wrong:
        return _refuted(part, wrong[0])
    mentioned = [node for node in quoted if any(names & {*full_names(node)} for names in wanted)]
    if mentioned and not about:
        return Asked(part, "undecided", 0, "", f"{plain(mentioned[0])} may be the answer: it is only quoted")
    if about and any(one.status == "open" for one in about):
        first = next(one for one in about if one.status == "open")
        return Asked(part, "undecided", first.claimed.statement.line, first.claimed.statement.text, first.reason)
    if about:
        one = about[0].claimed.statement
        reason = "this would be true in any case: it does not say what was asked"
        return Asked(part, "undecided", one.line, one.text, reason)
    near = [one for one in found if any(names & _spoken_of(one) for names in wanted)]
    if near:
        one = near[0].claimed.statement
        return Asked(part, "undecided", one.line, one.text, f"no formula that was read says anything of {things}")
    return Asked(part, "missing", 0, "", f"no formula says anything of {things}")


def _refuted(part: str, one: Finding) -> Asked:
    return Asked(
        part, "refuted", one.claimed.statement.line, one.claimed.statement.text, one.reason, one.counterexample
    )


def _spoken_of(one: Finding) -> set[str]:
    node = one.node if one.node is not None else one.claimed.node
    return {spoken for name in names_in(node) for spoken in (full_name(name), name.base)} | _functions(node)


def _functions(node: Node) -> set[str]:
    """Probabilities, means and variances: to speak of the variance of a weight is more than to speak of the weight."""
    return {part.function for part in walk(node) if isinstance(part, Call) and part.function in CHANCE}


def _narrowing(exercise: Exercise, one: Finding, bench: Bench) -> list[Relation]:
    """What a formula is said for, where that is not all that is given: 'for T <= 6'."""
    node = one.node if one.node is not None else one.claimed.node
    under: list[Node] = list(node.conditions) if isinstance(node, Quantified) else []
    match unquantified(node):
        case Logic("implies", (condition, Relation((_, _), ("!=",)))):
            under += conjuncts(condition)
    links = [link for part in under if isinstance(part, Relation) for link in comparisons(part)]
    return [link for link in links if _restricts(link, exercise) and not bench.always(link)]


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


IDLE = {
    "scaled": "all that is said would hold for some numbers that do not sum to 1",
    "signed": "all that is said would hold for some numbers of which one is negative",
}
SCORES = ("k", "q", "e")  # what a weight is made of: to repeat its definition says nothing of it
CHAINED: tuple[Comparison, ...] = ("=", ">", "<", ">=", "<=")  # each sums up those before it that point its way


def _weighed(exercise: Exercise, setting: Keys, bench: Bench, part: str, found: Sequence[Finding]) -> Asked:
    """What is truly said of the weights must hold for nothing but weights."""
    true = [one for one in found if one.status == "true"]
    nodes = [_of_every_key(one.node if one.node is not None else one.claimed.node) for one in true]
    said = [link for node in nodes for link in (*_steps(node), *_ends(node))]
    own = [link for link in said if not any(name.base in SCORES for name in names_in(link))]
    for idle in setting.otherwise:
        if not rules_out(exercise, bench.answer, own, idle):
            false = [one for one in found if one.status == "false" and "alpha" in _spoken_of(one)]
            if false:
                return _refuted(part, false[0])
            if any(one.status == "open" and "alpha" in _spoken_of(one) for one in found):
                return Asked(part, "undecided", 0, "", IDLE[idle])
            return Asked(part, "missing", 0, "", IDLE[idle])
    lines = [one.claimed.statement for one in true]
    return Asked(part, "proved", lines[0].line, r",\ ".join(one.text for one in lines[:2]), true[0].reason)


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


# Derivations.


def derivation_part(exercise: Exercise, found: Sequence[Finding], bench: Bench, quoted: bool) -> Asked:
    """True steps that lead from one side to the other; a false one on the path makes it wrong."""
    part = "derivation"
    court = bench.court
    if not isinstance(court, MatricesCourt):
        return Asked(part, "undecided", 0, "", "derivations are read for matrices only")
    aims = [Aim(parsed(source), parsed(target), court.given) for source, target in exercise.derive]
    steps = [link for one in found for link in _true_links(one, bench)]
    first, last = plain(aims[0].start), plain(aims[0].end)
    goal = latex(Relation((aims[0].start, aims[0].end), ("=",)))
    line = next((one.claimed.statement.line for one in found if one.status == "true"), 0)
    false = [one for one in found if one.status == "false"]
    across = [chain for one in false for chain in _across(one)]
    on_path = [one for one in false if any(aim.is_leap(chain) for aim in aims for chain in _across(one))]
    if on_path:
        return _refuted(part, on_path[0])
    leads, leaps, small = _leads(aims, steps)
    if leads and (leaps or any(_reaches(aim, steps) for aim in aims)):
        return Asked(part, "proved", line, goal, f"every step from {first} to {last} is true")
    wrong = [link for one in false for link in _links_of(one) if link not in steps]
    if false and (not small or _leads(aims, [*steps, *wrong])[0] or _leads(aims, [*steps, *across])[0]):
        return _refuted(part, false[0])
    if false:
        where = false[0].claimed.statement.line
        return Asked(part, "undecided", line, goal, f"line {where} is false, and the other steps leave a gap")
    opened = quoted or any(one.status == "open" for one in found)
    if opened or small:
        return Asked(part, "undecided", line, goal, f"the steps that were read do not lead from {first} to {last}")
    if leaps:
        reason = f"this restates what is to be shown: write the steps from {first} to {last}"
        return Asked(part, "missing", 0, "", reason)
    return Asked(part, "missing", 0, "", f"no step leads from {first} to {last}")


def _reaches(aim: Aim, steps: Sequence[Relation]) -> bool:
    """Whether one of the two sides stands in a step, as it is written."""
    terms = [term for link in steps for term in link.terms]
    return any(_alike(term, end, aim) for end in (aim.start, aim.end) for term in terms)


def _alike(term: Node, end: Node, aim: Aim) -> bool:
    found = None if term == end else gap((term, end), aim.bare)
    return term == end or (found is not None and found.is_zero)


def _leads(aims: Sequence[Aim], steps: Sequence[Relation]) -> tuple[bool, list[Relation], list[Relation]]:
    """Whether steps lead from one side to the other; those that are what was to be shown, and the others."""
    leaps = [link for link in steps if any(aim.is_leap(link) for aim in aims)]
    small = [link for link in steps if link not in leaps]
    if any(aim.leads(small) for aim in aims):
        return True, leaps, small
    whole = bool(leaps) and any(aim.leads(steps) for aim in aims)
    return whole and any(aim.follows(small) for aim in aims), leaps, small


def _across(one: Finding) -> list[Relation]:
    """What a chain says of its ends."""
    node = unquantified(one.node if one.node is not None else one.claimed.node)
    if not isinstance(node, Relation) or len(node.terms) < 3:
        return []
    signs = set(node.comparisons) - {"="}
    sign: Comparison = "=" if not signs else "<=" if signs <= {"<", "<="} else ">="
    return [Relation((node.terms[0], node.terms[-1]), (sign,), span=node.span)]


def _true_links(one: Finding, bench: Bench) -> Iterator[Relation]:
    """The steps of a formula that are true; under a condition, those that hold without it."""
    node = one.node if one.node is not None else one.claimed.node
    body = unquantified(node)
    conditions = (
        [part for part in node.conditions if not isinstance(part, Name)] if isinstance(node, Quantified) else []
    )
    free = all(map(bench.always, conditions))
    for link in _steps(body):
        true = one.status == "true" or any(
            each.link.terms == link.terms and each.decision.word == "proved" for each in one.judged
        )
        if true and (free or bench.always(link)):
            yield link


def _links_of(one: Finding) -> list[Relation]:
    node = one.node if one.node is not None else one.claimed.node
    return list(_steps(node))


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
