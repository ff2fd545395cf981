"""The question of a statement: which scores it needs, and how weights follow from them.

Of every query token the statement is about (a row), some scores are requested: at a place, with one key or any token
that a text may hold there, not below the exact one or not above it. From exp of these come pairs (part, whole), so that
the statement is true if every part is at least (at most) the bound times its whole:

- *places*: the weight on them is least with their scores at their lowest, those of other places at their highest;
- *occurrences* of a token b: with b at one place alone and the highest of the other tokens everywhere else, at each
  place in turn (one more occurrence puts a term into the part that was in the rest, and so does a query that is b, for
  which no other place need hold it); most with b at every place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from typing import Protocol

import numpy as np
from flint import arb
from jaxtyping import Bool

from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.checker.vectors import Indices
from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.statement import (
    FirstLayerStatement,
    held_by,
    tokens_digest,
    weights_digest,
)

LONGEST = 2**20  # tokens of a text: a certificate may ask for any number
PLACES_NAMED = 8

Shares = list[tuple[arb, arb]]  # parts and their wholes


@dataclass(frozen=True, eq=False)
class ScoreRequest:
    """A score of every row at a place, from one side; tokens are counted as the layer counts them."""

    place: int
    high: bool  # not below the exact one; or not above
    # The token of each row at that place; None: any that it may hold ...
    key: Indices | None = None
    # ... except this one.
    except_token: int | None = None


class ScoreQuestion(Protocol):
    """The query tokens of a statement, the scores requested of each, and the weights that follow."""

    @property
    def rows(self) -> Indices:
        """The query tokens, as the layer counts them."""

    @property
    def requests(self) -> tuple[ScoreRequest, ...]:
        """The scores, of every row."""

    def shares(self, row: int, terms: Sequence[arb]) -> Shares:
        """Parts and wholes of a row, from exp of its scores in the order of the requests."""


def question_of(statement: FirstLayerStatement, layer: FirstLayer) -> ScoreQuestion:
    """What is asked; a DoubtError if the statement is not about these weights, or not about anything they have."""
    _check_same_weights(statement, layer)
    if layer.one_pass and not statement.one_pass:
        raise DoubtError(
            "the rotary frequencies of these weights depend on the length of the text: expected a statement about one "
            "forward pass over the whole text"
        )
    if layer.scale <= 0:
        raise DoubtError(
            "the scale of its scores is not above 0, which is not checked here"
        )
    if not 0 <= statement.head < len(layer.queries):
        raise DoubtError(f"there is no head {statement.head}")
    _check_one_subject(statement)
    seen = _seen_places(statement, layer)
    if statement.token is not None:
        return _occurrences_question(statement, layer, seen, statement.token)
    return _places_question(statement, layer, seen)


def _check_one_subject(statement: FirstLayerStatement) -> None:
    """One query token, or occurrences, or both; or pairs."""
    subjects = []
    if statement.query is not None:
        subjects.append("one query token")
    if statement.token is not None:
        subjects.append("occurrences")
    if not statement.pairs:
        return
    if subjects:
        named = " and about ".join([*subjects, "pairs"])
        raise DoubtError(f"it is about {named}: expected one of these")


@dataclass(frozen=True, eq=False)
class PlacesQuestion:
    """The weight on some places: one part and one whole."""

    rows: Indices
    requests: tuple[ScoreRequest, ...]  # one for each place that is seen
    is_inside: tuple[bool, ...]  # of these

    def shares(self, row: int, terms: Sequence[arb]) -> Shares:  # noqa: ARG002
        """exp of the scores inside, and all of them."""
        inside = compress(terms, self.is_inside)
        return [(_sum(inside), _sum(terms))]


def _places_question(
    statement: FirstLayerStatement, layer: FirstLayer, seen: Sequence[int]
) -> PlacesQuestion:
    inside = set(statement.places)
    is_repeated = len(inside) < len(statement.places)
    if not inside or not inside <= set(seen) or is_repeated:
        raise DoubtError(
            f"places {_brief(statement.places)}: expected different ones that are seen"
        )
    rows, pair_keys = _rows_and_pair_keys(statement, layer)
    fixed = _fixed_tokens(statement, layer, rows)
    if pair_keys is not None:
        fixed[statement.places[0]] = pair_keys
    requests = []
    for place in seen:
        # Least: low inside and high elsewhere; most: the other way round.
        high = (place in inside) != (statement.extreme == "least")
        requests.append(ScoreRequest(place, high, fixed.get(place)))
    is_inside = tuple(place in inside for place in seen)
    return PlacesQuestion(rows, tuple(requests), is_inside)


@dataclass(frozen=True, eq=False)
class OccurrencesQuestion:
    """The weight on all occurrences of a token b.

    Requests are: the row's own score as it counts in the part, and as it counts in the rest; those of held places, in
    the rest; those of free places with b, in the part; for the least, those of free places with any token but b.
    """

    rows: Indices
    requests: tuple[ScoreRequest, ...]
    is_token: Bool[np.ndarray, " rows"]  # whether the query token is b
    held: int  # how many places are held
    free: int  # and how many are free
    is_least: bool

    def shares(self, row: int, terms: Sequence[arb]) -> Shares:
        """Of one text for the most, and for the least of one text for each place of the only occurrence."""
        own_inside, own_outside, *others = terms
        held_sum = _sum(others[: self.held])
        with_token = others[self.held : self.held + self.free]
        without_token = others[self.held + self.free :]
        # The query's own score is in the part where its token is b, and in the rest elsewhere.
        if self.is_token[row]:
            inside = own_inside
            rest = held_sum
        else:
            inside = arb(0)
            rest = own_outside + held_sum
        if not self.is_least:
            # Most: the token at every free place. The weight grows with the part.
            part = inside + _sum(with_token)
            return [(part, part + rest)]
        if self.is_token[row]:
            # Least, where the query is the token: no other place holds it.
            return [(inside, inside + rest + _sum(without_token))]
        # The only occurrence at each free place in turn. No difference is taken: the sum over the other places is
        # that of those before and those after.
        before = list(accumulate(without_token, initial=arb(0)))
        after = list(accumulate(without_token[::-1], initial=arb(0)))
        shares = []
        for at, term in enumerate(with_token):
            others_sum = before[at] + after[self.free - 1 - at]
            shares.append((term, term + rest + others_sum))
        return shares


def _occurrences_question(
    statement: FirstLayerStatement, layer: FirstLayer, seen: Sequence[int], token: int
) -> OccurrencesQuestion:
    if statement.places:
        raise DoubtError(
            "it is about places and about occurrences of a token: expected one of these"
        )
    (asked,) = _token_indices(layer, [token])
    rows, _ = _rows_and_pair_keys(statement, layer)
    held = [at for at in seen if at in statement.held]
    free = [at for at in seen if at != statement.place and at not in statement.held]
    if not free or layer.free < 2:
        raise DoubtError("there is no place, or no other token, that a text may hold")
    is_least = statement.extreme == "least"
    fixed = _fixed_tokens(statement, layer, rows)
    everywhere = np.full(len(rows), asked)
    # For the least, what is in the part is low and what is in the rest is high.
    inside_high = not is_least
    outside_high = is_least
    requests = [
        ScoreRequest(statement.place, inside_high, fixed[statement.place]),
        ScoreRequest(statement.place, outside_high, fixed[statement.place]),
    ]
    requests += [ScoreRequest(at, outside_high, fixed[at]) for at in held]
    requests += [ScoreRequest(at, inside_high, everywhere) for at in free]
    if is_least:
        requests += [ScoreRequest(at, True, except_token=int(asked)) for at in free]
    return OccurrencesQuestion(
        rows, tuple(requests), rows == asked, len(held), len(free), is_least
    )


def _sum(terms: Iterable[arb]) -> arb:
    result = arb(0)
    for term in terms:
        result += term
    return result


def _fixed_tokens(
    statement: FirstLayerStatement, layer: FirstLayer, rows: Indices
) -> dict[int, Indices]:
    """The token of each row at the places that have one: the query's own, and those held."""
    index = {int(token): at for at, token in enumerate(layer.tokens)}
    fixed = {statement.place: rows}
    for place, token in statement.held.items():
        fixed[place] = np.full(len(rows), index[token])
    return fixed


def _rows_and_pair_keys(
    statement: FirstLayerStatement, layer: FirstLayer
) -> tuple[Indices, Indices | None]:
    """The query tokens that it is about; and, for pairs, the tokens at the place asked about."""
    if statement.pairs:
        place = statement.places[0] if len(statement.places) == 1 else None
        if place is None or place == statement.place or place in statement.held:
            raise DoubtError(
                f"places {_brief(statement.places)}: expected one that may hold any token, for pairs"
            )
        queries = _token_indices(layer, [query for query, _ in statement.pairs])
        keys = _token_indices(layer, [key for _, key in statement.pairs])
        return queries, keys
    if statement.query is not None:
        return _token_indices(layer, [statement.query]), None
    return np.arange(layer.free), None


def _token_indices(layer: FirstLayer, token_ids: Sequence[int]) -> Indices:
    """Tokens that a text may hold, as the layer counts them."""
    index = {int(token): at for at, token in enumerate(layer.tokens[: layer.free])}
    for token in token_ids:
        if token not in index:
            raise DoubtError(f"token {token} is not one that a text may hold")
    return np.array([index[token] for token in token_ids])


def _check_same_weights(statement: FirstLayerStatement, layer: FirstLayer) -> None:
    if statement.weights != weights_digest(layer):
        raise DoubtError("it is about other weights than those given")
    if statement.tokens != tokens_digest(layer) or statement.choices != layer.free:
        raise DoubtError(
            "it is about other tokens than those that the model's texts may hold"
        )
    if statement.held != held_by(layer, statement.length):
        raise DoubtError("it holds other tokens fixed than the model's texts do")


def _seen_places(statement: FirstLayerStatement, layer: FirstLayer) -> list[int]:
    """The places that the query sees; a DoubtError if there are no such texts."""
    length = statement.length
    query_place = statement.place
    positions = layer.positions
    if positions is not None and length > positions:
        raise DoubtError(
            f"it is about texts of {length} tokens, and the model has {positions} positions"
        )
    if length > LONGEST:
        raise DoubtError(
            f"it is about texts of {length} tokens, and no more than {LONGEST} are looked at"
        )
    if not 0 <= query_place < length:
        raise DoubtError(f"there is no place {query_place} in texts of {length} tokens")
    if query_place in statement.held:
        raise DoubtError(
            f"place {query_place} is held by a special token, and is no place to see from"
        )
    seen = []
    for place in range(length):
        is_later = layer.causal and place > query_place
        is_far = layer.window is not None and abs(place - query_place) >= layer.window
        if not is_later and not is_far:
            seen.append(place)
    return seen


def _brief(places: Sequence[int]) -> str:
    more = " and more" if len(places) > PLACES_NAMED else ""
    return f"{list(places)[:PLACES_NAMED]}{more}"
