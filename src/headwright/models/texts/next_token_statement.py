"""Statements about induction in every text of a kind, as a document that the checker verifies.

The statement names the weights by the digest of their numbers, the length, and groups (a, b, c, j), each with a margin
of the next token or a weight that a head of the second layer gives. The evidence is how each group is cut into parts,
by the tokens at places; the checker bounds every part by itself.
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

FORMAT, VERSION = "headwright next-token certificate", 2
MATRICES = ("query", "key", "value", "output")
NAMES = ("embed", "place", "angles", *MATRICES, "unembed")  # of the weights, in this order
MODEL = re.compile(r"[\w./:-]{1,200}", re.ASCII)  # a name, not a sentence: words repeat it
DECIMAL = re.compile(r"\d{1,9}(\.\d{1,20})?", re.ASCII)
SAID = ("model", "weights", "length", "tokens", "opening")  # beside the groups
MOST_GROUPS = 2**16
LISTED = 4  # groups that the words have; the digest stands for all

Weights = Mapping[str, Float[np.ndarray, "..."]]


@dataclass(frozen=True)
class Claim:
    """In every text of the group (a, b, c, j), c named or not, what is said of it is at least `least`.

    Without a head: by how much the logit of b at the end is ahead of every other token's. With one: the weight that
    this head of the second layer gives to place j, seen from the end.
    """

    a: int
    b: int
    c: int | None
    j: int
    head: int | None
    least: str  # a decimal above 0
    cuts: Any  # 0, or [place, tokens, parts]; the checker reads it

    @property
    def said(self) -> list[Any]:
        """All but the evidence."""
        return [self.a, self.b, self.c, self.j, self.head, self.least]

    def __str__(self) -> str:
        """For the words."""
        what = "margin" if self.head is None else f"head {self.head}"
        return f"({self.a}, {self.b}, {'any' if self.c is None else self.c}, {self.j}) {what}: {self.least}"


@dataclass(frozen=True)
class NextToken:
    """Claims about some groups of texts of one length, for the weights with a digest."""

    model: str
    weights: str
    length: int
    tokens: int
    opening: int | None
    claims: tuple[Claim, ...]

    def words(self) -> str:
        """All that it says."""
        digest = hashlib.sha256(json.dumps([one.said for one in self.claims]).encode()).hexdigest()[:16]
        listed = ", ".join(map(str, self.claims[:LISTED]))
        more = f" and {len(self.claims) - LISTED} more" if len(self.claims) > LISTED else ""
        end, heads = self.length - 1, {one.head for one in self.claims} - {None}
        opened = "" if self.opening is None else f"token {self.opening} at place 0, "
        but = "a" if self.opening is None else f"a and {self.opening}"
        said = []
        if any(one.head is None for one in self.claims):
            lowest = min((one.least for one in self.claims if one.head is None), key=Fraction)
            said.append(f"the logit of b at place {end} exceeds that of every other token by the margin given or more, "
                        f"so b is predicted (the least margin is {lowest})")  # fmt: skip
        if heads:
            lowest = min((one.least for one in self.claims if one.head is not None), key=Fraction)
            said.append(f"the head given, of the second layer, gives place j at least the weight given, seen from "
                        f"place {end} (the least weight is {lowest})")  # fmt: skip
        return (
            f"for each of {len(self.claims)} groups (a, b, c, j): in every text of {self.length} tokens with {opened}"
            f"token a at places j - 1 and {end} and at no other, token b at place j, token c at place {end - 1} unless "
            f"it is any, and at each other place any of the {self.tokens} tokens but {but}, {'; or '.join(said)}. The "
            f"groups are {listed}{more} (digest {digest}). Places and tokens are counted from 0. For the weights with "
            f"digest {self.weights[:16]}, called {self.model} where this was written, in exact arithmetic"
        )


def weights_of(model: object) -> Weights:
    """The numbers of a model of two attention layers and nothing else; others are refused.

    Matrices are by layer and head. `place` has no rows where no positions are added, and `angles` none where nothing is
    turned: pair (i, i + d/2) of queries and keys at place r is turned by r angles[i].
    """
    found = {name: getattr(model, name, None) for name in NAMES}
    query, embed = found["query"], found["embed"]
    if not isinstance(query, np.ndarray) or not isinstance(embed, np.ndarray) or len(query) != 2:
        raise InputError(f"{getattr(model, 'name', 'this model')}: statements about the next token are for models of "
                         "two attention layers and nothing else, such as builtin:induction16")  # fmt: skip
    none = {"place": np.zeros((0, embed.shape[1])), "angles": np.zeros(0)}
    arrays = {name: none[name] if array is None else np.asarray(array) for name, array in found.items()}
    by_head = {name: array[:, None] for name, array in arrays.items() if name in MATRICES and array.ndim == 3}
    return arrays | by_head


def weights_digest(weights: Weights) -> str:
    """SHA-256 of the names, shapes and float64 bytes of all numbers, in the order of NAMES."""
    total = hashlib.sha256()
    for name in NAMES:
        array = np.ascontiguousarray(weights[name], dtype="<f8")
        total.update(f"{name} {array.shape}\n".encode() + array.tobytes())
    return total.hexdigest()


def written(statement: NextToken) -> str:
    """The document."""
    said = {name: getattr(statement, name) for name in SAID}
    said["groups"] = [one.said for one in statement.claims]
    cuts = [one.cuts for one in statement.claims]
    document = {"format": FORMAT, "version": VERSION, "statement": said, "cuts": cuts}
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
        if set(said) != {*SAID, "groups"}:
            raise InputError(f"the statement has the names {sorted(said)}")
        groups, cuts = said["groups"], given["cuts"]
        if type(groups) is not list or type(cuts) is not list or not 0 < len(groups) == len(cuts) <= MOST_GROUPS:
            raise InputError(f"expected 1 to {MOST_GROUPS} groups, and cuts for each")
        if any(type(group) is not list or len(group) != 6 for group in groups):
            raise InputError("a group is not of the form [a, b, c, j, head, least]")
        optional = [said["opening"], *(number for _, _, c, _, head, _ in groups for number in (c, head))]
        numbers = [said["length"], said["tokens"], *(number for a, b, _, j, _, _ in groups for number in (a, b, j))]
        for number in (*numbers, *(number for number in optional if number is not None)):
            if type(number) is not int or number < 0:
                raise InputError(f"{json.dumps(number)[:40]}: expected a whole number, 0 or more")
        for *_, least in groups:
            if type(least) is not str or not DECIMAL.fullmatch(least) or not Fraction(least) > 0:
                raise InputError(f"at least {json.dumps(least)[:40]}: expected a decimal above 0, such as 0.875")
        if len({tuple(group[:5]) for group in groups}) < len(groups):
            raise InputError("a group stands there twice: expected each once")
        if type(said["model"]) is not str or not MODEL.fullmatch(said["model"]) or type(said["weights"]) is not str:
            raise InputError("the model's name or digest is not one")
        claims = tuple(
            Claim(a, b, c, j, head, least, each)
            for (a, b, c, j, head, least), each in zip(groups, cuts, strict=True)
        )  # fmt: skip
        return NextToken(said["model"], said["weights"], said["length"], said["tokens"], said["opening"], claims)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"it is not a {FORMAT}: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a name stands there twice: expected each once")
    return found
