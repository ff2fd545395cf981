"""Means, variances and covariances of what is linear in noisy keys: exact algebra, at every length of the query.

Keys are independent and normal. A key is k_i = mu_i + sqrt(a) xi_i with a standard normal vector xi_i; one of random
length is g mu_i + sqrt(a) xi_i with g normal, too. What is linear in keys is therefore constant + a part for each xi_i
+ a part for each g, is normal itself, and has a mean and a variance that are sums over these parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.decision import Decision, Tending, decide, decide_all
from headwright.check.exercise import NormalLaw
from headwright.check.scalars import Range, Scalar, Where, number
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import ONE, VARIANCE, ZERO, Hypothesis, Scene, UndeterminedError, Vec
from headwright.check.settings.matrices.known import names_in
from headwright.formula import tree as t

MOMENTS = ("E", "Var", "Cov")
NOT_LINEAR = "means and variances are known exactly of what is linear in the keys, and of weights as queries grow"
UP_TO_NOISE = "it holds up to the noise, which vanishes: write \\approx"
NOT_NOTHING = "it leaves out the noise, whose variance is small and not 0: the exact value is asked for"
DEPENDS = "it depends on how small the noise is beside the query"
DEEPEST = 20  # definitions inside definitions
SMALL = Range(0, 1, lower_open=True, upper_open=True)  # where the variance of the noise lies
ROOT = t.Call("sqrt", (t.Name(VARIANCE),))


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


Exact = Scalar | Vec | Spread


def _times(factor: Scalar, value: Exact) -> Exact:
    return factor * value if isinstance(value, Scalar) else value.times(factor)


def _plus(x: Exact, y: Exact) -> Exact:
    if isinstance(x, Scalar) and isinstance(y, Scalar):
        return x + y
    if isinstance(x, Spread) and isinstance(y, Spread):
        return x.plus(y)
    if isinstance(x, Vec) and isinstance(y, Vec) and (x.space, x.row) == (y.space, y.row):
        return x.plus(y)
    raise UndeterminedError("two things of different kinds are added")


@dataclass(frozen=True)
class Form:
    """Something linear in noisy keys, by what it is made of; a number, a vector, or a matrix without chance.

    Of a vector, `noise` has the factor of each xi_i; of a number it has the vector that xi_i is multiplied with.
    """

    constant: Exact
    noise: Mapping[str, Exact] = field(default_factory=dict)
    swing: Mapping[str, Exact] = field(default_factory=dict)  # the factor of each random length, less its mean

    @property
    def random(self) -> bool:
        """Whether it depends on chance."""
        return bool(self.noise or self.swing)

    @property
    def number(self) -> Scalar:
        """Its value, where it is a number without chance."""
        if self.random or not isinstance(self.constant, Scalar):
            raise UndeterminedError(NOT_LINEAR)
        return self.constant

    def times(self, factor: Scalar) -> Form:
        """A multiple."""
        noise, swing = ({name: _times(factor, x) for name, x in part.items()} for part in (self.noise, self.swing))
        return Form(_times(factor, self.constant), noise, swing)

    def plus(self, other: Form) -> Form:
        """The sum."""
        return Form(
            _plus(self.constant, other.constant), _together(self.noise, other.noise), _together(self.swing, other.swing)
        )

    def turned(self) -> Form:
        """The transpose."""
        return replace(self, constant=_turned(self.constant), swing={n: _turned(x) for n, x in self.swing.items()})


def _turned(value: Exact) -> Exact:
    return value.turned() if isinstance(value, Vec) else value


def _together(x: Mapping[str, Exact], y: Mapping[str, Exact]) -> dict[str, Exact]:
    return {**x, **y, **{name: _plus(x[name], y[name]) for name in x if name in y}}


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

    def form(self, node: t.Node, depth: int = 0) -> Form:
        """A term as a linear form; moments in it are numbers, vectors and matrices."""
        if depth > DEEPEST:
            raise MisfitError("this is defined by itself", node)
        match node:
            case t.Call(function) if function in MOMENTS:
                return Form(self.moment(node))
            case t.Name("I", _, 0):
                return Form(Spread(ONE))
            case t.Name() if self._random(node, depth) or full_name(node) in self.scene.definitions:
                return self._name(node, depth)
            case t.Sum(terms):
                return reduce(Form.plus, (self.form(term, depth) for term in terms))
            case t.Negative(body):
                return self.form(body, depth).times(number(-1))
            case t.Quotient(over, under):
                below = self.form(under, depth).number
                if below == ZERO:
                    raise MisfitError("this is 0, and something is divided by it", under)
                return self.form(over, depth).times(ONE / below)
            case t.Power(base, exponent):
                return Form(self.form(base, depth).number ** self.form(exponent, depth).number)
            case t.Transpose(body):
                return self.form(body, depth).turned()
            case t.Product(factors):
                return reduce(self._product, (self.form(factor, depth) for factor in factors))
            case t.Inner(left, right):
                return self._product(self.form(left, depth).turned(), self.form(right, depth))
        if any(self._random(name, depth) for name in names_in(node)):
            raise UndeterminedError(NOT_LINEAR)
        return Form(self.reader.value(node))

    def _random(self, name: t.Name, depth: int) -> bool:
        """Whether this is a key, a length, or something made of them."""
        defined = self.scene.definitions.get(full_name(name))
        if defined is not None:
            return depth > DEEPEST or any(self._random(one, depth + 1) for one in names_in(defined))
        indexed = name.base in ("k", "alpha", "c") and name.index is not None
        return indexed or full_name(name) in (*self.scene.random, "c")

    def _name(self, node: t.Name, depth: int) -> Form:
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
        for one, other in ((x, y), (y, x)):
            if isinstance(one.constant, Scalar) and not one.random:
                return other.times(one.constant)
        left, right = x.constant, y.constant
        if isinstance(left, Vec) and isinstance(right, Spread) and left.row and not (x.random or y.random):
            return Form(self._applied(right, left))  # q^T Sigma
        if isinstance(left, Spread) and isinstance(right, Vec) and not right.row and not (x.random or y.random):
            return Form(self._applied(Spread(left.identity, {(d, c): x for (c, d), x in left.outer.items()}), right))
        if not (isinstance(left, Vec) and isinstance(right, Vec)) or (x.random and y.random):
            raise UndeterminedError(NOT_LINEAR)
        if right.row and not (left.row or x.random or y.random):
            return Form(self._outer(left, right))
        if not left.row or right.row:
            raise MisfitError("two vectors are multiplied", t.Name("k"), fix="write k_i^\\top q for an inner product")
        still, moving = (right, x) if x.random else (left, y)
        noise = {name: still.times(w) for name, w in moving.noise.items() if isinstance(w, Scalar)}
        swing = {name: self._inner(part, still) for name, part in moving.swing.items()}
        return Form(self._inner(left, right), noise, swing)

    def _inner(self, x: Exact, y: Exact) -> Scalar:
        if isinstance(x, Vec) and isinstance(y, Vec) and {x.space, y.space} == {"key"}:
            return self.reader.scene.inner(x, y)
        raise UndeterminedError(NOT_LINEAR)

    def _applied(self, spread: Spread, vector: Vec) -> Vec:
        """x^T (s I + sum of w_cd c d^T), lying or standing as x does."""
        total = vector.times(spread.identity)
        for (c, d), factor in spread.outer.items():
            along = self._inner(vector, Vec("key", {c: ONE}))
            total = total.plus(Vec(vector.space, {d: factor * along}, vector.row))
        return total

    def _outer(self, x: Vec, y: Vec) -> Spread:
        if {*x.coordinates, *y.coordinates} - set(self.scene.classes.singles) or {x.space, y.space} != {"key"}:
            raise UndeterminedError("products of sums of directions are not compared")
        return Spread(ZERO, {(c, d): s * r for c, s in x.coordinates.items() for d, r in y.coordinates.items()})

    def covariance(self, x: Form, y: Form) -> Exact:
        """Of two numbers a number, of two vectors a matrix."""
        vectors = [isinstance(form.constant, Vec) for form in (x, y)]
        if any(vectors) != all(vectors):
            raise UndeterminedError("a number and a vector have no covariance here")
        total: Exact = Spread(ZERO) if all(vectors) else ZERO
        for which in x.noise.keys() & y.noise.keys():
            one, other = x.noise[which], y.noise[which]
            if isinstance(one, Scalar) and isinstance(other, Scalar):
                total = _plus(total, Spread(self.variance * one * other))
            else:
                total = _plus(total, self.variance * self._inner(one, other))
        for which in x.swing.keys() & y.swing.keys():
            one, other, law = x.swing[which], y.swing[which], self.law(which)
            spread = number(Fraction(0) if law is None else law.variance)
            if isinstance(one, Vec) and isinstance(other, Vec):
                total = _plus(total, self._outer(one, other).times(spread))
            elif isinstance(one, Scalar) and isinstance(other, Scalar):
                total = _plus(total, spread * one * other)
        return total

    def moment(self, call: t.Call) -> Exact:
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

    def side(self, node: t.Node) -> Exact:
        """The value of a side of a comparison, which must not be left to chance."""
        found = self.form(node)
        if found.random:
            raise UndeterminedError("a random side is compared with one that is not")
        return found.constant


def speaks_of_moments(node: t.Node) -> bool:
    """Whether means, variances or covariances occur."""
    return any(isinstance(part, t.Call) and part.function in MOMENTS for part in t.walk(node))


def speaks_of_variance(node: t.Node, scene: Scene) -> bool:
    """Whether the variance of the noise occurs, under the name that the exercise or the answer gives it."""
    if scene.setting.noise != "vanishing":
        return False
    names = [full_name(part) for part in names_in(node)]
    return any(name == VARIANCE or scene.definitions.get(name) in (t.Name(VARIANCE), ROOT) for name in names)


def is_vanishing_noise(link: t.Relation, scene: Scene) -> bool:
    """a -> 0, under whatever name: that is given."""
    return (
        link.comparisons == ("->",) and isinstance(link.terms[0], t.Name) and speaks_of_variance(link.terms[0], scene)
    )


def decide_exactly(scene: Scene, link: t.Relation, given: Sequence[Hypothesis], where: Where) -> Decision:
    """Decide what is said of means and variances of linear forms, for every length of the query and of the noise."""
    (left, right), (sign,) = link.terms, link.comparisons
    if scene.setting.noise != "vanishing":
        raise MisfitError("means and variances are known of keys with normal noise only", link)
    if scene.random & set(scene.fixed) or any(scene.random & (x.names() | y.names()) for x, _, y in given):
        return Decision("undecided", "means and variances under a condition on the random length are not known")
    laws = Laws(scene)
    try:
        pairs = _pairs(laws.side(left), laws.side(right), link)
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
    if not dropped or not _without_noise(pairs, known):
        return found
    asked = scene.exercise.asks_value_of(left)
    return Decision("undecided", NOT_NOTHING if asked else UP_TO_NOISE)


def _without_noise(pairs: Mapping[str, tuple[Scalar, Scalar]], where: Where) -> bool:
    """Whether the two sides are equal but for the noise."""
    none = {VARIANCE: 0}
    return all(decide(x.put(none), "=", y.put(none), where).word == "proved" for x, y in pairs.values())


def _pairs(x: Exact, y: Exact, link: t.Relation) -> dict[str, tuple[Scalar, Scalar]]:
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


def drawn_as_moments(node: t.Node) -> t.Node:
    """'x ~ N(m, C)' as what it says of the mean and the variance of x; that x is normal follows where it is linear."""
    match node:
        case t.Bond("drawn", left, t.Call("N", (mean, spread))):
            first = t.Relation((t.Call("E", (left,), span=left.span), mean), ("=",), span=node.span)
            second = t.Relation((t.Call("Var", (left,), span=left.span), spread), ("=",), span=node.span)
            return t.Logic("and", (first, second), span=node.span)
        case _:
            return t.mapped(node, drawn_as_moments)


def variance_named(nodes: Iterable[t.Node], scene: Scene) -> dict[str, t.Node]:
    """What an answer calls the variance of the noise: 'k_i ~ N(mu_i, sigma^2 I)' names its root sigma."""
    for node in nodes:
        for part in t.walk(node):
            match part:
                case t.Bond("drawn", t.Name("k"), t.Call("N", (_, spread))):
                    names = set(names_in(spread))
                    own = [one for one in names if _own(one, scene)]
                    if len(own) == 1 and t.Name(VARIANCE) not in names:
                        squared = t.Power(own[0], t.Number(Fraction(2))) in t.walk(spread)
                        found: dict[str, t.Node] = {full_name(own[0]): ROOT if squared else t.Name(VARIANCE)}
                        if _is_variance(spread, scene.defining(found)):
                            return found
    return {}


def _is_variance(spread: t.Node, scene: Scene) -> bool:
    """Whether a covariance has the variance of the noise in all directions."""
    laws = Laws(scene)
    try:
        value = laws.side(spread)
    except (MisfitError, UndeterminedError):
        return False
    return isinstance(value, Spread) and value.identity == laws.variance


def _own(name: t.Name, scene: Scene) -> bool:
    return not scene.gives(name) and full_name(name) not in scene.definitions and name.base != "I"
