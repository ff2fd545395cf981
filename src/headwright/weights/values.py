"""The smallest W_V that maps mixtures of tokens to wanted outputs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


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
