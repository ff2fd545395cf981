"""Which keys a statement speaks of by an index of its own: 'for all i != a, b'."""

from __future__ import annotations

from headwright.check.answer import label
from headwright.check.rooms.keys.scene import Scene
from headwright.formula.tree import BigSum, Listing, Name, Node, Relation, walk


def about_indices(link: Relation, scene: Scene) -> bool:
    """i != j says which keys are meant, nothing about numbers; different letters are different keys anyway."""
    if link.comparisons != ("!=",):
        return False
    return all(isinstance(term, Name) and term.index is None and not scene.gives(term) for term in link.terms)


def free_indices(link: Relation, scene: Scene) -> list[str]:
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
