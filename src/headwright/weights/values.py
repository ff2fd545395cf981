"""The smallest W_V that maps mixtures of tokens to wanted outputs; projections; an OV matrix cut in two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright import lowrank
from headwright.enclosure import float_above
from headwright.errors import InputError, typed_errors
from headwright.lowrank import LowRank


def smallest_values(Y: Float[np.ndarray, "k D"], wanted: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "m D"]:
    """The matrix of smallest Frobenius norm with W y = wanted for each pair of rows, in floating point.

    Where no matrix does that exactly it is the nearest in the sense of least squares.
    """
    W: Float[np.ndarray, "m D"] = np.linalg.lstsq(Y, wanted, rcond=1e-13)[0].T
    return np.where(np.abs(W) > 1e-15 * np.abs(W).max(initial=0.0), W, 0.0)


def plain_values(Y: Float[np.ndarray, "k D"], wanted: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "m D"]:
    """Another such matrix, with as few columns as will do: larger, and often of numbers that every type has."""
    from scipy.linalg import qr

    _, triangle, order = qr(Y, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    chosen = order[: int((sizes > 1e-12 * sizes.max(initial=0.0)).sum())]
    W = np.zeros((wanted.shape[1], Y.shape[1]))
    W[:, chosen] = smallest_values(Y[:, chosen], wanted)
    return W


@dataclass(frozen=True, eq=False)
class TakenApart:
    """M, and what is proven of it: |M (v_a + v_b) - v_a| <= error |v_a + v_b|."""

    M: Float[np.ndarray, "D D"]
    error: float  # certified, for v_a in the span of the basis and v_b orthogonal to it


@typed_errors
def take_apart(basis: Float[Any, "D k"]) -> TakenApart:
    """M = A A^T for an orthonormal basis in the columns of A: it keeps what lies in the subspace, and drops the rest.

    The basis may be orthonormal only up to rounding. With E = A^T A - I, which is bounded in exact arithmetic, the
    columns of A span the subspace still, and A A^T differs from its projection by at most |E|_2.

    >>> A = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 2)))[0]
    >>> apart = take_apart(A)
    >>> inside = A @ np.array([3.0, -1.0])
    >>> outside = np.ones(6) - A @ (A.T @ np.ones(6))
    >>> bool(np.allclose(apart.M @ (inside + outside), inside)), apart.error < 1e-14
    (True, True)
    """
    A = np.asarray(basis, dtype=np.float64)
    if A.ndim != 2 or A.shape[1] > A.shape[0] or not np.isfinite(A).all():
        raise InputError(f"a basis of shape {A.shape}: expected its vectors in columns, no more than they are long")
    columns = [[Fraction(x) for x in column] for column in A.T.tolist()]
    E = [[sum((x * y for x, y in zip(a, b, strict=True)), Fraction(-(i == j))) for j, b in enumerate(columns)]
         for i, a in enumerate(columns)]  # fmt: skip
    of_basis = _root_above(sum((x * x for row in E for x in row), Fraction(0)))
    if of_basis > 0.5:
        raise InputError("the basis is far from orthonormal: expected one such as numpy.linalg.qr gives")
    M = A @ A.T
    rounded = lowrank.error_upper_bound(M, A, A.T)
    total = Fraction(of_basis) + Fraction(rounded)
    return TakenApart(M, float_above(total))


@dataclass(frozen=True, eq=False)
class CutValues:
    """W_V and W_O with W_O W_V near a given OV matrix, and how far at most."""

    W_V: Float[np.ndarray, "r D"]
    W_O: Float[np.ndarray, "m r"]
    error: float  # certified: |OV x - W_O W_V x| <= error |x|
    cut: LowRank


@typed_errors
def cut_values(OV: Float[Any, "m D"], *, rank: int | None = None, tolerance: float | None = None) -> CutValues:
    """Copy through fewer dimensions: an OV matrix cut by its singular values, with a certified error.

    >>> cut = cut_values(np.diag([2.0, 1.0, 1e-3]), tolerance=0.01)
    >>> cut.W_V.shape, 1e-3 <= cut.error < 1.1e-3
    ((2, 3), True)
    """
    cut = lowrank.truncate(OV, rank=rank, tolerance=tolerance)
    return CutValues(cut.right, cut.left, cut.error_upper_bound, cut)


def _root_above(x: Fraction) -> float:
    from headwright.trusted.numbers import sqrt_above

    return float_above(sqrt_above(x))
