"""What was not understood, or not judged: it is not held against an answer, and it leaves open what would pass.

'Adding $u_d$ makes $x_2$ longer, so now $c_2 = ...$' speaks of another $x_2$ than the exercise gives. Whoever does not
understand the first half may not call the second one false (`held`). Reasons ('because ...') change nothing of what is
claimed. What was not judged counts neither for an answer nor against it (`with_what_was_not_judged`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from headwright.check.answer import OWN, Answer, Unread
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Judged
from headwright.check.reading.discourse import Read, Statement
from headwright.check.reading.lexicon import lexicon
from headwright.check.verdict import Verdict
from headwright.formula.show import plain
from headwright.formula.tree import Name, Node, Relation, every_name

NOT_HELD = "what stands before it was not understood, and may change what is meant"
MAY_CHANGE = "it was not understood, and may change what is meant"
_FORMULA = re.compile(r"\$[^$]*\$")
_GIVEN_A_MEANING = re.compile(
    r"^\W*(?:(?:where|with|here|let|and)?\s*\$(?P<name>[^$]*)\$ (?:is|be|are|denotes|means)\b(?! any\b)"
    r"|(?:where|with|here|let)\s*\$(?P<own>[^$]*)\$ (?!(?:is|be|are) any\b|large|big|huge|small|tiny)"
    r"[a-z])",  # 'where $S_1$ keeps $x$'
    re.IGNORECASE,
)


def held(exercise: Exercise, judgements: Iterable[Judged], answer: Answer, found: Read) -> list[Judged]:
    """The judgements that count, for an answer or against it; the others are noted among what was not judged."""
    doubts = [one for one in _not_understood(answer, found) if one.node is None]
    supposed = {plain(one.node) for one in found.statements if one.role == "assumption" and one.node is not None}
    kept: list[Judged] = []
    for one in judgements:
        said = one.claim.said.statement if one.claim.said is not None else None
        behind = next(_behind(one, answer, doubts), None) if one.decision.word == "refuted" or _led(said) else None
        if behind is not None:
            answer.unread.append(Unread(behind, MAY_CHANGE, decides=True) if said is None else Unread(said, NOT_HELD))
        elif said is not None and one.decision.word == "refuted" and _of_equal_ones(one, said, exercise):
            answer.unread.append(Unread(said, "it may be meant for what the exercise calls different"))
        elif said is not None and one.decision.word == "proved" and _never_so(said, supposed, exercise):
            answer.unread.append(Unread(said, "it is said for a case that the exercise excludes"))
        else:
            kept.append(one)
    return kept


def _led(said: Statement | None) -> bool:
    return said is not None and bool(said.after)


def _of_equal_ones(one: Judged, said: Statement, exercise: Exercise) -> bool:
    """Something supposed of two positions speaks of different ones, and here it was refuted for equal ones."""
    values = one.part.counterexample or {}
    pairs = exercise.integers.different if exercise.integers is not None else ()
    return (
        bool(said.under)
        and isinstance(said.node, Relation)
        and "!=" in said.node.comparisons
        and any(a in values and b in values and values[a] == values[b] for a, b in pairs)
    )


def _never_so(said: Statement, supposed: Collection[str], exercise: Exercise) -> bool:
    r"""'They differ if $\phi_t = \phi_k$', where these are given to be different; what is supposed may be absurd."""
    given = exercise.matrices.different if exercise.matrices is not None else ()
    apart = {frozenset(plain(parsed(side)) for side in pair) for pair in given}
    cases = [case for case in said.under if isinstance(case, Relation) and plain(case) not in supposed]
    return bool(apart) and any(_excluded(case, apart) for case in cases)


def _excluded(case: Relation, apart: Collection[frozenset[str]]) -> bool:
    """Whether a case never occurs: positions, or things given to be different, that are equal; others that differ."""
    differ = all(map(_is_position, case.terms)) or frozenset(map(plain, case.terms)) in apart
    return case.comparisons == (("=",) if differ else ("!=",))


def _is_position(node: Node) -> bool:
    return isinstance(node, Name) and node.index is None and node.base.islower() and len(node.base) == 1


def _changes(text: str) -> bool:
    """Whether words may change what is meant by what follows: a case, a name given anew. A reason does not.

    >>> _changes("adding $u_d$ makes it longer"), _changes("because with $u_d$ it is longer")
    (True, False)
    """
    words = re.findall(r"[a-z']+", _FORMULA.sub(" ", text.lower()))
    reason = bool(words) and words[0] in lexicon().table("reasons")
    return not reason and any(word in lexicon().table("changing") for word in words)


def _not_understood(answer: Answer, found: Read) -> Iterator[Statement]:
    yield from (one for one in (*found.statements, *found.beside) if one.role == "unclear")
    yield from (one.statement for one in answer.unread)


def _behind(one: Judged, answer: Answer, doubts: Iterable[Statement]) -> Iterator[Statement]:
    """The words that may change what is meant by what was judged."""
    said = one.claim.said.statement if one.claim.said is not None else None
    if said is not None:
        yield from (said,) if said.after else ()
        before = [doubt for doubt in doubts if doubt.paragraph == said.paragraph and doubt.line <= said.line]
        yield from (doubt for doubt in before if _changes(doubt.text))
    elif one.claim.role == "goal":
        used = {_bare(plain(name)) for name in every_name(*(said.node for said in answer.definitions.values()))}
        yield from (doubt for doubt in doubts if _renamed(doubt) in used)


def _renamed(doubt: Statement) -> str:
    """The name that words give a meaning which was not understood: 'where $S_1$ is $S$ without its last row'."""
    found = _GIVEN_A_MEANING.match(doubt.text)
    return _bare(found["name"] or found["own"]) if found else ""


def _bare(name: str) -> str:
    return re.sub(r"[\\{}\s]", "", name)


def with_what_was_not_judged(verdict: Verdict, answer: Answer, as_read: Read) -> Verdict:
    """What was not judged counts neither for the answer nor against it: it leaves open what would pass."""
    if verdict.word == "refuted":
        deciding = next((one for one in answer.unread if one.decides), None)
        sized = _size_not_read(verdict, as_read)
        if deciding is None and sized:
            reason = f"what is said of a size was not understood: '{sized[:200]}'"
            return replace(verdict, word="undecided", reason=reason, counterexample=None)
        return verdict if deciding is None else _left_open(verdict, deciding)
    weighty = [one for one in answer.unread if one.error is not None or one.decides]
    first = next(iter((*weighty, *answer.unread)), None)
    if first is not None:
        return _left_open(verdict, first)
    if as_read.beside and verdict.word in ("proved", "holds"):
        one = as_read.beside[0]
        reason = f"{_so_far(verdict)}line {one.line} was not judged, {one.why}: '{one.text[:200]}'"
        return replace(verdict, word="undecided", reason=reason)
    return verdict


BOUNDS = {"<", ">", "<=", ">="}


def _size_not_read(verdict: Verdict, as_read: Read) -> str:
    """A sentence that may call a name large, where the verdict rests on a value of it: '$t > 0$ that is large'."""
    values = {name.removesuffix(OWN) for name in verdict.counterexample or {}}
    for one in as_read.statements:
        for link in (one.node, *one.under, *one.perhaps):
            name = link.terms[0] if isinstance(link, Relation) and set(link.comparisons) <= BOUNDS else None
            if not isinstance(name, Name) or plain(name) not in values:
                continue
            called = re.compile(rf"(?<![a-zA-Z]){re.escape(plain(name))}(?![a-zA-Z])")
            for said in as_read.sizes:
                if "$" not in said or called.search(said):
                    return said
    return ""


def _left_open(verdict: Verdict, one: Unread) -> Verdict:
    if one.error is not None and not any(part.word in ("proved", "holds") for part in verdict.parts):
        return replace(verdict, word="unreadable", reason=str(one.error), counterexample=None)
    where = f"line {one.statement.line}"
    if one.error is not None:
        why = f"{where} cannot be read:\n{one.error}"
    else:
        why = f"{where} was not judged, {one.why}: {_quoted(one.statement)}"
    so_far = "" if one.decides else _so_far(verdict)  # what is said there may change what was judged
    return replace(verdict, word="undecided", reason=so_far + why, counterexample=None)


def _so_far(verdict: Verdict) -> str:
    """What a student may know although something was not judged."""
    if verdict.word not in ("proved", "holds"):
        return ""
    goals = [part.word for part in verdict.parts if part.role == "goal"]
    asked = bool(goals) and set(goals) == {"proved"}
    return "what was asked for is proved, but " if asked else "what was judged is right, but "


def _quoted(statement: Statement) -> str:
    return f"'{(statement.sentence or statement.text)[:200]}'"
