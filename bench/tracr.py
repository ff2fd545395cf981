"""The heads that tracr compiles for the same rules, rebuilt from its code, for comparison.

tracr (google-deepmind/tracr, Apache-2.0) compiles a selector into a head with hand-set constants:

    craft/chamber/categorical_attn.py   scores 100 (softmax_coldness) for a match of one-hot directions, 0 otherwise; a
                                        token 'bos' at the front that everyone scores 50, for when nothing matches; a
                                        direction 'one' that every token has, which asks for it; W_OV copies
    compiler/assemble.py                key_size = the largest side of W_QK and of W_OV; W_K a projection, W_Q the rest
    transformer/attention.py            scores are divided by sqrt(key_size)

It needs jax and haiku to run, so its matrices are rebuilt here, and judged by the same arithmetic as ours: the worst
error is proven for both. Its tokens are ours with 'one' added and 'bos' at the front; coefficients of directions are
1, as it has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.head_design.exact_bounds import frobenius_above, proven_facts
from headwright.head_design.head import Head, HeadLayer
from headwright.head_design.heads_result import HeadsResult
from headwright.head_design.rules import Rule, Rules
from headwright.numerics.enclosure import shown_above

COLDNESS, BOS = 100.0, 0.5
FAR = 2.0**16  # no head is turned up further


@dataclass(frozen=True)
class Selector:
    """What tracr would be told: one-hot variables, and which value of the query matches which of the key."""

    queries: str
    keys: str
    pairs: str
    values: str  # copied; a sign in front where the rules want one, which tracr would leave to an MLP


SELECTORS = {
    "route": Selector("a d", "c d", "d>c a>d", "b -c"),
    "previous": Selector(
        "p0 p1 p2 p3 p4", "p0 p1 p2 p3 p4", "p1>p0 p2>p1 p3>p2 p4>p3", "x y z"
    ),
    "first": Selector(
        "start x y z w",
        "start x y z w",
        "start>start x>start y>start z>start w>start",
        "start x y z w",
    ),
    "induction": Selector(
        "x y z", "after_x after_y after_z", "x>after_x y>after_y z>after_z", "x y z"
    ),
    "majority": Selector(
        "member guest ask", "member guest ask", "ask>member", "yes no"
    ),
    "lookup": Selector(
        "ask_ann ask_bob ask_cy",
        "ann bob cy",
        "ask_ann>ann ask_bob>bob ask_cy>cy",
        "oslo rome lima",
    ),
}


@dataclass(frozen=True)
class Figures:
    """How wrong, how large and how wide a head is; error and norm are rounded up."""

    error: float  # the worst over the rules, proven
    norm: float  # |W_K^T W_Q|_F with scores at scale 1
    head_dim: int

    def __str__(self) -> str:
        return (
            f"error <= {shown_above(self.error, 2)}, norm <= {shown_above(self.norm, 5)}, "
            f"head dimension {self.head_dim}"
        )


def published(
    rules: Rules, selector: Selector, lengths: Mapping[str, float]
) -> Figures:
    """tracr's head for these rules, judged as ours is; `lengths` are those of the directions, in their order."""
    head, key_size = _compiled(selector, lengths, rules.dimension, rules.width)
    extended = _with_bos(rules)
    layer = HeadLayer((head,), rules.causal, "float64")
    return Figures(
        max(error for error, _ in proven_facts(extended, extended.rules, layer)),
        frobenius_above(head),
        key_size,
    )


def _compiled(
    selector: Selector, lengths: Mapping[str, float], D: int, width: int
) -> tuple[Head, int]:
    """tracr's head in our conventions, and its key_size. Coordinates D and D + 1 are 'bos' and 'one'."""
    place = {name: i for i, name in enumerate(lengths)}
    M: Float[np.ndarray, "D D"] = np.zeros((D + 2, D + 2))  # scores are x_j^T M x_i
    W_V: Float[np.ndarray, "m D"] = np.zeros((width, D + 2))
    for pair in selector.pairs.split():
        query, key = pair.split(">")
        M[place[key], place[query]] = COLDNESS / (lengths[key] * lengths[query])
    M[D, D + 1] = BOS * COLDNESS
    for signed in selector.values.split():
        name = signed.lstrip("-")
        W_V[place[name], place[name]] = -1.0 if signed.startswith("-") else 1.0
    queries, keys, values = (
        len(part.split()) for part in (selector.queries, selector.keys, selector.values)
    )
    key_size = max(
        queries + 2, keys + 1, values + 1
    )  # with bos and one; with bos; with bos
    rows = np.flatnonzero(
        M.any(axis=1)
    )  # W_K picks the keys, W_Q is the rest; rows of zeros change nothing
    return Head(M[rows] / math.sqrt(key_size), np.eye(D + 2)[rows], W_V), key_size


def _with_bos(rules: Rules) -> Rules:
    """The same rules, about tokens as tracr has them."""

    def extended(X: Float[np.ndarray, "T D"]) -> Float[np.ndarray, "T1 D2"]:
        tokens = np.pad(X, ((1, 0), (0, 2)))
        tokens[0, -2], tokens[:, -1] = 1.0, 1.0
        return tokens

    moved = [
        Rule(
            rule.token + 1, rule.sequence, rule.head, None, rule.output, rule.tolerance
        )
        for rule in rules.rules
    ]
    return Rules(tuple(map(extended, rules.sequences)), tuple(moved), rules.causal)


def turned_up(built: HeadsResult, goal: float) -> Figures:
    """A head of one layer, with W_Q turned up until its proven error is no more than the goal."""
    if built.layer is None:
        raise InputError(
            f"there is no head to turn up, since the verdict is {built.word}: {built.words}"
        )
    rules, head = built.rules, built.layer.heads[0]

    def louder(factor: float) -> tuple[float, Head]:
        found = Head(factor * head.W_Q, head.W_K, head.W_V)
        facts = proven_facts(
            rules, rules.rules, HeadLayer((found,), rules.causal, "float64")
        )
        return max(error for error, _ in facts), found

    low, high = 1.0, 2.0
    while louder(high)[0] > goal:
        low, high = high, 2 * high
        if high > FAR:
            raise InputError(
                f"an error of {goal:g}: a head that is turned up does not reach it; expected a larger one"
            )
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if louder(middle)[0] <= goal else (middle, high)
    error, found = louder(high)
    return Figures(error, frobenius_above(found), built.head_dim)
