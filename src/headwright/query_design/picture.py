"""A design as a picture. In two dimensions the queries that meet a target form a convex region, which is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float

from headwright import attention, pictures
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Targets

SLACK = 1e-9  # of a logarithm: the shortest query lies on the border
SECTIONS = 120
NARROWINGS = 70
HALVINGS = 45
# Times the size of what is drawn: beyond, the end of the region cannot be seen.
FAR = 4.0
Sections = Float[np.ndarray, " sections"]
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
    # Close together where the border bends.
    steps = length + far * np.linspace(0, 1, SECTIONS) ** 2
    start = steps[:, None] * along

    def room(at: Sections) -> Sections:
        """How much more than targets, as a logarithm, the target gets that has least to spare."""
        scores = attention.scores(keys, start + at[:, None] * across, scale=scale)
        top = scores.max(axis=1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        spare = []
        for target, p in targets.least.items():
            spare.append(scores[:, target] - log_total - np.log(float(p)))
        least: Sections = np.min(spare, axis=0) + SLACK
        return least

    low = np.full(SECTIONS, -3 * far)
    high = np.full(SECTIONS, 3 * far)
    for _ in range(NARROWINGS):
        left = (2 * low + high) / 3
        right = (low + 2 * high) / 3
        rises = room(left) < room(right)
        low = np.where(rises, left, low)
        high = np.where(rises, high, right)
    middle = (low + high) / 2
    is_met = room(middle) >= 0
    below = start + _end(room, middle, -3 * far)[:, None] * across
    above = start + _end(room, middle, 3 * far)[:, None] * across
    return np.concatenate([below[is_met], above[is_met][::-1]])


def _end(
    room: Callable[[Sections], Sections], inside: Sections, outside: float
) -> Sections:
    """Between the two, the last place where there is room."""
    low = inside
    high = np.full_like(inside, outside)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        has_room = room(middle) >= 0
        low = np.where(has_room, middle, low)
        high = np.where(has_room, high, middle)
    return low


def hull(points: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "corners 2"]:
    """The corners of the convex hull, one after the other; in floating point, for a picture."""
    ordered = sorted(map(tuple, points.tolist()))
    corners = [*_chain(ordered), *_chain(reversed(ordered))]
    return np.array(corners or ordered, dtype=float)


def _chain(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """One side of the hull of points that are in order; the last corner begins the other side."""
    chain: list[tuple[float, float]] = []
    for point in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain[:-1]


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
    keys = question.keys[0]
    scale = float(question.scale)
    targets = question.targets
    if keys.shape[1] == 2:
        return _in_the_plane(question, queries, verdict, gap)
    names = [f"head {number}" for number in range(len(queries))]
    title = "The patterns of the queries"
    if len(queries) == 0:
        queries = np.zeros((1, keys.shape[1]))
        names = ["no query at all"]
        title = "No query was found; this is the pattern of none"
    elif len(queries) == 1:
        names = ["query"]
        title = "The pattern of the query"
    pattern = attention.pattern(attention.scores(keys, queries, scale=scale))
    return pictures.pattern_bars(pattern, title, names, targets=targets.indices)


def _in_the_plane(
    question: DesignQuestion,
    queries: Float[np.ndarray, "heads 2"],
    verdict: str,
    gap: float,
) -> pictures.Chart:
    """Where keys are uncertain the queries that meet the targets are fewer than those that do for the keys as given."""
    keys = question.keys[0]
    targets = question.targets
    forbidden = None
    region = None
    if question.uncertainty.fixed:
        others = np.delete(keys, targets.indices, axis=0)
        if verdict == "impossible" and len(others):
            forbidden = hull(others)
        if len(queries) == 1 and np.any(queries[0]):
            largest = float(np.abs(keys).max())
            far = FAR * max(largest, float(np.linalg.norm(queries[0])))
            scale = float(question.scale)
            region = meeting_region(keys, targets, queries[0], far, scale)
    return pictures.plane_picture(
        keys,
        targets.indices,
        queries,
        region=region,
        hull=forbidden,
        shortest=gap < SHORT,
    )
