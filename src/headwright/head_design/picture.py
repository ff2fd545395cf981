"""A designed head as a picture: its pattern, and its queries and keys in the plane that shows most of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright import pictures
from headwright.errors import InputError
from headwright.head_design.head import Head, HeadLayer, patterns


@dataclass(frozen=True, eq=False)
class HeadPlane:
    """Keys and queries of tokens, in the two directions of the head's space that hold most of them."""

    keys: Float[np.ndarray, "T 2"]
    queries: Float[np.ndarray, "T 2"]
    share: float  # how much of their squared lengths the plane holds: 1 for a head of dimension 1 or 2


def head_plane(head: Head, X: Float[np.ndarray, "T D"]) -> HeadPlane:
    """The plane that holds the most of W_Q x and W_K x; in it, scores are inner products, up to what it leaves out."""
    X = np.asarray(X, dtype=np.float64)
    # Keys and queries, (T, r) each.
    K = X @ head.W_K.T.astype(np.float64)
    Q = X @ head.W_Q.T.astype(np.float64)
    Q = Q if head.b_Q is None else Q + head.b_Q
    both = np.concatenate([K, Q])
    axes = np.linalg.svd(both, full_matrices=False).Vh[:2]  # (at most 2, r)
    in_plane = both @ axes.T
    whole = float((both**2).sum())
    share = (
        min(1.0, round(float((in_plane**2).sum()) / whole, 12)) if whole > 0 else 1.0
    )
    flat = np.pad(in_plane, ((0, 0), (0, 2 - in_plane.shape[1])))
    return HeadPlane(flat[: len(X)], flat[len(X) :], share)


def picture(
    layer: HeadLayer,
    X: Float[np.ndarray, "T D"],
    head: int = 0,
    labels: list[str] | None = None,
    words: str = "",
    free: Collection[int] = (),
) -> pictures.Chart:
    """The pattern of one head for one sequence, above its queries and keys in the plane that holds most of them.

    No rule speaks of the tokens that are free.
    """
    if not 0 <= head < len(layer.heads):
        raise InputError(
            f"head {head} of {len(layer.heads)}: expected 0 to {len(layer.heads) - 1}"
        )
    plane = head_plane(layer.heads[head], X)
    names = labels or [f"token {i}" for i in range(len(X))]
    title = f"Head {head}, of dimension {layer.heads[head].head_dim}"
    part = "" if plane.share == 1 else f"the plane shows {100 * plane.share:.0f}%"
    subtitle = "; ".join(text for text in (words, part) if text)
    return pictures.head_picture(
        patterns(layer, X)[head],
        names,
        plane.keys,
        plane.queries,
        title,
        subtitle,
        free,
    )
