"""In two dimensions a wish can be seen: the queries that grant it form a convex region."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from headwright import attention
from headwright.design.wish import Wish

ANGLES, HALVINGS = 720, 40


def granting_region(
    keys: Float[np.ndarray, "n 2"],
    wish: Wish,
    inside: Float[np.ndarray, " 2"],
    radius: float,
    scale: float = 1.0,
) -> Float[np.ndarray, "points 2"]:
    """The border of the region of queries up to a radius that grant a wish, seen from a query inside it.

    In floating point. The region is convex, so along every ray from the query inside there is one border point.

    >>> from headwright.design.wish import copy
    >>> keys = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> border = granting_region(keys, copy(0, eps=0.1), np.array([3.0, 0.0]), 5.0)
    >>> bool(border[:, 0].min().round(3) == round(np.log(10) / 2, 3))
    True
    """
    angles = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (angles, 2)

    def good(points: Float[np.ndarray, "angles 2"]) -> Bool[np.ndarray, " angles"]:
        alpha = attention.pattern(attention.scores(keys, points, scale=scale))
        granted = np.all([alpha[:, a] >= float(p) * (1 - 1e-9) for a, p in wish.least.items()], axis=0)
        near: Bool[np.ndarray, " angles"] = granted & (np.linalg.norm(points, axis=1) <= radius)
        return near

    low, high = np.zeros(ANGLES), np.full(ANGLES, 2 * radius)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = good(inside + middle[:, None] * rays)
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    border: Float[np.ndarray, "points 2"] = inside + low[:, None] * rays
    return border
