"""Check the claims of a statement about induction: the weights, the groups, and how each group is cut into parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.induction.checker.second_layer import ClaimChecker
from headwright.text_bounds.induction.checker.tables import Choices
from headwright.text_bounds.induction.statement import (
    InductionClaim,
    InductionStatement,
)
from headwright.text_bounds.induction.weights import Weights, weights_digest

SHORTEST = 3
LONGEST = 256  # texts: tables grow with them
DIMENSIONS = {"embed": 2, "query": 4, "value": 4, "place": 2, "angles": 1}


def check_claims(
    statement: InductionStatement,
    weights: Weights,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights."""
    _check_shapes(weights)
    if statement.weights != weights_digest(weights):
        raise DoubtError("it is about other weights")
    tokens = len(weights["embed"])
    longest = min(LONGEST, len(weights["place"]) or LONGEST)
    if statement.tokens != tokens or not SHORTEST <= statement.length <= longest:
        raise DoubtError(
            f"expected {tokens} tokens, and texts of {SHORTEST} to {longest}"
        )
    if not all(np.isfinite(array).all() for array in weights.values()):
        raise DoubtError("a weight is not finite")
    checker = ClaimChecker(weights, statement.length)
    for number, claim in enumerate(statement.claims):
        _check_group(statement, claim, checker.heads)
        choices = _choices_of(statement, claim)
        _check_parts(checker, choices, claim, claim.cuts)
        if progress is not None:
            progress((number + 1) / len(statement.claims))


def _check_shapes(weights: Weights) -> None:
    """The matrices go together, each token has a logit, and there are no others."""
    are_real = all(array.dtype.kind in "fiu" for array in weights.values())
    dimensions = {name: weights[name].ndim for name in DIMENSIONS}
    if not are_real or dimensions != DIMENSIONS:
        raise DoubtError(
            "weights are arrays of real numbers, matrices by layer and head"
        )
    tokens, width = weights["embed"].shape
    heads, _, d = weights["query"].shape[1:]
    inner = weights["value"].shape[-1]
    angles = len(weights["angles"])
    if 2 * angles not in (0, d) or not d:
        raise DoubtError(
            f"{angles} angles for queries of {d} numbers: expected none, or half as many"
        )
    expected = {
        "query": (2, heads, width, d),
        "key": (2, heads, width, d),
        "value": (2, heads, width, inner),
        "output": (2, heads, inner, width),
        "unembed": (width, tokens),
        "place": (len(weights["place"]), width),
        "angles": (angles,),
    }
    for name, shape in expected.items():
        if weights[name].shape != shape:
            raise DoubtError(
                f"{name} is of shape {weights[name].shape}: expected {shape}"
            )


def _ordinary_tokens(statement: InductionStatement, claim: InductionClaim) -> list[int]:
    """What a free place may hold: any token but a and the opening one."""
    special = (claim.a, statement.opening)
    return [token for token in range(statement.tokens) if token not in special]


def _check_group(
    statement: InductionStatement, claim: InductionClaim, heads: int
) -> None:
    """The tokens and the place of a group are such that there are texts of it."""
    ordinary = _ordinary_tokens(statement, claim)
    first = 1 if statement.opening is None else 2
    last = statement.length - 2
    is_token = claim.a < statement.tokens and claim.a != statement.opening
    is_place = first <= claim.j <= last
    if not is_token or not is_place or claim.b not in ordinary:
        raise DoubtError(f"{claim} is not a group")
    if claim.c is not None and (claim.c not in ordinary or claim.j == last):
        raise DoubtError(f"{claim}: another token stands before the end")
    is_head = claim.head is None or claim.head < heads
    is_opening = statement.opening is None or statement.opening < statement.tokens
    if not is_head or not is_opening:
        raise DoubtError(f"{claim}: there is no such head, or no such opening token")


def _choices_of(statement: InductionStatement, claim: InductionClaim) -> Choices:
    """The tokens that each place of a text of the group may hold."""
    end = statement.length - 1
    choices = [np.array(_ordinary_tokens(statement, claim))] * statement.length
    if statement.opening is not None:
        choices[0] = np.array([statement.opening])
    if claim.c is not None:
        choices[end - 1] = np.array([claim.c])
    choices[claim.j - 1] = np.array([claim.a])
    choices[claim.j] = np.array([claim.b])
    choices[end] = np.array([claim.a])
    return choices


def _check_parts(
    checker: ClaimChecker, choices: Choices, claim: InductionClaim, cuts: Any
) -> None:
    """All texts whose places hold these tokens: at once, or cut by the token at a place.

    Cuts are 0 (at once), or [place, tokens, parts]: a part for each of the tokens, and one for the rest if there is
    any.
    """
    if type(cuts) is int and cuts == 0:
        if not checker.holds(choices, claim):
            raise DoubtError(f"for {claim} it may be less")
        return
    is_cut = type(cuts) is list and len(cuts) == 3
    if not is_cut or type(cuts[1]) is not list or type(cuts[2]) is not list:
        raise DoubtError(
            f"the cuts of {claim} are not of the form [place, tokens, parts]"
        )
    place, tokens, parts = cuts
    are_numbers = all(type(number) is int for number in (place, *tokens))
    if not are_numbers or not 0 <= place < len(choices) or len(choices[place]) < 2:
        raise DoubtError(f"{claim} is cut at a place that has no choice of tokens")
    rest = [token for token in choices[place].tolist() if token not in tokens]
    # Each token once, and all of them among the choices.
    is_whole = len(tokens) + len(rest) == len(choices[place])
    tokens_of_parts = [[token] for token in tokens]
    if rest:
        tokens_of_parts.append(rest)
    if not tokens or not is_whole or len(tokens_of_parts) != len(parts):
        raise DoubtError(
            f"{claim} is cut at place {place} into parts that are not all there is"
        )
    for part_tokens, part in zip(tokens_of_parts, parts, strict=True):
        part_choices = list(choices)
        part_choices[place] = np.array(part_tokens)
        _check_parts(checker, part_choices, claim, part)
