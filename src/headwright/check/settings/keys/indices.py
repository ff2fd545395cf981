"""Which keys an index stands for.

An index is any other key, unless it is said for which it is meant: 'for all i != a' ranges over all keys but k_a, over
k_b too; 'for all i' over all; 'for all i != j' over all pairs of different keys. Each key with a name is a case of its
own, and one case stands for all keys of a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from headwright.check.answer import MisfitError, label
from headwright.check.exercise import parsed
from headwright.check.settings.keys.scene import FIRST, REST, Scene
from headwright.formula.tree import BigSum, Listing, Logic, Name, Node, Number, Relation, mapped, walk

MOST_INDICES = 3  # that range over all keys in one statement
PLACES = {
    (FIRST,): (r"{i} \le {m}", r"{m} \ge {i}", r"1 \le {i} \le {m}"),
    (REST,): (r"{i} > {m}", r"{m} < {i}", r"{i} \ge {m} + 1", r"{m} < {i} \le n", r"{m} + 1 \le {i} \le n"),
    (FIRST, REST): (r"1 \le {i} \le n",),
}


def about_indices(link: Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers."""
    if link.comparisons != ("!=",):
        return False
    return all(_is_index(term, scene) for term in link.terms)


def _is_index(term: Node, scene: Scene) -> bool:
    if isinstance(term, Number):
        return label(term) in scene.classes.singles
    if not isinstance(term, Name) or term.index is not None:
        return False
    return label(term) in scene.classes.singles or not scene.gives(term)  # of three keys one is c, as the output is


def free_indices(link: Node, scene: Scene) -> list[str]:
    """The indices of keys in a comparison that are neither named nor bound by a sum."""
    letters = ("k", "v", "alpha", *scene.setting.also)
    known = {node.index for node in walk(link) if isinstance(node, BigSum)} | set(scene.classes.singles)
    indices = [
        label(_last(node.index))
        for node in walk(link)
        if isinstance(node, Name) and node.base in letters and node.index is not None
    ]
    return list(dict.fromkeys(index for index in indices if index.isalpha() and index not in known))


def _last(index: Node) -> Node:
    return index.items[-1] if isinstance(index, Listing) else index


def apart(under: Sequence[Node], scene: Scene) -> list[tuple[str, str]]:
    """The pairs of indices that are said to be different."""
    return [(label(link.terms[0]), label(link.terms[1])) for link in _relations(under) if about_indices(link, scene)]


def _relations(under: Sequence[Node]) -> Iterator[Relation]:
    for node in under:
        if isinstance(node, Relation) and len(node.terms) == 2:
            yield node
        elif isinstance(node, Logic) and node.word == "and":
            yield from _relations(node.items)


@dataclass(frozen=True)
class Meant:
    """A comparison with its indices, each for a key of one class."""

    link: Relation
    homes: Mapping[str, str]


def meant(link: Relation, under: Sequence[Node], scene: Scene) -> Iterator[Meant]:
    """The comparison for every kind of key that its indices may stand for."""
    for one, chosen in _renamed_for(link, under, scene):
        letters = free_indices(one, scene)
        options = [
            [home for home in scene.classes.many if all(home in _homes(name, under, scene) for name in alike)]
            for alike in ([letter, *(name for name, which in chosen.items() if which == letter)] for letter in letters)
        ]
        for homes in product(*options):
            yield Meant(one, dict(zip(letters, homes, strict=True)))


def _homes(letter: str, under: Sequence[Node], scene: Scene) -> tuple[str, ...]:
    """The classes from which the key with this index may be."""
    found, first = scene.classes.many, scene.setting.first
    if first is None:
        return found
    about = [one for one in under if places_keys(one, [letter])]
    if not about and Name(letter) not in under:
        raise MisfitError("which keys are meant is not said", Name(letter), fix=_say_which(letter, first.size))
    for one in about:
        if not (isinstance(one, Relation) and about_indices(one, scene)):
            found = tuple(home for home in found if home in among(one, letter, first.size))
    return found


def among(condition: Node, letter: str, size: str) -> tuple[str, ...]:
    """The classes of the keys that a condition on an index leaves, where the first m play a part of their own."""
    for homes, spellings in PLACES.items():
        if any(condition == parsed(spelt.format(i=letter, m=size)) for spelt in spellings):
            return homes
    raise MisfitError("which keys are meant is not understood", condition, fix=_say_which(letter, size))


def _say_which(letter: str, size: str) -> str:
    return f"write {letter} \\le {size} or {letter} > {size}"


def _renamed_for(link: Relation, under: Sequence[Node], scene: Scene) -> Iterator[tuple[Relation, Mapping[str, str]]]:
    """The comparison with names of keys, or other indices, in place of indices that range over them; and which."""
    letters = free_indices(link, scene)
    different = [*apart(under, scene), *(pair for one in under for pair in _counted(one, letters, scene))]
    spoken = {index for pair in different for index in pair} | {n.base for n in under if isinstance(n, Name)}
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
        if isinstance(moved, Relation):
            yield moved, chosen


def places_keys(condition: Node, letters: Sequence[str]) -> bool:
    """Whether a condition is about an index, so that it says which keys are meant: i >= 3."""
    terms = condition.terms if isinstance(condition, Relation) else ()
    return any(isinstance(term, Name) and term.index is None and term.base in letters for term in terms)


def _counted(condition: Node, letters: Sequence[str], scene: Scene) -> list[tuple[str, str]]:
    """'i >= 3' where keys are numbered: i is none of those before; anything else of that kind is not understood."""
    if not places_keys(condition, letters) or not isinstance(condition, Relation) or about_indices(condition, scene):
        return []
    if is_every_key(condition) or scene.setting.first is not None:
        return []
    match condition:
        case Relation((Name(letter), Number(first)), (">=" | ">" as sign,)) if first.denominator == 1:
            before = [str(place) for place in range(1, int(first) + (sign == ">"))]
            if scene.classes.named[: len(before)] == tuple(before):
                return [(letter, which) for which in before]
    raise MisfitError("which keys are meant is not understood", condition, fix="write i \\ne a, b")


def is_every_key(condition: Node) -> bool:
    """i = 1, ..., n: all of them."""
    match condition:
        case Relation((Number(first), Name(), Name("n", None, 0)), ("<=", "<=")):
            return first == 1
        case _:
            return False


def renamed(node: Node, mapping: Mapping[str, str]) -> Node:
    """The same with other keys in place of indices."""
    if not mapping:
        return node
    if isinstance(node, BigSum) and node.index in mapping:
        mapping = {index: which for index, which in mapping.items() if index != node.index}
    if isinstance(node, Name) and node.index is not None:
        return Name(node.base, _moved(node.index, mapping), node.primes, span=node.span)
    return mapped(node, lambda part: renamed(part, mapping))


def _moved(index: Node, mapping: Mapping[str, str]) -> Node:
    if isinstance(index, Listing):
        return Listing(tuple(_moved(item, mapping) for item in index.items), span=index.span)
    which = mapping.get(label(index))
    if which is None:
        return index
    return Number(Fraction(which), span=index.span) if which.isdigit() else Name(which, span=index.span)
