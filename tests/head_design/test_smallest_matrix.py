"""The untrusted solvers: as small as another solver says, and never a silent failure."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.head_design.head_design import value
from headwright.head_design.smallest_matrix import PatternGoal, smallest


def some_goals(
    seed: int,
    T: int = 5,
    D: int = 6,
    rules: int = 3,
    targets: int = 1,
    eps: float = 0.01,
) -> list[PatternGoal]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, D))
    chosen = [
        tuple(map(int, rng.choice(T, targets, replace=False))) for _ in range(rules)
    ]
    return [
        PatternGoal(X, X[i], some, np.full(targets, targets - 1 + eps))
        for i, some in enumerate(chosen)
    ]


def violations(goals: list[PatternGoal], M: np.ndarray) -> list[float]:
    found = []
    for goal in goals:
        s = goal.keys @ M @ goal.query
        for a, slack in zip(goal.targets, goal.slacks, strict=True):
            found.append(
                float(np.logaddexp.reduce(np.delete(s, a) - s[a]) - np.log(slack))
            )
    return found


def reference(goals: list[PatternGoal], norm: str) -> float:
    M = cp.Variable((goals[0].keys.shape[1], len(goals[0].query)))
    held = [
        cp.log_sum_exp(
            (np.delete(goal.keys, a, axis=0) - goal.keys[a]) @ M @ goal.query
        )
        <= float(np.log(slack))
        for goal in goals
        for a, slack in zip(goal.targets, goal.slacks, strict=True)
    ]
    problem = cp.Problem(cp.Minimize(cp.norm(M, norm)), held)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_smallest_matrix_is_that_of_another_solver(seed: int, targets: int) -> None:
    goals = some_goals(seed, targets=targets)
    found = smallest(goals)
    assert found.met
    assert max(violations(goals, found.matrix)) <= 1e-9
    assert np.linalg.norm(found.matrix) == pytest.approx(
        reference(goals, "fro"), rel=1e-5
    )
    assert value(goals, found, "frobenius") == pytest.approx(
        np.linalg.norm(found.matrix), rel=1e-9
    )


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([1e-9, 1e-2, 0.5]),
)
def test_what_is_said_to_be_met_is_and_the_bound_is_below(
    seed: int, T: int, D: int, rules: int, eps: float
) -> None:
    goals = some_goals(seed, T, D, min(rules, T), eps=eps)
    found = smallest(goals)
    if found.met:
        assert max(violations(goals, found.matrix)) <= 1e-8
        assert value(goals, found, "frobenius") <= np.linalg.norm(found.matrix) * (
            1 + 1e-7
        )


def test_twins_cannot_be_told_apart() -> None:
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = smallest([PatternGoal(X, X[2], (0,), np.array([0.1]))])
    assert not found.met


def test_nothing_to_do_needs_nothing() -> None:
    alone = smallest([PatternGoal(np.ones((1, 2)), np.ones(2), (0,), np.array([0.1]))])
    assert alone.met and not alone.matrix.any()
    even = smallest([PatternGoal(np.eye(3), np.ones(3), (0, 1, 2), np.full(3, 2.5))])
    assert even.met and np.abs(even.matrix).max() < 1e-12


@pytest.mark.parametrize("apart", [1e-3, 1e-7])
def test_near_twins_are_told_apart_by_a_large_matrix(apart: float) -> None:
    X = np.array([[1.0, 0.0], [1.0, apart], [0.0, 1.0]])
    found = smallest([PatternGoal(X, X[2], (0,), np.array([0.01]))])
    assert found.met
    assert np.linalg.norm(found.matrix) == pytest.approx(np.log(100) / apart, rel=1e-5)
