"""Means and covariances from the definition: what is linear in the keys, looked at on keys that are moved one by one.

A linear function of independent normal variables has its value at their means as its mean, and the sum of (slope in one
variable)^2 times that variable's variance as its variance. Slopes are differences of explicit values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from flint import arb, arb_mat

from headwright.check.exercise import Keys
from headwright.check.replay.saying import gap, holds, value
from headwright.check.replay.worlds import VARIANCE, KeysWorld, unit
from headwright.errors import InputError
from headwright.formula.evaluate import ball, precision
from headwright.formula.tree import Call, Name, Node, Relation, mapped

MOMENTS = ("E", "Var", "Cov")
IDENTITY = "I"
CLOSE = arb("1e-20")


def holds_on_average(claim: Relation, world: KeysWorld, setting: Keys, variance: Fraction) -> bool | None:
    """Whether a comparison of moments is true in a world; None where that cannot be seen."""
    found: dict[str, arb_mat] = {}

    def computed(node: Node) -> Node:
        if not (isinstance(node, Call) and node.function in MOMENTS):
            return mapped(node, computed)
        found[name := f"moment{len(found)}"] = _moment(node, world, setting, variance)
        return Name(name)

    size = world.keys[0].nrows()
    try:
        with precision():
            plainly = computed(claim)
            identity = arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
            there = replace(world, numbers={**world.numbers, VARIANCE: variance}, _values={**found, IDENTITY: identity})
            return holds(plainly, there)
    except (InputError, ValueError, OverflowError):  # it has no value here, or is not linear
        return None


def _moment(call: Call, world: KeysWorld, setting: Keys, variance: Fraction) -> arb_mat:
    middle = _with_lengths(world, setting, {})
    if call.function == "E":
        return value(call.arguments[0], middle)
    first, last = call.arguments[0], call.arguments[-1]
    total: arb_mat | None = None
    for moved, weight in _moves(middle, world, setting, variance):
        one, other = (_slope(node, middle, *moved) for node in (first, last))
        part = one * other.transpose() * ball(weight)
        total = part if total is None else total + part
    if total is None:
        raise InputError("nothing is random")
    return total


def _slope(node: Node, middle: KeysWorld, once: KeysWorld, twice: KeysWorld) -> arb_mat:
    start, one, two = (value(node, world.afresh()) for world in (middle, once, twice))
    if not gap(two - one, one - start) < CLOSE:
        raise InputError("this is not linear in the keys")
    return one - start


def _moves(
    middle: KeysWorld, world: KeysWorld, setting: Keys, variance: Fraction
) -> Iterator[tuple[tuple[KeysWorld, KeysWorld], Fraction]]:
    """Each variable that chance moves, by one step and by two, with its variance."""
    size = middle.keys[0].nrows()
    for place, key in enumerate(middle.keys):
        for axis in range(size):
            moved = [[*middle.keys[:place], key + unit(size, axis, step), *middle.keys[place + 1 :]] for step in (1, 2)]
            yield (replace(middle, keys=moved[0], _values={}), replace(middle, keys=moved[1], _values={})), variance
    for which, scale in setting.scales.items():
        if scale.normal is not None:
            once, twice = (_with_lengths(world, setting, {which: step}) for step in (1, 2))
            yield (once, twice), scale.normal.variance


def _with_lengths(world: KeysWorld, setting: Keys, beyond: Mapping[str, int]) -> KeysWorld:
    """The keys at their means, but for lengths that are so much beyond theirs."""
    size = world.keys[0].nrows()
    keys = [unit(size, place) for place in range(len(world.keys))]
    numbers = dict(world.numbers)
    for which, scale in setting.scales.items():
        if scale.normal is None:
            raise InputError("a length is not normal")
        place = world.places[which] - 1
        length = scale.normal.mean + beyond.get(which, 0)
        keys[place], numbers[scale.name] = unit(size, place) * ball(length), length
    return replace(world, keys=keys, numbers=numbers, _values={})
