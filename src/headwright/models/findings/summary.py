"""Summaries of rows that can be added: many documents need no more memory than one.

A summary is a set of arrays by name, each with an entry for every layer and head. Sums and counts are added, peaks
are the larger of two; so merging is associative, and what is merged may come from anywhere and be kept in a file.

    ratio    sum x / sum w over rows, with what its interval needs: see `ratio_sums`
    counts   how many rows fall into each of fixed bins, whose edges grow by 2 %: quantiles known up to 1 %
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError

Rows = Float[np.ndarray, "heads rows"]

BLOCK = 64  # rows in a row that are counted as one draw where documents are few: neighbours are alike
FEW = 8  # documents, below which intervals are taken over blocks
CONFIDENCE = 0.95
FIRST = 3  # the number of keys that the first measured row sees

# What `ratio_sums` keeps: rows, sum w, sum x; then, for documents and for blocks, how many, sum W^2, sum W X, sum X^2;
# then, of blocks, the products of W and X with the laws of `_laws`, and of these with each other.
ROWS, WEIGHT, TOTAL, DOCUMENTS, BLOCKS, TREND, FIELDS = 0, 1, 2, 3, 7, 11, 35
LAWS = 4

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
    found = np.zeros((heads, FIELDS))
    found[:, ROWS], found[:, WEIGHT], found[:, TOTAL] = rows, w.sum(axis=1), x.sum(axis=1)
    if not rows:
        return found
    blocks = max(1, rows // BLOCK)
    starts = np.arange(blocks) * rows // blocks
    for at, begin in ((DOCUMENTS, np.zeros(1, dtype=int)), (BLOCKS, starts)):
        X, W = (np.add.reduceat(array, begin, axis=1) for array in (x, w))
        found[:, at] = len(begin)
        for k, product in enumerate((W * W, W * X, X * X), 1):
            found[:, at + k] = product.sum(axis=1)
    laws = _laws(rows, blocks)
    products = np.concatenate([W @ laws, X @ laws], axis=1)
    found[:, TREND:] = np.concatenate([products, np.tile((laws.T @ laws).ravel(), (heads, 1))], axis=1)
    return found


@lru_cache(maxsize=8)
def _laws(rows: int, blocks: int) -> Float[np.ndarray, "blocks laws"]:
    """How numbers grow with the position, summed over blocks: as 1, log i, i and 1/i.

    Spread evenly over i keys, a pattern has entropy log i, weights 1/i and a distance in proportion to i.
    """
    place = np.arange(FIRST, rows + FIRST)
    laws = np.stack([np.ones(rows), np.log(place), place / 1000, 1 / place])
    sums: Float[np.ndarray, "blocks laws"] = np.add.reduceat(laws, np.arange(blocks) * rows // blocks, axis=1).T
    return sums


def _explained(kept: Float[np.ndarray, " fields"], value: float, laws: int) -> float:
    """The part of sum_c (X_c - r W_c)^2 that is a trend in position: by least squares, over the blocks of all texts."""
    W, X = kept[TREND : TREND + LAWS], kept[TREND + LAWS : TREND + 2 * LAWS]
    products = kept[TREND + 2 * LAWS :].reshape(LAWS, LAWS)[:laws, :laws]
    size = np.sqrt(np.diag(products))
    y = (X - value * W)[:laws] / size
    return float(y @ np.linalg.lstsq(products / size / size[:, None], y, rcond=1e-13)[0])


@dataclass(frozen=True)
class Mean:
    """A mean over rows, and the interval that holds it in 19 of 20 such samples, by Student's t.

    Rows of one text resemble their neighbours, so whole documents count as draws; where these are fewer than 8, blocks
    of at least 64 rows do. With sums X_c and W_c over draw c and r = sum X / sum W, the variance of r is taken to be
    n / (n - 1) sum_c (X_c - r W_c)^2 / (sum W)^2, as for any ratio of sums. Blocks differ by their positions too, which
    are the same in every text: so what p laws of growth (`_laws`) explain of X_c - r W_c is taken out, and n - p
    replaces n - 1. One draw has no interval. The interval is about texts of the same kind and length: on this text, the
    value is what it is.
    """

    value: float
    low: float | None
    high: float | None
    rows: int
    draws: int
    over: str  # "documents" or "blocks of 64 rows"

    def clipped(self, most: float) -> Mean:
        """The same, of what lies between 0 and `most` by its nature."""
        if self.low is None or self.high is None:
            return self
        return Mean(self.value, max(0.0, self.low), min(most, self.high), self.rows, self.draws, self.over)


def mean_of(kept: Float[np.ndarray, " fields"]) -> Mean | None:
    """The mean that `ratio_sums` kept; None where all weights are 0, so that there is nothing to take a mean of."""
    from scipy.special import stdtrit

    if not kept[WEIGHT] > 0:
        return None
    value = float(kept[TOTAL] / kept[WEIGHT])
    over, at = ("documents", DOCUMENTS) if kept[DOCUMENTS] >= FEW else (f"blocks of {BLOCK} rows", BLOCKS)
    draws, WW, WX, XX = (float(number) for number in kept[at : at + 4])
    if draws < 2:
        return Mean(value, None, None, int(kept[ROWS]), int(draws), over)
    squares, laws = XX - 2 * value * WX + value * value * WW, 1
    if at == BLOCKS:
        laws = max(1, min(LAWS, int(draws) // 2))  # of few blocks, at most half of the degrees of freedom
        squares -= _explained(kept, value, laws)
    variance = max(0.0, squares) * draws / (draws - laws)
    half = float(stdtrit(draws - laws, (1 + CONFIDENCE) / 2)) * math.sqrt(variance) / kept[WEIGHT]
    return Mean(value, value - float(half), value + float(half), int(kept[ROWS]), int(draws), over)


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
