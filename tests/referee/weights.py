"""Weights that give tokens what they should attend to: smaller than all are said to be, of fewer rows, or any."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from scipy.optimize import minimize, nnls

from tests.referee.numbers import Vector, as_float, real


@dataclass(frozen=True, eq=False)
class Aim:
    """One rule: the token (with a 1 after it if there are biases), what it sees, what is added, and least weights."""

    x: Vector
    tokens: list[Vector]
    added: Vector
    floors: dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rules of one head, and a name under which what was found is kept."""

    aims: list[Aim]
    name: str


@dataclass(frozen=True, eq=False)
class Program:
    """The rules in coordinates of the span of the tokens: scores are Y N z + added."""

    left: np.ndarray  # columns: an orthonormal basis of what is seen
    right: np.ndarray  # of the tokens that look
    aims: list[tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, float]]]

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[1], self.right.shape[1]


def program_of(aims: list[Aim]) -> Program:
    def held(vectors: list[Vector]) -> np.ndarray:
        return np.array([[as_float(x) for x in v] for v in vectors])

    def basis(rows: np.ndarray) -> np.ndarray:
        U, s, _ = np.linalg.svd(rows.T, full_matrices=False)
        kept = max(1, int((s > 1e-12 * max(s[0], 1e-300)).sum()))
        return U[:, :kept]

    seen = [held(aim.tokens) for aim in aims]
    left, right = basis(np.vstack(seen)), basis(held([aim.x for aim in aims]))
    found = []
    for aim, X in zip(aims, seen, strict=True):
        added = np.clip([as_float(x) for x in aim.added], -1e6, 1e6)
        found.append(
            (
                X @ left,
                held([aim.x])[0] @ right,
                added,
                {a: as_float(p) for a, p in aim.floors.items()},
            )
        )
    return Program(left, right, found)


def excess(program: Program, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each rule and target, ln of what competes less ln of what may, and its gradients in N."""
    values, slopes = [], []
    for Y, z, added, floors in program.aims:
        s = Y @ (N @ z) + added
        for a, p in floors.items():
            x = s - s[a]
            x[a] = -np.inf
            top = float(x.max()) if len(x) > 1 else 0.0
            w = np.exp(x - top)
            total = max(float(w.sum()), 1e-300)
            room = math.log(1 / p - 1) if p < 1 else -700.0
            values.append(top + math.log(total) - room if len(x) > 1 else -1.0)
            slopes.append(
                np.outer((w / total) @ Y - (Y[a] if len(x) > 1 else 0), z).ravel()
            )
    return np.array(values), np.array(slopes)


def keeps(lookup: Lookup, M: np.ndarray) -> bool:
    """Exactly, for these numbers as the entries of W_K^T W_Q."""
    return _keeps(lookup.aims, [[Fraction(x) for x in row] for row in M.tolist()])


def _keeps(aims: list[Aim], M: list[Vector]) -> bool:
    with mpmath.workdps(60):
        for aim in aims:
            toward = [
                sum((m * x for m, x in zip(row, aim.x, strict=True)), Fraction(0))
                for row in M
            ]
            s = [
                sum((t * y for t, y in zip(toward, token, strict=True)), Fraction(0))
                + b
                for token, b in zip(aim.tokens, aim.added, strict=True)
            ]
            for a, p in aim.floors.items():
                rivals = mpmath.fsum(
                    mpmath.exp(real(x - s[a])) for j, x in enumerate(s) if j != a
                )
                if rivals / (1 + rivals) > real(1 - p):
                    return False
    return True


_FOUND: OrderedDict[str, Any] = OrderedDict()


def _kept(name: str, make: Callable[[], Any]) -> Any:
    if name not in _FOUND:
        if len(_FOUND) > 300:
            _FOUND.popitem(last=False)
        with np.errstate(all="ignore"):
            _FOUND[name] = make()
    return _FOUND[name]


def smaller(
    lookup: Lookup, begin: np.ndarray, norm: str, least: Fraction
) -> tuple[Any, bool]:
    """Weights whose norm is surely below `least`, if they are found; else whether there are none, up to rounding."""
    if not lookup.aims:
        return ("0", False) if least > 0 else (None, False)
    if any(
        p >= 1 and len(aim.tokens) > 1
        for aim in lookup.aims
        for p in aim.floors.values()
    ):
        return None, True
    found, bound, factors = _kept(lookup.name, lambda: _smallest(lookup, begin))
    if found is None:
        return None, False
    if norm == "frobenius":
        square = sum(
            (Fraction(x) ** 2 for row in found.tolist() for x in row), Fraction(0)
        )
        if square < least**2 and keeps(lookup, found):
            return found.tolist(), False
        return None, bound * (1 - 1e-12) >= as_float(least)
    if factors is None:
        factors = _kept(f"nuclear {lookup.name}", lambda: _least_nuclear(lookup, found))
    for A, B in factors:
        exact = [[[Fraction(x) for x in row] for row in W.tolist()] for W in (A, B)]
        size = sum((x * x for W in exact for row in W for x in row), Fraction(0)) / 2
        if size < least and _keeps(
            lookup.aims, _product(exact[0], exact[1], A.shape[1], B.shape[1])
        ):
            return [A.tolist(), B.tolist()], False
    return None, False


def hopeless(lookup: Lookup) -> bool:
    """The least that all rules together are missed by is above 0, as far as a search over large weights says."""

    def make() -> float:
        program = program_of(lookup.aims)
        shape, size = program.shape, program.shape[0] * program.shape[1]

        def at(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return excess(program, y[:-1].reshape(shape))

        found = minimize(  # type: ignore[call-overload]
            lambda y: y[-1],
            np.append(np.zeros(size), 10.0),
            jac=lambda y: np.append(np.zeros(size), 1.0),
            method="SLSQP",
            options={"maxiter": 60, "ftol": 1e-9},
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda y: y[-1] - at(y)[0],
                    "jac": lambda y: np.c_[-at(y)[1], np.ones(len(at(y)[0]))],
                },
                {
                    "type": "ineq",
                    "fun": lambda y: 1e8 - y[:-1] @ y[:-1],
                    "jac": lambda y: np.append(-2 * y[:-1], 0.0),
                },
            ],
        )
        return (
            float(found.x[-1])
            if found.status == 0 and np.isfinite(found.x).all()
            else 0.0
        )

    return bool(lookup.aims) and bool(_kept(f"hopeless {lookup.name}", make) > 1e-6)


def _product(A: list[Vector], B: list[Vector], columns: int, rows: int) -> list[Vector]:
    """B^T A."""
    return [
        [
            sum((b[j] * a[k] for a, b in zip(A, B, strict=True)), Fraction(0))
            for k in range(columns)
        ]
        for j in range(rows)
    ]


def _smallest(
    lookup: Lookup, begin: np.ndarray
) -> tuple[np.ndarray | None, float, Any]:
    """The smallest Frobenius norm: the matrix, and a bound from tangents."""
    program = program_of(lookup.aims)
    shape, best, bound = program.shape, None, 0.0
    starts = [program.left.T @ begin @ program.right, np.zeros(shape)]
    if excess(program, np.zeros(shape))[0].max() <= -1e-13:
        return np.zeros((len(program.left), len(program.right))), 0.0, None
    for start in starts:
        if not np.isfinite(start).all():
            continue
        found = minimize(  # type: ignore[call-overload]
            lambda y: y @ y / 2,
            start.ravel(),
            jac=lambda y: y,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda y: -excess(program, y.reshape(shape))[0],
                "jac": lambda y: -excess(program, y.reshape(shape))[1],
            },
            options={"maxiter": 60, "ftol": 1e-13},
        )
        y = found.x
        if not np.isfinite(y).all():
            continue
        values, slopes = excess(program, y.reshape(shape))
        if np.isfinite(values).all() and np.isfinite(slopes).all():
            multipliers = nnls(slopes.T, -y)[0]
            length = float(np.linalg.norm(multipliers @ slopes))
            bound = max(
                bound,
                float(multipliers @ (values - slopes @ y)) / length if length else 0.0,
            )
        for longer in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
            tried = (y * (1 + longer)).reshape(shape)
            if excess(program, tried)[0].max() <= -1e-13:
                if best is None or np.linalg.norm(tried) < np.linalg.norm(best):
                    best = tried
                break
        if best is not None and found.status == 0:
            break
    return (
        (None if best is None else program.left @ best @ program.right.T),
        bound,
        None,
    )


def _factored(
    program: Program, rows: int, A: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The smallest (|A|^2 + |B|^2) / 2 of factors that keep the rules, from here."""
    k, q = program.shape
    cut = rows * q

    def split(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return y[:cut].reshape(rows, q), y[cut:].reshape(rows, k)

    def slopes(y: np.ndarray) -> np.ndarray:
        A, B = split(y)
        G = excess(program, B.T @ A)[1].reshape(-1, k, q)
        return -np.concatenate(
            [
                (B @ G).reshape(len(G), -1),
                np.einsum("rq,ckq->crk", A, G).reshape(len(G), -1),
            ],
            axis=1,
        )

    found = minimize(  # type: ignore[call-overload]
        lambda y: y @ y / 2,
        np.concatenate([A.ravel(), B.ravel()]),
        jac=lambda y: y,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda y: -excess(program, split(y)[1].T @ split(y)[0])[0],
            "jac": slopes,
        },
        options={"maxiter": 80, "ftol": 1e-13},
    ).x
    if not np.isfinite(found).all():
        return None
    for longer in (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3):
        A, B = split(found * (1 + longer))
        if excess(program, B.T @ A)[0].max() <= -1e-13:
            return A, B
    return None


def _least_nuclear(
    lookup: Lookup, begin: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    program = program_of(lookup.aims)
    U, s, Vt = np.linalg.svd(program.left.T @ begin @ program.right)
    rows = max(1, int((s > 1e-9 * s[0]).sum())) if s.any() else 1
    root = np.sqrt(s[:rows])[:, None]
    made = [_factored(program, rows, root * Vt[:rows], root * U.T[:rows])]
    return [(A @ program.right.T, B @ program.left.T) for A, B in filter(None, made)]


def fewer_rows(lookup: Lookup, rows: int) -> Any:
    """W_Q and W_K of so many rows that surely give all targets their weights, if they are found."""
    if not lookup.aims:
        return "nothing is asked"

    def make() -> Any:
        program, rng = program_of(lookup.aims), np.random.default_rng(0)
        if rows == 0:
            starts = [
                (np.zeros((0, program.shape[1])), np.zeros((0, program.shape[0])))
            ]
            return (
                [] if excess(program, np.zeros(program.shape))[0].max() > 0 else starts
            )
        found = []
        for _ in range(4):
            A, B = (
                3 * rng.normal(size=(rows, program.shape[1])),
                3 * rng.normal(size=(rows, program.shape[0])),
            )
            made = _factored(program, rows, A, B)
            if made is not None:
                found.append((made[0] @ program.right.T, made[1] @ program.left.T))
                break
        return found

    for A, B in _kept(f"rows {rows} {lookup.name}", make):
        exact = [[[Fraction(x) for x in row] for row in W.tolist()] for W in (A, B)]
        M = _product(exact[0], exact[1], A.shape[1], B.shape[1])
        if _keeps(lookup.aims, M):
            return [A.tolist(), B.tolist()]
    return None


def some_weights(lookup: Lookup, D: int, biases: bool) -> Iterator[np.ndarray]:
    """Scores that give all targets their weights, if they are found; where there are none to give, scores by chance."""
    rng = np.random.default_rng(0)
    if lookup.aims:
        found, _, _ = _kept(
            lookup.name, lambda: _smallest(lookup, np.zeros((D, D + biases)))
        )
        if found is not None:
            yield found
        return
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        for _ in range(8):
            yield size * rng.normal(size=(D, D + biases))
