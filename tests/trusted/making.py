"""Certificates for the tests of the checker, made without our own solver: SciPy finds the query."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize, nnls

from headwright.design.certify import designed
from headwright.design.problem import Problem
from headwright.design.program import program
from headwright.design.statement import Question
from headwright.design.wish import Wish
from headwright.noise import World


def ask(keys: np.ndarray, wish: Wish, world: World | None = None, scale: str = "1", sure: str = "0.9") -> Question:
    world = world or World()
    return Question(world.scenarios or (keys,), wish, world, Fraction(scale), Fraction(sure))


def ends(problem: Problem, keys: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The highest and lowest score of every key."""
    m = problem.scale * (keys @ q)
    low = np.ones(len(m)) if problem.scale_low is None else problem.scale_low
    high = np.ones(len(m)) if problem.scale_high is None else problem.scale_high
    squared = np.zeros(len(m))
    if problem.ball is not None:
        squared += (problem.scale * problem.ball) ** 2 * (q @ q)
    if problem.stretch is not None:
        squared += (problem.stretch * m) ** 2
    for which, E in problem.factors:
        squared[which] += problem.scale**2 * ((E.T @ q) ** 2).sum()
    h = np.sqrt(squared)
    return np.maximum(low * m, high * m) + h, np.minimum(low * m, high * m) - h


def violations(problem: Problem, q: np.ndarray) -> np.ndarray:
    """log sum_{i != a} exp(up_i - low_a) - log slack_a, for each scenario and target."""
    found = []
    for keys in problem.keys:
        up, low = ends(problem, keys, q)
        for a, slack in zip(problem.targets, problem.slacks, strict=True):
            x = np.delete(up, a) - low[a]
            found.append(x.max() + math.log(np.exp(x - x.max()).sum()) - math.log(slack))
    return np.array(found)


def shortest(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Nearly the shortest query, and nearly its multipliers, by SLSQP."""
    rng = np.random.default_rng(0)
    towards = problem.keys[0][problem.targets].sum(axis=0) * np.sign(problem.scale)
    best = None
    for start in (towards, 5 * towards, 20 * towards, rng.normal(size=len(towards))):
        found = minimize(  # type: ignore[call-overload]
            lambda q: q @ q / 2, start, jac=lambda q: q, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda q: -violations(problem, q)},
            options={"maxiter": 1000, "ftol": 1e-15},
        )  # fmt: skip
        if violations(problem, found.x).max() < 1e-6 and (best is None or found.fun < best.fun):
            best = found
    assert best is not None, "SLSQP found no query"
    q = best.x
    step = 1e-6 * max(1.0, np.abs(q).max())
    slopes = np.stack(
        [(violations(problem, q + step * e) - violations(problem, q - step * e)) / (2 * step) for e in np.eye(len(q))]
    )
    multipliers, _ = nnls(-slopes, q)
    # The bound is about ln(1 + sum), whose slope is sum / (1 + sum) times that of ln sum.
    multipliers *= np.tile((1 + problem.slacks) / problem.slacks, len(problem.keys))
    return q, (multipliers / multipliers.sum()).reshape(len(problem.keys), -1)


def certificate(question: Question, room: float = 1e-5) -> str:
    """A certificate whose query is a little longer, and whose bound a little lower, than the optimum."""
    problem = program(question)
    q, multipliers = shortest(replace(problem, slacks=problem.slacks * (1 - room)))
    norm = float(np.linalg.norm(q))
    return designed(question, q[None], q, multipliers, Fraction(repr(norm * (1 - 20 * room))))
