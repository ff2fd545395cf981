"""What the names in a formula mean, in an exercise about keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from headwright.check.answer import full_name
from headwright.check.exercise import Exercise, Keys
from headwright.check.rooms.keys.classes import ONE, REST, ZERO, Classes, UndeterminedError, Vec
from headwright.check.scalars import POSITIVE, REAL, Range, Scalar, exp, number, parameter
from headwright.formula.tree import Name, Node, Number, walk

MOST_HINTS = 10
QUERY = "query"  # the direction of a query that nobody has defined: only its scores are known
SEPARATED = Range(-1, Fraction(1, 2))  # inner products of unit vectors at a distance of at least 1
MEMBER = "one of the rest"
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
    def random(self) -> frozenset[str]:
        """The names of random lengths."""
        return frozenset(scale.name for scale in self.setting.scales.values())

    def gives(self, name: Name) -> bool:
        """Whether the exercise gives this name; others are the answer's own."""
        full, setting = full_name(name), self.setting
        named = {*self.exercise.parameters, *self.exercise.definitions, *self.exercise.answer, *setting.directions}
        if full in named or any(full == scale.name for scale in setting.scales.values()):
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
        return Vec("key", {which: ONE if scale is None else self.scalar(scale.name)})

    def picking(self, index: str) -> Scene:
        """The same with one of the other keys picked out."""
        return replace(self, classes=self.classes.picking(index))

    def knowing(self, **fixed: Scalar) -> Scene:
        """The same with some names fixed."""
        return replace(self, fixed={**self.fixed, **fixed})

    def defining(self, definitions: Mapping[str, Node]) -> Scene:
        """The same with further definitions."""
        return replace(self, definitions={**self.definitions, **definitions})

    def scores(self, query: Vec) -> dict[str, Scalar]:
        """The score of each class of keys."""
        members = (*self.classes.singles, REST)
        return {c: self._score(c, query) for c in members}

    def inner(self, x: Vec, y: Vec) -> Scalar:
        """The inner product, with what is fixed put in."""
        return self.classes.inner(x, y).put(self.fixed)

    def _score(self, which: str, query: Vec) -> Scalar:
        if which != REST:
            return self.inner(self.key(which), query)
        one = self.picking(MEMBER)  # a single member, not the sum of all
        spread = Vec("key", {**query.coordinates, MEMBER: query.of(REST)})
        return one.inner(Vec("key", {MEMBER: ONE}), spread)

    def pattern(self, query: Vec) -> dict[str, Scalar]:
        """The weight of each class's members: exp(score) over the sum of all."""
        weights = {c: exp(score) for c, score in self.scores(query).items()}
        total = ZERO
        for c, weight in weights.items():
            total = total + self.classes.count(c) * weight
        return {c: weight / total for c, weight in weights.items()}


def opening(exercise: Exercise, setting: Keys) -> Scene:
    """The scene before anything is answered."""
    ranges = {name: given.range() for name, given in exercise.parameters.items()}
    for scale in setting.scales.values():
        ranges[scale.name] = REAL
    n = parameter("n", ranges["n"])
    rest = n - number(len(setting.named))
    gram, square = _geometry(setting)
    return Scene(exercise, setting, Classes(setting.named, (), rest, gram, square), ranges)


def _geometry(setting: Keys) -> tuple[Callable[[str, str], Scalar], Callable[[str], Scalar]]:
    centre = setting.named[0]

    def orthonormal(c: str, d: str) -> Scalar:
        del c, d
        return ZERO

    def separated(c: str, d: str) -> Scalar:
        if centre in (c, d):
            return parameter(closeness_name(d if c == centre else c), SEPARATED)
        raise UndeterminedError("it depends on how the other keys lie to one another")

    def unknown(c: str, d: str) -> Scalar:
        if QUERY in (c, d):
            which = d if c == QUERY else c
            return parameter(score_name(which))
        raise UndeterminedError("it depends on how the keys lie to one another")

    def one(c: str) -> Scalar:
        del c
        return ONE

    def unknown_square(c: str) -> Scalar:
        del c
        raise UndeterminedError("the keys and the query may have any length")

    if setting.are == "any":
        return unknown, unknown_square
    return (orthonormal if setting.are == "orthonormal" else separated), one


def score_name(which: str) -> str:
    """The parameter that stands for the score of a key, where only scores are known; the rest share one.

    All that the pattern of the named keys sees of the others is the sum of exp(score), and that sum is the same for
    some common score between their smallest and their largest.
    """
    return "score" if which in (REST, MEMBER) else f"score_{which}"


def closeness_name(which: str) -> str:
    """The parameter that stands for the inner product of k_1 with a key, where keys are merely separated."""
    return "closeness" if which in (REST, MEMBER) else f"closeness_{which}"
