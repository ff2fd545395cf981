"""A head of the first layer: the score of any token at any place with any token at any other.

The score of query token a at place p with key token b at place j is <query(a, p, j), key(b, j)>: with rotary positions
the query is turned by the distance and the key is not, with learned positions both depend on their places; the scale is
in the query. Vectors are float64 with a bound on how far each row may be from the exact one (rounding of embeddings,
norms, rotations and products), so every score has a proven slack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from flint import arb, ctx
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.fast.balls import TINY, UP, gamma

Row = Float[np.ndarray, " half"]
Which = Int[np.ndarray, " queries"] | None  # tokens, as a head counts them; None: all


@dataclass(frozen=True, eq=False)
class Vectors:
    """One row for each token; no row is further than `error` from the exact one, in Euclidean length."""

    rows: Float[np.ndarray, "tokens d"]
    error: float

    @cached_property
    def longest(self) -> float:
        """Not below the length of any of the computed rows."""
        if not len(self.rows):
            return 0.0
        most = float(np.einsum("ij,ij->i", self.rows, self.rows).max())
        return float(np.sqrt(most) * (1 + 2 * gamma(self.rows.shape[1] + 4)))

    def some(self, which: Which) -> Vectors:
        """Some of the rows, or all."""
        return self if which is None else Vectors(self.rows[which], self.error)

    def slack(self, other: Vectors) -> float:
        """No product of two rows, computed in float64 in any order, is further than this from the exact one."""
        a, b = self.longest, other.longest
        rounding = gamma(self.rows.shape[1] + 1) * a * b
        found = (rounding + a * other.error + b * self.error + self.error * other.error) * UP + TINY
        if not np.isfinite(found):
            raise InputError("the numbers of queries and keys are too large for float64: nothing is proved of them")
        return found


class Head(Protocol):
    """What is asked of a head; everywhere else a token is counted by its place among `tokens`."""

    @property
    def number(self) -> int:
        """Which of its layer."""

    @property
    def tokens(self) -> Int[np.ndarray, " tokens"]:
        """The ids of the tokens: first those that any place may hold, then those that are only held where they are."""

    @property
    def free(self) -> int:
        """How many any place may hold."""

    def queries(self, place: int, at: int, which: Which = None) -> Vectors:
        """The queries of some tokens at a place, as they meet a key at another."""

    def keys(self, at: int) -> Vectors:
        """The keys of all tokens at a place."""


@dataclass(frozen=True)
class Texts:
    """All texts of a length, seen from the query at `place`; tokens at the places in `held` are fixed.

    A causal head sees the places up to its own, another one all; `seen` are those in a window, too.
    """

    length: int
    place: int
    held: Mapping[int, int] = field(default_factory=dict)  # place -> index of a token, as the head counts them
    causal: bool = True
    window: int | None = None

    def __post_init__(self) -> None:
        if self.length < 1 or not 0 <= self.place < self.length:
            raise InputError(f"texts of {self.length} tokens, seen from place {self.place}: expected one of the places")
        if self.place in self.held or any(not 0 <= place < self.length for place in self.held):
            raise InputError(f"tokens are held at {sorted(self.held)}: expected places of the text but the query's own")

    @property
    def seen(self) -> tuple[int, ...]:
        """The places that the query sees, its own among them."""
        reach = self.length if self.window is None else self.window
        last = self.place + 1 if self.causal else min(self.length, self.place + reach)
        return tuple(range(max(0, self.place - reach + 1), last))

    @property
    def others(self) -> tuple[int, ...]:
        """Those but its own."""
        return tuple(at for at in self.seen if at != self.place)

    @property
    def free(self) -> tuple[int, ...]:
        """The places whose token may be any."""
        return tuple(at for at in self.others if at not in self.held)


@dataclass(frozen=True, eq=False)
class Rotary:
    """A head whose queries and keys are turned by place: <R(p - j) q_a, k_b>, in pairs (i, i + d/2).

    >>> head = Rotary(np.arange(2), Vectors(np.eye(2), 0.0), Vectors(np.eye(2), 0.0), np.array([np.pi / 2]))
    >>> np.round(head.queries(1, 0).rows, 6).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """

    tokens: Int[np.ndarray, " tokens"]
    query: Vectors
    key: Vectors
    angles: Float[np.ndarray, " half"]  # by how much a pair turns from one place to the next: exact numbers
    only_held: int = 0
    number: int = 0

    @property
    def free(self) -> int:
        """All but those that are only held."""
        return len(self.tokens) - self.only_held

    def turns(self, distance: int) -> tuple[Row, Row]:
        """Cosines and sines of the angles at a distance, from balls: each off by less than 2^-52."""
        with ctx.workprec(128):  # a float times a distance below 2^75 is exact, and is reduced with the bits it takes
            turns = [(arb(angle) * distance).sin_cos() for angle in self.angles.tolist()]
        return np.array([float(cos.mid()) for _, cos in turns]), np.array([float(sin.mid()) for sin, _ in turns])

    def queries(self, place: int, at: int, which: Which = None) -> Vectors:
        """Turned: three roundings of each part and those of its factors are less than 2^-49 of a pair's length."""
        cos, sin = self.turns(place - at)
        half = len(self.angles)
        first, second, rest = np.split(self.query.some(which).rows, [half, 2 * half], axis=1)
        turned = np.hstack([first * cos - second * sin, first * sin + second * cos, rest])
        return Vectors(turned, (self.query.error * (1 + 2.0**-48) + self.query.longest * 2.0**-49) * UP)

    def keys(self, at: int) -> Vectors:  # noqa: ARG002
        """The same at every place."""
        return self.key


@dataclass(frozen=True, eq=False)
class Placed:
    """A head whose vectors depend on their places: learned positions, or none."""

    tokens: Int[np.ndarray, " tokens"]
    at_query: Callable[[int], Vectors]
    at_key: Callable[[int], Vectors]
    only_held: int = 0
    number: int = 0

    @property
    def free(self) -> int:
        """All but those that are only held."""
        return len(self.tokens) - self.only_held

    def queries(self, place: int, at: int, which: Which = None) -> Vectors:  # noqa: ARG002
        """Whatever key they meet."""
        return self.at_query(place).some(which)

    def keys(self, at: int) -> Vectors:
        """At this place."""
        return self.at_key(at)
