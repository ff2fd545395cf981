"""W_Q and W_K with few rows that meet attention targets, and the smallest of them: a search over both (untrusted).

    minimise (|A|_F^2 + |B|_F^2) / 2   subject to   ln sum_l exp(d_l^T A^T B z) <= bound     for each wish and target

With A and B of r rows each, A^T B has rank r at most, and for a given product the objective is at least its nuclear
norm, and equal to it for balanced factors: with enough rows this is the convex problem of smallest nuclear norm, with
few it is one of small rank. Multipliers see to the constraints, and L-BFGS to the rest: a pass costs no more than the
scores themselves.

With few rows not every start leads to a solution. Good ones:

* in one dimension only the ends of a line can be copied, so what matters are the signs of the queries: dimension.py
* in 2 k dimensions points on the curve (cos t, sin t, ..., cos kt, sin kt) are such that for any k of them some query
  scores these highest and alike: so for tokens that are linearly independent, one rule each, 2 k dimensions do
* a matrix of full rank, cut; and random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.weights.method_of_multipliers import Term, worst
from headwright.weights.smallest_matrix import Aim, Found, Reduced, reduced, smallest

OUTER, INNER = 20, 400
MISSED = 1e-6  # by which constraints may be violated; twice as much is asked for beyond what is wanted
HOPELESS = 6  # rounds without a violation below 1/10, or one that falls
ENOUGH = 3  # starts are tried at least, and the smallest solution is taken,
SMALL = 30_000  # where there are so many numbers in all differences at most; where there are more, the first is taken
Rows = Float[np.ndarray, "r k"]


@dataclass(frozen=True, eq=False)
class Factors:
    """Keys and queries in r dimensions: W_K and W_Q in the coordinates of the tokens; one of them may be left open."""

    keys: Float[np.ndarray, "r p"] | None
    queries: Float[np.ndarray, "r q"] | None


def factored(aims: Sequence[Aim], starts: Iterable[Factors]) -> Found | None:
    """A^T B that grants the wishes, of small nuclear norm, with the rows of a start; None where no start led to one."""
    task = reduced(aims)
    if task is None or worst(task.terms, np.zeros(task.shape)) <= 0:
        none = tuple(np.zeros(len(aim.targets)) for aim in aims)
        return Found(np.zeros((aims[0].keys.shape[1], len(aims[0].query))), none, 0.0)
    stack, best, least = Stack(task.terms), None, np.inf
    for tried, start in enumerate(starts):
        if best is not None and (tried >= ENOUGH or stack.rows.size > SMALL):
            break
        A, B, multipliers = _smallest_factors(stack, *_begun(stack, task, start))
        X = _exact(aims, task, A, B) if any(aim.evened for aim in aims) else A.T @ B
        if X is None or worst(task.terms, X) > 0:
            continue
        if (size := float(np.linalg.norm(X, "nuc"))) < least * (1 - 1e-9):
            best, least = task.found(aims, X, multipliers, worst(task.terms, X)), size
    return best


class Stack:
    """All constraints together, so that a pass over them is a few products of matrices."""

    def __init__(self, terms: Sequence[Term]) -> None:
        """Their differences one below the other."""
        lengths = [len(term.rows) for term in terms]
        self.rows = np.vstack([term.rows for term in terms])
        self.first = np.cumsum([0, *lengths[:-1]])
        self.owner = np.repeat(np.arange(len(terms)), lengths)
        self.shifts = np.concatenate([np.broadcast_to(term.shifts, n) for term, n in zip(terms, lengths, strict=True)])
        self.queries = np.array([term.query for term in terms])
        self.bounds = np.array([term.bound - (0.0 if term.equal else 2 * MISSED) for term in terms])
        self.floors = np.array([-np.inf if term.equal else 0.0 for term in terms])  # of multipliers

    def penalty(
        self, A: Rows, B: Rows, multipliers: Float[np.ndarray, " m"], rho: float
    ) -> tuple[float, Rows, Rows, Float[np.ndarray, " m"]]:
        """sum_c max(floor_c, m_c + rho h_c)^2 / (2 rho), its slopes, and the violations h."""
        along, queries = self.rows @ A.T, (self.queries @ B.T)[self.owner]
        scores = (along * queries).sum(axis=1) + self.shifts
        top = np.maximum.reduceat(scores, self.first)
        e = np.exp(scores - top[self.owner])
        total = np.add.reduceat(e, self.first)
        h = top + np.log(total) - self.bounds
        push = np.maximum(self.floors, multipliers + rho * h)
        shares = ((push / total)[self.owner] * e)[:, None]
        slope = (shares * queries).T @ self.rows, np.add.reduceat(shares * along, self.first).T @ self.queries
        return float(push @ push) / (2 * rho), *slope, h


def _smallest_factors(stack: Stack, A: Rows, B: Rows) -> tuple[Rows, Rows, Float[np.ndarray, " m"]]:
    """Factors of small norm that nearly keep the constraints, from these, with multipliers; if all goes well."""
    multipliers = np.zeros(len(stack.bounds))
    rho = max(float((A * A).sum() + (B * B).sum()) / 2, 1e-3) / len(multipliers)
    before, stalled = np.inf, 0
    for _ in range(OUTER):

        def merit(A: Rows, B: Rows, m: Float[np.ndarray, " m"] = multipliers, rho: float = rho) -> Valued:
            value, down, up, _ = stack.penalty(A, B, m, rho)
            return value + float((A * A).sum() + (B * B).sum()) / 2, A + down, B + up

        A, B = _descended(merit, A, B)
        h = stack.penalty(A, B, multipliers, rho)[-1]
        miss = float(np.abs(np.maximum(h, (stack.floors - multipliers) / rho)).max())
        multipliers = np.maximum(stack.floors, multipliers + rho * h)
        if miss < MISSED:
            break
        stalled = stalled + 1 if miss > 0.1 and miss > before / 2 else 0
        if stalled == HOPELESS:
            break
        if miss > before / 4:
            rho *= 10
        before = miss
    return A, B, multipliers


def along_signs(aims: Sequence[Aim], signs: Sequence[int]) -> Factors:
    """Queries of one dimension with these signs, as far as they can be had; the keys are left open."""
    queries = np.array([aim.query for aim in aims])
    return Factors(None, np.linalg.lstsq(queries, np.array(signs, dtype=float), rcond=None)[0][None])


def on_a_curve(aims: Sequence[Aim], r: int) -> Factors:
    """Keys on a closed curve, in the order in which they come, as far as they can be had; the queries are left open."""
    keys = np.array(list(dict.fromkeys(tuple(key) for aim in aims for key in aim.keys.tolist())))
    t = 2 * np.pi * np.arange(len(keys)) / len(keys)
    waves = [wave((k // 2 + 1) * t) for k in range(r) for wave in (np.sin if k % 2 else np.cos,)]
    return Factors(np.linalg.lstsq(keys, np.array(waves).T, rcond=None)[0].T, None)


def by_chance(aims: Sequence[Aim], r: int, tries: int) -> Iterable[Factors]:
    """So many starts, always the same."""
    rng = np.random.default_rng(0)
    for _ in range(tries):
        yield Factors(rng.normal(size=(r, aims[0].keys.shape[1])), rng.normal(size=(r, len(aims[0].query))))


def truncated_svd(M: Float[np.ndarray, "p q"], r: int) -> Factors:
    """The matrix of rank r that is nearest."""
    U, sizes, V = np.linalg.svd(M, full_matrices=False)
    roots = np.sqrt(sizes[:r, None])
    return Factors(U[:, :r].T * roots, V[:r] * roots)


Valued = tuple[float, Rows, Rows]


def _exact(aims: Sequence[Aim], task: Reduced, A: Rows, B: Rows) -> Float[np.ndarray, "p q"] | None:
    """With these queries the smallest keys, or the other way round: to the last digit, as equal scores need it."""
    keys, queries = A @ task.left.T, B @ task.right.T
    found = smallest([replace(aim, query=queries @ aim.query) for aim in aims])
    if found.granted:
        return task.inside(found.matrix @ queries)
    found = smallest([replace(aim, keys=aim.keys @ keys.T) for aim in aims])
    return task.inside(keys.T @ found.matrix) if found.granted else None


def _begun(stack: Stack, task: Reduced, start: Factors) -> tuple[Rows, Rows]:
    """The start in the coordinates of the task; what is left open is chosen so that it violates as little as can be."""
    open_keys, open_queries = start.keys is None, start.queries is None
    r = len(start.queries if start.keys is None else start.keys)  # type: ignore[arg-type]
    A = np.zeros((r, task.shape[0])) if start.keys is None else start.keys @ task.left * task.unit
    B = np.zeros((r, task.shape[1])) if start.queries is None else start.queries @ task.right
    if open_keys or open_queries:
        nothing = np.zeros(len(stack.bounds))

        def miss(A: Rows, B: Rows) -> Valued:
            value, down, up, _ = stack.penalty(A, B, nothing, 1.0)
            return value, down * open_keys, up * open_queries

        A, B = _descended(miss, A, B)
    even = (float(np.linalg.norm(B)) or 1.0) / (float(np.linalg.norm(A)) or 1.0)
    return A * even**0.5, B / even**0.5


def _descended(merit: Callable[[Rows, Rows], Valued], A: Rows, B: Rows) -> tuple[Rows, Rows]:
    """Where the merit is least, or what is found of that in so many steps."""
    from scipy.optimize import minimize

    def both(x: Float[np.ndarray, " n"]) -> tuple[float, Float[np.ndarray, " n"]]:
        value, down, up = merit(x[: A.size].reshape(A.shape), x[A.size :].reshape(B.shape))
        return value, np.concatenate([down.ravel(), up.ravel()])

    options: Any = {"maxiter": INNER, "maxfun": 2 * INNER, "ftol": 1e-13, "gtol": 1e-10, "maxcor": 20}
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(both, np.concatenate([A.ravel(), B.ravel()]), (), "L-BFGS-B", jac=True, options=options)
    x: Float[np.ndarray, " n"] = found.x
    return x[: A.size].reshape(A.shape), x[A.size :].reshape(B.shape)
