"""A start for many keys: the shortest query for a sample of them, and for the rows that turn out to matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from headwright.design.constraints import Program, Scenario, State, evaluate, highest_scores
from headwright.design.descent import Descent

MOST_ROUNDS = 8
MOST_HEAVY = 1000
HEAVY = 1e-3  # a row that takes up this much of a slack is one that matters
CLOSE = 0.7  # a start whose constraints are this near to those of all keys is good enough
NEARLY = 1e-12  # how small a mean slope of the sample is before it is called impossible


def started(program: Program, smoothing: float, tick: Callable[[], None]) -> Descent:
    """A descent on all keys: from the solution of a sample where there are many, else from 0."""
    n, d = program.scenarios[0].keys.shape
    count = max(4000, 40 * d)
    query = np.zeros(d)
    if n < 4 * count:
        return Descent.start(program, query, smoothing, tick)
    common = np.arange(0, n, n // count)
    heavy = program.targets
    for _ in range(MOST_ROUNDS):
        small = Descent.start(_part(program, common, heavy), query, smoothing, tick)
        small.run(most=200, nothing=NEARLY)
        query = small.state.query
        state = evaluate(program, query, smoothing)
        new = np.setdiff1d(_heavy_rows(program, state), heavy)
        if np.all(state.values < small.state.values + CLOSE) or len(new) == 0:
            break
        heavy = np.concatenate([heavy, new])
    if small.status == "impossible" and float(state.values.max()) <= 0:  # a row of the sample stood for too many
        return Descent.start(program, np.zeros(d), smoothing, tick)
    return Descent(program, state, small.multipliers, small.rho, smoothing, small.iterations, tick=tick)


def _part(program: Program, common: Int[np.ndarray, " some"], heavy: Int[np.ndarray, " few"]) -> Program:
    """The program on some rows: the heavy ones count once, the common ones stand for all the rest."""
    common = np.setdiff1d(common, heavy)
    rows = np.concatenate([heavy, common])
    n = len(program.scenarios[0].keys)
    log_mass = np.zeros(len(rows))
    log_mass[len(heavy) :] = math.log((n - len(heavy)) / len(common))

    def part(scenario: Scenario) -> Scenario:
        uncertainty = None if scenario.uncertainty is None else scenario.uncertainty.take(rows)
        return Scenario(scenario.keys[rows], uncertainty, log_mass)

    scenarios = tuple(part(scenario) for scenario in program.scenarios)
    return replace(program, scenarios=scenarios, targets=np.arange(len(program.targets)))


def _heavy_rows(program: Program, state: State) -> Int[np.ndarray, " few"]:
    """The rows that, by themselves, would take up a part of some slack; not too many of them."""
    found = []
    worst = state.values.reshape(len(program.scenarios), -1).max(axis=1)
    for scenario, value in zip(program.scenarios, worst, strict=True):
        scores = highest_scores(scenario, state.query, state.smoothing)
        scores[program.targets] = -np.inf
        top = float(scores.max())
        total = top + math.log(float(np.exp(scores - top).sum()))
        rows = np.flatnonzero(scores > total - max(value, 0.0) + math.log(HEAVY))
        if len(rows) > MOST_HEAVY:
            rows = rows[np.argpartition(scores[rows], -MOST_HEAVY)[-MOST_HEAVY:]]
        found.append(rows)
    return np.unique(np.concatenate(found))
