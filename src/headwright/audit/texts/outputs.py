"""The range of a ratio of sums over every text: a head's output along a direction, or its weight on a token.

The output along u of a query token is sum_j e^(s_j) x_j / sum_j e^(s_j) with x_j = <u, v> of the token at place j. The
largest such ratio r is where sum_j max_b e^(s_j(b)) (x_j(b) - r) = 0, each place for itself (Dinkelbach): from any text
one goes to the text that maximises the sum at its ratio, and the ratio only rises, until it stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headwright.audit.texts.head import Head, Texts
from headwright.audit.texts.sweep import scores_at

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
    table = np.array([scores_at(head, texts, at, query) for at in texts.seen])
    weights = np.exp(table - table.max())
    free = np.array([at in texts.free for at in texts.seen])
    fixed = np.array([texts.held.get(at, query) for at in texts.seen])
    places = np.arange(len(texts.seen))
    chosen, value = fixed, -np.inf
    for _ in range(MOST_STEPS):
        taken = weights[places, chosen]
        ratio = float(taken @ along[places, chosen] / taken.sum())
        if ratio <= value:
            break
        value, best = ratio, chosen
        chosen = np.where(free, (weights * (along - ratio))[:, : head.free].argmax(axis=1), fixed)
    text = np.full(texts.length, query)
    text[list(texts.seen)] = best
    return Attained(value, text)
