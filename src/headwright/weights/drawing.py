"""A designed head as a picture: its pattern, and its queries and keys in the plane that shows most of them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from jaxtyping import Float

from headwright import pictures
from headwright.errors import InputError
from headwright.weights.geometry import head_plane
from headwright.weights.head import HeadLayer, patterns


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

    >>> from headwright.weights.head import Head
    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=True, dtype="float64")
    >>> len(picture(layer, np.eye(2)).to_dict()["vconcat"])
    2
    """
    if not 0 <= head < len(layer.heads):
        raise InputError(f"head {head} of {len(layer.heads)}: expected 0 to {len(layer.heads) - 1}")
    plane = head_plane(layer.heads[head], X)
    names = labels or [f"token {i}" for i in range(len(X))]
    title = f"Head {head}, of dimension {layer.heads[head].head_dim}"
    part = "" if plane.share == 1 else f"the plane shows {100 * plane.share:.0f}%"
    told = "; ".join(text for text in (words, part) if text)
    return pictures.head_picture(patterns(layer, X)[head], names, plane.keys, plane.queries, title, told, free)
