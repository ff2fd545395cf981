"""Heads of small dimension: found from any tokens, no larger than another solver says, and proven where they can be."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.head_design import Rule, Rules, build
from headwright.head_design.factored_matrix import (
    StackedConstraints,
    along_signs,
    by_chance,
    factored,
    on_a_curve,
    truncated_svd,
)
from headwright.head_design.head_design import value
from headwright.head_design.matrix_program import ScoreConstraint
from headwright.head_design.smallest_matrix import PatternGoal, smallest
from tests.effort import tried
from tests.head_design.test_builder import kept
from tests.head_design.test_smallest_matrix import reference, some_goals, violations

MOST, PAIR = Fraction(100, 101), Fraction(49, 100)


@pytest.mark.parametrize("seed", range(3))
def test_the_smallest_nuclear_norm_is_that_of_another_solver(seed: int) -> None:
    goals = some_goals(seed)
    found = factored(goals, [truncated_svd(smallest(goals).matrix, 3)])
    assert found is not None
    truth = reference(goals, "nuc")
    assert max(violations(goals, found.matrix)) <= 1e-9
    assert np.linalg.norm(found.matrix, "nuc") == pytest.approx(truth, rel=1e-5)
    assert value(goals, found, "nuclear") == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_given_rank_is_kept(rank: int) -> None:
    goals = some_goals(3, T=6, D=8, rules=5)
    found = factored(goals, by_chance(goals, rank, 5))
    if found is None:
        assert rank == 1  # two targets at most can be the ends of a line
        return
    assert (
        np.linalg.matrix_rank(found.matrix, tol=1e-9 * np.linalg.norm(found.matrix))
        <= rank
    )
    assert max(violations(goals, found.matrix)) <= 1e-8


def test_no_start_leads_where_there_is_nothing() -> None:
    X = np.eye(4)
    goals = [PatternGoal(X, x, (i,), np.array([0.01])) for i, x in enumerate(X)]
    starts = [*by_chance(goals, 1, 2), along_signs(goals, [1, -1, 1, -1])]
    assert factored(goals, starts) is None


def test_slopes_of_the_constraints_are_differences() -> None:
    rng = np.random.default_rng(0)
    constraints = [
        ScoreConstraint(
            rng.normal(size=(n, 3)), rng.normal(size=2), 0.3, shifts=rng.normal(size=n)
        )
        for n in (1, 4, 2)
    ]
    stack = StackedConstraints(constraints)
    x, dx = rng.normal(size=10), rng.normal(size=10)  # 2 rows in 3 + 2 dimensions
    A, B = stack.split(x)
    values, weighted_slope = stack.at(x)
    assert values - 2e-6 == pytest.approx([c.at(A.T @ B)[0] for c in constraints])
    weights = rng.uniform(size=3)
    ends = [float(weights @ stack.at(x + t * dx).values) for t in (1e-6, -1e-6)]
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(
        float(weighted_slope(weights) @ dx), rel=1e-6
    )


@pytest.mark.parametrize("T", [4, 16])
def test_a_previous_token_head_has_one_dimension(T: int) -> None:
    found = build(
        Rules(
            (np.eye(T),),
            tuple(Rule(i, attend={i - 1: MOST}) for i in range(1, T)),
            causal=True,
        ),
        minimise="rank",
    )
    kept(found)
    assert (found.head_dim, found.head_dim_lower_bound) == (1, 1)


def test_rounding_is_given_room_before_it_is_given_rows() -> None:
    rules = Rules(
        (np.eye(24),),
        tuple(Rule(i, attend={i - 1: MOST}) for i in range(1, 24)),
        causal=True,
    )
    found = build(rules, minimise="rank", dtype="bfloat16")
    kept(found)
    assert found.head_dim == 1


@pytest.mark.parametrize("T", [3, 12])
def test_any_copies_without_a_mask_need_two_dimensions_and_no_more(T: int) -> None:
    chosen = np.random.default_rng(T).permutation(T)
    rules = Rules(
        (np.eye(T),), tuple(Rule(i, attend={int(chosen[i]): MOST}) for i in range(T))
    )
    found = build(rules, minimise="rank")
    kept(found)
    assert (found.head_dim, found.head_dim_lower_bound) == (2, 2)


def test_pairs_that_split_four_tokens_in_all_ways_need_three_dimensions() -> None:
    rules = [Rule(i, attend={i: MOST}) for i in range(4)]
    rules += [Rule(3 + i, attend={0: PAIR, i: PAIR}) for i in (1, 2, 3)]
    found = build(Rules((np.eye(7),), tuple(rules)), minimise="rank")
    kept(found)
    assert (found.head_dim, found.head_dim_lower_bound) == (3, 3)


def test_what_is_asked_of_one_dimension_may_need_large_weights() -> None:
    """Keys 0 and 2 must be nearly alike for token 0, and far apart for token 1: queries of very different size."""
    rules = (
        Rule(0, attend={0: PAIR, 2: PAIR}),
        Rule(1, attend={2: MOST}),
        Rule(2, attend={2: MOST}),
    )
    found = build(Rules((np.eye(3),), rules), minimise="rank")
    kept(found)
    assert found.head_dim == 1
    assert found.nuclear > 100


def test_the_curve_lets_any_k_tokens_be_averaged_in_2k_dimensions() -> None:
    rng, X = np.random.default_rng(0), np.eye(9)
    for k in (1, 2, 3):
        some = [tuple(map(int, rng.choice(9, k, replace=False))) for _ in range(9)]
        goals = [
            PatternGoal(X, X[i], targets, np.full(k, k - 1 + 0.01))
            for i, targets in enumerate(some)
        ]
        found = factored(goals, [on_a_curve(goals, 2 * k)])
        assert found is not None
        assert (
            np.linalg.matrix_rank(found.matrix, tol=1e-9 * np.linalg.norm(found.matrix))
            <= 2 * k
        )


@settings(max_examples=tried(15))
@given(
    st.integers(0, 10**6),
    st.integers(3, 6),
    st.integers(2, 6),
    st.booleans(),
    st.booleans(),
)
def test_the_dimension_that_is_found_is_at_least_the_one_that_is_proven(
    seed: int, T: int, D: int, causal: bool, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = (
        rng.integers(-2, 3, size=(T, D)).astype(float)
        if whole
        else rng.normal(size=(T, D))
    )
    rules = []
    for i in range(1, T):
        n = i + 1 if causal else T
        some = [
            int(a)
            for a in rng.choice(n, min(n, int(rng.integers(1, 3))), replace=False)
        ]
        rules.append(
            Rule(i, attend={a: (MOST if len(some) == 1 else PAIR) for a in some})
        )
    found = build(Rules((X,), tuple(rules), causal=causal), minimise="rank")
    if found.word == "designed":
        kept(found)
        assert (
            found.head_dim_lower_bound
            <= found.head_dim
            <= len(build(found.rules).layer.heads[0].W_Q)  # type: ignore[union-attr]
        )


def test_a_head_dimension_that_is_asked_for_is_kept_and_the_bound_is_told() -> None:
    rules = Rules((np.eye(5),), tuple(Rule(i, attend={i: MOST}) for i in range(5)))
    found = build(rules, head_dim=3)
    kept(found)
    assert (found.head_dim, found.head_dim_lower_bound) == (3, 2)
    assert (
        build(rules).head_dim_lower_bound == 1
    )  # where it does not matter it is not looked for


def test_another_solver_agrees_that_one_dimension_is_too_few() -> None:
    """With all signs of the queries tried, which are all that matters in one dimension, no keys do it."""
    X = np.eye(3)
    assert (
        build(
            Rules((X,), tuple(Rule(i, attend={i: MOST}) for i in range(3))), head_dim=1
        ).word
        == "impossible"
    )
    for signs in np.ndindex(2, 2, 2):
        k = cp.Variable(3)
        apart = [
            (1 - 2 * signs[i]) * (k[i] - k[j]) >= 1
            for i in range(3)
            for j in range(3)
            if i != j
        ]
        assert cp.Problem(cp.Minimize(0), apart).solve(solver=cp.CLARABEL) == np.inf
