"""The clauses of a sentence: brackets are sentences of their own, and a turning word acts in its clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from headwright.grading.phrases import lead_of
from headwright.grading.sentences import Sentence, Token
from headwright.grading.wording import turns, word_list, words_of

_CASE = re.compile(
    r"\s*\\?[a-zA-Z]+(?:_\w)?\s*(?:=|<|>|\\[lg]eq?|\\[lg]t)\s*(?:\\[td]?frac)?[\s\d./{}-]+\s*"
)


def without_brackets(given: Sequence[Sentence]) -> Iterator[Sentence]:
    """Brackets as sentences of their own, after the one they stand in; 'x > 0 (i != a)' has a condition in them."""
    for sentence in given:
        outer: list[Token] = []
        inner: list[list[Token]] = []
        held: list[Token] | None = None
        for at, token in enumerate(sentence.tokens):
            mark = token.text if token.kind == "mark" else ""
            if mark == "(" and held is None:
                held = []
            elif mark == ")" and held is not None:
                bound = (
                    held[1:] if held and held[0].text in ("for", "if", "when") else held
                )
                words = not bound or any(one.kind == "word" for one in bound)
                case = [one.text for one in sentence.tokens[at + 1 : at + 2]] in (
                    [":"],
                    [","],
                )
                case |= bool(words_of("if when for") & set(lead_of(outer, len(outer))))
                case &= all(
                    one.kind == "formula" and _CASE.fullmatch(one.text) for one in bound
                )
                if not words and outer and (outer[-1].kind == "formula" or case):
                    outer += [Token("word", "for", held[0].line), *bound]
                elif held:
                    inner.append(held)
                held = None
            elif mark != ")":
                (outer if held is None else held).append(token)
        inner += [held] if held else []
        if outer:
            yield replace(sentence, tokens=tuple(outer))
        yield from (Sentence(tuple(tokens), sentence.paragraph) for tokens in inner)


_OPENERS = words_of(
    "but however although though because since so hence thus therefore whereas while which whose yet then"
)
_NEGATIONS = words_of(
    "not no never neither nor cannot except unless only hardly half most few doubt would"
)
_THERE_IS = re.compile(r"\bthere (?:is|are|exists?)\b(?! no\b)|\bexists?\b")
IMPLIES = words_of("imply implies force forces entail entails requires")


@dataclass(frozen=True)
class Clause:
    """A run of tokens, from one mark or connective to the next."""

    start: int
    stop: int
    words: tuple[str, ...]
    quoted: bool
    wanted: bool
    some: bool  # 'there is ...'


def _excludes(tokens: Sequence[Token], at: int) -> bool:
    """'F and not G', 'F instead of $n$': the word denies what is right behind it, and not the formula before."""
    if tokens[at].text != "not" or at + 1 == len(tokens):
        return False
    before = tokens[at - 1] if at else None
    is_between = before is not None and before.kind == "formula"
    follower = tokens[at + 1]
    return follower.kind == "formula" or (is_between and follower.kind == "term")


def clauses_of(tokens: Sequence[Token]) -> list[Clause]:
    """The clauses of a sentence; one that consists of formulas only belongs to the one before it."""
    cuts = [0]
    for at, token in enumerate(tokens):
        opens = token.kind == "word" and token.text in _OPENERS
        opens |= _excludes(tokens, at)
        if at > cuts[-1] and (opens or (token.kind == "mark" and token.text in ",;:")):
            cuts.append(at)
    found: list[Clause] = []
    for start, stop in pairwise((*cuts, len(tokens))):
        words = [one.text for one in tokens[start:stop] if one.kind == "word"]
        if found:
            last, colon = found[-1], tokens[start].text == ":"
            listed = (
                any(one.kind == "formula" for one in tokens[last.start : last.stop])
                and not colon
            )
            judged = any(
                turns(word) and word not in _NEGATIONS for word in last.words
            )  # 'A wrong attempt: ...'
            announced = colon and last.quoted and (len(last.words) < 3 or judged)
            more = words[:1] in (["i.e."], ["namely"], ["equivalently"])
            if (listed and set(words) <= {"and", "or"}) or more or announced:
                found.append(replace(last, start=start, stop=stop))
                continue
        opening = takewhile(lambda one: one.kind != "formula", tokens[start:stop])
        wanted = any(
            one.text in word_list()["wanted"] for one in opening if one.kind == "word"
        )
        quoted = any(turns(word) for word in words if not (wanted and word == "would"))
        some = _THERE_IS.search(" ".join(words)) is not None
        found.append(
            Clause(
                start,
                stop,
                tuple(words),
                quoted or {"were", "if"} <= set(words),
                wanted,
                some,
            )
        )
    return found
