"""The constraints of a wish at a query: values, slopes, curvature, in one blocked pass over the keys of a scenario.

    f_a(q) = ln sum_{i != a} exp(up_i - low_a) - ln slack_a  <=  0

All targets share one log-sum-exp over the distractors; the few targets themselves are added one by one, so that
nothing is ever subtracted from a sum. Scores are those of k_i - k_ref for a reference target, subtracted before the
inner product: for near-duplicate keys the difference is exact, and their scores apart would cancel.
"""

from __future__ import annotations

import functools
import math
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from headwright.design.rows import Uncertainty, Vector, View, Worst

BLOCK = 4096  # rows at a time: they stay in the cache for all steps of a pass
PARALLEL = 1 << 20  # numbers in the keys, from which on two threads pay
OWN_REFERENCE = 1e4  # size of the scores from which on each target is its own reference
MOST_PASSES = 1 << 22  # numbers to read at most for that
# Overflow is no accident here: a value that is inf or nan is a query not to take, and the end is checked by its gap.
QUIET = functools.partial(np.errstate, over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True, eq=False)
class Scenario:
    """Keys and what is uncertain about them; a key with log-mass w stands for exp(w) equal ones."""

    keys: Float[np.ndarray, "n d"]
    uncertainty: Uncertainty | None = None
    log_mass: Float[np.ndarray, " n"] | None = None
    scales: Float[np.ndarray, " n"] | None = None  # of the keys as distractors, where they are prescribed
    own_scales: Float[np.ndarray, " m"] | None = None  # of the targets in their own constraints


@dataclass(frozen=True, eq=False)
class Program:
    """minimise |q|, the constraints of all scenarios at most 0. The scale of the scores is 1."""

    scenarios: tuple[Scenario, ...]
    targets: Int[np.ndarray, " m"]
    log_slacks: Float[np.ndarray, " m"]
    extent: float  # of the keys: the largest number in them
    floors: Float[np.ndarray, " m"]
    spare: Float[np.ndarray, " m"] | None = None  # of the slacks: what the other targets' floors leave to other keys

    @property
    def certain(self) -> bool:
        """No worst case has a kink."""
        return all(scenario.uncertainty is None for scenario in self.scenarios)


@dataclass(frozen=True, eq=False)
class Cloud:
    """The keys that compete, summed up: exp(log) is their sum, the rest are averages in proportion to it."""

    log: float
    mean: Vector  # of the slopes, less the reference
    score: float  # of the scores
    bend: Float[np.ndarray, "d d"]  # of the squared slopes and the curvatures


@dataclass(frozen=True, eq=False)
class Part:
    """The constraints of some targets in one scenario."""

    which: Int[np.ndarray, " c"]  # places among the targets of the wish
    values: Float[np.ndarray, " c"]
    slopes: Float[np.ndarray, "c d"]
    shares: Float[np.ndarray, "c entries"]  # of the distractors together (first) and of each target, in each constraint
    means: Float[np.ndarray, "c d"]  # of the competing slopes, less the reference
    scores: Float[np.ndarray, " c"]  # of the competing scores, less the target's own
    entries: Float[np.ndarray, "entries d"]
    cloud: Cloud
    view: View | None
    keys: Float[np.ndarray, "c d"]
    rows: Int[np.ndarray, " c"]


@dataclass(frozen=True, eq=False)
class State:
    """All constraints at one query, ordered by scenario, then target."""

    query: Vector
    smoothing: float
    parts: tuple[tuple[Part, ...], ...]
    values: Float[np.ndarray, " constraints"]
    slopes: Float[np.ndarray, "constraints d"]
    scores: Float[np.ndarray, " constraints"]  # mean of up_i - low_a over the competing keys

    def curvature(self, multipliers: Float[np.ndarray, " constraints"]) -> Float[np.ndarray, "d d"]:
        """The sum of the constraints' second derivatives, each times its multiplier."""
        d = len(self.query)
        total = np.zeros((d, d))
        by_scenario = multipliers.reshape(len(self.parts), -1)
        for parts, mine in zip(self.parts, by_scenario, strict=True):
            for part in parts:
                _add_curvature(total, part, mine[part.which])
        return total


def evaluate(program: Program, q: Vector, smoothing: float = 0.0, *, curved: bool = True) -> State:
    """All constraints at q. Without curvature it is a few times faster."""
    with one_blas_thread(), QUIET():
        return _evaluate(program, q, smoothing, curved)


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS with one thread: its threads and ours would wait for each other, ten times as long as they work."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _evaluate(program: Program, q: Vector, smoothing: float, curved: bool) -> State:
    parts = tuple(
        tuple(_part(program, scenario, which, q, smoothing, curved) for which in _groups(program, scenario, q))
        for scenario in program.scenarios
    )
    m, d = len(program.targets), len(q)
    values, slopes, scores = np.empty((len(parts), m)), np.empty((len(parts), m, d)), np.empty((len(parts), m))
    for number, mine in enumerate(parts):
        for part in mine:
            values[number, part.which] = part.values
            slopes[number, part.which] = part.slopes
            scores[number, part.which] = part.scores
    return State(q, smoothing, parts, values.ravel(), slopes.reshape(-1, d), scores.ravel())


def highest_scores(scenario: Scenario, q: Vector, smoothing: float = 0.0) -> Float[np.ndarray, " n"]:
    """up_i for every key, up to one constant."""
    n, d = scenario.keys.shape
    view = None if scenario.uncertainty is None else scenario.uncertainty.at(q, smoothing)
    everything = _Pass(scenario, np.empty(0, dtype=np.intp), np.zeros(d), q, view, curved=False)
    result = np.empty(n)
    buffer = np.empty((min(BLOCK, n), d))
    for first in range(0, n, BLOCK):
        rows = slice(first, min(first + BLOCK, n))
        result[rows] = everything.scores(rows, buffer).up
    return result


def _groups(program: Program, scenario: Scenario, q: Vector) -> list[Int[np.ndarray, " c"]]:
    """The targets that share a reference: all of them, unless scores are so large that it would cost precision.

    A target whose deviation joins those of others has a sum of its own.
    """
    m = len(program.targets)
    places = np.arange(m)
    if scenario.uncertainty is not None and scenario.uncertainty.joins[program.targets].any():
        return [places[k : k + 1] for k in range(m)]
    if m == 1 or m * scenario.keys.size > MOST_PASSES:
        return [places]
    own = scenario.keys[program.targets]
    apart = float(np.abs(own - own[0]).max())
    if apart * math.sqrt(float(q @ q)) < OWN_REFERENCE:
        return [places]
    return [places[k : k + 1] for k in range(m)]


def _part(
    program: Program, scenario: Scenario, which: Int[np.ndarray, " c"], q: Vector, smoothing: float, curved: bool
) -> Part:
    rows = program.targets[which]
    reference = scenario.keys[rows[0]]
    view = _view(scenario, rows, q, smoothing)
    cloud = _cloud(scenario, rows, reference, q, view, curved)
    slopes = scenario.keys[rows] - reference
    up = slopes @ q
    low, up_slopes, low_slopes = up, slopes, slopes
    if view is not None:
        keys = scenario.keys[rows]
        scores = keys @ q
        scales = None if scenario.scales is None else scenario.scales[rows]
        mirrored = (
            None if scenario.own_scales is None else 2 * view.uncertainty.middle[rows] - scenario.own_scales[which]
        )
        worst = view.worst(rows, scores, scales)
        mine = view.worst(rows, scores, mirrored, own=True)
        up, low = up + worst.shift + worst.reach, up + worst.shift - mine.reach
        shifted = slopes + worst.off[:, None] * keys
        up_slopes = shifted + view.slopes(rows, keys, worst)
        low_slopes = shifted - view.slopes(rows, keys, mine)
    logs = np.concatenate([[cloud.log], up])
    entries = np.vstack([cloud.mean, up_slopes])
    sums, shares = _sums_without_own(logs)
    means = shares @ entries
    values = sums - low - program.log_slacks[which]
    if program.spare is not None and len(which) == len(program.targets) > 1:
        values = _small_values(program, program.spare, values, up[None, :] - low[:, None], cloud.log - low)
    return Part(
        which=which,
        values=values,
        slopes=means - low_slopes,
        shares=shares,
        means=means,
        scores=shares @ np.concatenate([[cloud.score], up]) - low,
        entries=entries,
        cloud=cloud,
        view=view,
        keys=scenario.keys[rows],
        rows=rows,
    )


def _view(scenario: Scenario, rows: Int[np.ndarray, " c"], q: Vector, smoothing: float) -> View | None:
    """The uncertain keys as they compete with these targets."""
    uncertainty = scenario.uncertainty
    if uncertainty is None:
        return None
    return uncertainty.at(q, smoothing, uncertainty.partner(int(rows[0]), scenario.keys[rows[0]], q))


def _small_values(
    program: Program,
    spare: Float[np.ndarray, " m"],
    values: Float[np.ndarray, " m"],
    ahead: Float[np.ndarray, "m m"],
    cloud: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " m"]:
    """The values near 0 again, from how far the targets are ahead of each other, with nothing large subtracted."""
    ratios = program.floors[None, :] / program.floors[:, None]
    more = ratios * np.expm1(ahead - np.log(ratios))
    np.fill_diagonal(more, 0.0)
    relative = (more.sum(axis=1) + np.exp(cloud) - spare) / np.exp(program.log_slacks)
    return np.where(np.abs(relative) < 0.1, np.log1p(relative), values)


def _sums_without_own(
    logs: Float[np.ndarray, " entries"],
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c entries"]]:
    """For each entry but the first: ln of the sum of all others, and their shares in it."""
    table = np.repeat(logs[None, :], len(logs) - 1, axis=0)
    np.fill_diagonal(table[:, 1:], -np.inf)
    top = table.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)  # a lone key has nothing to compete with
    shares = np.exp(table - safe[:, None])
    total = shares.sum(axis=1)
    sums = safe + np.log(total)
    return sums, shares / np.where(total > 0, total, 1.0)[:, None]


def _add_curvature(total: Float[np.ndarray, "d d"], part: Part, multipliers: Float[np.ndarray, " c"]) -> None:
    on_entry = multipliers @ part.shares
    total += on_entry[0] * part.cloud.bend
    targets = part.entries[1:]
    total += targets.T @ (on_entry[1:, None] * targets) - part.means.T @ (multipliers[:, None] * part.means)
    if part.view is not None:
        scores = part.keys @ part.view.q
        total += part.view.curvature(part.rows, part.keys, scores, on_entry[1:])
        total += part.view.curvature(part.rows, part.keys, scores, multipliers, own=True)


def _cloud(
    scenario: Scenario, omitted: Int[np.ndarray, " c"], reference: Vector, q: Vector, view: View | None, curved: bool
) -> Cloud:
    n, d = scenario.keys.shape
    workers = min(8, os.cpu_count() or 1) if scenario.keys.size > PARALLEL else 1
    cuts = np.linspace(0, n, workers + 1).astype(int).tolist()
    pass_ = _Pass(scenario, np.sort(omitted), reference, q, view, curved)
    if workers == 1:
        return pass_.over(0, n)
    with ThreadPoolExecutor(workers) as pool:
        return _together(list(pool.map(pass_.over, cuts[:-1], cuts[1:])), d)


@dataclass(frozen=True, eq=False)
class Seen:
    """Some rows at a query."""

    up: Float[np.ndarray, " rows"]  # the highest scores, less the reference's
    differences: Float[np.ndarray, "rows d"]  # keys less the reference
    scores: Float[np.ndarray, " rows"]  # as given
    worst: Worst | None  # None if the keys are certain


@dataclass(frozen=True, eq=False)
class _Pass:
    scenario: Scenario
    omitted: Int[np.ndarray, " c"]
    reference: Vector
    q: Vector
    view: View | None
    curved: bool

    def over(self, start: int, stop: int) -> Cloud:
        """Sum up the keys from start to stop."""
        with QUIET():  # each thread has its own
            return self._over(start, stop)

    def _over(self, start: int, stop: int) -> Cloud:
        d = len(self.q)
        buffer = np.empty((min(BLOCK, stop - start), d))
        top, total, score, mean = -math.inf, 0.0, 0.0, np.zeros(d)
        bend = np.zeros((d, d) if self.curved else (0, 0))
        for first in range(start, stop, BLOCK):
            rows = slice(first, min(first + BLOCK, stop))
            seen = self.scores(rows, buffer)
            x = seen.up if self.scenario.log_mass is None else seen.up + self.scenario.log_mass[rows]
            x[self._omitted_in(rows)] = -np.inf
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
        if total == 0:
            return Cloud(-math.inf, mean, 0.0, bend)
        return Cloud(top + math.log(total), mean / total, score / total, bend / total)

    def scores(self, rows: slice, buffer: Float[np.ndarray, "block d"]) -> Seen:
        """up_i for some rows, less the reference, and what their slopes are made of."""
        keys = self.scenario.keys[rows]
        differences = np.subtract(keys, self.reference, out=buffer[: len(keys)])
        x = differences @ self.q
        if self.view is None:
            return Seen(x, differences, x, None)
        scores = keys @ self.q
        worst = self.view.worst(rows, scores, None if self.scenario.scales is None else self.scenario.scales[rows])
        return Seen(x + worst.shift + worst.reach, differences, scores, worst)

    def _total(self, rows: slice, seen: Seen, e: Float[np.ndarray, " rows"]) -> Vector:
        """The sum of the slopes, each times its e."""
        total: Vector = e @ seen.differences
        if self.view is not None and seen.worst is not None:
            total += self.view.total(rows, self.scenario.keys[rows], seen.worst, e)
        return total

    def _omitted_in(self, rows: slice) -> Int[np.ndarray, " few"]:
        first, last = np.searchsorted(self.omitted, [rows.start, rows.stop])
        inside: Int[np.ndarray, " few"] = self.omitted[first:last] - rows.start
        return inside

    def _bend(self, bend: Float[np.ndarray, "d d"], rows: slice, seen: Seen, e: Float[np.ndarray, " rows"]) -> None:
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


def _together(clouds: list[Cloud], d: int) -> Cloud:
    top = max(cloud.log for cloud in clouds)
    if top == -math.inf:
        return clouds[0]
    masses = np.exp(np.array([cloud.log for cloud in clouds]) - top)
    shares = masses / masses.sum()
    return Cloud(
        top + math.log(float(masses.sum())),
        sum((w * cloud.mean for w, cloud in zip(shares, clouds, strict=True)), np.zeros(d)),
        float(sum(w * cloud.score for w, cloud in zip(shares, clouds, strict=True))),
        sum((w * cloud.bend for w, cloud in zip(shares, clouds, strict=True)), np.zeros_like(clouds[0].bend)),
    )
