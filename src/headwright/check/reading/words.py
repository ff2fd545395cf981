"""What an answer says in words alone: no formula states it, so nothing judges it, and it must not be lost.

'$q = t k_a$, and half of it would do' claims two things, of which one is a formula. The lexicon has the words that
claim nothing (`[beside]`); a stretch of a sentence without a formula that has any other word in it is listed as not
judged, and what was judged besides cannot pass on its own: whether it is a claim, and a true one, nobody has decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headwright.check.reading.clauses import LIGHT, Clause
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token, leads_on

JOINING = frozenset({"and", "but", "while", "yet", "though", "although"})


def said_in_words(clauses: Sequence[Clause]) -> Iterator[tuple[str, int]]:
    r"""The stretches of a sentence that say something without a formula: the words, and the line.

    >>> from headwright.check.reading.clauses import clauses
    >>> from headwright.check.reading.sentences import sentences
    >>> from headwright.check.reading.written import Written
    >>> one, = sentences(Written("$q = k_a$ works, and a smaller $q$ would do as well"))
    >>> list(said_in_words(clauses(one)))
    [('a smaller $q$ would do as well', 1)]
    """
    wordy = not any(clause.formulas for clause in clauses)
    behind = False  # a formula: then a noun is said of it, '$c = u_a$, the first token'
    for clause in clauses:
        if clause.part == "if" and not wordy:
            continue  # a condition that is not understood goes with what is said under it
        if clause.part == "claim" and clause.cue and all(token.kind in ("term", "mark") for token in clause.tokens):
            if any(token.kind == "term" for token in clause.tokens):  # 'it is $1$', 'hence $u_b$': of what, is not said
                yield f"{clause.cue} {_shown(clause.tokens)}", clause.tokens[0].line
            continue
        for number, stretch in enumerate(_stretches(clause.tokens)):
            if clause.part == "goal" and number == 0:
                continue
            cue = clause.cue if number == 0 else ""
            if _claims_something(stretch, cue, named=behind):
                yield f"{cue} {_shown(stretch)}".lstrip(), stretch[0].line
            behind = behind or any(token.kind == "formula" for token in stretch)


def ends_in_words(clause: Clause) -> bool:
    """Whether the last stretch of a clause says something without a formula: '$a = b$, which vanishes'."""
    *_, last = _stretches(clause.tokens)
    return _claims_something(last)


def _stretches(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut at commas, at colons, at 'and', and where a formula is followed by a reason or a case in words."""
    held: list[Token] = []
    for token in tokens:
        word = token.text if token.kind == "word" else ""
        if token.kind == "mark" or word in JOINING:
            yield held
            held = []
            continue
        light = word in LIGHT and any(one.kind == "formula" for one in held)  # '$q = k_a$ as the weights are equal'
        if light or (token.kind == "formula" and leads_on(token.text)):  # 'a = b, as U is the identity, = c'
            yield held
            held = []
        held.append(token)
    yield held


def _claims_something(stretch: Sequence[Token], cue: str = "", *, named: bool = False) -> bool:
    kinds = {token.kind for token in stretch}
    if "word" not in kinds or "formula" in kinds:
        return False
    words = [token.text for token in stretch if token.kind == "word"]
    if words in (["exactly"], ["copied"], ["copy"]):
        return False  # '$a = b$, exactly', 'copied when $a = b$', 'copy: $a = b$'
    phrase = lexicon().part(words)
    if phrase is not None and phrase.part == "idle" and phrase.words == len(words):
        return "term" in kinds and "integer" not in words  # 'by symmetry', 'for some integer $k$'
    predicate = [] if cue in lexicon().table("connecting") else cue.split()  # 'is equal to' says something itself
    return not lexicon().claims_nothing([*predicate, *words], beside_a_term="term" in kinds, named=named)


def _shown(stretch: Sequence[Token]) -> str:
    return " ".join(f"${one.text}$" if one.kind == "term" else one.text for one in stretch)
