"""One random number g that scales a score: the pattern as a function of g, and the law of g, in ball arithmetic.

With k_a = g mu_a, s_i the other scores of a head, L their logsumexp and t = <mu_a, q>, the weight of key a is
1 / (1 + exp(L - g t)), and the others share the rest in fixed proportions. So every weight is monotone in g, and
flat but for a short stretch around g = L / t. Both facts are used: a piece of the line is enclosed by its two
ends, and a moment is an integral only over the stretches and closed form elsewhere, however long the query is.
A random score is the same with t = 1.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, fmpq

from headwright.numerics.enclosure import Enclosure

MOST_PIECES = 20_000  # pieces of the line looked at before the rest is called undecided
SMALLEST_MASS = arb(2) ** -64  # pieces below this are not looked at
FLAT = 62  # beyond this exponent a logistic curve is flat to 2^-89


@dataclass(frozen=True)
class HeadWeight:
    """The weight of one target in one head: share / (1 + exp(offset - g slope))."""

    share: arb
    slope: arb
    offset: arb

    @classmethod
    def of(cls, scores: Sequence[arb], moving: int | None, target: int) -> HeadWeight:
        """From the scores of a head, that of the moving key being its score at g = 1."""
        others = [score for key, score in enumerate(scores) if key != moving]
        if moving is None or not others:
            constant = (scores[target] - _logsumexp(scores)).exp()
            # With slope and offset 0 it is half of the share, whatever g is.
            return cls(share=2 * constant, slope=arb(0), offset=arb(0))
        slope = scores[moving]
        rest = _logsumexp(others)
        if target == moving:
            return cls(share=arb(1), slope=slope, offset=rest)
        # What the moving key leaves, in fixed proportions: 1 - 1/(1 + e^x) = 1/(1 + e^-x).
        share = (scores[target] - rest).exp()
        return cls(share=share, slope=-slope, offset=-rest)

    def at(self, g: Any) -> Any:
        """The weight at a real (arb) or complex (acb) scale."""
        return self.share / (1 + (self.offset - g * self.slope).exp())

    def span(self, a: arb, b: arb) -> arb:
        """All the weights for g between a and b."""
        ends: arb = self.at(a).union(self.at(b))
        return ends

    def turns(self) -> list[arb]:
        """The ends of the stretch where the weight is not flat."""
        if not (self.slope > 0 or self.slope < 0):
            return []
        one_end = ((self.offset - FLAT) / self.slope).mid()
        other_end = ((self.offset + FLAT) / self.slope).mid()
        return sorted((one_end, other_end))

    def turns_within(self, a: arb, b: arb) -> bool:
        """All between a and b is in the stretch where the weight is not flat."""
        turns = self.turns()
        return bool(turns) and turns[0] <= a and b <= turns[1]


@dataclass(frozen=True)
class MeanWeight:
    """The weight of one target, averaged over the heads."""

    heads: tuple[HeadWeight, ...]

    @classmethod
    def of(
        cls, scores: Sequence[Sequence[arb]], moving: int | None, target: int
    ) -> MeanWeight:
        """From the scores, a row for each head."""
        return cls(tuple(HeadWeight.of(row, moving, target) for row in scores))

    def span(self, a: arb, b: arb) -> arb:
        """All the weights for g between a and b, or a little more."""
        total = arb(0)
        for head in self.heads:
            total += head.span(a, b)
        return total / len(self.heads)

    def moment(self, power: int, law: ScaleLaw) -> arb:
        """E of the weight to a power."""
        # From a turn to the next each head is either flat or turning all the way.
        points = [law.low, law.high]
        for head in self.heads:
            for turn in head.turns():
                if law.low < turn < law.high:
                    points.append(turn)
        # A weight lies between 0 and 1, and so do its powers.
        total = law.tail * arb(0).union(arb(1))
        for a, b in itertools.pairwise(sorted(points)):
            total += self._moment_between(a, b, power, law)
        return total

    def _moment_between(self, a: arb, b: arb, power: int, law: ScaleLaw) -> arb:
        """E of the weight to a power over a piece: an integral if a head turns there, and else closed form."""
        turning = []
        flat = arb(0)
        for head in self.heads:
            if head.turns_within(a, b):
                turning.append(head)
            else:
                flat += head.span(a, b)
        if not turning:
            return (flat / len(self.heads)) ** power * law.mass(a, b)

        def weight(g: acb) -> acb:
            total = acb(flat)
            for head in turning:
                total += head.at(g)
            return (total / len(self.heads)) ** power

        return law.integral(weight, a, b)


@dataclass(frozen=True)
class ScaleLaw:
    """The law of g: how likely it is to lie in a piece of [low, high], and how likely beyond (the tail)."""

    low: arb
    high: arb
    tail: arb
    mass: Callable[[arb, arb], arb]
    density: Callable[[acb], acb]

    def integral(self, function: Callable[[acb], acb], a: arb, b: arb) -> arb:
        """E of the function over the part of the line from a to b."""
        whole = acb.integral(
            lambda g, _: function(g) * self.density(g),
            acb(a),
            acb(b),
            abs_tol=SMALLEST_MASS,
            rel_tol=SMALLEST_MASS,
        )
        return whole.real


def normal_law(mean: arb, variance: arb) -> ScaleLaw:
    """g ~ N(mean, variance), the variance above 0."""
    root = (2 * variance).sqrt()
    reach = 14 * variance.sqrt()  # what lies beyond weighs less than 1e-43
    low = (mean - reach).mid()
    high = (mean + reach).mid()
    norm = (arb.pi() * 2 * variance).sqrt()

    def below(x: arb) -> arb:
        return ((mean - x) / root).erfc() / 2

    return ScaleLaw(
        low,
        high,
        tail=below(low) + below(2 * mean - high),
        mass=lambda a, b: below(b) - below(a),
        density=lambda g: (-((g - mean) ** 2) / (2 * variance)).exp() / norm,
    )


def uniform_law(low: arb, high: arb) -> ScaleLaw:
    """g anywhere in between, each place as likely."""
    return ScaleLaw(
        low,
        high,
        tail=arb(0),
        mass=lambda a, b: (b - a) / (high - low),
        density=lambda _: 1 / acb(high - low),
    )


def no_law() -> ScaleLaw:
    """Nothing is random: one point carries everything."""
    return ScaleLaw(
        low=arb(0),
        high=arb(0),
        tail=arb(0),
        mass=lambda _a, _b: arb(1),
        density=lambda _: acb(1),
    )


def probability_within(
    weights: Sequence[MeanWeight], ranges: Sequence[tuple[arb, arb]], law: ScaleLaw
) -> tuple[arb, arb]:
    """How likely is it that every weight lies in its range? (what is certain, what is undecided)"""
    inside = arb(0)
    undecided = law.tail
    number = itertools.count()  # breaks ties in the heap
    pieces = [(-1.0, next(number), law.low, law.high)]
    for _ in range(MOST_PIECES):
        if not pieces:
            break
        _, _, a, b = heapq.heappop(pieces)  # the likeliest piece
        is_inside, is_outside = _compare(weights, ranges, a, b)
        if is_outside:
            continue
        middle = ((a + b) / 2).mid()
        mass = law.mass(a, b)
        if is_inside:
            inside += mass
        elif not (a < middle < b) or mass < SMALLEST_MASS:
            undecided += mass
        else:
            for left, right in ((a, middle), (middle, b)):
                likelihood = float(law.mass(left, right))
                heapq.heappush(pieces, (-likelihood, next(number), left, right))
    for _, _, a, b in pieces:
        undecided += law.mass(a, b)
    return inside, undecided


@dataclass(frozen=True)
class RandomScaleCase:
    """One case: scores (rows are heads), of which one is multiplied by a number of this law."""

    scores: Sequence[Sequence[arb]]
    moving: int | None
    law: ScaleLaw

    def mean_weight(self, target: int) -> MeanWeight:
        """Of a target, over the heads, as a function of that number."""
        return MeanWeight.of(self.scores, self.moving, target)


def probability_in_ranges(
    cases: Sequence[RandomScaleCase],
    targets: Sequence[int],
    ranges: Sequence[tuple[arb, arb]],
) -> Enclosure:
    """That all targets' weights lie in their ranges; the cases are equally likely."""
    inside = arb(0)
    undecided = arb(0)
    for case in cases:
        weights = [case.mean_weight(target) for target in targets]
        sure, doubtful = probability_within(weights, ranges, case.law)
        inside += sure
        undecided += doubtful
    between_0_and_1 = arb(0).union(arb(1))
    probability = (inside + undecided * between_0_and_1) / len(cases)
    return Enclosure.of(probability).clipped(0.0, 1.0)


def decimal(number: Fraction | float) -> Fraction:
    """A float of an uncertainty is the decimal it prints as."""
    return Fraction(str(number))


def ball(number: Fraction) -> arb:
    """The same in ball arithmetic, at the precision in force."""
    return arb(fmpq(number.numerator, number.denominator))


def _compare(
    weights: Sequence[MeanWeight], ranges: Sequence[tuple[arb, arb]], a: arb, b: arb
) -> tuple[bool, bool]:
    """For all g between a and b: every weight is certainly in its range; some weight is certainly out of it."""
    is_inside = True
    for weight, (low, high) in zip(weights, ranges, strict=True):
        span = weight.span(a, b)
        if span < low or span > high:
            return False, True
        if not low <= span <= high:
            is_inside = False
    return is_inside, False


def _logsumexp(scores: Sequence[arb]) -> arb:
    top = max(s.mid() for s in scores)
    return top + sum(((s - top).exp() for s in scores), start=arb(0)).log()
