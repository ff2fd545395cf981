"""A statement about every text, as a document that a small checker accepts or not.

The statement names the weights by the digest of their numbers, the head, the length and place, the tokens that a text
may hold, what is held fixed, the places asked about, the query token or all (or pairs of one with the token at the
place asked about), and the bound. There is no evidence but
the weights themselves: the checker looks at every token at every place again, by arithmetic of its own (`checker`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.audit.texts.every_text import HeadOnEveryText, OnPlaces
from headwright.audit.texts.first import FirstLayer, Norm, Projection
from headwright.audit.texts.witness import Extreme
from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError

FORMAT, VERSION = "headwright every-text certificate", 2
DIGITS = 8
LISTED = 8  # pairs that the words have; the digest stands for all
MOST_PAIRS = 2**16
NAME = re.compile(r"[\w./:-]{1,200}", re.ASCII)  # a name, not a sentence: words repeat it
DECIMAL = re.compile(r"\d{1,20}(\.\d{1,40})?(e-?\d{1,3})?", re.ASCII)
NAMES = {
    "model", "weights", "head", "length", "place", "held", "tokens", "choices", "places", "query", "pairs", "extreme",
    "bound",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """On every text of `length` tokens that holds `held`, the weight on `places`, seen from `place`, is bounded."""

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
    pairs: tuple[tuple[int, int], ...]  # or: token ids at `place` and at the one of `places`; it holds for each pair
    extreme: Extreme
    bound: str  # a decimal: the weight is at least, or at most, this

    def words(self) -> str:
        """All that it says."""
        side = "at least" if self.extreme == "least" else "at most"
        query = "whatever token is there" if self.query is None else f"with token {self.query} there"
        query = self._pairs() if self.pairs else query
        held = ", ".join(f"token {token} at place {place}" for place, token in sorted(self.held.items()))
        where = " and ".join(str(place) for place in self.places)
        given = f"place {where}" if len(self.places) == 1 else f"places {where} together"
        return (
            f"in every text of {self.length} tokens{f' with {held}' if held else ''}, head {self.head} of the first "
            f"layer, seen from place {self.place}, {query}, gives {given} a weight of {side} {self.bound}. "
            f"Places are counted from 0; any other place holds any of {self.choices} tokens "
            f"(digest {self.tokens[:16]}). For the weights with digest {self.weights[:16]}, called {self.model} "
            "where this was written, in exact arithmetic"
        )

    def _pairs(self) -> str:
        """Which pairs it is about."""
        shown = ", ".join(f"{a} after {b}" for a, b in self.pairs[:LISTED])
        more = "" if len(self.pairs) <= LISTED else f" and {len(self.pairs) - LISTED} more"
        digest = hashlib.sha256(json.dumps(self.pairs).encode()).hexdigest()[:16]
        return (
            f"with any of {len(self.pairs)} pairs of a token at place {self.place} and one at place "
            f"{self.places[0] if self.places else '?'} ({shown}{more}; digest {digest})"
        )


def weights_digest(layer: FirstLayer) -> str:
    """Of all numbers that decide the scores: SHA-256 of their names, shapes and float64 bytes, in this order."""
    total = hashlib.sha256()

    def add(name: str, numbers: Any) -> None:
        array = np.ascontiguousarray(numbers, dtype="<f8")
        total.update(f"{name} {array.shape}\n".encode() + array.tobytes())

    def add_norm(name: str, norm: Norm | None) -> None:
        if norm is not None:
            add(f"{name} {norm.kind} gain", norm.gain)
            add(f"{name} eps", norm.eps)
            if norm.bias is not None:
                add(f"{name} bias", norm.bias)

    def add_projections(name: str, projections: tuple[Projection, ...]) -> None:
        for number, projection in enumerate(projections):
            add(f"{name} {number}", projection.weight)
            if projection.bias is not None:
                add(f"{name} {number} bias", projection.bias)
            add_norm(f"{name} {number} norm", projection.norm)

    add("tokens", layer.tokens)
    add("embedding", layer.embedding)
    add_norm("norm", layer.norm)
    add_projections("query", layer.queries)
    add_projections("key", layer.keys)
    for name in ("scale", "places", "always", "angles", "opening", "closing", "causal", "window", "only_held"):
        if getattr(layer, name) is not None:
            add(name, getattr(layer, name))
    return total.hexdigest()


def tokens_digest(layer: FirstLayer) -> str:
    """Of the ids that a free place may hold."""
    free = layer.tokens[: len(layer.tokens) - layer.only_held]
    return hashlib.sha256(np.ascontiguousarray(free, dtype="<i8").tobytes()).hexdigest()


def statement_of(
    model: str, layer: FirstLayer, found: HeadOnEveryText, places: OnPlaces, extreme: Extreme
) -> Statement:
    """What was found about all query tokens, or one, with the bound rounded to the safe side."""
    free = len(layer.tokens) - layer.only_held
    if found.queries not in (1, free):
        raise InputError(f"{found.queries} of {free} query tokens were looked at: expected all, or one, for a "
                         "certificate; or pairs of a text, --text FILE")  # fmt: skip
    bound = shown_below(places.least.bound, DIGITS) if extreme == "least" else shown_above(places.most.bound, DIGITS)
    one = None if found.queries == free else places.least.query
    return _statement(model, layer, found, places.places, one, (), extreme, bound)


def pairs_statement(
    model: str, layer: FirstLayer, found: HeadOnEveryText, pairs: Sequence[tuple[int, int]], distance: int, least: float
) -> Statement:
    """Pairs (query token, token so many places before it), each of which keeps no less than `least` there."""
    if not pairs:
        raise InputError(f"head {found.head}: no pair keeps what is asked for, so there is nothing to certify")
    place = found.place - distance
    return _statement(model, layer, found, (place,), None, tuple(pairs), "least", shown_below(least, DIGITS))


def _statement(
    model: str, layer: FirstLayer, found: HeadOnEveryText, places: tuple[int, ...], query: int | None,
    pairs: tuple[tuple[int, int], ...], extreme: Extreme, bound: str,
) -> Statement:  # fmt: skip
    ending = found.length - len(layer.closing)
    held = dict(enumerate(layer.opening)) | {ending + at: token for at, token in enumerate(layer.closing)}
    name = re.sub(r"[^\w./:-]", "_", model, flags=re.ASCII)[-200:]
    return Statement(
        name, weights_digest(layer), found.head, found.length, found.place, held, tokens_digest(layer),
        len(layer.tokens) - layer.only_held, places, query, pairs, extreme, bound,
    )  # fmt: skip


def written(statement: Statement) -> str:
    """The document."""
    said = vars(statement) | {
        "held": {str(place): token for place, token in statement.held.items()}, "places": list(statement.places),
        "pairs": [list(pair) for pair in statement.pairs],
    }  # fmt: skip
    return json.dumps({"format": FORMAT, "version": VERSION, "statement": said}, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Statement:
    """The statement of a document; an InputError says what is wrong with it."""
    try:
        given = json.loads(text, object_pairs_hook=_once)
        said = given["statement"]
        version = given["version"]
        if (
            given["format"] != FORMAT
            or type(version) is not int
            or version != VERSION
            or set(given) != {"format", "version", "statement"}
        ):
            raise InputError(f"expected a {FORMAT}, version {VERSION}")
        if set(said) != NAMES:
            raise InputError(f"the statement has the names {sorted(said)}: expected {sorted(NAMES)}")
        _shaped(said)
        if said["extreme"] not in ("least", "most"):
            raise InputError(f"extreme {said['extreme']!r}: expected least or most")
        if not NAME.fullmatch(said["model"]):
            raise InputError("the model's name holds more than letters, digits and ./:_-")
        if not DECIMAL.fullmatch(said["bound"]):
            raise InputError(f"bound {said['bound'][:40]!r}: expected a decimal such as 0.875")
        held = {int(place): token for place, token in said["held"].items()}
        if {str(place) for place in held} != set(said["held"]):
            raise InputError(f"held has the places {sorted(said['held'])}: expected plain numbers")
        pairs = tuple((a, b) for a, b in said["pairs"])
        return Statement(**(said | {"held": held, "places": tuple(said["places"]), "pairs": pairs}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"it is not a {FORMAT}: {error}") from error


def _shaped(said: dict[str, Any]) -> None:
    """Every field is of its type; what is not is named."""
    if type(said["places"]) is not list or type(said["held"]) is not dict:
        name, kind = ("places", "a list") if type(said["places"]) is not list else ("held", "places with their tokens")
        raise InputError(f"{name} is {json.dumps(said[name])[:40]}: expected {kind}")
    pairs = said["pairs"]
    if type(pairs) is not list or any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise InputError(f"pairs is {json.dumps(pairs)[:40]}: expected a list of two tokens each")
    if len(pairs) > MOST_PAIRS:
        raise InputError(f"pairs has {len(pairs)}: expected no more than {MOST_PAIRS}")
    numbers = [(name, said[name]) for name in ("head", "length", "place", "choices")]
    numbers += [("places", place) for place in said["places"]] + [("held", token) for token in said["held"].values()]
    numbers += [] if said["query"] is None else [("query", said["query"])]
    numbers += [("pairs", token) for pair in pairs for token in pair]
    for name, value in numbers:
        if type(value) is not int or value < 0:
            raise InputError(f"{name} has {json.dumps(value)[:40]}: expected a whole number, 0 or more")
    for name in ("model", "weights", "tokens", "bound"):
        if type(said[name]) is not str:
            raise InputError(f"{name} is {json.dumps(said[name])[:40]}: expected a text in quotes")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that is there twice would be read one way here and perhaps another way by a reader."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a name stands there twice: expected each once")
    return found
