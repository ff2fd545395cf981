r"""Cases that people mark without 'if': '$g > 1$: ...', '$g > 1$ gives ...', 'Short key ($c = 1/2$): ...'.

They are put into the words that the clauses know: 'case $g > 1$: ...', 'for $g > 1$, ...'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Token, texts, words_before

_NUMBER = r"-?(?:\d+(?:[./]\d+)?|\\[td]?frac\s*\{?\d+\}?\s*\{?\d+\}?)"
_SIGN = r"\s*(?:[=<>≤≥≠]|\\(?:leq?|geq?|[lg]t|neq?)(?![a-zA-Z]))\s*"
_GIVEN = r"(?:\\?(?!q(?![a-z]))[a-z]+|\\\|\s*k_\w\s*\\\||\\lVert\s*k_\w\s*\\rVert)"
_CASE = re.compile(rf"\s*(?:{_NUMBER}{_SIGN})?{_GIVEN}{_SIGN}{_NUMBER}\s*")
GIVES = frozenset({"gives", "yields", "means", "implies", "makes"})
IMPLIES = ("implies", "imply", "forces", "would imply", "would force", "would mean", "only if")
BEFORE = frozenset({"because", "since", "as", "that", ":", ",", "indeed"})  # what is implied begins behind these
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
    found = list(_named(_implied(tokens)))
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


def _implied(tokens: Sequence[Token]) -> Sequence[Token]:
    """'$a = b$ implies $c = d$' does not claim a = b: it says 'for $a = b$, $c = d$'."""
    for at in range(len(tokens) - 2):
        words = " ".join(texts(tokens[at + 1 : at + 3])) + " "
        size = next((len(said.split()) for said in IMPLIES if words.startswith(said + " ")), 0)
        if not size or tokens[at].kind != "formula" or not _formula_next(tokens, at + 1 + size):
            continue
        start = at
        while start > 1 and tokens[start - 1].text == "and" and tokens[start - 2].kind == "formula":
            start -= 2
        begins = start == 0 and tokens[at + 1].text != "only"  # 'A only if B' is a statement of its own
        if begins or (start > 0 and tokens[start - 1].text in BEFORE):
            line = tokens[start].line
            case = [Token("word", "for", line), *tokens[start : at + 1], Token("mark", ",", line)]
            return [*tokens[:start], *case, *tokens[at + 1 + size :]]
    return tokens


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
    """Cases with a name: 'Short key ($c = 1/2$): ...', 'if it is short ($c = 1/2$), ...', '$c = 1/2$ (short): ...'."""
    found = list(tokens)
    at = len(found)
    while at > 0:
        at = min(at, len(found)) - 1
        case = found[at]
        if case.kind != "formula" or not looks_like_a_case(case.text):
            continue
        bracketed = 0 < at < len(found) - 1 and found[at - 1].text == "(" and found[at + 1].text == ")"
        stop = at + 2 if bracketed else at + 1
        if not bracketed and stop < len(found) and found[stop].text == "(":
            stop = next((n + 1 for n in range(stop, len(found)) if found[n].text == ")"), stop)  # (too short)
        before = at - 1 if bracketed or (at and found[at - 1].text == ",") else at
        words = words_before(found, before)
        start = before - len(words)
        mark = found[stop].text if stop < len(found) else ""
        inside = [token for token in found[at + 1 : stop] if token.kind != "mark"]
        if any(token.kind != "word" for token in inside) or len(words) > MOST_WORDS or not _harmless(words):
            continue
        if start == 0 and mark == ":" and (words or inside):
            found[start:stop] = [Token("word", "case", case.line), case]
        elif bracketed and words and words[0] in OPENS:
            comma = [] if mark == "," else [Token("mark", ",", case.line)]
            found[start:stop] = [Token("word", "for", case.line), case, *comma]
    return found


def _harmless(words: Sequence[str]) -> bool:
    phrases = [lexicon().part(words[at:]) for at in range(len(words)) if words[at : at + 2] != ["it", "is"]]
    return all(one is None or one.part in ("if", "idle") for one in phrases)
