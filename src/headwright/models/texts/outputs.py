"""The range of a head's output along a direction, over every text: a ratio of sums.

The output along u of a query token is sum_j e^(s_j) x_j / sum_j e^(s_j) with x_j = <u, v> of the token at place j. The
largest such ratio r is where sum_j max_b e^(s_j(b)) (x_j(b) - r) = 0, each place for itself (Dinkelbach): from any text
one goes to the text that maximises the sum at its ratio, and the ratio only rises, until the text stays.

No text has more than R if sum_j max_b e^(s_j(b)) (x_j(b) - R) is certainly not above 0: that is looked at with scores
and x as far off as they may be, for R a little above r, and further up until it holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError
from headwright.fast.balls import U
from headwright.fast.exponential import EXP_RANGE, exp_near
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.sweep import doubt_of, scores_along

MOST_STEPS = 100
DOUBLINGS = 80  # from 1e-13 of what tokens are worth to more than all of it

Table = Float[np.ndarray, "seen tokens"]


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest value over every text, in floating point, with a text that attains it; and proved: none has more."""

    value: float
    bound: float
    text: Int[np.ndarray, " length"]


def largest_output(head: Head, texts: Texts, query: int, along: Table, wrong: float = 0.0) -> Largest:
    """The largest output of a query token, where along[j, b], off by at most `wrong`, is what b at place j is worth.

    >>> from headwright.models.texts.head import Placed, Vectors
    >>> vectors = Vectors(np.array([[0.0], [0.0]]), 0.0)
    >>> head = Placed(np.arange(2), lambda _: vectors, lambda _: vectors)
    >>> found = largest_output(head, Texts(2, 1), 0, np.array([[0.0, 1.0], [0.0, 1.0]]))
    >>> found.value, bool(0.5 <= found.bound < 0.5 + 1e-9)
    (0.5, True)
    """
    table = np.array([scores for _, scores in scores_along(head, texts, query)])
    if not (np.isfinite(table).all() and np.isfinite(along).all()):
        raise InputError("scores or outputs that are not finite: nothing is proved of them")
    free = np.array([at in texts.free for at in texts.seen])
    fixed = np.array([texts.held.get(at, query) for at in texts.seen])
    places = np.arange(len(texts.seen))
    may = np.zeros(table.shape, dtype=bool)  # what each place may hold
    may[:, : head.free] = free[:, None]
    may[places[~free], fixed[~free]] = True
    apart = table - table[may].max()
    weights = np.exp(np.minimum(apart, 0.0))
    chosen = fixed
    for _ in range(MOST_STEPS):
        taken, worth = weights[places, chosen], along[places, chosen]
        # From the value of the heaviest place on: a ratio next to it would round to it, and then nothing beats it.
        heaviest = worth[taken.argmax()]
        beyond = float(taken @ (worth - heaviest) / taken.sum())
        better = np.where(may, weights * ((along - heaviest) - beyond), -np.inf).argmax(axis=1)
        if np.array_equal(better, chosen):
            break
        chosen = better
    value = float(heaviest + beyond)
    text = np.full(texts.length, query)
    text[list(texts.seen)] = chosen
    asking = np.array([query])
    slack = max(head.queries(texts.place, at, asking).slack(head.keys(at)) for at in texts.seen)
    return Largest(value, _above(value, apart, along, may, slack, wrong), text)


def _above(
    value: float, apart: Table, along: Table, may: Bool[np.ndarray, "seen tokens"], slack: float, wrong: float
) -> float:
    """A number that no text exceeds: the first of some above the value for which that is certain."""
    doubt, size = float(doubt_of(np.array([slack]), 8)[0]), float(np.abs(along[may]).max()) + wrong
    heavy = exp_near(np.clip(apart, -EXP_RANGE, 0.0))
    light = np.where(apart < -EXP_RANGE, 0.0, heavy)  # where less counts against it
    for step in range(DOUBLINGS):
        bound = value + max(size, 1e-300) * 1e-13 * 2.0**step
        gain = (along - bound) + (wrong + 4 * U * (size + abs(bound)))
        terms = np.where(gain >= 0, heavy * gain * (1 + doubt), light * gain / (1 + doubt))
        best = np.where(may, terms, -np.inf).max(axis=1)
        if float(best.sum()) + (len(best) + 8) * U * float(np.abs(best).sum()) * 2 <= 0:
            return bound
        if bound > 2 * size:
            break
    return float(np.nextafter(size * (1 + 2.0**-50), np.inf))  # an average of numbers that are none above this
