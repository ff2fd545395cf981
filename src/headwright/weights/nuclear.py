"""The matrix of smallest nuclear norm that grants wishes, and that of smallest size of a given rank (untrusted).

|M|_*, the sum of the singular values, is the least (|W_Q|_F^2 + |W_K|_F^2) / 2 over all W_K^T W_Q = M, and the usual
convex stand-in for the rank.

* |M|_* is made smooth, sum_i sqrt(sigma_i^2 + mu^2), and mu falls. In the basis of the singular vectors the curvature
  of such a sum is diagonal, so that Newton's method is as simple as for |M|_F.
* of rank r by turns: with W_Q given, the smallest W_K is the problem of smallest.py with queries W_Q x; then the other
  way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headwright.weights.multipliers import Curve, Matrix, Objective, by_multipliers
from headwright.weights.smallest import Aim, Found, reduced, smallest

FALLS = 10.0 ** -np.arange(0.0, 4.6, 0.5)
RIDGE = 1e-10  # of |M|^2 / 2 is added, so that there is always some curvature
TURNS = 40


def smallest_nuclear(aims: Sequence[Aim], start: Float[np.ndarray, "p r"]) -> Found:
    """The matrix of smallest nuclear norm, nearly; the given one where that is no better.

    >>> aims = [Aim(np.eye(3), x, (a,), np.array([0.01])) for x, a in zip(np.eye(3), (1, 2, 0))]
    >>> M = smallest(aims).matrix
    >>> found = smallest_nuclear(aims, M)
    >>> bool(np.linalg.norm(found.matrix, "nuc") <= np.linalg.norm(M, "nuc") * (1 + 1e-9))
    True
    """
    task = reduced(aims)
    best = Found(start, (), np.inf)
    if task is None or task.too_large or not start.any():
        return best
    X, multipliers = task.inside(start), np.ones(len(task.terms))
    size = float(np.linalg.norm(X, 2))
    for fall in FALLS:
        X, multipliers, violation = by_multipliers(task.terms, smoothed(fall * size), X, multipliers)
        found = task.found(aims, X, multipliers, violation)
        if not found.granted:
            break
        best = found
    return best


def smoothed(mu: float) -> Objective:
    """sum_i sqrt(sigma_i^2 + mu^2) - mu of the singular values of X, with its slope and its curvature.

    With E = U^T (change) V, the second derivative is a sum over pairs of E_ij + E_ji and E_ij - E_ji, squared, times
    (f'(s_i) - f'(s_j)) / (s_i - s_j) and (f'(s_i) + f'(s_j)) / (s_i + s_j), halved; f'(s) = s / sqrt(s^2 + mu^2).

    >>> objective, X = smoothed(3.0), np.array([[4.0]])
    >>> slope, curve = objective.shape(X)
    >>> round(objective.value(X), 6), slope.round(6).tolist(), curve.round(3).tolist()
    (2.0, [[0.8]], [[0.072]])
    """

    def value(X: Matrix) -> float:
        sizes = np.linalg.svd(X, compute_uv=False)
        return float((np.hypot(sizes, mu) - mu).sum() + RIDGE * (X * X).sum() / 2)

    def shape(X: Matrix) -> tuple[Matrix, Curve]:
        (p, q), k = X.shape, min(X.shape)
        U, sizes, V = np.linalg.svd(X)
        s = np.zeros(max(p, q))
        s[:k] = sizes
        root = np.hypot(s, mu)
        f = s / root
        # (f_i - f_j) / (s_i - s_j) without cancelling, and (f_i + f_j) / (s_i + s_j), where both may be 0
        R, S = root[:, None], s[:, None]
        both = S + s > 1e-9 * mu
        differences = np.where(both, mu**2 * (S + s) / (R * root * (S * root + s * R) + 1e-300), mu**2 / root**3)
        sums = np.where(both, (f[:, None] + f) / (S + s + 1e-300), 1 / mu)
        same, other = ((differences + sign * sums)[:p, :q] / 2 for sign in (1, -1))
        basis = np.kron(U, V.T)  # column (i, j) is the matrix u_i v_j^T
        square = basis.reshape(p * q, p, q)[:, :k, :k]
        turned = square.transpose(0, 2, 1).reshape(p * q, k * k)
        curve = (basis * same.ravel()) @ basis.T + (square * other[:k, :k]).reshape(p * q, k * k) @ turned.T
        return (U[:, :k] * f[:k]) @ V[:k] + RIDGE * X, curve + RIDGE * np.eye(p * q)

    return Objective(value, shape)


def of_rank(aims: Sequence[Aim], r: int, starts: Sequence[Float[np.ndarray, "p q"]]) -> Float[np.ndarray, "p q"] | None:
    """A matrix of rank r at most that grants the wishes, as small as turns make it; None where none was found.

    >>> aims = [Aim(np.eye(2), x, (a,), np.array([0.01])) for x, a in zip(np.eye(2), (1, 0))]
    >>> int(np.linalg.matrix_rank(of_rank(aims, 1, [smallest(aims).matrix])))
    1
    """
    best, least = None, np.inf
    for start in starts:
        U, sizes, V = np.linalg.svd(start)
        for fixed in ("queries", "keys"):
            A, B = U[:, :r].T * np.sqrt(sizes[:r, None]), V[:r] * np.sqrt(sizes[:r, None])
            found = _by_turns(aims, A, B, keys_first=fixed == "queries")
            if found is not None and (size := float(np.linalg.norm(found, "nuc"))) < least * (1 - 1e-9):
                best, least = found, size
    return best


def _by_turns(
    aims: Sequence[Aim], A: Float[np.ndarray, "r p"], B: Float[np.ndarray, "r q"], *, keys_first: bool
) -> Float[np.ndarray, "p q"] | None:
    M, size = None, np.inf
    for turn in range(TURNS):
        if (turn % 2 == 0) == keys_first:
            found = smallest([replace(aim, query=B @ aim.query) for aim in aims])
            A = found.matrix.T
        else:
            found = smallest([replace(aim, keys=aim.keys @ A.T) for aim in aims])
            B = found.matrix
        if not found.granted:
            break  # rounding only, if not at the start
        M = A.T @ B
        now = float(np.linalg.norm(M, "nuc"))
        if turn % 2 and size - now <= 1e-4 * now:
            break
        size = now
        A, B = _balanced(A, B)
    return M


def _balanced(
    A: Float[np.ndarray, "r p"], B: Float[np.ndarray, "r q"]
) -> tuple[Float[np.ndarray, "r p"], Float[np.ndarray, "r q"]]:
    U, sizes, V = np.linalg.svd(A.T @ B, full_matrices=False)
    roots = np.sqrt(sizes[: len(A), None])
    return U[:, : len(A)].T * roots, V[: len(A)] * roots
