"""Keys in classes: all that is symmetric is counted once.

Keys that an exercise names (k_a, k_b) stand alone; the other keys play the same part, so a vector has one coordinate
for all of them, and n never has to be a number. A key picked from the others (an index i 'for all i != a, b', or the
index of a sum) is split off into a class of its own while it is spoken of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from headwright.check.scalars import Scalar, number
from headwright.errors import HeadwrightError

REST = "*"  # the class of all keys that have no name
ZERO, ONE = number(0), number(1)


class UndeterminedError(HeadwrightError):
    """A quantity that the givens do not determine, such as how two unnamed keys lie to one another."""


@dataclass(frozen=True)
class Vec:
    """A vector by its coordinates on the classes: sum over classes C of coordinate_C * sum of the members of C.

    Space 'key' holds keys and queries, 'value' the values and outputs; a row is a transposed one.
    """

    space: Literal["key", "value"]
    coordinates: Mapping[str, Scalar]
    row: bool = False

    def of(self, name: str) -> Scalar:
        """The coordinate on a class, 0 where there is none."""
        return self.coordinates.get(name, ZERO)

    def times(self, factor: Scalar) -> Vec:
        """A multiple."""
        return Vec(self.space, {name: factor * x for name, x in self.coordinates.items()}, self.row)

    def plus(self, other: Vec) -> Vec:
        """The sum of two vectors of one space."""
        names = {*self.coordinates, *other.coordinates}
        return Vec(self.space, {name: self.of(name) + other.of(name) for name in sorted(names)}, self.row)

    def turned(self) -> Vec:
        """The transpose."""
        return Vec(self.space, self.coordinates, not self.row)


@dataclass(frozen=True)
class Classes:
    """Who the keys are: the named ones, those picked from the rest, and the rest with its number."""

    named: tuple[str, ...]
    picked: tuple[str, ...]
    rest: Scalar  # how many keys are in no other class
    gram: Callable[[str, str], Scalar]  # inner product of two different members, by class
    square: Callable[[str], Scalar]  # of a member with itself

    @property
    def singles(self) -> tuple[str, ...]:
        """The classes with one member."""
        return self.named + self.picked

    @property
    def all(self) -> tuple[str, ...]:
        """Every class of keys."""
        return (*self.singles, REST)

    def count(self, name: str) -> Scalar:
        """How many keys a class has."""
        return self.rest if name == REST else ONE

    def picking(self, index: str) -> Classes:
        """The same keys, with one of the rest picked out under this name."""
        return Classes(self.named, (*self.picked, index), self.rest - ONE, self.gram, self.square)

    def inner(self, x: Vec, y: Vec) -> Scalar:
        """The inner product of two vectors of the key space."""
        total = ZERO
        for c, s in x.coordinates.items():
            for d, t in y.coordinates.items():
                if s == ZERO or t == ZERO:
                    continue
                total = total + s * t * self._pairs(c, d)
        return total

    def _pairs(self, c: str, d: str) -> Scalar:
        if c != d:
            return self.count(c) * self.count(d) * self.gram(c, d)
        if c != REST:
            return self.square(c)
        across = self.gram(REST, REST)
        return self.rest * self.square(REST) + (ZERO if across == ZERO else self.rest * (self.rest - ONE) * across)
