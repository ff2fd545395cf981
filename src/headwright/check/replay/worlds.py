"""Explicit worlds: n keys written out, tokens written out, rows of position embeddings, integers.

Everything is from the definitions: a pattern is the softmax of inner products, an output a sum of weighted values.
Means and covariances of what is linear in the keys are seen on keys that are moved one by one: a linear function of
independent normal variables has its value at their means as its mean, and the sum of (slope in one variable)^2 times
that variable's variance as its variance. Slopes are differences of explicit values.

Whether a statement holds in a world is True or False only where that is certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Protocol, Self

from flint import arb, arb_mat, ctx

from headwright.check.answer import full_name, label
from headwright.check.exercise import Exercise, Keys, Tokens
from headwright.errors import InputError
from headwright.formula import tree as t
from headwright.formula.evaluate import Budget, Undefined, ball, compare, evaluate, identity, precision, softmax
from headwright.formula.shapes import SCALAR, Shape, typed

FAR = arb("0.05")  # what is farther apart is not 'about' the same
FINE = 3000  # bits of a closer look
EQUAL = arb("1e-25")  # what is nearer than that at 128 bits is taken to be equal: evidence, no proof
MOST = 100_000  # operations on one side of a statement


class World(Protocol):
    """Explicit values for all names."""

    much: arb  # how much larger 'much larger' is here
    numbers: Mapping[str, Fraction | int | arb]  # names that are numbers
    tends: bool  # whether it is one of a sequence: then sides may come close without being equal

    def value_of(self, name: t.Name) -> arb_mat | None:
        """The value of a name."""

    def afresh(self) -> Self:
        """The same, with nothing computed yet."""

    def shape_of(self, name: t.Name) -> Shape | None:
        """Its shape."""

    def range_of(self, index: str) -> tuple[int, int] | None:
        """Where the index of a sum runs that has no bounds."""


def value(node: t.Node, world: World, bits: int = 128) -> arb_mat:
    """The value of a term; InputError where it has none."""
    known = typed(node, world.shape_of)
    return evaluate(known, world.value_of, budget=Budget(MOST), bits=bits, range_of=world.range_of)


def holds(node: t.Node, world: World) -> bool | None:
    """Whether a statement is true there.

    What follows may speak of an integer that exists ('t = t' + 2 pi k'): see `worlds`.
    """
    match node:
        case t.Logic("and", items):
            return _all([holds(item, world) for item in items])
        case t.Logic("or", items):
            return _not(_all([_not(holds(item, world)) for item in items]))
        case t.Logic("not", (item,)):
            return _not(holds(item, world))
        case t.Logic("implies", (condition, conclusion)):
            return _not(_all([holds(condition, world), _not(holds(conclusion, world))]))
        case t.Logic("iff", (left, right)):
            a, b = holds(left, world), holds(right, world)
            return None if a is None or b is None else a == b
        case t.Quantified(body, conditions):
            given = [holds(one, world) for one in conditions if not isinstance(one, t.Name)]
            return _not(_all([*given, _not(holds(body, world))]))
        case t.Relation():
            return _all([_link(a, sign, b, world) for a, sign, b in _links(node)])
        case _:
            return None


def undefined(node: t.Relation, world: World) -> bool:
    """Whether a side has no value there: the logarithm of 0, a division by 0."""
    for term in node.terms:
        for bits in (128, FINE):
            try:
                value(term, world.afresh(), bits)
                break
            except Undefined:
                if bits == FINE:
                    return True
            except (InputError, ValueError, OverflowError):  # too large, or not known here
                break
    return False


def _all(said: list[bool | None]) -> bool | None:
    return False if False in said else None if None in said else True


def _not(said: bool | None) -> bool | None:
    return None if said is None else not said


def _links(chain: t.Relation) -> Iterator[tuple[t.Node, t.Comparison, t.Node]]:
    for a, sign, b in zip(chain.terms[:-1], chain.comparisons, chain.terms[1:], strict=True):
        left = a.items if isinstance(a, t.Listing) else (a,)
        right = b.items if isinstance(b, t.Listing) else (b,)
        if len(left) != len(right):
            left, right = left * len(right), right * len(left)
        yield from ((x, sign, y) for x, y in zip(left, right, strict=True))


def _link(a: t.Node, sign: t.Comparison, b: t.Node, world: World) -> bool | None:
    try:
        left, right = value(a, world), value(b, world)
        if sign in ("~", "->"):
            apart = gap(left, right)
            return True if apart < FAR else False if apart > FAR else None
        if sign in (">>", "<<"):
            more, less = (left, right) if sign == ">>" else (right, left)
            if any(isinstance(part, t.Call) and part.function == "exp" for side in (a, b) for part in t.walk(side)):
                return compare(more, ">=", less * world.much.exp())  # of exponentials the ratio is meant
            return compare(more - less, ">=", arb_mat([[world.much]]))
        said = compare(left, sign, right)
        if said is None and sign in ("<", ">", "<=", ">="):  # the two may differ by e^(-lambda)
            fresh = world.afresh()
            left, right = value(a, fresh, FINE), value(b, fresh, FINE)
            said = compare(left, sign, right)
        alike = sign == "=" or (sign in ("<=", ">=") and not world.tends)
        return True if said is None and alike and gap(left, right) < EQUAL else said
    except (InputError, ValueError, OverflowError):  # it has no value here
        return None


def difference(node: t.Relation, world: World) -> arb | None:
    """The difference of the two sides of a comparison of numbers, closely; None where there is none."""
    sides = _sides(node, world, FINE)
    if sides is None or any(side.nrows() > 1 or side.ncols() > 1 for side in sides):
        return None
    return sides[0][0, 0] - sides[1][0, 0]


def distance(node: t.Relation, world: World) -> arb | None:
    """How far the two sides of a comparison are apart; None where one of them has no value."""
    sides = _sides(node, world)
    return None if sides is None else gap(*sides)


def _sides(node: t.Relation, world: World, bits: int = 128) -> tuple[arb_mat, arb_mat] | None:
    try:
        left, right = (value(term, world, bits) for term in node.terms)
    except (InputError, ValueError, OverflowError):  # it has no value here
        return None
    return left, right


def gap(left: arb_mat, right: arb_mat) -> arb:
    """How far two values are apart: the largest difference of entries."""
    one, other = left.entries(), right.entries()
    if len(one) != len(other):
        one, other = one * len(other), other * len(one)
    return reduce(arb.max, (abs(x - y) for x, y in zip(one, other, strict=True)), arb(0))


DEEPEST = 20  # definitions inside definitions
VARIANCE = "a"  # of noise that vanishes


def number(x: Fraction | int | arb) -> arb_mat:
    """A number as a value."""
    return arb_mat([[x if isinstance(x, arb) else ball(Fraction(x))]])


def column(entries: list[arb]) -> arb_mat:
    """A vector as a value."""
    return arb_mat([[entry] for entry in entries])


def unit(size: int, place: int, length: arb | int = 1) -> arb_mat:
    """A multiple of one of the axes."""
    return column([arb(length) if k == place else arb(0) for k in range(size)])


@dataclass
class _Defined:
    """Names that are numbers, and names that are defined by formulas."""

    definitions: Mapping[str, t.Node]
    numbers: Mapping[str, Fraction | int | arb]
    much: arb = field(default_factory=lambda: arb(1000))
    tends: bool = False
    _values: dict[str, arb_mat] = field(default_factory=dict)
    _depth: int = 0

    def defined(self, full: str) -> arb_mat | None:
        """A number, or what a formula comes to."""
        if full in self.numbers:
            return number(self.numbers[full])
        if full in self._values:
            return self._values[full]
        if full not in self.definitions or self._depth > DEEPEST:
            return None
        self._depth += 1
        bits = max(128, int(ctx.prec))  # a closer look is one at what is defined, too
        self._values[full] = value(self.definitions[full], self, bits)  # type: ignore[arg-type]
        self._depth -= 1
        return self._values[full]

    def afresh(self) -> Self:
        """The same, with nothing computed yet."""
        return replace(self, _values={})

    def shape_of(self, name: t.Name) -> Shape | None:
        """Read off the value."""
        found = self.value_of(name)
        return SCALAR if found is None else Shape(found.nrows(), found.ncols())

    def value_of(self, name: t.Name) -> arb_mat | None:
        """The value of a name."""
        return self.defined(full_name(name))


@dataclass
class KeysWorld(_Defined):
    """Keys as columns; the places (from 1) of those with a name, and of the letters that stand for others."""

    setting: Keys | None = None
    keys: list[arb_mat] = field(default_factory=list)
    places: Mapping[str, int] = field(default_factory=dict)
    queries: Mapping[str, arb_mat] = field(default_factory=dict)
    heads: tuple[str, ...] = ("q",)
    weights: tuple[Fraction, ...] = ()  # in place of the softmax, where the question is idle: see `rules_out`

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all keys."""
        del index
        return 1, len(self.keys)

    def place(self, index: t.Node | None) -> int | None:
        """The place of the key with this index."""
        which = label(index)
        found = self.places.get(which, int(which) if which.isdigit() else 0)
        return found if 1 <= found <= len(self.keys) else None

    def shape_of(self, name: t.Name) -> Shape | None:
        """By the letter: the index of a sum has no place yet."""
        size = self.keys[0].nrows()
        if name.base in ("k", *self._directions()) and name.index is not None:
            return Shape(size, 1)
        if (name.base == "v" and name.index is not None) or self._is_output(name):
            return Shape(len(self.keys), 1)
        return SCALAR if name.base == "alpha" and name.index is not None else super().shape_of(name)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Keys, directions, values, queries, weights, outputs; then what is defined."""
        full, place = full_name(name), self.place(name.index)
        setting = self.setting
        if full in self.queries:
            return self.queries[full]
        if setting is not None and full in setting.directions:
            return unit(self.keys[0].nrows(), self.places[setting.directions[full]] - 1)
        if name.base == "k" and place is not None:
            return self.keys[place - 1]
        if name.base in self._directions() and place is not None:
            return unit(self.keys[0].nrows(), place - 1)
        if name.base == "v" and place is not None:
            return unit(len(self.keys), place - 1)
        if name.base == "alpha" and name.index is not None:
            return self._weight(name.index)
        if self._is_output(name):
            heads = self.heads if name.index is None else (f"q_{label(name.index)}",)
            return column(self._mean(heads))
        found = self.defined(full)
        return number(self.places[full]) if found is None and full in self.places else found

    def _directions(self) -> tuple[str, ...]:
        return () if self.setting is None else self.setting.also

    def _is_output(self, name: t.Name) -> bool:
        if name.base != "c" or name.primes or "c" in self.numbers:
            return False
        return name.index is None or f"q_{label(name.index)}" in self.heads

    def _weight(self, index: t.Node) -> arb_mat | None:
        heads, which = self.heads, index
        if isinstance(index, t.Listing) and len(index.items) == 2:
            heads, which = (f"q_{label(index.items[0])}",), index.items[1]
        place = self.place(which)
        return None if place is None else number(self._mean(heads)[place - 1])

    def _mean(self, heads: tuple[str, ...]) -> list[arb]:
        patterns = [self._pattern(head) for head in heads]
        return [sum(weights, arb(0)) / len(patterns) for weights in zip(*patterns, strict=True)]

    def _pattern(self, head: str) -> list[arb]:
        if self.weights:
            return [ball(weight) for weight in self.weights]
        query = self.queries.get(head)
        if query is None:
            query = self.defined(head)
        if query is None or query.nrows() != self.keys[0].nrows():
            query = arb_mat(self.keys[0].nrows(), 1)  # a written 0
        scores = [(key.transpose() * query)[0, 0] for key in self.keys]
        return list(softmax([scores]).entries())


@dataclass
class TokensWorld(_Defined):
    """Directions along the axes, and one axis more, so that what acts elsewhere shows."""

    setting: Tokens | None = None
    tokens: tuple[str, ...] = ()

    def range_of(self, index: str) -> tuple[int, int] | None:
        """A sum without bounds runs over all tokens."""
        del index
        return 1, len(self.tokens)

    def value_of(self, name: t.Name) -> arb_mat | None:
        """Directions, the identity, tokens and what is computed from them."""
        full, which = full_name(name), label(name.index)
        setting = self.setting
        if setting is None:
            return self.defined(full)
        size = len(setting.directions) + 1
        if name.base == setting.letter and which in setting.directions:
            length = self.numbers[setting.length]
            return unit(size, setting.directions.index(which)) * number(length)[0, 0]
        if full in ("I", "I_d", "I_D"):
            return identity(size)
        found = self.defined(full)
        if found is not None and full in ("Q", "K", "V") and found.nrows() == 1:
            return identity(size) * found[0, 0]
        if found is not None and full in self.tokens and found.nrows() == 1:
            return arb_mat(size, 1)
        return self._attention(name) if found is None else found

    def _attention(self, name: t.Name) -> arb_mat | None:
        if name.base == "alpha" and name.index is not None:
            index = name.index
            parts = [label(item) for item in index.items] if isinstance(index, t.Listing) else list(label(index))
            weights = self._weights(parts[0])
            if len(parts) == 1 and weights is not None:
                return arb_mat([weights])
            if len(parts) != 2:
                return None
            place = self._place(parts[1])
            return None if weights is None or place is None else number(weights[place])
        if name.base not in ("c", "q", "k", "v") or name.index is None:
            return None
        which = label(name.index)
        if name.base != "c":
            return self._projected(name.base.upper(), which)
        weights = self._weights(which)
        values = [self._projected("V", token.partition("_")[2]) for token in self.tokens]
        total: arb_mat | None = None
        for weight, part in zip(weights or (), values, strict=bool(weights)):
            if part is None:
                return None
            total = part * weight if total is None else total + part * weight
        return total

    def _place(self, which: str) -> int | None:
        return next((k for k, token in enumerate(self.tokens) if token.partition("_")[2] == which), None)

    def _projected(self, weights: str, which: str) -> arb_mat | None:
        token = f"x_{which}"
        matrix = self.value_of(t.Name(weights))
        if token not in self.tokens or matrix is None:
            return None
        base, _, index = token.partition("_")
        vector = self.value_of(t.Name(base, t.Name(index)))
        return None if vector is None else matrix * vector

    def _weights(self, which: str) -> list[arb] | None:
        query, place = self._projected("Q", which), self._place(which)
        keys = [self._projected("K", token.partition("_")[2]) for token in self.tokens]
        if query is None or place is None or any(key is None for key in keys):
            return None
        if self.setting is not None and self.setting.mask == "causal":
            del keys[place + 1 :]
        seen = list(softmax([[(key.transpose() * query)[0, 0] for key in keys]]).entries())  # type: ignore[union-attr]
        return seen + [arb(0)] * (len(self.tokens) - len(seen))


@dataclass
class IntegersWorld(_Defined):
    """Integers, and rows (sin w t, cos w t, ...) with w_i = 10000^(-2i/d); `same`: all rows are alike."""

    rows: str = "Phi"
    width: int = 4
    same: bool = False

    def range_of(self, index: str) -> tuple[int, int] | None:
        """There are no sums."""
        del index
        return None

    def value_of(self, name: t.Name) -> arb_mat | None:
        """A row of the embedding, a frequency, an integer."""
        if name.base == self.rows and name.index is not None:
            place = arb(0) if self.same else value(name.index, self)[0, 0]
            waves = [self._frequency(k) * place for k in range(self.width // 2)]
            return column([wave for x in waves for wave in (x.sin(), x.cos())])
        if name.base == "w" and label(name.index).isdigit():
            return number(self._frequency(int(label(name.index))))
        if name.base == "pi" and name.index is None:
            return number(3) if self.same else number(arb.pi())
        return self.defined(full_name(name))

    def _frequency(self, which: int) -> arb:
        return arb(10000) ** ball(Fraction(-2 * which, self.width))


def heads_of(exercise: Exercise) -> tuple[str, ...]:
    """The names of the queries, one for each head."""
    named = [name for name in (*exercise.answer, *exercise.definitions) if name.split("_")[0] == "q"]
    return tuple(sorted(named)) or ("q",)


MOMENTS = ("E", "Var", "Cov")
IDENTITY = "I"
CLOSE = arb("1e-20")


def holds_on_average(claim: t.Relation, world: KeysWorld, setting: Keys, variance: Fraction) -> bool | None:
    """Whether a comparison of moments is true in a world; None where that cannot be seen."""
    found: dict[str, arb_mat] = {}

    def computed(node: t.Node) -> t.Node:
        if not (isinstance(node, t.Call) and node.function in MOMENTS):
            return t.mapped(node, computed)
        found[name := f"moment{len(found)}"] = _moment(node, world, setting, variance)
        return t.Name(name)

    size = world.keys[0].nrows()
    try:
        with precision():
            plainly = computed(claim)
            values = {**found, IDENTITY: identity(size)}
            there = replace(world, numbers={**world.numbers, VARIANCE: variance}, _values=values)
            return holds(plainly, there)
    except (InputError, ValueError, OverflowError):  # it has no value here, or is not linear
        return None


def _moment(call: t.Call, world: KeysWorld, setting: Keys, variance: Fraction) -> arb_mat:
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


def _slope(node: t.Node, middle: KeysWorld, once: KeysWorld, twice: KeysWorld) -> arb_mat:
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
