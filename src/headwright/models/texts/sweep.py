"""For every query token: the least and most weight on sets of places over every text, with proven bounds.

A place j is *own* (the key is the query's token), *held* (a fixed token) or *free* (any token: the extremes over the
vocabulary). For a set W of places and the rest O of those seen, the weight on W is 1 / (1 + O/W), with O and W the sums
of exp(score). It is least where every place of O holds the token of the largest score and every place of W that of the
smallest, most the other way round. The tokens are independent of one another, so such a text exists: the extremes are
attained. So the four sums of exp(hi) and exp(lo) over W and over O are all that is needed. They are kept as a reference
and a factor, so that nothing overflows, and with a bounded relative error.

A pair (a, b) is a query token a with b at one place: the weight there is least where all others are largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError
from headwright.fast.exponential import EXP_RANGE, exp_near
from headwright.models.texts.head import Head, Texts

PLACES = 64  # at once, of one query token
ROWS = 1024  # query tokens at once, where a block of scores is ROWS x vocabulary
NEAR, KEYS = 512, 2048  # query tokens and keys at once, where a block of scores stays near the processor
STEP = 2.0**-45  # relative error of one more place: two exponentials (2^-47 each), a product and a sum

Numbers = Float[np.ndarray, " queries"]
Progress = Callable[[float], None]
Extreme = Literal["least", "most"]
PlaceExtremes = tuple[Numbers, Numbers, float | Numbers]  # largest and smallest scores, and how far they may be wrong


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


class Sweeper(Protocol):
    """A way to sweep: in NumPy (`sweep`), on a GPU (`gpu_sweep`), in parts on workers (`worker_sweep`)."""

    def __call__(
        self,
        head: Head,
        texts: Texts,
        sets: Mapping[str, Sequence[int]],
        rows: Int[np.ndarray, " queries"] | None = None,
        progress: Progress | None = None,
    ) -> Sweep:
        """The sums of each set of places for these query tokens (None: all), over every text."""


def sweep(
    head: Head,
    texts: Texts,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None = None,
    progress: Progress | None = None,
    *,
    places: Sequence[int] | None = None,
) -> Sweep:
    """The sweep in NumPy, over every text; `places` restricts it to some places, for a part of the work."""
    rows = np.arange(head.free) if rows is None else np.asarray(rows)
    seen = texts.seen if places is None else places
    return accumulate(texts, sets, rows, seen, lambda at: place_extremes(head, texts, at, rows), progress)


def accumulate(
    texts: Texts,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"],
    places: Sequence[int],
    extremes_at: Callable[[int], PlaceExtremes],
    progress: Progress | None = None,
    outside: tuple[Scaled, Scaled, Numbers] | None = None,
) -> Sweep:
    """The four sums of each set over these places; `outside` are the sums of others, which are in none of the sets."""
    kept, none = checked_sets(texts, sets), nothing(len(rows))
    high, low, slack = outside or (none, none, np.zeros(len(rows)))
    sums = {name: [none, none, high, low] for name in kept}
    for done, at in enumerate(places):
        *both, wrong = extremes_at(at)
        slack = np.maximum(slack, wrong)
        for name, inside in kept.items():
            first = 0 if at in inside else 2
            for which, scores in enumerate(both, first):
                sums[name][which] = sums[name][which].plus(scores)
        if progress is not None:
            progress((done + 1) / len(places))
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


@dataclass(frozen=True, eq=False)
class Between:
    """A number for each query token, from both sides: the exact one of the model's weights lies between.

    >>> Between(np.array([0.25]), np.array([0.5])).above(0.2).tolist()
    [True]
    """

    lower: Numbers
    upper: Numbers

    def above(self, bar: float) -> Bool[np.ndarray, " queries"]:
        """Certainly above."""
        return self.lower > bar

    def below(self, bar: float) -> Bool[np.ndarray, " queries"]:
        """Certainly below."""
        return self.upper < bar


@dataclass(frozen=True, eq=False)
class Band:
    """The least and the most weight on a set of places over every text, for each query token."""

    least: Between
    most: Between


def band(found: Sweep, name: str) -> Band:
    """The band of the weight on one of the sets that was swept."""
    sums = found.sums[name]
    return Band(
        share(sums.inside_low, sums.outside_high, found.doubt), share(sums.inside_high, sums.outside_low, found.doubt)
    )


def share(inside: Scaled, outside: Scaled, doubt: Numbers) -> Between:
    """inside / (inside + outside) from both sides, where each is known up to a factor of 1 + doubt, either way."""
    below, above = outside.over(inside, doubt)
    return Between((1 - 2.0**-50) / (1 + above), np.minimum(1.0, (1 + 2.0**-50) / (1 + below)))


def pair_band(head: Head, found: Sweep, name: str, pairs: Int[np.ndarray, "pairs 2"]) -> Band:
    """For pairs (query token, token at the one place of the set): the weight there, whatever the others are."""
    texts, places = found.texts, found.sets[name]
    if len(places) != 1 or places[0] not in texts.free:
        raise InputError(f"{name} is not one free place: expected one, such as the previous token's")
    row = {int(token): index for index, token in enumerate(found.rows)}
    missing = [int(a) for a in pairs[:, 0] if int(a) not in row]
    if missing:
        raise InputError(f"the query token {missing[0]} was not swept: expected one of the rows")
    chosen = np.array([row[int(a)] for a in pairs[:, 0]], dtype=int)
    queries, keys = head.queries(texts.place, places[0], pairs[:, 0]), head.keys(places[0])
    scores = (queries.rows * keys.rows[pairs[:, 1]]).sum(axis=1)
    inside, sums, doubt = Scaled(scores, np.ones(len(scores))), found.sums[name], found.doubt[chosen]
    return Band(share(inside, sums.outside_high[chosen], doubt), share(inside, sums.outside_low[chosen], doubt))
