"""Which keys the indices of a formula stand for, in an exercise about keys.

An index is any other key, unless it is said for which it is meant: 'for all i != a' ranges over all keys but k_a, over
k_b too; 'for all i' over all; 'for all i != j' over all pairs of different keys. Each key with a name is a case of its
own, and one case stands for all keys of a class. The key with the largest score is a case for each class, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import Scene, among, say_which
from headwright.formula import tree as t

MOST_INDICES = 3  # that range over all keys in one statement


def about_indices(link: t.Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers."""
    if link.comparisons != ("!=",):
        return False
    return all(_is_index(term, scene) for term in link.terms)


def _is_index(term: t.Node, scene: Scene) -> bool:
    if isinstance(term, t.Number):
        return label(term) in scene.classes.singles
    if not isinstance(term, t.Name) or term.index is not None:
        return False
    return label(term) in scene.classes.singles or not scene.gives(term)  # of three keys one is c, as the output is


def free_indices(link: t.Node, scene: Scene) -> list[str]:
    """The indices of keys in a comparison that are neither named nor bound by a sum."""
    letters = ("k", "v", "alpha", *scene.setting.also)
    known = {node.index for node in t.walk(link) if isinstance(node, t.BigSum | t.BigCall)} | set(scene.classes.singles)
    indices = [
        label(_last(node.index))
        for node in t.walk(link)
        if isinstance(node, t.Name) and node.base in letters and node.index is not None
    ]
    return list(dict.fromkeys(index for index in indices if index.isalpha() and index not in known))


def _last(index: t.Node) -> t.Node:
    return index.items[-1] if isinstance(index, t.Listing) else index


def apart(under: Sequence[t.Node], scene: Scene) -> list[tuple[str, str]]:
    """The pairs of indices that are said to be different."""
    return [(label(link.terms[0]), label(link.terms[1])) for link in _relations(under) if about_indices(link, scene)]


def _relations(under: Sequence[t.Node]) -> Iterator[t.Relation]:
    for node in under:
        if isinstance(node, t.Relation) and len(node.terms) == 2:
            yield node
        elif isinstance(node, t.Logic) and node.word == "and":
            yield from _relations(node.items)


@dataclass(frozen=True)
class Meant:
    """A comparison with its indices, each for a key of one class."""

    link: t.Relation
    homes: Mapping[str, str]
    orders: tuple[Order, ...] = ()  # what is the case where a largest or smallest is replaced by one of those
    absent: tuple[str, ...] = ()  # classes without members then


@dataclass(frozen=True)
class Order:
    """That one formula is at least another; with an index, for all other keys of the class of that index."""

    more: t.Node
    less: t.Node
    index: str = ""


def meant(link: t.Relation, under: Sequence[t.Node], scene: Scene) -> Iterator[Meant]:
    """The comparison for every kind of key that its indices may stand for."""
    for one, chosen in _renamed_for(link, under, scene):
        letters = free_indices(one, scene)
        options = [
            [home for home in scene.classes.many if all(home in _homes(name, under, scene) for name in alike)]
            for alike in ([letter, *(name for name, which in chosen.items() if which == letter)] for letter in letters)
        ]
        for homes in product(*options):
            yield Meant(one, dict(zip(letters, homes, strict=True)))


def _homes(letter: str, under: Sequence[t.Node], scene: Scene) -> tuple[str, ...]:
    """The classes from which the key with this index may be."""
    found, first = scene.classes.many, scene.setting.first
    if first is None:
        return found
    about = [one for one in under if places_keys(one, [letter])]
    if not about and t.Name(letter) not in under:
        raise MisfitError("which keys are meant is not said", t.Name(letter), fix=say_which(letter, first.size))
    for one in about:
        if not (isinstance(one, t.Relation) and about_indices(one, scene)):
            found = tuple(home for home in found if home in among(one, letter, first.size))
    return found


def _renamed_for(
    link: t.Relation, under: Sequence[t.Node], scene: Scene
) -> Iterator[tuple[t.Relation, Mapping[str, str]]]:
    """The comparison with names of keys, or other indices, in place of indices that range over them; and which."""
    letters = free_indices(link, scene)
    different = [*apart(under, scene), *(pair for one in under for pair in _counted(one, letters, scene))]
    spoken = {index for pair in different for index in pair} | {n.base for n in under if isinstance(n, t.Name)}
    spoken |= {letter for letter in letters if any(places_keys(one, [letter]) for one in under)}
    ranging = [index for index in letters if index in spoken]
    if len(ranging) > MOST_INDICES:
        raise MisfitError(
            f"more than {MOST_INDICES} indices range over the keys", link, fix="say it for fewer at a time"
        )
    options = [[*scene.classes.named, *ranging[: place + 1]] for place in range(len(ranging))]
    for choice in product(*options):
        chosen = dict(zip(ranging, choice, strict=True))
        if any(chosen.get(x, x) == chosen.get(y, y) for x, y in different):
            continue
        if any(which in chosen and chosen[which] != which for which in choice):
            continue  # a letter that stands for another, which stands for a third: told already
        moved = renamed(link, {index: which for index, which in chosen.items() if index != which})
        if isinstance(moved, t.Relation):
            yield moved, chosen


def places_keys(condition: t.Node, letters: Sequence[str]) -> bool:
    """Whether a condition is about an index, so that it says which keys are meant: i >= 3."""
    terms = condition.terms if isinstance(condition, t.Relation) else ()
    return any(isinstance(term, t.Name) and term.index is None and term.base in letters for term in terms)


def _counted(condition: t.Node, letters: Sequence[str], scene: Scene) -> list[tuple[str, str]]:
    """'i >= 3' where keys are numbered: i is none of those before; anything else of that kind is not understood."""
    if not places_keys(condition, letters) or not isinstance(condition, t.Relation) or about_indices(condition, scene):
        return []
    if is_every_key(condition) or scene.setting.first is not None:
        return []
    match condition:
        case t.Relation((t.Name(letter), t.Number(first)), (">=" | ">" as sign,)) if first.denominator == 1:
            before = [str(place) for place in range(1, int(first) + (sign == ">"))]
            if scene.classes.named[: len(before)] == tuple(before):
                return [(letter, which) for which in before]
    raise MisfitError("which keys are meant is not understood", condition, fix="write i \\ne a, b")


def is_every_key(condition: t.Node) -> bool:
    """i = 1, ..., n: all of them."""
    match condition:
        case t.Relation((t.Number(first), t.Name(), t.Name("n", None, 0)), ("<=", "<=")):
            return first == 1
        case _:
            return False


def renamed(node: t.Node, mapping: Mapping[str, str]) -> t.Node:
    """The same with other keys in place of indices."""
    if not mapping:
        return node
    if isinstance(node, t.BigSum | t.BigCall) and node.index in mapping:
        mapping = {index: which for index, which in mapping.items() if index != node.index}
    if isinstance(node, t.Name) and node.index is not None:
        return t.Name(node.base, _moved(node.index, mapping), node.primes, span=node.span)
    return t.mapped(node, lambda part: renamed(part, mapping))


def _moved(index: t.Node, mapping: Mapping[str, str]) -> t.Node:
    if isinstance(index, t.Listing):
        return t.Listing(tuple(_moved(item, mapping) for item in index.items), span=index.span)
    which = mapping.get(label(index))
    if which is None:
        return index
    return t.Number(Fraction(which), span=index.span) if which.isdigit() else t.Name(which, span=index.span)


Extreme = t.BigCall | t.Call


def extremes(one: Meant, scene: Scene) -> Iterator[Meant]:
    """The comparison with the largest and smallest of something over keys replaced: one case for each that may be it.

    Where there is no such key, nothing is said.
    """
    link = _with_extremes(one.link, scene)
    found = [part for part in t.walk(link) if _is_extreme(part) and not any(map(_is_extreme, _below(part)))]
    if not found:
        yield one
        return
    big = found[0]
    bound = {part.index for part in t.walk(link) if isinstance(part, t.BigSum) and big in t.walk(part.body)}
    if t.speaks_of(big, *bound):
        raise MisfitError("a largest or smallest inside a sum is not understood", big)
    for case in _attained(big, one, scene):
        moved = _replaced(link, big, case.value)
        if isinstance(moved, t.Relation):
            homes = {**one.homes, **case.homes}
            there = Meant(moved, homes, (*one.orders, *case.orders), (*one.absent, *case.absent))
            yield from extremes(there, scene)


def _is_extreme(node: t.Node) -> bool:
    return (isinstance(node, t.BigCall) and node.word in ("max", "min")) or (
        isinstance(node, t.Call) and node.function in ("max", "min") and len(node.arguments) > 1
    )


def _below(node: t.Node) -> Iterator[t.Node]:
    for child in node.children():
        yield from t.walk(child)


def _replaced(node: t.Node, part: t.Node, value: t.Node) -> t.Node:
    return value if node == part else t.mapped(node, lambda one: _replaced(one, part, value))


def _with_extremes(link: t.Relation, scene: Scene) -> t.Relation:
    """With what is defined by a largest or smallest in place of its name."""

    def spoken(node: t.Node, depth: int = 0) -> bool:
        names = [full_name(part) for part in t.walk(node) if isinstance(part, t.Name)] if depth < DEEPEST else []
        inner = [scene.definitions[name] for name in names if name in scene.definitions]
        return any(map(_is_extreme, t.walk(node))) or any(spoken(value, depth + 1) for value in inner)

    def written(node: t.Node, depth: int = 0) -> t.Node:
        defined = scene.definitions.get(full_name(node)) if isinstance(node, t.Name) else None
        if defined is not None and depth < DEEPEST and spoken(defined):
            return written(defined, depth + 1)
        return t.mapped(node, lambda part: written(part, depth))

    found = written(link)
    return found if isinstance(found, t.Relation) else link


@dataclass(frozen=True)
class _Attained:
    """A largest or smallest, where one key attains it."""

    value: t.Node
    orders: tuple[Order, ...]
    homes: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def _attained(big: t.Node, one: Meant, scene: Scene) -> Iterator[_Attained]:
    if isinstance(big, t.Call):
        for value in big.arguments:
            yield _Attained(value, tuple(_order(big.function, value, other) for other in big.arguments))
        return
    if not isinstance(big, t.BigCall):
        return
    for index, home in one.homes.items():
        scene = scene.picking(index, home)
    as_sum = t.BigSum(big.index, big.body, big.lower, big.upper, big.conditions, span=big.span)
    members = Reader(scene, {}).members(as_sum)
    classes = [which for which in members if which in scene.classes.many]
    for present in product((True, False), repeat=len(classes)):
        there = [home for home, is_there in zip(classes, present, strict=True) if is_there]
        tops = {f"{TOP}{len(one.homes) + place}": home for place, home in enumerate(there)}
        values = {which: t.with_index(big.body, big.index, _index(which)) for which in members if which not in classes}
        values |= {top: t.with_index(big.body, big.index, t.Name(top)) for top in tops}
        alike = scene.setting.are == "orthonormal"
        inside = () if alike else tuple(_order(big.word, values[top], big.body, big.index) for top in tops)
        absent = tuple(home for home in classes if home not in there)
        for value in values.values():
            orders = tuple(_order(big.word, value, other) for other in values.values() if other != value)
            yield _Attained(value, (*orders, *inside), tops, absent)


TOP = "top"  # the key with the largest or smallest score of its class
DEEPEST = 20  # definitions inside definitions


def _order(word: str, value: t.Node, other: t.Node, index: str = "") -> Order:
    if word == "max" or not index:
        return Order(value, other, index) if word == "max" else Order(other, value)
    return Order(t.Negative(value), t.Negative(other), index)


def _index(which: str) -> t.Node:
    return t.Number(Fraction(which)) if which.isdigit() else t.Name(which)


def spelt(node: t.Node, scene: Scene) -> t.Node:
    """The same without sets of indices: i <= m for 'i in S', and m for |S|, where the exercise calls the first m so.

    Where the answer says that S = {a, b}, a sum over S is one over these.
    """
    first = scene.setting.first
    match node:
        case t.Bond("in", left, t.Name("n", None, 0)):
            return t.Relation((t.Number(Fraction(1)), left, t.Name("n")), ("<=", "<="), span=node.span)
        case t.Bond("in", left, t.Name(called)) if first is not None and called == first.set:
            return t.Relation((left, t.Name(first.size)), ("<=",), span=node.span)
        case t.Logic("not", (t.Bond("in", left, t.Name(called)),)) if first is not None and called == first.set:
            return t.Relation((left, t.Name(first.size)), (">",), span=node.span)
        case t.Norm(t.Name(called)) if first is not None and called == first.set:
            return t.Name(first.size)
        case t.Norm(t.Name() as name) if (items := _set(name, scene)) is not None:
            return t.Number(Fraction(len(items)), span=node.span)
        case t.BigSum(conditions=conditions) | t.BigCall(conditions=conditions) if conditions:
            listed, kept = _listed(conditions, node.index, scene)
            body = spelt(node.body, scene)
            if listed is None:
                return replace(node, body=body, conditions=kept)
            if not kept:
                terms = tuple(t.with_index(body, node.index, item) for item in listed)
                return (
                    t.Sum(terms, span=node.span)
                    if isinstance(node, t.BigSum)
                    else t.Call(node.word, terms, span=node.span)
                )
        case t.Quantified(body, conditions):
            return _for_each(spelt(body, scene), conditions, scene)
    return t.mapped(node, lambda part: spelt(part, scene))


def _set(name: t.Node, scene: Scene) -> tuple[t.Node, ...] | None:
    """The indices in a set that the answer lists."""
    defined = scene.definitions.get(full_name(name)) if isinstance(name, t.Name) else None
    return defined.items if isinstance(defined, t.Listing) else None


def _listed(
    conditions: Sequence[t.Node], index: str, scene: Scene
) -> tuple[tuple[t.Node, ...] | None, tuple[t.Node, ...]]:
    """The indices that are listed for a letter, and the other conditions."""
    found: tuple[t.Node, ...] | None = None
    kept: list[t.Node] = []
    for one in conditions:
        match one:
            case t.Bond("in", t.Name(letter), right) if letter == index and (items := _set(right, scene)) is not None:
                found = items
            case t.Logic("not", (t.Bond("in", t.Name(letter) as name, right),)) if (
                letter == index and (items := _set(right, scene)) is not None
            ):
                kept += [t.Relation((name, item), ("!=",), span=one.span) for item in items]
            case _:
                kept.append(spelt(one, scene))
    return found, tuple(kept)


def _for_each(body: t.Node, conditions: Sequence[t.Node], scene: Scene) -> t.Node:
    """A statement for all that its conditions leave: one for each of the indices that are listed."""
    bonds = [part for one in conditions for part in t.walk(one) if isinstance(part, t.Bond) and part.word == "in"]
    for letter in dict.fromkeys(bond.left.base for bond in bonds if isinstance(bond.left, t.Name)):
        listed, conditions = _listed(conditions, letter, scene)
        if listed is not None:
            each = [_for_each(t.with_index(body, letter, item), conditions, scene) for item in listed]
            return t.Logic("and", tuple(each), span=body.span)
    kept = tuple(spelt(one, scene) for one in conditions)
    return t.Quantified(body, kept, span=body.span) if kept else body
