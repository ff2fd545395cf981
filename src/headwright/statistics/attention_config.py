"""How the scores of a head are made from queries and keys: scale, mask, window, softcap, sinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from headwright.errors import InputError

Array = Any  # of NumPy or of torch


@dataclass(frozen=True, eq=False)
class AttentionConfig:
    """The scoring of one text's heads, checked against the shapes of queries and keys.

    The rows stand at the last positions: row i at position `shift` + i.

    >>> AttentionConfig.of((1, 2, 4), (1, 5, 4), causal=True).seen(0)
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
    ) -> AttentionConfig:
        """For queries (heads, rows, d) and keys (key heads, keys, d); refused in a sentence if they do not fit."""
        if len(queries) != 3 or len(keys) != 3 or 0 in (*queries, *keys):
            raise InputError(
                f"queries of shape {queries} and keys of shape {keys}: expected (heads, rows, d) of each"
            )
        heads, rows, d = queries
        key_heads, count, width = keys
        if d != width or heads % key_heads:
            raise InputError(
                f"queries of shape {queries} do not fit keys of shape {keys}: expected vectors of one "
                "length, and a number of heads that the number of key heads divides"
            )
        if causal and rows > count:
            raise InputError(
                f"{rows} rows and {count} keys under a causal mask: expected a key for each row"
            )
        if window is not None and window < 1:
            raise InputError(f"window = {window}: expected 1 or more")
        if softcap is not None and not 0 < softcap < np.inf:
            raise InputError(f"softcap = {softcap}: expected a number above 0")
        if scale is not None and not np.isfinite(scale):
            raise InputError(f"scale = {scale}: expected a finite number")
        if sinks is not None and np.shape(sinks) != (heads,):
            raise InputError(
                f"sinks of shape {np.shape(sinks)}: expected one number for each of the {heads} heads"
            )
        return cls(
            heads,
            key_heads,
            rows,
            count,
            d**-0.5 if scale is None else float(scale),
            causal,
            window,
            softcap,
            None if sinks is None else np.asarray(sinks, dtype=np.float64),
            None if key_mask is None else checked_mask(key_mask, count, "keys"),
        )

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `row_statistics` that say the same."""
        return {
            name: getattr(self, name)
            for name in ("scale", "causal", "window", "softcap", "sinks", "key_mask")
        }

    @property
    def first(self) -> int:
        """The first key that is not masked: behind padding on the left, the first token of the text.

        >>> AttentionConfig.of((1, 3, 4), (1, 3, 4), key_mask=np.array([False, True, True])).first
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
        start = 0
        stop = self.keys
        if self.window is not None:
            start = max(0, position - self.window + 1)
            stop = min(stop, position + self.window)
        if self.causal:
            stop = position + 1
        return start, stop

    def sees(self, positions: Any, keys: Any) -> Bool[np.ndarray, ...]:
        """Whether rows at these positions see these keys; positions and keys are broadcast against each other.

        >>> AttentionConfig.of((1, 3, 4), (1, 3, 4), window=2).sees(np.arange(3)[:, None], np.arange(3)).tolist()
        [[True, False, False], [True, True, False], [False, True, True]]
        """
        hidden = out_of_reach(np.asarray(positions), keys, self.causal, self.window)
        seen: Bool[np.ndarray, ...] = ~hidden
        return seen if self.key_mask is None else seen & self.key_mask[keys]


def out_of_reach(
    positions: Array, keys: Array, causal: bool, window: int | None
) -> Array:
    """Which keys the causal mask and the window hide from rows at these positions.

    A window has so many keys up to the row's own, and as many after it if not causal.
    """
    apart = positions - keys
    hidden = apart < 0 if causal else apart != apart
    return hidden if window is None else hidden | (abs(apart) >= window)


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
    seen = np.asarray(mask)
    if seen.shape != (count,):
        raise InputError(
            f"a key mask of shape {seen.shape}: expected True or False for {count} {what}"
        )
    if seen.dtype == bool:
        return seen
    expected = "expected booleans or 0 and 1, and 1 where a key is seen; a mask that is added to scores is none"
    if seen.dtype.kind not in "fiu":
        raise InputError(f"a key mask of {seen.dtype.name}: {expected}")
    wrong = seen[~np.isin(seen, (0, 1))]
    if len(wrong):
        raise InputError(f"a key mask that holds {float(wrong[0]):g}: {expected}")
    if seen.dtype.kind == "f" and not seen.any():
        raise InputError(
            f"a key mask of {seen.dtype.name} zeros hides every key: {expected}"
        )
    return seen.astype(bool)
