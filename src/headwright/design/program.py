"""The question as arrays for the solver."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.design.problem import Problem
from headwright.design.statement import Question, covariance_factor
from headwright.noise.world import Ball, Between, Covariance, Ellipsoid, Isotropic, Normal, OneOf


def program(question: Question) -> Problem:
    """The convex program whose solution is the shortest query, in floating point.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import average
    >>> from headwright.noise import Ball, Noise, World
    >>> noisy = World(others=Noise(spread=Ball(0.1)))
    >>> problem = program(Question((np.eye(3),), average([0, 1]), noisy, Fraction(1), Fraction(1)))
    >>> problem.slacks.tolist(), problem.ball.tolist()
    ([1.01, 1.01], [0.1, 0.1, 0.1])
    """
    n, targets = question.n, question.wish.targets
    floors = [question.wish.least[a] for a in targets]
    low, high, ball, stretch = np.ones(n), np.ones(n), np.zeros(n), np.zeros(n)
    factors: dict[int, tuple[list[int], np.ndarray]] = {}
    z = float(question.deviations)
    noisy = [] if question.world.fixed or question.world.scenarios else range(n)
    for i in noisy:
        noise = question.world.of(i)
        match noise.scale:
            case Between(a, b):
                low[i], high[i] = a, b
            case OneOf(values):
                low[i], high[i] = min(values), max(values)
            case Normal(mean, variance):
                low[i] = high[i] = mean
                stretch[i] = z * np.sqrt(variance)
        match noise.spread:
            case Ball(radius):
                ball[i] = radius
            case Isotropic(variance):
                ball[i] = z * np.sqrt(variance)
            case Ellipsoid(matrix) | Covariance(matrix):
                E = matrix if isinstance(noise.spread, Ellipsoid) else z * covariance_factor(matrix)
                factors.setdefault(id(noise.spread), ([], E))[0].append(i)
    return Problem(
        question.keys,
        targets=np.array(targets),
        floors=np.array([float(p) for p in floors]),
        slacks=np.array([float(1 / p - 1) for p in floors]),
        scale=float(question.scale),
        scale_low=low if (low != 1).any() or (high != 1).any() else None,
        scale_high=high if (low != 1).any() or (high != 1).any() else None,
        ball=ball if ball.any() else None,
        stretch=stretch if stretch.any() else None,
        factors=tuple((np.array(which), E) for which, E in factors.values()),
    )


def ends(
    problem: Problem, scenario: int, query: Float[np.ndarray, " d"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The highest and the lowest score that each key can have, in floating point.

    >>> problem = Problem((np.eye(2),), np.array([0]), np.array([0.5]), np.array([1.0]), ball=np.array([0.0, 0.5]))
    >>> ends(problem, 0, np.array([0.0, 2.0]))
    (array([0., 3.]), array([0., 1.]))
    """
    scores = problem.scale * (problem.keys[scenario] @ query)
    squared = np.zeros_like(scores)
    if problem.ball is not None:
        squared += (problem.scale * problem.ball) ** 2 * (query @ query)
    if problem.stretch is not None:
        squared += (problem.stretch * scores) ** 2
    for which, E in problem.factors:
        squared[which] += problem.scale**2 * ((E.T @ query) ** 2).sum()
    low = scores if problem.scale_low is None else problem.scale_low * scores
    high = scores if problem.scale_high is None else problem.scale_high * scores
    return np.maximum(low, high) + np.sqrt(squared), np.minimum(low, high) - np.sqrt(squared)
