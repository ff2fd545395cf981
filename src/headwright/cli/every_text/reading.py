"""Tokens and pairs of the command line, in the tokens of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.models.model import may_hold

if TYPE_CHECKING:
    from headwright.models.model import Model
    from headwright.text_bounds.every_text import Pair

OF_TEXT = "@text"
MOST_DIGITS = 7  # of a distance


def query_tokens(model: Model, word: str, text: str | None) -> list[int]:
    """One token, or those of the text (@text)."""
    if word != OF_TEXT:
        return [token_of(model, word, "--query")]
    if text is None:
        raise InputError(
            f"--query {OF_TEXT}: expected the text whose tokens are meant, --text FILE"
        )
    free = {int(token) for token in may_hold(model)}
    tokens = dict.fromkeys(int(token) for token in model.encode(text))
    return [token for token in tokens if token in free]


def token_of(model: Model, word: str, option: str) -> int:
    """The one token that a word is, or the one with this number (#12)."""
    if word.startswith("#") and _is_number(word[1:]):
        return int(word[1:])
    check_spelling(model, word, option)
    free = {int(token) for token in may_hold(model)}
    after_opening = model.encode(word)[len(model.bos_tokens()) :]
    tokens = [int(token) for token in after_opening if int(token) in free]
    if len(tokens) != 1:
        raise InputError(
            f"{option} {word!r} is {len(tokens)} tokens of {model.name}: expected one, or its number as #12"
        )
    return tokens[0]


def check_spelling(model: Model, word: str, option: str) -> None:
    """Refuse what the built-in model has no character for: it would be asked about '?' in its stead."""
    from headwright.models.induction import InductionModel

    if not isinstance(model, InductionModel):
        return
    without = model.without_token(word)
    if without:
        raise InputError(
            f"{option} {word!r}: {model.name} has no token for {without[0]!r}"
        )


def read_pairs(model: Model, text: str) -> list[Pair]:
    """A line each: query token, key token and perhaps a distance; tabs between them where a token has a space."""
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if words:
            pairs.append(_read_pair(model, line, words, f"--pairs, line {number}:"))
    return pairs


def _read_pair(model: Model, line: str, words: list[str], where: str) -> Pair:
    from headwright.text_bounds.every_text import Pair

    distance = words[2].strip() if len(words) > 2 else "1"
    is_distance = _is_number(distance) and len(distance) <= MOST_DIGITS
    if not 2 <= len(words) <= 3 or not is_distance:
        raise InputError(
            f"{where} {line.strip()[:60]!r}, expected a query token, a key token and a distance"
        )
    query = token_of(model, words[0], where)
    key = token_of(model, words[1], where)
    return Pair(query, key, int(distance))


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()
