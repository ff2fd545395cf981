"""Summaries of rows that can be added: many documents need no more memory than one.

A summary is a set of arrays by name, each with an entry for every layer and head. Sums and counts are added, peaks
are the larger of two; so merging is associative, and what is merged may come from anywhere and be kept in a file.

    ratio    sum x / sum w over rows, with what its interval needs: see `ratio_sums`
    counts   how many rows fall into each of fixed bins, whose edges grow by 2 %: quantiles known up to 1 %
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError

Rows = Float[np.ndarray, "heads rows"]

ENOUGH_DRAWS = 8  # documents, below which there is no interval
CONFIDENCE = 0.95

# What `ratio_sums` keeps: rows, sum w, sum x; then how many documents, and over documents sum W^2, sum W X, sum X^2,
# where W and X are the sums of w and x over the rows of a document.
ROWS, WEIGHT, TOTAL, DOCUMENTS, WW, WX, XX, FIELDS = range(8)

# The bins of `counts`: zero and less; from LEAST to MOST in steps of STEP; more.
LEAST, MOST, STEP = 1e-9, 1e6, 1.02
BINS = 2 + math.ceil(math.log(MOST / LEAST) / math.log(STEP))


@dataclass(frozen=True, eq=False)
class Summary:
    """Arrays by name, (layers, heads, ...) each; `sums` are added and `peaks` compared."""

    sums: dict[str, np.ndarray] = field(default_factory=dict)
    peaks: dict[str, np.ndarray] = field(default_factory=dict)

    def __add__(self, other: Summary) -> Summary:
        sums, peaks = dict(self.sums), dict(self.peaks)
        for name, array in other.sums.items():
            sums[name] = sums[name] + array if name in sums else array
        for name, array in other.peaks.items():
            peaks[name] = np.maximum(peaks[name], array) if name in peaks else array
        return Summary(sums, peaks)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays under one name each, to be kept in a file."""
        return {f"{kind}/{name}": array for kind, held in vars(self).items() for name, array in held.items()}

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> Summary:
        """What `arrays` wrote."""
        found: dict[str, dict[str, np.ndarray]] = {"sums": {}, "peaks": {}}
        for name, array in arrays.items():
            kind, slash, rest = name.partition("/")
            if kind not in found or not slash:
                raise InputError(f"{name!r} in a summary: expected sums/... or peaks/...")
            found[kind][rest] = array
        return cls(**found)


class Layered:
    """Collects what is measured, layer by layer, into the arrays of a summary."""

    def __init__(self, layers: tuple[int, ...], heads: int) -> None:
        """Nothing yet, of these layers."""
        self.layers, self.heads = layers, heads
        self._sums: dict[str, np.ndarray] = {}
        self._peaks: dict[str, np.ndarray] = {}

    def add(self, layer: int, name: str, value: np.ndarray) -> None:
        """A sum, (heads, ...)."""
        self._at(self._sums, layer, name, value)[...] += value

    def peak(self, layer: int, name: str, value: np.ndarray) -> None:
        """A number that is the larger of two, (heads, ...), none below 0."""
        held = self._at(self._peaks, layer, name, value)
        np.maximum(held, value, out=held)

    def merge(self, layer: int, part: Summary) -> None:
        """The summary of that layer alone."""
        for name, array in part.sums.items():
            self.add(layer, name, array[0])
        for name, array in part.peaks.items():
            self.peak(layer, name, array[0])

    def summary(self) -> Summary:
        """All of it."""
        return Summary(self._sums, self._peaks)

    def _at(self, kept: dict[str, np.ndarray], layer: int, name: str, value: np.ndarray) -> np.ndarray:
        if name not in kept:
            kept[name] = np.zeros((len(self.layers), *value.shape), dtype=value.dtype)
        found: np.ndarray = kept[name][self.layers.index(layer)]
        return found


def ratio_sums(x: Rows, w: Rows) -> Float[np.ndarray, "heads fields"]:
    """What is kept of one document for the mean of x by the weights w, sum x / sum w; `x` is already weighted."""
    heads, rows = x.shape
    kept = np.zeros((heads, FIELDS))
    W = w.sum(axis=1)
    X = x.sum(axis=1)
    kept[:, ROWS] = rows
    kept[:, WEIGHT] = W
    kept[:, TOTAL] = X
    if rows:
        kept[:, DOCUMENTS] = 1
        kept[:, WW] = W * W
        kept[:, WX] = W * X
        kept[:, XX] = X * X
    return kept


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
class Draws:
    """What the documents of a measurement are draws of: what an interval over them is about."""

    count: int
    over: str  # texts, passages of one text, passages of several texts, random sequences
    alike: bool = True  # whether they are draws of one kind; passages of several texts are not

    @property
    def interval(self) -> str:
        """What an interval is over, or why there is none."""
        if self.count >= ENOUGH_DRAWS and self.alike:
            return f"95 % intervals over {self.count} {self.over}, for others like these"
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


def mean_of(kept: Float[np.ndarray, " fields"], over: str = "documents", *, alike: bool = True) -> Mean | None:
    """The mean that `ratio_sums` kept; None where all weights are 0, so that there is nothing to take a mean of.

    `over` says what the documents are. Where they are not draws of one kind (`alike` is False), there is no interval.
    """
    from scipy.special import stdtrit

    if not kept[WEIGHT] > 0:
        return None
    value = float(kept[TOTAL] / kept[WEIGHT])
    rows = int(kept[ROWS])
    draws = int(kept[DOCUMENTS])
    if draws < ENOUGH_DRAWS or not alike:
        return Mean(value, None, None, rows, draws, over)
    squares = float(kept[XX] - 2 * value * kept[WX] + value * value * kept[WW])
    variance = max(0.0, squares) * draws / (draws - 1)
    half = float(stdtrit(draws - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance) / float(kept[WEIGHT])
    return Mean(value, value - half, value + half, rows, draws, over)


def bin_counts(values: Rows, kept: Int[np.ndarray, "heads rows"] | None = None) -> Int[np.ndarray, "heads bins"]:
    """How many of the values of each head fall into each bin; of those that `kept` says, if it says."""
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.floor(np.log(np.maximum(values, 0.0) / LEAST) / math.log(STEP))
    place = np.clip(np.nan_to_num(place, nan=-1.0, neginf=-1.0, posinf=BINS), -1, BINS - 2).astype(np.int64) + 1
    heads = len(values)
    flat = place + np.arange(heads)[:, None] * BINS
    chosen = flat if kept is None else flat[kept.astype(bool)]
    return np.bincount(chosen.ravel(), minlength=heads * BINS).reshape(heads, BINS)


def quantile(counts: Int[np.ndarray, " bins"], share: float) -> float | None:
    """The value below which that share of the rows lies, up to 1 %; inf beyond the bins, None if there are no rows."""
    total = int(counts.sum())
    if not total:
        return None
    place = int(np.searchsorted(np.cumsum(counts), share * total))
    if place == 0:
        return 0.0
    return math.inf if place >= BINS - 1 else LEAST * STEP ** (place - 0.5)
