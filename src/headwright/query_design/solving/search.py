"""Search for the shortest query of a program: on all keys if they are few, else on a sample of them.

Where worst cases have kinks the search is for smoothed ones, less and less smooth.

Many keys are replaced by a small weighted sample, the keys that matter most and some of the rest:

    ln (sum over heavy keys e^up  +  e^(a + <b, q>) sum over the sample e^up)

a and b make value and slope those of all keys at one query. There the model is exact but for the curvature of the rest,
so its solution is far nearer to that of all keys; from it the rows are picked anew. A few passes over all keys suffice,
and none of them needs a curvature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from headwright.optimisation.convex_program import Iterate, StepHook, slopes_cancel
from headwright.optimisation.sqp import (
    NOTHING,
    continue_at,
    minimise_norm,
    start_at,
)
from headwright.query_design.solving.bounds import shares_of_multipliers, state_bound
from headwright.query_design.solving.constraints import (
    QueryProgram,
    QueryState,
    TargetGroup,
    view_of,
)
from headwright.query_design.solving.log_sum_exp import (
    KeyPass,
    KeySummary,
    RestModel,
    Scenario,
)
from headwright.query_design.solving.score_ranges import Vector

FIRST_EXPONENT = 1  # smoothings are 10^-exponent: the first,
WITNESS_EXPONENT = 7  # the last that names a witness,
LAST_EXPONENT = 12  # the last,
RESUMED_EXPONENT = 4  # and the first for rows picked anew
EASY_STEPS = 3  # no kink is in the way, and the next smoothing can be much smaller
FAR = 1e-6  # how small a mean slope is before a smoothed program is called impossible
MOST_ROUNDS = 12
GOOD_GAP = 8e-12  # between length and bound: nothing is left to gain
FINE_GAP = 1e-9  # good enough where it does not shrink any more
GONE = 1e-14  # of all that competes: less than this cannot be told from rounding
STILL = 1e-9  # a mean slope this much smaller than the keys shows that there is no way to go
MARGIN_STEPS = 5

QueryIterate = Iterate[QueryState]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The last iterate, and the one that names the witness of the bound."""

    last: QueryIterate
    witness: QueryIterate


def search(program: QueryProgram, on_step: StepHook, tolerance: float) -> SearchResult:
    """The shortest query of a program, with half the tolerance to spare where there are several constraints."""
    start = None
    if has_enough_keys(program):
        result, start = _search_by_sampling(program, on_step, tolerance)
        if result is not None:
            return result
    result, program = _follow_smoothings(program, on_step, start)
    return replace(result, last=_with_margin(program, result.last, tolerance))


def _follow_smoothings(
    program: QueryProgram,
    on_step: StepHook,
    start: QueryIterate | None = None,
    nothing: float = NOTHING,
    last_exponent: int = LAST_EXPONENT,
) -> tuple[SearchResult, QueryProgram]:
    """Down to no smoothing at all, with the program as it is smoothed last; from another iterate, if there is one."""
    if program.certain:
        iterate = minimise_norm(
            program, _begin(program, start), nothing=nothing, on_step=on_step
        )
        return SearchResult(iterate, iterate), program
    exponent = FIRST_EXPONENT if start is None else RESUMED_EXPONENT
    if start is not None and start.status == "impossible":
        exponent = round(-math.log10(start.state.smoothing))
    program = replace(program, smoothing=10.0**-exponent)
    iterate = minimise_norm(
        program, _begin(program, start), nothing=FAR, on_step=on_step
    )
    witness = iterate
    before = iterate.state.point
    jump = 1
    while exponent < last_exponent:
        if _may_be_impossible(program, iterate):
            # so far it looked only as if: to the end
            iterate = minimise_norm(program, iterate, nothing=nothing, on_step=on_step)
            if iterate.status == "impossible":
                return SearchResult(iterate, iterate), program
        farthest = WITNESS_EXPONENT if exponent < WITNESS_EXPONENT else last_exponent
        exponent = min(exponent + jump, farthest, last_exponent)
        # the path is nearly straight, and a kink's score goes down with it
        ahead = iterate.state.point + 0.1 * (iterate.state.point - before)
        before = iterate.state.point
        program = replace(program, smoothing=10.0**-exponent)
        next_start = (
            start_at(program, ahead)
            if iterate.status == "impossible"
            else continue_at(program, ahead, iterate)
        )
        following = minimise_norm(program, next_start, nothing=FAR, on_step=on_step)
        steps = following.iterations - next_start.iterations
        easy = steps <= EASY_STEPS and following.status == "solved"
        jump = 2 * jump if easy else 1
        iterate = following
        if exponent == WITNESS_EXPONENT:
            witness = iterate
    return SearchResult(iterate, witness), program


def _begin(program: QueryProgram, start: QueryIterate | None) -> QueryIterate:
    if start is None:
        return start_at(program, np.zeros(program.dimension))
    return continue_at(program, start.state.point, start)


def _may_be_impossible(program: QueryProgram, iterate: QueryIterate) -> bool:
    """No query meets the constraints, by more than the smoothing adds to them."""
    ranges = program.scenarios[0].ranges
    if iterate.status != "impossible" or ranges is None:
        return False
    added = program.smoothing * (1 + float(ranges.half.max()))
    return iterate.violation > 2 * added


def _with_margin(
    program: QueryProgram, iterate: QueryIterate, tolerance: float
) -> QueryIterate:
    """The same where several constraints hold with half the tolerance to spare, as part of the length."""
    total = float(iterate.multipliers.sum())
    if iterate.status != "solved" or len(iterate.multipliers) <= 1 or not total > 0:
        return iterate
    q = iterate.state.point
    square = float(q @ q)
    rounding = 2e-15 * (1 + program.extent * math.sqrt(square))
    margin = max(tolerance / 2 * square / total, rounding)
    spared = minimise_norm(program, iterate, margin=margin, max_steps=MARGIN_STEPS)
    return replace(spared, status="solved")


def _search_by_sampling(
    program: QueryProgram, on_step: StepHook, tolerance: float
) -> tuple[SearchResult | None, QueryIterate | None]:
    """Solve for a sample, look at all keys, pick the sample anew. Without an end: where to start on all keys."""
    sample = strided(program)
    start = None
    last_gap = math.inf
    last_slope = math.inf
    for number in range(MOST_ROUNDS):
        # the first sample is a rough one
        last_exponent = LAST_EXPONENT if number else RESUMED_EXPONENT
        of_sample, smoothed_sample = _follow_smoothings(
            sample, on_step, start, STILL / 10, last_exponent
        )
        start = of_sample.last
        last = _on_all_keys(program, start, on_step)
        if start.status == "impossible":
            slope = slopes_cancel(last, program.extent)
            if last.violation > 0 and slope <= STILL:
                return SearchResult(last, last), None
            if number >= 2 and slope > last_slope / 8:
                break  # here the curvature of all keys is worth its price
            last_slope = slope
        else:
            gap = _gap(program, last, last)
            if gap <= GOOD_GAP or (gap <= FINE_GAP and gap > last_gap / 2):
                witness = (
                    last
                    if program.certain
                    else _on_all_keys(program, of_sample.witness, on_step)
                )
                if _gap(program, last, witness) <= FINE_GAP:
                    spared = _with_margin(smoothed_sample, start, tolerance)
                    if spared is not start:
                        last = _on_all_keys(program, spared, on_step)
                    return SearchResult(last, witness), None
            if number >= 4 and gap > last_gap / 2:
                break
            last_gap = min(last_gap, gap)
        sample = picked(program, last.state)
    return None, start


def _on_all_keys(
    program: QueryProgram, iterate: QueryIterate, on_step: StepHook
) -> QueryIterate:
    """The same iterate, with the state of all keys."""
    on_step()
    whole = replace(program, smoothing=iterate.state.smoothing)
    state = whole.at(iterate.state.point, curved=False, keep_scores=True)
    return replace(iterate, state=state)


def _gap(program: QueryProgram, last: QueryIterate, witness: QueryIterate) -> float:
    """How much longer the query would be than the bound, were it made as long as it needs to be."""
    state = last.state
    bound = state_bound(
        program, witness.state, shares_of_multipliers(program, witness.multipliers)
    )
    falls = -(state.slopes @ state.point)
    if not (falls > 0).all() or not bound > 0:
        return math.inf
    longer = float((state.values / falls).max())
    return abs(math.sqrt(float(state.point @ state.point)) * (1 + longer) / bound - 1)


def has_enough_keys(program: QueryProgram) -> bool:
    """There are so many keys that a few can stand for them."""
    n, d = program.scenarios[0].keys.shape
    return bool(n >= 8 * sample_size(d))


def strided(program: QueryProgram) -> QueryProgram:
    """The targets and a sample of all keys, which stands for them from afar."""
    n, d = program.scenarios[0].keys.shape
    m = len(program.targets)
    sampled = np.setdiff1d(np.arange(0, n, n // sample_size(d)), program.targets)
    log_share = math.log((n - m) / len(sampled))
    rest = RestModel(m, np.zeros(d), np.full(m, log_share), np.zeros((m, d)))
    rows = np.concatenate([program.targets, sampled])
    scenarios = tuple(
        replace(_take(scenario, rows, np.zeros(len(rows))), rest=rest)
        for scenario in program.scenarios
    )
    return replace(program, scenarios=scenarios, targets=np.arange(m))


def picked(program: QueryProgram, state: QueryState) -> QueryProgram:
    """The rows that matter at a query, and a sample of the rest; the scores there were kept."""
    scenarios = []
    for scenario, groups in zip(program.scenarios, state.groups, strict=True):
        rows, first, log_mass = _pick_rows(program, groups, len(state.point))
        sample = _take(scenario, rows, log_mass)
        rest = _match_rest(sample, first, groups, state, len(program.targets))
        scenarios.append(replace(sample, rest=rest))
    targets = np.arange(len(program.targets))
    return replace(program, scenarios=tuple(scenarios), targets=targets)


def sample_size(d: int) -> int:
    """How many heavy rows, and how many in the sample."""
    return max(1000, 4 * d)


def _take(
    scenario: Scenario,
    rows: Int[np.ndarray, " some"],
    log_mass: Float[np.ndarray, " some"],
) -> Scenario:
    ranges = None if scenario.ranges is None else scenario.ranges.take(rows)
    if scenario.log_mass is not None:
        log_mass = log_mass + scenario.log_mass[rows]
    return Scenario(scenario.keys[rows], ranges, log_mass)


def _pick_rows(
    program: QueryProgram, groups: tuple[TargetGroup, ...], d: int
) -> tuple[Int[np.ndarray, " some"], int, Float[np.ndarray, " some"]]:
    """Targets, heavy rows and sample; where the sample begins; and masses that make all of the sample equally heavy."""
    ups = [group.others.up for group in groups if group.others.up is not None]
    number = sample_size(d)
    heavy = np.setdiff1d(
        np.unique(np.concatenate([_highest(up, number) for up in ups])), program.targets
    )

    # systematic sampling of the rest in proportion to e^up
    up = ups[0]
    weights = np.exp(up - float(up.max()))
    weights[program.targets] = 0.0
    weights[heavy] = 0.0
    sums = np.cumsum(weights)
    sample = heavy[:1]
    if sums[-1] > 0:
        places = (np.arange(number) + 0.5) / number * sums[-1]
        sample = np.searchsorted(sums, places)

    rows = np.concatenate([program.targets, heavy, sample])
    first = len(rows) - len(sample)
    log_mass = np.zeros(len(rows))
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


def _match_rest(
    sample: Scenario,
    first: int,
    groups: tuple[TargetGroup, ...],
    state: QueryState,
    m: int,
) -> RestModel:
    """What makes value and slope of the sample those of all keys that are left out."""
    q = state.point
    logs = np.full(m, -np.inf)
    slopes = np.zeros((m, len(q)))
    for group in groups:
        reference = sample.keys[group.which[0]]
        view = view_of(sample, group.which, q, state.smoothing)
        around = KeyPass(sample, np.sort(group.which), reference, q, view)
        heavy = around.over(0, first)
        rest = around.over(first, len(sample.keys))
        logs[group.which], slopes[group.which] = _raise_to_rest(
            group.others, heavy, rest
        )
    return RestModel(first, q, logs, slopes)


def _raise_to_rest(
    everything: KeySummary, heavy: KeySummary, sample: KeySummary
) -> tuple[float, Vector]:
    """By how much the sample's log-sum-exp and slope have to be raised to those of all keys but the heavy ones."""
    share = math.exp(min(0.0, heavy.log - everything.log))
    if not 1 - share > GONE or not sample.log > -math.inf:
        return -math.inf, 0 * everything.mean
    mean = (everything.mean - share * heavy.mean) / (1 - share)
    return everything.log + math.log1p(-share) - sample.log, mean - sample.mean
