"""What chance does. A key of random length: what the output becomes as the queries grow, with which probability.

Only the highest scores survive as a free factor of the query grows. Scores are linear in the random factor g of the
key, so the line of all g falls into intervals in which the same keys have the highest scores. In each of them the
pattern has one limit; the probability of an interval is a difference of two values of the normal distribution,
enclosed in balls. Single points have probability 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, fmpq

from headwright.check.answer import MisfitError, label
from headwright.check.decision import Decision, most_telling
from headwright.check.exercise import NormalLaw
from headwright.check.scalars import Scalar, Where, eventually, limit, number
from headwright.check.scalars.numbers import ball_of
from headwright.check.settings.keys.meaning import Reader
from headwright.check.settings.keys.scene import REST, ZERO, Vec
from headwright.formula import tree as t
from headwright.formula.show import plain

if TYPE_CHECKING:
    from headwright.check.settings.keys.deciding import Decider

NEAR = fmpq(1, 100)  # how near a probability is that is written with 'approximately'


@dataclass(frozen=True)
class Region:
    """The factors between two numbers (None: no end), and the limit of the output there."""

    low: Fraction | None
    high: Fraction | None
    output: Vec
    counts: bool  # what is given holds there


@dataclass(frozen=True)
class Chances:
    """All regions under a law."""

    law: NormalLaw
    regions: tuple[Region, ...]

    def probability(self, wanted: Vec, *, conditional: bool = True) -> arb | None:
        """How likely the output tends to the wanted one, among the cases that count (or among all).

        None where in some case it depends on the number of keys whether it does.
        """
        among = [region for region in self.regions if region.counts or not conditional]
        agreeing: list[Region] = []
        for region in among:
            names = {*region.output.coordinates, *wanted.coordinates}
            gaps = {name: region.output.of(name) - wanted.of(name) for name in names}
            if all(gap == ZERO for gap in gaps.values()):
                agreeing.append(region)
            elif all(gap.rational in (None, 0) for name, gap in gaps.items() if name != REST):  # there may be no others
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
            alike = [region for region, weight in zip(self.regions, weights, strict=True) if weight == value]
            mean += self.mass(alike) * ball_of(value)
            square += self.mass(alike) * ball_of(value * value)
        return mean, square - mean * mean


def chances(decider: Decider, spoken: t.Node, heads: Sequence[str]) -> Chances | None:
    """The regions of the random length; None where scores are not linear in it, or cannot be ordered."""
    scene, reader = decider.scene, Reader(decider.scene, {})
    random = [scale for scale in scene.setting.scales.values() if scale.normal is not None]
    if len(random) != 1 or random[0].normal is None:
        raise MisfitError("nothing is random in this exercise but vanishing noise", spoken)
    name = random[0].name
    patterns = [scene.pattern(reader.query(head)) for head in heads]
    scores = [scene.scores(reader.query(head)) for head in heads]
    # What is said of other names than the random one restricts nothing here: the rest is shown for all of them.
    given = [one for one in decider.given(reader) or [] if name in one[0].names() | one[2].names()]
    where, large = decider.where([weight for pattern in patterns for weight in pattern.values()], given)
    if not decider.sent <= set().union(*(score.names() for head in scores for score in head.values())):
        return None  # as the number of keys grows: what is found here is found for each number of them
    gaps = [a - b for head in scores for a in head.values() for b in head.values()] + [x - y for x, _, y in given]
    cuts: set[Fraction] = set()
    for gap in gaps:
        at_zero, at_one, at_two = (gap.put({name: value}) for value in (0, 1, 2))
        slope = at_one - at_zero
        root = (-at_zero / slope).rational if slope != ZERO and at_two - at_one == slope else None
        if root is None and name in gap.names():
            return None
        cuts |= set() if root is None else {root}
    ends = sorted(cuts)
    regions: list[Region] = []
    for low, high in zip([None, *ends], [*ends, None], strict=True):
        here = Where(where.ranges).given(
            *([] if low is None else [(where.name(name), ">", number(low))]),
            *([] if high is None else [(where.name(name), "<", number(high))]),
        )
        output: dict[str, Scalar] = {}
        for which in scene.classes.all:
            weights = [limit(pattern[which], here, large) if large else None for pattern in patterns]
            if not all(isinstance(weight, Scalar) for weight in weights):
                return None
            output[which] = sum((x for x in weights if isinstance(x, Scalar)), ZERO) / len(heads)
        inside = low + 1 if low is not None and high is None else high - 1 if high is not None else 0
        middle = {name: (low + high) / 2 if low is not None and high is not None else inside}
        signs = [_sign((x - y).put(middle), here.put(middle), large) for x, _, y in given]
        if not all(signs) or any(sign not in ("<", "<=", ">", ">=") for _, sign, _ in given):
            return None
        met = all(sign.startswith(found) for (_, sign, _), found in zip(given, signs, strict=True))
        regions.append(Region(low, high, Vec("value", output), met))
    return Chances(random[0].normal, tuple(regions))


def _sign(gap: Scalar, where: Where, large: Sequence[str]) -> str:
    """Whether a number is above or below 0 for large names, '' where that is not known."""
    return next((sign for sign in (">", "<") if eventually(gap, sign, 0, where, large) is not None), "")


def decide_event(decider: Decider, event: t.Call, sign: t.Comparison, right: t.Node) -> Decision:
    """Decide what is said of the probability of an event, in the limit of long queries."""
    p = Reader(decider.scene, {}).scalar(right)
    found, wanted = chances_of(decider, event)
    if found is None or p.names():
        return Decision("undecided", "the probability could not be found exactly")
    value = found.probability(wanted)
    if value is None:
        return Decision("undecided", "the probability depends on the number of keys")
    return _weighed(value, sign, p.value({}), "the probability is")


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
    target = reader.value(right)
    wanted = target.coordinates if isinstance(target, Vec) else {label(what.index): target}
    if isinstance(target, Scalar) and target.names():
        where, large = decider.where([target], decider.given(reader) or ())
        if limit(target, where, large) in ("infinity", "-infinity"):
            return Decision("refuted", f"{plain(right)} grows beyond all bounds, and the other side does not")
    if isinstance(target, Vec) != output or any(x.names() for x in wanted.values()):
        return Decision("undecided", "a number was expected for a weight, or a combination of values for an output")
    found = chances(
        decider, moment, (f"q_{label(what.index)}",) if output and what.index is not None else scene.queries
    )
    decisions = []
    for which in dict.fromkeys((*scene.classes.named, REST) if output else wanted):
        moments = None
        if found is not None and which in scene.classes.all and all(region.counts for region in found.regions):
            moments = found.moments(which)
        if moments is None:
            return Decision("undecided", "the moments could not be found exactly")
        there = wanted.get(which, ZERO).value({})
        decision = _weighed(moments[moment.function == "Var"], sign, there, "in the limit it is")
        decisions.append(replace(decision, about=f"the weight of v_{which}" if output else ""))
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
        return Decision("proved", f"{what} {value.str(6, radius=False)}", used="the normal law in balls")
    return Decision("refuted", "", left=value, right=wanted)


def chances_of(decider: Decider, event: t.Call) -> tuple[Chances | None, Vec]:
    """The regions of the random length, and the output that an event speaks of."""
    match event.arguments:
        case (t.Relation((left, right), ("~" | "->" | "=",)),):
            left, right = (left, right) if is_output(left) else (right, left)
            wanted = None if speaks_of_output(right) else Reader(decider.scene, {}).value(right)
            if isinstance(left, t.Name) and is_output(left) and isinstance(wanted, Vec):
                heads = decider.scene.queries if left.index is None else (f"q_{label(left.index)}",)
                return chances(decider, event, heads), wanted
    raise MisfitError("this event is not understood", event, fix="write \\Pr(c \\approx ...)")


def is_output(node: t.Node) -> bool:
    """c, or c_1."""
    return isinstance(node, t.Name) and node.base == "c"


def speaks_of_output(node: t.Node) -> bool:
    """Whether an output or a weight occurs."""
    return any(isinstance(part, t.Name) and part.base in ("c", "alpha") for part in t.walk(node))
