"""What chance does. A key of random length: what the output becomes as the queries grow, with which probability.

Only the highest scores survive as a free factor of the query grows. Scores are linear in the random factor g of the
key, so the line of all g falls into intervals in which the same keys have the highest scores. In each of them the
pattern has one limit; the probability of an interval is a difference of two values of the normal distribution,
enclosed in balls. Single points have probability 0.

Vanishing noise: what is strict at the means of the keys holds with a probability that tends to 1. What is an equality
there may be tipped either way, however small the noise is, unless it holds for all keys whatever. Where the difference
of the two sides has a slope, as one key moves in one direction, it is a normal variable of mean 0 in the limit of small
noise: it is as often negative as positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from flint import arb, fmpq

from headwright.check.answer import MisfitError, full_name, label
from headwright.check.decision import Decision, most_telling
from headwright.check.exercise import NormalLaw
from headwright.check.scalars import POSITIVE, REAL, Scalar, Where, eventually, exp, limit, number, parameter, prove
from headwright.check.scalars.numbers import Symbol
from headwright.check.settings.keys.meaning import Reader, scalars_in
from headwright.check.settings.keys.scene import REST, ZERO, Classes, Hypothesis, Scene, Vec, anything
from headwright.formula import tree as t
from headwright.formula.show import plain

if TYPE_CHECKING:
    from headwright.check.settings.keys.deciding import Decider


GROWN = Symbol("length")  # a large name enters scores as itself or as its logarithm; this stands for either


def growth(score: Scalar, large: str) -> tuple[Scalar, Scalar] | None:
    """A score as rate * length + rest, where the length is the large name, or its logarithm; None if it is neither."""
    grown = parameter(GROWN, POSITIVE)
    for stretched in (score.put({large: grown}), score.put({large: exp(grown)})):
        rate = stretched.put({GROWN: 2}) - stretched.put({GROWN: 1})
        at_rest = stretched.put({GROWN: 1}) - rate
        if GROWN not in rate.names() and stretched == rate * grown + at_rest:
            return rate, at_rest
    return None


def limit_pattern(scores: Mapping[str, Scalar], classes: Classes, large: str, where: Where) -> dict[str, Scalar] | None:
    """The limit of each weight as the large name grows; None where the highest scores cannot be told.

    The classes with the highest rate share all the weight, in proportion to exp(rest of their score).
    """
    grown: dict[str, tuple[Scalar, Scalar]] = {}
    for name, score in scores.items():
        if classes.count(name) == ZERO:
            continue
        parts = growth(score, large)
        if parts is None:
            return None
        grown[name] = parts
    for top, (rate, _) in grown.items():
        level = [name for name, (other, _) in grown.items() if other == rate]
        others = [other for name, (other, _) in grown.items() if name not in level]
        if level == [REST] and prove(classes.rest, ">", ZERO, where) is None:
            continue  # there may be no such key
        if all(prove(rate, ">", other, where) is not None for other in others):
            weights = {name: exp(grown[name][1] - grown[top][1]) for name in level}
            total = sum((classes.count(name) * weight for name, weight in weights.items()), ZERO)
            return {name: weights[name] / total if name in weights else ZERO for name in classes.all}
    return None


@dataclass(frozen=True)
class Region:
    """The factors between two numbers (None: no end), and the limit of the output there."""

    low: Fraction | None
    high: Fraction | None
    output: Vec


@dataclass(frozen=True)
class Chances:
    """All regions under a law, and those that count, where some cases are ruled out."""

    law: NormalLaw
    regions: tuple[Region, ...]
    counted: tuple[Region, ...]

    def probability(self, wanted: Vec, *, conditional: bool = True) -> arb | None:
        """How likely the output tends to the wanted one, among the cases that count (or among all).

        None where in some case it depends on the number of keys whether it does.
        """
        among = self.counted if conditional else self.regions
        if not among or any(not same(r.output, wanted) and _may_agree(r.output, wanted) for r in among):
            return None
        return self.mass([r for r in among if same(r.output, wanted)]) / self.mass(among)

    def mass(self, regions: Sequence[Region]) -> arb:
        """The probability of some regions; where two of them meet nothing is rounded, so that 1/2 is 1/2."""
        ends = Counter(r.high for r in regions)
        ends.subtract(r.low for r in regions if r.low is not None)
        return sum((count * _below(self.law, end) for end, count in ends.items() if count), arb(0))

    def always(self, wanted: Vec) -> bool:
        """In every case that counts."""
        return bool(self.counted) and all(same(r.output, wanted) for r in self.counted)

    def never(self, wanted: Vec) -> bool:
        """In no case that counts, for any number of keys."""
        return bool(self.counted) and not any(_may_agree(r.output, wanted) for r in self.counted)

    def moments(self, which: str, keys: int | None = None) -> tuple[arb, arb] | None:
        """Mean and variance of a key's weight in the limit, for so many keys; without a number, for any."""
        weights: dict[Fraction, list[Region]] = {}
        for region in self.regions:
            weight = region.output.of(which)
            value = (weight if keys is None else weight.put({"n": keys})).rational
            if value is None:
                return None
            weights.setdefault(value, []).append(region)
        mean, square = arb(0), arb(0)
        for value, alike in weights.items():
            ball = arb(fmpq(value.numerator, value.denominator))
            mean += self.mass(alike) * ball
            square += self.mass(alike) * ball * ball
        return mean, square - mean * mean


def same(x: Vec, y: Vec) -> bool:
    """Equal coordinates, for certain."""
    return all(x.of(name) == y.of(name) for name in {*x.coordinates, *y.coordinates})


def _may_agree(x: Vec, y: Vec) -> bool:
    gaps = [x.of(name) - y.of(name) for name in {*x.coordinates, *y.coordinates} - {REST}]  # there may be no others
    return all(gap.rational in (None, 0) for gap in gaps)


def chances(
    reader: Reader,
    heads: Sequence[str],
    scale: str,
    law: NormalLaw,
    large: Sequence[str],
    where: Where,
    given: Sequence[Hypothesis] = (),
) -> Chances | None:
    """The regions of the random factor; None where scores are not linear in it, or cannot be ordered."""
    scene = reader.scene
    rates: list[dict[str, Scalar]] = []
    for head in heads:
        scores = scene.scores(reader.query(head))
        name = _only_large(scores, large)
        if name is None:
            return None
        grown = {c: growth(score, name) for c, score in scores.items()}
        if any(parts is None for parts in grown.values()):
            return None
        rates.append({c: parts[0] for c, parts in grown.items() if parts is not None})
    cuts = _cuts(rates, given, scale)
    if cuts is None:
        return None
    regions, counted = [], []
    for low, high in zip([None, *cuts], [*cuts, None], strict=True):
        here = where.given(*_between(scale, low, high, where))
        output = _mean_output(reader, heads, large, here)
        if output is None:
            return None
        region = Region(low, high, output)
        regions.append(region)
        inside = {scale: _middle(low, high)}
        met = [_holds(condition, inside, where, large) for condition in given]
        if None in met:
            return None
        if all(met):
            counted.append(region)
    return Chances(law, tuple(regions), tuple(counted))


def _cuts(rates: list[dict[str, Scalar]], given: Sequence[Hypothesis], scale: str) -> list[Fraction] | None:
    """Where two scores grow alike, or a condition changes."""
    gaps = [a - b for head in rates for a in head.values() for b in head.values()]
    gaps += [left - right for left, _, right in given]
    cuts: set[Fraction] = set()
    for gap in gaps:
        if scale not in gap.names():
            continue
        root = _root(gap, scale)
        if root is None:
            return None
        cuts.add(root)
    return sorted(cuts)


def _root(gap: Scalar, scale: str) -> Fraction | None:
    """The zero of something linear in the factor, positive multiples of which may stand around it."""
    at_zero, at_one, at_two = (gap.put({scale: value}) for value in (0, 1, 2))
    slope = at_one - at_zero
    if slope == ZERO or at_two - at_one != slope:
        return None
    return (-at_zero / slope).rational


def _between(scale: str, low: Fraction | None, high: Fraction | None, where: Where) -> list[tuple[Scalar, str, Scalar]]:
    name = where.name(scale)
    above = [] if low is None else [(name, ">", number(low))]
    below = [] if high is None else [(name, "<", number(high))]
    return above + below


def _middle(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _holds(condition: Hypothesis, values: Mapping[str, Fraction], where: Where, large: Sequence[str]) -> bool | None:
    """A condition at one factor, the same for all factors of its interval, for large names; None: not known."""
    left, comparison, right = condition
    if comparison not in (">", ">=", "<", "<="):
        return None  # a single value has probability 0
    gap, here = (left - right).put(values), where.put(values)
    if eventually(gap, ">", 0, here, large) is not None:
        return comparison in (">", ">=")
    return comparison in ("<", "<=") if eventually(gap, "<", 0, here, large) is not None else None


def _only_large(scores: Mapping[str, Scalar], large: Sequence[str]) -> str | None:
    """The large name in some scores; None where there is none, or several, which may grow at different speeds."""
    found = [free for free in large if any(free in s.names() for s in scores.values())]
    return found[0] if len(found) == 1 else None


def _mean_output(reader: Reader, heads: Sequence[str], large: Sequence[str], where: Where) -> Vec | None:
    scene = reader.scene
    total = Vec("value", {})
    for head in heads:
        scores = scene.scores(reader.query(head))
        name = _only_large(scores, large)
        if name is None:
            return None
        weights = limit_pattern(scores, scene.classes, name, where)
        if weights is None:
            return None
        total = total.plus(Vec("value", weights))
    return total.times(number(Fraction(1, len(heads))))


def _below(law: NormalLaw, end: Fraction | None) -> arb:
    """How likely the factor lies below an end; it has none on the right where that is None."""
    if end is None:
        return arb(1)
    z = arb(fmpq(*(end - law.mean).as_integer_ratio())) / arb(fmpq(*(2 * law.variance).as_integer_ratio())).sqrt()
    return (1 + z.erf()) / 2


FAR = Fraction(1, 20)
NEAR = fmpq(1, 100)  # how near a probability is that is written with 'approximately'


def decide_event(decider: Decider, event: t.Call, sign: t.Comparison, right: t.Node) -> Decision:
    """Decide what is said of the probability of an event, in the limit of long queries."""
    p = Reader(decider.scene, {}).scalar(right)
    mass = _of_the_length(decider, event)
    if mass is not None and not p.names():
        return _weighed(mass, sign, p.value({}), f"the probability is {plain_ball(mass)}", "it is not certain")
    found, wanted = chances_of(decider, event)
    if found is None:
        away = _never_near(decider, wanted) if p == number(1) and sign in ("=", "~", "->", ">=") else None
        return away or Decision("undecided", "the probability could not be found exactly")
    if p.names():
        return Decision("undecided", f"the probability is compared with {p}, which is not a number")
    if p == number(1) and sign in ("=", "~", "->") and found.always(wanted):
        return Decision("proved", "it holds for every length of the key that counts", used="limits")
    if p == ZERO and sign in ("=", "~", "->") and found.never(wanted):
        return Decision("proved", "it holds for no length of the key, but for single values", used="limits")
    value = found.probability(wanted)
    if value is None:
        return Decision("undecided", "the probability depends on the number of keys")
    reason = f"the probability is {value.str(6, radius=False)}"
    return _weighed(value, sign, p.value({}), reason, f"the probability is {value.str(10)}")


def _of_the_length(decider: Decider, event: t.Call) -> arb | None:
    """The probability that the random length lies above or below a number; None where something else is asked."""
    for scale in decider.scene.setting.scales.values():
        match event.arguments:
            case (t.Relation((t.Name() as name, bound), ("<" | "<=" | ">" | ">=" as sign,)),) if (
                scale.normal is not None and full_name(name) == scale.name and not decider.hypotheses
            ):
                end = Reader(decider.scene, {}).scalar(bound).rational
                if end is not None:
                    below = _below(scale.normal, end)
                    return below if sign in ("<", "<=") else 1 - below
    return None


MANY = (100, 10**6)  # keys among which a query of a fixed length is lost


def _never_near(decider: Decider, wanted: Vec) -> Decision | None:
    """Refuted where queries have a fixed length: with many keys, the output is far from the wanted one, mostly."""
    scene = decider.scene
    ((scale, law),) = [(one.name, one.normal) for one in scene.setting.scales.values() if one.normal is not None]
    output = Reader(scene, {}).value(t.Name("c"))
    if not isinstance(output, Vec) or any(x.names() - {scale, "n"} for x in output.coordinates.values()):
        return None
    longest = law.mean + 3 * law.variance
    where = Where({scale: REAL}).given((parameter(scale), "<=", number(longest)))
    for keys, name in product(MANY, wanted.coordinates):
        gap = wanted.of(name) - output.of(name).put({"n": keys})
        if prove(gap, ">=", number(FAR), where) is not None:
            likely = _below(law, longest).str(4, radius=False)
            said = f"the weight of v_{name} is too small by {float(FAR):g} at least for {scale} <= {longest}"
            return Decision("refuted", f"{said}, which has probability {likely}", values={"n": Fraction(keys)})
    return None


def decide_moment(decider: Decider, moment: t.Call, sign: t.Comparison, right: t.Node) -> Decision:
    """Decide what is said of the mean or the variance of a weight, or of the mean output, in the limit of long queries.

    Weights lie between 0 and 1 and have a limit for almost every length of the key, so the limit of their mean is the
    mean of their limits (dominated convergence), and the same is true of squares.
    """
    what = moment.arguments[0] if len(moment.arguments) == 1 else None
    output = moment.function == "E" and what is not None and is_output(what)
    if not isinstance(what, t.Name) or not (output or (what.base == "alpha" and not isinstance(what.index, t.Listing))):
        raise MisfitError("the mean or variance of a weight was expected", moment, fix="write \\alpha_a in it")
    if sign not in ("~", "->"):
        return Decision("undecided", "moments are found in the limit of long queries only: write \\to")
    scene, reader = decider.scene, Reader(decider.scene, {})
    target, value = reader.value(right), reader.value(what)
    wanted = target.coordinates if isinstance(target, Vec) else {label(what.index): target}
    if isinstance(target, Scalar) and target.names():
        where, large = decider.where([target], decider.given(reader) or ())
        if limit(target, where, large) in ("infinity", "-infinity"):
            return Decision("refuted", f"{plain(right)} grows beyond all bounds, and the other side does not")
    if isinstance(target, Vec) != output or any(x.names() for x in wanted.values()):
        return Decision("undecided", "a number was expected for a weight, or a combination of values for an output")
    heads = (f"q_{label(what.index)}",) if output and what.index is not None else scene.queries
    found, conditions = _regions(decider, moment, heads, value)
    decisions = []
    for which in dict.fromkeys((*scene.classes.named, REST) if output else wanted):
        moments = None if found is None or conditions or which not in scene.classes.all else found.moments(which)
        if moments is None:
            return Decision("undecided", "the moments could not be found exactly")
        end, there = moments[moment.function == "Var"], wanted.get(which, ZERO).value({})
        reason, unsure = f"in the limit it is {plain_ball(end)}", f"the limit is {end.str(10)}"
        decision = _weighed(end, sign, there, reason, unsure)
        decisions.append(replace(decision, about=f"the weight of v_{which}" if output else ""))
    return most_telling(decisions)


def _weighed(value: arb, sign: t.Comparison, wanted: arb, reason: str, unsure: str) -> Decision:
    true = _compared(value, sign, wanted)
    if true is None:
        return Decision("undecided", unsure)
    if true:
        return Decision("proved", reason, used="the normal law in balls")
    return Decision("refuted", "", left=value, right=wanted)


def plain_ball(value: arb) -> str:
    """Six digits of a number that is known."""
    text: str = value.str(6, radius=False)
    return text.rstrip("0") if "." in text and "e" not in text else text


def _compared(value: arb, sign: t.Comparison, target: arb) -> bool | None:
    """The comparison of two balls, where it is certain."""
    if value.is_exact() and target.is_exact() and value == target:
        return sign in ("=", "~", "->", "<=", ">=")
    tolerance = arb(NEAR) if sign == "~" else arb(0)
    if sign in ("=", "~", "->"):
        gap = abs(value - target)
        return False if gap > tolerance else True if gap == 0 or (sign == "~" and gap < tolerance) else None
    if value < target:
        return sign in ("<", "<=", "!=")
    return sign in (">", ">=", "!=") if value > target else None


def chances_of(decider: Decider, event: t.Call) -> tuple[Chances | None, Vec]:
    """The regions of the random length, and the output that an event speaks of."""
    match event.arguments:
        case (t.Relation((left, right), ("~" | "->" | "=",)),):
            pass
        case _:
            raise MisfitError("this event is not understood", event, fix="write \\Pr(c \\approx ...)")
    scene = decider.scene
    reader = Reader(scene, {})
    if not is_output(left):
        left, right = right, left
    if not is_output(left) or speaks_of_output(right):
        raise MisfitError("this event is not understood", event, fix="write \\Pr(c \\approx ...)")
    output, wanted = reader.value(left), reader.value(right)
    if not (isinstance(output, Vec) and isinstance(wanted, Vec) and isinstance(left, t.Name)):
        raise MisfitError("an event about outputs was expected", event)
    heads = scene.queries if left.index is None else (f"q_{label(left.index)}",)
    return _regions(decider, event, heads, output)[0], wanted


def _regions(
    decider: Decider, spoken: t.Node, heads: Sequence[str], value: Scalar | Vec
) -> tuple[Chances | None, list[Hypothesis]]:
    """The regions of the random length, and the conditions on it that are in force."""
    scene = decider.scene
    reader = Reader(scene, {})
    random = [scale for scale in scene.setting.scales.values() if scale.normal is not None]
    if len(random) != 1 or random[0].normal is None:
        raise MisfitError("nothing is random in this exercise but vanishing noise", spoken)
    scale = random[0].name
    # What is said of other names than the random one restricts nothing here: the rest is shown for all of them.
    given = [one for one in decider.given(reader) or [] if scale in one[0].names() | one[2].names()]
    where, large = decider.where(scalars_in(value), given)
    scored = set().union(*(s.names() for head in heads for s in scene.scores(reader.query(head)).values()))
    if not decider.sent <= scored:
        return None, given  # as the number of keys grows: what is found here is found for each number of them
    return chances(reader, heads, scale, random[0].normal, large, Where(where.ranges), given), given


def is_output(node: t.Node) -> bool:
    """c, or c_1."""
    return isinstance(node, t.Name) and node.base == "c"


def speaks_of_output(node: t.Node) -> bool:
    """Whether an output or a weight occurs."""
    return any(isinstance(part, t.Name) and part.base in ("c", "alpha") for part in t.walk(node))


TIED = "at the means of the keys the two sides may be equal, and noise can tip that either way, however small it is"
TIPPED = (
    "the keys are random, and at their means the two sides are equal: noise, however small, tips that one way as often "
    "as the other, so it fails with a probability near 1/2"
)
STEP = Symbol("step")  # by how much a key is moved
DEEPEST = 20  # definitions inside definitions


def shaken(node: t.Node, scene: Scene, depth: int = 0) -> bool:
    """Whether a formula speaks of noisy keys, or of what depends on them."""
    if scene.setting.noise != "vanishing":
        return False
    return any(isinstance(part, t.Name) and _noisy(part, scene, depth) for part in t.walk(node))


def _noisy(name: t.Name, scene: Scene, depth: int) -> bool:
    defined = scene.definitions.get(full_name(name))
    if defined is not None:
        return depth > DEEPEST or shaken(defined, scene, depth + 1)
    return name.base in ("k", "alpha", "c")


def with_any_keys(node: t.Node, scene: Scene) -> Scene | None:
    """The scene with any keys and any query instead; None where the formula speaks of more than the pattern."""
    setting = scene.setting
    spoken = {part.base for part in t.walk(node) if isinstance(part, t.Name)}
    if spoken & {"k", "q", *setting.also, *setting.directions, *scene.definitions} or len(scene.queries) > 1:
        return None
    return replace(anything(scene), definitions={})


def stepping(scene: Scene) -> Iterator[Scene]:
    """The scene with one key moved by a step, in the direction of the mean of one of the keys."""
    for which in scene.classes.singles:
        for direction in scene.classes.singles:
            yield replace(scene, moved={which: Vec("key", {direction: parameter(STEP)})})
