"""The question of a statement: which scores it needs, and how weights follow from them.

Of every query token the statement is about (a row), some scores are wanted: at a place, with one key or any token that
a text may hold there, not below the exact one or not above it. From exp of these come parts and wholes, so that the
statement is true if every part is at least (at most) the bound times its whole:

- *places*: the weight on them is least with their scores at their lowest, those of other places at their highest;
- *occurrences* of a token b: with b at one place alone and the highest of the other tokens everywhere else, at each
  place in turn (one more occurrence puts a term into the part that was in the rest, and so does a query that is b, for
  which no other place need hold it); most with b at every place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from flint import arb

from headwright.models.texts.checker.error_bounds import DoubtError, Indices
from headwright.models.texts.first_layer import FirstLayer
from headwright.models.texts.statement import Statement, held_by, tokens_digest, weights_digest

LONGEST = 2**20  # tokens of a text: a certificate may ask for any number

Shares = list[tuple[arb, arb]]  # parts and their wholes


@dataclass(frozen=True, eq=False)
class Wanted:
    """A score of every row, from one side."""

    place: int
    high: bool  # not below the exact one; or not above
    key: Indices | None = None  # the token of each row at that place, as they are counted; None: any that it may hold
    but: int | None = None  # this one


@dataclass(frozen=True, eq=False)
class Question:
    """The query tokens, as they are counted; the scores wanted of each; and weights from exp of them, for a row."""

    rows: Indices
    wanted: tuple[Wanted, ...]
    shares: Callable[[int, Sequence[arb]], Shares]


def question_of(statement: Statement, layer: FirstLayer) -> Question:
    """What is asked; a DoubtError if the statement is not about these weights, or not about anything they have."""
    _same(statement, layer)
    if layer.one_pass and not statement.one_pass:
        raise DoubtError(
            "the rotary frequencies of these weights depend on the length of the text: expected a statement about one "
            "forward pass over the whole text"
        )
    if layer.scale <= 0:
        raise DoubtError("the scale of its scores is not above 0, which is not checked here")
    if not 0 <= statement.head < len(layer.queries):
        raise DoubtError(f"there is no head {statement.head}")
    seen = _seen(statement, layer)
    one, many = ("one query token", statement.query is not None), ("occurrences", statement.token is not None)
    about = [name for name, is_ in (one, many, ("pairs", bool(statement.pairs))) if is_]
    if len(about) > 1 and about != [one[0], many[0]]:
        raise DoubtError(f"it is about {' and about '.join(about)}: expected one of these")
    if statement.token is not None:
        return _occurrences(statement, layer, seen, statement.token)
    different = set(statement.places)
    if not different or not different <= set(seen) or len(different) < len(statement.places):
        raise DoubtError(f"places {_few(statement.places)}: expected different ones that are seen")
    return _places(statement, layer, seen)


def _places(statement: Statement, layer: FirstLayer, seen: Sequence[int]) -> Question:
    inside, least = set(statement.places), statement.extreme == "least"
    rows, beside = _rows(statement, layer)
    fixed = _fixed(statement, layer, rows)
    if beside is not None:
        fixed |= {statement.places[0]: beside}
    wanted = tuple(Wanted(place, (place in inside) != least, fixed.get(place)) for place in seen)
    mine = [place in inside for place in seen]

    def shares(_: int, terms: Sequence[arb]) -> Shares:
        return [(_sum(term for term, counts in zip(terms, mine, strict=True) if counts), _sum(terms))]

    return Question(rows, wanted, shares)


def _occurrences(statement: Statement, layer: FirstLayer, seen: Sequence[int], token: int) -> Question:
    if statement.places:
        raise DoubtError("it is about places and about occurrences of a token: expected one of these")
    asked, (rows, _) = int(_counted(layer, [token])[0]), _rows(statement, layer)
    least, free = (
        statement.extreme == "least",
        [at for at in seen if at != statement.place and at not in statement.held],
    )
    if not free or len(layer.tokens) - layer.only_held < 2:
        raise DoubtError("there is no place, or no other token, that a text may hold")
    fixed, everywhere = _fixed(statement, layer, rows), np.full(len(rows), asked)
    mine = rows == asked
    # The query's own score is in the part where its token is the one asked about, and in the rest elsewhere.
    own = (Wanted(statement.place, not least, fixed[statement.place]),
           Wanted(statement.place, least, fixed[statement.place]))  # fmt: skip
    wanted = [*own, *(Wanted(at, least, fixed[at]) for at in seen if at in statement.held)]
    held = len(wanted)
    wanted += [Wanted(at, not least, everywhere) for at in free]
    wanted += [Wanted(at, True, but=asked) for at in free] if least else []

    def shares(row: int, terms: Sequence[arb]) -> Shares:
        inside, rest = (terms[0], arb(0)) if mine[row] else (arb(0), terms[1])
        rest, with_it, without = rest + _sum(terms[2:held]), terms[held : held + len(free)], terms[held + len(free) :]
        if not least:
            part = inside + _sum(with_it)
            return [(part, part + rest)]
        if mine[row]:
            return [(inside, inside + rest + _sum(without))]
        # No difference is taken: what is before a place, and what is after it.
        before, after = (list(accumulate(each, initial=arb(0))) for each in (without, without[::-1]))
        return [
            (term, term + rest + before[at] + after[len(free) - 1 - at]) for at, term in enumerate(with_it)
        ]  # fmt: skip

    return Question(rows, tuple(wanted), shares)


def _sum(terms: object) -> arb:
    return sum(terms, arb(0))  # type: ignore[call-overload, no-any-return]


def _fixed(statement: Statement, layer: FirstLayer, rows: Indices) -> dict[int, Indices]:
    """The token of each row at the places that have one: the query's own, and those held."""
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    held = {place: np.full(len(rows), at[token]) for place, token in statement.held.items()}
    return held | {statement.place: rows}


def _rows(statement: Statement, layer: FirstLayer) -> tuple[Indices, Indices | None]:
    """The query tokens that it is about, as they are counted; and, for pairs, the tokens at the place asked about."""
    if not statement.pairs:
        free = len(layer.tokens) - layer.only_held
        return (np.arange(free) if statement.query is None else _counted(layer, [statement.query])), None
    where = statement.places
    if len(where) != 1 or where[0] == statement.place or where[0] in statement.held:
        raise DoubtError(f"places {_few(where)}: expected one that may hold any token, for pairs")
    first, second = _counted(layer, [token for pair in statement.pairs for token in pair]).reshape(-1, 2).T
    return first, second


def _counted(layer: FirstLayer, tokens: Sequence[int]) -> Indices:
    """Tokens that a text may hold, as they are counted."""
    at = {int(token): index for index, token in enumerate(layer.tokens[: len(layer.tokens) - layer.only_held])}
    for token in tokens:
        if token not in at:
            raise DoubtError(f"token {token} is not one that a text may hold")
    return np.array([at[token] for token in tokens])


def _same(statement: Statement, layer: FirstLayer) -> None:
    if weights_digest(layer) != statement.weights:
        raise DoubtError("it is about other weights than those given")
    if tokens_digest(layer) != statement.tokens or len(layer.tokens) - layer.only_held != statement.choices:
        raise DoubtError("it is about other tokens than those that the model's texts may hold")
    if statement.held != held_by(layer, statement.length):
        raise DoubtError("it holds other tokens fixed than the model's texts do")


def _seen(statement: Statement, layer: FirstLayer) -> list[int]:
    has = layer.positions
    if has is not None and statement.length > has:
        raise DoubtError(f"it is about texts of {statement.length} tokens, and the model has {has} positions")
    if statement.length > LONGEST:
        raise DoubtError(f"it is about texts of {statement.length} tokens, and no more than {LONGEST} are looked at")
    if not 0 <= statement.place < statement.length:
        raise DoubtError(f"there is no place {statement.place} in texts of {statement.length} tokens")
    if statement.place in statement.held:
        raise DoubtError(f"place {statement.place} is held by a special token, and is no place to see from")
    return [
        place for place in range(statement.length)
        if (not layer.causal or place <= statement.place)
        and (layer.window is None or abs(place - statement.place) < layer.window)
    ]  # fmt: skip


def _few(places: Sequence[int]) -> str:
    return f"{list(places)[:8]}{' and more' if len(places) > 8 else ''}"
