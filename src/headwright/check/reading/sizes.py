"""Names that words call large, small or the answer's own: 'for a large $t$', 'with a constant $c$'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token, texts, words_before, words_from
from headwright.formula import FormulaError, parse_lines
from headwright.formula.tree import INFINITY, ZERO, Name, Relation

_WORDS = re.compile(
    r"\b(?:large|larger|big|bigger|huge|small|smaller|tiny|grows?|growing|enough|sufficiently|necessary|needed|limit|better)\b",
    re.IGNORECASE,
)
_NAME = r"(?:\\?[a-zA-Z]+)(?:_(?:\w|\{\w+\}))?"
_NAMES = re.compile(
    rf"\s*({_NAME}(?:\s*,\s*{_NAME})*)\s*(?:(?:[<>≥≤∈]|\\(?:geq?|leq?|gt|lt|in|gg)(?![a-zA-Z])).*)?", re.DOTALL
)
GIVEN = frozenset({"the", "this", "that", "its", "has", "random"})  # 'a random factor $c$' speaks of the one given


def spoken_of(text: str) -> int:
    """How many words of a text speak of sizes.

    >>> spoken_of("a large $t$ is enough")
    2
    """
    return len(_WORDS.findall(text))


def sizes(tokens: Sequence[Token]) -> Iterator[Relation]:
    """'large $lambda$', '$t$ is large enough': lambda -> infinity."""
    until = 0
    for at, token in enumerate(tokens):
        found = lexicon().adjective(texts(tokens[at : at + 7])) if token.kind == "word" and at >= until else None
        if found is None:
            continue
        until = at + found.words
        for name in _described(tokens, at, until):
            if found.part == "positive":
                yield Relation((name, ZERO), (">",))
            else:
                yield Relation((name, INFINITY if found.part == "large" else ZERO), ("->",))


def introduced(tokens: Sequence[Token]) -> Iterator[str]:
    """'a large constant $c$', '$c$ is a constant': from here on c is the answer's own."""
    nouns = lexicon().nouns
    for at, token in enumerate(tokens):
        if token.kind not in ("term", "formula"):
            continue
        before, after = words_before(tokens, at)[-5:], words_from(tokens, at + 1)[:6]
        noun = before[-1:] != [] and before[-1] in nouns and not GIVEN & set(before)
        told = after[:2] in (["is", "a"], ["is", "an"], ["is", "some"], ["is", "any"])
        if noun or (told and any(word in nouns for word in after[2:])):
            yield from (name.base for name in _bare_names(token.text) if name.index is None)


def _described(tokens: Sequence[Token], start: int, stop: int) -> list[Name]:
    """The names that an adjective describes: the next ones after it, or those before it."""
    for places in (range(stop, len(tokens)), range(start - 1, -1, -1)):
        for at in places:
            token = tokens[at]
            if token.kind in ("formula", "term"):
                names = _bare_names(token.text)
                if names:
                    return names
                break
            if token.text not in lexicon().between:
                break
    return []


def _bare_names(text: str) -> list[Name]:
    """The names of 'lambda', 's, t' or 'lambda > 0'."""
    found = _NAMES.fullmatch(text)
    names: list[Name] = []
    for part in found[1].split(",") if found is not None else ():
        try:
            parsed = parse_lines(part)
        except FormulaError:
            return []
        if len(parsed) != 1 or not isinstance(parsed[0], Name) or parsed[0] == INFINITY:
            return []
        names.append(parsed[0])
    return names
