"""A design as a picture."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright import attention, pictures
from headwright.design.plane import granting_region
from headwright.design.statement import Question


def picture(question: Question, queries: Float[np.ndarray, "heads d"], words: str) -> pictures.Chart:
    """Keys, region and queries in the plane where there are two dimensions; else the pattern that the queries give.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> question = Question((np.eye(2),), copy(0), World(), Fraction(1), Fraction(1))
    >>> len(picture(question, np.array([[3.0, -3.0]]), "").to_dict()["layer"])
    5
    """
    keys, scale = question.keys[0], float(question.scale)
    if keys.shape[1] == 2:
        region = np.empty((0, 2))
        if len(queries) == 1:
            # From a little beyond the shortest query, which lies on the border, all of the region can be seen.
            region = granting_region(
                keys, question.wish, queries[0] * 1.02, 1.8 * float(np.linalg.norm(queries[0])), scale
            )
        return pictures.plane_picture(keys, question.wish.targets, region, queries, words)
    if len(queries) == 0:
        queries = np.zeros((1, keys.shape[1]))
    pattern = attention.pattern(attention.scores(keys, queries, scale=scale))
    return pictures.pattern_bars(pattern, f"Pattern of the {'queries' if len(queries) > 1 else 'query'}")
