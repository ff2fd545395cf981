"""Explicit worlds: n keys written out, tokens written out, rows of position embeddings, integers.

Everything is from the definitions: a pattern is the softmax of inner products, an output a sum of weighted values.
Whether a statement holds in a world is True or False only where that is certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Self

from flint import arb, arb_mat, ctx

from headwright.errors import InputError
from headwright.formulas import tree as t
from headwright.formulas.evaluate import (
    Budget,
    Undefined,
    ball,
    compare,
    evaluate,
    identity,
    softmax,
)
from headwright.formulas.shapes import SCALAR, Shape, typed
from headwright.grading.answer import comparisons, full_name, label
from headwright.grading.kinds.keys.table import Keys
from headwright.grading.kinds.tokens.table import Tokens

FAR = arb("0.05")  # what is farther apart is not 'about' the same
FINE = 3000  # bits of a closer look
EQUAL = arb(
    "1e-25"
)  # what is nearer than that at 128 bits is taken to be equal: evidence, no proof
MOST = 100_000  # operations on one side of a statement
DEEPEST = 20  # definitions inside definitions
VARIANCE = "a"  # of noise that vanishes
NONE = (InputError, ValueError, OverflowError)  # it has no value here
Value = Fraction | int | arb


def number(x: Value) -> arb_mat:
    """A number as a value."""
    return arb_mat([[x if isinstance(x, arb) else ball(Fraction(x))]])


def unit(size: int, place: int, length: arb | int = 1) -> arb_mat:
    """A multiple of one of the axes."""
    return arb_mat([[length if k == place else 0] for k in range(size)])


@dataclass
class World:
    """Explicit values for all names: numbers, and names that are defined by formulas."""

    definitions: Mapping[str, t.Node]
    numbers: Mapping[str, Value]
    much: Fraction = Fraction(1000)  # how much larger 'much larger' is here
    tends: bool = False  # whether it is one of a sequence: then sides may come close without being equal
    _values: dict[str, arb_mat] = field(default_factory=dict)
    _depth: int = 0

    def value(self, node: t.Node, bits: int = 128) -> arb_mat:
        """The value of a term; InputError where it has none."""
        known = typed(node, self.shape_of)
        return evaluate(
            known, self.value_of, budget=Budget(MOST), bits=bits, range_of=self.range_of
        )

    def value_of(self, name: t.Name) -> arb_mat | None:
        """The value of a name: a number, or what a formula comes to."""
        full = full_name(name)
        if full in self.numbers:
            return number(self.numbers[full])
        if (
            full not in self._values
            and full in self.definitions
            and self._depth <= DEEPEST
        ):
            self._depth += 1
            try:
                bits = max(
                    128, int(ctx.prec)
                )  # a closer look is one at what is defined, too
                self._values[full] = self.value(self.definitions[full], bits)
            finally:
                self._depth -= 1
        return self._values.get(full)

    def shape_of(self, name: t.Name) -> Shape | None:
        """Read off the value."""
        found = self.value_of(name)
        return SCALAR if found is None else Shape(found.nrows(), found.ncols())

    def range_of(self, index: str) -> tuple[int, int] | None:
        """Where the index of a sum runs that has no bounds."""
        del index
        return None

    def moved(self, **other: object) -> Self:
        """The same with something else in it, and nothing computed yet."""
        return replace(self, _values={}, **other)  # type: ignore[arg-type]


def holds(node: t.Node, world: World) -> bool | None:
    """Whether a statement is true there: certain, or None."""
    match node:
        case t.Logic("and" | "or" as word, items):
            said = [holds(item, world) for item in items]
        case t.Logic("not", (item,)):
            found = holds(item, world)
            return None if found is None else not found
        case t.Logic("implies", (condition, conclusion)):
            return holds(
                t.Logic("or", (t.Logic("not", (condition,)), conclusion)), world
            )
        case t.Quantified(body, conditions):
            given = t.Logic(
                "and", tuple(one for one in conditions if not isinstance(one, t.Name))
            )
            return holds(t.Logic("implies", (given, body)), world)
        case t.Logic("iff", (left, right)):
            a, b = holds(left, world), holds(right, world)
            return None if a is None or b is None else a == b
        case t.Relation() if node.comparisons:
            word, said = "and", [_compared(link, world) for link in comparisons(node)]
        case _:
            return None
    decisive = (
        word == "or"
    )  # one that is true decides 'or', one that is false decides 'and'
    return decisive if decisive in said else None if None in said else not decisive


def _compared(link: t.Relation, world: World) -> bool | None:
    (a, b), (sign,) = link.terms, link.comparisons
    try:
        left, right = world.value(a), world.value(b)
        if sign in ("~", "->"):
            apart = gap(left, right)
            return True if apart < FAR else False if apart > FAR else None
        if sign in (">>", "<<"):
            more, less = (left, right) if sign == ">>" else (right, left)
            much = ball(world.much)
            if any(
                isinstance(part, t.Call) and part.function == "exp"
                for part in t.walk(link)
            ):
                return compare(
                    more, ">=", less * much.exp()
                )  # of exponentials the ratio is meant
            return compare(more - less, ">=", number(much))
        said = compare(left, sign, right)
        if said is None and sign in (
            "<",
            ">",
            "<=",
            ">=",
        ):  # the two may differ by e^(-lambda)
            fresh = world.moved()
            left, right = fresh.value(a, FINE), fresh.value(b, FINE)
            said = compare(left, sign, right)
        alike = sign == "=" or (sign in ("<=", ">=") and not world.tends)
        return True if said is None and alike and gap(left, right) < EQUAL else said
    except NONE:
        return None


def gap(left: arb_mat, right: arb_mat) -> arb:
    """How far two values are apart: the largest difference of entries."""
    one, other = left.entries(), right.entries()
    if len(one) != len(other):
        one, other = one * len(other), other * len(one)
    return reduce(
        arb.max, (abs(x - y) for x, y in zip(one, other, strict=True)), arb(0)
    )


def undefined(node: t.Relation, world: World) -> bool:
    """Whether a side has no value there, however closely it is looked at: the logarithm of 0, a division by 0."""
    for term in node.terms:
        try:
            world.moved().value(term, FINE)
        except Undefined:
            return True
        except NONE:  # too large, or not known here
            continue
    return False


@dataclass
class KeysWorld(World):
    """Keys as columns; the places (from 1) of those with a name, and of the letters that stand for others."""

    setting: Keys = field(kw_only=True)
    keys: list[arb_mat] = field(kw_only=True)
    places: Mapping[str, int] = field(kw_only=True)
    queries: Mapping[str, arb_mat] = field(default_factory=dict)
    heads: tuple[str, ...] = ("q",)
    weights: tuple[
        Fraction, ...
    ] = ()  # in place of the softmax, where the question is idle: see `rules_out`

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all keys."""
        del index
        return 1, len(self.keys)

    def shape_of(self, name: t.Name) -> Shape | None:
        """By the letter: the index of a sum has no place yet."""
        if name.index is not None and name.base in ("k", *self.setting.also):
            return Shape(self.keys[0].nrows(), 1)
        if name.index is not None and name.base in ("v", "alpha"):
            return Shape(len(self.keys), 1) if name.base == "v" else SCALAR
        return super().shape_of(name)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Keys, directions, values, queries, weights, outputs; then what is defined."""
        full, size, heads = full_name(name), self.keys[0].nrows(), self.heads
        listed = (
            name.index.items
            if name.base == "alpha" and isinstance(name.index, t.Listing)
            else ()
        )
        text, one = (
            label(listed[-1] if listed else name.index),
            f"q_{label(name.index)}",
        )
        place = self.places.get(text, int(text) if text.isdigit() else 0)
        place = place if place <= len(self.keys) else 0
        if full in self.queries:
            return self.queries[full]
        if full in self.setting.directions:
            return unit(size, self.places[self.setting.directions[full]] - 1)
        if name.base == "k" and place:
            return self.keys[place - 1]
        if name.base in (*self.setting.also, "v") and place:
            return unit(len(self.keys) if name.base == "v" else size, place - 1)
        if name.base == "alpha" and name.index is not None:
            heads = (f"q_{label(listed[0])}",) if len(listed) == 2 else heads
            return number(self._pattern(heads)[place - 1]) if place else None
        is_output = name.base == "c" and not name.primes and "c" not in self.numbers
        if is_output and (name.index is None or one in heads):
            return arb_mat(
                [
                    [weight]
                    for weight in self._pattern(heads if name.index is None else (one,))
                ]
            )
        found = super().value_of(name)
        return (
            number(self.places[full])
            if found is None and full in self.places
            else found
        )

    def _pattern(self, heads: tuple[str, ...]) -> list[arb]:
        """The weights of all keys, on the average over some heads."""
        if self.weights:
            return [ball(weight) for weight in self.weights]
        total = [arb(0)] * len(self.keys)
        for head in heads:
            base, _, index = head.partition("_")
            query = self.value_of(t.Name(base, t.Name(index) if index else None))
            if query is None or query.nrows() != self.keys[0].nrows():
                query = arb_mat(self.keys[0].nrows(), 1)  # a written 0
            weights = softmax(
                [[(key.transpose() * query)[0, 0] for key in self.keys]]
            ).entries()
            total = [x + y / len(heads) for x, y in zip(total, weights, strict=True)]
        return total


@dataclass
class TokensWorld(World):
    """Directions along the axes, and one axis more, so that what acts elsewhere shows."""

    setting: Tokens = field(kw_only=True)

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all tokens."""
        del index
        return 1, len(self.setting.tokens)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Directions, the identity, tokens and what is computed from them."""
        full, which, setting = full_name(name), label(name.index), self.setting
        size = len(setting.directions) + 1
        if name.base == setting.letter and which in setting.directions:
            return (
                unit(size, setting.directions.index(which))
                * number(self.numbers[setting.length])[0, 0]
            )
        if full in ("I", "I_d", "I_D"):
            return identity(size)
        found = super().value_of(name)
        if (
            found is not None
            and full in ("Q", "K", "V", *setting.tokens)
            and found.nrows() == 1
        ):
            return (
                identity(size) * found[0, 0]
                if full in ("Q", "K", "V")
                else arb_mat(size, 1)
            )
        if (
            found is not None
            or name.index is None
            or name.base not in ("alpha", "c", "q", "k", "v")
        ):
            return found
        parts = [label(item) for item in t.listed(name.index)]
        parts = (
            list(parts[0]) if len(parts) == 1 and name.base == "alpha" else parts
        )  # alpha_21 is alpha_{2,1}
        places = [
            list(setting.tokens).index(f"x_{part}")
            for part in parts
            if f"x_{part}" in setting.tokens
        ]
        if len(places) != len(parts) or len(parts) not in (
            (1, 2) if name.base == "alpha" else (1,)
        ):
            return None
        if name.base in ("q", "k", "v"):
            return self._projected(name.base.upper(), which)
        weights = self._weights(parts[0])
        if name.base == "c":
            values = [
                self._projected("V", token.partition("_")[2])
                for token in setting.tokens
            ]
            return sum(
                (x * weight for x, weight in zip(values, weights, strict=True)),
                arb_mat(size, 1),
            )
        return arb_mat([weights]) if len(parts) == 1 else number(weights[places[1]])

    def _projected(self, weights: str, which: str) -> arb_mat:
        """Q x_i and so on."""
        matrix, token = (
            self.value_of(t.Name(weights)),
            self.value_of(t.Name("x", t.Name(which))),
        )
        if matrix is None or token is None:
            raise InputError(f"{weights} is not defined")
        return matrix * token

    def _weights(self, which: str) -> list[arb]:
        """The weights that one token gives to all; those that a mask hides get none."""
        query, tokens = self._projected("Q", which), list(self.setting.tokens)
        seen = (
            tokens[: tokens.index(f"x_{which}") + 1]
            if self.setting.mask == "causal"
            else tokens
        )
        keys = [self._projected("K", token.partition("_")[2]) for token in seen]
        weights = softmax([[(key.transpose() * query)[0, 0] for key in keys]]).entries()
        return [*weights, *[arb(0)] * (len(tokens) - len(seen))]


@dataclass
class IntegersWorld(World):
    """Integers, and rows (sin w t, cos w t, ...) with w_i = 10000^(-2i/d); `same`: all rows are alike."""

    rows: str = "Phi"
    width: int = 4
    same: bool = False

    def value_of(self, name: t.Name) -> arb_mat | None:
        """A row of the embedding, a frequency, an integer."""
        if name.base == self.rows and name.index is not None:
            place = arb(0) if self.same else self.value(name.index)[0, 0]
            waves = [
                arb(10000) ** ball(Fraction(-2 * k, self.width)) * place
                for k in range(self.width // 2)
            ]
            return arb_mat([[wave] for x in waves for wave in (x.sin(), x.cos())])
        if name.base == "w" and label(name.index).isdigit():
            return number(
                arb(10000) ** ball(Fraction(-2 * int(label(name.index)), self.width))
            )
        if name.base == "pi" and name.index is None:
            return number(3 if self.same else arb.pi())
        return super().value_of(name)
