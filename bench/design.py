"""The shortest query against general solvers, and checking it, beside one pass over the keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from bench.measure import Contender
from headwright.certificates import floating
from headwright.certificates.exact.verify import verify
from headwright.query_design.certify import as_npy, certificate
from headwright.query_design.program import program
from headwright.query_design.proving.key_placement import bound_at
from headwright.query_design.solving.problem import QueryProblem
from headwright.query_design.solving.solver import dual_bound, solve, violation
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import copy
from headwright.uncertainty import Ball, Between, Noise, Uncertainty

TITLE = (
    "Shortest query that copies one key (Gaussian keys of length about 1, eps = 0.01)"
)
SIZES = [(1000, 64), (10_000, 64), (100_000, 64), (1_000_000, 64), (100_000, 256)]
SMALL = [(1000, 64), (10_000, 64)]
UNCERTAINTIES = {
    "ball": Noise(spread=Ball(0.001)),
    "scale": Noise(scale=Between(0.999, 1.001)),
}


def _rows() -> list[Contender]:
    rows = []
    for n, d in SIZES:
        at, size = f"{n:.0e} x {d}", {"n": n, "d": d}
        ours = f"headwright, solve, {at}"
        rows.append(Contender(ours, "ours", size))
        rows.append(
            Contender(
                f"one pass K @ q, {at}",
                "one_pass",
                size,
                repeats=5,
                peer_of=ours,
                kind="limit",
            )
        )
        rows.append(
            Contender(f"SciPy SLSQP, {at}", "slsqp", size, repeats=1, peer_of=ours)
        )
        if (n, d) in SMALL:
            rows.append(
                Contender(
                    f"cvxpy + Clarabel, log_sum_exp, {at}",
                    "clarabel_lse",
                    size,
                    repeats=1,
                    peer_of=ours,
                )
            )
        if (n, d) in SMALL or (n, d) == (100_000, 64):
            rows.append(
                Contender(
                    f"cvxpy + Clarabel, sum of exp, {at}",
                    "clarabel_sum",
                    size,
                    repeats=1,
                    peer_of=ours,
                )
            )
        if n <= 100_000 and d == 64:
            rows.append(
                Contender(
                    f"verify --checker exact, {at}",
                    "check",
                    {**size, "quick": False},
                    repeats=1,
                    peer_of=ours,
                    kind="ours",
                )
            )
        rows.append(
            Contender(
                f"verify --checker float, {at}",
                "check",
                {**size, "quick": True},
                peer_of=ours,
                kind="ours",
            )
        )
    certain = "verify --checker float, 1e+06 x 64"
    rows += [
        Contender(
            f"the same, {uncertainty} on all keys",
            "check_in_uncertainty",
            {"uncertainty": uncertainty},
            peer_of=certain,
            kind="ours",
        )
        for uncertainty in UNCERTAINTIES
    ]
    near = (1e-2, 1e-4, 1e-6)
    rows += [
        Contender(
            f"near-duplicate at {distance:g}, 1e5 x 64", "hard", {"distance": distance}
        )
        for distance in near
    ]
    rows.append(Contender("eps = 1e-30, 1e5 x 64", "hard", {"eps": "1e-30"}))
    rows.append(
        Contender("target inside the hull, 1e5 x 64: solve", "hard", {"inside": True})
    )
    rows.append(
        Contender(
            "certain keys, 1e5 x 64: solve",
            "in_uncertainty",
            {"uncertainty": "certain"},
        )
    )
    rows += [
        Contender(
            f"{uncertainty} on all of 1e5 x 64: solve",
            "in_uncertainty",
            {"uncertainty": uncertainty},
            peer_of="certain keys, 1e5 x 64: solve",
            kind="ours",
        )
        for uncertainty in ("ball", "scale", "normal, in pairs")
    ]
    rows += [
        Contender(f"average of 3 of 1e4 x 64, eps = {eps}", "strict", {"eps": eps})
        for eps in ("1e-4", "1e-6")
    ]
    return rows


CONTENDERS = _rows()


def _keys(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(d)


def _question(keys: np.ndarray, eps: str = "0.01") -> DesignQuestion:
    return DesignQuestion(
        (keys,), copy(3, eps), Uncertainty(), Fraction(1), Fraction(1)
    )


def _says(question: DesignQuestion, query: np.ndarray) -> str:
    return f"length {np.linalg.norm(query):.8g}, targets missed by {max(0.0, violation(program(question), query)):.0e}"


def ours(n: int, d: int) -> Callable[[], str]:
    question = _question(_keys(n, d))
    problem = program(question)

    def work() -> str:
        solution = solve(problem)
        return f"{solution.status}, length {np.linalg.norm(solution.query):.8g}"

    return work


def one_pass(n: int, d: int) -> Callable[[], str]:
    keys, q = _keys(n, d), np.ones(d)
    return lambda: f"largest score {(keys @ q).max():.4g}"


def slsqp(n: int, d: int) -> Callable[[], str]:
    keys, bound = _keys(n, d), np.log(1.01)
    question = _question(keys)

    def miss(q: np.ndarray) -> float:
        return float(bound - logsumexp(keys @ q) + keys[3] @ q)

    def slope(q: np.ndarray) -> np.ndarray:
        s = keys @ q
        return keys[3] - keys.T @ np.exp(s - logsumexp(s))

    def work() -> str:
        found = minimize(  # type: ignore[call-overload]
            lambda q: q @ q / 2,
            10 * keys[3],
            jac=lambda q: q,
            method="SLSQP",
            constraints={"type": "ineq", "fun": miss, "jac": slope},
            options={"maxiter": 500, "ftol": 1e-12},
        )
        return _says(question, found.x)

    return work


def clarabel_lse(n: int, d: int) -> Callable[[], str]:
    return _clarabel(n, d, lse=True)


def clarabel_sum(n: int, d: int) -> Callable[[], str]:
    return _clarabel(n, d, lse=False)


def _clarabel(n: int, d: int, *, lse: bool) -> Callable[[], str]:
    import cvxpy as cp

    keys = _keys(n, d)
    question = _question(keys)

    def work() -> str:
        q = cp.Variable(d)
        others = np.delete(keys, 3, axis=0) - keys[3]
        limit = (
            cp.log_sum_exp(others @ q) <= np.log(0.01)
            if lse
            else cp.sum(cp.exp(others @ q)) <= 0.01
        )
        try:
            cp.Problem(cp.Minimize(cp.norm(q)), [limit]).solve(solver=cp.CLARABEL)
        except cp.error.SolverError:
            return "the solver gave up"
        return _says(question, np.asarray(q.value))

    return work


def check(n: int, d: int, *, quick: bool) -> Callable[[], str]:
    keys = _keys(n, d)
    question = _question(keys)
    problem = program(question)
    solution = solve(problem)
    length = Fraction(f"{dual_bound(problem, solution) * (1 - 1e-9):.15g}")
    query = solution.query * (1 + 1e-9)
    bound = bound_at(question, query, {(0, 3): 1.0})
    text = certificate(
        question, "designed", bound, queries=query[None], none_shorter=length
    )
    content = as_npy(keys)
    checker = floating.verify if quick else verify
    return lambda: checker(text, [content]).word


def check_in_uncertainty(
    uncertainty: str, n: int = 1_000_000, d: int = 64
) -> Callable[[], str]:
    """A query that is longer than need be, and a bound far below it: what is checked is the same."""
    keys = _keys(n, d)
    question = DesignQuestion(
        (keys,),
        copy(3),
        Uncertainty(others=UNCERTAINTIES[uncertainty]),
        Fraction(1),
        Fraction(1),
    )
    query = keys[3] / (keys[3] @ keys[3]) * 40
    bound = bound_at(question, query / 4, {(0, 3): 1.0})
    text = certificate(
        question, "designed", bound, queries=query[None], none_shorter=Fraction(1)
    )
    content = as_npy(keys)
    return lambda: floating.verify(text, [content]).word


def hard(
    distance: float | None = None, eps: str = "0.01", inside: bool = False
) -> Callable[[], str]:
    keys = _keys(100_000, 64)
    if distance is not None:
        keys[4] = keys[3] + distance * np.random.default_rng(1).normal(size=64) / 8
    if inside:
        keys[3] = keys[10:20].mean(axis=0) / 10
    question = _question(keys, eps)
    problem = program(question)

    def work() -> str:
        solution = solve(problem)
        length = float(np.linalg.norm(solution.query))
        if solution.status != "solved":
            return f"{solution.status}; best reachable eps {0.01 * np.exp(violation(problem, solution.best)):.4g}"
        return (
            f"length {length:.8g}, gap {length / dual_bound(problem, solution) - 1:.0e}"
        )

    return work


def in_uncertainty(uncertainty: str) -> Callable[[], str]:
    n, d = 100_000, 64
    keys = _keys(n, d)
    problem = program(_question(keys))
    spreads: dict[str, dict[str, Any]] = {
        "certain": {},
        "ball": {"ball": np.full(n, 0.01)},
        "scale": {"scale_low": np.full(n, 0.95), "scale_high": np.full(n, 1.05)},
        "normal, in pairs": {
            "ball": np.full(n, 0.02),
            "random": np.ones(n, dtype=bool),
            "pairs": True,
        },
    }
    problem = replace(problem, **spreads[uncertainty])

    def work() -> str:
        solution = solve(problem)
        length = float(np.linalg.norm(solution.query))
        return f"{solution.status}, length {length:.8g}, gap {length / dual_bound(problem, solution) - 1:.0e}"

    return work


def strict(eps: str) -> Callable[[], str]:
    floors = np.full(3, 1 / (3 + float(eps)))
    problem = QueryProblem(
        (_keys(10_000, 64),),
        np.arange(3),
        floors,
        1 / floors - 1,
        spare=np.full(3, float(eps)),
    )

    def work() -> str:
        solution = solve(problem)
        length = float(np.linalg.norm(solution.query))
        return f"{solution.status}, length {length:.8g}, gap {length / dual_bound(problem, solution) - 1:.0e}"

    return work
