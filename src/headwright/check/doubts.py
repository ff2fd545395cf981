"""What may not be held against an answer: a claim that stands behind words which were not understood.

'Adding $u_d$ makes $x_2$ longer, so now $c_2 = ...$' speaks of another $x_2$ than the exercise gives. Whoever does not
understand the first half may not call the second one false. Reasons ('because ...') change nothing of what is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from headwright.check.answer import Answer, Unread
from headwright.check.judging import Judged
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.statements import Read, Statement
from headwright.formula.show import plain
from headwright.formula.tree import Name, walk

NOT_HELD = "what stands before it was not understood, and may change what is meant"
_FORMULA = re.compile(r"\$[^$]*\$")
_GIVEN_A_MEANING = re.compile(r"^\W*(?:where|with|here|let|and)?\s*\$(?P<name>[^$]*)\$ (?:is|be|are|denotes|means)\b")


def held(judgements: Iterable[Judged], answer: Answer, found: Read) -> list[Judged]:
    """The judgements that may be held against an answer; the others are noted among what was not judged."""
    doubts = [one for one in _not_understood(answer, found) if _changes(one.text)]
    kept: list[Judged] = []
    for one in judgements:
        behind = None if one.decision.word != "refuted" else next(_behind(one, answer, doubts), None)
        if behind is None:
            kept.append(one)
        else:
            answer.unread.append(Unread(behind, NOT_HELD))
    return kept


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
        yield from (doubt for doubt in doubts if doubt.paragraph == said.paragraph and doubt.line <= said.line)
    elif one.claim.role == "goal":
        used = {part for said in answer.definitions.values() for part in walk(said.node) if isinstance(part, Name)}
        yield from (doubt for doubt in doubts if _renamed(doubt) in {_bare(plain(name)) for name in used})


def _renamed(doubt: Statement) -> str:
    """The name that words give a meaning which was not understood: 'where $S_1$ is $S$ without its last row'."""
    found = _GIVEN_A_MEANING.match(doubt.text)
    return _bare(found["name"]) if found else ""


def _bare(name: str) -> str:
    return re.sub(r"[\\{}\s]", "", name)
