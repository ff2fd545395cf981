"""Means, variances and covariances of what is linear in noisy keys: exact algebra, at every length of the query.

Keys are independent and normal: k_i = mu_i + noise of variance a in every direction; one of random length is g mu_i +
noise with g normal, too. A number that is linear in the keys is normal. By how much it changes as a key moves along a
direction, and as g changes, is read off by moving them; its variance is the sum of the squares, weighted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.decision import Decision, Tending, decide, decide_all
from headwright.check.scalars import Range, Scalar, Where, number, parameter
from headwright.check.scalars.numbers import Symbol
from headwright.check.settings.keys.meaning import DEEPEST, Reader, Value, scalars_in
from headwright.check.settings.keys.scene import ONE, VARIANCE, ZERO, Hypothesis, Scene, UndeterminedError, Vec
from headwright.check.settings.matrices.known import names_in
from headwright.formula import tree as t

MOMENTS = ("E", "Var", "Cov")
NOT_LINEAR = "means and variances are known exactly of what is linear in the keys, and of weights as queries grow"
UP_TO_NOISE = "it holds up to the noise, which vanishes: write \\approx"
NOT_NOTHING = "it leaves out the noise, whose variance is small and not 0: the exact value is asked for"
DEPENDS = "it depends on how small the noise is beside the query"
SMALL = Range(0, 1, lower_open=True, upper_open=True)  # where the variance of the noise lies


def speaks_of_moments(node: t.Node) -> bool:
    """Whether means, variances or covariances occur."""
    return any(isinstance(part, t.Call) and part.function in MOMENTS for part in t.walk(node))


def speaks_of_variance(node: t.Node, scene: Scene) -> bool:
    """Whether the variance of the noise occurs."""
    return scene.setting.noise == "vanishing" and any(full_name(part) == VARIANCE for part in names_in(node))


def is_vanishing_noise(link: t.Relation, scene: Scene) -> bool:
    """a -> 0: that is given."""
    alone = link.comparisons == ("->",) and isinstance(link.terms[0], t.Name)
    return alone and speaks_of_variance(link.terms[0], scene)


def is_random(node: t.Node, scene: Scene) -> bool:
    """Whether a formula speaks of keys, of random lengths, or of what depends on them."""
    names = [name for part in _spoken(node, scene) for name in names_in(part)]
    own = [name for name in names if full_name(name) not in scene.definitions]
    return any(name.base in ("k", "alpha", "c") or full_name(name) in scene.random for name in own)


def _spoken(node: t.Node, scene: Scene) -> list[t.Node]:
    """A formula, and the definitions of the names in it, of those in them, and so on."""
    found = [node]
    for part in found:
        defined = (scene.definitions.get(full_name(name)) for name in names_in(part))
        found += [one for one in dict.fromkeys(defined) if one is not None and one not in found]
    return found


def moment(call: t.Call, scene: Scene) -> Value:
    """The value of E[x], Var(x) or Cov(x, y); x is linear in the keys."""
    chances = [*_chances(scene)]
    found = [_parts(argument, scene, chances) for argument in call.arguments]
    if call.function == "E" and len(found) == 1:
        return found[0][0]
    if call.function == "E" or len(found) > 2 or (call.function == "Var" and len(found) > 1):
        raise MisfitError("this is not understood", call, fix="write \\operatorname{Cov}(x, y)")
    (x, slopes), (y, others) = found[0], found[-1]
    if isinstance(x, Vec) or isinstance(y, Vec):
        raise UndeterminedError("covariances are known of numbers only")
    return sum((one.variance * slopes[one.step] * others[one.step] for one in chances), ZERO)


@dataclass(frozen=True)
class _Chance:
    """A normal variable of mean 0: by how much a key lies beside its mean in a direction, or by how much g differs."""

    step: Symbol
    variance: Scalar
    key: str = ""
    direction: str = ""
    length: str = ""


def _chances(scene: Scene) -> Iterator[_Chance]:
    """All that is random. A class of keys is moved along by a step along the sum of all its directions."""
    directions = [name for name in scene.classes.all if scene.classes.count(name) != ZERO]
    for place, (key, along) in enumerate(product(scene.classes.singles, directions)):
        yield _Chance(Symbol("step", str(place)), scene.scalar(VARIANCE) / scene.classes.count(along), key, along)
    for scale in scene.setting.scales.values():
        if scale.normal is None:
            raise UndeterminedError("the length of this key is one of several: it is not normal")
        yield _Chance(Symbol("swing", scale.name), number(scale.normal.variance), length=scale.name)


def _parts(node: t.Node, scene: Scene, chances: Sequence[_Chance]) -> tuple[Value, dict[str, Scalar]]:
    """The mean of something linear in the keys; and how a number changes with each variable."""
    for part in (one for spoken in _spoken(node, scene) for one in t.walk(spoken)):
        if isinstance(part, t.BigSum | t.BigCall) and is_random(part, scene):
            raise UndeterminedError(NOT_LINEAR)
        if isinstance(part, t.Name) and full_name(part) not in scene.definitions:
            single = label(part.index) in scene.classes.singles
            if part.base in ("alpha", "c") or (part.base == "k" and not single):
                raise UndeterminedError(NOT_LINEAR)  # of keys of a class, each has noise of its own
    moved: dict[str, Vec] = {}
    lengths: dict[str, Scalar] = {}
    for one in chances:
        if one.key:
            step = Vec("key", {one.direction: parameter(one.step)})
            moved[one.key] = moved[one.key].plus(step) if one.key in moved else step
    for scale in scene.setting.scales.values():
        mean = ZERO if scale.normal is None else number(scale.normal.mean)
        lengths[scale.name] = mean + parameter(Symbol("swing", scale.name))
    value = Reader(replace(scene, moved=moved).knowing(**lengths), {}).value(node)
    none: dict[str, Scalar] = {one.step: ZERO for one in chances}
    slopes: dict[str, Scalar] = {}
    for x in scalars_in(value):
        rest = x.put(none)
        slopes = {step: x.put({**none, step: ONE}) - rest for step in none}
        if x != rest + sum((slope * parameter(step) for step, slope in slopes.items()), ZERO):
            raise UndeterminedError(NOT_LINEAR)
    if isinstance(value, Vec):
        return replace(value, coordinates={name: x.put(none) for name, x in value.coordinates.items()}), {}
    return value.put(none), slopes


def decide_exactly(scene: Scene, link: t.Relation, given: Sequence[Hypothesis], where: Where) -> Decision:
    """Decide what is said of means and variances of linear forms, for every length of the query and of the noise."""
    (left, right), (sign,) = link.terms, link.comparisons
    if scene.setting.noise != "vanishing":
        raise MisfitError("means and variances are known of keys with normal noise only", link)
    if scene.random & set(scene.fixed) or any(scene.random & (x.names() | y.names()) for x, _, y in given):
        return Decision("undecided", "means and variances under a condition on the random length are not known")
    scene = replace(scene, ranges={**scene.ranges, VARIANCE: SMALL})
    try:
        a, b = _side(left, scene), _side(right, scene)
        queries = [Reader(scene, {}).query(head) for head in scene.queries if head in scene.definitions]
    except UndeterminedError as error:
        return Decision("undecided", str(error))
    if isinstance(a, Vec) and b == ZERO:
        b = Vec(a.space, {})
    if isinstance(a, Vec) and isinstance(b, Vec) and sign in ("=", "~", "->"):
        pairs = {f"the part along mu_{name}": (a.of(name), b.of(name)) for name in {**a.coordinates, **b.coordinates}}
    elif isinstance(a, Scalar) and isinstance(b, Scalar):
        pairs = {"": (a, b)}
    else:
        return Decision("undecided", "vectors and numbers are not compared here")
    own = {name for pair in pairs.values() for side in pair for name in side.names()} - {*where.ranges, VARIANCE}
    unsaid = own - {name for query in queries for x in query.coordinates.values() for name in x.names()}
    if unsaid:
        return Decision("undecided", f"what {' and '.join(sorted(unsaid))} is, is not said")
    known = replace(where, ranges={**where.ranges, **{n: scene.range_of(n) for n in own}, VARIANCE: SMALL})
    if sign in ("~", "->"):
        return decide_all(pairs, "->", known, Tending((), frozenset({VARIANCE})))
    found = decide_all(pairs, sign, known)
    if found.word != "refuted" or sign != "=":
        return found if found.word != "refuted" else Decision("undecided", DEPENDS)
    still = [(x.put({VARIANCE: 0}), y) for x, y in pairs.values() if VARIANCE not in y.names()]
    if len(still) < len(pairs) or any(decide(x, "=", y, known).word != "proved" for x, y in still):
        return found
    return Decision("undecided", NOT_NOTHING if scene.exercise.asks_value_of(left) else UP_TO_NOISE)


def _side(node: t.Node, scene: Scene) -> Value:
    """A side of a comparison, with the values of moments in it; it must not be left to chance itself."""
    numbers: dict[str, Scalar] = {}
    vectors: dict[str, Vec] = {}

    def stood_for(part: t.Node, depth: int = 0) -> t.Node:
        defined = scene.definitions.get(full_name(part)) if isinstance(part, t.Name) else None
        if defined is not None and depth < DEEPEST and speaks_of_moments(defined):
            return stood_for(defined, depth + 1)
        if not isinstance(part, t.Call) or part.function not in MOMENTS:
            return t.mapped(part, lambda one: stood_for(one, depth))
        name, value = f"moment {len(numbers) + len(vectors)}", moment(part, scene)
        if isinstance(value, Vec):
            vectors[name] = value
        else:
            numbers[name] = value
        return t.Name(name)

    plainly = stood_for(node)
    if is_random(plainly, scene):
        raise UndeterminedError("a random side is compared with one that is not")
    return Reader(replace(scene, vectors={**scene.vectors, **vectors}).knowing(**numbers), {}).value(plainly)


def drawn_as_moments(node: t.Node) -> t.Node:
    """'x ~ N(m, C)' as what it says of the mean and the variance of x; that x is normal follows where it is linear."""
    match node:
        case t.Bond("drawn", left, t.Call("N", (mean, spread))):
            first = t.Relation((t.Call("E", (left,), span=left.span), mean), ("=",), span=node.span)
            second = t.Relation((t.Call("Var", (left,), span=left.span), spread), ("=",), span=node.span)
            return t.Logic("and", (first, second), span=node.span)
        case _:
            return t.mapped(node, drawn_as_moments)
