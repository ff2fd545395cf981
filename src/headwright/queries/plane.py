"""In two dimensions a wish can be seen: the queries that grant it form a convex region."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float

from headwright import attention
from headwright.queries.wish import Wish

SLACK = 1e-9  # of a logarithm: the shortest query lies on the border
SECTIONS, NARROWINGS, HALVINGS = 120, 70, 45


def granting_region(
    keys: Float[np.ndarray, "n 2"],
    wish: Wish,
    shortest: Float[np.ndarray, " 2"],
    far: float,
    scale: float = 1.0,
) -> Float[np.ndarray, "points 2"]:
    """The border of the region of queries that grant a wish, from the shortest query on to so far along it.

    In floating point. The region is convex, and all of it lies on the far side of the line through the shortest query
    that is square to it. So it is cut by lines parallel to that one; on each, how well the wish is granted is a concave
    function: its top is narrowed down, and from there both ends are halved out. That sees a region as thin as a thread.

    >>> from headwright.queries.wish import copy
    >>> keys = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> border = granting_region(keys, copy(0, eps=0.1), np.array([np.log(10) / 2, 0.0]), 5.0)
    >>> bool(border[:, 0].min().round(3) == round(np.log(10) / 2, 3)), bool(border[:, 0].max().round(3) > 5)
    (True, True)
    """
    length = float(np.linalg.norm(shortest)) or 1.0
    along = shortest / length
    across = np.array([-along[1], along[0]])
    steps = length + far * np.linspace(0, 1, SECTIONS) ** 2  # close together where the border bends
    start = steps[:, None] * along

    def room(at: Float[np.ndarray, " sections"]) -> Float[np.ndarray, " sections"]:
        """How much more than wished for, as a logarithm, the target gets that has least to spare."""
        scores = attention.scores(keys, start + at[:, None] * across, scale=scale)
        top = scores.max(axis=1, keepdims=True)
        every = (top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))[:, 0]
        spare = [scores[:, a] - every - np.log(float(p)) for a, p in wish.least.items()]
        least: Float[np.ndarray, " sections"] = np.min(spare, axis=0) + SLACK
        return least

    low, high = np.full(SECTIONS, -3 * far), np.full(SECTIONS, 3 * far)
    for _ in range(NARROWINGS):
        one, two = (2 * low + high) / 3, (low + 2 * high) / 3
        left = room(one) < room(two)
        low, high = np.where(left, one, low), np.where(left, high, two)
    middle = (low + high) / 2
    granted = room(middle) >= 0
    ends = [_end(room, middle, side * 3 * far) for side in (-1, 1)]
    below, above = ((start + end[:, None] * across)[granted] for end in ends)
    return np.concatenate([below, above[::-1]])


def _end(
    room: Callable[[Float[np.ndarray, " sections"]], Float[np.ndarray, " sections"]],
    inside: Float[np.ndarray, " sections"],
    outside: float,
) -> Float[np.ndarray, " sections"]:
    """Between the two, the last place where there is room."""
    low, high = inside, np.full_like(inside, outside)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = room(middle) >= 0
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    return low


def hull(points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "corners 2"]:
    """The corners of the convex hull, one after the other; in floating point, for a picture.

    >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]]
    """
    ordered = sorted(map(tuple, points.tolist()))

    def half(given: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for c in given:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], c) <= 0:
                chain.pop()
            chain.append(c)
        return chain[:-1]

    return np.array([*half(ordered), *half(reversed(ordered))] or ordered, dtype=float)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
