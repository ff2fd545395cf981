"""A design as a picture. In two dimensions the queries that meet a target form a convex region, which is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float

from headwright import attention, pictures
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Targets

SLACK = 1e-9  # of a logarithm: the shortest query lies on the border
SECTIONS, NARROWINGS, HALVINGS = 120, 70, 45
FAR = (
    4.0  # times the size of what is drawn: beyond, the end of the region cannot be seen
)
SHORT = 1e-3  # the proven gap, up to which a query is called the shortest


def meeting_region(
    keys: Float[np.ndarray, "n 2"],
    targets: Targets,
    shortest: Float[np.ndarray, " 2"],
    far: float,
    scale: float = 1.0,
) -> Float[np.ndarray, "points 2"]:
    """The border of the region of queries that meet targets, from the shortest query on to so far along it.

    In floating point. The region is convex, and all of it lies on the far side of the line through the shortest query
    that is square to it. So it is cut by lines parallel to that one; on each, how well the targets are met is a concave
    function: its top is narrowed down, and from there both ends are halved out. That sees a region as thin as a thread.
    """
    length = float(np.linalg.norm(shortest)) or 1.0
    along = shortest / length
    across = np.array([-along[1], along[0]])
    steps = (
        length + far * np.linspace(0, 1, SECTIONS) ** 2
    )  # close together where the border bends
    start = steps[:, None] * along

    def room(at: Float[np.ndarray, " sections"]) -> Float[np.ndarray, " sections"]:
        """How much more than targets, as a logarithm, the target gets that has least to spare."""
        scores = attention.scores(keys, start + at[:, None] * across, scale=scale)
        top = scores.max(axis=1, keepdims=True)
        every = (top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))[:, 0]
        spare = [
            scores[:, a] - every - np.log(float(p)) for a, p in targets.least.items()
        ]
        least: Float[np.ndarray, " sections"] = np.min(spare, axis=0) + SLACK
        return least

    low, high = np.full(SECTIONS, -3 * far), np.full(SECTIONS, 3 * far)
    for _ in range(NARROWINGS):
        one, two = (2 * low + high) / 3, (low + 2 * high) / 3
        left = room(one) < room(two)
        low, high = np.where(left, one, low), np.where(left, high, two)
    middle = (low + high) / 2
    met = room(middle) >= 0
    ends = [_end(room, middle, side * 3 * far) for side in (-1, 1)]
    below, above = ((start + end[:, None] * across)[met] for end in ends)
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
    """The corners of the convex hull, one after the other; in floating point, for a picture."""
    ordered = sorted(map(tuple, points.tolist()))

    def half(given: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for c in given:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], c) <= 0:
                chain.pop()
            chain.append(c)
        return chain[:-1]

    return np.array([*half(ordered), *half(reversed(ordered))] or ordered, dtype=float)


def _turn(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]
) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def picture(
    question: DesignQuestion,
    queries: Float[np.ndarray, "heads d"],
    verdict: str,
    gap: float,
) -> pictures.Chart:
    """Keys, region and queries in the plane where there are two dimensions; else the pattern that the queries give."""
    keys, scale, targets = question.keys[0], float(question.scale), question.targets
    if keys.shape[1] == 2:
        others = np.delete(keys, targets.indices, axis=0)
        forbidden = (
            hull(others)
            if verdict == "impossible" and question.uncertainty.fixed and len(others)
            else None
        )
        # Where keys are uncertain the queries that meet the targets are fewer than those that do for the keys as given.
        region = None
        if len(queries) == 1 and question.uncertainty.fixed and np.any(queries[0]):
            far = FAR * max(
                float(np.abs(keys).max()), float(np.linalg.norm(queries[0]))
            )
            region = meeting_region(keys, targets, queries[0], far, scale)
        return pictures.plane_picture(
            keys,
            targets.indices,
            queries,
            region=region,
            hull=forbidden,
            shortest=gap < SHORT,
        )
    if len(queries) == 0:
        queries = np.zeros((1, keys.shape[1]))
        names, title = (
            ["no query at all"],
            "No query was found; this is the pattern of none",
        )
    elif len(queries) == 1:
        names, title = ["query"], "The pattern of the query"
    else:
        names, title = (
            [f"head {h}" for h in range(len(queries))],
            "The patterns of the queries",
        )
    pattern = attention.pattern(attention.scores(keys, queries, scale=scale))
    return pictures.pattern_bars(pattern, title, names, targets=targets.indices)
