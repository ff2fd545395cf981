"""Which keys the indices of a formula stand for, in an exercise about keys.

An index is any other key, unless it is said for which it is meant: 'for all i != a' ranges over all keys but k_a, over
k_b too; 'for all i' over all; 'for all i != j' over all pairs of different keys. Each key with a name is a case of its
own, and one case stands for all keys of a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.settings.keys.scene import Scene, among, say_which
from headwright.formula import tree as t

MOST_INDICES = 3  # that range over all keys in one statement


def about_indices(link: t.Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers."""
    singles = scene.classes.singles
    for term in link.terms if link.comparisons == ("!=",) else ():
        named = isinstance(term, t.Name) and term.index is None and not scene.gives(term)
        if not named and not (isinstance(term, t.Number | t.Name) and label(term) in singles):
            return False  # of three keys one is c, as the output is
    return link.comparisons == ("!=",)


def free_indices(link: t.Node, scene: Scene) -> list[str]:
    """The indices of keys in a comparison that are neither named nor bound by a sum."""
    letters, found = ("k", "v", "alpha", *scene.setting.also), dict[str, None]()
    known = set(scene.classes.singles)
    for node in t.walk(link):
        if isinstance(node, t.BigSum | t.BigCall):
            known.add(node.index)
        elif isinstance(node, t.Name) and node.base in letters and node.index is not None:
            found[label(node.index.items[-1] if isinstance(node.index, t.Listing) else node.index)] = None
    return [index for index in found if index.isalpha() and index not in known]


def apart(under: Sequence[t.Node], scene: Scene) -> list[tuple[str, str]]:
    """The pairs of indices that are said to be different."""
    pairs: list[tuple[str, str]] = []
    for node in under:
        if isinstance(node, t.Logic) and node.word == "and":
            pairs += apart(node.items, scene)
        elif isinstance(node, t.Relation) and len(node.terms) == 2 and about_indices(node, scene):
            pairs.append((label(node.terms[0]), label(node.terms[1])))
    return pairs


@dataclass(frozen=True)
class Meant:
    """A comparison with its indices, each for a key of one class."""

    link: t.Relation
    homes: Mapping[str, str]


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
    if not isinstance(node, t.Name) or node.index is None:
        return t.mapped(node, lambda part: renamed(part, mapping))
    items = node.index.items if isinstance(node.index, t.Listing) else (node.index,)
    moved: list[t.Node] = []
    for item in items:
        which = mapping.get(label(item))
        number = which is not None and which.isdigit()
        moved.append(item if which is None else t.Number(Fraction(which)) if number else t.Name(which, span=item.span))
    index = replace(node.index, items=tuple(moved)) if isinstance(node.index, t.Listing) else moved[0]
    return replace(node, index=index)


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
