"""Phrases between formulas: '$x$ is at most $y$' is one formula, and 'as long as' one word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from headwright.grading.sentences import ARROW, Token
from headwright.grading.wording import words_of

_PHRASES = {
    "as long as": "if",
    "as soon as": "if",
    "so long as": "if",
    "in the event": "if",
    "on the event": "if",
    "in case": "if",
    "provided that": "if",
    "such that": "with",
    "for which": "with",
    "the only": "the",
    "its only": "its",
    "if and only if": "iff",
    "that is": "i.e.",
    "at first": "naive",
    "first idea": "naive",
    "first instinct": "naive",
    "first guess": "naive",
    "first attempt": "naive",
    "first thought": "naive",
    "i thought": "naive",
    "would like": "want",
    "no matter what": "whatever",
    "no matter which": "whatever",
    "regardless of": "whatever",
    "irrespective of": "whatever",
    "independently of": "whatever",
    "no matter": "also",
    "in the case of": "if",
    "not only": "also",
    "common slip": "mistake",
    "instead of": "not",
    "rather than": "not",
    "at most": "about",
    "at least": "about",
}
_SIGNS = {
    "is": "=",
    "are": "=",
    "equals": "=",
    "is equal to": "=",
    "becomes": "=",
    "is at most": r"\le",
    "at most": r"\le",
    "at least": r"\ge",
    "less than": "<",
    "greater than": ">",
    "larger than": ">",
    "above": ">",
    "equal to": "=",
    "set to": "=",
    "is set to": "=",
    "fixed to": "=",
    "is fixed to": "=",
    "be": "=",
    "to be": "=",
    "is at least": r"\ge",
    "is less than": "<",
    "is smaller than": "<",
    "is below": "<",
    "is above": ">",
    "is about": r"\approx",
    "is close to": r"\approx",
    "implies": r"\implies",
    "implies that": r"\implies",
    "tends to": r"\to",
    "goes to": r"\to",
    "approaches": r"\to",
    "converges to": r"\to",
    "tend to": r"\to",
}
# 'with $\\lambda$ at least $1$'
_VERBLESS = ("at most", "at least", "less than", "greater than", "larger than", "above")
_COMPARED = re.compile(
    r"(?:is|are|must be|should be) (?:(?P<much>much |significantly |far )?(?:larger|greater|bigger|higher) than"
    r"|(?P<large>(?:very )?large (?:relative|compared) to))(?P<rest>(?: \w+)*)"
)
NUMBERS = {
    "zero": "0",
    "one": "1",
    "unity": "1",
    "two": "2",
    "three": "3",
    "ten": "10",
}
_NUMBER_IN_WORDS = re.compile(  # '$\beta$ is 1', '$\beta$ equal to one', 'setting $\beta$ to 1 gives ...'
    r"(?P<verb>is|equals|be|to|being|at|(?:is )?(?:equal|set|fixed|chosen) to(?: be)?|(?:is )?(?:equal|fixed) at|to be)"
    rf" (?P<number>\d+(?:\.\d+)?(?:/\d+)?|{'|'.join(NUMBERS)})"
    r"(?: (?:here|and|so|then|gives?|yields?|we|which|this|makes?|works?|suffices|throughout|for|in|as)\b.*)?"
)
_EQUATES = re.compile(  # 'has the value', 'chosen to be the constant'
    r"(?:(?:which )?(?:is|be|being|equals|denotes|means)"
    r"|(?:which )?(?:is |be |being )?(?:set|fixed|chosen|taken|equal|given|defined|picked|selected)"
    r"(?: to be| to| as| by)?"
    r"|stands for|has|have|takes)"
    r"(?: (?:just|simply|exactly|always|here|now|also))*"
    r"(?: (?:the|a) (?:fixed |same )?(?:value|number|constant|scalar|quantity))?(?: of)?"
)
_VALUED = re.compile(
    r"(?:has|have|takes)\b(?!.*\b(?:value|number)\b)"
)  # 'has $n$ rows'
_OF_A_NAME = (  # words before a name that is the subject all the same
    ["value", "of"],
    ["value", "for"],
    ["choice", "of"],
    ["choice", "for"],
)
_USING = words_of(
    "use using used value choose take pick insert put plug substitute set"
)
SETTING = words_of(
    "set setting fix fixing fixed choose choosing take taking put putting let letting"
)
_SCORES = words_of(
    "dot product products score scores inner scalar all any every each the that those other others of"
)
_NOT_SUBJECTS = words_of(
    "of in for to from by on at between than with against over key token head row column position index entry and or"
    " times"
)


def lead_of(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right before a place."""
    return [
        one.text
        for one in takewhile(lambda one: one.kind == "word", reversed(tokens[:at]))
    ][::-1]


def trail_of(tokens: Sequence[Token], at: int) -> list[str]:
    """The words right after a place."""
    return [
        one.text for one in takewhile(lambda one: one.kind == "word", tokens[at + 1 :])
    ]


def joined_phrases(tokens: Sequence[Token]) -> list[Token]:
    """'$x$ is at most $y$' and 'A => B' as one formula, and phrases that do what one word does as that word."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        phrase = trail_of(tokens, at - 1) if tokens[at].kind == "word" else []
        formula = _as_one_formula(found, tokens, at, phrase)
        if formula is not None:
            found[-1], length = formula
        else:
            word, length = _as_one_word(tokens, at, phrase)
            found.append(word)
        at += length
    return found


def _as_one_word(
    tokens: Sequence[Token], at: int, phrase: Sequence[str]
) -> tuple[Token, int]:
    """The token at a place, or the word that does what a phrase there does; and how many tokens that takes."""
    lengths = [n for n in (4, 3, 2) if len(phrase) >= n]
    known = [n for n in lengths if " ".join(phrase[:n]) in _PHRASES]
    after_words = bool(at) and tokens[at - 1].kind != "mark"
    if not known or (phrase[:2] == ["that", "is"] and after_words):
        return tokens[at], 1  # 'a number that is large'
    word = _PHRASES[" ".join(phrase[: known[0]])]
    return replace(tokens[at], text=word), known[0]


def _as_one_formula(
    found: Sequence[Token], tokens: Sequence[Token], at: int, phrase: Sequence[str]
) -> tuple[Token, int] | None:
    """What the words at a place make of the formula before them; and how many tokens that takes."""
    last = found[-1] if found else None
    if last is None or last.kind not in ("term", "formula"):
        return None
    stop = at + (len(phrase) or 1)
    if stop < len(tokens) and _is_inline(last, tokens[stop]):
        said, follower = " ".join(phrase), tokens[stop]
        sign = _sign(found, tokens[at], said)
        if sign and _is_compared(found, follower, said, sign):
            whole = f"{last.text.rstrip('.,;')} {sign} {follower.text}"
            return Token("formula", whole, last.line), stop + 1 - at
        using = said in ("for", "as") and _USING & set(lead_of(found, len(found) - 1))
        if using and is_letter(follower):  # 'use $1$ for $\beta$'
            whole = f"{follower.text} = {last.text}"
            return Token("formula", whole, last.line), stop + 1 - at
    number = _number_in_words(found, phrase)
    if number is None:
        return None
    value = NUMBERS.get(number["number"], number["number"])
    length = number["verb"].count(" ") + 2
    return Token("formula", f"{last.text} = {value}", last.line), length


def _is_inline(last: Token, follower: Token) -> bool:
    """Whether two formulas may be sides of one: none is displayed."""
    is_formula = follower.kind in ("term", "formula")
    return is_formula and not last.display and not follower.display


def _sign(found: Sequence[Token], token: Token, said: str) -> str:
    """The sign that words, or an arrow, between two formulas stand for; '' for none."""
    compared = _COMPARED.fullmatch(said)
    if said in _SIGNS:
        return _SIGNS[said]
    if compared is not None and words_of(compared["rest"]) <= _SCORES:
        return r"\gg" if compared["much"] or compared["large"] else ">"
    if said == "to" and SETTING & set(lead_of(found, len(found) - 1)):
        return "="  # 'setting $\beta$ to $1$'
    if is_letter(found[-1]) and _equates(said):
        return "="
    return token.text if ARROW.fullmatch(token.text) and token.kind != "word" else ""


def _is_compared(found: Sequence[Token], follower: Token, said: str, sign: str) -> bool:
    """Whether the formula before a sign is the subject of the sentence: not 'the score of $k$ is $x$'."""
    last, before = found[-1], [one.text for one in found[-3:-1]]
    if sign == r"\implies" or not said:
        return last.kind == follower.kind == "formula"
    if last.kind != "term" and sign == "=":
        return False
    if not before or before[-1] not in _NOT_SUBJECTS or before == ["value", "of"]:
        return True
    if said in _VERBLESS:
        return before[-1] in ("with", "for", "where", "and")
    if not is_letter(last) or sign != "=":
        return False
    opens = len(found) == 2  # 'And $\\beta$ is $5$.'
    listed = before[-1] == "and" and (opens or found[-3].kind == "formula")
    return before[-1] in ("with", "for", "where") or listed or before in _OF_A_NAME


def is_letter(token: Token) -> bool:
    """Whether a token is one name without an index."""
    name = re.fullmatch(r"\\?[a-zA-Z]+", token.text.strip())
    return token.kind == "term" and name is not None


def is_name(token: Token) -> bool:
    """Whether a token is one name, perhaps with an index: q, k_a."""
    name = re.fullmatch(r"\\?[a-zA-Z]+(?:_\w|_\{\w\})?", token.text.strip())
    return token.kind == "term" and name is not None


def name_of(token: Token) -> str:
    """A name as exercises write it: \\lambda is lambda."""
    return re.sub(r"[\\{}\s]", "", token.text)


def _equates(said: str) -> bool:
    """Whether words between a name and a term say that the name is the term."""
    return _EQUATES.fullmatch(said) is not None and _VALUED.match(said) is None


def _number_in_words(
    found: Sequence[Token], phrase: Sequence[str]
) -> re.Match[str] | None:
    """'is 1' right behind a letter: the words say what number it is."""
    last = found[-1] if found else None
    if (
        last is None
        or last.kind != "term"
        or not re.fullmatch(r"\\?[a-zA-Z]+", last.text.strip())
    ):
        return None
    number = _NUMBER_IN_WORDS.fullmatch(" ".join(phrase))
    if number is None:
        return None
    before = set(lead_of(found, len(found) - 1))
    if number["verb"] in ("to", "at", "to be", "be") and not before & SETTING:
        return None
    return number
