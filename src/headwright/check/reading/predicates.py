r"""Predicates in words: what is said of a formula or a term by the words around it.

'$a$ exceeds $b$' is read as a formula, $a > b$; 'works' and 'as required' add nothing to what they stand behind; and of
any other words, such as '$a$ dominates $b$' or '$a > b$ is out of reach', it is not known what they make of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token

MOST_WORDS = 12  # between two terms that are compared
VERBS = frozenset({"is", "are", "be", "was", "were", "has", "have", "becomes", "gets", "equals"})
BARE = re.compile(r"\s*\\?[a-zA-Z]+(?:_(?:\w|\{\w+\}))?\s*")
REASONS = frozenset({"as", "by", "from", "using"})
COUNTING = frozenset({"first", "last", "largest", "smallest", "top", "other", "remaining"})
RELATIVE = frozenset({"which", "that"})


def spoken(tokens: Sequence[Token]) -> list[Token]:
    r"""Terms compared in words become one formula.

    >>> said = [Token("term", "a", 1), Token("word", "exceeds", 1), Token("term", "b", 1)]
    >>> [token.text for token in spoken(said)]
    ['a > b']
    """
    found: list[Token] = []
    for number, token in enumerate(tokens):
        found.append(token)
        if token.kind == "term":
            _compare(found)
        elif token.kind == "word" and (number + 1 == len(tokens) or _ends(tokens[number + 1])):
            _of_one(found)
            _of_two(found)
    return found


def _ends(token: Token) -> bool:
    return token.kind == "mark" or token.text in ("and", "for", "when", "if", "since", "because", "so", "as")


def _words_back(found: Sequence[Token], stop: int) -> int:
    """Where the last token before these words is; -1 where there is none."""
    at = stop
    while at >= 0 and found[at].kind == "word":
        at -= 1
    return at


def _compare(found: list[Token]) -> None:
    """'$a$ is larger than $b$', '$a$ and $b$ add up to $1$', '$x = a$ equals $b$'."""
    last = found[-1]
    at = _words_back(found, len(found) - 2)
    between = [one.text for one in found[at + 1 : -1]]
    if at < 0 or found[at].kind == "mark" or not between or len(between) > MOST_WORDS:
        return
    one, table = found[at], lexicon()
    sign = table.sign(between)
    pair = _pair(found, at)
    if table.adds_up(between) and pair is not None:
        found[at - 2 :] = [Token("formula", f"{pair.text} + {one.text} = {last.text}", pair.line)]
    elif sign is not None and (one.kind == "term" or sign == "="):
        found[at:] = [Token("formula", f"{one.text} {sign} {last.text}", one.line)]


def _pair(found: Sequence[Token], at: int) -> Token | None:
    """The first of '$a$ and $b$', where the second stands at `at`."""
    if at < 2 or found[at].kind != "term" or found[at - 1].text != "and" or found[at - 2].kind != "term":
        return None
    listed = at >= 3 and found[at - 3].kind == "mark" and found[at - 3].text == ","
    return None if listed else found[at - 2]


def _of_one(found: list[Token]) -> None:
    """'$a - b$ is positive'. A bare name that is said to be positive is a note, and is read as one."""
    at = _words_back(found, len(found) - 1)
    if at < 0 or found[at].kind != "term" or _pair(found, at) is not None:
        return
    sign = lexicon().of_one([one.text for one in found[at + 1 :]])
    if sign is not None and not (sign == "> 0" and BARE.fullmatch(found[at].text)):
        found[at:] = [Token("formula", f"{found[at].text} {sign}", found[at].line)]


def _of_two(found: list[Token]) -> None:
    """'$a$ and $b$ differ'."""
    at = _words_back(found, len(found) - 1)
    pair = _pair(found, at) if at >= 0 else None
    sign = lexicon().of_two([one.text for one in found[at + 1 :]])
    if pair is not None and sign is not None:
        found[at - 2 :] = [Token("formula", f"{pair.text} {sign} {found[at].text}", pair.line)]


def not_understood(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    r"""What the words of a clause say of a formula or a term, where the lexicon does not know them.

    >>> said = [Token("term", "a", 1), Token("word", "dominates", 1), Token("term", "b", 1)]
    >>> [(token.text, words) for token, words in not_understood(said)]
    [('a', 'dominates')]
    """
    subject: Token | None = None
    before: Token | None = None  # the last subject: '$a$, as we saw, is prime'
    run: list[str] = []
    for number, token in enumerate(tokens):
        if token.kind == "word":
            run.append(token.text)
            continue
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token.text == "," and not run and following is not None and following.text in RELATIVE:
            continue  # '$a$, which ...' goes on with $a$
        yield from _said(subject or _resumed(before, run), run, token)
        counts = token.kind == "term" and bool(run) and run[-1] in COUNTING  # 'the first $k$ rows are ...'
        run = []
        before = subject or before
        subject = None if token.kind == "mark" or counts else token
    yield from _said(subject or _resumed(before, run), run, None)


def _resumed(before: Token | None, run: Sequence[str]) -> Token | None:
    return before if run and run[0] in VERBS else None


def _said(subject: Token | None, run: list[str], following: Token | None) -> Iterator[tuple[Token, str]]:
    last = run[len(run) - run[::-1].index("and") :] if "and" in run else run  # what stands right before the next one
    if following is not None and following.kind == "term" and last and (_predicates(last) or _compares(last)):
        yield following, " ".join(run)
    elif subject is not None and not lexicon().adds_nothing(_without_reason(run)):
        yield subject, " ".join(run)


def _without_reason(run: Sequence[str]) -> Sequence[str]:
    """'holds as the keys are orthonormal': a reason in words is not said of the formula."""
    return run[: next((at for at, word in enumerate(run) if word in REASONS), len(run))]


def _predicates(run: Sequence[str]) -> bool:
    """'the denominator is', before a term."""
    return any(word in VERBS for word in run) and run[-1] not in ("large", "small", "big", "a", "scalar", "constant")


def _compares(run: Sequence[str]) -> bool:
    """'at most' before a term, without what it is said of."""
    return any(lexicon().sign(run[start:]) is not None for start in range(len(run)))
