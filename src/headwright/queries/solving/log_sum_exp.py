"""ln sum exp of the scores of the competing keys in one blocked pass, with its slope and, if needed, its curvature.

Scores are those of k_i - k_ref for a reference target, subtracted before the inner product: for near-duplicate keys the
difference is exact, and their scores apart would cancel. Where scores are small that costs more than it is worth.
"""

from __future__ import annotations

import functools
import math
import os
from bisect import bisect_left
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from headwright.queries.solving.score_ranges import Uncertainty, Vector, View, Worst

BLOCK = 1 << 17  # numbers at a time: they stay in the cache for all steps of a pass
PARALLEL = 1 << 20  # numbers in the keys, from which on two threads pay
# Overflow is no accident here: a value that is inf or nan is a query not to take, and the end is checked by its gap.
QUIET = functools.partial(np.errstate, over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True, eq=False)
class Rest:
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
    uncertainty: Uncertainty | None = None
    log_mass: Float[np.ndarray, " n"] | None = None
    scales: Float[np.ndarray, " n"] | None = None  # of the keys as distractors, where they are prescribed
    own_scales: Float[np.ndarray, " m"] | None = None  # of the targets in their own constraints
    rest: Rest | None = None


@dataclass(frozen=True, eq=False)
class KeySummary:
    """Keys summed up: exp(log) is their sum, the rest are averages in proportion to it."""

    log: float
    mean: Vector  # of the slopes, less the reference
    score: float  # of the scores
    bend: Float[np.ndarray, "d d"]  # of the squared slopes and the curvatures; empty unless asked for
    up: Float[np.ndarray, " n"] | None = None  # the highest scores themselves, less the reference's, where asked for

    def raised(self, log: float, slope: Vector) -> KeySummary:
        """The same with an affine function added to all scores."""
        bend = self.bend
        if bend.size:
            cross = np.outer(slope, self.mean)
            bend = bend + cross + cross.T + np.outer(slope, slope)
        return KeySummary(self.log + log, self.mean + slope, self.score + log, bend)


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS with one thread: its threads and ours would wait for each other, ten times as long as they work."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass over the keys of a scenario is about."""

    scenario: Scenario
    omitted: Int[np.ndarray, " c"]  # in order
    reference: Vector
    q: Vector
    view: View | None
    curved: bool = False  # with the bend
    plain: bool = False  # scores are so small that the reference can be subtracted after the inner product
    keep: bool = False  # the scores themselves

    def run(self, target: int) -> KeySummary:
        """All keys that compete with a target (and those of its group)."""
        scenario, rest = self.scenario, self.scenario.rest
        n = len(scenario.keys)
        if rest is not None:
            heavy, sample = self.over(0, rest.first), self.over(rest.first, n)
            slope = rest.slopes[target]
            return _together([heavy, sample.raised(rest.logs[target] + float(slope @ (self.q - rest.at)), slope)])
        workers = min(8, os.cpu_count() or 1) if scenario.keys.size > PARALLEL else 1
        if workers == 1:
            return self.over(0, n)
        cuts = np.linspace(0, n, workers + 1).astype(int).tolist()
        with ThreadPoolExecutor(workers) as pool:
            return _together(list(pool.map(self.over, cuts[:-1], cuts[1:])))

    def over(self, start: int, stop: int) -> KeySummary:
        """The keys from start to stop."""
        with QUIET():  # each thread has its own
            return self._over(start, stop)

    def _over(self, start: int, stop: int) -> KeySummary:
        d = len(self.q)
        block = max(64, BLOCK // d)
        buffer = np.empty((0 if self.plain else min(block, stop - start), d))
        omitted = self.omitted.tolist()
        kept = np.empty(stop - start if self.keep else 0)
        top, total, score, mean = -math.inf, 0.0, 0.0, np.zeros(d)
        bend = np.zeros((d, d) if self.curved else (0, 0))
        for first in range(start, stop, block):
            rows = slice(first, min(first + block, stop))
            seen = self._seen(rows, buffer)
            x = seen.up
            if self.scenario.log_mass is not None:
                x = x + self.scenario.log_mass[rows]
            for row in omitted[bisect_left(omitted, rows.start) : bisect_left(omitted, rows.stop)]:
                x[row - first] = -math.inf
            if self.keep:
                kept[first - start : rows.stop - start] = x
            highest = float(x.max())
            if highest == -math.inf:
                continue
            if highest > top:
                shrink = math.exp(top - highest) if top > -math.inf else 0.0
                top, total, score = highest, total * shrink, score * shrink
                mean *= shrink
                bend *= shrink
            e = np.exp(x - top)
            total += float(e.sum())
            x[e == 0] = 0.0  # 0 times -inf
            score += float(e @ x)
            mean += self._total(rows, seen, e)
            if self.curved:
                self._bend(bend, rows, seen, e)
        if self.plain:
            mean -= total * self.reference
        up = kept if self.keep else None
        if total == 0:
            return KeySummary(-math.inf, mean, 0.0, bend, up)
        return KeySummary(top + math.log(total), mean / total, score / total, bend / total, up)

    def _seen(self, rows: slice, buffer: Float[np.ndarray, "block d"]) -> _Seen:
        keys = self.scenario.keys[rows]
        if self.plain:
            differences, scores = keys, keys @ self.q
            x = scores - float(self.reference @ self.q)
        else:
            differences = np.subtract(keys, self.reference, out=buffer[: len(keys)])
            x = differences @ self.q
            scores = x if self.view is None else keys @ self.q
        if self.view is None:
            return _Seen(x, differences, scores, None)
        worst = self.view.worst(rows, scores, None if self.scenario.scales is None else self.scenario.scales[rows])
        x += worst.shift
        x += worst.reach
        return _Seen(x, differences, scores, worst)

    def _total(self, rows: slice, seen: _Seen, e: Float[np.ndarray, " rows"]) -> Vector:
        """The sum of the slopes, each times its e; less the reference's unless that comes later."""
        total: Vector
        if self.view is None or seen.worst is None:
            total = e @ seen.differences
            return total
        keys = self.scenario.keys[rows]
        if self.plain:
            return self.view.total(rows, keys, seen.worst, e, 1.0)
        total = e @ seen.differences + self.view.total(rows, keys, seen.worst, e, 0.0)
        return total

    def _bend(self, bend: Float[np.ndarray, "d d"], rows: slice, seen: _Seen, e: Float[np.ndarray, " rows"]) -> None:
        alive = e > 1e-22  # next to the top, the rest bends nothing that can be seen
        slopes = seen.differences
        if self.view is not None and seen.worst is not None:
            keys = self.scenario.keys[rows]
            bend += self.view.curvature(rows, keys, seen.scores, e)
            slopes += seen.worst.off[:, None] * keys
            slopes += self.view.slopes(rows, keys, seen.worst)
        if 2 * np.count_nonzero(alive) < len(e):
            slopes, e = slopes[alive], e[alive]
        slopes *= np.sqrt(e)[:, None]
        bend += slopes.T @ slopes


@dataclass(frozen=True, eq=False)
class _Seen:
    """Some rows at a query."""

    up: Float[np.ndarray, " rows"]  # the highest scores, less the reference's
    differences: Float[np.ndarray, "rows d"]  # keys less the reference
    scores: Float[np.ndarray, " rows"]  # as given
    worst: Worst | None  # None if the keys are certain


def _together(clouds: list[KeySummary]) -> KeySummary:
    """All of them as one."""
    up = np.concatenate([cloud.up for cloud in clouds if cloud.up is not None]) if clouds[0].up is not None else None
    top = max(cloud.log for cloud in clouds)
    if not top > -math.inf:
        return replace(clouds[0], up=up)
    masses = np.exp(np.array([cloud.log for cloud in clouds]) - top)
    shares = masses / masses.sum()
    return KeySummary(
        top + math.log(float(masses.sum())),
        _sum(w * cloud.mean for w, cloud in zip(shares, clouds, strict=True)),
        float(sum(w * cloud.score for w, cloud in zip(shares, clouds, strict=True))),
        _sum(w * cloud.bend for w, cloud in zip(shares, clouds, strict=True)),
        up,
    )


def _sum(arrays: Iterator[np.ndarray]) -> np.ndarray:
    total = next(arrays)
    for array in arrays:
        total = total + array
    return total
