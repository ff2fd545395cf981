r"""Predicates in words: what is said of a formula or a term by the words around it.

'$a$ exceeds $b$' is read as a formula, $a > b$.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Loose, Token, words_before
from headwright.check.reading.written import leads_on

MOST_WORDS = 12  # between two terms that are compared
VERBS = frozenset({"is", "are", "be", "was", "were", "has", "have", "becomes", "gets", "equals"})
BARE = re.compile(r"\s*\\?[a-zA-Z]+(?:_(?:\w|\{\w+\}))?\s*")
WHOLE = frozenset({"value", "values", "quantity", "all", "each", "one", "both", "any"})  # 'the value of $a$' is $a$


def spoken(tokens: Sequence[Token]) -> list[Token]:
    r"""Terms compared in words become one formula.

    >>> said = [Token("term", "a", 1), Token("word", "exceeds", 1), Token("term", "b", 1)]
    >>> [token.text for token in spoken(said)]
    ['a > b']
    """
    found: list[Token] = []
    for number, token in enumerate(tokens):
        found.append(token)
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token.kind == "term":
            _compare(found, following)
        elif token.kind == "formula":
            _goes_on(found, following)
        elif token.kind == "word" and (following is None or _ends(following)):
            _of_one(found, tokens[number + 1 : number + 4])
            _of_two(found)
    return found


def _ends(token: Token) -> bool:
    return token.kind == "mark" or token.text in ("and", "for", "when", "if", "since", "because", "so", "as")


def _words_back(found: Sequence[Token], stop: int) -> int:
    """Where the last token before the words that end here is; -1 where there is none."""
    return stop - len(words_before(found, stop + 1))


def _compare(found: list[Token], following: Token | None) -> None:
    """'$a$ is larger than $b$', '$a$ and $b$ add up to $1$', '$x = a$ equals $b$'."""
    last = found[-1]
    at = _words_back(found, len(found) - 2)
    between = [one.text for one in found[at + 1 : -1]]
    if not between or len(between) > MOST_WORDS:
        return
    one, table = found[at] if at >= 0 else None, lexicon()
    if one is None or one.kind == "mark" or _is_part(found, at):
        return
    sign = table.sign(between)
    pair = _pair(found, at)
    if table.adds_up(between) and pair is not None:
        found[at - 2 :] = [Token("formula", f"{pair.text} + {one.text} = {last.text}", pair.line)]
    elif sign is not None and (one.kind == "term" or sign == "="):
        times = sign[-1] in "23"  # twice, half of
        said = f"{one.text} {sign} ({last.text})" if times else f"{one.text} {sign} {last.text}"
        loose: Loose = "room" if table.is_loose(between) else "nearly" if times else ""
        found[at:] = [Token("formula", said, one.line, loose=loose)]
    elif sign == r"\perp":
        found[at + 1 :] = [Token("formula", rf"{_end(one.text)} \perp {last.text}", one.line)]
    elif between == ["and"] and one.kind == "formula" and (following is None or _ends(following)):
        first, perp, _ = one.text.partition(r" \perp ")
        if perp and (at == 0 or found[at - 1].kind != "mark" or found[at - 1].text != "("):
            found[at + 1 :] = [Token("formula", rf"{first} \perp {last.text}", one.line)]


def _is_part(found: Sequence[Token], at: int) -> bool:
    """'the denominator of $a$ is at least $b$': what is said is not said of $a$."""
    before = [one.text for one in found[max(0, at - 2) : at]]
    return before[-1:] == ["of"] and found[at].kind == "term" and before[0] not in WHOLE


def _end(text: str) -> str:
    """What a chain ends in: u_a for x_2 = u_a."""
    return re.split(r"=|\\approx", text)[-1].strip()


def _goes_on(found: list[Token], following: Token | None) -> None:
    """'the rest $a$ is negligible ($< b$)': what is in brackets is said of $a$."""
    last = found[-1]
    closed = following is not None and following.text == ")"
    if not closed or len(found) < 2 or found[-2].text != "(" or not leads_on(last.text):
        return
    at = _words_back(found, len(found) - 3)
    if at >= 0 and (
        found[at].kind == "term" or (found[at].kind == "formula" and found[at].text.endswith(r"\approx 0"))
    ):
        left = found[at].text.removesuffix(r"\approx 0").strip()
        found[-1] = replace(last, text=f"{left} {last.text}")


def _pair(found: Sequence[Token], at: int) -> Token | None:
    """The first of '$a$ and $b$', where the second stands at `at`."""
    if at < 2 or found[at].kind != "term" or found[at - 1].text != "and" or found[at - 2].kind != "term":
        return None
    listed = at >= 3 and found[at - 3].kind == "mark" and found[at - 3].text == ","
    return None if listed else found[at - 2]


def _of_one(found: list[Token], following: Sequence[Token]) -> None:
    """'$a - b$ is positive'. A bare name that is said to be positive, or large, is a note, and is read as one."""
    at = _words_back(found, len(found) - 1)
    if at < 0 or found[at].kind != "term" or _pair(found, at) is not None or _is_part(found, at):
        return
    words, one = [token.text for token in found[at + 1 :]], found[at]
    sign = lexicon().of_one(words)
    bare = BARE.fullmatch(one.text) is not None
    if sign is not None and not (sign == "> 0" and bare):
        if not (bare and sign in NOTED):
            found[at:] = [Token("formula", f"{one.text} {sign}", one.line)]
        return
    score = _EXPONENTIAL.fullmatch(one.text) if tuple(words) in lexicon().dominates else None
    if score:
        found[at:] = [Token("formula", rf"\alpha_{score[1]} \approx 1", one.line, loose="room")]
        return
    kinds = lexicon().of_vector(words)
    if kinds and not (len(following) > 1 and following[0].text == "and" and following[1].kind == "word"):
        found[at:] = [Token("formula", text, one.line) for text in _of_vectors(one.text.strip(), kinds)] or found[at:]


_EXPONENTIAL = re.compile(r"\s*(?:\\exp\s*\(|e\^\{)\s*k_(\w|\{\w+\})\s*\^\s*\{?(?:\\top|T)\}?\s*q\s*[)}]\s*")
NOTED = (r"\approx 0", r"\gg 1")
_VECTOR = re.compile(r"(\\?[a-zA-Z]+)_(\w|\{\w\})")


def _of_vectors(text: str, kinds: frozenset[str]) -> list[str]:
    """'the $k_i$ are orthogonal and have unit length', as formulas; nothing where it is not a vector with an index."""
    found = _VECTOR.fullmatch(text)
    letter = found[2].strip("{}") if found else ""
    if found is None or (letter not in ("i", "j") and "orthogonal" in kinds):
        return []
    other = "j" if letter == "i" else "i"
    orthogonal = rf"{text}^\top {found[1]}_{other} = 0 \text{{ for all }} {letter} \ne {other}"
    return [orthogonal] * ("orthogonal" in kinds) + [rf"\|{text}\| = 1"] * ("unit" in kinds)


def _of_two(found: list[Token]) -> None:
    """'$a$ and $b$ differ'."""
    at = _words_back(found, len(found) - 1)
    pair = _pair(found, at) if at >= 0 else None
    if pair is None:
        return
    words = [one.text for one in found[at + 1 :]]
    sign = r"\perp" if lexicon().of_vector(words) == {"orthogonal"} else lexicon().of_two(words)
    if sign is not None:
        found[at - 2 :] = [Token("formula", f"{pair.text} {sign} {found[at].text}", pair.line)]
