"""What the names in a formula mean, in an exercise about keys.

Keys come in classes: those that an exercise names (k_a, k_b) stand alone; the others play the same part, so a vector
has one coordinate for all of them, and n never has to be a number. A key picked from the others (an index, or the
index of a sum) is split off into a class of its own while it is spoken of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from headwright.check.answer import MisfitError, full_name
from headwright.check.exercise import Exercise, Keys, parsed
from headwright.check.scalars import POSITIVE, REAL, Range, Scalar, exp, number, parameter
from headwright.check.scalars.numbers import Symbol
from headwright.errors import HeadwrightError
from headwright.formula.tree import Name, Node, Number, walk

REST = "*"  # the class of all keys that have no name
FIRST = "^"  # the class of the first keys, where an exercise is about as many as a parameter says
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
    """Who the keys are: the named ones, those picked from the others, the first, and the rest, with their numbers."""

    named: tuple[str, ...]
    picked: Mapping[str, str]  # and the class that each was picked from
    rest: Scalar  # how many keys are in no other class
    first: Scalar | None = None  # how many of the first keys were not picked; None: these play no part of their own

    @property
    def singles(self) -> tuple[str, ...]:
        """The classes with one member."""
        return (*self.named, *self.picked)

    @property
    def many(self) -> tuple[str, ...]:
        """The classes with any number of members."""
        return (REST,) if self.first is None else (FIRST, REST)

    @property
    def all(self) -> tuple[str, ...]:
        """Every class of keys."""
        return (*self.named, *self.picked, *self.many)

    def count(self, name: str) -> Scalar:
        """How many keys a class has."""
        if name == FIRST and self.first is not None:
            return self.first
        return self.rest if name == REST else ONE


MOST_HINTS = 10
QUERY = "query"  # the direction of a query that nobody has defined: only its scores are known
SEPARATED = Range(-1, Fraction(1, 2))  # inner products of unit vectors at a distance of at least 1
MEMBER = "one of the rest"
VARIANCE = "a"  # of vanishing noise
Hypothesis = tuple[Scalar, str, Scalar]


@dataclass(frozen=True)
class Scene:
    """An exercise about keys, with what an answer has defined so far.

    `free` are names that the exercise does not give; their ranges are what the answer says of them.
    """

    exercise: Exercise
    setting: Keys
    classes: Classes
    ranges: Mapping[str, Range]
    definitions: Mapping[str, Node] = field(default_factory=dict)
    fixed: Mapping[str, Scalar] = field(default_factory=dict)  # scales in the case at hand, scores solved for
    vectors: Mapping[str, Vec] = field(default_factory=dict)  # queries given as vectors rather than formulas
    own: Mapping[str, Range] = field(default_factory=dict)  # what is said of names of the answer's own, in numbers
    moved: Mapping[str, Vec] = field(default_factory=dict)  # by how much keys lie beside where they are

    def range_of(self, name: str) -> Range:
        """Where a name of the answer's own lies: it is positive, unless something else is said of it."""
        said = self.own.get(name)
        if said is None:
            return POSITIVE
        if said.lower is None and isinstance(said.upper, Fraction) and said.upper > 0:
            return replace(said, lower=Fraction(0), lower_open=True)
        return said

    @property
    def hints(self) -> tuple[int, ...]:
        """Integers that an answer writes down: |n - 123457| is 0 where n is that."""
        numbers = [part.value for node in self.definitions.values() for part in walk(node) if isinstance(part, Number)]
        whole = dict.fromkeys(int(value) for value in numbers if value.denominator == 1 and value > 1)
        return tuple(whole)[:MOST_HINTS]

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries, one for each head."""
        named = [name for name in (*self.exercise.answer, *self.exercise.definitions) if name.split("_")[0] == "q"]
        return tuple(sorted(named)) or ("q",)

    @property
    def small(self) -> tuple[str, ...]:
        """The tolerances, which go to 0 where something is said to hold approximately."""
        return tuple(name for name, known in self.exercise.parameters.items() if known.small)

    @property
    def there_are(self) -> tuple[Hypothesis, ...]:
        """What is known of the numbers of keys: where the first m play a part of their own, there are others too."""
        counted = [(self.classes.count(which), ">=", ZERO) for which in self.classes.many if self.classes.picked]
        if self.setting.first is None:
            return tuple(counted)
        return (*counted, (self.scalar("n"), ">=", self.scalar(self.setting.first.size) + ONE))

    @property
    def random(self) -> frozenset[str]:
        """The names of random lengths."""
        return frozenset(scale.name for scale in self.setting.scales.values())

    def gives(self, name: Name) -> bool:
        """Whether the exercise gives this name; others are the answer's own."""
        full, setting = full_name(name), self.setting
        named = {*self.exercise.parameters, *self.exercise.definitions, *self.exercise.answer, *setting.directions}
        if full in named or any(full == scale.name for scale in setting.scales.values()):
            return True
        if setting.first is not None and full == setting.first.set:
            return True
        if name.index is not None:
            return name.base in ("k", "v", "alpha", "c", *setting.also)
        return full in ("pi", "e", "c", "q", "infinity")

    def cases(self) -> Iterator[Scene]:
        """The scene for every value of the lengths that are one of several."""
        discrete = [scale for scale in self.setting.scales.values() if scale.one_of]
        for values in product(*(scale.one_of for scale in discrete)):
            yield self.knowing(**{scale.name: number(v) for scale, v in zip(discrete, values, strict=True)})

    def scalar(self, name: str) -> Scalar:
        """A parameter, or the scalar it was fixed to."""
        fixed = self.fixed.get(name)
        return parameter(name, self.ranges.get(name) or self.range_of(name)) if fixed is None else fixed

    def key(self, which: str) -> Vec:
        """k_which."""
        scale = self.setting.scales.get(which)
        key = Vec("key", {which: ONE if scale is None else self.scalar(scale.name)})
        return key.plus(self.moved[which]) if which in self.moved else key

    def picking(self, index: str, home: str = REST) -> Scene:
        """The same with one key of a class picked out under this name."""
        classes = replace(self.classes, picked={**self.classes.picked, index: home})
        left = self.classes.count(home) - ONE
        return replace(self, classes=replace(classes, first=left) if home == FIRST else replace(classes, rest=left))

    def knowing(self, **fixed: Scalar) -> Scene:
        """The same with some names fixed."""
        return replace(self, fixed={**self.fixed, **fixed})

    def defining(self, definitions: Mapping[str, Node]) -> Scene:
        """The same with further definitions."""
        return replace(self, definitions={**self.definitions, **definitions})

    def inner(self, x: Vec, y: Vec) -> Scalar:
        """The inner product of two vectors of the key space, with what is fixed put in."""
        total, classes = ZERO, self.classes
        for (c, s), (d, r) in product(x.coordinates.items(), y.coordinates.items()):
            if s != ZERO and r != ZERO:
                pairs, square = classes.count(c) * classes.count(d), ZERO
                if c == d:
                    square = self._inner(c)
                    pairs = pairs - classes.count(c)
                total = total + s * r * classes.count(c) * square
                total = total if pairs == ZERO else total + s * r * pairs * self._inner(c, d)
        return total.put(self.fixed)

    def _inner(self, c: str, d: str | None = None) -> Scalar:
        """The inner product of two different members of two classes; of a member of the first one with itself."""
        match self.setting.are:
            case "any":
                if d is None or QUERY not in (c, d):
                    raise UndeterminedError("it depends on how the keys lie to one another, and on their lengths")
                return parameter(score_name(d if c == QUERY else c))
            case "separated" if d is not None:
                centre = next(iter(self.setting.named), FIRST)
                if centre not in (c, d):
                    raise UndeterminedError("it depends on how the other keys lie to one another")
                return parameter(closeness_name(d if c == centre else c), SEPARATED)
        return ONE if d is None else ZERO

    def scores(self, query: Vec) -> dict[str, Scalar]:
        """The score of each class of keys."""
        found = {which: self.inner(self.key(which), query) for which in self.classes.singles}
        for which in self.classes.many:  # that of a single member, not of the sum of all
            spread = Vec("key", {**query.coordinates, MEMBER: query.of(which)})
            found[which] = self.picking(MEMBER, which).inner(Vec("key", {MEMBER: ONE}), spread)
        return found

    def pattern(self, query: Vec) -> dict[str, Scalar]:
        """The weight of each class's members: exp(score) over the sum of all."""
        weights = {c: exp(score) for c, score in self.scores(query).items()}
        total = sum((self.classes.count(c) * weight for c, weight in weights.items()), ZERO)
        return {c: weight / total for c, weight in weights.items()}


def opening(exercise: Exercise, setting: Keys) -> Scene:
    """The scene before anything is answered."""
    ranges = {name: given.range() for name, given in exercise.parameters.items()}
    ranges |= {scale.name: REAL for scale in setting.scales.values()}
    n = parameter("n", ranges["n"])
    first = None if setting.first is None else parameter(setting.first.size, ranges[setting.first.size])
    rest = n - (number(len(setting.named)) if first is None else first)
    return Scene(exercise, setting, Classes(setting.named, {}, rest, first), ranges)


def score_name(which: str) -> Symbol:
    """The parameter that stands for the score of a key, where only scores are known; the rest share one.

    All that the pattern of the named keys sees of the others is the sum of exp(score), and that sum is the same for
    some common score between their smallest and their largest.
    """
    return Symbol("score", *_whose(which, "k_{}^T q"))


def closeness_name(which: str) -> Symbol:
    """The parameter that stands for the inner product of k_1 with a key, where keys are merely separated."""
    return Symbol("closeness", *_whose(which, "k_1^T k_{}"))


def _whose(which: str, told: str) -> tuple[str, str]:
    """Of whom, and how that is told: the keys without a name are all told as i."""
    return ("", told.format("i")) if which in (REST, MEMBER) else (which, told.format(which))


PLACES = {
    (FIRST,): (r"{i} \le {m}", r"{m} \ge {i}", r"1 \le {i} \le {m}"),
    (REST,): (r"{i} > {m}", r"{m} < {i}", r"{i} \ge {m} + 1", r"{m} < {i} \le n", r"{m} + 1 \le {i} \le n"),
    (FIRST, REST): (r"1 \le {i} \le n",),
}


def among(condition: Node, letter: str, size: str) -> tuple[str, ...]:
    """The classes of the keys that a condition on an index leaves, where the first m play a part of their own."""
    for homes, spellings in PLACES.items():
        if any(condition == parsed(spelt.format(i=letter, m=size)) for spelt in spellings):
            return homes
    raise MisfitError("which keys are meant is not understood", condition, fix=say_which(letter, size))


def is_place(condition: Node, scene: Scene) -> bool:
    """Whether a condition only says which keys are meant, where the first m play a part of their own: i <= m."""
    first = scene.setting.first
    spelt = (
        []
        if first is None
        else [one.format(i=i, m=first.size) for i in "ijlr" for kind in PLACES.values() for one in kind]
    )
    return any(condition == parsed(one) for one in spelt)


def say_which(letter: str, size: str) -> str:
    """How to say which of the keys an index stands for, where the first m play a part of their own."""
    return f"write {letter} \\le {size} or {letter} > {size}"
