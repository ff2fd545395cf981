"""A head's queries and keys in a plane, for pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.weights.head import Head


@dataclass(frozen=True, eq=False)
class HeadPlane:
    """Keys and queries of tokens, in the two directions of the head's space that hold most of them."""

    keys: Float[np.ndarray, "T 2"]
    queries: Float[np.ndarray, "T 2"]
    share: float  # how much of their squared lengths the plane holds: 1 for a head of dimension 1 or 2


def head_plane(head: Head, X: Float[np.ndarray, "T D"]) -> HeadPlane:
    """The plane that holds the most of W_Q x and W_K x; in it, scores are inner products, up to what it leaves out.

    >>> plane = head_plane(Head(np.eye(3)[:1], np.eye(3)[:1], np.eye(3)), np.eye(3))
    >>> plane.share, np.abs(plane.keys[0]).tolist()
    (1.0, [1.0, 0.0])
    """
    X = np.asarray(X, dtype=np.float64)
    K, Q = X @ head.W_K.T.astype(np.float64), X @ head.W_Q.T.astype(np.float64)  # (T, r)
    Q = Q if head.b_Q is None else Q + head.b_Q
    both = np.concatenate([K, Q])
    axes = np.linalg.svd(both, full_matrices=False).Vh[:2]  # (at most 2, r)
    shown = both @ axes.T
    whole = float((both**2).sum())
    share = min(1.0, round(float((shown**2).sum()) / whole, 12)) if whole > 0 else 1.0
    flat = np.pad(shown, ((0, 0), (0, 2 - shown.shape[1])))
    return HeadPlane(flat[: len(X)], flat[len(X) :], share)
