"""For every query token: sums over places of exp of the largest and of the smallest score there.

A place j is *own* (the key is the query's token), *held* (a fixed token) or *free* (any token: the extremes over the
vocabulary). For a set W of places and the rest O of those seen, the four sums of exp(hi) and exp(lo) over W and over O
are all that the extremes of the weight on W need (see `bands`). They are kept as a reference and a factor, so nothing
overflows, and with a relative error that is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.fast.exponential import EXP_RANGE, exp_near
from headwright.models.texts.head import Head, Texts

PLACES = 64  # at once, of one query token
ROWS = 1024  # query tokens at once, where a block of scores is ROWS x vocabulary
NEAR, KEYS = 512, 2048  # query tokens and keys at once, where a block of scores stays near the processor
STEP = 2.0**-45  # relative error of one more place: two exponentials (2^-47 each), a product and a sum

Numbers = Float[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class Scaled:
    """A positive number for each query token, as factor * exp(reference); 0 is factor 0."""

    reference: Numbers
    factor: Numbers

    def plus(self, scores: Numbers) -> Scaled:
        """One more place with these scores."""
        reference = np.maximum(self.reference, scores)
        return Scaled(reference, self.factor * _exp(self.reference - reference) + _exp(scores - reference))

    def merged(self, other: Scaled) -> Scaled:
        """The sum of the two."""
        reference = np.maximum(self.reference, other.reference)
        with np.errstate(invalid="ignore"):  # nothing and nothing
            apart = [np.nan_to_num(each.reference - reference, nan=0.0) for each in (self, other)]
        mine, theirs = map(_exp, apart)
        return Scaled(reference, self.factor * mine + other.factor * theirs)

    def __getitem__(self, chosen: Int[np.ndarray, " some"] | slice) -> Scaled:
        return Scaled(self.reference[chosen], self.factor[chosen])

    def over(self, other: Scaled, doubt: Numbers) -> tuple[Numbers, Numbers]:
        """self / other from below and from above, where each is known up to a factor of 1 + doubt, either way."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            apart = self.reference - other.reference
            ratio = self.factor / other.factor * exp_near(np.clip(np.nan_to_num(apart), -EXP_RANGE, EXP_RANGE))
            below = np.where(apart < -EXP_RANGE, 0.0, ratio / (1 + doubt) ** 2 * (1 - STEP))
            above = np.where(apart > EXP_RANGE, np.inf, ratio * (1 + doubt) ** 2 * (1 + STEP))
        empty = np.where(self.factor == 0, 0.0, np.inf)  # nothing to compare with, or nothing to compare
        sure = (self.factor == 0) | (other.factor == 0)
        return np.where(sure, empty, below), np.where(sure, empty, above)


def _exp(below: Numbers) -> Numbers:
    """exp of numbers not above 0; beyond -700 it is 0, which is less than any sum here can notice."""
    return np.where(below < -EXP_RANGE, 0.0, exp_near(np.maximum(below, -EXP_RANGE)))


@dataclass(frozen=True, eq=False)
class Sums:
    """The four sums of one set of places."""

    inside_high: Scaled
    inside_low: Scaled
    outside_high: Scaled
    outside_low: Scaled

    @property
    def four(self) -> tuple[Scaled, Scaled, Scaled, Scaled]:
        """In this order."""
        return self.inside_high, self.inside_low, self.outside_high, self.outside_low


@dataclass(frozen=True, eq=False)
class Sweep:
    """What was found for some query tokens (as the head counts them) on all texts of a kind."""

    texts: Texts
    rows: Int[np.ndarray, " queries"]
    sets: Mapping[str, tuple[int, ...]]
    sums: Mapping[str, Sums]
    slack: Numbers  # no score used for a query token is further than this from the exact one

    @property
    def doubt(self) -> Numbers:
        """A sum and the exact one differ by a factor of at most 1 + this: the slack, and a little for each addition."""
        return doubt_of(self.slack, 2 * len(self.texts.seen))  # as many again where parts were merged

    def merged(self, other: Sweep) -> Sweep:
        """Of the same query tokens and sets, over these places and those of another sweep."""
        sums = {
            name: Sums(*(mine.merged(theirs) for mine, theirs in zip(four.four, other.sums[name].four, strict=True)))
            for name, four in self.sums.items()
        }
        return replace(self, sums=sums, slack=np.maximum(self.slack, other.slack))


def sweep(
    head: Head,
    texts: Texts,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    places: Sequence[int] | None = None,
) -> Sweep:
    """Over every text: what each query token meets at each place; `places` leaves out others, for a part of the work.

    >>> from headwright.models.texts.head import Placed, Vectors
    >>> vectors = Vectors(np.array([[0.0], [1.0]]), 0.0)
    >>> found = sweep(Placed(np.arange(2), lambda _: vectors, lambda _: vectors), Texts(2, 1), {"previous": [0]})
    >>> found.sums["previous"].inside_high.reference.tolist()
    [0.0, 1.0]
    """
    rows = np.arange(head.free) if rows is None else np.asarray(rows)
    kept = checked_sets(texts, sets)
    sums = {name: [nothing(len(rows))] * 4 for name in kept}
    slack = np.zeros(len(rows))
    seen = texts.seen if places is None else places
    for done, at in enumerate(seen):
        high, low, wrong = place_extremes(head, texts, at, rows)
        slack = np.maximum(slack, wrong)
        for name, inside in kept.items():
            four, first = sums[name], 0 if at in inside else 2
            four[first], four[first + 1] = four[first].plus(high), four[first + 1].plus(low)
        if progress is not None:
            progress((done + 1) / len(seen))
    return Sweep(texts, rows, kept, {name: Sums(*four) for name, four in sums.items()}, slack)


def checked_sets(texts: Texts, sets: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The same sets, if the query sees their places."""
    for name, places in sets.items():
        if not set(places) <= set(texts.seen):
            raise InputError(f"{name}: places {sorted(set(places) - set(texts.seen))} are not seen from {texts.place}")
    return {name: tuple(places) for name, places in sets.items()}


def doubt_of(slack: Numbers, places: int) -> Numbers:
    """A sum over places of exp of scores that are off by the slack, and the exact one, differ by 1 + this at most."""
    with np.errstate(over="ignore"):
        found: Numbers = (np.expm1(slack) + places * STEP) * (1 + 2.0**-20)
    return found


def summed(scores: Float[np.ndarray, "places queries"]) -> Scaled:
    """The sum over places of exp: the exponentials err by 2^-47 and n roundings of the sum by n 2^-53."""
    reference = scores.max(axis=0, initial=-np.inf)
    return Scaled(reference, _exp(scores - reference).sum(axis=0)) if len(scores) else nothing(scores.shape[1])


def nothing(count: int) -> Scaled:
    """Sums over no place."""
    return Scaled(np.full(count, -np.inf), np.zeros(count))


def place_extremes(
    head: Head, texts: Texts, at: int, rows: Int[np.ndarray, " queries"]
) -> tuple[Numbers, Numbers, float]:
    """The largest and smallest score that each query token can meet at a place, and how far they may be wrong."""
    queries, keys = head.queries(texts.place, at, rows), head.keys(at)
    slack = queries.slack(keys)
    if at == texts.place or at in texts.held:
        chosen = keys.rows[rows] if at == texts.place else keys.rows[texts.held[at]]
        scores = (queries.rows * chosen).sum(axis=1)
        return scores, scores, slack
    high, low = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for start in range(0, len(rows), NEAR):
        mine = slice(start, start + NEAR)
        for first in range(0, head.free, KEYS):
            block = queries.rows[mine] @ keys.rows[first : min(first + KEYS, head.free)].T
            high[mine], low[mine] = np.maximum(high[mine], block.max(axis=1)), np.minimum(low[mine], block.min(axis=1))
    return high, low, slack


def scores_along(head: Head, texts: Texts, query: int) -> Iterator[tuple[int, Float[np.ndarray, " tokens"]]]:
    """Place by place, the scores of one query token with every token, whether or not the place may hold it.

    Where the keys are the same at every place, as those of rotary heads are, many places are one product.
    """
    asking = np.array([query])
    for start in range(0, len(texts.seen), PLACES):
        block = texts.seen[start : start + PLACES]
        turned = np.vstack([head.queries(texts.place, at, asking).rows for at in block])
        keys = [head.keys(at) for at in block]
        if all(each is keys[0] for each in keys):
            yield from zip(block, turned @ keys[0].rows.T, strict=True)
        else:
            yield from ((at, key.rows @ row) for at, key, row in zip(block, keys, turned, strict=True))
