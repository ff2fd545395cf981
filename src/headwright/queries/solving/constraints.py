"""The constraints of a wish at a query: values, slopes, curvature.

    f_a(q) = ln sum_{i != a} exp(up_i - low_a) - ln slack_a  <=  0

All targets share one log-sum-exp over the distractors; the few targets themselves are added one by one, so that
nothing is ever subtracted from a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.queries.solving.log_sum_exp import QUIET, KeySummary, Pass, Scenario, one_blas_thread
from headwright.queries.solving.score_ranges import Vector, View

OWN_REFERENCE = 1e4  # size of the scores from which on each target is its own reference
MOST_PASSES = 1 << 22  # numbers to read at most for that
SMALL = 1e3  # scores whose rounding is not worth a subtraction for each number


@dataclass(frozen=True, eq=False)
class Program:
    """minimise |q|, the constraints of all scenarios at most 0. The scale of the scores is 1."""

    scenarios: tuple[Scenario, ...]
    targets: Int[np.ndarray, " m"]
    log_slacks: Float[np.ndarray, " m"]
    extent: float  # of the keys: the largest number in them
    floors: Float[np.ndarray, " m"]
    spare: Float[np.ndarray, " m"] | None = None  # of the slacks: what the other targets' floors leave to other keys
    numbers: int = 0  # in the keys of a scenario; more than are there if a few stand for all

    @property
    def certain(self) -> bool:
        """No worst case has a kink."""
        return all(scenario.uncertainty is None for scenario in self.scenarios)


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
    cloud: KeySummary
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

    @property
    def curved(self) -> bool:
        """The curvature is known."""
        return all(part.cloud.bend.size > 0 for parts in self.parts for part in parts)

    def curvature(self, multipliers: Float[np.ndarray, " constraints"]) -> Float[np.ndarray, "d d"]:
        """The sum of the constraints' second derivatives, each times its multiplier."""
        d = len(self.query)
        total = np.zeros((d, d))
        by_scenario = multipliers.reshape(len(self.parts), -1)
        for parts, mine in zip(self.parts, by_scenario, strict=True):
            for part in parts:
                _add_curvature(total, part, mine[part.which])
        return total


def evaluate(program: Program, q: Vector, smoothing: float = 0.0, *, curved: bool = True, keep: bool = False) -> State:
    """All constraints at q. Without curvature it is a few times faster; the scores can be kept."""
    with one_blas_thread(), QUIET():
        return _evaluate(program, q, smoothing, curved, keep)


def _evaluate(program: Program, q: Vector, smoothing: float, curved: bool, keep: bool) -> State:
    plain = not curved and program.extent * float(np.abs(q).sum()) < SMALL
    parts = tuple(
        tuple(
            _part(program, scenario, which, q, smoothing, curved, plain, keep)
            for which in _groups(program, scenario, q)
        )
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


def _groups(program: Program, scenario: Scenario, q: Vector) -> list[Int[np.ndarray, " c"]]:
    """The targets that share a reference: all of them, unless scores are so large that it would cost precision.

    A target whose deviation joins those of others has a sum of its own.
    """
    m = len(program.targets)
    places = np.arange(m)
    if scenario.uncertainty is not None and scenario.uncertainty.joins[program.targets].any():
        return [places[k : k + 1] for k in range(m)]
    if m == 1 or m * program.numbers > MOST_PASSES:
        return [places]
    own = scenario.keys[program.targets]
    apart = float(np.abs(own - own[0]).max())
    if apart * math.sqrt(float(q @ q)) < OWN_REFERENCE:
        return [places]
    return [places[k : k + 1] for k in range(m)]


def _part(
    program: Program,
    scenario: Scenario,
    which: Int[np.ndarray, " c"],
    q: Vector,
    smoothing: float,
    curved: bool,
    plain: bool,
    keep: bool,
) -> Part:
    rows = program.targets[which]
    reference = scenario.keys[rows[0]]
    view = view_of(scenario, rows, q, smoothing)
    cloud = Pass(scenario, np.sort(rows), reference, q, view, curved, plain, keep).run(int(which[0]))
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


def view_of(scenario: Scenario, rows: Int[np.ndarray, " c"], q: Vector, smoothing: float) -> View | None:
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
