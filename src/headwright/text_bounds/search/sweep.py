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
from headwright.numerics.exponential import EXP_RANGE, exp_near
from headwright.text_bounds.progress import Progress
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.texts import TextFamily

PLACES_AT_ONCE = 64  # of one query token
# Query tokens at once, where a block of scores is QUERIES_AT_ONCE x vocabulary.
QUERIES_AT_ONCE = 1024
# Query tokens and keys at once, where a block of scores stays near the processor.
BLOCK_QUERIES = 512
BLOCK_KEYS = 2048
# Relative error of one more place: two exponentials (2^-47 each), a product and a sum.
STEP = 2.0**-45

Numbers = Float[np.ndarray, " queries"]
Rows = Int[np.ndarray, " queries"]
Extreme = Literal["least", "most"]
# Largest and smallest scores, and how far they may be wrong.
PlaceExtremes = tuple[Numbers, Numbers, float | Numbers]


@dataclass(frozen=True, eq=False)
class ScaledNumbers:
    """A positive number for each query token, as factor * exp(reference); 0 is factor 0."""

    reference: Numbers
    factor: Numbers

    def plus(self, scores: Numbers) -> ScaledNumbers:
        """One more place with these scores."""
        reference = np.maximum(self.reference, scores)
        own = self.factor * _exp(self.reference - reference)
        return ScaledNumbers(reference, own + _exp(scores - reference))

    def merged(self, other: ScaledNumbers) -> ScaledNumbers:
        """The sum of the two."""
        reference = np.maximum(self.reference, other.reference)
        factor = self._relative_to(reference) + other._relative_to(reference)
        return ScaledNumbers(reference, factor)

    def _relative_to(self, reference: Numbers) -> Numbers:
        """The factor with another reference, which is not below this one."""
        with np.errstate(invalid="ignore"):
            # Where both are -inf, there is nothing on either side: any difference will do.
            difference = np.nan_to_num(self.reference - reference, nan=0.0)
        factor: Numbers = self.factor * _exp(difference)
        return factor

    def __getitem__(self, chosen: Rows | slice) -> ScaledNumbers:
        return ScaledNumbers(self.reference[chosen], self.factor[chosen])

    def over(self, other: ScaledNumbers, doubt: Numbers) -> tuple[Numbers, Numbers]:
        """self / other from below and from above, where each is known up to a factor of 1 + doubt, either way."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            difference = self.reference - other.reference
            exponent = np.clip(np.nan_to_num(difference), -EXP_RANGE, EXP_RANGE)
            ratio = self.factor / other.factor * exp_near(exponent)
            # Beyond the range of exp, the end of the range is a bound on one side only.
            below = ratio / (1 + doubt) ** 2 * (1 - STEP)
            below = np.where(difference < -EXP_RANGE, 0.0, below)
            above = ratio * (1 + doubt) ** 2 * (1 + STEP)
            above = np.where(difference > EXP_RANGE, np.inf, above)
        # Nothing over something is 0, and something over nothing infinite: both exactly.
        is_exact = (self.factor == 0) | (other.factor == 0)
        exact = np.where(self.factor == 0, 0.0, np.inf)
        return np.where(is_exact, exact, below), np.where(is_exact, exact, above)


def _exp(exponent: Numbers) -> Numbers:
    """exp of numbers not above 0; beyond -700 it is 0, which is less than any sum here can notice."""
    power = exp_near(np.maximum(exponent, -EXP_RANGE))
    return np.where(exponent < -EXP_RANGE, 0.0, power)


@dataclass(frozen=True, eq=False)
class SetSums:
    """The four sums of one set of places."""

    inside_high: ScaledNumbers
    inside_low: ScaledNumbers
    outside_high: ScaledNumbers
    outside_low: ScaledNumbers

    def merged(self, other: SetSums) -> SetSums:
        """Of these places and others."""
        return SetSums(
            self.inside_high.merged(other.inside_high),
            self.inside_low.merged(other.inside_low),
            self.outside_high.merged(other.outside_high),
            self.outside_low.merged(other.outside_low),
        )

    def plus(self, high: Numbers, low: Numbers, *, inside: bool) -> SetSums:
        """One more place with these largest and smallest scores."""
        if inside:
            return replace(
                self,
                inside_high=self.inside_high.plus(high),
                inside_low=self.inside_low.plus(low),
            )
        return replace(
            self,
            outside_high=self.outside_high.plus(high),
            outside_low=self.outside_low.plus(low),
        )


@dataclass(frozen=True, eq=False)
class SweepResult:
    """What was found for some query tokens (as the head counts them) on all texts of a kind."""

    texts: TextFamily
    rows: Rows
    sets: Mapping[str, tuple[int, ...]]
    sums: Mapping[str, SetSums]
    # No score used for a query token is further than this from the exact one.
    slack: Numbers

    @property
    def doubt(self) -> Numbers:
        """A sum and the exact one differ by a factor of at most 1 + this: the slack, and a little for each addition."""
        # As many additions again where parts were merged.
        return doubt_of(self.slack, 2 * len(self.texts.seen))

    def merged(self, other: SweepResult) -> SweepResult:
        """Of the same query tokens and sets, over these places and those of another sweep."""
        sums = {name: own.merged(other.sums[name]) for name, own in self.sums.items()}
        return replace(self, sums=sums, slack=np.maximum(self.slack, other.slack))


class Sweeper(Protocol):
    """A way to sweep: in NumPy (`sweep`), on a GPU (`gpu_sweep`), in parts on workers (`worker_sweep`)."""

    def __call__(
        self,
        head: FirstLayerHead,
        texts: TextFamily,
        sets: Mapping[str, Sequence[int]],
        rows: Rows | None = None,
        progress: Progress | None = None,
    ) -> SweepResult:
        """The sums of each set of places for these query tokens (None: all), over every text."""


def sweep(
    head: FirstLayerHead,
    texts: TextFamily,
    sets: Mapping[str, Sequence[int]],
    rows: Rows | None = None,
    progress: Progress | None = None,
    *,
    places: Sequence[int] | None = None,
) -> SweepResult:
    """The sweep in NumPy, over every text; `places` restricts it to some places, for a part of the work."""
    chosen = np.arange(head.free) if rows is None else np.asarray(rows)
    seen = texts.seen if places is None else places

    def extremes_at(place: int) -> PlaceExtremes:
        return place_extremes(head, texts, place, chosen)

    return accumulate(texts, sets, chosen, seen, extremes_at, progress)


def accumulate(
    texts: TextFamily,
    sets: Mapping[str, Sequence[int]],
    rows: Rows,
    places: Sequence[int],
    extremes_at: Callable[[int], PlaceExtremes],
    progress: Progress | None = None,
    outside: tuple[ScaledNumbers, ScaledNumbers, Numbers] | None = None,
) -> SweepResult:
    """The four sums of each set over these places; `outside` are the sums of others, which are in none of the sets."""
    kept_sets = checked_sets(texts, sets)
    none = nothing(len(rows))
    outside_high, outside_low, slack = outside or (none, none, np.zeros(len(rows)))
    start = SetSums(none, none, outside_high, outside_low)
    sums = dict.fromkeys(kept_sets, start)
    for done, place in enumerate(places):
        high, low, error = extremes_at(place)
        slack = np.maximum(slack, error)
        for name, inside in kept_sets.items():
            sums[name] = sums[name].plus(high, low, inside=place in inside)
        if progress is not None:
            progress((done + 1) / len(places))
    return SweepResult(texts, rows, kept_sets, sums, slack)


def checked_sets(
    texts: TextFamily, sets: Mapping[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """The same sets, if the query sees their places."""
    for name, places in sets.items():
        unseen = set(places) - set(texts.seen)
        if unseen:
            raise InputError(
                f"{name}: places {sorted(unseen)} are not seen from {texts.place}"
            )
    return {name: tuple(places) for name, places in sets.items()}


def doubt_of(slack: Numbers, places: int) -> Numbers:
    """A sum over places of exp of scores that are off by the slack, and the exact one, differ by 1 + this at most."""
    with np.errstate(over="ignore"):
        # The factor covers the roundings of this line.
        doubt: Numbers = (np.expm1(slack) + places * STEP) * (1 + 2.0**-20)
    return doubt


def summed(scores: Float[np.ndarray, "places queries"]) -> ScaledNumbers:
    """The sum over places of exp: the exponentials err by 2^-47 and n roundings of the sum by n 2^-53."""
    if not len(scores):
        return nothing(scores.shape[1])
    reference = scores.max(axis=0, initial=-np.inf)
    return ScaledNumbers(reference, _exp(scores - reference).sum(axis=0))


def nothing(count: int) -> ScaledNumbers:
    """Sums over no place."""
    return ScaledNumbers(np.full(count, -np.inf), np.zeros(count))


def place_extremes(
    head: FirstLayerHead, texts: TextFamily, at: int, rows: Rows
) -> tuple[Numbers, Numbers, float]:
    """The largest and smallest score that each query token can meet at a place, and how far they may be wrong."""
    queries = head.queries(texts.place, at, rows)
    keys = head.keys(at)
    slack = queries.slack(keys)
    if at == texts.place or at in texts.held:
        # One token: the query's own, or the one that is held.
        tokens = rows if at == texts.place else texts.held[at]
        scores = (queries.rows * keys.rows[tokens]).sum(axis=1)
        return scores, scores, slack
    high = np.full(len(rows), -np.inf)
    low = np.full(len(rows), np.inf)
    for start in range(0, len(rows), BLOCK_QUERIES):
        block = slice(start, start + BLOCK_QUERIES)
        for first in range(0, head.free, BLOCK_KEYS):
            some_keys = keys.rows[first : min(first + BLOCK_KEYS, head.free)]
            scores = queries.rows[block] @ some_keys.T
            high[block] = np.maximum(high[block], scores.max(axis=1))
            low[block] = np.minimum(low[block], scores.min(axis=1))
    return high, low, slack


def scores_along(
    head: FirstLayerHead, texts: TextFamily, query: int
) -> Iterator[tuple[int, Float[np.ndarray, " tokens"]]]:
    """Place by place, the scores of one query token with every token, whether or not the place may hold it.

    Where the keys are the same at every place, as those of rotary heads are, many places are one product.
    """
    row = np.array([query])
    for start in range(0, len(texts.seen), PLACES_AT_ONCE):
        places = texts.seen[start : start + PLACES_AT_ONCE]
        queries = np.vstack([head.queries(texts.place, at, row).rows for at in places])
        keys = [head.keys(at) for at in places]
        if all(at_place is keys[0] for at_place in keys):
            yield from zip(places, queries @ keys[0].rows.T, strict=True)
        else:
            for at, at_place, turned in zip(places, keys, queries, strict=True):
                yield at, at_place.rows @ turned


@dataclass(frozen=True, eq=False)
class RowBounds:
    """A number for each query token, from both sides: the exact one of the model's weights lies between.

    >>> RowBounds(np.array([0.25]), np.array([0.5])).above(0.2).tolist()
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
class WeightBand:
    """The least and the most weight on a set of places over every text, for each query token."""

    least: RowBounds
    most: RowBounds


def band(result: SweepResult, name: str) -> WeightBand:
    """The band of the weight on one of the sets that was swept."""
    sums = result.sums[name]
    return WeightBand(
        share(sums.inside_low, sums.outside_high, result.doubt),
        share(sums.inside_high, sums.outside_low, result.doubt),
    )


def share(inside: ScaledNumbers, outside: ScaledNumbers, doubt: Numbers) -> RowBounds:
    """inside / (inside + outside) from both sides, where each is known up to a factor of 1 + doubt, either way."""
    below, above = outside.over(inside, doubt)
    lower = (1 - 2.0**-50) / (1 + above)
    upper = np.minimum(1.0, (1 + 2.0**-50) / (1 + below))
    return RowBounds(lower, upper)


def pair_band(
    head: FirstLayerHead,
    result: SweepResult,
    name: str,
    pairs: Int[np.ndarray, "pairs 2"],
) -> WeightBand:
    """For pairs (query token, token at the one place of the set): the weight there, whatever the others are."""
    texts = result.texts
    places = result.sets[name]
    if len(places) != 1 or places[0] not in texts.free:
        raise InputError(
            f"{name} is not one free place: expected one, such as the previous token's"
        )
    row_of = {int(token): row for row, token in enumerate(result.rows)}
    missing = [int(query) for query in pairs[:, 0] if int(query) not in row_of]
    if missing:
        raise InputError(
            f"the query token {missing[0]} was not swept: expected one of the rows"
        )
    chosen = np.array([row_of[int(query)] for query in pairs[:, 0]], dtype=int)
    queries = head.queries(texts.place, places[0], pairs[:, 0])
    keys = head.keys(places[0])
    scores = (queries.rows * keys.rows[pairs[:, 1]]).sum(axis=1)
    inside = ScaledNumbers(scores, np.ones(len(scores)))
    sums = result.sums[name]
    doubt = result.doubt[chosen]
    return WeightBand(
        share(inside, sums.outside_high[chosen], doubt),
        share(inside, sums.outside_low[chosen], doubt),
    )
