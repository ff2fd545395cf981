r"""Cases that people mark without 'if': '$g > 1$: ...', '$g > 1$ gives ...', 'Short key ($c = 1/2$): ...'.

They are put into the words that the clauses know: 'case $g > 1$: ...', 'for $g > 1$, ...'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token

_NUMBER = r"-?(?:\d+(?:[./]\d+)?|\\[td]?frac\s*\{?\d+\}?\s*\{?\d+\}?)"
_SIGN = r"\s*(?:[=<>≤≥≠]|\\(?:leq?|geq?|[lg]t|neq?)(?![a-zA-Z]))\s*"
_GIVEN = r"(?:\\?(?!q(?![a-z]))[a-z]+|\\\|\s*k_\w\s*\\\||\\lVert\s*k_\w\s*\\rVert)"
_CASE = re.compile(rf"\s*(?:{_NUMBER}{_SIGN})?{_GIVEN}{_SIGN}{_NUMBER}\s*")
GIVES = frozenset({"gives", "yields", "means", "implies", "makes"})
OPENS = frozenset({"if", "when", "for", "whenever", "in", "case", "once"})
MOST_WORDS = 7  # that name a case


def looks_like_a_case(text: str) -> bool:
    """Whether a formula compares one given thing with a number.

    >>> looks_like_a_case("0 < g < 1"), looks_like_a_case("c = 1/2"), looks_like_a_case("q = 0")
    (True, True, False)
    """
    return _CASE.fullmatch(text) is not None


def as_cases(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens of a sentence with its cases marked by words.

    >>> said = (Token("formula", "g > 1", 1), Token("word", "gives", 1), Token("formula", "c = 1", 1))
    >>> [token.text for token in as_cases(said)]
    ['for', 'g > 1', ',', 'c = 1']
    """
    found = list(_named(tokens))
    at = 0
    while at < len(found):
        token = found[at]
        if token.kind == "formula" and looks_like_a_case(token.text) and _begins(found, at):
            following = found[at + 1] if at + 1 < len(found) else None
            if following is not None and following.text == ":" and at == 0:
                found.insert(at, Token("word", "case", token.line))
                at += 1
            elif following is not None and following.text in GIVES and _formula_next(found, at + 2):
                found[at : at + 2] = [Token("word", "for", token.line), token, Token("mark", ",", token.line)]
                at += 2
        at += 1
    return tuple(found)


def _begins(tokens: Sequence[Token], at: int) -> bool:
    """At the start of a sentence, or of one half of it."""
    if at == 0:
        return True
    before = tokens[at - 1]
    if before.text in ("and", "while", "but") and at > 1:
        return tokens[at - 2].kind in ("formula", "mark")
    return before.text in (",", "while", "and")


def _formula_next(tokens: Sequence[Token], at: int) -> bool:
    """Whether a formula follows, with nothing before it that changes its meaning."""
    words: list[str] = []
    for token in tokens[at : at + MOST_WORDS]:
        if token.kind != "word":
            return token.kind == "formula" and lexicon().adds_nothing(words)
        words.append(token.text)
    return False


def _named(tokens: Sequence[Token]) -> Sequence[Token]:
    """'Short key ($c = 1/2$): ...' and 'if it is short ($c = 1/2$), ...': what is in brackets says which case it is."""
    start = next((at for at, token in enumerate(tokens) if token.kind != "word"), len(tokens))
    words = [token.text for token in tokens[:start]]
    match tokens[start : start + 4]:
        case [Token("mark", "("), Token("formula", text) as case, Token("mark", ")"), Token("mark", ":" | "," as mark)]:
            pass
        case _:
            return tokens
    opened = bool(words) and words[0] in OPENS
    if not looks_like_a_case(text) or not 0 < len(words) <= MOST_WORDS or (mark == "," and not opened):
        return tokens
    phrases = [lexicon().part(words[at:]) for at in range(len(words))]
    if any(one is not None and one.part not in ("if", "idle") for one in phrases):
        return tokens
    cue = Token("word", "case" if mark == ":" else "for", case.line)
    return (cue, case, *tokens[start + 3 :])
