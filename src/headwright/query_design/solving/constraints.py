"""The constraints of attention targets at a query: values, slopes, curvature.

    f_a(q) = ln sum_{i != a} exp(up_i - low_a) - ln slack_a  <=  0

All targets share one log-sum-exp over the other keys; the few targets themselves are added one by one, so that nothing
is ever subtracted from a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.query_design.solving.log_sum_exp import (
    QUIET,
    KeyPass,
    KeySummary,
    Scenario,
    one_blas_thread,
)
from headwright.query_design.solving.score_ranges import RangesAtQuery, Vector

OWN_REFERENCE = 1e4  # size of the scores from which on each target is its own reference
MOST_NUMBERS = 1 << 22  # to read at most for that
SMALL_SCORES = 1e3  # whose rounding is not worth a subtraction for each number
SMALL_VALUE = 0.1  # computed again without large terms


@dataclass(frozen=True, eq=False)
class QueryProgram:
    """minimise |q|, the constraints of all scenarios at most 0. The scale of the scores is 1."""

    scenarios: tuple[Scenario, ...]
    targets: Int[np.ndarray, " m"]
    log_slacks: Float[np.ndarray, " m"]
    extent: float  # of the keys: the largest number in them
    floors: Float[np.ndarray, " m"]
    # of the slacks: what the other targets' floors leave to other keys
    spare: Float[np.ndarray, " m"] | None = None
    # in the keys of a scenario; more than are there if a few stand for all
    numbers: int = 0
    smoothing: float = 0.0  # of the kinks of worst cases

    @property
    def certain(self) -> bool:
        """No worst case has a kink."""
        return all(scenario.ranges is None for scenario in self.scenarios)

    @property
    def dimension(self) -> int:
        """Of a query."""
        return int(self.scenarios[0].keys.shape[1])

    def at(
        self, point: Vector, *, curved: bool = True, keep_scores: bool = False
    ) -> QueryState:
        """All constraints at a query. Without second derivatives it is a few times faster."""
        # the reference is subtracted from each key, unless that costs more than it is worth
        sizes = self.extent * float(np.abs(point).sum())
        plain = not curved and sizes < SMALL_SCORES
        by_scenario = []
        with one_blas_thread(), QUIET():
            for scenario in self.scenarios:
                groups = []
                for which in _group_targets(self, scenario, point):
                    rows = self.targets[which]
                    view = view_of(scenario, rows, point, self.smoothing)
                    keys = KeyPass(
                        scenario,
                        np.sort(rows),
                        scenario.keys[rows[0]],
                        point,
                        view,
                        curved=curved,
                        plain=plain,
                        keep_scores=keep_scores,
                    )
                    others = keys.run(int(which[0]))
                    groups.append(
                        _constrain_targets(self, scenario, which, point, view, others)
                    )
                by_scenario.append(tuple(groups))
        return QueryState.of(tuple(by_scenario), point, self.smoothing)


@dataclass(frozen=True, eq=False)
class TargetGroup:
    """The constraints of some targets in one scenario.

    What competes with a target: all other keys together, as the first entry, and each target, as the others.
    """

    which: Int[np.ndarray, " c"]  # places among all targets
    rows: Int[np.ndarray, " c"]  # their keys
    keys: Float[np.ndarray, "c d"]
    values: Float[np.ndarray, " c"]
    slopes: Float[np.ndarray, "c d"]
    entries: Float[np.ndarray, "entries d"]  # slopes, less the reference
    shares: Float[np.ndarray, "c entries"]  # of the entries in each constraint
    means: Float[np.ndarray, "c d"]  # of the entries under the shares
    scores: Float[np.ndarray, " c"]  # mean of the competing scores, less the target's
    others: KeySummary  # all keys but the targets
    view: RangesAtQuery | None


@dataclass(frozen=True, eq=False)
class QueryState:
    """All constraints at one query, ordered by scenario, then target."""

    point: Vector
    smoothing: float
    groups: tuple[tuple[TargetGroup, ...], ...]  # of each scenario
    values: Float[np.ndarray, " constraints"]
    slopes: Float[np.ndarray, "constraints d"]
    scores: Float[np.ndarray, " constraints"]  # mean of up_i - low_a over what competes

    @classmethod
    def of(
        cls,
        groups: tuple[tuple[TargetGroup, ...], ...],
        point: Vector,
        smoothing: float,
    ) -> QueryState:
        """The constraints of all groups in their order."""
        m = sum(len(group.which) for group in groups[0])
        values = np.empty((len(groups), m))
        slopes = np.empty((len(groups), m, len(point)))
        scores = np.empty((len(groups), m))
        for w, of_scenario in enumerate(groups):
            for group in of_scenario:
                values[w, group.which] = group.values
                slopes[w, group.which] = group.slopes
                scores[w, group.which] = group.scores
        flat_slopes = slopes.reshape(-1, len(point))
        return cls(
            point, smoothing, groups, values.ravel(), flat_slopes, scores.ravel()
        )

    @property
    def has_curvature(self) -> bool:
        """Second derivatives were computed."""
        return self.groups[0][0].others.second_moment.size > 0

    def curvature(
        self, multipliers: Float[np.ndarray, " constraints"]
    ) -> Float[np.ndarray, "d d"]:
        """The sum of the constraints' second derivatives, each times its multiplier."""
        d = len(self.point)
        total = np.zeros((d, d))
        by_scenario = multipliers.reshape(len(self.groups), -1)
        for groups, of_scenario in zip(self.groups, by_scenario, strict=True):
            for group in groups:
                total += _curvature(group, of_scenario[group.which])
        return total


def _group_targets(
    program: QueryProgram, scenario: Scenario, q: Vector
) -> list[Int[np.ndarray, " c"]]:
    """The targets that share a reference: all of them, unless scores are so large that it would cost precision.

    A target whose deviation joins those of others has a sum of its own.
    """
    m = len(program.targets)
    together = [np.arange(m)]
    apart = [np.array([k]) for k in range(m)]
    if scenario.ranges is not None and scenario.ranges.joins[program.targets].any():
        return apart
    if m == 1 or m * program.numbers > MOST_NUMBERS:
        return together
    targets = scenario.keys[program.targets]
    distance = float(np.abs(targets - targets[0]).max())
    if distance * math.sqrt(float(q @ q)) < OWN_REFERENCE:
        return together
    return apart


def view_of(
    scenario: Scenario, rows: Int[np.ndarray, " c"], q: Vector, smoothing: float
) -> RangesAtQuery | None:
    """The uncertain keys as they compete with these targets."""
    if scenario.ranges is None:
        return None
    partner = scenario.ranges.partner(int(rows[0]), scenario.keys[rows[0]], q)
    return scenario.ranges.at(q, smoothing, partner)


def _constrain_targets(
    program: QueryProgram,
    scenario: Scenario,
    which: Int[np.ndarray, " c"],
    q: Vector,
    view: RangesAtQuery | None,
    others: KeySummary,
) -> TargetGroup:
    """The constraints of some targets, from all other keys summed up."""
    # The targets' scores as competitors (up) and in their own constraints (low), less the reference's
    rows = program.targets[which]
    keys = scenario.keys[rows]
    up_slopes = low_slopes = keys - keys[0]
    up = low = up_slopes @ q
    if view is not None:
        scores = keys @ q
        scales = None if scenario.scales is None else scenario.scales[rows]
        mirrored = None
        if scenario.own_scales is not None:
            mirrored = 2 * view.ranges.middle[rows] - scenario.own_scales[which]
        competing = view.worst(rows, scores, scales)
        own = view.worst(rows, scores, mirrored, own=True)
        low = up + competing.shift - own.reach
        up = up + competing.shift + competing.reach
        shifted = up_slopes + competing.off[:, None] * keys
        up_slopes = shifted + view.slopes(rows, keys, competing)
        low_slopes = shifted - view.slopes(rows, keys, own)

    # ln of the sum of all entries but the target's own, with its slope
    logs = np.concatenate([[others.log], up])
    entries = np.vstack([others.mean, up_slopes])
    sums, shares = _sums_without_own(logs)
    means = shares @ entries
    values = sums - low - program.log_slacks[which]
    if program.spare is not None and len(which) == len(program.targets) > 1:
        ahead = up[None, :] - low[:, None]
        small = _small_values(program, program.spare, ahead, others.log - low)
        values = np.where(np.abs(small) < SMALL_VALUE, np.log1p(small), values)
    return TargetGroup(
        which=which,
        rows=rows,
        keys=keys,
        values=values,
        slopes=means - low_slopes,
        entries=entries,
        shares=shares,
        means=means,
        scores=shares @ np.concatenate([[others.score], up]) - low,
        others=others,
        view=view,
    )


def _small_values(
    program: QueryProgram,
    spare: Float[np.ndarray, " m"],
    ahead: Float[np.ndarray, "m m"],
    others: Float[np.ndarray, " m"],
) -> Float[np.ndarray, " m"]:
    """exp(f_a) - 1, from how far the targets are ahead of each other, with nothing large subtracted.

    Where the targets' weights are as their floors, p_b / p_a = exp(up_b - low_a), they sum to the slack less the spare.
    """
    ratios = program.floors[None, :] / program.floors[:, None]
    excess = ratios * np.expm1(ahead - np.log(ratios))
    np.fill_diagonal(excess, 0.0)
    slacks = np.exp(program.log_slacks)
    above_slack = excess.sum(axis=1) + np.exp(others) - spare
    small: Float[np.ndarray, " m"] = above_slack / slacks
    return small


def _sums_without_own(
    logs: Float[np.ndarray, " entries"],
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, "c entries"]]:
    """For each entry but the first: ln of the sum of all others, and their shares in it."""
    table = np.repeat(logs[None, :], len(logs) - 1, axis=0)
    np.fill_diagonal(table[:, 1:], -np.inf)
    top = table.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)  # a lone key has nothing to compete with
    shares = np.exp(table - top[:, None])
    total = shares.sum(axis=1)
    sums = top + np.log(total)
    return sums, shares / np.where(total > 0, total, 1.0)[:, None]


def _curvature(
    group: TargetGroup, multipliers: Float[np.ndarray, " c"]
) -> Float[np.ndarray, "d d"]:
    """For each constraint the covariance of the slopes under its shares, plus what competes' own curvature."""
    by_entry = multipliers @ group.shares
    targets = group.entries[1:]
    total = by_entry[0] * group.others.second_moment
    total = total + targets.T @ (by_entry[1:, None] * targets)
    total -= group.means.T @ (multipliers[:, None] * group.means)
    if group.view is not None:
        scores = group.keys @ group.view.q
        rows = group.rows
        keys = group.keys
        total += group.view.curvature(rows, keys, scores, by_entry[1:])
        total += group.view.curvature(rows, keys, scores, multipliers, own=True)
    curvature: Float[np.ndarray, "d d"] = total
    return curvature
