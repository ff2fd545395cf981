"""Wishes that leave next to nothing to other keys, judged in 80 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from headwright.queries.solving.bounds import dual_bound, violation
from headwright.queries.solving.equal_scores import apart, levelled
from headwright.queries.solving.problem import Problem, Solution
from headwright.queries.solving.solver import solve

mp = mpmath.mp.clone()
mp.dps = 80


def wish(keys: tuple[np.ndarray, ...], least: list[Fraction], scale: float = 1.0) -> Problem:
    left = 1 - sum(least)
    return Problem(
        keys,
        np.arange(len(least)),
        floors=np.array([float(p) for p in least]),
        slacks=np.array([float(1 / p - 1) for p in least]),
        spare=np.array([float(left / p) for p in least]),
        least=tuple(least),
        scale=scale,
    )


def exactly(x: Fraction) -> mpmath.mpf:
    return mp.mpf(x.numerator) / x.denominator


def pattern(problem: Problem, scenario: int, query: np.ndarray) -> list[mpmath.mpf]:
    rows = problem.keys[scenario].tolist()
    scores = [mp.mpf(problem.scale) * mp.fdot(zip(row, query.tolist(), strict=True)) for row in rows]
    weights = [mp.exp(s - max(scores)) for s in scores]
    return [w / mp.fsum(weights) for w in weights]


def grants(problem: Problem, query: np.ndarray) -> bool:
    assert problem.least is not None
    patterns = [pattern(problem, w, query) for w in range(len(problem.keys))]
    return all(alpha[a] >= exactly(p) for alpha in patterns for a, p in enumerate(problem.least))


def bound(problem: Problem, solution: Solution) -> mpmath.mpf:
    """What the multipliers and the witness prove about the length of any query."""
    assert problem.least is not None
    assert solution.shares is not None
    assert solution.leans is not None
    p = [exactly(x) for x in problem.least]
    right, vector = mp.mpf(0), [mp.mpf(0)] * problem.shape[1]
    for w, keys in enumerate(problem.keys):
        alpha = pattern(problem, w, solution.witness)
        share, leans = mp.mpf(float(solution.shares[w])), solution.leans[w].tolist()
        multipliers = [share * x + mp.mpf(lean) for x, lean in zip(p, leans, strict=True)]
        assert min(multipliers) >= 0
        total = mp.fsum(multipliers)
        right += mp.fsum(c * mp.log(x) for c, x in zip(multipliers, p, strict=True))
        right -= total * mp.fsum(a * mp.log(a) for a in alpha if a > 0)
        for j, column in enumerate(keys.T.tolist()):
            own = mp.fsum(c * x for c, x in zip(multipliers, column, strict=False))
            vector[j] += own - total * mp.fsum(a * x for a, x in zip(alpha, column, strict=True))
    return right / (abs(mp.mpf(problem.scale)) * mp.norm(vector))


def assert_shortest(problem: Problem, within: float = 1e-9) -> None:
    solution = solve(problem.tightened(1e-11))
    assert solution.status == "solved"
    assert grants(problem, solution.query)
    assert violation(problem, solution.query) <= 0
    length = mp.norm([mp.mpf(x) for x in solution.query.tolist()])
    proven = bound(problem, solution)
    assert -1e-20 < length / proven - 1 < within
    assert dual_bound(problem, solution) == pytest.approx(float(proven), rel=1e-11)


@pytest.mark.parametrize("digits", [2, 6, 9, 12, 15, 20])
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("scale", [1.0, -0.37])
def test_averages_that_leave_next_to_nothing(digits: int, m: int, scale: float) -> None:
    keys = 2 * np.random.default_rng(digits).standard_normal((20, 12))
    assert_shortest(wish((keys,), [1 / (m + Fraction(1, 10**digits))] * m, scale))


@pytest.mark.parametrize("digits", [3, 8, 12])
def test_mixtures_that_leave_next_to_nothing(digits: int) -> None:
    keys = 2 * np.random.default_rng(digits).standard_normal((20, 12))
    less = 1 - Fraction(1, 10**digits)
    assert_shortest(wish((keys,), [less / 2, less / 3, less / 6]))


@pytest.mark.parametrize("digits", [9, 12, 15])
def test_equal_scores_in_every_scenario(digits: int) -> None:
    rng = np.random.default_rng(digits)
    keys = rng.standard_normal((12, 12))
    least = [1 / (2 + Fraction(1, 10**digits))] * 2
    assert_shortest(wish((keys, keys + 0.1 * rng.standard_normal(keys.shape)), least), within=1e-8)


def test_targets_that_are_duplicates_share() -> None:
    keys = np.random.default_rng(3).standard_normal((9, 6))
    keys[1] = keys[0]
    assert_shortest(wish((keys,), [1 / (2 + Fraction(1, 10**12))] * 2))


def test_more_dimensions_than_keys() -> None:
    keys = np.random.default_rng(4).standard_normal((7, 40))
    assert_shortest(wish((keys,), [1 / (3 + Fraction(1, 10**12))] * 3))


def test_where_scores_should_differ_other_constraints_are_used() -> None:
    keys = np.random.default_rng(5).standard_normal((9, 6))
    least = [Fraction(1, 100), Fraction(9, 10)]
    problem = wish((keys,), least)
    solution = solve(problem)
    assert solution.status == "solved"
    assert grants(problem, solution.query)


def test_duplicates_cannot_be_told_apart() -> None:
    keys = np.random.default_rng(6).standard_normal((9, 6))
    keys[1] = keys[0]
    assert solve(wish((keys,), [Fraction(1, 3), Fraction(2, 3) - Fraction(1, 10**9)])).status == "impossible"


def test_levelling_finds_equal_scores_next_to_a_query() -> None:
    keys = np.random.default_rng(7).standard_normal((5, 16))
    problem = wish((keys,), [1 / (3 + Fraction(1, 10**20))] * 3)
    rough = np.linalg.qr((keys[1:3] - keys[0]).T, mode="complete")[0][:, 5] * 30
    level = levelled(problem, rough, 1e-31)
    assert np.abs(apart(problem, rough)).max() > 1e-17
    assert np.abs(apart(problem, level)).max() < 1e-29
    np.testing.assert_allclose(level, rough, rtol=0, atol=1e-11)
