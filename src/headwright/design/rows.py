"""Uncertain keys seen through a query: how far each score may leave the given one, and the slope of that.

A worst case has kinks, |m| at m = 0 and |E^T q| at E^T q = 0. Smoothed, |x| is sqrt(x^2 + tau^2), whose slope
x / sqrt(x^2 + tau^2) is that of an admissible world at every x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.design.problem import Problem

Vector = Float[np.ndarray, " d"]
Rows = slice | Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Ends:
    """The scores of some keys lie within `reach` of the given ones plus `shift`; with the slopes of both."""

    shift: Float[np.ndarray, " rows"]  # from the middle of the scales
    shift_slope: Float[np.ndarray, "rows d"]
    reach: Float[np.ndarray, " rows"]  # added for a distractor, subtracted for a target
    reach_slope: Float[np.ndarray, "rows d"]


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """What is uncertain about the keys of every scenario, in the units of the solver (scale 1)."""

    middle: Float[np.ndarray, " n"]  # of the scales
    half: Float[np.ndarray, " n"]
    ball: Float[np.ndarray, " n"]
    stretch: Float[np.ndarray, " n"]
    factor_of: Int[np.ndarray, " n"]  # an index into factors; -1: none
    factors: tuple[Float[np.ndarray, "d width"], ...]

    @classmethod
    def of(cls, problem: Problem) -> Uncertainty | None:
        """None where all keys are certain."""
        if problem.certain:
            return None
        n = problem.shape[0]
        low = np.ones(n) if problem.scale_low is None else problem.scale_low
        high = np.ones(n) if problem.scale_high is None else problem.scale_high
        factor_of = np.full(n, -1)
        for number, (indices, _) in enumerate(problem.factors):
            factor_of[indices] = number
        return cls(
            middle=low / 2 + high / 2,
            half=high / 2 - low / 2,
            ball=np.zeros(n) if problem.ball is None else problem.ball,
            stretch=np.zeros(n) if problem.stretch is None else problem.stretch,
            factor_of=factor_of,
            factors=tuple(np.asarray(matrix, dtype=np.float64) for _, matrix in problem.factors),
        )

    def times(self, factor: float) -> Uncertainty:
        """The same with all lengths times a factor."""
        return replace(self, ball=self.ball * factor, factors=tuple(matrix * factor for matrix in self.factors))

    def take(self, rows: Int[np.ndarray, " rows"]) -> Uncertainty:
        """The same for some of the keys only."""
        names = ("middle", "half", "ball", "stretch", "factor_of")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def turned(self, basis: Float[np.ndarray, "d r"]) -> Uncertainty:
        """The same in the coordinates of an orthonormal basis."""
        return replace(self, factors=tuple(basis.T @ matrix for matrix in self.factors))

    def scales(self, scores: Float[np.ndarray, " n"], smoothing: float) -> Float[np.ndarray, " n"]:
        """The scales of distractors with these scores; a target's is as far on the other side of the middle."""
        scales: Float[np.ndarray, " n"] = self.middle + self.half * _divide(scores, np.hypot(scores, smoothing))
        return scales

    def ends(
        self,
        rows: Rows,
        keys: Float[np.ndarray, "rows d"],
        q: Vector,
        smoothing: float,
        scales: Float[np.ndarray, " rows"] | None = None,
    ) -> Ends:
        """What these rows may do at q. Given scales take the place of those that the query selects."""
        m = keys @ q
        half = self.half[rows]
        root = np.hypot(m, smoothing)
        size, slopes = self._spread(rows, keys, q, smoothing)
        lean = half * _divide(m, root) if scales is None else scales - self.middle[rows]
        off = self.middle[rows] - 1
        return Ends(
            shift=off * m,
            shift_slope=off[:, None] * keys,
            reach=half * root + size,
            reach_slope=lean[:, None] * keys + slopes,
        )

    def curvature(
        self, rows: Rows, keys: Float[np.ndarray, "rows d"], q: Vector, smoothing: float, mass: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, "d d"]:
        """The sum of the second derivatives of the reaches, each times its mass."""
        m = keys @ q
        root = np.hypot(m, smoothing)
        size, slopes = self._spread(rows, keys, q, smoothing)
        per_size = _divide(mass, size)
        bend = mass * self.half[rows] * _divide(_divide(np.full_like(m, smoothing), root) ** 2, root)
        along = bend + per_size * self.stretch[rows] ** 2
        total: Float[np.ndarray, "d d"] = keys.T @ (along[:, None] * keys) - slopes.T @ (per_size[:, None] * slopes)
        total += float(per_size @ self.ball[rows] ** 2) * np.eye(len(q))
        for number, matrix in enumerate(self.factors):
            total += float(per_size @ (self.factor_of[rows] == number)) * (matrix @ matrix.T)
        return total

    def _spread(
        self, rows: Rows, keys: Float[np.ndarray, "rows d"], q: Vector, smoothing: float
    ) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, "rows d"]]:
        """sqrt(q^T A q + tau^2) and A q over that, for A = r^2 I + t^2 mu mu^T + E E^T of each row; 0 where A is 0."""
        ball, stretch, factor_of = self.ball[rows], self.stretch[rows], self.factor_of[rows]
        along = stretch * (keys @ q)
        size = np.hypot(ball * math.sqrt(float(q @ q)), along)
        slopes = (ball**2)[:, None] * q + (stretch * along)[:, None] * keys
        for number, matrix in enumerate(self.factors):
            inside: Bool[np.ndarray, " rows"] = factor_of == number
            image = matrix.T @ q
            size = np.where(inside, np.hypot(size, math.sqrt(float(image @ image))), size)
            slopes += inside[:, None] * (matrix @ image)
        moves = (ball > 0) | (stretch > 0) | (factor_of >= 0)
        size = np.where(moves, np.hypot(size, smoothing), 0.0)
        return size, slopes * _divide(np.ones_like(size), size)[:, None]


def _divide(a: Float[np.ndarray, " rows"], b: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
    ratio: Float[np.ndarray, " rows"] = np.divide(a, b, out=np.zeros_like(a), where=b > 0)
    return ratio
