"""Queries that meet targets, as short as a search finds them. Whoever uses one decides exactly whether it does."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize, nnls

from tests.referee.numbers import Vector, as_float
from tests.referee.problem import Problem

Kept = tuple[
    list[Vector], float
]  # queries, and a length below which there are none, up to rounding (inf: none at all)
Search = Callable[[Problem, list[np.ndarray]], tuple[list[np.ndarray], float]]
ROUNDS = (1e-3, 1e-6, 1e-9)  # what sharp corners are rounded by, in turn
DEPTHS = (0.0, 1.2, 2.3)  # standard deviations that are withstood, in trials


@dataclass(frozen=True, eq=False)
class Scaled:
    """The problem in numbers near 1, the scale of scores included; queries are those of the problem times `unit`."""

    problem: Problem
    unit: float


def scaled(problem: Problem) -> Scaled:
    s = problem.scale
    size = max(float(np.abs(K).max(initial=0)) for K in problem.keys)
    size = (
        max(size, *(as_float(e.ball) for e in problem.entries), 0.0)
        if problem.entries
        else size
    )
    power = math.frexp(size)[1] if size else 0
    powered = Fraction(2) ** (power + (math.frexp(as_float(abs(s)))[1] if s else 0))
    rest = s / (powered / Fraction(2) ** power)
    by = Fraction(2) ** -power
    entries = [
        replace(e, ball=e.ball * by, factor=[[x * by for x in c] for c in e.factor])
        for e in problem.entries
    ]
    keys = [np.ldexp(K, -power) for K in problem.keys]
    return Scaled(
        replace(problem, keys=keys, entries=entries, scale=rest), as_float(powered)
    )


@dataclass(frozen=True, eq=False)
class Floats:
    """The problem as arrays: G holds s k_i; of each entry its keys, middle and half of its scales, s^2 C, t, kind."""

    G: list[np.ndarray]
    entries: list[tuple[np.ndarray, float, float, np.ndarray, float, bool, bool]]
    targets: list[tuple[int, float]]


_FLOATS: dict[int, tuple[Problem, Floats]] = {}


def floats_of(problem: Problem) -> Floats:
    if id(problem) not in _FLOATS:
        _FLOATS.clear()
        s, entries = as_float(problem.scale), []
        for e in problem.entries:
            lo, hi = as_float(e.low), as_float(e.high)
            E = np.array([[as_float(x) for x in c] for c in e.factor]).reshape(
                -1, problem.d
            )
            C = s * s * (as_float(e.ball) ** 2 * np.eye(problem.d) + E.T @ E)
            spread = bool(e.ball or e.factor or e.stretch)
            entries.append(
                (
                    np.array(e.keys, dtype=int),
                    (lo + hi) / 2,
                    (hi - lo) / 2,
                    C,
                    as_float(e.stretch),
                    e.random,
                    spread,
                )
            )
        targets = [
            (a, math.log(as_float(1 - p) / as_float(p)) if p < 1 else -1e3)
            for a, p in problem.targets.items()
        ]
        _FLOATS[id(problem)] = (
            problem,
            Floats([s * K for K in problem.keys], entries, targets),
        )
    return _FLOATS[id(problem)][1]


def excess(
    problem: Problem, q: np.ndarray, z: float, rounded: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each scenario and target, ln of what competes less ln of what may, and its gradients; corners rounded up."""
    given, values, slopes = floats_of(problem), [], []
    for G in given.G:
        m = G @ q
        up, low, dup, dlow = m, m, G, G
        if given.entries:
            up, low, dup, dlow = m.copy(), m.copy(), G.copy(), G.copy()
        for at, middle, half, C, t, chance, spread in given.entries:
            ma, Ga = m[at], G[at]
            if middle != 1 or half:
                root = np.sqrt(ma**2 + rounded**2)
                slope = (ma / np.maximum(root, 1e-300))[:, None] * Ga
                up[at], low[at] = middle * ma + half * root, middle * ma - half * root
                dup[at], dlow[at] = (
                    middle * Ga + half * slope,
                    middle * Ga - half * slope,
                )
            by = z if chance else 1.0
            if spread and by:
                Cq = C @ q
                reach = np.sqrt(float(q @ Cq) + (t * ma) ** 2 + rounded**2)
                dreach = (by / np.maximum(reach, 1e-300))[:, None] * (
                    Cq + (t * t * ma)[:, None] * Ga
                )
                up[at] += by * reach
                low[at] -= by * reach
                dup[at] += dreach
                dlow[at] -= dreach
        for a, room in given.targets:
            x = up - low[a]
            x[a] = -np.inf
            top = float(x.max())
            w = np.exp(x - top)
            total = float(w.sum())
            values.append(top + math.log(total) - room)
            slopes.append((w / total) @ dup - dlow[a])
    return np.array(values), np.array(slopes)


_FOUND: OrderedDict[str, Kept] = OrderedDict()


def surely_none_below(problem: Problem, q: Vector) -> float:
    """A length below which no query meets the targets, up to rounding, from the tangents at this one."""
    small = scaled(problem)
    with np.errstate(all="ignore"):
        at = np.array([as_float(x) * small.unit for x in q])
        return max(0.0, _below(small.problem, at, 0.0)) / small.unit


def shortest(problem: Problem, name: str, begin: list[Vector]) -> Kept:
    """Queries that seem to meet the targets, as short as was found; none if there are none. They are kept by name."""
    return _kept(name, problem, begin, _several if problem.heads > 1 else _one)


def directions(problem: Problem, name: str, begin: list[Vector]) -> list[Vector]:
    """Where keys are random: queries that withstand some deviations; how long they must be is left open."""
    return _kept(name, problem, begin, _by_depth)[0]


def _kept(name: str, problem: Problem, begin: list[Vector], how: Search) -> Kept:
    if name not in _FOUND:
        if len(_FOUND) > 500:
            _FOUND.popitem(last=False)
        small = scaled(problem)
        starts = [np.array([as_float(x) * small.unit for x in q]) for q in begin]
        with np.errstate(all="ignore"):
            queries, bound = how(small.problem, starts)
        unit = Fraction(small.unit)
        _FOUND[name] = (
            [[Fraction(x) / unit for x in q.tolist()] for q in queries],
            bound / small.unit,
        )
    return _FOUND[name]


def _starts(problem: Problem) -> list[np.ndarray]:
    K, targets = problem.keys[0], list(problem.targets)
    towards = K[targets].mean(axis=0) - K.mean(axis=0)
    towards = (
        np.sign(as_float(problem.scale)) * towards / (np.linalg.norm(towards) or 1.0)
    )
    rng = np.random.default_rng(1)
    return [3 * towards, 30 * towards, 3 * rng.normal(size=problem.d)]


def _one(problem: Problem, begin: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    if problem.n == 1 or excess(problem, np.zeros(problem.d), 0.0, 0.0)[0].max() <= 0:
        return [np.zeros(problem.d)], 0.0
    sharp = any(e.low != e.high or e.ball or e.factor for e in problem.entries)
    best: np.ndarray | None = None
    bound, starts = 0.0, [*begin, *_starts(problem)]
    while starts:
        q, done = _descend(problem, starts.pop(0), 0.0, ROUNDS[-1] if sharp else 0.0)
        found = _pulled_in(problem, q)
        if found is None and best is None:
            far = _far(problem)
            if far is None or not far.any():
                return [], math.inf if far is None else bound
            best, starts = far, [far]
            continue
        if sharp and (
            found is None
            or _below(problem, q, ROUNDS[-1]) < (1 - 1e-6) * np.linalg.norm(found)
        ):
            for rounded in ROUNDS:
                q, done = _descend(problem, q, 0.0, rounded)
            found = _pulled_in(problem, q)
        bound = max(
            bound,
            _below(problem, q, 0.0),
            _below(problem, q, ROUNDS[-1]) if sharp else 0.0,
        )
        if found is not None and (
            best is None or np.linalg.norm(found) < np.linalg.norm(best)
        ):
            best = found
        if found is not None and done:
            break
    return ([] if best is None else [best]), bound


def _below(problem: Problem, q: np.ndarray, rounded: float) -> float:
    """A length below which no query meets the targets: convex constraints lie above their tangents at q."""
    values, slopes = excess(problem, q, 0.0, rounded)
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        return 0.0
    try:
        multipliers = nnls(slopes.T, -q)[0]
    except RuntimeError:
        return 0.0
    length = float(np.linalg.norm(multipliers @ slopes))
    return (
        float(multipliers @ (values - slopes @ q - 4 * rounded)) / length
        if length
        else 0.0
    )


def _by_depth(
    problem: Problem, begin: list[np.ndarray]
) -> tuple[list[np.ndarray], float]:
    found = [q for q in begin if q.any()]
    for z in DEPTHS:
        q = _starts(problem)[0] if not found else found[0]
        for rounded in ROUNDS[:2]:
            q, _ = _descend(problem, q, z, rounded)
        if q.any() and np.abs(q).max() < 1e6:
            found.append(q)
    return found, 0.0


class Remembered:
    """Excess at the point that was asked for last: a solver asks for values and gradients one after the other."""

    def __init__(self, problem: Problem, z: float, rounded: float) -> None:
        self.given, self.at = (problem, z, rounded), b""
        self.found = (np.zeros(0), np.zeros(0))

    def __call__(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if q.tobytes() != self.at:
            problem, z, rounded = self.given
            self.at, self.found = q.tobytes(), excess(problem, q, z, rounded)
        return self.found


def _descend(
    problem: Problem, start: np.ndarray, z: float, rounded: float
) -> tuple[np.ndarray, bool]:
    at = Remembered(problem, z, rounded)
    found = minimize(  # type: ignore[call-overload]
        lambda q: q @ q / 2,
        start,
        jac=lambda q: q,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda q: -at(q)[0],
            "jac": lambda q: -at(q)[1],
        },
        options={"maxiter": 20 if z else 30, "ftol": 1e-9 if z else 1e-13},
    )
    good = bool(np.isfinite(found.x).all())
    return (found.x if good else start), good and found.status == 0


def _pulled_in(problem: Problem, q: np.ndarray) -> np.ndarray | None:
    """The query, as little longer as makes it meet the targets in floats."""
    if not np.isfinite(q).all() or not q.any():
        return None
    for longer in (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3):
        tried = q * (1 + longer)
        if excess(problem, tried, 0.0, 0.0)[0].max() <= -1e-14:
            return tried
    return None


def _far(problem: Problem) -> np.ndarray | None:
    """A query, of any length up to a limit, that meets the targets; None if the least excess is above 0, 0s if open."""
    at, count = Remembered(problem, 0.0, 1e-9), len(problem.targets) * len(problem.keys)
    best, least = None, math.inf
    for start in _starts(problem)[:2]:
        found = minimize(  # type: ignore[call-overload]
            lambda y: y[-1],
            np.append(start, 10.0),
            jac=lambda y: np.append(np.zeros(problem.d), 1.0),
            method="SLSQP",
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda y: y[-1] - at(y[:-1])[0],
                    "jac": lambda y: np.c_[-at(y[:-1])[1], np.ones(count)],
                },
                {
                    "type": "ineq",
                    "fun": lambda y: 1e8 - y[:-1] @ y[:-1],
                    "jac": lambda y: np.append(-2 * y[:-1], 0.0),
                },
            ],
            options={"maxiter": 60, "ftol": 1e-9},
        )
        if np.isfinite(found.x).all() and found.x[-1] < least:
            best, least = found.x[:-1], float(found.x[-1])
        if best is not None and (least < -1e-6 or found.status == 0):
            break
    if best is None or least > 1e-6:
        return None
    return (
        best if excess(problem, best, 0.0, 0.0)[0].max() <= 0 else np.zeros(problem.d)
    )


def _several(
    problem: Problem, begin: list[np.ndarray]
) -> tuple[list[np.ndarray], float]:
    """Several heads: all together from a few beginnings, in the uncertainty of the keys' own places."""
    h, d, K = problem.heads, problem.d, as_float(problem.scale) * problem.keys[0]
    targets, best = list(problem.targets), None
    floors = np.log([as_float(problem.targets[a]) for a in targets])

    def weights(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ln of the mean weight of each target, and its gradients in all queries."""
        Q = y[: h * d].reshape(h, d)
        S = Q @ K.T
        A = np.exp(S - S.max(axis=1, keepdims=True))
        A /= A.sum(axis=1, keepdims=True)
        mean = np.maximum(A[:, targets].mean(axis=0), 1e-300)
        slopes = np.zeros((len(targets), h * d + 1))
        for number, a in enumerate(targets):
            slopes[number, :-1] = (
                A[:, [a]] * (K[a] - A @ K) / h / mean[number]
            ).ravel()
        return np.log(mean), slopes

    def lengths(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Q = y[: h * d].reshape(h, d)
        slopes = np.zeros((h, h * d + 1))
        for k in range(h):
            slopes[k, k * d : (k + 1) * d] = -Q[k]
        slopes[:, -1] = y[-1]
        return (y[-1] ** 2 - (Q**2).sum(axis=1)) / 2, slopes

    rng = np.random.default_rng(1)
    centred = K - K.mean(axis=0)
    shared = [
        np.concatenate([size * centred[targets[k % len(targets)]] for k in range(h)])
        for size in (3.0, 8.0)
    ]
    both = [
        3 * np.concatenate([centred[targets].mean(axis=0)] * h)
        + 0.1 * rng.normal(size=h * d)
    ]
    for first in [
        *([np.concatenate(begin)] if len(begin) == h else []),
        *shared,
        *both,
    ]:
        start = np.append(
            first, np.sqrt((first.reshape(h, d) ** 2).sum(axis=1)).max() + 1e-3
        )
        found = minimize(  # type: ignore[call-overload]
            lambda y: y[-1],
            start,
            jac=lambda y: np.append(np.zeros(h * d), 1.0),
            method="SLSQP",
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda y: weights(y)[0] - floors,
                    "jac": lambda y: weights(y)[1],
                },
                {
                    "type": "ineq",
                    "fun": lambda y: lengths(y)[0],
                    "jac": lambda y: lengths(y)[1],
                },
            ],
            options={"maxiter": 150, "ftol": 1e-13},
        ).x
        if not np.isfinite(found).all():
            continue
        for longer in (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4):
            tried = found[: h * d] * (1 + longer)
            if (weights(np.append(tried, 0.0))[0] >= floors + 1e-14).all():
                queries = list(tried.reshape(h, d))
                if best is None or _longest(queries) < _longest(best):
                    best = queries
                break
    return ([], 0.0) if best is None else (best, 0.0)


def _longest(queries: list[np.ndarray]) -> float:
    return max(float(np.linalg.norm(q)) for q in queries)
