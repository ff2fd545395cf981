"""A small weighted sample of the keys in place of all: the keys that matter most, and some of the rest.

    ln (sum over heavy keys e^up  +  e^(a + <b, q>) sum over the sample e^up)

a and b make value and slope those of all keys at one query. There the model is exact but for the curvature of the rest,
so its solution is far nearer to that of all keys; from it the rows are picked anew. A few passes over all keys suffice,
and none of them needs a curvature.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from headwright.queries.solving.constraints import Part, Program, State, view_of
from headwright.queries.solving.log_sum_exp import KeySummary, Pass, Rest, Scenario
from headwright.queries.solving.score_ranges import Vector

GONE = 1e-14  # of all that competes: less than this cannot be told from rounding


def enough_keys(program: Program) -> bool:
    """There are so many keys that a few can stand for them."""
    n, d = program.scenarios[0].keys.shape
    return bool(n >= 8 * count(d))


def strided(program: Program) -> Program:
    """The targets and a sample of all keys, which stands for them from afar."""
    n, d = program.scenarios[0].keys.shape
    m = len(program.targets)
    rows = np.setdiff1d(np.arange(0, n, n // count(d)), program.targets)
    rest = Rest(m, np.zeros(d), np.full(m, math.log((n - m) / len(rows))), np.zeros((m, d)))
    rows = np.concatenate([program.targets, rows])
    scenarios = (replace(_few(scenario, rows, np.zeros(len(rows))), rest=rest) for scenario in program.scenarios)
    return replace(program, scenarios=tuple(scenarios), targets=np.arange(m))


def picked(program: Program, state: State) -> Program:
    """The rows that matter at a query, and a sample of the rest; the scores there were kept."""
    scenarios = []
    for scenario, parts in zip(program.scenarios, state.parts, strict=True):
        rows, first, log_mass = _pick(program, parts, len(state.query))
        few = _few(scenario, rows, log_mass)
        scenarios.append(replace(few, rest=_matched(few, first, parts, state, len(program.targets))))
    return replace(program, scenarios=tuple(scenarios), targets=np.arange(len(program.targets)))


def count(d: int) -> int:
    """How many heavy rows, and how many in the sample."""
    return max(1000, 4 * d)


def _few(scenario: Scenario, rows: Int[np.ndarray, " some"], log_mass: Float[np.ndarray, " some"]) -> Scenario:
    uncertainty = None if scenario.uncertainty is None else scenario.uncertainty.take(rows)
    if scenario.log_mass is not None:
        log_mass = log_mass + scenario.log_mass[rows]
    return Scenario(scenario.keys[rows], uncertainty, log_mass)


def _pick(
    program: Program, parts: tuple[Part, ...], d: int
) -> tuple[Int[np.ndarray, " some"], int, Float[np.ndarray, " some"]]:
    """Targets, heavy rows and sample; where the sample begins; and masses that make all of the sample equally heavy."""
    ups = [part.cloud.up for part in parts if part.cloud.up is not None]
    number = count(d)
    heavy = np.setdiff1d(np.unique(np.concatenate([_highest(up, number) for up in ups])), program.targets)
    up = ups[0]
    weights = np.exp(up - float(up.max()))
    weights[program.targets] = 0.0
    weights[heavy] = 0.0
    sums = np.cumsum(weights)
    sample = np.searchsorted(sums, (np.arange(number) + 0.5) / number * sums[-1]) if sums[-1] > 0 else heavy[:1]
    rows = np.concatenate([program.targets, heavy, sample])
    log_mass = np.zeros(len(rows))
    first = len(rows) - len(sample)
    log_mass[first:] = np.where(np.isfinite(up[sample]), -up[sample], 0.0)
    return rows, first, log_mass


def _highest(up: Float[np.ndarray, " n"], number: int) -> Int[np.ndarray, " some"]:
    """About so many rows with the highest scores."""
    some = up[:: max(1, len(up) // (16 * number))]  # enough to know how high that is
    place = max(0, len(some) - 1 - round(number * len(some) / len(up)))
    rows = np.flatnonzero(up > np.partition(some, place)[place])
    if len(rows) > 2 * number:
        rows = rows[np.argpartition(up[rows], -number)[-number:]]
    return rows


def _matched(few: Scenario, first: int, parts: tuple[Part, ...], state: State, m: int) -> Rest:
    """What makes value and slope of the sample those of all keys that are left out."""
    q = state.query
    logs, slopes = np.full(m, -np.inf), np.zeros((m, len(q)))
    for part in parts:
        reference = few.keys[part.which[0]]
        view = view_of(few, part.which, q, state.smoothing)
        around = Pass(few, np.sort(part.which), reference, q, view)
        logs[part.which], slopes[part.which] = _left(
            part.cloud, around.over(0, first), around.over(first, len(few.keys))
        )
    return Rest(first, q, logs, slopes)


def _left(everything: KeySummary, heavy: KeySummary, sample: KeySummary) -> tuple[float, Vector]:
    share = math.exp(min(0.0, heavy.log - everything.log))
    if not 1 - share > GONE or not sample.log > -math.inf:
        return -math.inf, 0 * everything.mean
    mean = (everything.mean - share * heavy.mean) / (1 - share)
    return everything.log + math.log1p(-share) - sample.log, mean - sample.mean
