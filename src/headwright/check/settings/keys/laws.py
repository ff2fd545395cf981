"""Means, variances and covariances of what is linear in noisy keys: exact algebra, at every length of the query.

Keys are independent and normal. A key is k_i = mu_i + sqrt(a) xi_i with a standard normal vector xi_i; one of random
length is g mu_i + sqrt(a) xi_i with g normal, too. What is linear in keys is therefore constant + a part for each xi_i
+ a part for each g, is normal itself, and has a mean and a variance that are sums over these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.decision import Decision, Tending, decide, decide_all
from headwright.check.exercise import NormalLaw
from headwright.check.scalars import Range, Scalar, Where, number
from headwright.check.settings.keys.meaning import VARIANCE, Reader, Value
from headwright.check.settings.keys.scene import ONE, ZERO, Hypothesis, Scene, UndeterminedError, Vec
from headwright.check.settings.matrices.known import names_in
from headwright.formula.tree import (
    Bond,
    Call,
    Inner,
    Logic,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Transpose,
    mapped,
    walk,
)

MOMENTS = ("E", "Var", "Cov")
NOT_LINEAR = "means and variances are known exactly of what is linear in the keys, and of weights as queries grow"
UP_TO_NOISE = "it holds up to the noise, which vanishes: write \\approx"
DEPENDS = "it depends on how small the noise is beside the query"
DEEPEST = 20  # definitions inside definitions
SMALL = Range(0, 1, lower_open=True, upper_open=True)  # where the variance of the noise lies
ROOT = Call("sqrt", (Name(VARIANCE),))


@dataclass(frozen=True)
class Spread:
    """A covariance: a multiple of the identity, and products x y^T of directions of single keys."""

    identity: Scalar
    outer: Mapping[tuple[str, str], Scalar] = field(default_factory=dict)

    def times(self, factor: Scalar) -> Spread:
        """A multiple."""
        return Spread(factor * self.identity, {pair: factor * x for pair, x in self.outer.items()})

    def plus(self, other: Spread) -> Spread:
        """The sum of two."""
        pairs = {pair: self.of(pair) + other.of(pair) for pair in {**self.outer, **other.outer}}
        return Spread(self.identity + other.identity, pairs)

    def of(self, pair: tuple[str, str]) -> Scalar:
        """The factor of one product."""
        return self.outer.get(pair, ZERO)


def _outer(x: Vec, y: Vec, scene: Scene) -> Spread:
    if {*x.coordinates, *y.coordinates} - set(scene.classes.singles) or {x.space, y.space} != {"key"}:
        raise UndeterminedError("products of sums of directions are not compared")
    return Spread(ZERO, {(c, d): s * t for c, s in x.coordinates.items() for d, t in y.coordinates.items()})


@dataclass(frozen=True)
class Form:
    """Something linear in noisy keys, by what it is made of; a number or a vector of the key space.

    Of a vector, `noise` has the factor of each xi_i; of a number it has the vector that xi_i is multiplied with.
    """

    constant: Value
    noise: Mapping[str, Value] = field(default_factory=dict)
    swing: Mapping[str, Value] = field(default_factory=dict)  # the factor of each random length, less its mean

    @property
    def random(self) -> bool:
        """Whether it depends on chance."""
        return bool(self.noise or self.swing)

    def each(self, change: Callable[[Value], Value]) -> Form:
        """The same with all its parts changed alike."""
        return Form(
            change(self.constant),
            {name: change(part) for name, part in self.noise.items()},
            {name: change(part) for name, part in self.swing.items()},
        )

    def times(self, factor: Scalar) -> Form:
        """A multiple."""
        return self.each(lambda part: part.times(factor) if isinstance(part, Vec) else factor * part)

    def plus(self, other: Form) -> Form:
        """The sum of two numbers, or of two vectors."""
        return Form(
            _added(self.constant, other.constant),
            _together(self.noise, other.noise),
            _together(self.swing, other.swing),
        )


def _added(x: Value, y: Value) -> Value:
    if isinstance(x, Vec) and isinstance(y, Vec) and x.space == y.space:
        return x.plus(replace(y, row=x.row))
    if isinstance(x, Scalar) and isinstance(y, Scalar):
        return x + y
    raise UndeterminedError("a number and a vector are added")


def _together(x: Mapping[str, Value], y: Mapping[str, Value]) -> dict[str, Value]:
    both = {name: _added(x[name], y[name]) for name in x if name in y}
    return {**x, **y, **both}


@dataclass(frozen=True)
class Laws:
    """What is known of the keys of a scene, as random vectors."""

    scene: Scene

    @property
    def reader(self) -> Reader:
        """For what does not depend on chance, and for the variance of the noise."""
        return Reader(replace(self.scene, ranges={**self.scene.ranges, VARIANCE: SMALL}), {})

    @property
    def variance(self) -> Scalar:
        """That of the noise."""
        return self.reader.scene.scalar(VARIANCE)

    def law(self, which: str) -> NormalLaw | None:
        """That of the length of a key; None where it is not random."""
        scale = self.scene.setting.scales.get(which)
        if scale is not None and scale.normal is None:
            raise UndeterminedError("the length of this key is one of several: it is not normal")
        return None if scale is None else scale.normal

    def query(self, head: str) -> Vec:
        """The query of a head; none, where no formula defines it."""
        return self.reader.query(head) if head in self.scene.definitions else Vec("key", {})

    def form(self, node: Node, depth: int = 0) -> Form:
        """A term as a linear form."""
        if depth > DEEPEST:
            raise MisfitError("this is defined by itself", node)
        if not self.speaks_of_chance(node, depth):
            return Form(self.reader.value(node))
        match node:
            case Name():
                return self._name(node, depth)
            case Sum(terms):
                first, *others = (self.form(term, depth) for term in terms)
                for other in others:
                    first = first.plus(other)
                return first
            case Negative(body):
                return self.form(body, depth).times(number(-1))
            case Quotient(over, under) if not self.speaks_of_chance(under, depth):
                return self.form(over, depth).times(ONE / self.reader.scalar(under))
            case Transpose(body):
                return self.form(body, depth)
            case Product(factors):
                first, *others = (self.form(factor, depth) for factor in factors)
                for other in others:
                    first = self._product(first, other)
                return first
            case Inner(left, right):
                return self._product(self.form(left, depth), self.form(right, depth))
        raise UndeterminedError(NOT_LINEAR)

    def speaks_of_chance(self, node: Node, depth: int = 0) -> bool:
        """Whether keys, lengths or what is made of them occur."""
        return any(self._random(name, depth) for name in names_in(node))

    def _random(self, name: Name, depth: int) -> bool:
        defined = self.scene.definitions.get(full_name(name))
        if defined is not None:
            return depth > DEEPEST or self.speaks_of_chance(defined, depth + 1)
        if full_name(name) in self.scene.fixed:
            return False
        indexed = name.base in ("k", "alpha", "c") and name.index is not None
        return indexed or full_name(name) in (*self.scene.random, "c")

    def _name(self, node: Name, depth: int) -> Form:
        defined, full = self.scene.definitions.get(full_name(node)), full_name(node)
        if defined is not None:
            return self.form(defined, depth + 1)
        for which, scale in self.scene.setting.scales.items():
            law = self.law(which)
            if full == scale.name and law is not None:
                return Form(number(law.mean), {}, {which: ONE})
        which = label(node.index)
        if node.base != "k" or which not in self.scene.classes.singles:
            raise UndeterminedError(NOT_LINEAR)
        law, direction = self.law(which), Vec("key", {which: ONE})
        if law is None:
            return Form(direction, {which: ONE})
        return Form(direction.times(number(law.mean)), {which: ONE}, {which: direction})

    def _product(self, x: Form, y: Form) -> Form:
        if x.random and y.random:
            raise UndeterminedError(NOT_LINEAR)
        still, moving = (y.constant, x) if x.random else (x.constant, y)
        if isinstance(still, Scalar):
            return moving.times(still)
        if isinstance(moving.constant, Scalar):
            raise UndeterminedError(NOT_LINEAR)  # a random number times a vector
        if still.space != "key":
            raise UndeterminedError(NOT_LINEAR)
        inner = {name: self._inner(part, still) for name, part in moving.swing.items()}
        noise: dict[str, Value] = {n: still.times(w) for n, w in moving.noise.items() if isinstance(w, Scalar)}
        return Form(self._inner(moving.constant, still), noise, inner)

    def _inner(self, x: Value, y: Value) -> Scalar:
        if isinstance(x, Vec) and isinstance(y, Vec):
            return self.reader.scene.inner(x, y)
        raise UndeterminedError(NOT_LINEAR)

    def covariance(self, x: Form, y: Form) -> Value | Spread:
        """Of two numbers a number, of two vectors a matrix."""
        if isinstance(x.constant, Vec) != isinstance(y.constant, Vec):
            raise UndeterminedError("a number and a vector have no covariance here")
        total: Value | Spread = Spread(ZERO) if isinstance(x.constant, Vec) else ZERO
        for which in x.noise.keys() & y.noise.keys():
            one, other = x.noise[which], y.noise[which]
            if isinstance(one, Scalar) and isinstance(other, Scalar):
                total = _summed(total, Spread(self.variance * one * other))
            else:
                total = _summed(total, self.variance * self._inner(one, other))
        for which in x.swing.keys() & y.swing.keys():
            one, other, law = x.swing[which], y.swing[which], self.law(which)
            spread = number(Fraction(0) if law is None else law.variance)
            if isinstance(one, Vec) and isinstance(other, Vec):
                total = _summed(total, _outer(one, other, self.scene).times(spread))
            elif isinstance(one, Scalar) and isinstance(other, Scalar):
                total = _summed(total, spread * one * other)
        return total

    def moment(self, call: Call) -> Value | Spread:
        """The value of E[x], Var(x) or Cov(x, y)."""
        forms = [self.form(argument) for argument in call.arguments]
        match call.function, forms:
            case "E", [one]:
                return one.constant
            case "Var" | "Cov", [one]:
                return self.covariance(one, one)
            case "Cov", [one, other]:
                return self.covariance(one, other)
        raise MisfitError("this is not understood", call, fix="write \\operatorname{Cov}(x, y)")

    def value(self, node: Node) -> Value | Spread:
        """The value of a side of a comparison: moments are numbers, vectors and matrices in it."""
        if isinstance(node, Call) and node.function in MOMENTS:
            return self.moment(node)
        match node:
            case Name("I", _, 0):
                return Spread(ONE)
            case Sum(terms):
                total, *others = (self.value(term) for term in terms)
                for other in others:
                    total = _summed(total, other)
                return total
            case Negative(body):
                return _scaled(number(-1), self.value(body))
            case Quotient(over, under):
                below = self.value(under)
                if not isinstance(below, Scalar) or below == ZERO:
                    raise UndeterminedError("something is divided by what is no number, or is 0")
                return _scaled(ONE / below, self.value(over))
            case Power(base, exponent):
                return self._number(base) ** self._number(exponent)
            case Product(factors):
                total, *others = (self.value(factor) for factor in factors)
                for other in others:
                    total = self._times(total, other)
                return total
        if self.speaks_of_chance(node):
            raise UndeterminedError("a random side is compared with one that is not")
        return self.reader.value(node)

    def _number(self, node: Node) -> Scalar:
        value = self.value(node)
        if not isinstance(value, Scalar):
            raise UndeterminedError("a power of what is no number")
        return value

    def _times(self, x: Value | Spread, y: Value | Spread) -> Value | Spread:
        if isinstance(x, Scalar) or isinstance(y, Scalar):
            return _scaled(x, y) if isinstance(x, Scalar) else _scaled(_scalar(y), x)
        if isinstance(x, Vec) and isinstance(y, Vec) and x.row != y.row:
            return self.reader.scene.inner(x, y) if x.row else _outer(x, y, self.scene)
        raise UndeterminedError("this product of matrices is not worked out")


def _scalar(value: Value | Spread) -> Scalar:
    if isinstance(value, Scalar):
        return value
    raise UndeterminedError("a number was expected")


def _scaled(factor: Scalar, value: Value | Spread) -> Value | Spread:
    return factor * value if isinstance(value, Scalar) else value.times(factor)


def _summed(x: Value | Spread, y: Value | Spread) -> Value | Spread:
    if isinstance(x, Spread) and isinstance(y, Spread):
        return x.plus(y)
    if isinstance(x, Spread) or isinstance(y, Spread):
        raise UndeterminedError("a matrix and something else are added")
    return _added(x, y)


def speaks_of_moments(node: Node) -> bool:
    """Whether means, variances or covariances occur."""
    return any(isinstance(part, Call) and part.function in MOMENTS for part in walk(node))


def speaks_of_variance(node: Node, scene: Scene) -> bool:
    """Whether the variance of the noise occurs, under the name that the exercise or the answer gives it."""
    if scene.setting.noise != "vanishing":
        return False
    names = [full_name(part) for part in names_in(node)]
    return any(name == VARIANCE or _stands_for_variance(scene.definitions.get(name)) for name in names)


def _stands_for_variance(defined: Node | None) -> bool:
    return defined in (Name(VARIANCE), ROOT)


def is_vanishing_noise(link: Relation, scene: Scene) -> bool:
    """a -> 0, under whatever name: that is given."""
    return link.comparisons == ("->",) and isinstance(link.terms[0], Name) and speaks_of_variance(link.terms[0], scene)


def decide_exactly(scene: Scene, link: Relation, given: Sequence[Hypothesis], where: Where) -> Decision:
    """Decide what is said of means and variances of linear forms, for every length of the query and of the noise."""
    (left, right), (sign,) = link.terms, link.comparisons
    if scene.setting.noise != "vanishing":
        raise MisfitError("nothing is random in this exercise", link)
    if any(scene.random & (x.names() | y.names()) for x, _, y in given):
        return Decision("undecided", "means and variances under a condition on the random length are not known")
    laws = Laws(scene)
    try:
        pairs = _pairs(laws.value(left), laws.value(right), link)
    except UndeterminedError as error:
        return Decision("undecided", str(error))
    own = {name for pair in pairs.values() for side in pair for name in side.names()} - {*where.ranges, VARIANCE}
    spoken = set().union(*(x.names() for head in scene.queries for x in laws.query(head).coordinates.values()))
    if own - spoken:
        return Decision("undecided", f"what {' and '.join(sorted(own - spoken))} is, is not said")
    known = replace(where, ranges={**where.ranges, **{n: scene.range_of(n) for n in own}, VARIANCE: SMALL})
    if sign in ("~", "->"):
        return decide_all(pairs, "->", known, Tending((), frozenset({VARIANCE})))
    found = decide_all(pairs, sign, known)
    if found.word != "refuted":
        return found
    if sign != "=":
        return Decision("undecided", DEPENDS)
    dropped = not any(VARIANCE in right.names() for _, right in pairs.values())
    return Decision("undecided", UP_TO_NOISE) if dropped and _without_noise(pairs, known) else found


def _without_noise(pairs: Mapping[str, tuple[Scalar, Scalar]], where: Where) -> bool:
    """Whether the two sides are equal but for the noise."""
    none = {VARIANCE: 0}
    return all(decide(x.put(none), "=", y.put(none), where).word == "proved" for x, y in pairs.values())


def _pairs(x: Value | Spread, y: Value | Spread, link: Relation) -> dict[str, tuple[Scalar, Scalar]]:
    if isinstance(x, Scalar) and isinstance(y, Scalar):
        return {"": (x, y)}
    if y == ZERO:  # a written 0 is that of vectors and matrices too
        y = Spread(ZERO) if isinstance(x, Spread) else Vec("key", {})
    if link.comparisons[0] not in ("=", "~", "->"):
        raise MisfitError("vectors and matrices are not compared by size", link)
    if isinstance(x, Vec) and isinstance(y, Vec) and x.space == y.space:
        names = sorted({*x.coordinates, *y.coordinates})
        return {f"the part along mu_{name}": (x.of(name), y.of(name)) for name in names}
    if isinstance(x, Spread) and isinstance(y, Spread):
        pairs = {f"the factor of mu_{c} mu_{d}^T": (x.of((c, d)), y.of((c, d))) for c, d in {**x.outer, **y.outer}}
        return {"the factor of I": (x.identity, y.identity), **pairs}
    raise MisfitError("the two sides are of different kinds", link)


def drawn_as_moments(node: Node) -> Node:
    """'x ~ N(m, C)' as what it says of the mean and the variance of x; that x is normal follows where it is linear."""
    match node:
        case Bond("drawn", left, Call("N", (mean, spread))):
            first = Relation((Call("E", (left,), span=left.span), mean), ("=",), span=node.span)
            second = Relation((Call("Var", (left,), span=left.span), spread), ("=",), span=node.span)
            return Logic("and", (first, second), span=node.span)
        case _:
            return mapped(node, drawn_as_moments)


def variance_named(nodes: Iterable[Node], scene: Scene) -> dict[str, Node]:
    """What an answer calls the variance of the noise: 'k_i ~ N(mu_i, sigma^2 I)' names its root sigma."""
    for node in nodes:
        for part in walk(node):
            match part:
                case Bond("drawn", Name("k"), Call("N", (_, spread))):
                    names = set(names_in(spread))
                    own = [one for one in names if _own(one, scene)]
                    if len(own) == 1 and Name(VARIANCE) not in names:
                        squared = any(own[0] in _squared(one) for one in walk(spread))
                        found: dict[str, Node] = {full_name(own[0]): ROOT if squared else Name(VARIANCE)}
                        if _is_variance(spread, scene.defining(found)):
                            return found
    return {}


def _is_variance(spread: Node, scene: Scene) -> bool:
    """Whether a covariance has the variance of the noise in all directions."""
    laws = Laws(scene)
    try:
        value = laws.value(spread)
    except (MisfitError, UndeterminedError):
        return False
    return isinstance(value, Spread) and value.identity == laws.variance


def _squared(node: Node) -> list[Node]:
    return [node.base] if isinstance(node, Power) and node.exponent == Number(Fraction(2)) else []


def _own(name: Name, scene: Scene) -> bool:
    return not scene.gives(name) and full_name(name) not in scene.definitions and name.base != "I"
