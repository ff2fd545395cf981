"""What chance does to noisy keys, and to a key of random length.

Exactly, at every length of the query: keys are independent and normal, k_i = mu_i + noise of variance a in every
direction; one of random length is g mu_i + noise with g normal, too. A number that is linear in the keys is normal. By
how much it changes as a key moves along a direction, and as g changes, is read off by moving them; its variance is the
sum of the squares, weighted.

As the queries grow: only the highest scores survive. Scores are linear in g, so the line of all g falls into intervals
in which the same keys have the highest scores. In each of them the pattern has one limit; the probability of each
is a difference of two values of the normal distribution, enclosed in balls. Single points have probability 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from flint import arb, fmpq

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import (
    MOMENTS,
    MisfitError,
    UndeterminedError,
    full_name,
    label,
    names_in,
    speaks_of_moments,
)
from headwright.grading.decision import (
    Decision,
    Tending,
    decide,
    decide_all,
    most_telling,
)
from headwright.grading.exercise import parsed
from headwright.grading.kinds.keys.meaning import DEEPEST, Reader, Value, scalars_in
from headwright.grading.kinds.keys.scene import (
    ONE,
    REST,
    VARIANCE,
    ZERO,
    Hypothesis,
    Scene,
    Vec,
)
from headwright.grading.kinds.keys.table import NormalLaw
from headwright.grading.scalars import (
    Range,
    Scalar,
    Where,
    eventually,
    limit,
    number,
    parameter,
)
from headwright.grading.scalars.numbers import Symbol, ball_of

if TYPE_CHECKING:
    from headwright.grading.kinds.keys.deciding import Decider

NOT_LINEAR = "means and variances are known exactly of what is linear in the keys, and of weights as queries grow"
UP_TO_NOISE = "it holds up to the noise, which vanishes: write \\approx"
NOT_NOTHING = "it leaves out the noise, whose variance is small and not 0: the exact value is asked for"
DEPENDS = "it depends on how small the noise is beside the query"
SMALL = Range(
    0, 1, lower_open=True, upper_open=True
)  # where the variance of the noise lies


def speaks_of_variance(node: t.Node, scene: Scene) -> bool:
    """Whether the variance of the noise occurs."""
    return scene.setting.noise == "vanishing" and any(
        full_name(part) == VARIANCE for part in names_in(node)
    )


def is_vanishing_noise(link: t.Relation, scene: Scene) -> bool:
    """a -> 0: that is given."""
    alone = link.comparisons == ("->",) and isinstance(link.terms[0], t.Name)
    return alone and speaks_of_variance(link.terms[0], scene)


def is_random(node: t.Node, scene: Scene) -> bool:
    """Whether a formula speaks of keys, of random lengths, or of what depends on them."""
    names = [name for part in _spoken(node, scene) for name in names_in(part)]
    own = [name for name in names if full_name(name) not in scene.definitions]
    return any(
        name.base in ("k", "alpha", "c") or full_name(name) in scene.random
        for name in own
    )


def _spoken(node: t.Node, scene: Scene) -> list[t.Node]:
    """A formula, and the definitions of the names in it, of those in them, and so on."""
    found = [node]
    for part in found:
        defined = (scene.definitions.get(full_name(name)) for name in names_in(part))
        found += [
            one
            for one in dict.fromkeys(defined)
            if one is not None and one not in found
        ]
    return found


def moment(call: t.Call, scene: Scene) -> Value:
    """The value of E[x], Var(x) or Cov(x, y); x is linear in the keys."""
    chances = [*_chances(scene)]
    found = [_parts(argument, scene, chances) for argument in call.arguments]
    if call.function == "E" and len(found) == 1:
        return found[0][0]
    if (
        call.function == "E"
        or len(found) > 2
        or (call.function == "Var" and len(found) > 1)
    ):
        raise MisfitError(
            "this is not understood", call, fix="write \\operatorname{Cov}(x, y)"
        )
    (x, slopes), (y, others) = found[0], found[-1]
    if isinstance(x, Vec) or isinstance(y, Vec):
        raise UndeterminedError("covariances are known of numbers only")
    return sum(
        (one.variance * slopes[one.step] * others[one.step] for one in chances), ZERO
    )


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
    directions = [
        name for name in scene.classes.all if scene.classes.count(name) != ZERO
    ]
    for place, (key, along) in enumerate(product(scene.classes.singles, directions)):
        yield _Chance(
            Symbol("step", str(place)),
            scene.scalar(VARIANCE) / scene.classes.count(along),
            key,
            along,
        )
    for scale in scene.setting.scales.values():
        if scale.normal is None:
            raise UndeterminedError(
                "the length of this key is one of several: it is not normal"
            )
        yield _Chance(
            Symbol("swing", scale.name),
            number(scale.normal.variance),
            length=scale.name,
        )


def _parts(
    node: t.Node, scene: Scene, chances: Sequence[_Chance]
) -> tuple[Value, dict[str, Scalar]]:
    """The mean of something linear in the keys; and how a number changes with each variable."""
    for part in (one for spoken in _spoken(node, scene) for one in t.walk(spoken)):
        if isinstance(part, t.BigSum | t.BigCall) and is_random(part, scene):
            raise UndeterminedError(NOT_LINEAR)
        if isinstance(part, t.Name) and full_name(part) not in scene.definitions:
            single = label(part.index) in scene.classes.singles
            if part.base in ("alpha", "c") or (part.base == "k" and not single):
                raise UndeterminedError(
                    NOT_LINEAR
                )  # of keys of a class, each has noise of its own
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
        if x != rest + sum(
            (slope * parameter(step) for step, slope in slopes.items()), ZERO
        ):
            raise UndeterminedError(NOT_LINEAR)
    if isinstance(value, Vec):
        return replace(
            value,
            coordinates={name: x.put(none) for name, x in value.coordinates.items()},
        ), {}
    return value.put(none), slopes


def _names_of(values: Sequence[Scalar]) -> set[str]:
    return {name for value in values for name in value.names()}


def _paired(
    left: Value, right: Value, sign: t.Comparison
) -> dict[str, tuple[Scalar, Scalar]] | None:
    """The numbers of two sides that are compared, each pair with what it is of; None where they do not fit."""
    if isinstance(left, Vec) and right == ZERO:
        right = Vec(left.space, {})
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return {"": (left, right)}
    is_equation = sign in ("=", "~", "->")
    if not (isinstance(left, Vec) and isinstance(right, Vec) and is_equation):
        return None
    return {
        f"the part along mu_{name}": (left.of(name), right.of(name))
        for name in {**left.coordinates, **right.coordinates}
    }


def decide_exactly(
    scene: Scene, link: t.Relation, given: Sequence[Hypothesis], where: Where
) -> Decision:
    """Decide what is said of means and variances of linear forms, for every length of the query and of the noise."""
    (left, right), (sign,) = link.terms, link.comparisons
    if scene.setting.noise != "vanishing":
        raise MisfitError(
            "means and variances are known of keys with normal noise only", link
        )
    if scene.random & set(scene.fixed) or any(
        scene.random & (x.names() | y.names()) for x, _, y in given
    ):
        return Decision(
            "undecided",
            "means and variances under a condition on the random length are not known",
        )
    scene = replace(scene, ranges={**scene.ranges, VARIANCE: SMALL})
    try:
        sides = _side(left, scene), _side(right, scene)
        queries = [
            Reader(scene, {}).query(head)
            for head in scene.queries
            if head in scene.definitions
        ]
    except UndeterminedError as error:
        return Decision("undecided", str(error))
    pairs = _paired(*sides, sign)
    if pairs is None:
        return Decision("undecided", "vectors and numbers are not compared here")
    compared = [side for pair in pairs.values() for side in pair]
    own = _names_of(compared) - {*where.ranges, VARIANCE}
    of_queries = [x for query in queries for x in query.coordinates.values()]
    unsaid = own - _names_of(of_queries)
    if unsaid:
        return Decision(
            "undecided", f"what {' and '.join(sorted(unsaid))} is, is not said"
        )
    known = replace(
        where,
        ranges={**where.ranges, **{n: scene.range_of(n) for n in own}, VARIANCE: SMALL},
    )
    if sign in ("~", "->"):
        return decide_all(pairs, "->", known, Tending((), frozenset({VARIANCE})))
    found = decide_all(pairs, sign, known)
    if found.word != "refuted" or sign != "=":
        return found if found.word != "refuted" else Decision("undecided", DEPENDS)
    still = [
        (x.put({VARIANCE: 0}), y)
        for x, y in pairs.values()
        if VARIANCE not in y.names()
    ]
    if len(still) < len(pairs) or any(
        decide(x, "=", y, known).word != "proved" for x, y in still
    ):
        return found
    asked = [parsed(source) for blank in scene.exercise.blanks for source in blank.of]
    return Decision("undecided", NOT_NOTHING if left in asked else UP_TO_NOISE)


def _side(node: t.Node, scene: Scene) -> Value:
    """A side of a comparison, with the values of moments in it; it must not be left to chance itself."""
    numbers: dict[str, Scalar] = {}
    vectors: dict[str, Vec] = {}

    def stood_for(part: t.Node, depth: int = 0) -> t.Node:
        defined = (
            scene.definitions.get(full_name(part)) if isinstance(part, t.Name) else None
        )
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
    return Reader(
        replace(scene, vectors={**scene.vectors, **vectors}).knowing(**numbers), {}
    ).value(plainly)


def drawn_as_moments(node: t.Node) -> t.Node:
    """'x ~ N(m, C)' as what it says of the mean and the variance of x; that x is normal follows where it is linear."""
    match node:
        case t.Bond("drawn", left, t.Call("N", (mean, spread))):
            first = t.Relation(
                (t.Call("E", (left,), span=left.span), mean), ("=",), span=node.span
            )
            second = t.Relation(
                (t.Call("Var", (left,), span=left.span), spread), ("=",), span=node.span
            )
            return t.Logic("and", (first, second), span=node.span)
        case _:
            return t.mapped(node, drawn_as_moments)


NEAR = fmpq(1, 100)  # how near a probability is that is written with 'approximately'


@dataclass(frozen=True)
class Region:
    """The factors between two numbers (None: no end), and the limit of the output there."""

    low: Fraction | None
    high: Fraction | None
    output: Vec
    counts: bool  # what is given holds there


@dataclass(frozen=True)
class OutputLaw:
    """All regions under a law."""

    law: NormalLaw
    regions: tuple[Region, ...]

    def probability(self, wanted: Vec) -> arb | None:
        """How likely the output tends to the wanted one, among the cases that count.

        None where in some case it depends on the number of keys whether it does.
        """
        among = [region for region in self.regions if region.counts]
        agreeing: list[Region] = []
        for region in among:
            names = {*region.output.coordinates, *wanted.coordinates}
            gaps = {name: region.output.of(name) - wanted.of(name) for name in names}
            if all(gap == ZERO for gap in gaps.values()):
                agreeing.append(region)
            elif all(
                gap.rational in (None, 0) for name, gap in gaps.items() if name != REST
            ):  # there may be no others
                return None
        if not among or len(agreeing) in (0, len(among)):
            return arb(int(bool(agreeing))) if among else None
        return self.mass(agreeing) / self.mass(among)

    def mass(self, regions: Sequence[Region]) -> arb:
        """The probability of some regions; where two of them meet nothing is rounded, so that 1/2 is 1/2."""
        ends = Counter(region.high for region in regions)
        ends.subtract(region.low for region in regions if region.low is not None)
        total = arb(0)
        for end, count in ends.items():
            below = arb(1)
            if end is not None:
                z = ball_of(end - self.law.mean) / ball_of(2 * self.law.variance).sqrt()
                below = (1 + z.erf()) / 2
            total += count * below
        return total

    def moments(self, which: str) -> tuple[arb, arb] | None:
        """Mean and variance of a key's weight in the limit, where these do not depend on the number of keys."""
        mean, square = arb(0), arb(0)
        weights = [region.output.of(which).rational for region in self.regions]
        for value in dict.fromkeys(weights):
            if value is None:
                return None
            alike = [
                region
                for region, weight in zip(self.regions, weights, strict=True)
                if weight == value
            ]
            mean += self.mass(alike) * ball_of(value)
            square += self.mass(alike) * ball_of(value * value)
        return mean, square - mean * mean


def output_law(
    decider: Decider, spoken: t.Node, heads: Sequence[str]
) -> OutputLaw | None:
    """The regions of the random length; None where scores are not linear in it, or cannot be ordered."""
    scene, reader = decider.scene, Reader(decider.scene, {})
    name, law = _random_length(scene, spoken)
    patterns = [scene.pattern(reader.query(head)) for head in heads]
    scores = [scene.scores(reader.query(head)) for head in heads]
    # What is said of other names than the random one restricts nothing here: the rest is shown for all of them.
    given = [
        hypothesis
        for hypothesis in decider.given(reader) or []
        if name in hypothesis[0].names() | hypothesis[2].names()
    ]
    weights = [weight for pattern in patterns for weight in pattern.values()]
    where, large = decider.where(weights, given)
    every_score = [score for head in scores for score in head.values()]
    if not decider.sent <= set().union(*(score.names() for score in every_score)):
        return None  # as the number of keys grows: what is found here is found for each number of them
    # Where two scores are equal, or a condition changes, another region begins.
    gaps = [a - b for head in scores for a in head.values() for b in head.values()]
    gaps += [x - y for x, _, y in given]
    ends = _zeros(gaps, name)
    if ends is None:
        return None
    regions: list[Region] = []
    for low, high in zip([None, *ends], [*ends, None], strict=True):
        here = Where(where.ranges)
        if low is not None:
            here = here.given((where.name(name), ">", number(low)))
        if high is not None:
            here = here.given((where.name(name), "<", number(high)))
        output = _mean_limit(scene, patterns, here, large)
        counts = _is_met(given, {name: _inside(low, high)}, here, large)
        if output is None or counts is None:
            return None
        regions.append(Region(low, high, output, counts))
    return OutputLaw(law, tuple(regions))


def _random_length(scene: Scene, spoken: t.Node) -> tuple[str, NormalLaw]:
    """The name and the law of the one length that is normal."""
    random = [
        (scale.name, scale.normal)
        for scale in scene.setting.scales.values()
        if scale.normal is not None
    ]
    if len(random) != 1:
        raise MisfitError(
            "nothing is random in this exercise but vanishing noise", spoken
        )
    return random[0]


def _zeros(gaps: Sequence[Scalar], name: str) -> list[Fraction] | None:
    """Where one of these numbers is 0, in order; None where one is not linear in the name, or it is not known where."""
    zeros: set[Fraction] = set()
    for gap in gaps:
        if name not in gap.names():
            continue
        at_zero, at_one, at_two = (gap.put({name: value}) for value in (0, 1, 2))
        slope = at_one - at_zero
        if slope == ZERO or at_two - at_one != slope:
            return None
        zero = (-at_zero / slope).rational
        if zero is None:
            return None
        zeros.add(zero)
    return sorted(zeros)


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A number between two; None is no end."""
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _mean_limit(
    scene: Scene,
    patterns: Sequence[Mapping[str, Scalar]],
    where: Where,
    large: tuple[str, ...],
) -> Vec | None:
    """The limit of the mean of some patterns; None where it is not known."""
    output: dict[str, Scalar] = {}
    for which in scene.classes.all:
        total = ZERO
        for pattern in patterns:
            weight = limit(pattern[which], where, large) if large else None
            if not isinstance(weight, Scalar):
                return None
            total = total + weight
        output[which] = total / len(patterns)
    return Vec("value", output)


def _is_met(
    given: Sequence[Hypothesis],
    middle: Mapping[str, Fraction],
    where: Where,
    large: tuple[str, ...],
) -> bool | None:
    """Whether all conditions hold in the middle of a region, and so in all of it; None where that is not known."""
    is_met = True
    there = where.put(middle)
    for x, sign, y in given:
        gap = (x - y).put(middle)
        if sign not in ("<", "<=", ">", ">="):
            return None
        if eventually(gap, ">", 0, there, large) is not None:
            is_met = is_met and sign in (">", ">=")
        elif eventually(gap, "<", 0, there, large) is not None:
            is_met = is_met and sign in ("<", "<=")
        else:
            return None
    return is_met


def decide_event(
    decider: Decider, event: t.Call, sign: t.Comparison, right: t.Node
) -> Decision:
    """Decide what is said of the probability of an event, in the limit of long queries."""
    p = Reader(decider.scene, {}).scalar(right)
    match event.arguments:
        case (t.Relation((left, other), ("~" | "->" | "=",)),):
            left, other = (left, other) if is_output(left) else (other, left)
            wanted = (
                None
                if speaks_of_output(other)
                else Reader(decider.scene, {}).value(other)
            )
        case _:
            left, wanted = event, None
    if (
        not isinstance(left, t.Name)
        or not is_output(left)
        or not isinstance(wanted, Vec)
    ):
        raise MisfitError(
            "this event is not understood", event, fix="write \\Pr(c \\approx ...)"
        )
    found = output_law(
        decider,
        event,
        decider.scene.queries if left.index is None else (f"q_{label(left.index)}",),
    )
    if found is None or p.names():
        return Decision("undecided", "the probability could not be found exactly")
    value = found.probability(wanted)
    if value is None:
        return Decision("undecided", "the probability depends on the number of keys")
    return _weighed(value, sign, p.value({}), "the probability is")


def decide_moment(
    decider: Decider, moment: t.Call, sign: t.Comparison, right: t.Node
) -> Decision:
    """Decide what is said of the mean or the variance of a weight, or of the mean output, in the limit of long queries.

    Weights lie between 0 and 1 and have a limit for almost every length of the key, so the limit of their mean is the
    mean of their limits (dominated convergence), and the same is true of squares.
    """
    what = moment.arguments[0] if len(moment.arguments) == 1 else None
    output = moment.function == "E" and what is not None and is_output(what)
    if not isinstance(what, t.Name) or not (
        output or (what.base == "alpha" and not isinstance(what.index, t.Listing))
    ):
        raise MisfitError(
            "the mean or variance of a weight was expected",
            moment,
            fix="write \\alpha_a in it",
        )
    if sign not in ("~", "->"):
        return Decision(
            "undecided",
            "moments are found in the limit of long queries only: write \\to",
        )
    scene, reader = decider.scene, Reader(decider.scene, {})
    target = reader.value(right)
    wanted = (
        target.coordinates if isinstance(target, Vec) else {label(what.index): target}
    )
    if isinstance(target, Scalar) and target.names():
        where, large = decider.where([target], decider.given(reader) or ())
        if limit(target, where, large) in ("infinity", "-infinity"):
            return Decision(
                "refuted",
                f"{plain(right)} grows beyond all bounds, and the other side does not",
            )
    if isinstance(target, Vec) != output or any(x.names() for x in wanted.values()):
        return Decision(
            "undecided",
            "a number was expected for a weight, or a combination of values for an output",
        )
    found = output_law(
        decider,
        moment,
        (f"q_{label(what.index)}",)
        if output and what.index is not None
        else scene.queries,
    )
    decisions = []
    for which in dict.fromkeys((*scene.classes.named, REST) if output else wanted):
        usable = (
            found is not None
            and which in scene.classes.all
            and all(region.counts for region in found.regions)
        )
        moments = found.moments(which) if found is not None and usable else None
        if moments is None:
            return Decision("undecided", "the moments could not be found exactly")
        there = wanted.get(which, ZERO).value({})
        decision = _weighed(
            moments[moment.function == "Var"], sign, there, "in the limit it is"
        )
        decisions.append(
            replace(decision, about=f"the weight of v_{which}" if output else "")
        )
    return most_telling(decisions)


def _weighed(value: arb, sign: t.Comparison, wanted: arb, what: str) -> Decision:
    """The comparison of two balls, where it is certain."""
    true: bool | None = None
    gap, tolerance = abs(value - wanted), arb(NEAR) if sign == "~" else arb(0)
    if value.is_exact() and wanted.is_exact() and value == wanted:
        true = sign in ("=", "~", "->", "<=", ">=")
    elif sign in ("=", "~", "->"):
        true = False if gap > tolerance else True if gap < tolerance else None
    elif value < wanted or value > wanted:
        true = sign in (("<", "<=", "!=") if value < wanted else (">", ">=", "!="))
    if true is None:
        return Decision("undecided", f"{what} {value.str(10)}")
    if true:
        return Decision(
            "proved",
            f"{what} {value.str(6, radius=False)}",
            used="the normal law in balls",
        )
    return Decision("refuted", "", left=value, right=wanted)


def is_output(node: t.Node) -> bool:
    """c, or c_1."""
    return isinstance(node, t.Name) and node.base == "c"


def speaks_of_output(node: t.Node) -> bool:
    """Whether an output or a weight occurs."""
    return any(
        isinstance(part, t.Name) and part.base in ("c", "alpha")
        for part in t.walk(node)
    )
