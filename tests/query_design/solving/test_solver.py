"""The solver against a general one (cvxpy with Clarabel), closed forms, and inputs made to be hard."""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from headwright.query_design.solving.bounds import dual_bound, violation
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.solving.solver import solve
from tests.effort import tried


def target(keys: Any, targets: list[int], slacks: Any, **rest: Any) -> QueryProblem:
    slack = np.broadcast_to(np.asarray(slacks, dtype=float), (len(targets),)).copy()
    scenarios = keys if isinstance(keys, tuple) else (np.asarray(keys, dtype=float),)
    return QueryProblem(scenarios, np.array(targets), 1 / (1 + slack), slack, **rest)


def norm(query: np.ndarray) -> float:
    size = max(float(np.abs(query).max()), 1e-305)
    return size * float(np.linalg.norm(query / size))


def gap(problem: QueryProblem, solution: QuerySolution) -> float:
    return norm(solution.query) / dual_bound(problem, solution) - 1


def assert_solved(problem: QueryProblem, within: float = 1e-10) -> QuerySolution:
    solution = solve(problem)
    assert solution.status == "solved"
    assert violation(problem, solution.query) <= 0
    assert -1e-12 < gap(problem, solution) <= within
    assert solution.multipliers.sum() == pytest.approx(1)
    return solution


def reference(problem: QueryProblem) -> float:
    """The length of the shortest query, by another solver; inf if there is none."""
    cp = pytest.importorskip("cvxpy")
    n, d = problem.shape
    q, s = cp.Variable(d), problem.scale
    constraints = []
    for keys in problem.keys:
        up, low, joins = [], [], []
        for i in range(n):
            m = s * (keys[i] @ q)
            ends = [m]
            if problem.scale_low is not None and problem.scale_high is not None:
                ends = [problem.scale_low[i] * m, problem.scale_high[i] * m]
            parts = [
                matrix.T @ q for indices, matrix in problem.factors if i in indices
            ]
            if problem.ball is not None:
                parts.append(problem.ball[i] * q)
            if problem.stretch is not None:
                parts.append(
                    cp.reshape(problem.stretch[i] * (keys[i] @ q), (1,), order="C")
                )
            random = (
                problem.pairs
                and problem.random is not None
                and problem.random[i]
                and parts
            )
            joins.append([abs(s) * part for part in parts] if random else [])
            h = abs(s) * cp.norm(cp.hstack(parts), 2) if parts and not random else 0
            up.append(cp.maximum(*ends, m if len(ends) == 1 else ends[0]) + h)
            low.append(cp.minimum(*ends, m if len(ends) == 1 else ends[0]) - h)
        for a, slack in zip(problem.targets, problem.slacks, strict=True):
            pairs = [
                cp.norm(cp.hstack(joins[i] + joins[a]), 2)
                if joins[i] or joins[a]
                else 0
                for i in range(n)
            ]
            others = cp.hstack([up[i] - low[a] + pairs[i] for i in range(n) if i != a])
            constraints.append(cp.log_sum_exp(others) <= math.log(slack))
    program = cp.Problem(cp.Minimize(cp.norm(q, 2)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # 'may be inaccurate': by less than is asked for here
        program.solve(
            solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )
    return math.inf if "infeasible" in program.status else float(program.value)


def uncertain(seed: int) -> QueryProblem:
    """A small random targets with random kinds of ranges."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 12)), int(rng.integers(3, 7))
    m = int(rng.integers(1, min(d, 4)))
    keys = tuple(3 * rng.standard_normal((n, d)) for _ in range(1 + seed % 2))
    keys = (keys[0], keys[0] + 0.1 * keys[1]) if len(keys) > 1 else keys
    rest: dict[str, Any] = {}
    if seed % 3 == 0:
        rest |= {
            "scale_low": rng.uniform(0.9, 1.0, n),
            "scale_high": rng.uniform(1.0, 1.1, n),
        }
    if seed % 4 == 1:
        rest |= {"ball": rng.uniform(0, 0.1, n)}
    if seed % 5 == 2:
        rest |= {"stretch": rng.uniform(0, 0.05, n)}
    if seed % 5 == 3:
        shared, own = (
            0.1 * rng.standard_normal((d, 2)),
            0.3 * rng.standard_normal((d, 1)),
        )
        rest |= {"factors": ((np.arange(1, n), shared), (np.array([0]), own))}
    slacks = m - 1 + rng.uniform(0.05, 0.5, m) if m > 1 else rng.uniform(0.001, 0.5, m)
    return target(
        keys, list(range(m)), slacks, scale=(-1) ** seed * rng.uniform(0.2, 2), **rest
    )


def in_pairs(seed: int) -> QueryProblem:
    """A small random targets with keys some of which are random, and guarded in pairs."""
    rng = np.random.default_rng(1000 + seed)
    n, d = int(rng.integers(4, 12)), int(rng.integers(3, 7))
    m = int(rng.integers(1, min(d, 4)))
    keys = 3 * rng.standard_normal((n, d))
    rest: dict[str, Any] = {
        "random": rng.random(n) < rng.choice([0.3, 0.7, 1.1]),
        "pairs": True,
    }
    if seed % 3 != 0:
        rest |= {"ball": rng.uniform(0, 0.4, n) * (rng.random(n) < 0.8)}
    if seed % 3 != 1:
        rest |= {"stretch": rng.uniform(0, 0.1, n)}
    if seed % 4 == 3:
        shared, own = (
            0.2 * rng.standard_normal((d, 2)),
            0.3 * rng.standard_normal((d, 1)),
        )
        rest |= {"factors": ((np.arange(1, n - 1), shared), (np.array([0]), own))}
    if seed % 5 == 4:
        rest |= {
            "scale_low": rng.uniform(0.9, 1.0, n),
            "scale_high": rng.uniform(1.0, 1.1, n),
        }
    slacks = m - 1 + rng.uniform(0.05, 0.5, m) if m > 1 else rng.uniform(0.001, 0.5, m)
    return target(
        keys, list(range(m)), slacks, scale=(-1) ** seed * rng.uniform(0.2, 2), **rest
    )


@pytest.mark.parametrize(
    "variance, length", [(0.03, 13.970554891), (0.05, 22.260803849)]
)
def test_independent_deviations_join_in_pairs(variance: float, length: float) -> None:
    z = NormalDist().inv_cdf(1 - 0.05 / 7)
    spread = {
        "ball": np.full(8, z * math.sqrt(variance)),
        "random": np.ones(8, dtype=bool),
    }
    assert norm(
        assert_solved(target(np.eye(8), [0], 0.01, pairs=True, **spread)).query
    ) == pytest.approx(length)
    apart = solve(target(np.eye(8), [0], 0.01, **spread))
    assert apart.status == "impossible" or norm(apart.query) > 2 * length


def test_pairs_change_nothing_where_no_key_is_random() -> None:
    rest = {"ball": np.full(8, 0.1), "random": np.zeros(8, dtype=bool)}
    one, other = (
        solve(target(np.eye(8), [0, 1], 1.1, pairs=pairs, **rest))
        for pairs in (False, True)
    )
    np.testing.assert_allclose(one.query, other.query, rtol=1e-12)


@pytest.mark.parametrize(
    "problem",
    [*map(uncertain, range(tried(400, 8))), *map(in_pairs, range(tried(200, 8)))],
)
def test_agrees_with_a_general_solver(problem: QueryProblem) -> None:
    solution = solve(problem)
    expected = reference(problem)
    if math.isinf(expected):
        assert solution.status == "impossible"
        return
    assert solution.status == "solved"
    assert violation(problem, solution.query) <= 0
    assert gap(problem, solution) <= 1e-9
    assert norm(solution.query) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("n", "d"), [(300, 16), (1000, 64), (40_000, 32)])
def test_random_keys_have_no_gap(n: int, d: int) -> None:
    keys = np.random.default_rng(n).standard_normal((n, d))
    keys[3] *= 2
    solution = assert_solved(target(keys, [3], 0.01), within=1e-11)
    np.testing.assert_array_equal(solution.query, solution.best)


def many_keys() -> np.ndarray:
    keys = np.random.default_rng(11).standard_normal((12_000, 8)) / 2
    keys[[3, 4, 5]] += 1.5
    return keys


@pytest.mark.parametrize(("targets", "slack"), [([3], 0.1), ([3, 4, 5], 6.0)])
@pytest.mark.parametrize(
    "uncertainty",
    [
        {},
        {"ball": np.full(12_000, 0.02)},
        {"scale_low": np.full(12_000, 0.98), "scale_high": np.full(12_000, 1.02)},
        {"stretch": np.full(12_000, 0.02)},
        {
            "factors": (
                (np.arange(6000), 0.02 * np.ones((8, 2))),
                (np.arange(6000, 12_000), 0.01 * np.eye(8)),
            )
        },
        {
            "ball": np.full(12_000, 0.04),
            "random": np.arange(12_000) % 3 > 0,
            "pairs": True,
        },
    ],
    ids=["fixed", "ball", "scale", "stretch", "factors", "pairs"],
)
def test_few_rows_stand_for_many_keys(
    targets: list[int], slack: float, uncertainty: dict[str, Any]
) -> None:
    assert_solved(target(many_keys(), targets, slack, **uncertainty))


def test_few_rows_stand_for_many_keys_in_each_scenario() -> None:
    keys = many_keys()
    moved = keys + 0.05 * np.random.default_rng(12).standard_normal(keys.shape)
    assert_solved(target((keys, moved), [3, 4], 1.1))


def test_many_keys_that_differ_by_a_constant_only() -> None:
    assert_solved(target(many_keys() + 1e6, [3], 0.01), within=1e-9)


def test_orthonormal_keys_in_closed_form() -> None:
    n, eps = 12, 0.01
    solution = assert_solved(target(np.eye(n), [0], eps))
    # q = x e_0 - y (others): the shortest with x + y = ln((n - 1) / eps) has x = (n - 1) y
    total = math.log((n - 1) / eps)
    expected = np.full(n, -total / n)
    expected[0] = total * (n - 1) / n
    np.testing.assert_allclose(solution.query, expected, rtol=1e-9)


@pytest.mark.parametrize("several", [2, 3, 6])
def test_averages_agree_with_a_general_solver(several: int) -> None:
    keys = np.random.default_rng(several).standard_normal((30, 20))
    problem = target(keys * 2, list(range(several)), several - 1 + 0.01)
    solution = assert_solved(problem)
    assert norm(solution.query) == pytest.approx(reference(problem), rel=1e-6)


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("n", [1000, 20_000])
def test_near_duplicates(distance: float, n: int) -> None:
    rng = np.random.default_rng(7)
    keys = rng.standard_normal((n, 64))
    keys[7] = keys[3] + distance * rng.standard_normal(64) / 8
    assert norm(assert_solved(target(keys, [3], 0.01)).query) > 1 / distance


@pytest.mark.parametrize("eps", [1e-30, 1e-300])
def test_tiny_slacks(eps: float) -> None:
    assert_solved(
        target(np.random.default_rng(1).standard_normal((1000, 64)), [3], eps)
    )


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e300])
@pytest.mark.parametrize("scale", [1.0, -3.0])
def test_sizes_of_keys(size: float, scale: float) -> None:
    keys = np.random.default_rng(2).standard_normal((100, 8)) * 3
    one = assert_solved(target(keys, [3], 0.01, scale=scale))
    other = assert_solved(target(keys * size, [3], 0.01, scale=scale))
    assert norm(other.query) * size == pytest.approx(norm(one.query), rel=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        target(np.ones((1, 3)), [0], 0.01),
        target(np.zeros((5, 3)), [0], 4.0),
        target(np.random.default_rng(0).standard_normal((8, 4)), list(range(8)), 7.1),
        target(np.random.default_rng(0).standard_normal((8, 4)), [2], 100.0),
    ],
)
def test_a_targets_that_is_already_met_needs_no_query(problem: QueryProblem) -> None:
    solution = solve(problem)
    assert solution.status == "solved"
    assert not solution.query.any()


def test_keys_on_a_line_with_ties() -> None:
    assert_solved(target([[1.0], [0.0], [0.0], [0.5], [0.5]], [0], 1e-3))


def test_some_constraints_are_inactive() -> None:
    keys = np.random.default_rng(3).standard_normal((100, 16))
    solution = assert_solved(target(keys, [0, 1, 2], [0.5, 30.0, 1000.0]))
    assert solution.multipliers[0, 2] == 0


def test_all_keys_are_targets() -> None:
    keys = np.random.default_rng(4).standard_normal((6, 8))
    assert_solved(target(keys, list(range(6)), 1 / (np.arange(1, 7) / 25) - 1))


def test_more_dimensions_than_keys() -> None:
    keys = np.random.default_rng(5).standard_normal((20, 300))
    assert_solved(target(keys, [1], 0.01))
    assert_solved(target(keys, [1], 0.01, ball=np.full(20, 0.1)))


def test_a_key_whose_deviation_the_query_avoids() -> None:
    rng = np.random.default_rng(6)
    keys, direction = 3 * rng.standard_normal((10, 5)), np.eye(5)[:, :1] * 9.0
    problem = target(keys, [0], 0.1, factors=((np.arange(3), direction),))
    solution = assert_solved(problem)
    assert abs(solution.query[0]) < 1e-9 * norm(solution.query)
    assert norm(solution.query) == pytest.approx(reference(problem), rel=1e-6)


def impossible_keys(kind: str, n: int) -> np.ndarray:
    keys = np.random.default_rng(8).standard_normal((n, 16))
    keys[3] = {
        "inside": 0 * keys[3],
        "between": (keys[5] + keys[6]) / 2,
        "duplicate": keys[5],
    }[kind]
    return keys


@pytest.mark.parametrize("kind", ["inside", "between", "duplicate"])
@pytest.mark.parametrize("n", [300, 30_000])
def test_impossible_targets(kind: str, n: int) -> None:
    problem = target(impossible_keys(kind, n), [3], 0.1)
    solution = solve(problem)
    assert solution.status == "impossible"
    least = violation(problem, solution.best)
    assert least > 0
    for direction in np.random.default_rng(9).standard_normal((20, 16)):
        assert violation(problem, solution.best + 0.01 * direction) >= least - 1e-9
    if kind == "duplicate":
        assert least == pytest.approx(math.log(1 / 0.1), rel=1e-6)


def test_impossible_averages_and_zero_keys() -> None:
    keys = np.random.default_rng(10).standard_normal((200, 16))
    assert solve(target(keys, list(range(20)), 19.01)).status == "impossible"
    assert solve(target(np.zeros((5, 3)), [0], 0.01)).status == "impossible"


@pytest.mark.parametrize(
    "problem",
    [
        target(np.eye(4), [0], 0.1),
        target(np.eye(4), [0], 4.0),
        target(np.eye(4), [0], 0.1, ball=np.full(4, 0.1)),
        target(np.random.default_rng(1).standard_normal((20_000, 8)), [0], 0.1),
    ],
)
def test_progress_grows_to_one(problem: QueryProblem) -> None:
    told: list[float] = []
    solve(problem, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert all(0 < share < 1 for share in told[:-1])


def test_progress_is_even_over_many_keys() -> None:
    keys = np.random.default_rng(2).standard_normal((40_000, 32)) / 4
    told: list[float] = []
    solve(target(keys, [3], 0.01), progress=told.append)
    assert max(np.diff([0.0, *told])) < 0.35  # no jump from little to all
    assert told[len(told) // 2] < 0.75


def test_an_interruption_passes_through() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(target(np.eye(4), [0], 0.1), progress=interrupt)


def odd_uncertainties(n: int, d: int, size: float) -> dict[str, dict[str, Any]]:
    every = np.arange(n)
    return {
        "fixed": {},
        "ball": {"ball": np.full(n, min(0.1 * size, 1e300))},
        "huge ball": {"ball": np.full(n, 1e300)},
        "tiny ball": {"ball": np.full(n, 1e-300)},
        "scales": {"scale_low": np.full(n, -1e-200), "scale_high": np.full(n, 1e200)},
        "all scales": {
            "scale_low": np.full(n, -1e308),
            "scale_high": np.full(n, 1e308),
        },
        "stretch": {"stretch": np.full(n, 1e200)},
        "factor": {"factors": ((every, np.full((d, 2), 1e-200)),)},
        "pairs": {
            "factors": ((every, np.full((d, 2), 1e200)),),
            "random": np.ones(n, dtype=bool),
            "pairs": True,
        },
    }


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (6, 4)])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-10, 1e10, 1.7e308])
@pytest.mark.parametrize("scale", [-1e-300, 1.0, 1e300])
def test_any_size_gets_a_status(
    shape: tuple[int, int], size: float, scale: float
) -> None:
    keys = np.random.default_rng(0).uniform(-1, 1, shape) * size
    uncertainties = [(keys, rest) for rest in odd_uncertainties(*shape, size).values()]
    for given, rest in [
        *uncertainties,
        ((keys, -keys), {}),
        ((keys, 0 * keys), {}),
        ((1e-200 * keys, keys), {}),
    ]:
        problem = target(given, [0], 0.01, scale=scale, **rest)
        solution = solve(problem)
        assert solution.status in ("solved", "impossible", "stalled")
        assert np.isfinite(solution.query).all()
        assert np.isfinite(solution.witness).all()
        assert solution.multipliers.sum() == pytest.approx(1)
        assert dual_bound(problem, solution) >= 0
        assert violation(problem, solution.query) <= (
            0 if solution.status == "solved" else math.inf
        )


@pytest.mark.parametrize(
    "given", [[[1.0], [1.0]], np.zeros((4, 2)), np.ones((5, 1)), [[1.0, 2.0]] * 3]
)
def test_duplicates_are_impossible_to_tell_apart(given: Any) -> None:
    assert solve(target(given, [0], 0.5)).status == "impossible"
