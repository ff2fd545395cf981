"""A head of the first layer: the score of any token at any place with any token at any other.

The score of query token a at place p with key token b at place j is <query(a, p, j), key(b, j)>: with rotary positions
the query is turned by the distance and the key is not, with learned positions both depend on their places; the scale is
in the query. Vectors are float64 with a bound on how far each row may be from the exact one (rounding of embeddings,
norms, rotations and products), so every score has a proven slack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.fast.balls import gamma


@dataclass(frozen=True, eq=False)
class Vectors:
    """One row for each token; no row is further than `error` from the exact one, in Euclidean length.

    >>> Vectors(np.eye(2), 0.0).longest >= 1
    True
    """

    rows: Float[np.ndarray, "tokens d"]
    error: float

    @property
    def longest(self) -> float:
        """Not below the length of any of the computed rows."""
        return float(np.sqrt((self.rows**2).sum(axis=1).max()) * (1 + 2 * gamma(self.rows.shape[1] + 4)))

    def slack(self, other: Vectors) -> float:
        """No product of two rows, computed in float64 in any order, is further than this from the exact one."""
        a, b = self.longest, other.longest
        rounding = gamma(self.rows.shape[1] + 1) * a * b
        return (rounding + a * other.error + b * self.error + self.error * other.error) * (1 + 2.0**-40) + 2.0**-1000


class Head(Protocol):
    """What is asked of a head; everywhere else a token is counted by its place among `tokens`."""

    @property
    def tokens(self) -> Int[np.ndarray, " tokens"]:
        """The ids of the tokens that a text may hold."""

    def queries(self, place: int, at: int) -> Vectors:
        """The queries of all tokens at a place, as they meet a key at another."""

    def keys(self, at: int) -> Vectors:
        """The keys of all tokens at a place."""


@dataclass(frozen=True)
class Texts:
    """All texts of a length, seen from the query at `place`; tokens at the places in `held` are fixed.

    A causal head sees the places up to its own, another one all; `seen` are those in a window, too.

    >>> Texts(4, 3).others
    (0, 1, 2)
    >>> Texts(4, 3, {0: 7}).free
    (1, 2)
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
    angles: Float[np.ndarray, " half"]  # of one place; the exact ones are within a relative 2^-50 of these

    def queries(self, place: int, at: int) -> Vectors:
        """Turned by the distance. An angle is wrong by less than 2^-49 of itself, a sine by that and a little."""
        distance = place - at
        if distance == 0:
            return self.query
        angle = distance * self.angles
        cos, sin = np.cos(angle), np.sin(angle)
        half = len(self.angles)
        first, second = self.query.rows[:, :half], self.query.rows[:, half : 2 * half]
        rest = self.query.rows[:, 2 * half :]
        turned = np.hstack([first * cos - second * sin, first * sin + second * cos, rest])
        wrong = float(np.abs(angle).max(initial=0.0)) * 2.0**-49 + 2.0**-48  # of each turned pair, relatively
        return Vectors(turned, (self.query.error + self.query.longest * wrong) * (1 + 2.0**-40))

    def keys(self, at: int) -> Vectors:  # noqa: ARG002
        """The same at every place."""
        return self.key


@dataclass(frozen=True, eq=False)
class Placed:
    """A head whose vectors are given for every place: learned positions, or none.

    >>> Placed(np.arange(1), [Vectors(np.ones((1, 2)), 0.0)], [Vectors(np.ones((1, 2)), 0.0)]).keys(0).rows.shape
    (1, 2)
    """

    tokens: Int[np.ndarray, " tokens"]
    at_query: list[Vectors]
    at_key: list[Vectors]

    def queries(self, place: int, at: int) -> Vectors:  # noqa: ARG002
        """Whatever key they meet."""
        return self.at_query[place]

    def keys(self, at: int) -> Vectors:
        """At this place."""
        return self.at_key[at]
