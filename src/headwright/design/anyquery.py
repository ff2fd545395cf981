"""No query whatever is shorter, where keys are random: not only none that guards in the way ours does.

A query that succeeds with probability Phi(z) or more meets, for every distribution pi and all multipliers lambda,

    s <V, q> + z |s| sqrt(q^T C q) <= -right,      C = sum_j W_j^2 C_j,    W_j = sum_c lambda_c (pi^c_j - [j = a]):

the worlds in which it succeeds lie in a half space of a Gaussian vector. For fixed pi the shortest such q is -(I +
theta C)^-1 V up to its length, with the theta at which it uses up z; so each pi has a bound, in closed form. The best
pi is sought by turns: pi to the shares that the query asks for, the query to the shortest for pi, as long as it gains.
Every pi on the way is valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from headwright.design.certify import Bound, Constraint, Part
from headwright.design.guard import deviations_of_any
from headwright.design.places import Places, places
from headwright.design.statement import Question

ROUNDS, HALVINGS = 60, 12
ENOUGH = 1e-10  # a round that gains less than this is the last
MOST_SHARES = 20_000  # numbers in the distributions that are written out
HAIR = 1e-13  # the push is shorter by this, so that it stays within z in spite of rounding

Vector = Float[np.ndarray, " d"]


@dataclass(frozen=True, eq=False)
class Chances:
    """The Gaussian part of a world: the covariance of key j is ball_j^2 I + stretch_j^2 mu_j mu_j^T + E E^T.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import copy
    >>> from headwright.noise import Isotropic, Noise, World
    >>> world = World({0: Noise(spread=Isotropic(4.0))})
    >>> chances = Chances.of(Question((np.eye(2),), copy(0), world, Fraction(1), Fraction(19, 20)))
    >>> chances.covariance(np.array([0.5, 1.0])).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    keys: Float[np.ndarray, "n d"]
    ball: Float[np.ndarray, " n"]
    stretch: Float[np.ndarray, " n"]
    factors: tuple[tuple[Float[np.ndarray, " n"], Float[np.ndarray, "d width"]], ...]  # 1 for the keys that have it

    @classmethod
    def of(cls, question: Question) -> Chances:
        """The random entries of the world of a question."""
        n = question.n
        ball, stretch, factors = np.zeros(n), np.zeros(n), []
        for entry in question.entries:
            if entry.random:
                ball[entry.keys], stretch[entry.keys] = entry.ball, entry.stretch
                if entry.width:
                    inside = np.zeros(n)
                    inside[entry.keys] = 1.0
                    factors.append((inside, entry.factor))
        return cls(question.keys[0], ball, stretch, tuple(factors))

    def covariance(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, "d d"]:
        """sum_j weights_j^2 C_j."""
        squares = weights**2
        moving = np.flatnonzero(self.stretch * weights)
        rows = self.keys[moving] * (self.stretch * weights)[moving, None]
        total: Float[np.ndarray, "d d"] = rows.T @ rows
        total[np.diag_indices_from(total)] += float(squares @ self.ball**2)
        for inside, E in self.factors:
            total += float(squares @ inside) * (E @ E.T)
        return total

    def along(self, p: Vector, q: Vector) -> Float[np.ndarray, " n"]:
        """p^T C_j q for every key."""
        found = self.ball**2 * float(p @ q) + self.stretch**2 * (self.keys @ p) * (self.keys @ q)
        for inside, E in self.factors:
            found = found + inside * float((E.T @ p) @ (E.T @ q))
        return found


@dataclass(frozen=True, eq=False)
class Shares:
    """Multipliers and distributions, one for each constraint, and where the keys stand."""

    targets: tuple[int, ...]
    multipliers: Float[np.ndarray, " c"]
    pi: Float[np.ndarray, "c n"]
    stand: Places | None  # None: all at their given places, or at the scale nearest to 1

    @property
    def weights(self) -> Float[np.ndarray, " n"]:
        """W_j."""
        total: Float[np.ndarray, " n"] = self.multipliers @ self.pi
        np.subtract.at(total, list(self.targets), self.multipliers)
        return total


@dataclass(frozen=True, eq=False)
class Value:
    """What shares prove: no query is shorter than `least` (inf: there is none), and the query where that is tight."""

    shares: Shares
    least: float
    query: Vector
    push: Vector


class Search:
    """The best bound for one question, from a start."""

    def __init__(self, question: Question, shrink: float = 0.0) -> None:
        """All that does not change on the way; with a shrink, as if there were fewer deviations and smaller balls."""
        self.question, self.chances, self.shrink = question, Chances.of(question), shrink
        self.z = float(deviations_of_any(question)) * (1 - shrink)
        self.scale, self.sign = abs(float(question.scale)), math.copysign(1.0, question.scale)
        self.log_floors = {a: math.log(p.numerator) - math.log(p.denominator) for a, p in question.wish.least.items()}
        self.nominal = np.ones(question.n)
        self.set_ball, self.sets = np.zeros(question.n), []
        for number, entry in enumerate(question.entries):
            self.nominal[entry.keys] = min(max(1.0, entry.scale[0]), entry.scale[1])
            if not entry.random:
                self.set_ball[entry.keys] = entry.ball * (1 - shrink)
                self.sets.append((number, entry))

    def best(self, start: Vector, multipliers: Float[np.ndarray, " m"], smoothing: float = 0.0) -> Value:
        """The best of: all targets together in one world, and each target alone in its worst one."""
        targets = tuple(self.question.wish.targets)
        used = tuple(a for a, x in zip(targets, multipliers, strict=True) if x > 0)
        ways = [(used, multipliers[multipliers > 0] / multipliers.sum())] if len(used) > 1 else []
        ways += [((a,), np.ones(1)) for a in targets]
        return max((self._improved(way, x, start, smoothing) for way, x in ways), key=lambda value: value.least)

    def _improved(self, targets: tuple[int, ...], multipliers: Vector, start: Vector, smoothing: float) -> Value:
        alone = len(targets) == 1
        reach = np.sqrt(np.maximum(self.chances.along(start, start), 0.0))
        weights = np.zeros(self.question.n)  # as if every random key were guarded against alone
        stand = places(self.question, start, smoothing, self.shrink) if alone else None
        pi = np.stack([self._softmax(self._scores(a, start, stand, weights) + self._guarded(a, reach)) for a in targets])
        now = self._value(Shares(targets, multipliers, pi, stand))
        for _ in range(ROUNDS):
            if not 0 < now.least < math.inf:
                break
            better = self._step(now, smoothing)
            gained = better.least > now.least * (1 + ENOUGH)
            now = better if better.least >= now.least else now
            if not gained:
                break
        return now

    def _guarded(self, target: int, reach: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        lifts = self.z * self.scale * reach
        lifts[target] *= -1
        return lifts

    def _step(self, now: Value, smoothing: float) -> Value:
        """Towards the shares that the query asks for, half as far until the bound gains."""
        shares = now.shares
        stand = None if shares.stand is None else places(self.question, now.query, smoothing, self.shrink)
        weights = shares.weights * self.scale * self.chances.along(now.push, now.query * self.sign)
        scores = np.stack([self._scores(a, now.query, stand, weights) for a in shares.targets])
        with np.errstate(divide="ignore"):
            logs = np.log(shares.pi)
        values = self._constraint_values(shares, scores)
        best = now
        for halving in range(HALVINGS):
            t = 0.5**halving
            mixed = np.where(np.isfinite(logs), (1 - t) * logs, -np.inf if t < 1 else 0.0) + t * scores
            pi = np.stack([self._softmax(row) for row in mixed])
            lam = shares.multipliers * np.exp(np.clip(t * (values - values.max()), -700, 0))
            value = self._value(Shares(shares.targets, lam / lam.sum(), pi, stand))
            if value.least > best.least:
                return value
        return best

    def _constraint_values(self, shares: Shares, scores: Float[np.ndarray, "c n"]) -> Float[np.ndarray, " c"]:
        """How much each constraint asks for at the query: the multipliers lean to those that ask for more."""
        tops = scores.max(axis=1)
        sums = tops + np.log(np.exp(scores - tops[:, None]).sum(axis=1))
        own = scores[np.arange(len(shares.targets)), list(shares.targets)]
        values: Float[np.ndarray, " c"] = sums - own + [self.log_floors[a] for a in shares.targets]
        return values

    def _scores(self, target: int, q: Vector, stand: Places | None, pushed: Float[np.ndarray, " n"]) -> Vector:
        """Scores at the places where the keys stand, the random ones pushed."""
        plain = float(self.question.scale) * (self.question.keys[0] @ q)
        if stand is None:
            found: Vector = plain * self.nominal + pushed
            return found
        scales = self._scale_array(stand, target)
        found = plain * scales + pushed
        for number, entry in self.sets:
            mine = entry.keys[entry.keys != target]
            found[mine] += stand.lifts[number]
            if len(mine) < len(entry.keys):
                found[target] -= stand.lifts[number]
        return found

    def _scale_array(self, stand: Places, target: int) -> Float[np.ndarray, " n"]:
        scales = self.nominal.copy()
        for i, c in stand.scales.items():
            scales[i] = c
        if target in stand.own_scales:
            scales[target] = stand.own_scales[target]
        return scales

    @staticmethod
    def _softmax(x: Vector) -> Vector:
        e = np.exp(x - x.max())
        shares: Vector = e / e.sum()
        return shares

    def _value(self, shares: Shares) -> Value:
        """The bound that shares prove."""
        W, right, V, rho = shares.weights, 0.0, np.zeros(self.question.keys[0].shape[1]), 0.0
        for a, lam, pi in zip(shares.targets, shares.multipliers, shares.pi, strict=True):
            some = pi[pi > 0]
            right += lam * (self.log_floors[a] - float(some @ np.log(some)))
            w = pi.copy()
            w[a] = -float(np.delete(pi, a).sum())
            scales = self.nominal if shares.stand is None else self._scale_array(shares.stand, a)
            V = V + lam * ((w * scales) @ self.question.keys[0])
            if shares.stand is not None:
                rho += lam * float(np.abs(w) @ self.set_ball)
                for number, entry in self.sets:
                    if entry.width:
                        mass = float(np.abs(w[entry.keys]).sum())
                        V = V + lam * mass * (entry.factor @ shares.stand.moves[number])
        if right <= 0:
            return Value(shares, 0.0, np.zeros_like(V), np.zeros_like(V))
        y, push = _shortened(V, self.chances.covariance(W), self.z)
        length = float(np.linalg.norm(y))
        left = length - rho
        if left <= 1e-14 * float(np.linalg.norm(V)):
            return Value(shares, math.inf, np.zeros_like(V), push)
        least = right / (self.scale * left)
        return Value(shares, least, -self.sign * y * (least / length), push)

    def bound(self, value: Value) -> Bound:
        """As evidence; distributions are written out where they are short."""
        shares, whole = value.shares, value.shares.pi.size <= MOST_SHARES
        constraints = tuple(
            Constraint(0, a, float(x), {int(i): float(pi[i]) for i in np.flatnonzero(pi)} if whole else None)
            for a, x, pi in zip(shares.targets, shares.multipliers, shares.pi, strict=True)
        )
        stand = shares.stand
        lifts = None if stand is None or whole else stand.lifts
        moves = None if stand is None else [move.tolist() for move in stand.moves]
        part = Part(value.query, constraints, lifts, moves, (value.push * (1 - HAIR)).tolist())
        if stand is None:
            return Bound((part,), deviations=deviations_of_any(self.question))
        return Bound((part,), None, deviations_of_any(self.question), stand.scales, stand.own_scales)


def _shortened(V: Vector, C: Float[np.ndarray, "d d"], z: float) -> tuple[Vector, Vector]:
    """y = (I + theta C)^-1 V where it uses up z, and the push -theta y that makes it; 0 if z is enough for all of V."""
    c, axes = np.linalg.eigh(C)
    c = np.where(c > 1e-15 * max(float(c.max()), 0.0), c, 0.0)
    v = axes.T @ V
    moving = c > 0
    if z == 0 or not moving.any():
        return V, np.zeros_like(V)
    inside, spread = v[moving], c[moving]
    if float((inside**2 / spread).sum()) <= z * z:
        y, p = np.where(moving, 0.0, v), np.zeros_like(v)
        p[moving] = -inside / spread
        return axes @ y, axes @ p

    def beyond(log_theta: float) -> float:
        share = spread * math.exp(log_theta)
        return float(((share / (1 + share)) ** 2 * (inside**2 / spread)).sum()) - z * z

    low, high = -math.log(float(spread.max())) - 60, -math.log(float(spread.min())) + 60
    if beyond(low) > 0 or beyond(high) < 0:  # beyond what floats can tell
        theta = math.exp(low if beyond(low) > 0 else high)
    else:
        theta = math.exp(float(brentq(beyond, low, high, xtol=1e-14, rtol=1e-15)))
    y = v / (1 + theta * c)
    used = float((theta * theta * c * y * y).sum())
    p = -theta * y * min(1.0, z / math.sqrt(used)) if used > 0 else np.zeros_like(v)
    return axes @ y, axes @ p
