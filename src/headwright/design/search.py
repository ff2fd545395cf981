"""The search for the shortest query of a program: on all keys if they are few, else on few that stand for all.

Where worst cases have kinks the search is for smoothed ones, less and less smooth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from headwright.design.bound import shares_of_multipliers, state_bound
from headwright.design.constraints import Program, evaluate
from headwright.design.descent import Descent
from headwright.design.sample import enough_keys, picked, strided

SMOOTHEST, WITNESSED = 1, 7  # smoothings are 10^-these: where they start, and the last that names a witness
RESUMED, LAST = 4, 12  # where they start for rows picked anew, and where they end
FAR = 1e-6  # how small a mean slope is before a smoothed wish is called impossible
MOST_ROUNDS = 12
GOOD = 8e-12  # a gap between length and bound that leaves nothing to gain
FINE = 1e-9  # one that is good enough where it does not shrink any more
STILL = 1e-11  # a mean slope this much smaller than the keys shows that there is no way to go


@dataclass(frozen=True, eq=False)
class Found:
    """The descent to the end, and as it was when it named the witness."""

    last: Descent
    witness: Descent


def search(program: Program, tick: Callable[[], None], tolerance: float) -> Found:
    """The shortest query of a program, with the tolerance to spare where there are several constraints."""
    start = None
    if enough_keys(program):
        found, start = _by_rounds(program, tick, tolerance)
        if found is not None:
            return found
    found = _path(program, tick, start)
    _spare(found, tolerance)
    return found


def _path(program: Program, tick: Callable[[], None], start: Descent | None = None) -> Found:
    """Down to no smoothing at all; from another descent's end, if there is one."""
    if program.certain:
        descent = _begun(program, start, 0.0, tick)
        descent.run()
        return Found(descent, replace(descent))
    smooth = SMOOTHEST if start is None or start.status == "impossible" else RESUMED
    descent = _begun(program, start, 10.0**-smooth, tick)
    descent.run(nothing=FAR)
    witness, before = descent, descent.state.query
    for exponent in range(smooth + 1, LAST + 1):
        if _surely_impossible(descent):
            return Found(descent, descent)
        query = descent.state.query
        ahead = query + 0.1 * (query - before)  # the path is nearly straight, and a kink's score goes down with it
        before = query
        descent = descent.resumed(ahead, 10.0**-exponent)
        descent.run(nothing=FAR)
        if exponent <= WITNESSED:
            witness = replace(descent)
    return Found(descent, witness)


def _begun(program: Program, start: Descent | None, smoothing: float, tick: Callable[[], None]) -> Descent:
    if start is None:
        return Descent.start(program, np.zeros(program.scenarios[0].keys.shape[1]), smoothing, tick)
    return replace(start, program=program, margin=0.0).resumed(start.state.query, smoothing)


def _surely_impossible(descent: Descent) -> bool:
    """No query grants the wish, and that is not the doing of the smoothing."""
    uncertainty = descent.program.scenarios[0].uncertainty
    if descent.status != "impossible" or uncertainty is None:
        return False
    if descent.violation <= 2 * descent.smoothing * (1 + float(uncertainty.half.max())):
        return False
    descent.run()  # to the end: so far it looked only as if
    return descent.status == "impossible"


def _spare(found: Found, tolerance: float) -> None:
    if found.last.status == "solved" and len(found.last.multipliers) > 1:
        found.last.spare(tolerance)


def _by_rounds(program: Program, tick: Callable[[], None], tolerance: float) -> tuple[Found | None, Descent | None]:
    """Solve for few rows, look at all keys, pick the rows anew. Without an end: where to start on all keys."""
    model = strided(program)
    start, least = None, math.inf
    for number in range(MOST_ROUNDS):
        few = _path(model, tick, start)
        found = _on_all(program, few)
        tick()
        start = few.last
        if few.last.status == "impossible":
            if _slope(found.last) <= STILL and found.last.violation > 0:
                return found, None
        else:
            gap = _gap(program, found)
            if gap <= GOOD or (gap <= FINE and gap > least / 2):
                _spare(few, tolerance)
                return _on_all(program, few, found), None
            if number >= 4 and gap > least / 2:
                break
            least = min(least, gap)
        model = picked(program, found.last.state)
    return None, replace(start, program=program) if start is not None else None


def _on_all(program: Program, few: Found, before: Found | None = None) -> Found:
    """The same descents, as all keys see them."""

    def seen(descent: Descent) -> Descent:
        state = evaluate(program, descent.state.query, descent.smoothing, curved=False, keep=True)
        return replace(descent, program=program, state=state, cuts=[])

    if before is not None and before.last.state.query is few.last.state.query:
        return before
    last = seen(few.last)
    if program.certain:
        return Found(last, replace(last))
    return Found(last, seen(few.witness) if before is None else before.witness)


def _gap(program: Program, found: Found) -> float:
    """How much longer the query would be than the bound, were it made as long as it needs to be."""
    state, witness = found.last.state, found.witness
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
