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

from headwright.queries.solving.bounds import shares_of_multipliers, state_bound
from headwright.queries.solving.constraints import Part, Program, State, evaluate, view_of
from headwright.queries.solving.log_sum_exp import KeySummary, Pass, Rest, Scenario
from headwright.queries.solving.score_ranges import Vector
from headwright.queries.solving.sqp import NOTHING, Descent, Tick

SMOOTHEST, WITNESSED = 1, 7  # smoothings are 10^-these: where they start, and the last that names a witness
RESUMED, LAST = 4, 12  # where they start for rows picked anew, and where they end
EASY = 3  # iterations: no kink is in the way, and the next smoothing can be much smaller
FAR = 1e-6  # how small a mean slope is before a smoothed wish is called impossible
MOST_ROUNDS = 12
GOOD = 8e-12  # a gap between length and bound that leaves nothing to gain
FINE = 1e-9  # one that is good enough where it does not shrink any more
GONE = 1e-14  # of all that competes: less than this cannot be told from rounding
STILL = 1e-9  # a mean slope this much smaller than the keys shows that there is no way to go


@dataclass(frozen=True, eq=False)
class Found:
    """The descent to the end, and as it was when it named the witness."""

    last: Descent
    witness: Descent


def search(program: Program, tick: Tick, tolerance: float) -> Found:
    """The shortest query of a program, with the tolerance to spare where there are several constraints."""
    start = None
    if enough_keys(program):
        found, start = _by_rounds(program, tick, tolerance)
        if found is not None:
            return found
    found = _path(program, tick, start)
    _spare(found, tolerance)
    return found


def _path(
    program: Program,
    tick: Tick,
    start: Descent | None = None,
    nothing: float = NOTHING,
    last: int = LAST,
) -> Found:
    """Down to no smoothing at all; from another descent's end, if there is one."""
    if program.certain:
        descent = _begun(program, start, 0.0, tick)
        descent.run(nothing=nothing)
        return Found(descent, replace(descent))
    exponent = SMOOTHEST if start is None else RESUMED
    if start is not None and start.status == "impossible":
        exponent = round(-math.log10(start.smoothing))
    descent = _begun(program, start, 10.0**-exponent, tick)
    descent.run(nothing=FAR)
    witness, before, jump = descent, descent.state.query, 1
    while exponent < last:
        if _surely_impossible(descent, nothing):
            return Found(descent, descent)
        exponent = min(exponent + jump, WITNESSED if exponent < WITNESSED else last, last)
        query, iterations = descent.state.query, descent.iterations
        ahead = query + 0.1 * (query - before)  # the path is nearly straight, and a kink's score goes down with it
        before = query
        descent = descent.resumed(ahead, 10.0**-exponent)
        descent.run(nothing=FAR)
        jump = 2 * jump if descent.iterations - iterations <= EASY and descent.status == "solved" else 1
        if exponent == WITNESSED:
            witness = replace(descent)
    return Found(descent, witness)


def _begun(program: Program, start: Descent | None, smoothing: float, tick: Tick) -> Descent:
    if start is None:
        return Descent.start(program, np.zeros(program.scenarios[0].keys.shape[1]), smoothing, tick)
    state = evaluate(program, start.state.query, smoothing)
    return replace(
        start, program=program, state=state, smoothing=smoothing, growth=10.0, status="stalled", cuts=[], margin=0.0
    )


def _surely_impossible(descent: Descent, nothing: float) -> bool:
    """No query grants the wish, and that is not the doing of the smoothing."""
    uncertainty = descent.program.scenarios[0].uncertainty
    if descent.status != "impossible" or uncertainty is None:
        return False
    if descent.violation <= 2 * descent.smoothing * (1 + float(uncertainty.half.max())):
        return False
    descent.run(nothing=nothing)  # to the end: so far it looked only as if
    return descent.status == "impossible"


def _spare(found: Found, tolerance: float) -> None:
    if found.last.status == "solved" and len(found.last.multipliers) > 1:
        found.last.spare(tolerance)


def _by_rounds(program: Program, tick: Tick, tolerance: float) -> tuple[Found | None, Descent | None]:
    """Solve for few rows, look at all keys, pick the rows anew. Without an end: where to start on all keys."""
    model, start, least, steepest = strided(program), None, math.inf, math.inf
    for number in range(MOST_ROUNDS):
        few = _path(model, tick, start, STILL / 10, LAST if number else RESUMED)  # the first model is a rough one
        start = few.last
        found = Found(_on_all(program, few.last), few.witness)
        if start.status == "impossible":
            slope = _slope(found.last)
            if found.last.violation > 0 and slope <= STILL:
                return Found(found.last, found.last), None
            if number >= 2 and slope > steepest / 8:  # here the curvature of all keys is worth its price
                break
            steepest = slope
        else:
            gap = _gap(program, found.last, found.last)
            if gap <= GOOD or (gap <= FINE and gap > least / 2):
                witness = found.last if program.certain else _on_all(program, few.witness)
                if _gap(program, found.last, witness) <= FINE:
                    _spare(few, tolerance)
                    spared = few.last.state.query is not found.last.state.query
                    return Found(_on_all(program, few.last) if spared else found.last, witness), None
            if number >= 4 and gap > least / 2:
                break
            least = min(least, gap)
        model = picked(program, found.last.state)
    return None, start


def _on_all(program: Program, descent: Descent) -> Descent:
    """The same descent, as all keys see it."""
    descent.tick()
    state = evaluate(program, descent.state.query, descent.smoothing, curved=False, keep=True)
    return replace(descent, program=program, state=state, cuts=[])


def _gap(program: Program, last: Descent, witness: Descent) -> float:
    """How much longer the query would be than the bound, were it made as long as it needs to be."""
    state = last.state
    bound = state_bound(program, witness.state, shares_of_multipliers(program, witness.multipliers))
    falls = -(state.slopes @ state.query)
    useful = falls > 0
    if not useful.all() or not bound > 0:
        return math.inf
    longer = float((state.values / falls).max())
    return abs(math.sqrt(float(state.query @ state.query)) * (1 + longer) / bound - 1)


def _slope(descent: Descent) -> float:
    """The averaged slope, next to the size of the keys."""
    total = float(descent.multipliers.sum())
    mean = descent.multipliers @ descent.state.slopes
    size = math.sqrt(float(mean @ mean))
    return size / total / descent.program.extent if total > 0 and descent.program.extent > 0 else math.inf


def enough_keys(program: Program) -> bool:
    """There are so many keys that a few can stand for them."""
    n, d = program.scenarios[0].keys.shape
    return bool(n >= 8 * sample_size(d))


def strided(program: Program) -> Program:
    """The targets and a sample of all keys, which stands for them from afar."""
    n, d = program.scenarios[0].keys.shape
    m = len(program.targets)
    rows = np.setdiff1d(np.arange(0, n, n // sample_size(d)), program.targets)
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


def sample_size(d: int) -> int:
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
    number = sample_size(d)
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
