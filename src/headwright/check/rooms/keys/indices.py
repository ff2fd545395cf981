"""Which keys an index stands for: a letter of its own is any other key, unless it is said for which it is meant.

'for all i != a' ranges over all keys but k_a, over k_b too; 'for all i' over all; 'for all i != j' over all pairs of
different keys. Each key with a name is a case of its own, and one case stands for all keys without a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from headwright.check.answer import label
from headwright.check.rooms.keys.scene import Scene
from headwright.formula.shaping.rewrite import mapped
from headwright.formula.tree import BigSum, Listing, Logic, Name, Node, Number, Relation, walk


def about_indices(link: Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers."""
    if link.comparisons != ("!=",):
        return False
    return all(_is_index(term, scene) for term in link.terms)


def _is_index(term: Node, scene: Scene) -> bool:
    if isinstance(term, Number):
        return label(term) in scene.classes.singles
    return isinstance(term, Name) and term.index is None and not scene.gives(term)


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


def meant(link: Relation, under: Sequence[Node], scene: Scene) -> Iterator[Relation]:
    """The comparison for every kind of key that its indices may stand for."""
    letters = free_indices(link, scene)
    different = apart(under, scene)
    spoken = {index for pair in different for index in pair} | {n.base for n in under if isinstance(n, Name)}
    ranging = [index for index in letters if index in spoken]
    options = [[*scene.classes.named, *ranging[: place + 1]] for place in range(len(ranging))]
    for choice in product(*options):
        chosen = dict(zip(ranging, choice, strict=True))
        if any(chosen.get(x, x) == chosen.get(y, y) for x, y in different):
            continue
        if any(which in chosen and chosen[which] != which for which in choice):
            continue  # a letter that stands for another, which stands for a third: told already
        moved = renamed(link, {index: which for index, which in chosen.items() if index != which})
        if isinstance(moved, Relation):
            yield moved


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
