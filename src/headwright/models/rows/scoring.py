"""How the scores of a head are made from queries and keys, and the statistics that are kept of a row of its pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError

Rows = Float[np.ndarray, "*batch heads rows"]
Keys = Float[np.ndarray, "*batch heads keys"]


@dataclass(frozen=True, eq=False)
class Scoring:
    """What `row_statistics` was told, checked against the shapes of queries and keys.

    >>> Scoring.of((1, 2, 4), (1, 5, 4), causal=True).seen(0)
    (0, 4)
    """

    heads: int
    key_heads: int
    rows: int
    keys: int
    scale: float
    causal: bool
    window: int | None
    softcap: float | None
    sinks: Float[np.ndarray, " heads"] | None
    key_mask: Bool[np.ndarray, " keys"] | None

    @classmethod
    def of(
        cls,
        queries: tuple[int, ...],
        keys: tuple[int, ...],
        *,
        scale: float | None = None,
        causal: bool = True,
        window: int | None = None,
        softcap: float | None = None,
        sinks: Float[np.ndarray, " heads"] | None = None,
        key_mask: Bool[np.ndarray, " keys"] | None = None,
    ) -> Scoring:
        """For queries (heads, rows, d) and keys (key heads, keys, d); refused in a sentence if they do not fit."""
        if len(queries) != 3 or len(keys) != 3 or 0 in (*queries, *keys):
            raise InputError(f"queries of shape {queries} and keys of shape {keys}: expected (heads, rows, d) of each")
        (heads, rows, d), (key_heads, count, width) = queries, keys
        if d != width or heads % key_heads:
            raise InputError(f"queries of shape {queries} do not fit keys of shape {keys}: expected vectors of one "
                             "length, and a number of heads that the number of key heads divides")  # fmt: skip
        if causal and rows > count:
            raise InputError(f"{rows} rows and {count} keys under a causal mask: expected a key for each row")
        if window is not None and window < 1:
            raise InputError(f"window = {window}: expected 1 or more")
        if softcap is not None and not 0 < softcap < np.inf:
            raise InputError(f"softcap = {softcap}: expected a number above 0")
        if scale is not None and not np.isfinite(scale):
            raise InputError(f"scale = {scale}: expected a finite number")
        if sinks is not None and np.shape(sinks) != (heads,):
            raise InputError(f"sinks of shape {np.shape(sinks)}: expected one number for each of the {heads} heads")
        return cls(
            heads, key_heads, rows, count, d**-0.5 if scale is None else float(scale), causal, window, softcap,
            None if sinks is None else np.asarray(sinks, dtype=np.float64),
            None if key_mask is None else checked_mask(key_mask, count, "keys"),
        )  # fmt: skip

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `row_statistics` that say the same."""
        return {name: getattr(self, name) for name in ("scale", "causal", "window", "softcap", "sinks", "key_mask")}

    @property
    def first(self) -> int:
        """The first key that is not masked: behind padding on the left, the first token of the text.

        >>> Scoring.of((1, 3, 4), (1, 3, 4), key_mask=np.array([False, True, True])).first
        1
        """
        return 0 if self.key_mask is None else int(self.key_mask.argmax())

    @property
    def shift(self) -> int:
        """The position of row 0."""
        return self.keys - self.rows

    def seen(self, row: int) -> tuple[int, int]:
        """The keys that a row may see are from the first number to before the second, but for those masked."""
        position = row + self.shift
        first = 0 if self.window is None else max(0, position - self.window + 1)
        if self.causal:
            return first, position + 1
        return first, self.keys if self.window is None else min(self.keys, position + self.window)

    def ranges(self) -> Int[np.ndarray, "rows 2"]:
        """What `seen` says of every row.

        >>> Scoring.of((1, 3, 4), (1, 3, 4), window=2).ranges().tolist()
        [[0, 1], [0, 2], [1, 3]]
        """
        position = np.arange(self.rows) + self.shift
        found = np.zeros((self.rows, 2), dtype=np.int64)
        found[:, 1] = self.keys
        if self.window is not None:
            found[:, 0] = np.maximum(0, position - self.window + 1)
            found[:, 1] = np.minimum(self.keys, position + self.window)
        if self.causal:
            found[:, 1] = position + 1
        return found

    def sees(self, positions: Any, keys: Any) -> Bool[np.ndarray, ...]:
        """Whether rows at these positions see these keys; positions and keys are broadcast against each other.

        >>> Scoring.of((1, 3, 4), (1, 3, 4), window=2).sees(np.arange(3)[:, None], np.arange(3)).tolist()
        [[True, False, False], [True, True, False], [False, True, True]]
        """
        apart = np.asarray(keys - positions)
        seen = apart <= 0 if self.causal else np.ones(apart.shape, dtype=bool)
        if self.window is not None:
            seen = seen & (abs(apart) < self.window)
        return seen if self.key_mask is None else seen & self.key_mask[keys]

    def hidden(self, rows: slice, keys: slice) -> Bool[np.ndarray, "rows keys"] | None:
        """Which of these keys these rows may not see; None if they see all."""
        begin = keys.start - self.shift - rows.start
        hidden = _edge(begin, rows.stop - rows.start, keys.stop - keys.start, self.causal, self.window)
        if self.key_mask is not None:
            hidden = hidden | ~self.key_mask[keys]
        return hidden if hidden.any() else None


def check_ends(ends: Any) -> None:
    """Refuse numbers of keys at both ends of a row that are not two whole numbers from 0 on.

    >>> check_ends((1,))
    Traceback (most recent call last):
    headwright.errors.InputError: ends = (1,): expected two whole numbers from 0, how many keys of a row are its start \
and how many its most recent
    """
    expected = "expected two whole numbers from 0, how many keys of a row are its start and how many its most recent"
    if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
        raise InputError(f"ends = {ends!r}: {expected}")
    if not all(isinstance(number, int | np.integer) and number >= 0 for number in ends):
        raise InputError(f"ends = {ends!r}: {expected}")


def checked_mask(mask: object, count: int, what: str) -> Bool[np.ndarray, " keys"]:
    """A mask as booleans, True where something is seen; refused unless it holds booleans, or 0 and 1."""
    given = np.asarray(mask)
    if given.shape != (count,):
        raise InputError(f"a key mask of shape {given.shape}: expected True or False for {count} {what}")
    if given.dtype == bool:
        return given
    expected = "expected booleans or 0 and 1, and 1 where a key is seen; a mask that is added to scores is none"
    if given.dtype.kind not in "fiu":
        raise InputError(f"a key mask of {given.dtype.name}: {expected}")
    wrong = given[~np.isin(given, (0, 1))]
    if len(wrong):
        raise InputError(f"a key mask that holds {float(wrong[0]):g}: {expected}")
    if given.dtype.kind == "f" and not given.any():
        raise InputError(f"a key mask of {given.dtype.name} zeros hides every key: {expected}")
    return given.astype(bool)


@lru_cache(maxsize=8)  # along a diagonal, blocks have one of few edges
def _edge(begin: int, rows: int, keys: int, causal: bool, window: int | None) -> Bool[np.ndarray, "rows keys"]:
    position = np.arange(rows, dtype=np.int32)[:, None]  # counted from the first row
    key = np.arange(begin, begin + keys, dtype=np.int32)
    hidden = np.zeros((rows, keys), dtype=bool)
    if causal:
        hidden |= key > position
    if window is not None:
        hidden |= abs(key - position) >= window
    return hidden


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """All rows of all heads; of a batch, one array for all of its texts.

    >>> RowStatistics.empty(1, 2, offsets=(0,)).lse.shape
    (1, 2)
    """

    lse: Rows
    largest: Rows
    winner: Int[np.ndarray, "heads rows"]
    margin: Rows
    entropy: Rows
    first: Rows
    distance: Rows
    sensitivity: Rows
    largest_score: Rows
    offsets: dict[int, Rows] = field(default_factory=dict)
    top: Rows | None = None
    received: Keys | None = None
    top_keys: Int[np.ndarray, "*batch heads rows k"] | None = None
    top_weights: Float[np.ndarray, "*batch heads rows k"] | None = None
    start: Rows | None = None
    middle: Rows | None = None
    recent: Rows | None = None
    sets: dict[str, Rows] = field(default_factory=dict)
    received_last: Keys | None = None
    received_most: Keys | None = None

    def __repr__(self) -> str:
        """The sizes, and the mean of the largest weight: not the arrays."""
        heads, rows = self.lse.shape[-2:]
        mean = f", the largest weight of a row is {self.largest.mean():.4g} on average" if self.largest.size else ""
        return f"RowStatistics({heads} heads, {rows} rows each{mean})"

    @classmethod
    def empty(cls, heads: int, rows: int, offsets: Sequence[int] = (), *, top: int = 0) -> RowStatistics:
        """Arrays to be filled, as those of rows that see nothing."""
        lse, largest, margin, entropy, first, distance, sensitivity, largest_score = np.zeros((8, heads, rows))
        lse[:] = largest_score[:] = -np.inf
        return cls(
            lse, largest, np.full((heads, rows), -1), margin, entropy, first, distance, sensitivity, largest_score,
            {offset: np.zeros((heads, rows)) for offset in offsets}, np.zeros((heads, rows)) if top else None,
            top_keys=np.full((heads, rows, top), -1) if top else None,
            top_weights=np.zeros((heads, rows, top)) if top else None,
        )  # fmt: skip

    def spoil(self, rows: Bool[np.ndarray, "*batch heads rows"]) -> None:
        """Write NaN into every statistic of these rows, and -1 for their keys: their scores hold NaN or +inf."""
        if not rows.any():
            return
        plain = (self.lse, self.largest, self.margin, self.entropy, self.first, self.distance, self.sensitivity)
        for values in (*plain, self.largest_score, *self.offsets.values(), self.top, self.top_weights):
            if values is not None:
                values[rows] = np.nan
        for keys in (self.winner, self.top_keys):
            if keys is not None:
                keys[rows] = -1

    @classmethod
    def stacked(cls, texts: Sequence[RowStatistics]) -> RowStatistics:
        """The statistics of a batch from those of its texts."""
        arrays: dict[str, Any] = {}
        for name, value in vars(texts[0]).items():
            if isinstance(value, dict):
                arrays[name] = {key: np.stack([getattr(text, name)[key] for text in texts]) for key in value}
            else:
                arrays[name] = None if value is None else np.stack([getattr(text, name) for text in texts])
        return cls(**arrays)
