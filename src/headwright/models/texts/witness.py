"""The text that attains an extreme, for one query token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from headwright.models.texts.head import Head, Texts
from headwright.models.texts.sweep import scores_along

Extreme = Literal["least", "most"]


@dataclass(frozen=True, eq=False)
class Witness:
    """A text (tokens as the head counts them) and the weight that the head gives to the places there."""

    text: Int[np.ndarray, " length"]
    weight: float  # in floating point: the bounds are the band's


def witness(head: Head, texts: Texts, query: int, places: Sequence[int], extreme: Extreme) -> Witness:
    """Place by place the token of the largest or smallest score. Places that the query does not see hold its own token.

    >>> from headwright.models.texts.head import Placed, Vectors
    >>> vectors = Vectors(np.array([[0.0], [1.0]]), 0.0)
    >>> witness(Placed(np.arange(2), lambda _: vectors, lambda _: vectors), Texts(2, 1), 1, [0], "least").text.tolist()
    [0, 1]
    """
    text = np.full(texts.length, query)
    for at, token in texts.held.items():
        text[at] = token
    chosen = []
    free = set(texts.free)
    for at, scores in scores_along(head, texts, query):
        if at in free:
            smallest = (at in places) == (extreme == "least")
            text[at] = int((scores if smallest else -scores)[: head.free].argmin())
        chosen.append(scores[text[at]])
    pattern = np.exp(np.array(chosen) - max(chosen))
    inside = [at in places for at in texts.seen]
    return Witness(text, float(pattern[inside].sum() / pattern.sum()))
