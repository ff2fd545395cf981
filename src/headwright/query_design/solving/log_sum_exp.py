"""ln sum exp of the scores of the competing keys in one blocked pass, with its slope and, if needed, its curvature.

Scores are those of k_i - k_ref for a reference target, subtracted before the inner product: for near-duplicate keys the
difference is exact, and their scores apart would cancel. Where scores are small that costs more than it is worth.
"""

from __future__ import annotations

import functools
import math
import os
from bisect import bisect_left
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from headwright.query_design.solving.score_ranges import (
    RangesAtQuery,
    ScoreRanges,
    Vector,
    WorstCase,
)

BLOCK = 1 << 17  # numbers at a time: they stay in the cache for all steps of a pass
PARALLEL = 1 << 20  # numbers in the keys, from which on two threads pay
MOST_THREADS = 8
UNSEEN_SHARE = 1e-22  # of the largest: adds nothing to a second moment
# Overflow is no accident here: a value that is inf or nan is a query not to take, and the end is checked by its gap.
QUIET = functools.partial(np.errstate, over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True, eq=False)
class RestModel:
    """The rows from `first` on are a sample of all keys that are left out, which stands for them as seen from a query.

    For each target: what ln sum exp and its slope are raised by, so that there they are those of the keys left out.
    """

    first: int
    at: Vector
    logs: Float[np.ndarray, " m"]
    slopes: Float[np.ndarray, "m d"]


@dataclass(frozen=True, eq=False)
class Scenario:
    """Keys and what is uncertain about them; a key with log-mass w stands for exp(w) equal ones."""

    keys: Float[np.ndarray, "n d"]
    ranges: ScoreRanges | None = None
    log_mass: Float[np.ndarray, " n"] | None = None
    # prescribed: of the keys as distractors, and of the targets in their own constraints
    scales: Float[np.ndarray, " n"] | None = None
    own_scales: Float[np.ndarray, " m"] | None = None
    rest: RestModel | None = None


@dataclass(frozen=True, eq=False)
class KeySummary:
    """Keys summed up: exp(log) is their sum, the rest are averages in proportion to it."""

    log: float
    mean: Vector  # of the slopes, less the reference
    score: float  # of the scores
    # of the squared slopes and the curvatures; empty unless asked for
    second_moment: Float[np.ndarray, "d d"]
    # the highest scores themselves, less the reference's, where asked for
    up: Float[np.ndarray, " n"] | None = None

    def raised(self, log: float, slope: Vector) -> KeySummary:
        """The same with an affine function added to all scores."""
        second = self.second_moment
        if second.size:
            cross = np.outer(slope, self.mean)
            second = second + cross + cross.T + np.outer(slope, slope)
        return KeySummary(self.log + log, self.mean + slope, self.score + log, second)


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS with one thread: its threads and ours would wait for each other, ten times as long as they work."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class KeyPass:
    """What one pass over the keys of a scenario is about."""

    scenario: Scenario
    omitted: Int[np.ndarray, " c"]  # in order
    reference: Vector
    q: Vector
    view: RangesAtQuery | None
    curved: bool = False  # with the second moment
    # the reference is subtracted after the inner product, since scores are small
    plain: bool = False
    keep_scores: bool = False

    def run(self, target: int) -> KeySummary:
        """All keys that compete with a target (and those of its group)."""
        rest = self.scenario.rest
        n = len(self.scenario.keys)
        if rest is not None:
            # The first keys as they are; the others by a sample, raised to the sum of all of them.
            heavy = self.over(0, rest.first)
            sample = self.over(rest.first, n)
            slope = rest.slopes[target]
            raise_by = rest.logs[target] + float(slope @ (self.q - rest.at))
            return _merge([heavy, sample.raised(raise_by, slope)])
        if self.scenario.keys.size <= PARALLEL:
            return self.over(0, n)
        workers = min(MOST_THREADS, os.cpu_count() or 1)
        cuts = np.linspace(0, n, workers + 1).astype(int).tolist()
        with ThreadPoolExecutor(workers) as pool:
            return _merge(list(pool.map(self.over, cuts[:-1], cuts[1:])))

    def over(self, start: int, stop: int) -> KeySummary:
        """The keys from start to stop."""
        with QUIET():  # each thread has its own
            return self._over(start, stop)

    def _over(self, start: int, stop: int) -> KeySummary:
        """One block after the other, relative to the highest score so far."""
        d = len(self.q)
        block = max(64, BLOCK // d)
        buffer = np.empty((0 if self.plain else min(block, stop - start), d))
        scores_kept = np.empty(stop - start) if self.keep_scores else None
        top = -math.inf
        total = 0.0
        score = 0.0
        mean = np.zeros(d)
        second = np.zeros((d, d) if self.curved else (0, 0))
        for first in range(start, stop, block):
            rows = slice(first, min(first + block, stop))
            scored = self._score_rows(rows, buffer)
            x = self._competing(rows, scored.up)
            if scores_kept is not None:
                scores_kept[first - start : rows.stop - start] = x
            highest = float(x.max())
            if highest == -math.inf:
                continue
            if highest > top:
                # All sums so far are relative to the highest score before.
                shrink = math.exp(top - highest) if top > -math.inf else 0.0
                top = highest
                total *= shrink
                score *= shrink
                mean *= shrink
                second *= shrink
            e = np.exp(x - top)
            total += float(e.sum())
            x[e == 0] = 0.0  # 0 times -inf
            score += float(e @ x)
            mean += self._sum_slopes(rows, scored, e)
            if self.curved:
                self._add_second_moment(second, rows, scored, e)
        if self.plain:
            # sum e (k - reference) = sum e k - (sum e) reference
            mean -= total * self.reference
        if total == 0:
            return KeySummary(-math.inf, mean, 0.0, second, scores_kept)
        return KeySummary(
            top + math.log(total),
            mean / total,
            score / total,
            second / total,
            scores_kept,
        )

    def _competing(
        self, rows: slice, up: Float[np.ndarray, " rows"]
    ) -> Float[np.ndarray, " rows"]:
        """The scores with the keys' masses, and without the keys that are omitted."""
        if self.scenario.log_mass is not None:
            up = up + self.scenario.log_mass[rows]
        omitted = self.omitted.tolist()
        first = bisect_left(omitted, rows.start)
        last = bisect_left(omitted, rows.stop)
        for row in omitted[first:last]:
            up[row - rows.start] = -math.inf
        return up

    def _score_rows(
        self, rows: slice, buffer: Float[np.ndarray, "block d"]
    ) -> _ScoredRows:
        keys = self.scenario.keys[rows]
        if self.plain:
            differences = keys
            scores = keys @ self.q
            up = scores - float(self.reference @ self.q)
        else:
            differences = np.subtract(keys, self.reference, out=buffer[: len(keys)])
            up = differences @ self.q
            scores = up if self.view is None else keys @ self.q
        if self.view is None:
            return _ScoredRows(up, differences, scores, None)
        scales = self.scenario.scales
        worst = self.view.worst(rows, scores, None if scales is None else scales[rows])
        up += worst.shift
        up += worst.reach
        return _ScoredRows(up, differences, scores, worst)

    def _sum_slopes(
        self, rows: slice, scored: _ScoredRows, e: Float[np.ndarray, " rows"]
    ) -> Vector:
        """The sum of the slopes, each times its e; less the reference's unless that comes later."""
        if self.view is None or scored.worst is None:
            plain_total: Vector = e @ scored.differences
            return plain_total
        keys = self.scenario.keys[rows]
        if self.plain:
            return self.view.total(rows, keys, scored.worst, e, 1.0)
        total: Vector = self.view.total(rows, keys, scored.worst, e, 0.0)
        total += e @ scored.differences
        return total

    def _add_second_moment(
        self,
        second: Float[np.ndarray, "d d"],
        rows: slice,
        scored: _ScoredRows,
        e: Float[np.ndarray, " rows"],
    ) -> None:
        slopes = scored.differences
        if self.view is not None and scored.worst is not None:
            keys = self.scenario.keys[rows]
            second += self.view.curvature(rows, keys, scored.scores, e)
            slopes += scored.worst.off[:, None] * keys
            slopes += self.view.slopes(rows, keys, scored.worst)
        # Rows of next to no share are left out where that saves a copy's worth of work.
        visible = e > UNSEEN_SHARE
        if 2 * np.count_nonzero(visible) < len(e):
            slopes = slopes[visible]
            e = e[visible]
        # sum e s s^T, as a product of the matrix of the rows sqrt(e) s with itself
        slopes *= np.sqrt(e)[:, None]
        second += slopes.T @ slopes


@dataclass(frozen=True, eq=False)
class _ScoredRows:
    """Some rows at a query."""

    up: Float[np.ndarray, " rows"]  # the highest scores, less the reference's
    differences: Float[np.ndarray, "rows d"]  # keys less the reference
    scores: Float[np.ndarray, " rows"]  # as given
    worst: WorstCase | None  # None if the keys are certain


def _merge(summaries: Sequence[KeySummary]) -> KeySummary:
    """All of them as one."""
    up = None
    if summaries[0].up is not None:
        up = np.concatenate([part.up for part in summaries if part.up is not None])
    logs = np.array([part.log for part in summaries])
    top = float(logs.max())
    if not top > -math.inf:
        return replace(summaries[0], up=up)
    masses = np.exp(logs - top)
    shares = masses / masses.sum()
    mean = np.zeros_like(summaries[0].mean)
    second = np.zeros_like(summaries[0].second_moment)
    score = 0.0
    for share, part in zip(shares.tolist(), summaries, strict=True):
        mean += share * part.mean
        second += share * part.second_moment
        score += share * part.score
    return KeySummary(top + math.log(float(masses.sum())), mean, score, second, up)
