"""What a name stands for, as an exercise about tokens gives it; its value is a matter of who evaluates it."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.formulas import tree as t
from headwright.grading.answer import MisfitError, label
from headwright.grading.kinds.tokens.table import Tokens

_PROJECTED = {"q": "Q", "k": "K", "v": "V"}  # q_i is Q x_i, and so on


@dataclass(frozen=True)
class TokenDirection:
    """u_a: a vector along the axis at a place."""

    place: int


@dataclass(frozen=True)
class TokenWeight:
    """alpha_{21}: what the token at one place gives to that at another."""

    query: int
    key: int


@dataclass(frozen=True)
class TokenOutput:
    """c_2: the values of all tokens, by the weights that one gives them."""

    query: int


@dataclass(frozen=True)
class Projected:
    """q_2: a matrix times a token."""

    matrix: str
    token: int


def meaning_of(
    name: t.Name, table: Tokens
) -> TokenDirection | TokenWeight | TokenOutput | Projected | None:
    """What a name stands for; None: a definition, a number, or nothing that is known."""
    index = label(name.index)
    if name.base == table.letter and index in table.directions:
        return TokenDirection(table.directions.index(index))
    if name.base == "alpha":
        query, key = (_place(name, part, table) for part in _pair(name))
        return TokenWeight(query, key)
    if name.base == "c" and index.isdigit():
        return TokenOutput(_place(name, index, table))
    if name.base in _PROJECTED and index.isdigit():
        return Projected(_PROJECTED[name.base], _place(name, index, table))
    return None


def visible(query: int, table: Tokens) -> range:
    """The places of the tokens to which a token attends."""
    return range(query + 1 if table.mask == "causal" else len(table.tokens))


def _pair(name: t.Name) -> list[str]:
    """alpha_{21} is alpha_{2,1}."""
    listed = name.index.items if isinstance(name.index, t.Listing) else ()
    parts = [label(item) for item in listed] or list(label(name.index))
    if len(parts) != 2:
        raise MisfitError(
            "expected two indices: alpha_{21} is the weight that token 2 gives to token 1",
            name,
        )
    return parts


def _place(name: t.Name, which: str, table: Tokens) -> int:
    labels = [token.partition("_")[2] for token in table.tokens]
    if which not in labels:
        tokens = ", ".join(table.tokens)
        raise MisfitError(
            f"there is no token {which}", name, fix=f"the tokens are {tokens}"
        )
    return labels.index(which)
