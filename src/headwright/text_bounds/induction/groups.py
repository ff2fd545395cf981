"""Groups of texts of two-layer induction, and what is asked of them.

A group (a, b, c, j) is all texts of n tokens in which a stands at j - 1 and at the end, f = n - 1, and nowhere else, b
at j, and c, if it is named, at f - 1. Where texts have an opening token, it stands at place 0; every other place holds
any token but a and the opening one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headwright.errors import InputError


@dataclass(frozen=True)
class TextGroup:
    """The texts with a at j - 1 and at the end and nowhere else, b at j, and c before the end if it is named."""

    a: int
    b: int
    j: int
    c: int | None = None

    def allowed(
        self, length: int, tokens: int, opening: int | None = None
    ) -> list[Int[np.ndarray, " tokens"]]:
        """What each place may hold."""
        special = (self.a, opening)
        others = np.array([token for token in range(tokens) if token not in special])
        named = {
            0: opening,
            length - 2: self.c,
            self.j - 1: self.a,
            self.j: self.b,
            length - 1: self.a,
        }
        allowed = []
        for place in range(length):
            token = named.get(place)
            allowed.append(others if token is None else np.array([token]))
        return allowed

    def check(self, length: int, tokens: int, opening: int | None) -> None:
        """Refuse a group of which there are no texts."""
        named = (self.a, self.b) if self.c is None else (self.a, self.b, self.c)
        first = 0 if opening is None else 1
        are_tokens = all(0 <= token < tokens and token != opening for token in named)
        if self.a in named[1:] or not are_tokens:
            raise InputError(
                f"the tokens {named}: expected two different tokens from {first} to {tokens - 1}, and before "
                "the end one that is not the first of them"
            )
        last = length - 2
        has_room = self.c is None or self.j != last
        if not first + 1 <= self.j <= last or not has_room:
            raise InputError(
                f"place {self.j} of the pair's second token: expected {first + 1} to {last}, and at the "
                "last of these no other token before the end"
            )


def unnamed_groups(
    length: int, tokens: int, opening: int | None = None
) -> Iterator[TextGroup]:
    """All in which no token before the end is named."""
    ordinary = [token for token in range(tokens) if token != opening]
    first = 1 if opening is None else 2
    for a in ordinary:
        for b in ordinary:
            if a != b:
                for j in range(first, length - 1):
                    yield TextGroup(a, b, j)


@dataclass(frozen=True)
class InductionGoal:
    """What is bounded, the margin of b or the weight on j in a head of the second layer; and the target."""

    head: int | None = None

    @property
    def target(self) -> float:
        """More than this: b is predicted, or has most of the weight."""
        return 0.0 if self.head is None else 0.5

    @property
    def caution(self) -> float:
        """A claim is so much below the bound found in float32, which must be above the target by twice that."""
        return 2.0**-7 if self.head is None else 2.0**-12

    @property
    def digits(self) -> int:
        """Decimals of a claim."""
        return 3 if self.head is None else 4
