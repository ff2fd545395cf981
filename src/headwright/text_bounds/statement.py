"""A statement about every text, as a document that the checker verifies.

The statement names the weights by the digest of their numbers, the head, the length and place, the tokens that a text
may hold, what is held fixed, and the bound; and what it is about, one of

- the weight on some places, for one query token or all, or for pairs of one with the token at the place asked about;
- the weight on all occurrences of a token.

There is no evidence but the weights themselves: the checker looks at every token at every place again, by arithmetic of
its own (`checker`).
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from headwright.certificates.formats import FIRST_LAYER, MODEL_NAME
from headwright.errors import InputError
from headwright.text_bounds.documents import (
    MOST_SHOWN,
    check_number,
    digest_arrays,
    read_document,
    show_value,
)
from headwright.text_bounds.first_layer import FirstLayer

FORMAT = FIRST_LAYER
VERSION = 4
LISTED = 8  # pairs that the words have; the digest stands for all
MOST_PAIRS = 2**16
MOST_PLACES = 2**20
DECIMAL = re.compile(r"\d{1,20}(\.\d{1,40})?(e-?\d{1,3})?", re.ASCII)
RUN_AT_ONCE = (
    "in one forward pass over the whole text (not piece by piece with a cache)"
)
OPTIONAL = "one_pass"  # a name that a document has only where it is true
TEXT_FIELDS = ("model", "weights", "tokens", "bound", "extreme")
NUMBER_FIELDS = ("head", "length", "place", "choices")
NUMBER_OR_NULL_FIELDS = ("query", "token")
NAMES = {
    *TEXT_FIELDS,
    *NUMBER_FIELDS,
    *NUMBER_OR_NULL_FIELDS,
    "held",
    "pairs",
    "places",
}


@dataclass(frozen=True)
class FirstLayerStatement:
    """On every text of `length` tokens that holds `held`, the weight on `places`, seen from `place`, is bounded.

    With a `token`, the weight on all its occurrences is, where there is one.
    """

    model: str
    weights: str  # digest of the first layer's numbers
    head: int
    length: int
    place: int
    held: dict[int, int]  # place -> token id
    tokens: str  # digest of the ids that a free place may hold
    choices: int  # how many these are
    places: tuple[int, ...]
    query: int | None  # the token id at `place`, or any
    # Or: token ids at `place` and at the one of `places`; it holds for each pair.
    pairs: tuple[tuple[int, int], ...]
    extreme: Literal["least", "most"]
    bound: str  # a decimal: the weight is at least, or at most, this
    token: int | None = None
    # Only where the network is run once on the whole text, not piece by piece with a cache.
    one_pass: bool = False

    def words(self) -> str:
        """All that it says."""
        side = "at least" if self.extreme == "least" else "at most"
        return (
            f"in {self._texts()}, head {self.head} of the first layer, seen from place {self.place}, "
            f"{self._query()}, gives {self._attended()} "
            f"a weight of {side} {self.bound}. Places are counted from 0; any other place holds any of "
            f"{self.choices} tokens (digest {self.tokens[:16]}). For the weights with digest "
            f"{self.weights[:16]}, called {self.model} where this was written, in exact arithmetic"
        )

    def _texts(self) -> str:
        """Which texts it is about."""
        texts = f"every text of {self.length} tokens"
        if self.held:
            held = [
                f"token {token} at place {place}"
                for place, token in sorted(self.held.items())
            ]
            texts += f" with {', '.join(held)}"
        if self.token is not None:
            texts += (
                f" that has token {self.token} at one or more of the places seen from place {self.place} (its own "
                "too) where no token is held"
            )
        if self.one_pass:
            texts += f", {RUN_AT_ONCE}"
        return texts

    def _query(self) -> str:
        """Which token stands at the query's place."""
        if self.pairs:
            return self._pairs()
        if self.query is not None:
            return f"with token {self.query} there"
        return "whatever token is there"

    def _attended(self) -> str:
        """What the weight is on."""
        places = " and ".join(str(place) for place in self.places)
        if len(self.places) == 1:
            attended = f"place {places}"
        else:
            plural = "places" if self.places else "place"
            attended = f"{plural} {places} together"
        if self.token is None:
            return attended
        among = f" and {attended}" if self.places else ""
        return f"all of these that have token {self.token} together{among}"

    def _pairs(self) -> str:
        """Which pairs it is about."""
        listed = ", ".join(f"{a} after {b}" for a, b in self.pairs[:LISTED])
        if len(self.pairs) > LISTED:
            listed += f" and {len(self.pairs) - LISTED} more"
        digest = hashlib.sha256(json.dumps(self.pairs).encode()).hexdigest()[:16]
        count = f"any of {len(self.pairs)} pairs"
        if len(self.pairs) == 1:
            count = "one pair"
        key_place = self.places[0] if self.places else "?"
        return (
            f"with {count} of a token at place {self.place} and one at place {key_place} "
            f"({listed}; digest {digest})"
        )


def weights_digest(layer: FirstLayer) -> str:
    """Of all numbers that decide the scores."""
    return digest_arrays(layer.arrays())


def tokens_digest(layer: FirstLayer) -> str:
    """Of the ids that a free place may hold."""
    ids = np.ascontiguousarray(layer.tokens[: layer.free], dtype="<i8")
    return hashlib.sha256(ids.tobytes()).hexdigest()


def held_by(layer: FirstLayer, length: int) -> dict[int, int]:
    """The tokens that every text of a length holds, by their place."""
    held = dict(enumerate(layer.opening))
    held.update(enumerate(layer.closing, start=length - len(layer.closing)))
    return held


def write_statement(statement: FirstLayerStatement) -> str:
    """The document."""
    fields = dict(vars(statement))
    fields["held"] = {str(place): token for place, token in statement.held.items()}
    if not statement.one_pass:
        del fields[OPTIONAL]
    document = {"format": FORMAT, "version": VERSION, "statement": fields}
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def read_statement(text: str) -> FirstLayerStatement:
    """The statement of a document; an InputError says what is wrong with it."""
    return read_document(text, FORMAT, _statement_of)


def _statement_of(document: Any) -> FirstLayerStatement:
    fields = document["statement"]
    expected = {"format": FORMAT, "version": VERSION, "statement": fields}
    if document != expected or type(document["version"]) is not int:
        raise InputError(f"expected a {FORMAT}, version {VERSION}")
    if set(fields) - {OPTIONAL} != NAMES:
        raise InputError(
            f"the statement has the names {sorted(fields)}: expected {sorted(NAMES)}"
        )
    _check_types(fields)
    if fields["extreme"] not in ("least", "most"):
        raise InputError(f"extreme {fields['extreme']!r}: expected least or most")
    if not MODEL_NAME.fullmatch(fields["model"]):
        raise InputError("the model's name holds more than letters, digits and ./:_-")
    if not DECIMAL.fullmatch(fields["bound"]):
        raise InputError(
            f"bound {fields['bound'][:MOST_SHOWN]!r}: expected a decimal such as 0.875"
        )
    held = {int(place): token for place, token in fields["held"].items()}
    if {str(place) for place in held} != set(fields["held"]):
        raise InputError(
            f"held has the places {sorted(fields['held'])}: expected plain numbers"
        )
    places = tuple(fields["places"])
    pairs = tuple((query, key) for query, key in fields["pairs"])
    return FirstLayerStatement(
        **(fields | {"places": places, "pairs": pairs, "held": held})
    )


def _check_types(fields: dict[str, Any]) -> None:
    """Every field is of its type; what is not is named."""
    _check_type(fields, "places", list, "a list")
    _check_type(fields, "held", dict, "places with their tokens")
    _check_type(fields, "pairs", list, "a list")
    _check_pairs(fields["pairs"])
    for name, most in (("pairs", MOST_PAIRS), ("places", MOST_PLACES)):
        if len(fields[name]) > most:
            raise InputError(
                f"{name} has {len(fields[name])}: expected no more than {most}"
            )
    for name in NUMBER_FIELDS:
        check_number(name, fields[name])
    for place in fields["places"]:
        check_number("places", place)
    for token in fields["held"].values():
        check_number("held", token)
    for name in NUMBER_OR_NULL_FIELDS:
        if fields[name] is not None:
            check_number(name, fields[name])
    for pair in fields["pairs"]:
        for token in pair:
            check_number("pairs", token)
    if fields.get(OPTIONAL, True) is not True:
        raise InputError(
            f"{OPTIONAL} is {show_value(fields[OPTIONAL])}: expected true, or no such name"
        )
    for name in TEXT_FIELDS:
        _check_type(fields, name, str, "a text in quotes")


def _check_type(fields: dict[str, Any], name: str, kind: type, expected: str) -> None:
    if type(fields[name]) is not kind:
        raise InputError(f"{name} is {show_value(fields[name])}: expected {expected}")


def _check_pairs(pairs: list[Any]) -> None:
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2:
            raise InputError(
                f"pairs is {show_value(pairs)}: expected a list of two tokens each"
            )
    # The words say how many there are.
    if len({json.dumps(pair) for pair in pairs}) < len(pairs):
        raise InputError("pairs has one of them twice: expected each once")
