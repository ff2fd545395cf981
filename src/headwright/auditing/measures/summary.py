"""Summaries of rows that can be added: many documents need no more memory than one.

A summary is a set of arrays by name, with an entry for every head. Sums and counts are added, peaks are the larger of
two; so merging is associative, and what is merged may come from anywhere and be stored in a file.

    ratio    sum x / sum w over rows, with what its interval needs: see `ratio_sums`
    counts   how many rows fall into each of fixed bins, whose edges grow by 2 %: quantiles known up to 1 %
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError
from headwright.numerics.quantiles import student_quantile

Rows = Float[np.ndarray, "heads rows"]

ENOUGH_DRAWS = 8  # documents, below which there is no interval
CONFIDENCE = 0.95

# What `ratio_sums` returns: rows, sum w, sum x; then how many documents, and over documents sum W^2, sum W X, sum X^2,
# where W and X are the sums of w and x over the rows of a document.
ROWS, WEIGHT, TOTAL, DOCUMENTS, WW, WX, XX, FIELDS = range(8)

# The bins of `bin_counts`: zero and less; from SMALLEST to LARGEST in steps of STEP; more.
SMALLEST = 1e-9
LARGEST = 1e6
STEP = 1.02
BINS = 2 + math.ceil(math.log(LARGEST / SMALLEST) / math.log(STEP))


@dataclass(frozen=True, eq=False)
class Summary:
    """Arrays by name: (heads, ...) each for one layer, (layers, heads, ...) for several.

    `sums` are added and `peaks` compared when summaries are merged.
    """

    sums: dict[str, np.ndarray] = field(default_factory=dict)
    peaks: dict[str, np.ndarray] = field(default_factory=dict)

    def __add__(self, other: Summary) -> Summary:
        sums = dict(self.sums)
        for name, array in other.sums.items():
            sums[name] = sums[name] + array if name in sums else array
        peaks = dict(self.peaks)
        for name, array in other.peaks.items():
            peaks[name] = np.maximum(peaks[name], array) if name in peaks else array
        return Summary(sums, peaks)

    def layer(self, index: int) -> Summary:
        """One layer of a summary of several, by its place among these."""
        return Summary(
            {name: array[index] for name, array in self.sums.items()},
            {name: array[index] for name, array in self.peaks.items()},
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays under one name each, to be stored in a file."""
        sums = {f"sums/{name}": array for name, array in self.sums.items()}
        peaks = {f"peaks/{name}": array for name, array in self.peaks.items()}
        return sums | peaks

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> Summary:
        """The summary whose `arrays` these are."""
        summary = cls()
        for name, array in arrays.items():
            kind, slash, rest = name.partition("/")
            if kind not in ("sums", "peaks") or not slash:
                raise InputError(
                    f"{name!r} in a summary: expected sums/... or peaks/..."
                )
            held = summary.sums if kind == "sums" else summary.peaks
            held[rest] = array
        return summary


def merge_summaries(summaries: Iterable[Summary]) -> Summary:
    """The sum of all of them."""
    merged = Summary()
    for summary in summaries:
        merged = merged + summary
    return merged


class LayerAccumulator:
    """Adds summaries of single layers, in place, to the summary of all layers."""

    def __init__(self, layers: tuple[int, ...]) -> None:
        """Nothing yet, of these layers."""
        self.layers = layers
        self._sums: dict[str, np.ndarray] = {}
        self._peaks: dict[str, np.ndarray] = {}

    def merge(self, layer: int, part: Summary) -> None:
        """Add the summary of one layer. Peaks are never below 0."""
        for name, array in part.sums.items():
            total = self._entry(self._sums, layer, name, array)
            total += array
        for name, array in part.peaks.items():
            largest = self._entry(self._peaks, layer, name, array)
            np.maximum(largest, array, out=largest)

    def summary(self) -> Summary:
        """The summary of all layers, (layers, heads, ...)."""
        return Summary(self._sums, self._peaks)

    def _entry(
        self, arrays: dict[str, np.ndarray], layer: int, name: str, value: np.ndarray
    ) -> np.ndarray:
        """The entry of a layer in the array of that name, a view; zeros at first."""
        if name not in arrays:
            shape = (len(self.layers), *value.shape)
            arrays[name] = np.zeros(shape, dtype=value.dtype)
        entry: np.ndarray = arrays[name][self.layers.index(layer)]
        return entry


def ratio_sums(x: Rows, w: Rows) -> Float[np.ndarray, "heads fields"]:
    """The sums of one document for the mean of x by the weights w, sum x / sum w; `x` is already weighted."""
    heads, rows = x.shape
    sums = np.zeros((heads, FIELDS))
    W = w.sum(axis=1)
    X = x.sum(axis=1)
    sums[:, ROWS] = rows
    sums[:, WEIGHT] = W
    sums[:, TOTAL] = X
    if rows:
        sums[:, DOCUMENTS] = 1
        sums[:, WW] = W * W
        sums[:, WX] = W * X
        sums[:, XX] = X * X
    return sums


@dataclass(frozen=True)
class Mean:
    """A mean over rows and, where documents are enough, a 95 % interval for documents like these, by Student's t.

    On the documents that were measured, the mean is what it is: there is nothing to be unsure about. An interval says
    how far it may lie from the mean over all documents of which these are a sample. Rows of one text resemble each
    other, and texts differ, so a document counts as one draw; rows, or blocks of rows, of a single text cannot tell how
    texts differ. With sums X_c and W_c over document c and r = sum X / sum W, the variance of r is taken to be
    n / (n - 1) sum_c (X_c - r W_c)^2 / (sum W)^2, as for any ratio of sums. Fewer than 8 draws have no interval.
    """

    value: float
    low: float | None
    high: float | None
    rows: int
    draws: int
    over: str = "documents"  # what the draws are

    @property
    def interval(self) -> str:
        """What the interval is over, or why there is none."""
        if self.low is None:
            return why_no_interval(self.draws, self.over)
        return f"95 % over {self.draws} {self.over}"

    def clipped(self, most: float) -> Mean:
        """The same, of what lies between 0 and `most` by its nature."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(0.0, self.low), high=min(most, self.high))


@dataclass(frozen=True)
class Quantiles:
    """Some quantiles over rows, each known up to 1 %; inf where a row has but one key."""

    rows: int
    values: dict[float, float]

    @property
    def median(self) -> float:
        """The quantile of one half; inf if half of the rows are beyond all bins."""
        return self.values[0.5]

    @property
    def value(self) -> float | None:
        """The median as a number to show: None if it is infinite."""
        return self.median if math.isfinite(self.median) else None


@dataclass(frozen=True)
class Draws:
    """What the documents of a measurement are draws of: what an interval over them is about."""

    count: int
    # texts, passages of one text, passages of several texts, or random sequences
    over: str
    # whether they are draws of one kind; passages of several texts are not
    alike: bool = True

    @property
    def interval(self) -> str:
        """What an interval is over, or why there is none."""
        if self.count >= ENOUGH_DRAWS and self.alike:
            return (
                f"95 % intervals over {self.count} {self.over}, for others like these"
            )
        return why_no_interval(self.count, self.over)


@dataclass(frozen=True)
class RepeatedTokens:
    """On which random tokens induction was measured."""

    period: int  # after so many tokens they repeat
    context: int  # tokens of the longest sequence, with the model's opening
    sequences: int


def why_no_interval(draws: int, over: str) -> str:
    """The reason, in words.

    >>> why_no_interval(1, "texts"), why_no_interval(3, "texts")
    ('one text: no interval', '3 texts: at least 8 are needed for an interval')
    """
    if draws == 1:
        kind = over.partition(" of ")[0].removesuffix("s")
        return f"one {kind}: no interval"
    if draws < ENOUGH_DRAWS:
        return f"{draws} {over}: at least {ENOUGH_DRAWS} are needed for an interval"
    return f"{draws} {over}: no interval"


def mean_of(
    sums: Float[np.ndarray, " fields"], over: str = "documents", *, alike: bool = True
) -> Mean | None:
    """The mean that `ratio_sums` is of; None where all weights are 0, so that there is nothing to take a mean of.

    `over` says what the documents are. Where they are not draws of one kind (`alike` is False), there is no interval.
    """
    if not sums[WEIGHT] > 0:
        return None
    value = float(sums[TOTAL] / sums[WEIGHT])
    rows = int(sums[ROWS])
    draws = int(sums[DOCUMENTS])
    if draws < ENOUGH_DRAWS or not alike:
        return Mean(value, None, None, rows, draws, over)
    # sum_c (X_c - r W_c)^2, multiplied out
    squares = float(sums[XX] - 2 * value * sums[WX] + value * value * sums[WW])
    variance = max(0.0, squares) * draws / (draws - 1)
    quantile_of_t = student_quantile(draws - 1, (1 + CONFIDENCE) / 2)
    half = quantile_of_t * math.sqrt(variance) / float(sums[WEIGHT])
    return Mean(value, value - half, value + half, rows, draws, over)


def bin_counts(
    values: Rows, chosen: Bool[np.ndarray, "heads rows"] | None = None
) -> Int[np.ndarray, "heads bins"]:
    """How many of the values of each head fall into each bin; of the chosen ones, if rows are chosen."""
    heads = len(values)
    # The bin of a positive value is a logarithm; values of 0 and less give -inf or nan, and go into bin 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.floor(np.log(np.maximum(values, 0.0) / SMALLEST) / math.log(STEP))
    steps = np.nan_to_num(steps, nan=-1.0, neginf=-1.0, posinf=BINS)
    bins = np.clip(steps, -1, BINS - 2).astype(np.int64) + 1
    # All heads are counted at once, each in bins of its own.
    flat = bins + np.arange(heads)[:, None] * BINS
    counted = flat if chosen is None else flat[chosen.astype(bool)]
    return np.bincount(counted.ravel(), minlength=heads * BINS).reshape(heads, BINS)


def quantile(counts: Int[np.ndarray, " bins"], share: float) -> float | None:
    """The value below which that share of the rows lies, up to 1 %; inf beyond the bins, None if there are no rows."""
    total = int(counts.sum())
    if not total:
        return None
    index = int(np.searchsorted(np.cumsum(counts), share * total))
    if index == 0:
        return 0.0
    if index >= BINS - 1:
        return math.inf
    value: float = SMALLEST * STEP ** (index - 0.5)
    return value
