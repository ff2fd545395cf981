"""Formulas into exact scalars and vectors over the classes of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from headwright.formulas import tree as t
from headwright.grading.answer import (
    MisfitError,
    MissingError,
    UndeterminedError,
    WrongKindError,
    full_name,
    label,
    named,
)
from headwright.grading.kinds.keys import scene as s
from headwright.grading.kinds.keys.names import (
    Direction,
    Key,
    KeyValue,
    Output,
    Weight,
    meaning_of,
)
from headwright.grading.scalars import (
    Scalar,
    absolute,
    exp,
    number,
    parameter,
    pi,
    sqrt,
)
from headwright.grading.scalars.functions import FUNCTIONS

Value = Scalar | s.Vec
DEEPEST = 20  # definitions inside definitions
MOST_SUMS = 3  # inside one another
WEIGHT = "gone_weight"  # stands for the weight of one of the other keys
UNLIKE = {
    s.score_name(s.REST),
    s.closeness_name(s.REST),
}  # what may differ from key to key
ELEMENTARY: Mapping[str, Callable[[Scalar], Scalar]] = {
    "exp": exp,
    "sqrt": sqrt,
    **FUNCTIONS,
}


@dataclass(frozen=True)
class Reader:
    """Reads formulas in a scene; `bound` says which key an index stands for inside a sum."""

    scene: s.Scene
    bound: Mapping[str, str]
    depth: int = 0
    sums: int = 0  # around this place
    memo: dict[tuple[object, str], Value] = field(
        default_factory=dict, compare=False
    )  # definitions, once read

    def scalar(self, node: t.Node) -> Scalar:
        """The value of a formula that is a number."""
        value = self.value(node)
        if isinstance(value, s.Vec):
            raise MisfitError("this is a vector, where a number was expected", node)
        return value

    def value(self, node: t.Node) -> Value:
        """The value of a formula."""
        match node:
            case t.Number(value):
                return number(value)
            case t.Name():
                return self.name(node)
            case t.Sum(terms):
                return reduce(
                    lambda total, term: _plus(total, self.value(term), term),
                    terms[1:],
                    self.value(terms[0]),
                )
            case t.Negative(body):
                return _times(number(-1), self.value(body))
            case t.Product(factors):
                return self._product(factors)
            case t.Quotient(over, under):
                below = self.scalar(under)
                if below == s.ZERO:
                    raise MisfitError(
                        "this is 0, and something is divided by it", under
                    )
                return _times(s.ONE / below, self.value(over))
            case t.Power(base, exponent):
                return self.scalar(base) ** self.scalar(exponent)
            case t.Transpose(body):
                turned = self.value(body)
                return turned.turned() if isinstance(turned, s.Vec) else turned
            case t.Inner(left, right):
                return self._inner(node, self.value(left), self.value(right))
            case t.Norm(body):  # all norms of a vector are the same here
                inside = self.value(body)
                if isinstance(inside, s.Vec) and inside.space != "key":
                    raise UndeterminedError("the values v_i may have any length")
                return (
                    sqrt(self.scene.inner(inside, inside))
                    if isinstance(inside, s.Vec)
                    else absolute(inside)
                )
            case t.Call(function, (argument,)) if function in ELEMENTARY:
                return ELEMENTARY[function](self.scalar(argument))
            case t.BigSum():
                return self._big_sum(node)
            case _:
                raise MisfitError(
                    f"{t.called(node)} has no meaning in this exercise", node
                )

    def name(self, node: t.Name) -> Value:
        """The value of a name."""
        scene, full = self.scene, full_name(node)
        if full in self.bound or full in scene.classes.picked:
            which = self.bound.get(full, full)
            if which.isdigit():  # the number of a key, where i k_i is written: keys of a class differ in that
                return number(int(which))
            raise UndeterminedError(
                "it depends on the number of a key, and not only on which kind of key it is"
            )
        if (
            full in scene.vectors
        ):  # a key that was picked has the factor of those that it was picked from
            vector = scene.vectors[full]
            picked = {
                which: vector.of(home) for which, home in scene.classes.picked.items()
            }
            return replace(vector, coordinates={**picked, **vector.coordinates})
        defined = scene.definitions.get(full)
        if defined is not None and full not in scene.fixed:
            if self.depth > DEEPEST:
                raise MisfitError(f"{full} is defined by itself", node)
            place = (tuple(scene.classes.picked.items()), full)
            if place not in self.memo:
                self.memo[place] = replace(self, depth=self.depth + 1, bound={}).value(
                    defined
                )
            return self.memo[place]
        if full in scene.fixed or full in scene.ranges:
            return scene.scalar(full)
        if full in scene.queries:
            if scene.setting.are != "any":
                raise MissingError(
                    f"{full} is used, and no formula defines it",
                    node,
                    fix=f"write {full} = ...",
                )
            return s.Vec("key", {s.QUERY: s.ONE})
        match meaning_of(node, scene.setting, scene.queries):
            case Key(which):
                return scene.key(self._which(node, which))
            case Direction(which):
                is_own_name = full in scene.setting.directions
                home = which if is_own_name else self._which(node, which)
                return s.Vec("key", {home: s.ONE})
            case KeyValue(which):
                return s.Vec("value", {self._which(node, which): s.ONE})
            case Weight(which, head):
                return self._weight(node, which, head)
            case Output(head):
                patterns = self._patterns(head)
                outputs = [s.Vec("value", pattern) for pattern in patterns]
                return reduce(s.Vec.plus, outputs).times(s.ONE / len(patterns))
        return self._constant(node, full)

    def _which(self, node: t.Name, index: str) -> str:
        """The class of the key for which an index stands."""
        which = self.bound.get(index, index)
        if which not in self.scene.classes.singles and which != s.MEMBER:
            known = (
                ", ".join(f"{node.base}_{name}" for name in self.scene.classes.named)
                or f"sums of {node.base}_i"
            )
            raise MisfitError(
                f"{full_name(node)} is not a name of this exercise",
                node,
                fix=f"it has {known}",
            )
        return which

    def _weight(self, node: t.Name, index: str, head: str) -> Scalar:
        """The weight of a key, on average over the heads or in one of them."""
        if head and head not in self.scene.queries:
            raise MisfitError(f"there is no head {head[2:]}", node)
        which = self._which(node, index)
        patterns = self._patterns(head)
        weights = [
            pattern[which if which in pattern else s.REST] for pattern in patterns
        ]
        return sum(weights, s.ZERO) * (s.ONE / len(patterns))

    def _patterns(self, head: str) -> list[dict[str, Scalar]]:
        """That of one head, or those of all."""
        heads = [head] if head else self.scene.queries
        return [self.scene.pattern(self.query(one)) for one in heads]

    def _constant(self, node: t.Name, full: str) -> Value:
        if full in ("pi", "e"):
            return pi() if full == "pi" else exp(s.ONE)
        if full == "infinity":
            raise MisfitError(
                "infinity is not a number",
                node,
                fix="write \\lambda for a large number",
            )
        if full == "ones":
            raise MisfitError(
                "a vector of ones has no meaning here", node, fix="write a sum"
            )
        if full == s.VARIANCE and self.scene.setting.noise == "vanishing":
            raise MisfitError(
                f"{full} is the variance, which vanishes",
                node,
                fix="choose another name",
            )
        if (
            node.index is None or label(node.index).isdigit()
        ):  # 'a large number': a name of the answer's own
            return parameter(full, self.scene.range_of(full))
        names = [f"k_{name}" for name in self.scene.setting.named] + [
            *self.scene.setting.directions
        ]
        has = f"it has {', '.join([*names, *self.scene.exercise.parameters])}, and free names such as \\lambda"
        raise MisfitError(f"{full} is not a name of this exercise", node, fix=has)

    def query(self, name: str) -> s.Vec:
        """The query of a head."""
        value = replace(self, bound={}).value(named(name))
        if value == s.ZERO:
            return s.Vec("key", {})  # a written 0 is the zero vector
        if isinstance(value, s.Vec) and value.space != "key":
            written = self.scene.definitions.get(name, named(name))
            raise WrongKindError(
                f"{name} is made of values: a query is compared with keys", written
            )
        if not isinstance(value, s.Vec):
            raise MisfitError(
                f"{name} is a number, expected a vector: a combination of keys",
                named(name),
            )
        return value

    def _product(self, factors: tuple[t.Node, ...]) -> Value:
        total: Value = s.ONE
        for factor in factors:
            value = self.value(factor)
            if (
                isinstance(total, s.Vec)
                and isinstance(value, s.Vec)
                and (not total.row or value.row)
            ):
                raise MisfitError(
                    "two vectors are multiplied",
                    factor,
                    fix="write k_i^\\top q for an inner product",
                )
            total = self._inner(factor, total, value)
        return total

    def _inner(self, node: t.Node, left: Value, right: Value) -> Value:
        if isinstance(left, Scalar):
            return _times(left, right)
        if isinstance(right, Scalar):
            return left.times(right)
        if left.space != "key" or right.space != "key":
            raise MisfitError(
                "the values v_i may be any vectors: their inner products are not given",
                node,
            )
        return self.scene.inner(left, right)

    def _big_sum(self, node: t.BigSum) -> Value:
        if self.sums >= MOST_SUMS:
            raise MisfitError(
                f"more than {MOST_SUMS} sums stand inside one another", node
            )
        total: Value | None = None
        for which in self.members(node):
            if which in self.scene.classes.many:
                value = self._summed(node, which)
            else:
                inside = replace(
                    self, bound={**self.bound, node.index: which}, sums=self.sums + 1
                )
                value = inside.value(node.body)
            total = value if total is None else _plus(total, value, node)
        return s.ZERO if total is None else total

    def members(self, node: t.BigSum) -> list[str]:
        """The classes of keys over which a sum runs."""
        members = [
            which
            for which in self.scene.classes.all
            if self.scene.classes.count(which) != s.ZERO
        ]
        for condition in node.conditions:
            members = [
                which
                for which in members
                if self._allowed(which, condition, node.index)
            ]
        if node.lower is None:
            return members
        if self.scene.setting.first is not None:
            return self._run(node, members, self.scene.setting.first.size)
        first = self.scalar(node.lower).rational
        if first is not None and (first < 1 or first.denominator > 1):
            raise MisfitError(
                "keys are counted from 1", node, fix="write \\sum_{i=1}^{n}"
            )
        last, size = (
            None if node.upper is None else self.value(node.upper),
            self.scene.exercise.parameters["n"],
        )
        fixed = size.at_most if size.at_most == size.at_least else None
        if first is None or not (
            isinstance(last, Scalar)
            and (last == self.scene.scalar("n") or last == fixed)
        ):
            raise MisfitError(
                "a sum over keys was expected",
                node,
                fix="write \\sum_{i=1}^{n} or \\sum_{i \\ne a}",
            )
        if first == 1:
            return members
        if (
            not all(name.isdigit() for name in self.scene.classes.named)
            or first > len(self.scene.classes.named) + 1
        ):
            raise MisfitError(
                "where this sum starts has no meaning here",
                node,
                fix="write \\sum_{i \\ne a}",
            )
        counted = (
            self.scene.classes.named
        )  # whoever has no number comes after those that have one
        return [
            which for which in members if which not in counted or int(which) >= first
        ]

    def _run(self, node: t.BigSum, members: list[str], size: str) -> list[str]:
        """The keys from one place to another, where the first m play a part of their own."""
        m, n = self.scene.scalar(size), self.scene.scalar("n")
        homes = {
            (s.ONE, m): (s.FIRST,),
            (m + s.ONE, n): (s.REST,),
            (s.ONE, n): (s.FIRST, s.REST),
        }
        ends = [
            s.ZERO if end is None else self.scalar(end)
            for end in (node.lower, node.upper)
        ]
        wanted = homes.get((ends[0], ends[1]))
        if wanted is None:
            raise MisfitError(
                "a sum over keys was expected",
                node,
                fix=f"write \\sum_{{i=1}}^{{{size}}}",
            )
        picked = self.scene.classes.picked
        return [which for which in members if picked.get(which, which) in wanted]

    def _allowed(self, which: str, condition: t.Node, index: str) -> bool:
        first = self.scene.setting.first
        match condition:
            case t.Relation((t.Name(base), other), ("!=",)) if base == index:
                excluded = [
                    label(item)
                    for item in (
                        other.items if isinstance(other, t.Listing) else (other,)
                    )
                ]
                return which not in [self.bound.get(name, name) for name in excluded]
            case t.Logic("and", items):
                return all(self._allowed(which, item, index) for item in items)
            case _ if first is not None:
                return self.scene.classes.picked.get(which, which) in s.among(
                    condition, index, first.size
                )
        raise MisfitError(
            "this condition on the index is not understood",
            condition,
            fix="write i \\ne a",
        )

    def _summed(self, node: t.BigSum, which: str) -> Value:
        """The sum over a class of keys without a name: as many equal terms."""
        scene = self.scene
        if scene.setting.are != "orthonormal":
            return self._summed_unlike(node)
        count = scene.classes.count(which)
        member = s.MEMBER
        while member in scene.classes.picked:  # a sum inside a sum: another key
            member += "'"
        bound = {**self.bound, node.index: member}
        inner = replace(
            self, scene=scene.picking(member, which), bound=bound, sums=self.sums + 1
        )
        value = inner.value(node.body)
        if isinstance(value, Scalar):
            return count * value
        spread = {
            name: count * x
            for name, x in value.coordinates.items()
            if name not in (member, which)
        }
        spread[which] = value.of(member) + (count - s.ONE) * value.of(which)
        return s.Vec(value.space, spread, value.row)

    def _summed_unlike(self, node: t.BigSum) -> Value:
        """The same where the other keys may differ: only sums of exp(score), of weights and of constants are known."""
        weights = self._summed_weights(node)
        if weights is not None:
            return weights
        if any(
            which == s.MEMBER
            for index, which in self.bound.items()
            if index != node.index
        ):
            raise UndeterminedError(
                "it depends on how the other keys lie to one another"
            )
        weight, mine = (
            t.Name("alpha", t.Name(node.index)),
            t.Name("v", t.Name(node.index)),
        )
        if isinstance(node.body, t.Product) and set(node.body.factors) == {
            weight,
            mine,
        }:
            return s.Vec(
                "value",
                {s.REST: self.scene.pattern(self.query(self.scene.queries[0]))[s.REST]},
            )  # as in c
        value = replace(self, bound={**self.bound, node.index: s.MEMBER}).value(
            node.body
        )
        if isinstance(value, s.Vec):
            raise UndeterminedError("the other keys may lie anywhere")
        own = UNLIKE & value.names()
        if own:
            score = exp(self.scene.scores(self.query(self.scene.queries[0]))[s.REST])
            if UNLIKE & (value / score).names():
                raise UndeterminedError("the other keys may have different scores")
        return self.scene.classes.rest * value

    def _summed_weights(self, node: t.BigSum) -> Scalar | None:
        """The sum over the other keys of something linear in their weights, which is all that it knows of them.

        Their scores may differ, but their weights add up to as many times the weight at the common score: see
        `score_name`.
        """

        def speaks(part: t.Node) -> bool:
            return isinstance(part, t.Name) and node.index in (
                full_name(part),
                label(part.index),
            )

        spoken = [part for part in t.walk(node.body) if speaks(part)]
        own = [
            part for part in spoken if isinstance(part, t.Name) and part.base == "alpha"
        ]
        again = any(
            isinstance(part, t.BigSum) and part.index == node.index
            for part in t.walk(node.body)
        )
        if (
            not own
            or len(spoken) != 2 * len(own)
            or again
            or len(self.scene.queries) > 1
        ):
            return None  # the index stands elsewhere too than at a weight: i alpha_i, alpha_i k_i^T q

        def stood_for(part: t.Node) -> t.Node:
            return t.Name(WEIGHT) if part in own else t.mapped(part, stood_for)

        inner = replace(
            self,
            scene=self.scene.knowing(**{WEIGHT: parameter(WEIGHT)}),
            sums=self.sums + 1,
            memo={},
        )
        value = inner.value(stood_for(node.body))
        if isinstance(value, s.Vec):
            return None
        at_none = value.put({WEIGHT: 0})
        slope = value.put({WEIGHT: 1}) - at_none
        if value != at_none + slope * parameter(WEIGHT):
            return None
        return self.scene.classes.rest * (
            at_none
            + slope * self.scene.pattern(self.query(self.scene.queries[0]))[s.REST]
        )


def scalars_in(value: Value) -> list[Scalar]:
    """All the scalars of a value."""
    return list(value.coordinates.values()) if isinstance(value, s.Vec) else [value]


def _plus(one: Value, other: Value, node: t.Node) -> Value:
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return one + other
    if not (isinstance(one, s.Vec) and isinstance(other, s.Vec)):
        raise MisfitError("a number and a vector are added", node)
    if one.space != other.space or one.row != other.row:
        raise WrongKindError(
            "these two cannot be added: they are vectors of different kinds", node
        )
    return one.plus(other)


def _times(factor: Scalar, value: Value) -> Value:
    return value.times(factor) if isinstance(value, s.Vec) else factor * value
