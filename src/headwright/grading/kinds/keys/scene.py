"""What the names in a formula mean, in an exercise about keys.

Keys come in classes: those that an exercise names (k_a, k_b) stand alone; the others play the same part, so a vector
has one coordinate for all of them, and n never has to be a number. A key picked from the others (an index, or the
index of a sum) is split off into a class of its own while it is spoken of.

An index is any other key, unless it is said for which it is meant: 'for all i != a' ranges over all keys but k_a, over
k_b too; 'for all i' over all; 'for all i != j' over all pairs of different keys. Each key with a name is a case of its
own, and one case stands for all keys of a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from headwright.formulas import tree as t
from headwright.grading.answer import MisfitError, UndeterminedError, full_name, label
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.scalars import (
    POSITIVE,
    REAL,
    Range,
    Scalar,
    exp,
    number,
    parameter,
)
from headwright.grading.scalars.numbers import Symbol

REST = "*"  # the class of all keys that have no name
FIRST = "^"  # the class of the first keys, where an exercise is about as many as a parameter says
ZERO, ONE = number(0), number(1)


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
        return Vec(
            self.space,
            {name: factor * x for name, x in self.coordinates.items()},
            self.row,
        )

    def plus(self, other: Vec) -> Vec:
        """The sum of two vectors of one space."""
        names = {*self.coordinates, *other.coordinates}
        return Vec(
            self.space,
            {name: self.of(name) + other.of(name) for name in sorted(names)},
            self.row,
        )

    def turned(self) -> Vec:
        """The transpose."""
        return Vec(self.space, self.coordinates, not self.row)


@dataclass(frozen=True)
class Classes:
    """Who the keys are: the named ones, those picked from the others, the first, and the rest, with their numbers."""

    named: tuple[str, ...]
    picked: Mapping[str, str]  # and the class that each was picked from
    rest: Scalar  # how many keys are in no other class
    first: Scalar | None = (
        None  # how many of the first keys were not picked; None: these play no part of their own
    )

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


QUERY = "query"  # the direction of a query that nobody has defined: only its scores are known
SEPARATED = Range(
    -1, Fraction(1, 2)
)  # inner products of unit vectors at a distance of at least 1
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
    definitions: Mapping[str, t.Node] = field(default_factory=dict)
    fixed: Mapping[str, Scalar] = field(
        default_factory=dict
    )  # scales in the case at hand, scores solved for
    vectors: Mapping[str, Vec] = field(
        default_factory=dict
    )  # queries given as vectors rather than formulas
    own: Mapping[str, Range] = field(
        default_factory=dict
    )  # what is said of names of the answer's own, in numbers
    moved: Mapping[str, Vec] = field(
        default_factory=dict
    )  # by how much keys lie beside where they are

    def range_of(self, name: str) -> Range:
        """Where a name of the answer's own lies: it is positive, unless something else is said of it."""
        said = self.own.get(name)
        if said is None:
            return POSITIVE
        if said.lower is None and isinstance(said.upper, Fraction) and said.upper > 0:
            return replace(said, lower=Fraction(0), lower_open=True)
        return said

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries, one for each head."""
        named = [
            name
            for name in (*self.exercise.answer, *self.exercise.definitions)
            if name.split("_")[0] == "q"
        ]
        return tuple(sorted(named)) or ("q",)

    @property
    def small(self) -> tuple[str, ...]:
        """The tolerances, which go to 0 where something is said to hold approximately."""
        return tuple(
            name for name, known in self.exercise.parameters.items() if known.small
        )

    @property
    def there_are(self) -> tuple[Hypothesis, ...]:
        """What is known of the numbers of keys: where the first m play a part of their own, there are others too."""
        counted = [
            (self.classes.count(which), ">=", ZERO)
            for which in self.classes.many
            if self.classes.picked
        ]
        if self.setting.first is None:
            return tuple(counted)
        return (
            *counted,
            (self.scalar("n"), ">=", self.scalar(self.setting.first.size) + ONE),
        )

    @property
    def random(self) -> frozenset[str]:
        """The names of random lengths."""
        return frozenset(scale.name for scale in self.setting.scales.values())

    def gives(self, name: t.Name) -> bool:
        """Whether the exercise gives this name; others are the answer's own."""
        full, setting = full_name(name), self.setting
        named = {
            *self.exercise.parameters,
            *self.exercise.definitions,
            *self.exercise.answer,
            *setting.directions,
        }
        if full in named or any(
            full == scale.name for scale in setting.scales.values()
        ):
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
            yield self.knowing(
                **{
                    scale.name: number(v)
                    for scale, v in zip(discrete, values, strict=True)
                }
            )

    def scalar(self, name: str) -> Scalar:
        """A parameter, or the scalar it was fixed to."""
        fixed = self.fixed.get(name)
        return (
            parameter(name, self.ranges.get(name) or self.range_of(name))
            if fixed is None
            else fixed
        )

    def key(self, which: str) -> Vec:
        """k_which."""
        scale = self.setting.scales.get(which)
        key = Vec("key", {which: ONE if scale is None else self.scalar(scale.name)})
        return key.plus(self.moved[which]) if which in self.moved else key

    def picking(self, index: str, home: str = REST) -> Scene:
        """The same with one key of a class picked out under this name."""
        classes = replace(self.classes, picked={**self.classes.picked, index: home})
        left = self.classes.count(home) - ONE
        return replace(
            self,
            classes=replace(classes, first=left)
            if home == FIRST
            else replace(classes, rest=left),
        )

    def knowing(self, **fixed: Scalar) -> Scene:
        """The same with some names fixed."""
        return replace(self, fixed={**self.fixed, **fixed})

    def defining(self, definitions: Mapping[str, t.Node]) -> Scene:
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
                total = (
                    total
                    if pairs == ZERO
                    else total + s * r * pairs * self._inner(c, d)
                )
        return total.put(self.fixed)

    def _inner(self, c: str, d: str | None = None) -> Scalar:
        """The inner product of two different members of two classes; of a member of the first one with itself."""
        match self.setting.are:
            case "any":
                if d is None or QUERY not in (c, d):
                    raise UndeterminedError(
                        "it depends on how the keys lie to one another, and on their lengths"
                    )
                return parameter(score_name(d if c == QUERY else c))
            case "separated" if d is not None:
                centre = next(iter(self.setting.named), FIRST)
                if centre not in (c, d):
                    raise UndeterminedError(
                        "it depends on how the other keys lie to one another"
                    )
                return parameter(closeness_name(d if c == centre else c), SEPARATED)
        return ONE if d is None else ZERO

    def scores(self, query: Vec) -> dict[str, Scalar]:
        """The score of each class of keys."""
        found = {
            which: self.inner(self.key(which), query) for which in self.classes.singles
        }
        for (
            which
        ) in self.classes.many:  # that of a single member, not of the sum of all
            spread = Vec("key", {**query.coordinates, MEMBER: query.of(which)})
            found[which] = self.picking(MEMBER, which).inner(
                Vec("key", {MEMBER: ONE}), spread
            )
        return found

    def pattern(self, query: Vec) -> dict[str, Scalar]:
        """The weight of each class's members: exp(score) over the sum of all."""
        weights = {c: exp(score) for c, score in self.scores(query).items()}
        total = sum(
            (self.classes.count(c) * weight for c, weight in weights.items()), ZERO
        )
        return {c: weight / total for c, weight in weights.items()}


def opening(exercise: Exercise, setting: Keys) -> Scene:
    """The scene before anything is answered."""
    ranges = {name: given.range() for name, given in exercise.parameters.items()}
    ranges |= {scale.name: REAL for scale in setting.scales.values()}
    n = parameter("n", ranges["n"])
    first = (
        None
        if setting.first is None
        else parameter(setting.first.size, ranges[setting.first.size])
    )
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
    return (
        ("", told.format("i"))
        if which in (REST, MEMBER)
        else (which, told.format(which))
    )


PLACES = {
    (FIRST,): (r"{i} \le {m}", r"{m} \ge {i}", r"1 \le {i} \le {m}"),
    (REST,): (
        r"{i} > {m}",
        r"{m} < {i}",
        r"{i} \ge {m} + 1",
        r"{m} < {i} \le n",
        r"{m} + 1 \le {i} \le n",
    ),
    (FIRST, REST): (r"1 \le {i} \le n",),
}


def among(condition: t.Node, letter: str, size: str) -> tuple[str, ...]:
    """The classes of the keys that a condition on an index leaves, where the first m play a part of their own."""
    for homes, spellings in PLACES.items():
        if any(
            condition == parsed(spelt.format(i=letter, m=size)) for spelt in spellings
        ):
            return homes
    raise MisfitError(
        "which keys are meant is not understood",
        condition,
        fix=f"write {letter} \\le {size} or {letter} > {size}",
    )


def is_place(condition: t.Node, scene: Scene) -> bool:
    """Whether a condition only says which keys are meant, where the first m play a part of their own: i <= m."""
    first = scene.setting.first
    spelt = (
        []
        if first is None
        else [
            one.format(i=i, m=first.size)
            for i in "ijlr"
            for kind in PLACES.values()
            for one in kind
        ]
    )
    return any(condition == parsed(one) for one in spelt)


MOST_INDICES = 3  # that range over all keys in one statement


def about_indices(link: t.Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers."""
    singles = scene.classes.singles
    for term in link.terms if link.comparisons == ("!=",) else ():
        named = (
            isinstance(term, t.Name) and term.index is None and not scene.gives(term)
        )
        if not named and not (
            isinstance(term, t.Number | t.Name) and label(term) in singles
        ):
            return False  # of three keys one is c, as the output is
    return link.comparisons == ("!=",)


def free_indices(link: t.Node, scene: Scene) -> list[str]:
    """The indices of keys in a comparison that are neither named nor bound by a sum."""
    letters, found = ("k", "v", "alpha", *scene.setting.also), dict[str, None]()
    known = set(scene.classes.singles)
    for node in t.walk(link):
        if isinstance(node, t.BigSum | t.BigCall):
            known.add(node.index)
        elif (
            isinstance(node, t.Name) and node.base in letters and node.index is not None
        ):
            found[
                label(
                    node.index.items[-1]
                    if isinstance(node.index, t.Listing)
                    else node.index
                )
            ] = None
    return [index for index in found if index.isalpha() and index not in known]


def apart(under: Sequence[t.Node], scene: Scene) -> list[tuple[str, str]]:
    """The pairs of indices that are said to be different."""
    pairs: list[tuple[str, str]] = []
    for node in under:
        if isinstance(node, t.Logic) and node.word == "and":
            pairs += apart(node.items, scene)
        elif (
            isinstance(node, t.Relation)
            and len(node.terms) == 2
            and about_indices(node, scene)
        ):
            pairs.append((label(node.terms[0]), label(node.terms[1])))
    return pairs


Meant = tuple[
    t.Relation, Mapping[str, str]
]  # a comparison with its indices, each for a key of one class


def meant(link: t.Relation, under: Sequence[t.Node], scene: Scene) -> Iterator[Meant]:
    """The comparison for every kind of key that its indices may stand for."""
    for one, chosen in _renamed_for(link, under, scene):
        letters = free_indices(one, scene)
        options = [
            [
                home
                for home in scene.classes.many
                if all(home in _homes(name, under, scene) for name in alike)
            ]
            for alike in (
                [letter, *(name for name, which in chosen.items() if which == letter)]
                for letter in letters
            )
        ]
        for homes in product(*options):
            yield one, dict(zip(letters, homes, strict=True))


def _homes(letter: str, under: Sequence[t.Node], scene: Scene) -> tuple[str, ...]:
    """The classes from which the key with this index may be."""
    found, first = scene.classes.many, scene.setting.first
    if first is None:
        return found
    about = [one for one in under if places_keys(one, [letter])]
    if not about and t.Name(letter) not in under:
        raise MisfitError(
            "which keys are meant is not said",
            t.Name(letter),
            fix=f"write {letter} \\le {first.size}",
        )
    for one in about:
        if not (isinstance(one, t.Relation) and about_indices(one, scene)):
            found = tuple(
                home for home in found if home in among(one, letter, first.size)
            )
    return found


def _renamed_for(
    link: t.Relation, under: Sequence[t.Node], scene: Scene
) -> Iterator[Meant]:
    """The comparison with names of keys, or other indices, in place of indices that range over them; and which."""
    letters = free_indices(link, scene)
    different = [
        *apart(under, scene),
        *(pair for one in under for pair in _counted(one, letters, scene)),
    ]
    spoken = {index for pair in different for index in pair} | {
        n.base for n in under if isinstance(n, t.Name)
    }
    spoken |= {
        letter for letter in letters if any(places_keys(one, [letter]) for one in under)
    }
    ranging = [index for index in letters if index in spoken]
    if len(ranging) > MOST_INDICES:
        raise MisfitError(
            f"more than {MOST_INDICES} indices range over the keys",
            link,
            fix="say it for fewer",
        )
    options = [
        [*scene.classes.named, *ranging[: place + 1]] for place in range(len(ranging))
    ]
    for choice in product(*options):
        chosen = dict(zip(ranging, choice, strict=True))
        if any(chosen.get(x, x) == chosen.get(y, y) for x, y in different):
            continue
        if any(which in chosen and chosen[which] != which for which in choice):
            continue  # a letter that stands for another, which stands for a third: told already
        moved = renamed(
            link, {index: which for index, which in chosen.items() if index != which}
        )
        if isinstance(moved, t.Relation):
            yield moved, chosen


def places_keys(condition: t.Node, letters: Sequence[str]) -> bool:
    """Whether a condition is about an index, so that it says which keys are meant: i >= 3."""
    terms = condition.terms if isinstance(condition, t.Relation) else ()
    return any(
        isinstance(term, t.Name) and term.index is None and term.base in letters
        for term in terms
    )


def _counted(
    condition: t.Node, letters: Sequence[str], scene: Scene
) -> list[tuple[str, str]]:
    """'i >= 3' where keys are numbered: i is none of those before; anything else of that kind is not understood."""
    if (
        not places_keys(condition, letters)
        or not isinstance(condition, t.Relation)
        or about_indices(condition, scene)
    ):
        return []
    if is_every_key(condition) or scene.setting.first is not None:
        return []
    match condition:
        case t.Relation((t.Name(letter), t.Number(first)), (">=" | ">" as sign,)) if (
            first.denominator == 1
        ):
            before = [str(place) for place in range(1, int(first) + (sign == ">"))]
            if scene.classes.named[: len(before)] == tuple(before):
                return [(letter, which) for which in before]
    raise MisfitError(
        "which keys are meant is not understood", condition, fix="write i \\ne a, b"
    )


def is_every_key(condition: t.Node) -> bool:
    """i = 1, ..., n: all of them."""
    match condition:
        case t.Relation(
            (t.Number(first), t.Name(), t.Name("n", None, 0)), ("<=", "<=")
        ):
            return first == 1
        case _:
            return False


def renamed(node: t.Node, mapping: Mapping[str, str]) -> t.Node:
    """The same with other keys in place of indices."""
    if not mapping:
        return node
    if isinstance(node, t.BigSum | t.BigCall) and node.index in mapping:
        mapping = {
            index: which for index, which in mapping.items() if index != node.index
        }
    if not isinstance(node, t.Name) or node.index is None:
        return t.mapped(node, lambda part: renamed(part, mapping))
    items = node.index.items if isinstance(node.index, t.Listing) else (node.index,)
    moved: list[t.Node] = []
    for item in items:
        which = mapping.get(label(item))
        number = which is not None and which.isdigit()
        moved.append(
            item
            if which is None
            else t.Number(Fraction(which))
            if number
            else t.Name(which, span=item.span)
        )
    index = (
        replace(node.index, items=tuple(moved))
        if isinstance(node.index, t.Listing)
        else moved[0]
    )
    return replace(node, index=index)


def spelt(node: t.Node, scene: Scene) -> t.Node:
    """The same without sets of indices: i <= m for 'i in S', and m for |S|, where the exercise calls the first m so."""
    first = scene.setting.first
    called = "" if first is None else first.set
    match node:
        case t.Bond("in", left, t.Name("n", None, 0)):
            return t.Relation(
                (t.Number(Fraction(1)), left, t.Name("n")), ("<=", "<="), span=node.span
            )
        case t.Bond("in", left, t.Name(name)) if first is not None and name == called:
            return t.Relation((left, t.Name(first.size)), ("<=",), span=node.span)
        case t.Logic("not", (t.Bond("in", left, t.Name(name)),)) if (
            first is not None and name == called
        ):
            return t.Relation((left, t.Name(first.size)), (">",), span=node.span)
        case t.Norm(t.Name(name)) if first is not None and name == called:
            return t.Name(first.size)
        case t.BigSum(letter, body, conditions=(t.Bond("in", t.Name(index), own),)) if (
            letter == index
        ):
            if items := _listed(own, scene):
                return spelt(
                    t.Sum(tuple(t.with_index(body, letter, item) for item in items)),
                    scene,
                )
        case t.Quantified(body, (t.Bond("in", t.Name(letter), own),)):
            if items := _listed(own, scene):
                return spelt(
                    t.Logic(
                        "and", tuple(t.with_index(body, letter, item) for item in items)
                    ),
                    scene,
                )
        case t.Logic("not", (t.Bond("in", left, own),)):
            if items := _listed(own, scene):
                return t.Logic(
                    "and",
                    tuple(
                        t.Relation((left, item), ("!=",), span=node.span)
                        for item in items
                    ),
                )
    return t.mapped(node, lambda part: spelt(part, scene))


def _listed(name: t.Node, scene: Scene) -> tuple[t.Node, ...]:
    """The indices in a set that the answer lists: S = {a, b}."""
    defined = (
        scene.definitions.get(full_name(name)) if isinstance(name, t.Name) else None
    )
    return defined.items if isinstance(defined, t.Listing) else ()
