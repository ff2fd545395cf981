"""What is known of a row of a pattern, without the pattern.

For one row with scores s over the keys it sees (and perhaps a sink), alpha = softmax(s):

    lse = ln sum exp(s)      largest = max alpha, of the key `winner`      margin = s_(1) - s_(2)
    entropy = -sum alpha ln alpha = lse - sum alpha s                      distance = sum alpha (position - key)
    offsets[o] = the weight of the key o places before the row             first = the weight of key 0
    top = the sum of the k largest weights                                 sensitivity = d alpha_w / d ln |k_w|

and received[j], the sum over the rows of the weight of key j. A row that sees nothing has lse -inf, winner -1 and
weights 0; one that sees a single key has a margin of inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.audit.rows.scoring import Scoring
from headwright.errors import InputError
from headwright.files import plain

Rows = Float[np.ndarray, "heads rows"]


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """All rows of all heads.

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
    offsets: dict[int, Rows] = field(default_factory=dict)
    top: Rows | None = None
    received: Float[np.ndarray, "heads keys"] | None = None

    @classmethod
    def empty(cls, heads: int, rows: int, offsets: Sequence[int] = (), *, top: bool = False) -> RowStatistics:
        """Arrays to be filled, as those of rows that see nothing."""
        lse, largest, margin, entropy, first, distance, sensitivity = np.zeros((7, heads, rows))
        lse[:] = -np.inf
        return cls(
            lse, largest, np.full((heads, rows), -1), margin, entropy, first, distance, sensitivity,
            {offset: np.zeros((heads, rows)) for offset in offsets}, np.zeros((heads, rows)) if top else None,
        )  # fmt: skip


def row_statistics(
    queries: Float[np.ndarray, "heads rows d"],
    keys: Float[np.ndarray, "key_heads keys d"],
    *,
    scale: float | None = None,
    causal: bool = True,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Float[np.ndarray, " heads"] | None = None,
    key_mask: Bool[np.ndarray, " keys"] | None = None,
    offsets: Sequence[int] = (0, 1),
    top: int = 0,
    received: bool = False,
    progress: Callable[[float], None] | None = None,
) -> RowStatistics:
    """Statistics of every row of every head, in one pass over blocks of Q K^T and in memory O(rows).

    Heads share keys in groups where there are fewer key heads. The scale is 1/sqrt(d) unless given. Products are in the
    wider of float32 and the arrays' type, sums over blocks in float64.

    >>> rng = np.random.default_rng(0)
    >>> q, k = rng.normal(size=(2, 50, 8)), rng.normal(size=(1, 50, 8))
    >>> found = row_statistics(q, k, top=3)
    >>> bool(found.winner[0, 0] == 0 and found.offsets[0][1, 0] == 1.0)
    True
    >>> bool((found.top >= found.largest).all())
    True
    """
    from headwright.audit.rows.blocked import received_mass, statistics

    queries, keys = (_numbers(array, name) for array, name in ((queries, "queries"), (keys, "keys")))
    scoring = Scoring.of(
        queries.shape, keys.shape, scale=scale, causal=causal, window=window, softcap=softcap, sinks=sinks,
        key_mask=key_mask,
    )  # fmt: skip
    if top < 0 or any(offset < 0 for offset in offsets):
        raise InputError(f"top = {top}, offsets {list(offsets)}: expected numbers from 0")
    half = None if progress is None else (lambda done: progress(done / (2 if received else 1)))
    found = statistics(queries, keys, scoring, tuple(offsets), top, half)
    if not received:
        return found
    rest = None if progress is None else (lambda done: progress((1 + done) / 2))
    return RowStatistics(**{**vars(found), "received": received_mass(queries, keys, scoring, found.lse, rest)})


def _numbers(array: Float[np.ndarray, ...], name: str) -> Float[np.ndarray, ...]:
    array = plain(array, name)
    if array.dtype.kind not in "fiu" and array.dtype.name != "bfloat16":
        raise InputError(f"{name}: holds {array.dtype.name}, expected real numbers")
    numbers = array.astype(np.result_type(np.float32, array.dtype) if array.dtype.kind == "f" else np.float32)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: holds a number that is not finite")
    return numbers
