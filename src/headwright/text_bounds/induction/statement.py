"""Statements about induction in every text of a kind, as a document that the checker verifies.

The statement names the weights by the digest of their numbers, the length, and groups (a, b, c, j), each with a margin
of the next token or a weight that a head of the second layer gives. The evidence is how each group is cut into parts,
by the tokens at places; the checker bounds every part by itself.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headwright.certificates.formats import MODEL_NAME, NEXT_TOKEN
from headwright.errors import InputError
from headwright.text_bounds.documents import (
    check_number,
    read_document,
    show_value,
)

FORMAT = NEXT_TOKEN
VERSION = 2
DOCUMENT_NAMES = {"format", "version", "statement", "cuts"}
STATEMENT_NAMES = ("model", "weights", "length", "tokens", "opening")  # and groups
DECIMAL = re.compile(r"\d{1,9}(\.\d{1,20})?", re.ASCII)
MOST_GROUPS = 2**16
LISTED = 4  # groups that the words have; the digest stands for all


@dataclass(frozen=True)
class InductionClaim:
    """In every text of the group (a, b, c, j), c named or not, what is claimed of it is at least `least`.

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
    def fields(self) -> list[Any]:
        """All but the evidence."""
        return [self.a, self.b, self.c, self.j, self.head, self.least]

    def __str__(self) -> str:
        """For the words."""
        before_end = "any" if self.c is None else self.c
        quantity = "margin" if self.head is None else f"head {self.head}"
        return f"({self.a}, {self.b}, {before_end}, {self.j}) {quantity}: {self.least}"


@dataclass(frozen=True)
class InductionStatement:
    """Claims about some groups of texts of one length, for the weights with a digest."""

    model: str
    weights: str
    length: int
    tokens: int
    opening: int | None
    claims: tuple[InductionClaim, ...]

    def words(self) -> str:
        """All that it says."""
        fields = json.dumps([claim.fields for claim in self.claims])
        digest = hashlib.sha256(fields.encode()).hexdigest()[:16]
        listed = ", ".join(map(str, self.claims[:LISTED]))
        if len(self.claims) > LISTED:
            listed += f" and {len(self.claims) - LISTED} more"
        end = self.length - 1
        opened = "" if self.opening is None else f"token {self.opening} at place 0, "
        excluded = "a" if self.opening is None else f"a and {self.opening}"
        return (
            f"for each of {len(self.claims)} groups (a, b, c, j): in every text of {self.length} tokens with {opened}"
            f"token a at places j - 1 and {end} and at no other, token b at place j, token c at place {end - 1} unless "
            f"it is any, and at each other place any of the {self.tokens} tokens but {excluded}, {self._bounds()}. The "
            f"groups are {listed} (digest {digest}). Places and tokens are counted from 0. For the weights with "
            f"digest {self.weights[:16]}, called {self.model} where this was written, in exact arithmetic"
        )

    def _bounds(self) -> str:
        """What is bounded: margins, weights, or both."""
        end = self.length - 1
        margins = [claim.least for claim in self.claims if claim.head is None]
        weights = [claim.least for claim in self.claims if claim.head is not None]
        bounds = []
        if margins:
            bounds.append(
                f"the logit of b at place {end} exceeds that of every other token by the margin given or more, "
                f"so b is predicted (the least margin is {min(margins, key=Fraction)})"
            )
        if weights:
            bounds.append(
                f"the head given, of the second layer, gives place j at least the weight given, seen from "
                f"place {end} (the least weight is {min(weights, key=Fraction)})"
            )
        return "; or ".join(bounds)


def write_statement(statement: InductionStatement) -> str:
    """The document."""
    fields = {name: getattr(statement, name) for name in STATEMENT_NAMES}
    fields["groups"] = [claim.fields for claim in statement.claims]
    cuts = [claim.cuts for claim in statement.claims]
    document = {"format": FORMAT, "version": VERSION, "statement": fields, "cuts": cuts}
    return json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"


def read_statement(text: str) -> InductionStatement:
    """The statement of a document; an InputError says what is wrong with it."""
    return read_document(text, FORMAT, _statement_of)


def _statement_of(document: Any) -> InductionStatement:
    if set(document) != DOCUMENT_NAMES or document["format"] != FORMAT:
        raise InputError(f"expected a {FORMAT} with its statement and cuts")
    version = document["version"]
    if type(version) is not int or version != VERSION:
        raise InputError(f"version {show_value(version)}: expected {VERSION}")
    fields = document["statement"]
    if set(fields) != {*STATEMENT_NAMES, "groups"}:
        raise InputError(f"the statement has the names {sorted(fields)}")
    groups = fields["groups"]
    cuts = document["cuts"]
    are_lists = type(groups) is list and type(cuts) is list
    if not are_lists or not 0 < len(groups) == len(cuts) <= MOST_GROUPS:
        raise InputError(f"expected 1 to {MOST_GROUPS} groups, and cuts for each")

    check_number("length", fields["length"])
    check_number("tokens", fields["tokens"])
    if fields["opening"] is not None:
        check_number("opening", fields["opening"])
    for group in groups:
        _check_group(group)
    if len({tuple(group[:5]) for group in groups}) < len(groups):
        raise InputError("a group stands there twice: expected each once")
    model = fields["model"]
    is_name = type(model) is str and MODEL_NAME.fullmatch(model)
    if not is_name or type(fields["weights"]) is not str:
        raise InputError("the model's name or digest is not one")

    claims = []
    for group, group_cuts in zip(groups, cuts, strict=True):
        a, b, c, j, head, least = group
        claims.append(InductionClaim(a, b, c, j, head, least, group_cuts))
    about = {name: fields[name] for name in STATEMENT_NAMES}
    return InductionStatement(**about, claims=tuple(claims))


def _check_group(group: Any) -> None:
    """[a, b, c, j, head, least], of which c and head may be null."""
    if type(group) is not list or len(group) != 6:
        raise InputError("a group is not of the form [a, b, c, j, head, least]")
    a, b, c, j, head, least = group
    for number in (a, b, j):
        check_number("a group", number)
    for number in (c, head):
        if number is not None:
            check_number("a group", number)
    is_decimal = type(least) is str and DECIMAL.fullmatch(least)
    if not is_decimal or not Fraction(least) > 0:
        raise InputError(
            f"at least {show_value(least)}: expected a decimal above 0, such as 0.875"
        )
