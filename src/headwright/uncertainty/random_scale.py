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
from typing import Any

from flint import acb, arb

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
        others = [s for i, s in enumerate(scores) if i != moving]
        if moving is None or not others:
            constant = (scores[target] - _logsumexp(scores)).exp()
            return cls(2 * constant, arb(0), arb(0))
        slope, rest = scores[moving], _logsumexp(others)
        if target == moving:
            return cls(arb(1), slope, rest)
        return cls((scores[target] - rest).exp(), -slope, -rest)

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
        return sorted(
            ((self.offset + side) / self.slope).mid() for side in (-FLAT, FLAT)
        )


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
        return sum((head.span(a, b) for head in self.heads), start=arb(0)) / len(
            self.heads
        )

    def moment(self, power: int, law: ScaleLaw) -> arb:
        """E of the weight to a power."""
        turns = sorted(turn for head in self.heads for turn in head.turns())
        points = [
            law.low,
            *(point for point in turns if law.low < point < law.high),
            law.high,
        ]
        total = law.tail * arb(0).union(
            arb(1)
        )  # a weight lies between 0 and 1, and so do its powers
        for a, b in itertools.pairwise(points):
            total += self._moment_between(a, b, power, law)
        return total

    def _moment_between(self, a: arb, b: arb, power: int, law: ScaleLaw) -> arb:
        turning = [
            head
            for head in self.heads
            if (t := head.turns()) and t[0] <= a and b <= t[1]
        ]
        flat = sum(
            (head.span(a, b) for head in self.heads if head not in turning),
            start=arb(0),
        )
        if not turning:
            return (flat / len(self.heads)) ** power * law.mass(a, b)

        def weight(g: acb) -> acb:
            return (
                (flat + sum((head.at(g) for head in turning), start=acb(0)))
                / len(self.heads)
            ) ** power

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
    low, high = (mean - reach).mid(), (mean + reach).mid()
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
        arb(0),
        lambda a, b: (b - a) / (high - low),
        lambda _: 1 / acb(high - low),
    )


def no_law() -> ScaleLaw:
    """Nothing is random: one point carries everything."""
    return ScaleLaw(arb(0), arb(0), arb(0), lambda _a, _b: arb(1), lambda _: acb(1))


def probability_within(
    weights: Sequence[MeanWeight], ranges: Sequence[tuple[arb, arb]], law: ScaleLaw
) -> tuple[arb, arb]:
    """How likely is it that every weight lies in its range? (what is certain, what is undecided)"""
    inside, undecided = arb(0), law.tail
    number = itertools.count()  # breaks ties in the heap
    pieces = [(-1.0, next(number), law.low, law.high)]
    for _ in range(MOST_PIECES):
        if not pieces:
            break
        _, _, a, b = heapq.heappop(pieces)  # the likeliest piece
        spans = [
            (weight.span(a, b), low, high)
            for weight, (low, high) in zip(weights, ranges, strict=True)
        ]
        if any(span < low or span > high for span, low, high in spans):
            continue
        middle = ((a + b) / 2).mid()
        if all(low <= span <= high for span, low, high in spans):
            inside += law.mass(a, b)
        elif not (a < middle < b) or law.mass(a, b) < SMALLEST_MASS:
            undecided += law.mass(a, b)
        else:
            for left, right in ((a, middle), (middle, b)):
                heapq.heappush(
                    pieces, (-float(law.mass(left, right)), next(number), left, right)
                )
    return inside, sum((law.mass(a, b) for _, _, a, b in pieces), start=undecided)


def _logsumexp(scores: Sequence[arb]) -> arb:
    top = max(s.mid() for s in scores)
    return top + sum(((s - top).exp() for s in scores), start=arb(0)).log()
