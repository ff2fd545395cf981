"""The range of a ratio of sums over every text: a head's output along a direction, or its weight on a token.

The output along u of a query token is sum_j e^(s_j) x_j / sum_j e^(s_j) with x_j = <u, v> of the token at place j. The
largest such ratio r is where sum_j max_b e^(s_j(b)) (x_j(b) - r) = 0, each place for itself (Dinkelbach): from any text
one goes to the text that maximises the sum at its ratio, and the ratio only rises, until the text stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.audit.texts.head import Head, Texts
from headwright.audit.texts.sweep import scores_along

MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Attained:
    """The largest value over every text, and a text that attains it; in floating point."""

    value: float
    text: Int[np.ndarray, " length"]


def largest_output(head: Head, texts: Texts, query: int, along: Float[np.ndarray, "seen tokens"]) -> Attained:
    """The largest output of a query token, where along[j, b] is what token b at the j-th place seen is worth.

    >>> from headwright.audit.texts.head import Placed, Vectors
    >>> vectors = Vectors(np.array([[0.0], [0.0]]), 0.0)
    >>> head = Placed(np.arange(2), lambda _: vectors, lambda _: vectors)
    >>> largest_output(head, Texts(2, 1), 0, np.array([[0.0, 1.0], [0.0, 1.0]])).value
    0.5
    """
    table = np.array([scores for _, scores in scores_along(head, texts, query)])
    weights = np.exp(table - table.max())
    free = np.array([at in texts.free for at in texts.seen])
    fixed = np.array([texts.held.get(at, query) for at in texts.seen])
    places = np.arange(len(texts.seen))
    chosen = fixed
    for _ in range(MOST_STEPS):
        taken, worth = weights[places, chosen], along[places, chosen]
        # From the value of the heaviest place on: a ratio next to it would round to it, and then nothing beats it.
        heaviest = worth[taken.argmax()]
        beyond = float(taken @ (worth - heaviest) / taken.sum())
        gains = weights * ((along - heaviest) - beyond)
        better = np.where(free, gains[:, : head.free].argmax(axis=1), fixed)
        if np.array_equal(better, chosen):
            break
        chosen = better
    value = float(heaviest + beyond)
    text = np.full(texts.length, query)
    text[list(texts.seen)] = chosen
    return Attained(value, text)
