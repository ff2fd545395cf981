"""The range of the scores of uncertain keys for a query, and its slopes.

A worst case has kinks, |m| at m = 0 and |E^T q| at E^T q = 0. Smoothed, |x| is sqrt(x^2 + tau^2), whose slope
x / sqrt(x^2 + tau^2) is that of an admissible realization at every x.

All slopes are combinations of a few vectors, so that they are never written out for many keys:

    along_i k_i + across_i q + through_i E E^T q + beside_i A_a q

for the factor E of key i, and the covariance A_a of the target that the key is compared with.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.query_design.solving.problem import QueryProblem

Vector = Float[np.ndarray, " d"]
UNSEEN = 2.0**-400
Rows = slice | Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class ScoreRanges:
    """What is uncertain about the keys of every scenario, in the units of the solver (scale 1)."""

    middle: Float[np.ndarray, " n"]  # of the scales
    half: Float[np.ndarray, " n"]
    ball: Float[np.ndarray, " n"]
    stretch: Float[np.ndarray, " n"]
    factor_of: Int[np.ndarray, " n"]  # an index into factors; -1: none
    factors: tuple[Float[np.ndarray, "d width"], ...]
    # The key's deviation joins that of the target: sqrt(h_i^2 + h_a^2), not h_i + h_a.
    joins: Bool[np.ndarray, " n"]

    @classmethod
    def of(cls, problem: QueryProblem) -> ScoreRanges | None:
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
            factors=tuple(
                np.asarray(matrix, dtype=np.float64) for _, matrix in problem.factors
            ),
            joins=problem.random
            if problem.pairs and problem.random is not None
            else np.zeros(n, dtype=bool),
        )

    @property
    def moves(self) -> Bool[np.ndarray, " n"]:
        """The keys whose score is not simply that of the given key."""
        moves: Bool[np.ndarray, " n"] = (
            self.spreads | (self.half > 0) | (self.middle != 1)
        )
        return moves

    @functools.cached_property
    def spreads(self) -> Bool[np.ndarray, " n"]:
        """The keys with a ball, a stretch or a factor."""
        spreads: Bool[np.ndarray, " n"] = (
            (self.ball > 0) | (self.stretch > 0) | (self.factor_of >= 0)
        )
        return spreads

    @functools.cached_property
    def stretches(self) -> bool:
        """Some key has a stretch."""
        return bool(self.stretch.any())

    @functools.cached_property
    def scaled(self) -> bool:
        """Some key has a range of scales."""
        return bool(self.half.any())

    def exponent(self, size: float) -> int:
        """A power of two about as large as all that moves a score, for keys of a size: scaled keys, balls, factors."""
        in_factors = [float(np.abs(matrix).max(initial=0.0)) for matrix in self.factors]
        spread = max(float(self.ball.max()), *in_factors, 0.0)
        stretched = max(
            float((np.abs(self.middle) + self.half).max()),
            float(self.stretch.max()),
            1.0,
        )
        exponents = []
        if size > 0:
            exponents.append(math.frexp(size)[1] + math.frexp(stretched)[1] - 1)
        if spread > 0:
            exponents.append(math.frexp(spread)[1])
        return max(exponents, default=0)

    def in_units(self, exponent: int) -> ScoreRanges:
        """The same with all lengths divided by a power of two; what could never be seen next to 1 is 0."""

        def visible(x: np.ndarray) -> np.ndarray:
            return np.where(np.abs(x) < UNSEEN, 0.0, x)

        def divided(x: np.ndarray) -> np.ndarray:
            half = exponent // 2  # the power itself may not be a float
            return visible(np.ldexp(np.ldexp(x, -half), half - exponent))

        factors = tuple(divided(matrix) for matrix in self.factors)
        return replace(
            self,
            ball=divided(self.ball),
            stretch=visible(self.stretch),
            factors=factors,
        )

    def take(self, rows: Int[np.ndarray, " rows"]) -> ScoreRanges:
        """The same for some of the keys only."""
        names = ("middle", "half", "ball", "stretch", "joins")
        used, factor_of = np.unique(self.factor_of[rows], return_inverse=True)
        if used.size and used[0] < 0:
            used = used[1:]
            factor_of = factor_of - 1
        factors = tuple(self.factors[number] for number in used.tolist())
        some = {name: getattr(self, name)[rows] for name in names}
        return replace(self, **some, factor_of=factor_of, factors=factors)

    def in_coordinates(self, basis: Float[np.ndarray, "d r"]) -> ScoreRanges:
        """The same in the coordinates of an orthonormal basis."""
        return replace(self, factors=tuple(basis.T @ matrix for matrix in self.factors))

    def scales(
        self, scores: Float[np.ndarray, " n"], smoothing: float
    ) -> Float[np.ndarray, " n"]:
        """The scales of distractors with these scores; a target's is as far on the other side of the middle."""
        scales: Float[np.ndarray, " n"] = self.middle + self.half * _divide(
            scores, np.sqrt(scores * scores + smoothing**2)
        )
        return scales

    def at(
        self, q: Vector, smoothing: float, partner: IndependentTarget | None = None
    ) -> RangesAtQuery:
        """All of it at a query, for keys that compete with a target (their partner), if there is one."""
        images = [matrix.T @ q for matrix in self.factors]
        pushed = [
            matrix @ image for matrix, image in zip(self.factors, images, strict=True)
        ]
        sizes = [math.sqrt(float(image @ image)) for image in images]
        return RangesAtQuery(
            self,
            q,
            smoothing,
            math.sqrt(float(q @ q)),
            np.array([*sizes, 0.0]),
            np.array([*pushed, 0 * q]),
            partner,
        )

    def covariance(self, row: int, key: Vector) -> Float[np.ndarray, "d d"]:
        """A = r^2 I + t^2 mu mu^T + E E^T of a key."""
        A: Float[np.ndarray, "d d"] = self.ball[row] ** 2 * np.eye(
            len(key)
        ) + self.stretch[row] ** 2 * np.outer(key, key)
        if self.factor_of[row] >= 0:
            E = self.factors[self.factor_of[row]]
            A += E @ E.T
        return A

    def partner(self, row: int, key: Vector, q: Vector) -> IndependentTarget | None:
        """What a target brings into its comparisons with others; None if it is counted by itself."""
        if not self.joins[row]:
            return None
        A = self.covariance(row, key)
        image = A @ q
        return IndependentTarget(math.sqrt(max(0.0, float(q @ image))), image, A)


@dataclass(frozen=True, eq=False)
class IndependentTarget:
    """A target whose deviation is independent of those that join it."""

    size: float  # sqrt(q^T A q)
    image: Vector  # A q
    A: Float[np.ndarray, "d d"]


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The scores of some keys lie within `reach` of the given ones plus `shift`; with the slopes, as coefficients."""

    shift: Float[np.ndarray, " rows"]  # from the middle of the scales
    off: Float[np.ndarray, " rows"]  # the slope of the shift is off_i k_i
    reach: Float[np.ndarray, " rows"]  # added for a distractor, subtracted for a target
    along: Float[np.ndarray, " rows"]
    across: Float[np.ndarray, " rows"]
    through: Float[np.ndarray, " rows"]
    beside: Float[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class RangesAtQuery:
    """Uncertain keys at a query."""

    ranges: ScoreRanges
    q: Vector
    smoothing: float
    length: float
    # |E^T q|; the last is 0, for keys without a factor.
    factor_sizes: Float[np.ndarray, " factors+1"]
    factor_images: Float[np.ndarray, "factors+1 d"]  # E E^T q
    partner: IndependentTarget | None

    def worst(
        self,
        rows: Rows,
        m: Float[np.ndarray, " rows"],
        scales: Float[np.ndarray, " rows"] | None = None,
        *,
        own: bool = False,
    ) -> WorstCase:
        """What these rows may do, with scores m. Given scales take the place of those that the query selects.

        With `own`, as targets in their own constraints: a deviation that joins those of others is counted there.
        """
        u = self.ranges
        off = u.middle[rows] - 1
        size, extra = self._sizes(rows, m, own)
        per_size = _divide(np.ones_like(m), size)
        per_extra = _divide(np.ones_like(m), extra)
        reach = size + extra
        along = np.zeros_like(m)
        if u.scaled:
            root = np.sqrt(m * m + self.smoothing**2)
            reach += u.half[rows] * root
            along += (
                u.half[rows] * _divide(m, root)
                if scales is None
                else scales - u.middle[rows]
            )
        if u.stretches:
            along += u.stretch[rows] ** 2 * m * per_size
        return WorstCase(
            shift=off * m,
            off=off,
            reach=reach,
            along=along,
            across=u.ball[rows] ** 2 * per_size,
            through=per_size * (u.factor_of[rows] >= 0),
            beside=per_extra
            if self.partner is None
            else np.where(u.joins[rows], per_size, per_extra),
        )

    def slopes(
        self, rows: Rows, keys: Float[np.ndarray, "rows d"], worst: WorstCase
    ) -> Float[np.ndarray, "rows d"]:
        """Of the reaches, written out."""
        u = self.ranges
        slopes: Float[np.ndarray, "rows d"] = np.outer(worst.across, self.q)
        if u.scaled or u.stretches:
            slopes += worst.along[:, None] * keys
        if u.factors:
            slopes += worst.through[:, None] * self.factor_images[u.factor_of[rows]]
        if self.partner is not None:
            slopes += np.outer(worst.beside, self.partner.image)
        return slopes

    def total(
        self,
        rows: Rows,
        keys: Float[np.ndarray, "rows d"],
        worst: WorstCase,
        e: Float[np.ndarray, " rows"],
        own: float,
    ) -> Vector:
        """The sum of the slopes of shifts and reaches, and of the given scores times `own`, each times its weight e."""
        u = self.ranges
        total: Vector = (e * (own + worst.off + worst.along)) @ keys + float(
            e @ worst.across
        ) * self.q
        if u.factors:
            total += (
                np.bincount(
                    u.factor_of[rows] + 1, e * worst.through, len(u.factors) + 1
                )[1:]
                @ self.factor_images[:-1]
            )
        if self.partner is not None:
            total += float(e @ worst.beside) * self.partner.image
        return total

    def curvature(
        self,
        rows: Rows,
        keys: Float[np.ndarray, "rows d"],
        m: Float[np.ndarray, " rows"],
        mass: Float[np.ndarray, " rows"],
        *,
        own: bool = False,
    ) -> Float[np.ndarray, "d d"]:
        """The sum of the second derivatives of the reaches, each times its mass."""
        u = self.ranges
        size, extra = self._sizes(rows, m, own)
        per_size = _divide(mass, size)
        per_extra = _divide(mass, extra)
        # of sqrt(q^T A q): A / size - s s^T / size with the slope s
        # Without the lean of the scales.
        worst = self.worst(rows, m, u.middle[rows], own=own)
        if self.partner is not None:
            worst = replace(worst, beside=np.where(u.joins[rows], worst.beside, 0.0))
        slopes = self.slopes(rows, keys, worst)
        total: Float[np.ndarray, "d d"] = -slopes.T @ (per_size[:, None] * slopes)
        if u.scaled or u.stretches:
            root = np.sqrt(m * m + self.smoothing**2)
            along = per_size * u.stretch[rows] ** 2
            along += (
                mass
                * u.half[rows]
                * _divide(_divide(np.full_like(m, self.smoothing), root) ** 2, root)
            )
            total += keys.T @ (along[:, None] * keys)
        total[np.diag_indices_from(total)] += float(per_size @ u.ball[rows] ** 2)
        weights = np.bincount(u.factor_of[rows] + 1, per_size, len(u.factors) + 1)[1:]
        for number in np.flatnonzero(weights).tolist():
            total += weights[number] * (u.factors[number] @ u.factors[number].T)
        if self.partner is not None:
            total += (
                float((per_size * u.joins[rows] + per_extra).sum()) * self.partner.A
            )
            total -= float(
                (per_extra * _divide(np.ones_like(m), extra) ** 2).sum()
            ) * np.outer(self.partner.image, self.partner.image)
        return total

    def _sizes(
        self, rows: Rows, m: Float[np.ndarray, " rows"], own: bool
    ) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
        """The deviation of each key, together with its partner's if it joins it; and its partner's if it does not."""
        u = self.ranges
        joins = u.joins[rows]
        square = (u.ball[rows] * self.length) ** 2
        if u.stretches:
            square += (u.stretch[rows] * m) ** 2
        if u.factors:
            square += self.factor_sizes[u.factor_of[rows]] ** 2
        spreads = u.spreads[rows]
        extra = np.zeros_like(square)
        if own:
            spreads = spreads & ~joins
        elif self.partner is not None:
            square += joins * self.partner.size**2
            spreads = spreads | joins
            extra[~joins] = math.hypot(self.partner.size, self.smoothing)
        square += self.smoothing**2
        return np.sqrt(np.where(spreads, square, 0.0)), extra


def _divide(
    a: Float[np.ndarray, " rows"], b: Float[np.ndarray, " rows"]
) -> Float[np.ndarray, " rows"]:
    ratio: Float[np.ndarray, " rows"] = np.divide(
        a, b, out=np.zeros_like(a), where=b > 0
    )
    return ratio
