"""Vanishing noise: what holds at the means of the keys need not hold near them.

As the noise vanishes, what is strict at the means holds with a probability that tends to 1. What is an equality there
may be tipped either way, however small the noise is, unless it holds for all keys whatever. Where the difference of the
two sides has a slope, as one key moves in one direction, it is a normal variable of mean 0 in the limit of small noise:
it is as often negative as positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headwright.check.answer import full_name
from headwright.check.scalars import parameter
from headwright.check.scalars.numbers import Symbol
from headwright.check.settings.keys.scene import Scene, Vec, anything
from headwright.formula.tree import Name, Node, walk

TIED = "at the means of the keys the two sides may be equal, and noise can tip that either way, however small it is"
TIPPED = (
    "the keys are random, and at their means the two sides are equal: noise, however small, tips that one way as often "
    "as the other, so it fails with a probability near 1/2"
)
STEP = Symbol("step")  # by how much a key is moved
DEEPEST = 20  # definitions inside definitions


def shaken(node: Node, scene: Scene, depth: int = 0) -> bool:
    """Whether a formula speaks of noisy keys, or of what depends on them."""
    if scene.setting.noise != "vanishing":
        return False
    return any(isinstance(part, Name) and _noisy(part, scene, depth) for part in walk(node))


def _noisy(name: Name, scene: Scene, depth: int) -> bool:
    defined = scene.definitions.get(full_name(name))
    if defined is not None:
        return depth > DEEPEST or shaken(defined, scene, depth + 1)
    return name.base in ("k", "alpha", "c")


def with_any_keys(node: Node, scene: Scene) -> Scene | None:
    """The scene with any keys and any query instead; None where the formula speaks of more than the pattern."""
    setting = scene.setting
    spoken = {part.base for part in walk(node) if isinstance(part, Name)}
    if (
        spoken & {"k", "q", *setting.also, *setting.directions}
        or len(scene.queries) > 1
        or scene.definitions.keys() & spoken
    ):
        return None
    return replace(anything(scene), definitions={})


def stepping(scene: Scene) -> Iterator[Scene]:
    """The scene with one key moved by a step, in the direction of the mean of one of the keys."""
    for which in scene.classes.singles:
        for direction in scene.classes.singles:
            yield replace(scene, moved={which: Vec("key", {direction: parameter(STEP)})})
