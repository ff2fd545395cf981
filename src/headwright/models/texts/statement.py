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

from headwright.errors import InputError
from headwright.models.texts.first_layer import FirstLayer

FORMAT, VERSION = "headwright every-text certificate", 4
LISTED = 8  # pairs that the words have; the digest stands for all
MOST_PAIRS = 2**16
MOST_PLACES = 2**20
NAME = re.compile(r"[\w./:-]{1,200}", re.ASCII)  # a name, not a sentence: words repeat it
DECIMAL = re.compile(r"\d{1,20}(\.\d{1,40})?(e-?\d{1,3})?", re.ASCII)
RUN_AT_ONCE = "in one forward pass over the whole text (not piece by piece with a cache)"
OPTIONAL = "one_pass"  # a name that a document has only where it is true
NAMES = {
    "model", "weights", "head", "length", "place", "held", "tokens", "choices", "places", "query", "pairs", "extreme",
    "bound", "token",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
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
    pairs: tuple[tuple[int, int], ...]  # or: token ids at `place` and at the one of `places`; it holds for each pair
    extreme: Literal["least", "most"]
    bound: str  # a decimal: the weight is at least, or at most, this
    token: int | None = None
    one_pass: bool = False  # only where the network is run once on the whole text, not piece by piece with a cache

    def words(self) -> str:
        """All that it says."""
        side = "at least" if self.extreme == "least" else "at most"
        query = "whatever token is there" if self.query is None else f"with token {self.query} there"
        query = self._pairs() if self.pairs else query
        held = ", ".join(f"token {token} at place {place}" for place, token in sorted(self.held.items()))
        where = " and ".join(str(place) for place in self.places)
        given = _places(where) if len(self.places) == 1 else f"{_places(where)} together"
        texts = f"every text of {self.length} tokens{f' with {held}' if held else ''}"
        others = f"any other place holds any of {self.choices} tokens (digest {self.tokens[:16]})"
        if self.token is not None:
            texts += f" that has token {self.token} at one or more of the places seen from place {self.place} (its own "
            texts += "too) where no token is held"
            among = f" and {given}" if self.places else ""
            given = f"all of these that have token {self.token} together{among}"
        if self.one_pass:
            texts += f", {RUN_AT_ONCE}"
        return (
            f"in {texts}, head {self.head} of the first layer, seen from place {self.place}, {query}, gives {given} "
            f"a weight of {side} {self.bound}. Places are counted from 0; {others}. For the weights with digest "
            f"{self.weights[:16]}, called {self.model} where this was written, in exact arithmetic"
        )

    def _pairs(self) -> str:
        """Which pairs it is about."""
        shown = ", ".join(f"{a} after {b}" for a, b in self.pairs[:LISTED])
        shown += f" and {len(self.pairs) - LISTED} more" if len(self.pairs) > LISTED else ""
        shown += f"; digest {hashlib.sha256(json.dumps(self.pairs).encode()).hexdigest()[:16]}"
        count = "one pair" if len(self.pairs) == 1 else f"any of {len(self.pairs)} pairs"
        return (
            f"with {count} of a token at place {self.place} and one at place "
            f"{self.places[0] if self.places else '?'} ({shown})"
        )


def _places(where: str) -> str:
    return f"places {where}" if " and " in where else f"place {where}"


def weights_digest(layer: FirstLayer) -> str:
    """Of all numbers that decide the scores: SHA-256 of their names, shapes and float64 bytes, in this order."""
    total = hashlib.sha256()
    for name, numbers in layer.arrays():
        array = np.ascontiguousarray(numbers, dtype="<f8")
        total.update(f"{name} {array.shape}\n".encode() + array.tobytes())
    return total.hexdigest()


def tokens_digest(layer: FirstLayer) -> str:
    """Of the ids that a free place may hold."""
    free = layer.tokens[: len(layer.tokens) - layer.only_held]
    return hashlib.sha256(np.ascontiguousarray(free, dtype="<i8").tobytes()).hexdigest()


def held_by(layer: FirstLayer, length: int) -> dict[int, int]:
    """The tokens that every text of a length holds, by their place."""
    ending = length - len(layer.closing)
    return dict(enumerate(layer.opening)) | {ending + place: token for place, token in enumerate(layer.closing)}


def written(statement: Statement) -> str:
    """The document."""
    said = vars(statement) | {
        "held": {str(place): token for place, token in statement.held.items()}, "places": list(statement.places),
        "pairs": [list(pair) for pair in statement.pairs],
    }  # fmt: skip
    if not statement.one_pass:
        del said[OPTIONAL]
    return json.dumps({"format": FORMAT, "version": VERSION, "statement": said}, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Statement:
    """The statement of a document; an InputError says what is wrong with it."""
    try:
        given = json.loads(text, object_pairs_hook=_once)
        said = given["statement"]
        if given != {"format": FORMAT, "version": VERSION, "statement": said} or type(given["version"]) is not int:
            raise InputError(f"expected a {FORMAT}, version {VERSION}")
        if set(said) - {OPTIONAL} != NAMES:
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
        lists = {"places": tuple(said["places"]), "pairs": tuple((a, b) for a, b in said["pairs"])}
        return Statement(**(said | lists | {"held": held}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"it is not a {FORMAT}: {error}") from error


def _shaped(said: dict[str, Any]) -> None:
    """Every field is of its type; what is not is named."""
    kinds = {"places": list, "held": dict, "pairs": list}
    told = {"places": "a list", "held": "places with their tokens", "pairs": "a list"}
    for name, kind in kinds.items():
        if type(said[name]) is not kind:
            raise InputError(f"{name} is {json.dumps(said[name])[:40]}: expected {told[name]}")
    pairs = said["pairs"]
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise InputError(f"pairs is {json.dumps(pairs)[:40]}: expected a list of two tokens each")
    if len({json.dumps(pair) for pair in pairs}) < len(pairs):  # the words say how many there are
        raise InputError("pairs has one of them twice: expected each once")
    for name, most in (("pairs", MOST_PAIRS), ("places", MOST_PLACES)):
        if len(said[name]) > most:
            raise InputError(f"{name} has {len(said[name])}: expected no more than {most}")
    numbers = [(name, said[name]) for name in ("head", "length", "place", "choices")]
    numbers += [("places", each) for each in said["places"]]
    numbers += [("held", token) for token in said["held"].values()]
    numbers += [(name, said[name]) for name in ("query", "token") if said[name] is not None]
    numbers += [("pairs", token) for pair in pairs for token in pair]
    for name, value in numbers:
        if type(value) is not int or value < 0:
            raise InputError(f"{name} has {json.dumps(value)[:40]}: expected a whole number, 0 or more")
    if said.get(OPTIONAL, True) is not True:
        raise InputError(f"{OPTIONAL} is {json.dumps(said[OPTIONAL])[:40]}: expected true, or no such name")
    for name in ("model", "weights", "tokens", "bound", "extreme"):
        if type(said[name]) is not str:
            raise InputError(f"{name} is {json.dumps(said[name])[:40]}: expected a text in quotes")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that is there twice would be read one way here and perhaps another way by a reader."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a name stands there twice: expected each once")
    return found
