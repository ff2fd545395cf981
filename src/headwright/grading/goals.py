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
from typing import Any

from headwright.formulas import tree as t
from headwright.formulas.show import latex, plain
from headwright.grading import answer as an
from headwright.grading.account import (
    is_size_in_words,
    left_over,
    names_behind,
    size_left,
    sizes_among,
)
from headwright.grading.answer import names_in
from headwright.grading.candidates import (
    NEUTRAL,
    QUOTED,
    Candidate,
    Claimed,
    Contents,
    Definition,
    is_sign,
    own_names_among_numbers,
    relevant,
)
from headwright.grading.exercise import Blank, Exercise, parsed
from headwright.grading.judge import CANNOT, Finding, Session, why
from headwright.grading.judging import Outcome, proved, refuted
from headwright.grading.names import names_on_the_left, tends
from headwright.grading.recheck.instances import ExplicitInstance, holds
from headwright.grading.text import LeftOver, Statement
from headwright.grading.verdict import AskedPart, Word

QUOTED_ONLY = "line {} may be the answer: it is only quoted"
Open = Callable[[an.Answer], Session]
_FUNCTION = re.compile(r"\s*\\?([A-Za-z]+)\s*\(")
_FIRST_NAME = re.compile(r"\s*\\?([A-Za-z]+)\s*(?![\s_^'({[A-Za-z])")


@dataclass(frozen=True)
class Tried:
    """What was found of one candidate."""

    word: Word
    reason: str
    line: int
    latex: str
    rank: int
    counterexample: Mapping[str, Any] | None = None
    judged: tuple[Outcome, ...] = ()
    answer: an.Answer | None = None
    statements: frozenset[int] = (
        frozenset()
    )  # the numbers of the statements that it was made of


# Objects and conditions.


def try_candidate(
    exercise: Exercise, candidate: Candidate, contents: Contents, opened: Open
) -> Tried:
    """One candidate, judged by the goals in each of its cases; undecided where something written was not used."""
    made = [one for _, found in candidate.cases for one in found.values()]
    start = _untried(candidate, made, contents)
    tried = [
        _by_goals(start, reading(found, contents), opened, case)
        for case, found in candidate.cases
    ]
    chosen = next((one for one in tried if one.word == "refuted"), None)
    chosen = chosen or next((one for one in tried if one.word != "proved"), tried[0])
    chosen = replace(
        chosen,
        judged=tuple(each for one in tried for each in one.judged),
        answer=tried[-1].answer,
    )
    sizes = _unsettled_sizes(exercise, contents, *(one.value for one in made))
    if sizes:
        fixed = _with_fixed(sizes, contents)
        again = [
            _by_goals(start, reading(found, fixed), opened, case)
            for case, found in candidate.cases
        ]
        chosen = _for_every_size(sizes, chosen, again)
    doubt = _doubt_about_names(made, contents, chosen)
    if not doubt and chosen.word in ("proved", "refuted"):
        doubt = left_over(exercise, contents, made, refuted=chosen.word == "refuted")
    if not doubt and chosen.word == "proved":
        doubt = _failing_example(start, candidate, contents, opened)
    if not doubt and chosen.word == "proved":
        doubt = _failing_choice(exercise, start, candidate, contents, opened)
    if doubt:
        return replace(start, reason=doubt, answer=chosen.answer)
    cases = [case for case, _ in candidate.cases]
    if chosen.word == "proved" and cases[0] and chosen.answer is not None:
        session = opened(chosen.answer)
        several = len(cases) > 1
        always = not several and all(map(session.always, cases[0]))
        if not (always or (several and _cover(cases, exercise))):
            told = " or ".join(" and ".join(map(plain, case)) for case in cases)
            return replace(chosen, word="undecided", reason=f"answered for {told} only")
    return chosen


def _untried(
    candidate: Candidate, made: Sequence[Definition], contents: Contents
) -> Tried:
    """A candidate as it is shown, with the statements that it was made of."""
    parts = []
    for case, found in candidate.cases:
        said = ", ".join(
            latex(t.Relation((an.named(name), one.value), ("=",)))
            for name, one in found.items()
        )
        under = r" \text{ for } " + ", ".join(map(latex, case)) if case else ""
        parts.append(said + under)
    live = [
        one for one in contents.asked if one.rank > QUOTED or candidate.rank == QUOTED
    ]
    numbers = frozenset(
        one.statement.number for one in live if any(map(one.says_the_same, made))
    )
    line, rank = made[0].statement.line, candidate.rank
    return Tried("undecided", "", line, "; ".join(parts), rank, statements=numbers)


def _doubt_about_names(
    made: Sequence[Definition], contents: Contents, chosen: Tried
) -> str:
    """Why it is not clear what the names in a candidate are; '' where it is."""
    used = names_behind(contents, *(one.value for one in made))
    if used & contents.unclear:
        name = min(used & contents.unclear)
        return f"{name} is described in words or case by case, which is not read"
    is_refuted = chosen.word == "refuted"
    several = used & (contents.several if is_refuted else contents.contradictory)
    if several:
        name = min(used & contents.several)
        return f"{chosen.word} for one value of {name} ({chosen.reason}); another is written"
    unsettled = _unsettled_name(used, contents, chosen)
    if unsettled:
        return unsettled
    differing = sorted(used & set(contents.several_bounds))
    if differing:
        lines = contents.several_bounds[differing[0]]
        places = " and ".join(f"line {number}" for number in lines)
        return f"{differing[0]} is bounded in several ways ({places}): say which one is meant"
    for one in contents.unread:
        first = _FIRST_NAME.match(one.text)
        if first is not None and first[1] in used:
            return f"line {one.line} was not read, and may bound a name in it"
        function = _FUNCTION.match(one.text)
        if function is not None and one.lets and function[1] in used:
            return f"line {one.line} was not read, and may define {function[1]}"
    if chosen.answer is None:
        return ""
    unused = _unused_condition(made, contents, chosen.answer)
    if unused is None:
        return ""
    condition, where = unused
    return f"line {where.line} says it for {plain(condition)}, which was not used"


def _failing_example(
    start: Tried, candidate: Candidate, contents: Contents, opened: Open
) -> str:
    """'q = beta (k_a + k_b), e.g. beta = 1': what is proved for large beta, and false for the example."""
    bounded = {
        name
        for said, _ in contents.bounds
        if not is_sign(said.node)
        for name in an.full_names(said.node)
    }
    for case, found in candidate.cases:
        used = an.full_names(*(one.value for one in found.values()))
        for name in sorted(used & set(contents.examples) - bounded):
            example = contents.examples[name]
            there = reading({**found, name: example}, contents)
            tried = _by_goals(start, there, opened, case)
            if tried.word == "refuted":
                line = example.statement.line
                return f"it is false for {name} = {plain(example.value)}, the example of line {line}"
    return ""


def _failing_choice(
    exercise: Exercise,
    start: Tried,
    candidate: Candidate,
    contents: Contents,
    opened: Open,
) -> str:
    """'Choose lambda so that e^lambda = n': what is proved for large lambda, and false where this is all that is known.

    Several such formulas are looked at one by one: each may be the one that says how the name is chosen.
    """
    settled = _settled_names(contents)
    for case, found in candidate.cases:
        used = names_behind(contents, *(one.value for one in found.values()))
        open_names = used - settled
        for statement, link in _restrictions(exercise, open_names, contents):
            said = an.Said(link, statement.text, statement.line)
            there = replace(contents, bounds=[*contents.bounds, (said, statement)])
            tried = _by_goals(start, reading(found, there), opened, case)
            if tried.word != "proved":
                return f"line {statement.line} says {plain(link)}, which alone would not do: say how the name is chosen"
    return ""


def _restrictions(
    exercise: Exercise, open_names: set[str], contents: Contents
) -> Iterator[tuple[Statement, t.Relation]]:
    """Comparisons of open names with given numbers, 'e^lambda >= n', that may say how a name is chosen."""
    claimed = [(one.statement, one.node) for one in contents.claims if not one.under]
    wanted = [
        (one, one.node)
        for one in contents.quoted
        if one.role == "wanted" and one.node is not None
    ]
    for statement, node in (*claimed, *wanted):
        if statement.reason or not isinstance(node, t.Relation):
            continue
        for link in an.comparisons(node):
            own = own_names_among_numbers(link, exercise)
            if own and own <= open_names and _may_choose(link, own):
                yield statement, link


def _may_choose(link: t.Relation, names: set[str]) -> bool:
    """Whether a comparison may say how names are chosen: e^lambda = n, |lambda| <= 1, lambda ~ 5; not e^lambda > 1."""
    sign = link.comparisons[0]
    if sign == "~":  # 'e^(-lambda) ~ 0' says that lambda is large
        return any(isinstance(term, t.Name) for term in link.terms)
    if sign not in ("=", "<", ">", "<=", ">="):
        return False
    if an.full_names(link) - names - {"e", "pi"}:
        return True
    values = (Fraction(1, 1000), Fraction(1), Fraction(1000))
    instances = [ExplicitInstance({}, dict.fromkeys(names, value)) for value in values]
    return not all(holds(link, instance) for instance in instances)


def _settled_names(contents: Contents) -> set[str]:
    """The names of the answer's own that it defines, bounds or sends to a limit."""
    settled = {one.name for one in contents.own}
    for said, _ in contents.bounds:
        if not is_sign(said.node):
            settled |= an.full_names(said.node)
    return settled


def _unsettled_sizes(
    exercise: Exercise, contents: Contents, *nodes: t.Node
) -> list[str]:
    """The sizes behind formulas of which nothing is said: beta = sqrt(d)."""
    used = names_behind(contents, *nodes)
    return sizes_among(exercise, used - _settled_names(contents))


def _with_fixed(sizes: Sequence[str], contents: Contents) -> Contents:
    """The same, with sizes that are any numbers from 1 on, and not as large as one likes."""
    one = t.Number(Fraction(1))
    nowhere = Statement("", 0, None)
    bounds = [
        (an.Said(t.Relation((an.named(name), one), (">=",))), nowhere) for name in sizes
    ]
    return replace(contents, bounds=[*contents.bounds, *bounds])


def _for_every_size(
    sizes: Sequence[str], large: Tried, fixed: Sequence[Tried]
) -> Tried:
    """What was tried with large sizes, beside the same with any sizes from 1 on, case by case.

    A size is given before anything is chosen, and need not be large: a proof for large d is one of another statement,
    and so is a counterexample in which d outgrows lambda. What fails for d = 1 alone is not refuted, since orthonormal
    keys need d >= n.
    """
    if all(one.word == "proved" for one in fixed):
        judged = tuple(each for one in fixed for each in one.judged)
        return replace(fixed[0], judged=judged, answer=large.answer)
    if large.word == "refuted" and any(one.word == "refuted" for one in fixed):
        return large
    if large.word == "undecided":
        return large  # the reason is another one
    name = sizes[0]
    reason = f"it depends on how large {name} is, which is not said ({name} is how one writes a size, which is given)"
    return replace(
        large, word="undecided", reason=reason, judged=(), counterexample=None
    )


def _unsettled_name(used: set[str], contents: Contents, chosen: Tried) -> str:
    """Why it is not clear what a name of the answer's own is, that was taken to be as large as one likes; else ''."""
    settled = _settled_names(contents)
    for name in sorted(used - settled):
        if name in contents.in_words:
            line, words = contents.in_words[name]
            if chosen.word == "proved" and is_size_in_words(name, words):
                continue  # it is proved for every size
            return f"line {line} says in words what {name} is ('{words}'), which is not read"
        if name in contents.mentioned:
            one, value = contents.mentioned[name]
            if one.role == "condition" or chosen.word == "refuted":
                return f"line {one.line} speaks of {name} = {plain(value)}: say whether that is how {name} is chosen"
    return ""


def _unused_condition(
    made: Sequence[Definition], contents: Contents, answer: an.Answer
) -> tuple[t.Relation, Statement] | None:
    """A condition on a name of the answer's own that this reading of the answer leaves out, and where it stands."""
    asked = [
        one
        for one in contents.asked
        if one.rank > QUOTED and any(map(one.says_the_same, made))
    ]
    for one in (*asked, *contents.own):
        for condition in one.conditions:
            if not _is_used(condition, contents, answer):
                return condition, one.statement
    return None


def _is_used(condition: t.Relation, contents: Contents, answer: an.Answer) -> bool:
    """Whether a condition on an own name is a definition of this reading, or a bound on a name that it leaves open."""
    left = names_on_the_left(condition) if condition.comparisons[0] == "=" else ()
    if left:
        right = t.listed(condition.terms[1]) if len(left) > 1 else (condition.terms[1],)
        defined = [answer.definitions.get(an.full_name(name)) for name in left]
        values = [None if said is None else said.node for said in defined]
        return values == list(right)
    bounds = [said.node for said, _ in contents.bounds]
    sent = [
        node.terms[0] for node in bounds if isinstance(node, t.Relation) and tends(node)
    ]
    links = list(an.comparisons(condition))
    return condition in bounds or all(
        link in bounds or bool(set(link.terms) & set(sent)) for link in links
    )


def _by_goals(
    start: Tried, answer: an.Answer, opened: Open, case: tuple[t.Node, ...] = ()
) -> Tried:
    """What the goals say under one reading of an answer."""
    try:
        found = opened(answer).goals(case)
    except an.WrongKindError as error:
        return replace(
            start,
            word="refuted",
            reason=why(error),
            counterexample={"words": error.message},
        )
    except CANNOT as error:
        return replace(start, reason=why(error), answer=answer)
    if proved(found):
        said = dict.fromkeys(one.reason for one in found if one.reason)
        return replace(
            start,
            word="proved",
            reason="; ".join(list(said)[:3]),
            judged=tuple(found),
            answer=answer,
        )
    word: Word = "refuted" if refuted(found) else "undecided"
    against = [
        one
        for one in found
        if one.word in (word, "holds" if word == "undecided" else word)
    ]
    counted = [one for one in against if "n" in one.decision.values]
    first = (
        min(counted, key=lambda one: one.decision.values["n"])
        if against[0] in counted
        else against[0]
    )
    reason, counterexample = first.reason, first.counterexample
    return replace(
        start,
        word=word,
        reason=reason,
        counterexample=counterexample,
        judged=tuple(found),
        answer=answer,
    )


def reading(definitions: Mapping[str, Definition], contents: Contents) -> an.Answer:
    """The answer under one choice of what was asked for."""
    made = {one.name: one for one in contents.own} | dict(definitions)
    said = {
        name: an.Said(one.value, one.statement.text, one.statement.line)
        for name, one in made.items()
    }
    nodes = [one.value for one in made.values()] + [one.node for one in contents.claims]
    bounds = [
        (bound, one)
        for bound, one in contents.bounds
        if not an.full_names(bound.node) & set(said)
    ]
    return an.Answer(said, relevant(bounds, *nodes))


def _cover(cases: Sequence[tuple[t.Node, ...]], exercise: Exercise) -> bool:
    """Whether cases of one number, compared with numbers, cover its range: they change at those numbers only."""
    links = [
        link
        for case in cases
        for part in case
        if isinstance(part, t.Relation)
        for link in an.comparisons(part)
    ]
    names = an.full_names(*(part for case in cases for part in case))
    ends = [
        t.number_of(term)
        for link in links
        for term in link.terms
        if not isinstance(term, t.Name)
    ]
    values = sorted({end for end in ends if end is not None})
    if len(names) != 1 or None in ends or len(ends) != len(links) or not values:
        return False
    (name,) = names
    given = exercise.parameters.get(name)
    places = list(exercise.kind.drawn_numbers().get(name, ()))
    if given is not None and given.integer and given.at_least is not None:
        places = [
            Fraction(at) for at in range(int(given.at_least), int(values[-1]) + 3)
        ]
    worlds = [ExplicitInstance({}, {name: at}) for at in places]
    return bool(worlds) and all(
        any(all(holds(part, at) is True for part in case) for case in cases)
        for at in worlds
    )


def best(
    tried: Sequence[Tried], part: str, quoted: Callable[[], Sequence[Tried]] = tuple
) -> AskedPart:
    """The verdict on several candidates: those of the highest rank must agree, and no other one may contradict them."""
    top = max(one.rank for one in tried)
    first = [one for one in tried if one.rank == top]
    chosen = next((one for one in first if one.word == "refuted"), first[0])
    if len({one.word for one in first}) > 1:
        told = ", ".join(f"line {one.line} is {one.word}" for one in first)
        return AskedPart(
            part,
            "undecided",
            first[0].line,
            first[0].latex,
            f"the answers given differ: {told}",
        )
    rivals = (
        [one for one in tried if one.rank < top] if chosen.word == "refuted" else []
    )
    rivals += quoted() if chosen.word == "refuted" else ()
    rival = next((one for one in rivals if one.word == "proved"), None)
    if rival is not None:
        reason = f"line {chosen.line} is refuted ({chosen.reason}), and line {rival.line} would be proved"
        return AskedPart(part, "undecided", chosen.line, chosen.latex, reason)
    later = [
        one
        for one in tried
        if one.word != "proved" and max(one.statements) > max(chosen.statements)
    ]
    if chosen.word == "proved" and later:
        reason = f"line {chosen.line} is proved, and line {later[-1].line} gives another answer, which is not"
        return AskedPart(part, "undecided", chosen.line, chosen.latex, reason)
    return AskedPart(
        part,
        chosen.word,
        chosen.line,
        chosen.latex,
        chosen.reason,
        chosen.counterexample,
    )


def missing_parts(exercise: Exercise, contents: Contents) -> list[AskedPart]:
    """Where no candidate gives the whole object: what is missing of it, or may be meant."""
    found: list[AskedPart] = []
    for name in exercise.answer:
        mine = [one for one in contents.asked if one.name == name]
        live = [one.statement for one in mine if one.rank > QUOTED]
        unread = unread_definitions((name,), contents)
        problem = None if not unread else unread[-1].problem
        options = [
            (live, "the other parts are missing"),
            ([one.statement for one in mine], QUOTED_ONLY),
            (unread if problem is not None else [], ""),
            (
                _indirectly(name, contents),
                f"it tells {name} indirectly: write {name} = ...",
            ),
            (
                _speaking_of(name, contents),
                f"line {{}} speaks of {name}, and no formula defines it: write {name} = ...",
            ),
        ]
        ones, reason = next(
            ((ones, reason) for ones, reason in options if ones), ([], "")
        )
        if ones:
            last = ones[-1]
            said = reason.format(last.line) or str(problem)
            found.append(AskedPart(name, "undecided", last.line, last.text, said))
        else:
            found.append(
                AskedPart(
                    name,
                    "missing",
                    0,
                    "",
                    f"no formula defines {name}: write {name} = ...",
                )
            )
    return found


def _speaking_of(name: str, contents: Contents) -> list[Statement]:
    """Formulas in which a name occurs."""
    asserted = [(one.statement, one.node) for one in contents.claims]
    quoted = [(one, one.node) for one in contents.quoted]
    return [
        one
        for one, node in (*asserted, *quoted)
        if node is not None and name in an.full_names(node)
    ]


def _indirectly(name: str, contents: Contents) -> list[Statement]:
    """1/tau = ln(n/epsilon): what is asked for stands within one side of an equation, alone."""
    found = []
    for one in contents.claims:
        body = t.unquantified(one.node)
        sides = (
            body.terms
            if isinstance(body, t.Relation) and body.comparisons[0] in ("=", "->", "~")
            else ()
        )
        if {name} in [an.full_names(side) - {"e", "pi"} for side in sides] and sides[
            0
        ] != sides[1]:
            found.append(one.statement)
    return found


def unread_definitions(names: Sequence[str], contents: Contents) -> list[Statement]:
    """Formulas that could not be read and begin with a name that was asked for, as a definition does."""
    bases = tuple(name.split("_")[0] for name in names)
    return [
        one
        for one in contents.unread
        if one.text.lstrip("\\ {$").startswith(bases) and "=" in one.text
    ]


def condition_parts(
    exercise: Exercise, contents: Contents, opened: Open, claims: tuple[an.Said, ...]
) -> tuple[list[AskedPart], list[Tried]]:
    """A condition on scores under which the goals hold."""
    tried: list[Tried] = []
    live = {
        one.node: (one, rank)
        for one, rank in reversed(contents.conditions)
        if rank > QUOTED
    }
    firm = [
        (one, rank)
        for one, rank in live.values()
        if not (one.statement.follows and rank < NEUTRAL)
    ]
    for one, rank in reversed(firm or list(live.values())):
        statement = one.statement
        start = Tried(
            "undecided",
            f"'{statement.doubt}' was not read",
            statement.line,
            latex(one.node),
            rank,
        )
        start = replace(start, statements=frozenset({statement.number}))
        if not statement.doubt:
            condition = an.Said(one.node, statement.text, statement.line)
            start = _judge_conditions(exercise, start, contents, opened, (condition,))
            start = replace(
                start,
                answer=replace(reading({}, contents), claims=(condition, *claims))
                if start.judged
                else None,
            )
        tried.append(start)
    written = [one for one, _ in firm]
    tried = _together(exercise, tried, written, contents, opened, claims)
    if tried:
        return [best(tried, "condition")], tried
    mentioned = [one.statement for one, _ in contents.conditions] or contents.unread
    if mentioned:
        last = mentioned[-1]
        reason = (
            QUOTED_ONLY if contents.conditions else "line {} was not read"
        ).format(last.line)
        return [AskedPart("condition", "undecided", last.line, last.text, reason)], []
    reason = (
        "no formula states a condition on the scores: write one on k_j^T q and k_i^T q"
    )
    return [AskedPart("condition", "missing", 0, "", reason)], []


def _judge_conditions(
    exercise: Exercise,
    start: Tried,
    contents: Contents,
    opened: Open,
    conditions: tuple[an.Said, ...],
) -> Tried:
    """The goals under conditions; undecided where it is not clear what a name in these is."""
    answer = replace(reading({}, contents), claims=conditions)
    tried = _by_goals(start, answer, opened)
    nodes = [said.node for said in conditions]
    sizes = _unsettled_sizes(exercise, contents, *nodes)
    if sizes:
        fixed = reading({}, _with_fixed(sizes, contents))
        again = _by_goals(start, replace(fixed, claims=conditions), opened)
        tried = _for_every_size(sizes, tried, [again])
    reason = _unsettled_name(names_behind(contents, *nodes), contents, tried)
    if not reason:
        return tried
    return replace(
        tried, word="undecided", reason=reason, judged=(), counterexample=None
    )


def _together(
    exercise: Exercise,
    tried: list[Tried],
    written: Sequence[Claimed],
    contents: Contents,
    opened: Open,
    claims: tuple[an.Said, ...],
) -> list[Tried]:
    """'k_j^T q >> 0 and k_i^T q <= 0' is one condition: its parts are judged together, where none does alone.

    Those of one sentence are; if those of several sentences would do together, nothing is refuted.
    """
    if any(one.word == "proved" for one in tried):
        return tried
    clear = [
        one for one in written if not (one.statement.doubt or one.statement.follows)
    ]
    sentences = dict.fromkeys(one.statement.sentence for one in clear)
    groups = [
        [one for one in clear if one.statement.sentence == sentence]
        for sentence in sentences
    ]
    for group in (group for group in groups if len(group) > 1):
        whole = _try_conditions(exercise, group, contents, opened, claims)
        members = {one.statement.number for one in group}
        alone = [one for one in tried if not one.statements <= members]
        tried = [*alone, whole]
    if len(groups) > 1 and all(one.word == "refuted" for one in tried):
        whole = _try_conditions(exercise, clear, contents, opened, claims)
        if whole.word != "refuted":
            lines = ", ".join(str(one.statement.line) for one in clear)
            reason = f"lines {lines} give several conditions: say whether all are meant"
            return [replace(whole, word="undecided", reason=reason, judged=())]
    return tried


def _try_conditions(
    exercise: Exercise,
    group: Sequence[Claimed],
    contents: Contents,
    opened: Open,
    claims: tuple[an.Said, ...],
) -> Tried:
    """Several conditions as one."""
    first = group[0].statement
    conditions = tuple(
        an.Said(one.node, one.statement.text, one.statement.line) for one in group
    )
    start = Tried(
        "undecided",
        "",
        first.line,
        r" \text{ and } ".join(latex(one.node) for one in group),
        NEUTRAL,
        statements=frozenset(one.statement.number for one in group),
    )
    found = _judge_conditions(exercise, start, contents, opened, conditions)
    claimed = (*conditions, *claims)
    whole = replace(reading({}, contents), claims=claimed) if found.judged else None
    return replace(found, answer=whole)


# Blanks.


@dataclass(frozen=True)
class _Filled:
    """A formula that says the value of what was asked for, and the comparisons with which it does."""

    finding: Finding
    links: tuple[t.Relation, ...]
    covers: bool  # it is said for the case of the blank


def blank_part(
    exercise: Exercise,
    blank: Blank,
    found: Sequence[Finding],
    session: Session,
    mentioned: Sequence[Statement],
    words: Sequence[LeftOver] = (),
) -> AskedPart:
    """One blank: filled by a true formula that says the value; `words` are those that no formula stands for."""
    case = None if blank.case is None else parsed(blank.case)
    part = plain(parsed(blank.of[0])) + (
        f" for {plain(case)}" if case is not None else ""
    )
    fitting = list(_fitting(exercise, blank, found, session))
    filled = [one for one in fitting if one.covers]
    told = [one for one in filled if _tells(exercise, one.finding, session)]
    if not told:
        others = [one.finding for one in fitting if not one.covers]
        elsewhere = [one for one in others if _is_elsewhere(one, case)]
        narrower = [one for one in others if one not in elsewhere]
        reason = (
            _says_nothing(filled[0].finding)
            if filled
            else _not_said(blank, case, narrower)
        )
        near = _speaking_of_blank(blank, found, elsewhere, mentioned)
        line, text = (near[0].line, near[0].text) if near else (0, "")
        word: Word = "undecided" if near else "missing"
        return AskedPart(part, word, line, text, reason, optional=blank.optional)
    answered = _answered(part, told, has_case=case is not None)
    sentences = {one.finding.claimed.statement.sentence for one in told}
    unused = size_left(exercise, words, sentences)
    if unused and answered.word == "proved":
        answered = replace(answered, word="undecided", reason=unused)
    shown = answered.latex
    if case is not None and latex(case) not in shown:
        shown = rf"{shown} \text{{ for }} {latex(case)}"
    return replace(answered, latex=shown, optional=blank.optional)


def _fitting(
    exercise: Exercise, blank: Blank, found: Sequence[Finding], session: Session
) -> Iterator[_Filled]:
    """The formulas that say the value of what was asked for; of a chain, the link that says it for the case."""
    in_place = exercise.kind.redefines_in_place
    anew = set(map(an.named, exercise.redefines if in_place else ()))
    for one in found:
        links = [part for part in one.claimed.under if isinstance(part, t.Relation)]
        about_anew = any(link.terms[0] in anew for link in links)
        if about_anew and one.status != "false":
            continue  # it is said of a given token that was defined anew
        values = list(_fillings(exercise, blank, one, session.answer.definitions))
        covering = [
            link for link in values if _covers(exercise, blank, one, link, session)
        ]
        if values:
            yield _Filled(one, tuple(covering or values), bool(covering))


def _tells(exercise: Exercise, one: Finding, session: Session) -> bool:
    """Whether a formula that fills a blank says something, or is false, or was not judged."""
    return (
        one.status == "false"
        or not one.judged
        or exercise.condition
        or any(_says_something(session, each) for each in one.judged)
    )


def _says_nothing(one: Finding) -> str:
    """Why a formula that fills a blank does not count: it was not judged, or is no answer."""
    if one.status == "open" and one.reason:
        return one.reason
    return "this would be true in any case"


def _speaking_of_blank(
    blank: Blank,
    found: Sequence[Finding],
    elsewhere: Sequence[Finding],
    mentioned: Sequence[Statement],
) -> list[Statement]:
    """Formulas that speak of what was asked for, where none fills the blank."""
    nodes = [parsed(source) for source in blank.of]
    names = {an.full_name(name) for node in nodes for name in names_in(node)}
    bases = {name.partition("_")[0] for name in names}
    asserted = [
        one.claimed.statement
        for one in found
        if names & spoken_of(one.node) and one not in elsewhere
    ]
    only_mentioned = [
        one
        for one in mentioned
        if one.node is None or bases & {name.base for name in t.every_name(one.node)}
    ]
    return asserted + only_mentioned


def _answered(part: str, told: Sequence[_Filled], *, has_case: bool) -> AskedPart:
    """The verdict on what fills a blank: all of it must be true, or it must be clear what is meant."""
    true = [
        (one.finding, reason)
        for one in told
        if (reason := _true_link(one.finding, one.links)) is not None
    ]
    false = [one.finding for one in told if one.finding.status == "false"]
    if true and not false:
        return _unless_rival(part, true[0], [one.finding for one in told])
    said_for = {one.claimed.under for one, _ in true}
    apart = [one for one in false if one.claimed.under not in said_for]
    if true and (has_case or not apart):
        lines = true[0][0].claimed.statement.line, false[0].claimed.statement.line
        differ = "the answers given differ: line {} is true, line {} is false"
        return asked_part(part, "undecided", true[0][0], differ.format(*lines))
    open_ones = [
        one.finding
        for one in told
        if one.finding.status == "open" and _counts(one.finding)
    ]
    if open_ones and not any(map(_counts, false)):
        return asked_part(part, "undecided", open_ones[0])
    if not false:
        return asked_part(part, "undecided", told[0].finding)
    # false, perhaps true in one case, and false in another
    return asked_part(part, "refuted", apart[0] if true else false[0])


def _unless_rival(
    part: str, shown: tuple[Finding, str], told: Sequence[Finding]
) -> AskedPart:
    """Proved, unless another value is displayed further down that was not shown to be the same."""
    first, reason = shown
    rivals = [one for one in told if _is_later_rival(one, first)]
    if not rivals:
        return asked_part(part, "proved", first, reason)
    last = rivals[-1].claimed.statement
    line = first.claimed.statement.line
    differ = (
        f"line {line} is true, and line {last.line} gives another value"
        f" ('{last.doubt}' was not read)"
    )
    return asked_part(part, "undecided", first, differ)


def _is_later_rival(one: Finding, first: Finding) -> bool:
    """Whether a value is displayed further down, under a condition in words, and was not shown to be the same."""
    statement = one.claimed.statement
    later = statement.number > first.claimed.statement.number
    return (
        later and statement.display and bool(statement.doubt) and one.status == "open"
    )


def _counts(one: Finding) -> bool:
    """Whether a formula is in a display or a neutral sentence."""
    return one.claimed.statement.kind == "neutral"


def _fillings(
    exercise: Exercise, blank: Blank, one: Finding, own: Mapping[str, an.Said]
) -> Iterator[t.Relation]:
    """The comparisons with which a formula says the value of what was asked for, perhaps under a name of its own."""
    shapes = [parsed(source) for source in blank.of]
    shapes += [an.named(name) for name, said in own.items() if said.node in shapes]
    node = t.unquantified(one.node)
    if isinstance(node, t.Logic) and node.word == "implies":
        node = node.items[1]
    for body in map(t.unquantified, t.conjuncts(node)):
        if not isinstance(body, t.Relation):
            continue
        links = list(an.comparisons(body)) if len(body.terms) == 2 else []
        for chain in (body, *links):
            yield from _values_along(exercise, shapes, chain.terms, chain.comparisons)
            yield from _values_along(
                exercise, shapes, chain.terms[::-1], chain.comparisons[::-1]
            )


def _values_along(
    exercise: Exercise,
    shapes: Sequence[t.Node],
    terms: tuple[t.Node, ...],
    signs: tuple[t.Comparison, ...],
) -> Iterator[t.Relation]:
    """What a chain that begins with what was asked for says that it is: 'x = a = b -> c' says a, b and c."""
    first = terms[0]
    if not any(item in shapes for item in (first, *t.listed(first))):
        return
    for at, other in enumerate(terms[1:], 1):
        said = set(signs[:at])
        if said <= {"=", "~", "->"} and not _is_computed(exercise, other):
            yield t.Relation((first, other), ("=",) if said == {"="} else ("~",))


def _is_computed(exercise: Exercise, term: t.Node) -> bool:
    """Whether a term speaks of what attention computes, and so is no value."""
    lengths = exercise.kind.drawn_numbers()
    if _functions(term):
        return True
    return any(
        name.base in ("alpha", "c") and an.full_name(name) not in lengths
        for name in names_in(term)
    )


def _true_link(one: Finding, links: Sequence[t.Relation]) -> str | None:
    """Why a formula fills a blank truly: it is true, or a link is and the rest of a chain is open."""
    if one.status == "true":
        return one.reason
    if one.status == "false" or one.claimed.statement.doubt or one.claimed.again:
        return None
    wanted = [link.terms for link in links]
    said = [each for each in one.judged if each.link.terms in wanted]
    proved_links = [
        each
        for each in said
        if each.word == "proved"
        # a formula without a case is said for all of them, and each is judged by itself
        and all(other.word == "proved" for other in said if other.link == each.link)
    ]
    return proved_links[0].reason if proved_links else None


def _covers(
    exercise: Exercise, blank: Blank, one: Finding, link: t.Relation, session: Session
) -> bool:
    """Whether a formula is said for the case of a blank, perhaps among others."""
    case = None if blank.case is None else parsed(blank.case)
    match case:
        case None:
            pinned = any(
                "=" in part.comparisons for part in _narrowing(exercise, one, session)
            )
            return not pinned and not any(
                _is_special_limit(exercise, part) for part in _stated_conditions(one)
            )
        case t.Relation((t.Name() as name, value), ("=",)) if (
            number := t.number_of(value)
        ) is not None:
            return all(
                _holds_at(exercise, part, name, number, session)
                for part in _stated_conditions(one)
            )
        case t.Relation((t.Name() as name, _), ("->",)):
            stated = _stated_conditions(one)
            others = [part for part in stated if part != case]
            allowed = all(
                _is_no_restriction(exercise, part, name, session) for part in others
            )
            in_value = _names_behind(exercise, link.terms[1], session)
            return case in stated and allowed and an.full_name(name) not in in_value
    return False  # a case of another kind is refused where the exercise is read


def _not_said(blank: Blank, case: t.Node | None, narrower: Sequence[Finding]) -> str:
    """What is missing where no formula fills a blank; some may fill it for less than was asked."""
    for one in narrower:
        stated = [
            part for part in _stated_conditions(one) if not isinstance(part, t.Name)
        ]
        if any(part != case for part in stated):
            return f"answered for {' and '.join(map(plain, stated))} only"
    reason = f"no formula says what {plain(parsed(blank.of[0]))} is"
    if isinstance(case, t.Relation) and case.comparisons == ("->",):
        return f"{reason} as {plain(case)}: write ... \\to ... as {blank.case}"
    return reason


def _is_elsewhere(one: Finding, case: t.Node | None) -> bool:
    """Whether a formula that does not cover a case is said for another one, and not for a part of it."""
    stated = _stated_conditions(one)
    match case:
        case t.Relation((t.Name() as name, value), ("=",)) if (
            number := t.number_of(value)
        ) is not None:
            world = ExplicitInstance({}, {an.full_name(name): number})
            return any(holds(part, world) is False for part in stated)
        case t.Relation((t.Name() as name, _), ("->",)):
            limits = [
                part
                for part in stated
                if isinstance(part, t.Relation) and "->" in part.comparisons
            ]
            return case not in limits and any(part.terms[0] == name for part in limits)
    return not any(
        "->" in part.comparisons for part in stated if isinstance(part, t.Relation)
    )


def _stated_conditions(one: Finding) -> tuple[t.Node, ...]:
    """What a formula is said for."""
    return one.node.conditions if isinstance(one.node, t.Quantified) else ()


def _holds_at(
    exercise: Exercise,
    condition: t.Node,
    name: t.Name,
    number: Fraction,
    session: Session,
) -> bool:
    """Whether a condition leaves the case that a given number has this value."""
    is_limit = isinstance(condition, t.Relation) and {"->", ">>", "<<"} & set(
        condition.comparisons
    )
    if is_limit and an.full_name(name) in an.full_names(condition):
        return False  # a limit says nothing of a single value
    found = holds(condition, ExplicitInstance({}, {an.full_name(name): number}))
    if found is None:
        return _is_no_restriction(exercise, condition, name, session)
    return found


def _is_no_restriction(
    exercise: Exercise, condition: t.Node, name: t.Name, session: Session
) -> bool:
    """Whether a condition restricts nothing that is given: it introduces a letter, or is about other names.

    `name` is the one that the case of a blank is about.
    """
    if isinstance(condition, t.Name):
        return True
    if isinstance(condition, t.Relation) and condition.comparisons == ("->",):
        return not _is_special_limit(exercise, condition)
    given = {*an.given_numbers(exercise), an.full_name(name), "pi", "e"}
    return not an.full_names(condition) <= given or session.always(condition)


def _is_special_limit(exercise: Exercise, condition: t.Node) -> bool:
    """Whether a given number is sent where the exercise does not send it: a tolerance goes to 0 anyway."""
    match condition:
        case t.Relation((t.Name() as name, end), ("->",)) if (
            an.full_name(name) in exercise.parameters
        ):
            given = exercise.parameters[an.full_name(name)]
            return not (
                (given.small and end == t.ZERO) or (given.large and end == t.INFINITY)
            )
    return False


def _names_behind(exercise: Exercise, node: t.Node, session: Session) -> set[str]:
    """The names in a formula, and those in what they are defined by."""
    definitions = {
        name: parsed(source) for name, source in exercise.definitions.items()
    }
    definitions |= {
        name: said.node for name, said in session.answer.definitions.items()
    }
    found: set[str] = set()
    waiting = an.full_names(node)
    while waiting:
        name = waiting.pop()
        found.add(name)
        if name in definitions:
            waiting |= an.full_names(definitions[name]) - found
    return found


def _says_something(session: Session, one: Outcome) -> bool:
    """Whether what is true would be false were the question idle."""
    try:
        return session.exercise.kind.says_something(session.answer, session.prover, one)
    except CANNOT:
        return False


# Statements.


def statement_part(
    exercise: Exercise,
    findings: Sequence[Finding],
    session: Session,
    quoted: Sequence[t.Node],
) -> AskedPart:
    """A true formula about what was asked for; where reasons are asked for, a false one makes it wrong."""
    if exercise.reasons:
        part = _wrong_reason(findings)
        if part is not None:
            return part
    own_part = exercise.kind.statement_part(findings, session)
    if own_part is not None:
        return own_part
    subjects = [_spoken_names(parsed(source)) for source in exercise.about]
    about, near = [], []
    for one in findings:
        spoken = spoken_of(one.node)
        if any(names <= spoken for names in subjects):
            about.append(one)
        if any(names & spoken for names in subjects):
            near.append(one)
    telling = [one for one in about if _is_telling(one, session)]
    if telling:
        return _told_part(exercise, findings, session, telling)
    false = [one for one in near if one.status == "false"]
    if false:
        return asked_part("statement", "refuted", false[0])
    still_open = [one for one in about if one.status == "open"]
    if still_open:
        return asked_part("statement", "undecided", still_open[0])
    if about:
        reason = "this would be true in any case: it does not say what was asked"
        return asked_part("statement", "undecided", about[0], reason)
    for node in quoted:
        if any(names & an.full_names(node) for names in subjects):
            reason = f"{plain(node)} may be the answer: it is only quoted"
            return AskedPart("statement", "undecided", 0, "", reason)
    things = " or ".join(plain(parsed(source)) for source in exercise.about)
    if near:
        reason = f"no formula that was read says anything of {things}"
        return asked_part("statement", "undecided", near[0], reason)
    reason = f"no formula says anything of {things}"
    return AskedPart("statement", "missing", 0, "", reason)


def _wrong_reason(findings: Sequence[Finding]) -> AskedPart | None:
    """A reason that is false, or may be meant under a condition under which it is."""
    for one in findings:
        if one.status == "false":
            return asked_part("statement", "refuted", one)
    for one in findings:
        if one.status == "open" and refuted(one.judged) and one.claimed.under:
            return asked_part("statement", "undecided", one)
    return None


def _spoken_names(node: t.Node) -> set[str]:
    return {an.full_name(name) for name in names_in(node)} | _functions(node)


def _is_telling(one: Finding, session: Session) -> bool:
    """Whether a formula is true, and would be false were the question idle."""
    if one.status != "true" or one.claimed.statement.strict:
        return False
    return any(_says_something(session, outcome) for outcome in one.judged)


def _told_part(
    exercise: Exercise,
    findings: Sequence[Finding],
    session: Session,
    telling: Sequence[Finding],
) -> AskedPart:
    """Proved by a telling formula, if one says it of all that is given and nothing denies it."""
    narrowing = [_narrowing(exercise, one, session) for one in telling]
    general = [one for one, less in zip(telling, narrowing, strict=True) if not less]
    if not general:
        only = " and ".join(map(plain, narrowing[0]))
        reason = f"answered for {only} only"
        return asked_part("statement", "undecided", telling[0], reason)
    denied = _denying(exercise, findings, telling)
    if denied is None:
        return asked_part("statement", "proved", general[0])
    line, said = denied.claimed.statement.line, plain(t.unquantified(denied.node))
    reason = f"line {line} says {said}, which denies it or what is given"
    return asked_part("statement", "undecided", general[0], reason)


def _denying(
    exercise: Exercise, found: Sequence[Finding], shown: Sequence[Finding]
) -> Finding | None:
    """A formula that is not true and says that two things are equal that are shown, or given, to differ."""
    links = [link for one in shown for link in steps_of(t.unquantified(one.node))]
    links += exercise.kind.given_facts()
    apart = [set(link.terms) for link in links if link.comparisons == ("!=",)]
    for one in found:
        if one.status not in ("false", "open"):
            continue
        node = t.unquantified(one.node)
        equal = list(steps_of(node))
        if isinstance(node, t.Relation) and set(node.comparisons) == {"="}:
            ends = node.terms[0], node.terms[-1]  # what a chain says of its ends
            equal.append(t.Relation(ends, ("=",), span=node.span))
        for link in equal:
            if link.comparisons == ("=",) and set(link.terms) in apart:
                return one
    return None


def asked_part(part: str, word: Word, one: Finding, reason: str = "") -> AskedPart:
    """What was asked for, as one formula answers it."""
    line, text = one.claimed.statement.line, one.claimed.statement.text
    against = one.counterexample if word == "refuted" else None
    return AskedPart(part, word, line, text, reason or one.reason, against)


def spoken_of(node: t.Node) -> set[str]:
    """The names in a statement, with and without their indices, and what is computed of them."""
    return {
        spoken for name in names_in(node) for spoken in (an.full_name(name), name.base)
    } | _functions(node)


def _functions(node: t.Node) -> set[str]:
    """Probabilities, means and variances: to speak of the variance of a weight is more than to speak of the weight."""
    return {
        part.function
        for part in t.walk(node)
        if isinstance(part, t.Call) and part.function in an.CHANCE
    }


def _narrowing(exercise: Exercise, one: Finding, session: Session) -> list[t.Relation]:
    """What a formula is said for of given numbers, where that is not all that is given: 'for T <= 6'."""
    under: list[t.Node] = (
        list(one.node.conditions) if isinstance(one.node, t.Quantified) else []
    )
    match t.unquantified(one.node):
        case t.Logic("implies", (condition, t.Relation((_, _), ("!=",)))):
            under += t.conjuncts(condition)
    facts = exercise.kind.given_facts()
    given = {*an.given_numbers(exercise), "pi", *an.full_names(*facts)}
    links = [
        link
        for part in under
        if isinstance(part, t.Relation)
        for link in an.comparisons(part)
    ]
    known = [set(fact.terms) for fact in facts]
    links = [link for link in links if set(link.terms) not in known]
    links = [
        link for link in links if an.full_names(link) and an.full_names(link) <= given
    ]
    calls = [
        link for link in links if any(isinstance(part, t.Call) for part in t.walk(link))
    ]
    return [link for link in links if link not in calls and not session.always(link)]


def steps_of(node: t.Node) -> Iterator[t.Relation]:
    """The links of chains that a statement asserts, in order."""
    match node:
        case t.Relation(terms, signs):
            for a, sign, b in zip(terms[:-1], signs, terms[1:], strict=True):
                yield t.Relation((a, b), (sign,), span=a.span.to(b.span))
        case t.Logic("and", items):
            for item in items:
                yield from steps_of(item)
        case t.Quantified(body, conditions) if all(
            isinstance(part, t.Name) for part in conditions
        ):
            yield from steps_of(
                body
            )  # under a condition, it leads from one side to the other in some cases only
