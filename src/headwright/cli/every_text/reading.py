"""What the command line asks about every text, in the tokens of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.models.loading.model import may_hold

if TYPE_CHECKING:
    from headwright.models.engine.cluster import Source
    from headwright.models.loading.model import Model
    from headwright.models.texts.every_text import Pair

OF_TEXT = "@text"


@dataclass(frozen=True)
class EveryTextOptions:
    """What the command line asks about every text."""

    length: int
    source: Source
    heads: list[int] | None = None
    offset: int | None = None
    query: str | None = None
    key: str | None = None
    logit: str | None = None
    text: str | None = None
    pairs: str | None = None
    repeat: str | None = None
    predict: str | None = None
    curve: bool = False
    plot: Path | None = None
    out: Path | None = None
    on_workers: bool = False
    scheduler: str | None = None
    resume: bool = False
    json: bool = False
    yes: bool = False


def not_with(asked: EveryTextOptions, with_: str, others: Sequence[str]) -> None:
    """Refuse options that would be passed over."""
    named = [name for name in others if getattr(asked, name) not in (None, False)]
    if named:
        raise InputError(f"--{named[0]} is not used with {with_}: leave it out")
    if asked.on_workers:
        raise InputError(f"--engine dask is for sweeps over the first layer: leave it out with {with_}")


def queries_of(model: Model, word: str, text: str | None) -> list[int]:
    """One token, or those of the text (@text)."""
    if word != OF_TEXT:
        return [token_of(model, word, "--query")]
    if text is None:
        raise InputError(f"--query {OF_TEXT}: expected the text whose tokens are meant, --text FILE")
    free = {int(token) for token in may_hold(model)}
    return [token for token in dict.fromkeys(map(int, model.encode(text))) if token in free]


def token_of(model: Model, word: str, option: str) -> int:
    """The one token that a word is, or the one with this number (#12)."""
    if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
        return int(word[1:])
    spelt(model, word, option)
    free = {int(token) for token in may_hold(model)}
    tokens = [int(token) for token in model.encode(word)[len(model.opening()) :] if int(token) in free]
    if len(tokens) != 1:
        raise InputError(
            f"{option} {word!r} is {len(tokens)} tokens of {model.name}: expected one, or its number as #12"
        )
    return tokens[0]


def spelt(model: Model, word: str, option: str) -> None:
    """Refuse what the built-in model has no character for: it would be asked about '?' in its stead."""
    from headwright.models.loading.induction import InductionModel

    without = model.without_token(word) if isinstance(model, InductionModel) else ()
    if without:
        raise InputError(f"{option} {word!r}: {model.name} has no token for {without[0]!r}")


def pairs_of(model: Model, text: str) -> list[Pair]:
    """A line each: query token, key token and perhaps a distance; tabs between them where a token has a space."""
    from headwright.models.texts.every_text import Pair

    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if not words:
            continue
        where = f"--pairs, line {number}:"
        far = words[2].strip() if len(words) > 2 else "1"
        if not 2 <= len(words) <= 3 or not (far.isascii() and far.isdigit() and 0 < len(far) < 8):
            raise InputError(f"{where} {line.strip()[:60]!r}, expected a query token, a key token and a distance")
        found.append(Pair(token_of(model, words[0], where), token_of(model, words[1], where), int(far)))
    return found
