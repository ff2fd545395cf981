"""A head of the first layer: the score of any token at any place with any token at any other.

The score of query token a at place p with key token b at place j is <query(a, p, j), key(b, j)>: with rotary positions
the query is turned by the distance and the key is not, with learned positions both depend on their places; the scale is
in the query. Vectors are float64 with a bound on how far each row may be from the exact one (rounding of embeddings,
norms, rotations and products), so every score has a proven slack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from flint import arb, ctx
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.numerics.balls import TINY, UP, gamma

Row = Float[np.ndarray, " half"]
Which = Int[np.ndarray, " queries"] | None  # tokens, as a head counts them; None: all


@dataclass(frozen=True, eq=False)
class TokenVectors:
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

    def some(self, which: Which) -> TokenVectors:
        """Some of the rows, or all."""
        return self if which is None else TokenVectors(self.rows[which], self.error)

    def slack(self, other: TokenVectors) -> float:
        """No product of two rows, computed in float64 in any order, is further than this from the exact one."""
        a = self.longest
        b = other.longest
        rounding = gamma(self.rows.shape[1] + 1) * a * b
        # <q, k> - <q', k'> = <q', k - k'> + <q - q', k'> + <q - q', k - k'>, by Cauchy and Schwarz
        moved = a * other.error + b * self.error + self.error * other.error
        slack = (rounding + moved) * UP + TINY
        if not np.isfinite(slack):
            raise InputError(
                "the numbers of queries and keys are too large for float64: nothing is proved of them"
            )
        return slack


class FirstLayerHead(Protocol):
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

    def queries(self, place: int, at: int, which: Which = None) -> TokenVectors:
        """The queries of some tokens at a place, as they meet a key at another."""

    def keys(self, at: int) -> TokenVectors:
        """The keys of all tokens at a place."""


@dataclass(frozen=True, eq=False)
class RotaryHead:
    """A head whose queries and keys are turned by place: <R(p - j) q_a, k_b>, in pairs (i, i + d/2).

    >>> vectors = TokenVectors(np.eye(2), 0.0)
    >>> head = RotaryHead(np.arange(2), vectors, vectors, np.array([np.pi / 2]))
    >>> np.round(head.queries(1, 0).rows, 6).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """

    tokens: Int[np.ndarray, " tokens"]
    query: TokenVectors
    key: TokenVectors
    # By how much a pair turns from one place to the next: exact numbers.
    angles: Row
    only_held: int = 0
    number: int = 0

    @property
    def free(self) -> int:
        """All but those that are only held."""
        return len(self.tokens) - self.only_held

    def turns(self, distance: int) -> tuple[Row, Row]:
        """Cosines and sines of the angles at a distance, from balls: each off by less than 2^-52."""
        # A float times a distance below 2^75 is exact, and is reduced with the bits it takes.
        with ctx.workprec(128):
            turns = [arb(angle) * distance for angle in self.angles.tolist()]
            cos = [float(turn.cos().mid()) for turn in turns]
            sin = [float(turn.sin().mid()) for turn in turns]
        return np.array(cos), np.array(sin)

    def queries(self, place: int, at: int, which: Which = None) -> TokenVectors:
        """Turned: three roundings of each part and those of its factors are less than 2^-49 of a pair's length."""
        cos, sin = self.turns(place - at)
        half = len(self.angles)
        rows = self.query.some(which).rows
        first, second, rest = np.split(rows, [half, 2 * half], axis=1)
        new_first = first * cos - second * sin
        new_second = first * sin + second * cos
        turned = np.hstack([new_first, new_second, rest])
        moved = self.query.error * (1 + 2.0**-48)
        error = (moved + self.query.longest * 2.0**-49) * UP
        return TokenVectors(turned, error)

    def keys(self, at: int) -> TokenVectors:  # noqa: ARG002
        """The same at every place."""
        return self.key


@dataclass(frozen=True, eq=False)
class PlacedHead:
    """A head whose vectors depend on their places: learned positions, or none."""

    tokens: Int[np.ndarray, " tokens"]
    at_query: Callable[[int], TokenVectors]
    at_key: Callable[[int], TokenVectors]
    only_held: int = 0
    number: int = 0

    @property
    def free(self) -> int:
        """All but those that are only held."""
        return len(self.tokens) - self.only_held

    def queries(self, place: int, at: int, which: Which = None) -> TokenVectors:  # noqa: ARG002
        """Whatever key they meet."""
        return self.at_query(place).some(which)

    def keys(self, at: int) -> TokenVectors:
        """At this place."""
        return self.at_key(at)
