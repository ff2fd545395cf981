"""A design as a picture."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright import attention, pictures
from headwright.queries.plane import granting_region, hull
from headwright.queries.statement import Question

FAR = 4.0  # times the size of what is drawn: from there on nobody sees whether the region ends
SHORT = 1e-3  # the proven gap, up to which a query is called the shortest


def picture(
    question: Question, queries: Float[np.ndarray, "heads d"], verdict: str, gap: float
) -> pictures.Chart:  # fmt: skip
    """Keys, region and queries in the plane where there are two dimensions; else the pattern that the queries give.

    >>> from fractions import Fraction
    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> "runs off the frame" in pictures.told(picture(question, np.array([[3.0, -3.0]]), "designed", 1e-9))
    True
    """
    keys, scale, wish = question.keys[0], float(question.scale), question.wish
    if keys.shape[1] == 2:
        others = np.delete(keys, wish.targets, axis=0)
        forbidden = hull(others) if verdict == "impossible" and question.world.fixed and len(others) else None
        # Where keys are uncertain the queries that grant the wish are fewer than those that do for the keys as given.
        region = None
        if len(queries) == 1 and question.world.fixed and np.any(queries[0]):
            far = FAR * max(float(np.abs(keys).max()), float(np.linalg.norm(queries[0])))
            region = granting_region(keys, wish, queries[0], far, scale)
        return pictures.plane_picture(keys, wish.targets, queries, region=region, hull=forbidden, shortest=gap < SHORT)
    if len(queries) == 0:
        queries = np.zeros((1, keys.shape[1]))
        names, title = ["no query at all"], "No query was found; this is the pattern of none"
    elif len(queries) == 1:
        names, title = ["query"], "The pattern of the query"
    else:
        names, title = [f"head {h}" for h in range(len(queries))], "The patterns of the queries"
    pattern = attention.pattern(attention.scores(keys, queries, scale=scale))
    return pictures.pattern_bars(pattern, title, names, targets=wish.targets)
