"""Lower bounds on the length of any query where keys are random, whatever guard it uses.

A query that succeeds with probability Phi(z) or more meets, for each target a and every distribution pi over the keys,

    s <V, q> + z |s| sqrt(q^T C q) <= -right,      C = sum_j w_j^2 C_j,    w_j = pi_j - [j = a]:

the realizations in which it gives a its weight lie in a half space of a Gaussian vector. Such inequalities can be
averaged, with multipliers lambda_c. The shortest q that meets the average is -y, up to its length, for the shortest
vector y = sum_c lambda_c (V_c + C_c p_c) with p_c^T C_c p_c <= z^2: so shares have a bound. The best shares are sought
by turns: shares to those that the query asks for, the query to the shortest, as long as it gains. All are valid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float

from headwright.optimisation.newton import minimise_smooth
from headwright.query_design.certify import (
    BoundEvidence,
    Constraint,
    GuardEvidence,
    PartEvidence,
    deviations_of_any,
)
from headwright.query_design.program import program, solved
from headwright.query_design.proving.key_placement import WorstPlaces, places
from headwright.query_design.proving.least_violation import nearest
from headwright.query_design.statement import DesignQuestion

Vector = Float[np.ndarray, " d"]
Matrix = Float[np.ndarray, "d d"]
SMOOTHINGS = (1e-1, 1e-3, 1e-5, 1e-7)  # of the roots, next to their size
MAX_STEPS = 20
CLOSE = 1e-12  # a slope so small next to V is rounding
ROUNDS = 60  # of improvement, at most
FEW_ROUNDS = 5  # where there are many keys
HALVINGS = 12  # of a step, until the bound gains
# A vector this much shorter than it was is 0; the proof makes it so exactly.
NOTHING = 1e-6
# How much kinks are smoothed on the way to the nearest query.
LEVELS = (1e-2, 1e-4, 1e-6)
FAR = 1e3  # scores beyond this are no good start
ENOUGH = 1e-10  # a round that gains less than this is the last
MOST_SHARES = 4000  # numbers in the distributions that are written out
# The push is shorter by this, so that it stays within z in spite of rounding.
PUSH_ROUNDING = 1e-13
STARTS = (1.0, 0.7, 0.4, 0.2, 0.1)  # parts of the start that are tried in turn


def _shortest(
    V: Vector, C: Sequence[Matrix], multipliers: Float[np.ndarray, " c"], z: float
) -> tuple[Vector, Float[np.ndarray, "c d"]]:
    """The vector and the pushes that make it."""
    if len(C) == 1:
        y, p = _by_one(V, C[0], z)
        return y, p[None]
    if z == 0 or not any(covariance.any() for covariance in C):
        return V, np.zeros((len(C), len(V)))
    return _by_several(V, np.stack(C), multipliers, z)


def _by_one(V: Vector, C: Matrix, z: float) -> tuple[Vector, Vector]:
    """The shortest y = V + C p with p^T C p <= z^2, and p.

    Where the limit binds, y = V - theta C y for a multiplier theta >= 0, and p = -theta y. In the axes of C, which has
    the variances c, that is y_i = v_i / (1 + theta c_i).
    """
    from scipy.optimize import brentq

    c, axes = np.linalg.eigh(C)
    rounding = 1e-15 * max(float(c.max()), 0.0)
    c = np.where(c > rounding, c, 0.0)
    v = axes.T @ V
    moving = c > 0
    if z == 0 or not moving.any():
        return V, np.zeros_like(V)
    v_moving = v[moving]
    c_moving = c[moving]
    # What p^T C p is where all of V that can be pushed away is: theta is infinite.
    costs = v_moving**2 / c_moving
    if float(costs.sum()) <= z * z:
        y = np.where(moving, 0.0, v)
        p = np.zeros_like(v)
        p[moving] = -v_moving / c_moving
        return axes @ y, axes @ p

    def beyond(log_theta: float) -> float:
        """p^T C p - z^2, which grows with theta."""
        stretched = c_moving * math.exp(log_theta)
        pushed = stretched / (1 + stretched)
        return float((pushed**2 * costs).sum()) - z * z

    low = -math.log(float(c_moving.max())) - 60
    high = -math.log(float(c_moving.min())) + 60
    if beyond(low) > 0:  # beyond what floats can tell
        theta = math.exp(low)
    elif beyond(high) < 0:
        theta = math.exp(high)
    else:
        theta = math.exp(float(brentq(beyond, low, high, xtol=1e-14, rtol=1e-15)))
    y = v / (1 + theta * c)
    used = float((theta * theta * c * y * y).sum())
    p = np.zeros_like(v)
    if used > 0:
        p = -theta * y * min(1.0, z / math.sqrt(used))
    return axes @ y, axes @ p


@dataclass(frozen=True, eq=False)
class _SmoothedRoots:
    """|q|^2 / 2 + <V, q> + sum_c prices_c sqrt(q^T C_c q + tau^2) at a point q."""

    point: Vector
    V: Vector
    C: Float[np.ndarray, "c d d"]
    prices: Float[np.ndarray, " c"]
    tau: float

    @cached_property
    def images(self) -> Float[np.ndarray, "c d"]:
        """C_c q."""
        images: Float[np.ndarray, "c d"] = self.C @ self.point
        return images

    @cached_property
    def roots(self) -> Float[np.ndarray, " c"]:
        """The square roots."""
        squares = np.maximum(self.images @ self.point, 0.0)
        roots: Float[np.ndarray, " c"] = np.sqrt(squares + self.tau**2)
        return roots

    @property
    def value(self) -> float:
        """Of the function."""
        q = self.point
        return float(q @ q) / 2 + float(self.V @ q) + float(self.prices @ self.roots)

    @cached_property
    def slope(self) -> Vector:
        """Its gradient."""
        slope: Vector = self.point + self.V + (self.prices / self.roots) @ self.images
        return slope

    @cached_property
    def hessian(self) -> Matrix:
        """Its second derivatives: those of a root are C / root - C q q^T C / root^3."""
        # C_c q sqrt(price / root^3), a row for each c.
        per_root = np.sqrt(self.prices / self.roots**3)
        curved = self.images * per_root[:, None]
        hessian: Matrix = np.tensordot(self.prices / self.roots, self.C, axes=1)
        hessian = hessian - curved.T @ curved
        # Of |q|^2 / 2.
        hessian[np.diag_indices_from(hessian)] += 1.0
        return hessian


def _by_several(
    V: Vector,
    C: Float[np.ndarray, "c d d"],
    multipliers: Float[np.ndarray, " c"],
    z: float,
) -> tuple[Vector, Float[np.ndarray, "c d"]]:
    """The dual: the shortest vector is -q for the minimum q of |q|^2 / 2 + <V, q> + z sum_c lambda_c |C_c^(1/2) q|.

    The roots are smoothed, less and less, since they have kinks where V can be pushed to 0.
    """
    length = float(np.linalg.norm(V)) or 1.0
    size = math.sqrt(float(np.trace(C, axis1=1, axis2=2).max())) * length
    q = -V
    previous = math.inf
    for smoothing in SMOOTHINGS:
        function = partial(
            _SmoothedRoots, V=V, C=C, prices=z * multipliers, tau=smoothing * size
        )
        # where V can be pushed to 0, q goes down with the smoothing
        shorter = q * min(1.0, smoothing / previous)
        start = min(q, shorter, key=lambda x: function(x).value)
        lowest = minimise_smooth(
            function,
            start,
            lambda at: float(np.linalg.norm(at.slope)) <= CLOSE * length,
            MAX_STEPS,
        )
        q = lowest.point
        previous = smoothing
    pushes = z * q / lowest.roots[:, None]
    y = V + np.einsum("c,cij,cj->i", multipliers, C, pushes)
    return y, pushes


@dataclass(frozen=True, eq=False)
class GaussianKeys:
    """The Gaussian part of an uncertainty: the covariance of key j is ball_j^2 I + stretch_j^2 mu_j mu_j^T + E E^T."""

    keys: Float[np.ndarray, "n d"]
    ball: Float[np.ndarray, " n"]
    stretch: Float[np.ndarray, " n"]
    # E, and 1 for the keys that have it.
    factors: tuple[tuple[Float[np.ndarray, " n"], Float[np.ndarray, "d width"]], ...]

    @classmethod
    def of(cls, question: DesignQuestion) -> GaussianKeys:
        """The random entries of the uncertainty of a question."""
        n = question.n
        ball = np.zeros(n)
        stretch = np.zeros(n)
        factors = []
        for entry in question.entries:
            if entry.random:
                ball[entry.keys] = entry.ball
                stretch[entry.keys] = entry.stretch
                if entry.width:
                    inside = np.zeros(n)
                    inside[entry.keys] = 1.0
                    factors.append((inside, entry.factor))
        return cls(question.keys[0], ball, stretch, tuple(factors))

    def covariance(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "d d"]:
        """sum_j weights_j^2 C_j."""
        squares = weights**2
        # Keys of random length: the rows w_j stretch_j k_j.
        stretched = self.stretch * weights
        moving = np.flatnonzero(stretched)
        rows = self.keys[moving] * stretched[moving, None]
        total: Float[np.ndarray, "d d"] = rows.T @ rows
        # The same noise in all directions.
        total[np.diag_indices_from(total)] += float(squares @ self.ball**2)
        for inside, E in self.factors:
            total += float(squares @ inside) * (E @ E.T)
        return total

    def along(self, p: Vector, q: Vector) -> Float[np.ndarray, " n"]:
        """p^T C_j q for every key."""
        products: Float[np.ndarray, " n"] = self.ball**2 * float(p @ q)
        products = products + self.stretch**2 * (self.keys @ p) * (self.keys @ q)
        for inside, E in self.factors:
            products = products + inside * float((E.T @ p) @ (E.T @ q))
        return products


@dataclass(frozen=True, eq=False)
class ConstraintShares:
    """Multipliers and distributions, one for each constraint, and where the sets of the uncertainty stand."""

    targets: tuple[int, ...]
    multipliers: Float[np.ndarray, " c"]
    pi: Float[np.ndarray, "c n"]
    stand: WorstPlaces


@dataclass(frozen=True, eq=False)
class ShareBound:
    """What shares prove: no query is shorter than `least` (inf: there is none), and the query where that is tight."""

    shares: ConstraintShares
    least: float
    query: Vector
    pushes: Float[np.ndarray, "c d"]


class BoundSearch:
    """The best bound for one question, from a start."""

    def __init__(self, question: DesignQuestion, shrink: float = 0.0) -> None:
        """All that does not change on the way; with a shrink, as if there were fewer deviations and smaller sets."""
        self.question = question
        self.chances = GaussianKeys.of(question)
        self.shrink = shrink
        self.z = float(deviations_of_any(question)) * (1 - shrink)
        self.scale = abs(float(question.scale))
        self.sign = math.copysign(1.0, question.scale)
        self.log_floors = {}
        for target, p in question.targets.least.items():
            self.log_floors[target] = math.log(p.numerator) - math.log(p.denominator)
        self.balls = np.zeros(question.n)
        for entry in question.entries:
            if not entry.random:
                self.balls[entry.keys] = entry.ball * (1 - shrink)

    def best(
        self,
        start: Vector,
        multipliers: Float[np.ndarray, " m"],
        smoothing: float = 0.0,
        enough: float = math.inf,
    ) -> ShareBound:
        """The best of all targets together and each target alone, from the start and from what every query must meet.

        A bound that is as good as `enough` ends the search.
        """
        best = self._best_alone(start, smoothing)
        if best.least >= enough * (1 - NOTHING):
            return best
        together = self._best_together(start, multipliers, smoothing)
        if together is not None:
            best = max(best, together, key=_least)
        if best.least >= enough * (1 - NOTHING):
            return best
        query, multipliers, smoothing = self._relaxed(start)
        best = max(best, self._best_alone(query, smoothing), key=_least)
        together = self._best_together(query, multipliers, smoothing)
        if together is not None:
            best = max(best, together, key=_least)
        return best

    def _best_alone(self, query: Vector, smoothing: float) -> ShareBound:
        """The best bound of a single target."""
        bounds = []
        for target in self.question.targets.indices:
            bounds.append(self._improved((target,), np.ones(1), query, smoothing))
        return max(bounds, key=_least)

    def _best_together(
        self, query: Vector, multipliers: Float[np.ndarray, " m"], smoothing: float
    ) -> ShareBound | None:
        """The best of all targets together, with these multipliers or even ones; None if there is one target."""
        targets = tuple(self.question.targets.indices)
        if len(targets) == 1:
            return None
        even = np.full(len(targets), 1 / len(targets))
        mixed = 0.9 * multipliers / multipliers.sum() + 0.1 * even
        with_mixed = self._improved(targets, mixed, query, smoothing)
        with_even = self._improved(targets, even, query, smoothing)
        return max(with_mixed, with_even, key=_least)

    def _relaxed(self, start: Vector) -> tuple[Vector, Float[np.ndarray, " m"], float]:
        """The shortest query that withstands these deviations in each pair, which every query must; or the nearest."""
        guard = GuardEvidence("pairs", Fraction(self.z))
        problem = program(self.question, guard)
        solution = solved(problem)
        if solution.status != "impossible":
            return solution.witness, solution.multipliers[0], solution.smoothing
        q = start
        if float(np.abs(start).max()) * self.scale >= FAR:
            q = np.zeros_like(start)
        for level in LEVELS:
            close = nearest(problem, q, level, 1 / level)
            q = close.query
        return close.query, close.multipliers, close.smoothing

    def _improved(
        self,
        targets: tuple[int, ...],
        multipliers: Vector,
        start: Vector,
        smoothing: float,
    ) -> ShareBound:
        for shorter in STARTS:
            now = self._at(targets, multipliers, start * shorter, smoothing)
            if now.least > 0:
                break
        for _ in range(ROUNDS if self.question.n <= MOST_SHARES else FEW_ROUNDS):
            if not 0 < now.least < math.inf:
                break
            better = self._step(now, smoothing)
            enough = better.least <= now.least * (1 + ENOUGH)
            now = better
            if enough:
                break
        return now

    def _at(
        self,
        targets: tuple[int, ...],
        multipliers: Vector,
        query: Vector,
        smoothing: float,
    ) -> ShareBound:
        """The better of the shares that random keys have at a query, each guarded against alone, or pair by pair."""
        variances = self.scale**2 * np.maximum(self.chances.along(query, query), 0.0)
        stand = places(self.question, query, smoothing, self.shrink)
        pi_alone = []
        pi_in_pairs = []
        for target in targets:
            scores = self._scores(target, query, stand)
            is_rival = ~self._is(target)
            alone = np.sqrt(variances) + math.sqrt(variances[target])
            in_pairs = np.sqrt(variances + variances[target])
            pi_alone.append(_softmax(scores + is_rival * (self.z * alone)))
            pi_in_pairs.append(_softmax(scores + is_rival * (self.z * in_pairs)))
        bounds = []
        for pi in (pi_alone, pi_in_pairs):
            shares = ConstraintShares(targets, multipliers, np.stack(pi), stand)
            bounds.append(self._value(shares))
        return max(bounds, key=_least)

    def _is(self, target: int) -> Bool[np.ndarray, " n"]:
        is_target: Bool[np.ndarray, " n"] = np.arange(self.question.n) == target
        return is_target

    def _step(self, now: ShareBound, smoothing: float) -> ShareBound:
        """Towards the shares that the query asks for, half as far until the bound gains."""
        shares = now.shares
        stand = places(self.question, now.query, smoothing, self.shrink)
        of_targets = []
        for target, pi, push in zip(shares.targets, shares.pi, now.pushes, strict=True):
            # What the push of this constraint does to the scores.
            pushed = self.scale * self.chances.along(push, now.query * self.sign)
            scores_of_target = self._scores(target, now.query, stand)
            of_targets.append(scores_of_target + (pi - self._is(target)) * pushed)
        scores = np.stack(of_targets)
        logs = np.log(np.maximum(shares.pi, 1e-300))
        values = self._constraint_values(shares, scores)
        for halving in range(HALVINGS):
            t = 0.5**halving
            # Distributions between these and those of the scores, in their logarithms.
            between = (1 - t) * logs + t * scores
            pi = np.stack([_softmax(row) for row in between])
            growth = np.exp(np.clip(t * (values - values.max()), -700, 0))
            multipliers = shares.multipliers * growth
            multipliers /= multipliers.sum()
            moved = ConstraintShares(shares.targets, multipliers, pi, stand)
            bound = self._value(moved)
            if bound.least > now.least:
                return bound
        return now

    def _constraint_values(
        self, shares: ConstraintShares, scores: Float[np.ndarray, "c n"]
    ) -> Float[np.ndarray, " c"]:
        """How much each constraint asks for at the query: the multipliers lean to those that ask for more."""
        tops = scores.max(axis=1)
        sums = tops + np.log(np.exp(scores - tops[:, None]).sum(axis=1))
        own = scores[np.arange(len(shares.targets)), list(shares.targets)]
        values: Float[np.ndarray, " c"] = (
            sums - own + [self.log_floors[a] for a in shares.targets]
        )
        return values

    def _scores(
        self, target: int, q: Vector, stand: WorstPlaces
    ) -> Float[np.ndarray, " n"]:
        """Scores at the places where the sets stand, in the constraint of a target."""
        places = self.question.keys[0] @ q
        scores: Float[np.ndarray, " n"] = float(self.question.scale) * places
        scores = scores * self._scales(stand, target)
        for number, entry in enumerate(self.question.entries):
            # A rival is lifted, and the target put down.
            sign = np.where(entry.keys == target, -1, 1)
            scores[entry.keys] += sign * stand.lifts[number]
        return scores

    def _scales(self, stand: WorstPlaces, target: int) -> Float[np.ndarray, " n"]:
        scales = np.ones(self.question.n)
        for entry in self.question.entries:
            scales[entry.keys] = entry.scale[0]
        scales[list(stand.scales)] = list(stand.scales.values())
        if target in stand.own_scales:
            scales[target] = stand.own_scales[target]
        return scales

    def _value(self, shares: ConstraintShares) -> ShareBound:
        """The bound that shares prove.

        The average of the inequalities, with the multipliers, is s <V, q> + ... <= -right. Sets of keys make the left
        side smaller by `room` |q| at most; so |q| >= right / (scale (|y| - room)) for the shortest vector y.
        """
        right = 0.0
        room = 0.0
        size = (
            0.0  # what V would be without cancellation: how large its rounding may be
        )
        V = np.zeros(self.question.d)
        C = []
        for target, multiplier, pi in zip(
            shares.targets, shares.multipliers, shares.pi, strict=True
        ):
            # The right side: the logarithm of the floor, and the entropy of pi.
            positive = pi[pi > 0]
            entropy = -float(positive @ np.log(positive))
            right += multiplier * (self.log_floors[target] + entropy)
            # w = pi - [j = a], without a difference of numbers near to 1.
            w = pi.copy()
            w[target] = -float(pi[~self._is(target)].sum())
            # V_c = sum_j w_j k_j, with keys at the scales where the sets stand.
            scales = self._scales(shares.stand, target)
            V_of_target = (w * scales) @ self.question.keys[0]
            V = V + multiplier * V_of_target
            size += multiplier * float(np.linalg.norm(V_of_target))
            C.append(self.chances.covariance(w))
            # Balls around keys: each moves the inequality by its radius. Ellipsoids move it where they stand.
            room += multiplier * float(np.abs(w) @ self.balls)
            for entry, move in zip(
                self.question.entries, shares.stand.moves, strict=True
            ):
                if entry.width and not entry.random:
                    mass = multiplier * float(np.abs(w[entry.keys]).sum())
                    V = V + mass * (entry.factor @ move)
        if right <= 0:  # the query 0 meets the average
            no_pushes = np.zeros((len(C), len(V)))
            return ShareBound(shares, 0.0, np.zeros_like(V), no_pushes)
        y, pushes = _shortest(V, C, shares.multipliers, self.z)
        length = float(np.linalg.norm(y))
        if length - room <= NOTHING * size:  # no query meets it, up to rounding
            return ShareBound(shares, math.inf, np.zeros_like(V), pushes)
        least = right / (self.scale * (length - room))
        return ShareBound(shares, least, -self.sign * y * (least / length), pushes)

    def evidence(self, value: ShareBound) -> tuple[BoundEvidence, float]:
        """A part for each target, and what they prove; distributions are written out where they are short."""
        if value.shares.pi.size > MOST_SHARES and 0 < value.least < math.inf:
            ways = [self._by_scores(value, size) for size in (1.0, 0.5, 0.0)]
            return max(ways, key=lambda way: way[1])
        tables: list[dict[int, float] | None] = []
        for pi in value.shares.pi:
            tables.append({int(i): float(pi[i]) for i in np.flatnonzero(pi)})
        without_lifts = [None] * len(tables)
        return self._bound(value, value.query, tables, without_lifts), value.least

    def _by_scores(self, value: ShareBound, size: float) -> tuple[BoundEvidence, float]:
        """Distributions by the scores at the query, with lifts in place of what the push does to the targets."""
        shares = value.shares
        along = self.chances.along(value.query, value.query)
        variances = self.scale**2 * np.maximum(along, 0.0)
        lifts_of_targets = []
        pi_of_targets = []
        for target, pi in zip(shares.targets, shares.pi, strict=True):
            # The push changes the target's score by z times its part of the deviation of <V_c, q>.
            w = pi - self._is(target)
            deviation = math.sqrt(float(w * w @ variances))
            lift = 0.0
            if deviation > 0:
                of_target = abs(float(w[target] * variances[target]))
                lift = size * self.z * of_target / deviation
            # Every entry that random keys share with the target gets the lift.
            lifts = list(shares.stand.lifts)
            for number, entry in enumerate(self.question.entries):
                if entry.random and bool(np.any(entry.keys == target)):
                    lifts[number] += lift
            stand = replace(shares.stand, lifts=tuple(lifts))
            lifts_of_targets.append(stand.lifts)
            pi_of_targets.append(_softmax(self._scores(target, value.query, stand)))
        by_scores = self._value(replace(shares, pi=np.stack(pi_of_targets)))
        without_tables = [None] * len(pi_of_targets)
        evidence = self._bound(by_scores, value.query, without_tables, lifts_of_targets)
        return evidence, by_scores.least

    def _bound(
        self,
        value: ShareBound,
        query: Vector,
        tables: Sequence[dict[int, float] | None],
        lifts: Sequence[tuple[float, ...] | None],
    ) -> BoundEvidence:
        shares = value.shares
        stand = shares.stand
        moves = [move.tolist() for move in stand.moves]
        parts = []
        for c, target in enumerate(shares.targets):
            multiplier = float(shares.multipliers[c])
            constraint = Constraint(0, target, multiplier, tables[c])
            push = (value.pushes[c] * (1 - PUSH_ROUNDING)).tolist()
            parts.append(PartEvidence(query, (constraint,), lifts[c], moves, push))
        return BoundEvidence(
            tuple(parts),
            None,
            deviations_of_any(self.question),
            stand.scales,
            stand.own_scales,
        )


def _softmax(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    e = np.exp(x - x.max())
    shares: Float[np.ndarray, " n"] = e / e.sum()
    return shares


def _least(value: ShareBound) -> float:
    return value.least
