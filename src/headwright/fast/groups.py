"""What the keys may be, through one query: keys of equal spread form a group, and what a group needs is computed once.

A key of a group is c k + e with low <= c <= high and e in the ellipsoid of C = t^2 k k^T + r^2 I + E E^T, enlarged by
the deviations where it is random. With m = scale <k, q> and G = r^2 |q|^2 + |E^T q|^2 its scores reach from

    min(low m, high m) - w   to   max(low m, high m) + w,      w = deviations sqrt(t^2 m^2 + scale^2 G).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from jaxtyping import Int

from headwright.fast.balls import Balls
from headwright.fast.exactly import ball, dot, to_balls
from headwright.trusted.certificate import Spread, Statement
from headwright.trusted.numbers import Reject

ONE, NONE = Fraction(1), Fraction(0)
CERTAIN = Spread(None, ONE, ONE, NONE, NONE, (), random=False)


@dataclass(frozen=True, eq=False)
class Group:
    """Keys of one spread, through one query."""

    spread: Spread
    deviations: Fraction
    G: arb
    pull: list[arb]  # r^2 q + E E^T q, so that G = <pull, q>

    def constants(self, scale: arb) -> tuple[arb, arb, arb, arb]:
        """low - 1, high - 1, the part of w^2 that all keys share, and what m is stretched by."""
        z = ball(self.deviations)
        stretch = z * ball(self.spread.stretch)
        return ball(self.spread.low - 1), ball(self.spread.high - 1), (z * scale) ** 2 * self.G, stretch


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups, and which one each key is in; group 0 are the certain keys."""

    index: Int[np.ndarray, " n"]
    groups: list[Group]

    def constants(self, scale: arb) -> list[Balls]:
        """The groups' constants as floats."""
        return [to_balls(column) for column in zip(*(g.constants(scale) for g in self.groups), strict=True)]


def group(statement: Statement, query: Sequence[arb]) -> Groups:
    """The groups of a statement's world."""
    numbers: dict[Spread, int] = {CERTAIN: 0}
    index = np.zeros(statement.keys[0].n, dtype=np.intp)
    for spread in sorted(statement.world, key=lambda spread: spread.keys is not None):  # '*' first, then the named
        number = numbers.setdefault(replace(spread, keys=None), len(numbers))
        index[slice(None) if spread.keys is None else np.array(sorted(spread.keys), dtype=np.intp)] = number
    return Groups(index, [_group(spread, statement, query) for spread in numbers])


def _group(spread: Spread, statement: Statement, query: Sequence[arb]) -> Group:
    square = ball(spread.ball) ** 2
    pull = [square * x for x in query]
    G = square * dot(query, query)
    for entries in spread.factor:
        column = [ball(x) for x in entries]
        share = dot(column, query)
        pull = [p + share * x for p, x in zip(pull, column, strict=True)]
        G += share * share
    return Group(spread, statement.deviations if spread.random else ONE, G, pull)


def highest(x: Any, m: Any, low: Any, high: Any, base: Any, stretch: Any) -> Any:
    """How much higher than x = m - (some reference) the score m may rise, added to x; for Balls and for arb alike.

    >>> highest(arb(1), arb(3), arb("-0.5"), arb(0), arb(4), arb(0))
    3.00000000000000
    """
    pulled = stretch * m
    return x + (low * m).max(high * m) + (base + pulled * pulled).sqrt()


def check_confidence(statement: Statement, heads: int) -> None:
    """Each side of each random key fails, in each head, with the tail of a normal law; together they must be rare."""
    named = {key: spread.random for spread in statement.world for key in spread.keys or ()}
    others = any(spread.random for spread in statement.world if spread.keys is None)
    random = sum(named.values()) + (statement.keys[0].n - len(named) if others else 0)
    if len(statement.wish) > 1:  # a target competes with the other targets, too
        random += sum(named.get(target, others) for target in statement.wish)
    tail = (ball(statement.deviations) / arb(2).sqrt()).erfc() / 2
    if random and not random * heads * tail <= 1 - ball(statement.confidence):
        raise Reject("the deviations guarded against do not have the probability that is claimed")
