"""Statements about the next token in every text of a length, as a document that the checker verifies.

The statement names the weights by the digest of their numbers, the length, and groups (a, b, j) with a margin each. The
evidence is how each group is cut into parts, by the tokens at places; the checker bounds every part by itself.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError

FORMAT, VERSION = "headwright next-token certificate", 1
NAMES = ("embed", "place", "query", "key", "value", "output", "unembed")  # of the weights, in this order
MODEL = re.compile(r"[\w./:-]{1,200}", re.ASCII)  # a name, not a sentence: words repeat it
DECIMAL = re.compile(r"\d{1,9}(\.\d{1,20})?", re.ASCII)
MOST_GROUPS = 2**16
LISTED = 4  # groups that the words have; the digest stands for all

Weights = Mapping[str, Float[np.ndarray, "..."]]


@dataclass(frozen=True)
class Margin:
    """In every text of the group (a, b, j), the logit of b is ahead of every other token's by at least `least`."""

    a: int
    b: int
    j: int
    least: str  # a decimal above 0
    cuts: Any  # 0, or [place, what is said of the part for each token there]; the checker reads it


@dataclass(frozen=True)
class NextToken:
    """The margins of some groups of texts of one length, for the weights with a digest."""

    model: str
    weights: str
    length: int
    tokens: int
    margins: tuple[Margin, ...]

    def words(self) -> str:
        """All that it says."""
        groups = [[one.a, one.b, one.j, one.least] for one in self.margins]
        digest = hashlib.sha256(json.dumps(groups).encode()).hexdigest()[:16]
        listed = ", ".join(f"({a}, {b}, {j}): {least}" for a, b, j, least in groups[:LISTED])
        more = f" and {len(groups) - LISTED} more" if len(groups) > LISTED else ""
        lowest = min((one.least for one in self.margins), key=Fraction)
        end = self.length - 1
        return (
            f"for each of {len(groups)} triples (a, b, j): in every text of {self.length} tokens with token a at place "
            f"j - 1 and {end} and at no other, token b at place j, and at each other place any of the {self.tokens} "
            f"tokens but a, the logit of b at place {end} exceeds that of every other token by the triple's margin "
            f"or more: so b is predicted. The margins are {listed}{more} (digest {digest}), the least {lowest}. Places "
            f"and tokens are counted from 0. For the weights with digest {self.weights[:16]}, "
            f"called {self.model} where this was written, in exact arithmetic"
        )


def weights_of(model: object) -> Weights:
    """The numbers of a model of two layers of one head; others are refused."""
    found = {name: getattr(model, name, None) for name in NAMES}
    arrays = {name: array for name, array in found.items() if isinstance(array, np.ndarray)}
    if len(arrays) < len(NAMES) or arrays["query"].shape[0] != 2 or arrays["query"].ndim != 3:
        raise InputError(f"{getattr(model, 'name', 'this model')}: statements about the next token are for models of "
                         "two attention layers of one head and nothing else, such as builtin:induction16")  # fmt: skip
    return arrays


def weights_digest(weights: Weights) -> str:
    """SHA-256 of the names, shapes and float64 bytes of all numbers, in the order of NAMES."""
    total = hashlib.sha256()
    for name in NAMES:
        array = np.ascontiguousarray(weights[name], dtype="<f8")
        total.update(f"{name} {array.shape}\n".encode() + array.tobytes())
    return total.hexdigest()


def written(statement: NextToken) -> str:
    """The document."""
    said = {name: getattr(statement, name) for name in ("model", "weights", "length", "tokens")}
    said["groups"] = [[one.a, one.b, one.j, one.least] for one in statement.margins]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": said,
        "cuts": [one.cuts for one in statement.margins],
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"


def read(text: str) -> NextToken:
    """The statement of a document; an InputError says what is wrong with it."""
    try:
        given = json.loads(text, object_pairs_hook=_once)
        if set(given) != {"format", "version", "statement", "cuts"} or given["format"] != FORMAT:
            raise InputError(f"expected a {FORMAT} with its statement and cuts")
        said = given["statement"]
        if type(given["version"]) is not int or given["version"] != VERSION:
            raise InputError(f"version {json.dumps(given['version'])[:20]}: expected {VERSION}")
        if set(said) != {"model", "weights", "length", "tokens", "groups"}:
            raise InputError(f"the statement has the names {sorted(said)}")
        groups, cuts = said["groups"], given["cuts"]
        if type(groups) is not list or type(cuts) is not list or not 0 < len(groups) == len(cuts) <= MOST_GROUPS:
            raise InputError(f"expected 1 to {MOST_GROUPS} groups, and cuts for each")
        if any(type(group) is not list or len(group) != 4 for group in groups):
            raise InputError("a group is not of the form [a, b, j, margin]")
        for number in (said["length"], said["tokens"], *(number for group in groups for number in group[:3])):
            if type(number) is not int or number < 0:
                raise InputError(f"{json.dumps(number)[:40]}: expected a whole number, 0 or more")
        for _, _, _, least in groups:
            if type(least) is not str or not DECIMAL.fullmatch(least) or not Fraction(least) > 0:
                raise InputError(f"margin {json.dumps(least)[:40]}: expected a decimal above 0, such as 0.875")
        if len({tuple(group[:3]) for group in groups}) < len(groups):
            raise InputError("a group stands there twice: expected each once")
        if type(said["model"]) is not str or not MODEL.fullmatch(said["model"]) or type(said["weights"]) is not str:
            raise InputError("the model's name or digest is not one")
        margins = tuple(Margin(a, b, j, least, each) for (a, b, j, least), each in zip(groups, cuts, strict=True))
        return NextToken(said["model"], said["weights"], said["length"], said["tokens"], margins)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"it is not a {FORMAT}: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a name stands there twice: expected each once")
    return found
